//! The tests of a suite on a test bed: what a submitter would have measured.

use ordered_float::OrderedFloat;
use rayon::prelude::*;

use crate::score::Score;
use crate::units::{Millijoules, SimSpan, SimTime};

use crate::mlperf::results::{LatencyStatistics, Metric, Performance, Unsustained, is_too_fast};
use crate::mlperf::rules::{Load, Round, Test};
use crate::mlperf::settings::{
    EffectiveSettings, LoadScenario, MAX_RATE, MAX_SAMPLES, QuerySampleLibrary, Seeds,
};
use crate::mlperf::sut::{Discipline, ServerSystem, ServiceTime};

use super::measure::{Measurement, measure};
use super::peak_search::{PeakSearch, SearchMethod, Trial, find_common, search_upward};
use super::test_bed::{TestBed, TestError, TestRun};

/// What a test is made with beside the suite.
#[derive(Debug, Clone, Copy)]
pub struct TestOptions {
    /// Round whose LoadGen and seeds hold.
    pub round: &'static Round,
    /// Whether its counts and durations hold too, in place of the suite's.
    pub counts_of_round: bool,
    /// Server: the rate to test \[1/s\], or to search from.
    pub target_qps: Option<f64>,
    /// Multi-stream: the number of streams to test, or to search from; from v2.0 on the samples of a
    /// query.
    pub streams: Option<u64>,
    /// Whether to search even if a rate or a number of streams is given.
    pub finds_peak: bool,
    /// Least duration in place of that of the suite or round.
    pub min_duration: Option<SimSpan>,
    /// Fewest queries, of samples in Offline, likewise.
    pub min_queries: Option<u64>,
}

/// What a test gave.
#[derive(Debug, Clone, PartialEq)]
pub struct TestResult {
    /// Settings of the run that counts.
    pub settings: EffectiveSettings,
    /// That run; of several the one with the least result.
    pub measurement: Measurement,
    /// The search that found its load; empty without one.
    pub trials: Vec<Trial>,
    /// Runs that had to pass.
    pub runs: u32,
    /// Energy of all samples; `None` if nothing is known of that.
    pub energy: Option<Millijoules>,
    /// Scores of the usage scenario beside the queries, if there is one and any frame of it counts.
    pub background: Option<BackgroundScores>,
    /// Why the result is no rate that the system sustains, whatever LoadGen says.
    pub unsustained: Option<Unsustained>,
}

/// What a usage scenario scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BackgroundScores {
    /// With the queries.
    pub with_queries: Score,
    /// In the same time without them.
    pub alone: Score,
}

impl TestResult {
    /// What the run says.
    pub fn performance(&self) -> &Performance {
        &self.measurement.performance
    }

    /// The number that the test is about.
    pub fn metric(&self) -> Metric {
        self.performance().metric(&self.settings)
    }

    /// Whether it counts: by LoadGen's rules, and as a rate that the system sustains.
    pub fn is_valid(&self) -> bool {
        self.performance().validity.is_valid() && self.unsustained.is_none()
    }

    /// Energy of a sample.
    pub fn energy_per_sample(&self) -> Option<Millijoules> {
        let performance = self.performance();
        let samples = performance.queries * self.settings.samples_per_query;
        Some(Millijoules::new(self.energy?.get() / samples.max(1) as f64))
    }

    /// Single-stream and multi-stream: energy of a query, which power measurements report as energy
    /// per stream.
    pub fn energy_per_stream(&self) -> Option<Millijoules> {
        let is_stream = matches!(
            self.settings.scenario,
            LoadScenario::SingleStream | LoadScenario::MultiStream
        );
        let samples = self.settings.samples_per_query as f64;
        let energy = self.energy_per_sample().filter(|_| is_stream)?;
        Some(Millijoules::new(energy.get() * samples))
    }

    /// Mean power of the queries until the last is done \[W\]; `None` if they take no time.
    pub fn mean_power_w(&self) -> Option<f64> {
        let duration = self.measurement.end() - SimTime::ZERO;
        let energy = self.energy.filter(|_| duration > SimSpan::ZERO)?;
        Some(energy.get() / duration.as_ms())
    }
}

