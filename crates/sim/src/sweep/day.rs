//! A run of a profile: scores of its phases, energy, heat and charge.

mod metrics;

use std::sync::Arc;

use super::{RunError, cool};
use crate::device::{Body, Ledger};
use crate::engine;
use crate::load::{LoadError, Phases, PlayedPhase};
use crate::plan::Plan;
use crate::score::{Counts, ScoreSettings, Scorecard, Scoring};
use xrsim_model::cancel;
use xrsim_model::cost::CostTable;
use xrsim_model::ids::ModelId;
use xrsim_model::trace::Record;
use xrsim_model::units::{SimSpan, SimTime};

pub use metrics::DayMetrics;

/// Result of a run of a profile. Its size does not depend on the number of requests.
#[derive(Debug, Clone, PartialEq)]
pub struct Day {
    /// Phases that took place, in order.
    pub phases: Vec<PhaseResult>,
    /// Energy by item; `None` without a device.
    pub ledger: Option<Box<Ledger>>,
    /// Heat and charge at the end; `None` without a device.
    pub body: Option<Box<Body>>,
    /// End: of the last phase, or the instant at which the device stopped.
    pub end: SimTime,
}

/// Result of a phase.
#[derive(Debug, Clone, PartialEq)]
pub struct PhaseResult {
    /// Index of the phase.
    pub phase: usize,
    /// Begin.
    pub begin: SimTime,
    /// End: of the phase or of the run.
    pub end: SimTime,
    /// Scores; `None` without requests.
    pub scorecard: Option<Scorecard>,
    /// Scores of the requests that arrived before, and of those that arrived after the instant that the results are
    /// split at, if the instant is in the phase.
    pub split: Option<[Scorecard; 2]>,
}

/// Scores of several phases, with time as weight.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Weighted {
    /// Mean over the phases with requests (XRBench Definition 16 with time as weight); 0 without.
    pub score: f64,
    /// Outcomes of all requests.
    pub counts: Counts,
}

impl Weighted {
    /// The mean of scores, each with its time.
    fn of<'a>(scored: impl Iterator<Item = (SimSpan, &'a Scorecard)>) -> Self {
        let (mut sum, mut time, mut counts) = (0.0, 0.0, Counts::default());
        for (span, scorecard) in scored.filter(|(_, it)| it.total.counts.requests > 0) {
            let seconds = span.ns() as f64 / 1e9;
            sum += seconds * scorecard.total.score;
            time += seconds;
            counts = counts + scorecard.total.counts;
        }
        Self { score: if time > 0.0 { sum / time } else { 0.0 }, counts }
    }

    /// Share of the requests that were dropped or ended late.
    pub fn missed(&self) -> f64 {
        let Counts { requests, dropped, late, .. } = self.counts;
        if requests > 0 { (dropped + late) as f64 / requests as f64 } else { 0.0 }
    }
}

impl Day {
    /// Scores of the whole run.
    pub fn score(&self) -> Weighted {
        let scored = |it| {
            let PhaseResult { begin, end, scorecard, .. }: &PhaseResult = it;
            Some((*end - *begin, scorecard.as_ref()?))
        };
        Weighted::of(self.phases.iter().filter_map(scored))
    }

    /// Scores of what arrived before and after `at`, which the results are split at.
    pub fn around(&self, at: SimTime) -> [Weighted; 2] {
        [0, 1].map(|side| {
            let scored = move |it| {
                let PhaseResult { begin, end, scorecard, split, .. }: &PhaseResult = it;
                let (from, to) = match side {
                    0 => (*begin, at.min(*end)),
                    _ => (at.max(*begin), *end),
                };
                let own = match split {
                    Some(split) => Some(&split[side]),
                    None => scorecard.as_ref().filter(|_| from < to),
                };
                Some((to.saturating_since(from), own?))
            };
            Weighted::of(self.phases.iter().filter_map(scored))
        })
    }

    /// The instant at which trips took points from an accelerator or halted one for the first time.
    pub fn throttled_from(&self) -> Option<SimTime> {
        self.body.as_ref()?.throttled_from()
    }
}

/// Scores of a phase on its way.
struct Open<'a> {
    scoring: Scoring<'a>,
    split: Option<[Scoring<'a>; 2]>,
    /// Place of its first model.
    first_model: usize,
}

