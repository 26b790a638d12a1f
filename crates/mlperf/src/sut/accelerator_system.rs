//! Accelerators under test: samples wait in one queue for each tenant, are joined into batches, and run on
//! the engine under one of its schedulers.

use std::collections::VecDeque;

use xrsim_model::cancel::Steps;
use xrsim_model::ids::{FrameId, RequestId};
use xrsim_model::units::{Millijoules, SimTime};
use xrsim_sim::engine::{RequestEvent, Run, Session, Traced};
use xrsim_sim::load::{Request, RequestStream};
use xrsim_sim::plan::Plan;
use xrsim_sim::schedule::PolicyFailure;

use super::device_run::DeviceRun;
use super::system_under_test::{Completions, Sample, SystemUnderTest};
use super::tenant::Tenant;
use super::workload::Workload;

/// Waiting samples of one tenant.
#[derive(Debug, Default)]
struct Queue {
    /// Samples with their arrivals.
    waiting: VecDeque<(u32, SimTime)>,
    /// Request of the next batch, which has not started, with its size.
    open: Option<(RequestId, u32)>,
    /// Number of batches so far.
    n_batches: usize,
    /// Energy of the batches that have ended.
    energy: Millijoules,
}

/// Batch that was submitted.
#[derive(Debug)]
struct Batch {
    tenant: usize,
    /// Samples, from the start of the batch to its end; empty before and after.
    samples: Vec<u32>,
    has_ended: bool,
}

/// Batches by request, from the first one that has not ended.
#[derive(Debug, Default)]
struct Batches {
    batches: VecDeque<Batch>,
    /// Request of the first batch.
    first: usize,
    /// Unused lists of samples, kept for later batches.
    spare: Vec<Vec<u32>>,
}

impl Batches {
    fn open(&mut self, tenant: usize) {
        let samples = self.spare.pop().unwrap_or_default();
        self.batches.push_back(Batch { tenant, samples, has_ended: false });
    }

    fn of(&mut self, request: RequestId) -> &mut Batch {
        &mut self.batches[request.index() - self.first]
    }

    /// Ends a batch and passes its samples to `complete`.
    fn end(&mut self, request: RequestId, complete: impl FnMut(u32)) {
        let batch = self.of(request);
        batch.has_ended = true;
        let mut samples = std::mem::take(&mut batch.samples);
        samples.drain(..).for_each(complete);
        self.spare.push(samples);
        while self.batches.front().is_some_and(|batch| batch.has_ended) {
            self.batches.pop_front();
            self.first += 1;
        }
    }
}

/// Accelerators under test; one run.
pub(crate) struct AcceleratorSystem<'a> {
    workload: &'a Workload,
    session: Session<'a>,
    queues: Vec<Queue>,
    batches: Batches,
    /// Instant of the next event of the engine.
    session_next: Option<SimTime>,
    /// Instant of the next event of the engine or of a queue.
    next: Option<SimTime>,
    /// Whether a tenant holds samples back.
    holds_back: bool,
    /// Scratch space.
    events: Vec<RequestEvent>,
    failure: Option<PolicyFailure>,
    /// Instant at which the device stopped.
    stopped: Option<SimTime>,
    /// The last instant that was played.
    now: SimTime,
    steps: Steps,
}

impl<'a> AcceleratorSystem<'a> {
    /// A run of `workload` by `plan`, one of [`Workload::lasting`], from time 0 with empty queues, a fresh device, and the
    /// `frames` of the background.
    pub(crate) fn new(
        workload: &'a Workload,
        plan: &'a Plan,
        frames: &'a RequestStream,
        traced: Traced,
    ) -> Result<Self, PolicyFailure> {
        let mut session = Session::new(plan, workload.costs(), frames, traced)?;
        let next = session.next_event();
        let tenants = workload.tenants();
        Ok(Self {
            workload,
            session,
            queues: tenants.clone().map(|_| Queue::default()).collect(),
            batches: Batches { first: frames.requests().len(), ..Batches::default() },
            session_next: next,
            next,
            holds_back: tenants.clone().any(Tenant::holds_samples_back),
            events: Vec::new(),
            failure: None,
            stopped: None,
            now: SimTime::ZERO,
            steps: Steps::default(),
        })
    }

    /// Adds samples of a tenant that arrive at `now`.
    pub(crate) fn arrive(&mut self, tenant: usize, samples: &[Sample], now: SimTime) {
        if self.is_over() {
            return;
        }
        for sample in samples {
            self.queues[tenant].waiting.push_back((sample.id, now));
        }
        self.open_batch(tenant, now);
        self.next = self.next_instant();
    }

    /// Whether nothing happens any more.
    fn is_over(&self) -> bool {
        self.failure.is_some() || self.stopped.is_some()
    }

    /// Opens the next batch of a tenant, or enlarges the open one.
    fn open_batch(&mut self, tenant: usize, now: SimTime) {
        let &Tenant { batching, relative_deadline, .. } = self.workload.tenant(tenant);
        let queue = &mut self.queues[tenant];
        let size = queue.waiting.len().min(batching.max as usize) as u32;
        match (&mut queue.open, queue.waiting.front()) {
            (Some((request, open)), _) if *open < size => {
                *open = size;
                self.session.set_batch(*request, size);
            }
            (None, Some(&(_, arrival)))
                if size == batching.max || arrival + batching.wait <= now =>
            {
                let frame = FrameId::new(queue.n_batches);
                let model = self.workload.model(tenant);
                let deadline = arrival + relative_deadline;
                let batch = Request::new(model, frame, arrival, deadline).with_batch(size);
                let request = self.session.submit(batch, now);
                queue.open = Some((request, size));
                queue.n_batches += 1;
                self.session_next = self.session.next_event();
                self.batches.open(tenant);
            }
            _ => {}
        }
    }

