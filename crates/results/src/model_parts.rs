//! Parts that the models have in a run: what they lose of its score, and how long they keep the
//! accelerators busy.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use xrsim_model::hardware::{Accelerator, System};
use xrsim_model::ids::AccelId;
use xrsim_model::model::Network;
use xrsim_model::scenario::ActiveModel;
use xrsim_sim::plan::{Plan, Semantics};
use xrsim_sim::score::{NeverTriggered, Score};
use xrsim_sim::sweep::Scored;

use crate::model_names;

/// Cause of a loss of score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// Frames that were not executed.
    NotRun,
    /// Frames that ended after their deadline, or close to it.
    Late,
    /// Energy of executed frames.
    Energy,
    /// Missed quality goal.
    Accuracy,
}

impl Cause {
    /// Every cause, in the order in which the losses are taken.
    pub const ALL: [Self; 4] = [Self::NotRun, Self::Late, Self::Energy, Self::Accuracy];

    /// Words in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::NotRun => "not run",
            Self::Late => "late",
            Self::Energy => "energy",
            Self::Accuracy => "accuracy",
        }
    }

    /// Losses of a model with `score`, of its 1, by cause; with the score they add up to 1.
    ///
    /// The score of a model is QoE² · mean of (real time · energy · accuracy) over executed requests.
    /// The loss below QoE² · mean real time is divided between energy and accuracy in proportion to their
    /// distances from 1.
    fn losses(score: &Score) -> [f64; 4] {
        let ran = score.qoe * score.qoe;
        let in_time = ran * score.realtime;
        let [energy, accuracy] = [1.0 - score.energy, 1.0 - score.accuracy];
        let energy = if energy + accuracy > 0.0 { energy / (energy + accuracy) } else { 0.0 };
        let rest = in_time - score.score;
        [1.0 - ran, ran - in_time, rest * energy, rest * (1.0 - energy)]
    }
}

/// Losses of every model of a run, as shares of the score of its scenario, by [`Cause::ALL`]. With the score
/// they add up to 1. A model that does not count loses nothing.
pub fn losses(plan: &Plan, result: &Scored) -> Vec<[f64; 4]> {
    losses_of(&result.scorecard.models, counts_all(plan))
}

/// Whether models without requests count.
fn counts_all(plan: &Plan) -> bool {
    plan.semantics == Semantics::Mlsys2023 || plan.score.never_triggered != NeverTriggered::Excluded
}

/// Losses of models with `scores`; without requests a model counts only if all do.
fn losses_of(scores: &[Score], counts_all: bool) -> Vec<[f64; 4]> {
    let counts = |score: &Score| counts_all || score.counts.requests > 0;
    let n_models = scores.iter().filter(|score| counts(score)).count().max(1) as f64;
    let losses = |score: &Score| match counts(score) {
        true => Cause::losses(score).map(|loss| loss / n_models),
        false => [0.0; 4],
    };
    scores.iter().map(losses).collect()
}

/// Parts of the models in the replications of one scenario on one system.
#[derive(Debug, Clone)]
pub struct ModelParts {
    /// `None` for runs that were read from files.
    system: Option<Arc<System>>,
    models: Vec<Part>,
    n_runs: u64,
}

/// Sums of one model over the replications.
#[derive(Debug, Clone, Default)]
struct Part {
    name: String,
    /// `None` for runs that were read from files.
    network: Option<Arc<Network>>,
    /// Shares of the score of the scenario, in the order of [`Cause::ALL`].
    losses: [f64; 4],
    /// Limit of the latency on every accelerator \[cycle\], where one chose the mappings.
    limits: Vec<Option<u64>>,
    /// Time on every accelerator \[ms\], indexed by [`AccelId`](xrsim_model::ids::AccelId).
    busy_ms: Vec<f64>,
    /// Of runs that executed some request.
    response: Response,
}

/// Sums of response times over runs.
#[derive(Debug, Clone, Copy, Default)]
struct Response {
    tightest_ms: f64,
    headroom: f64,
    n_runs: u64,
}

