//! The loop-nest cost model against an enumeration of its execution: random small layers are walked step
//! by step and unit by unit, with explicit sets of elements in every buffer. Every count and every cycle
//! must be equal to that of the closed form.
//!
//! The enumerator implements section 4 of docs/explanation/cost-model-loop-nest.md and no other formula of the model.
//! It shares no code with it: the elaborated loops of a mapping and the machine are its inputs.
//!
//! `cargo test --release` compares 2,000 cases; `XRSIM_CASES=1000000 cargo test --release --test it
//! loop_nest::enumerator` compares a million. A failure names the case, whose number is its seed:
//! `XRSIM_FIRST=<case> XRSIM_CASES=1` repeats it. As many cases again have loops above the shared memory.

pub mod cases;
pub mod layer;
pub mod off_chip;
pub mod walk;

use std::fmt::Debug;

use cases::{Case, N_CASES, cases, off_chip_cases};
use layer::Layer;
use walk::{Tally, Time, enumerate};
use xrsim::cost::loop_nest::{Axis, Evaluation, Fill, Level, Loop, Mapping, Nest, evaluate};
use xrsim::model::PerTensor;

/// Panics with the whole case unless both values are equal.
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
    compare_chip(&found, &walked, time, seed, case);
    assert_same(found.off_chip(), None, "off-chip level", seed, case);
}

/// Compares the levels on chip.
fn compare_chip(found: &Evaluation, walked: &Tally, time: Time, seed: u64, case: &Case) {
    for (level, (found, walked)) in found.levels().iter().zip(&walked.counts).enumerate() {
        assert_same(found, walked, &format!("level {level}"), seed, case);
    }
    assert_same(found.levels().len(), walked.counts.len(), "levels", seed, case);
    assert_same(found.macs_executed, walked.macs, "MACs", seed, case);
    assert_same(walked.executed.len(), case.nest.macs(), "distinct MACs", seed, case);
    assert_same(found.pe_outputs, walked.pe_outputs, "PE outputs", seed, case);
    assert_same(found.pe_accumulations, walked.pe_accumulations, "PE additions", seed, case);
    let cycles = Time { chip: found.chip_cycles, compute: found.compute_cycles };
    assert_same(cycles, time, "cycles", seed, case);
    assert_same(of_loops(case), case.mapping, "mapping from its loops", seed, case);
}

/// The mapping of a case, made of its loops.
fn of_loops(case: &Case) -> Mapping {
    let Case { nest, mapping, machine } = case;
    let levels: Vec<_> = mapping.levels().iter().map(|it| (it.units(), it.loops())).collect();
    Mapping::of_loops(mapping.off_chip().map(Level::loops), &levels, nest, machine)
        .expect("the mapping is legal")
}

fn compare_off_chip(seed: u64, case: &Case) {
    let Case { nest, mapping, machine } = case;
    let found = evaluate(nest, mapping, machine).expect("the layer is small");
    let walked = off_chip::enumerate(nest, mapping, machine);
    assert_same(found.off_chip(), Some(&walked.counts), "off-chip level", seed, case);
    compare_chip(&found, &walked.tally, walked.chip, seed, case);
    assert_same(found.memory.dram, walked.dram, "DRAM", seed, case);
    assert_same(found.memory.shared_bytes, walked.shared_bytes, "shared memory", seed, case);
    let fits = machine.shared_bytes.is_none_or(|capacity| walked.shared_bytes <= capacity);
    assert_same(found.memory.fits, fits, "fits", seed, case);
    // No layer is faster than DRAM at its bandwidth (6.5).
    let roof = machine.dram_cycles(walked.dram.total_bytes());
    assert_same(found.dram_cycles, walked.dram_cycles.max(roof), "DRAM cycles", seed, case);
    assert_same(found.cycles, walked.cycles.max(roof), "cycles with DRAM", seed, case);
}

#[test]
fn every_count_and_cycle_above_the_shared_memory_is_that_of_the_walk() {
    off_chip_cases().for_each(|(seed, case)| compare_off_chip(seed, &case));
}

#[test]
fn every_count_and_cycle_is_that_of_the_walk_step_by_step() {
    cases().for_each(|(seed, case)| compare(seed, &case));
}

#[test]
fn random_cases_are_of_every_kind() {
    let n = N_CASES as usize;
    let all: Vec<_> = cases().take(n).map(|(_, case)| case).collect();
    if all.len() < n {
        return;
    }
    let often = |kind: &str, is: &dyn Fn(&Case) -> bool| {
        let count = all.iter().filter(|case| is(case)).count();
        assert!(count >= n / 20, "{kind}: {count}");
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
    often("a fill", &|case| case.machine.noc_levels.iter().any(|it| it.fill != Fill::default()));
    often("repeated outputs", &|case| case.mapping.macs() > case.nest.macs());
    often("narrow elements", &|case| {
        case.machine.widths.into_array().iter().any(|width| width.bits() < 8)
    });
    often("folds", &|case| case.mapping.levels().iter().any(|level| has_folds(level, &case.nest)));
    often("units on two levels", &|case| {
        case.mapping.levels().iter().filter(|level| level.spatial().is_some()).count() > 1
    });
}

#[test]
fn random_cases_with_an_off_chip_level_are_of_every_kind() {
    let n = N_CASES as usize * 3 / 4;
    let all: Vec<_> = off_chip_cases().take(n).map(|(_, case)| case).collect();
    if all.len() < n {
        return;
    }
    let often = |kind: &str, is: &dyn Fn(&Case, &Evaluation) -> bool| {
        let is = |case: &&Case| {
            let found = evaluate(&case.nest, &case.mapping, &case.machine);
            is(case, &found.expect("the layer is small"))
        };
        let count = all.iter().filter(is).count();
        assert!(count >= n / 30, "{kind}: {count}");
    };
    let loops = |case: &Case| case.mapping.off_chip().map_or(0, |level| level.loops().len());
    often("one loop", &|case, _| loops(case) == 1);
    often("several loops", &|case, _| loops(case) > 2);
    often("no loop", &|case, _| loops(case) == 0);
    often("spilled sums", &|_, found| found.memory.dram.partial_sums_read > 0);
    often("a resident tensor", &|case, _| case.machine.resident.into_array().contains(&true));
    often("repeated outputs", &|case, _| case.mapping.macs() > case.nest.macs());
    often("bound by DRAM", &|_, found| found.dram_cycles > found.chip_cycles);
    often("compression", &|case, _| case.machine.compression != PerTensor::default());
    often("padding", &|case, _| case.nest.windows().iter().any(|window| window.padding > 0));
}

/// Whether a level may have more chunks than units.
fn has_folds(level: &Level, nest: &Nest) -> bool {
    let folds = |map: &Loop| map.chunks(nest.extent(map.axis)) > level.units();
    level.units() > 1 && level.spatial().is_some_and(folds)
}