    /// Instant at which the first sample that is held back has waited long enough, with its tenant.
    fn next_timeout(&self) -> Option<(SimTime, usize)> {
        let timeout = |(tenant, queue): (usize, &Queue)| match (queue.open, queue.waiting.front()) {
            (None, Some(&(_, arrival))) => {
                Some((arrival + self.workload.tenant(tenant).batching.wait, tenant))
            }
            _ => None,
        };
        self.queues.iter().enumerate().filter_map(timeout).min()
    }

    fn next_instant(&self) -> Option<SimTime> {
        if self.is_over() {
            return None;
        }
        if !self.holds_back {
            return self.session_next;
        }
        let timeout = self.next_timeout().map(|(at, _)| at);
        [timeout, self.session_next].into_iter().flatten().min()
    }

    /// Runs all events before `until`, or also those at it if `included`.
    pub(crate) fn run_until(
        &mut self,
        until: SimTime,
        included: bool,
        completions: &mut Completions,
    ) {
        while let Some(now) = self.next
            && (now < until || (now == until && included))
        {
            if self.holds_back {
                self.open_overdue(now);
            }
            self.steps.step();
            if self.session_next == Some(now) {
                self.run_instant(now, completions);
            }
            self.next = self.next_instant();
        }
    }

    fn open_overdue(&mut self, now: SimTime) {
        while let Some((at, tenant)) = self.next_timeout()
            && at <= now
        {
            self.open_batch(tenant, now);
        }
    }

    fn run_instant(&mut self, now: SimTime, completions: &mut Completions) {
        let mut events = std::mem::take(&mut self.events);
        if let Err(failure) = self.session.play(now, &mut events) {
            self.failure = Some(failure);
        }
        self.now = now;
        self.session_next = self.session.next_event();
        self.stopped = self.session.stopped();
        for it in events.drain(..) {
            match it {
                RequestEvent::Started(request, _) => self.start(request, now),
                RequestEvent::Executed(request, energy) => {
                    let tenant = self.batches.of(request).tenant;
                    self.queues[tenant].energy += energy;
                    self.batches.end(request, |sample| completions.record(sample, now));
                }
                RequestEvent::Dropped(_) if self.stopped.is_some() => {}
                RequestEvent::Dropped(_) => self.failure = Some(self.workload.dropped_query()),
            }
        }
        self.events = events;
    }

    /// Closes a batch that has started and opens the next one.
    fn start(&mut self, request: RequestId, now: SimTime) {
        let Batch { tenant, samples, .. } = self.batches.of(request);
        let tenant = *tenant;
        let queue = &mut self.queues[tenant];
        let (_, size) = queue.open.take().expect("the batch that starts is the open one");
        for _ in 0..size {
            let first = queue.waiting.pop_front();
            samples.push(first.expect("a batch is of samples that wait").0);
        }
        self.open_batch(tenant, now);
    }

    /// Runs until everything has ended.
    pub(crate) fn drain(&mut self, completions: &mut Completions) {
        self.run_until(SimTime::MAX, true, completions);
    }

    /// The last instant that was played.
    pub(crate) fn now(&self) -> SimTime {
        self.now
    }

    /// Failure of the scheduler.
    pub(crate) fn failure(&self) -> Option<&PolicyFailure> {
        self.failure.as_ref()
    }

    /// Energy of all batches that have ended.
    pub(crate) fn energy(&self) -> Millijoules {
        self.queues.iter().map(|queue| queue.energy).fold(Millijoules::ZERO, |sum, it| sum + it)
    }

    /// Energy of all batches of a tenant that have ended.
    pub(crate) fn energy_of(&self, tenant: usize) -> Millijoules {
        self.queues[tenant].energy
    }

    /// The device from time 0 to `end`: the last instant that was played or later, before any other event; `None` without one.
    pub(crate) fn device(&self, end: SimTime) -> Option<DeviceRun> {
        let (ledger, body) = self.session.account(end)?;
        Some(DeviceRun { ledger, body })
    }

    /// Run of the engine. Its trace has the frames of the background, then the batches if they are traced.
    pub(crate) fn finish(self) -> Run {
        self.session.finish()
    }
}

impl SystemUnderTest for AcceleratorSystem<'_> {
    fn issue(&mut self, now: SimTime, query: &[Sample], completions: &mut Completions) -> SimTime {
        self.run_until(now, false, completions);
        self.arrive(0, query, now);
        now
    }

    fn tells_samples_apart(&self) -> bool {
        false
    }

    fn next_event(&self) -> Option<SimTime> {
        self.next
    }

    /// Samples that wait while trips let nothing start, for longer than a run waits for them, wait for ever.
    fn stopped(&self) -> Option<SimTime> {
        let waits = || self.next.is_none() && !self.batches.batches.is_empty();
        self.stopped.or_else(|| (waits() && self.session.is_halted()).then_some(self.now))
    }

    fn advance(&mut self, until: SimTime, completions: &mut Completions) {
        self.run_until(until, true, completions);
    }
}
