//! Logs of `xrsim mlperf --out`: the keys that MLPerf's own tools read, for every load and round.

use crate::support::binary;

use std::fs;
use std::path::Path;

use binary::output;
use serde_json::Value;
use tempfile::{TempDir, tempdir};

use xrsim::mlperf::benchmark::{Measurement, measure};
use xrsim::mlperf::logs::{DetailLog, LoggedRun, render_summary};
use xrsim::mlperf::rules::{ROUNDS, Round};
use xrsim::mlperf::settings::{
    EffectiveSettings, LoadGenVersion, LoadScenario, QuerySampleLibrary, TestSettings,
};
use xrsim::mlperf::sut::{Discipline, ServerSystem, ServiceTime};
use xrsim::units::{SimSpan, SimTime};

const TASK: &str = "image_classification_light";
const LOADS: [&str; 4] = ["single-stream", "multi-stream", "server", "offline"];

/// Short tests of all loads by the rules of a round, on a system that takes 2 ms a sample.
fn tests_of(round: &str, more: &[&str]) -> TempDir {
    let folder = tempdir().expect("a folder can be made");
    let out = folder.path().to_str().expect("the path is UTF-8");
    let arguments = ["mlperf", "inference", "--task", TASK, "--round", round, "--out", out];
    output(&[&arguments[..], &["--service", "constant:ms=2"], more].concat());
    folder
}

const SHORT: [&str; 4] = ["--min-duration", "1", "--min-queries", "100"];

fn file(folder: &Path, load: &str, name: &str) -> String {
    fs::read_to_string(folder.join(TASK).join(load).join(name)).expect("the file is written")
}

/// Lines of a detailed log as MLPerf's log parser reads them: a marker and JSON.
fn messages(text: &str) -> Vec<Value> {
    let json = |line: &str| {
        let json = line.strip_prefix(":::MLLOG").expect("every line has the marker");
        serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {line:.200}"))
    };
    text.lines().map(json).collect()
}

/// Value of a key that occurs exactly once.
fn value<'a>(messages: &'a [Value], key: &str) -> Option<&'a Value> {
    let mut found = messages.iter().filter(|message| message["key"] == key);
    let value = found.next().map(|message| &message["value"]);
    assert!(found.next().is_none(), "{key} is there twice");
    value
}

/// Keys that the submission checkers of all rounds require.
const ALWAYS: [&str; 17] = [
    "result_validity",
    "effective_scenario",
    "effective_performance_sample_count",
    "effective_qsl_rng_seed",
    "effective_sample_index_rng_seed",
    "effective_schedule_rng_seed",
    "effective_min_query_count",
    "effective_samples_per_query",
    "effective_min_duration_ms",
    "generated_query_count",
    "generated_samples_per_query",
    "power_begin",
    "power_end",
    "qsl_reported_total_count",
    "result_99.00_percentile_latency_ns",
    "result_mean_latency_ns",
    "sut_name",
];

/// Keys that the checker of `round` requires of a load, and keys that its LoadGen did not have yet.
fn keys_of(round: &Round, load: &str) -> (Vec<&'static str>, Vec<&'static str>) {
    let (mut keys, mut absent) = (ALWAYS.to_vec(), Vec::new());
    let loadgen = round.loadgen;
    let early: &[&str] = match (load, loadgen.has_early_stopping()) {
        ("single-stream", true) => &["early_stopping_latency_ss", "early_stopping_latency_ms"],
        ("multi-stream", true) => &["early_stopping_latency_ms", "result_mean_query_latency_ns"],
        ("multi-stream", false) => &["result_97.00_percentile_num_intervals_between_queries"],
        _ => &[],
    };
    keys.extend(early);
    keys.extend::<&[&str]>(match load {
        "single-stream" => &[
            "result_90.00_percentile_latency_ns",
            "result_qps_with_loadgen_overhead",
            "result_qps_without_loadgen_overhead",
        ],
        "multi-stream" => &["result_99.00_percentile_per_query_latency_ns"],
        "server" => &[
            "effective_target_latency_ns",
            "result_perf_constraints_met",
            "result_scheduled_samples_per_sec",
            "result_completed_samples_per_sec",
        ],
        _ => &["result_samples_per_second"],
    });
    let since: [(LoadGenVersion, &[&str]); 4] = [
        (
            LoadGenVersion::V2_0,
            &["early_stopping_met", "early_stopping_result", "result_query_count"],
        ),
        (LoadGenVersion::V2_1, &["get_sut_name_duration_ns"]),
        (LoadGenVersion::V4_1, &["effective_sample_concatenate_permutation"]),
        (LoadGenVersion::V5_1, &["num_errors"]),
    ];
    for (first, of_round) in since {
        if loadgen >= first { keys.extend(of_round) } else { absent.extend(of_round) }
    }
    (keys, absent)
}