/// Makes `test` by `rules` on `bed`. Server rates and numbers of streams are searched for unless they
/// are given; of a server, every run of the round has to pass.
///
/// # Errors
///
/// [`TestError`].
pub fn run_test(
    test: &Test,
    rules: &TestOptions,
    bed: &dyn TestBed,
) -> Result<TestResult, TestError> {
    let settings = effective_settings(test, rules, bed)?;
    let mut outcome = match test.load {
        Load::Server { runs, .. } => {
            let runs = if rules.counts_of_round { rules.round.server_runs } else { runs };
            let server = Server { runs, bed };
            match (rules.target_qps, rules.finds_peak) {
                (Some(_), false) => server.all_runs(&settings),
                (_, _) if takes_no_time(bed)? => Err(TestError::NoHighest),
                (Some(_), true) => server.peak_from(&settings),
                (None, _) => server.peak(&settings),
            }
        }
        Load::MultiStream { .. } if settings.loadgen.has_fixed_interval() => {
            match (rules.streams, rules.finds_peak) {
                (Some(_), false) => streams(&settings, bed),
                _ if takes_no_time(bed)? => Err(TestError::NoHighest),
                _ => peak_streams(&settings, bed),
            }
        }
        _ => make(&settings, bed),
    }?;
    if let Some(BackgroundScores { with_queries, .. }) = outcome.background {
        let alone = bed.background_alone(outcome.measurement.end() - SimTime::ZERO)?;
        outcome.background = alone.map(|alone| BackgroundScores { with_queries, alone });
    }
    Ok(outcome)
}

/// Whether a query takes no time, so that as many as one likes take none either.
fn takes_no_time(bed: &dyn TestBed) -> Result<bool, TestError> {
    Ok(bed.expected_latency(1)? == SimSpan::ZERO)
}

/// LoadGen's settings of a test. What a submitter would have to know of the system beforehand
/// (expected latencies and rates) is taken from the bed.
///
/// # Errors
///
/// [`TestError`].
pub fn effective_settings(
    test: &Test,
    rules: &TestOptions,
    bed: &dyn TestBed,
) -> Result<EffectiveSettings, TestError> {
    let scenario = match test.load {
        Load::SingleStream => LoadScenario::SingleStream,
        Load::MultiStream { .. } => LoadScenario::MultiStream,
        Load::Server { .. } => LoadScenario::Server,
        Load::Offline => LoadScenario::Offline,
    };
    let samples = test.task.performance_samples;
    let percentile = test.percentile.unwrap_or(0.99);
    let mut requested = rules.round.settings(scenario, percentile, DATA_SET);
    if !rules.counts_of_round {
        requested.min_query_count = test.min_count;
        requested.min_duration_ms = test.min_duration.ns() / 1_000_000;
    }
    if let Some(duration) = rules.min_duration {
        requested.min_duration_ms = duration.ns() / 1_000_000;
    }
    requested.min_query_count = rules.min_queries.unwrap_or(requested.min_query_count);
    let capacity = bed.capacity_per_s();
    let alone = bed.expected_latency(1)?;
    let goes_by_the_clock = match test.load {
        Load::Server { .. } => true,
        Load::MultiStream { .. } => rules.round.loadgen.has_fixed_interval(),
        Load::SingleStream | Load::Offline => false,
    };
    if takes_no_time(bed)? && !goes_by_the_clock && requested.min_duration_ms > 0 {
        let least = SimSpan::from_ns(requested.min_duration_ms.saturating_mul(1_000_000));
        return Err(TestError::NoTime { least });
    }
    requested.single_stream_expected_latency_ns = alone.ns().max(1);
    requested.offline_expected_qps = capacity;
    requested.server_target_qps = rules.target_qps.unwrap_or(capacity / 4.0);
    let streams = rules.streams;
    match test.load {
        Load::Server { bound, .. } => requested.server_target_latency_ns = bound.ns(),
        Load::MultiStream { queries_per_s, .. } if rules.round.loadgen.has_fixed_interval() => {
            requested.multi_stream_target_qps = queries_per_s;
            requested.multi_stream_samples_per_query = streams.unwrap_or(1);
        }
        Load::MultiStream { .. } => {
            let samples = streams.unwrap_or(requested.multi_stream_samples_per_query);
            requested.multi_stream_samples_per_query = samples;
            let expected = bed.expected_latency(samples.min(MAX_STREAMS))?;
            requested.multi_stream_expected_latency_ns = expected.ns().max(1);
        }
        Load::SingleStream | Load::Offline => {}
    }
    let library = QuerySampleLibrary { performance_samples: samples, total_samples: samples };
    Ok(EffectiveSettings::new(&requested, library, rules.round.loadgen)?)
}

