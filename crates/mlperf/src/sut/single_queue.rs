//! One tenant on accelerators that serve nothing else and take batches first come, first served: equal to
//! a run of the engine, without its events.

use xrsim_model::cost::CostTable;
use xrsim_model::ids::{AccelId, ModelId};
use xrsim_model::units::{Millijoules, SimTime};

use super::batch_queue::{BatchQueue, BatchServers};
use super::batching::Batching;
use super::system_under_test::{Completions, Sample, SystemUnderTest};

/// A single queue in front of accelerators; one run.
pub(crate) struct SingleQueueSystem<'a> {
    queue: BatchQueue,
    accelerators: Accelerators<'a>,
}

/// Accelerators, of which the fastest idle one takes a batch.
struct Accelerators<'a> {
    costs: &'a CostTable,
    /// Model of the tenant.
    model: ModelId,
    /// Instant at which each accelerator is free.
    free: Vec<SimTime>,
    /// Earliest of these instants.
    next_free: SimTime,
    /// Energy of the batches that were started.
    energy: Millijoules,
}

impl BatchServers for Accelerators<'_> {
    fn next_free(&self) -> SimTime {
        self.next_free
    }

    fn start(&mut self, _: Sample, n: usize, now: SimTime) -> SimTime {
        let work = self.costs.work(self.model, n as u32).expect("every batch has costs");
        let idle = self.free.iter().enumerate().filter(|(_, free)| **free <= now);
        let idle = idle.map(|(at, _)| AccelId::new(at));
        let fastest = idle.map(|at| (self.costs.on(work, at).latency(), at)).min();
        let (latency, at) = fastest.expect("a batch starts when an accelerator is free");
        let done = now + latency;
        self.free[at.index()] = done;
        self.next_free = self.free.iter().copied().min().unwrap_or(done);
        self.energy += self.costs.on(work, at).energy();
        done
    }
}

impl<'a> SingleQueueSystem<'a> {
    /// An empty queue in front of idle accelerators.
    pub(crate) fn new(costs: &'a CostTable, model: ModelId, batching: Batching) -> Self {
        let accelerators = Accelerators {
            costs,
            model,
            free: vec![SimTime::ZERO; costs.n_accelerators()],
            next_free: SimTime::ZERO,
            energy: Millijoules::ZERO,
        };
        Self { queue: BatchQueue::new(batching.max as usize, batching.wait), accelerators }
    }

    /// Energy of every batch that was started.
    pub(crate) fn energy(&self) -> Millijoules {
        self.accelerators.energy
    }
}

impl SystemUnderTest for SingleQueueSystem<'_> {
    fn issue(&mut self, now: SimTime, query: &[Sample], completions: &mut Completions) -> SimTime {
        // A batch that starts at `now` takes the new samples, too.
        self.queue.start_batches(&mut self.accelerators, now, false, completions);
        self.queue.add(query, now);
        now
    }

    fn next_event(&self) -> Option<SimTime> {
        self.queue.next_batch(&self.accelerators)
    }

    fn advance(&mut self, until: SimTime, completions: &mut Completions) {
        self.queue.start_batches(&mut self.accelerators, until, true, completions);
    }
}
