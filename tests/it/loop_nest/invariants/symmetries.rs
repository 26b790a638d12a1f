//! Symmetries: changes of a case that change no result, or only the names in it.

use xrsim::cost::loop_nest::{
    Axis, Bandwidth, DramTraffic, Evaluation, Extents, LevelCounts, Machine, Nest, NocLevel,
    SharedMemoryPlan, Widths, Window,
};
use xrsim::model::{PerOperand, PerTensor};

use super::population::*;
use crate::loop_nest::enumerator::cases::Case;

/// A case with renamed axes. `windows` are its rows and columns.
fn renamed(case: &Case, name: impl Fn(Axis) -> Axis, windows: [Window; 2]) -> Case {
    let mut extents: Extents = [1; 8];
    for axis in Axis::ALL {
        extents[name(axis) as usize] = case.nest.extent(axis);
    }
    let nest = Nest::new(extents, windows, false).expect("the layer is small");
    let mut levels = drafts(&case.mapping);
    for map in levels.iter_mut().flat_map(|level| &mut level.loops) {
        map.axis = name(map.axis);
    }
    let machine = case.machine.clone();
    Case { mapping: mapping(&levels, &nest, &machine), nest, machine }
}

fn transposed(axis: Axis) -> Axis {
    match axis {
        Axis::OutputY => Axis::OutputX,
        Axis::OutputX => Axis::OutputY,
        Axis::R => Axis::S,
        Axis::S => Axis::R,
        other => other,
    }
}

#[test]
fn rows_and_columns_are_alike() {
    for (name, case) in all() {
        let [rows, columns] = *case.nest.windows();
        let other = renamed(&case, transposed, [columns, rows]);
        assert_eq!(run(&other), run(&case), "{name}");
    }
}

/// A case without padding whose windows have changed strides and dilations.
fn with_steps(case: &Case, steps: impl Fn(Window, [u32; 2]) -> [u32; 2]) -> Case {
    let windows = [0, 1].map(|at| {
        let [outputs, kernel] = Axis::WINDOWS[at].map(|axis| case.nest.extent(axis));
        let [stride, dilation] = steps(case.nest.windows()[at], [outputs, kernel]);
        let window = Window { stride, dilation, stored: 1, padding: 0 };
        Window { stored: window.reach(outputs, kernel), ..window }
    });
    renamed(case, |axis| axis, windows)
}

/// Rows that no window touches are left out: those between multiples of a common factor of stride and
/// dilation, those of a stride beyond the kernel, and those of a dilation beyond the outputs.
#[test]
fn rows_that_no_mac_touches_change_nothing() {
    for (name, case) in all() {
        let dense = with_steps(&case, |it, _| [it.stride, it.dilation]);
        let sparse = with_steps(&case, |it, _| [3 * it.stride, 3 * it.dilation]);
        assert_eq!(run(&sparse), run(&dense), "{name}");
        let [apart, further] = [0, 5].map(|more| with_steps(&case, |_, [_, r]| [r + more, 1]));
        assert_eq!(run(&further), run(&apart), "{name}");
        let [apart, further] = [0, 5].map(|more| with_steps(&case, |_, [y, _]| [1, y + more]));
        assert_eq!(run(&further), run(&apart), "{name}");
    }
}

/// A case reduced to matrix products: groups of Y' x C inputs times C x K weights. NoC levels treat inputs
/// and weights alike.
fn as_product(case: &Case) -> Case {
    let is_left = |axis: Axis| matches!(axis, Axis::G | Axis::K | Axis::C | Axis::OutputY);
    let extents = Axis::ALL.map(|axis| if is_left(axis) { case.nest.extent(axis) } else { 1 });
    let nest = Nest::new(extents, product_windows(&extents), false).expect("the layer is small");
    let mut levels = drafts(&case.mapping);
    levels.iter_mut().for_each(|level| level.loops.retain(|map| is_left(map.axis)));
    let alike = |noc| NocLevel { weights: None, single_weights: false, ..noc };
    let noc_levels = noc_levels(case).into_iter().map(alike).collect();
    let machine = Machine { noc_levels, ..case.machine.clone() };
    Case { mapping: mapping(&levels, &nest, &machine), nest, machine }
}

fn product_windows(extents: &Extents) -> [Window; 2] {
    let rows = extents[Axis::OutputY as usize];
    [Window::new(rows, 1, rows), Window::new(1, 1, 1)]
}

