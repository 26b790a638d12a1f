//! Which track holds what: executions on accelerators, waits in queues.

use crate::ids::{AccelId, ModelId, RequestId};
use crate::trace::{BusyInterval, DropReason, Outcome, Trace};
use crate::units::{Millijoules, SimTime};

use super::lanes::Lanes;

/// A request on an accelerator, or a piece of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Execution {
    pub(super) request: RequestId,
    pub(super) accelerator: AccelId,
    pub(super) start: SimTime,
    pub(super) end: SimTime,
    /// Which of the pieces of the request it is, counted from 0; `None` if it was not cut.
    pub(super) piece: Option<usize>,
    pub(super) energy: Millijoules,
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
    /// From the arrival of its data, or from when it was cut.
    pub(super) start: SimTime,
    /// To when it started or went on, or was given up.
    pub(super) end: SimTime,
    /// Whether it was given up.
    pub(super) given_up: bool,
    /// Frames that wait at the same time are on different ones.
    pub(super) lane: usize,
}

/// Everything that a trace shows as slices.
pub(super) struct Layout {
    /// In order of accelerator and start.
    pub(super) executions: Vec<Execution>,
    /// In order of start.
    pub(super) waits: Vec<Wait>,
    /// Number of lanes of every model, at least one; indexed by [`ModelId`].
    pub(super) n_lanes: Vec<usize>,
    /// Indexed by [`RequestId`]: index into the executions, of the first one in time and the last.
    executions_of: Vec<Option<[u32; 2]>>,
    /// Indexed by [`RequestId`]: index into the waits, of the last one in time.
    wait_of: Vec<Option<u32>>,
}

impl Layout {
    pub(super) fn new(trace: &Trace, n_models: usize) -> Self {
        let executions = executions(trace);
        let mut lanes: Vec<Lanes> = (0..n_models).map(|_| Lanes::default()).collect();
        let waits = waits(trace, &mut lanes);
        let n_requests = trace.records().len();
        let executions_of = ends(n_requests, &executions);
        let wait_of = indices(n_requests, waits.iter().map(|it| it.request));
        let n_lanes = lanes.iter().map(|lanes| lanes.len().max(1)).collect();
        Self { executions, waits, n_lanes, executions_of, wait_of }
    }

    pub(super) fn first_execution(&self, id: RequestId) -> Option<&Execution> {
        self.executions_of[id.index()].map(|[first, _]| &self.executions[first as usize])
    }

    pub(super) fn last_execution(&self, id: RequestId) -> Option<&Execution> {
        self.executions_of[id.index()].map(|[_, last]| &self.executions[last as usize])
    }

    pub(super) fn wait(&self, id: RequestId) -> Option<&Wait> {
        self.wait_of[id.index()].map(|index| &self.waits[index as usize])
    }
}

/// Where the first and the last execution of each request are in a list.
fn ends(n_requests: usize, executions: &[Execution]) -> Vec<Option<[u32; 2]>> {
    let mut ends = vec![None; n_requests];
    for (index, execution) in (0..).zip(executions) {
        let [first, last] = ends[execution.request.index()].get_or_insert([index; 2]);
        let piece = |index: u32| executions[index as usize].piece;
        if execution.piece < piece(*first) {
            *first = index;
        }
        if execution.piece > piece(*last) {
            *last = index;
        }
    }
    ends
}

/// Where each request is in a list, the last time.
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
    let mut executions = Vec::new();
    for id in ids(trace) {
        let is_cut = !trace.segments_of(id).is_empty();
        let busy_intervals = trace.busy_intervals_of(id).enumerate();
        executions.extend(
            busy_intervals.map(|(index, it)| execution(&it, is_cut.then_some(index), run_end)),
        );
    }
    executions.sort_by_key(|it| (it.accelerator, it.start, it.drawn_end));
    for index in 1..executions.len() {
        let (before, next) = (executions[index - 1], executions[index]);
        if before.accelerator == next.accelerator {
            executions[index - 1].drawn_end = before.drawn_end.min(next.start);
        }
    }
    executions
}

fn execution(interval: &BusyInterval, piece: Option<usize>, run_end: SimTime) -> Execution {
    let BusyInterval { request, accelerator, start, end, energy } = *interval;
    let end = end.unwrap_or(run_end);
    let ms = end.ms_after(start);
    let watts = (ms > 0.0).then(|| energy.get() / ms);
    Execution { request, accelerator, start, end, piece, energy, drawn_end: end, watts }
}

fn waits(trace: &Trace, lanes: &mut [Lanes]) -> Vec<Wait> {
    let run_end = run_end(trace);
    let mut waits: Vec<_> = ids(trace).flat_map(|id| waits_of(trace, id, run_end)).collect();
    waits.sort_by_key(|wait| wait.start);
    for wait in &mut waits {
        wait.lane = lanes[wait.model.index()].place(wait.start, wait.end);
    }
    waits
}

/// From the arrival to the first start, from piece to piece, and from there to when it was given up.
fn waits_of(trace: &Trace, request: RequestId, run_end: SimTime) -> Vec<Wait> {
    let record = trace.record(request);
    let mut waits = Vec::new();
    let mut since = record.arrival;
    let mut wait = |start: SimTime, end: SimTime, given_up| {
        // What starts at once did not wait; what is given up at once is still to be seen.
        if end > start || given_up {
            let (model, end) = (record.model, end.max(start));
            waits.push(Wait { request, model, start, end, given_up, lane: 0 });
        }
    };
    for interval in trace.busy_intervals_of(request) {
        wait(since, interval.start, false);
        since = interval.end.unwrap_or(run_end);
    }
    match record.outcome {
        Outcome::Dropped { at, reason, .. } if reason != DropReason::Aborted || at > since => {
            wait(since, at, true);
        }
        Outcome::Lost { attempt: None } => wait(since, run_end, true),
        _ => {}
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
