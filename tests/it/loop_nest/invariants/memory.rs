//! Tiles in shared memory and DRAM traffic (docs/explanation/cost-model-loop-nest.md, section 6).

use std::collections::BTreeSet;

use xrsim::cost::loop_nest::{
    Axis, DramTraffic, Loop, Machine, Nest, SharedMemoryPlan, Width, Widths,
};
use xrsim::model::{PerTensor, TensorRole};

use super::population::*;
use crate::loop_nest::enumerator::cases::Case;

/// Half-open interval: first position, and the position after the last.
type Interval = (u64, u64);

/// Elements of a tensor, which has five axes, as a product of intervals.
type Region = [Interval; 5];

fn volume(region: &Region) -> u64 {
    region.iter().map(|(start, end)| end - start).product()
}

fn common(one: &Region, other: &Region) -> u64 {
    let both = one.iter().zip(other).map(|(a, b)| a.1.min(b.1).saturating_sub(a.0.max(b.0)));
    both.product()
}

/// Elements of a tensor that a tile touches.
fn region(nest: &Nest, tensor: TensorRole, tile: &[Interval; 8]) -> Region {
    let [n, g, k, c, y, x, r, s] = *tile;
    let hull = |at: usize, output: Interval, kernel: Interval| {
        let steps = nest.compact()[at];
        let [stride, dilation] = [steps.stride, steps.dilation].map(u64::from);
        let last = (output.1 - 1) * stride + (kernel.1 - 1) * dilation;
        (output.0 * stride + kernel.0 * dilation, last + 1)
    };
    match tensor {
        TensorRole::Input => [n, g, c, hull(0, y, r), hull(1, x, s)],
        TensorRole::Weight => [g, k, c, r, s],
        TensorRole::Output => [n, g, k, y, x],
    }
}

/// Size and offset of a loop of level 0 with folds as iterations in time (section 6.1).
fn in_time(case: &Case, map: &Loop) -> [u64; 2] {
    let units = if map.spatial { u64::from(case.mapping.levels()[0].units()) } else { 1 };
    let [size, offset] = [map.size, map.offset].map(u64::from);
    [(units - 1) * offset + size, units * offset]
}

fn divides(case: &Case, map: &Loop) -> bool {
    in_time(case, map)[0] < u64::from(case.nest.extent(map.axis))
}

/// Sequence of the tiles inside the first `depth` loops of level 0.
fn tiles(case: &Case, depth: usize) -> Vec<[Interval; 8]> {
    let mut tiles = vec![case.nest.extents().map(|extent| (0, u64::from(extent)))];
    for map in &case.mapping.levels()[0].loops()[..depth] {
        let [size, offset] = in_time(case, map);
        let axis = map.axis as usize;
        let extent = u64::from(case.nest.extent(map.axis));
        let count = extent.saturating_sub(size).div_ceil(offset) + 1;
        let cut = |tile: [Interval; 8], chunk: u64| {
            let mut tile = tile;
            tile[axis] = (chunk * offset, (chunk * offset + size).min(extent));
            tile
        };
        let tiles_of = |tile: &[Interval; 8]| {
            let tile = *tile;
            (0..count).map(move |chunk| cut(tile, chunk))
        };
        tiles = tiles.iter().flat_map(tiles_of).collect();
    }
    tiles
}

/// Elements that enter the shared memory over a sequence of tiles. Outputs count whenever their tile
/// changes.
fn traffic(regions: &[Region], tensor: TensorRole) -> u64 {
    let added = |pair: &[Region]| match tensor {
        TensorRole::Output if pair[0] == pair[1] => 0,
        TensorRole::Output => volume(&pair[1]),
        _ => volume(&pair[1]) - common(&pair[0], &pair[1]),
    };
    volume(&regions[0]) + regions.windows(2).map(added).sum::<u64>()
}

/// Number of stored rows (0) or columns (1) that MACs touch, by enumeration.
fn stored(nest: &Nest, at: usize) -> u64 {
    let [outputs, kernel] = Axis::WINDOWS[at].map(|axis| i64::from(nest.extent(axis)));
    let window = nest.windows()[at];
    let [stride, dilation, padding] =
        [window.stride, window.dilation, window.padding].map(i64::from);
    let touch = |y: i64| (0..kernel).map(move |r| y * stride + r * dilation - padding);
    let mut rows: BTreeSet<i64> = (0..outputs).flat_map(touch).collect();
    rows.retain(|row| (0..i64::from(window.stored)).contains(row));
    rows.len() as u64
}

/// Elements of every tensor that the layer needs at least once: of the input those that are stored and
/// that MACs touch.
fn compulsory(nest: &Nest) -> PerTensor<u64> {
    let plain: u64 = Axis::INPUT.iter().map(|&axis| u64::from(nest.extent(axis))).product();
    let whole = nest.extents().map(|extent| (0, u64::from(extent)));
    PerTensor {
        input: plain * stored(nest, 0) * stored(nest, 1),
        weight: volume(&region(nest, TensorRole::Weight, &whole)),
        output: volume(&region(nest, TensorRole::Output, &whole)),
    }
}

