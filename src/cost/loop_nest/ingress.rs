//! Inputs and weights that a step brings to the units (4.4, 5.5).

use crate::model::{PerOperand, TensorRole};

use super::context::{Span, window_overlap, window_shift};
use super::machine::NocLevel;
use super::mapping::Loop;
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

/// Footprint of a tensor along all coordinates that do not differ between units: Q now, and V of it
/// that was there before (5.5).
#[derive(Clone, Copy)]
struct Common {
    now: u64,
    kept: u64,
}

impl Common {
    const ONE: Self = Self { now: 1, kept: 1 };

    fn of(span: Span) -> Self {
        Self { now: span.now.into(), kept: span.kept().into() }
    }

    fn times(self, other: Self) -> Self {
        Self { now: self.now * other.now, kept: self.kept * other.kept }
    }
}

/// Inputs and weights that a step moves; `spatial` is the loop over the units.
pub fn ingress(
    nest: &Nest,
    noc: &NocLevel,
    step: &Transition,
    spatial: Option<&Loop>,
) -> PerOperand<Movement> {
    let mut along = step.unit.spans.map(Common::of);
    if let Some(map) = spatial {
        along[map.axis as usize] = Common::ONE;
    }
    let over =
        |axes: &[Axis]| axes.iter().fold(Common::ONE, |all, &axis| all.times(along[axis as usize]));
    let depends = |tensor: TensorRole| spatial.filter(|map| map.axis.indexes(tensor));
    let special = spatial.and_then(|map| map.axis.window());
    let window = |at: usize| {
        if special == Some(at) { Common::ONE } else { common_window(nest, step, at) }
    };
    let inputs = over(&Axis::INPUT).times(window(0)).times(window(1));
    let input_row = depends(TensorRole::Input).map(|map| match special {
        Some(window) => window_row(nest, step, map, window),
        None => plain_row(step, map),
    });
    let weight_row = depends(TensorRole::Weight).map(|map| plain_row(step, map));
    PerOperand {
        input: movement(noc, step.units, inputs, input_row.as_ref()),
        weight: movement(noc, step.units, over(&Axis::WEIGHT), weight_row.as_ref()),
    }
}

/// Input rows (or columns) that do not differ between units.
fn common_window(nest: &Nest, step: &Transition, window: usize) -> Common {
    let [output, kernel] = Axis::WINDOWS[window].map(|axis| step.span(axis));
    let (now, kept) = window_overlap(nest.compact()[window], output, kernel);
    Common { now, kept }
}

/// The units along an axis that is a coordinate of the tensor.
fn plain_row(step: &Transition, map: &Loop) -> Row {
    let span = step.span(map.axis);
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
    let [output, kernel] = Axis::WINDOWS[window].map(|axis| step.span(axis));
    let on_output = map.axis == Axis::WINDOWS[window][0];
    let (pace, own, other) = match on_output {
        true => (steps.stride, output, kernel),
        false => (steps.dilation, kernel, output),
    };
    let reach = |own: u32, other: u32| {
        let reach = if on_output { steps.reach(own, other) } else { steps.reach(other, own) };
        reach as i64
    };
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
fn movement(noc: &NocLevel, units: u32, common: Common, row: Option<&Row>) -> Movement {
    let Common { now, kept } = common;
    let Some(row) = row else {
        let (fresh, units) = (now - kept, u64::from(units));
        let sent = if noc.multicast { fresh } else { fresh * units };
        return Movement { sent, delivered: fresh * units, forwarded: 0 };
    };
    let keeps = |count: fn(&Row) -> u64| if kept == 0 { 0 } else { kept * count(row) };
    let had = keeps(Row::kept);
    let delivered = now * row.needed() - had;
    let near = if noc.forward { keeps(Row::near) } else { 0 };
    let sent = match (noc.multicast, noc.forward) {
        (true, false) => (now - kept) * row.needed_by_any() + keeps(Row::fresh_for_any),
        (true, true) => now * row.needed_by_any() - keeps(Row::kept_by_any),
        (false, false) => delivered,
        (false, true) => now * row.needed() - near,
    };
    let forwarded = if noc.forward { near - had } else { 0 };
    Movement { sent, delivered, forwarded }
}