/// Samples of the data set, which rounds that make do with fewer in Offline ask for: not known here, and
/// taken as enough.
const DATA_SET: u64 = u64::MAX;

/// The runs of a server.
struct Server<'a> {
    /// Runs that have to pass at one rate.
    runs: u32,
    bed: &'a dyn TestBed,
}

impl Server<'_> {
    /// The highest rate at which every run passes.
    fn peak(&self, settings: &EffectiveSettings) -> Result<TestResult, TestError> {
        let passes = |rate: f64, run: usize| {
            if rate > MAX_RATE {
                return Ok(false);
            }
            let settings = with_seed(&settings.with_rate(rate)?, run as u32);
            self.bed.passes(&settings)
        };
        let search = find_common(settings.target_qps, self.runs as usize, passes)?;
        self.outcome(settings, search)
    }

    /// LoadGen's own search, from the rate of `effective_settings` on.
    fn peak_from(&self, settings: &EffectiveSettings) -> Result<TestResult, TestError> {
        let search = search_upward(&SearchMethod::of(settings)?, |rate| {
            if rate > MAX_RATE {
                return Ok(None);
            }
            let outcome = self.all_runs(&settings.with_rate(rate)?)?;
            let passes = outcome.performance().passes();
            let TestResult { settings, measurement, .. } = outcome;
            let is_possible =
                !is_too_fast(&settings, &measurement.performance, self.bed.max_samples_per_s());
            Ok::<_, TestError>((passes && is_possible).then_some(()))
        })?;
        self.outcome(settings, search)
    }

    /// The runs at the peak, or at the rate of `effective_settings` if none passes.
    fn outcome(
        &self,
        settings: &EffectiveSettings,
        search: PeakSearch<()>,
    ) -> Result<TestResult, TestError> {
        let rate = search.peak.map_or(settings.target_qps, |(rate, ())| rate);
        let outcome = self.all_runs(&settings.with_rate(rate)?)?;
        Ok(TestResult { trials: search.trials, ..outcome })
    }

    /// Every run at one rate: the least of those that do not pass, or else of all.
    fn all_runs(&self, settings: &EffectiveSettings) -> Result<TestResult, TestError> {
        if self.runs == 1 {
            return make(settings, self.bed);
        }
        let judge = |run: u32| {
            let outcome = make(&with_seed(settings, run), self.bed)?;
            let rate = match outcome.metric() {
                Metric::Rate(Some(rate)) => OrderedFloat(rate),
                _ => OrderedFloat(0.0),
            };
            Ok::<_, TestError>((outcome.performance().passes(), outcome.is_valid(), rate, run))
        };
        let judged: Vec<_> = (0..self.runs).into_par_iter().map(judge).collect();
        let judged = judged.into_iter().collect::<Result<Vec<_>, _>>()?;
        let least = judged.into_iter().min().map_or(0, |(_, _, _, run)| run);
        let outcome = make(&with_seed(settings, least), self.bed)?;
        Ok(TestResult { runs: self.runs, ..outcome })
    }
}

/// The settings of one of several runs. The first has the official seeds, the others those after them,
/// since equal seeds make equal runs.
fn with_seed(settings: &EffectiveSettings, run: u32) -> EffectiveSettings {
    let schedule = settings.seeds.schedule.wrapping_add(u64::from(run));
    EffectiveSettings { seeds: Seeds { schedule, ..settings.seeds }, ..settings.clone() }
}

