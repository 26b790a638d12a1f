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
//! 4. The scheduler decides (`dispatch_ready`) until it waits, or nothing is ready, or no accelerator is idle. A
//!    decision starts a segment or gives up a ready request.
//! 5. The device settles (`settle`). An effect that depends on all that runs, such as shared bandwidth, finds the
//!    next end of a segment from there, when the engine asks for the next instant.
//!
//! Two rules hold in all steps. When a request ends, those that depend on it are told at once
//! (`notify_dependants`): they become ready, or end too. When a request becomes ready (`make_ready`), it can
//! replace an older frame of its model, and cut what runs.

use crate::load::{Request, RequestStream};
use crate::plan::{DeadlineMiss, EngineSettings, Plan};
use crate::schedule::{
    Decision, Dispatch, Job, Policy, PolicyFailure, Preemption, Scheduler, Setup, View,
};
use xrsim_model::cancel::Steps;
use xrsim_model::cost::CostTable;
use xrsim_model::ids::{AccelId, RequestId, WorkId};
use xrsim_model::trace::{Attempt, DropReason, Outcome, Record, Segment, Trace};
use xrsim_model::units::{Millijoules, SimTime};

use super::Run;
use super::agenda::{Arrivals, Completions, Expiries};
use super::effects::DeviceEffects;
use super::event::RequestEvent;
use super::requests::{Requests, Stage};
use super::running::RunningSegment;
use super::segments::Segments;
use super::state::State;

/// State of the requests that a request depends on, taken together.
enum Upstream {
    /// All results are there.
    Done,
    /// Some results are still to come.
    Pending,
    /// Some result will never come.
    Cancelled,
}

/// A run in progress.
pub(super) struct Engine<'a> {
    requests: Requests<'a>,
    costs: &'a CostTable,
    settings: EngineSettings,
    scheduler: Box<dyn Scheduler>,
    policy: &'a Policy,
    /// Whether a request that becomes ready preempts what runs.
    preempts: bool,
    arrivals: Arrivals<'a>,
    expiries: Expiries,
    completions: Completions,
    state: State,
    segments: Segments,
    effects: DeviceEffects<'a>,
    /// Requests that have ended and whose dependants have not been notified.
    ended: Vec<RequestId>,
    /// Submitted requests that are not admitted yet, with the time of submission, in that order.
    submissions: Vec<(RequestId, SimTime)>,
    /// Events of submitted requests since the caller last took them.
    request_events: Vec<RequestEvent>,
    events: u64,
}

impl<'a> Engine<'a> {
    /// A run of `requests`, to which others can be submitted. If `recycles`, submitted requests are
    /// recycled after completion.
    pub(super) fn new(
        plan: &'a Plan,
        costs: &'a CostTable,
        requests: &'a RequestStream,
        recycles: bool,
    ) -> Result<Self, PolicyFailure> {
        let n_accelerators = plan.system.accelerators().len();
        let unknown = RequestStream::default();
        let setup = Setup {
            scenario: &plan.scenario,
            costs,
            score: &plan.score,
            options: plan.scheduler.options(),
            known_requests: if plan.scheduler.is_clairvoyant() { requests } else { &unknown },
        };
        Ok(Self {
            requests: Requests::new(requests, recycles),
            costs,
            settings: plan.engine,
            scheduler: plan.scheduler.build(&setup)?,
            policy: &plan.scheduler,
            preempts: setup.options.preemption == Preemption::LayerBoundary,
            arrivals: Arrivals::new(requests),
            expiries: Expiries::new(&plan.scenario, requests, plan.engine.grace),
            completions: Completions::new(n_accelerators),
            state: State::new(&plan.scenario, n_accelerators),
            segments: Segments::default(),
            effects: DeviceEffects::new(plan, costs),
            ended: Vec::new(),
            submissions: Vec::new(),
            request_events: Vec::new(),
            events: 0,
        })
    }

    /// Plays until no event is left.
    pub(super) fn play_all(mut self) -> Result<Run, PolicyFailure> {
        let mut steps = Steps::default();
        while let Some(now) = self.next_instant() {
            steps.step();
            self.step(now)?;
        }
        Ok(self.into_run())
    }

