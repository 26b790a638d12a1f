//! The closed form of the walk (docs/explanation/cost-model-loop-nest.md, section 5.9): every distinct context of
//! every level is evaluated once, with the number of its occurrences, its traffic and its time.
//!
//! Contexts are expanded level by level, from the outermost. All occurrences of a context are known
//! before it is expanded, so that counts are sums of products. Times are then folded back from the
//! innermost level.

use std::cell::RefCell;
use std::ops::Range;

use crate::hardware::Widths;
use crate::model::{PerOperand, PerTensor};

use super::context::{Context, Phase};
use super::egress::{Egress, egress};
use super::fill::FoldFill;
use super::ingress::{Transfer, ingress};
use super::machine::{Bandwidth, Machine, NocLevel};
use super::mapping::Mapping;
use super::nest::{N_AXES, Nest, macs, outputs};
use super::off_chip::{self, Moved};
use super::transition::{Cluster, Transition, Trips, each_child, each_class, each_transition};
use super::{Illegal, LevelCounts, Walk};

/// A distinct context of a level.
struct Node {
    visits: u64,
    /// Range of its steps in [`Workspace::steps`]; empty if units are PEs.
    steps: Range<u32>,
    time: Time,
    /// Next node of the same bucket.
    next: u32,
}

/// A class of steps of a node whose units are clusters.
struct Step {
    times: u64,
    noc: TransferTime,
    /// Range in [`Workspace::children`] of the nodes that are the contexts of its units.
    children: Range<u32>,
}

/// Time of a context \[cycle\], and the same if transfers took no time.
#[derive(Debug, Clone, Copy, Default)]
struct Time {
    chip: u64,
    compute: u64,
}

/// Time of the NoC in a step \[cycle\] (4.3).
#[derive(Debug, Clone, Copy)]
struct TransferTime {
    /// Part that is exposed.
    exposed: u64,
    /// Part that overlaps with the work of the units.
    overlapped: u64,
}

impl TransferTime {
    /// Time of `times` steps in which the slowest unit works for `work`.
    fn with(self, work: Time, times: u64) -> Time {
        let chip = self.exposed + self.overlapped.max(work.chip);
        Time { chip: times * chip, compute: times * work.compute }
    }
}

impl Time {
    fn plus(self, other: Self) -> Self {
        Self { chip: self.chip + other.chip, compute: self.compute + other.compute }
    }

    fn max(self, other: Self) -> Self {
        Self { chip: self.chip.max(other.chip), compute: self.compute.max(other.compute) }
    }
}

/// Hash table of nodes: heads of linked lists by the hash of the context.
struct Buckets([u32; 1 << Self::BITS]);

impl Buckets {
    const BITS: u32 = 7;
    /// End of a list.
    const END: u32 = u32::MAX;
    const EMPTY: Self = Self([Self::END; 1 << Self::BITS]);

    fn of(&mut self, context: &Context) -> &mut u32 {
        &mut self.0[(context.hash() >> (u64::BITS - Self::BITS)) as usize]
    }
}

/// Nodes, steps and children of one evaluation.
#[derive(Default)]
struct Workspace {
    nodes: Vec<Node>,
    /// Context of every node.
    contexts: Vec<Context>,
    steps: Vec<Step>,
    children: Vec<u32>,
}

impl Workspace {
    /// Empties the workspace and releases memory beyond the use of most layers.
    fn clear(&mut self) {
        const MANY: usize = 1024;
        self.nodes.clear();
        self.nodes.shrink_to(MANY);
        self.contexts.clear();
        self.contexts.shrink_to(MANY);
        self.steps.clear();
        self.steps.shrink_to(MANY);
        self.children.clear();
        self.children.shrink_to(MANY);
    }
}

thread_local! {
    /// Workspace of the thread: evaluations reuse its buffers.
    static WORKSPACE: RefCell<Workspace> = RefCell::default();
}

/// The expansion of contexts in progress.
struct Expansion<'a> {
    nest: &'a Nest,
    machine: &'a Machine,
    work: &'a mut Workspace,
    /// Nodes of the level below the one in expansion.
    buckets: Buckets,
    /// Fill of the level in expansion.
    fill: FoldFill,
    /// Counts of the level in expansion.
    counts: LevelCounts,
    walk: &'a mut Walk,
}

/// Upper limit of the number of classes of steps. Layers of XRBench under WS, OS and RS have at most 70.
pub(super) const MAX_TRANSITIONS: u64 = 1 << 16;

