//! Limits of single accelerators, the governor that keeps below them, and bounds that no governor exceeds.

use std::sync::Arc;

use super::{on, play, points};
use crate::support::layers::{plan, stream, table};
use crate::support::n_cases;
use crate::support::runs::{self, Case};

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use xrsim::bounds::Bounds;
use xrsim::cost::LayerCost;
use xrsim::hardware::Device;
use xrsim::hardware::device::{
    Heat, HeatPaths, Link, NodeId, Supplied, ThermalNetwork, ThermalNode, Trip, TripAction,
};
use xrsim::schedule::Class;
use xrsim::trace::Outcome;
use xrsim::units::SimSpan;

const MS: u64 = 1_000_000;
/// RK3588 NPU from 600 MHz up.
const RK3588: [(f64, f64); 5] =
    [(600.0, 0.7), (700.0, 0.7), (800.0, 0.75), (900.0, 0.8), (1000.0, 0.85)];

/// A layer of the chip alone, of this energy.
fn layer(cycles: u64, energy_nj: f64) -> LayerCost {
    LayerCost { cycles, energy_nj, chip_cycles: cycles, ..LayerCost::default() }
}

/// Nodes of these heat capacities \[J/K\] and resistances to the air \[K/W\], without ways between them.
fn heat(nodes: &[(&str, f64, f64)], trips: Vec<Trip>) -> Heat {
    let node = |&(name, j_per_k, k_per_w): &(&str, f64, f64)| ThermalNode {
        name: name.into(),
        j_per_k,
        to_air: 1.0 / k_per_w,
    };
    let network = ThermalNetwork::new(nodes.iter().map(node).collect(), &[] as &[Link]);
    Heat {
        network: Arc::new(network.expect("it is a network")),
        ambient_c: 25.0,
        poll: SimSpan::from_ns(MS / 10),
        paths: HeatPaths { accelerators: Some(NodeId::new(0)), ..HeatPaths::default() },
        named: Vec::new(),
        trips,
    }
}

fn trip(node: usize, at_c: f64, action: TripAction, of: &[&str]) -> Trip {
    let of = of.iter().map(|&it| it.into()).collect();
    Trip { node: NodeId::new(node), at_c, hysteresis_k: 1.0, action, of }
}

fn device_with(heat: Heat) -> Device {
    let mut device = Device { heat: Some(heat), ..Device::default() };
    device.accelerators.points = Some(points(&RK3588));
    device
}

/// Accelerator, start and time of every request \[us\].
fn starts(case: &Case, requests: &[(usize, u64, u64)]) -> Vec<(usize, u64, u64)> {
    let run = play(case, &stream(requests));
    let outcome = |it: &Outcome| match *it {
        Outcome::Executed { accelerator, start, end, .. } => {
            (accelerator.index(), start.ns() / 1000, (end - start).ns() / 1000)
        }
        other => panic!("{other:?}"),
    };
    run.trace.records().iter().map(|record| outcome(&record.outcome)).collect()
}

/// Two accelerators of 1 W while they run, each on a die of its own: 1e-4 J/K, 10 K/W, so 1 ms. Die 0 is at 30 C after
/// 1 ms ln(10 / 5) = 0.693 ms of work, at 28 C after 0.357 ms and below again 0.6 ms after its end at 31.3 C. Requests take 1 ms.
fn two_dies(action: TripAction, at_c: f64) -> Case {
    let layers = || vec![layer(1_000_000, 1e6)];
    let case = plan(table(&[vec![layers(), layers()]]));
    let mut heat = heat(
        &[("die 0", 1e-4, 10.0), ("die 1", 1e-4, 10.0)],
        vec![trip(0, at_c, action, &["accelerator 0"])],
    );
    heat.named = vec![("accelerator 1".into(), NodeId::new(1))];
    on(device_with(heat), runs::by("edf:placement=first-idle", case))
}