impl<'a> Open<'a> {
    fn new(
        phases: &'a Phases,
        phase: &'a PlayedPhase,
        score: &'a ScoreSettings,
        split: Option<SimTime>,
    ) -> Option<Self> {
        let (scenario, first_model) = phases.scenario_of(phase)?;
        let new = || Scoring::new(scenario, score, phase.load.duration);
        let is_inside = |at: &SimTime| phase.begin < *at && *at < phase.end();
        let split = split.filter(is_inside).map(|_| [new(), new()]);
        Some(Self { scoring: new(), split, first_model })
    }

    fn add(&mut self, record: &Record, variant: u32, split: Option<SimTime>) {
        let model = ModelId::new(record.model.index() - self.first_model);
        let record = Record { model, ..*record };
        self.scoring.add(&record, variant);
        if let (Some(both), Some(at)) = (&mut self.split, split) {
            both[usize::from(record.arrival >= at)].add(&record, variant);
        }
    }
}

/// Requests from one that is told of to the next.
const TOLD: u32 = 4096;

/// Checks that the profile of `plan` can run with `costs`.
///
/// # Errors
///
/// [`LoadError`] if it cannot.
pub fn check(plan: &Plan, costs: &CostTable) -> Result<(), LoadError> {
    match costs.has_spreads() {
        true => Err(LoadError::DrawnLatencies),
        false => plan.feed().map(drop),
    }
}

/// Runs the profile of `plan`. Results are split at `split`, if it is given. `done` gets the arrival
/// of a request now and then.
///
/// # Errors
///
/// [`RunError`] if the run cannot be made, or a node gets too hot.
///
/// # Panics
///
/// If the plan has no phases, or if `costs` are not of its scenario and system.
pub fn play(
    plan: &Plan,
    costs: &Arc<CostTable>,
    split: Option<SimTime>,
    done: &dyn Fn(SimTime),
) -> Result<Day, RunError> {
    cancel::check();
    if costs.has_spreads() {
        return Err(LoadError::DrawnLatencies.into());
    }
    let phases = plan.phases.as_deref().expect("the plan is of a profile");
    let later = ScoreSettings { warm_up: SimSpan::ZERO, ..plan.score };
    let settings = |phase: usize| if phase == 0 { &plan.score } else { &later };
    let mut open: Vec<Option<Open<'_>>> = Vec::new();
    let mut left: Vec<usize> = phases.all().iter().map(|phase| phase.n_requests).collect();
    let mut scored: Vec<Option<(Scorecard, Option<[Scorecard; 2]>)>> = vec![None; left.len()];
    let mut n_ended = 0u32;
    let close = |open: Open<'_>| {
        (open.scoring.scorecard(), open.split.map(|both| both.map(|it| it.scorecard())))
    };
    let played = engine::play(plan, costs, plan.feed()?, &mut |entry| {
        n_ended += 1;
        if n_ended.is_multiple_of(TOLD) {
            done(entry.record.arrival);
        }
        let phase = entry.phase as usize;
        if open.len() <= phase {
            open.resize_with(phase + 1, || None);
        }
        if open[phase].is_none() {
            open[phase] = Open::new(phases, &phases.all()[phase], settings(phase), split);
        }
        let Some(scoring) = &mut open[phase] else { return };
        scoring.add(entry.record, entry.variant, split);
        left[phase] -= 1;
        if left[phase] == 0 {
            scored[phase] = open[phase].take().map(close);
        }
    })?;
    for (scored, open) in scored.iter_mut().zip(open) {
        *scored = scored.take().or(open.map(close));
    }
    cool(played.body.as_deref())?;
    let stopped = played.body.as_ref().and_then(|body| body.stopped());
    let end = stopped.map_or(SimTime::ZERO + phases.duration(), |(at, _)| *at);
    let took_place = phases.all().iter().enumerate().filter(|(_, phase)| phase.begin < end);
    let result = |(number, phase): (usize, &PlayedPhase)| {
        let (scorecard, split) = scored[number].take().unzip();
        let (begin, end) = (phase.begin, phase.end().min(end));
        PhaseResult { phase: number, begin, end, scorecard, split: split.flatten() }
    };
    let results: Vec<_> = took_place.map(result).collect();
    let mut scorecards = results.iter().filter_map(|it| it.scorecard.as_ref());
    if !scorecards.any(|it| !it.is_empty(&plan.score)) {
        return Err(RunError::NothingCounted);
    }
    Ok(Day { phases: results, ledger: played.ledger, body: played.body, end })
}