impl Walk {
    /// Walks through the layer and flushes at its end (sections 4.1 to 4.9).
    ///
    /// # Errors
    ///
    /// [`Illegal::TooVaried`] if there are more than [`MAX_TRANSITIONS`] classes of steps.
    pub(super) fn run(
        &mut self,
        nest: &Nest,
        mapping: &Mapping,
        machine: &Machine,
    ) -> Result<(), Illegal> {
        WORKSPACE.with_borrow_mut(|work| {
            work.clear();
            let (buckets, fill) = (Buckets::EMPTY, FoldFill::NONE);
            let counts = LevelCounts::default();
            Expansion { nest, machine, work, buckets, fill, counts, walk: self }.run(mapping)
        })
    }
}

impl Expansion<'_> {
    fn run(&mut self, mapping: &Mapping) -> Result<(), Illegal> {
        let mut largest = *self.nest.extents();
        let start = self.add(&Context::cold(&largest), 1);
        let end = self.add(&Context::flush(&largest), 1);
        let mut of_level = 0..0;
        let mut trips = [Trips::NONE; N_AXES];
        let mut first = 0;
        if let Some(level) = mapping.off_chip() {
            of_level = 0..self.work.nodes.len();
            self.buckets = Buckets::EMPTY;
            let cluster = Cluster::new(level, &NocLevel::IDEAL, &largest);
            self.expand_off_chip(of_level.clone(), &cluster, &mut trips)?;
            self.walk.levels[0] = std::mem::take(&mut self.counts);
            largest = level.unit_extents(&largest);
            first = 1;
        }
        for (index, level) in mapping.levels().iter().enumerate() {
            of_level = of_level.end..self.work.nodes.len();
            self.buckets = Buckets::EMPTY;
            let (noc, below) = (self.machine.noc_level(index), mapping.levels().get(index + 1));
            let cluster = Cluster::new(level, noc, &largest);
            self.fill = FoldFill::new(noc, level, below, &largest);
            let units_are_pes = index + 1 == mapping.levels().len();
            for node in of_level.clone() {
                self.expand(node, &cluster, &mut trips, units_are_pes);
                if self.walk.transitions > MAX_TRANSITIONS {
                    return Err(Illegal::TooVaried);
                }
            }
            self.walk.levels[first + index] = std::mem::take(&mut self.counts);
            largest = level.unit_extents(&largest);
        }
        self.fold_times(of_level.start);
        self.work_of_off_chip();
        let [start, end] = [start, end].map(|node| self.work.nodes[node as usize].time);
        let time = start.plus(end);
        (self.walk.chip_cycles, self.walk.compute_cycles) = (time.chip, time.compute);
        Ok(())
    }

    /// Adds `visits` occurrences of a context of the level below the one in expansion, and returns its
    /// node.
    fn add(&mut self, context: &Context, visits: u64) -> u32 {
        let bucket = self.buckets.of(context);
        let mut at = *bucket;
        while let Some(node) = self.work.nodes.get_mut(at as usize) {
            if self.work.contexts[at as usize] == *context {
                node.visits += visits;
                return at;
            }
            at = node.next;
        }
        let new = self.work.nodes.len() as u32;
        let next = std::mem::replace(bucket, new);
        self.work.contexts.push(*context);
        self.work.nodes.push(Node { visits, steps: 0..0, time: Time::default(), next });
        new
    }

    /// Expands a node into its steps. `units_are_pes` on the innermost level; otherwise units are the
    /// clusters of the level below.
    fn expand(
        &mut self,
        node: usize,
        cluster: &Cluster,
        trips: &mut [Trips; N_AXES],
        units_are_pes: bool,
    ) {
        let visits = self.work.nodes[node].visits;
        let whole = Transition::whole(&self.work.contexts[node]);
        let first = self.work.steps.len() as u32;
        let mut time = Time::default();
        each_transition(cluster, whole, trips, |transition| {
            let visits = visits * transition.times;
            let (noc, _) = self.count(transition, visits, cluster);
            if units_are_pes {
                let work = self.execute(transition, visits, cluster);
                time = time.plus(noc.with(work, transition.times));
            } else {
                let children = self.descend(transition, visits, cluster);
                self.work.steps.push(Step { times: transition.times, noc, children });
            }
        });
        let steps = first..self.work.steps.len() as u32;
        let node = &mut self.work.nodes[node];
        (node.steps, node.time) = (steps, time);
    }

    /// Expands the `nodes` of the off-chip level into their steps (section 6.7). DRAM takes no time here; its
    /// steps are kept in [`Walk::off_chip`].
    ///
    /// # Errors
    ///
    /// [`Illegal::TooVaried`] if there are more than [`MAX_TRANSITIONS`] classes of steps.
    fn expand_off_chip(
        &mut self,
        nodes: Range<usize>,
        cluster: &Cluster,
        trips: &mut [Trips; N_AXES],
    ) -> Result<(), Illegal> {
        for node in nodes {
            let visits = self.work.nodes[node].visits;
            let whole = Transition::whole(&self.work.contexts[node]);
            let first = self.work.steps.len() as u32;
            each_class(cluster, whole, trips, |transition, advance| {
                let times = visits * transition.times;
                let (noc, moved) = self.count(transition, times, cluster);
                let phase = transition.unit.phase;
                let children = self.descend(transition, times, cluster);
                let class = self.work.steps.len();
                self.work.steps.push(Step { times: transition.times, noc, children });
                let step = off_chip::Step::new(class, phase, moved);
                let kinds = off_chip::kinds(cluster.largest_trips(), advance, times);
                let steps = kinds.into_iter().filter(|kind| kind.times > 0);
                self.walk.off_chip.extend(steps.map(|kind| off_chip::Step { kind, ..step }));
            });
            self.work.nodes[node].steps = first..self.work.steps.len() as u32;
            if self.walk.transitions > MAX_TRANSITIONS {
                return Err(Illegal::TooVaried);
            }
        }
        Ok(())
    }

    /// Sets the cycles of the chip in the steps of the off-chip level, if there is one.
    fn work_of_off_chip(&mut self) {
        let mut steps = std::mem::take(&mut self.walk.off_chip);
        for step in &mut steps {
            step.work = self.slowest(&self.work.steps[step.class]).chip;
        }
        self.walk.off_chip = steps;
    }

    /// Counts the transfers of `visits` steps of a class, and returns their time and their elements in one
    /// step.
    fn count(
        &mut self,
        step: &Transition,
        visits: u64,
        cluster: &Cluster,
    ) -> (TransferTime, Moved) {
        let (noc, spatial) = (cluster.noc(), cluster.spatial());
        let works = step.unit.phase != Phase::Flush;
        let moved = if works {
            ingress(self.nest, noc, step, spatial)
        } else {
            PerOperand::<Transfer>::default()
        };
        let sums = egress(step, spatial, noc.reduce);
        let counts = &mut self.counts;
        counts.sent += moved.map(|tensor| visits * tensor.sent);
        counts.delivered += moved.map(|tensor| visits * tensor.delivered);
        counts.forwarded += moved.map(|tensor| visits * tensor.forwarded);
        counts.left += visits * sums.left;
        counts.arrived += visits * sums.arrived;
        counts.steps += if works { visits } else { 0 };
        counts.active += visits * u64::from(step.units);
        self.walk.transitions += 1;
        let sent = moved.map(|tensor| tensor.sent);
        let mut time = transfer_time(noc, &self.machine.widths, step.unit.phase, sent, sums);
        time.exposed += self.fill.of(step, spatial);
        (time, Moved { sent, arrived: sums.arrived })
    }

    /// Counts the work of PEs, and returns the time of the slowest one (section 4.7).
    fn execute(&mut self, step: &Transition, visits: u64, cluster: &Cluster) -> Time {
        if step.units == 0 {
            return Time::default();
        }
        let mut extents = step.unit.spans.map(|span| span.now);
        let of_last = [macs(&extents), outputs(&extents)];
        let mut of_others = of_last;
        if let Some(map) = cluster.spatial().filter(|_| step.units > 1) {
            extents[map.axis as usize] = map.size;
            of_others = [macs(&extents), outputs(&extents)];
        }
        let others = u64::from(step.units - 1);
        self.walk.macs_executed += visits * (of_last[0] + others * of_others[0]);
        self.walk.pe_outputs += visits * (of_last[1] + others * of_others[1]);
        let cycles = of_others[0].div_ceil(u64::from(self.machine.rate.max(1)));
        Time { chip: cycles, compute: cycles }
    }

    /// Adds the contexts of the units in `visits` steps of a class to the level below.
    fn descend(&mut self, step: &mut Transition, visits: u64, cluster: &Cluster) -> Range<u32> {
        let first = self.work.children.len() as u32;
        each_child(cluster, step, |units, context| {
            let child = self.add(context, visits * units);
            self.work.children.push(child);
        });
        first..self.work.children.len() as u32
    }

    /// Computes the times of all nodes before `end`, whose units are clusters. Every node comes after the
    /// nodes that contain it.
    fn fold_times(&mut self, end: usize) {
        for index in (0..end).rev() {
            let Range { start, end } = self.work.nodes[index].steps;
            let steps = &self.work.steps[start as usize..end as usize];
            let times = steps.iter().map(|step| step.noc.with(self.slowest(step), step.times));
            self.work.nodes[index].time = times.fold(Time::default(), Time::plus);
        }
    }

    /// Time of the slowest unit in a step.
    fn slowest(&self, step: &Step) -> Time {
        let Range { start, end } = step.children;
        let children = &self.work.children[start as usize..end as usize];
        let times = children.iter().map(|&child| self.work.nodes[child as usize].time);
        times.fold(Time::default(), Time::max)
    }
}