#[test]
fn every_load_of_every_round_has_the_keys_that_its_checker_asks_for() {
    for round in &ROUNDS {
        let folder = tests_of(round.name, &SHORT);
        for load in LOADS {
            let messages = messages(&file(folder.path(), load, "mlperf_log_detail.txt"));
            let (keys, absent) = keys_of(round, load);
            for key in keys {
                assert!(value(&messages, key).is_some(), "{} {load}: no {key}", round.name);
            }
            for key in absent {
                assert!(value(&messages, key).is_none(), "{} {load}: {key}", round.name);
            }
            for (stream, seed) in [("qsl", round.seeds.qsl), ("schedule", round.seeds.schedule)] {
                let seed = Some(seed);
                for settings in ["requested", "effective"] {
                    let key = format!("{settings}_{stream}_rng_seed");
                    let found = value(&messages, &key).and_then(Value::as_u64);
                    // The least of several runs may have the seed of another than the first.
                    let of_run = stream == "schedule" && load == "server" && round.server_runs > 1;
                    assert!(found == seed || of_run && found > seed, "{} {load}", round.name);
                }
            }
            assert_eq!(value(&messages, "requested_min_duration_ms"), Some(&Value::from(1000)));
            let accuracy = file(folder.path(), load, "mlperf_log_accuracy.json");
            assert_eq!(accuracy, "[\n]\n");
        }
    }
}

#[test]
fn every_line_of_a_detailed_log_has_the_fields_of_loadgen_in_order_of_time() {
    let folder = tests_of("v5.1", &SHORT);
    for load in LOADS {
        let mut last = 0.0;
        for message in messages(&file(folder.path(), load, "mlperf_log_detail.txt")) {
            let mut keys: Vec<_> = message.as_object().expect("an object").keys().collect();
            keys.sort();
            let fields = ["event_type", "key", "metadata", "namespace", "time_ms", "value"];
            assert_eq!(keys, fields, "{message}");
            let metadata = message["metadata"].as_object().expect("an object");
            let mut keys: Vec<_> = metadata.keys().collect();
            keys.sort();
            assert_eq!(keys, ["file", "is_error", "is_warning", "line_no", "pid", "tid"]);
            let at = message["time_ms"].as_f64().expect("a number");
            assert!(at >= last, "{message}");
            last = at;
        }
        assert!(last >= 1000.0, "{load} lasts a second");
    }
}

#[test]
fn logs_are_the_same_bytes_again() {
    let [first, second] = [tests_of("v4.0", &SHORT), tests_of("v4.0", &SHORT)];
    for load in LOADS {
        let of = |folder: &TempDir| file(folder.path(), load, "mlperf_log_detail.txt");
        assert!(of(&first) == of(&second), "{load}");
    }
}

