//! Checks of the data of figures.

use super::{FigureError, Spacing};

/// Largest number: sums and scales of larger ones may reach infinity.
const LARGEST: f64 = 1e100;

/// Smallest number on a logarithmic axis.
const SMALLEST: f64 = 1e-100;

/// Numbers that have a place on an axis.
#[derive(Clone, Copy)]
pub(super) enum Allowed {
    /// Numbers from -1e100 to 1e100.
    Finite,
    /// Zero and above: lengths of bars.
    NonNegative,
    /// Above zero: logarithmic axes.
    Positive,
}

impl Allowed {
    /// Numbers that have a place on an axis of this spacing.
    pub(super) fn on(spacing: Spacing) -> Self {
        match spacing {
            Spacing::Linear => Self::Finite,
            Spacing::Log => Self::Positive,
        }
    }

    fn admits(self, value: f64) -> bool {
        match self {
            Self::Finite => value.abs() <= LARGEST,
            Self::NonNegative => (0.0..=LARGEST).contains(&value),
            Self::Positive => (SMALLEST..=LARGEST).contains(&value),
        }
    }

    fn text(self) -> &'static str {
        match self {
            Self::Finite => "-1e100 to 1e100",
            Self::NonNegative => "0 to 1e100",
            Self::Positive => "1e-100 to 1e100",
        }
    }
}

/// Checks that `value` has a place on its axis; `what` names it in the error.
pub(super) fn number(
    value: f64,
    allowed: Allowed,
    what: impl FnOnce() -> String,
) -> Result<(), FigureError> {
    if allowed.admits(value) {
        return Ok(());
    }
    Err(FigureError::Value { what: what(), value, allowed: allowed.text() })
}

/// Checks every count: above zero, and at most the number beside it.
pub(super) fn amounts(counts: &[(usize, usize, &'static str)]) -> Result<(), FigureError> {
    counts.iter().try_for_each(|&(found, max, what)| amount(found, max, what))
}

/// Checks a matrix: a list for each row, a cell for each column, and every number of every cell.
///
/// Errors name cells by row and column, lists by `cells`, and the matrix by `title` if it has one.
pub(super) fn matrix<T, N: IntoIterator<Item = f64>>(
    matrix: &[Vec<T>],
    (rows, columns): (&[String], &[String]),
    (cells, title): (&str, Option<&str>),
    numbers: impl Fn(&T) -> N,
    allowed: Allowed,
) -> Result<(), FigureError> {
    let place = title.map_or_else(String::new, |title| format!(" in `{title}`"));
    length(matrix.len(), rows.len(), || format!("lists of {cells}{place}"))?;
    for (row, list) in rows.iter().zip(matrix) {
        length(list.len(), columns.len(), || format!("{cells} of `{row}`{place}"))?;
        for (column, cell) in columns.iter().zip(list) {
            for value in numbers(cell) {
                number(value, allowed, || format!("`{row}` of `{column}`{place}"))?;
            }
        }
    }
    Ok(())
}

/// Checks that there is something, and at most `max`.
pub(super) fn amount(found: usize, max: usize, what: &'static str) -> Result<(), FigureError> {
    match found {
        0 => Err(FigureError::Empty(what)),
        _ => at_most(found, max, what),
    }
}

/// Checks that there is at most `max` of something that may be missing.
pub(super) fn at_most(found: usize, max: usize, what: &'static str) -> Result<(), FigureError> {
    if found > max { Err(FigureError::TooMany { what, found, max }) } else { Ok(()) }
}

/// Checks that a list has the expected length; `what` names it in the error.
pub(super) fn length(
    found: usize,
    expected: usize,
    what: impl FnOnce() -> String,
) -> Result<(), FigureError> {
    if found == expected {
        return Ok(());
    }
    Err(FigureError::Count { what: what(), found, expected })
}

/// Checks that an index is below `count`; `what` names it in the error.
pub(super) fn reference(
    found: usize,
    count: usize,
    what: impl FnOnce() -> String,
) -> Result<(), FigureError> {
    if found < count {
        return Ok(());
    }
    Err(FigureError::Reference { what: what(), found, count })
}