/// Time of a NoC level in a step that sends `sent` elements (sections 4.8 and 4.9).
fn transfer_time(
    noc: &NocLevel,
    widths: &Widths,
    phase: Phase,
    sent: PerOperand<u64>,
    sums: Egress,
) -> TransferTime {
    let exposes_latency = phase != Phase::Warm || noc.step_latency;
    let latency = if exposes_latency { u64::from(noc.latency) } else { 0 };
    let delay = |bits: u64, bandwidth: Bandwidth| match bits {
        0 => 0,
        bits => latency + bandwidth.cycles_of_bits(bits),
    };
    // Counts are small enough for this (`is_countable`).
    let inputs = sent.input * u64::from(widths.input.bits());
    let weights = sent.weight * u64::from(widths.weight.bits());
    let own = noc.weights.unwrap_or(noc.down);
    let fill = match (noc.single_weights, noc.weights) {
        (true, _) => delay(inputs, noc.down),
        (false, Some(own)) => delay(inputs, noc.down).max(delay(weights, own)),
        (false, None) => delay(inputs + weights, noc.down),
    };
    let exposed = if noc.single_weights && weights > 0 {
        u64::from(noc.latency) + own.cycles_of_bits(weights)
    } else {
        0
    };
    let drain = delay(sums.arrived * u64::from(widths.partial_sum.bits()), noc.up);
    match phase {
        Phase::Cold => TransferTime { exposed: exposed + fill, overlapped: 0 },
        Phase::Warm => TransferTime { exposed, overlapped: fill.max(drain) },
        Phase::Flush => TransferTime { exposed: drain, overlapped: 0 },
    }
}

