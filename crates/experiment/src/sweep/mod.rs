//! Sweeps: from a draft to a checked grid of points, and from points to runs and scores.

mod check;
mod inputs;
mod parameters;
mod points;
mod relatives;

pub use check::Sweep;
pub use inputs::Inputs;
pub use points::{Candidate, PointResult, score_each};
pub use relatives::{change_of_rows, relate};
