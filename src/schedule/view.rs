//! What a policy is shown.

use crate::cost::{CostTable, Execution};
use crate::ids::{AccelId, FrameId, ModelId, RequestId, WorkId};
use crate::load::Request;
use crate::scenario::Scenario;
use crate::score::ScoreSettings;
use crate::units::{Millijoules, SimSpan, SimTime};

use super::{Options, Ready};

/// What does not change during a run.
#[derive(Debug, Clone, Copy)]
pub struct Setup<'a> {
    /// What is asked.
    pub scenario: &'a Scenario,
    /// What everything costs.
    pub costs: &'a CostTable,
    /// What it is utility.
    pub score: &'a ScoreSettings,
    /// Choices that the policy is combined with.
    pub options: Options,
    /// Every request of the run, indexed by [`RequestId`]; empty but for offline references
    /// ([`Policy::is_clairvoyant`](super::Policy::is_clairvoyant)).
    pub known_requests: &'a [KnownRequest],
}

/// A request as an offline reference knows it before the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownRequest {
    /// Its model.
    pub model: ModelId,
    /// Its model and batch size, as a row of the costs.
    pub work: WorkId,
    /// Its frame.
    pub frame: FrameId,
    /// T_req.
    pub arrival: SimTime,
    /// T_dl.
    pub deadline: SimTime,
    /// Requests whose results it needs.
    pub upstream: Box<[RequestId]>,
    /// Whether its upstream results will ask for it.
    pub triggered: bool,
}

/// A request that could start now: its inputs have arrived and its upstream results are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Job {
    /// The request.
    pub request: RequestId,
    /// Its model.
    pub model: ModelId,
    /// Its model and batch size, as a row of the costs.
    pub work: WorkId,
    /// Its frame.
    pub frame: FrameId,
    /// Next layer to run: 0 unless it was cut at a layer boundary before.
    pub next_layer: u32,
    /// T_req.
    pub arrival: SimTime,
    /// T_dl.
    pub deadline: SimTime,
    /// Since when it waits: its inputs and upstream results were there, or its last segment ended.
    pub ready_since: SimTime,
    /// How long it waited before each of its earlier segments, together.
    pub waited: SimSpan,
    /// Where its last segment ran; `None` if none has.
    pub last_accelerator: Option<AccelId>,
}

impl Job {
    /// The job of `id`, a request that runs `work` and has been ready since its arrival.
    pub fn new(id: RequestId, request: &Request, work: WorkId) -> Self {
        Self {
            request: id,
            model: request.model,
            work,
            frame: request.frame,
            next_layer: 0,
            arrival: request.arrival,
            deadline: request.deadline,
            ready_since: request.arrival,
            waited: SimSpan::ZERO,
            last_accelerator: None,
        }
    }
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
    /// The last 64 of these in order of their end, the newest in bit 0: 1 if late or dropped.
    pub misses: u64,
    /// Likewise: 1 if dropped.
    pub drops: u64,
    /// When a job of this model last started.
    pub last_start: Option<SimTime>,
    /// Energy spent on them.
    pub energy: Millijoules,
}

impl History {
    /// Requests that have ended.
    pub fn ended(&self) -> u32 {
        self.on_time + self.late + self.dropped
    }
}

/// Everything a policy may base a decision on. Tables are indexed by [`ModelId`] and [`AccelId`].
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// Current time.
    pub now: SimTime,
    /// Requests that could start, in order of (arrival, deadline, model, frame). Never empty.
    pub ready: &'a Ready,
    /// All accelerators.
    pub accelerators: &'a [AcceleratorState],
    /// The idle ones, lowest id first. Never empty.
    pub idle: &'a [AccelId],
    /// Latency and energy of every model on every accelerator.
    pub costs: &'a CostTable,
    /// What became of every model's requests.
    pub history: &'a [History],
    /// Requests that have arrived and wait for the result of an upstream request, by model.
    pub blocked: &'a [u32],
}

impl View<'_> {
    /// Every accelerator, lowest id first.
    pub fn accelerator_ids(&self) -> impl Iterator<Item = AccelId> + use<> {
        (0..self.accelerators.len()).map(AccelId::new)
    }

    /// Whether `accelerator` is idle.
    pub fn is_idle(&self, accelerator: AccelId) -> bool {
        let state = self.accelerators[accelerator.index()];
        matches!(state.activity, Activity::Idle { .. })
    }

    /// Costs of `job` on `accelerator`, of all its layers.
    #[inline]
    pub fn execution(&self, job: &Job, accelerator: AccelId) -> Execution<'_> {
        self.costs.on(job.work, accelerator)
    }

    /// Time that the rest of `job` takes on `accelerator`, alone and uninterrupted.
    #[inline]
    pub fn remaining(&self, job: &Job, accelerator: AccelId) -> SimSpan {
        self.execution(job, accelerator).remaining(job.next_layer)
    }

    /// The idle accelerator that runs what is left of `job` in the shortest time; the lowest id of
    /// equals.
    pub fn fastest_idle(&self, job: &Job) -> AccelId {
        let idle = self.idle.iter().copied();
        idle.min_by_key(|&accelerator| self.remaining(job, accelerator))
            .expect("a policy is asked only with something idle")
    }

    /// Time that the next layer of `job` takes on `accelerator`; all of it if it cannot be cut.
    pub fn next_layer(&self, job: &Job, accelerator: AccelId) -> SimSpan {
        self.execution(job, accelerator).layer_time(job.next_layer)
    }

    /// Energy that what is left of `job` takes on `accelerator`.
    pub fn remaining_energy(&self, job: &Job, accelerator: AccelId) -> Millijoules {
        self.execution(job, accelerator).remaining_energy(job.next_layer)
    }

    /// Energy that the next layer of `job` takes on `accelerator`; all of it if it cannot be cut.
    pub fn next_layer_energy(&self, job: &Job, accelerator: AccelId) -> Millijoules {
        self.execution(job, accelerator).layer_energy(job.next_layer)
    }

    /// Samples of `job`.
    pub fn batch(&self, job: &Job) -> u32 {
        self.costs.batch_of(job.work)
    }

    /// Time that `job` has waited since it became ready for the first time.
    pub fn waited(&self, job: &Job) -> SimSpan {
        job.waited + self.now.saturating_since(job.ready_since)
    }

    /// Time to the deadline of `job` \[ms\]; negative behind it.
    pub fn slack_ms(&self, job: &Job) -> f64 {
        job.deadline.ms_after(self.now)
    }

    /// Whether `job` ran until now and was cut at the end of a layer.
    pub fn was_cut_now(&self, job: &Job) -> bool {
        job.next_layer > 0 && job.ready_since == self.now
    }

    /// When `accelerator` is free: now if it is idle.
    pub fn available(&self, accelerator: AccelId) -> SimTime {
        match self.accelerators[accelerator.index()].activity {
            Activity::Idle { .. } => self.now,
            Activity::Running { predicted_end, .. } => predicted_end.max(self.now),
        }
    }
}
