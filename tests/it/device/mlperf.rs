//! Load tests of MLPerf on a device.

use std::sync::Arc;

use super::points;
use crate::support::binary::{output, refused};

use tempfile::tempdir;
use xrsim::config::{Catalog, Edition, Hardware};
use xrsim::cost::loop_nest::LoopNest;
use xrsim::device::{Item, Stop};
use xrsim::engine::Traced;
use xrsim::hardware::device::{Battery, DramPower, Gate, LeakageAmount, TripAction};
use xrsim::hardware::{Device, System};
use xrsim::mlperf::benchmark::{
    AcceleratorBed, TenantTest, TestBed, TestOptions, TestRun, run_tenants, run_test,
};
use xrsim::mlperf::load::Arrivals;
use xrsim::mlperf::logs::render_summary;
use xrsim::mlperf::rules::Round;
use xrsim::mlperf::settings::{
    EffectiveSettings, LoadGenVersion, LoadScenario, QuerySampleLibrary, TestSettings,
};
use xrsim::mlperf::sut::{Background, Batching, DeviceRun, Tenant};
use xrsim::schedule::Policy;
use xrsim::units::SimSpan;

const MS: u64 = 1_000_000;

fn ms(ms: f64) -> SimSpan {
    SimSpan::from_ms(ms).expect("a time")
}

fn system(style: &str, pes: u32) -> Arc<System> {
    let mut catalog = Catalog::new();
    let platform = catalog.platform("paper").expect("it is embedded");
    let Ok(Hardware::Style(style)) = catalog.hardware(style) else { panic!("{style}") };
    Arc::new(style.instantiate(pes, &platform).expect("a system"))
}

fn tenant(batching: Batching) -> Tenant {
    let network = Catalog::new().model("mobilenet_v1").expect("it is embedded").network.clone();
    Tenant { network, batching, relative_deadline: ms(10.0) }
}

/// MobileNet on `style` with 4,096 PEs.
fn bed(
    style: &str,
    device: Option<Device>,
    scheduler: &str,
    beside: Option<&str>,
) -> AcceleratorBed {
    let background = beside.map(|name| {
        let scenario = Catalog::new().scenario(name, Edition::Reference);
        Background::new(scenario.expect("it is embedded"), 0)
    });
    AcceleratorBed::builder(system(style, 4096), &LoopNest)
        .tenant(tenant(Batching::NONE))
        .background(background)
        .scheduler(Policy::parse(scheduler).expect("a policy"))
        .device(device.map(Arc::new))
        .build()
        .expect("it can run")
}

fn settings(
    scenario: LoadScenario,
    loadgen: LoadGenVersion,
    change: impl Fn(&mut TestSettings),
) -> EffectiveSettings {
    let mut requested = TestSettings::new(scenario);
    (requested.min_duration_ms, requested.min_query_count) = (0, 200);
    change(&mut requested);
    let library = QuerySampleLibrary { performance_samples: 64, total_samples: 64 };
    EffectiveSettings::new(&requested, library, loadgen).expect("they are in range")
}

/// Every load, at 200 queries per second where it has a rate: of the last LoadGen, and of the one with fixed intervals.
fn loads() -> Vec<EffectiveSettings> {
    let of = |(scenario, loadgen)| {
        settings(scenario, loadgen, |it| {
            it.server_target_qps = 200.0;
            it.server_target_latency_ns = 20 * MS;
            it.multi_stream_target_qps = 200.0;
            it.multi_stream_samples_per_query = 2;
        })
    };
    let scenarios = [
        (LoadScenario::SingleStream, LoadGenVersion::V6_0),
        (LoadScenario::MultiStream, LoadGenVersion::V6_0),
        (LoadScenario::MultiStream, LoadGenVersion::V0_5),
        (LoadScenario::Server, LoadGenVersion::V6_0),
        (LoadScenario::Offline, LoadGenVersion::V6_0),
    ];
    scenarios.map(of).into()
}

