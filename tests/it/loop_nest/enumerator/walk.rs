//! The walk: clusters, units and the elements in their buffers, step by step
//! (docs/explanation/cost-model-loop-nest.md, section 4).

use xrsim::cost::loop_nest::{
    Bandwidth, Fill, Level, LevelCounts, Loop, Machine, Mapping, Nest, NocLevel, Width, Widths,
};

use xrsim::model::PerOperand;

use super::layer::{Interval, Layer, Set, Space, elements, output_box, points, whole};

/// Box of one unit in one step. Its interval on the spatial axis is empty if the unit is idle (section
/// 4.3).
#[derive(Clone)]
pub struct Place {
    pub space: Space,
    works: bool,
}

/// Interval of chunk `index` of a loop (section 3.7); `None` if there is no such chunk.
fn chunk((start, end): Interval, map: &Loop, index: usize) -> Option<Interval> {
    let (size, offset) = (map.size as usize, map.offset as usize);
    let exists = index == 0 || start + (index - 1) * offset + size < end;
    let from = start + index * offset;
    exists.then(|| (from, (from + size).min(end)))
}

/// All steps of a cluster on a box, each with the place of every unit (section 4.1).
pub fn steps(level: &Level, space: &Space) -> Vec<Vec<Place>> {
    let units = if level.spatial().is_some() { level.units() as usize } else { 1 };
    let mut steps = vec![vec![Place { space: *space, works: true }; units]];
    for map in level.loops() {
        steps = steps.iter().flat_map(|step| trips(map, space, step)).collect();
    }
    steps
}

/// A step for every chunk of a temporal loop, or for every fold of a spatial one.
fn trips(map: &Loop, space: &Space, step: &[Place]) -> Vec<Vec<Place>> {
    let interval = space[map.axis as usize];
    let place = |trip: usize, unit: usize| {
        let index = if map.spatial { trip * step.len() + unit } else { trip };
        let part = chunk(interval, map, index);
        let mut place = step[unit].clone();
        place.works &= part.is_some();
        place.space[map.axis as usize] = part.unwrap_or((interval.1, interval.1));
        place
    };
    let first = |trip: usize| if map.spatial { trip * step.len() } else { trip };
    let trips = (0..).take_while(|&trip| chunk(interval, map, first(trip)).is_some());
    trips.map(|trip| (0..step.len()).map(|unit| place(trip, unit)).collect()).collect()
}

/// Cycles, and cycles if transfers took no time.
#[derive(Clone, Copy, Default, Debug, PartialEq)]
pub struct Time {
    pub chip: u64,
    pub compute: u64,
}

impl Time {
    fn max(self, other: Self) -> Self {
        Self { chip: self.chip.max(other.chip), compute: self.compute.max(other.compute) }
    }
}

/// Counts of the walk.
pub struct Tally<'a> {
    pub layer: Layer,
    levels: &'a [Level],
    pub machine: &'a Machine,
    /// Cycles of a fold and the axes of the stationary tensor on every level; `None` without fill.
    fills: Vec<Option<(u64, Vec<usize>)>>,
    pub counts: Vec<LevelCounts>,
    /// Executed points of the iteration space.
    pub executed: Set,
    pub macs: u64,
    pub pe_outputs: u64,
    pub pe_accumulations: u64,
}

/// A unit of a cluster. It remembers the previous step and nothing older.
#[derive(Default)]
struct Unit {
    /// Inputs and weights in its buffer.
    held: [Set; 2],
    /// Whether it had a chunk in the previous step.
    had_chunk: bool,
    /// Box of the outputs whose partial sums it holds; `None` if it was idle.
    sums: Option<[Interval; 5]>,
    /// Outputs in that box.
    outputs: Set,
    /// Box of the previous step, empty on the spatial axis if it was idle; `None` before the first step.
    space: Option<Space>,
    /// Its own sub-units; `None` for a PE.
    cluster: Option<Box<Cluster>>,
}

