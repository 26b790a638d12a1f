//! Bounds of latency and energy of ranges of tuples.

use crate::cost::loop_nest::{Axis, Extents, Nest, NocLevel};
use crate::mapper::bound::{self, cycles_of};
use crate::mapper::candidate::N_AXES;
use crate::mapper::objective::Value;
use crate::mapper::problem::Problem;
use crate::mapper::skeletons::OwnSkeleton;
use crate::mapper::space::AxisSet;
use crate::model::{PerTensor, TensorRole};

use super::levels::{Prices, level_energy, on_chip_bytes, widths};
use super::sizes::{AxisSizes, Range};
use super::structure::{Kind, Structure, innermost, off_chip, on_chip, reloads};

/// Ranges of sizes of all axes.
pub(super) type Ranges = [Range; N_AXES];

/// Tuples of one form, one skeleton and one kind.
pub(super) struct Case<'a> {
    problem: &'a Problem<'a>,
    skeleton: OwnSkeleton,
    kind: Kind,
    /// Cycles of every tuple, at least.
    cycles: u64,
    /// Energy of every tuple but for what its loops add, without that of cycles.
    energy: f64,
    /// Energy of level 0 and of the shared memory that `energy` has.
    first_energy: f64,
    prices: Prices,
    /// Elements that some MAC touches, the bytes of one on chip, and those of all in DRAM, without rounding.
    touched: PerTensor<f64>,
    on_chip: PerTensor<f64>,
    in_dram: PerTensor<f64>,
    whole_bytes: PerTensor<u64>,
    /// Whether boxes along rows and columns leave no input between them out.
    is_dense: bool,
    sizes: [AxisSizes; N_AXES],
    pub structures: &'static [Structure],
}

/// Relative error that sums of products may have.
const ROUNDING: f64 = 1e-11;

/// Axes of a nest with more than one position.
fn present(nest: &Nest) -> AxisSet {
    AxisSet::from_axes(Axis::ALL.into_iter().filter(|axis| nest.extent(*axis) > 1))
}

impl<'a> Case<'a> {
    /// The case in which the layer takes at least `cycles`. Its energy counts only if it is asked for.
    pub(super) fn new(
        problem: &'a Problem<'a>,
        skeleton: OwnSkeleton,
        kind: Kind,
        cycles: u64,
        of_energy: bool,
    ) -> Self {
        let Problem { nest, machine, .. } = *problem;
        let whole = nest.footprints(nest.extents());
        let widths = widths(machine);
        let touched = PerTensor { input: nest.touched_inputs(), ..whole };
        let dram_widths = PerTensor { output: machine.widths.output, ..widths };
        let of_level = |axis| AxisSizes::new(&skeleton.as_ref(), axis, nest.extents());
        let structures = match kind {
            Kind::OffChip => off_chip(),
            Kind::OnChip => on_chip(present(nest)),
        };
        let mut case = Self {
            problem,
            skeleton,
            kind,
            cycles: cycles.max(skeleton.compute),
            energy: 0.0,
            first_energy: 0.0,
            prices: Prices::of_level(problem, 0, skeleton.n_on_chip(), kind),
            touched: touched.map(|elements| elements as f64),
            on_chip: on_chip_bytes(machine),
            in_dram: PerTensor::from_fn(|it| {
                let bytes = touched[it] as f64 * dram_widths[it].bytes_per_element();
                match (it, machine.riders) {
                    (TensorRole::Output, Some(riders)) => riders.dram_bytes() as f64,
                    _ if machine.resident[it] => 0.0,
                    _ => bytes * machine.compression[it].factor(),
                }
            }),
            whole_bytes: PerTensor::from_fn(|it| widths[it].bytes(whole[it])),
            is_dense: nest.compact().iter().all(|steps| steps.dilation == 1),
            sizes: Axis::ALL.map(of_level),
            structures,
        };
        if of_energy {
            case.set_energy();
        }
        case
    }

