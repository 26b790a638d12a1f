//! The closed form of the walk (docs/explanation/cost-model-loop-nest.md, section 5.9): every distinct context of
//! every level is expanded once, with the number of its occurrences and its traffic.
//!
//! Contexts are expanded level by level, from the outermost. All occurrences of a context are known
//! before it is expanded, so that counts are sums of products. Times follow from the steps (`steps`).

use std::cell::RefCell;
use std::ops::Range;

use crate::dataflow::LevelId;
use crate::model::PerOperand;

use super::context::{Context, Phase};
use super::egress::egress;
use super::fill::FoldFill;
use super::ingress::{Transfer, ingress};
use super::machine::{Machine, NocLevel};
use super::mapping::Mapping;
use super::nest::{N_AXES, Nest, macs, outputs};
use super::off_chip::{self, Moved};
use super::steps::{Step, Steps, Work};
use super::transition::{Cluster, Transition, Trips, each_child, each_class};
use super::{Illegal, LevelCounts};

/// A distinct context of a level.
struct Node {
    visits: u64,
    /// Next node of the same bucket.
    next: u32,
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

/// Nodes and steps of one evaluation.
#[derive(Default)]
struct Workspace {
    nodes: Vec<Node>,
    /// Context of every node.
    contexts: Vec<Context>,
    steps: Steps,
}

impl Workspace {
    /// Empties the workspace and releases memory beyond the use of most layers.
    fn clear(&mut self) {
        const MANY: usize = 1024;
        self.nodes.clear();
        self.nodes.shrink_to(MANY);
        self.contexts.clear();
        self.contexts.shrink_to(MANY);
        self.steps.clear(MANY);
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
}

/// Upper limit of the number of classes of steps. Layers of XRBench under WS, OS and RS have at most 70.
pub(super) const MAX_TRANSITIONS: u64 = 1 << 16;

/// `work` with the steps of the walk through the layer and of the flush at its end (sections 4.1 to 4.9). They do not
/// depend on the size of the shared memory, DRAM, energies, widths, or the time that anything takes.
///
/// # Errors
///
/// [`Illegal::TooVaried`] if there are more than [`MAX_TRANSITIONS`] classes of steps.
pub(super) fn with_steps<T>(
    nest: &Nest,
    mapping: &Mapping,
    machine: &Machine,
    work: impl FnOnce(&Steps) -> T,
) -> Result<T, Illegal> {
    WORKSPACE.with_borrow_mut(|space| {
        space.clear();
        let (buckets, fill) = (Buckets::EMPTY, FoldFill::NONE);
        let counts = LevelCounts::default();
        Expansion { nest, machine, work: space, buckets, fill, counts }.run(mapping)?;
        Ok(work(&space.steps))
    })
}

impl Expansion<'_> {
    fn run(&mut self, mapping: &Mapping) -> Result<(), Illegal> {
        let mut largest = *self.nest.extents();
        self.add(&Context::cold(&largest), 1);
        self.add(&Context::flush(&largest), 1);
        let mut trips = [Trips::NONE; N_AXES];
        let n_levels = mapping.all_levels().len();
        for (index, level) in mapping.all_levels().iter().enumerate() {
            let noc = match mapping.id(index) {
                LevelId::OffChip => &NocLevel::IDEAL,
                LevelId::OnChip(level) => self.machine.noc_level(level),
            };
            let cluster = Cluster::new(level, noc, &largest);
            self.fill = FoldFill::new(noc, level, mapping.all_levels().get(index + 1), &largest);
            let of_level = self.work.steps.next_level(self.work.nodes.len());
            self.buckets = Buckets::EMPTY;
            for node in of_level {
                self.work.steps.begin_node();
                match mapping.id(index) {
                    LevelId::OffChip => self.expand_off_chip(node, &cluster, &mut trips),
                    LevelId::OnChip(_) => {
                        self.expand(node, &cluster, &mut trips, index + 1 == n_levels);
                    }
                }
                if self.work.steps.walk.transitions > MAX_TRANSITIONS {
                    return Err(Illegal::TooVaried);
                }
            }
            self.work.steps.walk.levels.push(std::mem::take(&mut self.counts));
            largest = level.unit_extents(&largest);
        }
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
        self.work.nodes.push(Node { visits, next });
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
        each_class(cluster, whole, trips, |transition, _| {
            let visits = visits * transition.times;
            let step = self.count(transition, visits, cluster);
            let work = match units_are_pes {
                true => Work::Macs(self.execute(transition, visits, cluster)),
                false => Work::Clusters(self.descend(transition, visits, cluster)),
            };
            self.work.steps.push(Step { work, ..step });
        });
    }

