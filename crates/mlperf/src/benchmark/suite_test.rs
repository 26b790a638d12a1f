//! Tests of a suite on a test bed: the result that a submitter would have measured.

use ordered_float::OrderedFloat;

use crate::results::{LatencyStatistics, Metric, Performance, Unsustained, exceeds_capacity};
use crate::rules::{Load, Round, Test};
use crate::settings::{
    EffectiveSettings, LoadScenario, MAX_RATE, MAX_SAMPLES, QuerySampleLibrary, Seeds,
};
use crate::sut::{DeviceRun, Discipline, ServerSystem, ServiceTime};
use xrsim_model::parallel;
use xrsim_model::units::{Millijoules, SimSpan, SimTime};
use xrsim_sim::score::Score;

use super::measure::{Measurement, measure};
use super::peak_search::{PeakSearch, SearchMethod, Trial, find_common, search_upward};
use super::test_bed::{TestBed, TestError, TestRun};

/// Options of a test that its suite does not fix.
#[derive(Debug, Clone, Copy)]
pub struct TestOptions {
    /// Round whose LoadGen version and seeds apply.
    pub round: &'static Round,
    /// Whether the query counts and durations of the round replace those of the suite.
    pub counts_of_round: bool,
    /// Server: rate to test, or to start the search from \[queries/s\].
    pub target_qps: Option<f64>,
    /// Multi-stream: number of streams to test, or to start the search from; samples per query from
    /// v2.0 on.
    pub streams: Option<u64>,
    /// Whether to search for the peak even if a rate or a number of streams is given.
    pub finds_peak: bool,
    /// Minimum duration in place of that of the suite or round.
    pub min_duration: Option<SimSpan>,
    /// Minimum number of queries (of samples in Offline) in place of that of the suite or round.
    pub min_queries: Option<u64>,
}

impl TestOptions {
    /// The rules of `round` with the counts and durations of the suite. The highest rate of a server
    /// and the largest number of streams are searched for.
    pub fn new(round: &'static Round) -> Self {
        Self {
            round,
            counts_of_round: false,
            target_qps: None,
            streams: None,
            finds_peak: false,
            min_duration: None,
            min_queries: None,
        }
    }
}

/// Result of a test.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TestResult {
    /// Settings of the run that counts.
    pub settings: EffectiveSettings,
    /// The run that counts: of several runs the one with the lowest result.
    pub measurement: Measurement,
    /// Trials of the search for the peak; empty without a search.
    pub trials: Vec<Trial>,
    /// Number of runs that had to pass.
    pub runs: u32,
    /// Energy of all samples; with a device of everything until the last of them was done; `None` if the bed does not
    /// know it.
    pub energy: Option<Millijoules>,
    /// The device over the test; `None` without one.
    pub device: Option<DeviceRun>,
    /// Scores of the usage scenario in the background; `None` without one, or if no frame is scored.
    pub background: Option<BackgroundScores>,
    /// Reason why the system does not sustain the reported rate, which LoadGen does not check.
    pub unsustained: Option<Unsustained>,
}

/// Scores of a usage scenario in the background of queries.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BackgroundScores {
    /// Scores with the queries.
    pub with_queries: Score,
    /// Scores over the same time without queries.
    pub alone: Score,
}

impl TestResult {
    /// Statistics and validity of the run that counts.
    pub fn performance(&self) -> &Performance {
        &self.measurement.performance
    }

    /// Metric of the scenario.
    pub fn metric(&self) -> Metric {
        self.performance().metric(&self.settings)
    }

    /// Whether the result is valid by LoadGen's rules and the system sustains the rate.
    pub fn is_valid(&self) -> bool {
        self.performance().validity.is_valid() && self.unsustained.is_none()
    }

    /// The device, if it stopped before every sample was done.
    pub fn stopped(&self) -> Option<&DeviceRun> {
        self.device.as_ref().filter(|_| !self.performance().validity.is_finished)
    }

    /// Span from the start to the completion of the last sample, or to the instant at which the device stopped.
    pub fn duration(&self) -> SimSpan {
        if let Some(device) = self.stopped() {
            return device.ledger.duration();
        }
        self.measurement.end() - SimTime::ZERO
    }

