//! 99th percentiles of the response times of a model, and of the shares of the time to the deadline that they take,
//! request by request.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ordered_float::OrderedFloat;
use xrsim_model::scenario::ActiveModel;
use xrsim_model::statistics::{Fraction, percentile_index};
use xrsim_model::trace::{Outcome, Record};
use xrsim_model::units::{SimSpan, SimTime};

/// The largest response times of the executed requests of a model, and the largest shares of the time to the deadline
/// that they take: as many as the 99th percentile needs, a hundredth of all. So percentiles are exact, and a run of a day
/// needs little memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Slowest {
    latencies: Largest<SimSpan>,
    /// Shares with the response times.
    shares: Largest<(OrderedFloat<f64>, SimSpan)>,
    n_executed: usize,
}

/// 99th percentiles of a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Response {
    /// Of the response times: from the arrival of the data of a frame to the end of its execution.
    pub latency: SimSpan,
    /// Of the share of the time from this arrival to the deadline that is used; 2 if there was no time.
    pub used: f64,
    /// Response time of the request with this share.
    pub tightest: SimSpan,
}

impl Slowest {
    /// For at most `n_requests` requests.
    pub(crate) fn of(n_requests: usize) -> Self {
        let capacity = rank(n_requests);
        Self { latencies: Largest::of(capacity), shares: Largest::of(capacity), n_executed: 0 }
    }

    /// Adds the next request of a model, which counts if it was executed. A token has the time of a token, from the end of
    /// the one before; the first token counts in the times of its start only.
    pub(super) fn add(&mut self, model: &ActiveModel, record: &Record) {
        let Outcome::Executed { end, .. } = record.outcome else { return };
        let since_arrival = |at: SimTime| at.saturating_since(record.arrival);
        let allowed = match &model.sequence {
            None => since_arrival(record.deadline),
            Some(sequence) if sequence.place(record.frame).1 > Some(0) => sequence.tpot,
            Some(_) => return,
        };
        self.add_times(since_arrival(end), allowed);
    }

    /// Adds an executed request by its response time and the time to its deadline.
    pub(crate) fn add_times(&mut self, latency: SimSpan, allowed: SimSpan) {
        self.n_executed += 1;
        self.latencies.add(latency);
        let used = match allowed {
            SimSpan::ZERO => 2.0,
            allowed => latency.ns() as f64 / allowed.ns() as f64,
        };
        self.shares.add((OrderedFloat(used), latency));
    }

    /// The percentiles; `None` if no request was executed.
    pub(crate) fn p99(&self) -> Option<Response> {
        let at = rank(self.n_executed).checked_sub(1)?;
        let (used, tightest) = self.shares.largest(at)?;
        Some(Response { latency: self.latencies.largest(at)?, used: used.0, tightest })
    }
}

/// The largest of some values.
#[derive(Debug, Clone, Default)]
struct Largest<T: Ord> {
    kept: BinaryHeap<Reverse<T>>,
    /// Most that are kept.
    capacity: usize,
}

impl<T: Ord + Copy> Largest<T> {
    fn of(capacity: usize) -> Self {
        Self { kept: BinaryHeap::new(), capacity }
    }

    fn add(&mut self, value: T) {
        if self.kept.len() < self.capacity {
            self.kept.push(Reverse(value));
        } else if let Some(mut least) = self.kept.peek_mut()
            && least.0 < value
        {
            *least = Reverse(value);
        }
    }

    /// The value after `at` larger ones.
    fn largest(&self, at: usize) -> Option<T> {
        let mut descending: Vec<_> = self.kept.iter().map(|Reverse(it)| *it).collect();
        descending.sort_unstable_by_key(|&it| Reverse(it));
        descending.get(at).copied()
    }
}

/// Rank of the 99th percentile of `n` values, where 1 is the largest value; 0 without values.
fn rank(n: usize) -> usize {
    percentile_index(n, Fraction::P99).map_or(0, |index| n - index)
}

#[cfg(test)]
mod tests {
    use xrsim_model::statistics::percentile;

    use super::*;

    /// Equal to sorting all values, where all requests are executed, two of three, and one.
    #[test]
    fn the_percentile_is_that_of_all_values() {
        let mut state = 7u64;
        for n in [1, 2, 99, 100, 101, 200, 777, 1000] {
            for n_executed in [n, n - n / 3, 1] {
                let mut slowest = Slowest::of(n);
                let mut all = Vec::new();
                for _ in 0..n_executed {
                    state =
                        state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    let latency = SimSpan::from_ns(state >> 50);
                    all.push(latency);
                    slowest.add_times(latency, SimSpan::from_ns(10_000));
                }
                all.sort_unstable();
                let expected = percentile(&all, Fraction::P99);
                assert_eq!(slowest.p99().map(|it| it.latency), expected, "{n} {n_executed}");
                assert!(slowest.latencies.kept.len() <= n / 100 + 1);
            }
        }
        assert_eq!(Slowest::of(0).p99(), None);
    }

    /// Every second request has 20 ms and takes 19, the others have 40 ms and take 30.
    #[test]
    fn the_share_is_that_of_the_request_with_the_least_time_left() {
        let ms = |ms: u64| SimSpan::from_ns(1_000_000 * ms);
        let mut slowest = Slowest::of(100);
        for _ in 0..50 {
            slowest.add_times(ms(30), ms(40));
            slowest.add_times(ms(19), ms(20));
        }
        let expected = Response { latency: ms(30), used: 0.95, tightest: ms(19) };
        assert_eq!(slowest.p99(), Some(expected));
        let mut no_time = Slowest::of(1);
        no_time.add_times(ms(1), SimSpan::ZERO);
        assert_eq!(no_time.p99().map(|it| it.used), Some(2.0));
    }
}
