//! The principled cost model against an enumeration of what it means: random small layers are walked
//! step by step, unit by unit, with explicit sets of elements in every buffer, and every count and
//! cycle must be equal to that of the closed form.
//!
//! The enumerator knows no formula of the model beyond its execution semantics (section 4) and
//! shares no code with it: it takes the elaborated loops of a mapping and the machine as they are.
//!
//! `cargo test` compares 2,000 cases; `XRSIM_CASES=1000000 cargo test --release --test
//! principled_enumerator` compares a million. A failure names the case, which is its seed, so that
//! `XRSIM_FIRST=<case> XRSIM_CASES=1` repeats it.

#[path = "principled_enumerator/cases.rs"]
mod cases;
#[path = "principled_enumerator/layer.rs"]
mod layer;
#[path = "principled_enumerator/walk.rs"]
mod walk;

use std::fmt::Debug;

use cases::{Case, cases};
use layer::{Layer, whole};
use walk::{Time, enumerate};
use xrsim::cost::principled::{
    Axis, Evaluation, Level, LevelCounts, Loop, Nest, Network, evaluate,
};

/// Fails with the whole case unless both are equal.
fn assert_same<T: PartialEq + Debug>(found: T, walked: T, what: &str, seed: u64, case: &Case) {
    let Case { nest, mapping, machine } = case;
    let levels: Vec<_> = mapping.levels().iter().map(|level| format!("[{level}]")).collect();
    assert!(
        found == walked,
        "case {seed}: {what}: found {found:?}, walked {walked:?}\n{nest:?}\n{levels:?}\n{machine:?}",
    );
}

fn compare(seed: u64, case: &Case) {
    let Case { nest, mapping, machine } = case;
    let found = evaluate(nest, mapping, machine).expect("the layer is small");
    let (walked, time) = enumerate(nest, mapping, machine);
    for (level, (found, walked)) in found.levels().iter().zip(&walked.counts).enumerate() {
        assert_same(found, walked, &format!("level {level}"), seed, case);
    }
    assert_same(found.levels().len(), walked.counts.len(), "levels", seed, case);
    assert_same(found.macs_executed, walked.macs, "MACs", seed, case);
    assert_same(walked.executed.len(), nest.macs(), "distinct MACs", seed, case);
    assert_same(found.pe_outputs, walked.pe_outputs, "PE outputs", seed, case);
    assert_same(found.pe_accumulations, walked.pe_accumulations, "PE additions", seed, case);
    let cycles = Time { chip: found.chip_cycles, compute: found.compute_cycles };
    assert_same(cycles, time, "cycles", seed, case);
}

#[test]
fn every_count_and_cycle_is_that_of_the_walk_step_by_step() {
    cases().for_each(|(seed, case)| compare(seed, &case));
}

/// What `count` says of each level.
fn each_level<T>(evaluation: &Evaluation, count: impl Fn(&LevelCounts) -> T) -> Vec<T> {
    evaluation.levels().iter().map(count).collect()
}

/// Whether no level of `more` sends fewer inputs or weights, and the chip is not faster.
fn sends_no_less(more: &Evaluation, less: &Evaluation) -> bool {
    let levels = more.levels().iter().zip(less.levels());
    let mut tensors = levels.flat_map(|(more, less)| more.sent.into_iter().zip(less.sent));
    tensors.all(|(more, less)| more >= less) && more.chip_cycles >= less.chip_cycles
}

#[test]
fn legal_mappings_execute_every_mac_once_and_no_faster_than_the_pes() {
    for (seed, Case { nest, mapping, machine }) in cases() {
        let found = evaluate(&nest, &mapping, &machine).expect("the layer is small");
        if !machine.allow_overlap {
            assert_eq!(found.macs_executed, nest.macs(), "case {seed}");
        }
        let peak = u64::from(machine.pes) * u64::from(machine.rate);
        assert!(found.cycles * peak >= found.macs_executed, "case {seed}");
        assert!(found.chip_cycles >= found.compute_cycles, "case {seed}");
    }
}