    /// Mean energy of a sample; `None` if not every one was done.
    pub fn energy_per_sample(&self) -> Option<Millijoules> {
        if self.stopped().is_some() {
            return None;
        }
        let performance = self.performance();
        let samples = performance.queries * self.settings.samples_per_query;
        Some(Millijoules::new(self.energy?.get() / samples.max(1) as f64))
    }

    /// Single-stream and multi-stream: mean energy of a query, which MLPerf's power measurements
    /// report as energy per stream.
    pub fn energy_per_stream(&self) -> Option<Millijoules> {
        let is_stream = matches!(
            self.settings.scenario,
            LoadScenario::SingleStream | LoadScenario::MultiStream
        );
        let samples = self.settings.samples_per_query as f64;
        let energy = self.energy_per_sample().filter(|_| is_stream)?;
        Some(Millijoules::new(energy.get() * samples))
    }

    /// Mean power of the queries, or of the device, until the last sample is done or the device stops \[W\]; `None` if they
    /// take no time.
    pub fn mean_power_w(&self) -> Option<f64> {
        if let Some(device) = self.stopped() {
            return Some(device.ledger.mean_w());
        }
        let duration = self.duration();
        let energy = self.energy.filter(|_| duration > SimSpan::ZERO)?;
        Some(energy.get() / duration.as_ms())
    }
}

/// Runs `test` with `options` on `bed`. The highest rate of a server and the largest number of streams
/// are searched for unless they are given; every server run that the round demands has to pass.
///
/// # Errors
///
/// [`TestError`] if the settings are out of range, a run fails, or a search would never end.
pub fn run_test(
    test: &Test,
    options: &TestOptions,
    bed: &dyn TestBed,
) -> Result<TestResult, TestError> {
    let settings = effective_settings(test, options, bed)?;
    let mut result = match test.load {
        Load::Server { runs, .. } => {
            let runs = if options.counts_of_round { options.round.server_runs } else { runs };
            let server = ServerRuns { runs, bed };
            match (options.target_qps, options.finds_peak) {
                (Some(_), false) => server.all_runs(&settings),
                (_, _) if takes_no_time(bed)? => Err(TestError::NoHighest),
                (Some(_), true) => server.peak_from(&settings),
                (None, _) => server.peak(&settings),
            }
        }
        Load::MultiStream { .. } if settings.loadgen.has_fixed_interval() => {
            match (options.streams, options.finds_peak) {
                (Some(_), false) => run_streams(&settings, bed),
                _ if takes_no_time(bed)? => Err(TestError::NoHighest),
                _ => peak_streams(&settings, bed),
            }
        }
        _ => run_once(&settings, bed),
    }?;
    if let Some(BackgroundScores { with_queries, .. }) = result.background {
        let alone = bed.background_alone(result.duration())?;
        result.background = alone.map(|alone| BackgroundScores { with_queries, alone });
    }
    Ok(result)
}

/// Whether a query takes no time, so that any number of queries takes none either.
fn takes_no_time(bed: &dyn TestBed) -> Result<bool, TestError> {
    Ok(bed.expected_latency(1)? == SimSpan::ZERO)
}

