//! Run metrics besides the scores: latencies, misses, fairness,
//! throughput, energy; for every model, every chain of dependent models, and the run.
//!
//! Frames of the warm-up are left out, as in the scores; where a metric is of the accelerators and not
//! of frames, it is of the whole run. Requests that nothing asked for count nowhere. A released frame
//! is *missed* unless it ended by its deadline: late, dropped, or lost at the end of a run that does
//! not drain.

mod age;
mod chain;
mod device;
mod freshness;
mod run;
mod service;
mod shown;
mod skew;
mod usage;

use crate::load::LoadSettings;
use crate::score::ScoreSettings;
use xrsim_model::column::Column;
use xrsim_model::cost::CostTable;
use xrsim_model::hardware::device::Display;
use xrsim_model::ids::{FrameId, ModelId};
use xrsim_model::scenario::Scenario;
use xrsim_model::trace::{DropReason, Outcome, Record, Trace};
use xrsim_model::units::Millijoules;

pub use age::Age;
pub use chain::{ChainMetrics, MAX_CHAINS, chains};
pub use device::DeviceMetrics;
pub use freshness::{Freshness, Streaks, newest_results};
pub use run::RunMetrics;
pub use service::{Firm, Latencies, Service};
pub use shown::Shown;
pub use skew::Skew;
pub use usage::Usage;

use freshness::RunFreshness;
use service::Served;

/// Metrics of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Metrics {
    /// Indexed by [`ModelId`].
    pub models: Vec<ModelMetrics>,
    /// Chains of at least two models, in the order of [`chains`].
    pub chains: Vec<ChainMetrics>,
    /// The run.
    pub run: RunMetrics,
}

impl Metrics {
    /// Metrics of `trace`, a run of `scenario` under `load` at `costs`. `firm` takes the place of the rule that
    /// follows from the rate, for all models and chains. Of `score` only the warm-up counts. `display` shows the results.
    ///
    /// # Panics
    ///
    /// If `trace` or `costs` are not of the scenario.
    pub fn compute(
        scenario: &Scenario,
        trace: &Trace,
        costs: &CostTable,
        (load, score): (&LoadSettings, &ScoreSettings),
        firm: Option<Firm>,
        display: Option<&Display>,
    ) -> Self {
        let frames = Frames::from_trace(scenario, trace, score);
        let firm_of =
            |model: ModelId| firm.unwrap_or_else(|| Firm::of_rate(scenario.model(model).rate));
        let chains = chains(scenario);
        let freshness = RunFreshness::of(scenario, &frames, &chains, (load, score), display);
        let of_model = |(model, freshness)| {
            ModelMetrics::compute(scenario, &frames, (model, freshness), firm_of(model))
        };
        let models: Vec<_> = scenario.model_ids().zip(freshness.models).map(of_model).collect();
        let of_chain = |(chain, freshness): (Vec<ModelId>, Freshness)| {
            let firm = firm_of(chain[chain.len() - 1]);
            ChainMetrics::compute(scenario, &frames, (chain, freshness), firm)
        };
        let chains = chains.into_iter().zip(freshness.chains).map(of_chain).collect();
        let usage = Usage::from_trace(models.len(), costs.n_accelerators(), trace);
        let run = RunMetrics::compute(scenario, &usage, costs, &models);
        Self { models, chains, run }
    }
}

/// Metrics of one model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ModelMetrics {
    /// How its frames were served.
    pub service: Service,
    /// How fresh its results are.
    pub freshness: Freshness,
    /// Why frames were dropped.
    pub drops: Drops,
    /// Energy of all its frames, dropped ones too.
    pub energy: Millijoules,
}

impl ModelMetrics {
    /// Columns of the energy of a model, beside those of [`Service`], [`Freshness`] and [`Drops`].
    pub const ENERGY: &[Column<Self>] = &[
        Column::quantity("energy_mj", "mJ", "Energy", |it: &Self| Some(it.energy.get()))
            .lower("energy of all executions"),
        Column::quantity(
            "energy_per_frame_mj",
            "mJ",
            "Energy per frame",
            Self::energy_per_frame_mj,
        )
        .lower("energy of all executions for each executed request"),
    ];

    /// Names of [`ModelMetrics::values`], without those of [`Shown`].
    pub fn names() -> impl Iterator<Item = &'static str> {
        let service = Service::COLUMNS.iter().map(|column| column.name);
        let freshness = Freshness::COLUMNS.iter().map(|column| column.name);
        let drops = Drops::COLUMNS.iter().map(|column| column.name);
        service.chain(freshness).chain(drops).chain(Self::ENERGY.iter().map(|column| column.name))
    }

    /// Values of all columns of a model: service, freshness, drops and energy, and what a display shows. `None` where there is
    /// none.
    pub fn values(&self) -> impl Iterator<Item = Option<f64>> {
        let service = Service::COLUMNS.iter().map(|column| column.of(&self.service));
        let drops = Drops::COLUMNS.iter().map(|column| column.of(&self.drops));
        let energy = Self::ENERGY.iter().map(|column| column.of(self));
        let own = service.chain(self.freshness.values()).chain(drops).chain(energy);
        own.chain(self.freshness.shown())
    }

    fn compute(
        scenario: &Scenario,
        frames: &Frames<'_>,
        (model, freshness): (ModelId, Freshness),
        firm: Firm,
    ) -> Self {
        let records = || frames.counted(model).iter();
        let served: Vec<_> = records().filter_map(|record| served(record)).collect();
        let rate = scenario.model(model).rate;
        Self {
            service: Service::from_frames(&served, records().count() as u64, rate, firm),
            freshness,
            drops: Drops::count(records().map(|record| record.outcome)),
            energy: records().fold(Millijoules::ZERO, |sum, record| sum + energy(record)),
        }
    }

    /// Energy for each frame that was executed, what was spent on the others included \[mJ\]; `None`
    /// without.
    pub fn energy_per_frame_mj(&self) -> Option<f64> {
        per(self.energy.get(), self.service.executed as f64)
    }
}

