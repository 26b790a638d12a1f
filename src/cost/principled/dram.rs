//! What the L2 holds, and what DRAM has to bring because of that (section 6).

use super::context::{Phase, Span, window_overlap};
use super::machine::Machine;
use super::mapping::{Level, Loop, Mapping};
use super::nest::{Axis, Extents, N_AXES, Nest, outputs};
use super::transition::{Transition, Trips, each_advance};

/// Traffic of DRAM and use of the L2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DramTraffic {
    /// Inputs read \[byte\].
    pub inputs_read: u64,
    /// Weights read \[byte\].
    pub weights_read: u64,
    /// Partial sums read back \[byte\].
    pub partial_sums_read: u64,
    /// Outputs and partial sums written \[byte\].
    pub outputs_written: u64,
    /// What the L2 holds \[byte\].
    pub l2_bytes: u64,
    /// Whether the L2 is large enough; if not, traffic is that of the choice that needs least.
    pub fits: bool,
    /// Hold depths of inputs, weights and outputs (6.1): the L2 holds what is inside so many loops
    /// of level 0, from the outermost.
    pub depths: [usize; 3],
}

impl DramTraffic {
    /// Bytes read and written.
    pub fn total_bytes(&self) -> u64 {
        self.inputs_read + self.weights_read + self.partial_sums_read + self.outputs_written
    }
}

/// Holding one tensor at one depth.
#[derive(Debug, Clone, Copy, Default)]
struct Hold {
    depth: usize,
    /// L2 taken up \[byte\].
    l2_bytes: u64,
    /// Bytes read and written.
    read: u64,
    written: u64,
}

impl Hold {
    fn moved(&self) -> u64 {
        self.read + self.written
    }

    /// Whether this is no worse than `other` in every choice; depths are compared by the caller.
    fn replaces(&self, other: &Self) -> bool {
        self.l2_bytes <= other.l2_bytes && self.moved() <= other.moved()
    }
}

/// Depths of one tensor that are worth a look.
struct Holds {
    holds: [Hold; N_AXES + 1],
    count: usize,
}

impl Holds {
    fn as_slice(&self) -> &[Hold] {
        &self.holds[..self.count]
    }

    /// Adds a hold that is deeper than all so far, unless one of them does as well.
    fn add(&mut self, hold: Hold) {
        if self.as_slice().iter().any(|known| known.replaces(&hold)) {
            return;
        }
        let mut kept = 0;
        for index in 0..self.count {
            if !hold.replaces(&self.holds[index]) {
                self.holds[kept] = self.holds[index];
                kept += 1;
            }
        }
        self.holds[kept] = hold;
        self.count = kept + 1;
    }
}

/// Level 0 with its folds as steps of time (6.1).
struct Outer<'a> {
    nest: &'a Nest,
    machine: &'a Machine,
    trips: [Trips; N_AXES],
    n_loops: usize,
    /// Stored inputs that MACs touch.
    touched: u64,
}

/// The cheapest choice of what the L2 holds (6.4).
pub(super) fn dram(nest: &Nest, mapping: &Mapping, machine: &Machine) -> DramTraffic {
    let outer = Outer::new(nest, &mapping.levels()[0], machine);
    let [inputs, weights, outputs] = [0, 1, 2].map(|tensor| outer.holds(tensor));
    let capacity = machine.l2_bytes.unwrap_or(u64::MAX);
    let mut best: Option<(Key, [Hold; 3])> = None;
    for &input in inputs.as_slice() {
        for &weight in weights.as_slice() {
            for &output in outputs.as_slice() {
                let holds = [input, weight, output];
                let key = Key::new(&holds, capacity);
                if best.as_ref().is_none_or(|(best, _)| key < *best) {
                    best = Some((key, holds));
                }
            }
        }
    }
    let (key, holds) = best.unwrap_or_default();
    let [input, weight, output] = holds;
    DramTraffic {
        inputs_read: input.read,
        weights_read: weight.read,
        partial_sums_read: output.read,
        outputs_written: output.written,
        l2_bytes: holds.iter().map(|hold| hold.l2_bytes).sum(),
        fits: !key.too_large,
        depths: holds.map(|hold| hold.depth),
    }
}

/// By what choices are compared: what fits comes first, then fewest bytes and least L2; of those
/// that do not fit, least L2 and then fewest bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Key {
    too_large: bool,
    order: [u64; 2],
    depths: [usize; 3],
}

impl Key {
    fn new(holds: &[Hold; 3], capacity: u64) -> Self {
        let l2_bytes = holds.iter().map(|hold| hold.l2_bytes).sum();
        let moved = holds.iter().map(Hold::moved).sum();
        let too_large = l2_bytes > capacity;
        let order = if too_large { [l2_bytes, moved] } else { [moved, l2_bytes] };
        Self { too_large, order, depths: holds.map(|hold| hold.depth) }
    }
}

