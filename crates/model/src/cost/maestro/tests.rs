//! The worked examples of section 10, case by case: CONV, K = C = 19, 24x13 input, 3x3 kernel, on 1024
//! PEs and a bandwidth of 128. Further tests show the steps of the analysis that have quirks.

use std::sync::Arc;

use crate::dataflow::{Axis, ClusterLevel, Dataflow, Directive, Size};
use crate::hardware::{Accelerator, Memory, Noc, NocLevel};
use crate::model::{ConvKind, ConvShape};
use crate::units::Bytes;

use super::cases::{self, Case, Cases, SpatialEdge};
use super::delay;
use super::elaboration::{Elaboration, Extents, Level, layer_extents};
use super::level::CaseSums;
use super::reuse::{self, Reuse};
use super::work::Work;
use Axis::{C, K, OutputX, OutputY, R, S, X, Y};

fn t(size: u32, offset: u32, axis: Axis) -> Directive {
    Directive::temporal(size, offset, axis)
}

fn s(size: u32, offset: u32, axis: Axis) -> Directive {
    Directive::spatial(size, offset, axis)
}

fn elaboration(levels: &[(Option<u32>, &[Directive])], pes: u32) -> Elaboration {
    let level = |&(units, directives): &(Option<u32>, &[Directive])| ClusterLevel {
        units: units.map(Size::Fixed),
        directives: directives.to_vec(),
    };
    let levels: Vec<_> = levels.iter().map(level).collect();
    let dataflow = Arc::new(Dataflow::new("hand", levels).unwrap());
    let memory = Memory::new(Bytes::new(1), Bytes::new(1), 1);
    let noc = Noc::uniform(NocLevel::new(128));
    let accelerator = Accelerator::new("hand", dataflow, pes, noc, memory);
    Elaboration::new(&accelerator).unwrap()
}

fn ws() -> Elaboration {
    let outermost = [t(16, 16, C), t(16, 16, K), t(1, 1, OutputY), s(1, 1, OutputX)];
    let middle = [s(1, 1, K), t(64, 64, C), t(1, 1, OutputY), t(1, 1, OutputX)];
    elaboration(&[(None, &outermost), (Some(16), &middle), (Some(16), &[s(1, 1, C)])], 1024)
}

fn os() -> Elaboration {
    let outermost = [t(1, 1, K), s(1, 1, OutputY), t(4, 4, OutputX), t(16, 16, C)];
    let middle = [s(1, 1, OutputX)];
    elaboration(&[(None, &outermost), (Some(4), &middle), (Some(16), &[s(1, 1, C)])], 1024)
}

fn rs() -> Elaboration {
    let outermost = [t(1, 1, OutputY), t(16, 16, OutputX), t(4, 4, C), s(1, 1, K)];
    let middle = [t(1, 1, OutputY), s(1, 1, OutputX), t(4, 4, C), t(1, 1, K)];
    let inner = [s(1, 1, Y), s(1, 1, R)];
    elaboration(&[(None, &outermost), (Some(16), &middle), (Some(4), &inner)], 1024)
}

const WORKED: ConvShape = ConvShape {
    kind: ConvKind::Conv,
    n: 1,
    k: 19,
    c: 19,
    y: 24,
    x: 13,
    r: 3,
    s: 3,
    stride_y: 1,
    stride_x: 1,
    ..ConvShape::UNIT
};

fn level(elaboration: &Elaboration, index: usize) -> Level {
    let layer = layer_extents(&WORKED);
    let extents = elaboration.level_extents(&layer);
    elaboration.level(index, WORKED.kind, &layer, &extents[index])
}

/// One row of a case table: n, A, N_part, N_out; ingress of input and weight; input and weight load of the
/// first unit.
type Row = [i64; 8];

/// Case table of a level in order of the statuses, outer loop first.
fn rows(level: &Level) -> Vec<Row> {
    let edge = SpatialEdge::from_level(level);
    let cases = Cases::from_counts(level, &cases::counts(level, edge));
    let active = reuse::active_units(level, edge);
    let tensors = [level.coupling.input, level.coupling.weight];
    let reuse = tensors.map(|tensor| Reuse::compute(level, tensor, cases.moving));
    let row = |case: &Case| {
        let active = active[case.leader as usize];
        let [input, weight] = [0, 1].map(|operand: usize| reuse[operand].load(case.moved));
        let Work { partial_sums, edge_partial_sums, outputs } = case.work;
        assert_eq!(partial_sums, edge_partial_sums);
        [
            case.count,
            active,
            partial_sums,
            outputs,
            input.ingress(active),
            weight.ingress(active),
            input.lead,
            weight.lead,
        ]
    };
    let mut rows = vec![row(&cases.first)];
    cases.for_each_further(&mut |case| rows.push(row(case)));
    rows
}

