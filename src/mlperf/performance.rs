//! What a run says: statistics, rates and validity, each as LoadGen computes it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::statistics::Fraction;
use crate::units::{SimSpan, SimTime};

use super::run::{Run, RunError, run};
use super::schedule::{Schedule, expected_samples};
use super::settings::{Scenario, Settings, SettingsError};
use super::statistics::{Statistics, over_bound, percentiles};
use super::sut::SystemUnderTest;
use super::validity::{EarlyStoppingResult, Estimate, INFERRED_PERCENTILE, Validity};

/// What was seen of a run, simulated or recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observations {
    /// Latency of every sample, in any order; not empty.
    pub sample_latencies: Vec<SimSpan>,
    /// Multi-stream: latency of every query, in the order of issue. Empty otherwise.
    pub query_latencies: Vec<SimSpan>,
    /// Fixed interval: ticks from the query before to each query, in the order of issue. Empty
    /// otherwise.
    pub intervals: Vec<u64>,
    /// Queries that were issued.
    pub queries: u64,
    /// When the last query was due, since the start.
    pub last_scheduled: SimTime,
    /// When it was issued.
    pub last_issued: SimTime,
    /// When it was done.
    pub last_completed: SimTime,
}

impl Observations {
    /// What was seen of a simulated run; of settings with which the run was made. `None` if no query
    /// was issued.
    pub fn of(settings: &Settings, run: &Run) -> Option<Self> {
        let last = run.queries.last()?;
        let of_queries = settings.scenario == Scenario::MultiStream;
        let queries = || run.queries.iter();
        let latencies = || queries().map(|query| query.latency()).collect();
        let ticks = || queries().map(|query| query.intervals).collect();
        let has_ticks = of_queries && settings.loadgen.has_fixed_interval();
        Some(Self {
            sample_latencies: run.sample_latencies(),
            query_latencies: if of_queries { latencies() } else { Vec::new() },
            intervals: if has_ticks { ticks() } else { Vec::new() },
            queries: run.queries.len() as u64,
            last_scheduled: last.scheduled,
            last_issued: last.issued,
            last_completed: last.completed,
        })
    }
}

/// Everything of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// What was issued.
    pub schedule: Schedule,
    /// What happened.
    pub run: Run,
    /// What it says.
    pub performance: Performance,
}

impl Measurement {
    /// When the last sample was done.
    pub fn end(&self) -> SimTime {
        self.run.completed.iter().copied().max().unwrap_or(SimTime::ZERO)
    }

    /// Forgets all queries, which take up most of the memory of a result. What they say stays, and when the
    /// last of them was done.
    pub fn forget_queries(&mut self) {
        self.run.completed = vec![self.end()];
        self.run.queries = Vec::new();
        self.schedule.forget();
    }
}

/// Samples from which on a run is made while no other such run is: at some 80 bytes a sample, two of the
/// largest would take six gigabytes.
const LARGE: u64 = 1 << 22;

/// Held while a large run is made.
static TURN: Mutex<()> = Mutex::new(());

/// Waits until no other large run is made, if this one is expected to be large. It is asked before anything is
/// made of the run, so that a run that waits takes no memory.
fn turn(settings: &Settings) -> Option<MutexGuard<'static, ()>> {
    let is_large = expected_samples(settings) >= LARGE;
    is_large.then(|| TURN.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Makes one run of `sut` with `settings`, whatever their mode.
///
/// # Errors
///
/// Those of [`Schedule::generate`] and [`run`].
pub fn measure<S: SystemUnderTest + ?Sized>(
    settings: &Settings,
    sut: &mut S,
) -> Result<Measurement, RunError> {
    measure_scheduled(settings, Schedule::generate, sut)
}

/// Likewise with the queries that `schedule` makes from `settings`.
///
/// # Errors
///
/// Those of `schedule` and [`run`].
pub fn measure_scheduled<S: SystemUnderTest + ?Sized>(
    settings: &Settings,
    schedule: impl FnOnce(&Settings) -> Result<Schedule, SettingsError>,
    sut: &mut S,
) -> Result<Measurement, RunError> {
    let _turn = turn(settings);
    let schedule = schedule(settings)?;
    let run = run(settings, &schedule, sut)?;
    let performance = Performance::of_run(settings, &run).expect("a schedule has a query");
    Ok(Measurement { schedule, run, performance })
}

/// Intervals that queries took up, of a fixed interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Intervals {
    /// Percentiles, in the order of [`PERCENTILES`](super::statistics::PERCENTILES).
    pub percentiles: [u64; 6],
    /// The percentile that the run is judged by: at most 1 if it passes.
    pub target: u64,
}

