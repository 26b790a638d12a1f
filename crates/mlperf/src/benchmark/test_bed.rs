//! Test beds: systems that any number of runs can be made on.

use thiserror::Error;

use crate::results::{Performance, sustains_rate};
use crate::run::RunError;
use crate::settings::{EffectiveSettings, SettingsError};
use crate::sut::{Completions, DeviceRun};
use xrsim_sim::load::LoadError;

use super::measure::Measurement;
use xrsim_model::units::{Millijoules, SimSpan, SimTime};
use xrsim_sim::schedule::PolicyFailure;
use xrsim_sim::score::Score;

/// Reason why a test failed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TestError {
    /// The settings are out of range.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The run failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The scheduler failed.
    #[error(transparent)]
    Policy(#[from] PolicyFailure),
    /// A load that waits for completions would never end.
    #[error(
        "its queries take no time, so that no number of them lasts {} s; allowed are --min-duration 0 and a \
         service that takes time",
        .least.as_ms() / 1e3
    )]
    NoTime {
        /// Least duration.
        least: SimSpan,
    },
    /// A search for the highest rate, or for the largest number of streams, would never end.
    #[error(
        "its queries take no time, so that no rate and no number of streams is the highest; allowed are --qps \
         or --streams without --find-peak, and a service that takes time"
    )]
    NoHighest,
    /// Temperatures of the device would be read too often.
    #[error(
        "the device reads temperatures every {} ms, too often for a test of {:.0} s (at most {most} times); a longer \
         `poll_ms` or a shorter test is needed",
        .poll.as_ms(),
        .lasts.as_ms() / 1e3
    )]
    Ticks {
        /// Expected length of the test.
        lasts: SimSpan,
        /// Time between two readings.
        poll: SimSpan,
        /// Most readings.
        most: u64,
    },
    /// The scheduler always prefers the background to the queries.
    #[error("queries starve beside the usage scenario: after {seconds} s no further one is done")]
    Starved {
        /// Length of the run so far \[s\].
        seconds: u64,
    },
    /// The test is so long that the background has too many frames.
    #[error("beside a test of {seconds} s: {error}")]
    Background {
        /// Length of the run so far \[s\].
        seconds: u64,
        /// Limit that the background exceeds.
        error: LoadError,
    },
}

/// One run on a test bed.
#[derive(Debug, Clone, PartialEq)]
pub struct TestRun {
    /// Schedule, run and performance.
    pub measurement: Measurement,
    /// Energy of all samples, or with a device of everything; `None` if the bed does not know it.
    pub energy: Option<Millijoules>,
    /// The device until the last sample was done; `None` without one.
    pub device: Option<DeviceRun>,
    /// Scores of the usage scenario in the background; `None` without one, or if no frame is scored.
    pub background: Option<Score>,
}

/// Result of one query on an idle system.
#[derive(Debug, Clone, PartialEq)]
pub struct IdleQuery {
    /// Latency of the query: until its last sample is done.
    pub latency: SimSpan,
    /// Latency of every sample.
    pub sample_latencies: Vec<SimSpan>,
    /// Energy of all samples; `None` if the bed does not know it.
    pub energy: Option<Millijoules>,
}

impl IdleQuery {
    /// The result of samples that arrived at time 0 and are all done.
    pub(crate) fn new(completions: Completions, energy: Option<Millijoules>) -> Self {
        let n = completions.len();
        let completed = completions.into_first(n).into_iter();
        let sample_latencies: Vec<_> = completed.map(|at| at - SimTime::ZERO).collect();
        let latency = sample_latencies.iter().copied().max().unwrap_or(SimSpan::ZERO);
        Self { latency, sample_latencies, energy }
    }
}

/// A system that any number of runs can be made on, each from an idle system, and the estimates that a
/// submitter has of it.
pub trait TestBed: Sync {
    /// Makes one run with `settings` from an idle system.
    ///
    /// # Errors
    ///
    /// [`TestError`] if the run fails.
    fn measure(&self, settings: &EffectiveSettings) -> Result<TestRun, TestError>;

    /// Whether a run with `settings` meets the latency constraint at a rate that the system sustains:
    /// [`TestBed::sustains`] of [`TestBed::measure`].
    ///
    /// # Errors
    ///
    /// [`TestError`] if the run fails.
    fn passes(&self, settings: &EffectiveSettings) -> Result<bool, TestError> {
        Ok(self.sustains(settings, &self.measure(settings)?.measurement.performance))
    }

    /// Whether the system sustains the rate of a run on this bed.
    fn sustains(&self, settings: &EffectiveSettings, performance: &Performance) -> bool {
        sustains_rate(settings, performance, self.max_samples_per_s())
    }

    /// Issues one query of `samples` samples to the idle system.
    ///
    /// # Errors
    ///
    /// [`TestError::Policy`] if the scheduler fails.
    fn idle_query(&self, samples: u64) -> Result<IdleQuery, TestError>;

    /// Latency that a submitter expects of queries of `samples` samples.
    ///
    /// # Errors
    ///
    /// [`TestError::Policy`] if the scheduler fails.
    fn expected_latency(&self, samples: u64) -> Result<SimSpan, TestError> {
        Ok(self.idle_query(samples)?.latency)
    }

    /// Throughput that a submitter expects in full batches \[samples/s\].
    fn capacity_per_s(&self) -> f64;

    /// Upper bound of the throughput, in batches of any size \[samples/s\].
    fn max_samples_per_s(&self) -> f64;

    /// Whether every query that finds the system idle takes as long as [`TestBed::idle_query`] of its
    /// size, whichever its samples and its time.
    fn is_uniform(&self) -> bool;

    /// Scores of the background over `duration` without queries; `None` without a background, or if no
    /// frame is scored.
    ///
    /// # Errors
    ///
    /// [`TestError`] if the scheduler fails, or there are too many frames.
    fn background_alone(&self, duration: SimSpan) -> Result<Option<Score>, TestError> {
        let _ = duration;
        Ok(None)
    }
}
