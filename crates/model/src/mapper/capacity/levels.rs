//! Least energy of the levels on chip: the buffer of a unit limits how often it uses what it gets.

use crate::cost::loop_nest::{Axis, Machine, Width};
use crate::mapper::problem::Problem;
use crate::mapper::skeletons::OwnSkeleton;
use crate::model::{PerTensor, TensorRole};

use super::structure::Kind;

/// Widths of the tensors on chip.
pub(super) fn widths(machine: &Machine) -> PerTensor<Width> {
    let widths = &machine.widths;
    PerTensor { input: widths.input, weight: widths.weight, output: widths.partial_sum }
}

/// Bytes of an element of each tensor on chip.
pub(super) fn on_chip_bytes(machine: &Machine) -> PerTensor<f64> {
    widths(machine).map(Width::bytes_per_element)
}

/// Energy of a byte that moves between the units of a level and the buffer above \[pJ\].
#[derive(Debug, Clone, Copy)]
pub(super) struct Prices {
    /// In the buffer above, for a byte that it sends or gets.
    pub above: PerTensor<f64>,
    /// On the NoC and in the unit, for a byte of each unit.
    pub unit: PerTensor<f64>,
    /// In the unit, for a byte of the outputs of a step of a PE.
    pub of_outputs: f64,
}

impl Prices {
    /// Prices of a level, of `n_levels` on chip. Equation (7.1) of the cost model with reads for accumulation put in
    /// (5.4): what arrives is written and read again, but for the first sums.
    pub(super) fn of_level(problem: &Problem, level: usize, n_levels: usize, kind: Kind) -> Self {
        let machine = problem.machine;
        let table = &machine.energies;
        let is_innermost = level + 1 == n_levels;
        let forwards = machine.noc_level(level).forward;
        let buffer = if is_innermost { table.scratchpad } else { table.cluster[level] };
        let above = if level == 0 { table.shared } else { table.cluster[level - 1] };
        // DRAM may have the sums to which those of the shared memory are added.
        let times = if level == 0 && kind == Kind::OffChip { 1.0 } else { 2.0 };
        let sent = if forwards { 0.0 } else { above };
        let noc = if forwards { table.noc.min(table.forward) } else { table.noc };
        let delivered = noc + buffer;
        Self {
            above: PerTensor { input: sent, weight: sent, output: times * above },
            unit: PerTensor { input: delivered, weight: delivered, output: table.noc },
            of_outputs: if is_innermost { 2.0 * table.scratchpad } else { 0.0 },
        }
    }
}

/// Energy that a level takes at least.
///
/// A unit box changes from step to step along some axis, which indexes two of the tensors: one of them at most stays. Of kernel
/// loops, inputs may stay as well. What moves in a step is at most used by all products of the box, which fits into the buffer of the unit.
pub(super) fn level_energy(
    problem: &Problem,
    skeleton: &OwnSkeleton,
    level: usize,
    kind: Kind,
) -> f64 {
    let n_levels = skeleton.n_on_chip();
    let at = level + usize::from(skeleton.has_off_chip);
    let uses = Uses::new(problem, skeleton.units()[at], skeleton.axes()[at]);
    let prices = Prices::of_level(problem, level, n_levels, kind);
    let bytes = on_chip_bytes(problem.machine);
    let price = |tensor: TensorRole, shared: f64| {
        bytes[tensor] * (prices.unit[tensor] + prices.above[tensor] * shared)
    };
    let touched = uses.touched;
    let once = TensorRole::ALL.into_iter().map(|it| touched[it] * price(it, 1.0)).sum::<f64>()
        + touched.output * bytes.output * prices.of_outputs;
    let prices_of = PerTensor::from_fn(|tensor| price(tensor, uses.shared[tensor]));
    let capacity =
        problem.limits.of_level(level, n_levels).map_or(f64::INFINITY, |it| it as f64 / 2.0);
    let of_product = uses.least(&prices_of, bytes.output * prices.of_outputs, &bytes, capacity);
    once.max(uses.macs * of_product)
}

/// Products that use what moves in a step.
struct Uses {
    macs: f64,
    touched: PerTensor<f64>,
    /// Part of a byte in the buffer above for one of a unit, as units share what is sent at once.
    shared: PerTensor<f64>,
    /// Largest extents of positions, output channels and the reduction, and of the kernel.
    positions: f64,
    channels: f64,
    reduction: f64,
    kernel: f64,
}

impl Uses {
    fn new(problem: &Problem, units: u32, spread: Option<Axis>) -> Self {
        let nest = problem.nest;
        let whole = nest.footprints(nest.extents());
        let of = |axis: Axis| f64::from(nest.extent(axis));
        let shared = |tensor: TensorRole| {
            let is_alone = spread.is_some_and(|axis| {
                // Boxes of neighbours along a window have inputs in common.
                let overlaps = axis.window().is_some_and(|it| of(Axis::WINDOWS[it][1]) > 1.0);
                axis.indexes(tensor) && !(tensor == TensorRole::Input && overlaps)
            });
            if is_alone { 1.0 } else { 1.0 / f64::from(units) }
        };
        Self {
            macs: nest.macs() as f64,
            touched: PerTensor { input: nest.touched_inputs(), ..whole }.map(|it| it as f64),
            shared: PerTensor::from_fn(shared),
            positions: of(Axis::N) * of(Axis::OutputY) * of(Axis::OutputX),
            channels: of(Axis::K),
            reduction: of(Axis::C) * of(Axis::R) * of(Axis::S),
            kernel: of(Axis::R) * of(Axis::S),
        }
    }

    /// Least energy of a product over all boxes that fit.
    fn least(
        &self,
        prices: &PerTensor<f64>,
        of_outputs: f64,
        bytes: &PerTensor<f64>,
        capacity: f64,
    ) -> f64 {
        let mut least = f64::INFINITY;
        for [k, k_last] in grid(self.channels) {
            for [p, p_last] in grid(self.positions) {
                let of_reduction = bytes.input * p / self.kernel + bytes.weight * k;
                let room = capacity - bytes.output * k * p;
                let reduction = (room / of_reduction).min(self.reduction);
                if room < of_reduction {
                    break;
                }
                let weight = prices.weight / p_last;
                let input = prices.input / (k_last * self.kernel);
                let output = prices.output / reduction;
                let inputs_change = if self.kernel > 1.0 { 0.0 } else { input };
                let moved = (weight + inputs_change).min(input + output).min(weight + output);
                least = least.min(moved + of_outputs / reduction);
            }
        }
        if least.is_finite() { least } else { 0.0 }
    }
}

/// Ranges that cover the whole numbers from 1 to `most`.
fn grid(most: f64) -> impl Iterator<Item = [f64; 2]> {
    let mut first = 1.0f64;
    std::iter::from_fn(move || {
        if first > most {
            return None;
        }
        let last = (first * GROWTH).floor().max(first).min(most);
        let range = [first, last];
        first = last + 1.0;
        Some(range)
    })
}

/// Growth of the ranges of a grid.
const GROWTH: f64 = 1.06;