/// Widths on chip, with outputs as partial sums.
fn on_chip(widths: &Widths) -> PerTensor<Width> {
    PerTensor { input: widths.input, weight: widths.weight, output: widths.partial_sum }
}

/// One tensor held at one depth.
#[derive(Clone, Copy)]
struct Hold {
    depth: usize,
    shared_bytes: u64,
    read: u64,
    written: u64,
}

/// A tensor held at every depth (section 6.1).
fn holds(case: &Case, tensor: TensorRole) -> Vec<Hold> {
    let loops = case.mapping.levels()[0].loops();
    let deepest = if case.machine.resident[tensor] { 0 } else { loops.len() };
    (0..=deepest).map(|depth| hold(case, tensor, depth)).collect()
}

/// A tensor held at one depth: memory for the first tile, and DRAM traffic (sections 6.1 to 6.3).
fn hold(case: &Case, tensor: TensorRole, depth: usize) -> Hold {
    let Machine { widths, shared_copies, resident, .. } = &case.machine;
    let width = on_chip(widths)[tensor];
    let tiles = tiles(case, depth);
    let regions: Vec<_> = tiles.iter().map(|it| region(&case.nest, tensor, it)).collect();
    let changes = |map: &Loop| divides(case, map) && map.axis.indexes(tensor);
    let changes = case.mapping.levels()[0].loops()[..depth].iter().any(changes);
    let copies = if changes { u64::from(shared_copies[tensor]) } else { 1 };
    let once = compulsory(&case.nest)[tensor];
    let moved = traffic(&regions, tensor);
    let with_padding = case.nest.inputs(case.nest.extents());
    let spilled = width.bytes(moved.saturating_sub(once));
    let in_dram = |elements: u64| case.machine.dram_bytes(tensor, elements);
    let [read, written] = match tensor {
        _ if resident[tensor] => [0, 0],
        TensorRole::Input => [in_dram(once.max((moved * once).div_ceil(with_padding))), 0],
        TensorRole::Weight => [in_dram(moved), 0],
        TensorRole::Output => [spilled, in_dram(once) + spilled],
    };
    Hold { depth, shared_bytes: copies * width.bytes(volume(&regions[0])), read, written }
}

/// The best of all combinations (section 6.4).
fn choice(holds: &PerTensor<Vec<Hold>>, capacity: Option<u64>) -> SharedMemoryPlan {
    let PerTensor { input: inputs, weight: weights, output: outputs } = holds;
    let pairs = inputs.iter().flat_map(|input| weights.iter().map(move |weight| (input, weight)));
    let all = pairs.flat_map(|(input, weight)| outputs.iter().map(move |it| [input, weight, it]));
    let traffic = all.map(|choice @ [input, weight, output]| {
        let shared_bytes = choice.iter().map(|hold| hold.shared_bytes).sum();
        SharedMemoryPlan {
            dram: DramTraffic {
                inputs_read: input.read,
                weights_read: weight.read,
                partial_sums_read: output.read,
                outputs_written: output.written,
            },
            shared_bytes,
            fits: capacity.is_none_or(|capacity| shared_bytes <= capacity),
            depths: choice.map(|hold| hold.depth).into(),
        }
    });
    let key = |it: &SharedMemoryPlan| {
        let (moved, held) = (it.dram.total_bytes(), it.shared_bytes);
        let order = if it.fits { [moved, held] } else { [held, moved] };
        (!it.fits, order, it.depths)
    };
    traffic.min_by_key(key).expect("there is a choice")
}

fn with_shared_memory(case: &Case, bytes: Option<u64>) -> SharedMemoryPlan {
    run_on(case, |machine| machine.shared_bytes = bytes).memory
}

/// All plans that some capacity selects, from infinite shared memory to the smallest that fits. Each
/// plan is the choice under one byte less than the previous one uses.
fn choices(case: &Case) -> Vec<SharedMemoryPlan> {
    let next = |found: &SharedMemoryPlan| {
        let found = with_shared_memory(case, Some(found.shared_bytes.checked_sub(1)?));
        found.fits.then_some(found)
    };
    std::iter::successors(Some(with_shared_memory(case, None)), next).collect()
}

#[test]
fn dram_moves_what_the_best_choice_of_tiles_needs() {
    let few_tiles = |case: &Case| tiles_at_most(case, 4000);
    for (index, (name, case)) in of_kind("few tiles", few_tiles).into_iter().enumerate() {
        let case = varied(index, case);
        let holds = PerTensor::from_fn(|tensor| holds(&case, tensor));
        let least: u64 = choices(&case).last().map_or(0, |choice| choice.shared_bytes);
        let most = with_shared_memory(&case, None).shared_bytes;
        for capacity in [most, most - 1, (least + most) / 2, least, least / 2, 0] {
            let found = with_shared_memory(&case, Some(capacity));
            assert_eq!(found, choice(&holds, Some(capacity)), "{name}, {capacity} bytes");
        }
        assert_eq!(with_shared_memory(&case, None), choice(&holds, None), "{name}");
    }
}

