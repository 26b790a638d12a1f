//! Policies that choose request and accelerator together.

use crate::ids::AccelId;

use super::ranked::tie;
use super::{Decision, Dispatch, Granularity, Job, Scheduler, Setup, View};

/// What it is utility to run a job on an accelerator.
pub trait Utility: Send {
    /// Looks at all that is ready, before it is asked what that is utility.
    fn observe(&mut self, _view: &View<'_>) {}

    /// The idle accelerator where it is utility most to run `job` now, the lowest id of equals, and how
    /// much. Never NaN.
    fn best(&self, job: &Job, view: &View<'_>) -> (f64, AccelId);
}

/// The idle accelerator with the largest `utility`, the lowest id of equals.
pub(super) fn largest(view: &View<'_>, utility: impl Fn(AccelId) -> f64) -> (f64, AccelId) {
    let pairs = view.idle.iter().map(|&at| (utility(at), at));
    let best = pairs.reduce(|best, next| if next.0 > best.0 { next } else { best });
    best.expect("a policy is asked only with something idle")
}

/// The policy that takes the pair of the largest [`Utility`].
pub struct Paired<W> {
    utility: W,
    granularity: Granularity,
}

impl<W: Utility> Paired<W> {
    /// The policy of `utility` with the options of the run.
    pub fn new(utility: W, setup: &Setup<'_>) -> Self {
        Self { utility, granularity: setup.options.granularity }
    }
}

impl<W: Utility> Scheduler for Paired<W> {
    fn decide(&mut self, view: &View<'_>) -> Decision {
        self.utility.observe(view);
        let pairs = view.ready.iter().map(|job| (self.utility.best(job, view), job));
        let best = pairs.reduce(|best, next| {
            let ((most, _), first) = best;
            let ((utility, _), job) = next;
            if utility > most || (utility == most && tie(job) < tie(first)) { next } else { best }
        });
        let ((_, accelerator), job) = best.expect("a policy is asked only with something ready");
        Dispatch::new(job.request, accelerator).with_granularity(self.granularity).into()
    }
}
