//! `xrsim mlperf`: its output, its files and its refusals.

use crate::support::binary;

use std::fs;
use std::path::Path;

use binary::{output, refused, stderr, stdout, xrsim};
use serde_json::Value;
use tempfile::{TempDir, tempdir};
use xrsim::config::Catalog;

fn printed(arguments: &[&str]) -> String {
    output(&[&["mlperf"], arguments].concat())
}

fn refusal(arguments: &[&str]) -> String {
    refused(&[&["mlperf"], arguments].concat())
}

#[test]
fn a_test_leaves_the_summary_of_loadgen_and_a_row_a_query() {
    let folder = tempdir().expect("a folder can be made");
    let out = folder.path().to_str().expect("the path is UTF-8");
    let task = "image_classification_light";
    let one = ["inference", "--task", task, "--load", "single-stream", "--out", out];
    let text = printed(&one);
    assert!(text.is_ascii() && text.contains("VALID"), "{text}");
    let place = folder.path().join(task).join("single-stream");
    let summary = fs::read_to_string(place.join("mlperf_log_summary.txt")).expect("written");
    assert!(summary.contains("SUT name : A@4096"), "{summary}");
    assert!(summary.contains("Result is : VALID"), "{summary}");
    let queries = fs::read_to_string(place.join("queries.csv")).expect("written");
    assert!(queries.lines().count() > 1024);
    assert!(folder.path().join("suite.csv").exists());
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let cases: [(&[&str], &str); 24] = [
        (&["inference", "--round", "v9"], "no round named `v9`"),
        (&["inference", "--task", "image"], "no task named `image`"),
        (&["inference", "--load", "sever"], "no load named `sever`; did you mean `server`?"),
        (&["mobile", "--round", "v4.1"], "no tasks here for round v4.1"),
        (&["inference", "--load", "server", "--qps", "0"], "server_target_qps is 0; allowed is"),
        (&["inference", "--batch-wait", "-1"], "allowed is a number of ms from 0 to 9007199254"),
        (&["inference", "--streams", "0"], "--streams"),
        (&["inference", "--service", "constnt:ms=1"], "no service named `constnt`"),
        (&["inference", "--service", "batch:ms=1"], "--service batch needs sample_ms"),
        (
            &["inference", "--service", "constant:ms=-1"],
            "allowed is a number of ms from 0 to 9007199254",
        ),
        (&["inference", "--service", "constant:ms=1", "--system", "B"], "cannot be used with"),
        (&["inference", "--tenant", "image"], "no task named `image`"),
        (&["inference", "--tenant", "machine_translation"], "needs qps, queries per second"),
        (&["inference", "--tenant", "machine_translation:qpss=1"], "did you mean `qps`?"),
        (&["inference", "--tenant", "machine_translation:qps=0"], "qps is `0`; allowed is"),
        (&["inference", "--tenant", "machine_translation:qps=1,percentile=100"], "percentile"),
        (&["inference", "--tenant", "machine_translation:burst_qps=9"], "needs burst_ms"),
        (&["mobile", "--tenant", "super_resolution:qps=1"], "needs bound_ms"),
        (
            &["inference", "--min-duration", "-1"],
            "allowed is a number of seconds from 0 to 9007199",
        ),
        (&["inference", "--curve", "9"], "--out"),
        (&["inference", "--load", "offline", "--qps", "5"], "--qps is of server tests"),
        (&["inference", "--load", "server", "--streams", "5"], "--streams is of multi-stream"),
        (&["inference", "--scheduler", "magma"], "is shown every request before the run"),
        (&["inference", "--cost-model", "maestro", "--max-batch", "2"], "leaves batches out"),
    ];
    for (arguments, expected) in cases {
        let message = refusal(arguments);
        assert!(message.contains(expected), "{arguments:?}: {message}");
    }
}

fn rows(csv: &str) -> Vec<Vec<String>> {
    csv.lines().map(|line| line.split(',').map(String::from).collect()).collect()
}

fn column(csv: &str, name: &str) -> Vec<String> {
    let rows = rows(csv);
    let index = rows[0].iter().position(|it| it == name).expect("it is a column");
    rows[1..].iter().map(|row| row[index].clone()).collect()
}

