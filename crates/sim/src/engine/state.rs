//! State that schedulers see: ready requests, accelerators, and the history of every model.

use crate::device::Supplies;
use crate::schedule::{AcceleratorState, Activity, History, Job, Ready, View};
use xrsim_model::cost::CostTable;
use xrsim_model::ids::{AccelId, ModelId, RequestId, WorkId};
use xrsim_model::scenario::Scenario;
use xrsim_model::trace::Outcome;
use xrsim_model::units::SimTime;

use super::running::RunningSegment;

/// State that schedulers see.
pub(super) struct State<'c> {
    /// In order of request: requests of the load in order of (arrival, deadline, model, frame), then
    /// submitted requests in order of submission.
    ready: Ready,
    accelerators: Vec<AcceleratorState>,
    /// The segment that runs, or ran last, on every accelerator; indexed by [`AccelId`].
    segments: Vec<Option<RunningSegment<'c>>>,
    /// Idle accelerators that are not hidden, lowest id first.
    idle: Vec<AccelId>,
    /// Idle accelerators on which nothing starts now.
    hidden: Vec<AccelId>,
    /// Number of blocked requests, indexed by [`ModelId`].
    blocked: Vec<u32>,
    /// Indexed by [`ModelId`].
    history: Vec<History>,
}

impl<'c> State<'c> {
    /// Nothing ready, every accelerator idle.
    pub(super) fn new(scenario: &Scenario, n_accelerators: usize) -> Self {
        let idle =
            AcceleratorState { activity: Activity::Idle { since: SimTime::ZERO }, resident: None };
        Self {
            ready: Ready::default(),
            accelerators: vec![idle; n_accelerators],
            segments: vec![None; n_accelerators],
            idle: (0..n_accelerators).map(AccelId::new).collect(),
            hidden: Vec::new(),
            blocked: vec![0; scenario.models().len()],
            history: vec![History::default(); scenario.models().len()],
        }
    }