/// The same products with exchanged factors: rows of one become columns of the other.
fn exchanged(case: &Case) -> Case {
    let exchange = |axis: Axis| match axis {
        Axis::K => Axis::OutputY,
        Axis::OutputY => Axis::K,
        other => other,
    };
    let columns = case.nest.extent(Axis::K);
    let windows = [Window::new(columns, 1, columns), Window::new(1, 1, 1)];
    let mut case = renamed(case, exchange, windows);
    let Widths { input, weight, .. } = case.machine.widths;
    case.machine.widths = Widths { input: weight, weight: input, ..case.machine.widths };
    case
}

fn exchanged_counts(counts: &LevelCounts) -> LevelCounts {
    let exchange = |PerOperand { input, weight }| PerOperand { input: weight, weight: input };
    LevelCounts {
        sent: exchange(counts.sent),
        delivered: exchange(counts.delivered),
        forwarded: exchange(counts.forwarded),
        ..*counts
    }
}

fn exchanged_plan(plan: &SharedMemoryPlan) -> SharedMemoryPlan {
    let PerTensor { input, weight, output } = plan.depths;
    SharedMemoryPlan {
        dram: DramTraffic {
            inputs_read: plan.dram.weights_read,
            weights_read: plan.dram.inputs_read,
            ..plan.dram
        },
        depths: PerTensor { input: weight, weight: input, output },
        ..*plan
    }
}

/// Totals of the chip.
fn of_chip(found: &Evaluation) -> [u64; 5] {
    let Evaluation { macs_executed, pe_outputs, pe_accumulations, .. } = *found;
    [macs_executed, pe_outputs, pe_accumulations, found.chip_cycles, found.compute_cycles]
}

#[test]
fn the_factors_of_a_product_are_alike() {
    let mut tiled = 0;
    for (name, case) in all() {
        let case = as_product(&case);
        let [found, other] = [run(&case), run(&exchanged(&case))];
        let levels: Vec<_> = other.levels().iter().map(exchanged_counts).collect();
        assert_eq!(levels, found.levels(), "{name}");
        assert_eq!(of_chip(&other), of_chip(&found), "{name}");
        assert_eq!(exchanged_plan(&other.memory), found.memory, "{name}");
        assert_eq!(other.energy, found.energy, "{name}");
        let loops = case.mapping.levels().iter().flat_map(|level| level.loops());
        tiled += usize::from(loops.filter(|map| map.axis != Axis::G).count() > 1);
    }
    assert_enough("products in tiles", tiled);
}

/// Result with `factor` times the bytes per element, bandwidth of NoC and DRAM, and shared memory.
fn in_bytes(case: &Case, factor: u32) -> Evaluation {
    let bandwidth = |bytes: u64| Bandwidth::new(bytes * u64::from(factor)).expect("not 0");
    run_on(case, |machine| {
        let widths = machine.widths.into_array();
        machine.widths = Widths::of_bytes(widths.map(|width| width.bits().div_ceil(8) * factor));
        machine.noc_levels = noc_levels(case);
        for noc in &mut machine.noc_levels {
            let weights = noc.weights.map(|_| bandwidth(7));
            *noc = NocLevel { down: bandwidth(5), up: bandwidth(3), weights, ..*noc };
        }
        machine.shared_bytes = Some(200 * u64::from(factor));
        machine.dram_bandwidth = bandwidth(2);
    })
}

#[test]
fn larger_bytes_on_wider_networks_take_the_same_time() {
    for (name, case) in all() {
        let [one, five] = [1, 5].map(|factor| in_bytes(&case, factor));
        assert_eq!(of_chip(&five), of_chip(&one), "{name}");
        assert_eq!([five.cycles, five.dram_cycles], [one.cycles, one.dram_cycles], "{name}");
        let DramTraffic { inputs_read, weights_read, partial_sums_read, outputs_written } =
            one.memory.dram;
        let expected = SharedMemoryPlan {
            dram: DramTraffic {
                inputs_read: 5 * inputs_read,
                weights_read: 5 * weights_read,
                partial_sums_read: 5 * partial_sums_read,
                outputs_written: 5 * outputs_written,
            },
            shared_bytes: 5 * one.memory.shared_bytes,
            ..one.memory
        };
        assert_eq!(five.memory, expected, "{name}");
        for (five, one) in five.levels().iter().zip(one.levels()) {
            assert_eq!(*five, LevelCounts { unit_bytes: 5 * one.unit_bytes, ..*one }, "{name}");
        }
    }
}

