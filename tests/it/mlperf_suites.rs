//! Suites of MLPerf: the tables of the papers, and messages about invalid files.

use xrsim::config::Catalog;
use xrsim::mlperf::rules::{Benchmark, Load, QualityTarget, Suite, Test};
use xrsim::units::SimSpan;

fn suite(name: &str) -> Suite {
    Catalog::new().mlperf_suite(name).unwrap_or_else(|error| panic!("{error}"))
}

fn ms(ms: f64) -> SimSpan {
    SimSpan::from_ms(ms).unwrap()
}

/// Task and load of every test, one in a line.
fn names(suite: &Suite) -> Vec<String> {
    let name = |test: &Test| format!("{} {}", test.task.name, test.load.name());
    suite.tests.iter().map(name).collect()
}

/// Task, network, interval [ms] and rate [1/s], bound [ms], percentile and queries of both, quality of
/// FP32 and share of it [%]: Tables I, III and V, and section III-D, of the paper on MLPerf Inference;
/// rates of LoadGen's configuration.
type Row = (&'static str, &'static str, [f64; 2], f64, f64, u64, f64, f64);

#[rustfmt::skip]
const INFERENCE: [Row; 5] = [
    ("image_classification_heavy", "resnet50_v1.5_224", [50.0, 20.0], 15.0, 0.99, 270_336, 76.456, 99.0),
    ("image_classification_light", "mobilenet_v1_1.0_224", [50.0, 20.0], 10.0, 0.99, 270_336, 71.676, 98.0),
    ("object_detection_heavy", "ssd_resnet34_1200", [66.0, 15.0], 100.0, 0.99, 270_336, 0.20, 99.0),
    ("object_detection_light", "ssd_mobilenet_v1_300", [50.0, 20.0], 10.0, 0.99, 270_336, 0.22, 99.0),
    ("machine_translation", "gnmt_ts25_tt25_beam10", [100.0, 10.0], 250.0, 0.97, 90_112, 23.9, 99.0),
];

#[test]
fn inference_is_that_of_the_paper() {
    let suite = suite("inference_v0.5");
    assert_eq!((suite.benchmark, &*suite.round), (Benchmark::Inference, "v0.5"));
    assert_eq!((suite.tests.len(), suite.tasks().len(), suite.cooldown), (20, 5, None));
    for (tests, row) in suite.tests.chunks(4).zip(INFERENCE) {
        let (name, network, multi_stream, bound, percentile, queries, fp32, percent) = row;
        let [single, multi, server, offline] = tests else { panic!("four tests a task") };
        for test in tests {
            assert_eq!((&*test.task.name, test.task.network.name()), (name, network));
            assert_eq!((test.min_duration, test.is_optional), (ms(60_000.0), false));
        }
        assert_eq!(single.task.quality.target, QualityTarget::OfFp32 { fp32, percent });
        assert_eq!(single.load, Load::SingleStream);
        assert_eq!((single.percentile, single.min_count), (Some(0.9), 1024));
        let [interval, queries_per_s] = multi_stream;
        assert_eq!(multi.load, Load::MultiStream { interval: ms(interval), queries_per_s });
        assert_eq!(server.load, Load::Server { bound: ms(bound), runs: 5 });
        for test in [multi, server] {
            assert_eq!((test.percentile, test.min_count), (Some(percentile), queries), "{name}");
        }
        assert_eq!(offline.load, Load::Offline);
        assert_eq!((offline.percentile, offline.min_count), (None, 24_576));
    }
}

