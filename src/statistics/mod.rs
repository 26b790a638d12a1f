//! Statistics of replicated runs: means with intervals, paired comparisons, how many replications
//! are enough, and percentiles with the samples that they need.
//!
//! Knows nothing of scenarios, runs or scores: numbers in, numbers out. Everything is deterministic;
//! the bootstrap draws from a generator that its caller seeds.

mod early_stopping;
mod paired;
mod percentile;
mod sequential;
mod summary;

pub use early_stopping::EarlyStopping;
pub use paired::{PairedDifference, holm};
pub use percentile::{percentile, percentile_index};
pub use sequential::{Progress, Sequential};
pub use summary::{Interval, Summary};

/// A share strictly between 0 and 1: a level of confidence, or which percentile is meant.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Fraction(f64);

impl Fraction {
    /// 50 %: the median.
    pub const P50: Self = Self(0.5);
    /// 90 %.
    pub const P90: Self = Self(0.9);
    /// 95 %: the usual level of an interval.
    pub const P95: Self = Self(0.95);
    /// 97 %.
    pub const P97: Self = Self(0.97);
    /// 99 %.
    pub const P99: Self = Self(0.99);
    /// 99.9 %.
    pub const P999: Self = Self(0.999);

    /// The share `value`; `None` unless 0 < `value` < 1.
    pub fn new(value: f64) -> Option<Self> {
        (value > 0.0 && value < 1.0).then_some(Self(value))
    }

    /// The share.
    pub const fn get(self) -> f64 {
        self.0
    }
}
