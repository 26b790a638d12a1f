//! The detailed log of LoadGen, key by key.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::validate::Tally;
use xrsim_config::loadgen_cases::{Case, Detail};
use xrsim_mlperf::logs::DetailLog;
use xrsim_mlperf::results::Performance;

use super::place;
use super::recorded::duration_is_certain;
use super::simulated::Simulated;
use super::summary::Latencies;

/// Keys that depend on LoadGen itself: its build, the clock of its host, its threads, and the names that
/// its user gave.
const OWN: [&str; 19] = [
    "loadgen_version",
    "loadgen_build_date_local",
    "loadgen_build_date_utc",
    "loadgen_git_commit_date",
    "loadgen_git_log_message",
    "loadgen_git_status_message",
    "loadgen_file_sha1",
    "test_datetime",
    "get_sut_name_duration_ns",
    "sut_name",
    "qsl_name",
    "logger_swap_request_slots_retry_count",
    "logger_swap_request_slots_retry_retry_count",
    "logger_swap_request_slots_retry_reencounter_count",
    "logger_start_reading_entries_retry_count",
    "logger_tls_total_log_cas_fail_count",
    "logger_tls_total_swap_buffers_slot_retry_count",
    "power_begin",
    "power_end",
];

/// Keys that depend on the end of the run, which the host may have decided.
const OF_ENDING: [&str; 3] = ["generic_message", "error_runtime", "num_errors"];

/// Keys that depend on the duration, which includes the start of the host.
const OF_DURATION: [&str; 3] =
    ["result_validity", "result_min_duration_met", "result_invalid_reason"];

/// A rate that includes the start of the host.
const WITH_OVERHEAD: &str = "result_qps_with_loadgen_overhead";

/// Relative tolerance of this rate.
const TOLERANCE: f64 = 1e-4;

/// Values of every key in order, each with its kind, and the place of the first.
type ByKey = BTreeMap<String, (String, Vec<(Value, bool)>)>;

/// Compares the log of `case` with the log of `performance`, whose latencies are recorded or simulated:
/// the keys, and the value and kind of every line.
pub(super) fn compare(
    case: &Case,
    simulated: &Simulated,
    performance: &Performance,
    latencies: Latencies,
    tally: &mut Tally,
) {
    let Some(detail) = &case.detail else { return };
    let recorded = of_file(detail);
    let found = of_log(&simulated.detail_log(case, performance));
    let compared = |key: &str| {
        !OWN.contains(&key)
            && (simulated.endings_are_certain() || !OF_ENDING.contains(&key))
            && (latencies == Latencies::Recorded || !key_has_latency(key))
            && (duration_is_certain(case, performance) || !OF_DURATION.contains(&key))
    };
    let keys = |of: &ByKey| of.keys().filter(|key| compared(key)).cloned().collect::<Vec<_>>();
    let (expected, own) = (keys(&recorded).join(", "), keys(&found).join(", "));
    tally.equal(format_args!("{}: keys", detail.source.name()), expected, own);
    for (key, (place, expected)) in &recorded {
        let Some((_, found)) = found.get(key).filter(|_| compared(key)) else { continue };
        let what = format!("{place}: {key}");
        match (&expected[..], &found[..]) {
            ([(expected, _)], [(found, _)]) if key == WITH_OVERHEAD => {
                let (expected, found) = (expected.as_f64(), found.as_f64());
                tally.near_if(&what, expected, found, TOLERANCE);
            }
            _ => tally.equal(what, listing(key, expected), listing(key, found)),
        }
    }
}

/// Whether a value depends on latencies.
fn key_has_latency(key: &str) -> bool {
    key.starts_with("result_") || key.starts_with("early_stopping_")
}

/// Lists values and marks errors.
fn listing(key: &str, values: &[(Value, bool)]) -> String {
    let one = |(value, is_error): &(Value, bool)| {
        let value = match value.as_str().filter(|_| key == "error_runtime") {
            Some(text) => reason(text),
            None => value.to_string(),
        };
        format!("{value}{}", if *is_error { " (error)" } else { "" })
    };
    values.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// An error message without the numbers that the host influences.
fn reason(text: &str) -> String {
    let numbers = ["issued ", "duration_ns "];
    let end = numbers.iter().filter_map(|number| text.find(number)).min();
    text[..end.unwrap_or(text.len())].to_owned()
}

fn of_file(detail: &Detail) -> ByKey {
    let mut all = ByKey::new();
    for row in &detail.rows {
        // Every thread logs its start.
        if row.value.as_str().is_some_and(|text| text.starts_with("Registered IssueQueryThread")) {
            continue;
        }
        let place = || (place(&detail.source, row.line), Vec::new());
        let (_, values) = all.entry(row.key.clone()).or_insert_with(place);
        values.push((row.value.clone(), row.is_error));
    }
    all
}

fn of_log(log: &DetailLog) -> ByKey {
    let mut all = ByKey::new();
    for record in &log.records {
        let value = serde_json::from_str(&record.value.to_string()).unwrap_or(Value::Null);
        let (_, values) = all.entry(record.key.clone()).or_default();
        values.push((value, record.is_error));
    }
    all
}