#[test]
fn networks_that_take_no_time_leave_the_time_of_the_macs() {
    for (seed, case) in cases() {
        let found = case.with(|network| {
            let Network { multicast, forward, reduce, .. } = *network;
            *network = Network { multicast, forward, reduce, ..Network::IDEAL };
        });
        assert_eq!(found.chip_cycles, found.compute_cycles, "case {seed}");
    }
}

#[test]
fn multicast_and_forwarding_save_sends_and_no_deliveries() {
    for (seed, case) in cases() {
        let found = [false, true].map(|multicast| {
            [false, true].map(|forward| {
                case.with(|network| (network.multicast, network.forward) = (multicast, forward))
            })
        });
        let [[neither, forward], [multicast, both]] = &found;
        for (more, less) in
            [(neither, forward), (neither, multicast), (forward, both), (multicast, both)]
        {
            assert!(sends_no_less(more, less), "case {seed}");
        }
        for one in found.iter().flatten() {
            let delivered = each_level(neither, |counts| counts.delivered);
            assert_eq!(each_level(one, |counts| counts.delivered), delivered, "case {seed}");
            let sent = one.levels().iter().flat_map(|counts| [0, 1].map(|t| (counts, t)));
            for (counts, tensor) in sent {
                assert!(counts.delivered[tensor] >= counts.sent[tensor], "case {seed}");
            }
        }
    }
}

#[test]
fn additions_on_the_way_save_arrivals_and_no_deliveries() {
    for (seed, case) in cases() {
        let [off, on] = [false, true].map(|reduce| case.with(|network| network.reduce = reduce));
        for (off, on) in off.levels().iter().zip(on.levels()) {
            assert!(off.arrived >= on.arrived, "case {seed}");
            assert_eq!(off.left, on.left, "case {seed}");
            assert_eq!(off.delivered, on.delivered, "case {seed}");
        }
        assert!(off.chip_cycles >= on.chip_cycles, "case {seed}");
    }
}

#[test]
fn the_l2_sends_and_receives_every_element_at_least_once() {
    for (seed, case) in cases() {
        let found = case.with(|_| {});
        let layer = Layer::new(&case.nest);
        let space = whole(layer.extents);
        let top = &found.levels()[0];
        assert!(top.sent[0] >= layer.touched(), "case {seed}");
        assert!(top.sent[1] >= layer.weights(&space).len(), "case {seed}");
        assert!(top.arrived >= layer.outputs(&space).len(), "case {seed}");
    }
}

#[test]
fn random_cases_are_of_every_kind() {
    let all: Vec<_> = cases().take(2000).map(|(_, case)| case).collect();
    if all.len() < 2000 {
        return;
    }
    let often = |kind: &str, is: &dyn Fn(&Case) -> bool| {
        let count = all.iter().filter(|case| is(case)).count();
        assert!(count >= 100, "{kind}: {count}");
    };
    let extent = |case: &Case, axis| case.nest.extent(axis);
    let levels = |case: &Case| case.mapping.levels().len();
    often("one level", &|case| levels(case) == 1);
    often("two levels", &|case| levels(case) == 2);
    often("three levels", &|case| levels(case) == 3);
    often("groups", &|case| extent(case, Axis::G) > 1);
    often("depthwise", &|case| case.nest.is_depthwise());
    often("strides", &|case| Layer::new(&case.nest).steps.iter().any(|step| step.0 > 1));
    often("dilations", &|case| Layer::new(&case.nest).steps.iter().any(|step| step.1 > 1));
    often("padding", &|case| case.nest.windows().iter().any(|window| window.padding > 0));
    often("repeated outputs", &|case| case.mapping.macs() > case.nest.macs());
    often("folds", &|case| case.mapping.levels().iter().any(|level| has_folds(level, &case.nest)));
    often("units on two levels", &|case| {
        case.mapping.levels().iter().filter(|level| level.spatial().is_some()).count() > 1
    });
}

/// Whether a level may have more chunks than units.
fn has_folds(level: &Level, nest: &Nest) -> bool {
    let folds = |map: &Loop| map.chunks(nest.extent(map.axis)) > level.units();
    level.units() > 1 && level.spatial().is_some_and(folds)
}