/// How many frames were dropped for which reason ([`DropReason`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Drops {
    /// [`DropReason::Deadline`].
    pub deadline: u64,
    /// [`DropReason::Upstream`].
    pub upstream: u64,
    /// [`DropReason::Aborted`].
    pub aborted: u64,
    /// [`DropReason::Replaced`].
    pub replaced: u64,
    /// [`DropReason::Scheduler`].
    pub scheduler: u64,
    /// [`DropReason::Power`], which runs of profiles alone have; no column.
    pub power: u64,
}

impl Drops {
    /// The counts as columns.
    pub const COLUMNS: &[Column<Self>] = &[
        Column::count("dropped_deadline", "Dropped: deadline", |it: &Self| {
            Some(it.deadline as f64)
        })
        .lower("requests that waited until their deadline"),
        Column::count("dropped_upstream", "Dropped: upstream", |it: &Self| {
            Some(it.upstream as f64)
        })
        .lower("requests whose upstream request was dropped"),
        Column::count("dropped_aborted", "Dropped: aborted", |it: &Self| Some(it.aborted as f64))
            .lower("requests that were stopped at their deadline"),
        Column::count("dropped_replaced", "Dropped: replaced", |it: &Self| {
            Some(it.replaced as f64)
        })
        .lower("requests that a newer frame replaced"),
        Column::count("dropped_scheduler", "Dropped: scheduler", |it: &Self| {
            Some(it.scheduler as f64)
        })
        .lower("requests that the scheduler gave up"),
    ];

    fn count(outcomes: impl Iterator<Item = Outcome>) -> Self {
        let mut drops = Self::default();
        for outcome in outcomes {
            if let Outcome::Dropped { reason, .. } = outcome {
                *drops.of_reason(reason) += 1;
            }
        }
        drops
    }

    fn of_reason(&mut self, reason: DropReason) -> &mut u64 {
        match reason {
            DropReason::Deadline => &mut self.deadline,
            DropReason::Upstream => &mut self.upstream,
            DropReason::Aborted => &mut self.aborted,
            DropReason::Replaced => &mut self.replaced,
            DropReason::Scheduler => &mut self.scheduler,
            DropReason::Power => &mut self.power,
        }
    }
}

/// The records of a trace, model by model in order of frames.
struct Frames<'a> {
    /// Indexed by [`ModelId`].
    records: Vec<Vec<&'a Record>>,
    /// How many of each model's records belong to the warm-up.
    warm_up: Vec<usize>,
}

impl<'a> Frames<'a> {
    fn from_trace(scenario: &Scenario, trace: &'a Trace, score: &ScoreSettings) -> Self {
        let mut records = vec![Vec::new(); scenario.models().len()];
        for record in trace.records() {
            if scenario.model(record.model).is_result(record.frame) {
                records[record.model.index()].push(record);
            }
        }
        records.iter_mut().for_each(|of_model| of_model.sort_by_key(|record| record.frame));
        let warm_up = scenario.models().iter().zip(&records).map(|(model, records)| {
            let first = model.frames_before(score.warm_up);
            records.partition_point(|record| (record.frame.index() as u64) < first)
        });
        Self { warm_up: warm_up.collect(), records }
    }

    /// Records after the warm-up.
    fn counted(&self, model: ModelId) -> &[&'a Record] {
        &self.records[model.index()][self.warm_up[model.index()]..]
    }

    /// The record of one frame.
    fn record(&self, model: ModelId, frame: FrameId) -> Option<&'a Record> {
        let records = &self.records[model.index()];
        let index = records.binary_search_by_key(&frame, |record| record.frame).ok()?;
        Some(records[index])
    }
}

/// How a request was served; `None` if nothing asked for it.
fn served(record: &Record) -> Option<Served> {
    match record.outcome {
        Outcome::Executed { end, .. } => Some(Served::at(end, record.arrival, record.deadline)),
        Outcome::Dropped { .. } | Outcome::Lost { .. } => Some(Served::Not),
        Outcome::NotTriggered | Outcome::NotCaptured(_) => None,
    }
}

fn energy(record: &Record) -> Millijoules {
    match record.outcome {
        Outcome::Executed { energy, .. } | Outcome::Dropped { energy, .. } => energy,
        Outcome::NotTriggered | Outcome::NotCaptured(_) | Outcome::Lost { .. } => Millijoules::ZERO,
    }
}

const NS_PER_MS: f64 = 1e6;

/// `amount` for each of `n`; `None` without any.
fn per(amount: f64, n: f64) -> Option<f64> {
    (n > 0.0).then(|| amount / n)
}
