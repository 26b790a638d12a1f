//! Conversion of a plan to the types of the artifact: whole periods, single precision, models in byte
//! order of their names.

use thiserror::Error;

use crate::plan::{Ablation, Plan};
use xrsim_model::cost::CostTable;
use xrsim_model::ids::{AccelId, ModelId};
use xrsim_model::scenario::{ActiveModel, DependencyKind, Scenario};
use xrsim_model::units::{Cycles, FrameRate, Millijoules};

/// Frames are injected while their nominal start lies within the first 700 ms (rule R3).
const WINDOW_MS: u32 = 700;
/// The window without that quirk.
const SECOND_MS: u32 = 1000;

/// A plan that the published artifact cannot express.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CompatError {
    /// The rate is not a whole number of FPS, or its period is below 1 ms.
    #[error(
        "{model} runs at {found}; the published artifact (semantics mlsys2023) knows whole rates \
         from 1 to 1000 FPS only"
    )]
    Rate {
        /// Model.
        model: Box<str>,
        /// Its rate.
        found: FrameRate,
    },
    /// The model has a deadline other than the end of its period.
    #[error(
        "{model} has a deadline of its own; in the published artifact (semantics mlsys2023) every \
         deadline is the next period"
    )]
    Deadline {
        /// Model.
        model: Box<str>,
    },
    /// The model is a sequence.
    #[error(
        "{model} is a sequence, which the published artifact (semantics mlsys2023) does not know"
    )]
    Sequence {
        /// Model.
        model: Box<str>,
    },
    /// The model runs one of several networks, or has counts that differ from frame to frame.
    #[error(
        "the work of {model} differs from frame to frame, which the published artifact (semantics mlsys2023) does not know"
    )]
    Variants {
        /// Model.
        model: Box<str>,
    },
    /// The model has more than one control dependency.
    #[error(
        "{model} has {found} control dependencies; the published artifact (semantics mlsys2023) \
         knows one probability a model"
    )]
    Triggers {
        /// Model.
        model: Box<str>,
        /// Number of its control dependencies.
        found: usize,
    },
    /// The networks of two models have the same name.
    #[error(
        "two models are called `{name}`; the published artifact (semantics mlsys2023) tells models \
         apart by name"
    )]
    SameName {
        /// Name of their networks.
        name: Box<str>,
    },
    /// The latency vanishes in single precision, where the artifact would stop on an assertion (rule R9).
    #[error(
        "{model} takes {cycles} cycles on `{accelerator}`, too few for the single-precision clock of \
         the published artifact (semantics mlsys2023): 62 are always enough"
    )]
    Latency {
        /// Model.
        model: Box<str>,
        /// Accelerator.
        accelerator: Box<str>,
        /// Latency in cycles.
        cycles: u64,
    },
}

/// Inputs of the replay.
#[derive(Debug, Clone)]
pub(super) struct Inputs {
    /// Models in file order, indexed by [`ModelId`]: the order of injection and draws (rule R5).
    pub models: Vec<Model>,
    /// Models in byte order of their names: the order of drops and dispatch (rules R7 and R8).
    pub by_name: Vec<ModelId>,
    /// Step of the clock: the period of the fastest model.
    pub tick: Period,
    /// Quirks that are left out.
    pub without: Ablation,
    /// Number of accelerators.
    pub n_accelerators: usize,
    /// Costs, row-major `[model][accelerator]`.
    costs: Vec<Cost>,
}

/// A model as the replay sees it.
#[derive(Debug, Clone)]
pub(super) struct Model {
    /// Span from one frame to the next.
    pub period: Period,
    /// Number of frames in the window.
    pub n_frames: u32,
    /// Probability that a frame is triggered.
    pub probability: f32,
    /// Frames that are triggered, as bits in place of draws; frames from 64 on are not. `None` draws.
    pub fixed: Option<u64>,
    /// Upstream models.
    pub dependencies: Vec<ModelId>,
}