/// The number that a scenario is about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Metric {
    /// Percentile of the latency, or its estimate by early stopping; less is better.
    Latency(SimSpan),
    /// Streams N that the interval has room for.
    Streams(u64),
    /// Queries per second; `None` where there is no such rate.
    Rate(Option<f64>),
    /// Samples per second; likewise.
    Throughput(Option<f64>),
}

/// What a run says.
#[derive(Debug, Clone, PartialEq)]
pub struct Performance {
    /// Of queries in multi-stream, of samples elsewhere.
    pub latency: Statistics,
    /// Of samples.
    pub sample_latency: Statistics,
    /// Fixed interval: intervals that each query took up.
    pub intervals: Option<Intervals>,
    /// Server: queries above the latency bound. 0 elsewhere.
    pub late: u64,
    /// Queries that were issued.
    pub queries: u64,
    /// When the last query was due.
    pub last_scheduled: SimTime,
    /// When it was issued.
    pub last_issued: SimTime,
    /// When it was done.
    pub last_completed: SimTime,
    /// Whether the run counts.
    pub validity: Validity,
}

impl Performance {
    /// What a simulated run says, and how it ended. `None` if no query was issued.
    pub fn of_run(settings: &Settings, run: &Run) -> Option<Self> {
        Self::of(settings, Observations::of(settings, run)?)
    }

    /// What `seen` says of a run with `settings`. `None` without a latency.
    pub fn of(settings: &Settings, mut seen: Observations) -> Option<Self> {
        let late = match settings.scenario {
            Scenario::Server => over_bound(&seen.sample_latencies, settings.target_latency),
            _ => 0,
        };
        let intervals = intervals(settings, &seen);
        let of_queries = !seen.query_latencies.is_empty();
        let judged =
            if of_queries { &mut seen.query_latencies } else { &mut seen.sample_latencies };
        let percentile = settings.percentile;
        let ranks = estimate_ranks(settings.scenario, judged.len(), percentile);
        let latency = Statistics::of(judged, percentile, &ranks)?;
        let early_stopping = early_stopping(settings, judged, late);
        let sample_latency = match of_queries {
            true => Statistics::of(&mut seen.sample_latencies, percentile, &[])?,
            false => latency,
        };
        let performance = match settings.scenario {
            Scenario::Server => Some(latency.target <= settings.target_latency),
            Scenario::MultiStream => intervals.map(|intervals| intervals.target < 2),
            Scenario::SingleStream | Scenario::Offline => None,
        };
        let min_duration = elapsed(settings.scenario, &seen, &latency) >= settings.min_duration;
        let min_queries = seen.queries >= settings.min_query_count
            && sample_latency.count as u64 >= settings.min_sample_count;
        Some(Self {
            latency,
            sample_latency,
            intervals,
            late,
            queries: seen.queries,
            last_scheduled: seen.last_scheduled,
            last_issued: seen.last_issued,
            last_completed: seen.last_completed,
            validity: Validity::new(
                settings,
                performance,
                min_duration,
                min_queries,
                early_stopping,
            ),
        })
    }

    /// Whether the latencies pass, or nothing is asked of them.
    pub fn passes(&self) -> bool {
        self.validity.performance != Some(false)
    }

    /// Server: rate of the schedule \[1/s\]: all queries but the last, over the time at which that
    /// one was due. `None` of a single query, or of queries that are all due at once.
    pub fn scheduled_rate(&self) -> Option<f64> {
        self.rate_until(self.last_scheduled)
    }

