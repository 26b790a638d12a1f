//! Policies that choose request and accelerator together.

use xrsim_model::ids::{AccelId, RequestId};
use xrsim_model::units::SimTime;

use super::alike::{Alike, Classes, Needs, Since};
use super::limits::Line;
use super::tie::tie;
use super::{Decision, Dispatch, Granularity, Job, Scheduler, Setup, View};

/// A job with its accelerator and the utility of running it there.
type Choice<'j> = (f64, AccelId, &'j Job);

/// Utility of running a job on an accelerator.
pub(crate) trait Utility: Send {
    /// Orders of the jobs of a class, besides that of their deadlines, of which [`Utility::best_of`] makes use.
    const ORDERS: &'static [Since] = &[];

    /// Whether [`Utility::limit`] says which classes can have the best job.
    const IS_LIMITED: bool = false;

    /// Looks at all ready jobs before the utilities of a decision are computed.
    fn observe(&mut self, _view: &View<'_>) {}

    /// Like [`Utility::observe`], with the jobs in classes.
    fn observe_classes(&mut self, _classes: &Classes, view: &View<'_>) {
        self.observe(view);
    }

    /// A request to give up. `classes` are there if there are many jobs.
    fn victim(&self, _classes: Option<&Classes>, _view: &View<'_>) -> Option<RequestId> {
        None
    }

    /// Largest utility of running `job` now, with its idle accelerator; of equals, the one with the lowest
    /// id. Never NaN. `None` if no idle accelerator can run it.
    fn best(&self, job: &Job, view: &View<'_>) -> Option<(f64, AccelId)>;

    /// Jobs of a class of which one has the largest utility, and of equals is the first.
    fn candidates<'c>(&self, class: &'c Alike, view: &View<'_>) -> impl Iterator<Item = &'c Job>;

    /// Upper bound of the utilities of the jobs of a class on an accelerator.
    fn limit(&self, _class: &Alike, _accelerator: AccelId, _view: &View<'_>) -> Line {
        Line::constant(f64::INFINITY, SimTime::MAX)
    }

    /// Largest utility of `job` alone.
    fn most(&self, job: &Job, view: &View<'_>) -> Option<f64> {
        self.best(job, view).map(|(utility, _)| utility)
    }
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

/// The choice with the larger utility.
fn better<'j>(best: Choice<'j>, next: Choice<'j>) -> Choice<'j> {
    let place = |job: &Job| (tie(job), job.request);
    let is_better = next.0 > best.0 || (next.0 == best.0 && place(next.2) < place(best.2));
    if is_better { next } else { best }
}

/// Policy that takes the pair of job and accelerator with the largest [`Utility`].
pub(crate) struct Paired<W> {
    utility: W,
    granularity: Granularity,
    /// Many ready jobs.
    classes: Option<Classes>,
}

impl<W: Utility> Paired<W> {
    /// Policy of `utility` with the options of the run.
    pub(crate) fn new(utility: W, setup: &Setup<'_>) -> Self {
        Self { utility, granularity: setup.options.granularity, classes: None }
    }

    /// The best of these jobs.
    fn best<'j>(&self, jobs: impl Iterator<Item = &'j Job>, view: &View<'_>) -> Option<Choice<'j>> {
        let best = |job| self.utility.best(job, view).map(|(utility, at)| (utility, at, job));
        jobs.filter_map(best).reduce(better)
    }

    /// The best job on idle accelerators, of classes with limits by accelerator.
    fn best_of_classes<'c>(&self, classes: &'c Classes, view: &View<'_>) -> Option<Choice<'c>> {
        let n_orders = if W::IS_LIMITED { view.idle.len() } else { 1 };
        let mut best: Option<Choice<'_>> = None;
        for at in &view.idle[..n_orders] {
            let mut classes = classes.promising(at.index(), view.now);
            while let Some(class) = classes.next(best.map_or(f64::NEG_INFINITY, |(most, ..)| most))
            {
                let next = self.best(self.utility.candidates(class, view), view);
                best = best.into_iter().chain(next).reduce(better);
            }
        }
        best
    }
}

impl<W: Utility> Scheduler for Paired<W> {
    fn decide(&mut self, view: &View<'_>) -> Decision {
        let n_limits = if W::IS_LIMITED { view.accelerators.len() } else { 0 };
        let needs = Needs { orders: W::ORDERS, n_limits };
        let classes = Classes::up_to_date(&mut self.classes, needs, view);
        if let Some(request) = self.utility.victim(classes.as_deref(), view) {
            return Decision::Drop(request);
        }
        match classes {
            Some(classes) => {
                self.utility.observe_classes(classes, view);
                for &at in view.idle.iter().filter(|_| W::IS_LIMITED) {
                    let limit = |class: &Alike| self.utility.limit(class, at, view);
                    classes.limit(at.index(), view.now, limit);
                }
            }
            None => self.utility.observe(view),
        }
        let best = match &self.classes {
            Some(classes) => self.best_of_classes(classes, view),
            None => self.best(view.ready.iter(), view),
        };
        let Some((_, accelerator, job)) = best else {
            return Decision::Wait;
        };
        Dispatch::new(job.request, accelerator).with_granularity(self.granularity).into()
    }
}
