//! Metrics of a run as a whole.

use crate::score::qoe::qoe;
use xrsim_model::column::Column;
use xrsim_model::cost::CostTable;
use xrsim_model::hardware::Accelerator;
use xrsim_model::ids::ModelId;
use xrsim_model::scenario::Scenario;
use xrsim_model::trace::{Outcome, Trace};
use xrsim_model::units::{Millijoules, SimTime};

use super::{ModelMetrics, energy, per};

/// Metrics of a run as a whole. Models without requested frames have no part in them.
#[derive(Debug, Clone, PartialEq)]
pub struct RunMetrics {
    /// From time 0 to the last deadline, or the last end if that is later \[ms\].
    pub span_ms: f64,
    /// Part of the span in which each accelerator was busy, indexed by
    /// [`AccelId`](xrsim_model::ids::AccelId).
    pub utilisation: Vec<f64>,
    /// Missed frames of all models over requested ones; 0 without.
    pub miss_ratio: f64,
    /// Jain's fairness index of the models' QoE scores `x`, `(Σ x)² / (n·Σ x²)`: 1 if all models fare
    /// alike, 1/n if one has everything (Jain, Chiu & Hawe 1984). `None` if no model had anything.
    pub fairness: Option<f64>,
    /// Average normalised turnaround time (Eyerman & Eeckhout 2008): how many times longer than alone
    /// a frame takes from the arrival of its data to its end. Mean over the models with executed frames
    /// of their mean latency over their shortest in the cost table; `None` without. At least 1 unless
    /// layers migrate.
    ///
    /// A model that waits for another is measured from the arrival of its own data.
    pub antt: Option<f64>,
    /// System throughput (Eyerman & Eeckhout 2008): the sum over the same models of shortest over mean
    /// latency. As many as there are models if each runs as if alone.
    pub stp: f64,
    /// Energy for each executed frame of any model, what was spent on the others included \[mJ\];
    /// `None` without.
    pub energy_per_frame_mj: Option<f64>,
    /// Energy of all executions over the span \[mW\], without the leakage of the technology; 0 if the span is empty.
    pub power_without_leakage_mw: f64,
    /// UXCost of DREAM, the less the better:
    ///
    /// ```text
    /// UXCost = (sum over models of DLV) · (sum over models of NE)
    /// DLV    = missed / released, or 1 / (2·released) if none was missed
    /// NE     = energy / (released · the largest energy of the model on any accelerator)
    /// ```
    pub uxcost: f64,
}

impl RunMetrics {
    /// The metrics as columns; utilisation is the mean over the accelerators.
    pub const COLUMNS: &[Column<Self>] = &[
        Column::quantity("span_ms", "ms", "Span", |it: &Self| Some(it.span_ms))
            .lower("time 0 to the last deadline or end"),
        Column::share("utilisation", "Utilisation", |it: &Self| Some(it.mean_utilisation()))
            .higher("busy share of the span, mean over the accelerators"),
        Column::share("miss_ratio", "Miss ratio", |it: &Self| Some(it.miss_ratio))
            .lower("requests that were late or did not end, over all requests"),
        Column::share("fairness", "Fairness", |it: &Self| it.fairness)
            .higher("Jain's index of the QoE scores of the models"),
        Column::quantity("antt", "", "Normalised turnaround time", |it: &Self| it.antt)
            .lower("response time over the shortest latency, mean over the models"),
        Column::quantity("stp", "", "System throughput", |it: &Self| Some(it.stp))
            .higher("shortest latency over response time, sum over the models"),
        Column::quantity("energy_per_frame_mj", "mJ", "Energy per frame", |it: &Self| {
            it.energy_per_frame_mj
        })
        .lower("energy of all executions for each executed request"),
        Column::quantity("power_without_leakage_mw", "mW", "Power without leakage", |it: &Self| {
            Some(it.power_without_leakage_mw)
        })
        .lower("energy of all executions over the span"),
        Column::quantity("uxcost", "", "UXCost", |it: &Self| Some(it.uxcost))
            .lower("cost of user experience of DREAM: deadline violations times energy"),
    ];

