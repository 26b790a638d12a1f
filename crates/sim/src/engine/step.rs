//! The life of an instant.
//!
//! A run goes from one instant with an event to the next ([`Engine::next_instant`]). [`Engine::step`] plays an
//! instant in five steps:
//!
//! 1. Segments end (`complete_finished`), and their accelerators become idle. A request ends with its last
//!    segment; after any other one it is ready again.
//! 2. Requests arrive (`admit_arrivals`). One that needs no results, or whose results are there, becomes ready;
//!    another one is blocked. Submitted requests become ready.
//! 3. Requests expire (`drop_expired`). One that still waits is dropped after its deadline and the grace; one that
//!    runs or was cut is aborted if the settings say so.
//! 4. Networks of ready requests are chosen (`choose`), where models have several. The scheduler decides
//!    (`dispatch_ready`) until it waits, or nothing is ready, or no accelerator is idle. A
//!    decision starts a segment or gives up a ready request.
//! 5. The device settles (`settle`). An effect that depends on all that runs, such as shared bandwidth, finds the
//!    next end of a segment from there, when the engine asks for the next instant.
//!
//! If the device has stopped, all that has arrived is dropped in place of a decision (`power_off`), and the run ends.
//!
//! Two rules hold in all steps. When a request ends, those that depend on it are told at once
//! (`notify_dependants`): they become ready, or end too. When a request becomes ready (`make_ready`), it can
//! replace an older frame of its model, and cut what runs.

mod begin;
mod break_off;
mod outside;

use crate::load::{Feed, LatencyDraws, RequestStream};
use crate::plan::{DeadlineMiss, EngineSettings, Plan};
use crate::schedule::{
    Decision, Dispatch, Job, Policy, PolicyFailure, Preemption, Scheduler, Setup, View,
};
use xrsim_model::cancel::Steps;
use xrsim_model::cost::CostTable;
use xrsim_model::ids::{AccelId, RequestId};
use xrsim_model::trace::{Attempt, DropReason, Entry, Outcome, Record, Segment, Trace};
use xrsim_model::units::{Millijoules, SimSpan, SimTime};

use super::agenda::{Completions, Expiries, earlier};
use super::effects::DeviceEffects;
use super::event::RequestEvent;
use super::requests::{Live, Requests, Stage, Upstream};
use super::running::RunningSegment;
use super::segments::Segments;
use super::sequences::Sequences;
use super::state::State;
use super::variants::Variants;
use super::{Played, Run};

/// A run in progress.
pub(super) struct Engine<'a> {
    requests: Requests<'a>,
    costs: &'a CostTable,
    settings: EngineSettings,
    duration: SimSpan,
    scheduler: Box<dyn Scheduler>,
    policy: &'a Policy,
    /// Whether a request that becomes ready preempts what runs.
    preempts: bool,
    expiries: Expiries,
    completions: Completions,
    state: State<'a>,
    segments: Segments,
    effects: DeviceEffects<'a>,
    sequences: Sequences,
    /// Networks and work of requests; `None` if schedulers see all of it and choose nothing.
    variants: Option<Variants<'a>>,
    /// Draws of latencies; `None` if these do not differ from request to request.
    latencies: Option<LatencyDraws>,
    /// Whether no effect, choice or draw changes segments: they take the costs as they are.
    is_plain: bool,
    /// Whether a device or choices have to be looked at before decisions.
    prepares: bool,
    /// Requests that have ended and whose dependants, which wait, have not been notified.
    ended: Vec<RequestId>,
    /// Submitted requests that are not admitted yet, with the time of submission, in that order.
    submissions: Vec<(RequestId, SimTime)>,
    /// Events of submitted requests since the caller last took them.
    request_events: Vec<RequestEvent>,
    events: u64,
}