impl Response {
    fn add(&mut self, score: &Score) {
        if score.counts.executed > 0 {
            self.tightest_ms += score.counts.tightest_ms;
            self.headroom += score.counts.headroom;
            self.n_runs += 1;
        }
    }

    /// Means; `None` if no request was executed.
    fn mean(&self) -> Option<(f64, f64)> {
        let n = self.n_runs as f64;
        (self.n_runs > 0).then(|| (self.tightest_ms / n, self.headroom / n))
    }
}

/// The model that leaves the least of the time to its deadline, in the mean of the runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Tightest<'a> {
    /// Model.
    pub model: &'a str,
    /// Response time of its request at the 99th percentile of the share of the time to the deadline \[ms\].
    pub latency_ms: f64,
    /// Share of that time that is left; negative if the request is late.
    pub headroom: f64,
}

/// `PD 22.5 of 33.3 ms`: the response time, and the time from the arrival of a frame to its deadline.
impl fmt::Display for Tightest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { model, latency_ms, headroom } = self;
        let allowed = latency_ms / (1.0 - headroom);
        match allowed.is_finite() {
            true => write!(f, "{model} {latency_ms:.1} of {allowed:.1} ms"),
            // Nothing takes no time.
            false => write!(f, "{model} {latency_ms:.1} ms"),
        }
    }
}

/// The largest loss of a scenario, or of several in the mean.
#[derive(Debug, Clone, PartialEq)]
pub struct Loss {
    /// Model.
    pub model: String,
    /// Cause.
    pub cause: Cause,
    /// Share of the score, from 0 to 1.
    pub lost: f64,
}

/// The model that keeps the accelerators busy longest.
#[derive(Debug)]
pub struct Busiest<'a> {
    /// Model.
    pub model: &'a str,
    /// Its share of the time in which the accelerators are busy, from 0 to 1.
    pub share: f64,
    /// Its network.
    pub network: &'a Network,
    /// The accelerator that it spends the most time on, as the model finds it.
    pub accelerator: Cow<'a, Accelerator>,
}

impl ModelParts {
    /// Parts without any run of `plan`.
    pub fn new(plan: &Plan) -> Self {
        let n_accelerators = plan.system.accelerators().len();
        let names = model_names(&plan.scenario).into_iter();
        let part = |(name, active): (&str, &ActiveModel)| Part {
            name: name.into(),
            network: Some(Arc::clone(&active.unit.network)),
            limits: vec![None; n_accelerators],
            busy_ms: vec![0.0; n_accelerators],
            ..Part::default()
        };
        let models = names.zip(plan.scenario.models()).map(part).collect();
        Self { system: Some(Arc::clone(&plan.system)), models, n_runs: 0 }
    }

