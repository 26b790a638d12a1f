//! Orders of requests.

use xrsim_model::ids::AccelId;

use super::alike::Alike;
use super::tie::tie;
use super::{Granularity, Job, View};

/// An order of requests.
pub trait Rank: Send {
    /// Key of a job; the smallest comes first.
    type Key: PartialOrd + Copy + Send;

    /// Whether the order of two jobs never changes while both are ready. The order of many jobs is then
    /// kept from one decision to the next.
    const IS_FIXED: bool = false;

    /// Whether [`Rank::first_of`] finds the first job of a class without a look at all of them.
    const IS_BY_CLASS: bool = false;

    /// The first job of a class in this order.
    fn first_of<'c>(&self, class: &'c Alike, view: &View<'_>) -> Option<&'c Job> {
        first(self, class.jobs(), view)
    }

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

/// The first of these jobs in the order of `rank`.
pub(super) fn first<'j, R: Rank + ?Sized>(
    rank: &R,
    jobs: impl Iterator<Item = &'j Job>,
    view: &View<'_>,
) -> Option<&'j Job> {
    let mut first: Option<(R::Key, &Job)> = None;
    for job in jobs {
        let key = rank.key(job, view);
        let is_before = |other: &Job| (tie(job), job.request) < (tie(other), other.request);
        if first.is_none_or(|(least, other)| key < least || (key == least && is_before(other))) {
            first = Some((key, job));
        }
    }
    first.map(|(_, job)| job)
}
