//! Sources of events besides arrivals: expiries and completions, each in order of time.
//!
//! A request has a timer from its arrival on, and few requests are on their way at a time: a heap of their timers is
//! small. Completions depend on the decisions of the scheduler. There is at most one for
//! each accelerator. A tournament tree over the accelerators sets, moves or clears a completion in
//! `O(log accelerators)`, which preemption and shared bandwidth need.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use xrsim_model::ids::{AccelId, RequestId};
use xrsim_model::scenario::Scenario;
use xrsim_model::trace::Record;
use xrsim_model::units::{SimSpan, SimTime};

/// Expiries: the time at which each request that has arrived is given up unless it has started.
pub(super) struct Expiries {
    /// The earliest (time, depth of the model in the dependency graph, request) first. At equal times upstream
    /// requests expire first, so that their dependants are dropped because of them, for every order of
    /// models in the scenario file.
    timers: BinaryHeap<Reverse<(SimTime, u32, RequestId)>>,
    /// Depth of every model.
    depths: Vec<u32>,
    grace: SimSpan,
}

impl Expiries {
    /// No timers; those that are added are at deadline plus `grace`, or at the arrival if that is later.
    pub(super) fn new(scenario: &Scenario, grace: SimSpan) -> Self {
        Self { timers: BinaryHeap::new(), depths: depths(scenario), grace }
    }

    /// Adds the timer of a request that arrives. If there are many more timers than `n_live`, discards all but those of
    /// requests for which `is_pending` holds, so that long graces take no memory for requests that have ended.
    pub(super) fn add(
        &mut self,
        request: RequestId,
        record: &Record,
        n_live: usize,
        is_pending: impl Fn(RequestId) -> bool,
    ) {
        if self.timers.len() > 2 * n_live + 64 {
            self.timers.retain(|&Reverse((.., id))| is_pending(id));
        }
        let time = (record.deadline + self.grace).max(record.arrival);
        self.timers.push(Reverse((time, self.depths[record.model.index()], request)));
    }

    /// Time of the next timer of a request for which `is_pending` holds. Discards the timers before it.
    pub(super) fn peek(&mut self, is_pending: impl Fn(RequestId) -> bool) -> Option<SimTime> {
        while let Some(&Reverse((time, _, id))) = self.timers.peek() {
            if is_pending(id) {
                return Some(time);
            }
            self.timers.pop();
        }
        None
    }

    /// Takes the next timer if it is due at `now`.
    pub(super) fn pop(&mut self, now: SimTime) -> Option<RequestId> {
        let &Reverse((time, _, id)) = self.timers.peek()?;
        (time <= now).then(|| {
            self.timers.pop();
            id
        })
    }
}

/// Length of the longest chain of upstream models of each model.
fn depths(scenario: &Scenario) -> Vec<u32> {
    let mut depths = vec![0; scenario.models().len()];
    for &id in scenario.topological() {
        let upstream = scenario.model(id).dependencies.iter();
        depths[id.index()] =
            upstream.map(|dependency| depths[dependency.upstream.index()] + 1).max().unwrap_or(0);
    }
    depths
}

/// Completion time of each busy accelerator: a tournament tree whose root is the earliest completion;
/// of equal times, the one with the lowest id.
pub(super) struct Completions {
    /// Complete binary tree: node `i` is the smaller one of nodes `2i` and `2i + 1`, and accelerator `a`
    /// is leaf `width + a`.
    nodes: Vec<Entrant>,
    width: usize,
}

/// A completion as one number: its time, then its accelerator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entrant(u128);

impl Entrant {
    /// An entrant after every completion, even one at the largest time.
    const NONE: Self = Self(u128::MAX);

    fn new(time: SimTime, accelerator: AccelId) -> Self {
        Self(u128::from(time.ns()) << 32 | accelerator.index() as u128)
    }

    fn time(self) -> SimTime {
        SimTime::from_ns((self.0 >> 32) as u64)
    }

    fn accelerator(self) -> AccelId {
        AccelId::new(self.0 as u32 as usize)
    }
}

impl Completions {
    pub(super) fn new(n_accelerators: usize) -> Self {
        let width = n_accelerators.next_power_of_two();
        Self { nodes: vec![Entrant::NONE; 2 * width], width }
    }

    /// Time of the next completion.
    #[inline]
    pub(super) fn peek(&self) -> Option<SimTime> {
        let root = self.nodes[1];
        (root != Entrant::NONE).then(|| root.time())
    }

