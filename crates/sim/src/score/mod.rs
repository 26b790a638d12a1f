//! Scores of a run (XRBench Definitions 10 to 16): four unit scores, then their aggregation over
//! inferences, models, scenarios and the benchmark.
//!
//! Reads scenario and trace, never an engine.

pub(crate) mod accuracy;
mod aggregate;
pub mod energy;
mod inference;
mod overall;
pub(crate) mod qoe;
pub mod realtime;
pub(crate) mod response;
mod table;

pub use aggregate::{Counted, Scoring, benchmark_score, inference, inferences, score};
pub use table::{ENERGY, InferenceScore, Score};
pub(crate) use table::{HEADROOM, LATENCY_P99, REQUESTS};

use response::Response;
use table::{Executed, ModelScore, RequestScore, Tally};

use std::iter::Sum;
use std::ops::Add;

use xrsim_model::units::{Millijoules, SimSpan};

/// Score of a model that was never triggered, so that it has no requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NeverTriggered {
    /// The model is in no mean over models.
    #[default]
    Excluded,
    /// 1 in every score, as all its requests were executed.
    One,
    /// 0 in every score.
    Zero,
}

impl NeverTriggered {
    /// The score; `None` if the model is in no mean.
    pub fn score(self) -> Option<f64> {
        match self {
            Self::Excluded => None,
            Self::One => Some(1.0),
            Self::Zero => Some(0.0),
        }
    }
}

/// Quality of a network without a measured value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AssumedQuality {
    /// It meets its goal, as the paper assumes for all its models.
    #[default]
    Goal,
    /// It has the published value; without one, it meets its goal.
    Published,
}

/// Parameters of the scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoreSettings {
    /// k of Definition 10 [1/ms]: sensitivity of the real-time score to the deadline.
    pub k_per_ms: f64,
    /// En_max of Definition 11: the energy of one inference that scores 0.
    pub energy_max: Millijoules,
    /// ε of Definition 12.
    pub epsilon: f64,
    /// Quality of networks without a measured value (Definition 12).
    pub accuracy: AssumedQuality,
    /// Frames with an earlier nominal start run but do not count, so that the scores show the steady
    /// state. With zero all frames count, as in the paper.
    pub warm_up: SimSpan,
    /// Score of models without requests.
    pub never_triggered: NeverTriggered,
}

impl Default for ScoreSettings {
    /// The paper's defaults (appendix B.1): k = 15, En_max = 1500 mJ, ε = 10^-6.
    fn default() -> Self {
        Self {
            k_per_ms: 15.0,
            energy_max: Millijoules::new(1500.0),
            epsilon: 1e-6,
            accuracy: AssumedQuality::Goal,
            warm_up: SimSpan::ZERO,
            never_triggered: NeverTriggered::Excluded,
        }
    }
}

/// Outcomes of the requests of a model or scenario.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Counts {
    /// NumFrm: requests that the sensors asked for: executed, dropped or cut off by the end of the run, but not those that
    /// were not triggered or not captured.
    pub requests: u64,
    /// Executed, on time or late.
    pub executed: u64,
    /// Dropped for any reason.
    pub dropped: u64,
    /// Not triggered by their upstream result.
    pub not_triggered: u64,
    /// Not there because a frame of a sensor is lost.
    pub lost: u64,
    /// Not there because the gate of a sensor was off.
    pub gated: u64,
    /// Executed requests that ended after their deadline.
    pub late: u64,
    /// Energy of all executions, finished or aborted.
    pub energy: Millijoules,
    /// 99th percentile of the response times of executed requests, from the arrival of their data to their end, waiting
    /// included; of several models the largest one \[ms\]. 0 if none was executed.
    pub latency_p99_ms: f64,
    /// Share of the time from arrival to deadline that 99 % of the executed requests leave at least; of several models
    /// the least one. Negative if more were late, -1 if they arrived after their deadlines, 0 if none was executed.
    pub headroom: f64,
    /// Response time of the request that leaves this share \[ms\].
    pub tightest_ms: f64,
}

impl Counts {
    /// Takes the percentile of a model.
    pub(crate) fn respond(&mut self, p99: Option<Response>) {
        let Some(p99) = p99 else { return };
        (self.latency_p99_ms, self.headroom) = (p99.latency.as_ms(), 1.0 - p99.used);
        self.tightest_ms = p99.tightest.as_ms();
    }
}

impl Add for Counts {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let is_other = match (self.executed, other.executed) {
            (_, 0) => false,
            (0, _) => true,
            _ => other.headroom < self.headroom,
        };
        let tightest = if is_other { &other } else { &self };
        Self {
            requests: self.requests + other.requests,
            executed: self.executed + other.executed,
            dropped: self.dropped + other.dropped,
            not_triggered: self.not_triggered + other.not_triggered,
            lost: self.lost + other.lost,
            gated: self.gated + other.gated,
            late: self.late + other.late,
            energy: self.energy + other.energy,
            latency_p99_ms: self.latency_p99_ms.max(other.latency_p99_ms),
            headroom: tightest.headroom,
            tightest_ms: tightest.tightest_ms,
        }
    }
}

impl Sum for Counts {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::default(), Add::add)
    }
}

/// Scores of one run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Scorecard {
    /// Indexed by [`xrsim_model::ids::ModelId`].
    pub models: Vec<Score>,
    /// Means over the models with requests; counts of all.
    pub total: Score,
}

impl Scorecard {
    /// Whether no model is in the means, because none has a request that counts. The run has no score
    /// then, and the zeros of [`Scorecard::total`] have no meaning.
    pub fn is_empty(&self, settings: &ScoreSettings) -> bool {
        self.total.counts.requests == 0 && settings.never_triggered.score().is_none()
    }
}
