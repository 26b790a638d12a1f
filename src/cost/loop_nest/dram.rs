//! What the L2 holds, and what DRAM has to bring because of that (section 6).

use std::cmp::Ordering;

use super::context::{Span, window_overlap};
use super::machine::Machine;
use super::mapping::{Level, Loop, Mapping};
use super::nest::{Axis, Extents, N_AXES, Nest, outputs, weights};
use super::transition::Trips;

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
    moved: u64,
}

impl Hold {
    /// Whether this is no worse than `other` in every choice; depths are compared by the caller.
    fn replaces(&self, other: &Self) -> bool {
        self.l2_bytes <= other.l2_bytes && self.moved <= other.moved
    }
}

/// Depths of one tensor that are worth a look.
#[derive(Debug, Clone, Copy, Default)]
struct Holds {
    holds: [Hold; N_AXES + 1],
    count: usize,
}

impl Holds {
    fn as_slice(&self) -> &[Hold] {
        &self.holds[..self.count]
    }

    /// The one that moves least; no two move the same.
    fn cheapest(&self) -> Hold {
        self.as_slice().iter().copied().min_by_key(|hold| hold.moved).unwrap_or_default()
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
    /// Input elements with padding, and those that are stored and touched.
    padded: u64,
    stored: u64,
}

/// What a tensor is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tensor {
    Inputs,
    Weights,
    Outputs,
}

/// The cheapest choice of what the L2 holds (6.4).
pub(super) fn dram(nest: &Nest, mapping: &Mapping, machine: &Machine) -> DramTraffic {
    let outer = Outer::new(nest, &mapping.levels()[0], machine);
    let mut worthwhile = [Holds::default(); 3];
    for (tensor, holds) in Tensor::ALL.into_iter().zip(&mut worthwhile) {
        outer.add_holds(tensor, holds);
    }
    let holds = choose(&worthwhile, machine.l2_bytes.unwrap_or(u64::MAX));
    let [inputs, weights, outputs] = &holds;
    let l2_bytes = l2_bytes(&holds);
    // What goes beyond one write of every output comes back.
    let spilled = outputs.moved.saturating_sub(outer.output_bytes()) / 2;
    DramTraffic {
        inputs_read: inputs.moved,
        weights_read: weights.moved,
        partial_sums_read: spilled,
        outputs_written: outputs.moved - spilled,
        l2_bytes,
        fits: machine.l2_bytes.is_none_or(|capacity| l2_bytes <= capacity),
        depths: holds.map(|hold| hold.depth),
    }
}

fn l2_bytes(holds: &[Hold; 3]) -> u64 {
    holds.iter().map(|hold| hold.l2_bytes).sum()
}

/// One hold of each tensor (6.4).
fn choose(worthwhile: &[Holds; 3], capacity: u64) -> [Hold; 3] {
    let mut best = worthwhile.each_ref().map(Holds::cheapest);
    if l2_bytes(&best) <= capacity {
        return best;
    }
    let [inputs, weights, outputs] = worthwhile.each_ref().map(Holds::as_slice);
    for &input in inputs {
        for &weight in weights {
            for &output in outputs {
                let holds = [input, weight, output];
                if Key::new(&holds, capacity) < Key::new(&best, capacity) {
                    best = holds;
                }
            }
        }
    }
    best
}

/// By what choices are compared: what fits comes first, then fewest bytes and least L2; of those
/// that do not fit, least L2 and then fewest bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    too_large: bool,
    order: [u64; 2],
    depths: [usize; 3],
}

impl Key {
    fn new(holds: &[Hold; 3], capacity: u64) -> Self {
        let l2_bytes = l2_bytes(holds);
        let moved = holds.iter().map(|hold| hold.moved).sum();
        let too_large = l2_bytes > capacity;
        let order = if too_large { [l2_bytes, moved] } else { [moved, l2_bytes] };
        Self { too_large, order, depths: holds.each_ref().map(|hold| hold.depth) }
    }
}

impl Tensor {
    const ALL: [Self; 3] = [Self::Inputs, Self::Weights, Self::Outputs];

    /// Whether its elements depend on `axis`.
    fn has(self, axis: Axis) -> bool {
        axis.tensors()[self as usize]
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
        let [padded, stored] = [nest.inputs(nest.extents()), nest.touched_inputs()];
        Self { nest, machine, trips, n_loops: level.loops().len(), padded, stored }
    }

    /// Adds the depths at which to hold a tensor. A loop of one step, or along an axis that the
    /// tensor lacks, makes no difference.
    fn add_holds(&self, tensor: Tensor, holds: &mut Holds) {
        let copies = self.machine.l2_copies[tensor as usize];
        let mut tile = *self.nest.extents();
        holds.add(self.hold(tensor, 0, &tile, 1));
        if self.machine.resident[tensor as usize] {
            return;
        }
        for (index, innermost) in self.trips[..self.n_loops].iter().enumerate() {
            tile[innermost.axis as usize] = innermost.first().edge;
            if innermost.count > 1 && tensor.has(innermost.axis) {
                holds.add(self.hold(tensor, index + 1, &tile, copies));
            }
        }
    }

