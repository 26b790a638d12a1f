//! One instant of a run.

use crate::cost::CostTable;
use crate::ids::{AccelId, RequestId, WorkId};
use crate::load::{Request, RequestStream};
use crate::plan::{DeadlineMiss, EngineSettings, Plan};
use crate::schedule::{
    Decision, Dispatch, Job, KnownRequest, Policy, PolicyFailure, Preemption, Scheduler, Setup,
};
use crate::trace::{Attempt, DropReason, Outcome, Segment, Trace};
use crate::units::{Millijoules, SimTime};

use super::Run;
use super::agenda::{Arrivals, Completions, Expiries};
use super::requests::{Requests, Stage};
use super::running::RunningSegment;
use super::segments::Segments;
use super::session::RequestEvent;
use super::sharing::Sharing;
use super::state::State;
use super::switching::{ContextSwitches, Transfer};

/// What the requests that a request depends on mean for it.
enum Upstream {
    /// All results are there.
    Done,
    /// Some are still to come.
    Pending,
    /// One will never come.
    Cancelled,
}

/// A run in request_events.
pub(super) struct Engine<'a> {
    requests: Requests<'a>,
    costs: &'a CostTable,
    settings: EngineSettings,
    scheduler: Box<dyn Scheduler>,
    policy: &'a Policy,
    /// Whether a request that becomes ready cuts what runs.
    preempts: bool,
    arrivals: Arrivals<'a>,
    expiries: Expiries,
    completions: Completions,
    state: State,
    segments: Segments,
    /// What happens in them; `None` if that takes nothing.
    switching: Option<ContextSwitches<'a>>,
    /// How bandwidth is shared; `None` if there is enough.
    sharing: Option<Sharing<'a>>,
    /// Requests that have ended and whose dependants have not been told.
    ended: Vec<RequestId>,
    /// Submitted requests that are not let in yet, in order of when they are due to be.
    submissions: Vec<(RequestId, SimTime)>,
    /// What submitted requests did.
    request_events: Vec<RequestEvent>,
    events: u64,
}

impl<'a> Engine<'a> {
    /// A run of `requests`, to which others are submitted; those are not kept for longer than they last
    /// if it `forgets`.
    pub(super) fn new(
        plan: &'a Plan,
        costs: &'a CostTable,
        requests: &'a RequestStream,
        forgets: bool,
    ) -> Result<Self, PolicyFailure> {
        let n_accelerators = plan.system.accelerators().len();
        let known_requests = match plan.scheduler.is_clairvoyant() {
            true => known_requests(requests, costs),
            false => Vec::new(),
        };
        let setup = Setup {
            scenario: &plan.scenario,
            costs,
            score: &plan.score,
            options: plan.scheduler.options(),
            known_requests: &known_requests,
        };
        Ok(Self {
            requests: Requests::new(requests, forgets),
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
            switching: ContextSwitches::new(plan),
            sharing: Sharing::new(plan, costs),
            ended: Vec::new(),
            submissions: Vec::new(),
            request_events: Vec::new(),
            events: 0,
        })
    }

    /// Plays until nothing is left to happen.
    pub(super) fn play_all(mut self) -> Result<Run, PolicyFailure> {
        while let Some(now) = self.next_instant() {
            self.step(now)?;
        }
        Ok(self.into_run())
    }

    /// What happened.
    pub(super) fn into_run(self) -> Run {
        let (records, batches) = self.requests.into_records();
        let mut segments = self.segments.into_segments();
        segments.retain(|segment| segment.request.index() < records.len());
        let trace = Trace::with_segments(records, segments).with_batches(batches);
        Run { trace, events: self.events }
    }

    /// When something happens next.
    pub(super) fn next_instant(&mut self) -> Option<SimTime> {
        let aborts = self.settings.deadline_miss == DeadlineMiss::Abort;
        let requests = &self.requests;
        let expiry = self.expiries.peek(|id| match requests.stage(id) {
            Stage::Expected | Stage::Blocked | Stage::Ready => true,
            Stage::Running | Stage::Suspended => aborts,
            Stage::Executed | Stage::Cancelled => false,
        });
        let submitted =
            self.submissions.first().filter(|_| self.acts_on_ready()).map(|&(_, due)| due);
        let known = earlier(self.arrivals.peek(), expiry);
        earlier(earlier(submitted, self.completions.peek()), known)
    }