/// The units of one cluster and the partial sums in the buffer above them.
pub struct Cluster {
    level: usize,
    units: Vec<Unit>,
    /// Outputs with a partial sum in the buffer above, in the present visit of its unit.
    above: Set,
    /// Whether it has worked or kept step.
    started: bool,
}

impl Cluster {
    pub fn new(levels: &[Level], level: usize) -> Self {
        let units = if levels[level].spatial().is_some() { levels[level].units() } else { 1 };
        let unit = |_| Unit {
            cluster: (level + 1 < levels.len()).then(|| Box::new(Self::new(levels, level + 1))),
            ..Unit::default()
        };
        let units = (0..units).map(unit).collect();
        Self { level, units, above: Set::default(), started: false }
    }

    /// Works on a box. `leaves` if the unit that owns the cluster leaves its previous output box.
    pub fn walk(&mut self, space: &Space, leaves: bool, tally: &mut Tally) -> Time {
        let mut time = Time::default();
        for (index, places) in steps(&tally.levels[self.level], space).iter().enumerate() {
            let step = self.step(places, leaves && index == 0, tally);
            time.chip += step.chip;
            time.compute += step.compute;
        }
        time
    }

    /// Executes one step (section 4.9).
    fn step(&mut self, places: &[Place], leaves: bool, tally: &mut Tally) -> Time {
        let noc = *tally.machine.noc_level(self.level);
        let widths = tally.machine.widths;
        let first = !std::mem::replace(&mut self.started, true);
        let sent = self.fetch(places, &noc, tally);
        let leaving: Vec<bool> =
            self.units.iter().zip(places).map(|(unit, place)| unit.leaves(place, leaves)).collect();
        let arrived = self.drain(&leaving, leaves, &noc, tally);
        let fill = self.fill(places, tally);
        let mut work = Time::default();
        for ((unit, place), leaving) in self.units.iter_mut().zip(places).zip(leaving) {
            work = work.max(unit.work(place, leaving, tally));
        }
        let counts = &mut tally.counts[self.level];
        counts.steps += 1;
        counts.active += places.iter().filter(|place| place.works).count() as u64;

        let latency = if first || noc.step_latency { u64::from(noc.latency) } else { 0 };
        // All that is sent over one network in a step is one transfer of whole bytes.
        let delay = |bits: u64, bandwidth| delay(bits.div_ceil(8), latency, bandwidth);
        let inputs = bits(sent.input, widths.input);
        let weights = bits(sent.weight, widths.weight);
        let drain = delay(bits(arrived, widths.partial_sum), noc.up);
        let (exposed, fetch) = match (noc.single_weights, noc.weights) {
            (true, own) => {
                let bandwidth = own.unwrap_or(noc.down);
                let exposed = self::delay(weights.div_ceil(8), noc.latency.into(), bandwidth);
                (exposed, delay(inputs, noc.down))
            }
            (false, Some(own)) => (0, delay(inputs, noc.down).max(delay(weights, own))),
            (false, None) => (0, delay(inputs + weights, noc.down)),
        };
        let exposed = exposed + fill;
        let overlapped = if first { fetch + work.chip } else { fetch.max(drain).max(work.chip) };
        Time { chip: exposed + overlapped, compute: work.compute }
    }

    /// Cycles of the fill if the step begins a fold: if a working unit has another box of the stationary
    /// tensor than before (section 4.12).
    fn fill(&mut self, places: &[Place], tally: &Tally) -> u64 {
        let Some((cycles, axes)) = &tally.fills[self.level] else {
            return 0;
        };
        let part = |space: &Space| axes.iter().map(|&axis| space[axis]).collect::<Vec<_>>();
        let mut begins = false;
        for (unit, place) in self.units.iter_mut().zip(places) {
            let before = unit.space.replace(place.space);
            begins |= place.works && before.as_ref().map(part) != Some(part(&place.space));
        }
        if begins { *cycles } else { 0 }
    }

