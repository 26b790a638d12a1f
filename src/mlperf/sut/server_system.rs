//! Simple systems under test: a service time and a discipline, for what was measured or is known
//! better than by a cost model.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

use crate::units::{SimSpan, SimTime};

use super::system_under_test::{Completions, Sample, SystemUnderTest};

/// How long a piece of work takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServiceTime {
    /// Always the same.
    Constant(SimSpan),
    /// One of two, by the sample.
    Bimodal {
        /// Every how-manieth sample of the data set is slow; at least 1.
        modulus: u32,
        /// Of samples whose number is a multiple of `modulus`.
        slow: SimSpan,
        /// Of all others.
        fast: SimSpan,
    },
    /// `base + (sample · multiplier mod modulus) · step`.
    Steps {
        /// Of sample 0.
        base: SimSpan,
        /// Spreads the samples over the steps.
        multiplier: u32,
        /// Number of steps; at least 1.
        modulus: u32,
        /// Between two steps.
        step: SimSpan,
    },
    /// `per_call + n · per_sample` for `n` samples.
    Batch {
        /// Whatever the number of samples.
        per_call: SimSpan,
        /// Of each sample.
        per_sample: SimSpan,
    },
    /// By sample, over and over; not empty.
    Samples(Arc<[SimSpan]>),
    /// Of 1, 2, ... samples; not empty. More samples than that take their turn in the largest batches.
    Batches(Arc<[SimSpan]>),
}

impl ServiceTime {
    /// Time for `n` samples in one piece, the first of which has number `index`.
    pub fn of(&self, index: u32, n: usize) -> SimSpan {
        match *self {
            Self::Constant(span) => span,
            Self::Bimodal { modulus, slow, fast } => {
                if index.is_multiple_of(modulus) {
                    slow
                } else {
                    fast
                }
            }
            Self::Steps { base, multiplier, modulus, step } => {
                let steps = u64::from(index) * u64::from(multiplier) % u64::from(modulus);
                base + times(step, steps)
            }
            Self::Batch { per_call, per_sample } => per_call + times(per_sample, n as u64),
            Self::Samples(ref spans) => spans[index as usize % spans.len()],
            Self::Batches(ref spans) => {
                let largest = spans.len();
                let full = times(spans[largest - 1], (n / largest) as u64);
                let rest = (n % largest).checked_sub(1).map_or(SimSpan::ZERO, |last| spans[last]);
                full + rest
            }
        }
    }

    /// The same with `more` for every piece of work.
    #[must_use]
    pub fn slowed(&self, more: SimSpan) -> Self {
        let all = |spans: &[SimSpan]| spans.iter().map(|&span| span + more).collect();
        match *self {
            Self::Constant(span) => Self::Constant(span + more),
            Self::Bimodal { modulus, slow, fast } => {
                Self::Bimodal { modulus, slow: slow + more, fast: fast + more }
            }
            Self::Steps { base, multiplier, modulus, step } => {
                Self::Steps { base: base + more, multiplier, modulus, step }
            }
            Self::Batch { per_call, per_sample } => {
                Self::Batch { per_call: per_call + more, per_sample }
            }
            Self::Samples(ref spans) => Self::Samples(all(spans)),
            Self::Batches(ref spans) => Self::Batches(all(spans)),
        }
    }

    /// Whether it depends on which sample it is.
    pub fn depends_on_sample(&self) -> bool {
        match self {
            Self::Bimodal { .. } | Self::Steps { .. } | Self::Samples(_) => true,
            Self::Constant(_) | Self::Batch { .. } | Self::Batches(_) => false,
        }
    }
}

fn times(span: SimSpan, count: u64) -> SimSpan {
    SimSpan::from_ns(span.ns().saturating_mul(count))
}

/// What is a piece of work, and who does it when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Discipline {
    /// Every sample is a piece, for the server that is free first.
    Fifo,
    /// Every query is a piece, for the server that is free first.
    Query,
    /// The samples of a query one after another, query after query, on one server.
    SequentialSamples,
    /// A server takes up to `max_batch` waiting samples when it is free and there are either
    /// `max_batch` of them or one that has waited for `max_wait`.
    DynamicBatch {
        /// Most samples of a piece; at least 1.
        max_batch: usize,
        /// Longest wait for more samples.
        max_wait: SimSpan,
    },
    /// Every query is a piece that its caller waits for, whoever else does.
    Blocking,
    /// Every query is cut into pieces of `max_batch` samples, in order, each for the server that is
    /// free first.
    Pieces {
        /// Samples of a piece, but for the last; at least 1.
        max_batch: usize,
    },
}

