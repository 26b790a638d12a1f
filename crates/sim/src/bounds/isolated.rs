//! Frames that have a system for themselves, before the system is known: their worth as a function of the
//! latency of their model.

use crate::load::RequestStream;
use crate::score::ScoreSettings;
use crate::score::energy::energy;
use crate::score::realtime::realtime;
use xrsim_model::ids::ModelId;
use xrsim_model::scenario::Scenario;
use xrsim_model::units::{Millijoules, SimSpan, SimTime};

use super::instance::{Weights, earliest_starts};
use super::outward;

/// Frames of some requests with their earliest starts on any of several systems.
///
/// With it, UB1 of a system of accelerators is bounded by table look-ups: the largest worth of a frame of
/// model `i` is at most [`IsolatedFrames::worth`] at the shortest latency of `i` on any accelerator, times
/// [`IsolatedFrames::energy_score`] at its least energy on any.
#[derive(Debug, Clone)]
pub struct IsolatedFrames {
    /// Frames with a weight, indexed by [`ModelId`].
    models: Vec<Vec<Frame>>,
    constant: f64,
    settings: ScoreSettings,
    n_frames: usize,
    /// Requests that were triggered and count, indexed by [`ModelId`].
    triggered: Vec<u64>,
}

#[derive(Debug, Clone, Copy)]
struct Frame {
    start: SimTime,
    deadline: SimTime,
    weight: f64,
}

impl IsolatedFrames {
    /// Frames of `requests` of `scenario`, whose models take at least the times `fastest`, indexed by
    /// [`ModelId`].
    ///
    /// # Panics
    ///
    /// If `requests` or `fastest` are not of the scenario.
    pub fn new(
        scenario: &Scenario,
        requests: &RequestStream,
        settings: &ScoreSettings,
        fastest: &[SimSpan],
    ) -> Self {
        let weights = Weights::new(scenario, requests, settings);
        let starts = earliest_starts(scenario, requests, |model| fastest[model.index()]);
        let mut models = vec![Vec::new(); scenario.models().len()];
        let mut triggered = vec![0; models.len()];
        for (request, start) in requests.requests().iter().zip(starts) {
            let index = request.model.index();
            let weight = weights.of(request.model, request.frame.index());
            let counts = request.triggered
                && weights.is_bounded(request.model)
                && weights.counts(request.model, request.frame.index());
            triggered[index] += u64::from(counts);
            if request.triggered && weight > 0.0 {
                models[index].push(Frame { start, deadline: request.deadline, weight });
            }
        }
        let n_frames = models.iter().map(Vec::len).sum();
        Self { models, constant: weights.constant, settings: *settings, n_frames, triggered }
    }

    /// Score of models without frames.
    pub fn constant(&self) -> f64 {
        self.constant
    }

    /// Number of requests of `model` that were triggered, after the warm-up.
    pub fn n_triggered(&self, model: ModelId) -> u64 {
        self.triggered[model.index()]
    }

    /// The most that the frames of `model` add to the score before their energy counts, if each takes
    /// `latency` or longer. It falls with the latency.
    pub fn worth(&self, model: ModelId, latency: SimSpan) -> f64 {
        let k_per_ms = self.settings.k_per_ms;
        let worth = |frame: &Frame| {
            frame.weight * realtime(frame.start + latency, frame.deadline, k_per_ms)
        };
        outward(self.models[model.index()].iter().map(worth).sum(), self.n_frames)
    }

    /// EnScore of a frame that takes `spent` or more.
    pub fn energy_score(&self, spent: Millijoules) -> f64 {
        energy(spent, self.settings.energy_max)
    }
}