impl Walk {
    /// Derives reads for accumulation and buffer requirements from the other counts (sections 4.10 and
    /// 5.8).
    pub(super) fn derive(&mut self, nest: &Nest, mapping: &Mapping, machine: &Machine) {
        let mut above = outputs(nest.extents());
        let mut extents = *nest.extents();
        for (counts, level) in self.levels.iter_mut().zip(mapping.all_levels()) {
            counts.accumulated = counts.arrived.saturating_sub(above);
            above = counts.left;
            extents = level.unit_extents(&extents);
            let footprints = nest.footprints(&extents);
            counts.unit_bytes = 2 * bytes(footprints, &machine.widths);
        }
        self.pe_accumulations = self.pe_outputs.saturating_sub(above);
    }
}

/// Bytes on chip of these elements, with outputs as partial sums.
fn bytes(elements: PerTensor<u64>, widths: &Widths) -> u64 {
    widths.input.bytes(elements.input)
        + widths.weight.bytes(elements.weight)
        + widths.partial_sum.bytes(elements.output)
}

/// Whether 64 bits hold every count and time of a mapping. The bound: a step of a unit moves at most its
/// MACs times the largest width and the hull of the windows, and waits at most for these bytes and the
/// latencies. Of the factor 16 below, 8 are the bits of a byte, and compression lengthens at most by 2.
pub(super) fn is_countable(nest: &Nest, mapping: &Mapping, machine: &Machine) -> bool {
    let hulls = nest.compact().iter().map(|steps| u128::from(steps.stride.max(steps.dilation)));
    let bytes = machine.widths.into_array().map(|width| width.bits().div_ceil(8));
    let factors = bytes.into_iter().chain(machine.shared_copies.into_array());
    let largest = factors.fold(1, u32::max);
    let latency = |noc: &NocLevel| u128::from(noc.latency) + noc.largest_fill(machine.pes);
    let latencies = machine.noc_levels.iter().map(latency);
    let latency = latencies.sum::<u128>() + u128::from(machine.dram_latency) + 1;
    let widest = u128::from(largest) * u128::from(largest);
    let moved = hulls.product::<u128>().saturating_mul(widest).saturating_mul(16);
    let per_mac = moved.saturating_add(latency * Mapping::MAX_LEVELS as u128);
    per_mac.saturating_mul(u128::from(mapping.macs())) < 1 << 63
}
