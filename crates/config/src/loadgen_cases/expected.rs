//! Results of LoadGen for a case. Every part may be absent.

use crate::yaml::read::Problems;
use crate::yaml::values::{Reader, flag, list, number, text};
use crate::yaml::{Fields, Node, Value};
use xrsim_model::units::SimSpan;

use super::inputs::whole;

/// Results of LoadGen for a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Expected {
    /// Validity, with its conditions.
    pub verdict: Verdict,
    /// `early_stopping_text`: message about early stopping, without the title.
    pub early_stopping_text: Option<String>,
    /// `result_invalid_reason`.
    pub invalid_reason: Option<String>,
    /// Numbers of its log.
    pub told: Told,
    /// `measured`: statistics of the recorded latencies; of those of queries in multi-stream.
    pub measured: Option<Percentiles>,
    /// `ideal`: statistics of a reference simulation of the same run.
    pub ideal: Option<Percentiles>,
    /// Search for the peak.
    pub sought: Sought,
    /// `errors` of its log.
    pub errors: Option<Vec<Box<str>>>,
}

/// Conditions of a valid run, as the summary prints them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Verdict {
    /// `Result is`.
    pub valid: Option<bool>,
    /// `Performance constraints satisfied`.
    pub performance: Option<bool>,
    /// `Min duration satisfied`.
    pub min_duration: Option<bool>,
    /// `Min queries satisfied`.
    pub min_queries: Option<bool>,
    /// `Early stopping satisfied`.
    pub early_stopping: Option<bool>,
}

/// Numbers that LoadGen logged, by the keys of its detailed log, and numbers computed from them.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Told {
    /// `generated_query_count`.
    pub generated_queries: Option<u64>,
    /// `generated_samples_per_query`.
    pub generated_samples_per_query: Option<u64>,
    /// `generated_query_duration` \[ns\].
    pub generated_duration_ns: Option<u64>,
    /// `result_query_count`.
    pub queries: Option<u64>,
    /// `result_overlatency_query_count`.
    pub late: Option<u64>,
    /// `result_scheduled_samples_per_sec`.
    pub scheduled_rate: Option<f64>,
    /// `result_completed_samples_per_sec`.
    pub completed_rate: Option<f64>,
    /// `result_samples_per_second`.
    pub throughput: Option<f64>,
    /// `result_qps_with_loadgen_overhead`.
    pub rate_with_overhead: Option<f64>,
    /// `result_qps_without_loadgen_overhead`.
    pub rate_without_overhead: Option<f64>,
    /// `early_stopping_latency_ss` \[ns\]; 0 if there is none.
    pub single_stream_estimate_ns: Option<u64>,
    /// `early_stopping_latency_ms` \[ns\]; 0 if there is none.
    pub multi_stream_estimate_ns: Option<u64>,
    /// `es_overlatency`: late queries, as early stopping counts them.
    pub early_stopping_late: Option<u64>,
    /// `es_required_queries`.
    pub early_stopping_required: Option<u64>,
    /// `es_discard_t`: largest latencies that may be late.
    pub discarded: Option<u64>,
    /// `es_discard_t_p99`: largest latencies that may be late at the 99th percentile.
    pub discarded_inferred: Option<u64>,
    /// `num_errors`.
    pub errors: Option<u64>,
}

/// Statistics of a list of latencies \[ns\].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Percentiles {
    /// Number of latencies.
    pub count: u64,
    /// Percentiles in the order of [`xrsim_mlperf::results::PERCENTILES`].
    pub percentiles: [SimSpan; 6],
    /// Least latency.
    pub min: SimSpan,
    /// Largest latency.
    pub max: SimSpan,
    /// Mean latency.
    pub mean: SimSpan,
}

/// The search for the peak.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sought {
    /// `loadgen_search_path`: messages of LoadGen.
    pub messages: Option<Vec<Box<str>>>,
    /// `ideal_search_path`: rates, each with whether it passes.
    pub trials: Option<Vec<(f64, bool)>>,
    /// `passes`: number of runs.
    pub runs: Option<u64>,
    /// `ideal_peak_qps`: the peak.
    pub peak: Option<f64>,
    /// `final_target_qps`: the peak, or the first rate if no peak was found, with the six digits of the
    /// summary.
    pub printed_peak: Option<f64>,
}

impl Expected {
    /// Reads the results that a case has.
    pub(super) fn read(fields: &mut Fields<'_, '_, '_>) -> Self {
        Self {
            verdict: fields.optional("result", Verdict::read).unwrap_or_default(),
            early_stopping_text: fields.optional("early_stopping_text", words).flatten(),
            invalid_reason: fields.optional("result_invalid_reason", words).flatten(),
            told: Told::read(fields),
            measured: fields.optional("measured", or_null(Percentiles::read)).flatten(),
            ideal: fields.optional("ideal", or_null(Percentiles::read)).flatten(),
            sought: Sought::read(fields),
            errors: fields.optional("errors", or_null(texts)).flatten(),
        }
    }
}

