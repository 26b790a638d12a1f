//! Inputs and weights that a step brings to the units (4.4, 5.5).

use super::context::{Phase, window_overlap, window_shift};
use super::machine::Network;
use super::mapping::{Level, Loop};
use super::nest::{Axis, Nest};
use super::overlap::Row;
use super::transition::Transition;

/// Elements of one tensor that the network of a level moves in a step (4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Movement {
    /// Read from the buffer above and put on the network.
    pub sent: u64,
    /// Written into the buffers of the units.
    pub delivered: u64,
    /// Of these, taken from a neighbour.
    pub forwarded: u64,
}

/// Footprint of a tensor along all coordinates that do not differ between units: now, and what of
/// it was there before.
#[derive(Clone, Copy)]
struct Common {
    now: u64,
    kept: u64,
}

impl Common {
    fn times(self, (now, kept): (u64, u64)) -> Self {
        Self { now: self.now * now, kept: self.kept * kept }
    }

    /// Q and V of 5.5, apart from input rows and columns.
    fn of_axes(step: &Transition, axes: &[Axis], spatial: Option<Axis>) -> Self {
        let plain = axes.iter().filter(|&&axis| Some(axis) != spatial);
        let spans = plain.map(|&axis| &step.spans[axis as usize]);
        spans.fold(Self { now: 1, kept: 1 }, |common, span| {
            common.times((u64::from(span.now), span.kept()))
        })
    }
}

/// Inputs that a step moves.
pub fn inputs(nest: &Nest, level: &Level, network: &Network, step: &Transition) -> Movement {
    let map = level.spatial();
    let axis = map.map(|map| map.axis);
    let mut common = Common::of_axes(step, &Axis::INPUT, axis);
    let special = axis.and_then(Axis::window);
    for window in [0, 1].into_iter().filter(|&window| Some(window) != special) {
        let [output, kernel] = Axis::WINDOWS[window].map(|axis| &step.spans[axis as usize]);
        common = common.times(window_overlap(nest.compact()[window], output, kernel));
    }
    let row = map.filter(|map| map.axis != Axis::K).map(|map| match map.axis.window() {
        Some(window) => window_row(nest, step, map, window),
        None => plain_row(step, map),
    });
    movement(network, step, common, row)
}

/// Weights that a step moves.
pub fn weights(level: &Level, network: &Network, step: &Transition) -> Movement {
    let map = level.spatial();
    let common = Common::of_axes(step, &Axis::WEIGHT, map.map(|map| map.axis));
    let [_, depends, _] = map.map_or([false; 3], |map| map.axis.tensors());
    let row = map.filter(|_| depends).map(|map| plain_row(step, map));
    movement(network, step, common, row)
}

/// The units along an axis that is a coordinate of the tensor.
fn plain_row(step: &Transition, map: &Loop) -> Row {
    let span = &step.spans[map.axis as usize];
    Row {
        units: step.units,
        units_before: step.units_before,
        pitch: i64::from(map.offset),
        width: i64::from(map.size),
        edge: i64::from(span.now),
        width_before: i64::from(map.size),
        edge_before: i64::from(span.before),
        shift: i64::from(span.shift),
    }
}

/// The units along input rows (or columns), spread over output rows or kernel rows.
fn window_row(nest: &Nest, step: &Transition, map: &Loop, window: usize) -> Row {
    let steps = nest.compact()[window];
    let [output, kernel] = Axis::WINDOWS[window].map(|axis| &step.spans[axis as usize]);
    let on_output = map.axis == Axis::WINDOWS[window][0];
    let (pace, other) = if on_output { (steps.stride, kernel) } else { (steps.dilation, output) };
    let reach = |extent: u32, other: u32| {
        let reach = if on_output { steps.reach(extent, other) } else { steps.reach(other, extent) };
        reach as i64
    };
    let own = &step.spans[map.axis as usize];
    Row {
        units: step.units,
        units_before: if other.before == 0 { 0 } else { step.units_before },
        pitch: i64::from(map.offset) * i64::from(pace),
        width: reach(map.size, other.now),
        edge: reach(own.now, other.now),
        width_before: reach(map.size, other.before),
        edge_before: reach(own.before, other.before),
        shift: window_shift(steps, output.shift, kernel.shift),
    }
}

/// What is moved (5.2); `row` is along the coordinate that differs between units, if one does.
fn movement(network: &Network, step: &Transition, common: Common, row: Option<Row>) -> Movement {
    let cold = step.phase == Phase::Cold;
    let Common { now, kept } = Common { kept: if cold { 0 } else { common.kept }, ..common };
    let Some(row) = row else {
        let (fresh, units) = (now - kept, u64::from(step.units));
        let sent = if network.multicast { fresh } else { fresh * units };
        return Movement { sent, delivered: fresh * units, forwarded: 0 };
    };
    let keeps = |count: fn(&Row) -> u64| if kept == 0 { 0 } else { kept * count(&row) };
    let delivered = now * row.needed() - keeps(Row::kept);
    let near = if network.forward { keeps(Row::near) } else { 0 };
    let sent = match (network.multicast, network.forward) {
        (true, false) => (now - kept) * row.needed_by_any() + keeps(Row::fresh_for_any),
        (true, true) => now * row.needed_by_any() - keeps(Row::kept_by_any),
        (false, false) => delivered,
        (false, true) => now * row.needed() - near,
    };
    let forwarded = if network.forward { near - keeps(Row::kept) } else { 0 };
    Movement { sent, delivered, forwarded }
}