#[test]
fn the_outermost_level_of_ws_has_these_24_cases() {
    // C and K are Init or Edge, Y is Init or Steady, X has all three statuses.
    let expected: [Row; 24] = [
        [1, 4, 9216, 64, 448, 2304, 256, 2304],
        [1, 4, 9216, 64, 448, 0, 256, 0],
        [1, 3, 9216, 64, 384, 0, 256, 0],
        [21, 4, 9216, 64, 112, 0, 64, 0],
        [21, 4, 9216, 64, 448, 0, 256, 0],
        [21, 3, 9216, 64, 384, 0, 256, 0],
        [1, 4, 1728, 12, 0, 2304, 0, 2304],
        [1, 4, 1728, 12, 448, 0, 256, 0],
        [1, 3, 1728, 12, 384, 0, 256, 0],
        [21, 4, 1728, 12, 112, 0, 64, 0],
        [21, 4, 1728, 12, 448, 0, 256, 0],
        [21, 3, 1728, 12, 384, 0, 256, 0],
        [1, 4, 1728, 64, 448, 2304, 256, 2304],
        [1, 4, 1728, 64, 448, 0, 256, 0],
        [1, 3, 1728, 64, 384, 0, 256, 0],
        [21, 4, 1728, 64, 112, 0, 64, 0],
        [21, 4, 1728, 64, 448, 0, 256, 0],
        [21, 3, 1728, 64, 384, 0, 256, 0],
        [1, 4, 324, 12, 0, 2304, 0, 2304],
        [1, 4, 324, 12, 448, 0, 256, 0],
        [1, 3, 324, 12, 384, 0, 256, 0],
        [21, 4, 324, 12, 112, 0, 64, 0],
        [21, 4, 324, 12, 448, 0, 256, 0],
        [21, 3, 324, 12, 384, 0, 256, 0],
    ];
    let level = level(&ws(), 0);
    assert_eq!(rows(&level), expected);
    // The 36 cycles of the clusters bound every case, which has 264 occurrences in all.
    assert_eq!(CaseSums::compute(&level, 36).unwrap().runtime, 9504);
}

#[test]
fn the_inner_levels_of_ws_have_one_case_each() {
    let (middle, inner) = (level(&ws(), 1), level(&ws(), 2));
    assert_eq!(rows(&middle), [[1, 16, 576, 4, 256, 2304, 256, 144]]);
    assert_eq!(rows(&inner), [[1, 16, 36, 4, 256, 144, 16, 9]]);
    assert_eq!(CaseSums::compute(&inner, 0).unwrap().runtime, 36);
    assert_eq!(CaseSums::compute(&middle, 36).unwrap().runtime, 36);
}

#[test]
fn the_middle_level_of_os_has_an_edge_on_a_held_tile() {
    let level = level(&os(), 1);
    let expected = [[1, 4, 288, 2, 256, 144, 64, 144], [1, 1, 288, 2, 64, 0, 64, 0]];
    assert_eq!(rows(&level), expected);
    assert_eq!(CaseSums::compute(&level, 18).unwrap().runtime, 36);
}

#[test]
fn the_outermost_level_of_rs_has_these_12_cases() {
    // Y, C and K move; X is held.
    let expected: [Row; 12] = [
        [1, 16, 792, 34, 208, 576, 208, 36],
        [1, 3, 792, 34, 0, 108, 0, 36],
        [3, 16, 792, 34, 208, 576, 208, 36],
        [3, 3, 792, 34, 0, 108, 0, 36],
        [1, 16, 594, 34, 208, 576, 208, 36],
        [1, 3, 594, 34, 0, 108, 0, 36],
        [21, 16, 792, 34, 52, 576, 52, 36],
        [21, 3, 792, 34, 0, 108, 0, 36],
        [63, 16, 792, 34, 208, 576, 208, 36],
        [63, 3, 792, 34, 0, 108, 0, 36],
        [21, 16, 594, 34, 208, 576, 208, 36],
        [21, 3, 594, 34, 0, 108, 0, 36],
    ];
    let level = level(&rs(), 0);
    assert_eq!(rows(&level), expected);
    assert_eq!(CaseSums::compute(&level, 24).unwrap().runtime, 5280);
}

/// The only level of a dataflow with these directives, for a layer with these extents.
fn single(directives: &[Directive], pes: u32, extents: &Extents) -> Level {
    elaboration(&[(None, directives)], pes).level(0, ConvKind::Conv, extents, extents)
}

/// Counts of the loop on `axis`.
fn counts(level: &Level, axis: Axis) -> [i64; 3] {
    let position = level.maps.iter().position(|map| map.axis == axis).unwrap();
    cases::counts(level, SpatialEdge::from_level(level))[position]
}

