//! The closed form of the walk (5.9): every distinct context of every level once, how often it
//! occurs, what it moves, and how long it takes.
//!
//! Contexts are expanded level by level from the outermost. All occurrences of a context are known
//! before it is expanded, so that counts are sums of products; times are then folded back from the
//! innermost level.

use std::cell::RefCell;
use std::ops::Range;

use crate::hardware::Widths;
use crate::model::{PerOperand, PerTensor};

use super::context::{Context, Phase};
use super::egress::{Egress, egress};
use super::ingress::{Movement, ingress};
use super::machine::{Bandwidth, Machine, NocLevel};
use super::mapping::Mapping;
use super::nest::{N_AXES, Nest, macs, outputs};
use super::transition::{Cluster, Transition, Trips, each_child, each_transition};
use super::{Illegal, LevelCounts, Walk};

/// A distinct context of a level.
struct Node {
    visits: u64,
    /// Its steps among those of all nodes; none if units are PEs.
    steps: Range<u32>,
    time: Time,
    /// The next node of the same bucket.
    next: u32,
}

/// A class of steps of a node whose units are clusters.
struct Step {
    times: u64,
    noc: TransferTime,
    /// Nodes of the level below that the units are at, among the children of all steps.
    children: Range<u32>,
}

/// Time of a context, and the same with networks that take none \[cycle\].
#[derive(Debug, Clone, Copy, Default)]
struct Time {
    chip: u64,
    compute: u64,
}

/// What networks add to the work of the units in a step \[cycle\] (4.3).
#[derive(Debug, Clone, Copy)]
struct TransferTime {
    /// What nothing hides.
    alone: u64,
    /// What goes on beside the work.
    beside: u64,
}

impl TransferTime {
    /// Time of `times` steps in which units work for `work`.
    fn with(self, work: Time, times: u64) -> Time {
        let chip = self.alone + self.beside.max(work.chip);
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

/// Lists of nodes by the hash of their contexts.
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

/// Everything that was found so far.
#[derive(Default)]
struct Findings {
    nodes: Vec<Node>,
    /// Contexts of the nodes.
    contexts: Vec<Context>,
    steps: Vec<Step>,
    children: Vec<u32>,
}

impl Findings {
    /// Nothing, and no more memory than many layers take.
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
    /// Memory that evaluations leave to the next one, which takes about as much.
    static FINDINGS: RefCell<Findings> = RefCell::default();
}

/// A walk under way.
struct Census<'a> {
    nest: &'a Nest,
    machine: &'a Machine,
    found: &'a mut Findings,
    /// Nodes of the level below the one that is expanded.
    buckets: Buckets,
    /// Counts of the level that is expanded.
    counts: LevelCounts,
    walk: &'a mut Walk,
}

/// Most classes of steps that are told apart; a layer of XRBench under WS, OS or RS has 70.
pub(super) const MAX_TRANSITIONS: u64 = 1 << 16;

impl Walk {
    /// Walks the layer and flushes at its end (4.1 to 4.9).
    ///
    /// # Errors
    ///
    /// [`Illegal::TooVaried`] from [`MAX_TRANSITIONS`] on.
    pub(super) fn run(
        &mut self,
        nest: &Nest,
        mapping: &Mapping,
        machine: &Machine,
    ) -> Result<(), Illegal> {
        FINDINGS.with_borrow_mut(|found| {
            found.clear();
            let (buckets, counts) = (Buckets::EMPTY, LevelCounts::default());
            Census { nest, machine, found, buckets, counts, walk: self }.run(mapping)
        })
    }
}

impl Census<'_> {
    fn run(&mut self, mapping: &Mapping) -> Result<(), Illegal> {
        let mut largest = *self.nest.extents();
        let start = self.add(&Context::cold(&largest), 1);
        let end = self.add(&Context::flush(&largest), 1);
        let mut of_level = 0..0;
        let mut trips = [Trips::NONE; N_AXES];
        for (index, level) in mapping.levels().iter().enumerate() {
            of_level = of_level.end..self.found.nodes.len();
            self.buckets = Buckets::EMPTY;
            let cluster = Cluster::new(level, self.machine.noc_level(index), &largest);
            let of_pes = index + 1 == mapping.levels().len();
            for node in of_level.clone() {
                self.expand(node, &cluster, &mut trips, of_pes);
                if self.walk.transitions > MAX_TRANSITIONS {
                    return Err(Illegal::TooVaried);
                }
            }
            self.walk.levels[index] = std::mem::take(&mut self.counts);
            largest = level.unit_extents(&largest);
        }
        self.fold_times(of_level.start);
        let [start, end] = [start, end].map(|node| self.found.nodes[node as usize].time);
        let time = start.plus(end);
        (self.walk.chip_cycles, self.walk.compute_cycles) = (time.chip, time.compute);
        Ok(())
    }

    /// Counts `visits` of a context of the level below the one that is expanded.
    fn add(&mut self, context: &Context, visits: u64) -> u32 {
        let bucket = self.buckets.of(context);
        let mut at = *bucket;
        while let Some(node) = self.found.nodes.get_mut(at as usize) {
            if self.found.contexts[at as usize] == *context {
                node.visits += visits;
                return at;
            }
            at = node.next;
        }
        let new = self.found.nodes.len() as u32;
        let next = std::mem::replace(bucket, new);
        self.found.contexts.push(*context);
        self.found.nodes.push(Node { visits, steps: 0..0, time: Time::default(), next });
        new
    }

