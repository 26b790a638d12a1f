//! Counts: MACs, steps, elements and partial sums.

use xrsim::cost::loop_nest::{Axis, Evaluation, Level, Loop, Machine, Mapping, Nest};

use xrsim::model::TensorRole;

use super::population::*;
use crate::loop_nest::enumerator::cases::Case;
use crate::loop_nest::enumerator::layer::Layer;

/// Extents of the chunks of a loop, one after another (3.7).
fn chunks(map: &Loop, extent: u32) -> Vec<u32> {
    let mut chunks = Vec::new();
    let mut start = 0;
    loop {
        chunks.push(map.size.min(extent - start));
        if start + map.size >= extent {
            return chunks;
        }
        start += map.offset;
    }
}

/// Tiles and iterations along one axis on one level.
struct Along {
    /// Extents of the tiles of all clusters.
    tiles: Vec<u32>,
    /// Iterations of the loop over the axis, in all clusters.
    trips: u64,
}

/// Cuts the tiles of the level above. An axis without a loop is passed on.
fn along(level: &Level, axis: Axis, above: &[u32]) -> Along {
    let Some(map) = level.loops().iter().find(|map| map.axis == axis) else {
        return Along { tiles: above.to_vec(), trips: above.len() as u64 };
    };
    let parts: Vec<_> = above.iter().map(|&extent| chunks(map, extent)).collect();
    let units = if map.spatial { level.units() as usize } else { 1 };
    let trips = parts.iter().map(|chunks| chunks.len().div_ceil(units) as u64).sum();
    Along { tiles: parts.concat(), trips }
}

#[test]
fn steps_tiles_outputs_and_macs_are_products_over_the_axes() {
    for (name, case) in all() {
        let found = run(&case);
        let mut tiles = case.nest.extents().map(|extent| vec![extent]);
        for (level, counts) in case.mapping.levels().iter().zip(found.levels()) {
            let axes = Axis::ALL.map(|axis| along(level, axis, &tiles[axis as usize]));
            let steps: u64 = axes.iter().map(|axis| axis.trips).product();
            assert_eq!(counts.steps, steps, "{name}");
            tiles = axes.map(|axis| axis.tiles);
            let active: usize = tiles.iter().map(Vec::len).product();
            assert_eq!(counts.active, active as u64, "{name}");
        }
        let positions = tiles.each_ref().map(|tiles| tiles.iter().map(|&it| u64::from(it)).sum());
        assert_eq!(found.macs_executed, positions.iter().product::<u64>(), "{name}");
        let sums = Axis::ALL.map(|axis| match axis.is_reduction() {
            true => tiles[axis as usize].len() as u64,
            false => positions[axis as usize],
        });
        assert_eq!(found.pe_outputs, sums.iter().product::<u64>(), "{name}");
    }
}

/// Invariant 1.
#[test]
fn every_mac_is_executed_and_once_unless_outputs_are_repeated() {
    let mut repeating = 0;
    for (name, case) in all() {
        let found = run(&case);
        assert_eq!(found.macs_executed, case.mapping.macs(), "{name}");
        assert!(found.macs_executed >= case.nest.macs(), "{name}");
        let repeats = found.macs_executed > case.nest.macs();
        assert!(case.machine.allow_overlap || !repeats, "{name}");
        repeating += usize::from(repeats);
    }
    assert_enough("repeated outputs", repeating);
}

/// Invariant 2, for the PEs that the mapping can use.
#[test]
fn no_pe_executes_more_than_its_rate() {
    for (name, case) in all() {
        let found = run(&case);
        let pes: u64 = case.mapping.levels().iter().map(working_units).product();
        assert!(pes <= u64::from(case.machine.pes), "{name}");
        let macs = found.compute_cycles * pes * u64::from(case.machine.rate);
        assert!(macs >= found.macs_executed, "{name}");
        let utilisation = found.utilisation(case.machine.pes, case.machine.rate);
        assert!(utilisation > 0.0 && utilisation <= 1.0, "{name}: {utilisation}");
    }
}

#[test]
fn one_pe_takes_a_cycle_per_mac_or_if_it_is_fast_per_step() {
    let one_pe = |case: &Case| case.mapping.levels().iter().all(|level| working_units(level) == 1);
    for (name, case) in of_kind("one PE", one_pe) {
        let slow = run_on(&case, |machine| machine.rate = 1);
        assert_eq!(slow.compute_cycles, slow.macs_executed, "{name}");
        let fast = run_on(&case, |machine| machine.rate = u32::MAX);
        let steps = fast.levels().last().map(|counts| counts.steps);
        assert_eq!(Some(fast.compute_cycles), steps, "{name}");
    }
}

/// Number of elements of a tensor with these axes.
fn elements(nest: &Nest, axes: &[Axis]) -> u64 {
    axes.iter().map(|&axis| u64::from(nest.extent(axis))).product()
}

/// Invariant 7.
#[test]
fn the_l2_sends_and_receives_every_element_at_least_once() {
    for (name, case) in all() {
        let nest = &case.nest;
        let found = run(&case);
        let top = &found.levels()[0];
        assert!(top.sent.input >= Layer::new(nest).touched(), "{name}");
        assert!(top.sent.weight >= elements(nest, &Axis::WEIGHT), "{name}");
        assert!(top.arrived >= elements(nest, &Axis::OUTPUT), "{name}");
    }
}