/// A system of servers with a service time.
#[derive(Debug, Clone)]
pub struct ServerSystem {
    time: ServiceTime,
    discipline: Discipline,
    servers: Servers,
    /// Samples that no server has begun, with their arrival. Only [`Discipline::DynamicBatch`] lets
    /// samples wait: elsewhere it is certain when they will be begun.
    waiting: VecDeque<(SimTime, Sample)>,
    /// Samples of the batch that is begun.
    batch: Vec<Sample>,
}

/// Servers, each with a speed.
#[derive(Debug, Clone)]
struct Servers {
    /// When each is free, by number; the first one, of several with the lowest number, on top.
    free: BinaryHeap<Reverse<(SimTime, usize)>>,
    /// By how much each is slower than the service time says.
    slowness: Vec<f64>,
}

impl Servers {
    /// When the next one is free.
    fn next_free(&self) -> SimTime {
        self.free.peek().map_or(SimTime::ZERO, |Reverse((at, _))| *at)
    }

    /// Gives the server that is free first, the first of several, a piece of work that arrives at
    /// `now` and would take `span`; when it is done.
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
}

impl ServerSystem {
    /// A system of servers, each of which takes `slowness` times the service time.
    ///
    /// # Panics
    ///
    /// If there is no server.
    pub fn new(time: ServiceTime, discipline: Discipline, slowness: Vec<f64>) -> Self {
        assert!(!slowness.is_empty(), "somebody must serve");
        let free = (0..slowness.len()).map(|server| Reverse((SimTime::ZERO, server))).collect();
        let servers = Servers { free, slowness };
        Self { time, discipline, servers, waiting: VecDeque::new(), batch: Vec::new() }
    }

    /// The same system, with nothing to do, whose pieces of work take `more` each.
    #[must_use]
    pub fn slowed(&self, more: SimSpan) -> Self {
        Self::new(self.time.slowed(more), self.discipline, self.servers.slowness.clone())
    }

    /// What a piece of work is.
    pub fn discipline(&self) -> Discipline {
        self.discipline
    }

    /// The whole of `samples` in one piece.
    fn piece(
        &mut self,
        now: SimTime,
        samples: &[Sample],
        completions: &mut Completions,
    ) -> SimTime {
        let span = self.time.of(samples[0].index, samples.len());
        let done = self.servers.serve(now, span);
        samples.iter().for_each(|sample| completions.record(sample.id, done));
        done
    }

    /// When the waiting samples are begun, if no other arrives.
    fn next_batch(&self) -> Option<SimTime> {
        let Discipline::DynamicBatch { max_batch, max_wait } = self.discipline else {
            return None;
        };
        let (oldest, _) = *self.waiting.front()?;
        let ready = oldest + max_wait;
        let full = self.waiting.get(max_batch - 1).map_or(ready, |&(arrival, _)| arrival);
        Some(ready.min(full).max(self.servers.next_free()))
    }

    /// Begins the batches that are begun before `end`.
    fn begin_batches(&mut self, end: impl Fn(SimTime) -> bool, completions: &mut Completions) {
        let Discipline::DynamicBatch { max_batch, .. } = self.discipline else { return };
        while let Some(now) = self.next_batch().filter(|&now| end(now)) {
            let is_there = |(arrival, _): &(SimTime, Sample)| *arrival <= now;
            let n = self.waiting.iter().take(max_batch).take_while(|entry| is_there(entry)).count();
            let mut batch = std::mem::take(&mut self.batch);
            batch.extend(self.waiting.drain(..n).map(|(_, sample)| sample));
            self.piece(now, &batch, completions);
            batch.clear();
            self.batch = batch;
        }
    }
}

impl SystemUnderTest for ServerSystem {
    fn issue(&mut self, now: SimTime, query: &[Sample], completions: &mut Completions) -> SimTime {
        match self.discipline {
            Discipline::Fifo => {
                for sample in query {
                    self.piece(now, std::slice::from_ref(sample), completions);
                }
            }
            Discipline::Query => {
                self.piece(now, query, completions);
            }
            Discipline::SequentialSamples => {
                for sample in query {
                    let span = self.time.of(sample.index, 1);
                    completions.record(sample.id, self.servers.serve(now, span));
                }
            }
            Discipline::DynamicBatch { .. } => {
                // A batch that begins at this very time still takes the new samples.
                self.begin_batches(|begin| begin < now, completions);
                self.waiting.extend(query.iter().map(|&sample| (now, sample)));
            }
            Discipline::Blocking => {
                let done = now + self.time.of(query[0].index, query.len());
                query.iter().for_each(|sample| completions.record(sample.id, done));
                return done;
            }
            Discipline::Pieces { max_batch } => {
                for piece in query.chunks(max_batch) {
                    self.piece(now, piece, completions);
                }
            }
        }
        now
    }

    fn next_event(&self) -> Option<SimTime> {
        self.next_batch()
    }

    fn advance(&mut self, until: SimTime, completions: &mut Completions) {
        self.begin_batches(|begin| begin <= until, completions);
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
