//! Loops above the shared memory (docs/explanation/cost-model-loop-nest.md, section 6.7). The shared memory is the one
//! unit of the off-chip level, and DRAM is the buffer above it.

use crate::hardware::Widths;
use crate::model::{PerOperand, PerTensor, TensorRole};

use super::context::Phase;
use super::dram::{DramTraffic, SharedMemoryPlan, StoredShare};
use super::machine::Machine;
use super::mapping::{Level, Loop};
use super::nest::{Nest, outputs};
use super::transition::{Advance, Trips};
use super::{LevelCounts, Riders};

/// Elements that a step moves between the units and the buffer above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Moved {
    /// Inputs and weights sent to the units.
    pub sent: PerOperand<u64>,
    /// Partial sums that arrive above.
    pub arrived: u64,
}

/// Kind of the partial sums that arrive in DRAM in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kind {
    /// Number of such steps.
    pub times: u64,
    /// Whether DRAM has sums of the same outputs already, which are read and added.
    pub adds: bool,
    /// Whether the sums are complete.
    pub completes: bool,
}

/// A class of equal steps of the off-chip level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    /// Number of the step in the walk; classes of different kinds may share it.
    pub class: usize,
    /// Situation of the shared memory.
    pub phase: Phase,
    /// Elements that move in one step, padding included.
    pub moved: Moved,
    /// Number of steps, and what happens to their partial sums.
    pub kind: Kind,
    /// Cycles of the chip in one step.
    pub work: u64,
}

impl Step {
    /// A class of steps whose kind and work are not known yet.
    pub(super) fn new(class: usize, phase: Phase, moved: Moved) -> Self {
        let kind = Kind { times: 0, adds: false, completes: false };
        Self { class, phase, moved, kind, work: 0 }
    }
}

/// Kinds of the steps of a class by the loops `trips`, outermost first: `times` steps in which the loop
/// `advance` advances; `None` for the first step and the flush.
///
/// Sums arrive at the end of a visit. The visits of one output box differ by the iterations of the
/// reduction loops outside the innermost loop over outputs: in the first visit all of these loops are in
/// their first iteration, in the last visit all are in their last one.
pub(super) fn kinds(trips: &[Trips], advance: Option<Advance>, times: u64) -> [Kind; 3] {
    let over_outputs = |trips: &Trips| trips.count > 1 && !trips.axis.is_reduction();
    let innermost = trips.iter().rposition(over_outputs).unwrap_or(0);
    let spills = |trips: &[Trips]| trips.iter().any(is_reduction);
    let (first, last) = if !spills(&trips[..innermost]) {
        return [(times, false, true), (0, true, false), (0, true, true)].map(kind);
    } else if let Some(at) = advance.filter(|at| at.index <= innermost) {
        let rewinds = spills(&trips[at.index + 1..innermost.max(at.index + 1)]);
        let first = if rewinds { 0 } else { ways(trips, at, times, End::First) };
        (first, ways(trips, at, times, End::Last))
    } else {
        // The flush ends the last visit of the last output box. In other steps no sums arrive.
        (0, times)
    };
    let between = times - first - last;
    [(first, false, false), (between, true, false), (last, true, true)].map(kind)
}

fn kind((times, adds, completes): (u64, bool, bool)) -> Kind {
    Kind { times, adds, completes }
}

fn is_reduction(trips: &Trips) -> bool {
    trips.count > 1 && trips.axis.is_reduction()
}

/// End of a loop.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    First,
    Last,
}

/// Of `times` steps in which the loop `at` advances, the number of those before which all reduction loops
/// up to this one were at an `end`.
fn ways(trips: &[Trips], at: Advance, times: u64, end: End) -> u64 {
    let Advance { index, to_last, mut at_last } = at;
    let advancing = &trips[index];
    // Steps by the states of the outer loops, divided by those of each reduction loop.
    let mut ways = times;
    for trips in &trips[..index] {
        let mut state = None;
        if trips.is_mixed() {
            state = Some(at_last & 1 == 1);
            at_last >>= 1;
        }
        if !is_reduction(trips) {
            continue;
        }
        let (all, at_end) = match (state, end) {
            (None, _) => (u64::from(trips.count), 1),
            (Some(true), End::Last) => (1, 1),
            (Some(true), End::First) => (1, 0),
            (Some(false), End::First) => (u64::from(trips.count) - 1, 1),
            (Some(false), End::Last) => (1, 0),
        };
        ways = ways / all * at_end;
    }
    if !is_reduction(advancing) {
        return ways;
    }
    // Before it advances, a loop is not at its last iteration, and at its first only once.
    let own = match (to_last, advancing.is_mixed()) {
        (true, _) => 1,
        (false, mixed) => u64::from(advancing.count) - 1 - u64::from(mixed),
    };
    let from_first = !to_last || advancing.count == 2;
    if end == End::First && from_first { ways / own } else { 0 }
}

/// Traffic of DRAM in one step \[byte\].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StepBytes {
    /// Inputs, weights and partial sums read.
    pub read: u64,
    /// Partial sums and outputs written.
    pub written: u64,
}

/// DRAM as the steps of a layer use it.
#[derive(Clone, Copy)]
pub(super) struct Dram<'a> {
    machine: &'a Machine,
    share: StoredShare,
    /// Number of outputs of the layer.
    outputs: u64,
}

impl<'a> Dram<'a> {
    pub(super) fn new(nest: &Nest, machine: &'a Machine) -> Self {
        Self { machine, share: StoredShare::new(nest), outputs: outputs(nest.extents()) }
    }

