//! The state that policies see: what waits, what the accelerators do, what became of the rest.

use crate::cost::CostTable;
use crate::ids::{AccelId, ModelId, RequestId, WorkId};
use crate::scenario::Scenario;
use crate::schedule::{AcceleratorState, Activity, History, Job, Ready, View};
use crate::trace::Outcome;
use crate::units::SimTime;

use super::running::RunningSegment;

/// The state that policies see.
pub(super) struct State {
    /// In order of request: those of the load in order of (arrival, deadline, model, frame), then those
    /// submitted to the run, in order of submission.
    ready: Ready,
    accelerators: Vec<AcceleratorState>,
    /// What they do, or did last, in more detail than policies see; indexed by [`AccelId`].
    segments: Vec<Option<RunningSegment>>,
    /// Lowest id first.
    idle: Vec<AccelId>,
    /// Indexed by [`ModelId`].
    blocked: Vec<u32>,
    history: Vec<History>,
}

impl State {
    /// Nothing ready, everything idle.
    pub(super) fn new(scenario: &Scenario, n_accelerators: usize) -> Self {
        let idle =
            AcceleratorState { activity: Activity::Idle { since: SimTime::ZERO }, resident: None };
        Self {
            ready: Ready::default(),
            accelerators: vec![idle; n_accelerators],
            segments: vec![None; n_accelerators],
            idle: (0..n_accelerators).map(AccelId::new).collect(),
            blocked: vec![0; scenario.models().len()],
            history: vec![History::default(); scenario.models().len()],
        }
    }

    /// What a policy sees at `now`; `None` if there is nothing to decide.
    pub(super) fn view<'a>(&'a self, now: SimTime, costs: &'a CostTable) -> Option<View<'a>> {
        let something = !self.ready.is_empty() && !self.idle.is_empty();
        something.then_some(View {
            now,
            ready: &self.ready,
            accelerators: &self.accelerators,
            idle: &self.idle,
            costs,
            history: &self.history,
            blocked: &self.blocked,
        })
    }

    /// Whether some accelerator is idle.
    pub(super) fn has_idle(&self) -> bool {
        !self.idle.is_empty()
    }

    /// One request more of `model`, or one fewer, waits for an upstream result.
    pub(super) fn block(&mut self, model: ModelId, blocked: bool) {
        let count = &mut self.blocked[model.index()];
        *count = if blocked { *count + 1 } else { *count - 1 };
    }

    /// Adds a ready job.
    pub(super) fn add(&mut self, job: Job) {
        self.ready.add(job);
    }

    /// Gives a ready job other work, if it is there.
    pub(super) fn change_work(&mut self, request: RequestId, model: ModelId, work: WorkId) {
        self.ready.change(request, |job| (job.model, job.work) = (model, work));
    }

    /// Takes a ready job away; `None` if it is not ready.
    pub(super) fn take(&mut self, request: RequestId) -> Option<Job> {
        self.ready.take(request)
    }

    /// Of two jobs of `model` that have not started the one with the older frame.
    pub(super) fn outdated(&self, model: ModelId) -> Option<RequestId> {
        let waiting = |job: &&Job| job.model == model && job.last_accelerator.is_none();
        let of_model = || self.ready.iter().filter(waiting);
        let oldest = of_model().min_by_key(|job| job.frame)?;
        (of_model().count() > 1).then_some(oldest.request)
    }

    /// Puts a job on an idle accelerator, until `end`.
    ///
    /// # Panics
    ///
    /// If the accelerator is not idle.
    pub(super) fn start(&mut self, running: RunningSegment, end: SimTime) {
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

    /// Takes the job off a busy accelerator.
    ///
    /// # Panics
    ///
    /// If the accelerator is idle.
    pub(super) fn stop(&mut self, accelerator: AccelId, now: SimTime) -> &RunningSegment {
        self.accelerators[accelerator.index()].activity = Activity::Idle { since: now };
        let place = self.idle.partition_point(|&other| other < accelerator);
        self.idle.insert(place, accelerator);
        self.last_segment(accelerator)
    }

    /// What an accelerator does, or did last.
    ///
    /// # Panics
    ///
    /// If it never did anything.
    pub(super) fn last_segment(&self, accelerator: AccelId) -> &RunningSegment {
        self.segments[accelerator.index()].as_ref().expect("only a busy accelerator stops")
    }

    /// What an accelerator does; `None` if it is idle.
    pub(super) fn running(&self, accelerator: AccelId) -> Option<&RunningSegment> {
        match self.accelerators[accelerator.index()].activity {
            Activity::Idle { .. } => None,
            Activity::Running { .. } => self.segments[accelerator.index()].as_ref(),
        }
    }

    /// Ends the segment of a busy accelerator earlier: before layer `end_layer`, at `end`.
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

    /// Where `request` runs.
    pub(super) fn accelerator_of(&self, request: RequestId) -> Option<AccelId> {
        let runs = |state: &AcceleratorState| matches!(state.activity, Activity::Running { request: id, .. } if id == request);
        self.accelerators.iter().position(runs).map(AccelId::new)
    }

    /// Enters an outcome into the history of its model.
    pub(super) fn remember(&mut self, model: ModelId, deadline: SimTime, outcome: &Outcome) {
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
            Outcome::NotTriggered | Outcome::Lost { .. } => {}
        }
    }
}
