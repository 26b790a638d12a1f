//! Tiles in shared memory, and the DRAM traffic that follows from them (docs/explanation/cost-model-loop-nest.md,
//! section 6).

use std::cmp::Ordering;
use std::ops::AddAssign;
use std::slice;

use crate::model::{PerTensor, TensorRole};

use super::context::{Span, window_overlap};
use super::machine::Machine;
use super::mapping::{Level, Loop, Mapping};
use super::nest::{Axis, Extents, N_AXES, Nest, outputs, weights};
use super::transition::Trips;

/// Bytes that a layer moves between DRAM and shared memory (6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct DramTraffic {
    /// Inputs read \[byte\].
    pub inputs_read: u64,
    /// Weights read \[byte\].
    pub weights_read: u64,
    /// Partial sums read back \[byte\].
    pub partial_sums_read: u64,
    /// Outputs and partial sums written \[byte\].
    pub outputs_written: u64,
}

impl DramTraffic {
    /// Total traffic, read and written \[byte\].
    pub fn total_bytes(&self) -> u64 {
        self.inputs_read + self.weights_read + self.partial_sums_read + self.outputs_written
    }
}

impl AddAssign for DramTraffic {
    fn add_assign(&mut self, other: Self) {
        self.inputs_read += other.inputs_read;
        self.weights_read += other.weights_read;
        self.partial_sums_read += other.partial_sums_read;
        self.outputs_written += other.outputs_written;
    }
}

/// Tiles that the shared memory holds, and the DRAM traffic that follows from them (section 6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SharedMemoryPlan {
    /// Traffic of DRAM.
    pub dram: DramTraffic,
    /// Shared memory in use \[byte\].
    pub shared_bytes: u64,
    /// Whether the shared memory is large enough. If not, the plan is the one that uses least.
    pub fits: bool,
    /// Hold depth of every tensor (6.1): the number of outermost loops of level 0, or of the off-chip level
    /// if there is one, whose iteration selects the tile that is held. 0 holds the whole tensor.
    pub depths: PerTensor<usize>,
}

/// One tensor held at one depth.
#[derive(Debug, Clone, Copy, Default)]
struct Hold {
    depth: usize,
    /// Shared memory in use \[byte\].
    shared_bytes: u64,
    /// DRAM traffic, read and written \[byte\].
    moved: u64,
}

impl Hold {
    /// Whether this needs no more shared memory and moves no more bytes than `other`.
    fn dominates(&self, other: &Self) -> bool {
        self.shared_bytes <= other.shared_bytes && self.moved <= other.moved
    }
}

/// Depths of one tensor that no other depth dominates.
#[derive(Debug, Clone, Copy, Default)]
struct HoldCandidates {
    holds: [Hold; N_AXES + 1],
    count: usize,
}

impl HoldCandidates {
    fn as_slice(&self) -> &[Hold] {
        &self.holds[..self.count]
    }

    /// Adds a hold that is deeper than all so far, unless one of them dominates it.
    fn add(&mut self, hold: Hold) {
        if self.as_slice().iter().any(|known| known.dominates(&hold)) {
            return;
        }
        let mut kept = 0;
        for index in 0..self.count {
            if !hold.dominates(&self.holds[index]) {
                self.holds[kept] = self.holds[index];
                kept += 1;
            }
        }
        self.holds[kept] = hold;
        self.count = kept + 1;
    }
}

/// Level 0 with its folds as iterations in time (section 6.1).
struct OuterLevel<'a> {
    nest: &'a Nest,
    machine: &'a Machine,
    trips: [Trips; N_AXES],
    n_loops: usize,
    share: StoredShare,
}

/// Share of the input elements on chip that DRAM stores, because padding does not exist there (section
/// 6.3).
#[derive(Debug, Clone, Copy)]
pub(super) struct StoredShare {
    /// Number of input elements, padding included.
    padded: u64,
    /// Number of input elements that are stored and that a MAC touches.
    stored: u64,
}