#[test]
fn the_log_says_what_the_summary_says() {
    let folder = tests_of("v5.1", &SHORT);
    for load in LOADS {
        let messages = messages(&file(folder.path(), load, "mlperf_log_detail.txt"));
        let summary = file(folder.path(), load, "mlperf_log_summary.txt");
        let text = |key: &str| value(&messages, key).expect(key).to_string();
        let verdict = format!("Result is : {}", text("result_validity").trim_matches('"'));
        let mean = match load {
            "multi-stream" => text("result_mean_query_latency_ns"),
            _ => text("result_mean_latency_ns"),
        };
        let mean = format!("Mean latency (ns)               : {mean}");
        let seed = format!("schedule_rng_seed : {}", text("effective_schedule_rng_seed"));
        let rate = format!("target_qps : {}", text("effective_target_qps"));
        for line in [verdict, mean, seed, rate] {
            assert!(summary.lines().any(|it| it == line), "{load}: no `{line}` in\n{summary}");
        }
    }
}

#[test]
fn summaries_before_v1_0_name_streams_with_a_space_as_their_checker_reads_them() {
    for (round, scenario, mode) in
        [("v0.7", "Single Stream", "Performance"), ("v1.0", "SingleStream", "PerformanceOnly")]
    {
        let folder = tests_of(round, &[&SHORT[..], &["--load", "single-stream"]].concat());
        let summary = file(folder.path(), "single-stream", "mlperf_log_summary.txt");
        let lines = format!("Scenario : {scenario}\nMode     : {mode}\n");
        assert!(summary.contains(&lines), "{summary}");
    }
}

#[test]
fn tenants_leave_the_same_logs() {
    let folder = tempdir().expect("a folder can be made");
    let out = folder.path().to_str().expect("the path is UTF-8");
    let tenants = ["--tenant", &format!("{TASK}:qps=20"), "--tenant", &format!("{TASK}:qps=9")];
    let arguments = ["mlperf", "inference", "--min-duration", "5", "--out", out];
    output(&[&arguments[..], &tenants].concat());
    for (tenant, rate) in [(1, 20), (2, 9)] {
        let place = folder.path().join(format!("{tenant}_{TASK}"));
        let text = fs::read_to_string(place.join("mlperf_log_detail.txt")).expect("written");
        let messages = messages(&text);
        let found = value(&messages, "effective_target_qps").and_then(Value::as_u64);
        assert_eq!(found, Some(rate));
        let number = |key: &str| value(&messages, key).and_then(Value::as_u64).expect(key);
        // The query after the last would have been due after the least duration.
        assert!(number("generated_query_duration") > 5_000_000_000);
        let queries = fs::read_to_string(place.join("queries.csv")).expect("written");
        assert_eq!(number("generated_query_count") as usize + 1, queries.lines().count());
        assert!(place.join("mlperf_log_accuracy.json").exists());
    }
}

/// Server run of one query, with its settings.
fn one_query(requested: TestSettings) -> (EffectiveSettings, Measurement) {
    let library = QuerySampleLibrary { performance_samples: 4, total_samples: 8 };
    let settings = EffectiveSettings::new(&requested, library, LoadGenVersion::V5_1)
        .expect("they are allowed");
    let measurement = measure(&settings, &mut service()).expect("it can be run");
    (settings, measurement)
}

/// System that takes 2 ms a sample.
fn service() -> ServerSystem {
    let time = ServiceTime::Constant(SimSpan::from_ns(2_000_000));
    ServerSystem::new(time, Discipline::Fifo, vec![1.0])
}

/// The rate of a schedule of one query is 0 / 0, which is not a number in JSON.
#[test]
fn what_is_no_number_and_what_is_quoted_stay_json() {
    let requested = TestSettings {
        min_query_count: 1,
        min_duration_ms: 0,
        ..TestSettings::new(LoadScenario::Server)
    };
    let (settings, measurement) = one_query(requested);
    let pass = LoggedRun::from_measurement(&settings, &measurement);
    let system = "\"J\\4096\"\n\u{7}";
    let log = DetailLog::of_run(&settings, &pass, &measurement.performance, system);
    let mut text = Vec::new();
    log.write(&mut text).expect("memory takes it");
    let messages = messages(std::str::from_utf8(&text).expect("it is UTF-8"));
    assert_eq!(value(&messages, "sut_name"), Some(&Value::from(system)));
    assert_eq!(value(&messages, "result_scheduled_samples_per_sec"), Some(&Value::Null));
    assert_eq!(value(&messages, "num_errors"), Some(&Value::from(0)));
}

