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

fn bed_of(style: &str, tenants: Vec<Tenant>, beside: Option<&str>) -> AcceleratorBed {
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

/// MobileNet on `style`, with a usage scenario in the background if one is given.
fn bed(style: &str, batching: Batching, beside: Option<&str>) -> AcceleratorBed {
    bed_of(style, vec![tenant("mobilenet_v1", batching)], beside)
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

/// Run of the engine, with batches in its trace.
fn run_of(bed: &AcceleratorBed, settings: &EffectiveSettings) -> AcceleratorRun<Measurement> {
    bed.run(settings, Traced::All).expect("it ends")
}

#[test]
fn a_stream_of_single_samples_takes_the_latency_of_each() {
    let bed = bed("A", Batching::NONE, None);
    let latency = bed.idle_query(1).expect("it runs").latency;
    let settings = settings(LoadScenario::SingleStream, |it| {
        it.single_stream_expected_latency_ns = latency.ns();
    });
    let run = run_of(&bed, &settings).queries.run;
    assert!(run.queries.iter().all(|query| query.latency() == latency));
    let back_to_back = run.queries.windows(2).all(|pair| pair[1].issued == pair[0].completed);
    assert!(back_to_back, "each follows on the completion of the one before");
}

/// Queries that arrive together fill batches up to the largest; the remaining samples run at once, because
/// none is held back.
#[test]
fn samples_that_wait_are_joined_up_to_the_largest_batch() {
    let bed = bed("A", Batching { max: 4, wait: SimSpan::ZERO }, None);
    let settings = settings(LoadScenario::Offline, |it| {
        it.min_query_count = 10;
        it.min_duration_ms = 0;
    });
    let trace = run_of(&bed, &settings).run.trace;
    let sizes: Vec<_> =
        (0..trace.records().len()).map(|id| trace.variant_of(RequestId::new(id)) + 1).collect();
    assert_eq!(sizes, [4, 4, 2]);
}

/// At 20 queries per second no batch of 200 is ever full: the first sample waits for the longest time.
#[test]
fn a_sample_is_held_back_for_as_long_as_it_may_be() {
    let wait = ms(5.0);
    let first = |wait| {
        let bed = bed("A", Batching { max: 200, wait }, None);
        run_of(&bed, &server(20.0, 10)).queries.run.queries[0].latency()
    };
    let at_once = first(SimSpan::ZERO);
    assert!(at_once < wait);
    assert!(first(wait) >= wait + at_once);
}

/// D has two equal accelerators: two samples take as long as one.
#[test]
fn offline_spreads_over_all_accelerators() {
    let bed = bed("D", Batching::NONE, None);
    let bursts = [1, 2, 3].map(|n| bed.idle_query(n).expect("it runs"));
    let [one, two, three] = bursts.each_ref().map(|it| it.latency);
    assert_eq!(one, two);
    assert_eq!(three, one + one);
    let energies = bursts.map(|it| it.energy.expect("it is known").get());
    assert!((energies[2] - 3.0 * energies[0]).abs() <= 1e-12 * energies[2], "{energies:?}");
}

/// On platform `headset`, accelerators that run at the same time share the bandwidth of DRAM, which a queue knows nothing of.
#[test]
fn samples_on_several_accelerators_share_dram() {
    let mut catalog = Catalog::new();
    let platform = catalog.platform("headset").expect("it is embedded");
    let Ok(Hardware::Style(style)) = catalog.hardware("J") else { panic!("a style") };
    let system = Arc::new(style.instantiate(4096, &platform).expect("a system"));
    assert!(system.shared_dram().is_some());
    let bed = AcceleratorBed::builder(system, &LoopNest)
        .tenant(tenant("mobilenet_v1", Batching::NONE))
        .build()
        .expect("it can run");
    let settings = settings(LoadScenario::Offline, |it| it.min_query_count = 100);
    let measured = bed.measure(&settings).expect("it ends").measurement;
    assert_eq!(measured, run_of(&bed, &settings).queries);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// A bed that is a single queue is measured without the engine. Every completion equals that of the
    /// engine; energies are sums in another order.
    #[test]
    fn one_queue_is_what_the_engine_plays(
        style in prop::sample::select(vec!["A", "B", "D", "H", "J", "M"]),
        max in 1u32..6,
        wait_ms in prop::sample::select(vec![0.0, 0.3, 4.0]),
        qps in 20.0..6000.0,
        scenario in prop::sample::select(vec![LoadScenario::Server, LoadScenario::Offline, LoadScenario::MultiStream]),
    ) {
        let bed = bed(style, Batching { max, wait: ms(wait_ms) }, None);
        let settings = settings(scenario, |it| {
            it.server_target_qps = qps;
            it.min_query_count = 300;
            it.multi_stream_expected_latency_ns = 100_000;
        });
        let by_engine = run_of(&bed, &settings);
        let measured = bed.measure(&settings).expect("it ends");
        prop_assert_eq!(&measured.measurement.run, &by_engine.queries.run);
        prop_assert_eq!(bed.passes(&settings).expect("it ends"), bed.sustains(&settings, &by_engine.queries.performance));
        let (found, expected) = (measured.energy.expect("it is known").get(), by_engine.energy.get());
        prop_assert!((found - expected).abs() <= 1e-9 * expected, "{} is not {}", found, expected);
    }
}

/// On a grid of whole milliseconds arrivals, completions and waits coincide: two samples every 2 ms on
/// accelerators of 3 ms, in the queue and in the engine.
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
        let bed =
            AcceleratorBed::builder(system, &costs).tenant(tenant).build().expect("it can run");
        let settings = settings(LoadScenario::MultiStream, |it| {
            it.multi_stream_expected_latency_ns = 2_000_000;
            it.multi_stream_samples_per_query = 7;
            it.min_query_count = 200;
        });
        let measured = bed.measure(&settings).expect("it ends").measurement;
        assert_eq!(measured.run, run_of(&bed, &settings).queries.run, "{latency} {wait}");
    }
}