    /// Energy that every tuple takes.
    fn set_energy(&mut self) {
        let Problem { nest, machine, .. } = *self.problem;
        let table = &machine.energies;
        let macs = nest.macs() as f64;
        let PerTensor { input, weight, output: sum } = self.on_chip;
        let of_macs = table.mac
            + (input + weight + 2.0 * sum) * table.register
            + (input + weight) * table.scratchpad;
        let level = |at| level_energy(self.problem, &self.skeleton, at, self.kind);
        let inner: f64 = (1..self.skeleton.n_on_chip()).map(level).sum();
        let dram = bound::least_dram_bytes(nest, machine) as f64;
        // The first sum of an output that arrives in the shared memory is added to nothing.
        let first_sums = match self.kind {
            Kind::OnChip => self.touched.output * sum * table.shared,
            Kind::OffChip => 0.0,
        };
        self.first_energy = level(0);
        self.energy = macs * of_macs + inner + self.first_energy - first_sums
            + dram * (table.dram + table.shared)
            + machine.riders.map_or(0.0, |riders| riders.energy(table));
    }

    /// Energy that every tuple takes, with that of its least cycles.
    pub(super) fn least_energy(&self) -> f64 {
        (self.energy + self.energy_of_cycles(self.cycles)) * (1.0 - ROUNDING)
    }

    fn energy_of_cycles(&self, cycles: u64) -> f64 {
        let table = &self.problem.machine.energies;
        cycles as f64 * (table.leakage + table.clock)
    }

    /// Ranges of all sizes.
    pub(super) fn all(&self) -> Ranges {
        std::array::from_fn(|at| self.sizes[at].all())
    }

    /// Both halves of ranges, divided along the axis whose sizes differ most; `None` for a single tuple.
    pub(super) fn halves(&self, ranges: &Ranges) -> Option<[Ranges; 2]> {
        let growth = |at: usize| {
            let [first, last] = self.sizes[at].ends(ranges[at]);
            f64::from(last.unit) / f64::from(first.unit)
        };
        let may_divide = (0..N_AXES).filter(|&at| ranges[at][0] < ranges[at][1]);
        let at = may_divide.max_by(|&a, &b| growth(a).total_cmp(&growth(b)))?;
        let [first, last] = ranges[at];
        let middle = first + (last - first) / 2;
        let with = |range| {
            let mut ranges = *ranges;
            ranges[at] = range;
            ranges
        };
        Some([with([first, middle]), with([middle + 1, last])])
    }

    /// Bounds of all tuples of some ranges in a structure; `None` if no tile fits.
    pub(super) fn value(&self, structure: &Structure, ranges: &Ranges) -> Option<Value> {
        let tuple = Tuple::new(self, structure, ranges);
        if !tuple.fits() {
            return None;
        }
        let machine = self.problem.machine;
        let dram_loads =
            PerTensor::from_fn(|tensor| tuple.loads(tensor, structure.reloads[tensor], self.kind));
        let noc_loads = match self.kind {
            Kind::OffChip => dram_loads,
            Kind::OnChip => {
                let reloads = reloads(structure.stays);
                PerTensor::from_fn(|tensor| tuple.loads(tensor, reloads[tensor], Kind::OffChip))
            }
        };
        let dram = tuple.dram_bytes(&dram_loads);
        let visits = tuple.visits(noc_loads.output);
        let cycles = self
            .cycles
            .max(tuple.compute_cycles())
            .max(machine.dram_cycles(floor(dram)))
            .max(tuple.noc_cycles(&noc_loads, visits));
        let more = (dram - self.in_dram.input - self.in_dram.weight - self.in_dram.output).max(0.0);
        let table = &machine.energies;
        let first = tuple.first_energy(&noc_loads, visits) - self.first_energy;
        let energy = self.energy + more * (table.dram + table.shared) + first.max(0.0);
        let energy_pj = (energy + self.energy_of_cycles(cycles)) * (1.0 - ROUNDING);
        Some(Value { cycles, energy_pj })
    }

    /// Level of the NoC that the shared memory feeds.
    fn noc(&self) -> &NocLevel {
        self.problem.machine.noc_level(0)
    }

    /// Units of level 0 and the axis that they spread.
    fn first_level(&self) -> (u32, Option<Axis>) {
        let at = usize::from(self.kind == Kind::OffChip);
        (self.skeleton.units()[at], self.skeleton.axes()[at])
    }
}

/// A whole number that is not above a sum.
fn floor(sum: f64) -> u64 {
    (sum * (1.0 - ROUNDING)) as u64
}

