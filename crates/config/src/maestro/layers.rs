//! The layers of a network file.

use crate::{Problem, nearest};
use xrsim_model::model::{ConvKind, ConvShape, Layer, Operator};

use super::parser::{Contents, Header, Parser, advice, quote};
use super::token::Token;

/// Keywords of a file of networks.
pub(super) const KEYWORDS: &[&str] =
    &["Network", "FPS", "Probability", "Dependency", "Layer", "Type", "Stride", "Dimensions"];
const LAYER: Contents = Contents {
    what: "a layer",
    items: &["Type", "Stride", "Dimensions"],
    outer: &["Network", "Layer"],
};
const STRIDE: Contents = Contents {
    what: "`Stride`",
    items: &["Y", "X", "N", "K", "C", "R", "S", "G", "Y'", "X'"],
    outer: KEYWORDS,
};
const DIMENSIONS: Contents = Contents { what: "`Dimensions`", items: &[], outer: KEYWORDS };

/// Axes with a meaning; others are read and ignored.
const AXES: [&str; 9] = ["N", "K", "C", "Y", "X", "R", "S", "Y'", "X'"];
/// Ignored axes that are remembered for a hint.
const MAX_IGNORED: usize = 8;

/// Reads a layer after its opening brace. `None` if it has a problem, which is reported.
pub(super) fn layer<'a>(parser: &mut Parser<'a>, header: &Header<'a>) -> Option<Layer> {
    let mut items = Items::default();
    parser.block(header, &LAYER, |parser, word| match word.text {
        "Type" => items.read_type(parser, word),
        "Stride" => items.read_stride(parser, word),
        _ => items.read_dimensions(parser, word),
    });
    items.report_missing(parser, header);
    Some(Layer::new(header.name, items.shape??))
}

fn layer_kind(parser: &mut Parser<'_>) -> Option<ConvKind> {
    let kinds = ConvKind::of_artifact();
    let names: Vec<_> = kinds.iter().map(|(_, name)| *name).collect();
    let found = parser.word("the layer type", || advice("", &names))?;
    let known = kinds.iter().find(|(_, name)| *name == found.text);
    if known.is_none() {
        let message = format!("layer type {} is not known", quote(found.text));
        parser.report(Problem::new(found.span(), message).help(advice(found.text, &names)));
    }
    known.map(|&(kind, _)| kind)
}

/// Strides of a layer.
#[derive(Clone, Copy)]
struct Strides {
    /// Vertical.
    y: u32,
    /// Horizontal.
    x: u32,
}

/// Items of a layer so far. `Some(None)` is a wrong item, which is reported.
#[derive(Default)]
struct Items {
    kind: Option<Option<ConvKind>>,
    strides: Option<Strides>,
    shape: Option<Option<ConvShape>>,
}

impl Items {
    fn read_type(&mut self, parser: &mut Parser<'_>, word: Token<'_>) {
        parser.refuse_second(word, self.kind.is_some());
        self.refuse_late(parser, word);
        self.kind = Some(layer_kind(parser));
    }

    fn read_stride<'a>(&mut self, parser: &mut Parser<'a>, word: Token<'a>) {
        parser.refuse_second(word, self.strides.is_some());
        self.refuse_late(parser, word);
        let strides = Extents::read(parser, word, &STRIDE).unwrap_or_default();
        // A wrong number is reported, so its substitute does not matter.
        let stride = |axis| strides.or_one(axis).unwrap_or(1);
        self.strides = Some(Strides { y: stride("Y"), x: stride("X") });
    }

    fn read_dimensions<'a>(&mut self, parser: &mut Parser<'a>, word: Token<'a>) {
        parser.refuse_second(word, self.shape.is_some());
        let Some(extents) = Extents::read(parser, word, &DIMENSIONS) else {
            self.shape = Some(None);
            return;
        };
        extents.report_missing(parser, word);
        let shape = self.shape(&extents);
        if let Some(Err(error)) = shape.map(|shape| Operator::Conv(shape).check()) {
            parser.report(Problem::new(word.span(), error.to_string()));
        }
        self.shape = Some(shape);
    }

    fn shape(&self, extents: &Extents<'_>) -> Option<ConvShape> {
        let Strides { y: stride_y, x: stride_x } = self.strides.unwrap_or(Strides { y: 1, x: 1 });
        Some(ConvShape {
            // A missing type is reported elsewhere.
            kind: self.kind.flatten().unwrap_or(ConvKind::Conv),
            n: extents.or_one("N")?,
            k: extents.get("K")?,
            c: extents.get("C")?,
            y: extents.input("Y", "Y'", "R")?,
            x: extents.input("X", "X'", "S")?,
            r: extents.get("R")?,
            s: extents.get("S")?,
            stride_y,
            stride_x,
            ..ConvShape::UNIT
        })
    }

    fn refuse_late(&self, parser: &mut Parser<'_>, word: Token<'_>) {
        if self.shape.is_some() {
            let message = format!("`{}` comes after `Dimensions`", word.text);
            let problem = Problem::new(word.span(), message);
            parser.report(problem.help("the order is Type, Stride, Dimensions"));
        }
    }

    fn report_missing(&self, parser: &mut Parser<'_>, header: &Header<'_>) {
        for (item, is_given) in
            [("Type", self.kind.is_some()), ("Dimensions", self.shape.is_some())]
        {
            if !is_given {
                let message = format!("layer {} has no `{item}`", quote(header.name));
                parser.report(Problem::new(header.name_span.clone(), message));
            }
        }
    }
}

