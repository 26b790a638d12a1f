//! Rules of MLPerf: tasks and tests of a suite, and the counts, durations and seeds of a round.

mod query_count;
mod round;
mod suite;

pub use query_count::QueryCount;
pub use round::{ROUNDS, Round, TailQueries};
pub use suite::{Benchmark, Cooldown, Load, Quality, QualityTarget, Suite, Task, Test};