/// Ranges of tuples in a structure.
struct Tuple<'a> {
    case: &'a Case<'a>,
    structure: &'a Structure,
    /// Smallest extents that are held, and those of a unit of level 0.
    least: Extents,
    unit: Extents,
    /// Largest extents that are held.
    most: Extents,
    /// Least numbers of iterations.
    trips: [f64; N_AXES],
    steps: [u64; N_AXES],
    /// Least number of working units of level 0 in an iteration, in the mean.
    working: f64,
}

impl<'a> Tuple<'a> {
    fn new(case: &'a Case<'a>, structure: &'a Structure, ranges: &Ranges) -> Self {
        let mut tuple = Self {
            case,
            structure,
            least: [1; N_AXES],
            unit: [1; N_AXES],
            most: [1; N_AXES],
            trips: [1.0; N_AXES],
            steps: [1; N_AXES],
            working: 1.0,
        };
        let spread = case.first_level().1;
        for axis in Axis::ALL {
            let at = axis as usize;
            let [first, last] = case.sizes[at].ends(ranges[at]);
            tuple.least[at] = first.held;
            tuple.unit[at] = first.unit;
            tuple.most[at] = last.held;
            tuple.trips[at] = f64::from(last.trips);
            tuple.steps[at] = case.sizes[at].least_steps(ranges[at]);
            if case.kind == Kind::OnChip && spread == Some(axis) {
                tuple.working = (f64::from(last.working) / f64::from(first.trips)).max(1.0);
            }
        }
        tuple
    }

    fn nest(&self) -> &Nest {
        self.case.problem.nest
    }

    fn is_split(&self, axis: Axis) -> bool {
        self.trips[axis as usize] > 1.0
    }

    /// Whether the smallest tiles fit into the shared memory, and the smallest boxes of level 0 into its units.
    fn fits(&self) -> bool {
        let Problem { machine, .. } = *self.case.problem;
        let of_unit = || {
            let n_levels = self.case.skeleton.units().len();
            self.case.problem.level_excess(0, n_levels, &self.unit) == 0
        };
        let bytes =
            || TensorRole::ALL.into_iter().map(|tensor| self.held_bytes(tensor)).sum::<u64>();
        (self.case.kind == Kind::OffChip || of_unit())
            && machine.shared_bytes.is_none_or(|capacity| bytes() <= capacity)
    }

    /// Bytes of the smallest tile of a tensor. Where loops may be left out, it is never more than the whole tensor.
    fn held_bytes(&self, tensor: TensorRole) -> u64 {
        let Problem { nest, machine, .. } = *self.case.problem;
        let whole = self.case.whole_bytes[tensor];
        if machine.resident[tensor] {
            return whole;
        }
        let sliced = self.structure.sliced[tensor];
        let mut extents = *nest.extents();
        for axis in sliced.iter() {
            extents[axis as usize] = self.least[axis as usize];
        }
        let changes = sliced.iter().any(|axis| self.is_split(axis));
        let copies = if changes { u64::from(machine.shared_copies[tensor]) } else { 1 };
        let tile =
            copies.saturating_mul(widths(machine)[tensor].bytes(nest.footprints(&extents)[tensor]));
        if self.case.kind == Kind::OnChip { tile.min(whole) } else { tile }
    }

    /// Least number of times that a tensor is loaded.
    fn loads(&self, tensor: TensorRole, reloads: AxisSet, kind: Kind) -> f64 {
        if tensor == TensorRole::Input {
            if !reloads.contains(Axis::K) || !self.case.is_dense {
                return 1.0;
            }
            let kept = match kind {
                Kind::OnChip => self.structure.inside.iter().map(|axis| self.kept(axis)).product(),
                // Any of these axes may be the innermost one.
                Kind::OffChip => self.kept_by_any(innermost(self.structure.stays)),
            };
            return 1.0 + (self.trips[Axis::K as usize] - 1.0) * (1.0 - kept);
        }
        reloads.iter().map(|axis| self.trips[axis as usize]).product()
    }

    /// Largest share of the inputs that is left from the sweep before, if only the loop over `axis` makes the sweep.
    fn kept(&self, axis: Axis) -> f64 {
        if self.is_split(axis) { self.kept_if_split(axis) } else { 1.0 }
    }

