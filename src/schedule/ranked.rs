//! Policies that are an order of requests, combined with any admission and any placement.

use crate::ids::{FrameId, ModelId};
use crate::units::{SimSpan, SimTime};

use super::{Admission, Decision, Job, Options, Placement, Scheduler, Setup, View, placement};

/// An order of requests.
pub trait Rank: Send {
    /// What decides; the smallest comes first.
    type Key: PartialOrd + Copy;

    /// The key of a ready job. Never NaN.
    fn key(&self, job: &Job, view: &View<'_>) -> Self::Key;

    /// Learns that `job` is dispatched.
    fn dispatched(&mut self, _job: &Job, _view: &View<'_>) {}
}

/// The policy that takes jobs in order of a [`Rank`].
pub struct Ranked<R> {
    rank: R,
    options: Options,
    /// Shortest latency of every model, to see at once who has hope.
    best: Box<[SimSpan]>,
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
        let best = setup.scenario.model_ids().map(|model| setup.costs.best_latency(model));
        Self { rank, options: setup.options, best: best.collect() }
    }

    /// The first ready job without hope.
    fn hopeless(&self, view: &View<'_>) -> Option<Job> {
        let Admission::SkipHopeless { tolerance } = self.options.admission else {
            return None;
        };
        let is_late = |job: &&Job| {
            let rest = match job.next_layer {
                0 => self.best[job.model.index()],
                _ => view.best_remaining(job),
            };
            view.now + rest > job.deadline + tolerance
        };
        view.ready.iter().find(is_late).copied()
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
        self.rank.dispatched(job, view);
        let extent = self.options.granularity;
        Some(Decision::Dispatch { request: job.request, accelerator, extent })
    }

    /// The first job, in order of rank, that does not rather wait for a busy accelerator.
    fn first_that_runs(&mut self, view: &View<'_>) -> Decision {
        let mut jobs: Vec<_> =
            view.ready.iter().map(|job| (self.rank.key(job, view), job)).collect();
        jobs.sort_by(|(a, x), (b, y)| {
            let order = a.partial_cmp(b).expect("keys are comparable");
            order.then_with(|| tie(x).cmp(&tie(y)))
        });
        let mut running = jobs.into_iter().filter_map(|(_, job)| self.dispatch(job, view));
        running.next().unwrap_or(Decision::Wait)
    }
}

impl<R: Rank> Scheduler for Ranked<R> {
    fn decide(&mut self, view: &View<'_>) -> Decision {
        if let Some(job) = self.hopeless(view) {
            return Decision::Drop(job.request);
        }
        if self.options.placement == Placement::EarliestFinish {
            return self.first_that_runs(view);
        }
        let job = *self.first(view);
        self.dispatch(&job, view).expect("every other placement takes an idle accelerator")
    }
}
