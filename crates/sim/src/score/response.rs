//! 99th percentile of the response times of a model, request by request.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use xrsim_model::statistics::{Fraction, percentile_index};
use xrsim_model::trace::{Outcome, Record};
use xrsim_model::units::{SimSpan, SimTime};

/// The largest response times of the executed requests of a model: as many as the 99th percentile needs, a hundredth
/// of all. So the percentile is exact, and a run of a day needs little memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Slowest {
    /// Response time, and time from arrival to deadline.
    largest: BinaryHeap<Reverse<(SimSpan, SimSpan)>>,
    /// Most response times that are kept.
    capacity: usize,
    n_executed: usize,
}

/// 99th percentile of the response times of a model, and the time that this request had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Response {
    /// From the arrival of the data of a frame to the end of its execution.
    pub latency: SimSpan,
    /// From the same arrival to the deadline.
    pub allowed: SimSpan,
}

impl Slowest {
    /// For at most `n_requests` requests.
    pub(crate) fn of(n_requests: usize) -> Self {
        Self { capacity: rank(n_requests), ..Self::default() }
    }

    /// Adds the next request, which counts if it was executed.
    pub(super) fn add(&mut self, record: &Record) {
        if let Outcome::Executed { end, .. } = record.outcome {
            let since_arrival = |at: SimTime| at.saturating_since(record.arrival);
            self.add_times(since_arrival(end), since_arrival(record.deadline));
        }
    }

    /// Adds an executed request by its response time and the time to its deadline.
    pub(crate) fn add_times(&mut self, latency: SimSpan, allowed: SimSpan) {
        self.n_executed += 1;
        if self.largest.len() < self.capacity {
            self.largest.push(Reverse((latency, allowed)));
        } else if let Some(mut least) = self.largest.peek_mut()
            && least.0 < (latency, allowed)
        {
            *least = Reverse((latency, allowed));
        }
    }

    /// The percentile; `None` if no request was executed.
    pub(crate) fn p99(&self) -> Option<Response> {
        let mut descending: Vec<_> = self.largest.iter().map(|Reverse(it)| *it).collect();
        descending.sort_unstable_by_key(|&it| Reverse(it));
        let (latency, allowed) = *descending.get(rank(self.n_executed).checked_sub(1)?)?;
        Some(Response { latency, allowed })
    }
}

impl Response {
    /// Latency over the allowed time.
    pub(crate) fn used(self) -> f64 {
        self.latency.ns() as f64 / self.allowed.ns().max(1) as f64
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
                assert!(slowest.largest.len() <= n / 100 + 1);
            }
        }
        assert_eq!(Slowest::of(0).p99(), None);
    }
}