/// 100 mW of leakage and 20 mW of idling for 1,024 PEs at one point, gated after 2 ms, 1 W of base power.
fn leaky() -> Device {
    let mut device = Device {
        dram: DramPower { active_mw: 136.5, idle_mw: 25.14 },
        base_mw: 1000.0,
        ..Device::default()
    };
    let supply = &mut device.accelerators;
    supply.leakage.amount = LeakageAmount::PerPes(100.0);
    supply.idle_mw_per_1024_pes = 20.0;
    supply.gate = Some(Gate { after: ms(2.0), left: 0.05, wake: ms(0.2), wake_uj: 57.0 });
    device
}

fn headset() -> Device {
    Device::clone(&Catalog::new().device("headset").expect("it is embedded"))
}

/// `device` with a battery of this energy.
fn charged(device: Device, joules: f64) -> Device {
    let battery = Battery { wh: joules / 3600.0, efficiency: 1.0, peukert: None };
    Device { battery: Some(battery), ..device }
}

fn device_of(run: &TestRun) -> &DeviceRun {
    run.device.as_ref().expect("there is a device")
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{found} in place of {expected}");
}

/// Oracle A1 of a device that takes nothing: every query, and the energy to the last bit. `edf` is played by the engine
/// without a device too, so that energies are summed in the same order.
#[test]
fn a_device_that_takes_nothing_changes_nothing() {
    for style in ["A", "J"] {
        for beside in [None, Some("AR_gaming")] {
            let [with, without] =
                [Some(Device::default()), None].map(|device| bed(style, device, "edf", beside));
            for settings in loads() {
                let [found, expected] =
                    [&with, &without].map(|bed| bed.measure(&settings).expect("it ends"));
                assert_eq!(found.measurement, expected.measurement);
                assert_eq!(found.background, expected.background);
                assert!(found.device.is_some() && expected.device.is_none());
                if beside.is_none() {
                    assert_eq!(found.energy, expected.energy);
                }
            }
        }
    }
}

/// The same of the program, with the shortcut of one queue in the run without a device. The energy of multi-stream is left
/// out: that shortcut multiplies the energy of a query, in place of a sum.
#[test]
fn the_program_prints_the_same_on_a_device_that_takes_nothing() {
    let folder = tempdir().expect("a folder can be made");
    let file = folder.path().join("null.yaml");
    std::fs::write(&file, "device:\n  name: null_device\n").expect("it can be written");
    let file = file.to_str().expect("the path is UTF-8");
    let test = [
        "mlperf",
        "inference",
        "--task",
        "image_classification_light",
        "--load",
        "single-stream,server,offline",
        "--min-duration",
        "1",
        "--min-queries",
        "300",
        "--format",
        "csv",
    ];
    assert_eq!(output(&[&test[..], &["--device", file]].concat()), output(&test));
}

/// Queries of LoadGen v0.5 are issued every 10 ms, the first one after 10 ms, and take t < 2 ms. The accelerator runs for
/// n t of the 10 n ms + t until the last one is done. It is gated 2 ms after time 0 and after each query but the last one,
/// and every query begins with 0.2 ms in which it wakes up.
#[test]
fn the_account_of_a_stream_can_be_computed_by_hand() {
    let query = bed("A", None, "fcfs", None).idle_query(1).expect("it runs");
    let (t, mj) = (query.latency.as_ms() + 0.2, query.energy.expect("it is known").get());
    let settings = settings(LoadScenario::MultiStream, LoadGenVersion::V0_5, |it| {
        it.multi_stream_target_qps = 100.0;
        it.multi_stream_samples_per_query = 1;
        it.min_query_count = 50;
    });
    let run = bed("A", Some(leaky()), "fcfs", None).measure(&settings).expect("it ends");
    let n = run.measurement.performance.queries as f64;
    assert_eq!(run.measurement.end().as_ms(), 10.0 * n + t);
    // 4,096 PEs leak 400 mW and idle at 80 mW; mW times ms is uJ.
    let ledger = &device_of(&run).ledger;
    let running = n * t;
    let idle = n * 2.0;
    let gated = 10.0 * n + t - running - idle;
    let expected = [
        (Item::Dynamic, n * mj * 1e3),
        (Item::Moved, 0.0),
        (Item::Wake, n * 57.0),
        (Item::LeakRunning, 400.0 * running),
        (Item::Idle, 480.0 * idle),
        (Item::Gated, 0.05 * 400.0 * gated),
        (Item::DramBackground, 136.5 * running + 25.14 * (idle + gated)),
        (Item::Base, 1000.0 * (10.0 * n + t)),
    ];
    for (item, uj) in expected {
        close(ledger.microjoules(item), uj);
    }
    let total: f64 = expected.iter().map(|(_, uj)| uj / 1e3).sum();
    close(run.energy.expect("it is known").get(), total);
}

