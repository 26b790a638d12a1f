//! Governors: operating points of segments.

use std::sync::Arc;

use super::{on, play, points};
use crate::support::layers::{plan, stream, table};
use crate::support::runs::{self, Case};

use xrsim::cost::{CostTable, LayerCost, NetworkCost};
use xrsim::device::Item;
use xrsim::engine::Run;
use xrsim::hardware::Device;
use xrsim::ids::{FrameId, ModelId};
use xrsim::load::{Request, RequestStream};
use xrsim::schedule::Policy;
use xrsim::trace::Outcome;
use xrsim::units::{SimSpan, SimTime};
use xrsim::{Catalog, Experiment};

const MS: u64 = 1_000_000;

/// A layer of the chip alone, at 1 nJ a cycle.
fn layer(cycles: u64) -> LayerCost {
    let energy_nj = cycles as f64;
    LayerCost { cycles, energy_nj, chip_cycles: cycles, ..LayerCost::default() }
}

fn device_of(of: &[(f64, f64)]) -> Device {
    let mut device = Device::default();
    device.accelerators.points = Some(points(of));
    device
}

/// Tasks (C, P) = (3, 8), (3, 10), (1, 14) ms of the example of Pillai & Shin, in layers of 10 us at full speed. Variant 0 is the
/// worst case; variants 1 and 2 of the first take 2 and 1 ms, variant 1 of the second takes 1 ms.
fn rt_dvs(governor: &str) -> (Case, RequestStream) {
    let system = runs::system(1);
    let network = |ms: usize| {
        let layers = vec![layer(10_000); 100 * ms];
        Arc::new(NetworkCost::of_layers(layers, &system.accelerators()[0]))
    };
    let costs = CostTable::new([3, 3, 1].map(network).to_vec(), 1)
        .with_batches(ModelId::new(0), vec![network(2), network(1)])
        .with_batches(ModelId::new(1), vec![network(1)]);
    let models = [("T1", 8.0), ("T2", 10.0), ("T3", 14.0)];
    let models = models.map(|(name, period)| runs::model(name, 1e3 / period)).to_vec();
    let case = runs::plan(runs::scenario(vec![], models), costs);
    let case = on(device_of(&[(500.0, 0.6), (750.0, 0.8), (1000.0, 1.0)]), case);
    let scheduler = format!("edf:preemption=layer-boundary,governor={governor}");
    let mut case = runs::by(&scheduler, case);
    case.plan.load.duration = SimSpan::from_ns(16 * MS);
    // Model, frame, release and deadline [ms], batch.
    let requests = [
        (0, 0, 0, 8, 2),
        (1, 0, 0, 10, 2),
        (2, 0, 0, 14, 1),
        (0, 1, 8, 16, 3),
        (1, 1, 10, 20, 2),
        (2, 1, 14, 28, 1),
    ];
    let request = |(model, frame, release, deadline, batch): (usize, usize, u64, u64, u32)| {
        let [release, deadline] = [release, deadline].map(|ms| SimTime::from_ns(ms * MS));
        Request::new(ModelId::new(model), FrameId::new(frame), release, deadline).with_batch(batch)
    };
    (case, RequestStream::new(requests.map(request).to_vec(), &[]))
}

fn check_in_time(run: &Run) {
    for record in run.trace.records() {
        let Outcome::Executed { end, .. } = record.outcome else { panic!("{record:?}") };
        assert!(end <= record.deadline, "{record:?}");
    }
}

/// Pillai & Shin, SOSP 2001: an example of 16 ms with f = 0.5, 0.75, 1 at 3, 4, 5 V. All seven ms of work at full speed take 175
/// V^2 ms, static EDF 112, cycle-conserving EDF 91, look-ahead EDF 77: 1, 0.64, 0.52, 0.44. Layers of 10 us are as exact as 0.5 %.
#[test]
fn the_example_of_rt_dvs_takes_the_published_energies_without_a_miss() {
    let energy = |governor: &str| {
        let (case, requests) = rt_dvs(governor);
        let run = play(&case, &requests);
        check_in_time(&run);
        run.ledger.expect("there is a device").microjoules(Item::Dynamic)
    };
    let full = energy("race");
    assert!((full - 7_000.0).abs() < 1e-6, "{full}");
    for (governor, published) in [("static", 0.64), ("cc-edf", 0.52), ("la-edf", 0.44)] {
        let found = energy(governor) / full;
        assert!((found / published - 1.0).abs() <= 0.005, "{governor}: {found}");
    }
}

/// RK3588 NPU from 600 MHz up.
const RK3588: [(f64, f64); 5] =
    [(600.0, 0.7), (700.0, 0.7), (800.0, 0.75), (900.0, 0.8), (1000.0, 0.85)];

/// Clocks at which requests of 1,000,000 cycles run, due at these times after their release \[us\].
fn clocks(governor: &str, due_us: &[u64]) -> Vec<u64> {
    let case = plan(table(&[vec![vec![layer(1_000_000)]]]));
    let case = on(device_of(&RK3588), runs::by(&format!("edf:governor={governor}"), case));
    let requests: Vec<_> = due_us
        .iter()
        .enumerate()
        .map(|(at, due)| (0, at as u64 * 10 * MS, at as u64 * 10 * MS + due * 1000))
        .collect();
    let run = play(&case, &stream(&requests));
    let clock = |outcome: &Outcome| match outcome {
        Outcome::Executed { start, end, .. } => (1e9 / (*end - *start).ns() as f64).round() as u64,
        other => panic!("{other:?}"),
    };
    run.trace.records().iter().map(|record| clock(&record.outcome)).collect()
}