impl StoredShare {
    /// Share of the inputs of a layer.
    pub(super) fn new(nest: &Nest) -> Self {
        Self { padded: nest.inputs(nest.extents()), stored: nest.touched_inputs() }
    }

    /// Number of input elements that DRAM reads for `elements` on chip, rounded up.
    pub(super) fn of(self, elements: u64) -> u64 {
        if self.stored == self.padded {
            return elements;
        }
        let (elements, stored) = (u128::from(elements), u128::from(self.stored));
        let scaled = (elements * stored).div_ceil(u128::from(self.padded));
        u64::try_from(scaled).unwrap_or(u64::MAX)
    }

    /// Number of input elements that DRAM reads over the layer for a `traffic` that includes padding:
    /// each one at least once.
    pub(super) fn of_layer(self, traffic: u64) -> u64 {
        self.of(traffic).max(self.stored)
    }
}

/// The plan with the least DRAM traffic of all that fit (6.4).
pub(super) fn plan(nest: &Nest, mapping: &Mapping, machine: &Machine) -> SharedMemoryPlan {
    Holds::new(nest, mapping, machine, machine.resident).plan(machine)
}

/// Number of candidates that loop nests usually have.
const USUAL_CANDIDATES: usize = 8;

/// Depths at which the tensors of a loop nest can be held, whatever the size of the shared memory.
#[derive(Debug, Clone)]
pub(super) struct Holds {
    /// Candidates of tensors that are not resident, one tensor after the other.
    candidates: Vec<Hold>,
    /// End of those of each tensor.
    ends: PerTensor<usize>,
    /// Whole tensors that are resident.
    resident: PerTensor<Hold>,
    /// Bytes in DRAM of all outputs at their final width.
    output_bytes: u64,
}

impl Holds {
    /// The depths of all tensors but for those that are `resident` whenever a plan is asked for.
    pub(super) fn new(
        nest: &Nest,
        mapping: &Mapping,
        machine: &Machine,
        resident: PerTensor<bool>,
    ) -> Self {
        let outer = OuterLevel::new(nest, &mapping.levels()[0], machine);
        let (mut all, mut ends) = (HoldCandidates::default(), PerTensor::default());
        let mut candidates = Vec::with_capacity(USUAL_CANDIDATES);
        let mut whole = PerTensor::<Hold>::default();
        for tensor in TensorRole::ALL {
            whole[tensor].shared_bytes = outer.size(tensor, nest.extents()).1;
            if !resident[tensor] {
                all.count = 0;
                outer.add_candidates(tensor, &mut all);
                candidates.extend_from_slice(all.as_slice());
            }
            ends[tensor] = candidates.len();
        }
        Self { candidates, ends, resident: whole, output_bytes: outer.output_bytes() }
    }

    fn candidates_of(&self, tensor: TensorRole) -> &[Hold] {
        let PerTensor { input, weight, output } = self.ends;
        let range = PerTensor { input: 0..input, weight: input..weight, output: weight..output };
        &self.candidates[range[tensor].clone()]
    }

    /// The plan with the least DRAM traffic of all that fit (6.4), on the machine of [`Holds::new`] but for the size
    /// of the shared memory, the resident tensors and what rides along.
    pub(super) fn plan(&self, machine: &Machine) -> SharedMemoryPlan {
        let of = |tensor| match machine.resident[tensor] {
            true => slice::from_ref(&self.resident[tensor]),
            false => self.candidates_of(tensor),
        };
        let holds = choose(&PerTensor::from_fn(of), machine.shared_bytes.unwrap_or(u64::MAX));
        let shared_bytes = shared_bytes(&holds);
        // Traffic of outputs beyond one write of each is spilled partial sums, written and read once.
        let spilled = holds.output.moved.saturating_sub(self.output_bytes) / 2;
        let mut dram = DramTraffic {
            inputs_read: holds.input.moved,
            weights_read: holds.weight.moved,
            partial_sums_read: spilled,
            outputs_written: holds.output.moved - spilled,
        };
        if let Some(riders) = machine.riders {
            riders.replace(&mut dram, holds.output.moved.min(self.output_bytes));
        }
        SharedMemoryPlan {
            dram,
            shared_bytes,
            fits: machine.shared_bytes.is_none_or(|capacity| shared_bytes <= capacity),
            depths: holds.map(|hold| hold.depth),
        }
    }
}

