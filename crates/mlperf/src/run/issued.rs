//! Queries that were issued in a run, and their completions.

use thiserror::Error;

use crate::settings::SettingsError;
use xrsim_model::units::{SimSpan, SimTime};

use super::ending::Ending;

/// Reason why a run failed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RunError {
    /// The settings ask for too many queries.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The system has nothing left to do but did not complete a sample before the end of the clock.
    #[error(
        "sample {sample} is not done within the 584 years of the clock: the system is too slow for these \
         queries"
    )]
    NeverDone {
        /// Position of the sample in the run.
        sample: u32,
    },
}

/// A query that was issued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Query {
    /// Position in the schedule.
    pub index: usize,
    /// Instant from which the latency counts.
    pub scheduled: SimTime,
    /// Instant at which the system received the query.
    pub issued: SimTime,
    /// Instant at which the last sample was done.
    pub completed: SimTime,
    /// Fixed interval: ticks since the query before, 1 if none was skipped. 0 in other scenarios.
    pub intervals: u64,
}

impl Query {
    /// Span from the scheduled instant to the completion of the last sample.
    pub fn latency(&self) -> SimSpan {
        self.completed.saturating_since(self.scheduled)
    }
}

/// Queries and completions of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// Queries that were issued, in the order of the schedule.
    pub queries: Vec<Query>,
    /// Completion of every sample: `samples_per_query` consecutive entries for each query.
    pub completed: Vec<SimTime>,
    /// Number of samples of a query.
    pub samples_per_query: usize,
    /// Number of calls of the system; less than that of the queries if some were coalesced.
    pub calls: u64,
    /// Reason why each issuing thread ended.
    pub endings: Vec<Ending>,
}

impl Run {
    /// Endings that LoadGen logs as errors.
    pub fn errors(&self) -> impl Iterator<Item = Ending> + '_ {
        self.endings.iter().copied().filter(|ending| ending.is_error())
    }

    /// Whether every sample was done. If not, what was under way counts as done at the instant at which the system stopped; of
    /// the query of Offline, only the samples that were done count, if there are any.
    pub fn is_finished(&self) -> bool {
        !self.endings.contains(&Ending::Stopped)
    }

    /// Latency of every sample, in the order of the schedule.
    pub(crate) fn sample_latencies(&self) -> Vec<SimSpan> {
        let mut latencies = Vec::with_capacity(self.completed.len());
        for (query, samples) in
            self.queries.iter().zip(self.completed.chunks(self.samples_per_query))
        {
            latencies.extend(samples.iter().map(|at| at.saturating_since(query.scheduled)));
        }
        latencies
    }
}