/// At the tick of 0.7 ms die 0 is at 25 + 10 (1 - e^-0.7) = 30.03 C; it ends at 31.32 C and is below 29 C from 1 ms
/// + ln(6.32 / 4) ms = 1.457 ms on, at the tick of 1.5 ms. Meanwhile accelerator 1 takes all, however hot it is.
#[test]
fn a_halt_of_one_accelerator_leaves_the_others_to_the_scheduler() {
    let case = two_dies(TripAction::Halt, 30.0);
    let far = 100 * MS;
    let found = starts(&case, &[(0, 0, far), (0, 1_100_000, far), (0, 1_200_000, far)]);
    assert_eq!(found, [(0, 0, 1000), (1, 1100, 1000), (0, 1500, 1000)]);
    // Both dies are as hot; the trip of all halts both.
    let mut device = Device::clone(case.plan.device.as_ref().expect("it has one"));
    let heat = device.heat.as_mut().expect("it has heat");
    heat.trips[0].of = Default::default();
    let all = plan(table(&[vec![vec![layer(1_000_000, 1e6)]; 2]]));
    let all = on(device, runs::by("edf:placement=first-idle", all));
    let found = starts(&all, &[(0, 0, far), (0, 1_100_000, far), (0, 1_200_000, far)]);
    assert_eq!(found, [(0, 0, 1000), (0, 1500, 1000), (1, 1500, 1000)]);
}

/// Every placement waits or takes the other accelerator; none starts on the one that is halted.
#[test]
fn nothing_starts_on_a_halted_accelerator_under_any_placement() {
    for placement in ["latency", "first-idle", "energy", "earliest-finish", "deadline-energy"] {
        let case = two_dies(TripAction::Halt, 27.0);
        let case = runs::by(&format!("edf:placement={placement}"), case);
        let far = 100 * MS;
        let requests: Vec<_> = (0..20).map(|at| (0, at * 400_000, far)).collect();
        let found = starts(&case, &requests);
        // 26 C are left again ln(6.32) = 1.844 ms after the end at 31.32 C, at the tick of 2.9 ms.
        let own = found.iter().filter(|it| it.0 == 0).map(|it| it.1);
        assert!(own.clone().count() > 1, "{found:?}");
        for (before, after) in own.clone().zip(own.skip(1)) {
            assert!(after >= before + 2_900, "{placement}: {before} {after}");
        }
    }
}

/// 800 MHz: 1.25 ms.
#[test]
fn a_cap_of_one_accelerator_slows_no_other() {
    let case = two_dies(TripAction::Cap(800.0), 26.0);
    let far = 100 * MS;
    let requests = [(0, 0, far), (0, 1, far), (0, 1_000_000, far), (0, 1_000_001, far)];
    let found = starts(&case, &requests);
    assert_eq!(found, [(0, 0, 1000), (1, 0, 1000), (0, 1000, 1250), (1, 1000, 1000)]);
}

#[test]
fn names_of_trips_and_heat_are_those_of_the_system() {
    let system = runs::system(2);
    let refused = |heat: Heat| {
        let device = Device { name: "mine".into(), heat: Some(heat), ..Device::default() };
        device.on(&system).map(|it: Vec<Supplied>| it.len()).expect_err("no such name").to_string()
    };
    let die = [("die", 1.0, 1.0)];
    assert_eq!(
        refused(heat(&die, vec![trip(0, 40.0, TripAction::Step, &["accelerator 2"])])),
        "device `mine` has a trip of `accelerator 2`; the accelerators are accelerator 0, accelerator 1"
    );
    let mut named = heat(&die, Vec::new());
    named.named = vec![("npu".into(), NodeId::new(0))];
    assert_eq!(
        refused(named),
        "device `mine` has heat of `npu`; the accelerators are accelerator 0, accelerator 1"
    );
}

/// Clocks at which requests of 1,000,000 cycles and 3.4 mJ run [MHz]. The node has 10 K/W, and a trip that does not act.
fn sustained(base_mw: f64, requests: &[(usize, u64, u64)]) -> Vec<u64> {
    let case = plan(table(&[vec![vec![layer(1_000_000, 3.4e6)]]]));
    let mut heat = heat(&[("skin", 60.0, 10.0)], vec![trip(0, 90.0, TripAction::Step, &[])]);
    heat.paths.base = Some(NodeId::new(0));
    let device = Device { base_mw, ..device_with(heat) };
    let case = on(device, runs::by("edf:governor=sustain,window_s=0.01", case));
    let clock = |it: &(usize, u64, u64)| (1e6 / it.2 as f64).round() as u64;
    starts(&case, requests).iter().map(clock).collect()
}

