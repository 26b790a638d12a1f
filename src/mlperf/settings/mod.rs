//! Settings of a run, named as LoadGen names them, and what they come to.

use std::fmt;

use thiserror::Error;

use crate::statistics::Fraction;
use crate::units::SimSpan;

/// Most samples of a run, issued or not.
pub const MAX_SAMPLES: u64 = 1 << 25;

/// Highest rate \[1/s\]: one query in each nanosecond, the tick of the clock.
pub(crate) const MAX_RATE: f64 = 1e9;

/// Longest duration \[ms\], some four months.
const MAX_DURATION_MS: u64 = 10_000_000_000;

/// Most issuing threads.
const MAX_THREADS: u64 = 1024;

/// Load scenario (ISCA 2020, Table II).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LoadScenario {
    /// One sample at a time, each when the one before is done.
    SingleStream,
    /// Several samples a query; see [`LoadGenVersion::has_fixed_interval`] for when the next is issued.
    MultiStream,
    /// Poisson arrivals of single samples under a latency bound.
    Server,
    /// All samples in one query.
    Offline,
}

impl LoadScenario {
    /// Every scenario, in the order of the paper.
    pub const ALL: [Self; 4] = [Self::SingleStream, Self::MultiStream, Self::Server, Self::Offline];

    /// LoadGen's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::SingleStream => "SingleStream",
            Self::MultiStream => "MultiStream",
            Self::Server => "Server",
            Self::Offline => "Offline",
        }
    }

    /// What the summary of `loadgen` calls it.
    pub(crate) fn name_in_summary(self, loadgen: LoadGenVersion) -> &'static str {
        match self {
            Self::SingleStream if loadgen < LoadGenVersion::V1_0 => "Single Stream",
            Self::MultiStream if loadgen < LoadGenVersion::V1_0 => "Multi Stream",
            _ => self.name(),
        }
    }
}

impl fmt::Display for LoadScenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a test does. Accuracy is not simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TestMode {
    /// One run.
    PerformanceOnly,
    /// The largest rate, or number of streams, whose run passes.
    FindPeakPerformance,
}

impl TestMode {
    /// LoadGen's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::PerformanceOnly => "PerformanceOnly",
            Self::FindPeakPerformance => "FindPeakPerformance",
        }
    }

    /// What the summary of `loadgen` calls it.
    pub(crate) fn name_in_summary(self, loadgen: LoadGenVersion) -> &'static str {
        match self {
            _ if loadgen >= LoadGenVersion::V1_0 => self.name(),
            Self::PerformanceOnly => "Performance",
            Self::FindPeakPerformance => "Find Peak Performance",
        }
    }
}

/// Behaviour of LoadGen that changed over its releases. Each variant is named for the first round
/// with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LoadGenVersion {
    /// v0.5 and v0.7.
    V0_5,
    /// v1.0 and v1.1: a detailed log in JSON, names without spaces.
    V1_0,
    /// v2.0: multi-stream on completion, early stopping.
    V2_0,
    /// v2.1 to v4.0: how long the name of the system takes is logged.
    V2_1,
    /// v4.1 and v5.0: server results by completion.
    V4_1,
    /// v5.1: the number of errors is logged, percentiles have a decimal.
    V5_1,
    /// LoadGen 6.0.17: the performance set is a permutation of the first samples.
    V6_0,
}

impl LoadGenVersion {
    /// Whether multi-stream queries have a fixed interval, which is skipped while too many are
    /// outstanding; otherwise the next query follows on completion.
    pub fn has_fixed_interval(self) -> bool {
        self < Self::V2_0
    }

    /// Whether runs must be long enough by [`EarlyStopping`](crate::statistics::EarlyStopping).
    pub fn has_early_stopping(self) -> bool {
        self >= Self::V2_0
    }

    /// Whether the server result is the rate of completion, not of the schedule.
    pub fn reports_completion(self) -> bool {
        self >= Self::V4_1
    }

    /// Decimals of percentiles in words.
    pub(crate) fn percentile_decimals(self) -> usize {
        usize::from(self >= Self::V5_1)
    }

    /// Whether the performance set is drawn from the whole library, not from as many of its first
    /// samples as the set holds.
    pub(crate) fn draws_from_all_samples(self) -> bool {
        self < Self::V6_0
    }

    /// Whether the permutations of equal issue are drawn ahead of the samples, needed or not.
    pub(crate) fn draws_equal_issue(self) -> bool {
        self >= Self::V2_0
    }
}

