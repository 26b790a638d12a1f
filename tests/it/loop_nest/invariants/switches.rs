//! Switches of NoC levels: multicast, forwarding and reduction.

use xrsim::cost::loop_nest::{Evaluation, LevelCounts};

use xrsim::model::PerOperand;

use super::population::*;
use crate::loop_nest::enumerator::cases::Case;

/// Values of multicast, forwarding and reduction for all NoC levels.
type Switches = [bool; 3];

/// All combinations of three switches, in binary order. The last switch is the least significant bit.
fn all_switches() -> impl Iterator<Item = Switches> {
    (0..8u8).map(|code| [4, 2, 1].map(|place| code & place > 0))
}

fn switched(case: &Case, switches: Switches) -> Evaluation {
    case.with(|it| [it.multicast, it.forward, it.reduce] = switches)
}

/// Elements on every NoC level, and cycles.
fn traffic(found: &Evaluation) -> Vec<u64> {
    let levels = found.levels().iter().flat_map(|it| [it.sent.input, it.sent.weight, it.arrived]);
    levels.chain([found.chip_cycles, found.cycles]).collect()
}

/// Invariant 4.
#[test]
fn no_switch_ever_costs_traffic_or_time() {
    let mut saving = [0; 3];
    for (name, case) in all() {
        let found: Vec<_> = all_switches().map(|it| traffic(&switched(&case, it))).collect();
        for (place, saving) in [4, 2, 1].into_iter().zip(&mut saving) {
            let mut saves = false;
            for off in (0..8).filter(|code| code & place == 0) {
                let [more, less] = [&found[off], &found[off + place]];
                assert!(more.iter().zip(less).all(|(more, less)| more >= less), "{name}, {off}");
                saves |= more != less;
            }
            *saving += usize::from(saves);
        }
    }
    saving.into_iter().for_each(|cases| assert_enough("a switch that saves", cases));
}

/// Counts that do not depend on the switches.
fn invariable(counts: &LevelCounts) -> (PerOperand<u64>, [u64; 4]) {
    (counts.delivered, [counts.left, counts.steps, counts.active, counts.unit_bytes])
}

/// Invariant 5, for all counts.
#[test]
fn no_switch_changes_what_units_receive_and_give() {
    for (name, case) in all() {
        let of_levels =
            |found: &Evaluation| found.levels().iter().map(invariable).collect::<Vec<_>>();
        let of_chip = |found: &Evaluation| {
            [found.macs_executed, found.pe_outputs, found.pe_accumulations, found.compute_cycles]
        };
        let expected = run(&case);
        for found in all_switches().map(|switches| switched(&case, switches)) {
            assert_eq!(of_levels(&found), of_levels(&expected), "{name}");
            assert_eq!(of_chip(&found), of_chip(&expected), "{name}");
            assert_eq!(found.memory, expected.memory, "{name}");
        }
    }
}

/// Invariant 5: every delivered element was sent or forwarded. A multicast send serves at most all units.
#[test]
fn deliveries_are_sends_and_forwards() {
    for (name, case) in all() {
        for switches @ [multicast, forward, _] in all_switches() {
            let found = switched(&case, switches);
            for (counts, level) in found.levels().iter().zip(case.mapping.levels()) {
                for tensor in 0..2 {
                    let [sent, delivered, forwarded] =
                        [counts.sent, counts.delivered, counts.forwarded]
                            .map(|it| it.into_array()[tensor]);
                    let from_above = delivered - forwarded;
                    let copies = if multicast { working_units(level) } else { 1 };
                    assert!(sent <= from_above && from_above <= sent * copies, "{name}");
                    assert!(forward || forwarded == 0, "{name}");
                }
            }
        }
    }
}

#[test]
fn how_much_is_forwarded_does_not_depend_on_multicast() {
    let mut forwarding = 0;
    for (name, case) in all() {
        let [off, on] = [false, true].map(|multicast| switched(&case, [multicast, true, true]));
        let forwarded = |found: &Evaluation| -> Vec<_> {
            found.levels().iter().flat_map(|counts| counts.forwarded.into_array()).collect()
        };
        assert_eq!(forwarded(&off), forwarded(&on), "{name}");
        forwarding += usize::from(forwarded(&on).into_iter().any(|count| count > 0));
    }
    assert_enough("forwards", forwarding);
}

#[test]
fn sums_that_are_not_added_on_the_way_all_arrive() {
    for (name, case) in all() {
        for switches in all_switches() {
            let found = switched(&case, switches);
            for (counts, level) in found.levels().iter().zip(case.mapping.levels()) {
                let added = if switches[2] { working_units(level) } else { 1 };
                let possible = counts.arrived..=counts.arrived * added;
                assert!(possible.contains(&counts.left), "{name}");
            }
        }
    }
}
