//! Laws that hold for random devices under preemption, aborts and shared bandwidth.

use super::{on, play, points};
use crate::support::layers::{any_arrivals, any_options, fixed_priorities, plan, requests, table};
use crate::support::runs::Case;

use proptest::prelude::*;
use proptest::sample::select;
use xrsim::cost::LayerCost;
use xrsim::device::Item;
use xrsim::hardware::Device;
use xrsim::hardware::device::{DramPower, Gate, LeakageAmount};
use xrsim::ids::PointId;
use xrsim::load::RequestStream;
use xrsim::plan::DeadlineMiss;
use xrsim::schedule::{Decision, Options, Policy, Scheduler, View};
use xrsim::trace::{Outcome, PointChanges, Trace};
use xrsim::units::SimSpan;

/// A policy whose segments run at one point after the other.
struct Cycling {
    policy: Box<dyn Scheduler>,
    next: usize,
}

impl Scheduler for Cycling {
    fn decide(&mut self, view: &View<'_>) -> Decision {
        self.next = (self.next + 1) % 7;
        match self.policy.decide(view) {
            Decision::Dispatch(dispatch) => dispatch.at(PointId::new(self.next / 2)).into(),
            other => other,
        }
    }
}

fn cycling(options: Options) -> Policy {
    let inner = fixed_priorities(options);
    let build = move |setup: &xrsim::schedule::Setup<'_>| {
        let policy: Box<dyn Scheduler> = Box::new(Cycling { policy: inner.build(setup)?, next: 0 });
        Ok(policy)
    };
    Policy::new("cycling", options, true, std::sync::Arc::new(build))
}

/// Chip cycles, DRAM cycles, energy and DRAM energy \[nJ\], bytes.
type Layer = (u64, u64, f64, f64, u64);

fn any_layer() -> impl Strategy<Value = Layer> {
    (1u64..30, 1u64..30, 1.0..50.0, 0.0..1.0, 0u64..60)
        .prop_map(|(c, d, energy, share, bytes)| (c, d, energy, energy * share, bytes))
}

fn cost(&(chip_cycles, dram_cycles, energy_nj, dram_energy_nj, dram_bytes): &Layer) -> LayerCost {
    let cycles = chip_cycles.max(dram_cycles);
    LayerCost {
        cycles,
        energy_nj,
        dram_bytes,
        noc_bytes: 0,
        chip_cycles,
        dram_cycles,
        dram_energy_nj,
    }
}

prop_compose! {
    pub(super) fn any_device()(
        leakage in 0.0..1e6, idle in 0.0..1e6, transition in 0u64..20,
        gate in prop::option::of((0u64..50, 0.0..1.0, 0u64..20, 0.0..0.1)),
        dram in 0.0..100.0, base in 0.0..100.0,
    ) -> Device {
        let mut device = Device {
            dram: DramPower { active_mw: dram, idle_mw: dram / 4.0 },
            base_mw: base,
            ..Device::default()
        };
        let supply = &mut device.accelerators;
        supply.points = Some(points(&[(500.0, 0.6), (800.0, 0.7), (1000.0, 0.8), (1250.0, 0.9)]));
        supply.leakage.amount = LeakageAmount::PerPes(leakage);
        supply.idle_mw_per_1024_pes = idle;
        supply.transition = SimSpan::from_ns(transition);
        supply.gate = gate.map(|(after, left, wake, wake_uj)| Gate {
            after: SimSpan::from_ns(after),
            left,
            wake: SimSpan::from_ns(wake),
            wake_uj,
        });
        device
    }
}

prop_compose! {
    pub(super) fn any_case()(
        costs in (1usize..4).prop_flat_map(|n| prop::collection::vec(
            (1usize..5).prop_flat_map(move |n_layers| prop::collection::vec(
                prop::collection::vec(any_layer(), n_layers), n,
            )), 1..5,
        )),
        options in any_options(Options::default()),
        late in select(&[DeadlineMiss::Finish, DeadlineMiss::Abort]),
        bandwidth in prop::option::of(0.1..6.0),
        arrivals in any_arrivals(1..300, 40),
    ) -> (Case, RequestStream) {
        let layers = |layers: &Vec<Layer>| layers.iter().map(cost).collect();
        let rows: Vec<Vec<Vec<LayerCost>>> =
            costs.iter().map(|row| row.iter().map(layers).collect()).collect();
        let mut case = plan(table(&rows)).scheduled(cycling(options));
        case.plan.engine.deadline_miss = late;
        case.plan.engine.effects.bandwidth.dram = bandwidth;
        case.plan.load.duration = SimSpan::from_ns(500);
        (case, requests(&arrivals, costs.len()))
    }
}

/// Energy of all requests \[uJ\].
pub(super) fn of_requests(trace: &Trace) -> f64 {
    let energy = |outcome: &Outcome| match outcome {
        Outcome::Executed { energy, .. } | Outcome::Dropped { energy, .. } => energy.get(),
        _ => 0.0,
    };
    trace.records().iter().map(|record| energy(&record.outcome)).sum::<f64>() * 1e3
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 500,
        rng_seed: proptest::test_runner::RngSeed::Fixed(20262),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Layers, moved data, waking up and leakage while running belong to requests; all else to none.
    #[test]
    fn the_account_has_the_energy_of_every_request((case, requests) in any_case(), device in any_device()) {
        let run = play(&on(device, case), &requests);
        let ledger = run.ledger.expect("there is a device");
        let items = [Item::Dynamic, Item::Moved, Item::Wake, Item::LeakRunning];
        let booked: f64 = items.map(|item| ledger.microjoules(item)).iter().sum();
        let known = of_requests(&run.trace);
        // Sums of some hundreds of terms.
        prop_assert!((booked - known).abs() <= 1e-9 * known.max(1e-9), "{booked} for {known}");
    }

    /// One point, no leakage, no gate: every record of the trace is that without a device, to the last bit.
    #[test]
    fn a_device_that_takes_nothing_changes_nothing((case, requests) in any_case()) {
        let plain = play(&case, &requests);
        let run = play(&on(Device::default(), case), &requests);
        prop_assert_eq!(run.trace.with_points(PointChanges::default()), plain.trace);
        prop_assert_eq!(run.events, plain.events);
    }

    #[test]
    fn more_base_power_draws_more_by_its_time((case, requests) in any_case(), device in any_device()) {
        let more = Device { base_mw: device.base_mw + 10.0, ..device.clone() };
        let less = play(&on(device, case.clone()), &requests).ledger.expect("a device");
        let more = play(&on(more, case), &requests).ledger.expect("a device");
        let expected = 10e-3 * more.duration().ns() as f64 / 1e3;
        let found = more.total_microjoules() - less.total_microjoules();
        prop_assert!((found - expected).abs() <= 1e-9 * more.total_microjoules());
    }
}
