//! Dataflow files.
//!
//! ```text
//! file      := ( "Dataflow" "{" directive* "}" )*
//! directive := ("TemporalMap" | "SpatialMap") size offset axis | "Cluster" size type
//! ```
//!
//! Single directives, as YAML files and tables of cases hold them, know more: every axis, clusters
//! without a type, sizes of the layer, and the end of the maps above the shared memory:
//!
//! ```text
//! size      := number | "Sz(" axis ")" [ ("+" | "-") number ]
//! directive := ... | "OffChip"
//! ```

use std::ops::Range;
use std::path::Path;

use crate::{At, Problem, Source};
use xrsim_model::dataflow::{Axis, Dataflow, Directive, Mapping, Size};
use xrsim_model::text::is_name;

use super::levels::{Line, Notation, assemble};
use super::parser::{Contents, Parser, advice, no_name, quote};
use super::token::Token;

const KEYWORDS: &[&str] = &["Dataflow", "TemporalMap", "SpatialMap", "Cluster"];
const DIRECTIVES: &[&str] = KEYWORDS.split_at(1).1;
/// Words that start a single directive.
const SINGLE: &[&str] = &["TemporalMap", "SpatialMap", "Cluster", "OffChip"];
const DATAFLOW: Contents = Contents { what: "a dataflow", items: DIRECTIVES, outer: &["Dataflow"] };

/// Reads the dataflows of a file. Blocks have no names: a single one is named after the file, e.g.
/// `WS`, several after the file and their position, e.g. `WS_OS-0`.
///
/// # Errors
///
/// Every problem of the file in order of position, at most a hundred.
pub fn parse_dataflows(source: &Source) -> Result<Vec<Dataflow>, Vec<Problem>> {
    let mut blocks = Vec::new();
    let mut parser = Parser::new(source.text(), KEYWORDS);
    parser.file("Dataflow", |parser, keyword| {
        blocks.extend(block(parser, keyword));
    });
    let stem = Path::new(source.name()).file_stem().unwrap_or_default();
    let stem = stem.to_string_lossy();
    if let Some(block) = blocks.first().filter(|_| !is_name(&stem)) {
        parser.report(no_name(&stem, block.opening.clone()));
    }
    let is_single = blocks.len() == 1;
    let mut dataflows = Vec::with_capacity(blocks.len());
    for (index, Block { opening, lines }) in blocks.into_iter().enumerate() {
        let name = if is_single { stem.to_string() } else { format!("{stem}-{index}") };
        match assemble(name, opening, lines, Notation::Artifact) {
            Ok(dataflow) => dataflows.push(dataflow),
            Err(problems) => parser.report_all(problems),
        }
    }
    parser.finish(dataflows)
}

/// A `Dataflow` block whose directives are well formed.
struct Block {
    opening: Range<usize>,
    lines: Vec<At<Line>>,
}

/// Reads a block. `None` if something is wrong with it, and reported.
fn block<'a>(parser: &mut Parser<'a>, keyword: Token<'a>) -> Option<Block> {
    let n_problems = parser.n_problems();
    let header = parser.header(keyword)?;
    let mut lines = Vec::new();
    parser.block(&header, &DATAFLOW, |parser, word| match whole_line(parser, word) {
        Some(line) => lines.push(At { span: word.span(), value: line }),
        None => parser.skip_item(word),
    });
    let opening = keyword.span();
    (parser.n_problems() == n_problems).then_some(Block { opening, lines })
}

/// Reads one directive or cluster, e.g. `SpatialMap(1,1) X'`, `TemporalMap(Sz(R),1) Y` or
/// `Cluster(16)`.
///
/// # Errors
///
/// The first problem, with its bytes in `text`.
pub(crate) fn parse_directive(text: &str, notation: Notation) -> Result<Line, Problem> {
    let mut parser = Parser::with_signs(text, SINGLE);
    let line = parser.take().and_then(|word| single_line(&mut parser, word, notation));
    match parser.finish(line) {
        Ok(Some(line)) => Ok(line),
        Ok(None) => Err(Problem::new(0..text.len(), "no directive").help(advice("", SINGLE))),
        Err(mut problems) => Err(problems.swap_remove(0)),
    }
}

/// A directive that is all of its text. A cluster needs no type here.
fn single_line(parser: &mut Parser<'_>, word: Token<'_>, notation: Notation) -> Option<Line> {
    if !SINGLE.contains(&word.text) {
        let message = format!("{} is not a directive", quote(word.text));
        parser.report(Problem::new(word.span(), message).help(advice(word.text, SINGLE)));
        return None;
    }
    let line = match word.text {
        "OffChip" => Line::OffChip,
        _ => line(parser, word, notation)?,
    };
    if let Line::Cluster(_) = line {
        parser.take_word();
    }
    if let Some(rest) = parser.take() {
        let message = format!("{} after the end of the directive", quote(rest.text));
        parser.report(Problem::new(rest.span(), message));
    }
    Some(line)
}

