//! Heat, trips and charge in runs.

use std::sync::Arc;

use super::ledger::{self, close};
use super::random::{any_case, any_device, of_requests};
use super::{on, play};
use crate::support::layers::stream;

use proptest::prelude::*;
use proptest::sample::select;
use xrsim::device::{Body, Item, Stop};
use xrsim::engine::Run;
use xrsim::hardware::Device;
use xrsim::hardware::device::{
    Battery, Heat, HeatPaths, Link, NodeId, ThermalNetwork, ThermalNode, Trip, TripAction,
};
use xrsim::trace::{DropReason, Outcome};
use xrsim::units::{SimSpan, SimTime};

fn node(name: &str, j_per_k: f64, to_air: f64) -> ThermalNode {
    ThermalNode { name: name.into(), j_per_k, to_air }
}

fn heat(network: ThermalNetwork, paths: HeatPaths, poll_ns: u64, trips: Vec<Trip>) -> Heat {
    let (network, poll) = (Arc::new(network), SimSpan::from_ns(poll_ns));
    Heat { network, ambient_c: 25.0, poll, paths, named: Vec::new(), trips }
}

fn body(run: &Run) -> &Body {
    run.body.as_deref().expect("there is a device")
}

/// The two frames of the account by hand, with a die of 8 K/W and 0.05 J/K, leakage that does not depend on it, and 3.08 Wh
/// at 0.85. The die is warmest when it is gated, at 16.262858 ms. Temperatures with 50 digits, computed apart.
#[test]
fn temperature_and_charge_of_two_frames_agree_with_those_by_hand() {
    let network = ThermalNetwork::new(vec![node("die", 0.05, 1.0 / 8.0)], &[]);
    let network = network.expect("it is a network");
    let paths = HeatPaths { accelerators: Some(NodeId::new(0)), ..HeatPaths::default() };
    let mut device = ledger::device();
    device.accelerators.leakage.per_k = 0.0;
    device.heat = Some(heat(network, paths, 1_000_000_000, Vec::new()));
    device.battery = Some(Battery { wh: 3.08, efficiency: 0.85, peukert: None });
    let requests = stream(&[(0, 0, 9_000_000), (0, 10_000_000, 19_000_000)]);
    let run = play(&on(device, ledger::case()), &requests);
    let body = body(&run);
    let [found] = body.thermal().expect("it has a die").temperatures() else { panic!("one node") };
    assert!((found - 25.060_633_034_002_8).abs() < 1e-12, "{found}");
    let (_, highest) = body.highest().next().expect("it has a die");
    assert!((highest - 25.061_078_491_475_5).abs() < 1e-12, "{highest}");
    let charge = body.charge().expect("it has a battery");
    close(charge.taken_j() * 1e6, 7_378.726_941_911);
    close(charge.loss_j() * 1e6, 7_378.726_941_911 * 0.15);
    let [section] = body.sections() else { panic!("one section") };
    close(section.joules * 1e6, 6_271.917_900_624);
}

