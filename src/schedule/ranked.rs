//! Policies that are an order of requests, combined with any placement.

use std::cmp::Ordering;

use crate::ids::{AccelId, FrameId, ModelId};
use crate::units::SimTime;

use super::{Decision, Granularity, Job, Options, Placement, Scheduler, Setup, View, placement};

/// An order of requests.
pub trait Rank: Send {
    /// What decides; the smallest comes first.
    type Key: PartialOrd + Copy + Send;

    /// Looks at all that is ready, before it is asked for keys.
    fn observe(&mut self, _view: &View<'_>) {}

    /// The key of a ready job. Never NaN.
    fn key(&self, job: &Job, view: &View<'_>) -> Self::Key;

    /// How much of `job` runs; the user's choice unless the policy has its own.
    fn extent(&self, _job: &Job, _accelerator: AccelId, _view: &View<'_>) -> Option<Granularity> {
        None
    }

    /// Learns that `job` is dispatched.
    fn dispatched(&mut self, _job: &Job, _view: &View<'_>) {}
}

/// The policy that takes jobs in order of a [`Rank`].
pub struct Ranked<R: Rank> {
    rank: R,
    options: Options,
    /// Keys and indices of the ready jobs while they are sorted.
    order: Vec<(R::Key, usize)>,
}

/// What decides between equal keys: earlier deadline, earlier release, scenario order, lower frame.
type Tie = (SimTime, SimTime, ModelId, FrameId);

/// Tie order of a job.
pub(super) fn tie(job: &Job) -> Tie {
    (job.deadline, job.release, job.model, job.frame)
}

impl<R: Rank> Ranked<R> {
    /// The policy of `rank` with the options of the run.
    pub fn new(rank: R, setup: &Setup<'_>) -> Self {
        Self { rank, options: setup.options, order: Vec::new() }
    }

    fn first<'v>(&self, view: &View<'v>) -> &'v Job {
        let mut jobs = view.ready.iter();
        let mut first = jobs.next().expect("a policy is asked only with something ready");
        let mut least = self.rank.key(first, view);
        for job in jobs {
            let key = self.rank.key(job, view);
            if key < least || (key == least && tie(job) < tie(first)) {
                (first, least) = (job, key);
            }
        }
        first
    }

    fn dispatch(&mut self, job: &Job, view: &View<'_>) -> Option<Decision> {
        let accelerator = placement::place(self.options.placement, job, view)?;
        let extent = self.rank.extent(job, accelerator, view).unwrap_or(self.options.granularity);
        self.rank.dispatched(job, view);
        Some(Decision::Dispatch { request: job.request, accelerator, extent })
    }

    /// The first job, in order of rank, that does not rather wait for a busy accelerator.
    fn first_that_runs(&mut self, view: &View<'_>) -> Decision {
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        let keys = view.ready.iter().map(|job| self.rank.key(job, view));
        order.extend(keys.zip(0..));
        order.sort_unstable_by(|(a, x), (b, y)| {
            let keys = a.partial_cmp(b).unwrap_or(Ordering::Equal);
            keys.then_with(|| tie(&view.ready[*x]).cmp(&tie(&view.ready[*y])))
        });
        let decision = order.iter().find_map(|&(_, index)| self.dispatch(&view.ready[index], view));
        self.order = order;
        decision.unwrap_or(Decision::Wait)
    }
}

impl<R: Rank> Scheduler for Ranked<R> {
    fn decide(&mut self, view: &View<'_>) -> Decision {
        self.rank.observe(view);
        if self.options.placement == Placement::EarliestFinish {
            return self.first_that_runs(view);
        }
        let job = self.first(view);
        self.dispatch(job, view).expect("every other placement takes an idle accelerator")
    }
}