/// Reads the rest of a directive after `word` in a file, where a cluster has a type of any one word.
fn whole_line(parser: &mut Parser<'_>, word: Token<'_>) -> Option<Line> {
    let line = line(parser, word, Notation::Artifact)?;
    if let Line::Cluster(_) = line {
        parser.word("the cluster type", || "write e.g. Cluster(16,P)".into())?;
    }
    Some(line)
}

/// Reads the rest of a directive after `word`, except for the type of a cluster.
fn line(parser: &mut Parser<'_>, word: Token<'_>, notation: Notation) -> Option<Line> {
    let mapping = match word.text {
        "Cluster" => {
            return size(parser, "the cluster size", notation).map(Line::Cluster);
        }
        "TemporalMap" => Mapping::Temporal,
        _ => Mapping::Spatial,
    };
    Some(Line::Directive(Directive {
        mapping,
        size: size(parser, "the map size", notation)?,
        offset: size(parser, "the map offset", notation)?,
        axis: axis(parser, notation)?,
    }))
}

fn size(parser: &mut Parser<'_>, what: &str, notation: Notation) -> Option<Size> {
    let symbolic = parser.peek().is_some_and(|token| token.text == "Sz");
    if !symbolic || notation == Notation::Artifact {
        return number(parser, what).map(Size::Fixed);
    }
    parser.take();
    Some(Size::Extent { axis: axis(parser, notation)?, plus: added(parser)? })
}

fn number(parser: &mut Parser<'_>, what: &str) -> Option<u32> {
    let number = parser.number(what, 1..=Dataflow::MAX_SIZE.into())?;
    u32::try_from(number).ok()
}

/// Number that is added to the size of an axis: `+1`, `- 1`, or nothing.
fn added(parser: &mut Parser<'_>) -> Option<i32> {
    let Some(token) = parser.peek().filter(|token| token.text.starts_with(['+', '-'])) else {
        return Some(0);
    };
    parser.take();
    let (sign, digits) = token.text.split_at(1);
    let amount = match digits {
        "" => number(parser, "what is added")?.into(),
        digits => digits.parse().unwrap_or(u64::MAX),
    };
    let Some(amount) = i32::try_from(amount).ok().filter(|_| !digits.starts_with(['+', '-']))
    else {
        let message = format!("{} is not a whole number that can be added", quote(token.text));
        parser.report(Problem::new(token.span(), message));
        return None;
    };
    Some(if sign == "-" { -amount } else { amount })
}

