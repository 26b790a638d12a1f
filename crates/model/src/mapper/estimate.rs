//! An estimate of latency and energy in a tenth of the time of the cost model (docs/explanation/mapper.md,
//! section 5.1). It counts every advance of a loop as one of full boxes; the cost model counts the boxes at
//! the ends of axes too.

use crate::cost::loop_nest::{Axis, Machine, NocLevel};
use crate::model::{PerTensor, TensorRole};

use super::bound::{cycles_of, least_dram_bytes};
use super::candidate::{Candidate, N_AXES};
use super::objective::Value;
use super::plan::{MOST_LEVELS, MOST_LOOPS, Plan, Stage, Turn, innermost, reloads, window_of};
use super::problem::{Problem, Score};

/// Estimates of the mappings of one form of a layer.
#[derive(Debug, Clone)]
pub(super) struct Estimator<'a> {
    problem: &'a Problem<'a>,
    /// Elements of every tensor, padding included.
    elements: PerTensor<f64>,
    /// Bytes of one element on chip; outputs as partial sums.
    bytes: PerTensor<f64>,
    /// Bytes in DRAM for one element on chip; 0 for a resident tensor.
    dram_bytes: PerTensor<f64>,
    least_dram: f64,
    capacity: f64,
    nocs: [Noc; MOST_LEVELS],
    dram_cycles_per_byte: f64,
    dram_latency: f64,
    macs: f64,
}

/// A NoC level in numbers.
#[derive(Debug, Clone, Copy, Default)]
struct Noc {
    /// Cycles for a byte of inputs, of weights, and of partial sums.
    cycles: PerTensor<f64>,
    /// Whether inputs and weights have networks of their own.
    splits: bool,
    single_weights: bool,
    latency: f64,
    step_latency: f64,
    multicast: bool,
    reduce: bool,
}

impl Noc {
    fn new(noc: &NocLevel) -> Self {
        let down = 1.0 / noc.down.bytes_per_cycle();
        let weight = noc.weights.map_or(down, |it| 1.0 / it.bytes_per_cycle());
        let latency = f64::from(noc.latency);
        Self {
            cycles: PerTensor { input: down, weight, output: 1.0 / noc.up.bytes_per_cycle() },
            splits: noc.weights.is_some(),
            single_weights: noc.single_weights,
            latency,
            step_latency: if noc.step_latency { latency } else { 0.0 },
            multicast: noc.multicast,
            reduce: noc.reduce,
        }
    }

    /// Cycles that nothing hides, and those that the work of the units hides, for bytes of a step.
    fn delays(&self, bytes: &PerTensor<f64>, latency: f64) -> (f64, f64, f64) {
        let delay = |cycles: f64| if cycles > 0.0 { latency + cycles } else { 0.0 };
        let [input, weight] = [bytes.input * self.cycles.input, bytes.weight * self.cycles.weight];
        let (exposed, down) = match (self.single_weights, self.splits) {
            (true, _) => (if weight > 0.0 { self.latency + weight } else { 0.0 }, input),
            (false, true) => (0.0, input.max(weight)),
            (false, false) => (0.0, input + weight),
        };
        (exposed, delay(down), delay(bytes.output * self.cycles.output))
    }
}

impl<'a> Estimator<'a> {
    /// Estimates of the mappings of `problem`.
    pub(super) fn new(problem: &'a Problem<'a>) -> Self {
        let Problem { nest, machine, .. } = *problem;
        let widths = &machine.widths;
        let elements = nest.footprints(nest.extents()).map(|count| count as f64);
        let bytes = PerTensor {
            input: widths.input.bytes_per_element(),
            weight: widths.weight.bytes_per_element(),
            output: widths.partial_sum.bytes_per_element(),
        };
        let touched = PerTensor { input: nest.touched_inputs() as f64, ..elements };
        let dram_bytes = PerTensor::from_fn(|tensor| {
            let all = match tensor {
                TensorRole::Output => machine.output_dram_bytes(touched.output as u64),
                _ if machine.resident[tensor] => 0,
                _ => machine.dram_bytes(tensor, touched[tensor] as u64),
            };
            all as f64 / elements[tensor].max(1.0)
        });
        Self {
            problem,
            elements,
            bytes,
            dram_bytes,
            least_dram: least_dram_bytes(nest, machine) as f64,
            capacity: machine.shared_bytes.map_or(f64::INFINITY, |it| it as f64),
            nocs: std::array::from_fn(|level| Noc::new(machine.noc_level(level))),
            dram_cycles_per_byte: 1.0 / machine.dram_bandwidth.bytes_per_cycle(),
            dram_latency: f64::from(machine.dram_latency),
            macs: nest.macs() as f64,
        }
    }

