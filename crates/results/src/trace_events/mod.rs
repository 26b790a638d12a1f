//! A run in the trace-event format, which Perfetto, `chrome://tracing` and speedscope show. There is a
//! track for each accelerator with its executions, one for the queue of each model with its waiting
//! requests, and one for the deadlines of each model. Arrows show dependencies and the drops that they
//! cause. Counters show queue lengths and power, and in runs on a device temperatures, power by item, clocks, charge and ages
//! of results. Times in which gates are closed have tracks of their own.
//!
//! Times are microseconds with the three decimals of a nanosecond. Groups (`pid`) and tracks (`tid`)
//! have names and an order; their numbers have no meaning.

mod counters;
mod device;
mod event;
mod lanes;
mod layout;
mod profile;

use std::io::{self, Write};

use serde_json::{Value, json};

use xrsim_model::ids::{AccelId, ModelId, RequestId};
use xrsim_model::scenario::DependencyKind;
use xrsim_model::trace::{DropReason, Outcome, Record, Segment};
use xrsim_model::units::SimTime;
use xrsim_sim::load::closed;
use xrsim_sim::plan::Plan;
use xrsim_sim::sweep::RunResult;

use super::why::{Need, Why};
use super::{RunLabel, model_names};
use event::{DEVICE, End, Events, FIRST_TRACK, MAX_SAMPLES};
use layout::{Execution, Layout, Wait};

pub use event::Summary;
pub use profile::write_day;

/// Groups of tracks of every run in order. Perfetto sorts them by name, which gives the same order.
const GROUPS: [(u32, &str); 3] =
    [(ACCELERATORS, "accelerators"), (QUEUES, "model queues"), (DEADLINES, "request deadlines")];
const ACCELERATORS: u32 = 1;
const QUEUES: u32 = 2;
const DEADLINES: u32 = 3;

/// Writes the trace of one run.
///
/// An arrow leads from the end of an upstream request to the start of the request that used its result.
/// Under `mlsys2023` it starts at the completion that a frame waited for, which may be that of a frame
/// with another number. It is left out if the frame started up to 0.01 ms before that completion.
///
/// # Errors
///
/// The error of `out`.
pub fn write(
    out: impl Write,
    plan: &Plan,
    label: &RunLabel<'_>,
    result: &RunResult,
) -> io::Result<Summary> {
    let layout = Layout::new(&result.trace, plan.scenario.models().len());
    let mut writer = Writer {
        events: Events::new(out, label)?,
        plan,
        result,
        names: model_names(&plan.scenario),
        why: Why::new(plan, result),
        tracks: Tracks::new(plan, &layout),
        layout: &layout,
    };
    writer.metadata()?;
    layout.executions.iter().try_for_each(|execution| writer.execution(execution))?;
    layout.waits.iter().try_for_each(|wait| writer.wait(wait))?;
    for id in (0..result.trace.records().len()).map(RequestId::new) {
        writer.deadline(id)?;
        writer.arrows(id)?;
    }
    writer.counters()?;
    writer.device()?;
    let gates = closed(&plan.scenario, &plan.load, MAX_SAMPLES);
    writer.events.gates(writer.tracks.gates, &gates)?;
    writer.events.finish()
}

/// Numbers of the tracks, unique over all groups.
struct Tracks {
    /// Track of the first lane of every model, indexed by [`ModelId`].
    queues: Vec<u32>,
    deadlines: u32,
    /// The first one of gates.
    gates: u32,
}

impl Tracks {
    fn new(plan: &Plan, layout: &Layout) -> Self {
        let mut next = FIRST_TRACK + plan.system.accelerators().len() as u32;
        let mut take = |n: usize| {
            next += n as u32;
            next - n as u32
        };
        let queues = layout.n_lanes.iter().map(|&n_lanes| take(n_lanes)).collect();
        Self { queues, deadlines: take(layout.n_lanes.len()), gates: take(0) }
    }

    fn accelerator(&self, id: AccelId) -> u32 {
        FIRST_TRACK + id.index() as u32
    }

    fn queue(&self, model: ModelId, lane: usize) -> u32 {
        self.queues[model.index()] + lane as u32
    }

