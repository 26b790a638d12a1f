//! Results of a run: latency statistics, rates and validity, each as LoadGen computes it, and whether
//! the system sustains the rate.

mod performance;
mod statistics;
mod sustained;
mod validity;

pub use performance::Performance;
pub use performance::Intervals;
pub use performance::Observations;
pub use performance::Metric;
pub use statistics::LatencyStatistics;
pub(crate) use statistics::PERCENTILES;
pub(crate) use sustained::exceeds_capacity;
pub use sustained::Unsustained;
pub(crate) use sustained::sustains_rate;
pub(crate) use validity::EXITED_EARLY;
pub use validity::Validity;
pub use validity::EarlyStoppingOutcome;
pub use validity::Estimate;
