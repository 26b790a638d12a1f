//! Runs whose requests are not all known in advance: a load generator submits requests during the run.

use crate::device::{Body, Ledger};
use crate::load::{Request, RequestStream};
use crate::plan::Plan;
use crate::schedule::PolicyFailure;
use xrsim_model::cost::CostTable;
use xrsim_model::ids::RequestId;
use xrsim_model::trace::Trace;
use xrsim_model::units::SimTime;

use super::Run;
use super::event::RequestEvent;
use super::step::Engine;

/// Requests that the trace of a session contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Traced {
    /// Requests of the load, then submitted requests; without these if the device stops before the load ends.
    All,
    /// Requests of the load; submitted requests are recycled after completion.
    Load,
}

/// A run in progress. The requests of its load play as in [`run`](super::run). Submitted requests are
/// ready at once, and wait without limit.
pub struct Session<'a> {
    engine: Engine<'a>,
    traced: Traced,
    /// Requests of the load that have left.
    trace: Trace,
}

impl<'a> Session<'a> {
    /// Starts a run of `requests`, which may be empty. Its trace contains the requests in `traced`.
    ///
    /// # Errors
    ///
    /// [`PolicyFailure`] if the scheduler cannot be constructed.
    ///
    /// # Panics
    ///
    /// As [`run`](super::run).
    pub fn new(
        plan: &'a Plan,
        costs: &'a CostTable,
        requests: &'a RequestStream,
        traced: Traced,
    ) -> Result<Self, PolicyFailure> {
        plan.check(costs).expect("the costs are those of the plan");
        let mut engine = Engine::new(plan, costs, requests.into())?;
        engine.expect_submissions();
        if traced == Traced::All {
            engine.keep_points();
        }
        Ok(Self { engine, traced, trace: Trace::default() })
    }

    /// Submits a request at `now`. The arrival of the request may be earlier.
    ///
    /// `now` is the time of the last [`Session::play`] or later, and not after [`Session::next_event`].
    /// The next event is then at `now` if the request can have an effect there, for example because an
    /// accelerator is idle.
    ///
    /// # Panics
    ///
    /// If the costs have no batch of that size.
    pub fn submit(&mut self, request: Request, now: SimTime) -> RequestId {
        self.engine.submit(request, now)
    }

    /// Changes the batch of a submitted request that has not started to `batch` samples.
    ///
    /// # Panics
    ///
    /// If the costs have no batch of that size.
    pub fn set_batch(&mut self, request: RequestId, batch: u32) {
        self.engine.set_batch(request, batch);
    }

    /// Time of the next event; `None` if everything has ended.
    pub fn next_event(&mut self) -> Option<SimTime> {
        self.engine.next_instant()
    }

    /// Plays all events at `now`, which is [`Session::next_event`]. The events of submitted requests
    /// since the last call replace the content of `events`.
    ///
    /// # Errors
    ///
    /// [`PolicyFailure`] if the scheduler fails.
    pub fn play(
        &mut self,
        now: SimTime,
        events: &mut Vec<RequestEvent>,
    ) -> Result<(), PolicyFailure> {
        events.clear();
        let result = self.engine.step(now);
        self.engine.swap_request_events(events);
        self.engine.leave(&mut |entry| self.trace.push(entry));
        if self.traced == Traced::Load {
            self.engine.recycle();
        }
        result
    }

    /// The instant at which the device stopped, if it did. All submitted requests have ended then.
    pub fn stopped(&self) -> Option<SimTime> {
        self.engine.stopped()
    }

    /// Whether the device lets nothing start on some accelerator at present.
    pub fn is_halted(&self) -> bool {
        self.engine.is_halted()
    }

    /// Account of the energy, and heat and charge, as of `end`: the last [`Session::play`] or later, and no later than
    /// [`Session::next_event`]; `None` without a device.
    pub fn account(&self, end: SimTime) -> Option<(Ledger, Body)> {
        self.engine.account(end)
    }

    /// Trace of the run so far, and the number of its events.
    pub fn finish(self) -> Run {
        self.engine.finish(self.trace, self.traced == Traced::All)
    }
}