/// Span from one frame or tick to the next (rule R3).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Period {
    /// 1000 divided by the rate, rounded down \[ms\].
    Whole(u32),
    /// 1000 divided by this rate [FPS], not rounded.
    Exact(u32),
}

impl Period {
    fn new(fps: u32, without: &Ablation) -> Self {
        if without.integer_period { Self::Exact(fps) } else { Self::Whole(1000 / fps) }
    }

    /// `count` periods \[ms\].
    pub(super) fn times(self, count: u32) -> f32 {
        match self {
            Self::Whole(ms) => (ms * count) as f32,
            Self::Exact(fps) => (f64::from(count) * 1000.0 / f64::from(fps)) as f32,
        }
    }

    /// Number of periods that fit into `window_ms`.
    fn within(self, window_ms: u32) -> u32 {
        match self {
            // The artifact divides in single precision and rounds down. The result is the same, because a
            // quotient that is not whole differs from the next whole number by more than the rounding.
            Self::Whole(ms) => window_ms / ms,
            Self::Exact(fps) => window_ms * fps / 1000,
        }
    }
}

/// Cost of a model on an accelerator (rule R1).
#[derive(Debug, Clone, Copy)]
pub(super) struct Cost {
    /// Cycles, summed over the layers; they decide the placement.
    pub cycles: u64,
    /// Latency at 1 GHz \[ms\].
    pub latency_ms: f32,
    /// Energy \[mJ\].
    pub energy_mj: f32,
}

impl Inputs {
    /// Lowers `plan` and its `costs` to the artifact's types, but for quirks that the plan leaves out.
    pub(super) fn lower(plan: &Plan, costs: &CostTable) -> Result<Self, CompatError> {
        let Plan { scenario, without, .. } = plan;
        let models = scenario
            .models()
            .iter()
            .enumerate()
            .map(|(index, active)| {
                let fixed = plan.load.fixed_triggers.get(index).copied().flatten();
                lower_model(active, plan.load.trigger_probability, fixed, without)
            })
            .collect::<Result<Vec<_>, _>>()?;
        let periods = models.iter().map(|model| model.period);
        let tick = periods.min_by(|a, b| a.times(1).total_cmp(&b.times(1)));
        let tick = tick.expect("a scenario has models");
        Ok(Self {
            models,
            by_name: byte_order(scenario)?,
            tick,
            without: *without,
            n_accelerators: plan.system.accelerators().len(),
            costs: lower_costs(plan, costs, window_ms(without) as f32 + tick.times(1))?,
        })
    }

    /// Cost of `model` on `accelerator`.
    pub(super) fn cost(&self, model: ModelId, accelerator: AccelId) -> &Cost {
        &self.costs[model.index() * self.n_accelerators + accelerator.index()]
    }

    /// Energy of one inference of `model` on `accelerator`.
    pub(super) fn energy(&self, model: ModelId, accelerator: AccelId) -> Millijoules {
        Millijoules::new(self.cost(model, accelerator).energy_mj.into())
    }
}

fn lower_model(
    active: &ActiveModel,
    trigger: Option<f64>,
    fixed: Option<u64>,
    without: &Ablation,
) -> Result<Model, CompatError> {
    let model = active.unit.task.clone();
    if active.sequence.is_some() {
        return Err(CompatError::Sequence { model });
    }
    if !active.variants.is_empty() {
        return Err(CompatError::Variants { model });
    }
    if active.relative_deadline.is_some() {
        return Err(CompatError::Deadline { model });
    }
    let found = active.rate;
    let fps = found.whole_fps().and_then(|fps| u32::try_from(fps).ok());
    let Some(fps @ 1..=1000) = fps else {
        return Err(CompatError::Rate { model, found });
    };
    let period = Period::new(fps, without);
    Ok(Model {
        period,
        n_frames: period.within(window_ms(without)),
        probability: probability(active, trigger)?,
        fixed: fixed.filter(|_| has_trigger(active)),
        dependencies: active.dependencies.iter().map(|d| d.upstream).collect(),
    })
}