/// Seeds of the random streams. Of each only the lower 32 bits count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Seeds {
    /// Of the performance set.
    pub qsl: u64,
    /// Of the samples of every query.
    pub sample_index: u64,
    /// Of the arrival times.
    pub schedule: u64,
}

/// Samples that there are (LoadGen's query sample library).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct QuerySampleLibrary {
    /// Samples that fit into memory at once and that queries draw from.
    pub performance_samples: u64,
    /// All samples.
    pub total_samples: u64,
}

/// Settings as a user asks for them: LoadGen's `TestSettings`, field by field, with its defaults.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TestSettings {
    /// Scenario.
    pub scenario: LoadScenario,
    /// Mode.
    pub mode: TestMode,
    /// From which the number of queries made ahead follows \[ns\].
    pub single_stream_expected_latency_ns: u64,
    /// Percentile of the result, in (0, 1).
    pub single_stream_target_latency_percentile: f64,
    /// From which the number of queries made ahead follows \[ns\].
    pub multi_stream_expected_latency_ns: u64,
    /// Percentile of the result, in (0, 1).
    pub multi_stream_target_latency_percentile: f64,
    /// Samples of a query: N of the fixed interval.
    pub multi_stream_samples_per_query: u64,
    /// Fixed interval: queries per second.
    pub multi_stream_target_qps: f64,
    /// Fixed interval: queries that may be outstanding.
    pub multi_stream_max_async_queries: u64,
    /// Rate of arrivals \[1/s\].
    pub server_target_qps: f64,
    /// Latency bound \[ns\].
    pub server_target_latency_ns: u64,
    /// Percentile that the bound holds for, in (0, 1).
    pub server_target_latency_percentile: f64,
    /// Whether queries that are late are issued in one call.
    pub server_coalesce_queries: bool,
    /// Decimals of the rate that the search for the peak finds.
    pub server_find_peak_qps_decimals_of_precision: u64,
    /// Factor less 1 by which that search raises the rate.
    pub server_find_peak_qps_boundary_step_size: f64,
    /// Outstanding queries that end the run when exceeded; 0 for any number.
    pub server_max_async_queries: u64,
    /// Issuing threads; 0 is one.
    pub server_num_issue_query_threads: u64,
    /// From which the number of samples follows \[1/s\].
    pub offline_expected_qps: f64,
    /// Offline: whether every repetition of the set is permuted anew.
    pub sample_concatenate_permutation: bool,
    /// Least duration \[ms\].
    pub min_duration_ms: u64,
    /// Duration that ends the run when exceeded \[ms\]; 0 for any.
    pub max_duration_ms: u64,
    /// Fewest queries; of samples in Offline.
    pub min_query_count: u64,
    /// Queries that end the run; 0 for any number.
    pub max_query_count: u64,
    /// Seeds.
    pub seeds: Seeds,
    /// Size of the performance set in place of the library's; 0 for that.
    pub performance_sample_count_override: u64,
}

impl TestSettings {
    /// The defaults of `scenario`.
    pub fn new(scenario: LoadScenario) -> Self {
        Self {
            scenario,
            mode: TestMode::PerformanceOnly,
            single_stream_expected_latency_ns: 1_000_000,
            single_stream_target_latency_percentile: 0.90,
            multi_stream_expected_latency_ns: 8_000_000,
            multi_stream_target_latency_percentile: 0.99,
            multi_stream_samples_per_query: 8,
            multi_stream_target_qps: 10.0,
            multi_stream_max_async_queries: 1,
            server_target_qps: 1.0,
            server_target_latency_ns: 100_000_000,
            server_target_latency_percentile: 0.99,
            server_coalesce_queries: false,
            server_find_peak_qps_decimals_of_precision: 1,
            server_find_peak_qps_boundary_step_size: 1.0,
            server_max_async_queries: 0,
            server_num_issue_query_threads: 0,
            offline_expected_qps: 1.0,
            sample_concatenate_permutation: false,
            min_duration_ms: 10_000,
            max_duration_ms: 0,
            min_query_count: 100,
            max_query_count: 0,
            seeds: Seeds::default(),
            performance_sample_count_override: 0,
        }
    }
}

