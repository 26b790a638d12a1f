//! Orders of requests, and the order of requests with equal keys.

use xrsim_model::ids::{AccelId, FrameId, ModelId};
use xrsim_model::units::SimTime;

use super::{Granularity, Job, View};

/// An order of requests.
pub trait Rank: Send {
    /// Key of a job; the smallest comes first.
    type Key: PartialOrd + Copy + Send;

    /// Whether the order of two jobs never changes while both are ready. The order of many jobs is then
    /// kept from one decision to the next.
    const IS_FIXED: bool = false;

    /// Looks at all ready jobs before the keys of a decision are computed.
    fn observe(&mut self, _view: &View<'_>) {}

    /// Key of a ready job. Never NaN.
    fn key(&self, job: &Job, view: &View<'_>) -> Self::Key;

    /// Whether the key of a ready job is final, for an order that is fixed. Until it is, every decision
    /// looks at the job.
    fn is_settled(&self, _job: &Job, _view: &View<'_>) -> bool {
        true
    }

    /// How much of `job` runs; `None` leaves it to the user's choice.
    fn granularity(
        &self,
        _job: &Job,
        _accelerator: AccelId,
        _view: &View<'_>,
    ) -> Option<Granularity> {
        None
    }

    /// Notes that `job` is dispatched.
    fn dispatched(&mut self, _job: &Job, _view: &View<'_>) {}
}

/// Order of jobs with equal keys: earlier deadline, earlier arrival, scenario order, lower frame.
pub(super) type Tie = (SimTime, SimTime, ModelId, FrameId);

/// Place of a job among jobs with equal keys.
pub(super) fn tie(job: &Job) -> Tie {
    (job.deadline, job.arrival, job.model, job.frame)
}