    /// Traffic of a step (6.7). Resident tensors do not move.
    pub(super) fn bytes(&self, moved: &Moved, kind: Kind) -> StepBytes {
        let (machine, resident) = (self.machine, &self.machine.resident);
        let PerOperand { input, weight } = moved.sent;
        let of_operand = |tensor: TensorRole, elements: u64| match resident[tensor] {
            true => 0,
            false => machine.dram_bytes(tensor, elements),
        };
        let inputs = of_operand(TensorRole::Input, self.share.of(input));
        let weights = of_operand(TensorRole::Weight, weight);
        let sums = match resident.output {
            true => 0,
            false => machine.widths.partial_sum.bytes(moved.arrived),
        };
        let added = if kind.adds { sums } else { 0 };
        let (others, written) = match (kind.completes, machine.riders) {
            (false, _) => (0, sums),
            // Complete outputs bring their share of the group along.
            (true, Some(Riders { read, written, .. })) => {
                (self.share_of(read, moved.arrived), self.share_of(written, moved.arrived))
            }
            (true, None) => (0, machine.output_dram_bytes(moved.arrived)),
        };
        StepBytes { read: inputs + weights + added + others, written }
    }

    /// Bytes of `all` that belong to some of the outputs, rounded up.
    fn share_of(&self, all: u64, outputs: u64) -> u64 {
        let share = u128::from(all) * u128::from(outputs);
        u64::try_from(share.div_ceil(u128::from(self.outputs.max(1)))).unwrap_or(u64::MAX)
    }

    /// Cycles of DRAM in a step, whose reads and writes share its bandwidth. The latency is exposed in the
    /// first step and in the flush (section 4.8).
    fn cycles(&self, step: &Step) -> u64 {
        let StepBytes { read, written } = self.bytes(&step.moved, step.kind);
        match read + written {
            0 => 0,
            bytes if step.phase == Phase::Warm => self.machine.dram_bandwidth.cycles(bytes),
            bytes => self.machine.dram_cycles(bytes),
        }
    }
}

/// Times of a layer with an off-chip level \[cycle\].
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Time {
    /// Cycles of DRAM in all steps.
    pub dram: u64,
    /// Sum of the times of all steps.
    pub layer: u64,
}

/// Times of a layer over the steps of its off-chip level (6.8).
pub(super) fn time(nest: &Nest, machine: &Machine, steps: &[Step]) -> Time {
    let dram = Dram::new(nest, machine);
    steps.iter().fold(Time::default(), |sum, step| {
        let cycles = dram.cycles(step);
        let layer = match step.phase {
            Phase::Warm => cycles.max(step.work),
            Phase::Cold | Phase::Flush => cycles + step.work,
        };
        let times = step.kind.times;
        Time { dram: sum.dram + times * cycles, layer: sum.layer + times * layer }
    })
}

/// Box in shared memory, and the DRAM traffic of a layer with these `counts` of its off-chip level (6.9).
pub(super) fn plan(
    nest: &Nest,
    level: &Level,
    machine: &Machine,
    counts: &LevelCounts,
) -> SharedMemoryPlan {
    let all = outputs(nest.extents());
    let spilled = machine.widths.partial_sum.bytes(counts.arrived.saturating_sub(all));
    let inputs = StoredShare::new(nest).of_layer(counts.sent.input);
    let moved = DramTraffic {
        inputs_read: machine.dram_bytes(TensorRole::Input, inputs),
        weights_read: machine.dram_bytes(TensorRole::Weight, counts.sent.weight),
        partial_sums_read: spilled,
        outputs_written: machine.dram_bytes(TensorRole::Output, all) + spilled,
    };
    let resident = machine.resident;
    let unless = |resident: bool, bytes: u64| if resident { 0 } else { bytes };
    let shared_bytes = shared_bytes(nest, level, machine);
    let mut dram = DramTraffic {
        inputs_read: unless(resident.input, moved.inputs_read),
        weights_read: unless(resident.weight, moved.weights_read),
        partial_sums_read: unless(resident.output, moved.partial_sums_read),
        outputs_written: unless(resident.output, moved.outputs_written),
    };
    if let Some(riders) = machine.riders {
        riders.replace(
            &mut dram,
            unless(resident.output, machine.dram_bytes(TensorRole::Output, all)),
        );
    }
    SharedMemoryPlan {
        dram,
        shared_bytes,
        fits: machine.shared_bytes.is_none_or(|capacity| shared_bytes <= capacity),
        depths: PerTensor::from_fn(|tensor| depth(nest, level, machine, tensor)),
    }
}

/// Shared memory that the largest box of the off-chip level needs \[byte\] (6.9).
pub(super) fn shared_bytes(nest: &Nest, level: &Level, machine: &Machine) -> u64 {
    let of_box = nest.footprints(&level.unit_extents(nest.extents()));
    let whole = nest.footprints(nest.extents());
    let Widths { input, weight, partial_sum, .. } = machine.widths;
    let widths = PerTensor { input, weight, output: partial_sum };
    let bytes = |tensor: TensorRole| {
        let (elements, copies) = match depth(nest, level, machine, tensor) {
            0 if machine.resident[tensor] => (whole[tensor], 1),
            0 => (of_box[tensor], 1),
            _ => (of_box[tensor], machine.shared_copies[tensor]),
        };
        u64::from(copies) * widths[tensor].bytes(elements)
    };
    TensorRole::ALL.into_iter().map(bytes).sum()
}

/// Number of outermost loops of the off-chip level whose iteration selects the elements of a tensor in
/// shared memory. 0 if it is held whole.
fn depth(nest: &Nest, level: &Level, machine: &Machine, tensor: TensorRole) -> usize {
    let selects = |map: &Loop| map.chunks(nest.extent(map.axis)) > 1 && map.axis.indexes(tensor);
    let innermost = level.loops().iter().rposition(selects);
    let is_resident = machine.resident[tensor];
    innermost.filter(|_| !is_resident).map_or(0, |index| index + 1)
}