/// Frames arrive for as long as queries do, and scores count frames only.
#[test]
fn a_usage_scenario_beside_the_queries_takes_its_share() {
    let settings = settings(LoadScenario::Server, |it| {
        it.server_target_qps = 310.0;
        it.min_duration_ms = 2000;
    });
    // Close to the 323 samples per second that A can serve.
    let bed = |beside| bed_of("A", vec![tenant("resnet50", Batching::NONE)], beside);
    let alone = run_of(&bed(None), &settings);
    let bed = bed(Some("VR_gaming"));
    let beside = run_of(&bed, &settings);
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
    let without = bed.background_alone(ms(2000.0)).expect("it runs").expect("there are frames");
    assert!(score.counts.requests > 0 && without.counts.requests > 0);
    assert!(score.score_executed_mean < without.score_executed_mean, "{score:?} {without:?}");
}

/// First come, first served applies to frames and queries: on one accelerator no query waits for a frame
/// that arrived later.
#[test]
fn frames_do_not_overtake_queries() {
    let bed = bed("A", Batching::NONE, Some("AR_gaming"));
    let trace = run_of(&bed, &server(100.0, 500)).run.trace;
    let mut runs: Vec<_> = trace
        .records()
        .iter()
        .filter_map(|it| match it.outcome {
            Outcome::Executed { start, .. } => Some((start, it.arrival, it.deadline, it.model)),
            _ => None,
        })
        .collect();
    runs.sort_unstable();
    let queries = bed.plan().scenario.models().len() - 1;
    for (index, &(start, arrival, _, model)) in runs.iter().enumerate() {
        if model.index() == queries {
            let overtakes = |it: &&(_, _, _, _)| it.1 > arrival && it.0 < start;
            assert_eq!(runs[..index].iter().find(overtakes), None, "{arrival:?}");
        }
    }
}

/// Test of a tenant over five seconds.
fn tenant_test(qps: f64) -> TenantTest {
    let mut settings = server(qps, 1);
    settings.min_duration = ms(5000.0);
    TenantTest { arrivals: Arrivals::Poisson(qps), settings }
}

/// A single tenant equals LoadGen's server to the nanosecond.
#[test]
fn a_tenant_alone_is_a_server() {
    let bed = bed("J", Batching { max: 3, wait: SimSpan::ZERO }, None);
    let test = tenant_test(400.0);
    let found = run_tenants(std::slice::from_ref(&test), 1.0, &bed, Traced::Load).expect("it ends");
    let expected = run_of(&bed, &test.settings);
    let queries = expected.queries.run.queries.iter();
    let queries: Vec<_> = queries.map(|query| (query.scheduled, query.completed)).collect();
    assert_eq!(found.queries[0].queries, queries);
    assert_eq!(found.queries[0].performance, expected.queries.performance);
}

/// Together with a slow network a fast one meets its bound only at far lower rates than alone, because it
/// waits for the slow one. Every tenant has its own energy.
#[test]
fn tenants_share_the_system() {
    let fast = || tenant("mobilenet_v1", Batching::NONE);
    let slow = tenant("resnet50", Batching::NONE);
    let both = bed_of("A", vec![fast(), slow], None);
    let tests = [tenant_test(50.0), tenant_test(20.0)];
    let together = run_tenants(&tests, 1.0, &both, Traced::Load).expect("they end").queries;
    let alone = bed_of("A", vec![fast()], None);
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
    let bed = bed_of("D", vec![fast(), fast()], None);
    let tests = [tenant_test(200.0), tenant_test(100.0)];
    let (factor, ()) = find_factor(&tests, &bed).expect("it ends").peak.expect("there is one");
    assert!(factor > 1.0);
    let at = |factor| run_tenants(&tests, factor, &bed, Traced::Load).expect("it ends").queries;
    assert!(at(factor).iter().all(|it| it.meets_constraint()));
    assert!(at(2.0 * factor).iter().any(|it| !it.meets_constraint()));
}
