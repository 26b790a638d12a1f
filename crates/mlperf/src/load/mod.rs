//! Load generation: arrivals of queries and the samples of each, all generated before the run.

mod arrivals;
mod random;
mod schedule;

pub use arrivals::{ArrivalTimes, Arrivals, BurstError, Bursts};
pub use random::MersenneTwister;
pub use schedule::QuerySchedule;
pub(crate) use schedule::{LATEST, expected_samples, loaded_set};