impl Verdict {
    fn read(node: &Node<'_>, problems: &mut Problems) -> Option<Self> {
        let mut fields = Fields::from_mapping(node, "the result", problems)?;
        let yes = yes_or_no(["Yes", "NO"]);
        Some(Self {
            valid: fields.optional("Result is", yes_or_no(["VALID", "INVALID"])),
            performance: fields.optional("Performance constraints satisfied", &yes),
            min_duration: fields.optional("Min duration satisfied", &yes),
            min_queries: fields.optional("Min queries satisfied", &yes),
            early_stopping: fields.optional("Early stopping satisfied", &yes),
        })
    }
}

impl Told {
    fn read(fields: &mut Fields<'_, '_, '_>) -> Self {
        let mut count = |key| fields.optional(key, or_null(whole(0..=u64::MAX))).flatten();
        let counts = Self {
            generated_queries: count("generated_query_count"),
            generated_samples_per_query: count("generated_samples_per_query"),
            generated_duration_ns: count("generated_query_duration"),
            queries: count("result_query_count"),
            late: count("result_overlatency_query_count"),
            single_stream_estimate_ns: count("early_stopping_latency_ss"),
            multi_stream_estimate_ns: count("early_stopping_latency_ms"),
            early_stopping_late: count("es_overlatency"),
            early_stopping_required: count("es_required_queries"),
            discarded: count("es_discard_t"),
            discarded_inferred: count("es_discard_t_p99"),
            errors: count("num_errors"),
            ..Self::default()
        };
        let mut rate = |key| fields.optional(key, or_null(number(0.0..=f64::MAX))).flatten();
        Self {
            scheduled_rate: rate("result_scheduled_samples_per_sec"),
            completed_rate: rate("result_completed_samples_per_sec"),
            throughput: rate("result_samples_per_second"),
            rate_with_overhead: rate("result_qps_with_loadgen_overhead"),
            rate_without_overhead: rate("result_qps_without_loadgen_overhead"),
            ..counts
        }
    }
}

impl Percentiles {
    fn read(node: &Node<'_>, problems: &mut Problems) -> Option<Self> {
        let mut fields = Fields::from_mapping(node, "statistics", problems)?;
        let mut span = |key| fields.required(key, whole(0..=u64::MAX)).map(SimSpan::from_ns);
        let percentiles = ["p50", "p90", "p95", "p97", "p99", "p99_9"].map(&mut span);
        let [min, max, mean] = ["min", "max", "mean"].map(&mut span);
        let count = fields.required("n", whole(1..=u64::MAX));
        fields.finish_open();
        let [p50, p90, p95, p97, p99, p99_9] = percentiles;
        Some(Self {
            count: count?,
            percentiles: [p50?, p90?, p95?, p97?, p99?, p99_9?],
            min: min?,
            max: max?,
            mean: mean?,
        })
    }
}

impl Sought {
    fn read(fields: &mut Fields<'_, '_, '_>) -> Self {
        Self {
            messages: fields.optional("loadgen_search_path", or_null(texts)).flatten(),
            trials: fields.optional("ideal_search_path", or_null(list("trials", trial))).flatten(),
            runs: fields.optional("passes", or_null(whole(0..=u64::MAX))).flatten(),
            peak: fields.optional("ideal_peak_qps", or_null(number(0.0..=f64::MAX))).flatten(),
            printed_peak: fields.optional("final_target_qps", quoted_number),
        }
    }
}

/// Reads a value with `read`, or `null`.
pub(super) fn or_null<T>(reader: impl Reader<Value = T>) -> impl Reader<Value = Option<T>> {
    move |node: &Node<'_>, problems: &mut Problems| match node.value {
        Value::Null => Some(None),
        _ => reader.read(node, problems).map(Some),
    }
}

/// Reads text that may be empty, or `null`.
fn words(node: &Node<'_>, problems: &mut Problems) -> Option<Option<String>> {
    match &node.value {
        Value::Scalar { text, .. } => Some(Some(text.to_string())),
        Value::Null => Some(None),
        _ => {
            problems.push(node.mismatch(&"text"));
            None
        }
    }
}

/// Reads a list of texts. The list may be empty.
fn texts(node: &Node<'_>, problems: &mut Problems) -> Option<Vec<Box<str>>> {
    match &node.value {
        Value::List(items) => items.iter().map(|item| text().read(item, problems)).collect(),
        _ => {
            problems.push(node.mismatch(&"a list of texts"));
            None
        }
    }
}

/// Reads one of two words.
fn yes_or_no([yes, no]: [&'static str; 2]) -> impl Fn(&Node<'_>, &mut Problems) -> Option<bool> {
    move |node, problems| match &node.value {
        Value::Scalar { text, .. } if *text == yes => Some(true),
        Value::Scalar { text, .. } if *text == no => Some(false),
        _ => {
            problems.push(node.mismatch(&format_args!("`{yes}` or `{no}`")));
            None
        }
    }
}

fn quoted_number(node: &Node<'_>, problems: &mut Problems) -> Option<f64> {
    number(0.0..=f64::MAX).read(&node.unquoted(), problems)
}

/// Reads a rate and whether it passes.
fn trial(node: &Node<'_>, problems: &mut Problems) -> Option<(f64, bool)> {
    match &node.value {
        Value::List(items) if items.len() == 2 => {
            let rate = number(0.0..=f64::MAX).read(&items[0], problems);
            let passes = flag().read(&items[1], problems);
            rate.zip(passes)
        }
        _ => {
            problems.push(node.mismatch(&"a rate and whether it passes"));
            None
        }
    }
}