/// A constant service time of 4 ms gives 250 samples per second offline and a 90th percentile of 4 ms.
#[test]
fn a_constant_service_says_what_it_is() {
    let csv = printed(&["mobile", "--service", "constant:ms=4", "--format", "csv"]);
    let values = column(&csv, "value");
    assert_eq!(values[..5], ["4"; 5].map(String::from));
    let offline: f64 = values[5].parse().expect("a number");
    assert!((offline - 250.0).abs() < 1e-9, "{offline}");
    assert!(column(&csv, "energy_mj_per_sample").iter().all(String::is_empty), "{csv}");
}

/// One sample takes 2 ms and eight take 8 ms, so that one server with batches of eight completes 1000
/// samples per second, and two servers 2000.
#[test]
fn measured_batches_serve_a_task() {
    let folder = tempdir().expect("a folder can be made");
    let table = folder.path().join("measured.csv");
    let task = "image_classification_light";
    fs::write(&table, format!("task,batch,latency_ms\n{task},1,2\n{task},8,8\n")).expect("written");
    let table = table.to_str().expect("the path is UTF-8");
    let of = |more: &[&str]| {
        let all = ["inference", "--task", task, "--load", "offline", "--service", table];
        let csv = printed(&[&all[..], &["--format", "csv"], more].concat());
        column(&csv, "value")[0].parse::<f64>().expect("a number")
    };
    assert!((of(&["--max-batch", "8"]) - 1000.0).abs() < 1e-6);
    assert!((of(&["--max-batch", "8", "--servers", "2"]) - 2000.0).abs() < 1e-6);
    assert!((of(&[]) - 500.0).abs() < 1e-6);
    let message = refusal(&["inference", "--load", "offline", "--service", table]);
    assert!(message.contains("has no row of the task image_classification_heavy"), "{message}");
}

#[test]
fn tenants_each_have_a_verdict_and_files() {
    let folder = tempdir().expect("a folder can be made");
    let out = folder.path().to_str().expect("the path is UTF-8");
    let heavy = "image_classification_heavy:qps=20";
    let light =
        "image_classification_light:qps=50,burst_qps=900,burst_ms=20,period_ms=500,bound_ms=1";
    let arguments = ["inference", "--tenant", heavy, "--tenant", light, "--beside", "VR_gaming"];
    let text = printed(&[&arguments[..], &["--min-duration", "5", "--out", out]].concat());
    assert!(text.contains("VR_gaming beside scores"), "{text}");
    assert!(text.contains("2, image_classification_light: Reduce target QPS"), "{text}");
    let csv = fs::read_to_string(folder.path().join("tenants.csv")).expect("written");
    assert_eq!(column(&csv, "verdict"), ["VALID", "INVALID"]);
    for place in ["1_image_classification_heavy", "2_image_classification_light"] {
        let place = folder.path().join(place);
        let summary = fs::read_to_string(place.join("mlperf_log_summary.txt")).expect("written");
        assert!(summary.contains("Scenario : Server"), "{summary}");
        assert!(place.join("queries.csv").exists());
    }
}

#[test]
fn a_curve_rises_and_is_drawn() {
    let folder = tempdir().expect("a folder can be made");
    let out = folder.path().to_str().expect("the path is UTF-8");
    let task = "image_classification_light";
    let arguments = ["inference", "--task", task, "--load", "server", "--min-queries", "2000"];
    printed(&[&arguments[..], &["--min-duration", "1", "--curve", "5", "--out", out]].concat());
    let place = folder.path().join(task).join("server");
    let csv = fs::read_to_string(place.join("curve.csv")).expect("written");
    let p99: Vec<f64> =
        column(&csv, "p99_ms").iter().map(|it| it.parse().expect("a number")).collect();
    assert!(p99.len() == 5 && p99.windows(2).all(|pair| pair[0] < pair[1]), "{p99:?}");
    let within = column(&csv, "within_bound");
    assert_eq!((&*within[0], &*within[4]), ("true", "false"));
    let svg = fs::read_to_string(place.join("curve.svg")).expect("written");
    assert!(svg.starts_with("<svg") && svg.contains("result: "), "the result is marked");
    assert!(place.join("curve.pdf").is_file() && place.join("curve.png").is_file());
}

