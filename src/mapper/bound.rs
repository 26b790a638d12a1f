//! Lower bounds of latency and energy (docs/mapper.md, section 3).

use crate::cost::loop_nest::{Axis, Extents, Machine, Nest};
use crate::model::TensorRole;

use super::candidate::N_AXES;
use super::objective::Value;

/// Bound of every mapping of a layer on a machine, whatever the mapspace (equations 1 and 2).
pub fn of_machine(nest: &Nest, machine: &Machine) -> Value {
    let widths = &machine.widths;
    let [input, weight, sum, output] =
        [widths.input, widths.weight, widths.partial_sum, widths.output].map(u64::from);
    let footprints = nest.footprints(nest.extents());
    let [inputs, weights] = [nest.touched_inputs() * input, footprints.weight * weight];
    let sums = footprints.output * sum;
    let of_tensor = |tensor: TensorRole, bytes| if machine.resident[tensor] { 0 } else { bytes };
    let dram = of_tensor(TensorRole::Input, inputs)
        + of_tensor(TensorRole::Weight, weights)
        + of_tensor(TensorRole::Output, footprints.output * output);
    let macs = nest.macs();
    let noc = machine.noc_level(0);
    let down = match noc.weights {
        Some(own) => noc.down.cycles(inputs).max(own.cycles(weights)),
        None => noc.down.cycles(inputs + weights),
    };
    let peak = u64::from(machine.pes) * u64::from(machine.rate.max(1));
    let network = down.max(noc.up.cycles(sums));
    let cycles = macs.div_ceil(peak).max(machine.dram_cycles(dram)).max(network);
    Value { cycles, energy_pj: energy(machine, [macs, inputs, weights, sums, dram], cycles) }
}

/// Energy of these MACs and of the bytes of inputs, weights, partial sums and DRAM, each moved once
/// (equation 2).
fn energy(machine: &Machine, counts: [u64; 5], cycles: u64) -> f64 {
    let table = &machine.energies;
    let widths = &machine.widths;
    let [macs, inputs, weights, sums, dram] = counts.map(|it| it as f64);
    let operands = f64::from(widths.input) + f64::from(widths.weight);
    let moved = inputs + weights + sums;
    let noc = if machine.noc_levels.iter().any(|noc| noc.forward) {
        table.noc.min(table.forward)
    } else {
        table.noc
    };
    macs * (table.mac + (operands + 2.0 * f64::from(widths.partial_sum)) * table.register)
        + (macs * operands + 2.0 * sums + inputs + weights) * table.scratchpad
        + (moved + dram) * table.shared
        + dram * table.dram
        + moved * noc
        + cycles as f64 * table.leakage
}

/// Spatial axes and units of every level of a mapping, and the sizes of its outer levels: enough for a
/// bound of the time that the PEs compute.
pub(super) struct Skeleton<'a> {
    /// Units of every level, outermost first.
    pub units: &'a [u32],
    /// Axis that every level spreads.
    pub axes: &'a [Option<Axis>],
}

impl Skeleton<'_> {
    /// Least cycles in which the PEs execute a box of these extents (equation 3).
    pub(super) fn compute_cycles(&self, extents: &Extents, rate: u32) -> u64 {
        let steps = |axis| u128::from(self.steps_along(axis, extents, &[]));
        cycles_of(Axis::ALL.into_iter().map(steps).product(), rate)
    }

    /// Least steps of a PE along an axis in a box of these extents, where `sizes` are the unit boxes of the
    /// outermost levels.
    pub(super) fn steps_along(&self, axis: Axis, extents: &Extents, sizes: &[Extents]) -> u64 {
        self.along(axis as usize, 0, extents[axis as usize], sizes)
    }

    /// Steps of a PE along one axis, from `level` inwards.
    fn along(&self, axis: usize, level: usize, extent: u32, sizes: &[Extents]) -> u64 {
        let Some(&units) = self.units.get(level) else { return u64::from(extent) };
        let spread = self.axes[level].is_some_and(|it| it as usize == axis);
        let Some(size) = sizes.get(level).map(|sizes| sizes[axis]) else {
            let extent = if spread { extent.div_ceil(units) } else { extent };
            return self.along(axis, level + 1, extent, sizes);
        };
        if size >= extent {
            return self.along(axis, level + 1, extent, sizes);
        }
        let chunks = extent.div_ceil(size);
        let last = extent - (chunks - 1) * size;
        let inner = |extent| self.along(axis, level + 1, extent, sizes);
        if !spread {
            return u64::from(chunks - 1) * inner(size) + inner(last);
        }
        let folds = chunks.div_ceil(units);
        let in_last_fold = chunks - (folds - 1) * units;
        let slowest = if in_last_fold > 1 { size } else { last };
        u64::from(folds - 1) * inner(size) + inner(slowest)
    }
}

/// Cycles of these steps of a PE that executes `rate` products a cycle.
pub(super) fn cycles_of(steps: u128, rate: u32) -> u64 {
    u64::try_from(steps.div_ceil(u128::from(rate.max(1)))).unwrap_or(u64::MAX)
}

/// Cycles of the first fill and the last drain of level 0, which overlap with nothing. `sizes` are
/// those of the unit box of level 0, whose `axis` is spread over `units`; the largest box that enters it
/// has the extents `entering` (equation 4).
pub(super) fn exposed_cycles(
    nest: &Nest,
    machine: &Machine,
    entering: &Extents,
    sizes: &Extents,
    axis: Option<Axis>,
    units: u32,
) -> u64 {
    let (mut first, mut last) = (*sizes, *sizes);
    let rest = |extent: u32, size: u32| extent - (extent.div_ceil(size) - 1) * size;
    // Extents of the last box that enters level 0.
    let end = |at: usize| rest(nest.extents()[at], entering[at]);
    for at in 0..N_AXES {
        last[at] = rest(end(at), sizes[at].min(end(at)));
    }
    if let Some(axis) = axis {
        let at = axis as usize;
        first[at] = sizes[at].saturating_mul(units).min(entering[at]);
        let size = sizes[at].min(end(at));
        let whole_folds = (end(at).div_ceil(size) - 1) / units * units;
        last[at] = end(at) - whole_folds * size;
    }
    let widths = &machine.widths;
    let noc = machine.noc_level(0);
    let [first, last] = [first, last].map(|extents| nest.footprints(&extents));
    let inputs = first.input * u64::from(widths.input);
    let weights = first.weight * u64::from(widths.weight);
    let fill = match noc.weights {
        _ if noc.single_weights => noc.down.cycles(inputs),
        Some(own) => noc.down.cycles(inputs).max(own.cycles(weights)),
        None => noc.down.cycles(inputs + weights),
    };
    let drain = noc.up.cycles(last.output * u64::from(widths.partial_sum));
    // With forwarding, units fetch from each other what any of them held; in the first step none did.
    fill + drain + 2 * u64::from(noc.latency)
}