/// At 700, 800 and 900 MHz a request takes 1.429, 1.25 and 1.111 ms; 0.3 ms before its deadline is early enough. Below 700 MHz
/// the voltage does not fall.
#[test]
fn slack_is_filled_down_to_the_point_of_least_energy() {
    let due = [9_000, 1_729, 1_728, 1_551, 1_549, 1_412, 1_411, 1_000];
    assert_eq!(clocks("slack", &due), [700, 700, 800, 800, 900, 900, 1000, 1000]);
    assert_eq!(clocks("slack,margin_ms=0", &[1_429, 1_428]), [700, 800]);
}

#[test]
fn fixed_points_and_haste_do_not_depend_on_deadlines() {
    let due = [9_000, 1_100];
    assert_eq!(clocks("fixed", &due), [1000, 1000]);
    assert_eq!(clocks("fixed,mhz=800", &due), [800, 800]);
    assert_eq!(clocks("fixed,mhz=750", &due), [800, 800]);
    assert_eq!(clocks("fixed,mhz=5000", &due), [1000, 1000]);
    assert_eq!(clocks("race", &due), [1000, 1000]);
}

/// The first request runs at the nominal point. It keeps the accelerator busy for 1 of the 10 ms to the next one: the lowest point.
/// A window of 1 ms ends with the first request, fully busy, and nine idle ones follow. 20 ms of work keep two windows busy.
#[test]
fn on_demand_follows_the_busy_share_of_the_last_window() {
    assert_eq!(clocks("ondemand,busy_window_ms=10", &[9_000, 9_000]), [1000, 600]);
    assert_eq!(clocks("ondemand,busy_window_ms=1", &[9_000, 9_000]), [1000, 600]);
    let case = plan(table(&[vec![vec![layer(10_000_000)]]]));
    let governor = "edf:governor=ondemand,busy_window_ms=10";
    let case = on(device_of(&RK3588), runs::by(governor, case));
    // Back to back from 30 ms on, after 20 idle ms.
    let due = 1_000 * MS;
    let run = play(&case, &stream(&[(0, 0, due), (0, 30 * MS, due), (0, 30 * MS + 1, due)]));
    let takes = |id: usize| match run.trace.records()[id].outcome {
        Outcome::Executed { start, end, .. } => (end - start).ns(),
        other => panic!("{other:?}"),
    };
    // 10 ms at 1000 MHz; 10^7 cycles at 600 MHz; then the window from 30 to 40 ms was fully busy.
    assert_eq!([takes(0), takes(1), takes(2)], [10 * MS, 16_666_667, 10 * MS]);
}

#[test]
fn governors_that_are_not_defined_are_refused() {
    let refused = |text: &str| Policy::parse(text).expect_err("it is wrong").to_string();
    assert_eq!(
        refused("fcfs:governor=cc-edf"),
        "the governors cc-edf and la-edf are defined for the policy edf"
    );
    assert_eq!(refused("edf:mhz=700,governor=race"), "mhz has no effect without governor=fixed");
    let run = |device: bool, scheduler: &str| {
        let experiment = Experiment::new().scenario("VR_gaming").system("J").pes(4096);
        let experiment = experiment.set("platform", "paper").set("scheduler", scheduler);
        let experiment = if device { experiment.set("device", "headset") } else { experiment };
        experiment
            .run()
            .map(|runs| runs.iter().map(|it| it.result.clone().err()).collect::<Vec<_>>())
    };
    let error = run(false, "edf:governor=slack").expect_err("there is no device").to_string();
    assert_eq!(
        error,
        "the governor of edf:governor=slack has no effect without a device (--device)"
    );
    let two = run(true, "edf:governor=la-edf").expect("the run fails alone");
    let two = two[0].as_ref().expect("style J has two accelerators").to_string();
    assert!(two.contains("are defined for one accelerator, and the system has 2"), "{two}");
}

/// The shipped device, by name.
#[test]
fn the_device_that_ships_runs_on_a_system_of_its_clock() {
    let device = Catalog::new().device("headset").expect("it ships");
    assert_eq!(device.accelerators.points.as_ref().map(|it| it.all().len()), Some(8));
    // Platform `headset` has a clock of 800 MHz, `paper` of 1000 MHz. Both are points.
    for platform in ["headset", "paper"] {
        let experiment = Experiment::new().scenario("VR_gaming").system("J").pes(4096);
        let experiment = experiment.set("platform", platform).set("device", "headset");
        let runs = experiment.run().expect("it runs");
        let ledger = runs[0].result.as_ref().expect("it has a score").ledger.as_ref();
        assert!(ledger.expect("it has a device").mean_w() > 3.0, "{platform}");
    }
    let artifact = Experiment::new().set("semantics", "mlsys2023").set("device", "headset").run();
    let refusal = artifact.expect_err("the artifact knows no devices").to_string();
    assert!(refusal.starts_with("device has no effect under"), "{refusal}");
}