    /// Server: likewise over the time at which the last query was done.
    pub fn completed_rate(&self) -> Option<f64> {
        self.rate_until(self.last_completed)
    }

    /// Single-stream: likewise over the time at which it was issued, with whatever passes between two
    /// queries.
    pub fn rate_with_overhead(&self) -> Option<f64> {
        self.rate_until(self.last_issued)
    }

    /// Single-stream: queries per second if nothing passed between two queries, 1 / mean latency.
    /// `None` of queries that take no time.
    pub fn rate_without_overhead(&self) -> Option<f64> {
        rate(1, self.sample_latency.mean)
    }

    /// Offline: samples per second until the last one is done. `None` of samples that take no time.
    pub fn throughput(&self) -> Option<f64> {
        rate(self.sample_latency.count, self.sample_latency.max)
    }

    fn rate_until(&self, end: SimTime) -> Option<f64> {
        rate(self.sample_latency.count.saturating_sub(1), end - SimTime::ZERO)
    }

    /// The number that the scenario of `settings` is about. The run must also be valid to count.
    pub fn metric(&self, settings: &Settings) -> Metric {
        let latency = match self.validity.early_stopping {
            Some(EarlyStoppingResult::Estimates { target, .. }) => {
                target.found.map_or(self.latency.target, |(_, latency)| latency)
            }
            _ => self.latency.target,
        };
        match settings.scenario {
            Scenario::MultiStream if settings.loadgen.has_fixed_interval() => {
                Metric::Streams(settings.samples_per_query)
            }
            Scenario::SingleStream | Scenario::MultiStream => Metric::Latency(latency),
            Scenario::Server if settings.loadgen.reports_completion() => {
                Metric::Rate(self.completed_rate())
            }
            Scenario::Server => Metric::Rate(self.scheduled_rate()),
            Scenario::Offline => Metric::Throughput(self.throughput()),
        }
    }
}

/// So many in a time, per second: always a number above 0. Nothing, and no time, have no rate.
fn rate(count: usize, span: SimSpan) -> Option<f64> {
    let is_known = count > 0 && span > SimSpan::ZERO;
    is_known.then(|| count as f64 / (span.ns() as f64 / 1e9))
}

/// What the least duration is held against.
fn elapsed(scenario: Scenario, seen: &Observations, latency: &Statistics) -> SimSpan {
    match scenario {
        Scenario::SingleStream | Scenario::MultiStream => seen.last_issued - SimTime::ZERO,
        Scenario::Server => seen.last_scheduled - SimTime::ZERO,
        Scenario::Offline => latency.max,
    }
}

/// Percentiles that are estimated.
fn estimated(scenario: Scenario, percentile: Fraction) -> Vec<Fraction> {
    match scenario {
        Scenario::SingleStream => vec![percentile, INFERRED_PERCENTILE],
        Scenario::MultiStream => vec![percentile],
        Scenario::Server | Scenario::Offline => Vec::new(),
    }
}

fn estimate_ranks(scenario: Scenario, n: usize, percentile: Fraction) -> Vec<usize> {
    let percentiles = estimated(scenario, percentile).into_iter();
    percentiles.filter_map(|percentile| Estimate::rank(n, percentile)).collect()
}

fn early_stopping(settings: &Settings, latencies: &[SimSpan], late: u64) -> EarlyStoppingResult {
    let percentile = settings.percentile;
    let mut estimates = estimated(settings.scenario, percentile).into_iter();
    let mut estimate = || estimates.next().map(|percentile| Estimate::of(latencies, percentile));
    match (settings.scenario, estimate()) {
        (Scenario::Server, _) => {
            EarlyStoppingResult::of_bound(latencies.len() as u64, late, percentile)
        }
        (_, Some(target)) => EarlyStoppingResult::Estimates { target, inferred: estimate() },
        (_, None) => EarlyStoppingResult::NotNeeded,
    }
}