    /// Trace of the run so far, and the number of its events.
    pub(super) fn into_run(self) -> Run {
        let (records, batches) = self.requests.into_records();
        let mut segments = self.segments.into_segments();
        segments.retain(|segment| segment.request.index() < records.len());
        let trace = Trace::with_segments(records, segments).with_batches(batches);
        Run { trace, events: self.events }
    }

    /// Time of the next event.
    pub(super) fn next_instant(&mut self) -> Option<SimTime> {
        let aborts = self.settings.deadline_miss == DeadlineMiss::Abort;
        let requests = &self.requests;
        let expiry = self.expiries.peek(|id| match requests.stage(id) {
            Stage::Expected | Stage::Blocked | Stage::Ready => true,
            Stage::Running | Stage::Suspended => aborts,
            Stage::Executed | Stage::Cancelled => false,
        });
        let known = earlier(self.arrivals.peek(), expiry);
        self.effects.advance(known, &mut *self.scheduler, &mut self.completions);
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
        self.effects.reach(now, &mut *self.scheduler, &mut self.completions);
        self.complete_finished(now);
        self.admit_arrivals(now);
        self.drop_expired(now);
    }

    /// Ends the instant `now` after the last decision.
    #[inline]
    pub(super) fn settle(&mut self, now: SimTime) {
        self.effects.settle(now);
    }

