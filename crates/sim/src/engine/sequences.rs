//! Rules of sequences in a run: times of their requests, and room for their caches.

use std::collections::VecDeque;

use crate::plan::Plan;
use xrsim_model::ids::{ModelId, RequestId};
use xrsim_model::scenario::{ActiveModel, Pace, Sequence};
use xrsim_model::units::{SimSpan, SimTime};

use super::requests::Live;

/// Sequences of a run.
pub(super) struct Sequences {
    /// Indexed by [`ModelId`]; empty if no model is a sequence.
    rules: Box<[Option<Rule>]>,
    /// Room for caches \[byte\].
    free: u64,
    /// Starts that wait for room, in order of arrival, with the room that they need.
    waiting: VecDeque<(RequestId, Held)>,
    /// Starts that have room.
    held: Vec<Held>,
}

/// Rule of a model that is a sequence.
struct Rule {
    sequence: Sequence,
    /// Span from the end of a token to the deadline of the next one; `None` if deadlines are fixed before the run.
    tpot: Option<SimSpan>,
}

/// Cache of a start.
#[derive(Clone, Copy)]
struct Held {
    model: ModelId,
    start: u64,
    bytes: u64,
}

impl Sequences {
    pub(super) fn new(plan: &Plan) -> Self {
        let models = || plan.scenario.models().iter();
        let rule = |model: &ActiveModel| {
            let sequence = model.sequence.clone()?;
            let tpot = plan.load.scaled(sequence.tpot);
            let tpot = (sequence.pace == Pace::Chained).then_some(tpot);
            Some(Rule { sequence, tpot })
        };
        let any = models().any(|model| model.sequence.is_some());
        Self {
            rules: if any { models().map(rule).collect() } else { Box::default() },
            free: plan.cache_room().unwrap_or(u64::MAX),
            waiting: VecDeque::new(),
            held: Vec::new(),
        }
    }

    #[inline]
    fn rule(&self, model: ModelId) -> Option<&Rule> {
        self.rules.get(model.index())?.as_ref()
    }

    /// Whether a model is a sequence.
    #[inline]
    pub(super) fn has(&self, model: ModelId) -> bool {
        self.rule(model).is_some()
    }

    /// Whether a request whose results are there may become ready. A start that has no room for its cache waits for
    /// [`Sequences::admit_next`].
    #[inline]
    pub(super) fn admit(&mut self, id: RequestId, request: &Live) -> bool {
        let Some(rule) = self.rule(request.record.model).filter(|_| request.begins) else {
            return true;
        };
        let model = request.record.model;
        let (start, _) = rule.sequence.place(request.record.frame);
        let held = Held { model, start, bytes: rule.sequence.cache() };
        if !self.waiting.is_empty() || held.bytes > self.free {
            self.waiting.push_back((id, held));
            return false;
        }
        self.hold(held);
        true
    }

    fn hold(&mut self, held: Held) {
        self.free -= held.bytes;
        self.held.push(held);
    }

    /// The first start that waits, if there is room for its cache now.
    #[inline]
    pub(super) fn admit_next(&mut self) -> Option<RequestId> {
        let &(id, held) = self.waiting.front().filter(|(_, held)| held.bytes <= self.free)?;
        self.waiting.pop_front();
        self.hold(held);
        Some(id)
    }

    /// Frees the cache of a start whose last request has ended.
    #[inline]
    pub(super) fn end(&mut self, request: &Live) {
        let Some(rule) = self.rule(request.record.model).filter(|_| request.ends) else { return };
        let (start, _) = rule.sequence.place(request.record.frame);
        let is_it = |it: &Held| it.model == request.record.model && it.start == start;
        if let Some(place) = self.held.iter().position(is_it) {
            self.free += self.held.swap_remove(place).bytes;
        }
    }

    /// Sets arrival and deadline of a request that becomes ready because the one before it in its sequence has ended.
    #[inline]
    pub(super) fn pace(&self, request: &mut Live, now: SimTime) {
        let Some(rule) = self.rule(request.record.model).filter(|_| !request.begins) else {
            return;
        };
        request.record.arrival = now;
        let (_, token) = rule.sequence.place(request.record.frame);
        if let Some(tpot) = rule.tpot.filter(|_| token >= Some(1)) {
            request.record.deadline = now + tpot;
        }
    }
}