/// The intervals that are charged to each query: those up to the query that waited for it, which is
/// as many queries later as may be outstanding. The last queries, which none waited for, took up as
/// many as their latency covers.
fn intervals(settings: &Settings, seen: &Observations) -> Option<Intervals> {
    let n = seen.intervals.len();
    if n == 0 {
        return None;
    }
    let outstanding = (settings.max_async_queries as usize).min(n);
    let mut charged = seen.intervals[outstanding..].to_vec();
    let last = seen.query_latencies.iter().skip(n - outstanding);
    charged
        .extend(last.map(|&latency| (settings.target_qps * (latency.as_ms() / 1e3)).ceil() as u64));
    let (percentiles, target) = percentiles(&mut charged, settings.percentile, &[])?;
    Some(Intervals { percentiles, target })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mlperf::service::{Discipline, Service, ServiceTime};
    use crate::mlperf::settings::{Library, LoadGen, TestSettings};

    const MS: u64 = 1_000_000;

    fn settings(requested: &TestSettings, loadgen: LoadGen) -> Settings {
        let library = Library { performance_samples: 4, total_samples: 4 };
        Settings::new(requested, library, loadgen).unwrap()
    }

    #[test]
    fn a_large_run_has_its_turn_before_its_schedule_is_made() {
        let requested = TestSettings { server_target_qps: 1e4, ..server(10) };
        let large = TestSettings { min_duration_ms: 1_000_000, ..requested };
        let small = TestSettings { min_duration_ms: 1_000, min_query_count: 1, ..requested };
        let [large, small] = [large, small].map(|it| settings(&it, LoadGen::V6_0));
        let made = Schedule::generate(&small).unwrap().n_queries() as f64;
        let expected = expected_samples(&small) as f64;
        assert!((made / expected - 1.0).abs() < 0.05, "{made} of {expected}");
        assert!(turn(&small).is_none());
        let mut service =
            Service::new(ServiceTime::Constant(SimSpan::from_ns(MS)), Discipline::Query, vec![1.0]);
        let refused = measure_scheduled(
            &large,
            |settings| {
                assert!(TURN.try_lock().is_err(), "it has not had its turn");
                Err(settings.too_many_samples())
            },
            &mut service,
        );
        assert!(refused.is_err());
    }

    /// `n` latencies of 1 ms up to `n` ms, the last query due at `last_ms` and done after its latency.
    fn seen(n: u64, last_ms: u64) -> Observations {
        let at = |ms: u64| SimTime::from_ns(ms * MS);
        Observations {
            sample_latencies: (1..=n).map(|ms| SimSpan::from_ns(ms * MS)).collect(),
            query_latencies: Vec::new(),
            intervals: Vec::new(),
            queries: n,
            last_scheduled: at(last_ms),
            last_issued: at(last_ms),
            last_completed: at(last_ms + n),
        }
    }

    fn server(bound_ms: u64) -> TestSettings {
        TestSettings {
            server_target_latency_ns: bound_ms * MS,
            ..TestSettings::new(Scenario::Server)
        }
    }

    /// Of 1000 latencies the 99th percentile is the 991st, 991 ms: at most the bound or not. 9 late
    /// queries need 1302 + ..., more than 1000 in any case.
    #[test]
    fn a_server_run_is_held_against_its_bound() {
        for (bound_ms, holds, late) in [(991, true, 9), (990, false, 10)] {
            let settings = settings(&server(bound_ms), LoadGen::V6_0);
            let found = Performance::of(&settings, seen(1000, 20_000)).unwrap();
            assert_eq!(found.validity.performance, Some(holds));
            assert_eq!(found.late, late);
            assert!(found.validity.min_duration && found.validity.min_queries);
            assert!(!found.validity.is_valid(), "too short for its tail");
        }
        let old = settings(&server(991), LoadGen::V0_5);
        assert!(Performance::of(&old, seen(1000, 20_000)).unwrap().validity.is_valid());
    }

    /// 999 queries in 20 s, and in 21 s.
    #[test]
    fn the_last_query_is_the_open_end_of_a_rate() {
        let requested = server(1000);
        let of = |loadgen| {
            let settings = settings(&requested, loadgen);
            Performance::of(&settings, seen(1000, 20_000)).unwrap().metric(&settings)
        };
        assert_eq!(of(LoadGen::V2_0), Metric::Rate(Some(999.0 / 20.0)));
        assert_eq!(of(LoadGen::V4_1), Metric::Rate(Some(999.0 / 21.0)));
    }

    /// 1024 queries at 90 %: rank 921 and, by early stopping, rank 944, counted from 1 ms at rank 0.
    #[test]
    fn single_stream_reports_the_estimate_since_v2_0() {
        let requested = TestSettings::new(Scenario::SingleStream);
        let of = |loadgen| {
            let settings = settings(&requested, loadgen);
            Performance::of(&settings, seen(1024, 20_000)).unwrap().metric(&settings)
        };
        assert_eq!(of(LoadGen::V0_5), Metric::Latency(SimSpan::from_ns(922 * MS)));
        assert_eq!(of(LoadGen::V2_0), Metric::Latency(SimSpan::from_ns(945 * MS)));
    }

    #[test]
    fn offline_is_samples_over_the_last_completion() {
        let requested = TestSettings {
            min_query_count: 500,
            min_duration_ms: 500,
            ..TestSettings::new(Scenario::Offline)
        };
        let settings = settings(&requested, LoadGen::V6_0);
        let found =
            Performance::of(&settings, Observations { queries: 1, ..seen(500, 0) }).unwrap();
        assert_eq!(found.metric(&settings), Metric::Throughput(Some(1000.0)));
        assert!(found.validity.is_valid());
        let short = Observations { queries: 1, ..seen(499, 0) };
        let short = Performance::of(&settings, short).unwrap().validity;
        assert!(!short.min_duration && !short.min_queries);
    }

    /// Ticks of 10 ms with one query outstanding: query j is charged what query j + 1 had to wait; the
    /// last one ceil(100/s · 25 ms) = 3. At 60 % of 5 queries rank 3 of 1, 1, 1, 2, 3 counts: 2.
    #[test]
    fn intervals_are_charged_to_the_query_that_caused_them() {
        let requested = |percentile| TestSettings {
            multi_stream_target_qps: 100.0,
            multi_stream_samples_per_query: 1,
            multi_stream_target_latency_percentile: percentile,
            ..TestSettings::new(Scenario::MultiStream)
        };
        let seen = Observations {
            query_latencies: vec![SimSpan::from_ns(25 * MS); 5],
            intervals: vec![9, 1, 2, 1, 1],
            ..seen(5, 20_000)
        };
        let judge = |percentile| {
            let settings = settings(&requested(percentile), LoadGen::V0_5);
            Performance::of(&settings, seen.clone()).unwrap()
        };
        let strict = judge(0.6);
        assert_eq!(strict.intervals.map(|intervals| intervals.target), Some(2));
        assert_eq!(strict.validity.performance, Some(false));
        assert_eq!(judge(0.5).validity.performance, Some(true));
        let reason = "Reduce samples per query to improve latency.";
        assert_eq!(strict.validity.recommendations()[0], reason);
    }

    /// Queries one after another, since v2.0, take up no intervals and break no bound.
    #[test]
    fn without_an_interval_a_stream_is_not_held_against_one() {
        let settings = settings(&TestSettings::new(Scenario::MultiStream), LoadGen::V2_0);
        let query_latencies = seen(662, 0).sample_latencies;
        let seen = Observations { query_latencies, ..seen(662, 20_000) };
        let found = Performance::of(&settings, seen).unwrap();
        assert_eq!((found.intervals, found.validity.performance), (None, None));
        assert_eq!(found.metric(&settings), Metric::Latency(SimSpan::from_ns(662 * MS)));
    }

    #[test]
    fn nothing_seen_says_nothing() {
        let settings = settings(&server(1), LoadGen::V6_0);
        let nothing = Observations { sample_latencies: Vec::new(), ..seen(1, 1) };
        assert_eq!(Performance::of(&settings, nothing), None);
    }
}