/// The first frame arrives a minute after the last query.
#[test]
fn a_usage_scenario_without_a_frame_has_no_score_and_says_why() {
    let folder = tempdir().expect("a folder can be made");
    let file = folder.path().join("late.yaml");
    let late = "scenario:\n  name: late\n  sensors:\n    \
                camera: {rate_fps: 60, initial_latency_ms: 60000}\n  models:\n    \
                - {network: HT, fps: 45, inputs: [camera]}\n";
    fs::write(&file, late).expect("written");
    let file = file.to_str().expect("the path is UTF-8");
    let reason =
        "late beside has no score: no frame that counts came until the last query was done\n";
    let short = ["--min-queries", "10", "--min-duration", "0", "--beside", file];
    let task = "image_classification_light";
    let one = [&["inference", "--task", task, "--load", "single-stream"][..], &short].concat();
    let text = printed(&one);
    assert!(
        text.contains("n/a") && text.contains(&format!("{task}, single-stream: {reason}")),
        "{text}"
    );
    let csv = printed(&[&one[..], &["--format", "csv"]].concat());
    assert_eq!(column(&csv, "beside_score"), [""]);
    assert_eq!(column(&csv, "beside_score_alone"), [""]);
    let tenant = format!("{task}:qps=50");
    let tenants = [&["inference", "--tenant", &tenant][..], &short].concat();
    assert!(printed(&tenants).contains(reason));
    let json = printed(&[&tenants[..], &["--format", "json"]].concat());
    let json: Value = serde_json::from_str(&json).expect("it is JSON");
    assert!(json["beside_score"].is_null() && json["beside_score_alone"].is_null(), "{json}");
}

#[test]
fn a_trace_has_every_batch() {
    let folder = tempdir().expect("a folder can be made");
    let path = folder.path().join("trace.json");
    let trace = path.to_str().expect("the path is UTF-8");
    let arguments = ["inference", "--task", "image_classification_heavy", "--load", "server"];
    let short = ["--qps", "100", "--min-queries", "50", "--min-duration", "0", "--trace", trace];
    printed(&[&arguments[..], &short, &["--round", "v1.0"]].concat());
    let events: Value =
        serde_json::from_str(&fs::read_to_string(Path::new(&path)).expect("written"))
            .expect("it is JSON");
    let events = events["traceEvents"].as_array().expect("a list");
    let is_slice = |it: &&Value| {
        it["ph"] == "X" && it["name"].as_str().is_some_and(|name| name.contains("resnet50"))
    };
    assert!(events.iter().filter(is_slice).count() >= 50, "{events:?}");
    let message = refusal(&["inference", "--trace", trace]);
    assert!(message.contains("--trace takes one test"), "{message}");
}

/// LoadGen's search starts at the given rate and lists its trials.
#[test]
fn a_search_starts_where_it_is_told() {
    let arguments = ["inference", "--task", "image_classification_heavy", "--load", "server"];
    let short = ["--qps", "50", "--find-peak", "--min-queries", "3000", "--min-duration", "1"];
    let text = printed(&[&arguments[..], &short, &["--format", "json"]].concat());
    let document: Value = serde_json::from_str(&text).expect("it is JSON");
    let trials = document["tests"][0]["trials"].as_array().expect("a list");
    let values: Vec<_> = trials.iter().filter_map(|trial| trial["value"].as_f64()).collect();
    assert_eq!(values[..3], [50.0, 100.0, 200.0]);
    assert_eq!(document["tests"][0]["verdict"], "VALID");
}

/// From v2.0 on early stopping is part of the constraint, so that the rate found is valid.
#[test]
fn what_a_search_finds_is_valid() {
    for round in ["v2.0", "v4.1"] {
        let service = ["--service", "constant:ms=3", "--load", "server", "--format", "csv"];
        let task = ["inference", "--task", "image_classification_heavy", "--round", round];
        let csv = printed(
            &[&task[..], &service, &["--min-queries", "20000", "--min-duration", "1"]].concat(),
        );
        assert_eq!(column(&csv, "verdict"), ["VALID"], "{round}: {csv}");
    }
}

