//! Keys of the detailed log: the runs that have each of them, and its value.

use crate::results::{EarlyStoppingOutcome, Performance};
use crate::settings::{EffectiveSettings, LoadGenVersion, LoadScenario, TestSettings};
use xrsim_model::units::{SimSpan, SimTime};

use super::record::LogValue;

/// Run that the values describe.
pub(super) struct Facts<'a> {
    pub(super) settings: &'a EffectiveSettings,
    /// Settings that make LoadGen run the same.
    pub(super) requested: TestSettings,
    pub(super) performance: &'a Performance,
    pub(super) system: &'a str,
    /// Number of errors logged so far.
    pub(super) errors: u64,
}

/// Key with the runs that have it and its value.
pub(super) struct Key {
    pub(super) name: &'static str,
    scenario: Option<LoadScenario>,
    since: LoadGenVersion,
    /// The first LoadGen without it.
    until: Option<LoadGenVersion>,
    pub(super) value: fn(&Facts<'_>) -> LogValue,
}

impl Key {
    const fn new(name: &'static str, value: fn(&Facts<'_>) -> LogValue) -> Self {
        Self { name, scenario: None, since: LoadGenVersion::V0_5, until: None, value }
    }

    const fn of(self, scenario: LoadScenario) -> Self {
        Self { scenario: Some(scenario), ..self }
    }

    const fn since(self, since: LoadGenVersion) -> Self {
        Self { since, ..self }
    }

    const fn until(self, until: LoadGenVersion) -> Self {
        Self { until: Some(until), ..self }
    }

    pub(super) fn applies_to(&self, settings: &EffectiveSettings) -> bool {
        let loadgen = settings.loadgen;
        self.scenario.is_none_or(|scenario| scenario == settings.scenario)
            && loadgen >= self.since
            && self.until.is_none_or(|until| loadgen < until)
    }
}

use LoadScenario::{MultiStream, Offline, Server, SingleStream};
use LogValue::{Flag, NoFiles, Number, Whole};

pub(super) fn text(text: impl Into<String>) -> LogValue {
    LogValue::Text(text.into())
}

/// Key of a requested setting with the name of its field.
macro_rules! requested {
    ($field:ident, $value:expr) => {
        Key::new(concat!("requested_", stringify!($field)), |it| $value(it.requested.$field))
    };
}

/// Key of an effective setting with the name of its field.
macro_rules! effective {
    ($field:ident, $value:expr) => {
        Key::new(concat!("effective_", stringify!($field)), |it| $value(it.settings.$field))
    };
}

fn as_number(whole: u64) -> LogValue {
    Number(whole as f64)
}

fn ms(span: SimSpan) -> LogValue {
    Whole(span.ns() / 1_000_000)
}

/// Program that wrote the log.
const PROGRAM: &str = concat!("xrsim ", env!("CARGO_PKG_VERSION"));

/// Keys at the beginning of the log.
pub(super) const HEAD: &[Key] = &[
    Key::new("loadgen_version", |_| text(PROGRAM)),
    Key::new("loadgen_build_date_local", |_| text("NA")),
    Key::new("loadgen_build_date_utc", |_| text("NA")),
    Key::new("loadgen_git_commit_date", |_| text("NA")),
    Key::new("loadgen_git_log_message", |_| text("NA")),
    Key::new("loadgen_git_status_message", |_| text("NA")),
    Key::new("loadgen_file_sha1", |_| NoFiles),
    Key::new("test_datetime", |_| text("1970-01-01T00:00:00Z")),
    Key::new("sut_name", |it| text(it.system)),
    Key::new("get_sut_name_duration_ns", |_| Whole(0)).since(LoadGenVersion::V2_1),
    Key::new("qsl_name", |_| text("xrsim")),
    Key::new("qsl_reported_total_count", |it| Whole(it.settings.requested.library.total_samples)),
    Key::new("qsl_reported_performance_count", |it| {
        Whole(it.settings.requested.library.performance_samples)
    }),
];