fn axis(parser: &mut Parser<'_>, notation: Notation) -> Option<Axis> {
    let names: Vec<_> = notation.axes().iter().map(|(_, name)| *name).collect();
    let found = parser.word("the axis", || advice("", &names))?;
    let axis = notation.axis(found.text);
    if axis.is_none() {
        let message = format!("axis {} is not known", quote(found.text));
        parser.report(Problem::new(found.span(), message).help(advice(found.text, &names)));
    }
    axis
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::maestro::tests::shown;

    fn check(text: &str, expected: &[&str]) {
        let source = Source::new("folder/flow.m", text);
        let problems = parse_dataflows(&source).expect_err("the text has problems");
        assert_eq!(shown(&source, &problems), expected, "{text}");
    }

    fn check_line(text: &str, expected: &str) {
        check_line_in(Notation::Full, text, expected);
    }

    fn check_line_in(notation: Notation, text: &str, expected: &str) {
        let shown = match parse_directive(text, notation) {
            Ok(Line::Directive(directive)) => directive.to_string(),
            Ok(Line::Cluster(units)) => format!("Cluster({units})"),
            Ok(Line::OffChip) => "OffChip".into(),
            Err(problem) => {
                let Range { start, end } = problem.span;
                format!("{start}..{end} {}", problem.message)
            }
        };
        assert_eq!(shown, expected, "{text}");
    }

    #[test]
    fn levels_are_split_at_clusters() {
        let text = "// NVDLA\nDataflow {\n  TemporalMap(16,16) C;\n  SpatialMap(2,1) X'; //'\n  \
                    Cluster(4, P);\n  SpatialMap(1,1) Y;\n}\n";
        let dataflows = parse_dataflows(&Source::new("folder/WS.m", text)).unwrap();
        let [dataflow] = &dataflows[..] else { panic!() };
        assert_eq!(dataflow.name(), "WS");
        let expected = "TemporalMap(16,16) C\nSpatialMap(2,1) X'\nCluster(4)\nSpatialMap(1,1) Y\n";
        assert_eq!(dataflow.to_string(), expected);
    }

    #[test]
    fn several_dataflows_are_named_by_position() {
        let text = "Dataflow { SpatialMap(1,1) K } ".repeat(2);
        let dataflows = parse_dataflows(&Source::new("WS_OS.m", text)).unwrap();
        let names: Vec<_> = dataflows.iter().map(Dataflow::name).collect();
        assert_eq!(names, ["WS_OS-0", "WS_OS-1"]);
    }

    #[test]
    fn single_directives_are_read_as_in_a_file() {
        check_line("TemporalMap(16,16) C", "TemporalMap(16,16) C");
        check_line(" SpatialMap (2, 1) X' ; // comment", "SpatialMap(2,1) X'");
        check_line("Cluster(16)", "Cluster(16)");
        check_line("Cluster(16,P)", "Cluster(16)");
        check_line("OffChip ;", "OffChip");
        check_line("OffChip(4)", "8..9 `4` after the end of the directive");
        check_line("Offchip", "0..7 `Offchip` is not a directive");
    }

    #[test]
    fn sizes_may_be_those_of_the_layer() {
        check_line("TemporalMap(Sz(R),1) Y", "TemporalMap(Sz(R),1) Y");
        check_line("TemporalMap(Sz(R)+2, Sz(Y') - 1) Y", "TemporalMap(Sz(R)+2,Sz(Y')-1) Y");
        check_line("Cluster(Sz(S),P)", "Cluster(Sz(S))");
        check_line("TemporalMap(Sz(Q),1) Y", "15..16 axis `Q` is not known");
        check_line(
            "TemporalMap(Sz(R)+x,1) Y",
            "17..19 `+x` is not a whole number that can be added",
        );
        check_line("TemporalMap(Sz(R)+ +1,1) Y", "19..21 what is added is `+1`");
        let out_of_range = "17..29 `+99999999999` is not a whole number that can be added";
        check_line("TemporalMap(Sz(R)+99999999999,1) Y", out_of_range);
    }

    #[test]
    fn axes_of_matrix_products_have_their_own_names() {
        // O[M,N] = A[M,K] B[K,N]: rows M are Y', columns N output channels, K input channels.
        let check = |text, expected| check_line_in(Notation::Gemm, text, expected);
        check("SpatialMap(1,Sz(M)) M", "SpatialMap(1,Sz(Y')) Y'");
        check("SpatialMap(1,1) N", "SpatialMap(1,1) K");
        check("SpatialMap(1,1) K", "SpatialMap(1,1) C");
        check("SpatialMap(1,1) C", "16..17 axis `C` is not known");
    }

    #[test]
    fn problems_of_a_single_directive_have_a_place() {
        check_line("TemporalMap(16,0) C", "15..16 the map offset is `0`");
        check_line("SpatialMap(1,1) Z", "16..17 axis `Z` is not known");
        check_line("SpatialMap(1,1)", "15..15 the axis is missing");
        check_line("SpatialMap(1,1) K C", "18..19 `C` after the end of the directive");
        check_line("Cluster(16,P) K", "14..15 `K` after the end of the directive");
        check_line("TemporlMap(1,1) K", "0..10 `TemporlMap` is not a directive");
        check_line("{ }", "0..1 `{` is not a directive");
        check_line("", "0..0 no directive");
    }

    #[test]
    fn problems_of_the_grammar_are_all_reported() {
        check(
            "Dataflow {\n  TemporalMap(1) K;\n  SpatialMap(1,1) Y'//'\n  Cluster(4);\n  \
             SpatialMap(1,99999999) K\n}\n",
            &[
                "2:18 the map offset is `K` (allowed: whole numbers from 1 to 16777216)",
                "3:19 axis `Y'//'` is not known (did you mean `Y'`? allowed: C, K, R, S, X, Y, X', \
                 Y')",
                "5:3 the cluster type is missing (write e.g. Cluster(16,P))",
                "5:16 the map offset is `99999999` (allowed: whole numbers from 1 to 16777216)",
            ],
        );
    }

    #[test]
    fn rules_of_every_level_are_checked_at_their_place() {
        check(
            "Dataflow {\n  TemporalMap(1,1) K;\n  Cluster(4,P);\n  SpatialMap(1,1) Y;\n  \
             TemporalMap(1,1) Y';\n}\n",
            &[
                "1:1 level 0 has 0 spatial maps; a level needs one, at most two (-)",
                "5:3 level 1 maps Y twice (Y and its output axis count as one) (-)",
            ],
        );
        let levels = "SpatialMap(1,1) K; Cluster(1,P);\n".repeat(8);
        check(
            &format!("Dataflow {{\n{levels}SpatialMap(1,1) K }}"),
            &["9:20 9 levels; at most 8 are allowed (-)"],
        );
        check(
            "Dataflow {\n}",
            &["1:1 level 0 has 0 spatial maps; a level needs one, at most two (-)"],
        );
    }
}
