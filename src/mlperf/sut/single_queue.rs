//! One tenant on accelerators that do nothing else and take batches first come, first served: what the
//! engine would do, without its events.

use std::collections::VecDeque;

use crate::cost::CostTable;
use crate::ids::{AccelId, ModelId};
use crate::units::{Millijoules, SimTime};

use super::batching::Batching;
use super::system_under_test::{Completions, Sample, SystemUnderTest};

/// A measurement in progress.
///
/// Batches begin one after another, so that it is enough to know when each accelerator is free: the next
/// batch begins when one is, and either it is full or its oldest sample has waited long enough.
pub(crate) struct SingleQueueSystem<'a> {
    costs: &'a CostTable,
    /// Row of a batch of one sample; the larger ones follow.
    first_row: usize,
    batching: Batching,
    /// When each accelerator is free.
    free: Vec<SimTime>,
    /// The earliest of these.
    next_free: SimTime,
    /// Samples with their arrival.
    waiting: VecDeque<(u32, SimTime)>,
    energy: Millijoules,
}

impl<'a> SingleQueueSystem<'a> {
    /// A queue in front of idle accelerators.
    pub(crate) fn new(costs: &'a CostTable, first_row: usize, batching: Batching) -> Self {
        Self {
            costs,
            first_row,
            batching,
            free: vec![SimTime::ZERO; costs.n_accelerators()],
            next_free: SimTime::ZERO,
            waiting: VecDeque::new(),
            energy: Millijoules::ZERO,
        }
    }

    /// Energy of every batch that has begun.
    pub(crate) fn energy(&self) -> Millijoules {
        self.energy
    }

    /// When the next batch begins, if no other sample arrives.
    fn next_batch(&self) -> Option<SimTime> {
        let &(_, oldest) = self.waiting.front()?;
        let waited = oldest + self.batching.wait;
        let full = self.waiting.get(self.batching.max as usize - 1);
        let ready = full.map_or(waited, |&(_, arrival)| arrival.min(waited));
        Some(ready.max(self.next_free))
    }

    /// Begins the batches that begin before `end`, or at it as `included` says.
    fn begin_batches(&mut self, end: SimTime, included: bool, completions: &mut Completions) {
        while let Some(now) = self.next_batch()
            && (now < end || (now == end && included))
        {
            let has_come = |&&(_, arrival): &&(u32, SimTime)| arrival <= now;
            let max = self.batching.max as usize;
            let n = self.waiting.iter().take(max).take_while(has_come).count();
            let done = self.serve(n, now);
            for (sample, _) in self.waiting.drain(..n) {
                completions.record(sample, done);
            }
        }
    }

    /// Begins a batch of `n` samples at `now`, when an accelerator is free; when it is done.
    fn serve(&mut self, n: usize, now: SimTime) -> SimTime {
        let model = ModelId::new(self.first_row + n - 1);
        let accelerators = (0..self.free.len()).map(AccelId::new);
        let idle = accelerators.filter(|at| self.free[at.index()] <= now);
        let fastest = idle.min_by_key(|&at| self.costs.on(model, at).latency());
        let at = fastest.expect("a batch begins when an accelerator is free");
        let done = now + self.costs.on(model, at).latency();
        self.free[at.index()] = done;
        self.next_free = self.free.iter().copied().min().unwrap_or(done);
        self.energy += self.costs.on(model, at).energy();
        done
    }
}

impl SystemUnderTest for SingleQueueSystem<'_> {
    fn issue(&mut self, now: SimTime, query: &[Sample], completions: &mut Completions) -> SimTime {
        // A batch that begins at this very time still takes the new samples.
        self.begin_batches(now, false, completions);
        self.waiting.extend(query.iter().map(|sample| (sample.id, now)));
        now
    }

    fn next_event(&self) -> Option<SimTime> {
        self.next_batch()
    }

    fn advance(&mut self, until: SimTime, completions: &mut Completions) {
        self.begin_batches(until, true, completions);
    }
}