/// The same frames on a cell of 4000 uJ. Frame 0 ends; of frame 1, which wakes up at 10 ms, as much has run as the cell
/// gives.
#[test]
fn a_run_ends_at_the_instant_at_which_the_battery_is_empty() {
    let empties_at = |joules: f64| {
        let mut device = ledger::device();
        device.battery = Some(Battery { wh: joules / 3600.0, efficiency: 1.0, peukert: None });
        let requests =
            stream(&[(0, 0, 9_000_000), (0, 10_000_000, 19_000_000), (0, 18_000_000, 30_000_000)]);
        play(&on(device, ledger::case()), &requests)
    };
    let run = empties_at(4000e-6);
    let (at, stop) = body(&run).stopped().expect("it is empty").clone();
    assert_eq!(stop, Stop::Empty);
    assert!((10_000_000..13_262_858).contains(&at.ns()), "{at:?}");
    let ledger = run.ledger.expect("there is a device");
    // A nanosecond at some hundred milliwatts.
    assert!((ledger.total_microjoules() - 4000.0).abs() < 1e-3);
    assert_eq!(SimTime::ZERO + ledger.duration(), at);
    let outcomes: Vec<_> = run.trace.records().iter().map(|it| it.outcome).collect();
    // The request that arrives later does not exist.
    let [Outcome::Executed { .. }, Outcome::Dropped { at: dropped, reason, energy, attempt }] =
        outcomes[..]
    else {
        panic!("{outcomes:?}")
    };
    assert_eq!((dropped, reason), (at, DropReason::Power));
    assert!(attempt.is_some() && energy.get() > 0.0);
    let items = [Item::Dynamic, Item::Moved, Item::Wake, Item::LeakRunning];
    let booked: f64 = items.map(|item| ledger.microjoules(item)).iter().sum();
    close(of_requests(&run.trace), booked);
    // The first frame takes 1596 uJ and what is around it; with 100 uJ it does not end.
    let run = empties_at(100e-6);
    assert!(matches!(
        run.trace.records(),
        [it] if matches!(it.outcome, Outcome::Dropped { reason: DropReason::Power, .. })
    ));
}

/// A node of 1 K/W and 1e-3 J/K: 1 ms. The base alone heats it by 50 K.
#[test]
fn a_halt_starts_nothing_and_ends_at_a_tick() {
    let trip = Trip {
        node: NodeId::new(0),
        at_c: 30.0,
        hysteresis_k: 0.5,
        action: TripAction::Halt,
        of: Default::default(),
    };
    let network = ThermalNetwork::new(vec![node("die", 1e-3, 1.0)], &[]).expect("it is a network");
    let paths = HeatPaths { base: Some(NodeId::new(0)), ..HeatPaths::default() };
    let mut device = Device { base_mw: 50_000.0, ..ledger::device() };
    device.heat = Some(heat(network, paths, 100_000, vec![trip.clone()]));
    // 5 K are reached after 0.105 ms, so at the tick of 0.2 ms.
    let requests = stream(&[(0, 0, 3_000_000), (0, 4_000_000, 9_000_000)]);
    let run = play(&on(device.clone(), ledger::case()), &requests);
    let [first, second] = run.trace.records() else { panic!("two requests") };
    assert!(matches!(first.outcome, Outcome::Executed { .. }), "{first:?}");
    let Outcome::Dropped { at, reason, .. } = second.outcome else { panic!("{second:?}") };
    assert_eq!((at.ns(), reason), (9_000_000, DropReason::Deadline));
    let [section] = body(&run).sections() else { panic!("one section") };
    assert_eq!(section.halted, section.capped);
    assert_eq!(section.halted.ns(), 20_000_000 - 200_000);
    // Where the die alone is heated, by 1.6 W, it cools while nothing runs, and the second frame starts at a tick.
    let paths = HeatPaths { accelerators: Some(NodeId::new(0)), ..HeatPaths::default() };
    let at_c = 25.3;
    let trip = Trip { at_c, hysteresis_k: 0.2, ..trip.clone() };
    let network = ThermalNetwork::new(vec![node("die", 1e-3, 1.0)], &[]).expect("it is a network");
    device.heat = Some(heat(network, paths, 100_000, vec![trip.clone()]));
    let requests = stream(&[(0, 0, 3_000_000), (0, 2_400_001, 90_000_000)]);
    let run = play(&on(device, ledger::case()), &requests);
    let [_, second] = run.trace.records() else { panic!("two requests") };
    let Outcome::Executed { start, .. } = second.outcome else { panic!("{second:?}") };
    assert!(start.ns() > 2_400_001 && start.ns() % 100_000 == 0, "{start:?}");
}

