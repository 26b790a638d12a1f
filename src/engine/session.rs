//! Runs whose requests are not all known before: a load generator submits them as it goes.

use crate::cost::CostTable;
use crate::ids::{AccelId, RequestId};
use crate::load::{Request, RequestStream};
use crate::plan::Plan;
use crate::schedule::PolicyFailure;
use crate::units::{Millijoules, SimTime};

use super::Run;
use super::step::Engine;

/// What a submitted request did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RequestEvent {
    /// Its first layer started there.
    Started(RequestId, AccelId),
    /// It ran to its end, and took that much.
    Executed(RequestId, Millijoules),
    /// The policy gave it up.
    Dropped(RequestId),
}

/// Which requests the trace of a session has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Traced {
    /// Those of the load, then the submitted ones.
    All,
    /// Those of the load; the memory of the others is theirs who come after them.
    Load,
}

/// A run in request_events. Beside the requests of its load, which play as in [`run`](super::run), others
/// are submitted; they are ready at once and wait for as long as it takes.
pub struct Session<'a>(Engine<'a>);

impl<'a> Session<'a> {
    /// Starts a run of `requests`, of which there may be none, to leave a trace of those `traced`.
    ///
    /// # Errors
    ///
    /// If the policy does not come.
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
        Engine::new(plan, costs, requests, traced == Traced::Load).map(Self)
    }

    /// Adds a request at `now`, the time of the last [`Session::play`] or later but not later than
    /// [`Session::next_event`], which is `now` afterwards if something can come of it, as when an
    /// accelerator is idle. It counts as released at `arrival`, which may be earlier.
    ///
    /// # Panics
    ///
    /// If the costs have no batch of that size.
    pub fn submit(&mut self, request: Request, now: SimTime) -> RequestId {
        self.0.submit(request, now)
    }

    /// Changes the batch of a submitted request that has not started to `batch` samples.
    ///
    /// # Panics
    ///
    /// If the costs have no batch of that size.
    pub fn set_batch(&mut self, request: RequestId, batch: u32) {
        self.0.set_batch(request, batch);
    }

    /// When something happens next; `None` if everything has ended.
    pub fn next_event(&mut self) -> Option<SimTime> {
        self.0.next_instant()
    }

    /// Plays everything that happens at `now`, which is [`Session::next_event`]. What submitted requests
    /// did then replaces what `request_events` held.
    ///
    /// # Errors
    ///
    /// If the policy breaks off.
    pub fn play(
        &mut self,
        now: SimTime,
        request_events: &mut Vec<RequestEvent>,
    ) -> Result<(), PolicyFailure> {
        request_events.clear();
        let result = self.0.step(now);
        self.0.swap_request_events(request_events);
        result
    }

    /// What happened, of the requests that are traced.
    pub fn finish(self) -> Run {
        self.0.into_run()
    }
}
