//! Every outcome of the triggers of a run, with its probability, where they are few: an expectation
//! without error in place of a sample.

use crate::cost::library::CostLibrary;
use crate::ids::ModelId;
use crate::scenario::{DependencyKind, Scenario};

use super::{RunError, RunResult, RunSpec, run};

/// Most frames whose triggers are enumerated: 2^12 runs.
pub const MAX_FRAMES: usize = 12;

/// One pattern of triggers and what comes of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Possibility {
    /// How likely it is; all add up to 1.
    pub probability: f64,
    /// Scores and trace.
    pub result: RunResult,
}

/// Every pattern of the triggers of `spec`, whose costs `library` has; a run without random triggers
/// has one. `None` if there are more than [`MAX_FRAMES`] frames to draw for. Whatever else is random,
/// such as jitter, is as in `spec`.
///
/// # Errors
///
/// What a run of `spec` says.
pub fn possibilities(
    spec: &RunSpec,
    library: &CostLibrary,
) -> Result<Option<Vec<Possibility>>, RunError> {
    let result = run(spec, library)?;
    let drawn: Vec<_> = (0..spec.scenario.models().len())
        .map(ModelId::new)
        .filter_map(|id| Some((id, probability(spec, id)?, frames(&result, id))))
        .collect();
    let n_frames: usize = drawn.iter().map(|(_, _, frames)| frames).sum();
    if n_frames == 0 {
        return Ok(Some(vec![Possibility { probability: 1.0, result }]));
    }
    if n_frames > MAX_FRAMES {
        return Ok(None);
    }
    let all = (0..1u64 << n_frames).map(|bits| {
        let mut spec = spec.clone();
        spec.load.fixed_triggers = vec![None; spec.scenario.models().len()];
        let (mut left, mut likely) = (bits, 1.0);
        for &(id, chance, frames) in &drawn {
            let pattern = left & ((1 << frames) - 1);
            left >>= frames;
            spec.load.fixed_triggers[id.index()] = Some(pattern);
            let asked = pattern.count_ones() as i32;
            likely *= chance.powi(asked) * (1.0 - chance).powi(frames as i32 - asked);
        }
        run(&spec, library).map(|result| Possibility { probability: likely, result })
    });
    all.collect::<Result<_, _>>().map(Some)
}

/// Chance of the control dependency of a model, if it is neither certain nor impossible.
fn probability(spec: &RunSpec, id: ModelId) -> Option<f64> {
    let scenario: &Scenario = &spec.scenario;
    let chances = scenario.model(id).dependencies.iter().filter_map(|it| match it.kind {
        DependencyKind::Control { probability } => Some(probability),
        DependencyKind::Data => None,
    });
    let given = spec.load.trigger_probability;
    let chance = chances.map(|chance| given.unwrap_or(chance)).product::<f64>();
    (chance > 0.0 && chance < 1.0).then_some(chance)
}

/// Frames of a model, triggered or not.
fn frames(result: &RunResult, id: ModelId) -> usize {
    result.trace.records().iter().filter(|record| record.model == id).count()
}
