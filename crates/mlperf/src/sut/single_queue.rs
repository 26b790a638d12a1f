//! One tenant on accelerators that serve nothing else and take batches first come, first served: equal to
//! a run of the engine, without its events.

use xrsim_model::cost::CostTable;
use xrsim_model::ids::{AccelId, ModelId};
use xrsim_model::units::{Millijoules, SimSpan, SimTime};

use super::batch_queue::{BatchQueue, BatchRule, BatchServers};
use super::batching::Batching;
use super::system_under_test::{Completions, Sample, SystemUnderTest};

/// A single queue in front of accelerators; one run.
pub(crate) struct SingleQueueSystem {
    queue: BatchQueue,
    accelerators: Accelerators,
}

/// Accelerators, of which the fastest idle one takes a batch.
struct Accelerators {
    /// Latency and energy of a batch on each accelerator, those of batches of one sample first.
    batches: Vec<(SimSpan, Millijoules)>,
    /// Instant at which each accelerator is free.
    free: Vec<SimTime>,
    /// Earliest of these instants.
    next_free: SimTime,
    /// Energy of the batches that were started.
    energy: Millijoules,
}

impl Accelerators {
    /// Starts a batch of `n` samples at `now`, when an accelerator is free; returns its completion.
    #[inline]
    fn start(&mut self, n: usize, now: SimTime) -> SimTime {
        let of_size = &self.batches[(n - 1) * self.free.len()..];
        let all = self.free.iter_mut().zip(of_size);
        let idle = all.filter(|(free, _)| **free <= now);
        let fastest = idle.min_by_key(|(_, (latency, _))| *latency);
        let (free, &(latency, energy)) = fastest.expect("one is free when a batch starts");
        *free = now + latency;
        self.next_free = self.free.iter().copied().min().unwrap_or(now);
        self.energy += energy;
        now + latency
    }
}

impl BatchServers for Accelerators {
    fn next_free(&self) -> SimTime {
        self.next_free
    }

    fn start(&mut self, _: Sample, n: usize, now: SimTime) -> SimTime {
        self.start(n, now)
    }
}

impl SingleQueueSystem {
    /// An empty queue in front of idle accelerators.
    pub(crate) fn new(costs: &CostTable, model: ModelId, batching: Batching) -> Self {
        let n = costs.n_accelerators();
        let cost = |batch, at| {
            let work = costs.work(model, batch).expect("every batch has costs");
            let on = costs.on(work, AccelId::new(at));
            (on.latency(), on.energy())
        };
        let accelerators = Accelerators {
            batches: (1..=batching.max).flat_map(|it| (0..n).map(move |at| cost(it, at))).collect(),
            free: vec![SimTime::ZERO; n],
            next_free: SimTime::ZERO,
            energy: Millijoules::ZERO,
        };
        let rule = BatchRule { max: batching.max as usize, wait: batching.wait };
        Self { queue: BatchQueue::new(rule), accelerators }
    }

    /// Energy of every batch that was started.
    pub(crate) fn energy(&self) -> Millijoules {
        self.accelerators.energy
    }

    /// Number of samples, which arrive one by one at `arrivals` (ascending), that are done later than `bound` after
    /// their arrival. The count ends above `most`.
    pub(crate) fn late(mut self, arrivals: &[SimTime], bound: SimSpan, most: usize) -> usize {
        let (rule, mut late, mut rest) = (self.queue.rule, 0, arrivals);
        while late <= most
            && let Some((now, n)) =
                rule.next(|at| rest.get(at).copied(), self.accelerators.next_free)
        {
            let done = self.accelerators.start(n, now);
            let (batch, after) = rest.split_at(n);
            late += batch.iter().filter(|&&arrival| done - arrival > bound).count();
            rest = after;
        }
        late
    }
}

impl SystemUnderTest for SingleQueueSystem {
    fn issue(&mut self, now: SimTime, query: &[Sample], completions: &mut Completions) -> SimTime {
        // A batch that starts at `now` takes the new samples, too.
        self.queue.start_batches(&mut self.accelerators, now, false, completions);
        self.queue.add(query, now);
        now
    }

    fn tells_samples_apart(&self) -> bool {
        false
    }

    fn next_event(&self) -> Option<SimTime> {
        self.queue.next_batch(&self.accelerators).map(|(start, _)| start)
    }

    fn advance(&mut self, until: SimTime, completions: &mut Completions) {
        self.queue.start_batches(&mut self.accelerators, until, true, completions);
    }
}