    /// Estimate of a mapping.
    pub(super) fn score(&self, candidate: &Candidate) -> Score {
        let Problem { nest, machine, .. } = *self.problem;
        // A level above the shared memory that splits nothing is none.
        let is_off_chip = candidate.has_off_chip && candidate.levels[0].sizes != *nest.extents();
        let none = usize::from(candidate.has_off_chip && !is_off_chip);
        let plan = Plan::new(nest, &candidate.levels[none..]);
        let first = usize::from(is_off_chip);
        let (dram, shared) = if is_off_chip { self.above(&plan) } else { self.held(&plan) };
        let beyond = if shared > self.capacity { (shared - self.capacity) as u64 } else { 0 };
        let (chip, mut cycles) = self.cycles(&plan, first);
        let roof =
            if dram > 0.0 { self.dram_latency + dram * self.dram_cycles_per_byte } else { 0.0 };
        let riders = machine.riders.map_or(0, |riders| riders.cycles);
        cycles = cycles.max(roof).max(riders as f64).max(1.0);
        let energy_pj = self.energy(&plan, first, dram, cycles, machine);
        Score {
            excess: self.problem.excess(candidate) + beyond,
            value: Value { cycles: cycles as u64, energy_pj },
            by_memory: beyond > 0 || roof >= chip,
            dram_bytes: dram as u64,
        }
    }

    /// Rows (window 0) or columns (1) of inputs that move in all boxes; `moves` is the innermost loop over
    /// inputs.
    fn window(&self, window: usize, boxes: &[f64; N_AXES], moves: Option<(&Turn, usize)>) -> f64 {
        let nest = self.problem.nest;
        let steps = nest.compact()[window];
        let [output, kernel] = Axis::WINDOWS[window];
        // The sum over boxes is that of boxes of the mean extents.
        let others = |axis: Axis| f64::from(nest.extent(axis)) / boxes[axis as usize] - 1.0;
        let reach = others(output) * f64::from(steps.stride)
            + others(kernel) * f64::from(steps.dilation)
            + 1.0;
        let all = boxes[output as usize] * boxes[kernel as usize];
        let Some((turn, _)) = moves.filter(|(_, of)| *of == window) else { return all * reach };
        let pace = if turn.axis == output { steps.stride } else { steps.dilation };
        let fresh = reach.min(f64::from(turn.advance) * f64::from(pace));
        all / turn.trips * (reach + (turn.trips - 1.0) * fresh)
    }

    /// Elements of a tensor in all boxes, each box once.
    fn moved(&self, tensor: TensorRole, boxes: &[f64; N_AXES], loops: &[Turn]) -> f64 {
        if tensor != TensorRole::Input {
            return self.elements[tensor];
        }
        let moves = window_of(loops);
        let whole = Axis::INPUT.map(|axis| f64::from(self.problem.nest.extent(axis)));
        let whole: f64 = whole.into_iter().product();
        whole * self.window(0, boxes, moves) * self.window(1, boxes, moves)
    }