#[test]
fn completion_keeps_the_written_order_and_reverses_what_it_inherits() {
    let axes = |index: usize| level(&ws(), index).maps.map(|map| (map.axis, map.size, map.spatial));
    let outermost =
        [(C, 16, false), (K, 16, false), (Y, 4, false), (X, 4, true), (R, 3, false), (S, 3, false)];
    let middle =
        [(S, 3, false), (R, 3, false), (K, 1, true), (C, 64, false), (Y, 4, false), (X, 4, false)];
    let inner =
        [(X, 4, false), (Y, 4, false), (K, 1, false), (R, 3, false), (S, 3, false), (C, 1, true)];
    assert_eq!([axes(0), axes(1), axes(2)], [outermost, middle, inner]);
}

#[test]
fn quirk_1_windows_grow_by_the_number_of_directives_unless_the_level_maps_the_kernel() {
    let size = |directives: &[Directive], axis| {
        let level = single(directives, 1, &[1, 1, 5, 5, 20, 20]);
        level.maps.iter().find(|map| map.axis == axis).unwrap().size
    };
    // Two directives give 1 + 2 - 1; the kernel of 5 has no effect.
    assert_eq!(size(&[t(1, 1, OutputY), s(1, 1, K)], Y), 2);
    // The level maps R with 3: 4 + 3 - 1; and does not map S.
    let mapped = [t(4, 4, OutputY), t(3, 3, R), s(2, 2, OutputX)];
    assert_eq!((size(&mapped, Y), size(&mapped, X)), (6, 4));
    // Input axes stay.
    assert_eq!(size(&[t(4, 4, Y), s(1, 1, K)], Y), 4);
}

#[test]
fn quirk_10_a_second_spatial_map_takes_the_edge_of_the_first() {
    // K has 8 on 4 units: two trips without an edge. C has 6 on 4 units, but its edge is not considered.
    let level = single(&[s(1, 1, K), s(1, 1, C)], 4, &[6, 8, 1, 1, 1, 1]);
    assert_eq!(counts(&level, K), [1, 1, 0]);
    assert_eq!(counts(&level, C), [1, 1, 0]);
    // In the other order C comes first and has an edge; K takes it, although it has none of its own.
    let level = single(&[s(1, 1, C), s(1, 1, K)], 4, &[6, 8, 1, 1, 1, 1]);
    assert_eq!(counts(&level, C), [1, 0, 1]);
    assert_eq!(counts(&level, K), [1, 0, 1]);
}

#[test]
fn quirk_11_an_axis_covered_with_its_halo_still_has_an_edge() {
    // 4 units of 3 columns at distance 1 span all 6 columns, but only 4 without their halo. The kernel of 2
    // leaves E = 5: a trip of 4 and an edge of 1.
    let level = single(&[s(3, 1, X)], 4, &[1, 1, 1, 2, 6, 1]);
    assert_eq!(counts(&level, X), [1, 0, 1]);
    assert_eq!(SpatialEdge::from_level(&level), SpatialEdge { exists: true, units: 1 });
}

#[test]
fn quirk_12_the_steady_count_is_minus_one_where_the_only_trip_is_an_edge() {
    // D = 6, E = 6 - 4 + 1 = 3: one partial trip of the 4 units, which neither span nor hold 6 columns.
    let level = single(&[s(1, 1, X)], 4, &[1, 1, 1, 4, 6, 1]);
    assert_eq!(counts(&level, X), [1, -1, 1]);
}

#[test]
fn quirk_13_a_unit_that_would_be_filled_in_part_is_not_counted() {
    // 2 units of 3 channels: a trip of 6 out of 8 leaves 2, less than the offset of a unit.
    let level = single(&[s(3, 3, C)], 2, &[8, 1, 1, 1, 1, 1]);
    assert_eq!(SpatialEdge::from_level(&level), SpatialEdge { exists: true, units: 0 });
}

#[test]
fn quirks_21_to_23_an_occurrence_is_the_longest_of_three_overlapping_delays() {
    let work = Work { partial_sums: 7, edge_partial_sums: 7, outputs: 30 };
    assert_eq!(delay::occurrence(&work, 0, 10, 0), 7); // compute: 7 > 30 / 10
    assert_eq!(delay::occurrence(&work, 0, 4, 0), 8); // egress: 30 / 4
    assert_eq!(delay::occurrence(&work, 81, 10, 0), 9); // ingress: 81 / 10
    assert_eq!(delay::occurrence(&work, 81, 10, 12), 12); // clusters: 12
    assert_eq!(delay::occurrence(&work, 0, 10, -5), 3); // a negative runtime still counts as one
}