/// Time in which frames are released [ms].
fn window_ms(without: &Ablation) -> u32 {
    if without.window_700_ms { SECOND_MS } else { WINDOW_MS }
}

fn has_trigger(active: &ActiveModel) -> bool {
    active.dependencies.iter().any(|it| matches!(it.kind, DependencyKind::Control { .. }))
}

/// Probability of a model: that of its control dependency, or `trigger` in its place; 1 without a control
/// dependency.
fn probability(active: &ActiveModel, trigger: Option<f64>) -> Result<f32, CompatError> {
    let mut triggers = active.dependencies.iter().filter_map(|d| match d.kind {
        DependencyKind::Control { probability } => Some(trigger.unwrap_or(probability) as f32),
        DependencyKind::Data => None,
    });
    let first = triggers.next().unwrap_or(1.0);
    match triggers.count() {
        0 => Ok(first),
        others => Err(CompatError::Triggers { model: active.unit.task.clone(), found: others + 1 }),
    }
}

fn byte_order(scenario: &Scenario) -> Result<Vec<ModelId>, CompatError> {
    let name = |id: ModelId| scenario.model(id).unit.network.name();
    let mut ids: Vec<_> = scenario.model_ids().collect();
    ids.sort_by_key(|&id| name(id).as_bytes());
    match ids.windows(2).find(|pair| name(pair[0]) == name(pair[1])) {
        None => Ok(ids),
        Some(pair) => Err(CompatError::SameName { name: name(pair[0]).into() }),
    }
}

/// Costs of every model on every accelerator. The last frame is injected at the first tick after its
/// nominal start, at `end_ms` at the latest.
fn lower_costs(plan: &Plan, table: &CostTable, end_ms: f32) -> Result<Vec<Cost>, CompatError> {
    let accelerators = plan.system.accelerators();
    let mut costs = Vec::with_capacity(plan.scenario.models().len() * accelerators.len());
    for model in plan.scenario.model_ids() {
        for (index, accelerator) in accelerators.iter().enumerate() {
            let network = table.on(model, AccelId::new(index)).network();
            let cost = Cost::new(network.cycles, network.energy_nj);
            if end_ms + cost.latency_ms == end_ms {
                return Err(CompatError::Latency {
                    model: plan.scenario.model(model).unit.task.clone(),
                    accelerator: accelerator.name.clone(),
                    cycles: cost.cycles,
                });
            }
            costs.push(cost);
        }
    }
    Ok(costs)
}