/// Settings that cannot be run.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// A field is out of range.
    #[error("{field} is {value}; allowed is {allowed}")]
    OutOfRange {
        /// The field.
        field: &'static str,
        /// Its value.
        value: String,
        /// What is allowed.
        allowed: String,
    },
    /// The run would be too large.
    #[error("the run would have more than {MAX_SAMPLES} samples; lower {fields}")]
    TooManySamples {
        /// What makes it large.
        fields: &'static str,
    },
    /// The scenario has nothing that a search for the peak could raise.
    #[error(
        "{scenario} has no peak to search for; Server has, and MultiStream with a fixed interval"
    )]
    NoPeak {
        /// The scenario.
        scenario: LoadScenario,
    },
}

impl SettingsError {
    /// The field that is wrong, if it is one.
    pub fn field(&self) -> Option<&'static str> {
        match self {
            Self::OutOfRange { field, .. } => Some(field),
            Self::TooManySamples { .. } | Self::NoPeak { .. } => None,
        }
    }
}

/// Settings of one scenario, checked: LoadGen's `TestSettingsInternal`.
#[derive(Debug, Clone, PartialEq)]
pub struct EffectiveSettings {
    /// Scenario.
    pub scenario: LoadScenario,
    /// Mode.
    pub mode: TestMode,
    /// Behaviour of LoadGen.
    pub loadgen: LoadGenVersion,
    /// Samples of a query.
    pub samples_per_query: u64,
    /// Rate of queries \[1/s\]: of arrivals in Server, of ticks with a fixed interval, expected
    /// otherwise (of samples in Offline).
    pub target_qps: f64,
    /// Latency bound of Server, or that of the fixed interval; zero otherwise.
    pub target_latency: SimSpan,
    /// Percentile that the run is judged by, in (0, 1). Offline has 0.99, which means nothing.
    pub percentile: Fraction,
    /// Queries that may be outstanding; 0 for any number.
    pub max_async_queries: u64,
    /// Least duration.
    pub min_duration: SimSpan,
    /// Duration that ends the run when exceeded.
    pub max_duration: Option<SimSpan>,
    /// Fewest queries.
    pub min_query_count: u64,
    /// Queries that end the run.
    pub max_query_count: Option<u64>,
    /// Fewest samples.
    pub min_sample_count: u64,
    /// Seeds.
    pub seeds: Seeds,
    /// Samples; the first number is that of the performance set.
    pub library: QuerySampleLibrary,
    /// Server: whether queries that are late are issued in one call.
    pub coalesce: bool,
    /// Server: issuing threads, at least 1.
    pub threads: usize,
    /// Offline: whether every repetition of the set is permuted anew.
    pub concatenate_permutation: bool,
    /// Search for the peak: decimals of the rate.
    pub peak_decimals: i32,
    /// Search for the peak: factor less 1 by which the rate is raised.
    pub peak_step: f64,
    /// What was asked for.
    pub requested: Requested,
}

/// What is asked for, and of which samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Requested {
    /// Settings.
    pub settings: TestSettings,
    /// Samples that there are.
    pub library: QuerySampleLibrary,
}

impl EffectiveSettings {
    /// What `requested` comes to with the samples of `library`.
    ///
    /// # Errors
    ///
    /// [`SettingsError::OutOfRange`] for the first field of the scenario that is out of range, and
    /// [`SettingsError::TooManySamples`] if the fewest samples are already too many.
    pub fn new(
        requested: &TestSettings,
        library: QuerySampleLibrary,
        loadgen: LoadGenVersion,
    ) -> Result<Self, SettingsError> {
        let request = Requested { settings: *requested, library };
        let library = performance_set(requested, library, loadgen)?;
        if requested.sample_concatenate_permutation && requested.scenario != LoadScenario::Offline {
            return Err(SettingsError::OutOfRange {
                field: "sample_concatenate_permutation",
                value: "true".into(),
                allowed: "false, but in Offline".into(),
            });
        }
        let max_duration_ms =
            whole("max_duration_ms", requested.max_duration_ms, 0, MAX_DURATION_MS)?;
        let max_query_count =
            whole("max_query_count", requested.max_query_count, 0, u64::from(u32::MAX))?;
        let common = Self {
            scenario: requested.scenario,
            mode: requested.mode,
            loadgen,
            samples_per_query: 1,
            target_qps: 1.0,
            target_latency: SimSpan::ZERO,
            percentile: Fraction::P99,
            max_async_queries: 1,
            min_duration: milliseconds(whole(
                "min_duration_ms",
                requested.min_duration_ms,
                0,
                MAX_DURATION_MS,
            )?),
            max_duration: (max_duration_ms > 0).then(|| milliseconds(max_duration_ms)),
            min_query_count: whole("min_query_count", requested.min_query_count, 0, MAX_SAMPLES)?,
            max_query_count: (max_query_count > 0).then_some(max_query_count),
            min_sample_count: 0,
            seeds: requested.seeds,
            library,
            coalesce: false,
            threads: 1,
            concatenate_permutation: false,
            peak_decimals: 0,
            peak_step: 1.0,
            requested: request,
        };
        let settings = match requested.scenario {
            LoadScenario::SingleStream => common.single_stream(requested),
            LoadScenario::MultiStream if loadgen.has_fixed_interval() => {
                common.fixed_interval(requested)
            }
            LoadScenario::MultiStream => common.multi_stream(requested),
            LoadScenario::Server => common.server(requested),
            LoadScenario::Offline => common.offline(requested),
        }?;
        settings.with_samples_per_query(settings.samples_per_query)
    }

