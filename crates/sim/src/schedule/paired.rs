//! Policies that choose request and accelerator together.

use xrsim_model::ids::AccelId;

use super::rank::tie;
use super::{Decision, Dispatch, Granularity, Job, Scheduler, Setup, View};

/// Utility of running a job on an accelerator.
pub(crate) trait Utility: Send {
    /// Looks at all ready jobs before the utilities of a decision are computed.
    fn observe(&mut self, _view: &View<'_>) {}

    /// Largest utility of running `job` now, with its idle accelerator; of equals, the one with the lowest
    /// id. Never NaN. `None` if no idle accelerator can run it.
    fn best(&self, job: &Job, view: &View<'_>) -> Option<(f64, AccelId)>;
}

/// Largest `utility` of running `job`, with its idle accelerator; of equals, the one with the lowest id.
/// `None` if no idle accelerator can run it.
pub(super) fn largest(
    job: &Job,
    view: &View<'_>,
    utility: impl Fn(AccelId) -> f64,
) -> Option<(f64, AccelId)> {
    let pairs = view.idle_for(job).map(|at| (utility(at), at));
    pairs.reduce(|best, next| if next.0 > best.0 { next } else { best })
}

/// Policy that takes the pair of job and accelerator with the largest [`Utility`].
pub(crate) struct Paired<W> {
    utility: W,
    granularity: Granularity,
}

impl<W: Utility> Paired<W> {
    /// Policy of `utility` with the options of the run.
    pub(crate) fn new(utility: W, setup: &Setup<'_>) -> Self {
        Self { utility, granularity: setup.options.granularity }
    }
}

impl<W: Utility> Scheduler for Paired<W> {
    fn decide(&mut self, view: &View<'_>) -> Decision {
        self.utility.observe(view);
        let pairs = view.ready.iter().filter_map(|job| Some((self.utility.best(job, view)?, job)));
        let best = pairs.reduce(|best, next| {
            let ((most, _), first) = best;
            let ((utility, _), job) = next;
            if utility > most || (utility == most && tie(job) < tie(first)) { next } else { best }
        });
        let Some(((_, accelerator), job)) = best else {
            return Decision::Wait;
        };
        Dispatch::new(job.request, accelerator).with_granularity(self.granularity).into()
    }
}