/// A network, the quality of FP32, and the share of it [%].
type Goal = (&'static str, f64, f64);

/// Rounds with their networks in order of test: Table 1 of the paper on MLPerf Mobile, and the page of
/// v3.0.
#[rustfmt::skip]
const MOBILE: [(&str, [Goal; 4]); 3] = [
    ("mobile_v0.7", [
        ("mobilenet_edgetpu_1.0_224", 76.19, 98.0),
        ("ssd_mobilenet_v2_300", 24.4, 93.0),
        ("deeplabv3plus_mnv2_512", 54.8, 97.0),
        ("mobilebert_seq384", 93.98, 93.0),
    ]),
    ("mobile_v1.0", [
        ("mobilenet_edgetpu_1.0_224", 76.19, 98.0),
        ("mobiledet_edgetpu_ssd_320", 28.5, 95.0),
        ("deeplabv3plus_mnv2_512", 54.8, 97.0),
        ("mobilebert_seq384", 93.98, 93.0),
    ]),
    ("mobile_v3.0", [
        ("mobilenet_edgetpu_1.0_224", 76.19, 98.0),
        ("mobiledet_edgetpu_ssd_320", 28.5, 95.0),
        ("mosaic_512", 59.8, 96.0),
        ("mobilebert_seq384", 90.5, 93.0),
    ]),
];

#[test]
fn mobile_is_that_of_the_paper_and_the_page() {
    for (name, tasks) in MOBILE {
        let suite = suite(name);
        assert_eq!(suite.benchmark, Benchmark::Mobile);
        for (test, (network, fp32, percent)) in suite.tests.iter().zip(tasks) {
            assert_eq!(test.task.network.name(), network, "{name}");
            assert_eq!(
                test.task.quality.target,
                QualityTarget::OfFp32 { fp32, percent },
                "{network}"
            );
            assert_eq!((test.load, test.percentile), (Load::SingleStream, Some(0.9)));
            assert_eq!((test.min_count, test.min_duration), (1024, ms(60_000.0)));
            assert!(!test.is_optional);
        }
        let cooldown = suite.cooldown.unwrap();
        assert_eq!(cooldown.max_between_tests, ms(300_000.0));
        assert_eq!(cooldown.between_runs, ms(600_000.0));
    }
    // The text prints the target that the table gives as 93 % of 24.4.
    let v07 = suite("mobile_v0.7");
    assert_eq!((v07.tests[1].task.quality.target.value() * 10.0).round() / 10.0, 22.7);
}

/// Classification runs offline, too, after all other tests.
#[test]
fn offline_classification_is_the_last_test_and_optional() {
    for name in ["mobile_v0.7", "mobile_v1.0", "mobile_v2.0", "mobile_v3.0"] {
        let suite = suite(name);
        let (last, others) = suite.tests.split_last().unwrap();
        assert_eq!((last.load, last.min_count, last.is_optional), (Load::Offline, 24_576, true));
        assert!(std::sync::Arc::ptr_eq(&last.task, &others[0].task), "tests share their task");
        assert_eq!(others.len(), suite.tasks().len());
    }
}

#[test]
fn super_resolution_takes_25_samples_and_an_absolute_target() {
    let suite = suite("mobile_v3.0");
    let test = &suite.tests[4];
    assert_eq!((&*test.task.name, test.min_count), ("super_resolution", 25));
    assert_eq!(test.task.performance_samples, 25);
    assert_eq!(test.task.quality.target, QualityTarget::Absolute(33.0));
    let samples: Vec<_> = suite.tasks().iter().map(|task| task.performance_samples).collect();
    assert_eq!(samples, [1024, 256, 256, 10_833, 25]);
}

#[test]
fn every_suite_goes_by_name_and_says_what_is_not_verified() {
    let mut catalog = Catalog::new();
    let names = catalog.names(xrsim::config::Kind::Mlperf);
    let known = ["inference_v0.5", "mobile_v0.7", "mobile_v1.0", "mobile_v2.0", "mobile_v3.0"];
    assert_eq!(names, known);
    for name in names {
        let suite = catalog.mlperf_suite(&name).unwrap();
        assert_eq!(*suite.name, *name);
        assert!(!suite.deviations.is_empty(), "{name}");
    }
    assert!(suite("mobile_v2.0").deviations[0].starts_with("Unverified."));
    let error = catalog.mlperf_suite("mobile_v4.0").unwrap_err().to_string();
    assert!(
        error.contains("no suite of MLPerf named `mobile_v4.0`; did you mean `mobile_v"),
        "{error}"
    );
}

/// Suite of one task with these lines for its loads, and more keys.
fn file(loads: &str, task: &str, more: &str) -> String {
    format!(
        "mlperf:
  name: mine
  benchmark: inference
  round: v9
  loads: {{{loads}}}
{more}  tasks:
    - name: one
      title: One
      network: resnet50
      dataset: some
      input: small
      quality: {{metric: accuracy, target: 1}}
      performance_samples: 10
      loads: {{{task}}}
"
    )
}

fn read(text: &str) -> Result<Suite, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("suite.yaml");
    std::fs::write(&path, text).unwrap();
    let suite = Catalog::new().mlperf_suite(path.to_str().unwrap());
    suite.map_err(|error| error.to_string())
}

const SERVER: &str = "server: {percentile: 99, min_queries: 10, bound_ms: 1.5}";

#[test]
fn a_task_says_what_its_suite_does_not_and_overrides_it() {
    let suite =
        read(&file(SERVER, "server: {bound_ms: 2, runs: 3}, offline: {min_samples: 7}", ""));
    let suite = suite.unwrap();
    assert_eq!(names(&suite), ["one server", "one offline"]);
    assert_eq!(suite.tests[0].load, Load::Server { bound: ms(2.0), runs: 3 });
    assert_eq!((suite.tests[0].percentile, suite.tests[0].min_count), (Some(0.99), 10));
    assert_eq!((suite.tests[1].min_count, suite.tests[1].min_duration), (7, SimSpan::ZERO));
}

