//! Directives: windows of input rows, units, and groups (section 3).

use xrsim::cost::loop_nest::{Axis, Level, Loop, Machine, Nest, Window};

use super::population::*;

/// A layer of `outputs` under a kernel, on rows (0) or columns (1).
fn window_layer(at: usize, outputs: u32, kernel: u32, window: Window) -> Nest {
    let mut extents = [1; 8];
    let [output_axis, kernel_axis] = Axis::WINDOWS[at];
    (extents[output_axis as usize], extents[kernel_axis as usize]) = (outputs, kernel);
    let mut windows = [Window::new(1, 1, 1); 2];
    windows[at] = window;
    Nest::new(extents, windows, false).expect("the layer is small")
}

/// All layers along one direction with outputs up to 6, kernels up to 7, strides up to 4,
/// dilations up to 3 and padding up to half the kernel.
fn window_layers() -> impl Iterator<Item = (usize, Nest)> {
    (0..2 * 6 * 7 * 4 * 3 * 4u32).filter_map(|code| {
        let mut left = code;
        let mut digit = |base: u32| {
            let digit = left % base;
            left /= base;
            digit
        };
        let (at, padding) = (digit(2) as usize, digit(4));
        let (outputs, kernel) = (1 + digit(6), 1 + digit(7));
        let window = Window { stride: 1 + digit(4), dilation: 1 + digit(3), stored: 1, padding };
        let stored = window.reach(outputs, kernel).checked_sub(2 * padding);
        let stored = stored.filter(|&stored| stored > 0 && padding <= kernel / 2)?;
        Some((at, window_layer(at, outputs, kernel, Window { stored, ..window })))
    })
}

/// The loop over output positions; `None` if one chunk holds them all.
fn over_outputs(level: &Level, at: usize) -> Option<Loop> {
    level.loops().iter().find(|map| map.axis == Axis::WINDOWS[at][0]).copied()
}

/// Invariant 12, with the exception of (3.1): at the outermost level, a window as large as the
/// stored input holds all outputs.
#[test]
fn the_rows_of_the_kernel_are_one_output_row() {
    let [mut seen, mut whole] = [0; 2];
    for (at, nest) in window_layers() {
        let text = ["TemporalMap(Sz(R),1) Y;", "TemporalMap(Sz(S),1) X;"][at];
        let [axis, kernel_axis] = Axis::WINDOWS[at];
        let (window, outputs) = (nest.windows()[at], nest.extent(axis));
        let covers = window.reach(1, nest.extent(kernel_axis)) >= window.stored;
        whole += usize::from(covers && outputs > 1);
        let divided = outputs > 1 && !covers;
        let expected = divided.then_some(Loop { axis, size: 1, offset: 1, spatial: false });
        let mapping = written(text, &nest, &Machine::new(1));
        assert_eq!(over_outputs(&mapping.levels()[0], at), expected, "{nest:?}");
        seen += usize::from(divided);
    }
    assert_enough("one row of several", seen);
    assert!(whole > 0, "no window is as large as the input");
}

/// Invariant 12 on an inner level, for the part of the kernel that enters it.
#[test]
fn the_rows_of_the_kernel_that_enter_a_level_are_one_output_row() {
    let mut cut = 0;
    for (at, nest) in window_layers() {
        let [axis, kernel_axis] = Axis::WINDOWS[at];
        for taps in 1..=nest.extent(kernel_axis) {
            let [kernel, input] = [["R", "Y"], ["S", "X"]][at];
            let text = format!(
                "TemporalMap({taps},{taps}) {kernel}; Cluster(1,P); \
                 TemporalMap(Sz({kernel}),1) {input};"
            );
            let mapping = written(&text, &nest, &Machine::new(1));
            let divided = nest.extent(axis) > 1;
            let expected = divided.then_some(Loop { axis, size: 1, offset: 1, spatial: false });
            assert_eq!(over_outputs(&mapping.levels()[1], at), expected, "{nest:?} {taps}");
            cut += usize::from(divided && taps < nest.extent(kernel_axis));
        }
    }
    assert_enough("cut kernels", cut);
}

/// A unit that holds the input rows under some outputs holds these outputs, also on a level below one
/// that cuts the kernel. Additional rows of less than a stride, and an offset that is short of a multiple
/// of the stride, make no difference.
#[test]
fn input_rows_hold_the_outputs_whose_windows_they_contain() {
    let mut seen = [0; 2];
    for (at, nest) in window_layers() {
        let [axis, kernel_axis] = Axis::WINDOWS[at];
        let [kernel, input] = [["R", "Y"], ["S", "X"]][at];
        let Window { stride, stored, .. } = nest.windows()[at];
        let all_taps = nest.extent(kernel_axis);
        let held = (1..nest.extent(axis)).flat_map(|held| (0..stride).map(move |it| (held, it)));
        for ((held, spare), taps) in held.flat_map(|it| (1..=all_taps).map(move |taps| (it, taps)))
        {
            let rows = nest.windows()[at].reach(held, taps) + spare;
            let line = format!("TemporalMap({rows},{}) {input};", held * stride - spare);
            let cut = format!("TemporalMap({taps},{taps}) {kernel}; Cluster(1,P); {line}");
            let expected = Loop { axis, size: held, offset: held, spatial: false };
            let below = written(&cut, &nest, &Machine::new(1));
            assert_eq!(over_outputs(&below.levels()[1], at), Some(expected), "{nest:?} {cut}");
            seen[1] += 1;
            if taps == all_taps && rows < stored {
                let top = written(&line, &nest, &Machine::new(1));
                assert_eq!(over_outputs(&top.levels()[0], at), Some(expected), "{nest:?} {line}");
                seen[0] += 1;
            }
        }
    }
    seen.into_iter().for_each(|count| assert_enough("windows", count));
}

/// In depthwise layers without directives on G, directives on C divide groups (section 3.4).
#[test]
fn channels_of_depthwise_layers_are_their_groups() {
    let mut seen = 0;
    for (name, case) in all() {
        let groups = case.nest.extent(Axis::G);
        let extents = [1, groups, 1, 1, 1, 1, 1, 1];
        let nest = Nest::new(extents, [Window::new(1, 1, 1); 2], true).expect("a layer");
        for size in 1..groups {
            let [channels, groups] = ["C", "G"].map(|axis| {
                written(&format!("SpatialMap({size},{size}) {axis};"), &nest, &case.machine)
            });
            assert_eq!(channels, groups, "{name}");
            seen += 1;
        }
    }
    assert_enough("groups", seen);
}

/// Level 0 has as many units as the PEs form whole clusters, up to the units limit (section 3.2).
#[test]
fn the_outermost_level_has_as_many_units_as_there_are_clusters() {
    let mut limited = 0;
    for (name, case) in all() {
        let levels = case.mapping.levels();
        let cluster: u32 = levels[1..].iter().map(Level::units).product();
        let units = levels[0].units();
        match case.machine.units_limit {
            Some(limit) if limit == units => {
                assert!(units * cluster <= case.machine.pes, "{name}");
                limited += 1;
            }
            _ => {
                let clusters = units * cluster..(units + 1) * cluster;
                assert!(clusters.contains(&case.machine.pes), "{name}");
            }
        }
    }
    assert_enough("limited arrays", limited);
}