/// Whether level 0 has at most `most` iterations in time.
fn tiles_at_most(case: &Case, most: u64) -> bool {
    let steps = |map: &Loop| {
        let [size, offset] = in_time(case, map);
        u64::from(case.nest.extent(map.axis)).saturating_sub(size).div_ceil(offset) + 1
    };
    case.mapping.levels()[0].loops().iter().map(steps).product::<u64>() <= most
}

/// Invariant 8: DRAM moves a tensor that is not resident at least once, and exactly once if there is room.
#[test]
fn dram_moves_every_element_at_least_once_and_no_more_if_there_is_room() {
    for (index, (name, case)) in all().enumerate() {
        let case = varied(index, case);
        let elements = compulsory(&case.nest);
        let once = PerTensor::from_fn(|tensor| match case.machine.resident[tensor] {
            true => 0,
            false => case.machine.dram_bytes(tensor, elements[tensor]),
        });
        for (number, found) in choices(&case).into_iter().enumerate() {
            let DramTraffic { inputs_read, weights_read, partial_sums_read, outputs_written } =
                found.dram;
            assert_eq!(outputs_written, once.output + partial_sums_read, "{name}");
            assert!(inputs_read >= once.input && weights_read >= once.weight, "{name}");
            if number == 0 {
                let read = [inputs_read, weights_read, partial_sums_read];
                assert_eq!(read, [once.input, once.weight, 0], "{name}");
            }
        }
    }
}

/// Invariant 8. The reported use is the smallest for its traffic, so that one byte less costs traffic.
/// The last plan remains if no plan fits.
#[test]
fn every_byte_of_shared_memory_in_use_saves_traffic() {
    let mut trades = 0;
    for (index, (name, case)) in all().enumerate() {
        let case = varied(index, case);
        let choices = choices(&case);
        for pair in choices.windows(2) {
            assert!(pair[1].dram.total_bytes() > pair[0].dram.total_bytes(), "{name}");
            assert!(pair[1].shared_bytes < pair[0].shared_bytes, "{name}");
            assert_eq!(with_shared_memory(&case, Some(pair[0].shared_bytes)), pair[0], "{name}");
        }
        let least = choices.last().expect("the first");
        for too_little in [least.shared_bytes.saturating_sub(1), 0] {
            let expected = SharedMemoryPlan { fits: false, ..*least };
            assert_eq!(with_shared_memory(&case, Some(too_little)), expected, "{name}");
        }
        trades += usize::from(choices.len() > 3);
    }
    assert_enough("choices of several kinds", trades);
}

/// Invariant 8.
#[test]
fn more_copies_never_save_memory_or_traffic() {
    let mut matters = 0;
    for (index, (name, case)) in all().enumerate() {
        let case = varied(index, case);
        for capacity in [None, Some(with_shared_memory(&case, None).shared_bytes * 2 / 3)] {
            let [one, three] = [1, 3].map(|copies| {
                let change = |machine: &mut Machine| {
                    machine.shared_bytes = capacity;
                    machine.shared_copies = PerTensor::splat(copies);
                };
                run_on(&case, change).memory
            });
            assert!(one.fits || !three.fits, "{name}");
            if three.fits {
                assert!(one.dram.total_bytes() <= three.dram.total_bytes(), "{name}");
            }
            if capacity.is_none() {
                assert!(one.shared_bytes <= three.shared_bytes, "{name}");
                assert_eq!(one.dram.total_bytes(), three.dram.total_bytes(), "{name}");
            }
            matters += usize::from(one != three);
        }
    }
    assert_enough("copies that matter", matters);
}

/// Inputs and weights read and outputs written \[byte\].
fn moved(plan: &SharedMemoryPlan) -> PerTensor<u64> {
    let dram = &plan.dram;
    PerTensor { input: dram.inputs_read, weight: dram.weights_read, output: dram.outputs_written }
}

/// A resident tensor occupies shared memory as a whole and causes no DRAM traffic.
#[test]
fn resident_tensors_are_held_whole_and_never_moved() {
    for (name, case) in all() {
        let widths = &case.machine.widths;
        let elements = case.nest.footprints(case.nest.extents());
        let whole = PerTensor::from_fn(|tensor| on_chip(widths)[tensor].bytes(elements[tensor]));
        let least = whole.input + whole.weight + whole.output;
        let all = run_on(&case, |machine| machine.resident = PerTensor::splat(true));
        assert_eq!(
            [all.memory.shared_bytes, all.memory.dram.total_bytes(), all.dram_cycles],
            [least, 0, 0],
            "{name}"
        );
        assert!(all.memory.fits && all.cycles == all.chip_cycles, "{name}");
        let none = with_shared_memory(&case, None);
        for tensor in TensorRole::ALL {
            let one = run_on(&case, |machine| machine.resident[tensor] = true).memory;
            let mut expected = moved(&none);
            expected[tensor] = 0;
            assert_eq!(moved(&one), expected, "{name}");
            assert!(one.shared_bytes >= whole[tensor], "{name}");
        }
    }
}
