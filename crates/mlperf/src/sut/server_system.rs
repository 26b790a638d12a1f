//! Servers of a known service time as a system under test.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use xrsim_model::units::{SimSpan, SimTime};

use super::batch_queue::{BatchQueue, BatchRule, BatchServers};
use super::service_time::ServiceTime;
use super::system_under_test::{Completions, Sample, SystemUnderTest};

/// Rule that makes pieces of work of queries and assigns them to servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Discipline {
    /// Every sample is a piece, for the server that is free first.
    Fifo,
    /// Every query is a piece, for the server that is free first.
    Query,
    /// Samples are pieces for one server: those of a query one after another, query after query.
    SequentialSamples,
    /// A free server takes up to `max_batch` waiting samples when there are `max_batch` of them, or one
    /// that has waited for `max_wait`.
    DynamicBatch {
        /// Largest number of samples of a piece; at least 1.
        max_batch: usize,
        /// Longest wait for more samples.
        max_wait: SimSpan,
    },
    /// Every query is a piece that its caller waits for; callers do not wait for each other.
    Blocking,
    /// Every query is cut into pieces of `max_batch` samples, in order, each for the server that is
    /// free first.
    Pieces {
        /// Number of samples of a piece, except the last one; at least 1.
        max_batch: usize,
    },
}

/// Servers with a service time; one run.
#[derive(Debug, Clone)]
pub struct ServerSystem {
    discipline: Discipline,
    servers: Servers,
    /// Samples that no server has started. Only [`Discipline::DynamicBatch`] needs a queue; in the other
    /// disciplines the start of a sample is known when it arrives.
    queue: BatchQueue,
}

/// Servers, each with a speed.
#[derive(Debug, Clone)]
struct Servers {
    time: ServiceTime,
    /// Instant at which each server is free, with its number; the earliest is on top, of several the one
    /// with the lowest number.
    free: BinaryHeap<Reverse<(SimTime, usize)>>,
    /// Factor of each server on the service time.
    slowness: Vec<f64>,
}

impl Servers {
    /// Starts work that takes `span`, not before `now`, on the server that is free first; returns its
    /// completion.
    fn serve(&mut self, now: SimTime, span: SimSpan) -> SimTime {
        let Reverse((free, server)) = self.free.pop().expect("there is a server");
        let slowness = self.slowness[server];
        let span = match slowness {
            1.0 => span,
            _ => SimSpan::from_ns((span.ns() as f64 * slowness).round() as u64),
        };
        let done = free.max(now) + span;
        self.free.push(Reverse((done, server)));
        done
    }

    /// Serves `samples` as one piece.
    fn serve_piece(&mut self, now: SimTime, samples: &[Sample], completions: &mut Completions) {
        let done = self.start(samples[0], samples.len(), now);
        samples.iter().for_each(|sample| completions.record(sample.id, done));
    }
}

impl BatchServers for Servers {
    fn next_free(&self) -> SimTime {
        self.free.peek().map_or(SimTime::ZERO, |Reverse((at, _))| *at)
    }

    fn start(&mut self, first: Sample, n: usize, now: SimTime) -> SimTime {
        let span = self.time.of(first.index, n);
        self.serve(now, span)
    }
}

impl ServerSystem {
    /// Idle servers. Server `i` takes `slowness[i]` times the service time.
    ///
    /// # Panics
    ///
    /// If there is no server.
    pub fn new(time: ServiceTime, discipline: Discipline, slowness: Vec<f64>) -> Self {
        assert!(!slowness.is_empty(), "there is at least one server");
        let free = (0..slowness.len()).map(|server| Reverse((SimTime::ZERO, server))).collect();
        let (max, wait) = match discipline {
            Discipline::DynamicBatch { max_batch, max_wait } => (max_batch, max_wait),
            _ => (1, SimSpan::ZERO),
        };
        let queue = BatchQueue::new(BatchRule { max, wait });
        Self { discipline, servers: Servers { time, free, slowness }, queue }
    }

    /// The same servers, idle, with `more` added to every piece of work.
    #[must_use]
    pub fn slowed(&self, more: SimSpan) -> Self {
        let Servers { time, slowness, .. } = &self.servers;
        Self::new(time.slowed(more), self.discipline, slowness.clone())
    }

    /// Discipline of the servers.
    pub fn discipline(&self) -> Discipline {
        self.discipline
    }
}