    /// The same if the innermost loop is one of `axes`.
    fn kept_by_any(&self, axes: AxisSet) -> f64 {
        let may_split =
            axes.iter().filter(|axis| self.least[*axis as usize] < self.nest().extent(*axis));
        may_split.map(|axis| self.kept_if_split(axis)).reduce(f64::max).unwrap_or(1.0)
    }

    /// Share of the input rows or columns that the first and the last tile have in common.
    fn kept_if_split(&self, axis: Axis) -> f64 {
        let Some(window) = axis.window() else { return 0.0 };
        let nest = self.nest();
        let steps = nest.compact()[window];
        let [output, kernel] = Axis::WINDOWS[window];
        let extent = nest.extent(axis);
        let size = self.most[axis as usize].min(extent - 1);
        let other = if axis == output { nest.extent(kernel) } else { self.most[output as usize] };
        let [rows, all] = [size, extent].map(|size| match axis == output {
            true => steps.reach(size, other),
            false => steps.reach(other, size),
        });
        let step = if axis == output { steps.stride } else { steps.dilation };
        // The last tile begins at least this far behind the first one.
        let shift = u64::from(extent - size) * u64::from(step);
        rows.saturating_sub(shift) as f64 / all as f64
    }

    /// Least bytes of DRAM.
    fn dram_bytes(&self, loads: &PerTensor<f64>) -> f64 {
        let Case { in_dram, touched, on_chip, .. } = self.case;
        let resident = self.case.problem.machine.resident.output;
        let spilled = if resident { 0.0 } else { touched.output * (loads.output - 1.0) };
        in_dram.input * loads.input
            + in_dram.weight * loads.weight
            + in_dram.output
            + 2.0 * spilled * on_chip.output
    }

    /// Times that sums of an output leave the units of level 0, in the mean over outputs.
    fn visits(&self, loads: f64) -> f64 {
        let Problem { nest, .. } = *self.case.problem;
        let reduction = [Axis::C, Axis::R, Axis::S].map(|axis| self.trips[axis as usize]);
        let chunks: f64 = reduction.iter().product();
        if self.case.kind == Kind::OnChip || chunks <= loads || !self.outputs_exceed_units() {
            return loads;
        }
        // Share of the outputs in full chunks of all output axes; a tile at the edge may fit into the units.
        let full = |axis: Axis| {
            let (least, most) = (self.least[axis as usize], self.most[axis as usize]);
            let extent = nest.extent(axis);
            let positions = match least == most {
                true => extent / least * least,
                false => extent - (most - 1).min(extent - 1),
            };
            f64::from(positions) / f64::from(extent)
        };
        let share: f64 = Axis::OUTPUT.map(full).iter().product();
        share * chunks + (1.0 - share) * loads
    }

    /// Box of a unit of level 0 with the outputs of a tile in one fold and a single position of the reduction.
    fn outputs_of_unit(&self) -> Extents {
        let (units, spread) = self.case.first_level();
        let mut unit = self.least;
        for axis in [Axis::C, Axis::R, Axis::S] {
            unit[axis as usize] = 1;
        }
        if let Some(axis) = spread.filter(|axis| !axis.is_reduction()) {
            let size = &mut unit[axis as usize];
            *size = size.div_ceil(units);
        }
        unit
    }

    /// Whether no unit of level 0 holds its part of the outputs of a tile at once. Then level 0 has several output
    /// boxes, and all sums leave in every tile.
    fn outputs_exceed_units(&self) -> bool {
        let n_levels = self.case.skeleton.n_on_chip();
        self.case.problem.level_excess(0, n_levels, &self.outputs_of_unit()) > 0
    }

    /// Least cycles in which the PEs execute the layer, with the first fill that nothing hides.
    fn compute_cycles(&self) -> u64 {
        let mut steps = self.steps;
        if self.channels_come_in_two() {
            let c = Axis::C as usize;
            // The last chunk may be a single channel.
            let chunks = self.trips[c] as u64;
            steps[c] = steps[c].max(2 * (chunks - 1) + 1);
        }
        let steps = steps.iter().map(|&steps| u128::from(steps)).product();
        let machine = self.case.problem.machine;
        cycles_of(steps, machine.rate).saturating_add(self.exposed_cycles())
    }

