//! Draws of latencies of requests, where these differ from request to request.

use xrsim_model::cost::CostTable;
use xrsim_model::ids::{FrameId, ModelId};
use xrsim_model::scenario::Scenario;

use super::LoadSettings;
use super::random::{Draws, Purpose};

/// A number for each frame of each model, which decides its latency on every accelerator: a frame that is slow on one is
/// slow on all, under every policy.
#[derive(Debug, Clone)]
pub struct LatencyDraws {
    /// Indexed by [`ModelId`].
    draws: Vec<Draws>,
}

impl LatencyDraws {
    /// The draws of `scenario` under the seed and replication of `settings`.
    pub fn new(scenario: &Scenario, settings: &LoadSettings) -> Self {
        let models = scenario.models().iter();
        let of = |task: &str| Draws::new(settings, Purpose::Latency, task.as_bytes());
        Self { draws: models.map(|model| of(&model.unit.task)).collect() }
    }

    /// The number of a frame, above 0 and below 1: the share of requests that are not slower.
    pub fn of(&self, model: ModelId, frame: FrameId) -> f64 {
        self.draws[model.index()].unit(frame.index() as u64).max(f64::EPSILON)
    }
}

/// The costs that no request of a run is below, for bounds: of every model, those of its fastest frame. The same costs if
/// none are drawn.
pub fn least_costs(scenario: &Scenario, settings: &LoadSettings, costs: &CostTable) -> CostTable {
    let costs = costs.least_over_points();
    if !costs.has_spreads() {
        return costs.into_owned();
    }
    let draws = LatencyDraws::new(scenario, settings);
    let least = |model: ModelId| {
        let n_frames = scenario.model(model).rate.frames_before(settings.duration);
        let frames = (0..n_frames as usize).map(|frame| draws.of(model, FrameId::new(frame)));
        frames.fold(1.0, f64::min)
    };
    let least: Vec<f64> = scenario.model_ids().map(least).collect();
    costs.drawn(|model| least[model.index()].min(1.0 - f64::EPSILON))
}
