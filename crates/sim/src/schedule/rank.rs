//! Orders of requests.

use xrsim_model::ids::AccelId;
use xrsim_model::units::SimTime;

use super::alike::{Alike, Classes, Since};
use super::limits::Line;
use super::tie::tie;
use super::{Granularity, Job, View};

/// An order of requests.
pub trait Rank: Send {
    /// Key of a job; the smallest comes first.
    type Key: PartialOrd + Copy + Send;

    /// Whether the order of two jobs never changes while both are ready. The order of many jobs is then
    /// kept from one decision to the next. Otherwise they are kept in classes of equal costs.
    const IS_FIXED: bool = false;

    /// Orders of the jobs of a class, besides that of their deadlines, of which [`Rank::first_of`] makes use.
    const ORDERS: &'static [Since] = &[];

    /// Whether [`Rank::limit`] says which classes can have the first job.
    const IS_LIMITED: bool = false;

    /// The first job of a class in this order. Many jobs cost less if it does not look at all of them.
    fn first_of<'c>(&self, class: &'c Alike, view: &View<'_>) -> Option<&'c Job> {
        first(self, class.jobs(), view)
    }

    /// Upper bound of the values of the jobs of a class.
    fn limit(&self, _class: &Alike, _view: &View<'_>) -> Line {
        Line::constant(f64::INFINITY, SimTime::MAX)
    }

    /// Value of a key, for limits: a smaller value comes later.
    fn value(_key: Self::Key) -> f64 {
        f64::NEG_INFINITY
    }

    /// Looks at all ready jobs before the keys of a decision are computed.
    fn observe(&mut self, _view: &View<'_>) {}

    /// Like [`Rank::observe`], with the jobs in classes.
    fn observe_classes(&mut self, _classes: &Classes, view: &View<'_>) {
        self.observe(view);
    }

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
    let mut first = None;
    for job in jobs {
        let key = rank.key(job, view);
        if is_before((key, job), first) {
            first = Some((key, job));
        }
    }
    first.map(|(_, job)| job)
}

/// Whether a job with its key comes before the first one so far.
#[inline]
pub(super) fn is_before<K: PartialOrd>((key, job): (K, &Job), first: Option<(K, &Job)>) -> bool {
    let place = |job: &Job| (tie(job), job.request);
    first.is_none_or(|(least, first)| key < least || (key == least && place(job) < place(first)))
}
