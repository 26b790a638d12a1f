//! View of the run that a policy decides by.

use crate::device::Supplies;
use crate::load::RequestStream;
use crate::score::ScoreSettings;
use xrsim_model::cost::{CostTable, Execution};
use xrsim_model::hardware::device::Supplied;
use xrsim_model::ids::{AccelId, FrameId, ModelId, RequestId, WorkId};
use xrsim_model::scenario::Scenario;
use xrsim_model::units::{Millijoules, SimSpan, SimTime};

use super::{Options, Ready};

/// Constants of a run.
#[derive(Debug, Clone, Copy)]
pub struct Setup<'a> {
    /// Models, sensors and dependencies.
    pub scenario: &'a Scenario,
    /// Latency and energy of every model, in every variant, on every accelerator.
    pub costs: &'a CostTable,
    /// Parameters of the scores.
    pub score: &'a ScoreSettings,
    /// Options that the policy is combined with.
    pub options: Options,
    /// Every request of the run with its dependencies; empty unless the policy is clairvoyant
    /// ([`Policy::is_clairvoyant`](super::Policy::is_clairvoyant)).
    pub known_requests: &'a RequestStream,
    /// Supplies of the accelerators; empty without a device.
    pub supplied: &'a [Supplied],
}

impl Setup<'_> {
    /// Row of the costs that a known request is to be taken to run.
    ///
    /// # Panics
    ///
    /// If the costs have no such variant.
    pub(super) fn work_of(&self, id: RequestId) -> WorkId {
        let request = self.known_requests.request(id);
        let variant = self.scenario.model(request.model).shown(request.variant);
        let work = self.costs.variant(request.model, variant);
        work.expect("the costs have all variants of the scenario")
    }
}

/// A ready request: its inputs have arrived and its upstream results are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Job {
    /// The request.
    pub request: RequestId,
    /// Its model.
    pub model: ModelId,
    /// The variant of its model that it runs, as a row of the costs; that which the scenario shows in its place if counts
    /// differ from frame to frame.
    pub work: WorkId,
    /// Its frame.
    pub frame: FrameId,
    /// Next layer to run; 0 unless it has run before.
    pub next_layer: u32,
    /// T_req.
    pub arrival: SimTime,
    /// T_dl.
    pub deadline: SimTime,
    /// Start of the current wait: its inputs and upstream results were there, or its last segment ended.
    pub ready_since: SimTime,
    /// Sum of the waits before its earlier segments.
    pub waited: SimSpan,
    /// Accelerator of its last segment; `None` if it has not run.
    pub last_accelerator: Option<AccelId>,
}

/// What the time and energy of a job depend on: its work and the next layer.
pub(super) type Kind = (WorkId, u32);

impl Job {
    /// The job of a request of the network of its model that has been ready since its arrival.
    pub fn new(
        request: RequestId,
        model: ModelId,
        frame: FrameId,
        arrival: SimTime,
        deadline: SimTime,
    ) -> Self {
        Self {
            request,
            model,
            work: model.into(),
            frame,
            next_layer: 0,
            arrival,
            deadline,
            ready_since: arrival,
            waited: SimSpan::ZERO,
            last_accelerator: None,
        }
    }

    pub(super) fn kind(&self) -> Kind {
        (self.work, self.next_layer)
    }
}

/// Activity of an accelerator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activity {
    /// Runs nothing.
    Idle {
        /// End of its last segment, or the start of the run.
        since: SimTime,
    },
    /// Runs a segment of a request.
    Running {
        /// The request.
        request: RequestId,
        /// Model of the request.
        model: ModelId,
        /// Start of the segment.
        since: SimTime,
        /// End of the segment if nothing interferes.
        predicted_end: SimTime,
    },
}

/// One accelerator as a policy sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AcceleratorState {
    /// Current activity.
    pub activity: Activity,
    /// The model that it ran last. Its weights may still be in its memory.
    pub resident: Option<ModelId>,
}

/// Outcomes of the requests of one model so far.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct History {
    /// Requests that ended by their deadline.
    pub on_time: u32,
    /// Requests that ended after their deadline.
    pub late: u32,
    /// Dropped requests.
    pub dropped: u32,
    /// Deadline misses of the last 64 requests in order of their end, the newest in bit 0: 1 if late or
    /// dropped.
    pub misses: u64,
    /// Drops of the last 64 requests in order of their end, the newest in bit 0: 1 if dropped.
    pub drops: u64,
    /// Start of the last segment of this model.
    pub last_start: Option<SimTime>,
    /// Energy of these requests.
    pub energy: Millijoules,
}

impl History {
    /// Requests that have ended.
    pub fn ended(&self) -> u32 {
        self.on_time + self.late + self.dropped
    }
}

