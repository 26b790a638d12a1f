//! What figures demand of their data.

use super::{FigureError, Spacing};

/// Numbers above this cannot be told from infinity once they are added up and scaled.
const LARGEST: f64 = 1e100;

/// Numbers below this have no place on a logarithmic axis.
const SMALLEST: f64 = 1e-100;

/// Which numbers have a place on an axis.
#[derive(Clone, Copy)]
pub(super) enum Allowed {
    /// Every number but NaN and what is close to infinity.
    Finite,
    /// Zero and above: lengths of bars.
    NonNegative,
    /// Above zero: logarithmic axes.
    Positive,
}

impl Allowed {
    /// What an axis of this spacing has a place for.
    pub fn on(spacing: Spacing) -> Self {
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

/// `value` has a place on its axis; `what` names it if not.
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

/// There is something, and not too much of it.
pub(super) fn amount(found: usize, max: usize, what: &'static str) -> Result<(), FigureError> {
    match found {
        0 => Err(FigureError::Empty(what)),
        _ => at_most(found, max, what),
    }
}

/// There is not too much of something that may be missing.
pub(super) fn at_most(found: usize, max: usize, what: &'static str) -> Result<(), FigureError> {
    if found > max { Err(FigureError::TooMany { what, found, max }) } else { Ok(()) }
}

/// A list has the length of the one it belongs to; `what` names it if not.
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

/// An index is below `count`; `what` names it if not.
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
