//! Partial sums that units send up in a step (docs/explanation/cost-model-loop-nest.md, sections 4.5 and 5.6).

use super::context::Phase;
use super::mapping::Loop;
use super::nest::Axis;
use super::transition::Transition;

/// Partial sums that move up in a step \[element\].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Egress {
    /// Partial sums that leave the units.
    pub left: u64,
    /// Partial sums that arrive in the buffer above, after reduction on the way.
    pub arrived: u64,
}

/// Partial sums that leave the units in a step (5.3). `spatial` is the loop over the units; `reduce`
/// adds sums of one output on the way.
pub(crate) fn egress(step: &Transition, spatial: Option<&Loop>, reduce: bool) -> Egress {
    if step.unit.phase == Phase::Cold || step.ghost {
        return Egress::default();
    }
    let mut changed = step.unit.phase == Phase::Flush || step.unit.leaves;
    let mut sums = 1;
    for axis in Axis::OUTPUT {
        let span = step.span(axis);
        let differs = spatial.is_some_and(|map| map.axis == axis);
        changed |= !differs & span.changes();
        sums *= if differs { 1 } else { u64::from(span.before) };
    }
    let (left, arrived) = match spatial.filter(|map| !map.axis.is_reduction()) {
        Some(map) => of_distinct_outputs(step, map, changed),
        None => of_same_outputs(step, changed),
    };
    Egress { left: sums * left, arrived: sums * if reduce { arrived } else { left } }
}

/// Units with sums of the same outputs: the number of units that leave, and 1 if any does.
fn of_same_outputs(step: &Transition, changed: bool) -> (u64, u64) {
    let stay = if changed { 0 } else { step.units };
    let leaving = u64::from(step.units_before.saturating_sub(stay));
    (leaving, leaving.min(1))
}

/// Units with sums of neighbouring outputs: the total extent of the units that leave, and the extent of
/// their union.
fn of_distinct_outputs(step: &Transition, map: &Loop, changed: bool) -> (u64, u64) {
    let units = u64::from(step.units_before);
    let staying = u64::from(if changed { 0 } else { staying(step, map) });
    if staying >= units {
        return (0, 0);
    }
    let (size, offset) = (u64::from(map.size), u64::from(map.offset));
    let edge = u64::from(step.span(map.axis).before);
    let others = units - 1 - staying;
    let end = others * offset + edge;
    let union = if others == 0 { edge } else { end.max((others - 1) * offset + size) };
    (others * size + edge, union)
}

/// Number of units, from the first, whose interval is the same as before.
pub(super) fn staying(step: &Transition, map: &Loop) -> u32 {
    let span = step.span(map.axis);
    if span.shift != 0 {
        return 0;
    }
    let both = step.units.min(step.units_before);
    let edge = |units: u32, edge: u32| if units == both { edge } else { map.size };
    let last_differs = edge(step.units, span.now) != edge(step.units_before, span.before);
    both.saturating_sub(u32::from(last_differs))
}
