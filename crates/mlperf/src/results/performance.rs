//! Performance of a run: statistics, rates and validity, each as LoadGen computes it.

use xrsim_model::statistics::Fraction;
use xrsim_model::units::{SimSpan, SimTime};

use crate::run::Run;
use crate::settings::{EffectiveSettings, LoadScenario};

use super::statistics::{LatencyStatistics, count_over_bound, percentiles};
use super::validity::{EarlyStoppingOutcome, Estimate, INFERRED_PERCENTILE, Validity};

/// Latencies and instants of a run, simulated or recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observations {
    /// Latency of every sample, in any order; not empty.
    pub sample_latencies: Vec<SimSpan>,
    /// Multi-stream: latency of every query, in the order of issue. Empty in other scenarios.
    pub query_latencies: Vec<SimSpan>,
    /// Fixed interval: ticks from the query before to each query, in the order of issue. Empty in
    /// other scenarios.
    pub intervals: Vec<u64>,
    /// Number of queries that were issued.
    pub queries: u64,
    /// Instant at which the last query was due.
    pub last_scheduled: SimTime,
    /// Instant at which the last query was issued.
    pub last_issued: SimTime,
    /// Instant at which the last query was done.
    pub last_completed: SimTime,
}

impl Observations {
    /// Observations of a simulated run that was made with `settings`; `None` if no query was issued.
    pub fn from_run(settings: &EffectiveSettings, run: &Run) -> Option<Self> {
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

/// Numbers of intervals that queries with a fixed interval took up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Intervals {
    /// Percentiles, in the order of [`PERCENTILES`](crate::results::PERCENTILES).
    pub percentiles: [u64; 6],
    /// Percentile that the run is judged by: at most 1 if it passes.
    pub target: u64,
}

/// Metric of a scenario.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Metric {
    /// Percentile of the latency, or its estimate by early stopping; smaller is better.
    Latency(SimSpan),
    /// Number of streams that the interval has room for.
    Streams(u64),
    /// Rate of queries \[1/s\]; `None` if it is undefined.
    Rate(Option<f64>),
    /// Rate of samples \[1/s\]; `None` if it is undefined.
    Throughput(Option<f64>),
}

/// Statistics, rates and validity of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Performance {
    /// Latency of queries in multi-stream, of samples in other scenarios.
    pub latency: LatencyStatistics,
    /// Latency of samples.
    pub sample_latency: LatencyStatistics,
    /// Fixed interval: numbers of intervals that queries took up.
    pub intervals: Option<Intervals>,
    /// Server: number of queries above the latency bound. 0 in other scenarios.
    pub overlatency: u64,
    /// Number of queries that were issued.
    pub queries: u64,
    /// Instant at which the last query was due.
    pub last_scheduled: SimTime,
    /// Instant at which the last query was issued.
    pub last_issued: SimTime,
    /// Instant at which the last query was done.
    pub last_completed: SimTime,
    /// Conditions of a valid run.
    pub validity: Validity,
}

impl Performance {
    /// Performance of a simulated run; `None` if no query was issued.
    pub fn of_run(settings: &EffectiveSettings, run: &Run) -> Option<Self> {
        let mut performance = Self::compute(settings, Observations::from_run(settings, run)?)?;
        performance.validity.is_finished = run.is_finished();
        Some(performance)
    }

    /// Performance of a run with `settings`; `None` without a latency.
    pub fn compute(settings: &EffectiveSettings, mut observed: Observations) -> Option<Self> {
        let overlatency = match settings.scenario {
            LoadScenario::Server => {
                count_over_bound(&observed.sample_latencies, settings.target_latency)
            }
            _ => 0,
        };
        let intervals = intervals(settings, &observed);
        let of_queries = !observed.query_latencies.is_empty();
        let judged =
            if of_queries { &mut observed.query_latencies } else { &mut observed.sample_latencies };
        let percentile = settings.percentile;
        let ranks = estimate_ranks(settings.scenario, judged.len(), percentile);
        let latency = LatencyStatistics::compute(judged, percentile, &ranks)?;
        let early_stopping = early_stopping(settings, judged, overlatency);
        let sample_latency = match of_queries {
            true => LatencyStatistics::compute(&mut observed.sample_latencies, percentile, &[])?,
            false => latency,
        };
        let performance = match settings.scenario {
            LoadScenario::Server => Some(latency.target <= settings.target_latency),
            LoadScenario::MultiStream => intervals.map(|intervals| intervals.target < 2),
            LoadScenario::SingleStream | LoadScenario::Offline => None,
        };
        let min_duration = elapsed(settings.scenario, &observed, &latency) >= settings.min_duration;
        let min_queries = observed.queries >= settings.min_query_count
            && sample_latency.count as u64 >= settings.min_sample_count;
        Some(Self {
            latency,
            sample_latency,
            intervals,
            overlatency,
            queries: observed.queries,
            last_scheduled: observed.last_scheduled,
            last_issued: observed.last_issued,
            last_completed: observed.last_completed,
            validity: Validity::new(
                settings,
                performance,
                min_duration,
                min_queries,
                early_stopping,
            ),
        })
    }

