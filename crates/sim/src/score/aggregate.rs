//! Aggregation of unit scores over inferences, models, scenarios and the benchmark (XRBench
//! Definitions 14 to 16).

use xrsim_model::ids::RequestId;
use xrsim_model::scenario::{ActiveModel, Scenario};
use xrsim_model::trace::{Absence, Outcome, Record, Trace};
use xrsim_model::units::SimSpan;

use super::response::Slowest;
use super::table::mean;
use super::{
    Counts, Executed, InferenceScore, NeverTriggered, Score, ScoreSettings, Scorecard, Tally,
};

/// Scores of one request that ran `variant` of its model (XRBench Definition 14); `None` unless it was executed.
///
/// ```text
/// Score_inf = RtScore · EnScore · AccScore
/// ```
pub fn inference(
    model: &ActiveModel,
    record: &Record,
    variant: u32,
    settings: &ScoreSettings,
) -> Option<InferenceScore> {
    let Outcome::Executed { end, energy, .. } = record.outcome else {
        return None;
    };
    let deadline = record.deadline;
    Some(InferenceScore::compute(&Executed { model, variant, deadline, end, energy, settings }))
}

/// Scores of every request of a trace, indexed by [`RequestId`](xrsim_model::ids::RequestId); `None` where
/// it was not executed, or makes no result of its own.
pub fn inferences(
    scenario: &Scenario,
    trace: &Trace,
    settings: &ScoreSettings,
) -> Vec<Option<InferenceScore>> {
    let score = |(index, record): (usize, &Record)| {
        let (model, variant) =
            (scenario.model(record.model), trace.variant_of(RequestId::new(index)));
        let is_result = model.is_result(record.frame);
        is_result.then(|| inference(model, record, variant, settings)).flatten()
    };
    trace.records().iter().enumerate().map(score).collect()
}

/// Scores of one run (XRBench Definition 15).
///
/// ```text
/// Score_scn = 1/|θ| · sum over models μ of  sum over frames of Score_inf / NumFrm(μ) · QoEScore(μ)
/// ```
///
/// |θ| counts the models with requests. A model that executed none of them scores 0. A model without
/// requests, because it was never triggered, is in no mean ([`NeverTriggered`]).
///
/// Deviation: the paper prints no sum over the models. Its text (XRBench section 3.7) takes the mean over
/// *processed* frames before the product with QoE, where the print divides by NumFrm and so counts a
/// drop twice; [`Scorecard`] has both.
pub fn score(scenario: &Scenario, trace: &Trace, settings: &ScoreSettings) -> Scorecard {
    let mut n_requests = vec![0; scenario.models().len()];
    trace.records().iter().for_each(|record| n_requests[record.model.index()] += 1);
    let mut scoring = Scoring::of(scenario, settings, n_requests);
    for (index, record) in trace.records().iter().enumerate() {
        scoring.add(record, trace.variant_of(RequestId::new(index)));
    }
    scoring.scorecard()
}

/// Scores of a run ([`score`]), added up request by request, in order.
#[derive(Debug, Clone)]
pub struct Scoring<'a> {
    scenario: &'a Scenario,
    settings: &'a ScoreSettings,
    counted: Counted,
    /// Indexed by [`ModelId`](xrsim_model::ids::ModelId).
    tallies: Vec<Tally>,
    /// Indexed by [`ModelId`](xrsim_model::ids::ModelId).
    slowest: Vec<Slowest>,
}

impl<'a> Scoring<'a> {
    /// No request was added. All requests are of frames whose nominal start lies in [0, `duration`).
    pub fn new(scenario: &'a Scenario, settings: &'a ScoreSettings, duration: SimSpan) -> Self {
        let frames = scenario.models().iter().map(|model| model.frames_before(duration));
        Self::of(scenario, settings, frames.map(|it| usize::try_from(it).unwrap_or(usize::MAX)))
    }

    /// The same for at most `n_requests` requests of each model.
    fn of(
        scenario: &'a Scenario,
        settings: &'a ScoreSettings,
        n_requests: impl IntoIterator<Item = usize>,
    ) -> Self {
        let counted = Counted::new(scenario, settings.warm_up);
        let tallies = vec![Tally::default(); scenario.models().len()];
        let slowest = n_requests.into_iter().map(Slowest::of).collect();
        Self { scenario, settings, counted, tallies, slowest }
    }