/// V^2 f is 1, 0.797, 0.623, 0.475 and 0.407 of that at 1000 MHz from 900 down to 600 MHz. Work without a pause takes 3.4 W at
/// 1000 MHz, and 42 C in air of 25 C at 10 K/W allow 1.7 W.
#[test]
fn sustain_takes_the_highest_point_whose_heat_can_go_on_for_ever() {
    let far = 1000 * MS;
    let mut requests = vec![(0, 0, far); 20];
    requests.push((0, 100 * MS, far));
    // Ten in the first window. 3.4 x 0.475 = 1.614 W fit, 3.4 x 0.623 = 2.118 W do not. After the pause up to 100 ms, the
    // mean of 0.09 W at 700 MHz is 0.18 W at 1000.
    let expected = [[1000; 10], [700; 10]].concat();
    let found = sustained(0.0, &requests);
    assert_eq!(found, [&expected[..], &[1000]].concat());
    // Base power does not fall with the clock: 1.7 - 0.1 = 1.6 W are left, of which 700 MHz take 1.614.
    assert_eq!(sustained(100.0, &requests)[10..20], [600; 10]);
    // Nothing is left: the lowest point.
    assert_eq!(sustained(2000.0, &requests)[10..20], [600; 10]);
}

#[test]
fn sustain_needs_heat_of_accelerators() {
    let case = plan(table(&[vec![vec![layer(1_000_000, 1.0)]]]));
    let mut cold = device_with(heat(&[("skin", 60.0, 10.0)], Vec::new()));
    cold.heat.as_mut().expect("it has heat").paths.accelerators = None;
    let case = on(cold, runs::by("edf:governor=sustain", case));
    let error = xrsim::engine::run(&case, &case.costs, &stream(&[(0, 0, MS)]));
    let error = error.expect_err("nothing is heated").to_string();
    assert!(error.contains("the governor sustain follows the heat of accelerators"), "{error}");
}

/// Random costs, rates and trips: every governor stays within the bounds of all schedulers and of its class.
#[test]
fn no_governor_exceeds_a_bound() {
    let mut random = ChaCha8Rng::seed_from_u64(11);
    let cases = n_cases(60, 2000);
    for _ in 0..cases {
        let n_accelerators = random.random_range(1..=2);
        let mut cell = || -> Vec<LayerCost> {
            let n_layers = random.random_range(1..=3);
            let layer = |_| {
                let chip_cycles = random.random_range(300_000..10_000_000);
                let dram_cycles = random.random_range(300_000..10_000_000);
                let energy_nj = random.random_range(0.0..5e8);
                let dram_energy_nj = energy_nj * random.random_range(0.0..1.0);
                points::layer(chip_cycles, dram_cycles, energy_nj, dram_energy_nj)
            };
            (0..n_layers).map(layer).collect()
        };
        let rows: Vec<Vec<_>> =
            (0..2).map(|_| (0..n_accelerators).map(|_| cell()).collect()).collect();
        let models =
            vec![runs::model("a", [30.0, 60.0][random.random_range(0..2)]), runs::model("b", 45.0)];
        let case = runs::plan(runs::scenario(vec![], models), table(&rows));
        let action = [TripAction::Step, TripAction::Cap(750.0)][random.random_range(0..2)];
        let at_c = random.random_range(26.0..80.0);
        let of: &[&str] = if random.random() { &[] } else { &["accelerator 0"] };
        let heat = heat(&[("die", 1e-3, 10.0)], vec![trip(0, at_c, action, of)]);
        let mut device = device_with(heat);
        // The nominal point is not the highest.
        device.accelerators.points = Some(points(&[&RK3588[..], &[(1200.0, 0.95)]].concat()));
        let case = on(device, runs::lasting_ms(150.0, case));
        let requests = runs::requests(&case);
        let least = case.costs.least_over_points();
        let bounds = Class::ALL
            .map(|class| Bounds::compute(&case.scenario, &least, &requests, &case.score, class));
        for options in ["", "granularity=layer,", "preemption=layer-boundary,"] {
            for governor in
                ["fixed", "race", "slack", "static", "ondemand", "sustain,window_s=0.01"]
            {
                let case = runs::by(&format!("edf:{options}governor={governor}"), case.clone());
                let own = usize::from(case.scheduler.class() != Class::Any);
                let run = play(&case, &requests);
                let score = case.score(&run.trace).total.score_executed_mean;
                for bound in [bounds[0].values(), bounds[own].values()].concat() {
                    assert!(score <= bound, "{options}{governor}: {score} above {bound}");
                }
            }
        }
    }
}
