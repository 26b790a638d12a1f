//! Every pattern of the triggers of a run with its probability, where there are few: an exact
//! expectation instead of a sample.

use crate::load::LoadSettings;
use crate::plan::Plan;
use xrsim_model::cost::library::CostLibrary;
use xrsim_model::ids::ModelId;
use xrsim_model::scenario::{DependencyKind, Scenario};

use super::{RunError, RunResult, run};

/// Maximum number of frames whose triggers are enumerated: 2^12 runs.
pub const MAX_FRAMES: usize = 12;

/// One pattern of triggers and its result.
#[derive(Debug, Clone, PartialEq)]
pub struct Possibility {
    /// Probability of the pattern. Those of all patterns add up to 1.
    pub probability: f64,
    /// Scores and trace.
    pub result: RunResult,
}

/// Results of `plan` under every pattern of its triggers, with the costs in `library`. A run without
/// random triggers has one pattern. `None` if more than [`MAX_FRAMES`] frames have random triggers.
/// Other random parts, such as jitter, are as in `plan`.
///
/// # Errors
///
/// [`RunError`] if the run cannot be made.
pub fn possibilities(
    plan: &Plan,
    library: &CostLibrary,
) -> Result<Option<Vec<Possibility>>, RunError> {
    let result = run(plan, library)?;
    let frames = |id| result.trace.records().iter().filter(|record| record.model == id).count();
    let Some(patterns) = patterns(&plan.scenario, &plan.load, frames) else {
        return Ok(None);
    };
    let all = patterns.into_iter().map(|Pattern { probability, load }| {
        let mut plan = plan.clone();
        plan.load = load;
        run(&plan, library).map(|result| Possibility { probability, result })
    });
    all.collect::<Result<_, _>>().map(Some)
}

/// A load with fixed triggers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Pattern {
    /// Probability of these triggers.
    pub probability: f64,
    /// `load` with these triggers.
    pub load: LoadSettings,
}

/// Every pattern of the triggers of `load`, where `frames` gives the number of frames of a model,
/// triggered or not. `None` if more than [`MAX_FRAMES`] frames have random triggers.
pub(crate) fn patterns(
    scenario: &Scenario,
    load: &LoadSettings,
    frames: impl Fn(ModelId) -> usize,
) -> Option<Vec<Pattern>> {
    let drawn: Vec<_> = scenario
        .model_ids()
        .filter_map(|id| Some((id, probability(scenario, load, id)?, frames(id))))
        .collect();
    let n_frames: usize = drawn.iter().map(|(_, _, frames)| frames).sum();
    if n_frames > MAX_FRAMES {
        return None;
    }
    let pattern = |bits: u64| {
        let mut load = load.clone();
        load.fixed_triggers.resize(scenario.models().len(), None);
        let (mut left, mut likely) = (bits, 1.0);
        for &(id, chance, frames) in &drawn {
            let pattern = left & ((1 << frames) - 1);
            left >>= frames;
            load.fixed_triggers[id.index()] = Some(pattern);
            let asked = pattern.count_ones() as i32;
            likely *= chance.powi(asked) * (1.0 - chance).powi(frames as i32 - asked);
        }
        Pattern { probability: likely, load }
    };
    Some((0..1u64 << n_frames).map(pattern).collect())
}

/// Probability that the control dependencies of a model trigger it, if it is neither 0 nor 1.
fn probability(scenario: &Scenario, load: &LoadSettings, id: ModelId) -> Option<f64> {
    let chances = scenario.model(id).dependencies.iter().filter_map(|it| match it.kind {
        DependencyKind::Control { probability } => Some(probability),
        DependencyKind::Data => None,
    });
    let given = load.trigger_probability;
    let chance = chances.map(|chance| given.unwrap_or(chance)).product::<f64>();
    (chance > 0.0 && chance < 1.0).then_some(chance)
}