    /// Bytes of DRAM and of the shared memory with loops above it.
    fn above(&self, plan: &Plan) -> (f64, f64) {
        let Problem { nest, machine, .. } = *self.problem;
        let stage = &plan.stages[0];
        let loops = plan.loops(stage);
        let footprints = nest.footprints(&stage.together);
        let (mut dram, mut shared) = (0.0, 0.0);
        for tensor in TensorRole::ALL {
            let moved = self.moved(tensor, &stage.boxes, loops);
            dram += self.of_dram(tensor, moved, reloads(loops, tensor));
            shared += match machine.resident[tensor] {
                true => self.elements[tensor] * self.bytes[tensor],
                false => {
                    let changes = loops.iter().any(|turn| turn.axis.indexes(tensor));
                    let copies = if changes { machine.shared_copies[tensor] } else { 1 };
                    footprints[tensor] as f64 * self.bytes[tensor] * f64::from(copies)
                }
            };
        }
        (dram.max(self.least_dram), shared)
    }

    /// Bytes of DRAM for elements that move so many times.
    fn of_dram(&self, tensor: TensorRole, moved: f64, times: f64) -> f64 {
        let per_element = self.dram_bytes[tensor];
        match tensor {
            TensorRole::Output if self.problem.machine.resident.output => moved * per_element,
            TensorRole::Output => moved * (per_element + 2.0 * (times - 1.0) * self.bytes.output),
            _ => moved * times * per_element,
        }
    }

    /// Bytes of DRAM and of the shared memory where the loops of level 0 say what is held: the least traffic that
    /// fits.
    fn held(&self, plan: &Plan) -> (f64, f64) {
        let mut options = [[(0.0, 0.0); N_AXES + 1]; 3];
        let mut counts = [0; 3];
        for (at, tensor) in TensorRole::ALL.into_iter().enumerate() {
            counts[at] = self.holds(plan, tensor, &mut options[at]);
        }
        let [inputs, weights, outputs] = [0, 1, 2].map(|at| &options[at][..counts[at]]);
        let mut best: Option<(f64, f64)> = None;
        let mut least = (0.0, f64::INFINITY);
        for input in inputs {
            for weight in weights {
                for output in outputs {
                    let dram = input.0 + weight.0 + output.0;
                    let shared = input.1 + weight.1 + output.1;
                    if shared <= self.capacity && best.is_none_or(|best| dram < best.0) {
                        best = Some((dram, shared));
                    }
                    if shared < least.1 {
                        least = (dram, shared);
                    }
                }
            }
        }
        best.unwrap_or(least)
    }

    /// Traffic of DRAM and bytes of shared memory at every depth of a tensor; returns their number.
    fn holds(
        &self,
        plan: &Plan,
        tensor: TensorRole,
        options: &mut [(f64, f64); N_AXES + 1],
    ) -> usize {
        let Problem { nest, machine, .. } = *self.problem;
        let per_element = self.bytes[tensor];
        let whole = self.elements[tensor];
        options[0] = (self.of_dram(tensor, whole, 1.0), whole * per_element);
        if machine.resident[tensor] {
            return 1;
        }
        let stage = &plan.stages[0];
        let loops = plan.loops(stage);
        let (mut extents, mut boxes) = (*nest.extents(), [1.0; N_AXES]);
        let mut count = 1;
        for (index, turn) in loops.iter().enumerate() {
            let axis = turn.axis as usize;
            (extents[axis], boxes[axis]) = (turn.advance, turn.trips);
            if !turn.axis.indexes(tensor) {
                continue;
            }
            let loops = &loops[..=index];
            let moved = self.moved(tensor, &boxes, loops);
            let dram = self.of_dram(tensor, moved, reloads(loops, tensor));
            let footprints = nest.footprints(&extents);
            let copies = f64::from(machine.shared_copies[tensor]);
            options[count] = (dram, footprints[tensor] as f64 * per_element * copies);
            count += 1;
        }
        count
    }

