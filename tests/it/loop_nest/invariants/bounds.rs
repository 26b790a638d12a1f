//! Bounds of the mapper (docs/explanation/mapper.md, equations 1 and 2): no mapping costs less.

use xrsim::cost::loop_nest::{Energies, Evaluation, Machine};
use xrsim::mapper::machine_bound;

use super::population::*;
use crate::loop_nest::enumerator::cases::{Case, off_chip_cases};

/// A table in which every component counts. Neighbours forward at a lower or a higher energy than the NoC
/// has.
fn energies(index: usize) -> Energies {
    Energies {
        mac: 0.3,
        register: 0.03,
        scratchpad: 0.31,
        cluster: [1.25; 8],
        shared: 3.5,
        noc: 0.6,
        forward: if index.is_multiple_of(2) { 0.4 } else { 0.8 },
        dram: 7.5,
        leakage: 1.5,
        clock: 2.5,
    }
}

/// Checks the bounds of a case, and returns the share of its cycles and of its energy that they are.
fn shares(name: &str, case: &Case, found: &Evaluation, machine: &Machine) -> [f64; 2] {
    let bound = machine_bound(&case.nest, machine);
    let energy = found.energy.total();
    assert!(bound.cycles <= found.cycles, "{name}: {} <= {}", bound.cycles, found.cycles);
    // Sums of floating-point numbers in another order.
    assert!(bound.energy_pj <= energy * (1.0 + 1e-12), "{name}: {} <= {energy}", bound.energy_pj);
    [bound.cycles as f64 / found.cycles as f64, bound.energy_pj / energy]
}

#[test]
fn no_mapping_costs_less_than_the_bound_of_its_machine() {
    let off_chip = off_chip_cases().map(|(seed, case)| (format!("off-chip case {seed}"), case));
    let cases = all().enumerate().map(|(index, (name, case))| (name, varied(index, case)));
    let mut near = [0; 2];
    for (index, (name, mut case)) in cases.chain(off_chip).enumerate() {
        case.machine.energies = energies(index);
        let shares = shares(&name, &case, &run(&case), &case.machine);
        let is_near = shares.map(|share| usize::from(share > 0.5));
        near = [near[0] + is_near[0], near[1] + is_near[1]];
    }
    assert_enough("cycles near their bound", near[0]);
    assert_enough("energies near their bound", near[1]);
}