/// The most streams whose queries keep their interval.
///
/// On a uniform bed a query finds the system idle whatever the ones before took, so that all of its kind
/// take the same time: as many streams pass as have that time within the interval.
fn peak_streams(settings: &EffectiveSettings, bed: &dyn TestBed) -> Result<TestResult, TestError> {
    let most = match bed.is_uniform() {
        true => MAX_STREAMS,
        false => MAX_SAMPLES / settings.min_query_count.max(1),
    };
    let start = SearchMethod { most: most as f64, ..SearchMethod::of(settings)? };
    let search = search_upward(&start, |streams| {
        let passes = match bed.is_uniform() {
            true => keeps_interval(settings, bed.idle_query(streams as u64)?.latency)?,
            false => bed.passes(&settings.with_samples_per_query(streams as u64)?)?,
        };
        Ok::<_, TestError>(passes.then_some(()))
    })?;
    let most = search.peak.map_or(settings.samples_per_query, |(streams, ())| streams as u64);
    let outcome = streams(&EffectiveSettings { samples_per_query: most, ..settings.clone() }, bed)?;
    Ok(TestResult { trials: search.trials, ..outcome })
}

/// Whether queries that all take `latency` skip no tick. Ticks are cut to nanoseconds, so that a latency
/// as long as the interval has to be played.
fn keeps_interval(settings: &EffectiveSettings, latency: SimSpan) -> Result<bool, TestError> {
    let difference = latency.ns().abs_diff(settings.target_latency.ns());
    if difference > 2 {
        return Ok(latency < settings.target_latency);
    }
    let of_queries = settings.with_samples_per_query(1)?;
    Ok(measure(&of_queries, &mut of_latency(latency))?.performance.passes())
}

/// Streams beyond which no more are looked for; where every sample is played, as many as a run may have.
const MAX_STREAMS: u64 = 1 << 20;

/// The run of queries of as many samples as `effective_settings` say. On a uniform bed every query stands for its
/// samples, which are done together with the last of them.
fn streams(settings: &EffectiveSettings, bed: &dyn TestBed) -> Result<TestResult, TestError> {
    let streams = settings.samples_per_query;
    if !bed.is_uniform() {
        return make(&settings.with_samples_per_query(streams)?, bed);
    }
    let burst = bed.idle_query(streams)?;
    let of_queries = settings.with_samples_per_query(1)?;
    let mut measurement = measure(&of_queries, &mut of_latency(burst.latency))?;
    let queries = measurement.performance.queries as f64;
    let of_samples = LatencyStatistics::of_repeated(
        burst.sample_latencies,
        queries as usize,
        settings.percentile,
    );
    if let Some(of_samples) = of_samples {
        measurement.performance.sample_latency = of_samples;
    }
    let min_sample_count = settings.min_query_count.saturating_mul(streams);
    Ok(TestResult {
        settings: EffectiveSettings { min_sample_count, ..settings.clone() },
        measurement,
        trials: Vec::new(),
        runs: 1,
        energy: burst.energy.map(|energy| Millijoules::new(energy.get() * queries)),
        background: None,
        unsustained: None,
    })
}

/// A system whose queries all take the same time.
fn of_latency(latency: SimSpan) -> ServerSystem {
    ServerSystem::new(ServiceTime::Constant(latency), Discipline::Query, vec![1.0])
}

/// A run with every sample by itself.
fn make(settings: &EffectiveSettings, bed: &dyn TestBed) -> Result<TestResult, TestError> {
    let TestRun { measurement, energy, background } = bed.measure(settings)?;
    let background = background.map(|score| BackgroundScores { with_queries: score, alone: score });
    let settings = settings.clone();
    let unsustained = Unsustained::of(&settings, &measurement.performance, bed.max_samples_per_s());
    Ok(TestResult {
        settings,
        measurement,
        trials: Vec::new(),
        runs: 1,
        energy,
        background,
        unsustained,
    })
}
