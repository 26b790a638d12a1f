//! Contents of the tracks: executions on accelerators, waits in queues.

use xrsim_model::ids::{AccelId, ModelId, RequestId};
use xrsim_model::trace::{BusyInterval, DropReason, Outcome, Trace};
use xrsim_model::units::{Millijoules, SimTime};

use super::lanes::Lanes;

/// A request, or one of its segments, on an accelerator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Execution {
    pub(super) request: RequestId,
    pub(super) accelerator: AccelId,
    pub(super) start: SimTime,
    pub(super) end: SimTime,
    /// Number of the segment from 0; `None` if the request ran as one.
    pub(super) segment: Option<usize>,
    pub(super) energy: Millijoules,
    /// End of the slice: that of the execution, or the start of the next one, which the published
    /// artifact starts up to 0.01 ms early.
    pub(super) drawn_end: SimTime,
    /// Energy over time \[W\]; `None` for an execution that took no time.
    pub(super) watts: Option<f64>,
}

/// A request in the queue of its model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wait {
    pub(super) request: RequestId,
    pub(super) model: ModelId,
    /// Arrival of its data, or time of its preemption.
    pub(super) start: SimTime,
    /// Time at which it started, continued or was dropped.
    pub(super) end: SimTime,
    /// Whether it was dropped or lost at the end of the wait.
    pub(super) given_up: bool,
    /// Frames that wait at the same time are on different lanes.
    pub(super) lane: usize,
}

/// Slices of a trace.
pub(super) struct Layout {
    /// In order of accelerator and start.
    pub(super) executions: Vec<Execution>,
    /// In order of start.
    pub(super) waits: Vec<Wait>,
    /// Number of lanes of every model, at least one; indexed by [`ModelId`].
    pub(super) n_lanes: Vec<usize>,
    /// Indices of the first and the last execution, indexed by [`RequestId`].
    executions_of: Vec<Option<[u32; 2]>>,
    /// Index of the last wait, indexed by [`RequestId`].
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

/// Indices of the first and the last execution of each request in a list.
fn ends(n_requests: usize, executions: &[Execution]) -> Vec<Option<[u32; 2]>> {
    let mut ends = vec![None; n_requests];
    for (index, execution) in (0..).zip(executions) {
        let [first, last] = ends[execution.request.index()].get_or_insert([index; 2]);
        let segment = |index: u32| executions[index as usize].segment;
        if execution.segment < segment(*first) {
            *first = index;
        }
        if execution.segment > segment(*last) {
            *last = index;
        }
    }
    ends
}

/// Index of the last occurrence of each request in a list.
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
        let is_split = !trace.segments_of(id).is_empty();
        let busy_intervals = trace.busy_intervals_of(id).enumerate();
        executions.extend(
            busy_intervals.map(|(index, it)| execution(&it, is_split.then_some(index), run_end)),
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

fn execution(interval: &BusyInterval, segment: Option<usize>, run_end: SimTime) -> Execution {
    let BusyInterval { request, accelerator, start, end, energy } = *interval;
    let end = end.unwrap_or(run_end);
    let ms = end.ms_after(start);
    let watts = (ms > 0.0).then(|| energy.get() / ms);
    Execution { request, accelerator, start, end, segment, energy, drawn_end: end, watts }
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

/// Waits from the arrival to the first start, between segments, and from the last one to a drop.
fn waits_of(trace: &Trace, request: RequestId, run_end: SimTime) -> Vec<Wait> {
    let record = trace.record(request);
    let mut waits = Vec::new();
    let mut since = record.arrival;
    let mut wait = |start: SimTime, end: SimTime, given_up| {
        // A request that starts at once did not wait. One that is dropped at once is still shown.
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

/// Time of the last event of a run.
fn run_end(trace: &Trace) -> SimTime {
    let times = trace.records().iter().map(|record| match record.outcome {
        Outcome::Executed { end, .. } => end,
        Outcome::Dropped { at, .. } => at,
        Outcome::Lost { attempt: Some(attempt) } => attempt.start,
        Outcome::Lost { attempt: None } | Outcome::NotTriggered | Outcome::NotCaptured(_) => {
            record.arrival
        }
    });
    times.max().unwrap_or_default()
}
