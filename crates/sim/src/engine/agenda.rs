//! Sources of events: arrivals, expiries and completions, each in order of time.
//!
//! Arrivals and expiries are known before the run. They are sorted once and read in order: an event
//! costs a comparison and accesses memory in sequence, where a heap of all events would cost its depth
//! in cache misses. Only completions depend on the decisions of the scheduler. There is at most one for
//! each accelerator. A tournament tree over the accelerators sets, moves or clears a completion in
//! `O(log accelerators)`, which preemption and shared bandwidth need.

use crate::load::{Request, RequestStream};
use xrsim_model::ids::{AccelId, RequestId};
use xrsim_model::scenario::Scenario;
use xrsim_model::units::{SimSpan, SimTime};

/// Arrivals, in the order of the stream.
pub(super) struct Arrivals<'a> {
    requests: &'a [Request],
    next: usize,
}

impl<'a> Arrivals<'a> {
    pub(super) fn new(requests: &'a RequestStream) -> Self {
        Self { requests: requests.requests(), next: 0 }
    }

    /// Time of the next arrival.
    pub(super) fn peek(&self) -> Option<SimTime> {
        self.requests.get(self.next).map(|request| request.arrival)
    }

    /// Takes the next arrival that is due at `now`.
    pub(super) fn pop(&mut self, now: SimTime) -> Option<RequestId> {
        let due = self.peek()? <= now;
        due.then(|| {
            self.next += 1;
            RequestId::new(self.next - 1)
        })
    }
}

/// Expiries: the time at which each request is given up unless it has started.
pub(super) struct Expiries {
    /// In order of (time, depth of the model in the dependency graph, request). At equal times upstream
    /// requests expire first, so that their dependants are dropped because of them, for every order of
    /// models in the scenario file.
    timers: Vec<(SimTime, u32, RequestId)>,
    next: usize,
}

impl Expiries {
    /// Timers at deadline plus `grace`, or at the arrival if that is later.
    pub(super) fn new(scenario: &Scenario, requests: &RequestStream, grace: SimSpan) -> Self {
        let depths = depths(scenario);
        let timer = |(index, request): (usize, &Request)| {
            let expiry = (request.deadline + grace).max(request.arrival);
            (expiry, depths[request.model.index()], RequestId::new(index))
        };
        let mut timers: Vec<_> = requests.requests().iter().enumerate().map(timer).collect();
        timers.sort();
        Self { timers, next: 0 }
    }

    /// Time of the next timer of a request for which `is_pending` holds. Discards the timers before it.
    pub(super) fn peek(&mut self, is_pending: impl Fn(RequestId) -> bool) -> Option<SimTime> {
        while let Some(&(time, _, id)) = self.timers.get(self.next) {
            if is_pending(id) {
                return Some(time);
            }
            self.next += 1;
        }
        None
    }

    /// Takes the next timer if it is due at `now`.
    pub(super) fn pop(&mut self, now: SimTime) -> Option<RequestId> {
        let &(time, _, id) = self.timers.get(self.next)?;
        (time <= now).then(|| {
            self.next += 1;
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

type Entrant = (SimTime, AccelId);

impl Completions {
    pub(super) fn new(n_accelerators: usize) -> Self {
        let width = n_accelerators.next_power_of_two();
        Self { nodes: vec![Self::none(); 2 * width], width }
    }

    /// An entrant after every completion, even one at the largest time.
    fn none() -> Entrant {
        (SimTime::MAX, AccelId::new(u32::MAX as usize))
    }

    /// Time of the next completion.
    pub(super) fn peek(&self) -> Option<SimTime> {
        let root = self.nodes[1];
        (root != Self::none()).then_some(root.0)
    }

    /// Takes the next completion that is due at `now`.
    pub(super) fn pop(&mut self, now: SimTime) -> Option<AccelId> {
        let due = self.peek()? <= now;
        due.then(|| {
            let accelerator = self.nodes[1].1;
            self.clear(accelerator);
            accelerator
        })
    }

    /// Sets the completion of `accelerator`, in place of an earlier one.
    pub(super) fn set(&mut self, accelerator: AccelId, time: SimTime) {
        self.enter(accelerator, (time, accelerator));
    }

    /// Removes the completion of `accelerator`.
    pub(super) fn clear(&mut self, accelerator: AccelId) {
        self.enter(accelerator, Self::none());
    }

    fn enter(&mut self, accelerator: AccelId, entrant: Entrant) {
        let mut node = self.width + accelerator.index();
        self.nodes[node] = entrant;
        while node > 1 {
            node /= 2;
            self.nodes[node] = self.nodes[2 * node].min(self.nodes[2 * node + 1]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ns: u64) -> SimTime {
        SimTime::from_ns(ns)
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