/// LoadGen's settings of `test` with `options`. Expected latencies and rates, which a submitter has to
/// know before the run, are those of `bed`.
///
/// # Errors
///
/// [`TestError`] if the settings are out of range, the scheduler fails, or queries that take no time
/// would have to fill a duration.
pub(crate) fn effective_settings(
    test: &Test,
    options: &TestOptions,
    bed: &dyn TestBed,
) -> Result<EffectiveSettings, TestError> {
    let samples = test.task.performance_samples;
    let percentile = test.percentile.unwrap_or(0.99);
    let mut requested = options.round.settings(test.load.scenario(), percentile, DATA_SET);
    if !options.counts_of_round {
        requested.min_query_count = test.min_count;
        requested.min_duration_ms = test.min_duration.ns() / 1_000_000;
    }
    if let Some(duration) = options.min_duration {
        requested.min_duration_ms = duration.ns() / 1_000_000;
    }
    requested.min_query_count = options.min_queries.unwrap_or(requested.min_query_count);
    let capacity = bed.capacity_per_s();
    let expected = bed.expected_latency(1)?;
    let has_own_times = match test.load {
        Load::Server { .. } => true,
        Load::MultiStream { .. } => options.round.loadgen.has_fixed_interval(),
        Load::SingleStream | Load::Offline => false,
    };
    if takes_no_time(bed)? && !has_own_times && requested.min_duration_ms > 0 {
        let least = SimSpan::from_ns(requested.min_duration_ms.saturating_mul(1_000_000));
        return Err(TestError::NoTime { least });
    }
    requested.single_stream_expected_latency_ns = expected.ns().max(1);
    requested.offline_expected_qps = capacity;
    requested.server_target_qps = options.target_qps.unwrap_or(capacity / 4.0);
    let streams = options.streams;
    match test.load {
        Load::Server { bound, .. } => requested.server_target_latency_ns = bound.ns(),
        Load::MultiStream { queries_per_s, .. } if options.round.loadgen.has_fixed_interval() => {
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
    Ok(EffectiveSettings::new(&requested, library, options.round.loadgen)?)
}

/// Samples of the data set, for rounds that accept fewer samples in Offline if the data set is small.
/// The size is not known here and is taken as large enough.
const DATA_SET: u64 = u64::MAX;

/// Runs of a server.
struct ServerRuns<'a> {
    /// Number of runs that have to pass at one rate.
    runs: u32,
    bed: &'a dyn TestBed,
}

impl ServerRuns<'_> {
    /// Searches for the highest rate at which every run passes.
    fn peak(&self, settings: &EffectiveSettings) -> Result<TestResult, TestError> {
        let passes = |rate: f64, run: usize| {
            if rate > MAX_RATE {
                return Ok(false);
            }
            let settings = with_seed(&settings.with_rate(rate)?, run as u32);
            self.bed.passes(&settings)
        };
        let search = find_common(settings.target_qps, self.runs as usize, passes)?;
        self.result(settings, search)
    }

    /// Runs LoadGen's own search, from the rate of `settings` on.
    fn peak_from(&self, settings: &EffectiveSettings) -> Result<TestResult, TestError> {
        let search = search_upward(&SearchMethod::from_settings(settings)?, |rate| {
            if rate > MAX_RATE {
                return Ok(None);
            }
            let result = self.all_runs(&settings.with_rate(rate)?)?;
            let passes = result.performance().meets_constraint();
            let TestResult { settings, measurement, .. } = result;
            let max_rate = self.bed.max_samples_per_s();
            let rate = measurement.performance.scheduled_rate();
            let is_possible = !exceeds_capacity(&settings, rate, max_rate);
            Ok::<_, TestError>((passes && is_possible).then_some(()))
        })?;
        self.result(settings, search)
    }

    /// Runs at the peak, or at the rate of `settings` if no rate passes.
    fn result(
        &self,
        settings: &EffectiveSettings,
        search: PeakSearch<()>,
    ) -> Result<TestResult, TestError> {
        let rate = search.peak.map_or(settings.target_qps, |(rate, ())| rate);
        let result = self.all_runs(&settings.with_rate(rate)?)?;
        Ok(TestResult { trials: search.trials, ..result })
    }

    /// Makes every run at one rate; returns the lowest result of those that fail, or else of all.
    fn all_runs(&self, settings: &EffectiveSettings) -> Result<TestResult, TestError> {
        if self.runs == 1 {
            return run_once(settings, self.bed);
        }
        let judge = |run: u32| {
            let result = run_once(&with_seed(settings, run), self.bed)?;
            let rate = match result.metric() {
                Metric::Rate(Some(rate)) => OrderedFloat(rate),
                _ => OrderedFloat(0.0),
            };
            let passes = result.performance().meets_constraint();
            Ok::<_, TestError>((passes, result.is_valid(), rate, run))
        };
        let judged = parallel::map_indices(self.runs as usize, |run| judge(run as u32));
        let judged = judged.into_iter().collect::<Result<Vec<_>, _>>()?;
        let lowest = judged.into_iter().min().map_or(0, |(_, _, _, run)| run);
        let result = run_once(&with_seed(settings, lowest), self.bed)?;
        Ok(TestResult { runs: self.runs, ..result })
    }
}

/// Settings of one of several runs. The first run has the official schedule seed and each further run
/// the next number, because equal seeds make equal runs.
fn with_seed(settings: &EffectiveSettings, run: u32) -> EffectiveSettings {
    let schedule = settings.seeds.schedule.wrapping_add(u64::from(run));
    EffectiveSettings { seeds: Seeds { schedule, ..settings.seeds }, ..settings.clone() }
}

