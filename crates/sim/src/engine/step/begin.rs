//! Instants and segments that begin: what effects do before, and the network, the work and the ends of segments.

use crate::schedule::{Dispatch, Job};
use xrsim_model::ids::{PointId, RequestId, WorkId};
use xrsim_model::units::SimTime;

use super::Engine;
use crate::engine::event::RequestEvent;
use crate::engine::requests::Stage;
use crate::engine::running::RunningSegment;

impl<'a> Engine<'a> {
    /// Plays effects up to `now`. Returns whether the device stopped before, with which all ends.
    #[inline(never)]
    pub(super) fn ends_before(&mut self, now: SimTime) -> bool {
        self.effects.reach(now, &mut *self.scheduler, &mut self.completions);
        self.effects.account(now);
        let stopped = self.effects.stopped().filter(|at| *at < now);
        if let Some(at) = stopped {
            self.power_off(at);
            self.hide_halted();
        }
        stopped.is_some()
    }

    /// Prepares the decisions at `now`.
    #[inline(never)]
    pub(super) fn prepare(&mut self, now: SimTime) {
        self.hide_halted();
        self.choose(now);
        if self.has_stopped() {
            self.power_off(now);
        }
    }

    /// Hides accelerators on which the device lets nothing start, up to the end of the instant.
    pub(super) fn hide_halted(&mut self) {
        if self.effects.has_halts() {
            let effects = &self.effects;
            self.state.hide(|accelerator| effects.halts(accelerator));
        }
    }

    /// Chooses the networks of ready requests that have not begun, for the next decision.
    #[inline]
    pub(super) fn choose(&mut self, now: SimTime) {
        if let Some(variants) = &mut self.variants {
            variants.choose(&mut self.state, now, self.effects.supplies());
        }
    }

    /// Row of the costs of a job of which a scheduler chose `variant`; `None` if its model has no such network, or if it has
    /// begun.
    pub(in crate::engine) fn chosen(&self, job: &Job, variant: u32) -> Option<WorkId> {
        let may_choose = self.variants.as_ref().is_some_and(|it| it.may_choose(job));
        self.costs.variant(job.model, variant).filter(|_| may_choose)
    }

    /// Row of the costs that schedulers see of a request that runs `work`.
    #[inline]
    pub(super) fn shown(&self, request: RequestId, work: WorkId) -> WorkId {
        self.variants.as_ref().map_or(work, |it| it.shown(self.requests.get(request)))
    }

    /// Starts a segment of `shown`, a job as schedulers see it.
    pub(super) fn start(&mut self, shown: Job, dispatch: &Dispatch, now: SimTime) {
        let Dispatch { accelerator, request, .. } = *dispatch;
        match self.is_plain {
            true => {
                let running = self.segment(shown, dispatch, PointId::new(0), now);
                let end = running.end();
                self.state.start(running, end);
                self.completions.set(accelerator, end);
            }
            false => self.start_changed(shown, dispatch, now),
        }
        self.enter(request, Stage::Running);
        if shown.next_layer == 0 && self.requests.is_submitted(request) {
            self.request_events.push(RequestEvent::Started(request, accelerator));
        }
    }

    /// A segment of `job` at `point` that takes its costs as they are.
    #[inline]
    fn segment(
        &self,
        job: Job,
        dispatch: &Dispatch,
        point: PointId,
        now: SimTime,
    ) -> RunningSegment<'a> {
        let accelerator = dispatch.accelerator;
        let mut running = RunningSegment::new(job, dispatch, point, self.costs, now);
        running.continues = job.last_accelerator == Some(accelerator)
            && job.ready_since == now
            && self.state.last_segment(accelerator).job.request == job.request
            && self.state.last_segment(accelerator).point == point;
        running
    }

    /// Starts a segment that effects, choices or draws may change.
    #[inline(never)]
    fn start_changed(&mut self, shown: Job, dispatch: &Dispatch, now: SimTime) {
        let accelerator = dispatch.accelerator;
        let mut job = shown;
        if let Some(variants) = &self.variants {
            job.work = variants.of_start(&shown, self.requests.get_mut(job.request));
        }
        let point = self.effects.point(accelerator, dispatch.point);
        let mut running = self.segment(job, dispatch, point, now);
        if let Some(latencies) = &self.latencies {
            let execution = running.execution();
            let share = || latencies.of(job.model, job.frame);
            running.drawn = execution.differs().then(|| execution.drawn(share()));
        }
        let end = self.effects.start(&mut running);
        let expected = match running.drawn.is_some() || shown.work != job.work {
            true => running.expected_end(shown.work),
            false => end,
        };
        self.state.start(running, expected);
        if !self.effects.set_completions() {
            self.completions.set(accelerator, end);
        }
    }
}