    /// Whether all samples were done and the latencies meet the constraint of the scenario; without a constraint they do.
    pub fn meets_constraint(&self) -> bool {
        self.validity.is_finished && self.validity.performance != Some(false)
    }

    /// Server: scheduled rate \[1/s\]: all queries but the last, over the time at which the last query
    /// was due. `None` for a single query, or for queries that are all due at once.
    pub fn scheduled_rate(&self) -> Option<f64> {
        self.rate_until(self.last_scheduled)
    }

    /// Server: completed rate \[1/s\]: all queries but the last, over the time at which the last query
    /// was done. `None` for a single query.
    pub fn completed_rate(&self) -> Option<f64> {
        self.rate_until(self.last_completed)
    }

    /// Single-stream: all queries but the last, over the time at which the last query was issued, which
    /// includes the time between queries \[1/s\].
    pub fn rate_with_overhead(&self) -> Option<f64> {
        self.rate_until(self.last_issued)
    }

    /// Single-stream: rate of queries without time between them, 1 / mean latency \[1/s\]. `None` for
    /// queries that take no time.
    pub fn rate_without_overhead(&self) -> Option<f64> {
        rate(1, self.sample_latency.mean)
    }

    /// Offline: rate of samples until the last one is done \[1/s\]. `None` for samples that take no time, or
    /// of which not every one was done.
    pub fn throughput(&self) -> Option<f64> {
        if !self.validity.is_finished {
            return None;
        }
        rate(self.sample_latency.count, self.sample_latency.max)
    }

    fn rate_until(&self, end: SimTime) -> Option<f64> {
        rate_until(self.sample_latency.count, end)
    }

    /// Metric of the scenario of `settings`. It counts only if the run is valid.
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

/// Rate of `count` in `span` \[1/s\], above 0; `None` if either is 0.
fn rate(count: usize, span: SimSpan) -> Option<f64> {
    let is_known = count > 0 && span > SimSpan::ZERO;
    is_known.then(|| count as f64 / (span.ns() as f64 / 1e9))
}

/// Rate of `count` queries but the last, over the time until `end` \[1/s\]; `None` if either is 0.
pub(crate) fn rate_until(count: usize, end: SimTime) -> Option<f64> {
    rate(count.saturating_sub(1), end - SimTime::ZERO)
}

/// Time that is compared with the minimum duration.
fn elapsed(
    scenario: LoadScenario,
    observed: &Observations,
    latency: &LatencyStatistics,
) -> SimSpan {
    match scenario {
        LoadScenario::SingleStream | LoadScenario::MultiStream => {
            observed.last_issued - SimTime::ZERO
        }
        LoadScenario::Server => observed.last_scheduled - SimTime::ZERO,
        LoadScenario::Offline => latency.max,
    }
}

/// Percentiles that early stopping estimates.
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
    overlatency: u64,
) -> EarlyStoppingOutcome {
    let percentile = settings.percentile;
    let mut estimates = estimated(settings.scenario, percentile).into_iter();
    let mut estimate =
        || estimates.next().map(|percentile| Estimate::compute(latencies, percentile));
    match (settings.scenario, estimate()) {
        (LoadScenario::Server, _) => {
            EarlyStoppingOutcome::of_bound(latencies.len() as u64, overlatency, percentile)
        }
        (_, Some(target)) => EarlyStoppingOutcome::Estimates { target, inferred: estimate() },
        (_, None) => EarlyStoppingOutcome::NotNeeded,
    }
}