fn shared_bytes(holds: &PerTensor<Hold>) -> u64 {
    holds.input.shared_bytes + holds.weight.shared_bytes + holds.output.shared_bytes
}

/// The best combination of one candidate of each tensor (6.4).
fn choose(candidates: &PerTensor<&[Hold]>, capacity: u64) -> PerTensor<Hold> {
    // No two candidates of a tensor have the same traffic.
    let cheapest = |of: &&[Hold]| of.iter().copied().min_by_key(|hold| hold.moved);
    let mut best = candidates.each_ref().map(|of| cheapest(of).unwrap_or_default());
    if shared_bytes(&best) <= capacity {
        return best;
    }
    let PerTensor { input: inputs, weight: weights, output: outputs } = *candidates;
    for &input in inputs {
        for &weight in weights {
            for &output in outputs {
                let holds = PerTensor { input, weight, output };
                if Rank::new(&holds, capacity) < Rank::new(&best, capacity) {
                    best = holds;
                }
            }
        }
    }
    best
}

/// Order of combinations, the best first: those that fit by DRAM traffic and then by shared memory,
/// then those that do not fit by shared memory and then by DRAM traffic; ties by depths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    too_large: bool,
    order: [u64; 2],
    depths: PerTensor<usize>,
}

impl Rank {
    fn new(holds: &PerTensor<Hold>, capacity: u64) -> Self {
        let shared_bytes = shared_bytes(holds);
        let moved = holds.input.moved + holds.weight.moved + holds.output.moved;
        let too_large = shared_bytes > capacity;
        let order = if too_large { [shared_bytes, moved] } else { [moved, shared_bytes] };
        Self { too_large, order, depths: holds.each_ref().map(|hold| hold.depth) }
    }
}

impl<'a> OuterLevel<'a> {
    fn new(nest: &'a Nest, level: &Level, machine: &'a Machine) -> Self {
        let in_time = |map: &Loop| {
            let units = if map.spatial { u64::from(level.units()) } else { 1 };
            let size = (units - 1) * u64::from(map.offset) + u64::from(map.size);
            let offset = units * u64::from(map.offset);
            let [size, offset] = [size, offset].map(|it| u32::try_from(it).unwrap_or(u32::MAX));
            let map = Loop { size, offset, spatial: false, ..*map };
            Trips::new(&map, 1, nest.extent(map.axis))
        };
        let mut trips = [Trips::NONE; N_AXES];
        for (trips, map) in trips.iter_mut().zip(level.loops()) {
            *trips = in_time(map);
        }
        let share = StoredShare::new(nest);
        Self { nest, machine, trips, n_loops: level.loops().len(), share }
    }

    /// Adds the depths at which a tensor can be held. Loops of one iteration, and loops along an axis that
    /// the tensor does not depend on, make no difference.
    fn add_candidates(&self, tensor: TensorRole, holds: &mut HoldCandidates) {
        let copies = self.machine.shared_copies[tensor];
        let mut tile = *self.nest.extents();
        // Extents along the coordinates that no loop so far splits.
        let mut unsplit = tile;
        let mut advances = Advances::NONE;
        holds.add(self.hold(tensor, 0, (&tile, 1), 0));
        for (index, innermost) in self.trips[..self.n_loops].iter().enumerate() {
            // One chunk is the whole axis.
            if innermost.count == 1 {
                continue;
            }
            tile[innermost.axis as usize] = innermost.first().edge;
            unsplit[innermost.axis as usize] = 1;
            advances.add(self, tensor, index);
            if innermost.axis.indexes(tensor) {
                let added = advances.added(&self.trips[..=index]) * unsplit_size(tensor, &unsplit);
                holds.add(self.hold(tensor, index + 1, (&tile, copies), added));
            }
        }
    }

