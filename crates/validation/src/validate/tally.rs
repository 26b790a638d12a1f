//! Count of the values of one kind that were compared, with the first that differed.

use std::fmt;

/// A value that differs from the reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// Name of the value, and its file and line if it is not in the file of cases.
    pub what: String,
    /// Value of the reference.
    pub expected: String,
    /// Value of the simulator.
    pub found: String,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, expected, found } = self;
        write!(f, "{what}: expected {expected}, found {found}")
    }
}

/// Comparisons of one kind.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tally {
    compared: usize,
    differing: usize,
    /// The first difference.
    pub first: Option<Mismatch>,
    /// Largest relative deviation among values that need only be near.
    pub largest: Option<f64>,
}

impl Tally {
    /// Compares two values that must be equal.
    pub(super) fn equal<T: PartialEq + fmt::Display>(
        &mut self,
        what: impl fmt::Display,
        expected: T,
        found: T,
    ) {
        let equal = expected == found;
        self.add(equal, || Mismatch {
            what: what.to_string(),
            expected: expected.to_string(),
            found: found.to_string(),
        });
    }

    /// Compares two values that must be equal, if the reference has one.
    pub(super) fn equal_if<T: PartialEq + fmt::Display>(
        &mut self,
        what: impl fmt::Display,
        expected: Option<T>,
        found: T,
    ) {
        if let Some(expected) = expected {
            self.equal(what, expected, found);
        }
    }

    /// Compares two rates, if the reference has one. The second may deviate by `tolerance`, as a fraction
    /// of the first. LoadGen prints 0 where there is no rate.
    pub(super) fn near_if(
        &mut self,
        what: &str,
        expected: Option<f64>,
        found: Option<f64>,
        tolerance: f64,
    ) {
        let Some(expected) = expected else { return };
        let found = found.unwrap_or(0.0);
        let deviation = match expected {
            0.0 => f64::from(found != 0.0),
            _ => (found / expected - 1.0).abs(),
        };
        self.deviation(what, [expected, found], deviation, deviation <= tolerance);
    }

    /// Adds a comparison of `[expected, found]` with its relative deviation; `allowed` says whether the
    /// deviation is within the tolerance.
    pub(super) fn deviation(
        &mut self,
        what: &str,
        values: [f64; 2],
        deviation: f64,
        allowed: bool,
    ) {
        self.largest = Some(self.largest.unwrap_or(0.0).max(deviation));
        let [expected, found] = values.map(|value| value.to_string());
        self.add(allowed, || Mismatch { what: what.into(), expected, found });
    }

    fn add(&mut self, equal: bool, difference: impl FnOnce() -> Mismatch) {
        self.compared += 1;
        if !equal {
            self.differing += 1;
            self.first.get_or_insert_with(difference);
        }
    }

    /// Adds the comparisons of `other`.
    pub(super) fn extend(&mut self, other: &Self) {
        self.compared += other.compared;
        self.differing += other.differing;
        self.first = self.first.take().or_else(|| other.first.clone());
        self.largest = self.largest.into_iter().chain(other.largest).reduce(f64::max);
    }

    /// Whether nothing differs.
    pub fn is_equal(&self) -> bool {
        self.differing == 0
    }

    /// Whether anything was compared.
    pub fn is_empty(&self) -> bool {
        self.compared == 0
    }
}

/// `12 of 12 equal`.
impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} equal", self.compared - self.differing, self.compared)
    }
}