    fn single_stream(self, requested: &TestSettings) -> Result<Self, SettingsError> {
        let expected = requested.single_stream_expected_latency_ns;
        let field = "single_stream_target_latency_percentile";
        Ok(Self {
            target_qps: expected_rate("single_stream_expected_latency_ns", expected)?,
            percentile: fraction(field, requested.single_stream_target_latency_percentile)?,
            ..self
        })
    }

    fn multi_stream(self, requested: &TestSettings) -> Result<Self, SettingsError> {
        let expected = requested.multi_stream_expected_latency_ns;
        let field = "multi_stream_target_latency_percentile";
        Ok(Self {
            target_qps: expected_rate("multi_stream_expected_latency_ns", expected)?,
            percentile: fraction(field, requested.multi_stream_target_latency_percentile)?,
            samples_per_query: samples_per_query(requested)?,
            ..self
        })
    }

    fn fixed_interval(self, requested: &TestSettings) -> Result<Self, SettingsError> {
        let outstanding = requested.multi_stream_max_async_queries;
        let outstanding = whole("multi_stream_max_async_queries", outstanding, 1, MAX_SAMPLES)?;
        let field = "multi_stream_target_latency_percentile";
        let target_qps = rate("multi_stream_target_qps", requested.multi_stream_target_qps)?;
        let bound_ns = (outstanding as f64 / target_qps * 1e9) as u64;
        Ok(Self {
            target_qps,
            target_latency: SimSpan::from_ns(bound_ns),
            percentile: fraction(field, requested.multi_stream_target_latency_percentile)?,
            samples_per_query: samples_per_query(requested)?,
            max_async_queries: outstanding,
            ..self
        })
    }

    fn server(self, requested: &TestSettings) -> Result<Self, SettingsError> {
        let field = "server_target_latency_percentile";
        let threads = requested.server_num_issue_query_threads;
        let decimals = requested.server_find_peak_qps_decimals_of_precision;
        let decimals = whole("server_find_peak_qps_decimals_of_precision", decimals, 0, 9)?;
        let step = requested.server_find_peak_qps_boundary_step_size;
        Ok(Self {
            target_qps: rate("server_target_qps", requested.server_target_qps)?,
            target_latency: SimSpan::from_ns(requested.server_target_latency_ns),
            percentile: fraction(field, requested.server_target_latency_percentile)?,
            max_async_queries: requested.server_max_async_queries,
            coalesce: requested.server_coalesce_queries,
            threads: whole("server_num_issue_query_threads", threads, 0, MAX_THREADS)?.max(1)
                as usize,
            peak_decimals: decimals as i32,
            peak_step: peak_step(step)?,
            ..self
        })
    }

    /// All samples in one query: as many as take the least duration at the expected rate and 10 %
    /// more.
    fn offline(self, requested: &TestSettings) -> Result<Self, SettingsError> {
        let target_qps = rate("offline_expected_qps", requested.offline_expected_qps)?;
        let seconds = self.min_duration.as_ms() / 1e3;
        let expected = (1.1 * seconds * target_qps) as u64;
        Ok(Self {
            target_qps,
            samples_per_query: expected.max(self.min_query_count).max(1),
            min_query_count: 1,
            concatenate_permutation: requested.sample_concatenate_permutation,
            ..self
        })
    }