/// Keys of the requested settings.
pub(super) const REQUESTED: &[Key] = &[
    Key::new("requested_scenario", |it| text(it.requested.scenario.name())),
    Key::new("requested_test_mode", |it| text(it.requested.mode.name())),
    requested!(single_stream_expected_latency_ns, Whole)
        .of(SingleStream)
        .until(LoadGenVersion::V2_0),
    requested!(single_stream_expected_latency_ns, as_number)
        .of(SingleStream)
        .since(LoadGenVersion::V2_0),
    requested!(single_stream_target_latency_percentile, Number).of(SingleStream),
    requested!(multi_stream_target_qps, Number).of(MultiStream).until(LoadGenVersion::V2_0),
    Key::new("requested_multi_stream_target_latency_ns", |it| {
        Whole(it.settings.target_latency.ns())
    })
    .of(MultiStream)
    .until(LoadGenVersion::V2_0),
    requested!(multi_stream_expected_latency_ns, as_number)
        .of(MultiStream)
        .since(LoadGenVersion::V2_0),
    requested!(multi_stream_target_latency_percentile, Number).of(MultiStream),
    requested!(multi_stream_samples_per_query, Whole).of(MultiStream),
    requested!(multi_stream_max_async_queries, Whole).of(MultiStream).until(LoadGenVersion::V2_0),
    requested!(server_target_qps, Number).of(Server),
    requested!(server_target_latency_ns, Whole).of(Server),
    requested!(server_target_latency_percentile, Number).of(Server),
    requested!(server_coalesce_queries, Flag).of(Server),
    requested!(server_find_peak_qps_decimals_of_precision, Whole).of(Server),
    requested!(server_find_peak_qps_boundary_step_size, Number).of(Server),
    requested!(server_max_async_queries, Whole).of(Server),
    requested!(server_num_issue_query_threads, Whole).of(Server),
    requested!(offline_expected_qps, Number).of(Offline),
    requested!(min_duration_ms, Whole),
    requested!(max_duration_ms, Whole),
    requested!(min_query_count, Whole),
    requested!(max_query_count, Whole),
    Key::new("requested_qsl_rng_seed", |it| Whole(it.requested.seeds.qsl)),
    Key::new("requested_sample_index_rng_seed", |it| Whole(it.requested.seeds.sample_index)),
    Key::new("requested_schedule_rng_seed", |it| Whole(it.requested.seeds.schedule)),
    Key::new("requested_accuracy_log_rng_seed", |_| Whole(0)),
    Key::new("requested_accuracy_log_probability", |_| Whole(0)),
    Key::new("requested_accuracy_log_sampling_target", |_| Whole(0)),
    Key::new("requested_print_timestamps", |_| Flag(false)),
    Key::new("requested_performance_issue_unique", |_| Flag(false)),
    Key::new("requested_performance_issue_same", |_| Flag(false)),
    Key::new("requested_performance_issue_same_index", |_| Whole(0)),
    requested!(performance_sample_count_override, Whole),
    Key::new("requested_accuracy_sample_count_override", |_| Whole(0)).since(LoadGenVersion::V6_0),
    requested!(sample_concatenate_permutation, Flag).since(LoadGenVersion::V4_1),
];

/// Keys of the effective settings.
pub(super) const EFFECTIVE: &[Key] = &[
    Key::new("effective_scenario", |it| text(it.settings.scenario.name())),
    Key::new("effective_test_mode", |it| text(it.settings.mode.name())),
    effective!(samples_per_query, Whole),
    effective!(target_qps, Number),
    Key::new("effective_target_latency_ns", |it| Whole(it.settings.target_latency.ns())),
    Key::new("effective_target_latency_percentile", |it| Number(it.settings.percentile.get())),
    effective!(max_async_queries, Whole),
    Key::new("effective_target_duration_ms", |it| match it.settings.scenario {
        Offline => Whole(0),
        _ => ms(it.settings.min_duration),
    }),
    Key::new("effective_min_duration_ms", |it| ms(it.settings.min_duration)),
    Key::new("effective_max_duration_ms", |it| it.settings.max_duration.map_or(Whole(0), ms)),
    effective!(min_query_count, Whole),
    Key::new("effective_max_query_count", |it| Whole(it.settings.max_query_count.unwrap_or(0))),
    effective!(min_sample_count, Whole),
    Key::new("effective_qsl_rng_seed", |it| Whole(it.settings.seeds.qsl)),
    Key::new("effective_sample_index_rng_seed", |it| Whole(it.settings.seeds.sample_index)),
    Key::new("effective_schedule_rng_seed", |it| Whole(it.settings.seeds.schedule)),
    Key::new("effective_accuracy_log_rng_seed", |_| Whole(0)),
    Key::new("effective_accuracy_log_probability", |_| Whole(0)),
    Key::new("effective_accuracy_log_sampling_target", |_| Whole(0)),
    Key::new("effective_print_timestamps", |_| Flag(false)),
    Key::new("effective_performance_issue_unique", |_| Flag(false)),
    Key::new("effective_performance_issue_same", |_| Flag(false)),
    Key::new("effective_performance_issue_same_index", |_| Whole(0)),
    Key::new("effective_performance_sample_count", |it| {
        Whole(it.settings.library.performance_samples)
    }),
    Key::new("effective_accuracy_sample_count", |it| Whole(it.settings.library.total_samples))
        .since(LoadGenVersion::V6_0),
    Key::new("effective_sample_concatenate_permutation", |it| {
        Flag(it.settings.concatenate_permutation)
    })
    .since(LoadGenVersion::V4_1),
];