/// Invariant 7: every arriving sum is the first of its output in a visit of the buffer, or is accumulated.
#[test]
fn every_partial_sum_that_arrives_is_the_first_of_its_output_or_added_to_it() {
    for (name, case) in all() {
        let found = run(&case);
        let mut firsts = elements(&case.nest, &Axis::OUTPUT);
        for counts in found.levels() {
            assert_eq!(counts.arrived, firsts + counts.accumulated, "{name}");
            firsts = counts.left;
        }
        assert_eq!(found.pe_outputs, firsts + found.pe_accumulations, "{name}");
    }
}

/// An element that is new in the buffer of a unit is new to its sub-units. For inputs, this holds only if
/// windows have no gaps.
#[test]
fn what_enters_a_buffer_is_passed_on() {
    let mut without_gaps = 0;
    for (name, case) in of_kind("several levels", |case| case.mapping.levels().len() > 1) {
        let found = run(&case);
        let has_gaps = case.nest.compact().iter().any(|it| (it.stride, it.dilation) != (1, 1));
        without_gaps += usize::from(!has_gaps);
        for pair in found.levels().windows(2) {
            let [entering, passed_on] = [pair[0].delivered, pair[1].sent];
            assert!(passed_on.weight >= entering.weight, "{name}");
            assert!(has_gaps || passed_on.input >= entering.input, "{name}");
        }
    }
    assert_enough("windows without gaps", without_gaps);
}

/// Counts that do not depend on the order of the loops of a level.
fn unordered(found: &Evaluation) -> (Vec<[u64; 3]>, [u64; 3]) {
    let levels =
        found.levels().iter().map(|counts| [counts.steps, counts.active, counts.unit_bytes]);
    (levels.collect(), [found.macs_executed, found.pe_outputs, found.compute_cycles])
}

/// Invariant 9.
#[test]
fn the_order_of_loops_changes_neither_macs_nor_steps_nor_the_time_of_computing() {
    let has_order = |case: &Case| case.mapping.levels().iter().any(|it| it.loops().len() > 1);
    let mut different = 0;
    for (name, case) in of_kind("loops to reorder", has_order) {
        let found = run(&case);
        let levels = drafts(&case.mapping);
        for (index, level) in levels.iter().enumerate().filter(|(_, it)| it.loops.len() > 1) {
            for turn in 0..level.loops.len() {
                let mut levels = levels.clone();
                levels[index].loops.reverse();
                levels[index].loops.rotate_left(turn);
                let mapping = mapping(&levels, &case.nest, &case.machine);
                let reordered = run(&Case { mapping, ..clone(&case) });
                assert_eq!(unordered(&reordered), unordered(&found), "{name}");
                different += usize::from(reordered.levels() != found.levels());
            }
        }
    }
    assert_enough("orders with other traffic", different);
}

fn clone(case: &Case) -> Case {
    Case { nest: case.nest.clone(), mapping: case.mapping, machine: case.machine.clone() }
}

/// Result with the loops of level 0 on one unit and in time, where loops over axes of the tensor are
/// outermost.
fn on_one_unit(case: &Case, tensor: TensorRole) -> Evaluation {
    let machine = Machine { pes: 1, ..case.machine.clone() };
    let mut level = drafts(&case.mapping).swap_remove(0);
    level.loops.iter_mut().for_each(|map| map.spatial = false);
    level.loops.sort_by_key(|map| !map.axis.indexes(tensor));
    let mapping: Mapping = mapping(&[level], &case.nest, &machine);
    run(&Case { nest: case.nest.clone(), mapping, machine })
}

/// Whether level 0 has loops over axes of a tensor as well as over other axes, and repeats no outputs.
fn reuses(case: &Case, tensor: TensorRole) -> bool {
    let of_tensor = |map: &Loop| map.axis.indexes(tensor);
    let loops = case.mapping.levels()[0].loops();
    !case.machine.allow_overlap && loops.iter().any(of_tensor) && !loops.iter().all(of_tensor)
}

/// Invariant 10.
#[test]
fn one_unit_whose_inner_loops_do_not_change_its_weights_gets_each_once() {
    for (name, case) in of_kind("reused weights", |case| reuses(case, TensorRole::Weight)) {
        let found = on_one_unit(&case, TensorRole::Weight);
        let weights = elements(&case.nest, &Axis::WEIGHT);
        assert_eq!(
            [found.levels()[0].sent.weight, found.levels()[0].delivered.weight],
            [weights; 2],
            "{name}"
        );
    }
}

/// Invariant 10.
#[test]
fn one_unit_whose_inner_loops_reduce_sends_each_output_once() {
    for (name, case) in of_kind("outputs kept in place", |case| reuses(case, TensorRole::Output)) {
        let top = on_one_unit(&case, TensorRole::Output).levels()[0];
        let outputs = elements(&case.nest, &Axis::OUTPUT);
        assert_eq!([top.left, top.arrived, top.accumulated], [outputs, outputs, 0], "{name}");
    }
}
