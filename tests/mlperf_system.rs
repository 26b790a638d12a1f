//! Accelerator systems as systems under test: queues, batches, several accelerators, and the command.

use std::sync::Arc;

use assert_cmd::Command;
use tempfile::tempdir;

use xrsim::config::{Catalog, Edition, Hardware};
use xrsim::cost::principled::Principled;
use xrsim::hardware::System;
use xrsim::load::LoadSettings;
use xrsim::mlperf::system::{Background, Batching, Bench, Tenant};
use xrsim::mlperf::{Library, LoadGen, Scenario, Settings, TestSettings, measure};
use xrsim::plan::EngineSettings;
use xrsim::schedule::Policy;
use xrsim::trace::Outcome;
use xrsim::units::SimSpan;

fn system(style: &str) -> Arc<System> {
    let mut catalog = Catalog::new();
    let platform = catalog.platform("paper").expect("it is embedded");
    let Ok(Hardware::Style(style)) = catalog.hardware(style) else { panic!("{style}") };
    Arc::new(style.instantiate(4096, &platform).expect("a system"))
}

/// MobileNet on `style`, with the first 100 ms of a usage scenario beside it if one is given.
fn bench(style: &str, batching: Batching, beside: Option<&str>) -> Bench {
    let mut catalog = Catalog::new();
    let network = catalog.model("mobilenet_v1").expect("it is embedded").network.clone();
    let background = beside.map(|name| Background {
        scenario: catalog.scenario(name, Edition::Paper).expect("it is embedded"),
        load: LoadSettings {
            duration: SimSpan::from_ms(100.0).expect("a time"),
            ..LoadSettings::default()
        },
    });
    let bound = SimSpan::from_ms(10.0).expect("a time");
    let tenants = vec![Tenant { network, batching, bound }];
    let policy = Policy::parse("fcfs").expect("it exists");
    let engine = EngineSettings::default();
    Bench::new(tenants, background.as_ref(), system(style), &Principled, policy, engine)
        .expect("it can run")
}

fn settings(scenario: Scenario, change: impl Fn(&mut TestSettings)) -> Settings {
    let mut requested = TestSettings::new(scenario);
    requested.min_duration_ms = 100;
    change(&mut requested);
    let library = Library { performance_samples: 64, total_samples: 64 };
    Settings::new(&requested, library, LoadGen::V6_0).expect("they are in range")
}

#[test]
fn a_stream_of_single_samples_takes_the_latency_of_each() {
    let bench = bench("A", Batching::NONE, None);
    let latency = bench.latency_of(1).expect("it runs");
    let settings = settings(Scenario::SingleStream, |it| {
        it.single_stream_expected_latency_ns = latency.ns();
    });
    let mut system = bench.start().expect("it starts");
    let run = measure(&settings, &mut system).expect("it ends").run;
    assert!(run.queries.iter().all(|query| query.latency() == latency));
    let back_to_back = run.queries.windows(2).all(|pair| pair[1].issued == pair[0].completed);
    assert!(back_to_back, "each follows on the completion of the one before");
}

/// Queries that come together fill batches up to the largest; what is left runs at once, since nothing
/// is held back.
#[test]
fn samples_that_wait_are_joined_up_to_the_largest_batch() {
    let batching = Batching { max: 4, wait: SimSpan::ZERO };
    let bench = bench("A", batching, None);
    let mut system = bench.start().expect("it starts");
    let settings = settings(Scenario::Offline, |it| {
        it.min_query_count = 10;
        it.min_duration_ms = 0;
    });
    measure(&settings, &mut system).expect("it ends");
    let trace = system.finish().trace;
    // Models are batches of 1, 2, 3 and 4 samples.
    let sizes: Vec<_> = trace.records().iter().map(|it| it.model.index() + 1).collect();
    assert_eq!(sizes, [4, 4, 2]);
}

