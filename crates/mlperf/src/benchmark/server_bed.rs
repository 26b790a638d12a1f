//! Servers of a known service time as a test bed, for systems that were measured.

use xrsim_model::units::{SimSpan, SimTime};

use crate::settings::EffectiveSettings;
use crate::sut::{
    Batching, Completions, Discipline, Sample, ServerSystem, ServiceTime, SystemUnderTest,
};

use super::measure::measure;
use super::test_bed::{IdleQuery, TestBed, TestError, TestRun};

/// Equal servers with one queue.
#[derive(Debug, Clone)]
pub struct ServerBed {
    /// Service time of a batch.
    time: ServiceTime,
    servers: usize,
    batching: Batching,
}

impl ServerBed {
    /// Largest number of servers.
    pub const MAX: u32 = 4096;

    /// A bed of `servers` servers with the service time `time`.
    ///
    /// # Panics
    ///
    /// If there is no server, or the largest batch is 0.
    pub fn new(time: ServiceTime, servers: usize, batching: Batching) -> Self {
        assert!(servers > 0 && batching.max > 0, "there are servers and batches");
        Self { time, servers, batching }
    }

    /// The servers without work, for one run.
    fn idle(&self) -> ServerSystem {
        let discipline = match self.batching {
            Batching { max: 1, .. } => Discipline::Fifo,
            Batching { max, wait } => {
                Discipline::DynamicBatch { max_batch: max as usize, max_wait: wait }
            }
        };
        ServerSystem::new(self.time.clone(), discipline, vec![1.0; self.servers])
    }

    /// Mean service time of batches of `batch` samples \[ns\], over the distinct samples.
    fn mean_ns(&self, batch: u32) -> f64 {
        let n = match &self.time {
            ServiceTime::Samples(spans) => spans.len() as u32,
            ServiceTime::Bimodal { modulus, .. } | ServiceTime::Steps { modulus, .. } => {
                (*modulus).min(1 << 16)
            }
            _ => 1,
        };
        let of = |index| self.time.of(index, batch as usize).ns() as f64;
        (0..n).map(of).sum::<f64>() / f64::from(n)
    }

    /// Throughput in batches of `batch` samples, which take at least 1 ns \[samples/s\].
    fn rate_in(&self, batch: u32) -> f64 {
        self.servers as f64 * f64::from(batch) * 1e9 / self.mean_ns(batch).max(1.0)
    }
}

impl TestBed for ServerBed {
    fn measure(&self, settings: &EffectiveSettings) -> Result<TestRun, TestError> {
        let measurement = measure(settings, &mut self.idle())?;
        Ok(TestRun { measurement, energy: None, device: None, background: None })
    }

    fn idle_query(&self, samples: u64) -> Result<IdleQuery, TestError> {
        let mut service = self.idle();
        let burst: Vec<_> = (0..samples as u32).map(|id| Sample { id, index: id }).collect();
        let mut completions = Completions::new(burst.len(), false);
        service.issue(SimTime::ZERO, &burst, &mut completions);
        service.advance(SimTime::MAX, &mut completions);
        Ok(IdleQuery::new(completions, None))
    }

    fn expected_latency(&self, samples: u64) -> Result<SimSpan, TestError> {
        if !self.time.depends_on_sample() {
            return Ok(self.idle_query(samples)?.latency);
        }
        let turns = samples.div_ceil(self.servers as u64);
        Ok(SimSpan::from_ns((self.mean_ns(self.batching.max) * turns as f64) as u64))
    }

    fn capacity_per_s(&self) -> f64 {
        self.rate_in(self.batching.max)
    }

    fn max_samples_per_s(&self) -> f64 {
        (1..=self.batching.max).map(|batch| self.rate_in(batch)).fold(0.0, f64::max)
    }

    fn is_uniform(&self) -> bool {
        !self.time.depends_on_sample()
    }
}