/// A query follows on the one before, so that the accelerator never idles: a query takes its energy, leakage for its time,
/// and the background and base power for that time.
#[test]
fn energy_per_stream_has_leakage_and_base_power() {
    let mobile = Catalog::new().mlperf_suite("inference_v0.5").expect("it is embedded");
    let test = mobile.test("image_classification_light", LoadScenario::SingleStream);
    let test = test.expect("the suite has it");
    let mut options = TestOptions::new(Round::find("v0.5").expect("a round"));
    (options.min_duration, options.min_queries) = (Some(SimSpan::ZERO), Some(300));
    let [with, without] = [Some(leaky()), None]
        .map(|device| run_test(test, &options, &bed("A", device, "fcfs", None)).expect("it ends"));
    let t = without.performance().latency.max.as_ms();
    assert_eq!(with.performance().latency, without.performance().latency);
    let [of_device, alone] =
        [&with, &without].map(|it| it.energy_per_stream().expect("it is a stream").get());
    close(of_device, alone + (400.0 + 136.5 + 1000.0) * t / 1e3);
    close(with.mean_power_w().expect("it takes time"), of_device / t);
}

#[test]
fn items_sum_to_the_energy_of_a_test() {
    let governed = ["fcfs", "edf:governor=slack,granularity=layer", "edf:governor=race"];
    for scheduler in governed {
        for beside in [None, Some("AR_gaming")] {
            let bed = bed("J", Some(headset()), scheduler, beside);
            for settings in loads() {
                let run = bed.measure(&settings).expect("it ends");
                let DeviceRun { ledger, body } = device_of(&run);
                let items: f64 = Item::ALL.iter().map(|it| ledger.microjoules(it.0) / 1e3).sum();
                close(run.energy.expect("it is known").get(), items);
                let drawn: f64 = body.drawn_j()[..body.drawn_j().len() - 1].iter().sum();
                close(drawn * 1e3, items);
                assert_eq!(ledger.duration().ns(), run.measurement.end().ns());
            }
        }
    }
}

/// At 700 MHz a query takes longer, and its layers less energy.
#[test]
fn a_governor_chooses_the_point_of_queries() {
    let stream = &loads()[0];
    let mut device = leaky();
    device.accelerators.points = Some(points(&[(700.0, 0.7), (1000.0, 0.85)]));
    let measured = ["fcfs:governor=fixed,mhz=700", "fcfs"].map(|scheduler| {
        bed("A", Some(device.clone()), scheduler, None).measure(stream).expect("it ends")
    });
    let [slow, fast] = measured.each_ref().map(|it| it.measurement.performance.latency.min);
    assert!(slow > fast && slow.ns() < fast.ns() * 10 / 7 + 1000, "{slow:?} {fast:?}");
    let [low, high] = measured.each_ref().map(|it| {
        let ledger = &device_of(it).ledger;
        ledger.microjoules(Item::Dynamic) / it.measurement.performance.queries as f64
    });
    assert!(low < high && low > high * (0.7f64 / 0.85).powi(2), "{low} {high}");
}

