//! One run: the queries of a schedule are issued to a system under test, in simulated time.

mod ending;
mod issued;
mod issuer;

pub use ending::Ending;
pub(crate) use ending::STOPPED;
pub use issued::{Query, Run, RunError};
pub use issuer::run_queries;