/// A service time of a second never meets a bound of 15 ms; the message names the first rate, 0.25 per second.
#[test]
fn a_bound_that_cannot_be_kept_is_invalid() {
    let server = |service: &[&str]| {
        let task = ["inference", "--task", "image_classification_heavy", "--load", "server"];
        printed(&[&task[..], &["--min-queries", "20000", "--service"], service].concat())
    };
    let csv = server(&["constant:ms=1000", "--format", "csv"]);
    assert_eq!(column(&csv, "verdict"), ["INVALID"]);
    let rate: f64 = column(&csv, "value")[0].parse().expect("a number");
    assert!((rate - 0.25).abs() < 0.01, "{rate}");
    let text = server(&["constant:ms=30"]);
    let reason = "one query alone takes 30 ms, and the bound is 15 ms";
    assert!(text.contains(reason), "{text}");
}

/// 12 samples of 4 ms fit into 50 ms; the samples of a query are done after 4, 8, ... 48 ms.
#[test]
fn the_samples_of_a_stream_are_done_one_by_one() {
    let folder = tempdir().expect("a folder can be made");
    let out = folder.path().to_str().expect("the path is UTF-8");
    let task = "image_classification_heavy";
    let load = ["--load", "multi-stream", "--service", "constant:ms=4", "--out", out];
    let csv = printed(&[&["inference", "--task", task, "--format", "csv"], &load[..]].concat());
    assert_eq!((&*column(&csv, "value")[0], &*column(&csv, "p99_ms")[0]), ("12", "48"));
    let summary = folder.path().join(task).join("multi-stream").join("mlperf_log_summary.txt");
    let summary = fs::read_to_string(summary).expect("written");
    assert!(summary.contains("4000000") && summary.contains("48000000"), "{summary}");
}

/// Rounds from v4.0 on accept a small data set; a data set of unknown size counts as large.
#[test]
fn offline_asks_for_enough_samples() {
    for round in ["v0.5", "v5.0"] {
        let service = ["--service", "constant:ms=4", "--load", "offline", "--format", "csv"];
        let task = ["inference", "--task", "image_classification_heavy", "--round", round];
        let csv = printed(&[&task[..], &service, &["--min-duration", "0"]].concat());
        // The last of 24,576 samples of 4 ms; the 99th percentile is the 24,331st.
        assert_eq!(column(&csv, "p99_ms"), ["97324"], "{round}");
    }
}

#[test]
fn a_suite_file_cannot_write_elsewhere() {
    let folder = tempdir().expect("a folder can be made");
    let suite =
        fs::read_to_string("scenarios/mlperf/mobile_v3.0.yaml").expect("it is in the repository");
    let hostile = folder.path().join("hostile.yaml");
    let renamed = suite.replace("name: super_resolution", "name: ../../evil");
    fs::write(&hostile, renamed).expect("written");
    let message = refusal(&["mobile", "--suite", hostile.to_str().expect("the path is UTF-8")]);
    assert!(message.contains("is not a valid name of a task"), "{message}");
    let message = refusal(&["mobile", "--suite", "inference_v0.5"]);
    assert!(message.contains("a suite of the other benchmark"), "{message}");
}

/// A scheduler that drops a query ends the test, and so does one that never runs the queries.
#[test]
fn schedulers_that_do_not_serve_are_named() {
    let light = "image_classification_light:qps=300,max_batch=4,batch_wait_ms=1,bound_ms=0.1";
    let tenant = ["inference", "--tenant", light, "--beside", "AR_gaming", "--system", "J"];
    let short = ["--min-duration", "0.5", "--scheduler"];
    for scheduler in ["fcfs", "edf", "sjf", "energy-greedy", "value", "round-robin"] {
        let scheduler = format!("{scheduler}:admission=hopeless");
        let message = refusal(&[&tenant[..], &short, &[&scheduler]].concat());
        assert!(message.contains("it gave up a query"), "{scheduler}: {message}");
    }
    let starved = [
        "--min-duration",
        "0.02",
        "--scheduler",
        "heft:granularity=layer",
        "--flexibility",
        "none",
    ];
    let message = refusal(&[&tenant[..], &starved].concat());
    assert!(message.contains("queries starve beside"), "{message}");
}

