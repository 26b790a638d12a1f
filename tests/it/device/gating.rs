//! Gates: idle accelerators that are cut from their supply.

use super::{account, on};
use crate::support::layers::{plan, stream, table_ns};
use crate::support::runs;

use proptest::prelude::*;
use xrsim::device::Item;
use xrsim::hardware::Device;
use xrsim::hardware::device::{Gate, LeakageAmount};
use xrsim::load::RequestStream;
use xrsim::units::SimSpan;

const MS: u64 = 1_000_000;

/// 20 mW of leakage, of which a gate leaves 1 mW after `after` ns; 57 uJ to wake up.
fn device(after: Option<u64>) -> Device {
    let mut device = Device::default();
    device.accelerators.leakage.amount = LeakageAmount::PerPes(20.0 * 1024.0);
    device.accelerators.gate = after.map(|after| Gate {
        after: SimSpan::from_ns(after),
        left: 0.05,
        wake: SimSpan::ZERO,
        wake_uj: 57.0,
    });
    device
}

/// Requests of 1 ns with these gaps between the end of one and the start of the next, the first at 0.
fn with_gaps(gaps: &[u64]) -> (RequestStream, u64) {
    let (mut requests, mut start) = (vec![(0, 0, u64::MAX)], 0);
    for gap in gaps {
        start += 1 + gap;
        requests.push((0, start, u64::MAX));
    }
    (stream(&requests), start + 1)
}

/// Energy of all gaps \[uJ\]: idling, gated, and waking up.
fn energy_of_gaps(gaps: &[u64], after: Option<u64>) -> f64 {
    let (requests, end) = with_gaps(gaps);
    let mut case = on(device(after), plan(table_ns(&[vec![vec![1]]])));
    case.plan.load.duration = SimSpan::from_ns(end);
    let ledger = account(&case, &requests);
    assert_eq!(ledger.duration(), SimSpan::from_ns(end));
    [Item::Idle, Item::Gated, Item::Wake].map(|item| ledger.microjoules(item)).iter().sum()
}

/// Energy of the best choice for each gap, which knows how long it is \[uJ\].
fn best_of_gaps(gaps: &[u64]) -> f64 {
    let best = |&gap: &u64| {
        let ms = gap as f64 / 1e6;
        (20.0 * ms).min(ms + 57.0)
    };
    gaps.iter().map(best).sum()
}

/// The break-even time is 57 uJ / (20 - 1 mW) = 3 ms. A gap of 3 ms idles for all of it: it is not longer than the gate waits.
/// After 3 ms: 20 + 58 + 60 + (60 + 0.1 + 57) + (60 + 2 + 57) + (60 + 7 + 57) + (60 + 97 + 57) = 712.1 uJ. At once, every gap
/// takes 57 uJ and 1 mW: 7 * 57 + 125 = 524. Never: 125 ms of 20 mW = 2500.
#[test]
fn gaps_take_the_energy_of_idling_gating_and_waking_up() {
    let gaps = [1.0, 2.9, 3.0, 3.1, 5.0, 10.0, 100.0].map(|ms| (ms * 1e6) as u64);
    let close = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-9, "{found}");
    close(energy_of_gaps(&gaps, Some(3 * MS)), 712.1);
    close(energy_of_gaps(&gaps, Some(0)), 524.0);
    close(energy_of_gaps(&gaps, None), 2500.0);
    close(best_of_gaps(&gaps), 484.1);
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 200,
        rng_seed: proptest::test_runner::RngSeed::Fixed(20261),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_gate_after_the_break_even_time_costs_at_most_twice_the_best_choice(
        gaps in prop::collection::vec(prop_oneof![1u64..10 * MS, 1u64..100 * MS], 1..20),
    ) {
        let found = energy_of_gaps(&gaps, Some(3 * MS));
        let best = best_of_gaps(&gaps);
        prop_assert!(best * (1.0 - 1e-12) <= found && found <= 2.0 * best, "{found} for {best}");
    }
}

/// 2 ns of work, idle up to 5 ns, due at 5 ns: the gate waits for exactly 3 ns.
#[test]
fn an_accelerator_that_idles_exactly_as_long_as_the_gate_waits_is_not_gated() {
    let wakes = |arrival: u64| {
        let requests = stream(&[(0, 0, u64::MAX), (0, arrival, u64::MAX)]);
        let case = on(device(Some(3)), runs::lasting_ms(0.001, plan(table_ns(&[vec![vec![2]]]))));
        account(&case, &requests).wakes
    };
    assert_eq!([wakes(5), wakes(6)], [0, 1]);
}