    /// The hold of a tensor at a depth, where `tile` is the first and largest tile, of which there are `copies`, and all
    /// later ones have `added` new elements (sections 6.1 to 6.3).
    fn hold(
        &self,
        tensor: TensorRole,
        depth: usize,
        (tile, copies): (&Extents, u32),
        added: u64,
    ) -> Hold {
        let (size, bytes) = self.size(tensor, tile);
        // Traffic: the first tile, and the new elements of all later ones (section 6.2).
        let traffic = size + added;
        let moved = match tensor {
            TensorRole::Input => self.machine.dram_bytes(tensor, self.share.of_layer(traffic)),
            TensorRole::Weight => self.machine.dram_bytes(tensor, traffic),
            TensorRole::Output => {
                let spilled = traffic.saturating_sub(outputs(self.nest.extents()));
                self.output_bytes() + 2 * self.machine.widths.partial_sum.bytes(spilled)
            }
        };
        Hold { depth, shared_bytes: u64::from(copies) * bytes, moved }
    }

    /// Elements of a tensor in a tile, and their bytes on chip.
    fn size(&self, tensor: TensorRole, tile: &Extents) -> (u64, u64) {
        let widths = &self.machine.widths;
        let (size, width) = match tensor {
            TensorRole::Input => (self.nest.inputs(tile), widths.input),
            TensorRole::Weight => (weights(tile), widths.weight),
            TensorRole::Output => (outputs(tile), widths.partial_sum),
        };
        (size, width.bytes(size))
    }

    /// Bytes in DRAM of all outputs at their final width.
    fn output_bytes(&self) -> u64 {
        self.machine.dram_bytes(TensorRole::Output, outputs(self.nest.extents()))
    }

    /// Sums over input rows (direction 0) or columns (1).
    fn window(&self, window: usize, trips: &[Trips], advancing: usize) -> Sum {
        let steps = self.nest.compact()[window];
        let [output, kernel] = Axis::WINDOWS[window];
        let kernel = self.run(kernel, trips, advancing);
        let under = |output: Span| {
            let [full, last] =
                [kernel.full, kernel.last].map(|kernel| window_overlap(steps, output, kernel));
            Sum { now: kernel.times * full.0 + last.0, kept: kernel.times * full.1 + last.1 }
        };
        let output = self.run(output, trips, advancing);
        let last = under(output.last);
        if output.times == 0 {
            return last;
        }
        let full = under(output.full);
        Sum { now: output.times * full.now + last.now, kept: output.times * full.kept + last.kept }
    }

    /// Transitions of the chunks of an axis.
    fn run(&self, axis: Axis, trips: &[Trips], advancing: usize) -> Run {
        match trips.iter().position(|trips| trips.axis == axis) {
            Some(index) => Run::new(&trips[index], index.cmp(&advancing)),
            None => Run::whole(self.nest.extent(axis)),
        }
    }
}

/// Product of extents along the coordinates of a tensor, without input rows and columns.
fn unsplit_size(tensor: TensorRole, extents: &Extents) -> u64 {
    match tensor {
        TensorRole::Input => {
            Axis::INPUT.iter().map(|&axis| u64::from(extents[axis as usize])).product()
        }
        TensorRole::Weight => weights(extents),
        TensorRole::Output => outputs(extents),
    }
}

/// Sums over all advances of each of the outermost loops, divided by [`unsplit_size`].
///
/// Loops on different coordinates iterate over their chunks independently of each other, so that
/// sums over tiles are products of sums over chunks.
struct Advances {
    /// Sums over all coordinates but input rows and columns, by the loop that advances.
    others: [Sum; N_AXES],
    /// Sums over input rows and columns.
    windows: [[Sum; 2]; N_AXES],
    /// Sum over the loops so far, all of which stay.
    staying: Sum,
}