    /// Parts of models called `names` without any run, and without busy times, which files do not have.
    pub(crate) fn named<'n>(names: impl Iterator<Item = &'n str>) -> Self {
        let part = |name: &str| Part { name: name.into(), ..Part::default() };
        Self { system: None, models: names.map(part).collect(), n_runs: 0 }
    }

    /// Adds the scores of a replication, in the order of the models; a model without requests counts only if all do.
    pub(crate) fn add_scores(&mut self, scores: &[Score], counts_all: bool) {
        self.n_runs += 1;
        for ((part, losses), score) in
            self.models.iter_mut().zip(losses_of(scores, counts_all)).zip(scores)
        {
            part.losses.iter_mut().zip(losses).for_each(|(sum, loss)| *sum += loss);
            part.response.add(score);
        }
    }

    /// Adds a replication.
    pub fn add(&mut self, plan: &Plan, result: &Scored) {
        self.add_scores(&result.scorecard.models, counts_all(plan));
        for (model, part) in plan.scenario.model_ids().zip(&mut self.models) {
            let ids = (0..part.limits.len()).map(AccelId::new);
            part.limits = ids.map(|at| result.costs.limit_cycles(model, at)).collect();
            let busy = result.usage.busy_of_ms(model);
            part.busy_ms.iter_mut().zip(busy).for_each(|(sum, busy)| *sum += busy);
        }
    }

    /// The largest loss in the mean of `rows`; `None` if nothing is lost. Models of one name are one.
    pub fn largest_loss(rows: &[&Self]) -> Option<Loss> {
        let mut losses: Vec<Loss> = Vec::new();
        for row in rows {
            for part in &row.models {
                for (cause, loss) in Cause::ALL.into_iter().zip(part.losses) {
                    let lost = loss / (row.n_runs.max(1) * rows.len() as u64) as f64;
                    let same = |it: &&mut Loss| it.model == part.name && it.cause == cause;
                    match losses.iter_mut().find(same) {
                        Some(known) => known.lost += lost,
                        None => losses.push(Loss { model: part.name.clone(), cause, lost }),
                    }
                }
            }
        }
        // The first of equal losses.
        let largest = losses.into_iter().rev().max_by(|a, b| a.lost.total_cmp(&b.lost));
        largest.filter(|it| it.lost > 0.0)
    }

    /// The model of `rows` that leaves the least of the time to its deadline; `None` if no request was executed.
    pub fn tightest<'a>(rows: &[&'a Self]) -> Option<Tightest<'a>> {
        let parts = rows.iter().flat_map(|row| &row.models);
        let means = parts.filter_map(|part| {
            let (latency_ms, headroom) = part.response.mean()?;
            Some(Tightest { model: &part.name, latency_ms, headroom })
        });
        means.min_by(|a, b| a.headroom.total_cmp(&b.headroom))
    }

    /// The busiest model of `rows`, which are of one system; `None` if no request ran.
    pub fn busiest<'a>(rows: &[&'a Self]) -> Option<Busiest<'a>> {
        let mut models: Vec<(&'a Part, Vec<f64>)> = Vec::new();
        for row in rows {
            for part in &row.models {
                let of_run = || part.busy_ms.iter().map(|ms| ms / row.n_runs.max(1) as f64);
                match models.iter_mut().find(|(known, _)| known.name == part.name) {
                    Some((_, busy)) => busy.iter_mut().zip(of_run()).for_each(|(a, b)| *a += b),
                    None => models.push((part, of_run().collect())),
                }
            }
        }
        let all: f64 = models.iter().flat_map(|(_, busy)| busy).sum();
        let time = |(_, busy): &(&Part, Vec<f64>)| busy.iter().sum::<f64>();
        let longest = models.iter().rev().max_by(|a, b| time(a).total_cmp(&time(b)))?;
        let (part, busy) = longest;
        let (at, _) = busy.iter().enumerate().rev().max_by(|a, b| a.1.total_cmp(b.1))?;
        let system = rows.first()?.system.as_ref()?;
        let accelerator = system.accelerators().get(at)?;
        if all <= 0.0 {
            return None;
        }
        Some(Busiest {
            model: &part.name,
            share: time(longest) / all,
            network: part.network.as_ref()?,
            accelerator: accelerator.within(part.limits[at]),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xrsim_sim::score::Counts;

    /// Half of the requests ran: QoE² = 1/4. Of that 0.25·0.8 = 0.2 is in time, and 0.2·0.9·0.6 = 0.108 is
    /// the score. The rest, 0.092, is divided as 0.1 : 0.4.
    #[test]
    fn losses_and_score_add_up_to_one() {
        let counts = Counts { requests: 4, executed: 2, ..Counts::default() };
        let mut score = Score::default();
        (score.qoe, score.realtime, score.energy) = (0.5, 0.8, 0.9);
        (score.accuracy, score.score, score.counts) = (0.6, 0.108, counts);
        let losses = Cause::losses(&score);
        for (loss, expected) in losses.into_iter().zip([0.75, 0.05, 0.0184, 0.0736]) {
            assert!((loss - expected).abs() < 1e-12, "{losses:?}");
        }
        assert!((losses.iter().sum::<f64>() + score.score - 1.0).abs() < 1e-12);
    }
}