/// The numbers of a `Stride` or `Dimensions` block.
#[derive(Default)]
struct Extents<'a> {
    /// Indexed as [`AXES`]; `Some(None)` where the number is wrong, and reported.
    given: [Option<Option<u32>>; AXES.len()],
    /// The first axes without a meaning.
    ignored: Vec<&'a str>,
}

impl<'a> Extents<'a> {
    fn read(parser: &mut Parser<'a>, word: Token<'a>, contents: &Contents) -> Option<Self> {
        let header = parser.header(word)?;
        let mut extents = Self::default();
        parser.block(&header, contents, |parser, axis| {
            extents.read_axis(parser, axis);
        });
        Some(extents)
    }

    fn read_axis(&mut self, parser: &mut Parser<'a>, axis: Token<'a>) {
        let Some(index) = AXES.iter().position(|&known| known == axis.text) else {
            if self.ignored.len() < MAX_IGNORED {
                self.ignored.push(axis.text);
            }
            parser.number(&quote(axis.text), 0..=u64::MAX);
            return;
        };
        parser.refuse_second(axis, self.given[index].is_some());
        let next_is_axis = parser.peek().is_some_and(|next| AXES.contains(&next.text));
        self.given[index] = Some(if next_is_axis {
            let message = format!("`{}` has no number", axis.text);
            parser.report(Problem::new(axis.span(), message));
            None
        } else {
            let number = parser.number(axis.text, 1..=ConvShape::MAX_EXTENT.into());
            number.and_then(|number| u32::try_from(number).ok())
        });
    }

    fn slot(&self, axis: &str) -> Option<Option<u32>> {
        let index = AXES.iter().position(|&known| known == axis);
        index.and_then(|index| self.given[index])
    }

    fn get(&self, axis: &str) -> Option<u32> {
        self.slot(axis).flatten()
    }

    fn or_one(&self, axis: &str) -> Option<u32> {
        self.slot(axis).unwrap_or(Some(1))
    }

    /// Extent of an input axis, if need be from the output axis and the kernel.
    fn input(&self, input: &str, output: &str, kernel: &str) -> Option<u32> {
        if self.slot(input).is_some() {
            return self.get(input);
        }
        Some(self.get(output)? + self.get(kernel)? - 1)
    }

    fn report_missing(&self, parser: &mut Parser<'_>, word: Token<'_>) {
        let required = [["K"; 2], ["C"; 2], ["R"; 2], ["S"; 2], ["Y", "Y'"], ["X", "X'"]];
        let missing: Vec<_> = required
            .iter()
            .filter(|axes| axes.iter().all(|axis| self.slot(axis).is_none()))
            .map(|axes| axes[0])
            .collect();
        if missing.is_empty() {
            return;
        }
        let message = format!("`Dimensions` has no {}", missing.join(", "));
        let meant = self.ignored.iter().find_map(|word| {
            let axis = nearest(word, missing.iter().copied())?;
            Some(format!("did you mean `{axis}` by {}?", quote(word)))
        });
        let problem = Problem::new(word.span(), message);
        parser.report(
            problem.help(
                meant.unwrap_or_else(|| "needed are K, C, R, S, Y or Y', and X or X'".into()),
            ),
        );
    }
}