impl Advances {
    const NONE: Self =
        Self { others: [Sum::ONE; N_AXES], windows: [[Sum::ONE; 2]; N_AXES], staying: Sum::ONE };

    /// Adds the loop number `index`, which has several chunks, inside all loops so far.
    fn add(&mut self, outer: &OuterLevel<'_>, tensor: TensorRole, index: usize) {
        let trips = &outer.trips[..=index];
        let new = &trips[index];
        let window = new.axis.window().filter(|_| tensor == TensorRole::Input);
        let positions = |position| Run::new(new, position).positions(tensor, new.axis);
        for advancing in (0..index).filter(|&it| trips[it].count > 1) {
            match window {
                Some(at) => self.windows[advancing][at] = outer.window(at, trips, advancing),
                None => {
                    let rewinds = positions(Ordering::Greater);
                    self.others[advancing] = self.others[advancing].times(rewinds);
                }
            }
        }
        self.others[index] = self.staying;
        if window.is_none() {
            self.others[index] = self.staying.times(positions(Ordering::Equal));
            self.staying = self.staying.times(positions(Ordering::Less));
        }
        if tensor == TensorRole::Input {
            self.windows[index] = [0, 1].map(|at| outer.window(at, trips, index));
        }
    }

    /// New elements of all tiles but the first, over the loops `trips`.
    fn added(&self, trips: &[Trips]) -> u64 {
        let advancing = (0..trips.len()).filter(|&it| trips[it].count > 1);
        let added = advancing.map(|it| {
            let [rows, columns] = self.windows[it];
            let sum = self.others[it].times(rows).times(columns);
            sum.now - sum.kept
        });
        added.sum()
    }
}

/// Number of positions, summed over tiles, and the part of them that the previous tile had.
#[derive(Debug, Clone, Copy)]
struct Sum {
    now: u64,
    kept: u64,
}

impl Sum {
    const ONE: Self = Self { now: 1, kept: 1 };

    fn times(self, other: Self) -> Self {
        Self { now: self.now * other.now, kept: self.kept * other.kept }
    }
}

/// Transitions of the chunk of a loop: `times` equal ones, and a last one.
#[derive(Debug, Clone, Copy)]
struct Run {
    times: u64,
    full: Span,
    last: Span,
}

impl Run {
    /// The transition of an axis that is not split: its one chunk stays.
    fn whole(extent: u32) -> Self {
        Self { times: 0, full: Span::unchanged(extent), last: Span::unchanged(extent) }
    }

    /// Transitions of a loop by its position relative to the loop that advances: `Less` for a loop
    /// outside it, which stays, `Equal` for the loop itself, `Greater` for one inside it, which rewinds.
    fn new(trips: &Trips, position: Ordering) -> Self {
        let [full, last] = [trips.full.edge, trips.last.edge];
        let to = |now, shift| Span { before: full, now, shift };
        match position {
            Ordering::Less => Self {
                times: u64::from(trips.count) - 1,
                full: Span::unchanged(full),
                last: Span::unchanged(last),
            },
            Ordering::Equal => Self {
                times: u64::from(trips.count) - 2,
                full: to(full, trips.stride),
                last: to(last, trips.stride),
            },
            Ordering::Greater => Self {
                times: 0,
                full: Span::unchanged(full),
                last: Span { before: last, now: trips.first().edge, shift: -trips.length() },
            },
        }
    }

    /// Number of positions along `axis`, or number of chunks if the tensor does not depend on it. Outputs
    /// are not kept from one chunk to another.
    fn positions(&self, tensor: TensorRole, axis: Axis) -> Sum {
        let kept = |span: Span| match tensor {
            TensorRole::Output if span.changes() => 0,
            TensorRole::Output => span.now,
            _ => span.kept(),
        };
        if !axis.indexes(tensor) {
            return Sum { now: self.times + 1, kept: self.times + 1 };
        }
        Sum {
            now: self.times * u64::from(self.full.now) + u64::from(self.last.now),
            kept: self.times * u64::from(kept(self.full)) + u64::from(kept(self.last)),
        }
    }
}