impl SystemUnderTest for ServerSystem {
    fn issue(&mut self, now: SimTime, query: &[Sample], completions: &mut Completions) -> SimTime {
        let servers = &mut self.servers;
        match self.discipline {
            Discipline::Fifo => {
                for sample in query {
                    servers.serve_piece(now, std::slice::from_ref(sample), completions);
                }
            }
            Discipline::Query => servers.serve_piece(now, query, completions),
            Discipline::SequentialSamples => {
                for sample in query {
                    let span = servers.time.of(sample.index, 1);
                    completions.record(sample.id, servers.serve(now, span));
                }
            }
            Discipline::DynamicBatch { .. } => {
                // A batch that starts at `now` takes the new samples, too.
                self.queue.start_batches(servers, now, false, completions);
                self.queue.add(query, now);
            }
            Discipline::Blocking => {
                let done = now + servers.time.of(query[0].index, query.len());
                query.iter().for_each(|sample| completions.record(sample.id, done));
                return done;
            }
            Discipline::Pieces { max_batch } => {
                for piece in query.chunks(max_batch) {
                    servers.serve_piece(now, piece, completions);
                }
            }
        }
        now
    }

    fn next_event(&self) -> Option<SimTime> {
        self.queue.next_batch(&self.servers).map(|(start, _)| start)
    }

    fn advance(&mut self, until: SimTime, completions: &mut Completions) {
        self.queue.start_batches(&mut self.servers, until, true, completions);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ns(ns: u64) -> SimSpan {
        SimSpan::from_ns(ns)
    }

    /// Table: sample 5 of 64 steps with multiplier 37 is step 185 mod 64 = 57.
    #[test]
    fn service_times_depend_on_the_sample_or_on_how_many() {
        assert_eq!(ServiceTime::Constant(ns(7)).of(3, 9), ns(7));
        let bimodal = ServiceTime::Bimodal { modulus: 10, slow: ns(12), fast: ns(4) };
        assert_eq!([0, 5, 20].map(|index| bimodal.of(index, 1)), [12, 4, 12].map(ns));
        let table =
            ServiceTime::Steps { base: ns(1000), multiplier: 37, modulus: 64, step: ns(10) };
        assert_eq!(table.of(5, 1), ns(1570));
        let batch = ServiceTime::Batch { per_call: ns(100), per_sample: ns(3) };
        assert_eq!([1, 8].map(|n| batch.of(0, n)), [103, 124].map(ns));
        let samples = ServiceTime::Samples([3, 8].map(ns).into());
        assert_eq!([0, 1, 2].map(|index| samples.of(index, 1)), [3, 8, 3].map(ns));
        // 7 samples are two batches of three, and one sample.
        let batches = ServiceTime::Batches([5, 7, 8].map(ns).into());
        assert_eq!([1, 2, 3, 7].map(|n| batches.of(0, n)), [5, 7, 8, 21].map(ns));
        for time in [ServiceTime::Constant(ns(7)), bimodal, table, batch, samples, batches] {
            assert_eq!(time.slowed(ns(5)).of(5, 2), time.of(5, 2) + ns(5));
        }
    }

    /// Two servers of 10 ns take batches of two at once: samples 0 and 1 at 0 ns, 2 and 3 at 0 ns on the
    /// other one, 4 when the first is free.
    #[test]
    fn servers_share_what_waits() {
        let discipline = Discipline::DynamicBatch { max_batch: 2, max_wait: SimSpan::ZERO };
        let time = ServiceTime::Constant(ns(10));
        let mut service = ServerSystem::new(time, discipline, vec![1.0; 2]);
        let mut completions = Completions::new(5, false);
        let samples = [0, 1, 2, 3, 4].map(|id| Sample { id, index: 0 });
        service.issue(SimTime::ZERO, &samples, &mut completions);
        service.advance(SimTime::from_ns(100), &mut completions);
        let done = [0, 1, 2, 3, 4].map(|id| completions.at(id).map(|at| at.ns()));
        assert_eq!(done, [10, 10, 10, 10, 20].map(Some));
    }

    #[test]
    fn no_service_time_overflows() {
        let batch = ServiceTime::Batch { per_call: SimSpan::MAX, per_sample: SimSpan::MAX };
        assert_eq!(batch.of(u32::MAX, usize::MAX), SimSpan::MAX);
        let time = ServiceTime::Constant(SimSpan::MAX);
        let mut service = ServerSystem::new(time, Discipline::Fifo, vec![1e6]);
        let mut completions = Completions::new(2, false);
        let samples = [0, 1].map(|id| Sample { id, index: 0 });
        service.issue(SimTime::ZERO, &samples, &mut completions);
    }
}
