//! Results of a run: latency statistics, rates and validity, each as LoadGen computes it, and whether
//! the system sustains the rate.

mod performance;
mod statistics;
mod sustained;
mod validity;

pub(crate) use performance::rate_until;
pub use performance::{Intervals, Metric, Observations, Performance};
pub use statistics::{LatencyStatistics, PERCENTILES};
pub use sustained::Unsustained;
pub(crate) use sustained::{exceeds_capacity, sustains_rate};
pub(crate) use validity::EXITED_EARLY;
pub use validity::{EarlyStoppingOutcome, Estimate, Validity};