impl<'a> Engine<'a> {
    /// A run of the requests of `feed`, to which others can be submitted.
    ///
    /// # Panics
    ///
    /// If the scheduler is clairvoyant and the requests are not known.
    pub(super) fn new(
        plan: &'a Plan,
        costs: &'a CostTable,
        feed: Feed<'a>,
    ) -> Result<Self, PolicyFailure> {
        let n_accelerators = plan.system.accelerators().len();
        let supplied = plan.supplied().expect("the device fits the system");
        let unknown = RequestStream::default();
        let known_requests = match plan.scheduler.is_clairvoyant() {
            true => feed.known().expect("a clairvoyant scheduler knows the requests"),
            false => &unknown,
        };
        let setup = Setup {
            scenario: &plan.scenario,
            costs,
            score: &plan.score,
            options: plan.scheduler.options(),
            known_requests,
            supplied: &supplied,
        };
        let scheduler = plan.scheduler.build(&setup)?;
        let preempts = setup.options.preemption == Preemption::LayerBoundary;
        let effects = DeviceEffects::new(plan, costs, supplied);
        let variants = Variants::new(plan, costs);
        let latencies = costs.has_spreads().then(|| LatencyDraws::new(&plan.scenario, &plan.load));
        let prepares = plan.device.is_some() || variants.is_some();
        let is_plain = !effects.any() && variants.is_none() && latencies.is_none();
        Ok(Self {
            scheduler,
            requests: Requests::new(feed),
            costs,
            settings: plan.engine,
            duration: plan.load.duration,
            policy: &plan.scheduler,
            preempts,
            expiries: Expiries::new(&plan.scenario, plan.engine.grace),
            completions: Completions::new(n_accelerators),
            state: State::new(&plan.scenario, n_accelerators),
            segments: Segments::default(),
            effects,
            sequences: Sequences::new(plan),
            variants,
            latencies,
            is_plain,
            prepares,
            ended: Vec::new(),
            submissions: Vec::new(),
            request_events: Vec::new(),
            events: 0,
        })
    }