    /// What LoadGen has to be asked for to make a run with exactly these settings, which may have another rate,
    /// duration, seed or number of streams than was asked for.
    pub fn asked(&self) -> TestSettings {
        let mut asked = self.requested.settings;
        asked.seeds = self.seeds;
        asked.min_duration_ms = self.min_duration.ns() / 1_000_000;
        match self.scenario {
            LoadScenario::Server => asked.server_target_qps = self.target_qps,
            LoadScenario::MultiStream => {
                asked.multi_stream_samples_per_query = self.samples_per_query
            }
            LoadScenario::SingleStream | LoadScenario::Offline => {}
        }
        asked
    }

    /// The same settings with another rate of arrivals \[1/s\].
    ///
    /// # Errors
    ///
    /// [`SettingsError::OutOfRange`] if it is not a rate.
    pub fn with_rate(&self, target_qps: f64) -> Result<Self, SettingsError> {
        Ok(Self { target_qps: rate("server_target_qps", target_qps)?, ..self.clone() })
    }

    /// The same settings with another number of samples a query.
    ///
    /// # Errors
    ///
    /// [`SettingsError::TooManySamples`].
    pub fn with_samples_per_query(&self, samples_per_query: u64) -> Result<Self, SettingsError> {
        let min_sample_count = self.min_query_count.saturating_mul(samples_per_query);
        if min_sample_count.max(samples_per_query) > MAX_SAMPLES {
            return Err(self.too_many_samples());
        }
        Ok(Self { samples_per_query, min_sample_count, ..self.clone() })
    }

    /// The rate is so low that the queries take too long.
    pub(crate) fn too_slow(&self) -> SettingsError {
        let field = match self.scenario {
            LoadScenario::SingleStream => "single_stream_expected_latency_ns",
            LoadScenario::MultiStream if self.loadgen.has_fixed_interval() => {
                "multi_stream_target_qps"
            }
            LoadScenario::MultiStream => "multi_stream_expected_latency_ns",
            LoadScenario::Server => "server_target_qps",
            LoadScenario::Offline => "offline_expected_qps",
        };
        SettingsError::OutOfRange {
            field,
            value: format!("that of {} queries per second", self.target_qps),
            allowed: "one at which the queries come within a hundred years".into(),
        }
    }

    pub(crate) fn too_many_samples(&self) -> SettingsError {
        let fields = match self.scenario {
            LoadScenario::SingleStream => {
                "min_duration_ms, or raise single_stream_expected_latency_ns"
            }
            LoadScenario::MultiStream if self.loadgen.has_fixed_interval() => {
                "min_query_count, min_duration_ms or multi_stream_samples_per_query"
            }
            LoadScenario::MultiStream => {
                "min_query_count, min_duration_ms or multi_stream_samples_per_query, or raise \
                 multi_stream_expected_latency_ns"
            }
            LoadScenario::Server => "min_duration_ms or server_target_qps",
            LoadScenario::Offline => "min_duration_ms or offline_expected_qps",
        };
        SettingsError::TooManySamples { fields }
    }
}

fn performance_set(
    requested: &TestSettings,
    library: QuerySampleLibrary,
    loadgen: LoadGenVersion,
) -> Result<QuerySampleLibrary, SettingsError> {
    let QuerySampleLibrary { performance_samples, total_samples } = library;
    let total_samples = whole("the number of samples", total_samples, 1, MAX_SAMPLES)?;
    let (field, count) = match requested.performance_sample_count_override {
        0 => ("the number of performance samples", performance_samples),
        count => ("performance_sample_count_override", count),
    };
    let most = if loadgen.draws_from_all_samples() { total_samples } else { MAX_SAMPLES };
    Ok(QuerySampleLibrary { performance_samples: whole(field, count, 1, most)?, total_samples })
}

fn samples_per_query(requested: &TestSettings) -> Result<u64, SettingsError> {
    let samples = requested.multi_stream_samples_per_query;
    whole("multi_stream_samples_per_query", samples, 1, MAX_SAMPLES)
}

fn milliseconds(ms: u64) -> SimSpan {
    SimSpan::from_ns(ms * 1_000_000)
}

fn whole(field: &'static str, value: u64, low: u64, high: u64) -> Result<u64, SettingsError> {
    if (low..=high).contains(&value) {
        return Ok(value);
    }
    let allowed = format!("a whole number from {low} to {high}");
    Err(SettingsError::OutOfRange { field, value: value.to_string(), allowed })
}