    pub(super) fn compute(
        scenario: &Scenario,
        trace: &Trace,
        costs: &CostTable,
        models: &[ModelMetrics],
    ) -> Self {
        let requests = |(_, model): &(ModelId, &ModelMetrics)| model.service.requests > 0;
        let models: Vec<_> = scenario.model_ids().zip(models).filter(requests).collect();
        let sum = |of: fn(&ModelMetrics) -> f64| models.iter().map(|(_, it)| of(it)).sum::<f64>();
        let slowdowns: Vec<_> = models.iter().filter_map(|it| slowdown(costs, *it)).collect();
        let span = last_instant(trace);
        let shares = models.iter().map(|(_, it)| qoe(it.service.executed, it.service.requests));
        Self {
            span_ms: span.as_ms(),
            utilisation: utilisation(trace, costs.n_accelerators(), span),
            miss_ratio: per(
                sum(|it| it.service.missed() as f64),
                sum(|it| it.service.requests as f64),
            )
            .unwrap_or(0.0),
            fairness: jain(&shares.collect::<Vec<_>>()),
            antt: per(slowdowns.iter().sum(), slowdowns.len() as f64),
            stp: slowdowns.iter().map(|slowdown| 1.0 / slowdown).sum(),
            energy_per_frame_mj: per(
                sum(|it| it.energy.get()),
                sum(|it| it.service.executed as f64),
            ),
            power_without_leakage_mw: power_without_leakage_mw(trace),
            uxcost: uxcost(costs, &models),
        }
    }

    /// Mean over the accelerators of their utilisation.
    pub(crate) fn mean_utilisation(&self) -> f64 {
        per(self.utilisation.iter().sum(), self.utilisation.len() as f64).unwrap_or(0.0)
    }
}

/// Mean latency of a model over its shortest one; `None` if nothing was executed, or runs in no time.
fn slowdown(costs: &CostTable, (id, model): (ModelId, &ModelMetrics)) -> Option<f64> {
    per(model.service.latencies?.mean_ms, costs.best_latency(id).as_ms())
}

fn uxcost(costs: &CostTable, models: &[(ModelId, &ModelMetrics)]) -> f64 {
    let (mut violations, mut energies) = (0.0, 0.0);
    for (id, model) in models {
        let requests = model.service.requests as f64;
        let missed = model.service.missed() as f64;
        violations += if missed > 0.0 { missed } else { 0.5 } / requests;
        let largest =
            costs.offers(*id).map(|it| costs.on(*id, it).energy().get()).fold(0.0, f64::max);
        energies += per(model.energy.get(), requests * largest).unwrap_or(0.0);
    }
    violations * energies
}

fn jain(shares: &[f64]) -> Option<f64> {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    per(sum * sum, shares.len() as f64 * squares)
}

/// Energy of all executions of a run over its span \[mW\]; 0 if that is empty.
pub fn power_without_leakage_mw(trace: &Trace) -> f64 {
    let spent: f64 = trace.records().iter().map(|record| energy(record).get()).sum();
    per(spent * 1e3, last_instant(trace).as_ms()).unwrap_or(0.0)
}

/// The last deadline, or the last end.
pub(super) fn last_instant(trace: &Trace) -> SimTime {
    let instants = trace.records().iter().map(|record| match record.outcome {
        Outcome::Executed { end, .. } => end.max(record.deadline),
        _ => record.deadline,
    });
    instants.max().unwrap_or(SimTime::ZERO)
}

fn utilisation(trace: &Trace, n_accelerators: usize, span: SimTime) -> Vec<f64> {
    let busy_ms = busy_ms(trace, n_accelerators, span);
    busy_ms.into_iter().map(|busy| per(busy, span.as_ms()).unwrap_or(0.0)).collect()
}

/// Time in which each accelerator was busy, indexed by [`AccelId`](xrsim_model::ids::AccelId) \[ms\].
pub(super) fn busy_ms(trace: &Trace, n_accelerators: usize, span: SimTime) -> Vec<f64> {
    let mut busy_ms = vec![0.0; n_accelerators];
    for interval in trace.busy_intervals() {
        let end = interval.end.unwrap_or(span);
        busy_ms[interval.accelerator.index()] += end.saturating_since(interval.start).as_ms();
    }
    busy_ms
}

/// Energy that accelerators use while they idle, from time 0 to the last deadline, or to the last end if
/// that is later. It is no part of the energy of any frame, and no score counts it. `accelerators` are
/// those of the run, indexed by [`AccelId`](xrsim_model::ids::AccelId).
pub fn idle_energy(trace: &Trace, accelerators: &[Accelerator]) -> Millijoules {
    if accelerators.iter().all(|accelerator| accelerator.byte_energy.idle == 0.0) {
        return Millijoules::ZERO;
    }
    let span = last_instant(trace);
    let busy_ms = busy_ms(trace, accelerators.len(), span);
    let idle = |(accelerator, busy): (&Accelerator, f64)| {
        let thousand_cycles = (span.as_ms() - busy).max(0.0) * accelerator.clock.as_mhz();
        Millijoules::from_nj(thousand_cycles * accelerator.byte_energy.idle)
    };
    let energies = accelerators.iter().zip(busy_ms).map(idle);
    energies.fold(Millijoules::ZERO, |sum, energy| sum + energy)
}
