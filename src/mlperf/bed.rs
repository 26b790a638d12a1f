//! What tests are made on: a system that can be measured any number of times, and of which is known
//! what a submitter knows of theirs.

use thiserror::Error;

use crate::load::LoadError;
use crate::schedule::PolicyFailure;
use crate::score::Score;
use crate::units::{Millijoules, SimSpan, SimTime};

use super::performance::{Measurement, Performance};
use super::run::RunError;
use super::settings::{Settings, SettingsError};
use super::sustained;
use super::sut::Completions;

/// Why a test could not be made.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TestError {
    /// Its settings are out of range.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// Its run broke off.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The scheduler broke off.
    #[error(transparent)]
    Policy(#[from] PolicyFailure),
    /// A load that waits for the system never ends.
    #[error(
        "its queries take no time, so that no number of them lasts {} s; allowed are --min-duration 0 and a \
         service that takes time",
        .least.as_ms() / 1e3
    )]
    NoTime {
        /// Least duration.
        least: SimSpan,
    },
    /// A search for the highest rate, or for the most streams, never ends.
    #[error(
        "its queries take no time, so that no rate and no number of streams is the highest; allowed are --qps \
         or --streams without --find-peak, and a service that takes time"
    )]
    NoHighest,
    /// Other work on the system always goes first.
    #[error("queries starve beside the usage scenario: after {seconds} s no further one is done")]
    Starved {
        /// Of the test so far \[s\].
        seconds: u64,
    },
    /// The test is so long that it has too many frames of a usage scenario beside it.
    #[error("beside a test of {seconds} s: {error}")]
    Beside {
        /// Of the test so far \[s\].
        seconds: u64,
        /// What is too much.
        error: LoadError,
    },
}

/// A run and what it took.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The run.
    pub measurement: Measurement,
    /// Energy of all of its samples; `None` if nothing is known of that.
    pub energy: Option<Millijoules>,
    /// Scores of the usage scenario beside the queries, if there is one and any frame of it counts.
    pub beside: Option<Score>,
}

/// Samples that come together to a system that does nothing else.
#[derive(Debug, Clone, PartialEq)]
pub struct Burst {
    /// Until all of them are done.
    pub latency: SimSpan,
    /// Until each of them is done.
    pub samples: Vec<SimSpan>,
    /// Energy of all of them; `None` if nothing is known of that.
    pub energy: Option<Millijoules>,
}

impl Burst {
    /// Samples that came at time 0 and are all done.
    pub(super) fn new(completions: Completions, energy: Option<Millijoules>) -> Self {
        let n = completions.len();
        let done = completions.into_first(n).into_iter();
        let samples: Vec<_> = done.map(|at| at - SimTime::ZERO).collect();
        Self { latency: samples.iter().copied().max().unwrap_or(SimSpan::ZERO), samples, energy }
    }
}

/// What tests are made on.
pub trait TestBed: Sync {
    /// Makes one run, from a system at rest on.
    ///
    /// # Errors
    ///
    /// [`TestError`].
    fn measure(&self, settings: &Settings) -> Result<Measured, TestError>;

    /// Whether a run holds what is asked of its latencies at a rate that can be completed: what
    /// [`TestBed::holds_up`] says of [`TestBed::measure`].
    ///
    /// # Errors
    ///
    /// [`TestError`].
    fn passes(&self, settings: &Settings) -> Result<bool, TestError> {
        Ok(self.holds_up(settings, &self.measure(settings)?.measurement.performance))
    }

    /// What [`sustained::holds_up`] says of a run on this bed.
    fn holds_up(&self, settings: &Settings, performance: &Performance) -> bool {
        sustained::holds_up(settings, performance, self.most_per_s())
    }

    /// What `samples` take that come together.
    ///
    /// # Errors
    ///
    /// If the scheduler breaks off.
    fn burst(&self, samples: u64) -> Result<Burst, TestError>;

    /// Latency that a submitter would expect of queries of so many samples.
    ///
    /// # Errors
    ///
    /// If the scheduler breaks off.
    fn expected_latency(&self, samples: u64) -> Result<SimSpan, TestError> {
        Ok(self.burst(samples)?.latency)
    }

    /// Samples that are served per second in full batches, as a submitter would expect.
    fn capacity_per_s(&self) -> f64;

    /// Samples that can be completed per second at most, in whatever batches they are served.
    fn most_per_s(&self) -> f64;

    /// Whether a query that finds the system idle takes the time of a [`TestBed::burst`] of its size,
    /// whatever its samples and whenever it comes.
    fn is_uniform(&self) -> bool;

    /// Scores of the usage scenario when no query comes for `duration`, if there is one and any frame of it
    /// counts.
    ///
    /// # Errors
    ///
    /// If the scheduler breaks off, or there are too many frames.
    fn without_queries(&self, duration: SimSpan) -> Result<Option<Score>, TestError> {
        let _ = duration;
        Ok(None)
    }
}
