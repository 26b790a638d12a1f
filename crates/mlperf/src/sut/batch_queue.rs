//! Queue of samples that are served in batches, first come, first served.

use std::collections::VecDeque;

use xrsim_model::units::{SimSpan, SimTime};

use super::system_under_test::{Completions, Sample};

/// Servers that take batches one after another.
pub(super) trait BatchServers {
    /// Earliest instant at which a server is free.
    fn next_free(&self) -> SimTime;

    /// Starts a batch of `n` samples, the first of which is `first`, at `now`, when a server is free;
    /// returns its completion.
    fn start(&mut self, first: Sample, n: usize, now: SimTime) -> SimTime;
}

/// Rule of batches: one starts when a server is free and either the batch is full or its oldest sample has
/// waited long enough. Batches start one after another, so that the instants at which servers are free
/// determine them.
#[derive(Debug, Clone, Copy)]
pub(super) struct BatchRule {
    /// Largest batch; at least 1.
    pub(super) max: usize,
    /// Longest wait of a sample while its batch is not full.
    pub(super) wait: SimSpan,
}

impl BatchRule {
    /// Start and size of the next batch, of samples that arrive at `arrival(0)`, `arrival(1)` and so on, in
    /// order, when a server is free from `free` on; `None` without samples.
    #[inline]
    pub(super) fn next(
        &self,
        arrival: impl Fn(usize) -> Option<SimTime>,
        free: SimTime,
    ) -> Option<(SimTime, usize)> {
        let timeout = arrival(0)? + self.wait;
        let full = arrival(self.max - 1);
        let now = full.map_or(timeout, |full| full.min(timeout)).max(free);
        // The oldest has arrived.
        let has_arrived = |at| arrival(at).is_some_and(|arrival| arrival <= now);
        let n = (1..self.max).find(|&at| !has_arrived(at)).unwrap_or(self.max);
        Some((now, n))
    }
}

/// Samples that wait for a batch.
#[derive(Debug, Clone)]
pub(super) struct BatchQueue {
    /// Samples with their arrival.
    waiting: VecDeque<(SimTime, Sample)>,
    pub(super) rule: BatchRule,
}

impl BatchQueue {
    pub(super) fn new(rule: BatchRule) -> Self {
        Self { waiting: VecDeque::new(), rule }
    }

    /// Adds the samples of `query`, which arrives at `now`.
    pub(super) fn add(&mut self, query: &[Sample], now: SimTime) {
        query.iter().for_each(|&sample| self.waiting.push_back((now, sample)));
    }

    /// Start and size of the next batch on `servers` if no other sample arrives.
    pub(super) fn next_batch(&self, servers: &impl BatchServers) -> Option<(SimTime, usize)> {
        let arrival = |at| self.waiting.get(at).map(|&(arrival, _)| arrival);
        self.rule.next(arrival, servers.next_free())
    }

    /// Starts the batches that start before `end`, or also at it if `included`.
    pub(super) fn start_batches(
        &mut self,
        servers: &mut impl BatchServers,
        end: SimTime,
        included: bool,
        completions: &mut Completions,
    ) {
        while let Some((now, n)) = self.next_batch(servers)
            && (now < end || (now == end && included))
        {
            let done = servers.start(self.waiting[0].1, n, now);
            let samples = (0..n).map_while(|_| self.waiting.pop_front());
            samples.for_each(|(_, sample)| completions.record(sample.id, done));
        }
    }
}
