//! 99th percentile of the response times of a model, request by request.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use xrsim_model::scenario::ActiveModel;
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
    /// Latency over the allowed time; 2 if there was no time.
    pub(crate) fn used(self) -> f64 {
        match self.allowed {
            SimSpan::ZERO => 2.0,
            allowed => self.latency.ns() as f64 / allowed.ns() as f64,
        }
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
