//! Scores of an experiment under changed settings, on equal draws.

use xrsim_config::Notes;
use xrsim_model::cost::CostModel;
use xrsim_model::cost::loop_nest::Family;
use xrsim_report::sensitivity::{Configuration, Scores};
use xrsim_sim::plan::Plan;
use xrsim_sim::score::Score;
use xrsim_sim::sweep::{RunError, Scorer};

use super::{Experiment, ExperimentError, NamedCostModel, Prepared};

/// Most runs that are made before progress is told.
const BLOCK: usize = 1024;

/// Trials of changed settings. Costs that the changes leave as they are, are computed once for all of them.
pub(crate) struct Trials<'p> {
    scorer: Scorer<'p>,
    cost_model: &'p NamedCostModel,
}

/// The cost model of the runs `base` and of those `changed` that have the same one, whose accelerators compare their
/// choices of mappings. The choices of `base` are candidates for every change.
pub(crate) fn cost_model<'a>(
    base: &Prepared,
    changed: impl IntoIterator<Item = &'a Prepared>,
) -> NamedCostModel {
    let own = base.cost_model();
    let mut family = Family::new([], base.accelerators(own));
    for accelerator in changed.into_iter().flat_map(|it| it.accelerators(own)) {
        family.add(accelerator);
    }
    own.among(family)
}

impl<'p> Trials<'p> {
    /// Trials of changes of runs, at the costs of the [`cost_model`] of all of them.
    pub(crate) fn new(cost_model: &'p NamedCostModel) -> Self {
        Self { scorer: Scorer::new(&*cost_model.model), cost_model }
    }

    /// The cost model of changed runs.
    pub(crate) fn model_of<'a>(&'a self, changed: &'a Prepared) -> &'a dyn CostModel {
        let own = changed.cost_model();
        if own.is_alike(self.cost_model) { &*self.cost_model.model } else { &*own.model }
    }

    /// Makes the runs and returns their scores. `done` gets the number of runs that have ended, block by
    /// block.
    pub(crate) fn scores(&mut self, prepared: &Prepared, done: &dyn Fn(usize)) -> Scores {
        let plans: Vec<&Plan> = prepared.plans().collect();
        let cost_model = prepared.cost_model();
        let is_other = !cost_model.is_alike(self.cost_model);
        let mut own = is_other.then(|| Scorer::new(&*cost_model.model));
        let mut scores = Scores::default();
        for block in plans.chunks(BLOCK) {
            let results = match &mut own {
                Some(own) => own.score(block),
                None => self.scorer.score(block),
            };
            for (plan, result) in block.iter().zip(results) {
                let total = result.map(|it| it.scorecard.total);
                add(&mut scores, plan, total);
            }
            done(block.len());
        }
        scores
    }
}

/// Adds a run, whose replications follow each other.
fn add(scores: &mut Scores, plan: &Plan, total: Result<Score, RunError>) {
    if plan.load.replication == 0 || scores.totals.is_empty() {
        scores.configurations.push(Configuration {
            scenario: plan.scenario.name().into(),
            system: plan.system.name().into(),
            pes: plan.system.pes(),
        });
        scores.totals.push(Vec::new());
    }
    if let Err(error) = &total {
        scores.reason.get_or_insert_with(|| error.to_string());
    }
    let configuration = scores.totals.len() - 1;
    if let Some(replications) = scores.totals.last_mut() {
        if let Err(RunError::NothingCounted) = total {
            scores.uncounted.push((configuration, replications.len()));
        }
        replications.push(total.ok());
    }
}

/// Reads and checks the runs of `experiment`, quietly: the base told old names already.
///
/// # Errors
///
/// Those of [`Experiment::prepare`].
pub(super) fn prepare(experiment: &Experiment) -> Result<Prepared, ExperimentError> {
    experiment.prepare_noting(&Notes::default())
}
