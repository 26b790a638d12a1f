//! Direct implementation of the rules of the runtime: it examines every request at every instant. It is slow
//! and short, and the engine must agree with it. The scheduler is latency-greedy, late requests finish, and
//! newer frames replace nothing.

use std::collections::BTreeSet;

use xrsim::ids::{AccelId, RequestId};
use xrsim::load::RequestStream;
use xrsim::trace::{DropReason, Outcome};
use xrsim::units::{Millijoules, SimTime};

struct SlowEngine<'a> {
    plan: &'a super::runs::Case,
    requests: &'a RequestStream,
    /// Outcome of every request that has started.
    started: Vec<Option<Outcome>>,
    ended: Vec<Option<Outcome>>,
    instants: BTreeSet<SimTime>,
}

/// The outcome of every request.
pub fn play(plan: &super::runs::Case, requests: &RequestStream) -> Vec<Outcome> {
    let n = requests.requests().len();
    let mut engine = SlowEngine {
        plan,
        requests,
        started: vec![None; n],
        ended: vec![None; n],
        instants: BTreeSet::new(),
    };
    for id in engine.ids() {
        engine.instants.insert(requests.request(id).arrival);
        engine.instants.insert(engine.expiry(id));
    }
    while let Some(now) = engine.instants.pop_first() {
        engine.step(now);
    }
    engine.ended.into_iter().map(|outcome| outcome.expect("every request ends")).collect()
}

impl SlowEngine<'_> {
    fn ids(&self) -> Vec<RequestId> {
        (0..self.requests.requests().len()).map(RequestId::new).collect()
    }

    fn expiry(&self, id: RequestId) -> SimTime {
        let request = self.requests.request(id);
        (request.deadline + self.plan.engine.grace).max(request.arrival)
    }

    fn step(&mut self, now: SimTime) {
        for id in self.ids() {
            let started = self.started[id.index()];
            if let Some(Outcome::Executed { end, .. }) = started
                && end == now
            {
                self.ended[id.index()] = started;
            }
        }
        self.follow_upstream(now);
        while let Some(id) = self.next_expired(now) {
            self.give_up(id, DropReason::Deadline, now);
            self.follow_upstream(now);
        }
        while let (Some(id), Some(accelerator)) = (self.first_ready(now), self.fastest_idle(now)) {
            self.start(id, accelerator, now);
        }
    }

    fn waits(&self, id: RequestId, now: SimTime) -> bool {
        let index = id.index();
        self.requests.request(id).arrival <= now
            && self.started[index].is_none()
            && self.ended[index].is_none()
    }

    fn executed(&self, id: RequestId) -> bool {
        matches!(self.ended[id.index()], Some(Outcome::Executed { .. }))
    }

    /// Ends requests whose upstream outcome decides theirs, until nothing changes.
    fn follow_upstream(&mut self, now: SimTime) {
        let decided = |engine: &Self, id: RequestId| {
            let upstream = engine.requests.upstream(id);
            let void = |&up: &RequestId| engine.ended[up.index()].is_some() && !engine.executed(up);
            let unasked = !engine.requests.request(id).triggered;
            engine.waits(id, now)
                && (upstream.iter().any(void)
                    || unasked && upstream.iter().all(|&up| engine.executed(up)))
        };
        while let Some(id) = self.ids().into_iter().find(|&id| decided(self, id)) {
            self.give_up(id, DropReason::Upstream, now);
        }
    }

    /// An expired request of which no upstream request expires at the same instant.
    fn next_expired(&self, now: SimTime) -> Option<RequestId> {
        let expired = |&id: &RequestId| self.waits(id, now) && self.expiry(id) <= now;
        self.ids()
            .into_iter()
            .filter(expired)
            .find(|&id| !self.requests.upstream(id).iter().any(expired))
    }

    fn give_up(&mut self, id: RequestId, reason: DropReason, now: SimTime) {
        let energy = Millijoules::ZERO;
        let dropped = Outcome::Dropped { at: now, reason, energy, attempt: None };
        let triggered = self.requests.request(id).triggered;
        self.ended[id.index()] = Some(if triggered { dropped } else { Outcome::NotTriggered });
    }

    fn first_ready(&self, now: SimTime) -> Option<RequestId> {
        let ready = |&id: &RequestId| {
            let upstream = self.requests.upstream(id);
            self.waits(id, now) && upstream.iter().all(|&up| self.executed(up))
        };
        let order = |&id: &RequestId| {
            let request = self.requests.request(id);
            (request.arrival, request.deadline, request.model, request.frame)
        };
        self.ids().into_iter().filter(ready).min_by_key(order)
    }

    fn fastest_idle(&self, now: SimTime) -> Option<AccelId> {
        let model = self.requests.request(self.first_ready(now)?).model;
        let n_accelerators = self.plan.system.accelerators().len();
        let busy = |id: AccelId| {
            let running = self.started.iter().zip(&self.ended).filter(|(_, end)| end.is_none());
            running.filter_map(|(start, _)| *start).any(
                |start| matches!(start, Outcome::Executed { accelerator, .. } if accelerator == id),
            )
        };
        (0..n_accelerators)
            .map(AccelId::new)
            .filter(|&id| !busy(id))
            .min_by_key(|&id| (self.plan.costs.on(model, id).latency(), id))
    }

    fn start(&mut self, id: RequestId, accelerator: AccelId, now: SimTime) {
        let model = self.requests.request(id).model;
        let end = now + self.plan.costs.on(model, accelerator).latency();
        self.instants.insert(end);
        let energy = self.plan.costs.on(model, accelerator).energy();
        let run = Outcome::Executed { accelerator, start: now, end, energy };
        self.started[id.index()] = Some(run);
    }
}
