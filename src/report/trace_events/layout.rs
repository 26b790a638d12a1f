//! Which track holds what: executions on accelerators, waits in queues.

use crate::ids::{AccelId, ModelId, RequestId};
use crate::trace::{Attempt, Outcome, Trace};
use crate::units::{Millijoules, SimTime};

use super::lanes::Lanes;

/// A request on an accelerator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Execution {
    pub(super) request: RequestId,
    pub(super) accelerator: AccelId,
    pub(super) start: SimTime,
    /// Where the slice ends: with the execution, or where the next one starts. The published artifact
    /// starts it up to 0.01 ms early.
    pub(super) drawn_end: SimTime,
    /// Energy over time \[W\]; `None` for an execution that took no time.
    pub(super) watts: Option<f64>,
}

/// A request in the queue of its model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wait {
    pub(super) request: RequestId,
    pub(super) model: ModelId,
    /// From the arrival of its data.
    pub(super) start: SimTime,
    /// To its start, or to when it was given up.
    pub(super) end: SimTime,
    /// Frames that wait at the same time are on different ones.
    pub(super) lane: usize,
}

/// Everything that a trace shows as slices.
pub(super) struct Layout {
    /// In order of accelerator and start.
    pub(super) executions: Vec<Execution>,
    /// In order of arrival.
    pub(super) waits: Vec<Wait>,
    /// Number of lanes of every model, at least one; indexed by [`ModelId`].
    pub(super) n_lanes: Vec<usize>,
    /// Indexed by [`RequestId`]: index into the executions.
    execution_of: Vec<Option<u32>>,
    /// Indexed by [`RequestId`]: index into the waits.
    wait_of: Vec<Option<u32>>,
}

impl Layout {
    pub(super) fn new(trace: &Trace, n_models: usize) -> Self {
        let executions = executions(trace);
        let mut lanes: Vec<Lanes> = (0..n_models).map(|_| Lanes::default()).collect();
        let waits = waits(trace, &mut lanes);
        let n_requests = trace.records().len();
        let execution_of = indices(n_requests, executions.iter().map(|it| it.request));
        let wait_of = indices(n_requests, waits.iter().map(|it| it.request));
        let n_lanes = lanes.iter().map(|lanes| lanes.len().max(1)).collect();
        Self { executions, waits, n_lanes, execution_of, wait_of }
    }

    pub(super) fn execution(&self, id: RequestId) -> Option<&Execution> {
        self.execution_of[id.index()].map(|index| &self.executions[index as usize])
    }

    pub(super) fn wait(&self, id: RequestId) -> Option<&Wait> {
        self.wait_of[id.index()].map(|index| &self.waits[index as usize])
    }
}

/// Where each request is in a list.
fn indices(n_requests: usize, list: impl Iterator<Item = RequestId>) -> Vec<Option<u32>> {
    let mut indices = vec![None; n_requests];
    for (index, request) in (0..).zip(list) {
        indices[request.index()] = Some(index);
    }
    indices
}

fn ids(trace: &Trace) -> impl Iterator<Item = RequestId> {
    (0..trace.records().len()).map(RequestId::new)
}

fn executions(trace: &Trace) -> Vec<Execution> {
    let run_end = run_end(trace);
    let executions = ids(trace).filter_map(|id| execution(id, &trace.record(id).outcome, run_end));
    let mut executions: Vec<_> = executions.collect();
    executions.sort_by_key(|it| (it.accelerator, it.start, it.drawn_end));
    for index in 1..executions.len() {
        let (before, next) = (executions[index - 1], executions[index]);
        if before.accelerator == next.accelerator {
            executions[index - 1].drawn_end = before.drawn_end.min(next.start);
        }
    }
    executions
}

fn execution(request: RequestId, outcome: &Outcome, run_end: SimTime) -> Option<Execution> {
    let (accelerator, start, end, energy) = match *outcome {
        Outcome::Executed { accelerator, start, end, energy } => (accelerator, start, end, energy),
        Outcome::Dropped { at, energy, attempt: Some(Attempt { accelerator, start }), .. } => {
            (accelerator, start, at, energy)
        }
        Outcome::Lost { attempt: Some(Attempt { accelerator, start }) } => {
            (accelerator, start, run_end, Millijoules::ZERO)
        }
        _ => return None,
    };
    let ms = end.ms_after(start);
    let watts = (ms > 0.0).then(|| energy.get() / ms);
    Some(Execution { request, accelerator, start, drawn_end: end, watts })
}

fn waits(trace: &Trace, lanes: &mut [Lanes]) -> Vec<Wait> {
    let run_end = run_end(trace);
    let mut waits = Vec::new();
    for request in ids(trace) {
        let record = trace.record(request);
        let (end, is_event) = match record.outcome {
            Outcome::Executed { start, .. } => (start, false),
            Outcome::Dropped { attempt: Some(attempt), .. }
            | Outcome::Lost { attempt: Some(attempt) } => (attempt.start, false),
            Outcome::Dropped { at, .. } => (at, true),
            Outcome::Lost { attempt: None } => (run_end, true),
            Outcome::NotTriggered => continue,
        };
        // What starts at once did not wait; what is given up at once is still to be seen.
        if end > record.arrival || is_event {
            let (model, start) = (record.model, record.arrival);
            let end = end.max(start);
            let lane = lanes[model.index()].place(start, end);
            waits.push(Wait { request, model, start, end, lane });
        }
    }
    waits
}

/// When the last thing happened.
fn run_end(trace: &Trace) -> SimTime {
    let times = trace.records().iter().map(|record| match record.outcome {
        Outcome::Executed { end, .. } => end,
        Outcome::Dropped { at, .. } => at,
        Outcome::Lost { attempt: Some(attempt) } => attempt.start,
        Outcome::Lost { attempt: None } | Outcome::NotTriggered => record.arrival,
    });
    times.max().unwrap_or_default()
}
