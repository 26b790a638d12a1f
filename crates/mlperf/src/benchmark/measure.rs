//! One measurement: a schedule, its run on a system under test, and the performance of that run.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::load::{QuerySchedule, expected_samples};
use crate::results::{EarlyStoppingOutcome, Performance, exceeds_capacity, rate_until};
use crate::run::{Run, RunError, run_queries};
use crate::settings::{EffectiveSettings, SettingsError};
use crate::sut::{SingleQueueSystem, SystemUnderTest};
use xrsim_model::statistics::percentile_index;
use xrsim_model::units::SimTime;

/// A run with its schedule and its performance.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Measurement {
    /// Queries that were generated.
    pub schedule: QuerySchedule,
    /// Queries that were issued, and completions.
    pub run: Run,
    /// Statistics and validity of the run.
    pub performance: Performance,
}

impl Measurement {
    /// Instant at which the last sample was done.
    pub fn end(&self) -> SimTime {
        self.run.completed.iter().copied().max().unwrap_or(SimTime::ZERO)
    }

    /// Frees the memory of all queries, which is most of a result. The performance and
    /// [`Measurement::end`] stay.
    pub fn clear_queries(&mut self) {
        self.run.completed = vec![self.end()];
        self.run.queries = Vec::new();
        self.schedule.clear();
    }
}

/// Samples from which on a run excludes other such runs: at about 80 bytes a sample, two runs of the
/// largest size would take 6 GB.
const LARGE: u64 = 1 << 22;

/// Lock that a large run holds.
static LARGE_RUN: Mutex<()> = Mutex::new(());

/// Waits for other large runs if a run with `settings` is expected to be large. The lock is taken before
/// the schedule is generated, so that a run that waits takes no memory.
fn lock_if_large(settings: &EffectiveSettings) -> Option<MutexGuard<'static, ()>> {
    let is_large = expected_samples(settings) >= LARGE;
    is_large.then(|| LARGE_RUN.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Makes one run of `sut` with `settings`; their mode does not matter. Samples are drawn if `sut` tells them apart.
///
/// # Errors
///
/// [`RunError::Settings`] if the settings ask for too many queries, and [`RunError::NeverDone`] if the
/// system does not complete all of them.
pub fn measure<S: SystemUnderTest + ?Sized>(
    settings: &EffectiveSettings,
    sut: &mut S,
) -> Result<Measurement, RunError> {
    let _lock = lock_if_large(settings);
    let schedule = match sut.tells_samples_apart() {
        true => QuerySchedule::generate(settings)?,
        false => QuerySchedule::without_samples(settings)?,
    };
    let run = run_queries(settings, &schedule, sut)?;
    let performance = Performance::of_run(settings, &run).expect("a schedule has a query");
    Ok(Measurement { schedule, run, performance })
}

/// Whether a server run of a single queue meets the latency constraint, with enough queries, at a rate that a system
/// with the throughput bound `max_samples_per_s` sustains; equal to what [`measure`] finds, if every query is issued
/// when it is due.
///
/// # Errors
///
/// [`SettingsError`] if the settings ask for too many queries.
pub(super) fn sustains_when_due(
    settings: &EffectiveSettings,
    queue: SingleQueueSystem,
    max_samples_per_s: f64,
) -> Result<bool, SettingsError> {
    let _lock = lock_if_large(settings);
    let schedule = QuerySchedule::without_samples(settings)?;
    let n = schedule.n_queries();
    let last = schedule.offsets.last().copied().unwrap_or(SimTime::ZERO);
    if exceeds_capacity(settings, rate_until(n, last), max_samples_per_s) {
        return Ok(false);
    }
    // The percentile is within the bound if at most the latencies after it are not.
    let rank = percentile_index(n, settings.percentile);
    let most = rank.map_or(0, |rank| n - 1 - rank);
    let late = queue.late(&schedule.offsets, settings.target_latency, most);
    let early_stopping = EarlyStoppingOutcome::of_bound(n as u64, late as u64, settings.percentile);
    let is_enough = !settings.loadgen.has_early_stopping() || early_stopping.is_satisfied();
    Ok(late <= most && is_enough)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{LoadGenVersion, LoadScenario, QuerySampleLibrary, TestSettings};
    use crate::sut::{Completions, Sample};

    /// A system that is asked for nothing but whether samples differ, while the lock is held.
    struct SeesTheLock;

    impl SystemUnderTest for SeesTheLock {
        fn issue(&mut self, _: SimTime, _: &[Sample], _: &mut Completions) -> SimTime {
            panic!("no query is generated")
        }

        fn tells_samples_apart(&self) -> bool {
            assert!(LARGE_RUN.try_lock().is_err(), "the run does not hold the lock");
            true
        }
    }

    #[test]
    fn a_large_run_holds_the_lock_before_its_schedule_is_generated() {
        let settings = |min_duration_ms| {
            let requested = TestSettings {
                server_target_qps: 1e4,
                min_duration_ms,
                min_query_count: 1,
                ..TestSettings::new(LoadScenario::Server)
            };
            let library = QuerySampleLibrary { performance_samples: 4, total_samples: 4 };
            EffectiveSettings::new(&requested, library, LoadGenVersion::V6_0).unwrap()
        };
        let (large, small) = (settings(1_000_000), settings(1_000));
        let generated = QuerySchedule::generate(&small).unwrap().n_queries() as f64;
        let expected = expected_samples(&small) as f64;
        assert!((generated / expected - 1.0).abs() < 0.05, "{generated} of {expected}");
        assert!(lock_if_large(&small).is_none());
        let far_too_large = EffectiveSettings { target_qps: 1e9, ..large };
        let refused = measure(&far_too_large, &mut SeesTheLock);
        assert!(refused.is_err());
    }
}
