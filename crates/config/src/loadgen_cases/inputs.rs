//! Inputs of a case: settings by the names of LoadGen, and the system under test.

use std::ops::RangeInclusive;

use crate::Problem;
use crate::yaml::read::Problems;
use crate::yaml::values::{Reader, at_most, flag, list, number, one_of};
use crate::yaml::{Fields, Node};
use xrsim_mlperf::settings::{
    EffectiveSettings, LoadGenVersion, LoadScenario, QuerySampleLibrary, TestMode, TestSettings,
};
use xrsim_mlperf::sut::{Discipline, ServerSystem, ServiceTime};
use xrsim_model::units::SimSpan;

/// Longest service time \[ns\]: an hour.
const MAX_SERVICE_NS: u64 = 3_600_000_000_000;

/// Most servers.
const MAX_SERVERS: u32 = 1024;

/// Largest batch.
const MAX_BATCH: u32 = 1 << 24;

const SCENARIOS: &[(&str, LoadScenario)] = &[
    ("SingleStream", LoadScenario::SingleStream),
    ("MultiStream", LoadScenario::MultiStream),
    ("Server", LoadScenario::Server),
    ("Offline", LoadScenario::Offline),
];

const MODES: &[(&str, TestMode)] = &[
    ("PerformanceOnly", TestMode::PerformanceOnly),
    ("FindPeakPerformance", TestMode::FindPeakPerformance),
];

/// Reads a word in quotes. JSON has all words in quotes.
fn word<T: Copy>(words: &'static [(&'static str, T)]) -> impl Reader<Value = T> {
    move |node: &Node<'_>, problems: &mut Problems| one_of(words).read(&node.unquoted(), problems)
}

/// Reads a whole number, which JSON may write with a decimal point.
pub(super) fn whole(allowed: RangeInclusive<u64>) -> impl Reader<Value = u64> {
    move |node: &Node<'_>, problems: &mut Problems| {
        let integral = |value: f64| value >= 0.0 && value.fract() == 0.0 && value < 2f64.powi(53);
        let mut ignored = Problems::default();
        let plain =
            number(0.0..=f64::MAX).read(node, &mut ignored).filter(|&value| integral(value));
        match number(0..=u64::MAX).read(node, &mut ignored).or(plain.map(|value| value as u64)) {
            Some(value) if allowed.contains(&value) => Some(value),
            _ => number(allowed.clone()).read(node, problems),
        }
    }
}

/// Reads the scenario, mode, samples and settings of a case.
pub(super) fn settings(fields: &mut Fields<'_, '_, '_>) -> Option<EffectiveSettings> {
    let scenario = fields.required("scenario", word(SCENARIOS));
    let mode = fields.or("mode", "PerformanceOnly", word(MODES));
    let performance_samples = fields.required("qsl_perf_count", whole(0..=u64::MAX));
    let total_samples = fields.required("qsl_total_count", whole(0..=u64::MAX));
    let scenario_or = scenario.unwrap_or(LoadScenario::Server);
    let requested =
        |node: &Node<'_>, problems: &mut Problems| test_settings(node, scenario_or, problems);
    let requested = fields.required("settings", requested);
    let (performance_samples, total_samples) = (performance_samples?, total_samples?);
    let library = QuerySampleLibrary { performance_samples, total_samples };
    let requested = TestSettings { scenario: scenario?, mode: mode?, ..requested? };
    match EffectiveSettings::new(&requested, library, LoadGenVersion::V6_0) {
        Ok(settings) => Some(settings),
        Err(error) => {
            fields.problem(Problem::new(fields.span_of("settings"), error.to_string()));
            None
        }
    }
}