    /// Cycles of the chip, and of the layer with those of DRAM that nothing hides.
    fn cycles(&self, plan: &Plan, first: usize) -> (f64, f64) {
        let innermost_stage = &plan.stages[plan.n_stages - 1];
        let macs = innermost_stage.unit.iter().map(|&it| u128::from(it)).product();
        let pe = cycles_of(macs, self.problem.machine.rate) as f64;
        // Time of the units inside when a loop advances.
        let mut times = [pe; MOST_LOOPS];
        let mut chip = pe;
        for level in (first..plan.n_stages).rev() {
            chip += self.level_cycles(plan, level, &self.nocs[level - first], &mut times);
        }
        match first {
            0 => (chip, chip),
            _ => self.off_chip_cycles(plan, &times, chip),
        }
    }

    /// Adds the steps of a level to the `times` in which loops advance. Returns the cycles of its first fill, of
    /// the other steps of the first box, and of its last drain.
    fn level_cycles(
        &self,
        plan: &Plan,
        level: usize,
        noc: &Noc,
        times: &mut [f64; MOST_LOOPS],
    ) -> f64 {
        let stage = &plan.stages[level];
        let loops = plan.loops(stage);
        let tile = self.tile(stage, noc);
        let last = PerTensor::from_fn(|tensor| innermost(loops, tensor));
        let fresh = self.fresh(stage, loops);
        let (mut inner, mut ways) = (0.0, 1.0);
        for (index, turn) in loops.iter().enumerate() {
            let mut bytes = PerTensor::from_fn(|it| if index < last[it] { tile[it] } else { 0.0 });
            if index + 1 == last.input {
                bytes.input *= fresh;
            }
            let (exposed, down, up) = noc.delays(&bytes, noc.step_latency);
            times[index] = exposed + down.max(up).max(times[index]);
            if turn.level == level {
                inner += ways * (turn.steps - 1.0) * times[index];
                ways *= turn.steps;
            }
        }
        for (time, turn) in times.iter_mut().zip(loops) {
            if turn.level < level {
                *time += inner;
            }
        }
        let (exposed, down, up) = noc.delays(&tile, noc.latency);
        exposed + down + inner + up
    }

    /// Bytes that the NoC of a level moves in a step in which every tensor changes.
    fn tile(&self, stage: &Stage, noc: &Noc) -> PerTensor<f64> {
        let elements = self.problem.nest.footprints(&stage.together);
        let repeats = |tensor: TensorRole| match (tensor, stage.spatial) {
            (TensorRole::Output, Some(axis)) => axis.is_reduction() && !noc.reduce,
            (_, Some(axis)) => !axis.indexes(tensor) && !noc.multicast,
            (_, None) => false,
        };
        PerTensor::from_fn(|it| {
            let times = if repeats(it) { stage.active } else { 1.0 };
            elements[it] as f64 * self.bytes[it] * times
        })
    }

    /// Part of the inputs of a box that is new when the innermost loop over inputs advances.
    fn fresh(&self, stage: &Stage, loops: &[Turn]) -> f64 {
        let Some((turn, window)) = window_of(loops) else { return 1.0 };
        let steps = self.problem.nest.compact()[window];
        let [output, kernel] = Axis::WINDOWS[window];
        let extents = &stage.together;
        let reach = steps.reach(extents[output as usize], extents[kernel as usize]) as f64;
        let pace = if turn.axis == output { steps.stride } else { steps.dilation };
        (f64::from(turn.advance) * f64::from(pace) / reach).min(1.0)
    }

    /// Cycles of the chip and of the layer with loops above the shared memory: each step takes the longer of its
    /// work and its part of the traffic.
    fn off_chip_cycles(&self, plan: &Plan, times: &[f64; MOST_LOOPS], chip: f64) -> (f64, f64) {
        let stage = &plan.stages[0];
        let loops = plan.loops(stage);
        let elements = self.problem.nest.footprints(&stage.together);
        let visits = reloads(loops, TensorRole::Output);
        let tile = PerTensor::from_fn(|tensor| match tensor {
            TensorRole::Output => self.of_dram(tensor, elements[tensor] as f64, visits) / visits,
            _ => elements[tensor] as f64 * self.dram_bytes[tensor],
        });
        let last = PerTensor::from_fn(|tensor| innermost(loops, tensor));
        let fresh = self.fresh(stage, loops);
        let (mut work, mut total, mut ways) = (0.0, 0.0, 1.0);
        for (index, turn) in loops.iter().enumerate() {
            let moved = |tensor: TensorRole| if index < last[tensor] { tile[tensor] } else { 0.0 };
            let part = if index + 1 == last.input { fresh } else { 1.0 };
            let bytes = moved(TensorRole::Input) * part
                + moved(TensorRole::Weight)
                + moved(TensorRole::Output);
            let n_steps = ways * (turn.steps - 1.0);
            work += n_steps * times[index];
            total += n_steps * times[index].max(bytes * self.dram_cycles_per_byte);
            ways *= turn.steps;
        }
        let ends = tile.input + tile.weight + tile.output;
        let ends = 2.0 * self.dram_latency + ends * self.dram_cycles_per_byte;
        (chip + work, total + chip + ends)
    }

