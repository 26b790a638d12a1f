//! What a run says: statistics, rates and validity, each as LoadGen computes it.

use crate::statistics::Fraction;
use crate::units::{SimSpan, SimTime};

use crate::mlperf::run::Run;
use crate::mlperf::settings::{EffectiveSettings, LoadScenario};

use super::statistics::{LatencyStatistics, count_over_bound, percentiles};
use super::validity::{EarlyStoppingOutcome, Estimate, INFERRED_PERCENTILE, Validity};

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
    pub fn of(settings: &EffectiveSettings, run: &Run) -> Option<Self> {
        let last = run.queries.last()?;
        let of_queries = settings.scenario == LoadScenario::MultiStream;
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

/// Intervals that queries took up, of a fixed interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Intervals {
    /// Percentiles, in the order of [`PERCENTILES`](crate::mlperf::results::PERCENTILES).
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
    pub latency: LatencyStatistics,
    /// Of samples.
    pub sample_latency: LatencyStatistics,
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
    pub fn of_run(settings: &EffectiveSettings, run: &Run) -> Option<Self> {
        Self::of(settings, Observations::of(settings, run)?)
    }

    /// What `seen` says of a run with `settings`. `None` without a latency.
    pub fn of(settings: &EffectiveSettings, mut seen: Observations) -> Option<Self> {
        let late = match settings.scenario {
            LoadScenario::Server => {
                count_over_bound(&seen.sample_latencies, settings.target_latency)
            }
            _ => 0,
        };
        let intervals = intervals(settings, &seen);
        let of_queries = !seen.query_latencies.is_empty();
        let judged =
            if of_queries { &mut seen.query_latencies } else { &mut seen.sample_latencies };
        let percentile = settings.percentile;
        let ranks = estimate_ranks(settings.scenario, judged.len(), percentile);
        let latency = LatencyStatistics::of(judged, percentile, &ranks)?;
        let early_stopping = early_stopping(settings, judged, late);
        let sample_latency = match of_queries {
            true => LatencyStatistics::of(&mut seen.sample_latencies, percentile, &[])?,
            false => latency,
        };
        let performance = match settings.scenario {
            LoadScenario::Server => Some(latency.target <= settings.target_latency),
            LoadScenario::MultiStream => intervals.map(|intervals| intervals.target < 2),
            LoadScenario::SingleStream | LoadScenario::Offline => None,
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
    pub fn meets_constraint(&self) -> bool {
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
    pub fn metric(&self, settings: &EffectiveSettings) -> Metric {
        let latency = match self.validity.early_stopping {
            Some(EarlyStoppingOutcome::Estimates { target, .. }) => {
                target.found.map_or(self.latency.target, |(_, latency)| latency)
            }
            _ => self.latency.target,
        };
        match settings.scenario {
            LoadScenario::MultiStream if settings.loadgen.has_fixed_interval() => {
                Metric::Streams(settings.samples_per_query)
            }
            LoadScenario::SingleStream | LoadScenario::MultiStream => Metric::Latency(latency),
            LoadScenario::Server if settings.loadgen.reports_completion() => {
                Metric::Rate(self.completed_rate())
            }
            LoadScenario::Server => Metric::Rate(self.scheduled_rate()),
            LoadScenario::Offline => Metric::Throughput(self.throughput()),
        }
    }
}

/// So many in a time, per second: always a number above 0. Nothing, and no time, have no rate.
fn rate(count: usize, span: SimSpan) -> Option<f64> {
    let is_known = count > 0 && span > SimSpan::ZERO;
    is_known.then(|| count as f64 / (span.ns() as f64 / 1e9))
}

/// What the least duration is held against.
fn elapsed(scenario: LoadScenario, seen: &Observations, latency: &LatencyStatistics) -> SimSpan {
    match scenario {
        LoadScenario::SingleStream | LoadScenario::MultiStream => seen.last_issued - SimTime::ZERO,
        LoadScenario::Server => seen.last_scheduled - SimTime::ZERO,
        LoadScenario::Offline => latency.max,
    }
}

/// Percentiles that are estimated.
fn estimated(scenario: LoadScenario, percentile: Fraction) -> Vec<Fraction> {
    match scenario {
        LoadScenario::SingleStream => vec![percentile, INFERRED_PERCENTILE],
        LoadScenario::MultiStream => vec![percentile],
        LoadScenario::Server | LoadScenario::Offline => Vec::new(),
    }
}

fn estimate_ranks(scenario: LoadScenario, n: usize, percentile: Fraction) -> Vec<usize> {
    let percentiles = estimated(scenario, percentile).into_iter();
    percentiles.filter_map(|percentile| Estimate::rank(n, percentile)).collect()
}

fn early_stopping(
    settings: &EffectiveSettings,
    latencies: &[SimSpan],
    late: u64,
) -> EarlyStoppingOutcome {
    let percentile = settings.percentile;
    let mut estimates = estimated(settings.scenario, percentile).into_iter();
    let mut estimate = || estimates.next().map(|percentile| Estimate::of(latencies, percentile));
    match (settings.scenario, estimate()) {
        (LoadScenario::Server, _) => {
            EarlyStoppingOutcome::of_bound(latencies.len() as u64, late, percentile)
        }
        (_, Some(target)) => EarlyStoppingOutcome::Estimates { target, inferred: estimate() },
        (_, None) => EarlyStoppingOutcome::NotNeeded,
    }
}

/// The intervals that are charged to each query: those up to the query that waited for it, which is
/// as many queries later as may be outstanding. The last queries, which none waited for, took up as
/// many as their latency covers.
fn intervals(settings: &EffectiveSettings, seen: &Observations) -> Option<Intervals> {
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
    use crate::mlperf::settings::{LoadGenVersion, QuerySampleLibrary, TestSettings};

    const MS: u64 = 1_000_000;

    fn settings(requested: &TestSettings, loadgen: LoadGenVersion) -> EffectiveSettings {
        let library = QuerySampleLibrary { performance_samples: 4, total_samples: 4 };
        EffectiveSettings::new(requested, library, loadgen).unwrap()
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
            ..TestSettings::new(LoadScenario::Server)
        }
    }

    /// Of 1000 latencies the 99th percentile is the 991st, 991 ms: at most the bound or not. 9 late
    /// queries need 1302 + ..., more than 1000 in any case.
    #[test]
    fn a_server_run_is_held_against_its_bound() {
        for (bound_ms, holds, late) in [(991, true, 9), (990, false, 10)] {
            let settings = settings(&server(bound_ms), LoadGenVersion::V6_0);
            let found = Performance::of(&settings, seen(1000, 20_000)).unwrap();
            assert_eq!(found.validity.performance, Some(holds));
            assert_eq!(found.late, late);
            assert!(found.validity.min_duration && found.validity.min_queries);
            assert!(!found.validity.is_valid(), "too short for its tail");
        }
        let old = settings(&server(991), LoadGenVersion::V0_5);
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
        assert_eq!(of(LoadGenVersion::V2_0), Metric::Rate(Some(999.0 / 20.0)));
        assert_eq!(of(LoadGenVersion::V4_1), Metric::Rate(Some(999.0 / 21.0)));
    }

    /// 1024 queries at 90 %: rank 921 and, by early stopping, rank 944, counted from 1 ms at rank 0.
    #[test]
    fn single_stream_reports_the_estimate_since_v2_0() {
        let requested = TestSettings::new(LoadScenario::SingleStream);
        let of = |loadgen| {
            let settings = settings(&requested, loadgen);
            Performance::of(&settings, seen(1024, 20_000)).unwrap().metric(&settings)
        };
        assert_eq!(of(LoadGenVersion::V0_5), Metric::Latency(SimSpan::from_ns(922 * MS)));
        assert_eq!(of(LoadGenVersion::V2_0), Metric::Latency(SimSpan::from_ns(945 * MS)));
    }

    #[test]
    fn offline_is_samples_over_the_last_completion() {
        let requested = TestSettings {
            min_query_count: 500,
            min_duration_ms: 500,
            ..TestSettings::new(LoadScenario::Offline)
        };
        let settings = settings(&requested, LoadGenVersion::V6_0);
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
            ..TestSettings::new(LoadScenario::MultiStream)
        };
        let seen = Observations {
            query_latencies: vec![SimSpan::from_ns(25 * MS); 5],
            intervals: vec![9, 1, 2, 1, 1],
            ..seen(5, 20_000)
        };
        let judge = |percentile| {
            let settings = settings(&requested(percentile), LoadGenVersion::V0_5);
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
        let settings =
            settings(&TestSettings::new(LoadScenario::MultiStream), LoadGenVersion::V2_0);
        let query_latencies = seen(662, 0).sample_latencies;
        let seen = Observations { query_latencies, ..seen(662, 20_000) };
        let found = Performance::of(&settings, seen).unwrap();
        assert_eq!((found.intervals, found.validity.performance), (None, None));
        assert_eq!(found.metric(&settings), Metric::Latency(SimSpan::from_ns(662 * MS)));
    }

    #[test]
    fn nothing_seen_says_nothing() {
        let settings = settings(&server(1), LoadGenVersion::V6_0);
        let nothing = Observations { sample_latencies: Vec::new(), ..seen(1, 1) };
        assert_eq!(Performance::of(&settings, nothing), None);
    }
}