    /// View for the next decision at `now`; `None` if there is nothing to decide.
    #[inline]
    pub(super) fn view(&self, now: SimTime) -> Option<View<'_>> {
        self.state.view(now, self.costs)
    }

    /// Starts a segment at `now`, as a scheduler decided.
    #[inline]
    pub(super) fn dispatch(&mut self, dispatch: &Dispatch, now: SimTime) {
        let job = self.take_shown(dispatch.request);
        self.start(job, dispatch, now);
    }

    /// Gives up a ready request at `now`, as a scheduler decided.
    #[inline]
    pub(super) fn drop_ready(&mut self, request: RequestId, now: SimTime) {
        self.take_shown(request);
        self.give_up(request, DropReason::Scheduler, now);
        self.notify_dependants(now);
    }

    /// Records of the requests of the load.
    pub(super) fn records(&self) -> &[Record] {
        self.requests.records()
    }

    /// Outcome of a request of the load; `None` before its end.
    pub(super) fn outcome(&self, request: RequestId) -> Option<&Record> {
        matches!(self.requests.stage(request), Stage::Executed | Stage::Cancelled)
            .then(|| self.requests.record(request))
    }

    /// Makes accelerators idle whose segment has ended. After the last segment of a request its
    /// dependants are notified; after any other segment the request waits for an accelerator.
    fn complete_finished(&mut self, now: SimTime) {
        while let Some(accelerator) = self.completions.pop(now) {
            self.events += 1;
            self.effects.stop(accelerator);
            let running = self.state.stop(accelerator, now);
            let RunningSegment { job: Job { request, work, .. }, end_layer, start, .. } = *running;
            if end_layer < self.costs.n_layers(work) {
                self.suspend(accelerator, now);
                continue;
            }
            let (start, energy) = match running.is_plain(self.costs) {
                true => (start, running.execution(self.costs).energy()),
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
        let begun = self.segments.close(running.job.request, now);
        let begun = begun.expect("its segments were added");
        (begun.start, begun.energy())
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
            ..running.job
        });
    }

    /// Adds a segment that ends at `now` with its last layer.
    fn add_segment(&mut self, running: &RunningSegment, now: SimTime) {
        let execution = running.execution(self.costs);
        let energy_of = |it: &Segment| execution.energy_of(it.first_layer..it.end_layer);
        self.keep(running, running.segment(now), energy_of);
    }

    /// Keeps a segment of a request; adds the energy of the data transfer before it.
    fn keep(
        &mut self,
        running: &RunningSegment,
        segment: Segment,
        energy_of: impl Fn(&Segment) -> Millijoules,
    ) {
        if running.continues {
            return self.segments.extend(&segment, energy_of);
        }
        let transfer = self.effects.transfer_energy(segment.accelerator);
        let energy = transfer + energy_of(&segment);
        self.segments.add(Segment { energy, ..segment }, transfer);
    }

    /// Admits requests whose input data has arrived, and submitted requests.
    fn admit_arrivals(&mut self, now: SimTime) {
        while let Some(request) = self.arrivals.pop(now) {
            self.events += 1;
            self.enter(request, Stage::Blocked);
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

    /// Submits a request that is ready at `now`. No event before `now` may be played afterwards.
    pub(super) fn submit(&mut self, request: Request, now: SimTime) -> RequestId {
        let id = self.requests.submit(request);
        self.submissions.push((id, now));
        id
    }

    /// Changes the number of samples of a submitted request that has not started.
    pub(super) fn set_batch(&mut self, id: RequestId, batch: u32) {
        self.requests.set_batch(id, batch);
        let work = work_of(self.requests.request(id), self.costs);
        self.state.set_work(id, work);
    }

    /// Swaps the events of submitted requests since the last call for an empty list.
    pub(super) fn swap_request_events(&mut self, empty: &mut Vec<RequestEvent>) {
        std::mem::swap(&mut self.request_events, empty);
    }

    /// Gives up requests that have expired, upstream ones first.
    fn drop_expired(&mut self, now: SimTime) {
        while let Some(request) = self.expiries.pop(now) {
            match self.requests.stage(request) {
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
        while let Some(view) = self.state.view(now, self.costs) {
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

    /// Starts a segment of `job`.
    fn start(&mut self, job: Job, dispatch: &Dispatch, now: SimTime) {
        let accelerator = dispatch.accelerator;
        let mut running = RunningSegment::new(job, dispatch, self.costs, now);
        running.continues = job.last_accelerator == Some(accelerator)
            && job.ready_since == now
            && self.state.last_segment(accelerator).job.request == job.request;
        let end = self.effects.start(&mut running);
        self.state.start(running, end);
        if !self.effects.set_completions() {
            self.completions.set(accelerator, end);
        }
        self.enter(job.request, Stage::Running);
        if job.next_layer == 0 && self.requests.is_submitted(job.request) {
            self.request_events.push(RequestEvent::Started(job.request, accelerator));
        }
    }

    /// Ends all running segments with their current layers. A layer that has just ended counts as
    /// current.
    fn preempt_running(&mut self, now: SimTime) {
        for accelerator in (0..self.costs.n_accelerators()).map(AccelId::new) {
            let Some(running) = self.state.running(accelerator) else { continue };
            let (cut, end) = self.effects.next_cut(running, now);
            if cut < running.end_layer {
                self.cut(accelerator, cut, end, now);
            }
        }
    }

    /// Cuts the segment on an accelerator before `layer`, which starts at `end` at full speed.
    fn cut(&mut self, accelerator: AccelId, layer: u32, end: SimTime, now: SimTime) {
        self.state.shorten(accelerator, layer, end);
        self.effects.shorten(accelerator, layer);
        if end <= now {
            self.events += 1;
            self.stop(accelerator, now);
            self.suspend(accelerator, now);
        } else if !self.effects.set_completions() {
            self.completions.set(accelerator, end);
        }
    }

    /// Makes an accelerator idle before its segment has ended.
    fn stop(&mut self, accelerator: AccelId, now: SimTime) {
        self.completions.clear(accelerator);
        self.effects.stop(accelerator);
        self.state.stop(accelerator, now);
    }

    /// Aborts a running request. Its energy is that of the layers that ran, and a fraction of that of
    /// the layer under way.
    fn abort(&mut self, request: RequestId, now: SimTime) {
        let accelerator = self.state.accelerator_of(request);
        let accelerator = accelerator.expect("a running request is on an accelerator");
        let running = *self.state.last_segment(accelerator);
        let (layer, fraction) = self.effects.reached(&running, now);
        self.stop(accelerator, now);
        let execution = running.execution(self.costs);
        let energy_of = |segment: &Segment| {
            let under_way = if fraction > 0.0 { execution.layer_energy(layer).get() } else { 0.0 };
            execution.energy_of(segment.first_layer..layer) + Millijoules::new(fraction * under_way)
        };
        let segment = Segment { end_layer: layer, ..running.segment(now) };
        self.keep(&running, segment, energy_of);
        self.give_up(request, DropReason::Aborted, now);
    }

    /// Ends a request that does not run, with the energy that it took if it had begun. A request that
    /// was not triggered counts as such and not as dropped: whether its upstream result ever came makes
    /// no difference.
    fn give_up(&mut self, request: RequestId, reason: DropReason, now: SimTime) {
        if !self.requests.request(request).triggered {
            return self.end(request, Outcome::NotTriggered);
        }
        let begun = self.segments.close(request, now);
        self.effects.discard(request);
        let energy = begun.map_or(Millijoules::ZERO, |it| it.energy());
        let attempt = begun.map(|it| Attempt { accelerator: it.accelerator(), start: it.start });
        self.end(request, Outcome::Dropped { at: now, reason, energy, attempt });
    }

    fn end(&mut self, id: RequestId, outcome: Outcome) {
        let request = *self.requests.request(id);
        self.state.add_outcome(request.model, request.deadline, &outcome);
        self.enter(
            id,
            match outcome {
                Outcome::Executed { .. } => Stage::Executed,
                _ => Stage::Cancelled,
            },
        );
        self.requests.end(id, outcome);
        if self.requests.is_submitted(id) {
            self.request_events.push(match outcome {
                Outcome::Executed { energy, .. } => RequestEvent::Executed(id, energy),
                _ => RequestEvent::Dropped(id),
            });
        } else {
            self.ended.push(id);
        }
    }

    /// Moves a request to its next stage, and counts blocked requests.
    fn enter(&mut self, request: RequestId, stage: Stage) {
        let Some(old) = self.requests.enter(request, stage) else { return };
        if (old == Stage::Blocked) != (stage == Stage::Blocked) {
            let model = self.requests.request(request).model;
            self.state.count_blocked(model, stage == Stage::Blocked);
        }
    }

    /// Notifies dependants of requests that have ended, and their dependants in turn.
    fn notify_dependants(&mut self, now: SimTime) {
        while let Some(ended) = self.ended.pop() {
            for &dependant in self.requests.downstream(ended) {
                if self.requests.stage(dependant) == Stage::Blocked {
                    self.reconsider(dependant, now);
                }
            }
        }
    }

    /// Decides whether a blocked request becomes ready, ends, or stays blocked.
    fn reconsider(&mut self, request: RequestId, now: SimTime) {
        match self.upstream_of(request) {
            Upstream::Done if self.requests.request(request).triggered => {
                self.make_ready(request, now, now)
            }
            Upstream::Done | Upstream::Cancelled => {
                self.give_up(request, DropReason::Upstream, now)
            }
            Upstream::Pending => {}
        }
    }

    fn upstream_of(&self, request: RequestId) -> Upstream {
        let mut upstream = Upstream::Done;
        for &needed in self.requests.upstream(request) {
            match self.requests.stage(needed) {
                Stage::Executed => {}
                Stage::Cancelled => return Upstream::Cancelled,
                _ => upstream = Upstream::Pending,
            }
        }
        upstream
    }

    /// Makes a request ready that has waited for an accelerator since `since`.
    fn make_ready(&mut self, id: RequestId, since: SimTime, now: SimTime) {
        let request = *self.requests.request(id);
        let work = work_of(&request, self.costs);
        self.enter(id, Stage::Ready);
        let Request { model, frame, arrival, deadline, .. } = request;
        let job = Job::new(id, model, frame, arrival, deadline);
        self.state.add(Job { work, ready_since: since, ..job });
        if self.settings.replace_by_newer
            && let Some(older) = self.state.outdated(request.model)
        {
            self.state.take(older);
            self.give_up(older, DropReason::Replaced, now);
        }
        if self.preempts {
            self.preempt_running(now);
        }
    }
}

/// Row of `costs` that a request runs.
fn work_of(request: &Request, costs: &CostTable) -> WorkId {
    let work = costs.work(request.model, request.batch);
    work.expect("the costs have a batch of that size")
}

/// The earlier one of two times of which either may be absent.
fn earlier(one: Option<SimTime>, other: Option<SimTime>) -> Option<SimTime> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        _ => one.or(other),
    }
}