    /// Energy of the counts (7.1 of the cost model).
    fn energy(&self, plan: &Plan, first: usize, dram: f64, cycles: f64, machine: &Machine) -> f64 {
        let (table, bytes) = (&machine.energies, &self.bytes);
        let n_levels = plan.n_stages - first;
        let outputs = self.elements.output * bytes.output;
        // Sums that leave the units of the level above, which is the off-chip level or nothing.
        let mut left_above = outputs;
        if first == 1 {
            left_above *= reloads(plan.loops(&plan.stages[0]), TensorRole::Output);
        }
        let mut copies = PerTensor::splat(1.0);
        let mut energy = 0.0;
        for level in 0..n_levels {
            let stage = &plan.stages[first + level];
            let noc = &self.nocs[level];
            let loops = plan.loops(stage);
            let (mut sent, mut delivered) = (0.0, 0.0);
            for tensor in [TensorRole::Input, TensorRole::Weight] {
                let times = reloads(loops, tensor) * copies[tensor] * bytes[tensor];
                let mut sends = self.moved(tensor, &stage.boxes, loops) * times;
                let mut deliveries = sends;
                match stage.spatial {
                    Some(axis) if !axis.indexes(tensor) => {
                        deliveries *= stage.active;
                        if !noc.multicast {
                            sends = deliveries;
                        }
                        copies[tensor] *= stage.active;
                    }
                    Some(axis) if tensor == TensorRole::Input && axis.window().is_some() => {
                        deliveries = self.moved(tensor, &stage.unit_boxes, loops) * times;
                        sends = sends.min(deliveries);
                    }
                    _ => {}
                }
                sent += sends;
                delivered += deliveries;
            }
            let is_reduced = stage.spatial.is_some_and(Axis::is_reduction);
            if is_reduced {
                copies.output *= stage.active;
            }
            let left = outputs * reloads(loops, TensorRole::Output) * copies.output;
            let arrived = if is_reduced && noc.reduce { left / stage.active } else { left };
            let accumulated = (arrived - left_above).max(0.0);
            energy += (delivered + left) * table.noc;
            let above = sent + arrived + accumulated;
            energy += above * if level == 0 { table.shared } else { table.cluster[level - 1] };
            let own = delivered + left;
            energy +=
                own * if level + 1 == n_levels { table.scratchpad } else { table.cluster[level] };
            left_above = left;
        }
        let innermost = &plan.stages[plan.n_stages - 1];
        let reductions =
            [Axis::C, Axis::R, Axis::S].map(|axis| innermost.unit_boxes[axis as usize]);
        let pe_outputs = outputs * reductions.into_iter().product::<f64>();
        let operands = bytes.input + bytes.weight;
        let scratchpad = self.macs * operands + 2.0 * pe_outputs - left_above;
        energy
            + self.macs * (table.mac + (operands + 2.0 * bytes.output) * table.register)
            + scratchpad * table.scratchpad
            + dram * (table.shared + table.dram)
            + cycles * (table.leakage + table.clock)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::loop_nest::lower::lower;
    use crate::cost::loop_nest::{Bandwidth, Nest};
    use crate::hardware::Widths;
    use crate::mapper::construct::construct;
    use crate::mapper::improve::{Improve, Judge};
    use crate::mapper::skeletons::{Unspread, skeletons};
    use crate::mapper::{Limits, Mapspace, Objective, Sizes};
    use crate::model::{ConvShape, MatmulShape, Operator};

    /// 4,096 PEs with 2 MiB of shared memory and a narrow DRAM.
    fn machine() -> Machine {
        let bandwidth = |bytes| Bandwidth::new(bytes).expect("more than 0");
        let (down, up) = (bandwidth(256), bandwidth(256));
        Machine {
            noc_levels: vec![NocLevel { down, up, latency: 1, ..NocLevel::IDEAL }],
            shared_bytes: Some(2 << 20),
            dram_bandwidth: bandwidth(32),
            dram_latency: 100,
            widths: Widths::of_bytes([1, 1, 4, 1]),
            ..Machine::new(4096)
        }
    }

    fn layers() -> Vec<Nest> {
        let conv = ConvShape { k: 64, c: 64, y: 58, x: 58, r: 3, s: 3, ..ConvShape::UNIT };
        let strided = ConvShape { stride_y: 2, stride_x: 2, r: 5, s: 5, ..conv };
        let point = ConvShape { k: 256, c: 1024, y: 16, x: 16, ..ConvShape::UNIT };
        let product =
            MatmulShape { instances: 1, rows: 1000, k: 1000, c: 4096, activations: false };
        let operators: [Operator; 4] =
            [conv.into(), strided.into(), point.into(), Operator::Matmul(product)];
        operators.iter().flat_map(|it| lower(it).expect("small")).collect()
    }

    /// Estimate over value of latency and energy of mappings that climbs meet.
    fn ratios() -> [Vec<f64>; 2] {
        let (machine, mut ratios) = (machine(), [Vec::new(), Vec::new()]);
        let limits = Limits::new(Some(1024), vec![256 << 10, 64 << 10]);
        let free = Mapspace::free(vec![vec![4, 16]], Sizes::All);
        let space = Mapspace { off_chip: true, ..free };
        for nest in layers() {
            let (machine, limits, space) = (&machine, &limits, &space);
            let problem =
                Problem { nest: &nest, machine, limits, space, objective: Objective::Edp };
            let (estimator, mut climbs) = (Estimator::new(&problem), Improve::new(&problem, 5));
            for skeleton in skeletons(&problem, Unspread::WhereNecessary).iter().step_by(7) {
                let first = construct(&problem, skeleton.units(), skeleton.axes(), None);
                let Some(mut place) = climbs.place(first, Judge::Model) else { continue };
                for _ in 0..10 {
                    climbs.climb(&mut place, 0.3, 12, 0.0, Judge::Model);
                    let score = problem.score(&place.at).expect("small");
                    let estimate = estimator.score(&place.at);
                    // What is held may be a few bytes more or less.
                    if score.excess == 0 && estimate.excess == 0 {
                        let of = |value: &Value| [value.cycles as f64, value.energy_pj];
                        let (found, exact) = (of(&estimate.value), of(&score.value));
                        ratios.iter_mut().zip(0..).for_each(|(to, at)| {
                            to.push(found[at] / exact[at]);
                        });
                    }
                }
            }
        }
        ratios.iter_mut().for_each(|it| it.sort_by(f64::total_cmp));
        ratios
    }

    /// Boxes at the ends of axes, and windows that overlap across several loops, count as others.
    #[test]
    fn estimates_are_near_the_cost_model() {
        let [cycles, energy] = ratios();
        assert!(cycles.len() > 300, "{}", cycles.len());
        let at = |ratios: &[f64], part: usize| ratios[(ratios.len() - 1) * part / 100];
        assert!(at(&cycles, 5) > 0.99 && at(&cycles, 95) < 1.02, "{cycles:?}");
        assert!(at(&energy, 5) > 0.95 && at(&energy, 50) < 1.02, "{energy:?}");
        assert!(at(&energy, 95) < 1.2, "{energy:?}");
    }
}
