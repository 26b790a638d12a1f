//! Scores of the artifact, with its denominators and its precision (rules R12 to R14).

use crate::score::response::Slowest;
use crate::score::{Counts, InferenceScore, Score, Scorecard};
use xrsim_model::ids::ModelId;

use super::engine::{Execution, Fate, History, Request};
use super::expf::expf;
use super::instant;
use super::lower::Inputs;

/// k of Definition 10 [1/ms].
const K_PER_MS: f32 = 15.0;
/// En_max of Definition 11 \[mJ\].
const ENERGY_MAX_MJ: f64 = 1500.0;

/// Real-time score of one execution (Definition 10), in [0, 1].
///
/// Deviation: the exponent is completion less deadline, not latency less slack. Both are equal if the
/// latency counts from the arrival.
fn realtime(execution: &Execution, deadline_ms: f32) -> f32 {
    let delay_ms = execution.completion_ms - deadline_ms;
    1.0 / (1.0 + expf(K_PER_MS * delay_ms))
}

/// Energy score of one execution (Definition 11); negative above En_max.
///
/// Deviation: not clamped, although the paper constrains unit scores to [0, 1].
fn energy(energy_mj: f32) -> f32 {
    ((ENERGY_MAX_MJ - f64::from(energy_mj)) / ENERGY_MAX_MJ) as f32
}

/// Unit scores of one execution. The artifact has no accuracy score, so its models meet their goals.
pub(super) fn inference(inputs: &Inputs, request: &Request) -> Option<InferenceScore> {
    let (realtime, energy) = unit_scores(inputs, request)?;
    Some(InferenceScore {
        realtime: realtime.into(),
        energy: energy.into(),
        accuracy: 1.0,
        inference: (realtime * energy).into(),
        ..InferenceScore::default()
    })
}

fn unit_scores(inputs: &Inputs, request: &Request) -> Option<(f32, f32)> {
    let Fate::Executed(execution) = request.fate else {
        return None;
    };
    let cost = inputs.cost(request.model, execution.accelerator);
    let realtime = realtime(&execution, request.deadline_ms);
    Some((realtime, energy(cost.energy_mj)))
}

/// Sums over the logged requests of one model.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tally {
    n_executed: u32,
    n_dropped: u32,
    /// Sum of real-time scores.
    realtime: f64,
    /// Sum of energy scores.
    energy: f64,
    /// Sum of inference scores (Definition 14), in single precision and order of the log.
    inference: f32,
}

impl Tally {
    fn add(&mut self, unit_scores: Option<(f32, f32)>) {
        let Some((realtime, energy)) = unit_scores else {
            self.n_dropped += 1;
            return;
        };
        self.n_executed += 1;
        self.realtime += f64::from(realtime);
        self.energy += f64::from(energy);
        self.inference += realtime * energy;
    }

    fn n_entries(&self) -> u32 {
        self.n_executed + self.n_dropped
    }

    /// Whether the log has a request of the model. A model without one is in no list of the artifact.
    pub(super) fn is_listed(&self) -> bool {
        self.n_entries() > 0
    }

    /// Mean real-time score over executed requests; 0 if there are none.
    pub(super) fn mean_realtime(&self) -> f64 {
        mean(self.realtime, self.n_executed)
    }

    /// Mean energy score over executed requests; 0 if there are none.
    pub(super) fn mean_energy(&self) -> f64 {
        mean(self.energy, self.n_executed)
    }

    /// Quality of experience (Definition 13); 0 without logged requests.
    ///
    /// Deviation: NumFrm is the number of logged requests, without those that are lost at the end.
    pub(super) fn qoe(&self) -> f32 {
        if !self.is_listed() {
            return 0.0;
        }
        1.0 - self.n_dropped as f32 / self.n_entries() as f32
    }