/// Intervals that are charged to each query: those up to the query that waited for it, which is as many
/// queries later as may be outstanding. The last queries, for which no query waited, are charged the
/// intervals that their latency covers.
fn intervals(settings: &EffectiveSettings, observed: &Observations) -> Option<Intervals> {
    let n = observed.intervals.len();
    if n == 0 {
        return None;
    }
    let outstanding = (settings.max_async_queries as usize).min(n);
    let mut charged = observed.intervals[outstanding..].to_vec();
    let last = observed.query_latencies.iter().skip(n - outstanding);
    charged
        .extend(last.map(|&latency| (settings.target_qps * (latency.as_ms() / 1e3)).ceil() as u64));
    let (percentiles, target) = percentiles(&mut charged, settings.percentile, &[])?;
    Some(Intervals { percentiles, target })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{LoadGenVersion, QuerySampleLibrary, TestSettings};

    const MS: u64 = 1_000_000;

    fn settings(requested: &TestSettings, loadgen: LoadGenVersion) -> EffectiveSettings {
        let library = QuerySampleLibrary { performance_samples: 4, total_samples: 4 };
        EffectiveSettings::new(requested, library, loadgen).unwrap()
    }

    /// Latencies of 1 ms to `n` ms; the last query is due at `last_ms` and done after its latency.
    fn observed(n: u64, last_ms: u64) -> Observations {
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

    /// The 99th percentile of 1000 latencies is the 991st, 991 ms, which is compared with the bound.
    /// 9 queries above the bound need 1302 + ..., more than 1000.
    #[test]
    fn a_server_run_is_compared_with_its_bound() {
        for (bound_ms, holds, late) in [(991, true, 9), (990, false, 10)] {
            let settings = settings(&server(bound_ms), LoadGenVersion::V6_0);
            let found = Performance::compute(&settings, observed(1000, 20_000)).unwrap();
            assert_eq!(found.validity.performance, Some(holds));
            assert_eq!(found.overlatency, late);
            assert!(found.validity.min_duration && found.validity.min_queries);
            assert!(!found.validity.is_valid(), "too short for its tail");
        }
        let old = settings(&server(991), LoadGenVersion::V0_5);
        assert!(Performance::compute(&old, observed(1000, 20_000)).unwrap().validity.is_valid());
    }

    /// 999 queries in 20 s, and in 21 s.
    #[test]
    fn the_last_query_is_the_open_end_of_a_rate() {
        let requested = server(1000);
        let of = |loadgen| {
            let settings = settings(&requested, loadgen);
            Performance::compute(&settings, observed(1000, 20_000)).unwrap().metric(&settings)
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
            Performance::compute(&settings, observed(1024, 20_000)).unwrap().metric(&settings)
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
            Performance::compute(&settings, Observations { queries: 1, ..observed(500, 0) })
                .unwrap();
        assert_eq!(found.metric(&settings), Metric::Throughput(Some(1000.0)));
        assert!(found.validity.is_valid());
        let short = Observations { queries: 1, ..observed(499, 0) };
        let short = Performance::compute(&settings, short).unwrap().validity;
        assert!(!short.min_duration && !short.min_queries);
    }

    /// Ticks come every 10 ms and one query may be outstanding. Query j is charged the intervals that
    /// query j + 1 waited; the last query is charged ceil(100/s · 25 ms) = 3. At 60 % of 5 queries, rank 3
    /// of 1, 1, 1, 2, 3 counts: 2.
    #[test]
    fn intervals_are_charged_to_the_query_that_caused_them() {
        let requested = |percentile| TestSettings {
            multi_stream_target_qps: 100.0,
            multi_stream_samples_per_query: 1,
            multi_stream_target_latency_percentile: percentile,
            ..TestSettings::new(LoadScenario::MultiStream)
        };
        let observed = Observations {
            query_latencies: vec![SimSpan::from_ns(25 * MS); 5],
            intervals: vec![9, 1, 2, 1, 1],
            ..observed(5, 20_000)
        };
        let judge = |percentile| {
            let settings = settings(&requested(percentile), LoadGenVersion::V0_5);
            Performance::compute(&settings, observed.clone()).unwrap()
        };
        let strict = judge(0.6);
        assert_eq!(strict.intervals.map(|intervals| intervals.target), Some(2));
        assert_eq!(strict.validity.performance, Some(false));
        assert_eq!(judge(0.5).validity.performance, Some(true));
        let reason = "Reduce samples per query to improve latency.";
        assert_eq!(strict.validity.recommendations()[0], reason);
    }

    /// Since v2.0 queries are issued one after another, take up no intervals and have no bound.
    #[test]
    fn a_stream_without_an_interval_is_not_compared_with_one() {
        let settings =
            settings(&TestSettings::new(LoadScenario::MultiStream), LoadGenVersion::V2_0);
        let query_latencies = observed(662, 0).sample_latencies;
        let observed = Observations { query_latencies, ..observed(662, 20_000) };
        let found = Performance::compute(&settings, observed).unwrap();
        assert_eq!((found.intervals, found.validity.performance), (None, None));
        assert_eq!(found.metric(&settings), Metric::Latency(SimSpan::from_ns(662 * MS)));
    }

    #[test]
    fn a_run_without_a_latency_has_no_performance() {
        let settings = settings(&server(1), LoadGenVersion::V6_0);
        let nothing = Observations { sample_latencies: Vec::new(), ..observed(1, 1) };
        assert_eq!(Performance::compute(&settings, nothing), None);
    }
}
