//! Counts and instants of one run that the detailed log contains.

use crate::benchmark::{Measurement, TenantResult};
use crate::run::Ending;
use crate::settings::{EffectiveSettings, LoadScenario};
use xrsim_model::units::SimTime;

/// Counts and instants of one run of the queries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedRun {
    /// Number of generated queries.
    pub queries: u64,
    /// Samples of each.
    pub samples_per_query: u64,
    /// Instant at which a further query would have been due.
    pub next_due: SimTime,
    /// Reason why each issuing thread ended.
    pub endings: Vec<Ending>,
    /// Instant at which the last query was issued.
    pub last_issued: SimTime,
    /// Instant at which the last sample was done.
    pub completed: SimTime,
}

impl LoggedRun {
    /// The run of `measurement` with `settings`.
    pub fn from_measurement(settings: &EffectiveSettings, measurement: &Measurement) -> Self {
        let Measurement { schedule, run, performance } = measurement;
        // On a uniform bed one sample stands for all samples of a query with a fixed interval.
        let samples_per_query = match settings.scenario {
            LoadScenario::MultiStream => settings.samples_per_query,
            _ => schedule.samples_per_query() as u64,
        };
        Self {
            queries: schedule.n_queries() as u64,
            samples_per_query,
            next_due: schedule.end,
            endings: run.endings.clone(),
            last_issued: performance.last_issued,
            completed: measurement.end(),
        }
    }

    /// The run of a tenant.
    pub fn of_tenant(result: &TenantResult) -> Self {
        let completed = result.queries.iter().map(|&(_, completed)| completed).max();
        Self {
            queries: result.performance.queries,
            samples_per_query: 1,
            next_due: result.next_due,
            endings: Vec::new(),
            last_issued: result.performance.last_issued,
            completed: completed.unwrap_or(SimTime::ZERO),
        }
    }

    /// Number of errors that LoadGen logs.
    pub fn n_errors(&self) -> usize {
        self.endings.iter().filter(|ending| ending.is_error()).count()
    }
}