impl Cost {
    /// Rounds in the order of the artifact: cycles to single precision before the division, energy after it.
    fn new(cycles: Cycles, energy_nj: f64) -> Self {
        Self {
            cycles: cycles.get(),
            latency_ms: cycles.get() as f32 / 1e6,
            energy_mj: (energy_nj / 1e6) as f32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compat::fixture::{model, plan};
    use xrsim_model::units::SimSpan;

    fn inputs((plan, costs): &(Plan, CostTable)) -> Result<Inputs, CompatError> {
        Inputs::lower(plan, costs)
    }

    fn check(run: &(Plan, CostTable), expected: &str) {
        let error = inputs(run).expect_err("the artifact cannot express it");
        assert!(error.to_string().starts_with(expected), "{error}");
    }

    #[test]
    fn periods_and_frames_are_those_of_rule_r3() {
        for (fps, period_ms, n_frames) in [
            (1000.0, 1, 700),
            (60.0, 16, 43),
            (45.0, 22, 31),
            (30.0, 33, 21),
            (15.0, 66, 10),
            (10.0, 100, 7),
            (3.0, 333, 2),
            (2.0, 500, 1),
            (1.0, 1000, 0),
        ] {
            let inputs = inputs(&plan(&[model("a", fps, &[1.0])])).unwrap();
            let model = &inputs.models[0];
            let period = Period::Whole(period_ms);
            assert_eq!((model.period, model.n_frames), (period, n_frames), "{fps}");
        }
    }

    #[test]
    fn costs_round_to_single_precision() {
        // 2^24 + 1 lies between two single-precision numbers; the even one is 2^24.
        let run = plan(&[model("a", 60.0, &[16.777_217]).energy_mj(0.1)]);
        let inputs = inputs(&run).unwrap();
        let cost = inputs.cost(ModelId::new(0), AccelId::new(0));
        assert_eq!(cost.cycles, (1 << 24) + 1);
        assert_eq!(cost.latency_ms, 16_777_216.0 / 1e6);
        assert_eq!(cost.energy_mj, 0.1);
    }

    #[test]
    fn names_are_ordered_by_bytes() {
        let names = ["b", "a_", "B", "a"];
        let models = names.map(|name| model(name, 60.0, &[1.0]));
        let order = inputs(&plan(&models)).unwrap().by_name;
        let order: Vec<_> = order.iter().map(|id| names[id.index()]).collect();
        assert_eq!(order, ["B", "a", "a_", "b"]);
    }

    #[test]
    fn a_trigger_probability_of_the_run_replaces_the_scenario_s() {
        let models = [
            model("a", 60.0, &[1.0]),
            model("b", 60.0, &[1.0]).triggered_by(0, 0.2),
            model("c", 60.0, &[1.0]).after(0),
        ];
        let mut run = plan(&models);
        let probabilities = |run: &(Plan, CostTable)| {
            let models = inputs(run).unwrap().models.into_iter();
            models.map(|model| model.probability).collect::<Vec<_>>()
        };
        assert_eq!(probabilities(&run), [1.0, 0.2, 1.0]);
        run.0.load.trigger_probability = Some(0.75);
        assert_eq!(probabilities(&run), [1.0, 0.75, 1.0]);
    }

    #[test]
    fn what_the_artifact_cannot_express_is_refused() {
        for fps in [29.97, 1001.0] {
            check(&plan(&[model("a", fps, &[1.0])]), &format!("a runs at {fps} FPS"));
        }
        let same = [model("a", 60.0, &[1.0]), model("a", 30.0, &[1.0])];
        check(&plan(&same), "two models are called `a`");
        let triggers = [
            model("a", 60.0, &[1.0]),
            model("b", 60.0, &[1.0]),
            model("c", 60.0, &[1.0]).triggered_by(0, 0.5).triggered_by(1, 0.5),
        ];
        check(&plan(&triggers), "c has 2 control dependencies");
        let mut own_deadline = plan(&[model("a", 60.0, &[1.0])]);
        let mut models = own_deadline.0.scenario.models().to_vec();
        models[0].relative_deadline = SimSpan::from_ms(5.0);
        let scenario = Scenario::new("s", Vec::new(), models).unwrap();
        own_deadline.0.scenario = scenario.into();
        check(&own_deadline, "a has a deadline of its own");
    }

    #[test]
    fn latencies_that_vanish_in_single_precision_are_refused() {
        // With a tick of 16 ms the last event is before 716 ms, where single precision has steps of 61 ns;
        // half a step rounds to the even neighbour.
        check(&plan(&[model("a", 60.0, &[0.000_03])]), "a takes 30 cycles on `acc0`");
        assert!(inputs(&plan(&[model("a", 60.0, &[0.000_031])])).is_ok());
        // At 3 FPS times reach 1033 ms, where single precision has steps of 122 ns.
        check(&plan(&[model("a", 3.0, &[0.000_061])]), "a takes 61 cycles on `acc0`");
        assert!(inputs(&plan(&[model("a", 3.0, &[0.000_062])])).is_ok());
    }
}
