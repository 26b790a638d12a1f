//! Changes to one run, each tried by running again, to see whether a frame would have met its deadline.

use crate::cost::CostModel;
use crate::cost::library::CostLibrary;
use crate::ids::ModelId;
use crate::plan::{Plan, Semantics};
use crate::report::model_names;
use crate::report::why::{Change, Fate};
use crate::sweep::what_if::{self, LATENCY_PERCENTS, PE_FACTORS, Target};
use crate::sweep::{self, RunResult};

use super::{Experiment, scheduler};

/// Schedulers that are tried instead of that of the run.
const SCHEDULERS: [&str; 6] = [
    "latency-greedy",
    "latency-greedy:admission=hopeless",
    "edf",
    "edf:admission=hopeless",
    "value:admission=hopeless",
    "rm",
];

/// A frame of a run, and all that further runs need.
pub(crate) struct Changes<'a> {
    /// Experiment of which this is a run.
    pub experiment: &'a Experiment,
    /// The run.
    pub plan: &'a Plan,
    /// Its result.
    pub result: &'a RunResult,
    /// Cost model of the run.
    pub cost_model: &'a dyn CostModel,
    /// The frame.
    pub target: Target,
}

impl Changes<'_> {
    /// Tries shorter latencies of each of `models`, more PEs if the system is a style, and other schedulers,
    /// in this order. A change with which the run cannot be made is left out.
    pub(crate) fn all(&self, models: Vec<ModelId>) -> Vec<Change> {
        let shorter = models.into_iter().filter_map(|model| self.shorter(model));
        shorter.chain(self.more_pes()).chain(self.other_schedulers()).collect()
    }

    /// The smallest reduction of the latency of one model with which the frame meets its deadline. Without
    /// one, the reduction with the best score.
    fn shorter(&self, model: ModelId) -> Option<Change> {
        let [least, .., most] = LATENCY_PERCENTS;
        let trials = what_if::latencies(self.plan, &self.result.costs, model, self.target);
        let name = model_names(&self.plan.scenario)[model.index()];
        let last = trials.last()?;
        if let Some(margin_ms) = last.margin_ms {
            let what = format!("latency of {name}: {} % of it", last.change);
            return Some(Change { what, fate: Fate::InTime(margin_ms), score: last.score });
        }
        let best = trials.iter().rev().max_by(|a, b| a.score.total_cmp(&b.score))?;
        let what =
            format!("latency of {name}: {least} % to {most} % of it, best {} %", best.change);
        Some(Change { what, fate: Fate::MissedByAll, score: best.score })
    }

    /// Changes of the number of PEs. Only styles are given PEs, or have a choice of them.
    fn more_pes(&self) -> Vec<Change> {
        let Some(pes) = self.experiment.first_pes() else { return Vec::new() };
        let change = |factor: u32| {
            let larger = self.on_pes(pes.checked_mul(factor)?)?;
            let what = format!("PEs: {factor} times as many ({})", larger.system.pes());
            self.tried(what, &larger)
        };
        PE_FACTORS.into_iter().filter_map(change).collect()
    }

    /// The same run on `pes` PEs, if the style can have as many.
    fn on_pes(&self, pes: u32) -> Option<Plan> {
        let prepared = self.experiment.on_pes(pes).prepare().ok()?;
        let mut plan = self.plan.clone();
        plan.system = prepared.plans().next()?.system.clone();
        Some(plan)
    }

    /// Other schedulers, where the rules of the run leave a choice.
    fn other_schedulers(&self) -> Vec<Change> {
        if self.plan.semantics == Semantics::Mlsys2023 {
            return Vec::new();
        }
        let change = |text: &&str| {
            let scheduler = scheduler(text).ok().filter(|it| *it != self.plan.scheduler)?;
            let mut plan = self.plan.clone();
            plan.scheduler = scheduler;
            self.tried(format!("scheduler: {text}"), &plan)
        };
        SCHEDULERS.iter().filter_map(change).collect()
    }

    /// Fate of the frame and the score in a run; `None` if it cannot be made.
    fn tried(&self, what: String, plan: &Plan) -> Option<Change> {
        let pair = (&*plan.scenario, &*plan.system);
        let library = CostLibrary::evaluate(self.cost_model, [pair]);
        let result = sweep::run(plan, &library).ok()?;
        let fate = self.target.margin_ms(&result.trace).map_or(Fate::Missed, Fate::InTime);
        Some(Change { what, fate, score: result.scorecard.total.score })
    }
}
