//! Metrics of a run as a whole.

use crate::score::qoe::qoe;
use xrsim_model::column::Column;
use xrsim_model::cost::CostTable;
use xrsim_model::ids::ModelId;
use xrsim_model::scenario::Scenario;

use super::{ModelMetrics, Usage, per};

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
    /// of their mean latency over their shortest in the cost table; `None` without. At least 1, unless
    /// layers migrate, a device runs points above the nominal one, or requests run other variants.
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
        usage: &Usage,
        costs: &CostTable,
        models: &[ModelMetrics],
    ) -> Self {
        let requests = |(_, model): &(ModelId, &ModelMetrics)| model.service.requests > 0;
        let models: Vec<_> = scenario.model_ids().zip(models).filter(requests).collect();
        let sum = |of: fn(&ModelMetrics) -> f64| models.iter().map(|(_, it)| of(it)).sum::<f64>();
        // Requests of a sequence have no common latency alone.
        let is_frame = |(id, _): &&(ModelId, &ModelMetrics)| scenario.model(*id).sequence.is_none();
        let of_frames: Vec<_> = models.iter().filter(is_frame).copied().collect();
        let slowdowns: Vec<_> = of_frames.iter().filter_map(|it| slowdown(costs, *it)).collect();
        let span_ms = usage.span().as_ms();
        let utilisation = usage.busy_ms().iter().map(|busy| per(*busy, span_ms).unwrap_or(0.0));
        let shares = models.iter().map(|(_, it)| qoe(it.service.executed, it.service.requests));
        Self {
            span_ms,
            utilisation: utilisation.collect(),
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
            power_without_leakage_mw: usage.power_without_leakage_mw(),
            uxcost: uxcost(costs, &of_frames),
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
