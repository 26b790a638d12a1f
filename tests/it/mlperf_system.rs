//! Accelerator systems as systems under test: queues, batches, several accelerators and tenants.

use std::sync::Arc;

use proptest::prelude::*;

use xrsim::config::{Catalog, Edition, Hardware};
use xrsim::cost::loop_nest::LoopNest;
use xrsim::engine::Traced;
use xrsim::hardware::System;
use xrsim::ids::RequestId;
use xrsim::load::LoadSettings;
use xrsim::mlperf::benchmark::{
    AcceleratorBed, AcceleratorRun, Measurement, TenantTest, TestBed, find_factor, run_tenants,
};
use xrsim::mlperf::load::Arrivals;
use xrsim::mlperf::settings::{
    EffectiveSettings, LoadGenVersion, LoadScenario, QuerySampleLibrary, TestSettings,
};
use xrsim::mlperf::sut::{Background, Batching, Tenant};
use xrsim::trace::Outcome;
use xrsim::units::SimSpan;

fn ms(ms: f64) -> SimSpan {
    SimSpan::from_ms(ms).expect("a time")
}

fn system(style: &str) -> Arc<System> {
    let mut catalog = Catalog::new();
    let platform = catalog.platform("paper").expect("it is embedded");
    let Ok(Hardware::Style(style)) = catalog.hardware(style) else { panic!("{style}") };
    Arc::new(style.instantiate(4096, &platform).expect("a system"))
}

fn tenant(network: &str, batching: Batching) -> Tenant {
    let network = Catalog::new().model(network).expect("it is embedded").network.clone();
    Tenant { network, batching, relative_deadline: ms(10.0) }
}

fn bench_of(style: &str, tenants: Vec<Tenant>, beside: Option<&str>) -> AcceleratorBed {
    let background = beside.map(|name| Background {
        scenario: Catalog::new().scenario(name, Edition::Reference).expect("it is embedded"),
        load: LoadSettings::default(),
    });
    AcceleratorBed::builder(system(style), &LoopNest)
        .tenants(tenants)
        .background(background)
        .build()
        .expect("it can run")
}

/// MobileNet on `style`, with a usage scenario beside it if one is given.
fn bench(style: &str, batching: Batching, beside: Option<&str>) -> AcceleratorBed {
    bench_of(style, vec![tenant("mobilenet_v1", batching)], beside)
}

fn settings(scenario: LoadScenario, change: impl Fn(&mut TestSettings)) -> EffectiveSettings {
    let mut requested = TestSettings::new(scenario);
    requested.min_duration_ms = 100;
    change(&mut requested);
    let library = QuerySampleLibrary { performance_samples: 64, total_samples: 64 };
    EffectiveSettings::new(&requested, library, LoadGenVersion::V6_0).expect("they are in range")
}

fn server(qps: f64, queries: u64) -> EffectiveSettings {
    settings(LoadScenario::Server, |it| {
        it.server_target_qps = qps;
        it.server_target_latency_ns = 10_000_000;
        it.min_query_count = queries;
    })
}

/// The run of the engine, with batches in its trace.
fn played(bench: &AcceleratorBed, settings: &EffectiveSettings) -> AcceleratorRun<Measurement> {
    bench.run(settings, Traced::All).expect("it ends")
}

#[test]
fn a_stream_of_single_samples_takes_the_latency_of_each() {
    let bench = bench("A", Batching::NONE, None);
    let latency = bench.idle_query(1).expect("it runs").latency;
    let settings = settings(LoadScenario::SingleStream, |it| {
        it.single_stream_expected_latency_ns = latency.ns();
    });
    let run = played(&bench, &settings).queries.run;
    assert!(run.queries.iter().all(|query| query.latency() == latency));
    let back_to_back = run.queries.windows(2).all(|pair| pair[1].issued == pair[0].completed);
    assert!(back_to_back, "each follows on the completion of the one before");
}

/// Queries that come together fill batches up to the largest; what is left runs at once, since nothing
/// is held back.
#[test]
fn samples_that_wait_are_joined_up_to_the_largest_batch() {
    let bench = bench("A", Batching { max: 4, wait: SimSpan::ZERO }, None);
    let settings = settings(LoadScenario::Offline, |it| {
        it.min_query_count = 10;
        it.min_duration_ms = 0;
    });
    let trace = played(&bench, &settings).run.trace;
    let sizes: Vec<_> =
        (0..trace.records().len()).map(|id| trace.batch_of(RequestId::new(id))).collect();
    assert_eq!(sizes, [4, 4, 2]);
}

