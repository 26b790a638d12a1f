//! Requested settings: LoadGen's `TestSettings`.

use super::scenario::{LoadScenario, TestMode};

/// Seeds of the random streams. Only the lower 32 bits of each matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Seeds {
    /// Seed of the performance set.
    pub qsl: u64,
    /// Seed of the samples of every query.
    pub sample_index: u64,
    /// Seed of the arrival times.
    pub schedule: u64,
}

/// Sizes of LoadGen's query sample library (QSL).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct QuerySampleLibrary {
    /// Number of samples in memory, which queries draw from.
    pub performance_samples: u64,
    /// Number of all samples.
    pub total_samples: u64,
}

/// Settings as a user requests them: LoadGen's `TestSettings`, field by field, with its defaults.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TestSettings {
    /// Load scenario.
    pub scenario: LoadScenario,
    /// Test mode.
    pub mode: TestMode,
    /// Expected latency, which determines the number of generated queries \[ns\].
    pub single_stream_expected_latency_ns: u64,
    /// Percentile of the result, in (0, 1).
    pub single_stream_target_latency_percentile: f64,
    /// Expected latency, which determines the number of generated queries \[ns\].
    pub multi_stream_expected_latency_ns: u64,
    /// Percentile of the result, in (0, 1).
    pub multi_stream_target_latency_percentile: f64,
    /// Samples of a query: the number of streams with a fixed interval.
    pub multi_stream_samples_per_query: u64,
    /// Fixed interval: rate of queries \[1/s\].
    pub multi_stream_target_qps: f64,
    /// Fixed interval: queries that may be outstanding.
    pub multi_stream_max_async_queries: u64,
    /// Rate of arrivals \[1/s\].
    pub server_target_qps: f64,
    /// Latency bound \[ns\].
    pub server_target_latency_ns: u64,
    /// Percentile that the bound applies to, in (0, 1).
    pub server_target_latency_percentile: f64,
    /// Whether queries that are overdue are issued in one call.
    pub server_coalesce_queries: bool,
    /// Decimals of the rate that the search for the peak finds.
    pub server_find_peak_qps_decimals_of_precision: u64,
    /// Factor minus 1 by which that search raises the rate.
    pub server_find_peak_qps_boundary_step_size: f64,
    /// Number of outstanding queries above which the run ends; 0 for no limit.
    pub server_max_async_queries: u64,
    /// Issuing threads; 0 means one.
    pub server_num_issue_query_threads: u64,
    /// Expected throughput, which determines the number of samples \[1/s\].
    pub offline_expected_qps: f64,
    /// Offline: whether every repetition of the set is permuted anew.
    pub sample_concatenate_permutation: bool,
    /// Minimum duration \[ms\].
    pub min_duration_ms: u64,
    /// Duration after which the run ends \[ms\]; 0 for no limit.
    pub max_duration_ms: u64,
    /// Minimum number of queries; of samples in Offline.
    pub min_query_count: u64,
    /// Number of queries after which the run ends; 0 for no limit.
    pub max_query_count: u64,
    /// Seeds of the random streams.
    pub seeds: Seeds,
    /// Size of the performance set in place of that of the library; 0 for that of the library.
    pub performance_sample_count_override: u64,
}

impl TestSettings {
    /// LoadGen's defaults for `scenario`.
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

/// Requested settings together with the library of samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Requested {
    /// Requested settings.
    pub settings: TestSettings,
    /// Sizes of the library.
    pub library: QuerySampleLibrary,
}