/// Counts about LoadGen's own threads.
pub(super) const LOGGER: &[Key] = &[
    Key::new("logger_swap_request_slots_retry_count", |_| Whole(0)),
    Key::new("logger_swap_request_slots_retry_retry_count", |_| Whole(0)),
    Key::new("logger_swap_request_slots_retry_reencounter_count", |_| Whole(0)),
    Key::new("logger_start_reading_entries_retry_count", |_| Whole(0)),
    Key::new("logger_tls_total_log_cas_fail_count", |_| Whole(0)),
    Key::new("logger_tls_total_swap_buffers_slot_retry_count", |_| Whole(0)),
];

/// Counts of queries.
pub(super) const COUNTS: &[Key] = &[
    Key::new("result_query_count", |it| Whole(it.performance.queries)).since(LoadGenVersion::V2_0),
    Key::new("result_overlatency_query_count", |it| Whole(it.performance.overlatency))
        .of(Server)
        .since(LoadGenVersion::V2_0),
];

/// Rates and estimates of the scenario.
pub(super) const RATES: &[Key] = &[
    Key::new("result_qps_with_loadgen_overhead", |it| {
        rate_until(it.performance.rate_with_overhead(), it.performance.last_issued)
    })
    .of(SingleStream),
    Key::new("result_qps_without_loadgen_overhead", |it| {
        rate(it.performance.rate_without_overhead())
    })
    .of(SingleStream),
    Key::new("early_stopping_latency_ss", |it| Whole(estimates(it.performance)[0]))
        .of(SingleStream)
        .since(LoadGenVersion::V2_0),
    Key::new("early_stopping_latency_ms", |it| Whole(estimates(it.performance)[1]))
        .of(SingleStream)
        .since(LoadGenVersion::V2_0),
    Key::new("early_stopping_latency_ms", |it| Whole(estimates(it.performance)[0]))
        .of(MultiStream)
        .since(LoadGenVersion::V2_0),
    Key::new("result_scheduled_samples_per_sec", |it| {
        rate_until(it.performance.scheduled_rate(), it.performance.last_scheduled)
    })
    .of(Server),
    Key::new("result_completed_samples_per_sec", |it| {
        rate_until(it.performance.completed_rate(), it.performance.last_completed)
    })
    .of(Server),
    Key::new("result_samples_per_second", |it| rate(it.performance.throughput())).of(Offline),
];

/// Rate in the format of LoadGen: not a number if no time passes.
fn rate(of: Option<f64>) -> LogValue {
    Number(of.unwrap_or(f64::NAN))
}

/// Rate of all queries but the last until `end`, in the format of LoadGen: 0 for a single query.
fn rate_until(of: Option<f64>, end: SimTime) -> LogValue {
    rate(of.or((end > SimTime::ZERO).then_some(0.0)))
}

/// Keys at the end of the log.
pub(super) const FOOT: &[Key] =
    &[Key::new("num_errors", |it| Whole(it.errors)).since(LoadGenVersion::V5_1)];

/// Estimates of early stopping \[ns\]: of the percentile of the result, and of that of multi-stream. The
/// second exists only with the first; a missing one is 0.
fn estimates(performance: &Performance) -> [u64; 2] {
    match performance.validity.early_stopping {
        Some(EarlyStoppingOutcome::Estimates { target, inferred }) => {
            let inferred = inferred.filter(|_| target.found.is_some());
            [target.latency().ns(), inferred.map_or(0, |inferred| inferred.latency().ns())]
        }
        _ => [0; 2],
    }
}