    /// Expands a node of the off-chip level into its steps (section 6.7), which are kept in [`Walk::off_chip`] too.
    fn expand_off_chip(&mut self, node: usize, cluster: &Cluster, trips: &mut [Trips; N_AXES]) {
        let visits = self.work.nodes[node].visits;
        let whole = Transition::whole(&self.work.contexts[node]);
        each_class(cluster, whole, trips, |transition, advance| {
            let times = visits * transition.times;
            let step = self.count(transition, times, cluster);
            let work = Work::Clusters(self.descend(transition, times, cluster));
            let (phase, moved) = (step.phase, step.moved);
            let class = self.work.steps.push(Step { work, ..step });
            let step = off_chip::Step::new(class, phase, moved);
            let kinds = off_chip::kinds(cluster.largest_trips(), advance, times);
            let steps = kinds.into_iter().filter(|kind| kind.times > 0);
            let of_walk = &mut self.work.steps.walk.off_chip;
            of_walk.extend(steps.map(|kind| off_chip::Step { kind, ..step }));
        });
    }

    /// Counts the transfers of `visits` steps of a class, and returns the class, without its work.
    fn count(&mut self, step: &Transition, visits: u64, cluster: &Cluster) -> Step {
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
        self.work.steps.walk.transitions += 1;
        Step {
            times: step.times,
            phase: step.unit.phase,
            begins_fold: self.fill.begins_fold(step, spatial),
            moved: Moved { sent: moved.map(|tensor| tensor.sent), arrived: sums.arrived },
            work: Work::Macs(0),
        }
    }

    /// Counts the work of PEs, and returns the MACs of the slowest one in one step (section 4.7).
    fn execute(&mut self, step: &Transition, visits: u64, cluster: &Cluster) -> u64 {
        if step.units == 0 {
            return 0;
        }
        let mut extents = step.unit.now;
        let of_last = [macs(&extents), outputs(&extents)];
        let mut of_others = of_last;
        if let Some(map) = cluster.spatial().filter(|_| step.units > 1) {
            extents[map.axis as usize] = map.size;
            of_others = [macs(&extents), outputs(&extents)];
        }
        let others = u64::from(step.units - 1);
        let walk = &mut self.work.steps.walk;
        walk.macs_executed += visits * (of_last[0] + others * of_others[0]);
        walk.pe_outputs += visits * (of_last[1] + others * of_others[1]);
        of_others[0]
    }

    /// Adds the contexts of the units in `visits` steps of a class to the level below.
    fn descend(&mut self, step: &mut Transition, visits: u64, cluster: &Cluster) -> Range<u32> {
        let first = self.work.steps.children.len() as u32;
        each_child(cluster, step, |units, context| {
            let child = self.add(context, visits * units);
            self.work.steps.children.push(child);
        });
        first..self.work.steps.children.len() as u32
    }
}

/// Whether a mapping without loops above the shared memory surely has a walk: counts fit, and there are few classes of
/// steps.
pub(super) fn is_sure(nest: &Nest, mapping: &Mapping, machine: &Machine) -> bool {
    let is_few = mapping.off_chip().is_none() && most_classes(mapping) <= MAX_TRANSITIONS;
    is_few && is_countable(nest, mapping, machine)
}

/// Number of classes of steps that a walk has at most. A level of n loops has less than 2^(n + 1) classes for each of
/// its contexts, and a class at most 4 contexts of the level below.
pub(super) fn most_classes(mapping: &Mapping) -> u64 {
    let (mut contexts, mut classes) = (2u64, 0u64);
    for level in mapping.all_levels() {
        let of_level = contexts.saturating_mul(2 << level.loops().len());
        classes = classes.saturating_add(of_level);
        contexts = of_level.saturating_mul(4);
    }
    classes
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
