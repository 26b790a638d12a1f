//! Schedulers: which waiting request runs next, and where. The trait, what it is shown, and the
//! policies in [`ALL`]; each policy is a file beside this one.
//!
//! A policy sees a [`View`], never the engine.

mod edf;
mod latency_greedy;
mod round_robin;

use std::fmt;

use crate::cost::CostTable;
use crate::ids::{AccelId, FrameId, ModelId, RequestId};
use crate::units::{FrameRate, Millijoules, SimSpan, SimTime};

/// A request that could start now: its inputs have arrived and its upstream results are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Job {
    /// The request.
    pub request: RequestId,
    /// Its model.
    pub model: ModelId,
    /// Its frame.
    pub frame: FrameId,
    /// Next layer to run: 0 unless it was cut at a layer boundary before.
    pub next_layer: u32,
    /// T_req.
    pub release: SimTime,
    /// T_dl.
    pub deadline: SimTime,
    /// When it could first have started: its inputs and upstream results were there.
    pub ready_since: SimTime,
}

/// What an accelerator is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activity {
    /// Nothing, since that instant.
    Idle {
        /// End of its last job, or the start of the run.
        since: SimTime,
    },
    /// Running a job.
    Running {
        /// The request.
        request: RequestId,
        /// Its model.
        model: ModelId,
        /// When it started.
        since: SimTime,
        /// When it will be done if nothing interferes.
        predicted_end: SimTime,
    },
}

/// One accelerator as a policy sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AcceleratorState {
    /// What it is doing.
    pub activity: Activity,
    /// The model that it ran last, whose weights it may still hold.
    pub resident: Option<ModelId>,
}

/// What became of the requests of one model so far.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct History {
    /// Requests finished by their deadline.
    pub on_time: u32,
    /// Requests finished after their deadline.
    pub late: u32,
    /// Requests dropped.
    pub dropped: u32,
    /// When a job of this model last started.
    pub last_start: Option<SimTime>,
    /// Energy spent on them.
    pub energy: Millijoules,
}

/// Everything a policy may base a decision on. Tables are indexed by [`ModelId`] and [`AccelId`].
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// Current time.
    pub now: SimTime,
    /// Requests that could start, in order of (release, deadline, model, frame). Never empty.
    pub ready: &'a [Job],
    /// All accelerators.
    pub accelerators: &'a [AcceleratorState],
    /// The idle ones, lowest id first. Never empty.
    pub idle: &'a [AccelId],
    /// Latency and energy of every model on every accelerator.
    pub costs: &'a CostTable,
    /// Target rate of every model.
    pub rates: &'a [FrameRate],
    /// What became of every model's requests.
    pub history: &'a [History],
}

impl View<'_> {
    /// The idle accelerator that runs `model` in the shortest time; the lowest id of equals.
    pub fn fastest_idle(&self, model: ModelId) -> AccelId {
        let idle = self.idle.iter().copied();
        idle.min_by_key(|&accelerator| self.latency(model, accelerator))
            .expect("a policy is asked only with something idle")
    }

    /// Time that `model` takes on `accelerator`, alone and uninterrupted.
    pub fn latency(&self, model: ModelId, accelerator: AccelId) -> SimSpan {
        self.costs.latency(model, accelerator)
    }
}

/// What a policy answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Start this ready request on this idle accelerator.
    Dispatch {
        /// A request of [`View::ready`].
        request: RequestId,
        /// An accelerator of [`View::idle`].
        accelerator: AccelId,
    },
    /// Give up this ready request.
    Drop(RequestId),
    /// Do nothing until the next event.
    Wait,
}

/// A scheduling policy.
///
/// Contract:
/// - It is asked only with something ready and something idle, at every arrival, completion and
///   drop, and again after each decision until it waits or nothing is left.
/// - It answers from what it was shown: a request of [`View::ready`], an accelerator of
///   [`View::idle`].
/// - It is a pure function of its own state and the view: no clock, no random draws, no I/O.
/// - Ties are decided by a total order: the policy's key, then earlier deadline, earlier release,
///   lower model id (scenario order), lower frame; between accelerators the lower id. Model names
///   play no part.
pub trait Scheduler: Send {
    /// The next decision.
    fn decide(&mut self, view: &View<'_>) -> Decision;
}

/// A policy by name.
pub struct Entry {
    /// Name on the command line.
    pub name: &'static str,
    /// One line for lists.
    pub help: &'static str,
    /// Where it is defined.
    pub source: &'static str,
    /// Whether it starts something whenever something is ready and something is idle.
    pub work_conserving: bool,
    /// Builds it.
    pub build: fn() -> Box<dyn Scheduler>,
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Every policy; the first is the default.
pub const ALL: &[Entry] = &[latency_greedy::ENTRY, round_robin::ENTRY, edf::ENTRY];

/// The policy called `name`.
pub fn find(name: &str) -> Option<&'static Entry> {
    ALL.iter().find(|entry| entry.name == name)
}