/// State of the run at a decision. Tables are indexed by [`ModelId`] and [`AccelId`].
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// Current time.
    pub now: SimTime,
    /// Ready requests, in order of (arrival, deadline, model, frame); then submitted ones, in order of
    /// submission. Never empty.
    pub ready: &'a Ready,
    /// All accelerators.
    pub accelerators: &'a [AcceleratorState],
    /// Idle accelerators on which requests can start, lowest id first. Never empty.
    pub idle: &'a [AccelId],
    /// Latency and energy of every model, in every variant, on every accelerator.
    pub costs: &'a CostTable,
    /// Outcomes of the requests of every model.
    pub history: &'a [History],
    /// Number of requests of every model that have arrived and wait for an upstream result.
    pub blocked: &'a [u32],
    /// Points, caps and gates of the accelerators; `None` without a device.
    pub supplies: Option<&'a Supplies>,
}

impl View<'_> {
    /// Every accelerator, lowest id first.
    pub fn accelerator_ids(&self) -> impl Iterator<Item = AccelId> + use<> {
        (0..self.accelerators.len()).map(AccelId::new)
    }

    /// Whether a request can start on `accelerator` now.
    pub fn is_idle(&self, accelerator: AccelId) -> bool {
        self.idle.binary_search(&accelerator).is_ok()
    }

    /// Costs of all layers of `job` on `accelerator`, at its nominal point or at the cap if that is lower.
    #[inline]
    pub fn execution(&self, job: &Job, accelerator: AccelId) -> Execution<'_> {
        if self.supplies.is_some() {
            return self.supplied_execution(job, accelerator);
        }
        self.costs.on(job.work, accelerator)
    }

    /// [`View::execution`] with a device. Apart, so that runs without one do not pay for it.
    #[cold]
    #[inline(never)]
    fn supplied_execution(&self, job: &Job, accelerator: AccelId) -> Execution<'_> {
        match self.supplies {
            None => self.costs.on(job.work, accelerator),
            Some(supplies) => supplies.execution(self.costs, job.work, accelerator),
        }
    }

    /// Time of the rest of `job` on `accelerator`, alone and uninterrupted.
    #[inline]
    pub fn remaining(&self, job: &Job, accelerator: AccelId) -> SimSpan {
        self.execution(job, accelerator).remaining(job.next_layer)
    }

    /// Idle accelerators that can run `job`, lowest id first.
    #[inline]
    pub fn idle_for(&self, job: &Job) -> impl Iterator<Item = AccelId> {
        let idle = self.idle.iter().copied();
        idle.filter(|&accelerator| self.costs.on(job.work, accelerator).is_offered())
    }

    /// The idle accelerator that runs the rest of `job` in the shortest time; of equals, the one with the
    /// lowest id. `None` if no idle accelerator can run it.
    #[inline]
    pub fn fastest_idle(&self, job: &Job) -> Option<AccelId> {
        self.idle_for(job).min_by_key(|&accelerator| self.remaining(job, accelerator))
    }

    /// Time of the next layer of `job` on `accelerator`; time of the whole if layers are not known.
    #[inline]
    pub fn next_layer(&self, job: &Job, accelerator: AccelId) -> SimSpan {
        self.execution(job, accelerator).layer_time(job.next_layer)
    }

    /// Energy of the rest of `job` on `accelerator`.
    pub fn remaining_energy(&self, job: &Job, accelerator: AccelId) -> Millijoules {
        self.execution(job, accelerator).remaining_energy(job.next_layer)
    }

    /// Energy of the next layer of `job` on `accelerator`; energy of the whole if layers are not known.
    pub fn next_layer_energy(&self, job: &Job, accelerator: AccelId) -> Millijoules {
        self.execution(job, accelerator).layer_energy(job.next_layer)
    }

    /// Number of samples of `job`.
    pub fn batch(&self, job: &Job) -> u32 {
        self.costs.batch_of(job.work)
    }

    /// Time that `job` has spent waiting since it became ready for the first time.
    pub fn waited(&self, job: &Job) -> SimSpan {
        job.waited + self.now.saturating_since(job.ready_since)
    }

    /// Time to the deadline of `job` \[ms\]; negative after it.
    pub fn slack_ms(&self, job: &Job) -> f64 {
        job.deadline.ms_after(self.now)
    }

    /// Whether a segment of `job` has ended just now.
    pub fn was_cut_now(&self, job: &Job) -> bool {
        job.next_layer > 0 && job.ready_since == self.now
    }

    /// Time at which `accelerator` becomes idle; now if it is idle. Beyond all times while a device lets nothing start there.
    pub fn available(&self, accelerator: AccelId) -> SimTime {
        match self.accelerators[accelerator.index()].activity {
            Activity::Idle { .. } if self.is_idle(accelerator) => self.now,
            Activity::Idle { .. } => SimTime::MAX,
            Activity::Running { predicted_end, .. } => predicted_end.max(self.now),
        }
    }
}