/// A case with an additional level of one unit at index `at`, with an ideal NoC level. It takes the first
/// `count` loops of the level that was there.
fn with_level(case: &Case, at: usize, count: usize) -> Case {
    let mut levels = drafts(&case.mapping);
    let loops = levels.get_mut(at).map_or(Vec::new(), |level| level.loops.drain(..count).collect());
    levels.insert(at, Draft { units: 1, loops });
    let mut noc_levels = noc_levels(case);
    noc_levels.insert(at, NocLevel::IDEAL);
    let machine = Machine { noc_levels, ..case.machine.clone() };
    Case { mapping: mapping(&levels, &case.nest, &machine), nest: case.nest.clone(), machine }
}

/// Counts of a level without loops: it passes on all elements that its owners receive.
fn passed_on(above: &LevelCounts) -> LevelCounts {
    LevelCounts {
        sent: above.delivered,
        forwarded: PerOperand::default(),
        arrived: above.left,
        accumulated: 0,
        steps: above.active,
        ..*above
    }
}

#[test]
fn a_level_of_one_unit_passes_everything_on() {
    for (name, case) in all() {
        let found = run(&case);
        for at in 1..=found.levels().len() {
            let other = run(&with_level(&case, at, 0));
            let mut levels = found.levels().to_vec();
            levels.insert(at, passed_on(&levels[at - 1]));
            assert_eq!(other.levels(), levels, "{name}");
            assert_eq!(of_chip(&other), of_chip(&found), "{name}");
            assert_eq!((other.memory, other.cycles), (found.memory, found.cycles), "{name}");
        }
    }
}

/// An additional outermost buffer that holds all tensors is filled once, as is the shared memory. Inner
/// levels do not change.
#[test]
fn a_unit_that_holds_everything_hides_all_traffic_below() {
    let is_unlimited = |case: &Case| case.machine.units_limit.is_none();
    for (name, case) in of_kind("arrays without limit", is_unlimited) {
        let [found, other] = [run(&case), run(&with_level(&case, 0, 0))];
        assert_eq!(other.levels()[1..], *found.levels(), "{name}");
        assert_eq!(of_chip(&other), of_chip(&found), "{name}");
        let PerTensor { input, weight, output: outputs } =
            case.nest.footprints(case.nest.extents());
        let top = other.levels()[0];
        assert_eq!([top.sent, top.delivered], [PerOperand { input, weight }; 2], "{name}");
        assert_eq!([top.left, top.arrived, top.accumulated], [outputs, outputs, 0], "{name}");
        assert_eq!(
            [top.steps, top.active, other.memory.dram.partial_sums_read],
            [1, 1, 0],
            "{name}"
        );
    }
}

/// Outer temporal loops can move to an additional level above: units work on the same sequence of boxes,
/// which continues across the visits of their cluster.
#[test]
fn outer_loops_on_a_level_of_their_own_leave_units_alone() {
    let mut moved = 0;
    for (name, case) in of_kind("arrays without limit", |it| it.machine.units_limit.is_none()) {
        let found = run(&case);
        for (at, level) in case.mapping.levels().iter().enumerate() {
            let in_time = level.loops().iter().take_while(|map| !map.spatial).count();
            for count in 1..=in_time {
                let other = run(&with_level(&case, at, count));
                let mut levels = other.levels().to_vec();
                let above = levels.remove(at);
                assert_eq!(levels[at].arrived, above.left + levels[at].accumulated, "{name}");
                levels[at].accumulated = found.levels()[at].accumulated;
                assert_eq!(levels, found.levels(), "{name}");
                assert_eq!(of_chip(&other), of_chip(&found), "{name}");
                moved += 1;
            }
        }
    }
    assert_enough("moved loops", moved);
}

/// Twice the units make no difference on a level where every chunk has a unit already, or without a
/// spatial loop.
#[test]
fn units_without_work_change_nothing() {
    let mut idle = 0;
    for (name, case) in all() {
        let found = run(&case);
        let mut entering = *case.nest.extents();
        for (index, level) in case.mapping.levels().iter().enumerate() {
            let chunks = level.spatial().map_or(0, |map| map.chunks(entering[map.axis as usize]));
            entering = level.unit_extents(&entering);
            let grows = index > 0 || case.machine.units_limit.is_none();
            if chunks > level.units() || !grows {
                continue;
            }
            let mut levels = drafts(&case.mapping);
            levels[index].units *= 2;
            let machine = Machine { pes: 2 * case.machine.pes, ..case.machine.clone() };
            let mapping = mapping(&levels, &case.nest, &machine);
            let other = run(&Case { mapping, nest: case.nest.clone(), machine });
            assert_eq!(other, found, "{name}");
            idle += usize::from(chunks > 1);
        }
    }
    assert_enough("units side by side", idle);
}
