//! Effective settings: the requested ones, checked, for one scenario.

use xrsim_model::statistics::Fraction;
use xrsim_model::units::SimSpan;

use super::check::{expected_rate, fraction, milliseconds, peak_step, rate, whole};
use super::error::SettingsError;
use super::limits::{MAX_DURATION_MS, MAX_SAMPLES, MAX_THREADS};
use super::requested::{QuerySampleLibrary, Requested, Seeds, TestSettings};
use super::scenario::{LoadScenario, TestMode};
use super::version::LoadGenVersion;

/// Settings of one scenario, checked: LoadGen's `TestSettingsInternal`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct EffectiveSettings {
    /// Load scenario.
    pub scenario: LoadScenario,
    /// Test mode.
    pub mode: TestMode,
    /// Version of LoadGen.
    pub loadgen: LoadGenVersion,
    /// Samples of a query.
    pub samples_per_query: u64,
    /// Rate of queries \[1/s\]: of arrivals in Server, of ticks with a fixed interval, expected in the
    /// other scenarios (of samples in Offline).
    pub target_qps: f64,
    /// Latency bound of Server, or of the fixed interval; zero in the other scenarios.
    pub target_latency: SimSpan,
    /// Percentile that the run is judged by, in (0, 1); 0.99 without meaning in Offline.
    pub percentile: Fraction,
    /// Number of queries that may be outstanding; 0 for no limit.
    pub max_async_queries: u64,
    /// Minimum duration.
    pub min_duration: SimSpan,
    /// Duration after which the run ends.
    pub max_duration: Option<SimSpan>,
    /// Minimum number of queries.
    pub min_query_count: u64,
    /// Number of queries after which the run ends.
    pub max_query_count: Option<u64>,
    /// Minimum number of samples.
    pub min_sample_count: u64,
    /// Seeds of the random streams.
    pub seeds: Seeds,
    /// Sizes of the library; the number of performance samples is that of the performance set.
    pub library: QuerySampleLibrary,
    /// Server: whether queries that are overdue are issued in one call.
    pub coalesce: bool,
    /// Server: number of issuing threads, at least 1.
    pub threads: usize,
    /// Offline: whether every repetition of the set is permuted anew.
    pub concatenate_permutation: bool,
    /// Search for the peak: decimals of the rate.
    pub peak_decimals: i32,
    /// Search for the peak: factor minus 1 by which the rate is raised.
    pub peak_step: f64,
    /// Settings as they were requested.
    pub requested: Requested,
}

impl EffectiveSettings {
    /// Effective settings of `requested` with the samples of `library` in `loadgen`.
    ///
    /// # Errors
    ///
    /// [`SettingsError::OutOfRange`] for the first field of the scenario that is out of range, and
    /// [`SettingsError::TooManySamples`] if the minimum number of samples is too large.
    pub fn new(
        requested: &TestSettings,
        library: QuerySampleLibrary,
        loadgen: LoadGenVersion,
    ) -> Result<Self, SettingsError> {
        let original = Requested { settings: *requested, library };
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
            requested: original,
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

    /// One query of all samples: as many as take the minimum duration at the expected rate, and 10 %
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

    /// Whether every query is issued at the instant at which it is due, if calls of the system return at once: Server, and
    /// nothing ends a run early. Queries that are due at once may come in one call or several.
    pub(crate) fn issues_all_when_due(&self) -> bool {
        self.scenario == LoadScenario::Server
            && self.max_async_queries == 0
            && self.max_query_count.is_none()
            && self.max_duration.is_none()
    }

    /// Requested settings that make LoadGen run with exactly these effective ones, which may have another
    /// rate, duration, seed or number of streams than the original request.
    pub(crate) fn as_requested(&self) -> TestSettings {
        let mut requested = self.requested.settings;
        requested.seeds = self.seeds;
        requested.min_duration_ms = self.min_duration.ns() / 1_000_000;
        match self.scenario {
            LoadScenario::Server => requested.server_target_qps = self.target_qps,
            LoadScenario::MultiStream => {
                requested.multi_stream_samples_per_query = self.samples_per_query
            }
            LoadScenario::SingleStream | LoadScenario::Offline => {}
        }
        requested
    }

    /// These settings with the rate of arrivals `target_qps` \[1/s\].
    ///
    /// # Errors
    ///
    /// [`SettingsError::OutOfRange`] if the rate is not positive or too high.
    pub fn with_rate(&self, target_qps: f64) -> Result<Self, SettingsError> {
        Ok(Self { target_qps: rate("server_target_qps", target_qps)?, ..self.clone() })
    }

    /// These settings with `samples_per_query` samples a query.
    ///
    /// # Errors
    ///
    /// [`SettingsError::TooManySamples`] if the minimum number of samples is too large.
    pub(crate) fn with_samples_per_query(
        &self,
        samples_per_query: u64,
    ) -> Result<Self, SettingsError> {
        let min_sample_count = self.min_query_count.saturating_mul(samples_per_query);
        if min_sample_count.max(samples_per_query) > MAX_SAMPLES {
            return Err(self.too_many_samples());
        }
        Ok(Self { samples_per_query, min_sample_count, ..self.clone() })
    }

    /// Error for a rate at which the queries take more than a hundred years.
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

    /// Error for a run of too many samples.
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
    fn an_error_names_the_field_and_the_allowed_values() {
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
    fn only_the_fields_of_the_scenario_are_checked() {
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
