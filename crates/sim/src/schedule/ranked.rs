//! Policies that are an order of requests, combined with any placement.

use std::cmp::Ordering;

use xrsim_model::ids::RequestId;

use super::alike::Classes;
use super::queue::Queue;
use super::rank::{Rank, first};
use super::tie::{Tie, tie};
use super::{Decision, Dispatch, Job, Options, Placement, Scheduler, Setup, View, placement};

/// Policy that takes jobs in order of a [`Rank`].
pub struct Ranked<R: Rank> {
    rank: R,
    options: Options,
    /// Buffer for sorting the ready jobs.
    order: Vec<(R::Key, Tie, RequestId)>,
    /// Order of many ready jobs, if it is fixed.
    queue: Option<Queue<R::Key>>,
    /// Many ready jobs in classes, if the order is by class.
    classes: Option<Classes>,
}

impl<R: Rank> Ranked<R> {
    /// Policy of `rank` with the options of the run.
    pub fn new(rank: R, setup: &Setup<'_>) -> Self {
        Self { rank, options: setup.options, order: Vec::new(), queue: None, classes: None }
    }

    fn first<'v>(&mut self, view: &View<'v>) -> &'v Job {
        if R::IS_FIXED
            && let Some(queue) = Queue::up_to_date(&mut self.queue, &self.rank, view)
        {
            let place = queue.first(&self.rank, view);
            return place.and_then(|it| view.ready.get(it.request)).expect("there are many");
        }
        if R::IS_BY_CLASS
            && let Some(classes) = Classes::up_to_date(&mut self.classes, view)
        {
            let firsts = classes.all().filter_map(|class| self.rank.first_of(class, view));
            let job = first(&self.rank, firsts, view).expect("there are many");
            return view.ready.get(job.request).expect("it is ready");
        }
        self.least(view).expect("a policy is asked only with something ready")
    }

    /// The first job, found by a scan.
    fn least<'v>(&self, view: &View<'v>) -> Option<&'v Job> {
        let mut first: Option<(R::Key, &Job)> = None;
        for chunk in view.ready.chunks() {
            for job in chunk {
                let key = self.rank.key(job, view);
                let is_first = first.is_none_or(|(least, other)| {
                    key < least || (key == least && tie(job) < tie(other))
                });
                if is_first {
                    first = Some((key, job));
                }
            }
        }
        first.map(|(_, job)| job)
    }

    fn dispatch(&mut self, job: &Job, view: &View<'_>) -> Option<Decision> {
        let accelerator = placement::place(self.options.placement, job, view)?;
        let own = self.rank.granularity(job, accelerator, view);
        let granularity = own.unwrap_or(self.options.granularity);
        self.rank.dispatched(job, view);
        Some(Dispatch::new(job.request, accelerator).with_granularity(granularity).into())
    }

    /// The first job, in order of rank, whose placement is an idle accelerator.
    fn first_that_runs(&mut self, view: &View<'_>) -> Decision {
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        order
            .extend(view.ready.iter().map(|job| (self.rank.key(job, view), tie(job), job.request)));
        order.sort_unstable_by(|a, b| {
            let keys = a.0.partial_cmp(&b.0).unwrap_or(Ordering::Equal);
            keys.then_with(|| (a.1, a.2).cmp(&(b.1, b.2)))
        });
        let mut jobs = order.iter().filter_map(|(.., request)| view.ready.get(*request));
        let decision = jobs.find_map(|job| self.dispatch(job, view));
        self.order = order;
        decision.unwrap_or(Decision::Wait)
    }
}

impl<R: Rank> Scheduler for Ranked<R> {
    fn decide(&mut self, view: &View<'_>) -> Decision {
        self.rank.observe(view);
        if self.options.placement == Placement::EarliestFinish || !view.costs.is_complete() {
            return self.first_that_runs(view);
        }
        let job = self.first(view);
        self.dispatch(job, view).expect("every other placement takes an idle accelerator")
    }
}