/// Since v2.0 too few queries give no estimate of the tail; the message has LoadGen's reason.
#[test]
fn too_few_queries_are_invalid() {
    let arguments = ["inference", "--task", "image_classification_heavy", "--round", "v3.1"];
    let few = ["--min-queries", "10", "--min-duration", "0", "--load", "single-stream"];
    let text = printed(&[&arguments[..], &few].concat());
    assert!(text.contains("INVALID") && text.contains("single-stream: "), "{text}");
}

#[test]
fn mobile_has_an_order_and_pauses() {
    let text = printed(&["mobile", "--service", "constant:ms=1"]);
    assert!(text.contains("5 pauses of 5 min to cool down (0 to 5 are allowed)"), "{text}");
    let csv = printed(&["mobile", "--format", "csv", "--task", "super_resolution"]);
    let [stream, sample] =
        ["energy_mj_per_stream", "energy_mj_per_sample"].map(|name| column(&csv, name));
    assert_eq!(stream, sample, "a stream of single samples");
}

/// A suite of inference whose translation has few samples. Every run shuffles them, here 3,903,900 otherwise, and
/// that takes longer than all else.
fn suite_of_few_samples(folder: &TempDir) -> String {
    let suite = Catalog::new().text("inference_v0.5").expect("it is embedded");
    let few = suite.text().replace("performance_samples: 3903900", "performance_samples: 1024");
    assert_ne!(suite.text(), few);
    let path = folder.path().join("few.yaml");
    fs::write(&path, few).expect("written");
    path.to_str().expect("the path is UTF-8").into()
}

/// A service time of 3 ms completes 333.3 queries per second. 64 queries that arrive at once are done within
/// the bound of translation, so that LoadGen passes any rate; the search must not.
#[test]
fn no_rate_is_claimed_that_cannot_be_served() {
    let folder = tempdir().expect("a folder can be made");
    let suite = suite_of_few_samples(&folder);
    let base = ["inference", "--task", "machine_translation", "--service", "constant:ms=3"];
    let more = ["--suite", &suite, "--load", "server", "--format", "json"];
    let server = [&base[..], &more].concat();
    let test = |more: &[&str]| {
        let text = printed(&[&server[..], more].concat());
        serde_json::from_str::<Value>(&text).expect("it is JSON")["tests"][0].clone()
    };
    for more in [
        &["--min-duration", "0.001", "--min-queries", "64"][..],
        &["--min-duration", "0.001", "--min-queries", "64", "--qps", "100", "--find-peak"],
        &["--min-duration", "0.001", "--min-queries", "64", "--round", "v4.1"],
    ] {
        let test = test(more);
        let value = test["value"].as_f64().expect("there is a rate");
        assert!((1.0..=333.4).contains(&value), "{more:?}: {test}");
        let passed = test["trials"].as_array().expect("a list").iter();
        let mut passed = passed.filter(|it| it["passes"] == true);
        assert!(passed.all(|it| it["value"].as_f64().expect("a rate") < 500.0), "{more:?}: {test}");
        assert_eq!(test["verdict"], "INVALID", "{more:?}");
        if more.len() < 6 || more[4] == "--qps" {
            let reason = test["reason"].as_str().expect("there is a reason");
            assert!(reason.contains("too short to show a queue"), "{more:?}: {reason}");
            assert!(reason.contains("--min-duration 2.5"), "{more:?}: {reason}");
        }
    }
    let long = test(&["--min-duration", "2.5", "--min-queries", "64"]);
    assert_eq!(long["verdict"], "VALID", "{long}");
    let fast = test(&["--qps", "340", "--min-queries", "64", "--min-duration", "3"]);
    assert_eq!(fast["verdict"], "INVALID", "{fast}");
    let out = folder.path().join("out");
    let out_text = out.to_str().expect("the path is UTF-8");
    test(&["--min-duration", "0.001", "--min-queries", "64", "--out", out_text]);
    let summary = out.join("machine_translation/server/mlperf_log_summary.txt");
    let summary = fs::read_to_string(summary).expect("written");
    assert!(summary.contains("Result is : VALID"), "LoadGen says so: {summary}");
}