/// Searches for the largest number of streams whose queries keep their interval.
///
/// On a uniform bed a query finds the system idle whatever the queries before it took, so that all
/// queries take the same time: a number of streams passes if that time is within the interval.
fn peak_streams(settings: &EffectiveSettings, bed: &dyn TestBed) -> Result<TestResult, TestError> {
    let largest = match bed.is_uniform() {
        true => MAX_STREAMS,
        false => MAX_SAMPLES / settings.min_query_count.max(1),
    };
    let method = SearchMethod { largest: largest as f64, ..SearchMethod::from_settings(settings)? };
    let search = search_upward(&method, |streams| {
        let passes = match bed.is_uniform() {
            true => keeps_interval(settings, bed.idle_query(streams as u64)?.latency)?,
            false => bed.passes(&settings.with_samples_per_query(streams as u64)?)?,
        };
        Ok::<_, TestError>(passes.then_some(()))
    })?;
    let streams = search.peak.map_or(settings.samples_per_query, |(streams, ())| streams as u64);
    let settings = EffectiveSettings { samples_per_query: streams, ..settings.clone() };
    let result = run_streams(&settings, bed)?;
    Ok(TestResult { trials: search.trials, ..result })
}

/// Whether queries that all take `latency` skip no tick. Ticks are cut to nanoseconds, so that a latency
/// close to the interval has to be simulated.
fn keeps_interval(settings: &EffectiveSettings, latency: SimSpan) -> Result<bool, TestError> {
    let difference = latency.ns().abs_diff(settings.target_latency.ns());
    if difference > 2 {
        return Ok(latency < settings.target_latency);
    }
    let one_sample = settings.with_samples_per_query(1)?;
    Ok(measure(&one_sample, &mut constant_latency(latency))?.performance.meets_constraint())
}

/// Largest number of streams of a search on a uniform bed. On other beds every sample is simulated, and
/// the limit of samples of a run applies.
const MAX_STREAMS: u64 = 1 << 20;

/// Makes a run of multi-stream queries. On a uniform bed one sample stands for each query, whose samples
/// are done together with the last of them.
fn run_streams(settings: &EffectiveSettings, bed: &dyn TestBed) -> Result<TestResult, TestError> {
    let streams = settings.samples_per_query;
    if !bed.is_uniform() {
        return run_once(&settings.with_samples_per_query(streams)?, bed);
    }
    let query = bed.idle_query(streams)?;
    let one_sample = settings.with_samples_per_query(1)?;
    let mut measurement = measure(&one_sample, &mut constant_latency(query.latency))?;
    let queries = measurement.performance.queries as f64;
    let sample_latency = LatencyStatistics::of_repeated(
        query.sample_latencies,
        queries as usize,
        settings.percentile,
    );
    if let Some(sample_latency) = sample_latency {
        measurement.performance.sample_latency = sample_latency;
    }
    let min_sample_count = settings.min_query_count.saturating_mul(streams);
    Ok(TestResult {
        settings: EffectiveSettings { min_sample_count, ..settings.clone() },
        measurement,
        trials: Vec::new(),
        runs: 1,
        energy: query.energy.map(|energy| Millijoules::new(energy.get() * queries)),
        device: None,
        background: None,
        unsustained: None,
    })
}

/// A system whose queries all take `latency`.
fn constant_latency(latency: SimSpan) -> ServerSystem {
    ServerSystem::new(ServiceTime::Constant(latency), Discipline::Query, vec![1.0])
}

/// Makes one run that simulates every sample.
fn run_once(settings: &EffectiveSettings, bed: &dyn TestBed) -> Result<TestResult, TestError> {
    let TestRun { measurement, energy, device, background } = bed.measure(settings)?;
    let background = background.map(|score| BackgroundScores { with_queries: score, alone: score });
    let settings = settings.clone();
    let unsustained =
        Unsustained::find(&settings, &measurement.performance, bed.max_samples_per_s());
    Ok(TestResult {
        settings,
        measurement,
        trials: Vec::new(),
        runs: 1,
        energy,
        device,
        background,
        unsustained,
    })
}
