//! Sweeps: from a draft to a checked grid of points, and from points to runs and scores.

mod check;
mod inputs;
mod parameters;
mod points;

pub(crate) use check::Sweep;
pub(crate) use inputs::Inputs;
pub(crate) use points::{Candidate, PointResult, score_each};