    /// Plays until no event is left, and hands every request to `each`, in order, after its end.
    pub(super) fn play_all(
        mut self,
        each: &mut dyn FnMut(&Entry<'_>),
    ) -> Result<Played, PolicyFailure> {
        let mut steps = Steps::default();
        while let Some(now) = self.next_instant() {
            steps.step();
            self.step(now)?;
            self.leave(each);
        }
        // A scheduler may leave requests that never end.
        self.leave_all(false, each);
        Ok(self.played())
    }

    /// Keeps the operating points of the accelerators over the run.
    pub(super) fn keep_points(&mut self) {
        self.effects.keep_points();
    }

    /// The number of events, and the account of the energy.
    fn played(mut self) -> Played {
        let (ledger, body, points) =
            self.effects.finish(SimTime::ZERO + self.duration).unwrap_or_default();
        Played { events: self.events, ledger, body, points }
    }

    /// Hands the next requests of the load that have ended to `each`. They leave.
    #[inline]
    pub(super) fn leave(&mut self, each: &mut dyn FnMut(&Entry<'_>)) {
        let segments = &mut self.segments;
        self.requests.leave(|id, live| each(&entry(id, live, segments)));
    }

    /// The run so far. Adds to `trace`, which has the requests that have left, all others of the load, whether they have
    /// ended or not, and then the submitted ones if `has_submitted`.
    pub(super) fn finish(mut self, mut trace: Trace, has_submitted: bool) -> Run {
        self.leave_all(has_submitted, &mut |entry| trace.push(entry));
        let Played { events, ledger, body, points } = self.played();
        Run { trace: trace.with_points(points), events, ledger, body }
    }

    /// Hands all requests of the load to `each`, whether they have ended or not, and then the submitted ones if
    /// `has_submitted`. After a stop of the device, those that have arrived by then are all.
    fn leave_all(&mut self, has_submitted: bool, each: &mut dyn FnMut(&Entry<'_>)) {
        self.leave(each);
        let has_stopped = self.has_stopped();
        while let Some((id, live)) = self.requests.next(has_stopped) {
            if has_submitted || !self.requests.is_submitted(id) {
                each(&entry(id, &live, &mut self.segments));
            }
        }
    }

    /// Forgets the first submitted requests that have ended.
    pub(super) fn recycle(&mut self) {
        let segments = &mut self.segments;
        self.requests.leave_submitted(|live| _ = segments.take(live.begun));
    }

    /// Whether the device has stopped, so that there are no further events.
    #[inline]
    pub(super) fn has_stopped(&self) -> bool {
        self.effects.stopped().is_some()
    }

    /// Time of the next event.
    pub(super) fn next_instant(&mut self) -> Option<SimTime> {
        let aborts = self.settings.deadline_miss == DeadlineMiss::Abort;
        let requests = &self.requests;
        let expiry = self.expiries.peek(|id| requests.can_expire(id, aborts));
        let mut known = earlier(requests.next_arrival(), expiry);
        if self.effects.any() {
            if self.has_stopped() {
                return None;
            }
            let halt = self.effects.wake_up().filter(|_| self.state.has_ready());
            known = earlier(known, halt);
            self.effects.advance(known, &mut *self.scheduler, &mut self.completions);
        }
        let submitted =
            self.submissions.first().filter(|_| self.acts_on_ready()).map(|&(_, at)| at);
        earlier(earlier(submitted, self.completions.peek()), known)
    }

    /// Whether a request that becomes ready can have an effect at once. If not, submitted requests are
    /// admitted with the next event.
    fn acts_on_ready(&self) -> bool {
        self.state.has_idle() || self.preempts || self.settings.replace_by_newer
    }

    /// Plays all events at `now`.
    pub(super) fn step(&mut self, now: SimTime) -> Result<(), PolicyFailure> {
        self.begin(now);
        self.dispatch_ready(now)?;
        self.settle(now);
        Ok(())
    }

    /// Plays the events at `now` before the decisions.
    #[inline]
    pub(super) fn begin(&mut self, now: SimTime) {
        if self.effects.any() && self.ends_before(now) {
            return;
        }
        self.complete_finished(now);
        self.admit_arrivals(now);
        self.drop_expired(now);
        if self.prepares {
            self.prepare(now);
        }
    }

    /// Ends the instant `now` after the last decision.
    #[inline]
    pub(super) fn settle(&mut self, now: SimTime) {
        if self.effects.any() {
            self.state.show();
            self.effects.settle(now);
        }
    }

    /// View for the next decision at `now`; `None` if there is nothing to decide.
    #[inline]
    pub(super) fn view(&self, now: SimTime) -> Option<View<'_>> {
        self.state.view(now, self.costs, self.effects.supplies())
    }

    /// Starts a segment at `now`, as a scheduler decided.
    #[inline]
    pub(super) fn dispatch(&mut self, dispatch: &Dispatch, now: SimTime) {
        let mut job = self.take_shown(dispatch.request);
        if let Some(variant) = dispatch.variant {
            let chosen = self.chosen(&job, variant);
            job.work =
                chosen.expect("a policy answers with a variant that the request can still take");
        }
        assert!(
            self.costs.on(job.work, dispatch.accelerator).is_offered(),
            "a policy answers with an accelerator that can run the request"
        );
        self.start(job, dispatch, now);
        if self.prepares {
            self.choose(now);
        }
    }

    /// Gives up a ready request at `now`, as a scheduler decided.
    #[inline]
    pub(super) fn drop_ready(&mut self, request: RequestId, now: SimTime) {
        self.take_shown(request);
        self.give_up(request, DropReason::Scheduler, now);
        self.notify_dependants(now);
        if self.prepares {
            self.hide_halted();
        }
    }

    /// Records of the requests of the load that have not left, as far as they are expected by now.
    pub(super) fn records(&self) -> impl Iterator<Item = (&Record, u32)> {
        self.requests.records()
    }

    /// Record of a request of the load that has ended and not left; `None` before its end.
    pub(super) fn ended(&self, request: RequestId) -> Option<(&Record, u32)> {
        if !self.requests.is_known(request) {
            return None;
        }
        match self.requests.stage(request)? {
            Stage::Executed | Stage::Cancelled => {
                let live = self.requests.get(request);
                Some((&live.record, live.variant))
            }
            _ => None,
        }
    }

    /// Makes accelerators idle whose segment has ended. After the last segment of a request its
    /// dependants are notified; after any other segment the request waits for an accelerator.
    fn complete_finished(&mut self, now: SimTime) {
        while let Some(accelerator) = self.completions.pop(now) {
            self.events += 1;
            let has_effects = self.effects.any();
            if has_effects {
                self.effects.stop(accelerator, now);
            }
            let running = self.state.stop(accelerator, now);
            let RunningSegment { job: Job { request, work, .. }, end_layer, start, .. } = *running;
            if end_layer < self.costs.n_layers(work) {
                self.suspend(accelerator, now);
                continue;
            }
            let (start, energy) = match running.is_plain() {
                true if has_effects => {
                    (start, self.effects.energy_beside(accelerator) + running.energy())
                }
                true => (start, running.energy()),
                false => self.close_segments(accelerator, now),
            };
            self.end(request, Outcome::Executed { accelerator, start, end: now, energy });
            self.notify_dependants(now);
        }
    }

    /// Start and energy of the request whose last segment has just ended on `accelerator`.
    fn close_segments(&mut self, accelerator: AccelId, now: SimTime) -> (SimTime, Millijoules) {
        let running = *self.state.last_segment(accelerator);
        self.add_segment(&running, now);
        let begun = self.requests.get(running.job.request).begun;
        let execution = self.segments.close(begun.expect("its segments were added"), now);
        (execution.start, execution.energy)
    }

    /// Returns the request that was just cut on `accelerator` to the ready ones.
    fn suspend(&mut self, accelerator: AccelId, now: SimTime) {
        let running = *self.state.last_segment(accelerator);
        self.add_segment(&running, now);
        self.effects.suspend(&running);
        self.enter(running.job.request, Stage::Suspended);
        let waited = running.job.waited + (running.start - running.job.ready_since);
        self.state.add(Job {
            next_layer: running.end_layer,
            ready_since: now,
            waited,
            last_accelerator: Some(accelerator),
            work: self.shown(running.job.request, running.job.work),
            ..running.job
        });
    }

    /// Adds a segment that ends at `now` with its last layer.
    fn add_segment(&mut self, running: &RunningSegment<'_>, now: SimTime) {
        let execution = running.execution();
        let energy_of = |it: &Segment| match running.drawn {
            Some(_) => running.energy(),
            None => execution.energy_of(it.first_layer..it.end_layer),
        };
        self.keep(running, running.end_layer, now, energy_of);
    }

    /// Keeps a segment of a request, which ends at `now` after the layers before `end_layer`; adds the energy beside that of
    /// its layers.
    #[inline]
    fn keep(
        &mut self,
        running: &RunningSegment<'_>,
        end_layer: u32,
        now: SimTime,
        energy_of: impl Fn(&Segment) -> Millijoules,
    ) {
        let begun = &mut self.requests.get_mut(running.job.request).begun;
        if let Some(place) = *begun
            && running.continues
        {
            let beside = self.effects.energy_beside(running.accelerator);
            return self.segments.extend(place, (now, end_layer), beside, energy_of);
        }
        let segment = Segment { end_layer, ..running.segment(now) };
        let beside = self.effects.energy_beside(segment.accelerator);
        let energy = beside + energy_of(&segment);
        *begun = Some(self.segments.add(*begun, Segment { energy, ..segment }, beside));
    }

    /// Admits requests whose input data has arrived, and submitted requests.
    fn admit_arrivals(&mut self, now: SimTime) {
        while let Some(request) = self.requests.arrive(now) {
            self.events += 1;
            self.expect_expiry(request);
            self.reconsider(request, now);
            self.notify_dependants(now);
        }
        for index in 0..self.submissions.len() {
            self.events += 1;
            let (request, submitted_at) = self.submissions[index];
            self.make_ready(request, submitted_at, now);
        }
        self.submissions.clear();
    }

    /// Sets the timer of a request that arrives. Those of sequences have none.
    fn expect_expiry(&mut self, request: RequestId) {
        if self.sequences.has(self.requests.get(request).record.model) {
            return;
        }
        let requests = &self.requests;
        let aborts = self.settings.deadline_miss == DeadlineMiss::Abort;
        let is_pending = |id| requests.can_expire(id, aborts);
        let record = &requests.get(request).record;
        self.expiries.add(request, record, requests.n_live(), is_pending);
    }

    /// Gives up requests that have expired, upstream ones first.
    fn drop_expired(&mut self, now: SimTime) {
        while let Some(request) = self.expiries.pop(now) {
            let Some(stage) = self.requests.stage(request) else { continue };
            match stage {
                Stage::Ready => {
                    self.state.take(request);
                    self.give_up(request, DropReason::Deadline, now);
                }
                Stage::Blocked => self.give_up(request, DropReason::Deadline, now),
                Stage::Running if self.settings.deadline_miss == DeadlineMiss::Abort => {
                    self.abort(request, now)
                }
                Stage::Suspended if self.settings.deadline_miss == DeadlineMiss::Abort => {
                    self.state.take(request);
                    self.give_up(request, DropReason::Aborted, now);
                }
                _ => continue,
            }
            self.events += 1;
            self.notify_dependants(now);
        }
    }

    /// Asks the scheduler until it waits, or nothing is ready or idle. The loop ends, because every
    /// decision except waiting removes a ready request.
    fn dispatch_ready(&mut self, now: SimTime) -> Result<(), PolicyFailure> {
        while let Some(view) = self.state.view(now, self.costs, self.effects.supplies()) {
            match self.scheduler.decide(&view) {
                Decision::Dispatch(dispatch) => self.dispatch(&dispatch, now),
                Decision::Drop(request) => self.drop_ready(request, now),
                Decision::Wait => return Ok(()),
                Decision::Fail(breakdown) => return Err(breakdown.of(self.policy.label())),
            }
        }
        Ok(())
    }

    fn take_shown(&mut self, request: RequestId) -> Job {
        let job = self.state.take(request);
        job.expect("a policy answers with a ready request that it was shown")
    }

    /// Ends a request that does not run, with the energy that it took if it had begun. A request that
    /// was not triggered counts as such and not as dropped: whether its upstream result ever came makes
    /// no difference.
    fn give_up(&mut self, request: RequestId, reason: DropReason, now: SimTime) {
        let &Live { triggered, absence, begun, .. } = self.requests.get(request);
        if !triggered {
            let outcome = absence.map_or(Outcome::NotTriggered, Outcome::NotCaptured);
            return self.end(request, outcome);
        }
        let execution = begun.map(|place| self.segments.close(place, now));
        self.effects.discard(request);
        let energy = execution.map_or(Millijoules::ZERO, |it| it.energy);
        let attempt = execution.map(|it| Attempt { accelerator: it.accelerator, start: it.start });
        self.end(request, Outcome::Dropped { at: now, reason, energy, attempt });
    }

    fn end(&mut self, id: RequestId, outcome: Outcome) {
        let stage = match outcome {
            Outcome::Executed { .. } => Stage::Executed,
            _ => Stage::Cancelled,
        };
        self.enter(id, stage);
        let request = self.requests.get_mut(id);
        request.record.outcome = outcome;
        self.sequences.end(request);
        let Record { model, deadline, .. } = request.record;
        let is_awaited = request.is_awaited();
        self.state.add_outcome(model, deadline, &outcome);
        if self.requests.is_submitted(id) {
            self.request_events.push(match outcome {
                Outcome::Executed { energy, .. } => RequestEvent::Executed(id, energy),
                _ => RequestEvent::Dropped(id),
            });
        } else if is_awaited {
            self.ended.push(id);
        }
    }

    /// Moves a request to its next stage, and counts blocked requests.
    fn enter(&mut self, id: RequestId, stage: Stage) {
        let request = self.requests.get_mut(id);
        let old = std::mem::replace(&mut request.stage, stage);
        if (old == Stage::Blocked) != (stage == Stage::Blocked) {
            self.state.count_blocked(request.record.model, stage == Stage::Blocked);
        }
    }

    /// Notifies dependants of requests that have ended, and their dependants in turn.
    fn notify_dependants(&mut self, now: SimTime) {
        while let Some(ended) = self.ended.pop() {
            let is_executed = self.requests.get(ended).stage == Stage::Executed;
            let mut waiting = self.requests.waiting_for(ended);
            while let Some(dependant) = self.requests.tell_next(&mut waiting, is_executed) {
                if self.requests.get(dependant).stage == Stage::Blocked {
                    self.reconsider(dependant, now);
                }
            }
        }
        while let Some(next) = self.sequences.admit_next() {
            self.make_ready(next, now, now);
        }
    }

    /// Decides whether a request that has arrived becomes ready, ends, or is blocked.
    fn reconsider(&mut self, id: RequestId, now: SimTime) {
        let request = self.requests.get(id);
        match request.upstream() {
            _ if request.absence.is_some() => self.give_up(id, DropReason::Upstream, now),
            Upstream::Done if request.triggered => match self.sequences.admit(id, request) {
                true => self.make_ready(id, now, now),
                false => self.enter(id, Stage::Blocked),
            },
            Upstream::Done | Upstream::Cancelled => self.give_up(id, DropReason::Upstream, now),
            Upstream::Pending => self.enter(id, Stage::Blocked),
        }
    }

    /// Makes a request ready that has waited for an accelerator since `since`.
    fn make_ready(&mut self, id: RequestId, since: SimTime, now: SimTime) {
        let request = self.requests.get_mut(id);
        self.sequences.pace(request, now);
        let work = request.work(self.costs);
        let Record { model, frame, arrival, deadline, .. } = request.record;
        let work = self.shown(id, work);
        self.enter(id, Stage::Ready);
        let job = Job::new(id, model, frame, arrival, deadline);
        self.state.add(Job { work, ready_since: since, ..job });
        if self.settings.replace_by_newer
            && !self.sequences.has(model)
            && let Some(older) = self.state.outdated(model, |it| self.requests.get(it).phase)
        {
            self.state.take(older);
            self.give_up(older, DropReason::Replaced, now);
        }
        if self.preempts {
            self.preempt_running(now);
        }
    }
}

/// The entry of a request that leaves.
fn entry<'a>(request: RequestId, live: &'a Live, segments: &'a mut Segments) -> Entry<'a> {
    let segments = segments.take(live.begun);
    Entry { request, record: &live.record, variant: live.variant, phase: live.phase, segments }
}