    /// Fetches the elements that working units lack (section 4.4); returns the elements sent.
    fn fetch(&mut self, places: &[Place], noc: &NocLevel, tally: &mut Tally) -> PerOperand<u64> {
        let transfers = [0, 1].map(|tensor| {
            let worked = self.units.iter().filter(|unit| unit.had_chunk);
            let neighbours = Set::union(worked.map(|unit| &unit.held[tensor]));
            let fresh = self.replace(tensor, places, tally);
            send(fresh, &neighbours, noc)
        });
        let counts = &mut tally.counts[self.level];
        let [inputs, weights] = transfers;
        let sent = PerOperand { input: inputs.sent, weight: weights.sent };
        counts.sent += sent;
        counts.delivered += PerOperand { input: inputs.delivered, weight: weights.delivered };
        counts.forwarded += PerOperand { input: inputs.forwarded, weight: weights.forwarded };
        for (unit, place) in self.units.iter_mut().zip(places) {
            unit.had_chunk = place.works;
        }
        sent
    }

    /// Replaces the contents of all buffers by the elements that the places need; returns the new elements
    /// of each working unit.
    fn replace(&mut self, tensor: usize, places: &[Place], tally: &Tally) -> Vec<Set> {
        let mut fresh = Vec::new();
        for (unit, place) in self.units.iter_mut().zip(places) {
            let need = tally.need(tensor, &place.space);
            let had = std::mem::replace(&mut unit.held[tensor], need);
            if place.works {
                fresh.push(unit.held[tensor].without(&had));
            }
        }
        fresh
    }

    /// Sends up the partial sums of the leaving units (section 4.5); returns the number that arrives.
    /// `ends` if the visit of the buffer above ends with them.
    fn drain(&mut self, leaving: &[bool], ends: bool, noc: &NocLevel, tally: &mut Tally) -> u64 {
        let counts = &mut tally.counts[self.level];
        let leaving = self.units.iter_mut().zip(leaving).filter(|(_, leaves)| **leaves);
        let mut arriving: Vec<Set> = Vec::new();
        for (unit, _) in leaving {
            unit.sums = None;
            arriving.push(std::mem::take(&mut unit.outputs));
        }
        counts.left += arriving.iter().map(Set::len).sum::<u64>();
        if noc.reduce {
            arriving = vec![Set::union(&arriving)];
        }
        let arrived = arriving.iter().map(Set::len).sum();
        counts.arrived += arrived;
        for sums in &arriving {
            counts.accumulated += sums.common(&self.above).len();
            self.above.add(sums);
        }
        if ends {
            self.above = Set::default();
        }
        arrived
    }

    /// Sends up all partial sums (section 4.6).
    pub fn flush(&mut self, tally: &mut Tally) -> Time {
        let noc = *tally.machine.noc_level(self.level);
        let leaving: Vec<bool> = self.units.iter().map(|unit| unit.sums.is_some()).collect();
        let mut time = Time::default();
        for unit in self.units.iter_mut().filter(|unit| unit.sums.is_some()) {
            time = time.max(unit.cluster.as_mut().map_or(Time::default(), |own| own.flush(tally)));
        }
        let arrived = self.drain(&leaving, true, &noc, tally);
        let bytes = stored(arrived, tally.machine.widths.partial_sum);
        time.chip += delay(bytes, u64::from(noc.latency), noc.up);
        time
    }

    /// Keeps step on an empty box: afterwards units hold the elements that they would hold after working
    /// on it (section 4.3). They have no partial sums: these were flushed when the units fell idle.
    fn keep_step(&mut self, space: &Space, tally: &Tally) {
        self.started = true;
        let steps = steps(&tally.levels[self.level], space);
        let last = steps.last().expect("a box has a step");
        for (unit, place) in self.units.iter_mut().zip(last) {
            let space = &place.space;
            unit.held = [0, 1].map(|tensor| tally.need(tensor, space));
            unit.had_chunk = place.works;
            unit.space = Some(*space);
            unit.keep_step(space, tally);
        }
    }
}