/// There is no ratio with an invalid result, or with a server above offline.
#[test]
fn a_server_is_compared_with_offline_only_where_that_means_something() {
    let base = ["inference", "--task", "machine_translation", "--service", "constant:ms=3"];
    let folder = tempdir().expect("a folder can be made");
    let suite = suite_of_few_samples(&folder);
    let loads = [&base[..], &["--suite", &suite, "--load", "server", "--load", "offline"]].concat();
    let out = folder.path().join("out");
    let out = out.to_str().expect("the path is UTF-8");
    let short = ["--min-duration", "0.001", "--min-queries", "2", "--qps", "1e6", "--out", out];
    let text = printed(&[&loads[..], &short].concat());
    let why = "machine_translation: server is not compared with offline: server is INVALID";
    assert!(text.contains(why) && !text.contains("% of offline"), "{text}");
    assert!(!Path::new(out).join("server_to_offline.svg").exists());
    let page = folder.path().join("page.html");
    output(&["report", out, "-o", page.to_str().expect("the path is UTF-8")]);
    let long = ["--min-duration", "5", "--min-queries", "1000"];
    let text = printed(&[&loads[..], &long].concat());
    assert!(text.contains("machine_translation: server reaches 9"), "{text}");
}

/// A single query, simultaneous queries and samples that take no time have no rate; nothing divides by zero.
#[test]
fn what_has_no_rate_is_left_empty_with_the_reason() {
    let folder = tempdir().expect("a folder can be made");
    let table = folder.path().join("free.csv");
    fs::write(&table, "network,accelerator,cycles,energy_mj\nresnet50_v1.5_224,WS@4096,0,1\n")
        .expect("written");
    let free = table.to_str().expect("the path is UTF-8");
    let one = ["--min-duration", "0", "--min-queries", "1"];
    let at_once = ["--min-duration", "0", "--min-queries", "2", "--qps", "1e9"];
    let heavy = ["inference", "--task", "image_classification_heavy"];
    let cases: [&[&str]; 6] = [
        &["--load", "server", "--qps", "1", one[0], one[1], one[2], one[3]],
        &["--load", "server", "--round", "v4.1", "--qps", "1", one[0], one[1], one[2], one[3]],
        &[
            "--load",
            "server",
            "--service",
            "constant:ms=3",
            at_once[0],
            at_once[1],
            at_once[2],
            at_once[3],
            at_once[4],
            at_once[5],
        ],
        &["--load", "offline", "--service", "constant:ms=0", one[0], one[1], one[2], one[3]],
        &["--load", "single-stream", "--service", "constant:ms=0", one[0], one[1], one[2], one[3]],
        &[
            "--load",
            "offline",
            "--cost-model",
            free,
            "--system",
            "A",
            one[0],
            one[1],
            one[2],
            one[3],
        ],
    ];
    for (index, case) in cases.into_iter().enumerate() {
        let out = folder.path().join(format!("out{index}"));
        let out = out.to_str().expect("the path is UTF-8");
        let arguments = [&heavy[..], case, &["--out", out]].concat();
        let csv = printed(&[&arguments[..], &["--format", "csv"]].concat());
        let is_stream = case.contains(&"single-stream");
        assert_eq!(column(&csv, "value")[0].is_empty(), !is_stream, "{case:?}: {csv}");
        let verdict = if is_stream { "VALID" } else { "INVALID" };
        assert_eq!(column(&csv, "verdict"), [verdict], "{case:?}: {csv}");
        let text = printed(&arguments);
        assert_eq!(text.contains("n/a"), !is_stream, "{case:?}: {text}");
        assert_eq!(text.contains("there is no rate of"), !is_stream, "{case:?}: {text}");
        for text in [csv, text, printed(&[&arguments[..], &["--format", "json"]].concat())] {
            no_odd_number(&text);
        }
        for file in files(Path::new(out)) {
            no_odd_number(&fs::read_to_string(file).expect("it is text"));
        }
        let page = folder.path().join("page.html");
        output(&["report", out, "-o", page.to_str().expect("the path is UTF-8")]);
    }
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder can be listed");
    let below = |path: std::path::PathBuf| if path.is_dir() { files(&path) } else { vec![path] };
    entries.flat_map(|entry| below(entry.expect("it can be read").path())).collect()
}

