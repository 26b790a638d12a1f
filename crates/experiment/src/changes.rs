//! Single changes of a run, each tried by running again on the same draws.

use std::sync::Arc;

use xrsim_model::cost::library::CostLibrary;
use xrsim_model::cost::{CostModel, CostTable};
use xrsim_model::hardware::{Dram, Flexibility, Fusion, MappingObjective};
use xrsim_model::ids::ModelId;
use xrsim_model::statistics::Summary;
use xrsim_report::sensitivity::{Effect, Scores};
use xrsim_report::why::{Change, Fate, FrameEffect};
use xrsim_results::model_names;
use xrsim_sim::plan::Plan;
use xrsim_sim::sweep::what_if::{self, LATENCY_PERCENTS, PE_FACTORS, Target, is_same_schedule};
use xrsim_sim::sweep::{self, RunResult, run_at_costs};

use super::trials::{self, Trials};
use super::{Experiment, Prepared, SystemKind};

/// Schedulers that are tried instead of that of the run.
const SCHEDULERS: [&str; 7] = [
    "latency-greedy",
    "latency-greedy:admission=hopeless",
    "edf",
    "edf:admission=hopeless",
    "value:admission=hopeless",
    "rm",
    "heft",
];

/// Resources that are tried in multiples: key, multiples and words.
const RESOURCES: [(&str, &[u32], &str); 5] = [
    ("hardware.dram_bandwidth_bytes_per_cycle", &[2, 4], "DRAM bandwidth"),
    ("hardware.noc_bandwidth_bytes_per_cycle", &[2, 4], "NoC bandwidth"),
    ("hardware.shared_memory_kib", &[2, 4], "shared memory"),
    ("hardware.scratchpad_kib", &[2], "scratchpads"),
    ("hardware.cluster_memory_kib", &[2], "buffers of clusters"),
];

/// A frame of one of the runs.
pub struct FrameOf<'a> {
    /// The run, which may be of another replication than those that scores are means of.
    pub plan: &'a Plan,
    /// Its result.
    pub result: &'a RunResult,
    /// The frame.
    pub target: Target,
    /// Models that are involved in its end.
    pub involved: Vec<ModelId>,
}

/// One scenario on one system in some replications.
pub struct Changes<'a> {
    /// Description of the runs.
    pub experiment: &'a Experiment,
    /// The runs.
    pub base: &'a Prepared,
    /// The frame that is explained, if one is.
    pub frame: Option<FrameOf<'a>>,
}

/// Changes of a run.
#[derive(Debug)]
pub struct Tried {
    /// Those that were tried.
    pub changes: Vec<Change>,
    /// Those that were left out, each with the reason.
    pub left_out: Vec<(String, String)>,
}

/// A change of one setting.
struct Candidate {
    key: &'static str,
    value: String,
    what: String,
}

impl Candidate {
    fn new(key: &'static str, value: impl ToString, what: impl Into<String>) -> Self {
        Self { key, value: value.to_string(), what: what.into() }
    }

    /// The option of the command line that makes the change.
    fn option(&self) -> String {
        match self.key.contains('.') {
            true => format!("--set {}={}", self.key, self.value),
            false => format!("--{} {}", self.key.replace('_', "-"), self.value),
        }
    }
}

