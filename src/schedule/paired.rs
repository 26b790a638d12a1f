//! Policies that choose request and accelerator together.

use crate::ids::AccelId;

use super::ranked::tie;
use super::{Decision, Granularity, Job, Scheduler, Setup, View};

/// What it is worth to run a job on an accelerator.
pub trait Worth: Send {
    /// Looks at all that is ready, before it is asked what that is worth.
    fn observe(&mut self, _view: &View<'_>) {}

    /// The idle accelerator where it is worth most to run `job` now, the lowest id of equals, and how
    /// much. Never NaN.
    fn best(&self, job: &Job, view: &View<'_>) -> (f64, AccelId);
}

/// The idle accelerator with the largest `worth`, the lowest id of equals.
pub(super) fn largest(view: &View<'_>, worth: impl Fn(AccelId) -> f64) -> (f64, AccelId) {
    let pairs = view.idle.iter().map(|&at| (worth(at), at));
    let best = pairs.reduce(|best, next| if next.0 > best.0 { next } else { best });
    best.expect("a policy is asked only with something idle")
}

/// The policy that takes the pair of the largest [`Worth`].
pub struct Paired<W> {
    worth: W,
    extent: Granularity,
}

impl<W: Worth> Paired<W> {
    /// The policy of `worth` with the options of the run.
    pub fn new(worth: W, setup: &Setup<'_>) -> Self {
        Self { worth, extent: setup.options.granularity }
    }
}

impl<W: Worth> Scheduler for Paired<W> {
    fn decide(&mut self, view: &View<'_>) -> Decision {
        self.worth.observe(view);
        let pairs = view.ready.iter().map(|job| (self.worth.best(job, view), job));
        let best = pairs.reduce(|best, next| {
            let ((most, _), first) = best;
            let ((worth, _), job) = next;
            if worth > most || (worth == most && tie(job) < tie(first)) { next } else { best }
        });
        let ((_, accelerator), job) = best.expect("a policy is asked only with something ready");
        Decision::Dispatch { request: job.request, accelerator, extent: self.extent }
    }
}
