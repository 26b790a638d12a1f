//! The account of a run by hand.

use std::sync::Arc;

use super::{on, play, points};
use crate::support::layers::{plan, stream, table};
use crate::support::runs::{self, Case};

use xrsim::cost::LayerCost;
use xrsim::device::{Item, Ledger};
use xrsim::hardware::Device;
use xrsim::hardware::device::{DramPower, Gate, LeakageAmount};
use xrsim::ids::{PointId, RequestId};
use xrsim::plan::Division;
use xrsim::schedule::{Decision, Dispatch, Options, Policy, Scheduler, View};
use xrsim::trace::Outcome;
use xrsim::units::SimSpan;

/// Runs frame 0 at 1000 MHz and all others at 700 MHz.
struct ByFrame;

impl Scheduler for ByFrame {
    fn decide(&mut self, view: &View<'_>) -> Decision {
        let job = view.ready.iter().next().expect("one is ready");
        let point = PointId::new(usize::from(job.frame.index() == 0));
        Dispatch::new(job.request, view.idle[0]).at(point).into()
    }
}

/// 40 mW of leakage at 0.85 V, 5 mW while idle, gated after 3 ms. The accelerator has one PE.
pub(super) fn device() -> Device {
    let mut device = Device {
        dram: DramPower { active_mw: 136.5, idle_mw: 25.14 },
        base_mw: 100.0,
        ..Device::default()
    };
    let supply = &mut device.accelerators;
    supply.points = Some(points(&[(700.0, 0.7), (1000.0, 0.85)]));
    supply.leakage.amount = LeakageAmount::PerPes(40.0 * 1024.0);
    supply.idle_mw_per_1024_pes = 5.0 * 1024.0;
    let after = SimSpan::from_ns(3_000_000);
    let wake = SimSpan::from_ns(200_000);
    supply.gate = Some(Gate { after, left: 0.05, wake, wake_uj: 57.0 });
    supply.transition = SimSpan::from_ns(20_000);
    device
}

/// Layers of (1,000,000, 400,000), (300,000, 900,000) and (500,000, 500,000) cycles, 1.5 mJ with 0.3 mJ of DRAM.
pub(super) fn case() -> Case {
    let cycles = [(1_000_000, 400_000), (300_000, 900_000), (500_000, 500_000)];
    let layers = cycles.map(|(chip_cycles, dram_cycles): (u64, u64)| LayerCost {
        cycles: chip_cycles.max(dram_cycles),
        energy_nj: 500_000.0,
        chip_cycles,
        dram_cycles,
        dram_energy_nj: 100_000.0,
        dram_bytes: 1,
        ..LayerCost::default()
    });
    let policy = Policy::new(
        "by frame",
        Options::default(),
        true,
        Arc::new(|_| Ok(Box::new(ByFrame) as Box<dyn Scheduler>)),
    );
    let plan = plan(table(&[vec![layers.to_vec()]])).scheduled(policy);
    on(device(), runs::lasting_ms(20.0, plan))
}

pub(super) fn close(found: f64, expected: f64) {
    // Published to 1e-9 uJ.
    assert!((found - expected).abs() <= 1e-9, "{found} in place of {expected}");
}

fn check(ledger: &Ledger) {
    let expected = [
        (Item::Dynamic, 2_613.840_830_450),
        (Item::Moved, 0.0),
        (Item::Wake, 57.0),
        (Item::LeakRunning, 203.482_381_176),
        (Item::Idle, 248.823_529_412),
        (Item::Gated, 15.355_292_706),
        (Item::DramBackground, 1_133.415_866_880),
        (Item::Base, 2_000.0),
    ];
    for (item, microjoules) in expected {
        close(ledger.microjoules(item), microjoules);
    }
    close(ledger.total_microjoules(), 6_271.917_900_624);
}

/// Frame 0 runs from 0 to 2.4 ms at 1000 MHz, idles to 5.4 ms, and is gated to 10 ms. Frame 1 wakes up in 200 us, changes the
/// point in 20 us and takes 2,130,000 cycles at 700 MHz, 3,042,858 ns. It ends at 13,262,858 ns, idles for 3 ms, and is gated to
/// 20 ms. Energies of all items in exact rationals, rounded to 1e-9 uJ.
#[test]
fn the_account_of_two_frames_agrees_with_that_by_hand() {
    let requests = stream(&[(0, 0, 9_000_000), (0, 10_000_000, 19_000_000)]);
    let run = play(&case(), &requests);
    let ledger = run.ledger.expect("there is a device");
    check(&ledger);
    assert_eq!((ledger.transitions, ledger.wakes), (1, 1));
    assert_eq!(ledger.duration(), SimSpan::from_ns(20_000_000));
    close(ledger.mean_w(), 6_271.917_900_624 / 20e3);
    assert_eq!(ledger.peak_w(), ledger.mean_w());
    let [slow, fast] = ledger.shares_by_clock()[..] else { panic!("two clocks") };
    // 3,262,858 ns of 5,662,858.
    assert_eq!((slow.0, fast.0), (700.0, 1000.0));
    close(slow.1, 3_262_858.0 / 5_662_858.0);
    let energies = [0, 1].map(|id| match run.trace.record(RequestId::new(id)).outcome {
        Outcome::Executed { energy, end, .. } => (end.ns(), energy.get() * 1e3),
        other => panic!("{other:?}"),
    });
    assert_eq!(energies.map(|it| it.0), [2_400_000, 13_262_858]);
    close(energies[0].1, 1_596.0);
    close(energies[1].1, 1_278.323_211_626);
}

/// Shared bandwidth that limits nothing is another way through the engine.
#[test]
fn bandwidth_to_spare_changes_nothing_in_the_account() {
    let requests = stream(&[(0, 0, 9_000_000), (0, 10_000_000, 19_000_000)]);
    let mut case = case();
    case.plan.engine.effects.bandwidth.dram = Some(1e9);
    case.plan.engine.effects.bandwidth.division = Division::MaxMin;
    check(&play(&case, &requests).ledger.expect("there is a device"));
}
