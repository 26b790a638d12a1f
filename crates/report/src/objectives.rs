//! Changes by other objectives in runs whose mappings are chosen by the objective `deadline`. Its candidates are the
//! choices of the others, so that runs with these take no search (docs/explanation/mapper.md, section 6.1).

use std::cmp::Ordering;
use std::sync::Arc;

use xrsim_model::cost::CostModel;
use xrsim_model::cost::library::CostLibrary;
use xrsim_model::hardware::{Accelerator, MappingObjective, System};
use xrsim_sim::plan::Plan;
use xrsim_sim::score::{Counts, Score};
use xrsim_sim::sweep::{self, Scored};

/// Most runs for which others are made.
const MOST_RUNS: usize = 16;

/// Part of the energy that another objective has to save to be named.
const LEAST_SAVING: f64 = 0.01;

/// The run of a table that another objective changes most.
#[derive(Debug, Default)]
pub struct OtherObjectives {
    n_runs: usize,
    found: Option<Found>,
}

#[derive(Debug)]
struct Found {
    scenario: String,
    system: String,
    pes: u64,
    objective: MappingObjective,
    own: Outcome,
    other: Outcome,
}

/// Missed deadlines and energy of a run.
#[derive(Debug, Clone, Copy)]
struct Outcome {
    requests: u64,
    missed: u64,
    energy_mj: f64,
}

impl Outcome {
    fn new(score: &Score) -> Self {
        let Counts { requests, late, dropped, energy, .. } = score.counts;
        Self { requests, missed: late + dropped, energy_mj: energy.get() }
    }

    /// Order of outcomes, the better one first.
    fn order(&self, other: &Self) -> Ordering {
        self.missed.cmp(&other.missed).then(self.energy_mj.total_cmp(&other.energy_mj))
    }

    /// Whether `other` misses fewer deadlines, or as many with clearly less energy.
    fn is_improved_by(&self, other: &Self) -> bool {
        let saves = other.energy_mj < self.energy_mj * (1.0 - LEAST_SAVING);
        other.missed < self.missed || (other.missed == self.missed && saves)
    }

    fn words(&self) -> String {
        let Self { requests, missed, energy_mj } = self;
        format!("{missed} of {requests} deadlines missed, {energy_mj:.0} mJ")
    }
}

impl OtherObjectives {
    /// Adds a run, and makes it with each other objective if its mappings are chosen by the period.
    pub fn take(&mut self, plan: &Plan, result: &Scored, cost_model: &dyn CostModel) {
        if !plan.system.accelerators().iter().any(Accelerator::chooses_by_period) {
            return;
        }
        self.n_runs += 1;
        if self.n_runs > MOST_RUNS {
            return;
        }
        let own = Outcome::new(&result.scorecard.total);
        for objective in MappingObjective::OF_LAYERS {
            let Some(other) = outcome_with(objective, plan, cost_model) else { continue };
            let gained = |own: Outcome, other: Outcome| own.missed - other.missed.min(own.missed);
            let is_better = |it: &Found| {
                let gains = gained(own, other).cmp(&gained(it.own, it.other));
                gains.then_with(|| it.other.order(&other)).is_gt()
            };
            if own.is_improved_by(&other) && self.found.as_ref().is_none_or(is_better) {
                self.found = Some(Found {
                    scenario: plan.scenario.name().into(),
                    system: plan.system.name().into(),
                    pes: plan.system.pes(),
                    objective,
                    own,
                    other,
                });
            }
        }
    }

    /// A line about the run that another objective improves most; empty without any.
    pub fn note(&self) -> String {
        let Some(Found { scenario, system, pes, objective, own, other }) = &self.found else {
            return String::new();
        };
        format!(
            "note: {scenario} on {system} with {pes} PEs: {} with the mapping objective deadline, but {} with \
             --mapping-objective {objective}; a smaller hardware.mapping_deadline_share leaves room for requests that arrive together\n",
            own.words(),
            other.words()
        )
    }
}

/// Outcome of a run whose accelerators that choose by the period choose by `objective` instead; `None` if it cannot
/// be made.
fn outcome_with(
    objective: MappingObjective,
    plan: &Plan,
    cost_model: &dyn CostModel,
) -> Option<Outcome> {
    let changed = |it: &Accelerator| match it.chooses_by_period() {
        true => Accelerator { mapping_objective: objective, ..it.clone() },
        false => it.clone(),
    };
    let accelerators = plan.system.accelerators().iter().map(changed).collect();
    let system: System = plan.system.with_accelerators(accelerators).ok()?;
    let plan = Plan { system: Arc::new(system), ..plan.clone() };
    let library = CostLibrary::evaluate(cost_model, [(&*plan.scenario, &*plan.system)]);
    Some(Outcome::new(&sweep::run(&plan, &library).ok()?.scorecard.total))
}
