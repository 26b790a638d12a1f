//! Loops above the shared memory (section 6.7): every box that DRAM fills into the shared memory, with
//! explicit sets of elements.

use std::collections::BTreeSet;

use xrsim::cost::loop_nest::{
    Axis, Compression, DramTraffic, LevelCounts, Machine, Mapping, Nest, Width, Widths,
};
use xrsim::model::{PerOperand, PerTensor, TensorRole};

use super::layer::{Interval, Layer, Set, Space, output_box, whole};
use super::walk::{Cluster, Tally, Time, box_bytes, delay, shrink, steps, stored};

/// Counts and times of the off-chip level, and of the chip under it.
pub struct Enumerated<'a> {
    pub tally: Tally<'a>,
    pub counts: LevelCounts,
    /// Cycles of the chip if DRAM took no time.
    pub chip: Time,
    /// Cycles of DRAM if the chip took no time.
    pub dram_cycles: u64,
    /// Cycles of both.
    pub cycles: u64,
    /// Bytes of DRAM over the layer (section 6.3).
    pub dram: DramTraffic,
    pub shared_bytes: u64,
}

/// Visits of output boxes by the shared memory, in order.
struct Visits(Vec<[Interval; 5]>);

impl Visits {
    fn new(boxes: &[Space]) -> Self {
        let mut visits: Vec<_> = boxes.iter().map(output_box).collect();
        visits.dedup();
        Self(visits)
    }

    /// Bytes that a number of sums moves at the end of a visit: they are added to those of an earlier
    /// visit of the same box, and are complete if there is no later one.
    fn bytes(&self, visit: usize, sums: u64, machine: &Machine) -> u64 {
        let (earlier, later) = (&self.0[..visit], &self.0[visit + 1..]);
        let unfinished = stored(sums, machine.widths.partial_sum);
        let read = if earlier.contains(&self.0[visit]) { unfinished } else { 0 };
        let finished = in_dram(sums, machine.widths.output, machine.compression.output);
        read + if later.contains(&self.0[visit]) { unfinished } else { finished }
    }
}

/// Bytes in DRAM of elements of one tensor that move together.
fn in_dram(elements: u64, width: Width, compression: Compression) -> u64 {
    let millionths = (compression.factor() * 1e6).round() as u64;
    (stored(elements, width) * millionths).div_ceil(1_000_000)
}

/// Numbers of input elements: all with padding, and those that are stored and touched.
struct Share {
    padded: u64,
    stored: u64,
}

impl Share {
    fn new(nest: &Nest, layer: &Layer) -> Self {
        let along = |at: usize| {
            let [outputs, kernel] = Axis::WINDOWS[at].map(|axis| i64::from(nest.extent(axis)));
            let window = nest.windows()[at];
            let [stride, dilation, padding] =
                [window.stride, window.dilation, window.padding].map(i64::from);
            let touch = |y: i64| (0..kernel).map(move |r| y * stride + r * dilation - padding);
            let touched: BTreeSet<i64> = (0..outputs).flat_map(touch).collect();
            touched.into_iter().filter(|row| (0..i64::from(window.stored)).contains(row)).count()
        };
        let planes: u64 = Axis::INPUT.iter().map(|&axis| u64::from(nest.extent(axis))).product();
        let stored = planes * along(0) as u64 * along(1) as u64;
        Self { padded: layer.inputs(&whole(layer.extents)).len(), stored }
    }

    fn of(&self, elements: u64) -> u64 {
        (elements * self.stored).div_ceil(self.padded)
    }
}

/// Walks through a layer with an off-chip level, flush included.
pub fn enumerate<'a>(nest: &Nest, mapping: &'a Mapping, machine: &'a Machine) -> Enumerated<'a> {
    let level = mapping.off_chip().expect("the mapping has an off-chip level");
    let mut tally = Tally::new(nest, mapping, machine);
    let mut space = whole(tally.layer.extents);
    let boxes: Vec<Space> = steps(level, &space).iter().map(|step| step[0].space).collect();
    let shared_bytes = shared_bytes(&tally.layer, &boxes, machine);
    shrink(&mut space, level);
    tally.require(space);
    let unit_bytes = 2 * box_bytes(&tally.layer, &space, &machine.widths);
    let counts = LevelCounts { unit_bytes, ..LevelCounts::default() };
    let share = Share::new(nest, &tally.layer);
    let zero = Time::default();
    let dram = DramTraffic::default();
    let found =
        Enumerated { tally, counts, chip: zero, dram_cycles: 0, cycles: 0, dram, shared_bytes };
    let visits = Visits::new(&boxes);
    let mut memory = Memory {
        found,
        share,
        visits,
        visit: 0,
        held: [0, 1].map(|_| Set::default()),
        sums: None,
        in_dram: Set::default(),
    };
    memory.run(&boxes, &mut Cluster::new(mapping.levels(), 0));
    memory.finish()
}

/// The shared memory in the course of the walk.
struct Memory<'a> {
    found: Enumerated<'a>,
    share: Share,
    visits: Visits,
    /// Number of visits that ended.
    visit: usize,
    /// Inputs and weights in the previous step.
    held: [Set; 2],
    /// Outputs whose sums it has, with their box.
    sums: Option<([Interval; 5], Set)>,
    /// Outputs with a sum in DRAM.
    in_dram: Set,
}

