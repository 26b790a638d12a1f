//! One change to a run at a time, to see whether a frame would have met its deadline.

use std::sync::Arc;

use crate::cost::CostTable;
use crate::ids::{FrameId, ModelId, RequestId};
use crate::trace::{Outcome, Trace};

use super::{RunResult, RunSpec, run_at_costs};

/// Latencies that are tried, in percent of what they are, the smallest change first.
pub const LATENCY_PERCENTS: [u32; 9] = [90, 80, 70, 60, 50, 40, 30, 20, 10];

/// Multiples of the PEs that are tried, the smallest change first.
pub const PE_FACTORS: [u32; 3] = [2, 4, 8];

/// A frame of a model, whatever its place in the order of arrival, which changes from run to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// Model.
    pub model: ModelId,
    /// Its frame.
    pub frame: FrameId,
}

impl Target {
    /// The request in the order of arrival of `trace`.
    pub fn find(self, trace: &Trace) -> Option<RequestId> {
        let mut records = trace.records().iter();
        let found = records.position(|it| it.model == self.model && it.frame == self.frame);
        found.map(RequestId::new)
    }

    /// Milliseconds between its end and its deadline if it met it in `trace`.
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

/// A change that was tried, by running again.
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
    /// What `change` made of the run.
    pub fn of(change: u32, target: Target, result: &RunResult) -> Self {
        let score = result.scorecard.total.score;
        Self { change, margin_ms: target.margin_ms(&result.trace), score }
    }
}

/// Every one of [`LATENCY_PERCENTS`] up to the first at which `target` meets its deadline, as
/// [`latency`] tries them.
///
/// # Panics
///
/// As [`latency`].
pub fn latencies(spec: &RunSpec, costs: &CostTable, model: ModelId, target: Target) -> Vec<Trial> {
    let mut trials = Vec::new();
    for change in LATENCY_PERCENTS {
        let costs = costs.with_latency_percent(model, change);
        let Ok(result) = run_at_costs(spec, Arc::new(costs)) else { continue };
        trials.push(Trial::of(change, target, &result));
        if trials.last().is_some_and(|trial| trial.margin_ms.is_some()) {
            break;
        }
    }
    trials
}

/// A change that is enough, and the margin that it leaves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Remedy {
    /// Latency in percent, or multiple of PEs.
    pub change: u32,
    /// From the end of the frame to its deadline \[ms\].
    pub margin_ms: f64,
}

/// The first of [`LATENCY_PERCENTS`] at which `target` meets its deadline if `model`, its own or one
/// that it waits for, takes that part of its time on every accelerator. The run is made again with the
/// same seed; a latency with which it cannot be made is not enough.
///
/// # Panics
///
/// If `costs` are not of the run's scenario and system.
pub fn latency(
    spec: &RunSpec,
    costs: &CostTable,
    model: ModelId,
    target: Target,
) -> Option<Remedy> {
    let last = latencies(spec, costs, model, target).into_iter().last()?;
    last.margin_ms.map(|margin_ms| Remedy { change: last.change, margin_ms })
}