    /// Adds the next request, which ran `variant` of its model if it was executed.
    pub fn add(&mut self, record: &Record, variant: u32) {
        if self.counted.counts(record) {
            let model = self.scenario.model(record.model);
            let tally = &mut self.tallies[record.model.index()];
            if !model.is_result(record.frame) {
                return tally.counts.spend(record);
            }
            tally.add(model, record, variant, self.settings);
            self.slowest[record.model.index()].add(model, record);
        }
    }

    /// Scores of the requests that were added.
    pub fn scorecard(&self) -> Scorecard {
        let never_triggered = self.settings.never_triggered;
        let scores = self.tallies.iter().zip(&self.slowest).map(|(tally, slowest)| {
            let mut score = tally.score(never_triggered);
            score.counts.respond(slowest.p99());
            score
        });
        Scorecard::of_models(scores.collect(), never_triggered)
    }
}

/// The requests that count: those of frames whose nominal start is not before the end of the warm-up.
#[derive(Debug, Clone)]
pub struct Counted {
    /// First frame that counts of every model.
    first_frames: Box<[u64]>,
}

impl Counted {
    /// The requests of `scenario` after `warm_up`.
    pub fn new(scenario: &Scenario, warm_up: SimSpan) -> Self {
        let first = scenario.models().iter().map(|model| model.frames_before(warm_up));
        Self { first_frames: first.collect() }
    }

    /// Whether a request of the scenario counts.
    pub fn counts(&self, record: &Record) -> bool {
        record.frame.index() as u64 >= self.first_frames[record.model.index()]
    }
}

/// Score of the benchmark (XRBench Definition 16): the mean over scenarios; 0 without.
///
/// ```text
/// Score_bench = sum over scenarios θ of Score_scn(θ) / |Ω|
/// ```
pub fn benchmark_score(scenarios: &[f64]) -> f64 {
    mean(scenarios.iter().sum(), scenarios.len() as u64)
}

impl Tally {
    fn add(
        &mut self,
        model: &ActiveModel,
        record: &Record,
        variant: u32,
        settings: &ScoreSettings,
    ) {
        self.counts.count(record);
        if let Some(score) = inference(model, record, variant, settings) {
            self.sums.add_scores(&score);
        }
    }

    fn score(&self, never_triggered: NeverTriggered) -> Score {
        if self.counts.requests == 0 {
            return Score::uniform(never_triggered.score().unwrap_or(0.0), self.counts);
        }
        Score { counts: self.counts, ..Score::compute(self) }
    }
}

impl Counts {
    /// Counts the energy of a request.
    fn spend(&mut self, record: &Record) {
        if let Outcome::Executed { energy, .. } | Outcome::Dropped { energy, .. } = record.outcome {
            self.energy += energy;
        }
    }

    fn count(&mut self, record: &Record) {
        self.spend(record);
        match record.outcome {
            Outcome::Executed { end, .. } => {
                self.executed += 1;
                self.late += u64::from(end > record.deadline);
            }
            Outcome::Dropped { .. } => self.dropped += 1,
            Outcome::NotTriggered => self.not_triggered += 1,
            Outcome::NotCaptured(Absence::Lost) => self.lost += 1,
            Outcome::NotCaptured(Absence::Gated) => self.gated += 1,
            Outcome::Lost { .. } => {}
        }
        let is_asked = !matches!(record.outcome, Outcome::NotTriggered | Outcome::NotCaptured(_));
        self.requests += u64::from(is_asked);
    }
}

impl Scorecard {
    fn of_models(models: Vec<Score>, never_triggered: NeverTriggered) -> Self {
        let every_model = never_triggered.score().is_some();
        let counted = models.iter().filter(|m| every_model || m.counts.requests > 0);
        let means = Score::mean(counted);
        // A model that is in no mean may still have requests that were not triggered.
        let counts = models.iter().map(|model| model.counts).sum();
        Self { total: Score { counts, ..means }, models }
    }
}
