//! `Einsum`: its letters, and extents by them.

use xrsim_model::text::in_line;

use super::{Call, Fault, Outputs, invalid, shape};

/// An axis that an equation names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Letter {
    /// An axis of `...`, counted from its last one.
    Dots(usize),
    /// A letter.
    Named(char),
}

/// An equation with the extents of its letters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Equation {
    /// Letters of each operand in the order of its axes; a letter can stand twice.
    pub operands: Vec<Vec<Letter>>,
    /// Letters of the output in the order of its axes.
    pub output: Vec<Letter>,
    /// Extent of each letter, each letter once.
    pub extents: Vec<(Letter, u64)>,
}

impl Equation {
    /// Extent of a letter; 1 of one that no operand has.
    pub(crate) fn extent(&self, letter: Letter) -> u64 {
        self.extents.iter().find(|(own, _)| *own == letter).map_or(1, |&(_, extent)| extent)
    }
}

/// Letters of an `Einsum`, with extents of its inputs.
///
/// # Errors
///
/// [`Fault::Invalid`] of an equation that does not fit the inputs.
pub(crate) fn equation(call: &Call<'_>) -> Result<Equation, Fault> {
    let text: String = call.text("equation", "")?.chars().filter(|c| !c.is_whitespace()).collect();
    let (left, right) = match text.split_once("->") {
        Some((left, right)) => (left, Some(right)),
        None => (text.as_str(), None),
    };
    let count = call.inputs.len();
    let terms: Vec<&str> = left.split(',').take(count + 1).collect();
    ensure!(terms.len() == count, "the equation {} for {count} operands", in_line(&text));
    let mut operands = Vec::with_capacity(terms.len());
    let mut extents: Vec<(Letter, u64)> = Vec::new();
    for (index, term) in terms.iter().enumerate() {
        let shape = &call.input(index)?.shape;
        let letters = letters(term, Some(shape.len()))?;
        same_dots(&extents, term, &letters)?;
        for (&letter, &extent) in letters.iter().zip(shape) {
            meet(&mut extents, letter, extent)?;
        }
        operands.push(letters);
    }
    let dots = extents.iter().filter(|(letter, _)| matches!(letter, Letter::Dots(_))).count();
    let output = match right {
        Some(right) => stated(right, dots)?,
        None => implied(&operands, dots),
    };
    let is_unknown = |letter: &&Letter| extents.iter().all(|(own, _)| own != *letter);
    if let Some(unknown) = output.iter().find(is_unknown) {
        let text = in_line(&text);
        return invalid(format!("{unknown} of the output is in no operand of {text}"));
    }
    Ok(Equation { operands, output, extents })
}

/// Letters of a term; `...` stands for as many axes as are left.
fn letters(term: &str, rank: Option<usize>) -> Result<Vec<Letter>, Fault> {
    let named = |text: &str| -> Result<Vec<Letter>, Fault> {
        match text.chars().find(|c| !c.is_ascii_alphabetic()) {
            Some(other) => invalid(format!("`{}` in an equation", other.escape_debug())),
            None => Ok(text.chars().map(Letter::Named).collect()),
        }
    };
    let (first, last) = match term.split_once("...") {
        Some((first, last)) => (named(first)?, Some(named(last)?)),
        None => (named(term)?, None),
    };
    let own = first.len() + last.as_ref().map_or(0, Vec::len);
    let rank = rank.unwrap_or(own);
    let dots = match (&last, rank.checked_sub(own)) {
        (Some(_), Some(dots)) => dots,
        (None, Some(0)) => 0,
        _ => return invalid(format!("the term {} for {rank} axes", in_line(term))),
    };
    let mut all = first;
    all.extend((0..dots).rev().map(Letter::Dots));
    all.extend(last.unwrap_or_default());
    Ok(all)
}

/// Checks that `...` stands for as many axes as in the operands before.
fn same_dots(known: &[(Letter, u64)], term: &str, letters: &[Letter]) -> Result<(), Fault> {
    let count = |letter: &&Letter| matches!(letter, Letter::Dots(_));
    let before = known.iter().map(|(letter, _)| letter).filter(count).count();
    let own = letters.iter().filter(count).count();
    let fits = before == own || before == 0 || !term.contains("...");
    ensure!(fits, "`...` stands for {before} axes and for {own}");
    Ok(())
}

/// Letters of the output as it is stated.
fn stated(term: &str, dots: usize) -> Result<Vec<Letter>, Fault> {
    let rank = term.contains("...").then(|| term.chars().count() - 3 + dots);
    let output = letters(term, rank)?;
    let mut sorted = output.clone();
    sorted.sort_unstable();
    let is_twice = sorted.windows(2).any(|pair| pair[0] == pair[1]);
    ensure!(!is_twice, "a letter twice in the output {term}");
    Ok(output)
}

/// Letters of the output if none is stated: `...`, then letters that stand once, in order.
fn implied(operands: &[Vec<Letter>], dots: usize) -> Vec<Letter> {
    let mut all: Vec<Letter> = operands
        .iter()
        .flatten()
        .copied()
        .filter(|letter| matches!(letter, Letter::Named(_)))
        .collect();
    all.sort_unstable();
    let once = all.chunk_by(|a, b| a == b).filter(|same| same.len() == 1).flatten().copied();
    (0..dots).rev().map(Letter::Dots).chain(once).collect()
}

/// Enters the extent of a letter, which is the same wherever it stands; axes of `...` are broadcast.
fn meet(extents: &mut Vec<(Letter, u64)>, letter: Letter, extent: u64) -> Result<(), Fault> {
    let Some((_, own)) = extents.iter_mut().find(|(own, _)| *own == letter) else {
        extents.push((letter, extent));
        return Ok(());
    };
    let is_dots = matches!(letter, Letter::Dots(_));
    if is_dots && *own == 1 {
        *own = extent;
    }
    let fits = *own == extent || is_dots && extent == 1;
    ensure!(fits, "{letter} is {own} in one operand and {extent} in another");
    Ok(())
}

/// A letter as messages write it.
impl std::fmt::Display for Letter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Named(letter) => write!(f, "{letter}"),
            Self::Dots(_) => f.write_str("`...`"),
        }
    }
}

/// `Einsum`.
pub(crate) fn einsum(call: &Call<'_>) -> Outputs {
    let equation = equation(call)?;
    let out: Vec<u64> = equation.output.iter().map(|&letter| equation.extent(letter)).collect();
    shape::count(&out)?;
    Ok(vec![call.output(call.input(0)?.element, out)])
}