prop_compose! {
    /// Heat of all parts in two nodes with time constants of some ns, and a trip.
    fn any_heat()(
        capacities in (1e-9..1e-7f64, 1e-8..1e-6f64), between in 0.1..10.0f64, air in 0.1..10.0f64, poll in 3u64..50,
        above in 0.01..20.0f64, hysteresis_k in 0.0..5.0f64, die in any::<bool>(),
        action in select(&[TripAction::Step, TripAction::Cap(850.0), TripAction::Halt]),
    ) -> Heat {
        let [first, second] = [0, 1].map(NodeId::new);
        let nodes = vec![node("die", capacities.0, 0.0), node("skin", capacities.1, air)];
        let link = Link { between: [first, second], w_per_k: between };
        let network = ThermalNetwork::new(nodes, &[link]).expect("it is a network");
        let paths = HeatPaths {
            accelerators: Some(first), dram: Some(second), base: Some(second), battery: Some(second),
        };
        let node = if die { first } else { second };
        heat(network, paths, poll, vec![Trip { node, at_c: 25.0 + above, hysteresis_k, action, of: Default::default() }])
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 500,
        rng_seed: proptest::test_runner::RngSeed::Fixed(20263),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// With preemption, aborts, shared bandwidth, trips and a cell that may be empty before the end.
    #[test]
    fn items_cell_and_heat_are_one_energy(
        (case, requests) in any_case(), device in any_device(), heat in any_heat(), cell in 1e-8..1e-5f64,
        efficiency in 0.5..1.0f64,
    ) {
        let battery = Battery { wh: cell / 3600.0, efficiency, peukert: None };
        let device = Device { heat: Some(heat.clone()), battery: Some(battery), ..device };
        let run = play(&on(device, case), &requests);
        let (ledger, body) = (run.ledger.as_deref().expect("a device"), body(&run));
        prop_assume!(!matches!(body.stopped(), Some((_, Stop::TooHot(_)))));
        let all = ledger.total_microjoules() / 1e6;
        let sections: f64 = body.sections().iter().map(|it| it.joules).sum();
        let charge = body.charge().expect("a battery");
        let slack = 1e-9 * all;
        prop_assert!((sections - all).abs() <= 1e-12 * all);
        prop_assert!((charge.taken_j() * efficiency - all).abs() <= slack, "{} {all}", charge.taken_j());
        let thermal = body.thermal().expect("heat");
        let rise = |(node, c): (&ThermalNode, &f64)| node.j_per_k * (c - 25.0);
        let stays: f64 = heat.network.nodes().iter().zip(thermal.temperatures()).map(rise).sum();
        let came = all / efficiency;
        prop_assert!((stays + thermal.released_j() - came).abs() <= 1e-9 * came, "{stays} {came}");
        let items = [Item::Dynamic, Item::Moved, Item::Wake, Item::LeakRunning];
        let booked: f64 = items.map(|item| ledger.microjoules(item)).iter().sum();
        let known = of_requests(&run.trace);
        prop_assert!((booked - known).abs() <= 1e-9 * known.max(1e-9), "{booked} for {known}");
    }

    /// Without trips the schedule is the same, so that the course of the charge decides alone.
    #[test]
    fn more_power_never_lengthens_a_run_and_a_larger_cell_never_shortens_it(
        (case, requests) in any_case(), device in any_device(), cell in 1e-8..1e-6f64,
    ) {
        let end = |more_mw: f64, factor: f64| {
            let battery = Battery { wh: cell * factor / 3600.0, efficiency: 0.9, peukert: None };
            let base_mw = device.base_mw + more_mw;
            let device = Device { base_mw, battery: Some(battery), ..device.clone() };
            let run = play(&on(device, case.clone()), &requests);
            body(&run).stopped().map_or(SimTime::MAX, |(at, _)| *at)
        };
        let own = end(0.0, 1.0);
        prop_assert!(end(20.0, 1.0) <= own);
        prop_assert!(end(0.0, 1.5) >= own);
    }
}