impl Unit {
    /// Whether it sends up its partial sums in a step (section 4.5).
    fn leaves(&self, place: &Place, cluster_leaves: bool) -> bool {
        let stays = !cluster_leaves && place.works && self.sums == Some(output_box(&place.space));
        self.sums.is_some() && !stays
    }

    /// Works in a step: a walk of its sub-units, MACs of a PE, or a flush if it falls idle.
    fn work(&mut self, place: &Place, leaving: bool, tally: &mut Tally) -> Time {
        if !place.works {
            let flush = match &mut self.cluster {
                Some(cluster) if leaving => cluster.flush(tally),
                _ => Time::default(),
            };
            self.keep_step(&place.space, tally);
            return flush;
        }
        let outputs = tally.layer.outputs(&place.space);
        let time = match &mut self.cluster {
            Some(cluster) => cluster.walk(&place.space, leaving, tally),
            None => tally.execute(&place.space, outputs.len(), self.sums.is_some()),
        };
        self.sums = Some(output_box(&place.space));
        self.outputs = outputs;
        time
    }

    fn keep_step(&mut self, space: &Space, tally: &Tally) {
        if let Some(cluster) = &mut self.cluster {
            cluster.keep_step(space, tally);
        }
    }
}

impl Tally<'_> {
    /// Inputs (0) or weights (1) of a box.
    pub fn need(&self, tensor: usize, space: &Space) -> Set {
        if tensor == 0 { self.layer.inputs(space) } else { self.layer.weights(space) }
    }

    /// Executes a step of a PE (section 4.7). `continues` if it holds sums of these outputs already.
    fn execute(&mut self, space: &Space, outputs: u64, continues: bool) -> Time {
        self.executed.add(&elements(space, &self.layer.extents));
        self.macs += points(space);
        self.pe_outputs += outputs;
        self.pe_accumulations += if continues { outputs } else { 0 };
        let cycles = points(space).div_ceil(u64::from(self.machine.rate));
        Time { chip: cycles, compute: cycles }
    }
}

/// Elements of one tensor that a step moves.
struct Transfer {
    sent: u64,
    delivered: u64,
    forwarded: u64,
}

/// Transfers of the elements that are new to every unit (4.1).
fn send(mut fresh: Vec<Set>, neighbours: &Set, noc: &NocLevel) -> Transfer {
    let total = |sets: &[Set]| sets.iter().map(Set::len).sum::<u64>();
    let delivered = total(&fresh);
    let mut forwarded = 0;
    if noc.forward {
        forwarded = fresh.iter().map(|set| set.common(neighbours).len()).sum();
        fresh.iter_mut().for_each(|set| *set = set.without(neighbours));
    }
    let sent = if noc.multicast { Set::union(&fresh).len() } else { total(&fresh) };
    Transfer { sent, delivered, forwarded }
}

/// Cycles of a transfer (section 4.8).
pub fn delay(bytes: u64, latency: u64, bandwidth: Bandwidth) -> u64 {
    if bytes == 0 { 0 } else { latency + bandwidth.cycles(bytes) }
}

/// Axes of outputs, weights and inputs.
const AXES_OF: [&[usize]; 3] = [&[0, 1, 2, 4, 5], &[1, 2, 3, 6, 7], &[0, 1, 3, 4, 5, 6, 7]];

