//! Neighbouring units along a window, of which one holds elements that another needs: every small case
//! against the enumeration.

use xrsim::cost::loop_nest::{Axis, Loop, Machine, Nest, NocLevel, Window};

use super::population::*;
use crate::loop_nest::enumerator::cases::Case;
use crate::loop_nest::enumerator::walk::enumerate;

/// Layers of 2 output channels and up to 5 output rows under up to 4 kernel rows.
fn layers() -> impl Iterator<Item = Nest> {
    (0..4 * 4 * 3 * 2u32).map(|code| {
        let [outputs, kernel] = [2 + code % 4, 1 + code / 4 % 4];
        let [stride, dilation] = [1 + code / 16 % 3, 1 + code / 48];
        let window = Window { stride, dilation, stored: 1, padding: 0 };
        let window = Window { stored: window.reach(outputs, kernel), ..window };
        let extents = [1, 1, 2, 1, outputs, 1, kernel, 1];
        Nest::new(extents, [window, Window::new(1, 1, 1)], false).expect("the layer is small")
    })
}

fn chunks(axis: Axis, size: u32, spatial: bool) -> Loop {
    Loop { axis, size, offset: size, spatial }
}

/// Loops over output channels, on which inputs do not depend, and over output and kernel rows in both
/// orders. The loop over `spatial` is spatial.
fn loops(sizes: [u32; 2], spatial: Axis) -> [Vec<Loop>; 3] {
    let channels = chunks(Axis::K, 1, false);
    let outputs = chunks(Axis::OutputY, sizes[0], spatial == Axis::OutputY);
    let kernel = chunks(Axis::R, sizes[1], spatial == Axis::R);
    [
        vec![channels, outputs, kernel],
        vec![channels, kernel, outputs],
        vec![kernel, channels, outputs],
    ]
}

/// All cases on one level of 2 or 3 units.
fn cases() -> impl Iterator<Item = Case> {
    let with_sizes = |nest: Nest| {
        let kernel = nest.extent(Axis::R);
        let sizes = (1..=2).flat_map(move |outputs| (1..=kernel).map(move |taps| [outputs, taps]));
        sizes.map(move |sizes| (nest.clone(), sizes))
    };
    let in_order = |(nest, sizes): (Nest, [u32; 2])| {
        let all = [Axis::OutputY, Axis::R].into_iter().flat_map(move |axis| loops(sizes, axis));
        all.map(move |loops| (nest.clone(), loops))
    };
    let on_units = |(nest, loops): (Nest, Vec<Loop>)| {
        [2, 3].map(|pes| {
            let machine = Machine::new(pes);
            let level = Draft { units: pes, loops: loops.clone() };
            Case { mapping: mapping(&[level], &nest, &machine), nest: nest.clone(), machine }
        })
    };
    layers().flat_map(with_sizes).flat_map(in_order).flat_map(on_units)
}

#[test]
fn rows_shared_by_neighbours_move_as_in_the_walk() {
    let mut forwarding = 0;
    for case in cases() {
        for (multicast, forward) in [(false, true), (true, false), (true, true)] {
            let noc = NocLevel { multicast, forward, ..NocLevel::IDEAL };
            let machine = Machine { noc_levels: vec![noc], ..case.machine.clone() };
            let found = run_on(&case, |it| *it = machine.clone()).levels()[0];
            let (walked, _) = enumerate(&case.nest, &case.mapping, &machine);
            let level = case.mapping.levels()[0];
            assert_eq!(found, walked.counts[0], "{:?} {level} {noc:?}", case.nest);
            forwarding += usize::from(found.forwarded.input > 0);
        }
    }
    assert_enough("forwards", forwarding);
}
