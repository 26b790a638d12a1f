//! Policies that are an order of requests, combined with any placement.

use xrsim_model::ids::AccelId;

use super::alike::{Classes, Needs};
use super::queue::Queue;
use super::rank::{Rank, is_before};
use super::{Decision, Dispatch, Job, Options, Placement, Scheduler, Setup, View, placement};

/// Policy that takes jobs in order of a [`Rank`].
pub struct Ranked<R: Rank> {
    rank: R,
    options: Options,
    /// Order of many ready jobs, if it is fixed.
    queue: Option<Queue<R::Key>>,
    /// Many ready jobs in classes, otherwise.
    classes: Option<Classes>,
}

impl<R: Rank> Ranked<R> {
    const NEEDS: Needs = Needs { orders: R::ORDERS, n_limits: R::IS_LIMITED as usize };

    /// Policy of `rank` with the options of the run.
    pub fn new(rank: R, setup: &Setup<'_>) -> Self {
        Self { rank, options: setup.options, queue: None, classes: None }
    }

    /// The first job whose placement is an idle accelerator. That it is depends on work and next layer only.
    fn first<'v>(&mut self, view: &View<'v>) -> Option<&'v Job> {
        let placement = self.options.placement;
        let may_wait = placement == Placement::EarliestFinish || !view.costs.is_complete();
        let runs = |job: &Job| !may_wait || placement::place(placement, job, view).is_some();
        if R::IS_FIXED {
            if let Some(queue) = Queue::up_to_date(&mut self.queue, may_wait, &self.rank, view) {
                let place = queue.first(&self.rank, runs, view)?;
                return view.ready.get(place.request);
            }
        } else if let Some(classes) = Classes::up_to_date(&mut self.classes, Self::NEEDS, view) {
            self.rank.observe_classes(classes, view);
            if R::IS_LIMITED {
                classes.limit(0, view.now, |class| self.rank.limit(class, view));
            }
            return self.first_of_classes(runs, view);
        }
        self.rank.observe(view);
        self.first_of_all(runs, view)
    }

    fn first_of_classes<'v>(
        &self,
        runs: impl Fn(&Job) -> bool,
        view: &View<'v>,
    ) -> Option<&'v Job> {
        let mut first: Option<(R::Key, &Job)> = None;
        let mut classes = self.classes.as_ref()?.promising(0, view.now);
        let most = |first: Option<(R::Key, &Job)>| {
            first.map_or(f64::NEG_INFINITY, |(least, _)| R::value(least))
        };
        while let Some(class) = classes.next(most(first)) {
            if let Some(job) = self.rank.first_of(class, view).filter(|job| runs(job)) {
                let key = self.rank.key(job, view);
                if is_before((key, job), first) {
                    first = Some((key, job));
                }
            }
        }
        view.ready.get(first?.1.request)
    }

    /// The first job, found by a scan.
    fn first_of_all<'v>(&self, runs: impl Fn(&Job) -> bool, view: &View<'v>) -> Option<&'v Job> {
        let mut first = None;
        for chunk in view.ready.chunks() {
            for job in chunk {
                let key = self.rank.key(job, view);
                if is_before((key, job), first) && runs(job) {
                    first = Some((key, job));
                }
            }
        }
        first.map(|(_, job)| job)
    }

    /// The first job that ran on `accelerator` until now.
    pub(super) fn cut_at<'v>(&self, accelerator: AccelId, view: &View<'v>) -> Option<&'v Job> {
        if let Some(classes) = &self.classes {
            return view.ready.get(classes.cut_at(accelerator, view.now)?);
        }
        let was_here =
            |job: &&Job| view.was_cut_now(job) && job.last_accelerator == Some(accelerator);
        view.ready.iter().find(was_here)
    }

    fn dispatch(&mut self, job: &Job, view: &View<'_>) -> Option<Decision> {
        let accelerator = placement::place(self.options.placement, job, view)?;
        let own = self.rank.granularity(job, accelerator, view);
        let granularity = own.unwrap_or(self.options.granularity);
        self.rank.dispatched(job, view);
        Some(Dispatch::new(job.request, accelerator).with_granularity(granularity).into())
    }
}

impl<R: Rank> Scheduler for Ranked<R> {
    fn decide(&mut self, view: &View<'_>) -> Decision {
        let decision = self.first(view).and_then(|job| self.dispatch(job, view));
        decision.unwrap_or(Decision::Wait)
    }
}
