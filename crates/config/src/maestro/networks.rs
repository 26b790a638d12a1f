//! Network files.
//!
//! ```text
//! file    := network*
//! network := "Network" name "{" item* "}"
//! item    := "FPS" int | "Probability" real | "Dependency" "{" name* "}" | layer
//! layer   := "Layer" name "{" "Type" type [ "Stride" "{" (axis int)* "}" ]
//!                             "Dimensions" "{" (axis int)* "}" "}"
//! ```

use std::ops::Range;

use crate::{At, Problem, Source};
use xrsim_model::model::{Connections, Layer, Network};

use super::layers::{KEYWORDS, layer};
use super::parser::{Contents, Parser, quote};
use super::token::Token;

/// One `Network` block.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NetworkBlock {
    /// Name; not unique by itself.
    pub name: Box<str>,
    /// Bytes of the name.
    pub name_span: Range<usize>,
    /// The layers. Output extents (`Y'`, `X'`) have become input extents, `Y = Y' + R - 1`, whatever
    /// the stride. Kernels may exceed their input, as four of the published layers do.
    pub network: Network,
    /// Rate [frames per second], at least 1.
    pub fps: Option<At<u32>>,
    /// Trigger probability in [0, 1] as the artifact reads it.
    pub probability: Option<f32>,
    /// Names of the models that this one waits for.
    pub dependencies: Vec<At<String>>,
    /// Bytes of the block.
    pub span: Range<usize>,
}

const NETWORK: Contents = Contents {
    what: "a network",
    items: &["FPS", "Probability", "Dependency", "Layer"],
    outer: &["Network"],
};
const DEPENDENCY: Contents = Contents { what: "`Dependency`", items: &[], outer: KEYWORDS };

/// Most networks of a scenario, and so most dependencies of one.
pub(super) const MAX_MODELS: usize = 1024;

/// Reads the networks of a file.
///
/// # Errors
///
/// Every problem of the file in order of position, at most a hundred.
pub(crate) fn parse_networks(source: &Source) -> Result<Vec<NetworkBlock>, Vec<Problem>> {
    let mut networks = Vec::new();
    let mut parser = Parser::new(source.text(), KEYWORDS);
    parser.file("Network", |parser, keyword| {
        networks.extend(network(parser, keyword));
    });
    parser.finish(networks)
}

/// Items of a network so far.
#[derive(Default)]
struct Items {
    fps: Option<At<u32>>,
    probability: Option<f32>,
    dependencies: Vec<At<String>>,
    layers: Vec<Layer>,
}

fn network<'a>(parser: &mut Parser<'a>, keyword: Token<'a>) -> Option<NetworkBlock> {
    let n_problems = parser.n_problems();
    let header = parser.named_header(keyword)?;
    let mut items = Items::default();
    let span = parser.block(&header, &NETWORK, |parser, word| match word.text {
        "FPS" => items.fps(parser, word),
        "Probability" => items.probability(parser, word),
        "Dependency" => items.dependency(parser, word),
        _ => items.layer(parser, word),
    });
    let network = Network::new(header.name, items.layers);
    // The format has no edges, and files leave operators out.
    let network = network.map(|network| network.connected(Connections::Incomplete));
    if let (Err(error), true) = (&network, parser.n_problems() == n_problems) {
        parser.report(Problem::new(header.name_span.clone(), error.to_string()));
    }
    Some(NetworkBlock {
        name: header.name.into(),
        network: network.ok()?,
        name_span: header.name_span,
        fps: items.fps,
        probability: items.probability,
        dependencies: items.dependencies,
        span,
    })
}

impl Items {
    fn fps(&mut self, parser: &mut Parser<'_>, word: Token<'_>) {
        parser.refuse_second(word, self.fps.is_some());
        let span = parser.peek_span();
        let fps = parser.number("FPS", 1..=u32::MAX.into());
        let fps = fps.and_then(|fps| u32::try_from(fps).ok());
        self.fps = fps.map(|value| At { span, value });
    }

    fn probability(&mut self, parser: &mut Parser<'_>, word: Token<'_>) {
        parser.refuse_second(word, self.probability.is_some());
        let help = "allowed: 0 to 1, e.g. 0.25";
        let Some(found) = parser.word("Probability", || help.into()) else {
            return;
        };
        self.probability = parse_probability(found.text);
        if self.probability.is_none() {
            let message = format!("Probability is {}", quote(found.text));
            parser.report(Problem::new(found.span(), message).help(help));
        }
    }