    fn deadline(&self, model: ModelId) -> u32 {
        self.deadlines + model.index() as u32
    }
}

struct Writer<'a, W> {
    events: Events<W>,
    plan: &'a Plan,
    result: &'a RunResult,
    names: Vec<&'a str>,
    why: Why<'a>,
    tracks: Tracks,
    layout: &'a Layout,
}

impl<W: Write> Writer<'_, W> {
    /// Names and order of groups and tracks.
    fn metadata(&mut self) -> io::Result<()> {
        let device = self.result.body.as_ref().map(|_| (DEVICE, "device"));
        for (pid, name) in GROUPS.into_iter().chain(device) {
            self.events.group(pid, name)?;
        }
        for (index, accelerator) in self.plan.system.accelerators().iter().enumerate() {
            let tid = self.tracks.accelerator(AccelId::new(index));
            self.events.track(ACCELERATORS, tid, &accelerator.name)?;
        }
        for model in self.plan.scenario.model_ids() {
            let name = self.names[model.index()];
            self.events.track(DEADLINES, self.tracks.deadline(model), name)?;
            for lane in 0..self.layout.n_lanes[model.index()] {
                let further = if lane > 0 { format!(" +{lane}") } else { String::new() };
                let name = format!("{name}{further}");
                self.events.track(QUEUES, self.tracks.queue(model, lane), &name)?;
            }
        }
        Ok(())
    }

    fn execution(&mut self, execution: &Execution) -> io::Result<()> {
        let Execution { request, accelerator, start, end, drawn_end, energy, watts, .. } =
            *execution;
        let record = self.result.trace.record(request);
        let note = match record.outcome {
            Outcome::Executed { end, .. } if end > record.deadline => " (late)",
            Outcome::Executed { .. } => "",
            Outcome::Dropped { reason: DropReason::Aborted, .. } => " (aborted)",
            Outcome::Dropped { .. } => " (dropped)",
            Outcome::Lost { .. } => " (lost)",
            Outcome::NotTriggered | Outcome::NotCaptured(_) => return Ok(()),
        };
        let name = format!("{}{note}", self.why.name(request));
        let mut args = self.about(request, record);
        args["start_ms"] = json!(start.as_ms());
        args["end_ms"] = json!(end.as_ms());
        args["energy_mj"] = json!(energy.get());
        args["power_w"] = json!(watts);
        if let Some(index) = execution.segment {
            let segments = self.result.trace.segments_of(request);
            let Segment { first_layer, end_layer, moving, .. } = segments[index];
            args["segment"] = json!(format!("{} of {}", index + 1, segments.len()));
            args["layers"] = json!(format!("{first_layer}..{end_layer}"));
            args["moving_data_ms"] = json!(moving.as_ms());
        }
        let tid = self.tracks.accelerator(accelerator);
        self.events.slice(&name, "execution", (ACCELERATORS, tid), (start, drawn_end), args)
    }

    fn wait(&mut self, wait: &Wait) -> io::Result<()> {
        let record = self.result.trace.record(wait.request);
        let name = self.why.name(wait.request);
        let tid = self.tracks.queue(wait.model, wait.lane);
        let mut args = self.about(wait.request, record);
        args["until_ms"] = json!(wait.end.as_ms());
        self.events.slice(&name, "wait", (QUEUES, tid), (wait.start, wait.end), args)?;
        let given_up = match record.outcome {
            Outcome::Dropped { reason, .. } if wait.given_up => reason.name(),
            Outcome::Lost { .. } if wait.given_up => "lost at the end",
            _ => return Ok(()),
        };
        let at = just_before(wait.end, wait.start);
        self.events.instant(&format!("{name} dropped: {given_up}"), "drop", (QUEUES, tid), at)
    }

    /// Facts that a viewer shows for a selected request.
    fn about(&self, id: RequestId, record: &Record) -> Value {
        let mut about = json!({
            "arrival_ms": record.arrival.as_ms(),
            "deadline_ms": record.deadline.as_ms(),
        });
        if let Some(cause) = self.why.short(id) {
            about["cause"] = json!(cause);
        }
        about
    }

    fn deadline(&mut self, id: RequestId) -> io::Result<()> {
        let record = self.result.trace.record(id);
        let state = match record.outcome {
            Outcome::Executed { end, .. } if end <= record.deadline => "met",
            Outcome::Executed { .. } | Outcome::Dropped { .. } => "missed",
            Outcome::Lost { .. } => "lost",
            Outcome::NotTriggered => return Ok(()),
            Outcome::NotCaptured(absence) => {
                let name = format!("{} not captured: {}", self.why.name(id), absence.name());
                let track = (DEADLINES, self.tracks.deadline(record.model));
                return self.events.instant(&name, "not captured", track, record.arrival);
            }
        };
        let name = format!("{} {state}", self.why.name(id));
        let track = (DEADLINES, self.tracks.deadline(record.model));
        self.events.instant(&name, "deadline", track, record.deadline)
    }

    /// Arrows to a request.
    fn arrows(&mut self, id: RequestId) -> io::Result<()> {
        let needs: Vec<Need> = self.why.needs(id).collect();
        let is_dropped_along = matches!(
            self.result.trace.record(id).outcome,
            Outcome::Dropped { reason: DropReason::Upstream, .. }
        );
        for need in needs {
            let kind = match need.kind {
                _ if need.makes_room => "room",
                DependencyKind::Data => "data",
                DependencyKind::Control { .. } => "control",
            };
            if let Some((from, to)) = self.use_of_result(id, &need) {
                self.events.arrow(kind, from, to)?;
            } else if is_dropped_along && let Some((from, to)) = self.drop_along(id, &need) {
                self.events.arrow("drop", from, to)?;
            }
        }
        Ok(())
    }

    /// Arrow from the end of an upstream execution to the start of `id`.
    fn use_of_result(&self, id: RequestId, need: &Need) -> Option<(End, End)> {
        let to = self.layout.first_execution(id)?;
        let from = self.layout.last_execution(need.served_by?)?;
        let Outcome::Executed { end, .. } = self.result.trace.record(from.request).outcome else {
            return None;
        };
        (end <= to.start).then(|| {
            let to = (ACCELERATORS, self.tracks.accelerator(to.accelerator), to.start);
            (self.end_of(from), to)
        })
    }

    /// Arrow from a dropped upstream request to `id`, which was dropped because of it.
    fn drop_along(&self, id: RequestId, need: &Need) -> Option<(End, End)> {
        let upstream = need.decided_by.filter(|_| need.served_by.is_none())?;
        let given_up = self.layout.wait(upstream).filter(|wait| wait.given_up);
        let from = match given_up {
            Some(wait) => self.end_of_wait(wait),
            None => self.end_of(self.layout.last_execution(upstream)?),
        };
        Some((from, self.end_of_wait(self.layout.wait(id)?)))
    }

    fn end_of(&self, execution: &Execution) -> End {
        let tid = self.tracks.accelerator(execution.accelerator);
        (ACCELERATORS, tid, just_before(execution.drawn_end, execution.start))
    }

    fn end_of_wait(&self, wait: &Wait) -> End {
        (QUEUES, self.tracks.queue(wait.model, wait.lane), just_before(wait.end, wait.start))
    }

    fn counters(&mut self) -> io::Result<()> {
        for model in self.plan.scenario.model_ids() {
            let name = format!("{} waiting", self.names[model.index()]);
            let samples = counters::queue(self.layout, model);
            self.events.counter(QUEUES, &name, "requests", &samples)?;
        }
        let accelerators = self.plan.system.accelerators();
        let power = |index| counters::power(self.layout, AccelId::new(index));
        let each: Vec<_> = (0..accelerators.len()).map(power).collect();
        self.events.counter(ACCELERATORS, "power of all", "W", &counters::total_power(&each))?;
        for (accelerator, samples) in accelerators.iter().zip(&each) {
            self.events.counter(
                ACCELERATORS,
                &format!("power of {}", accelerator.name),
                "W",
                samples,
            )?;
        }
        Ok(())
    }
}

/// The last nanosecond before `end`, which still belongs to the slice that started at `start`.
fn just_before(end: SimTime, start: SimTime) -> SimTime {
    SimTime::from_ns(end.ns().saturating_sub(1)).max(start)
}