    /// Whether a stationary tensor asks for two chunks of channels on chip in every full tile: outputs are stationary, channels are split
    /// above, and no PE holds the outputs of a tile without a loop over them, inside of which a loop over channels must stand.
    fn channels_come_in_two(&self) -> bool {
        let Problem { nest, space, .. } = *self.case.problem;
        let whole_kernel = nest.extent(Axis::R) == 1 && nest.extent(Axis::S) == 1;
        if self.case.kind == Kind::OnChip
            || space.stationary != Some(TensorRole::Output)
            || !whole_kernel
            || !self.is_split(Axis::C)
        {
            return false;
        }
        let mut pe = self.least;
        pe[Axis::C as usize] = 1;
        for axis in self.case.skeleton.axes().iter().flatten() {
            pe[*axis as usize] = 1;
        }
        let n_levels = self.case.skeleton.n_on_chip();
        self.case.problem.level_excess(n_levels - 1, n_levels, &pe) > 0
    }

    /// Cycles before the first and after the last product.
    fn exposed_cycles(&self) -> u64 {
        let Problem { nest, machine, .. } = *self.case.problem;
        let noc = self.case.noc();
        let PerTensor { mut input, weight, .. } = nest.footprints(&self.least);
        let latency = 2 * u64::from(noc.latency);
        if self.case.kind == Kind::OffChip {
            let stored = self.case.in_dram.input / (nest.inputs(nest.extents()) as f64);
            let weights = self.case.in_dram.weight / self.case.touched.weight;
            return latency
                + machine.dram_cycles(floor(input as f64 * stored + weight as f64 * weights));
        }
        if self.units_leave_inputs_out() {
            input = nest.inputs(&self.unit);
        }
        let widths = &machine.widths;
        let inputs = widths.input.bits_of(input);
        let fill = match noc.single_weights {
            true => noc.down.cycles_of_bits(inputs),
            false => noc.down_cycles(inputs, widths.weight.bits_of(weight)),
        };
        latency + fill + noc.up.cycles_of_bits(widths.partial_sum.bits_of(1))
    }

    /// Whether units may leave input rows or columns between them out.
    fn units_leave_inputs_out(&self) -> bool {
        let spread = self.case.first_level().1;
        let Some((window, axis)) = spread.and_then(|axis| Some((axis.window()?, axis))) else {
            return false;
        };
        let steps = self.nest().compact()[window];
        let [output, kernel] = Axis::WINDOWS[window].map(|axis| self.unit[axis as usize]);
        let step =
            if axis.is_reduction() { kernel * steps.dilation } else { output * steps.stride };
        u64::from(step) > steps.reach(output, kernel)
    }

    /// Cycles in which the NoC of level 0 is busy. With forwarding, inputs and weights may come from other units.
    fn noc_cycles(&self, loads: &PerTensor<f64>, visits: f64) -> u64 {
        let (case, noc) = (self.case, self.case.noc());
        let bits = |tensor: TensorRole, times: f64| {
            floor(8.0 * case.touched[tensor] * case.on_chip[tensor] * times)
        };
        let up = noc.up.cycles_of_bits(bits(TensorRole::Output, visits));
        if noc.forward {
            return up;
        }
        let inputs = bits(TensorRole::Input, loads.input);
        noc.down_cycles(inputs, bits(TensorRole::Weight, loads.weight)).max(up)
    }

    /// Energy of what moves between the shared memory and the units of level 0.
    fn first_energy(&self, loads: &PerTensor<f64>, visits: f64) -> f64 {
        let (case, prices) = (self.case, &self.case.prices);
        let spread = case.first_level().1;
        let of = |tensor: TensorRole| {
            let times = if tensor == TensorRole::Output { visits } else { loads[tensor] };
            let bytes = case.touched[tensor] * case.on_chip[tensor] * times;
            // A tensor that the spread axis does not index goes to every working unit, or comes from each.
            let units = match spread {
                Some(axis) if !axis.indexes(tensor) => self.working,
                _ => 1.0,
            };
            bytes * (prices.above[tensor] + prices.unit[tensor] * units)
        };
        TensorRole::ALL.into_iter().map(of).sum()
    }
}