/// A server at 300 MHz above 26 C, which it soon reaches.
#[test]
fn a_server_that_is_throttled_is_slower() {
    let suite = Catalog::new().mlperf_suite("inference_v0.5").expect("it is embedded");
    let test = suite.test("image_classification_light", LoadScenario::Server);
    let test = test.expect("the suite has it");
    let mut options = TestOptions::new(Round::find("v0.5").expect("a round"));
    (options.min_duration, options.min_queries) = (Some(ms(500.0)), Some(200));
    let cool = Device { heat: None, ..headset() };
    let mut hot = headset();
    let heat = hot.heat.as_mut().expect("it has temperatures");
    heat.poll = ms(10.0);
    let cap = heat.trips.iter_mut().find(|it| it.at_c == 95.0).expect("the trip of the die");
    cap.at_c = 26.0;
    cap.action = TripAction::Cap(300.0);
    let [hot, cool] = [hot, cool].map(|device| {
        run_test(test, &options, &bed("A", Some(device), "fcfs", None)).expect("it ends")
    });
    assert!(hot.is_valid() && cool.is_valid());
    assert!(hot.settings.target_qps < 0.9 * cool.settings.target_qps);
    let body = &hot.device.expect("there is one").body;
    assert!(body.spent(|section| section.capped).is_some_and(|it| it > ms(400.0)));
}

/// Charges that end before the first query, within one, between two, and near the end.
#[test]
fn a_test_ends_with_the_charge() {
    for beside in [None, Some("AR_gaming")] {
        for joules in [1e-6, 1e-3, 0.01, 0.1, 0.5, 4.0] {
            let mut n_stopped = 0;
            let bed = bed("J", Some(charged(leaky(), joules)), "fcfs", beside);
            for settings in loads() {
                let run = bed.measure(&settings).expect("it ends");
                let (device, performance) = (device_of(&run), &run.measurement.performance);
                let Some((at, Stop::Empty)) = device.body.stopped() else {
                    assert!(performance.validity.is_finished);
                    continue;
                };
                n_stopped += 1;
                assert!(!performance.validity.is_finished && !performance.validity.is_valid());
                assert!(device.why_stopped().starts_with("the battery is empty after"));
                // The instant is rounded up to a nanosecond, and less than 50 W are drawn.
                let drawn = device.ledger.total_microjoules() / 1e6;
                assert!(drawn >= joules * (1.0 - 1e-9) && drawn < joules * (1.0 + 1e-9) + 5e-8);
                assert_eq!(device.ledger.duration().ns(), at.ns());
                let queries = &run.measurement.run.queries;
                assert!(queries[1..].iter().all(|it| it.issued <= *at && it.completed <= *at));
                let summary = render_summary(&settings, performance, "J", 1);
                assert!(summary.contains("Result is : INVALID"), "{summary}");
                let is_offline = settings.scenario == LoadScenario::Offline;
                assert!(!is_offline || summary.contains("Samples per second: n/a"), "{summary}");
                assert!(!bed.passes(&settings).expect("it ends"));
                bed.run(&settings, Traced::All).expect("it ends");
            }
            // With 4 J, two loads end before the charge does, unless a scenario draws from it too.
            let n_ended = if joules == 4.0 && beside.is_none() { 2 } else { 0 };
            assert_eq!(n_stopped, loads().len() - n_ended, "{joules} J beside {beside:?}");
        }
    }
}

#[test]
fn a_test_ends_where_a_node_is_too_hot_or_nothing_may_start() {
    let mut hot = headset();
    let heat = hot.heat.as_mut().expect("it has temperatures");
    (heat.ambient_c, heat.poll) = (199.9, ms(1.0));
    heat.trips.clear();
    let mut halted = headset();
    let heat = halted.heat.as_mut().expect("it has temperatures");
    heat.ambient_c = 60.0;
    heat.poll = ms(10.0);
    for trip in &mut heat.trips {
        (trip.at_c, trip.action) = (50.0, TripAction::Halt);
    }
    let whys = [(hot, "is hotter than 200 C after"), (halted, "trips let nothing start")];
    for (device, why) in whys {
        for beside in [None, Some("VR_gaming")] {
            let bed = bed("A", Some(device.clone()), "fcfs", beside);
            for settings in loads() {
                let run = bed.measure(&settings).expect("it ends");
                assert!(!run.measurement.performance.validity.is_valid(), "{why}");
                let found = device_of(&run).why_stopped();
                assert!(found.contains(why), "{found}");
            }
        }
    }
}

