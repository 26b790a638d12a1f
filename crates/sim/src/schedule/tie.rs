//! The order of requests with equal keys.

use xrsim_model::ids::{FrameId, ModelId};
use xrsim_model::units::SimTime;

use super::Job;

/// Order of jobs with equal keys: earlier deadline, earlier arrival, scenario order, lower frame.
pub(super) type Tie = (SimTime, SimTime, ModelId, FrameId);

/// Place of a job among jobs with equal keys.
pub(super) fn tie(job: &Job) -> Tie {
    (job.deadline, job.arrival, job.model, job.frame)
}