/// Fill of every level: cycles of a fold, and the axes of the stationary tensor (section 4.12).
fn fills(mapping: &Mapping, nest: &Nest, machine: &Machine) -> Vec<Option<(u64, Vec<usize>)>> {
    let levels = mapping.levels();
    let mut entering = *nest.extents();
    for map in mapping.off_chip().map_or(&[][..], Level::loops) {
        let extent = &mut entering[map.axis as usize];
        *extent = (*extent).min(map.size);
    }
    let mut fills = Vec::new();
    for (index, level) in levels.iter().enumerate() {
        let below = levels.get(index + 1);
        let mut best: Option<(usize, usize)> = None;
        for (tensor, axes) in AXES_OF.iter().enumerate() {
            let spread = |level: &Level| {
                level.spatial().is_none_or(|map| axes.contains(&(map.axis as usize)))
            };
            if !spread(level) || !below.is_none_or(spread) {
                continue;
            }
            let mut innermost = 0;
            for (at, map) in level.loops().iter().enumerate() {
                let chunks = map.chunks(entering[map.axis as usize]);
                let repeats = chunks > if map.spatial { level.units() } else { 1 };
                if repeats && axes.contains(&(map.axis as usize)) {
                    innermost = at + 1;
                }
            }
            if best.is_none_or(|(_, known)| innermost < known) {
                best = Some((tensor, innermost));
            }
        }
        let (tensor, _) = best.expect("two axes have a tensor in common");
        let rows = u64::from(level.units());
        let columns = below.map_or(1, |below| u64::from(below.units()));
        let cycles = match machine.noc_level(index).fill {
            Fill::Cycles(cycles) => cycles,
            Fill::Systolic if tensor == 0 => rows + columns - 2,
            Fill::Systolic => 2 * rows + columns - 2,
        };
        fills.push((cycles > 0).then(|| (cycles, AXES_OF[tensor].to_vec())));
        for map in level.loops() {
            let extent = &mut entering[map.axis as usize];
            *extent = (*extent).min(map.size);
        }
    }
    fills
}

/// Walks through a layer without off-chip level, flush included (sections 4.6 and 4.9).
pub fn enumerate<'a>(nest: &Nest, mapping: &'a Mapping, machine: &'a Machine) -> (Tally<'a>, Time) {
    let mut tally = Tally::new(nest, mapping, machine);
    let space = whole(tally.layer.extents);
    tally.require(space);
    let mut chip = Cluster::new(mapping.levels(), 0);
    let walk = chip.walk(&space, false, &mut tally);
    let flush = chip.flush(&mut tally);
    let time = Time { chip: walk.chip + flush.chip, compute: walk.compute + flush.compute };
    (tally, time)
}

impl<'a> Tally<'a> {
    /// Counts of the levels on chip before the first step.
    pub fn new(nest: &Nest, mapping: &'a Mapping, machine: &'a Machine) -> Self {
        let levels = mapping.levels();
        Self {
            layer: Layer::new(nest),
            levels,
            machine,
            fills: fills(mapping, nest, machine),
            counts: vec![LevelCounts::default(); levels.len()],
            executed: Set::default(),
            macs: 0,
            pe_outputs: 0,
            pe_accumulations: 0,
        }
    }

    /// Computes buffer requirements for the largest box that enters level 0: twice the box of full chunks
    /// (section 4.10).
    pub fn require(&mut self, mut space: Space) {
        for (level, counts) in self.levels.iter().zip(&mut self.counts) {
            shrink(&mut space, level);
            counts.unit_bytes = 2 * box_bytes(&self.layer, &space, &self.machine.widths);
        }
    }
}

/// Replaces a box by the first unit box of a level.
pub fn shrink(space: &mut Space, level: &Level) {
    for map in level.loops() {
        let end = &mut space[map.axis as usize].1;
        *end = (*end).min(map.size as usize);
    }
}

/// Bytes on chip that a box needs.
pub fn box_bytes(layer: &Layer, space: &Space, widths: &Widths) -> u64 {
    let inputs = stored(layer.inputs(space).len(), widths.input);
    let weights = stored(layer.weights(space).len(), widths.weight);
    inputs + weights + stored(points(&output_box(space)), widths.partial_sum)
}

fn bits(elements: u64, width: Width) -> u64 {
    elements * u64::from(width.bits())
}

/// Whole bytes that elements of one tensor need together.
pub fn stored(elements: u64, width: Width) -> u64 {
    bits(elements, width).div_ceil(8)
}
