//! Scores of a run (XRBench Definitions 10 to 16): four unit scores, then their aggregation over
//! inferences, models, scenarios and the benchmark.
//!
//! Reads scenario and trace, never an engine.

pub mod accuracy;
mod aggregate;
pub mod energy;
pub mod qoe;
pub mod realtime;

pub use aggregate::{Counted, benchmark_score, inference, inferences, score};

use std::iter::Sum;
use std::ops::Add;

use crate::units::{Millijoules, SimSpan};

/// What a model scores that no upstream result ever asked for, so that nothing was released.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NeverTriggered {
    /// It has no part in the means over models.
    #[default]
    Excluded,
    /// 1 in every score: it did all that was asked.
    One,
    /// 0 in every score.
    Zero,
}

impl NeverTriggered {
    fn score(self) -> Option<f64> {
        match self {
            Self::Excluded => None,
            Self::One => Some(1.0),
            Self::Zero => Some(0.0),
        }
    }
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
    /// Frames whose nominal start lies before this are played but not counted, so that the scores
    /// show the steady state. Zero counts everything, as the paper does.
    pub warm_up: SimSpan,
    /// Models without requested frames.
    pub never_triggered: NeverTriggered,
}

impl Default for ScoreSettings {
    /// The paper's defaults (appendix B.1): k = 15, En_max = 1500 mJ, ε = 10^-6.
    fn default() -> Self {
        Self {
            k_per_ms: 15.0,
            energy_max: Millijoules::new(1500.0),
            epsilon: 1e-6,
            warm_up: SimSpan::ZERO,
            never_triggered: NeverTriggered::Excluded,
        }
    }
}

/// Unit scores of one executed inference, each in [0, 1].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InferenceScore {
    /// Definition 10.
    pub realtime: f64,
    /// Definition 11.
    pub energy: f64,
    /// Definition 12.
    pub accuracy: f64,
    /// Definition 14: their product.
    pub inference: f64,
}

/// What became of the requests of a model or scenario.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Counts {
    /// NumFrm: requests that were due, i.e. executed, dropped or lost; not the untriggered ones.
    pub requests: u64,
    /// Executed, on time or late.
    pub executed: u64,
    /// Dropped for any reason.
    pub dropped: u64,
    /// Not asked for by their upstream result.
    pub not_triggered: u64,
    /// Executed requests that ended after their deadline.
    pub late: u64,
    /// Energy of all executions, finished or aborted.
    pub energy: Millijoules,
}

impl Counts {
    /// Names of [`Counts::values`] in every output.
    pub const COLUMNS: [&str; 5] = ["requests", "executed", "dropped", "not_triggered", "late"];

    /// The counts, in the order of [`Counts::COLUMNS`].
    pub fn values(&self) -> [u64; 5] {
        let Self { requests, executed, dropped, not_triggered, late, energy: _ } = *self;
        [requests, executed, dropped, not_triggered, late]
    }
}

impl Add for Counts {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            requests: self.requests + other.requests,
            executed: self.executed + other.executed,
            dropped: self.dropped + other.dropped,
            not_triggered: self.not_triggered + other.not_triggered,
            late: self.late + other.late,
            energy: self.energy + other.energy,
        }
    }
}

impl Sum for Counts {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::default(), Add::add)
    }
}

/// Scores and counts of one model, or of a run: means and sums over its models.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Score {
    /// Mean real-time score over executed inferences; 0 if none.
    pub realtime: f64,
    /// Mean energy score over executed inferences; 0 if none.
    pub energy: f64,
    /// Mean accuracy score over executed inferences; 0 if none.
    pub accuracy: f64,
    /// Definition 13.
    pub qoe: f64,
    /// Definition 15 as printed: sum of inference scores over NumFrm, times QoE.
    pub score: f64,
    /// The reading of section 3.7 of the paper: mean of inference scores over *executed* frames, times QoE.
    pub score_executed_mean: f64,
    /// Counts.
    pub counts: Counts,
}

impl Score {
    /// Names of [`Score::values`] in every output.
    pub const COLUMNS: [&str; 6] =
        ["realtime", "energy", "accuracy", "qoe", "score", "score_executed_mean"];

    /// The scores, in the order of [`Score::COLUMNS`].
    pub fn values(&self) -> [f64; 6] {
        let Self { realtime, energy, accuracy, qoe, score, score_executed_mean, counts: _ } = *self;
        [realtime, energy, accuracy, qoe, score, score_executed_mean]
    }

    /// Scores of these values, in the order of [`Score::COLUMNS`].
    pub fn of_values(values: [f64; 6], counts: Counts) -> Self {
        let [realtime, energy, accuracy, qoe, score, score_executed_mean] = values;
        Self { realtime, energy, accuracy, qoe, score, score_executed_mean, counts }
    }

    /// Mean of the scores and sum of the counts; 0 without.
    pub fn mean<'a>(scores: impl Iterator<Item = &'a Self>) -> Self {
        let mut sums = [0.0; 6];
        let mut counts = Counts::default();
        let mut n = 0.0;
        for score in scores {
            n += 1.0;
            counts = counts + score.counts;
            sums.iter_mut().zip(score.values()).for_each(|(sum, value)| *sum += value);
        }
        Self::of_values(sums.map(|sum| if n > 0.0 { sum / n } else { 0.0 }), counts)
    }
}

/// Scores of one run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Scorecard {
    /// Indexed by [`crate::ids::ModelId`].
    pub models: Vec<Score>,
    /// Means over the models that had something to do; counts of all.
    pub total: Score,
}

impl Scorecard {
    /// Whether no model is in the means, because none has a released frame that counts. The run has no
    /// score then; the zeros of [`Scorecard::total`] stand for nothing.
    pub fn is_empty(&self, settings: &ScoreSettings) -> bool {
        self.total.counts.requests == 0 && settings.never_triggered.score().is_none()
    }
}