    /// View of the state at `now`; `None` if there is nothing to decide.
    pub(super) fn view<'a>(
        &'a self,
        now: SimTime,
        costs: &'a CostTable,
        supplies: Option<&'a Supplies>,
    ) -> Option<View<'a>> {
        let can_dispatch = !self.ready.is_empty() && !self.idle.is_empty();
        can_dispatch.then_some(View {
            now,
            ready: &self.ready,
            accelerators: &self.accelerators,
            idle: &self.idle,
            costs,
            history: &self.history,
            blocked: &self.blocked,
            supplies,
        })
    }

    /// Hides the idle accelerators that `is_halted`, until [`State::show`].
    pub(super) fn hide(&mut self, is_halted: impl Fn(AccelId) -> bool) {
        self.hidden.extend(self.idle.extract_if(.., |it| is_halted(*it)));
    }

    /// Shows all idle accelerators.
    #[inline]
    pub(super) fn show(&mut self) {
        if !self.hidden.is_empty() {
            self.idle.append(&mut self.hidden);
            self.idle.sort_unstable();
        }
    }

    /// Whether something is ready.
    pub(super) fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Whether some accelerator is idle.
    pub(super) fn has_idle(&self) -> bool {
        !self.idle.is_empty()
    }

    /// Counts one more blocked request of `model`, or one fewer.
    pub(super) fn count_blocked(&mut self, model: ModelId, is_blocked: bool) {
        let count = &mut self.blocked[model.index()];
        *count = if is_blocked { *count + 1 } else { *count - 1 };
    }

    /// Adds a ready job.
    pub(super) fn add(&mut self, job: Job) {
        self.ready.add(job);
    }

    /// Changes the work of a job if it is ready.
    pub(super) fn set_work(&mut self, request: RequestId, work: WorkId) {
        self.ready.change(request, |job| job.work = work);
    }

    /// Removes a ready job; `None` if it is not ready.
    pub(super) fn take(&mut self, request: RequestId) -> Option<Job> {
        self.ready.take(request)
    }

    /// The job with the older frame, if two jobs of `model` have not started. Frames count in every phase of a profile anew.
    pub(super) fn outdated(
        &self,
        model: ModelId,
        phase_of: impl Fn(RequestId) -> u32,
    ) -> Option<RequestId> {
        let waiting = |job: &&Job| job.model == model && job.last_accelerator.is_none();
        let of_model = || self.ready.iter().filter(waiting);
        let oldest = of_model().min_by_key(|job| (phase_of(job.request), job.frame))?;
        (of_model().count() > 1).then_some(oldest.request)
    }

    /// Starts a segment, which is expected to end at `end`, on its accelerator.
    ///
    /// # Panics
    ///
    /// If the accelerator is not idle.
    pub(super) fn start(&mut self, running: RunningSegment<'c>, end: SimTime) {
        let RunningSegment { job, accelerator, start, .. } = running;
        let place = self.idle.binary_search(&accelerator);
        self.idle
            .remove(place.expect("a policy answers with an idle accelerator that it was shown"));
        self.accelerators[accelerator.index()] = AcceleratorState {
            activity: Activity::Running {
                request: job.request,
                model: job.model,
                since: start,
                predicted_end: end,
            },
            resident: Some(job.model),
        };
        self.segments[accelerator.index()] = Some(running);
        self.history[job.model.index()].last_start = Some(start);
    }

    /// Makes a busy accelerator idle, and returns the segment that ran there.
    ///
    /// # Panics
    ///
    /// If the accelerator never ran anything.
    pub(super) fn stop(&mut self, accelerator: AccelId, now: SimTime) -> &RunningSegment<'c> {
        self.accelerators[accelerator.index()].activity = Activity::Idle { since: now };
        let place = self.idle.partition_point(|&other| other < accelerator);
        self.idle.insert(place, accelerator);
        self.last_segment(accelerator)
    }

    /// The segment that runs, or ran last, on an accelerator.
    ///
    /// # Panics
    ///
    /// If the accelerator never ran anything.
    pub(super) fn last_segment(&self, accelerator: AccelId) -> &RunningSegment<'c> {
        self.segments[accelerator.index()].as_ref().expect("only a busy accelerator stops")
    }

    /// The segment that runs on an accelerator; `None` if the accelerator is idle.
    pub(super) fn running(&self, accelerator: AccelId) -> Option<&RunningSegment<'c>> {
        match self.accelerators[accelerator.index()].activity {
            Activity::Idle { .. } => None,
            Activity::Running { .. } => self.segments[accelerator.index()].as_ref(),
        }
    }

    /// Shortens the segment of a busy accelerator: it ends before layer `end_layer`, at `end`.
    pub(super) fn shorten(&mut self, accelerator: AccelId, end_layer: u32, end: SimTime) {
        if let Some(running) = &mut self.segments[accelerator.index()] {
            running.end_layer = end_layer;
        }
        if let Activity::Running { predicted_end, .. } =
            &mut self.accelerators[accelerator.index()].activity
        {
            *predicted_end = end;
        }
    }

    /// Accelerator on which `request` runs.
    pub(super) fn accelerator_of(&self, request: RequestId) -> Option<AccelId> {
        let runs = |state: &AcceleratorState| matches!(state.activity, Activity::Running { request: id, .. } if id == request);
        self.accelerators.iter().position(runs).map(AccelId::new)
    }

    /// Adds an outcome to the history of its model.
    pub(super) fn add_outcome(&mut self, model: ModelId, deadline: SimTime, outcome: &Outcome) {
        let history = &mut self.history[model.index()];
        match *outcome {
            Outcome::Executed { end, energy, .. } => {
                let late = end > deadline;
                history.on_time += u32::from(!late);
                history.late += u32::from(late);
                history.misses = history.misses << 1 | u64::from(late);
                history.drops <<= 1;
                history.energy += energy;
            }
            Outcome::Dropped { energy, .. } => {
                history.dropped += 1;
                history.misses = history.misses << 1 | 1;
                history.drops = history.drops << 1 | 1;
                history.energy += energy;
            }
            Outcome::NotTriggered | Outcome::NotCaptured(_) | Outcome::Lost { .. } => {}
        }
    }
}
