//! Changes to a run, one at a time, to see whether a frame would have met its deadline.

use std::sync::Arc;

use crate::plan::Plan;
use xrsim_model::cost::CostTable;
use xrsim_model::ids::{AccelId, FrameId, ModelId, RequestId};
use xrsim_model::trace::{BusyInterval, Outcome, Trace};

use super::{RunResult, run_at_costs};

/// Latencies that are tried, in percent of the actual latency, the smallest change first.
pub const LATENCY_PERCENTS: [u32; 9] = [90, 80, 70, 60, 50, 40, 30, 20, 10];

/// Multiples of the PEs that are tried, the smallest change first.
pub const PE_FACTORS: [u32; 3] = [2, 4, 8];

/// A frame of a model. Its index in the order of arrival may differ from run to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// Model.
    pub model: ModelId,
    /// Its frame.
    pub frame: FrameId,
}

impl Target {
    /// The request of the frame in `trace`, if there is one.
    pub fn find(self, trace: &Trace) -> Option<RequestId> {
        let mut records = trace.records().iter();
        let found = records.position(|it| it.model == self.model && it.frame == self.frame);
        found.map(RequestId::new)
    }

    /// Time from the end of the frame to its deadline in `trace` \[ms\]; `None` if it missed its deadline.
    pub fn margin_ms(self, trace: &Trace) -> Option<f64> {
        let record = trace.record(self.find(trace)?);
        match record.outcome {
            Outcome::Executed { end, .. } if end <= record.deadline => {
                Some(record.deadline.ms_after(end))
            }
            _ => None,
        }
    }
}

/// Whether the executions of two runs begin in the same order, on the same accelerators.
pub fn is_same_schedule(a: &Trace, b: &Trace) -> bool {
    starts(a) == starts(b)
}

/// Model, frame and accelerator of every execution, in order of its start.
fn starts(trace: &Trace) -> Vec<(ModelId, FrameId, AccelId)> {
    let mut intervals: Vec<_> = trace.busy_intervals().collect();
    intervals.sort_by_key(|it| (it.start, it.accelerator));
    let start = |it: &BusyInterval| {
        let record = trace.record(it.request);
        (record.model, record.frame, it.accelerator)
    };
    intervals.iter().map(start).collect()
}

/// A change that was tried with a further run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trial {
    /// Latency in percent, or multiple of PEs.
    pub change: u32,
    /// From the end of the frame to its deadline \[ms\]; `None` if it is still late or dropped.
    pub margin_ms: Option<f64>,
    /// Score of the whole run.
    pub score: f64,
}

impl Trial {
    /// The trial of `change`, from the result of its run.
    pub fn from_result(change: u32, target: Target, result: &RunResult) -> Self {
        let score = result.scorecard.total.score;
        Self { change, margin_ms: target.margin_ms(&result.trace), score }
    }
}

/// Trials of [`LATENCY_PERCENTS`] up to the first one with which `target` meets its deadline, see
/// [`latency`].
///
/// # Panics
///
/// If `costs` are not of the scenario and system of the run.
pub fn latencies(plan: &Plan, costs: &CostTable, model: ModelId, target: Target) -> Vec<Trial> {
    let mut trials = Vec::new();
    for change in LATENCY_PERCENTS {
        let costs = costs.with_latency_percent(model, change);
        let Ok(result) = run_at_costs(plan, Arc::new(costs)) else { continue };
        trials.push(Trial::from_result(change, target, &result));
        if trials.last().is_some_and(|trial| trial.margin_ms.is_some()) {
            break;
        }
    }
    trials
}

/// A change with which the frame meets its deadline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Remedy {
    /// Latency in percent, or multiple of PEs.
    pub change: u32,
    /// From the end of the frame to its deadline \[ms\].
    pub margin_ms: f64,
}

/// The first of [`LATENCY_PERCENTS`] with which `target` meets its deadline, where `model` takes that
/// part of its time on every accelerator. `model` is that of the frame or one that it waits for. The run
/// is made again with the same seed. A latency with which it cannot be made does not count.
///
/// # Panics
///
/// If `costs` are not of the scenario and system of the run.
pub fn latency(plan: &Plan, costs: &CostTable, model: ModelId, target: Target) -> Option<Remedy> {
    let last = latencies(plan, costs, model, target).into_iter().last()?;
    last.margin_ms.map(|margin_ms| Remedy { change: last.change, margin_ms })
}