/// 789 days after 1970-01-01 is the leap day of 1972.
#[test]
fn power_markers_are_dates_of_simulated_time() {
    let (settings, measurement) = one_query(TestSettings {
        min_query_count: 1,
        min_duration_ms: 0,
        ..TestSettings::new(LoadScenario::Server)
    });
    const DAY_MS: u64 = 86_400_000;
    for (ms, expected) in [
        (0, "01-01-1970 00:00:00.000"),
        (61_234, "01-01-1970 00:01:01.234"),
        (DAY_MS - 1, "01-01-1970 23:59:59.999"),
        (31 * DAY_MS, "02-01-1970 00:00:00.000"),
        (364 * DAY_MS, "12-31-1970 00:00:00.000"),
        (365 * DAY_MS, "01-01-1971 00:00:00.000"),
        (789 * DAY_MS, "02-29-1972 00:00:00.000"),
        (790 * DAY_MS, "03-01-1972 00:00:00.000"),
    ] {
        let done = SimTime::from_ns(ms * 1_000_000);
        let pass =
            LoggedRun { completed: done, ..LoggedRun::from_measurement(&settings, &measurement) };
        let log = DetailLog::of_run(&settings, &pass, &measurement.performance, "a system");
        let end = log.records.iter().find(|record| record.key == "power_end").expect("it is there");
        assert_eq!(end.value.to_string(), format!("\"{expected}\""));
    }
}

/// 500 samples of a set of 48 become 528; LoadGen warns of this since v5.1.
#[test]
fn a_summary_warns_of_samples_that_fill_up_the_last_set() {
    let requested = TestSettings {
        min_query_count: 500,
        min_duration_ms: 0,
        sample_concatenate_permutation: true,
        ..TestSettings::new(LoadScenario::Offline)
    };
    let library = QuerySampleLibrary { performance_samples: 48, total_samples: 100 };
    for (loadgen, warns) in [(LoadGenVersion::V4_1, false), (LoadGenVersion::V5_1, true)] {
        let settings =
            EffectiveSettings::new(&requested, library, loadgen).expect("they are allowed");
        let measurement = measure(&settings, &mut service()).expect("it can be run");
        assert_eq!(LoggedRun::from_measurement(&settings, &measurement).samples_per_query, 528);
        let text = render_summary(&settings, &measurement.performance, "a system", 0);
        let warning = "\nWARNING: sample_concatenate_permutation was set to true. \nGenerated";
        assert_eq!(text.contains(warning), warns, "{text}");
    }
}

/// The minimum is ten queries and the maximum five.
#[test]
fn errors_are_flagged_and_counted() {
    let (settings, measurement) = one_query(TestSettings {
        min_query_count: 10,
        max_query_count: 5,
        min_duration_ms: 0,
        server_target_qps: 10.0,
        ..TestSettings::new(LoadScenario::Server)
    });
    let pass = LoggedRun::from_measurement(&settings, &measurement);
    let log = DetailLog::of_run(&settings, &pass, &measurement.performance, "a system");
    let errors: Vec<_> = log.records.iter().filter(|record| record.is_error).collect();
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].key, "error_runtime");
    assert!(errors[0].to_string().contains("\"is_error\": true"), "{}", errors[0]);
    let count = log.records.last().expect("there are lines");
    assert_eq!((&*count.key, count.value.to_string()), ("num_errors", "1".into()));
}
