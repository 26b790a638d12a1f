//! Lower bounds of latency and energy (docs/explanation/mapper.md, section 3).

use crate::cost::loop_nest::{Axis, Extents, Machine, Nest, Width};
use crate::model::{PerTensor, TensorRole};

use super::candidate::N_AXES;
use super::objective::Value;

/// Bound of every mapping of a layer on a machine, whatever the mapspace (equations 1 and 2).
pub fn of_machine(nest: &Nest, machine: &Machine) -> Value {
    let (touched, dram) = (touched(nest), least_dram_bytes(nest, machine));
    let macs = nest.macs();
    let widths = &machine.widths;
    let noc = machine.noc_level(0);
    // Steps round up, each for itself: together they take no fewer cycles than all bits at once.
    let (inputs, weights) =
        (widths.input.bits_of(touched.input), widths.weight.bits_of(touched.weight));
    let up = noc.up.cycles_of_bits(widths.partial_sum.bits_of(touched.output));
    let peak = u64::from(machine.pes) * u64::from(machine.rate.max(1));
    let network = noc.down_cycles(inputs, weights).max(up);
    let riders = machine.riders.map_or(0, |riders| riders.cycles);
    let cycles = macs.div_ceil(peak).max(machine.dram_cycles(dram)).max(network).max(riders);
    Value { cycles, energy_pj: energy(machine, macs, touched, dram, cycles) }
}

/// Elements of every tensor that some MAC touches.
fn touched(nest: &Nest) -> PerTensor<u64> {
    PerTensor { input: nest.touched_inputs(), ..nest.footprints(nest.extents()) }
}

/// Bytes of DRAM if every tensor that is not resident moves once, with those of operators that ride along.
pub(super) fn least_dram_bytes(nest: &Nest, machine: &Machine) -> u64 {
    let touched = touched(nest);
    let operand = |tensor: TensorRole| match machine.resident[tensor] {
        true => 0,
        false => machine.dram_bytes(tensor, touched[tensor]),
    };
    operand(TensorRole::Input)
        + operand(TensorRole::Weight)
        + machine.output_dram_bytes(touched.output)
}

/// Energy of these MACs, elements and bytes of DRAM, each moved once (equation 2).
fn energy(machine: &Machine, macs: u64, touched: PerTensor<u64>, dram: u64, cycles: u64) -> f64 {
    let table = &machine.energies;
    let [input, weight, sum, _] = machine.widths.into_array().map(Width::bytes_per_element);
    let (macs, dram) = (macs as f64, dram as f64);
    let inputs = touched.input as f64 * input;
    let weights = touched.weight as f64 * weight;
    let sums = touched.output as f64 * sum;
    let operands = input + weight;
    let moved = inputs + weights + sums;
    let noc = if machine.noc_levels.iter().any(|noc| noc.forward) {
        table.noc.min(table.forward)
    } else {
        table.noc
    };
    macs * (table.mac + (operands + 2.0 * sum) * table.register)
        + (macs * operands + 2.0 * sums + inputs + weights) * table.scratchpad
        + (moved + dram) * table.shared
        + dram * table.dram
        + moved * noc
        + cycles as f64 * (table.leakage + table.clock)
        + machine.riders.map_or(0.0, |riders| riders.energy(table))
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
    // Input rows of neighbouring units may leave gaps between them.
    let of_units = u64::from(units).saturating_mul(nest.inputs(sizes));
    let [first, last] = [first, last].map(|extents| nest.footprints(&extents));
    let inputs = widths.input.bits_of(first.input.min(of_units));
    let fill = match noc.single_weights {
        true => noc.down.cycles_of_bits(inputs),
        false => noc.down_cycles(inputs, widths.weight.bits_of(first.weight)),
    };
    let drain = noc.up.cycles_of_bits(widths.partial_sum.bits_of(last.output));
    // With forwarding, units fetch from each other what any of them held; in the first step none did.
    fill + drain + 2 * u64::from(noc.latency)
}