    /// Takes the next completion that is due at `now`.
    #[inline]
    pub(super) fn pop(&mut self, now: SimTime) -> Option<AccelId> {
        let due = self.peek()? <= now;
        due.then(|| {
            let accelerator = self.nodes[1].accelerator();
            self.clear(accelerator);
            accelerator
        })
    }

    /// Sets the completion of `accelerator`, in place of an earlier one.
    #[inline]
    pub(super) fn set(&mut self, accelerator: AccelId, time: SimTime) {
        self.enter(accelerator, Entrant::new(time, accelerator));
    }

    /// Removes the completion of `accelerator`.
    #[inline]
    pub(super) fn clear(&mut self, accelerator: AccelId) {
        self.enter(accelerator, Entrant::NONE);
    }

    #[inline]
    fn enter(&mut self, accelerator: AccelId, entrant: Entrant) {
        let mut node = self.width + accelerator.index();
        self.nodes[node] = entrant;
        while node > 1 {
            node /= 2;
            self.nodes[node] = self.nodes[2 * node].min(self.nodes[2 * node + 1]);
        }
    }
}

/// The earlier one of two times of which either may be absent.
pub(super) fn earlier(one: Option<SimTime>, other: Option<SimTime>) -> Option<SimTime> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        _ => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::Request;
    use std::sync::Arc;
    use xrsim_model::ids::{FrameId, ModelId};
    use xrsim_model::model::{ConvShape, Layer, Network};
    use xrsim_model::scenario::{ActiveModel, UnitModel};
    use xrsim_model::units::FrameRate;

    fn at(ns: u64) -> SimTime {
        SimTime::from_ns(ns)
    }

    /// Of 10,000 requests with deadlines far away, the last ten wait.
    #[test]
    fn timers_of_requests_that_have_ended_are_few() {
        let model = ActiveModel::new(UnitModel::new("model", network()), rate());
        let scenario = Scenario::new("test", Vec::new(), vec![model]).expect("it is valid");
        let mut expiries = Expiries::new(&scenario, SimSpan::from_ns(1 << 60));
        for index in 0..10_000 {
            let (id, arrival) = (RequestId::new(index), at(index as u64));
            let record =
                Request::new(ModelId::new(0), FrameId::new(index), arrival, arrival).record();
            expiries.add(id, &record, 10, |other| other.index() + 10 > index);
            assert!(expiries.timers.len() <= 85);
        }
        assert_eq!(expiries.peek(|id| id.index() >= 9_995), Some(at((1 << 60) + 9_995)));
    }

    fn network() -> Arc<Network> {
        let layer = Layer::new("layer", ConvShape::UNIT);
        Arc::new(Network::new("network", vec![layer]).expect("one layer is a network"))
    }

    fn rate() -> FrameRate {
        FrameRate::from_fps(1.0).expect("it is a rate")
    }

    #[test]
    fn completions_are_in_order_of_time_then_accelerator() {
        let mut completions = Completions::new(5);
        for (accelerator, time) in [(4, 7), (2, 9), (3, 7), (0, 9)] {
            completions.set(AccelId::new(accelerator), at(time));
        }
        assert_eq!(completions.pop(at(6)), None);
        let order: Vec<_> = std::iter::from_fn(|| completions.pop(at(9))).collect();
        assert_eq!(order, [3, 4, 0, 2].map(AccelId::new));
        assert_eq!(completions.peek(), None);
    }

    #[test]
    fn completion_times_can_be_moved_and_withdrawn() {
        let mut completions = Completions::new(3);
        let [first, second] = [0, 1].map(AccelId::new);
        completions.set(first, at(5));
        completions.set(second, at(6));
        completions.set(first, at(8));
        assert_eq!(completions.peek(), Some(at(6)));
        completions.clear(second);
        assert_eq!(completions.pop(at(8)), Some(first));
    }

    #[test]
    fn a_completion_at_the_largest_time_is_kept() {
        let mut completions = Completions::new(1);
        completions.set(AccelId::new(0), SimTime::MAX);
        assert_eq!(completions.peek(), Some(SimTime::MAX));
        assert_eq!(completions.pop(SimTime::MAX), Some(AccelId::new(0)));
        assert_eq!(completions.pop(SimTime::MAX), None);
    }
}