    /// Contribution of the model to Definition 15: as printed, or with `executed_mean` the mean over executed
    /// requests times QoE. 0 without logged requests.
    fn score(&self, executed_mean: bool) -> f32 {
        let n = if executed_mean { self.n_executed } else { self.n_entries() };
        if n == 0 {
            return 0.0;
        }
        self.inference / n as f32 * self.qoe()
    }

    /// Scores of the model, with empty counts.
    fn model_score(&self) -> Score {
        let qoe = f64::from(self.qoe());
        Score {
            realtime: self.mean_realtime(),
            energy: self.mean_energy(),
            accuracy: if self.n_executed > 0 { 1.0 } else { 0.0 },
            qoe,
            score: self.score(false).into(),
            score_executed_mean: mean(self.inference.into(), self.n_executed) * qoe,
            ..Score::default()
        }
    }
}

fn mean(sum: f64, n: u32) -> f64 {
    if n == 0 { 0.0 } else { sum / f64::from(n) }
}

/// Sums that the summary and the scorecard are computed from.
#[derive(Debug, Clone)]
pub(super) struct Tallies {
    /// Sums of every model, indexed by [`ModelId`].
    pub models: Vec<Tally>,
    /// Overall score over the listed models, times 100 (rule R12); 0 if no model is listed.
    pub overall: f32,
}

impl Tallies {
    /// Sums over the log of a run.
    pub(super) fn from_history(inputs: &Inputs, history: &History) -> Self {
        let mut models = vec![Tally::default(); inputs.models.len()];
        let mut listed: Vec<ModelId> = Vec::with_capacity(models.len());
        for id in &history.log {
            let request = &history.requests[id.index()];
            let tally = &mut models[request.model.index()];
            if !tally.is_listed() {
                listed.push(request.model);
            }
            tally.add(unit_scores(inputs, request));
        }
        let executed_mean = inputs.without.printed_score;
        let score = |model: &ModelId| models[model.index()].score(executed_mean);
        let sum = listed.iter().fold(0.0f32, |sum, model| sum + score(model));
        let overall = match listed.len() {
            0 => 0.0,
            n => sum / n as f32 * 100.0,
        };
        Self { models, overall }
    }

    /// Scores as the figures of the artifact show them (rule R14): plain means over all models of the
    /// scenario, where a model without logged requests counts 0.
    ///
    /// Deviation: [`Score::score`] excludes the lost requests from NumFrm, and [`Counts::requests`] includes
    /// them.
    pub(super) fn scorecard(&self, inputs: &Inputs, history: &History) -> Scorecard {
        let mut models: Vec<_> = self.models.iter().map(Tally::model_score).collect();
        let mut slowest = vec![Slowest::of(history.requests.len()); models.len()];
        for request in &history.requests {
            count(&mut models[request.model.index()].counts, inputs, request);
            if let Fate::Executed(execution) = request.fate {
                let [start, end, deadline] =
                    [request.injection_ms, execution.completion_ms, request.deadline_ms]
                        .map(instant);
                slowest[request.model.index()]
                    .add_times(end.saturating_since(start), deadline.saturating_since(start));
            }
        }
        for (model, slowest) in models.iter_mut().zip(&slowest) {
            model.counts.respond(slowest.p99());
        }
        let n_listed = self.models.iter().filter(|tally| tally.is_listed()).count();
        let score = f64::from(self.overall) / 100.0 * n_listed as f64 / models.len() as f64;
        Scorecard { total: Score { score, ..Score::mean(models.iter()) }, models }
    }
}

fn count(counts: &mut Counts, inputs: &Inputs, request: &Request) {
    if request.fate == Fate::NotTriggered {
        counts.not_triggered += 1;
        return;
    }
    counts.requests += 1;
    match request.fate {
        Fate::Executed(execution) => {
            counts.executed += 1;
            counts.late += u64::from(execution.completion_ms > request.deadline_ms);
            counts.energy += inputs.energy(request.model, execution.accelerator);
        }
        Fate::Dropped(_) => counts.dropped += 1,
        Fate::NotTriggered | Fate::Waiting | Fate::Running(_) => {}
    }
}