impl<'a> Outer<'a> {
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
        Self { nest, machine, trips, n_loops: level.loops().len(), touched: nest.touched_inputs() }
    }

    /// Depths at which to hold a tensor: 0 inputs, 1 weights, 2 outputs. A loop of one step, or
    /// along an axis that the tensor lacks, makes no difference.
    fn holds(&self, tensor: usize) -> Holds {
        let mut holds = Holds { holds: [Hold::default(); N_AXES + 1], count: 0 };
        let copies = u64::from(self.machine.l2_copies[tensor]);
        holds.add(self.hold(tensor, 0, 1));
        let resident = self.machine.resident[tensor];
        for depth in (1..=self.n_loops).filter(|_| !resident) {
            let innermost = &self.trips[depth - 1];
            if innermost.count > 1 && innermost.axis.tensors()[tensor] {
                holds.add(self.hold(tensor, depth, copies));
            }
        }
        holds
    }

    /// Holding a tensor at a depth (6.1 to 6.3).
    fn hold(&self, tensor: usize, depth: usize, copies: u64) -> Hold {
        let tile = self.first_tile(depth);
        let size = self.nest.footprints(&tile)[tensor];
        let widths = &self.machine.widths;
        let width = [widths.input, widths.weight, widths.partial_sum][tensor];
        let l2_bytes = size * copies * u64::from(width);
        let [read, written] = match (self.machine.resident[tensor], tensor) {
            (true, _) => [0, 0],
            (false, 0) => [self.inputs_read(depth, size) * u64::from(width), 0],
            (false, 1) => [self.moved(depth, size, fresh_weights) * u64::from(width), 0],
            (false, _) => {
                let all = outputs(self.nest.extents());
                let visited = self.moved(depth, size, visited_outputs);
                let spilled = visited.saturating_sub(all) * u64::from(width);
                [spilled, all * u64::from(widths.output) + spilled]
            }
        };
        Hold { depth, l2_bytes, read, written }
    }

    /// The first tile at a depth, which is the largest.
    fn first_tile(&self, depth: usize) -> Extents {
        let mut tile = *self.nest.extents();
        for trips in &self.trips[..depth] {
            tile[trips.axis as usize] = trips.first().edge;
        }
        tile
    }

    /// Input elements read: padding is not, so traffic scales by the stored share (6.3).
    fn inputs_read(&self, depth: usize, first: u64) -> u64 {
        let [stored, padded] = [self.touched, self.nest.inputs(self.nest.extents())];
        let traffic = self.moved(depth, first, |step| fresh_inputs(self.nest, step));
        let scaled = (u128::from(traffic) * u128::from(stored)).div_ceil(u128::from(padded));
        stored.max(u64::try_from(scaled).unwrap_or(u64::MAX))
    }

    /// The `first` tile and what every later one at this depth adds (6.2).
    fn moved(&self, depth: usize, first: u64, added: impl Fn(&Transition) -> u64) -> u64 {
        let mut sum = first;
        let mut step = self.still();
        each_advance(&self.trips[..depth], &mut step, |step, _| sum += step.times * added(step));
        sum
    }

    /// A step in which nothing changes.
    fn still(&self) -> Transition {
        let whole = |extent: u32| Span { before: extent, now: extent, shift: 0 };
        Transition {
            phase: Phase::Warm,
            leaves: false,
            ghost: false,
            times: 1,
            units: 1,
            units_before: 1,
            spans: self.nest.extents().map(whole),
        }
    }
}

/// Inputs of a tile that the tile before lacks.
fn fresh_inputs(nest: &Nest, step: &Transition) -> u64 {
    let plain = Axis::INPUT.map(|axis| &step.spans[axis as usize]);
    let plain = plain.map(|span| (u64::from(span.now), span.kept()));
    let windows = [0, 1].map(|window| {
        let [output, kernel] = Axis::WINDOWS[window].map(|axis| &step.spans[axis as usize]);
        window_overlap(nest.compact()[window], output, kernel)
    });
    fresh(plain.into_iter().chain(windows))
}

/// Weights of a tile that the tile before lacks.
fn fresh_weights(step: &Transition) -> u64 {
    let spans = Axis::WEIGHT.map(|axis| &step.spans[axis as usize]);
    fresh(spans.into_iter().map(|span| (u64::from(span.now), span.kept())))
}

/// Product of the extents now less that of what is kept of each.
fn fresh(coordinates: impl Iterator<Item = (u64, u64)>) -> u64 {
    let both = coordinates.fold((1, 1), |all, one| (all.0 * one.0, all.1 * one.1));
    both.0 - both.1
}

/// Outputs of a tile if it is another one than before.
fn visited_outputs(step: &Transition) -> u64 {
    let moves = Axis::OUTPUT.iter().any(|&axis| step.spans[axis as usize].moves());
    if moves { outputs(&step.spans.map(|span| span.now)) } else { 0 }
}