impl<'a> Memory<'a> {
    fn run(&mut self, boxes: &[Space], chip: &mut Cluster) {
        let machine = self.found.tally.machine;
        for (index, space) in boxes.iter().enumerate() {
            let read = self.fetch(space);
            let here = output_box(space);
            let leaves = self.sums.as_ref().is_some_and(|(previous, _)| *previous != here);
            let written = if leaves { self.drain() } else { 0 };
            let outputs = self.found.tally.layer.outputs(space);
            self.sums = Some((here, outputs));
            let work = chip.walk(space, leaves, &mut self.found.tally);
            let latency = if index == 0 { u64::from(machine.dram_latency) } else { 0 };
            let moved = delay(read + written, latency, machine.dram_bandwidth);
            self.spend(work, moved, index > 0);
            self.found.counts.steps += 1;
            self.found.counts.active += 1;
        }
        let written = self.drain();
        let work = chip.flush(&mut self.found.tally);
        let moved = delay(written, machine.dram_latency.into(), machine.dram_bandwidth);
        self.spend(work, moved, false);
    }

    fn spend(&mut self, work: Time, moved: u64, overlaps: bool) {
        let found = &mut self.found;
        found.chip.chip += work.chip;
        found.chip.compute += work.compute;
        found.dram_cycles += moved;
        found.cycles += if overlaps { work.chip.max(moved) } else { work.chip + moved };
    }

    /// Fetches the elements that the shared memory lacks; returns their bytes in DRAM.
    fn fetch(&mut self, space: &Space) -> u64 {
        let mut sent = [0; 2];
        for (tensor, sent) in sent.iter_mut().enumerate() {
            let need = self.found.tally.need(tensor, space);
            *sent = need.without(&self.held[tensor]).len();
            self.held[tensor] = need;
        }
        let [input, weight] = sent;
        let sent = PerOperand { input, weight };
        self.found.counts.sent += sent;
        self.found.counts.delivered += sent;
        let Machine { widths, resident, compression, .. } = *self.found.tally.machine;
        let inputs = in_dram(self.share.of(input), widths.input, compression.input);
        let weights = in_dram(weight, widths.weight, compression.weight);
        (if resident.input { 0 } else { inputs }) + if resident.weight { 0 } else { weights }
    }

    /// Sends up the sums of the visit that ends; returns their bytes.
    fn drain(&mut self) -> u64 {
        let Some((_, sums)) = self.sums.take() else {
            return 0;
        };
        let counts = &mut self.found.counts;
        counts.left += sums.len();
        counts.arrived += sums.len();
        counts.accumulated += sums.common(&self.in_dram).len();
        self.in_dram.add(&sums);
        let visit = self.visit;
        self.visit += 1;
        let machine = self.found.tally.machine;
        if machine.resident.output { 0 } else { self.visits.bytes(visit, sums.len(), machine) }
    }

    /// Adds the bytes of the whole layer (section 6.3).
    fn finish(self) -> Enumerated<'a> {
        let Self { mut found, share, .. } = self;
        let Machine { widths, resident, compression, .. } = *found.tally.machine;
        let unless = |resident: bool, bytes: u64| if resident { 0 } else { bytes };
        let LevelCounts { sent, accumulated, .. } = found.counts;
        let outputs = found.tally.layer.outputs(&whole(found.tally.layer.extents)).len();
        let spilled = unless(resident.output, stored(accumulated, widths.partial_sum));
        let inputs = share.of(sent.input).max(share.stored);
        let inputs = in_dram(inputs, widths.input, compression.input);
        let weights = in_dram(sent.weight, widths.weight, compression.weight);
        let outputs = in_dram(outputs, widths.output, compression.output);
        found.dram = DramTraffic {
            inputs_read: unless(resident.input, inputs),
            weights_read: unless(resident.weight, weights),
            partial_sums_read: spilled,
            outputs_written: unless(resident.output, outputs) + spilled,
        };
        found
    }
}

/// Shared memory for the largest footprint of every tensor, with the copies of the machine where the footprint
/// changes from box to box. Resident tensors are there as a whole.
fn shared_bytes(layer: &Layer, boxes: &[Space], machine: &Machine) -> u64 {
    let footprint = |space: &Space| PerTensor {
        input: layer.inputs(space),
        weight: layer.weights(space),
        output: layer.outputs(space),
    };
    let whole = footprint(&whole(layer.extents));
    let of_boxes: Vec<_> = boxes.iter().map(footprint).collect();
    let Widths { input, weight, partial_sum, .. } = machine.widths;
    let widths = PerTensor { input, weight, output: partial_sum };
    let bytes = |tensor: TensorRole| {
        let sets = || of_boxes.iter().map(|of_box| &of_box[tensor]);
        let changes = sets().any(|set| *set != of_boxes[0][tensor]);
        let (elements, copies) = match (machine.resident[tensor], changes) {
            (true, _) => (whole[tensor].len(), 1),
            (false, false) => (of_boxes[0][tensor].len(), 1),
            (false, true) => {
                (sets().map(Set::len).max().unwrap_or(0), machine.shared_copies[tensor])
            }
        };
        u64::from(copies) * stored(elements, widths[tensor])
    };
    TensorRole::ALL.into_iter().map(bytes).sum()
}