#[test]
fn the_account_of_a_trace_lasts_as_long_as_its_executions() {
    let bed = bed("J", Some(leaky()), "fcfs", Some("AR_gaming"));
    let settings = &loads()[3];
    let [all, load] = [Traced::All, Traced::Load].map(|it| bed.run(settings, it).expect("it ends"));
    assert_eq!((&all.queries, all.energy), (&load.queries, load.energy));
    let lasts = |it: &Option<DeviceRun>| it.as_ref().expect("a device").ledger.duration().ns();
    assert_eq!(lasts(&load.device), load.queries.end().ns());
    let last = all.run.trace.busy_intervals().filter_map(|it| it.end).max();
    assert!(lasts(&all.device) >= last.expect("batches ran").ns());
}

#[test]
fn tenants_share_a_device_until_it_stops() {
    let settings = settings(LoadScenario::Server, LoadGenVersion::V6_0, |it| {
        it.server_target_qps = 50.0;
        it.min_duration_ms = 1000;
    });
    let tests = [50.0, 200.0]
        .map(|rate| TenantTest { arrivals: Arrivals::Poisson(rate), settings: settings.clone() });
    for (joules, is_finished) in [(1e3, true), (1.0, false), (1e-3, false)] {
        let bed = AcceleratorBed::builder(system("J", 4096), &LoopNest)
            .tenants([tenant(Batching::NONE), tenant(Batching::up_to(4))])
            .device(Arc::new(charged(leaky(), joules)))
            .build()
            .expect("it can run");
        let run = run_tenants(&tests, 1.0, &bed, Traced::Load).expect("it ends");
        for tenant in &run.queries {
            assert_eq!(tenant.performance.validity.is_finished, is_finished);
            assert!(is_finished || !tenant.is_valid());
        }
        let device = run.device.expect("there is a device");
        close(device.ledger.total_microjoules() / 1e3, run.energy.get());
        assert_eq!(device.body.stopped().is_none(), is_finished);
    }
}

#[test]
fn what_a_device_cannot_do_in_a_load_test_is_refused() {
    let folder = tempdir().expect("a folder can be made");
    let file = folder.path().join("fast.yaml");
    let thermal = "{poll_ms: 1, nodes: {die: {j_per_k: 1, k_per_w: {air: 1}}}}";
    let text = format!("device:\n  name: fast\n  thermal: {thermal}\n");
    std::fs::write(&file, text).expect("it can be written");
    let file = file.to_str().expect("the path is UTF-8");
    let cases: [(&[&str], &str); 6] = [
        (&["--device", "headse"], "did you mean `headset`?"),
        (&["--scheduler", "edf:governor=slack"], "has no effect without a device (--device)"),
        (&["--device", "headset", "--service", "constant:ms=1"], "cannot be used with"),
        (&["--device", "headset", "--scheduler", "edf:governor=static"], "the rates of all models"),
        (&["--device", "headset", "--scheduler", "edf:governor=cc-edf"], "the rates of all models"),
        // 100,000 queries at 0.05 1/s take 2e9 ms.
        (
            &["--device", file, "--load", "server", "--qps", "0.05", "--min-queries", "100000"],
            "too often for a test of 2000000 s",
        ),
    ];
    for (arguments, expected) in cases {
        let text = refused(&[&["mlperf", "inference"], arguments].concat());
        assert!(text.contains(expected), "{arguments:?}: {text}");
    }
}