/// At 20 queries a second no batch of 200 ever fills: the first sample waits for as long as it may.
#[test]
fn a_sample_is_held_back_for_as_long_as_it_may_be() {
    let wait = SimSpan::from_ms(5.0).expect("a time");
    let settings = settings(Scenario::Server, |it| {
        it.server_target_qps = 20.0;
        it.min_query_count = 10;
    });
    let first = |wait| {
        let bench = bench("A", Batching { max: 200, wait }, None);
        let mut system = bench.start().expect("it starts");
        let run = measure(&settings, &mut system).expect("it ends").run;
        run.queries[0].latency()
    };
    let at_once = first(SimSpan::ZERO);
    assert!(at_once < wait);
    assert!(first(wait) >= wait + at_once);
}

/// D has two accelerators of one kind: two samples take as long as one.
#[test]
fn offline_spreads_over_all_accelerators() {
    let bench = bench("D", Batching::NONE, None);
    let [one, two, three] = [1, 2, 3].map(|n| bench.latency_of(n).expect("it runs"));
    assert_eq!(one, two);
    assert_eq!(three, one + one);
    let energies = [1, 3].map(|n| bench.energy_of(n).expect("it runs").get());
    assert!((energies[1] - 3.0 * energies[0]).abs() <= 1e-12 * energies[1], "{energies:?}");
}

#[test]
fn a_usage_scenario_beside_the_queries_takes_its_share() {
    let settings = settings(Scenario::Server, |it| {
        it.server_target_qps = 300.0;
        it.min_query_count = 30;
    });
    let latencies = |beside| {
        let bench = bench("A", Batching::NONE, beside);
        let mut system = bench.start().expect("it starts");
        let performance = measure(&settings, &mut system).expect("it ends").performance;
        (performance.latency.mean, system.finish().trace)
    };
    let (alone, _) = latencies(None);
    let (beside, trace) = latencies(Some("VR_gaming"));
    assert!(beside > alone, "{beside:?} is not above {alone:?}");
    let executed = |it: &&xrsim::trace::Record| matches!(it.outcome, Outcome::Executed { .. });
    let frames = trace.records().iter().filter(executed).filter(|it| it.model.index() < 3);
    assert!(frames.count() > 0, "frames run beside queries");
}

fn xrsim(arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("xrsim").expect("the binary is built");
    command.arg("mlperf").args(arguments);
    command
}

fn refused(arguments: &[&str]) -> String {
    let assert = xrsim(arguments).assert().code(2);
    String::from_utf8(assert.get_output().stderr.clone()).expect("messages are UTF-8")
}

#[test]
fn a_test_leaves_the_summary_of_loadgen_and_a_row_a_query() {
    let folder = tempdir().expect("a folder can be made");
    let out = folder.path().to_str().expect("the path is UTF-8");
    let task = "image_classification_light";
    let one = ["inference", "--task", task, "--load", "single-stream", "--out", out];
    let assert = xrsim(&one).assert().success();
    let printed = String::from_utf8_lossy(&assert.get_output().stdout).into_owned();
    assert!(printed.is_ascii() && printed.contains("VALID"), "{printed}");
    let place = folder.path().join(task).join("single-stream");
    let summary = std::fs::read_to_string(place.join("mlperf_log_summary.txt")).expect("written");
    assert!(summary.contains("SUT name : A@4096"), "{summary}");
    assert!(summary.contains("Result is : VALID"), "{summary}");
    let queries = std::fs::read_to_string(place.join("queries.csv")).expect("written");
    assert!(queries.lines().count() > 1024);
    assert!(folder.path().join("suite.csv").exists());
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let cases: [(&[&str], &str); 6] = [
        (&["inference", "--round", "v9"], "no round named `v9`"),
        (&["inference", "--task", "image"], "no task named `image`"),
        (&["inference", "--load", "sever"], "no load named `sever`; did you mean `server`?"),
        (&["mobile", "--round", "v4.1"], "no tasks here for round v4.1"),
        (&["inference", "--load", "server", "--qps", "0"], "server_target_qps is 0; allowed is"),
        (&["inference", "--batch-wait", "-1"], "allowed is a number of ms >= 0"),
    ];
    for (arguments, expected) in cases {
        let message = refused(arguments);
        assert!(message.contains(expected), "{arguments:?}: {message}");
    }
}