/// At 20 queries a second no batch of 200 ever fills: the first sample waits for as long as it may.
#[test]
fn a_sample_is_held_back_for_as_long_as_it_may_be() {
    let wait = ms(5.0);
    let first = |wait| {
        let bench = bench("A", Batching { max: 200, wait }, None);
        played(&bench, &server(20.0, 10)).queries.run.queries[0].latency()
    };
    let at_once = first(SimSpan::ZERO);
    assert!(at_once < wait);
    assert!(first(wait) >= wait + at_once);
}

/// D has two accelerators of one kind: two samples take as long as one.
#[test]
fn offline_spreads_over_all_accelerators() {
    let bench = bench("D", Batching::NONE, None);
    let bursts = [1, 2, 3].map(|n| bench.idle_query(n).expect("it runs"));
    let [one, two, three] = bursts.each_ref().map(|it| it.latency);
    assert_eq!(one, two);
    assert_eq!(three, one + one);
    let energies = bursts.map(|it| it.energy.expect("it is known").get());
    assert!((energies[2] - 3.0 * energies[0]).abs() <= 1e-12 * energies[2], "{energies:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// A bench that is one queue is measured without the engine: every query is done when the engine
    /// says. Energies are sums in another order.
    #[test]
    fn one_queue_is_what_the_engine_plays(
        style in prop::sample::select(vec!["A", "B", "D", "H", "J", "M"]),
        max in 1u32..6,
        wait_ms in prop::sample::select(vec![0.0, 0.3, 4.0]),
        qps in 20.0..6000.0,
        scenario in prop::sample::select(vec![LoadScenario::Server, LoadScenario::Offline, LoadScenario::MultiStream]),
    ) {
        let bench = bench(style, Batching { max, wait: ms(wait_ms) }, None);
        let settings = settings(scenario, |it| {
            it.server_target_qps = qps;
            it.min_query_count = 300;
            it.multi_stream_expected_latency_ns = 100_000;
        });
        let by_engine = played(&bench, &settings);
        let measured = bench.measure(&settings).expect("it ends");
        prop_assert_eq!(&measured.measurement.run, &by_engine.queries.run);
        prop_assert_eq!(bench.passes(&settings).expect("it ends"), bench.sustains(&settings, &by_engine.queries.performance));
        let (found, expected) = (measured.energy.expect("it is known").get(), by_engine.energy.get());
        prop_assert!((found - expected).abs() <= 1e-9 * expected, "{} is not {}", found, expected);
    }
}

/// A grid of whole milliseconds, where arrivals, completions and waits meet: two samples every 2 ms on
/// accelerators of 3 ms, by the queue and by the engine.
#[test]
fn ties_are_the_same_in_one_queue_and_in_the_engine() {
    let network = Catalog::new().model("mobilenet_v1").expect("it is embedded").network.clone();
    for (latency, wait) in [(3.0, 0.0), (3.0, 2.0), (2.0, 4.0), (0.0, 0.0), (0.0, 2.0)] {
        let system = system("D");
        let mut table = String::from("network,accelerator,latency_ms,energy_mj\n");
        for accelerator in system.accelerators() {
            table += &format!("{},{},{latency},1\n", network.name(), accelerator.name);
        }
        let source = xrsim::config::Source::new("costs.csv", table);
        let costs = xrsim::config::cost_csv::parse(&source).expect("it is a table");
        let tenant = Tenant {
            network: network.clone(),
            batching: Batching { max: 1, wait: ms(wait) },
            relative_deadline: ms(10.0),
        };
        let bench =
            AcceleratorBed::builder(system, &costs).tenant(tenant).build().expect("it can run");
        let settings = settings(LoadScenario::MultiStream, |it| {
            it.multi_stream_expected_latency_ns = 2_000_000;
            it.multi_stream_samples_per_query = 7;
            it.min_query_count = 200;
        });
        let measured = bench.measure(&settings).expect("it ends").measurement;
        assert_eq!(measured.run, played(&bench, &settings).queries.run, "{latency} {wait}");
    }
}

/// The frames go on for as long as the queries do, and the scores are theirs alone.
#[test]
fn a_usage_scenario_beside_the_queries_takes_its_share() {
    let settings = settings(LoadScenario::Server, |it| {
        it.server_target_qps = 310.0;
        it.min_duration_ms = 2000;
    });
    // Close to the 323 samples per second that A can serve.
    let bench = |beside| bench_of("A", vec![tenant("resnet50", Batching::NONE)], beside);
    let alone = played(&bench(None), &settings);
    let bench = bench(Some("VR_gaming"));
    let beside = played(&bench, &settings);
    let mean = |it: &AcceleratorRun<Measurement>| it.queries.performance.latency.mean;
    assert!(mean(&beside) > mean(&alone), "{:?} is not above {:?}", mean(&beside), mean(&alone));
    assert_eq!(alone.background, None);
    let end = beside.queries.performance.last_completed;
    let is_frame = |it: &&xrsim::trace::Record| it.model.index() < 3;
    let frames = beside.run.trace.records().iter().filter(is_frame);
    let executed = frames.filter(|it| matches!(it.outcome, Outcome::Executed { .. }));
    let last = executed.map(|it| it.arrival).max().expect("some run");
    assert!(last + ms(100.0) > end, "frames came until {last:?}, queries until {end:?}");
    let score = beside.background.expect("there are frames");
    let without = bench.background_alone(ms(2000.0)).expect("it runs").expect("there are frames");
    assert!(score.counts.requests > 0 && without.counts.requests > 0);
    assert!(score.score_executed_mean < without.score_executed_mean, "{score:?} {without:?}");
}

/// First come, first served means frames and queries alike: no query waits for a frame that came later,
/// where there is one accelerator.
#[test]
fn frames_do_not_overtake_queries() {
    let bench = bench("A", Batching::NONE, Some("AR_gaming"));
    let trace = played(&bench, &server(100.0, 500)).run.trace;
    let mut runs: Vec<_> = trace
        .records()
        .iter()
        .filter_map(|it| match it.outcome {
            Outcome::Executed { start, .. } => Some((start, it.arrival, it.deadline, it.model)),
            _ => None,
        })
        .collect();
    runs.sort_unstable();
    let queries = bench.plan().scenario.models().len() - 1;
    for (index, &(start, arrival, _, model)) in runs.iter().enumerate() {
        if model.index() == queries {
            let overtakes = |it: &&(_, _, _, _)| it.1 > arrival && it.0 < start;
            assert_eq!(runs[..index].iter().find(overtakes), None, "{arrival:?}");
        }
    }
}

/// Five seconds of queries.
fn tenant_test(qps: f64) -> TenantTest {
    let mut settings = server(qps, 1);
    settings.min_duration = ms(5000.0);
    TenantTest { arrivals: Arrivals::Poisson(qps), settings }
}

/// A tenant alone is LoadGen's server, to the nanosecond.
#[test]
fn a_tenant_alone_is_a_server() {
    let bench = bench("J", Batching { max: 3, wait: SimSpan::ZERO }, None);
    let test = tenant_test(400.0);
    let found =
        run_tenants(std::slice::from_ref(&test), 1.0, &bench, Traced::Load).expect("it ends");
    let expected = played(&bench, &test.settings);
    let queries = expected.queries.run.queries.iter();
    let queries: Vec<_> = queries.map(|query| (query.scheduled, query.completed)).collect();
    assert_eq!(found.queries[0].queries, queries);
    assert_eq!(found.queries[0].performance, expected.queries.performance);
}

/// Beside a slow network a fast one keeps its bound at far lower rates than alone, as it waits for the
/// slow one. Energies are each tenant's own.
#[test]
fn tenants_share_the_system() {
    let fast = || tenant("mobilenet_v1", Batching::NONE);
    let slow = tenant("resnet50", Batching::NONE);
    let both = bench_of("A", vec![fast(), slow], None);
    let tests = [tenant_test(50.0), tenant_test(20.0)];
    let together = run_tenants(&tests, 1.0, &both, Traced::Load).expect("they end").queries;
    let alone = bench_of("A", vec![fast()], None);
    let alone = &run_tenants(&tests[..1], 1.0, &alone, Traced::Load).expect("it ends").queries[0];
    assert_eq!(together[0].queries.len(), alone.queries.len(), "its stream does not change");
    assert!(together[0].performance.latency.mean > alone.performance.latency.mean);
    let per_query =
        |it: &xrsim::mlperf::benchmark::TenantResult| it.energy.get() / it.queries.len() as f64;
    let difference = per_query(&together[0]) - per_query(alone);
    assert!(difference.abs() <= 1e-9 * per_query(alone));
    assert!(per_query(&together[1]) > per_query(&together[0]));
}

#[test]
fn the_highest_load_of_tenants_keeps_every_bound() {
    let fast = || tenant("mobilenet_v1", Batching::NONE);
    let bench = bench_of("D", vec![fast(), fast()], None);
    let tests = [tenant_test(200.0), tenant_test(100.0)];
    let (factor, ()) = find_factor(&tests, &bench).expect("it ends").peak.expect("there is one");
    assert!(factor > 1.0);
    let at = |factor| run_tenants(&tests, factor, &bench, Traced::Load).expect("it ends").queries;
    assert!(at(factor).iter().all(|it| it.meets_constraint()));
    assert!(at(2.0 * factor).iter().any(|it| !it.meets_constraint()));
}