impl Changes<'_> {
    /// Tries shorter latencies of the models that are involved in the end of the frame, and other schedulers,
    /// flexibilities, mapping objectives, split or shared DRAM, numbers of PEs, bandwidths and memories. Changes with which
    /// the runs cannot be made, and those that change nothing, are left out. `done` gets the number of changes that were tried, that of all, and what is known of
    /// them so far.
    pub fn all(&self, done: &dyn Fn(usize, usize, &[Change])) -> Tried {
        let candidates = self.candidates();
        let (mut changed, mut left_out) = (Vec::new(), Vec::new());
        for candidate in candidates {
            let varied = self.experiment.replaced(candidate.key, &candidate.value);
            let prepared = match trials::prepare(&varied) {
                Ok(prepared) => prepared,
                Err(error) => {
                    left_out.push((candidate.what, error.to_string()));
                    continue;
                }
            };
            let systems = |it: &Prepared| it.plans().map(|it| Arc::clone(&it.system)).collect();
            let [before, after]: [Vec<_>; 2] = [self.base, &prepared].map(systems);
            match candidate.key.starts_with("hardware.") && before == after {
                true => left_out.push((candidate.what, "the system has nothing of it".into())),
                false => changed.push((candidate, prepared)),
            }
        }
        let cost_model = trials::cost_model(self.base, changed.iter().map(|(_, it)| it));
        let mut trials = Trials::new(&cost_model);
        let n_changes = changed.len();
        let mut changes: Vec<Change> = self.frame.iter().flat_map(|it| self.shorter(it)).collect();
        done(0, n_changes, &changes);
        let before = trials.scores(self.base, &|_| {});
        for (index, (candidate, prepared)) in changed.into_iter().enumerate() {
            changes.extend(self.tried(candidate, &prepared, &before, &mut trials));
            done(index + 1, n_changes, &changes);
        }
        Tried { changes, left_out }
    }

    fn candidates(&self) -> Vec<Candidate> {
        let Some(plan) = self.base.plans().next() else { return Vec::new() };
        let current = plan.scheduler_name();
        let schedulers = SCHEDULERS.iter().filter(|name| **name != current);
        let mut all: Vec<_> = schedulers
            .map(|name| Candidate::new("scheduler", name, format!("scheduler: {name}")))
            .collect();
        if self.base.cost_model().model.chooses_mappings() {
            let accelerators = plan.system.accelerators();
            for (name, flexibility) in Flexibility::ALL {
                if accelerators.iter().any(|it| it.flexibility != flexibility) {
                    all.push(Candidate::new("flexibility", name, format!("flexibility: {name}")));
                }
            }
            let choosing = || accelerators.iter().filter(|it| it.flexibility != Flexibility::None);
            for (name, fusion) in Fusion::ALL {
                if accelerators.iter().any(|it| it.write_back.fusion != fusion) {
                    all.push(Candidate::new("hardware.fusion", name, format!("fusion: {name}")));
                }
            }
            for (name, objective) in MappingObjective::ALL {
                if choosing().any(|it| it.mapping_objective != objective) {
                    let what = format!("mapping objective: {name}");
                    all.push(Candidate::new("mapping_objective", name, what));
                }
            }
        }
        if plan.system.accelerators().len() > 1 {
            let others = Dram::ALL.iter().filter(|(_, dram)| *dram != plan.system.dram());
            all.extend(
                others.map(|(name, _)| Candidate::new("dram", name, format!("DRAM: {name}"))),
            );
        }
        for factor in PE_FACTORS {
            let pes = plan.system.pes().saturating_mul(factor.into());
            let what = format!("PEs: {factor} times as many ({pes})");
            let is_style = self.base.given(plan).is_some_and(|it| it.system.1 == SystemKind::Style);
            all.push(match is_style {
                true => Candidate::new("pes", pes, what),
                false => Candidate::new("hardware.pes", format!("x{factor}"), what),
            });
        }
        for (key, factors, name) in RESOURCES {
            for factor in factors {
                let what = format!("{name}: {factor} times as much");
                all.push(Candidate::new(key, format!("x{factor}"), what));
            }
        }
        all
    }

    /// The runs with one change; `None` if they cannot be made.
    fn tried(
        &self,
        candidate: Candidate,
        prepared: &Prepared,
        before: &Scores,
        trials: &mut Trials<'_>,
    ) -> Option<Change> {
        let effect = Effect::from_scores(before, &trials.scores(prepared, &|_| {}))?;
        let frame = match &self.frame {
            Some(frame) => Some(frame.after(prepared, trials.model_of(prepared))?),
            None => None,
        };
        let option = Some(candidate.option());
        let Effect { score, change, .. } = effect;
        Some(Change { what: candidate.what, option, frame, score, change })
    }

    /// For every model that is involved, the smallest reduction of its latency with which the frame meets its
    /// deadline. Without one, the reduction with the best score.
    fn shorter(&self, frame: &FrameOf<'_>) -> Vec<Change> {
        let names = model_names(&frame.plan.scenario);
        let [least, .., most] = LATENCY_PERCENTS;
        let costs = &frame.result.costs;
        let shorter = |&model: &ModelId| {
            let trials = what_if::latencies(frame.plan, costs, model, frame.target);
            let name = names[model.index()];
            let last = trials.last()?;
            let (percent, what, fate) = match last.margin_ms {
                Some(margin_ms) => {
                    let what = format!("latency of {name}: {} % of it", last.change);
                    (last.change, what, Fate::InTime(margin_ms))
                }
                None => {
                    let best = trials.iter().rev().max_by(|a, b| a.score.total_cmp(&b.score))?;
                    let percent = best.change;
                    let what =
                        format!("latency of {name}: {least} % to {most} % of it, best {percent} %");
                    (percent, what, Fate::MissedByAll)
                }
            };
            let costs = Arc::new(costs.with_latency_percent(model, percent));
            let result = run_at_costs(frame.plan, Arc::clone(&costs)).ok()?;
            let reschedules = !is_same_schedule(&frame.result.trace, &result.trace);
            let (score, change) = self.at_costs(&frame.result.costs, &costs)?;
            let frame = Some(FrameEffect { fate, reschedules });
            Some(Change { what, option: None, frame, score, change })
        };
        frame.involved.iter().filter_map(shorter).collect()
    }

    /// Mean score of the runs at the costs `after`, and its difference from that at `before`; `None` if a run
    /// cannot be made.
    fn at_costs(&self, before: &Arc<CostTable>, after: &Arc<CostTable>) -> Option<(f64, Summary)> {
        let score = |plan: &Plan, costs: &Arc<CostTable>| {
            let result = run_at_costs(plan, Arc::clone(costs)).ok()?;
            Some(result.scorecard.total.score)
        };
        // Draws in which no frame is counted have no score.
        let plans = self.base.plans();
        let pairs = plans.filter_map(|plan| Some((score(plan, before)?, score(plan, after)?)));
        let pairs: Vec<(f64, f64)> = pairs.collect();
        if pairs.is_empty() {
            return None;
        }
        let mean = Summary::of(pairs.iter().map(|(_, after)| *after)).mean;
        Some((mean, Summary::of(pairs.iter().map(|(before, after)| after - before))))
    }
}

impl FrameOf<'_> {
    /// Effect on the frame in changed runs, of which its own replication is made; `None` if it cannot be made.
    fn after(&self, changed: &Prepared, cost_model: &dyn CostModel) -> Option<FrameEffect> {
        let mut plan = changed.plans().next()?.clone();
        plan.load.replication = self.plan.load.replication;
        let pair = (&*plan.scenario, &*plan.system);
        let library = CostLibrary::evaluate(cost_model, [pair]);
        let result = sweep::run(&plan, &library).ok()?;
        let fate = self.target.margin_ms(&result.trace).map_or(Fate::Missed, Fate::InTime);
        let reschedules = !is_same_schedule(&self.result.trace, &result.trace);
        Some(FrameEffect { fate, reschedules })
    }
}
