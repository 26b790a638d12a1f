//! Inputs and weights that a step moves to the units (docs/explanation/cost-model-loop-nest.md, sections 4.4 and
//! 5.5).

use crate::model::{PerOperand, TensorRole};

use super::context::{Context, Span, window_overlap, window_shift};
use super::machine::NocLevel;
use super::mapping::Loop;
use super::nest::{Axis, N_AXES, Nest};
use super::overlap::UnitIntervals;
use super::transition::Transition;

/// Elements of one operand that a NoC level moves in a step (4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Transfer {
    /// Elements read from the buffer above and sent on the NoC.
    pub sent: u64,
    /// Elements written into the buffers of the units.
    pub delivered: u64,
    /// Delivered elements that come from a neighbour.
    pub forwarded: u64,
}

/// Footprint of a tensor along the coordinates that are equal for all units (section 5.5): its present
/// size Q, and the part V that overlaps with the previous one.
#[derive(Clone, Copy)]
struct CommonFootprint {
    now: u64,
    kept: u64,
}

impl CommonFootprint {
    const ONE: Self = Self { now: 1, kept: 1 };

    fn times(self, other: Self) -> Self {
        Self { now: self.now * other.now, kept: self.kept * other.kept }
    }
}

/// Transfers of inputs and weights in a step. `spatial` is the loop over the units.
pub(super) fn ingress(
    nest: &Nest,
    noc: &NocLevel,
    step: &Transition,
    spatial: Option<&Loop>,
) -> PerOperand<Transfer> {
    let Context { now, before, shifts, .. } = &step.unit;
    let mut kept = [0u32; N_AXES];
    for (at, kept) in kept.iter_mut().enumerate() {
        *kept = Span { now: now[at], before: before[at], shift: shifts[at] }.kept();
    }
    // Along every axis but the one that differs between units.
    let along = |axis: Axis| match spatial.is_some_and(|map| map.axis == axis) {
        true => CommonFootprint::ONE,
        false => {
            let at = axis as usize;
            CommonFootprint { now: now[at].into(), kept: kept[at].into() }
        }
    };
    let over = |[a, b, c]: [Axis; 3]| along(a).times(along(b)).times(along(c));
    let depends = |tensor: TensorRole| spatial.filter(|map| map.axis.indexes(tensor));
    let special = spatial.and_then(|map| map.axis.window());
    let window = |at: usize| {
        if special == Some(at) { CommonFootprint::ONE } else { common_window(nest, step, at) }
    };
    let inputs = over(Axis::INPUT).times(window(0)).times(window(1));
    // Both tensors have groups and input channels.
    let both = along(Axis::G).times(along(Axis::C));
    let weights = both.times(over([Axis::K, Axis::R, Axis::S]));
    let input_intervals = depends(TensorRole::Input).map(|map| match special {
        Some(window) => window_intervals(nest, step, map, window),
        None => plain_intervals(step, map),
    });
    let weight_intervals = depends(TensorRole::Weight).map(|map| plain_intervals(step, map));
    PerOperand {
        input: transfer(noc, step.units, inputs, input_intervals.as_ref()),
        weight: transfer(noc, step.units, weights, weight_intervals.as_ref()),
    }
}

/// Input rows (or columns) that are equal for all units.
fn common_window(nest: &Nest, step: &Transition, window: usize) -> CommonFootprint {
    let [output, kernel] = Axis::WINDOWS[window].map(|axis| step.span(axis));
    let (now, kept) = window_overlap(nest.compact()[window], output, kernel);
    CommonFootprint { now, kept }
}

/// Intervals of the units along a spatial axis that is itself a coordinate of the tensor.
fn plain_intervals(step: &Transition, map: &Loop) -> UnitIntervals {
    let span = step.span(map.axis);
    UnitIntervals {
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

/// Intervals of the units along input rows (or columns), for a spatial axis of outputs or kernel.
fn window_intervals(nest: &Nest, step: &Transition, map: &Loop, window: usize) -> UnitIntervals {
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
    UnitIntervals {
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

/// Transfers of one operand (5.2). `intervals` are those along the coordinate that differs between
/// units; `None` if the units need the same elements.
fn transfer(
    noc: &NocLevel,
    units: u32,
    common: CommonFootprint,
    intervals: Option<&UnitIntervals>,
) -> Transfer {
    let CommonFootprint { now, kept } = common;
    let Some(row) = intervals else {
        let (fresh, units) = (now - kept, u64::from(units));
        let sent = if noc.multicast { fresh } else { fresh * units };
        return Transfer { sent, delivered: fresh * units, forwarded: 0 };
    };
    let keeps = |count: fn(&UnitIntervals) -> u64| if kept == 0 { 0 } else { kept * count(row) };
    let own = keeps(UnitIntervals::kept);
    let delivered = now * row.needed() - own;
    let held = if noc.forward { keeps(UnitIntervals::held_by_any) } else { 0 };
    let sent = match (noc.multicast, noc.forward) {
        (true, false) => (now - kept) * row.needed_by_any() + keeps(UnitIntervals::fresh_for_any),
        (true, true) => now * row.needed_by_any() - keeps(UnitIntervals::kept_by_any),
        (false, false) => delivered,
        (false, true) => now * row.needed() - held,
    };
    let forwarded = if noc.forward { held - own } else { 0 };
    Transfer { sent, delivered, forwarded }
}
