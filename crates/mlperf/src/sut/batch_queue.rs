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

/// Samples that wait for a batch.
///
/// A batch starts when a server is free and either the batch is full or its oldest sample has waited long
/// enough. Batches start one after another, so that the instants at which servers are free determine them.
#[derive(Debug, Clone)]
pub(super) struct BatchQueue {
    /// Samples with their arrival.
    waiting: VecDeque<(SimTime, Sample)>,
    /// Largest batch; at least 1.
    max: usize,
    /// Longest wait of a sample while its batch is not full.
    wait: SimSpan,
}

impl BatchQueue {
    pub(super) fn new(max: usize, wait: SimSpan) -> Self {
        Self { waiting: VecDeque::new(), max, wait }
    }

    /// Adds the samples of `query`, which arrives at `now`.
    pub(super) fn add(&mut self, query: &[Sample], now: SimTime) {
        query.iter().for_each(|&sample| self.waiting.push_back((now, sample)));
    }

    /// Instant at which the next batch starts on `servers` if no other sample arrives.
    pub(super) fn next_batch(&self, servers: &impl BatchServers) -> Option<SimTime> {
        let &(oldest, _) = self.waiting.front()?;
        let timeout = oldest + self.wait;
        let full = self.waiting.get(self.max - 1);
        let ready = full.map_or(timeout, |&(arrival, _)| arrival.min(timeout));
        Some(ready.max(servers.next_free()))
    }

    /// Starts the batches that start before `end`, or also at it if `included`.
    pub(super) fn start_batches(
        &mut self,
        servers: &mut impl BatchServers,
        end: SimTime,
        included: bool,
        completions: &mut Completions,
    ) {
        while let Some(now) = self.next_batch(servers)
            && (now < end || (now == end && included))
        {
            // The oldest has arrived.
            let has_arrived = |at| self.waiting.get(at).is_some_and(|&(arrival, _)| arrival <= now);
            let n = (1..self.max).find(|&at| !has_arrived(at)).unwrap_or(self.max);
            let done = servers.start(self.waiting[0].1, n, now);
            let samples = (0..n).map_while(|_| self.waiting.pop_front());
            samples.for_each(|(_, sample)| completions.record(sample.id, done));
        }
    }
}