#[test]
fn tests_run_task_by_task_or_in_the_order_given() {
    let loads = "server: {}, offline: {min_samples: 7}";
    let order = "  order: [{task: one, load: offline}, {task: one, load: server}]\n";
    assert_eq!(names(&read(&file(SERVER, loads, order)).unwrap()), ["one offline", "one server"]);
}

/// Checks that reading `text` fails with `message` at the first place of `at`.
fn refused(text: &str, at: &str, message: &str) {
    let error = read(text).unwrap_err();
    assert!(error.contains(message), "`{message}` is not in\n{error}");
    let before = &text[..text.find(at).expect("the place is in the text")];
    let column = before.len() - before.rfind('\n').map_or(0, |newline| newline + 1) + 1;
    let place = format!("suite.yaml:{}:{column}:", before.lines().count());
    assert!(error.contains(&place), "{place} is not in\n{error}");
}

/// Results have a folder for each task besides files of their own.
#[test]
fn names_that_no_folder_can_have_are_refused() {
    let named = |name: &str| {
        file("", "single_stream: {percentile: 90, min_queries: 9}", "").replacen(
            "name: one",
            &format!("name: {name}"),
            1,
        )
    };
    for name in [
        "suite.csv",
        "Suite.CSV",
        "mlperf.json",
        "server_to_offline.svg",
        "tenants.csv",
        "t.",
        ".t",
        "a/b",
    ] {
        let error = read(&named(name)).unwrap_err();
        assert!(error.contains("is not a valid name of a task"), "{name}: {error}");
    }
    let long = "t".repeat(201);
    let error = read(&named(&long)).unwrap_err();
    assert!(error.contains("at most 200 characters; this one has 201"), "{error}");
    read(&named(&long[1..])).unwrap();
    read(&named("suite.csv.1")).unwrap();
}

#[test]
fn loads_that_lack_something_or_are_out_of_range_are_refused() {
    let own = |text: &str| file("", text, "");
    refused(
        &own("server: {bound_ms: 1, percentile: 99}"),
        "{bound_ms",
        "`server` lacks the key `min_queries`, and so do the `loads` of the suite",
    );
    refused(&own("").replace("loads: {}\n  tasks", "tasks"), "{}", "at least one load");
    refused(&own("sever: {}"), "sever", "did you mean `server`?");
    refused(&file(SERVER, "server: {bound_s: 2}", ""), "bound_s", "give the value as `bound_ms`");
    refused(&own("server: {bound_ms: 0}"), "0}", "a time from 0.000001 to 9007199254 ms");
    refused(&own("offline: {min_samples: 0}"), "0}", "from 1 to 4294967296");
    for percentile in ["0", "100", "-1", "nan", "x"] {
        let loads = format!("single_stream: {{percentile: {percentile}}}");
        let at = format!("{percentile}}}");
        refused(&file(&loads, "offline: {min_samples: 1}", ""), &at, "above 0 and below 100");
    }
}

#[test]
fn tasks_that_lead_nowhere_or_cannot_be_told_apart_are_refused() {
    let good = file(SERVER, "server: {}", "");
    refused(&good.replace("resnet50", "resnet51"), "resnet51", "did you mean `resnet50`?");
    let second = "    - name: one
      title: One
      network: edsr
      dataset: some
      input: small
      quality: {metric: F1, fp32: 1}
      performance_samples: 10
      loads: {server: {}}
";
    let lacking = format!("{good}{second}");
    refused(&lacking, "{metric: F1", "a quality target lacks the key `percent_of_fp32`");
    // The first `one` is a valid name; the second follows a title.
    let twice = lacking.replace("fp32: 1", "target: 1").replacen("name: one\n", "name:  one\n", 1);
    refused(&twice, "one\n      title: One\n      network: edsr", "a second task named `one`");
}

#[test]
fn an_order_has_every_test_once() {
    let order = |tests: &str| file(SERVER, "server: {}", &format!("  order: [{tests}]\n"));
    refused(&order("{task: two, load: server}"), "two", "no task named `two`");
    refused(&order("{task: one, load: sever}"), "sever}", "`single-stream` or");
    refused(&order("{task: one, load: offline}"), "offline", "one has no load `offline`");
    let twice = "{task: one, load: server}, {load: server, task: one}";
    refused(&order(twice), "{load: server", "listed before");
    let lacking = file(
        SERVER,
        "server: {}, offline: {min_samples: 1}",
        "  order: [{task: one, load: server}]\n",
    );
    refused(&lacking, "one\n", "`order` lacks the test of one under offline");
}
