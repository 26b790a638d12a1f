//! Policies that choose request and accelerator together.

use xrsim_model::ids::AccelId;

use super::alike::{Alike, Classes};
use super::tie::tie;
use super::{Decision, Dispatch, Granularity, Job, Scheduler, Setup, View};

/// Utility of running a job on an accelerator.
pub(crate) trait Utility: Send {
    /// Looks at all ready jobs before the utilities of a decision are computed.
    fn observe(&mut self, _view: &View<'_>) {}

    /// Whether, of jobs with equal costs and on the same side of their deadlines, the one that is due first and ready
    /// first has the largest utility.
    const IS_BY_CLASS: bool = false;

    /// Like [`Utility::observe`], with the jobs in classes.
    fn observe_classes(&mut self, view: &View<'_>, _classes: &Classes) {
        self.observe(view);
    }

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

/// The job with the largest utility, and that with its accelerator.
fn best<'j>(
    utility: &impl Utility,
    jobs: impl Iterator<Item = &'j Job>,
    view: &View<'_>,
) -> Option<((f64, AccelId), &'j Job)> {
    let pairs = jobs.filter_map(|job| Some((utility.best(job, view)?, job)));
    pairs.reduce(|best, next| {
        let ((most, _), first) = best;
        let ((utility, _), job) = next;
        let is_before = || (tie(job), job.request) < (tie(first), first.request);
        if utility > most || (utility == most && is_before()) { next } else { best }
    })
}

/// Policy that takes the pair of job and accelerator with the largest [`Utility`].
pub(crate) struct Paired<W> {
    utility: W,
    granularity: Granularity,
    /// Many ready jobs, for utilities by class.
    classes: Option<Classes>,
}

impl<W: Utility> Paired<W> {
    /// Policy of `utility` with the options of the run.
    pub(crate) fn new(utility: W, setup: &Setup<'_>) -> Self {
        Self { utility, granularity: setup.options.granularity, classes: None }
    }
}

impl<W: Utility> Scheduler for Paired<W> {
    fn decide(&mut self, view: &View<'_>) -> Decision {
        let classes = match W::IS_BY_CLASS {
            true => Classes::up_to_date(&mut self.classes, view),
            false => None,
        };
        let best = match classes {
            Some(classes) => {
                self.utility.observe_classes(view, classes);
                let value = |job: &Job| self.utility.best(job, view).map(|(utility, _)| utility);
                let of = |class| Alike::candidates(class, view.now, value);
                best(&self.utility, classes.all().flat_map(of), view)
            }
            None => {
                self.utility.observe(view);
                best(&self.utility, view.ready.iter(), view)
            }
        };
        let Some(((_, accelerator), job)) = best else {
            return Decision::Wait;
        };
        Dispatch::new(job.request, accelerator).with_granularity(self.granularity).into()
    }
}