    /// Whether something can happen because a request becomes ready. If not, submitted ones are let in
    /// with the next event.
    fn acts_on_ready(&self) -> bool {
        self.state.has_idle() || self.preempts || self.settings.replace_by_newer
    }

    /// Plays everything that happens at `now`.
    pub(super) fn step(&mut self, now: SimTime) -> Result<(), PolicyFailure> {
        self.complete_finished(now);
        self.admit_arrivals(now);
        self.drop_expired(now);
        self.dispatch_ready(now)?;
        if let Some(sharing) = &mut self.sharing {
            sharing.divide(&mut *self.scheduler, &mut self.completions, now);
        }
        Ok(())
    }

    /// Frees the accelerators whose segment is done. If that was the last one of its request, the
    /// dependants are told; if not, the request waits to go on.
    fn complete_finished(&mut self, now: SimTime) {
        while let Some(accelerator) = self.completions.pop(now) {
            if self.continues(accelerator, now) {
                continue;
            }
            self.events += 1;
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

    /// Whether what has just ended on an accelerator is a layer, and another one of its segment follows.
    /// Only where bandwidth is shared do layers end one by one.
    fn continues(&mut self, accelerator: AccelId, now: SimTime) -> bool {
        let Some(sharing) = &mut self.sharing else { return false };
        let end_layer = self.state.last_segment(accelerator).end_layer;
        sharing.continues(accelerator, end_layer, now)
    }

    /// Start and energy of the request whose last segment has just ended on `accelerator`.
    fn close_segments(&mut self, accelerator: AccelId, now: SimTime) -> (SimTime, Millijoules) {
        let running = *self.state.last_segment(accelerator);
        self.add_segment(&running, now);
        let begun = self.segments.close(running.job.request, now);
        let begun = begun.expect("the segments before were added");
        (begun.start, begun.energy())
    }

    /// Puts the request that was just cut on `accelerator` back among the ready ones.
    fn suspend(&mut self, accelerator: AccelId, now: SimTime) {
        let running = *self.state.last_segment(accelerator);
        self.add_segment(&running, now);
        if let Some(switching) = &mut self.switching {
            switching.suspend(&running, accelerator);
        }
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

    fn add_segment(&mut self, running: &RunningSegment, now: SimTime) {
        let execution = running.execution(self.costs);
        let energy_of = |it: &Segment| execution.energy_of(it.first_layer..it.end_layer);
        self.keep(running, running.segment(now), energy_of);
    }

    /// Keeps a segment of a request, to whose energy is added that of what was moved for it.
    fn keep(
        &mut self,
        running: &RunningSegment,
        segment: Segment,
        energy_of: impl Fn(&Segment) -> Millijoules,
    ) {
        if running.continues {
            return self.segments.lengthen(&segment, energy_of);
        }
        let switching = self.switching.as_ref();
        let moved = switching.map_or(Millijoules::ZERO, |it| it.moved(segment.accelerator).energy);
        let energy = moved + energy_of(&segment);
        self.segments.add(Segment { energy, ..segment }, moved);
    }

    /// Lets in the requests whose input data is there.
    fn admit_arrivals(&mut self, now: SimTime) {
        while let Some(request) = self.arrivals.pop(now) {
            self.events += 1;
            self.enter(request, Stage::Blocked);
            self.reconsider(request, now);
            self.notify_dependants(now);
        }
        for index in 0..self.submissions.len() {
            self.events += 1;
            let (request, due) = self.submissions[index];
            self.ready(request, due, now);
        }
        self.submissions.clear();
    }

    /// Adds a request that is ready from `now` on, before which nothing is played any more.
    pub(super) fn submit(&mut self, request: Request, now: SimTime) -> RequestId {
        let id = self.requests.submit(request);
        self.submissions.push((id, now));
        id
    }

    /// Changes the samples of a submitted request that has not started.
    pub(super) fn set_batch(&mut self, id: RequestId, batch: u32) {
        self.requests.set_batch(id, batch);
        self.change_work(id);
    }

    fn change_work(&mut self, id: RequestId) {
        let request = self.requests.request(id);
        self.state.change_work(id, request.model, work_of(request, self.costs));
    }

    /// Gives what submitted requests did since the last call, for an empty list.
    pub(super) fn swap_request_events(&mut self, empty: &mut Vec<RequestEvent>) {
        std::mem::swap(&mut self.request_events, empty);
    }

    /// Gives up the requests whose time is over, upstream ones first.
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

    /// Asks the policy until it waits, or nothing is ready or idle. Every answer but waiting takes a
    /// request out of the ready ones, so this ends.
    fn dispatch_ready(&mut self, now: SimTime) -> Result<(), PolicyFailure> {
        while let Some(view) = self.state.view(now, self.costs) {
            match self.scheduler.decide(&view) {
                Decision::Dispatch(dispatch) => {
                    let job = self.take_shown(dispatch.request);
                    self.start(job, &dispatch, now);
                }
                Decision::Drop(request) => {
                    self.take_shown(request);
                    self.give_up(request, DropReason::Scheduler, now);
                    self.notify_dependants(now);
                }
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

    fn start(&mut self, job: Job, dispatch: &Dispatch, now: SimTime) {
        let accelerator = dispatch.accelerator;
        let mut running = RunningSegment::new(job, dispatch, self.costs, now);
        running.continues = job.last_accelerator == Some(accelerator)
            && job.ready_since == now
            && self.state.last_segment(accelerator).job.request == job.request;
        let switching = self.switching.as_mut();
        let moved = switching.map_or(Transfer::default(), |it| it.load(&job, accelerator));
        running.moving = moved.time;
        let end = running.end(self.costs);
        self.state.start(running, end);
        match &mut self.sharing {
            None => self.completions.set(accelerator, end),
            Some(sharing) => sharing.start(&running, &moved, accelerator),
        }
        self.enter(job.request, Stage::Running);
        if job.next_layer == 0 && self.requests.is_submitted(job.request) {
            self.request_events.push(RequestEvent::Started(job.request, accelerator));
        }
    }

    /// Lets everything that runs end with its current layer. A layer that has just ended is one.
    fn cut_running(&mut self, now: SimTime) {
        for accelerator in (0..self.costs.n_accelerators()).map(AccelId::new) {
            let Some(running) = self.state.running(accelerator) else { continue };
            let (cut, end) = match &self.sharing {
                None => running.next_cut(self.costs, now),
                Some(sharing) => sharing.cut(running, accelerator, now),
            };
            if cut < running.end_layer {
                self.cut(accelerator, cut, end, now);
            }
        }
    }

    /// Cuts what runs on an accelerator before a layer, at `end` if it goes on at full speed.
    fn cut(&mut self, accelerator: AccelId, layer: u32, end: SimTime, now: SimTime) {
        self.state.shorten(accelerator, layer, end);
        if end <= now {
            self.events += 1;
            self.halt(accelerator, now);
            self.suspend(accelerator, now);
        } else if self.sharing.is_none() {
            self.completions.set(accelerator, end);
        }
    }

    /// Takes what runs off an accelerator.
    fn halt(&mut self, accelerator: AccelId, now: SimTime) {
        self.completions.clear(accelerator);
        if let Some(sharing) = &mut self.sharing {
            sharing.stop(accelerator);
        }
        self.state.stop(accelerator, now);
    }

    /// Takes a running request off its accelerator. The energy is that of the layers that ran, and a
    /// share of the one under way.
    fn abort(&mut self, request: RequestId, now: SimTime) {
        let accelerator = self.state.accelerator_of(request);
        let accelerator = accelerator.expect("a running request is on an accelerator");
        let running = *self.state.last_segment(accelerator);
        let (layer, share) = match &self.sharing {
            None => running.reached(self.costs, now),
            Some(sharing) => sharing.reached(&running, accelerator, now),
        };
        self.halt(accelerator, now);
        let execution = running.execution(self.costs);
        let energy_of = |segment: &Segment| {
            let cut_off = if share > 0.0 { execution.layer_energy(layer).get() } else { 0.0 };
            execution.energy_of(segment.first_layer..layer) + Millijoules::new(share * cut_off)
        };
        let segment = Segment { end_layer: layer, ..running.segment(now) };
        self.keep(&running, segment, energy_of);
        self.give_up(request, DropReason::Aborted, now);
    }

    /// Ends a request that does not run, with what it spent if it had begun. If nothing asked for it,
    /// it counts as that and not as dropped: the same coin decides whether or not its upstream result
    /// ever came.
    fn give_up(&mut self, request: RequestId, reason: DropReason, now: SimTime) {
        if !self.requests.request(request).triggered {
            return self.end(request, Outcome::NotTriggered);
        }
        let begun = self.segments.close(request, now);
        if let Some(switching) = &mut self.switching {
            switching.forget(request);
        }
        let energy = begun.map_or(Millijoules::ZERO, |it| it.energy());
        let attempt = begun.map(|it| Attempt { accelerator: it.accelerator(), start: it.start });
        self.end(request, Outcome::Dropped { at: now, reason, energy, attempt });
    }

    fn end(&mut self, id: RequestId, outcome: Outcome) {
        let request = *self.requests.request(id);
        self.state.remember(request.model, request.deadline, &outcome);
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

    /// Moves a request to its next stage; the state counts those that are blocked.
    fn enter(&mut self, request: RequestId, stage: Stage) {
        let Some(old) = self.requests.enter(request, stage) else { return };
        if (old == Stage::Blocked) != (stage == Stage::Blocked) {
            let model = self.requests.request(request).model;
            self.state.block(model, stage == Stage::Blocked);
        }
    }

    /// Tells dependants what became of the requests that they need, theirs in turn, and so on.
    fn notify_dependants(&mut self, now: SimTime) {
        while let Some(ended) = self.ended.pop() {
            for &dependant in self.requests.downstream(ended) {
                if self.requests.stage(dependant) == Stage::Blocked {
                    self.reconsider(dependant, now);
                }
            }
        }
    }

    /// Decides what a blocked request does now.
    fn reconsider(&mut self, request: RequestId, now: SimTime) {
        match self.upstream_of(request) {
            Upstream::Done if self.requests.request(request).triggered => {
                self.ready(request, now, now)
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

    /// Puts a request among those that wait for an accelerator, as it does since `since`.
    fn ready(&mut self, id: RequestId, since: SimTime, now: SimTime) {
        let request = *self.requests.request(id);
        let work = work_of(&request, self.costs);
        self.enter(id, Stage::Ready);
        self.state.add(Job { ready_since: since, ..Job::new(id, &request, work) });
        if self.settings.replace_by_newer
            && let Some(older) = self.state.outdated(request.model)
        {
            self.state.take(older);
            self.give_up(older, DropReason::Replaced, now);
        }
        if self.preempts {
            self.cut_running(now);
        }
    }
}

/// The row of `costs` that a request runs.
fn work_of(request: &Request, costs: &CostTable) -> WorkId {
    let work = costs.work(request.model, request.batch);
    work.expect("the costs have a batch of that size")
}

/// What an offline reference knows before the run.
fn known_requests(requests: &RequestStream, costs: &CostTable) -> Vec<KnownRequest> {
    let known_request = |(index, request): (usize, &Request)| KnownRequest {
        model: request.model,
        work: work_of(request, costs),
        frame: request.frame,
        arrival: request.arrival,
        deadline: request.deadline,
        upstream: requests.upstream(RequestId::new(index)).into(),
        triggered: request.triggered,
    };
    requests.requests().iter().enumerate().map(known_request).collect()
}

/// The earlier one of those that there are.
fn earlier(one: Option<SimTime>, other: Option<SimTime>) -> Option<SimTime> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        _ => one.or(other),
    }
}
