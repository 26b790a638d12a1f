//! Mappings as text (3.1 of the principled specification).
//!
//! ```text
//! mapping   := ( directive ";" )*
//! directive := ("TemporalMap" | "SpatialMap") "(" size "," size ")" axis
//!            | "Cluster" "(" size "," type ")"
//! size      := number | "Sz(" axis ")" [ ("+" | "-") number ]
//! ```
//!
//! Text from `//` to the end of its line is skipped.

use std::ops::Range;

use crate::config::{Problem, nearest};
use crate::cost::principled::{Directive, MapAxis, Size};

const DIRECTIVES: [&str; 3] = ["TemporalMap", "SpatialMap", "Cluster"];

/// Reads a mapping.
///
/// # Errors
///
/// The first problem of every directive, with its bytes in `text`.
pub fn parse_mapping(text: &str) -> Result<Vec<Directive>, Vec<Problem>> {
    let mut directives = Vec::new();
    let mut problems = Vec::new();
    let bare = without_comments(text);
    let mut start = 0;
    for statement in bare.split_inclusive(';') {
        let words = statement.trim_end_matches(';');
        let span = trimmed(words, start);
        if !span.is_empty() {
            match directive(&bare[span.clone()]) {
                Ok(directive) => directives.push(directive),
                Err(message) => problems.push(Problem::new(span, message)),
            }
        }
        start += statement.len();
    }
    if problems.is_empty() { Ok(directives) } else { Err(problems) }
}

/// The text with every byte of a comment as a space, so that positions stay.
fn without_comments(text: &str) -> String {
    let line = |line: &str| match line.find("//") {
        Some(at) => {
            let end = if line.ends_with('\n') { "\n" } else { "" };
            line[..at].to_owned() + &" ".repeat(line.len() - at - end.len()) + end
        }
        None => line.to_owned(),
    };
    text.split_inclusive('\n').map(line).collect()
}

/// Bytes of `words`, which start at `start`, without the blanks around them.
fn trimmed(words: &str, start: usize) -> Range<usize> {
    let from = start + words.len() - words.trim_start().len();
    from..from + words.trim().len()
}

/// A directive without its semicolon.
fn directive(text: &str) -> Result<Directive, String> {
    let (name, rest) = text.split_once('(').ok_or_else(|| unknown(text))?;
    let (arguments, axis) = rest.rsplit_once(')').ok_or("`)` is missing")?;
    let (name, axis) = (name.trim(), axis.trim());
    let (first, second) = arguments.split_once(',').ok_or("two arguments are needed")?;
    let spatial = match name {
        "Cluster" if axis.is_empty() => return Ok(Directive::Cluster(size(first)?)),
        "Cluster" => return Err(format!("`{axis}` behind the end of the directive")),
        "TemporalMap" => false,
        "SpatialMap" => true,
        name => return Err(unknown(name)),
    };
    Ok(Directive::Map { spatial, size: size(first)?, offset: size(second)?, axis: map_axis(axis)? })
}

fn unknown(name: &str) -> String {
    match nearest(name, DIRECTIVES) {
        Some(near) => format!("`{name}` is not a directive; did you mean `{near}`?"),
        None => format!("`{name}` is not a directive; allowed: {}", DIRECTIVES.join(", ")),
    }
}

fn map_axis(text: &str) -> Result<MapAxis, String> {
    MapAxis::parse(text).ok_or_else(|| {
        let names = MapAxis::ALL.map(|(_, name)| name);
        format!("`{text}` is not an axis; allowed: {}", names.join(", "))
    })
}

fn size(text: &str) -> Result<Size, String> {
    let text = text.trim();
    let Some(symbol) = text.strip_prefix("Sz(") else {
        return Ok(Size::Fixed(number(text)?));
    };
    let (axis, plus) =
        symbol.split_once(')').ok_or_else(|| format!("`)` is missing in `{text}`"))?;
    let axis = map_axis(axis.trim())?;
    let plus = match plus.trim().split_at_checked(1) {
        None => 0,
        Some(("+", amount)) => added(amount)?,
        Some(("-", amount)) => -added(amount)?,
        Some(_) => return Err(format!("`{text}` is not a size; write e.g. Sz(R)+1")),
    };
    Ok(Size::Extent { axis, plus })
}

fn added(text: &str) -> Result<i32, String> {
    let amount = number(text.trim())?;
    i32::try_from(amount).map_err(|_| format!("{amount} is too large"))
}

fn number(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|&number| number >= 1);
    number.ok_or_else(|| format!("`{text}` is not a whole number from 1 to {}", u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_are_read_with_symbolic_sizes_and_comments() {
        let text = "TemporalMap(Sz(R)+1, 1) Y; // rows\nCluster(4,P);SpatialMap(1,1) X';";
        let expected = [
            Directive::Map {
                spatial: false,
                size: Size::Extent { axis: MapAxis::parse("R").expect("an axis"), plus: 1 },
                offset: Size::Fixed(1),
                axis: MapAxis::InputY,
            },
            Directive::Cluster(Size::Fixed(4)),
            Directive::Map {
                spatial: true,
                size: Size::Fixed(1),
                offset: Size::Fixed(1),
                axis: MapAxis::parse("X'").expect("an axis"),
            },
        ];
        assert_eq!(parse_mapping(text), Ok(expected.to_vec()));
    }

    #[test]
    fn problems_carry_their_place() {
        let text = "TemporalMap(1,1) Q;  Spatial(1,1) K; SpatialMap(0,1) K; Cluster(2)";
        let problems = parse_mapping(text).expect_err("all four are wrong");
        let found: Vec<_> = problems.iter().map(|problem| &text[problem.span.clone()]).collect();
        let expected = ["TemporalMap(1,1) Q", "Spatial(1,1) K", "SpatialMap(0,1) K", "Cluster(2)"];
        assert_eq!(found, expected);
    }
}