/// Checks that no word of `text` is `NaN` or `inf`.
fn no_odd_number(text: &str) {
    let mut words = text.split(|c: char| !c.is_alphanumeric());
    let odd = words.find(|it| ["nan", "inf", "infinity"].contains(&&*it.to_ascii_lowercase()));
    assert_eq!(odd, None, "{text}");
}

/// If queries take no time, loads that wait for the system never reach the minimum duration; the other
/// loads issue queries by the clock.
#[test]
fn a_load_that_waits_for_nothing_is_refused() {
    let free = ["--service", "constant:ms=0", "--min-queries", "16", "--min-duration", "0.01"];
    let message = refusal(&[&["mobile"], &free[..]].concat());
    let reason = "its queries take no time, so that no number of them lasts 0.01 s";
    assert_eq!(message.matches(reason).count(), 6, "{message}");
    for load in ["single-stream", "multi-stream", "offline"] {
        let arguments = ["inference", "--task", "image_classification_heavy", "--load", load];
        let round = ["--round", "v4.1"];
        let message = refusal(&[&arguments[..], &round, &free].concat());
        assert!(message.contains(reason), "{load}: {message}");
    }
    for load in ["server", "multi-stream"] {
        let arguments = ["inference", "--task", "image_classification_heavy", "--load", load];
        let message = refusal(&[&arguments[..], &free].concat());
        let reason =
            "its queries take no time, so that no rate and no number of streams is the highest";
        assert!(message.contains(reason), "{load}: {message}");
    }
    let long = ["mobile", "--service", "constant:ms=0.000001", "--min-duration", "60"];
    assert!(refusal(&long).contains("more than 33554432 samples"));
}

/// The clock ends after 584 years; rates that need more are refused with the lowest allowed rate.
#[test]
fn tenants_that_take_centuries_are_refused() {
    let tenant = |rate: &str| format!("image_classification_heavy:qps={rate}");
    for (rate, more, expected) in [
        ("1e-9", &[][..], "allowed are rates from 3.247e-7 on"),
        (
            "1e-9",
            &["--min-duration", "1"],
            "allowed is one at which the queries come within a hundred years",
        ),
        ("1e-10", &[], "a number from 1e-9 to 1e9"),
    ] {
        let tenant = tenant(rate);
        let message = refusal(&[&["inference", "--tenant", &tenant][..], more].concat());
        assert!(message.contains(expected), "{rate}: {message}");
        assert!(!message.contains("never completes"), "{rate}: {message}");
    }
    let forever = ["inference", "--task", "image_classification_heavy", "--load", "offline"];
    let slow = ["--service", "constant:ms=9007199254", "--min-queries", "3000"];
    let message = refusal(&[&forever[..], &slow, &["--min-duration", "0"]].concat());
    assert!(message.contains("is not done within the 584 years of the clock"), "{message}");
}

/// `check` reports it before anything runs.
#[test]
fn a_task_named_like_a_file_of_results_is_refused_at_once() {
    let folder = tempdir().expect("a folder can be made");
    let suite =
        fs::read_to_string("scenarios/mlperf/mobile_v3.0.yaml").expect("it is in the repository");
    let path = folder.path().join("own.yaml");
    let path = path.to_str().expect("the path is UTF-8");
    for name in ["suite.csv", "mlperf.json", &"x".repeat(300)] {
        fs::write(path, suite.replace("super_resolution", name)).expect("written");
        let check = xrsim(&["check", path]).assert().code(1);
        let said = stdout(&check) + &stderr(&check);
        assert!(said.contains("is not a valid name of a task"), "{name}: {said}");
        let message = refusal(&["mobile", "--suite", path]);
        assert!(message.contains("is not a valid name of a task"), "{message}");
    }
}