    /// Finds the steps of a node of a level, whose units are PEs or the clusters of the level below.
    fn expand(
        &mut self,
        node: usize,
        cluster: &Cluster,
        trips: &mut [Trips; N_AXES],
        of_pes: bool,
    ) {
        let visits = self.found.nodes[node].visits;
        let whole = Transition::whole(&self.found.contexts[node]);
        let first = self.found.steps.len() as u32;
        let mut time = Time::default();
        each_transition(cluster, whole, trips, |transition| {
            let visits = visits * transition.times;
            let noc = self.count(transition, visits, cluster);
            if of_pes {
                let work = self.work(transition, visits, cluster);
                time = time.plus(noc.with(work, transition.times));
            } else {
                let children = self.descend(transition, visits, cluster);
                self.found.steps.push(Step { times: transition.times, noc, children });
            }
        });
        let steps = first..self.found.steps.len() as u32;
        let node = &mut self.found.nodes[node];
        (node.steps, node.time) = (steps, time);
    }

    /// Adds what `visits` steps of a class move; gives how long that takes.
    fn count(&mut self, step: &Transition, visits: u64, cluster: &Cluster) -> TransferTime {
        let (noc, spatial) = (cluster.noc(), cluster.spatial());
        let works = step.unit.phase != Phase::Flush;
        let moved = if works {
            ingress(self.nest, noc, step, spatial)
        } else {
            PerOperand::<Movement>::default()
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
        transfer_time(noc, &self.machine.widths, step.unit.phase, sent, sums)
    }

    /// Counts the work of PEs; gives the time of the slowest one (4.7).
    fn work(&mut self, step: &Transition, visits: u64, cluster: &Cluster) -> Time {
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

    /// Counts what the clusters below do in `visits` steps of a class.
    fn descend(&mut self, step: &mut Transition, visits: u64, cluster: &Cluster) -> Range<u32> {
        let first = self.found.children.len() as u32;
        each_child(cluster, step, |units, context| {
            let child = self.add(context, visits * units);
            self.found.children.push(child);
        });
        first..self.found.children.len() as u32
    }

    /// Finds the times of all nodes before `end`, whose units are clusters; these come behind.
    fn fold_times(&mut self, end: usize) {
        for index in (0..end).rev() {
            let Range { start, end } = self.found.nodes[index].steps;
            let steps = &self.found.steps[start as usize..end as usize];
            let times = steps.iter().map(|step| step.noc.with(self.slowest(step), step.times));
            self.found.nodes[index].time = times.fold(Time::default(), Time::plus);
        }
    }

    /// Time of the slowest unit in a step.
    fn slowest(&self, step: &Step) -> Time {
        let Range { start, end } = step.children;
        let children = &self.found.children[start as usize..end as usize];
        let times = children.iter().map(|&child| self.found.nodes[child as usize].time);
        times.fold(Time::default(), Time::max)
    }
}

/// Time of the network in a step that sends so many inputs and weights (4.8, 4.9).
fn transfer_time(
    noc: &NocLevel,
    widths: &Widths,
    phase: Phase,
    sent: PerOperand<u64>,
    sums: Egress,
) -> TransferTime {
    let exposes_latency = phase != Phase::Warm || noc.step_latency;
    let latency = if exposes_latency { u64::from(noc.latency) } else { 0 };
    let delay = |bytes: u64, bandwidth: Bandwidth| match bytes {
        0 => 0,
        bytes => latency + bandwidth.cycles(bytes),
    };
    let inputs = sent.input * u64::from(widths.input);
    let weights = sent.weight * u64::from(widths.weight);
    let own = noc.weights.unwrap_or(noc.down);
    let fill = match (noc.single_weights, noc.weights) {
        (true, _) => delay(inputs, noc.down),
        (false, Some(own)) => delay(inputs, noc.down).max(delay(weights, own)),
        (false, None) => delay(inputs + weights, noc.down),
    };
    let exposed = if noc.single_weights && weights > 0 {
        u64::from(noc.latency) + own.cycles(weights)
    } else {
        0
    };
    let drain = delay(sums.arrived * u64::from(widths.partial_sum), noc.up);
    match phase {
        Phase::Cold => TransferTime { alone: exposed + fill, beside: 0 },
        Phase::Warm => TransferTime { alone: exposed, beside: fill.max(drain) },
        Phase::Flush => TransferTime { alone: drain, beside: 0 },
    }
}

impl Walk {
    /// Accumulate reads and buffer requirements follow from the rest (4.10, 5.8).
    pub(super) fn derive(&mut self, nest: &Nest, mapping: &Mapping, machine: &Machine) {
        let mut above = outputs(nest.extents());
        let mut extents = *nest.extents();
        for (counts, level) in self.levels.iter_mut().zip(mapping.levels()) {
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
    elements.input * u64::from(widths.input)
        + elements.weight * u64::from(widths.weight)
        + elements.output * u64::from(widths.partial_sum)
}

/// Whether 64 bits hold every count and time of a mapping: no step of a unit moves more than its
/// MACs times the width of an element and the hull of a window, or waits longer than that and the
/// latencies.
pub(super) fn is_countable(nest: &Nest, mapping: &Mapping, machine: &Machine) -> bool {
    let hulls = nest.compact().iter().map(|steps| u128::from(steps.stride.max(steps.dilation)));
    let Widths { input, weight, partial_sum, output } = machine.widths;
    let factors =
        [input, weight, partial_sum, output].into_iter().chain(machine.shared_copies.into_array());
    let largest = factors.fold(1, u32::max);
    let latencies = machine.noc_levels.iter().map(|noc| u128::from(noc.latency));
    let latency = latencies.sum::<u128>() + u128::from(machine.dram_latency) + 1;
    let widest = u128::from(largest) * u128::from(largest);
    let moved = hulls.product::<u128>().saturating_mul(widest).saturating_mul(16);
    let per_mac = moved.saturating_add(latency * Mapping::MAX_LEVELS as u128);
    per_mac.saturating_mul(u128::from(mapping.macs())) < 1 << 63
}