/// Reads settings, with the defaults of LoadGen.
fn test_settings(
    node: &Node<'_>,
    scenario: LoadScenario,
    problems: &mut Problems,
) -> Option<TestSettings> {
    let n_before = problems.len();
    let mut fields = Fields::from_mapping(node, "the settings", problems)?;
    let mut settings = TestSettings::new(scenario);
    for (key, value) in whole_numbers(&mut settings) {
        *value = fields.optional(key, whole(0..=u64::MAX)).unwrap_or(*value);
    }
    for (key, value) in numbers(&mut settings) {
        *value = fields.optional(key, number(f64::MIN..=f64::MAX)).unwrap_or(*value);
    }
    for (key, value) in flags(&mut settings) {
        *value = fields.optional(key, flag()).unwrap_or(*value);
    }
    fields.finish();
    (problems.len() == n_before).then_some(settings)
}

fn whole_numbers(settings: &mut TestSettings) -> [(&'static str, &mut u64); 16] {
    [
        ("single_stream_expected_latency_ns", &mut settings.single_stream_expected_latency_ns),
        ("multi_stream_expected_latency_ns", &mut settings.multi_stream_expected_latency_ns),
        ("multi_stream_samples_per_query", &mut settings.multi_stream_samples_per_query),
        ("multi_stream_max_async_queries", &mut settings.multi_stream_max_async_queries),
        ("server_target_latency_ns", &mut settings.server_target_latency_ns),
        (
            "server_find_peak_qps_decimals_of_precision",
            &mut settings.server_find_peak_qps_decimals_of_precision,
        ),
        ("server_max_async_queries", &mut settings.server_max_async_queries),
        ("server_num_issue_query_threads", &mut settings.server_num_issue_query_threads),
        ("min_duration_ms", &mut settings.min_duration_ms),
        ("max_duration_ms", &mut settings.max_duration_ms),
        ("min_query_count", &mut settings.min_query_count),
        ("max_query_count", &mut settings.max_query_count),
        ("qsl_rng_seed", &mut settings.seeds.qsl),
        ("sample_index_rng_seed", &mut settings.seeds.sample_index),
        ("schedule_rng_seed", &mut settings.seeds.schedule),
        ("performance_sample_count_override", &mut settings.performance_sample_count_override),
    ]
}

fn numbers(settings: &mut TestSettings) -> [(&'static str, &mut f64); 7] {
    [
        (
            "single_stream_target_latency_percentile",
            &mut settings.single_stream_target_latency_percentile,
        ),
        (
            "multi_stream_target_latency_percentile",
            &mut settings.multi_stream_target_latency_percentile,
        ),
        ("multi_stream_target_qps", &mut settings.multi_stream_target_qps),
        ("server_target_qps", &mut settings.server_target_qps),
        ("server_target_latency_percentile", &mut settings.server_target_latency_percentile),
        (
            "server_find_peak_qps_boundary_step_size",
            &mut settings.server_find_peak_qps_boundary_step_size,
        ),
        ("offline_expected_qps", &mut settings.offline_expected_qps),
    ]
}

fn flags(settings: &mut TestSettings) -> [(&'static str, &mut bool); 2] {
    [
        ("server_coalesce_queries", &mut settings.server_coalesce_queries),
        ("sample_concatenate_permutation", &mut settings.sample_concatenate_permutation),
    ]
}

/// How the system of a case takes queries; see [`Discipline`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ModeOfService {
    Fifo,
    Query,
    SequentialSamples,
    Dynamic,
    Block,
    OfflineBatch,
}

const SERVICE_MODES: &[(&str, ModeOfService)] = &[
    ("fifo", ModeOfService::Fifo),
    ("query", ModeOfService::Query),
    ("seqsamples", ModeOfService::SequentialSamples),
    ("dyn", ModeOfService::Dynamic),
    ("block", ModeOfService::Block),
    ("offbatch", ModeOfService::OfflineBatch),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KindOfService {
    Constant,
    Bimodal,
    Table,
    Batch,
}

const KINDS: &[(&str, KindOfService)] = &[
    ("const", KindOfService::Constant),
    ("bimodal", KindOfService::Bimodal),
    ("table", KindOfService::Table),
    ("batch", KindOfService::Batch),
];

fn span(node: &Node<'_>, problems: &mut Problems) -> Option<SimSpan> {
    whole(0..=MAX_SERVICE_NS).read(node, problems).map(SimSpan::from_ns)
}

/// Reads the system of a case.
pub(super) fn service(node: &Node<'_>, problems: &mut Problems) -> Option<ServerSystem> {
    let mut fields = Fields::from_mapping(node, "the system", problems)?;
    let kind = fields.required("kind", word(KINDS));
    let mode = fields.or("mode", "fifo", word(SERVICE_MODES));
    let time = kind.and_then(|kind| service_time(kind, &mut fields));
    let discipline = mode.and_then(|mode| discipline(mode, &mut fields));
    let slowness = slowness(&mut fields);
    if kind.is_some() && mode.is_some() {
        fields.finish();
    }
    Some(ServerSystem::new(time?, discipline?, slowness?))
}

fn service_time(kind: KindOfService, fields: &mut Fields<'_, '_, '_>) -> Option<ServiceTime> {
    let modulus = number(1..=u32::MAX);
    match kind {
        KindOfService::Constant => fields.required("ns", span).map(ServiceTime::Constant),
        KindOfService::Bimodal => {
            let modulus = fields.required("mod", modulus);
            let (slow, fast) = (fields.required("slow_ns", span), fields.required("fast_ns", span));
            Some(ServiceTime::Bimodal { modulus: modulus?, slow: slow?, fast: fast? })
        }
        KindOfService::Table => {
            let (base, step) = (fields.required("base_ns", span), fields.required("step_ns", span));
            let multiplier = fields.required("mul", number(0..=u32::MAX));
            let modulus = fields.required("mod", modulus);
            let (base, step, multiplier, modulus) = (base?, step?, multiplier?, modulus?);
            Some(ServiceTime::Steps { base, multiplier, modulus, step })
        }
        KindOfService::Batch => {
            let (per_call, per_sample) =
                (fields.required("a_ns", span), fields.required("b_ns", span));
            Some(ServiceTime::Batch { per_call: per_call?, per_sample: per_sample? })
        }
    }
}

fn discipline(mode: ModeOfService, fields: &mut Fields<'_, '_, '_>) -> Option<Discipline> {
    let mut max_batch = || fields.required("max_batch", number(1..=MAX_BATCH)).map(|n| n as usize);
    Some(match mode {
        ModeOfService::Fifo => Discipline::Fifo,
        ModeOfService::Query => Discipline::Query,
        ModeOfService::SequentialSamples => Discipline::SequentialSamples,
        ModeOfService::Block => Discipline::Blocking,
        ModeOfService::OfflineBatch => Discipline::Pieces { max_batch: max_batch()? },
        ModeOfService::Dynamic => {
            let max_batch = max_batch();
            let max_wait = fields.or("max_wait_ns", 0, span);
            Discipline::DynamicBatch { max_batch: max_batch?, max_wait: max_wait? }
        }
    })
}

/// Number of servers, and the factor of the service time of each.
fn slowness(fields: &mut Fields<'_, '_, '_>) -> Option<Vec<f64>> {
    let speed = at_most(MAX_SERVERS as usize, list("speeds", number(1e-6..=1e6)));
    let speed = match fields.given("speed") {
        true => Some(fields.required("speed", speed)?),
        false => None,
    };
    let default = speed.as_ref().map_or(1, Vec::len);
    let servers = fields.or("servers", default, number(1..=MAX_SERVERS))? as usize;
    let speed = speed.unwrap_or_else(|| vec![1.0; servers]);
    if speed.len() != servers {
        let message = format!("{} speeds of {servers} servers", speed.len());
        fields.problem(Problem::new(fields.span_of("speed"), message));
        return None;
    }
    Some(speed)
}
