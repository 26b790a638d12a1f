//! Requests whose networks schedulers choose, or whose work they do not see.

use crate::device::Supplies;
use crate::plan::Plan;
use crate::schedule::{Job, Quality};
use xrsim_model::cost::CostTable;
use xrsim_model::ids::{RequestId, WorkId};
use xrsim_model::scenario::Scenario;
use xrsim_model::units::SimTime;

use super::requests::Live;
use super::state::State;

/// Which row of the costs requests run, and which one schedulers see.
pub(super) struct Variants<'a> {
    scenario: &'a Scenario,
    costs: &'a CostTable,
    /// How the networks of requests are chosen that have not begun.
    quality: Quality,
    /// Requests with another network than before, in one reused allocation.
    changed: Vec<(RequestId, WorkId)>,
}

impl<'a> Variants<'a> {
    /// `None` if all requests run what schedulers see, and no network is chosen.
    pub(super) fn new(plan: &'a Plan, costs: &'a CostTable) -> Option<Self> {
        let quality = plan.scheduler.options().quality;
        let any = plan.hides_work() || plan.has_choices();
        any.then(|| Self { scenario: &plan.scenario, costs, quality, changed: Vec::new() })
    }

    /// Row that schedulers see of a request.
    pub(super) fn shown(&self, request: &Live) -> WorkId {
        let (work, model) = (request.work(self.costs), request.record.model);
        let shown = self.scenario.model(model).shown(request.variant);
        let shown = self.costs.variant(model, shown);
        // A row without layers does not stand for one that can be cut.
        shown.filter(|it| self.costs.n_layers(*it) == self.costs.n_layers(work)).unwrap_or(work)
    }

    /// Whether the network of a job can still be chosen.
    pub(super) fn may_choose(&self, job: &Job) -> bool {
        may_choose(self.scenario, job)
    }

    /// Row that a request runs which is started as `job`. A network that was chosen stays.
    pub(super) fn of_start(&self, job: &Job, request: &mut Live) -> WorkId {
        if self.may_choose(job) {
            request.variant = self.costs.variant_of(job.work);
        }
        request.work(self.costs)
    }

    /// Chooses the networks of the ready requests in `state` that have not begun, by what is idle now.
    pub(super) fn choose(
        &mut self,
        state: &mut State<'_>,
        now: SimTime,
        supplies: Option<&Supplies>,
    ) {
        if self.quality == Quality::First {
            return;
        }
        let (costs, scenario) = (self.costs, self.scenario);
        let Some(view) = state.view(now, costs, supplies) else { return };
        for job in view.ready.iter().filter(|job| may_choose(scenario, job)) {
            let variants = 0..costs.n_variants(job.model);
            let works = variants.filter_map(|variant| costs.variant(job.model, variant));
            let picked = self.quality.pick(job, works, &view);
            self.changed.extend(picked.filter(|it| *it != job.work).map(|it| (job.request, it)));
        }
        for (request, work) in self.changed.drain(..) {
            state.set_work(request, work);
        }
    }
}

fn may_choose(scenario: &Scenario, job: &Job) -> bool {
    job.next_layer == 0 && scenario.model(job.model).choice.is_some()
}
