//! Import of a decoder as a step of a sequence: extents of its layers as expressions of the tokens that the step
//! computes and of those in the cache before it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use xrsim_onnx::Options;

use super::import::{Imported, import, text};
use crate::network::Model;
use crate::sequence::{NEW, PAST};
use crate::{Catalog, ConfigError, Source};

/// Extent of an open axis of a decoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tokens {
    /// Tokens that a step computes, `new`.
    New,
    /// Tokens in the cache before a step, `past`.
    Past,
    /// Both.
    All,
}

impl Tokens {
    /// All with their words.
    pub const ALL: [(&'static str, Self); 4] = [
        ("new", Self::New),
        ("past", Self::Past),
        ("past+new", Self::All),
        ("new+past", Self::All),
    ];

    fn of(self, [new, past]: [u64; 2]) -> u64 {
        match self {
            Self::New => new,
            Self::Past => past,
            Self::All => new + past,
        }
    }
}

/// Tokens `[new, past]` at which extents are known, in the order of [`Polynomial::through`].
const KNOWN: [[u64; 2]; 5] = [[3, 8], [5, 8], [7, 8], [3, 20], [5, 20]];

/// Tokens at which expressions are compared with the file.
const OTHERS: [[u64; 2]; 3] = [[7, 20], [13, 36], [2, 301]];

/// Imports a decoder whose axes `tokens` have as many elements as a step has tokens.
///
/// # Errors
///
/// [`ConfigError::Import`], as [`import`], and if an extent is no polynomial of the tokens.
pub fn import_step(
    path: &Path,
    options: &Options,
    tokens: &BTreeMap<String, Tokens>,
) -> Result<Imported, ConfigError> {
    let refused = |problem: String| ConfigError::Import {
        path: path.into(),
        problems: vec![problem],
        command: None,
    };
    let has = |wanted| tokens.values().any(|it| *it == wanted);
    if !has(Tokens::New) || !has(Tokens::Past) {
        return Err(refused(format!(
            "a step of a sequence has an axis of `{NEW}` and one of `{PAST}` tokens"
        )));
    }
    let mut imports = Vec::new();
    for point in KNOWN.into_iter().chain(OTHERS) {
        let mut at = options.clone();
        at.dims.extend(tokens.iter().map(|(name, it)| (name.clone(), it.of(point))));
        let cached = tokens.iter().filter(|(_, it)| **it == Tokens::Past);
        at.cached.extend(cached.map(|(name, _)| name.clone()));
        imports.push(import(path, &at)?);
    }
    // Sentences with numbers of one length say nothing about others.
    let mut deviations = imports[0].model.deviations.clone();
    deviations.retain(|it| imports.iter().all(|other| other.model.deviations.contains(it)));
    let texts = imports.iter().map(|it| {
        let model = Model { deviations: deviations.clone(), ..it.model.clone() };
        text(path, &model, &it.origins, &it.nodes)
    });
    let texts: Vec<String> = texts.collect();
    let text = joined(&texts).ok_or_else(|| {
        refused(format!("its layers are not the same at all numbers of tokens, or have extents that are no sums of \
                         products of `{NEW}` and `{PAST}`; import it at one length"))
    })?;
    let [new, past] = [
        (NEW, "1, range: [1, 4096], reason: \"tokens that a step computes\""),
        (PAST, "0, range: [0, 131072], reason: \"tokens in the cache before a step\""),
    ]
    .map(|(name, rest)| format!("    {name}: {{default: {rest}}}\n"));
    let text = text.replacen("  layers:\n", &format!("  parameters:\n{new}{past}  layers:\n"), 1);
    let mut catalog = Catalog::new();
    let source = Source::new(path.with_extension("yaml").display().to_string(), text.clone());
    let name = source.name().to_string();
    catalog.provide(source);
    let model = Arc::unwrap_or_clone(catalog.model(&name)?);
    let first = imports.swap_remove(0);
    Ok(Imported { model, text, ..first })
}

/// The text that has the numbers of `texts` at [`KNOWN`] and [`OTHERS`]: numbers that differ are expressions. `None` if
/// texts differ otherwise.
fn joined(texts: &[String]) -> Option<String> {
    let pieces: Vec<Vec<&str>> = texts.iter().map(|text| pieces(text)).collect();
    let [first, others @ ..] = &pieces[..] else { return None };
    if others.iter().any(|it| it.len() != first.len()) {
        return None;
    }
    let mut result = String::with_capacity(texts[0].len());
    for (index, piece) in first.iter().enumerate() {
        if others.iter().all(|it| it[index] == *piece) {
            result.push_str(piece);
            continue;
        }
        let numbers: Option<Vec<i128>> = pieces.iter().map(|it| it[index].parse().ok()).collect();
        let numbers = numbers?;
        let it = Polynomial::through(numbers.first_chunk()?)?;
        let agrees =
            OTHERS.iter().zip(&numbers[KNOWN.len()..]).all(|(at, number)| it.at(*at) == *number);
        result.push_str(&agrees.then(|| it.to_string())?);
    }
    Some(result)
}

/// Runs of digits, and what stands between them.
fn pieces(text: &str) -> Vec<&str> {
    text.as_bytes()
        .chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit())
        .scan(0, |start, chunk| {
            let begin = *start;
            *start += chunk.len();
            Some(&text[begin..*start])
        })
        .collect()
}

