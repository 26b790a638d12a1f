//! Statistics of replicated runs: means with confidence intervals, paired comparisons, ranks of
//! several candidates, the number of replications, percentiles with the number of samples that they need, and the agreement of rankings.
//!
//! The module knows nothing of scenarios, runs or scores: numbers in, numbers out. Everything is
//! deterministic.

mod alike;
mod early_stopping;
mod friedman;
mod paired;
mod percentile;
mod rank_correlation;
mod screening;
mod sequential;
mod share;
mod summary;

pub use alike::{ALIKE, is_alike};
pub use early_stopping::EarlyStopping;
pub use friedman::Friedman;
pub use paired::{PairedDifference, holm};
pub use percentile::percentile;
pub use percentile::percentile_index;
pub use rank_correlation::{kendall_tau, spearman_rho};
pub use screening::ScreeningDesign;
pub use sequential::{Sequential, Stopping};
pub use share::{normal_quantile, share_interval};
pub use summary::{Interval, LEAST_VALUES, NoInterval, Summary};

/// A fraction strictly between 0 and 1: a level of confidence, or the rank of a percentile.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Fraction(f64);

impl Fraction {
    /// 50 %: the median.
    pub const P50: Self = Self(0.5);
    /// 90 %.
    pub const P90: Self = Self(0.9);
    /// 95 %: the usual level of a confidence interval.
    pub const P95: Self = Self(0.95);
    /// 97 %.
    pub const P97: Self = Self(0.97);
    /// 99 %.
    pub const P99: Self = Self(0.99);
    /// 99.9 %.
    pub const P999: Self = Self(0.999);

    /// The fraction `value`; `None` unless 0 < `value` < 1.
    pub fn new(value: f64) -> Option<Self> {
        (value > 0.0 && value < 1.0).then_some(Self(value))
    }

    /// The value, between 0 and 1.
    pub const fn get(self) -> f64 {
        self.0
    }
}