    /// Holding a tensor at a depth, where `tile` is the first tile and the largest (6.1 to 6.3).
    fn hold(&self, tensor: Tensor, depth: usize, tile: &Extents, copies: u32) -> Hold {
        let widths = &self.machine.widths;
        let (size, width) = match tensor {
            Tensor::Inputs => (self.nest.inputs(tile), u64::from(widths.input)),
            Tensor::Weights => (weights(tile), u64::from(widths.weight)),
            Tensor::Outputs => (outputs(tile), u64::from(widths.partial_sum)),
        };
        let traffic = || self.traffic(tensor, depth, size);
        let moved = match tensor {
            _ if self.machine.resident[tensor as usize] => 0,
            Tensor::Inputs => self.stored_share(traffic()) * width,
            Tensor::Weights => traffic() * width,
            Tensor::Outputs => {
                let spilled = traffic().saturating_sub(outputs(self.nest.extents()));
                self.output_bytes() + 2 * spilled * width
            }
        };
        Hold { depth, l2_bytes: size * u64::from(copies) * width, moved }
    }

    /// Bytes of all outputs.
    fn output_bytes(&self) -> u64 {
        outputs(self.nest.extents()) * u64::from(self.machine.widths.output)
    }

    /// Input elements to read for such a `traffic`: padding is not stored, so it scales by the
    /// stored share (6.3).
    fn stored_share(&self, traffic: u64) -> u64 {
        if self.stored == self.padded {
            return traffic.max(self.stored);
        }
        let scaled =
            (u128::from(traffic) * u128::from(self.stored)).div_ceil(u128::from(self.padded));
        self.stored.max(u64::try_from(scaled).unwrap_or(u64::MAX))
    }

    /// Elements of the `first` tile and what all later ones at this depth add (6.2).
    fn traffic(&self, tensor: Tensor, depth: usize, first: u64) -> u64 {
        let trips = &self.trips[..depth];
        let advancing = (0..depth).filter(|&index| trips[index].count > 1);
        let added: u64 = advancing.map(|index| self.added(tensor, trips, index)).sum();
        first + added * self.unsplit(tensor, trips)
    }

    /// Extent of tiles along all coordinates that no loop of `trips` splits, input rows and columns
    /// left out.
    fn unsplit(&self, tensor: Tensor, trips: &[Trips]) -> u64 {
        let mut extents = *self.nest.extents();
        for trips in trips {
            extents[trips.axis as usize] = 1;
        }
        match tensor {
            Tensor::Inputs => {
                Axis::INPUT.iter().map(|&axis| u64::from(extents[axis as usize])).product()
            }
            Tensor::Weights => weights(&extents),
            Tensor::Outputs => outputs(&extents),
        }
    }

    /// What tiles add when loop `advancing` of `trips` goes on, in all, apart from what is unsplit.
    ///
    /// Loops on different coordinates go through their chunks independently of each other, so that
    /// sums over tiles are products of sums over chunks.
    fn added(&self, tensor: Tensor, trips: &[Trips], advancing: usize) -> u64 {
        let mut sum = Sum::ONE;
        for (index, trips) in trips.iter().enumerate() {
            if tensor != Tensor::Inputs || trips.axis.window().is_none() {
                sum =
                    sum.times(Run::new(trips, index.cmp(&advancing)).positions(tensor, trips.axis));
            }
        }
        if tensor == Tensor::Inputs {
            sum =
                sum.times(self.window(0, trips, advancing)).times(self.window(1, trips, advancing));
        }
        sum.now - sum.kept
    }

    /// Input rows (or columns).
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

    /// Chunks of an axis.
    fn run(&self, axis: Axis, trips: &[Trips], advancing: usize) -> Run {
        match trips.iter().position(|trips| trips.axis == axis) {
            Some(index) => Run::new(&trips[index], index.cmp(&advancing)),
            None => Run::whole(self.nest.extent(axis)),
        }
    }
}

/// Positions in all of some tiles, and of them those that the tile before had.
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

/// Chunks of a loop before and now: the same so many `times`, and another one.
#[derive(Debug, Clone, Copy)]
struct Run {
    times: u64,
    full: Span,
    last: Span,
}

impl Run {
    /// The one chunk of an axis that is not split.
    fn whole(extent: u32) -> Self {
        Self { times: 0, full: Span::still(extent), last: Span::still(extent) }
    }

    /// Those of a loop outside the one that advances (`Less`), of that loop, or of one inside it,
    /// which rewinds.
    fn new(trips: &Trips, position: Ordering) -> Self {
        let [full, last] = [trips.full.edge, trips.last.edge];
        let to = |now, shift| Span { before: full, now, shift };
        match position {
            Ordering::Less => Self {
                times: u64::from(trips.count) - 1,
                full: Span::still(full),
                last: Span::still(last),
            },
            Ordering::Equal => Self {
                times: u64::from(trips.count) - 2,
                full: to(full, trips.advance),
                last: to(last, trips.advance),
            },
            Ordering::Greater => Self {
                times: 0,
                full: Span::still(full),
                last: Span { before: last, now: trips.first().edge, shift: -trips.length() },
            },
        }
    }

    /// Its positions along `axis`, or the number of its chunks if the tensor lacks it. Outputs of
    /// other chunks are of no use.
    fn positions(&self, tensor: Tensor, axis: Axis) -> Sum {
        let kept = |span: Span| match tensor {
            Tensor::Outputs if span.moves() => 0,
            Tensor::Outputs => span.now,
            _ => span.kept(),
        };
        if !tensor.has(axis) {
            return Sum { now: self.times + 1, kept: self.times + 1 };
        }
        Sum {
            now: self.times * u64::from(self.full.now) + u64::from(self.last.now),
            kept: self.times * u64::from(kept(self.full)) + u64::from(kept(self.last)),
        }
    }
}