/// A number as a sum of products of tokens.
struct Polynomial {
    one: i128,
    new: i128,
    past: i128,
    both: i128,
    squared: i128,
}

impl Polynomial {
    /// The one that has these values at [`KNOWN`], if its factors are whole numbers.
    fn through(values: &[i128; 5]) -> Option<Self> {
        let [a, b, c, d, e] = *values;
        let exact = |number: i128, by: i128| (number % by == 0).then_some(number / by);
        // Second differences of three numbers of new tokens, 2 apart.
        let squared = exact(c - 2 * b + a, 8)?;
        // 2 new tokens and 12 past ones apart.
        let both = exact((e - d) - (b - a), 24)?;
        let new = exact(b - a, 2)? - squared * 8 - both * 8;
        let past = exact(d - a, 12)? - both * 3;
        let one = a - squared * 9 - both * 24 - new * 3 - past * 8;
        Some(Self { one, new, past, both, squared })
    }

    fn at(&self, [new, past]: [u64; 2]) -> i128 {
        let [new, at] = [i128::from(new), i128::from(past)];
        self.one + self.new * new + self.past * at + self.both * new * at + self.squared * new * new
    }
}

impl std::fmt::Display for Polynomial {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let products = [
            (self.squared, "new*new"),
            (self.both, "new*past"),
            (self.past, PAST),
            (self.new, NEW),
            (self.one, ""),
        ];
        let mut is_first = true;
        for (factor, product) in products.into_iter().filter(|(factor, _)| *factor != 0) {
            let sign = match (factor < 0, is_first) {
                (true, true) => "-",
                (true, false) => " - ",
                (false, true) => "",
                (false, false) => " + ",
            };
            is_first = false;
            match (factor.unsigned_abs(), product) {
                (number, "") => write!(f, "{sign}{number}")?,
                (1, product) => write!(f, "{sign}{product}")?,
                (number, product) => write!(f, "{sign}{number}*{product}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_differ_become_expressions() {
        let text = |[n, p]: [u64; 2]| {
            format!("a: {}, b: {}, c: {}, d: 7", 8 * n, p + n, 2 * n * n + 3 * n * p + 5)
        };
        let texts: Vec<String> = KNOWN.into_iter().chain(OTHERS).map(text).collect();
        let expected = "a: 8*new, b: past + new, c: 2*new*new + 3*new*past + 5, d: 7";
        assert_eq!(joined(&texts).as_deref(), Some(expected));
    }

    /// Halves rounded up, and texts with more words at some lengths.
    #[test]
    fn what_is_no_polynomial_is_refused() {
        let refused = |text: fn([u64; 2]) -> String| {
            let texts: Vec<String> = KNOWN.into_iter().chain(OTHERS).map(text).collect();
            assert_eq!(joined(&texts), None);
        };
        refused(|[n, _]| format!("a: {}", n.div_ceil(2)));
        refused(|[n, p]| format!("a: {}", p.min(25) + n));
        refused(|[n, _]| if n == 2 { "a: 1, b: 2".into() } else { "a: 1".into() });
    }
}