fn rate(field: &'static str, value: f64) -> Result<f64, SettingsError> {
    if value > 0.0 && value <= MAX_RATE {
        return Ok(value);
    }
    let allowed = format!("a number above 0, up to {MAX_RATE}");
    Err(SettingsError::OutOfRange { field, value: value.to_string(), allowed })
}

fn fraction(field: &'static str, value: f64) -> Result<Fraction, SettingsError> {
    Fraction::new(value).ok_or_else(|| {
        let allowed = "a fraction above 0 and below 1".into();
        SettingsError::OutOfRange { field, value: value.to_string(), allowed }
    })
}

/// Deviation: LoadGen takes any step above 0, and with a tiny one never ends.
fn peak_step(step: f64) -> Result<f64, SettingsError> {
    if (1e-3..=1e3).contains(&step) {
        return Ok(step);
    }
    let field = "server_find_peak_qps_boundary_step_size";
    let allowed = "a number from 0.001 to 1000".into();
    Err(SettingsError::OutOfRange { field, value: step.to_string(), allowed })
}

/// Queries per second at one query a latency.
fn expected_rate(field: &'static str, latency_ns: u64) -> Result<f64, SettingsError> {
    let latency_ns = whole(field, latency_ns, 1, MAX_DURATION_MS * 1_000_000)?;
    Ok(1e9 / latency_ns as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIBRARY: QuerySampleLibrary =
        QuerySampleLibrary { performance_samples: 256, total_samples: 1024 };

    fn check(requested: &TestSettings) -> Result<EffectiveSettings, String> {
        EffectiveSettings::new(requested, LIBRARY, LoadGenVersion::V6_0)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_out_of_range_is_named_with_what_is_allowed() {
        let server = TestSettings::new(LoadScenario::Server);
        let refused = |requested: &TestSettings| check(requested).expect_err("it is out of range");
        assert_eq!(
            refused(&TestSettings { server_target_qps: 0.0, ..server }),
            "server_target_qps is 0; allowed is a number above 0, up to 1000000000"
        );
        for percentile in [0.0, 1.0, -0.5, 99.0, f64::NAN] {
            let requested = TestSettings { server_target_latency_percentile: percentile, ..server };
            let message = refused(&requested);
            assert!(message.ends_with("a fraction above 0 and below 1"), "{message}");
        }
        let long = TestSettings { min_duration_ms: u64::MAX, ..server };
        assert!(refused(&long).starts_with("min_duration_ms is 18446744073709551615; "));
        let no_set = TestSettings { performance_sample_count_override: u64::MAX, ..server };
        assert!(refused(&no_set).starts_with("performance_sample_count_override is "));
    }

    #[test]
    fn only_the_fields_of_the_scenario_are_looked_at() {
        let single = TestSettings::new(LoadScenario::SingleStream);
        assert!(check(&TestSettings { server_target_qps: 0.0, ..single }).is_ok());
    }

    /// 1.1 · 3 s · 5000/s = 16,500 is below the 24,576 of the count; 1.1 · 10 s · 5000/s is above.
    #[test]
    fn offline_has_one_query_of_all_samples() {
        let offline = TestSettings {
            min_query_count: 24_576,
            min_duration_ms: 3000,
            offline_expected_qps: 5000.0,
            ..TestSettings::new(LoadScenario::Offline)
        };
        let short = check(&offline).unwrap();
        assert_eq!((short.samples_per_query, short.min_query_count), (24_576, 1));
        assert_eq!(short.min_sample_count, 24_576);
        let long = check(&TestSettings { min_duration_ms: 10_000, ..offline }).unwrap();
        assert_eq!(long.samples_per_query, 55_000);
        let huge = TestSettings { min_duration_ms: 10_000_000_000, ..offline };
        assert_eq!(
            check(&huge).unwrap_err(),
            "the run would have more than 33554432 samples; lower min_duration_ms or \
             offline_expected_qps"
        );
    }

    #[test]
    fn the_fixed_interval_bounds_the_latency() {
        let requested = TestSettings {
            multi_stream_target_qps: 15.0,
            multi_stream_max_async_queries: 2,
            ..TestSettings::new(LoadScenario::MultiStream)
        };
        let settings = EffectiveSettings::new(&requested, LIBRARY, LoadGenVersion::V0_5).unwrap();
        assert_eq!(settings.target_latency.ns(), 133_333_333);
        assert_eq!(settings.min_sample_count, 800);
    }
}