    fn dependency<'a>(&mut self, parser: &mut Parser<'a>, word: Token<'a>) {
        if let Some(header) = parser.header(word) {
            parser.block(&header, &DEPENDENCY, |parser, name| {
                if self.dependencies.len() < MAX_MODELS {
                    self.dependencies.push(At { span: name.span(), value: name.text.into() });
                } else {
                    let message = format!("more than {MAX_MODELS} dependencies of one network");
                    parser.report(Problem::new(name.span(), message));
                }
            });
        }
    }

    fn layer<'a>(&mut self, parser: &mut Parser<'a>, word: Token<'a>) {
        if let Some(header) = parser.named_header(word) {
            self.layers.extend(layer(parser, &header));
        }
    }
}

/// A real number in [0, 1]. Signs and exponents below zero cannot occur: `-` separates words.
fn parse_probability(text: &str) -> Option<f32> {
    let is_number = text.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    let number: f32 = is_number.then(|| text.parse().ok())??;
    (0.0..=1.0).contains(&number).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::maestro::tests::shown;
    use xrsim_model::model::{ConvKind, Operator};

    const SAMPLE: &str = "// a file\n\
        Network my-net {\n\
        \tFPS: 60\n\
        \tProbability: 0.2\n\
        \tDependency: {\n\t\tfirst, second\n\t}\n\
        \tLayer conv-1 { Type: CONV\n\
        \t\tDimensions: { N: 1, K: 4, C: 3, Y: 9, X: 8, R: 3, S: 2 }\n\t}\n\
        \tLayer conv-1 { Type: DSCONV\n\
        \t\tStride { X: 2, Y: 1 }\n\
        \t\tDimensions { K 4 C 3 Y' 7 X' 7 R 3 S 2 G 5 }\n\t}\n\
        }\n";

    fn parse(text: &str) -> Result<Vec<NetworkBlock>, Vec<Problem>> {
        parse_networks(&Source::new("net.m", text))
    }

    /// Checks the problems, a line each: line, column, message and help.
    fn check(text: &str, expected: &[&str]) {
        let source = Source::new("net.m", text);
        let problems = parse_networks(&source).expect_err("the text has problems");
        assert_eq!(shown(&source, &problems), expected, "{text}");
    }

    /// A network whose only layer holds `items`.
    fn layer(items: &str) -> String {
        format!("Network n {{ Layer l {{\n{items}\n}} }}")
    }

    #[test]
    fn a_name_that_a_spreadsheet_obeys_is_refused() {
        let layer = "Layer l { Type: CONV Dimensions { K 4 C 3 R 3 S 3 Y 8 X 8 } }";
        check(
            &format!("Network =1+1 {{ {layer} }}"),
            &["1:9 `=1+1` is no name (a name has no control characters or marks of direction and \
               does not begin with =, +, - or @)"],
        );
    }

    #[test]
    fn a_network_keeps_everything_its_block_says() {
        let blocks = parse(SAMPLE).unwrap();
        let [block] = &blocks[..] else { panic!() };
        assert_eq!(&*block.name, "net", "the last word before the brace");
        assert_eq!(&SAMPLE[block.name_span.clone()], "net");
        assert!(SAMPLE[block.span.clone()].starts_with("Network my"));
        assert!(SAMPLE[block.span.clone()].ends_with("}\n}"));
        let At { span, value: fps } = block.fps.clone().unwrap();
        assert_eq!((fps, &SAMPLE[span]), (60, "60"));
        assert_eq!(block.probability, Some(0.2f32));
        let names: Vec<_> = block.dependencies.iter().map(|name| &*name.value).collect();
        assert_eq!(names, ["first", "second"]);
        assert_eq!(&SAMPLE[block.dependencies[1].span.clone()], "second");
        let layers = block.network.layers();
        assert_eq!((&*layers[0].name, &*layers[1].name), ("1", "1"));
        let Operator::Conv(shape) = layers[1].operator else { panic!() };
        assert_eq!(shape.kind, ConvKind::Depthwise);
        // Y = Y' + R - 1 = 7 + 3 - 1, X = X' + S - 1 = 7 + 2 - 1, whatever the stride; N and G have
        // no effect.
        assert_eq!((shape.y, shape.x, shape.n), (9, 8, 1));
        assert_eq!((shape.stride_y, shape.stride_x), (1, 2));
    }

    #[test]
    fn line_ends_and_separators_do_not_matter() {
        let crlf = SAMPLE.replace('\n', "\r\n");
        let strip = |blocks: Vec<NetworkBlock>| blocks[0].network.clone();
        assert_eq!(parse(&crlf).map(strip), parse(SAMPLE).map(strip));
        let dense = layer("Type;CONV Dimensions->{ K:1,C:1;Y(1)X(1)R:1,S:1 }");
        assert!(parse(&dense).is_ok());
    }

    #[test]
    fn input_extents_win_over_output_extents() {
        let text = layer("Type CONV Dimensions { K 1 C 1 Y 5 Y' 9 X 4 R 3 S 3 }");
        let operator = parse(&text).unwrap()[0].network.layers()[0].operator;
        assert_eq!(operator.extents().map(|extents| extents[3]), Some(5));
    }

    #[test]
    fn kernels_may_exceed_their_input() {
        let text = layer("Type CONV Dimensions { K 1 C 1 Y 2 X 2 R 3 S 3 }");
        assert!(parse(&text).is_ok());
    }

    #[test]
    fn axes_without_a_meaning_are_ignored() {
        let text = layer("Type CONV Dimensions { K 1 C 1 Y 1 X 1 R 1 S 1 T 0 }");
        assert!(parse(&text).is_ok());
    }

    #[test]
    fn all_problems_of_a_file_are_reported_in_order() {
        let text = "Network a {\n  FPS: fast\n  Layr x { }\n  Layer one {\n    Type: CONF\n    \
                    Dimensions: { K: 0, C: 3, Y: 9, X: 9, R: 3 }\n  }\n}\nnetwork b { }\n";
        check(
            text,
            &[
                "2:8 FPS is `fast` (allowed: whole numbers from 1 to 4294967295)",
                "3:3 `Layr` does not belong into a network (did you mean `Layer`? allowed: FPS, \
                 Probability, Dependency, Layer)",
                "5:11 layer type `CONF` is not known (did you mean `CONV`? allowed: CONV, DSCONV, \
                 TRCONV, NGCONV)",
                "6:5 `Dimensions` has no S (needed are K, C, R, S, Y or Y', and X or X')",
                "6:22 K is `0` (allowed: whole numbers from 1 to 1048576)",
                "9:1 `network` does not belong into the top level of the file (did you mean \
                 `Network`? allowed: Network)",
            ],
        );
    }

    #[test]
    fn unknown_items_are_reported_one_by_one() {
        let layer = "Layer l { Type CONV Dimensions { K 1 C 1 Y 1 X 1 R 1 S 1 } }";
        check(
            &format!("Network a {{\nRate: 5 Hz\nLayr x\n{{ a {{ b }} }} Layr y {{ }}\n{layer} }}"),
            &[
                "2:1 `Rate` does not belong into a network (allowed: FPS, Probability, Dependency, \
                 Layer)",
                "3:1 `Layr` does not belong into a network (did you mean `Layer`? allowed: FPS, \
                 Probability, Dependency, Layer)",
                "4:13 `Layr` does not belong into a network (did you mean `Layer`? allowed: FPS, \
                 Probability, Dependency, Layer)",
            ],
        );
    }

    #[test]
    fn numbers_are_unsigned_decimal_and_bounded() {
        let shape = |k| layer(&format!("Type CONV\nDimensions {{ K {k} C 1 Y 1 X 1 R 1 S 1 }}"));
        let problem = |k| format!("3:16 K is `{k}` (allowed: whole numbers from 1 to 1048576)");
        for k in ["0", "+1", "1.0", "0x10", "1048577", "18446744073709551616", "four"] {
            check(&shape(k), &[&problem(k)]);
        }
        assert!(parse(&shape("0001048576")).is_ok());
        // A minus sign is a separator.
        assert!(parse(&shape("-5")).is_ok());
    }

    #[test]
    fn a_product_of_extents_beyond_48_bits_is_refused() {
        let text = layer("Type CONV\nDimensions { K 65536 C 65536 Y 65536 X 2 R 1 S 1 }");
        let message = "3:1 the layer has more than 2^48 multiply-accumulates (the product of its \
                       extents) (-)";
        check(&text, &[message]);
    }

    #[test]
    fn type_and_stride_come_before_dimensions() {
        let dimensions = "Dimensions { K 1 C 1 Y 1 X 1 R 1 S 1 }";
        check(
            &layer(&format!("{dimensions}\nType CONV")),
            &["3:1 `Type` comes after `Dimensions` (the order is Type, Stride, Dimensions)"],
        );
        check(
            &layer(&format!("Type CONV {dimensions}\nStride {{ X 2 }}")),
            &["3:1 `Stride` comes after `Dimensions` (the order is Type, Stride, Dimensions)"],
        );
        check(&layer(dimensions), &["1:19 layer `l` has no `Type` (-)"]);
        check(&layer("Type CONV"), &["1:19 layer `l` has no `Dimensions` (-)"]);
    }

    #[test]
    fn nothing_is_given_twice() {
        check(
            &layer("Type CONV\nType CONV\nDimensions { K 1 K 1 C 1 Y 1 X 1 R 1 S 1 }"),
            &["3:1 `Type` is given twice (-)", "4:18 `K` is given twice (-)"],
        );
        let layer = "Layer l { Type CONV Dimensions { K 1 C 1 Y 1 X 1 R 1 S 1 } }";
        check(
            &format!("Network n {{\nFPS 1\nFPS 2\n{layer} }}"),
            &["3:1 `FPS` is given twice (-)"],
        );
    }

    #[test]
    fn probabilities_lie_between_0_and_1() {
        let network = |p| {
            format!(
                "Network n {{ Probability {p}\n\
                 Layer l {{ Type CONV Dimensions {{ K 1 C 1 Y 1 X 1 R 1 S 1 }} }} }}"
            )
        };
        for p in ["0", "1", "1.0", ".5", "0.25", "1e0"] {
            assert!(parse(&network(p)).is_ok(), "{p}");
        }
        for p in ["1.5", "nan", "inf", "half", "1e9", "0.5x"] {
            let problem = format!("1:25 Probability is `{p}` (allowed: 0 to 1, e.g. 0.25)");
            check(&network(p), &[&problem]);
        }
    }

    #[test]
    fn a_missing_brace_is_one_problem() {
        let layer = "Layer l { Type CONV Dimensions { K 1 C 1 Y 1 X 1 R 1 S 1 } }";
        check(
            &format!("Network a {{\n{layer}\nNetwork b {{ {layer} }}"),
            &["1:9 a network is not closed: `}` is missing before `Network` (-)"],
        );
        check(
            &format!("Network a {{\n{layer}\n"),
            &["1:9 a network is not closed: `}` is missing before the end of the file (-)"],
        );
        check(&format!("Network a\n{layer}\n}}"), &["2:1 `{` is missing after `Network` (-)"]);
        check(
            &format!("Network a {{\n{layer}}}"),
            &["2:60 `}` runs into a brace (braces stand alone: put a space on either side)"],
        );
        check(
            &format!("Network a {{ {layer} }}\n}}"),
            &["2:1 `}` does not belong into the top level of the file (allowed: Network)"],
        );
    }

    #[test]
    fn a_name_is_needed_and_a_layer() {
        check("Network { }", &["1:1 `Network` without a name (-)"]);
        check("Network a { }", &["1:9 network `a` has no layers (-)"]);
        check("", &["1:1 the file has no `Network` block (-)"]);
    }

    #[test]
    fn a_mistyped_axis_is_named() {
        check(
            &layer("Type CONV\nDimensions { k: 1, C: 1, Y: 1, X: 1, R: 1, S: 1 }"),
            &["3:1 `Dimensions` has no K (did you mean `K` by `k`?)"],
        );
        check(
            &layer("Type CONV\nDimensions { K: , C: 1, Y: 1, X: 1, R: 1, S: 1 }"),
            &["3:14 `K` has no number (-)"],
        );
    }

    #[test]
    fn a_dataflow_block_in_a_layer_is_refused_and_skipped() {
        let dataflow = "Dataflow { TemporalMap(1,1) K; Cluster(4,P); { } }";
        check(
            &layer(&format!("Type CONV\n{dataflow} Dimensions {{ K 1 C 1 Y 1 X 1 R 1 S 1 }}")),
            &["3:1 `Dataflow` does not belong into a layer (allowed: Type, Stride, Dimensions)"],
        );
    }

    #[test]
    fn reading_stops_at_a_hundred_problems() {
        let text = "Network a { x }\n".repeat(1000);
        let problems = parse(&text).unwrap_err();
        assert_eq!(problems.len(), 100);
        let last = &problems[99].message;
        assert_eq!(last, "too many problems: the file is not read beyond this point");
    }
}
