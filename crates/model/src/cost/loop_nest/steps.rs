//! Steps of a walk, whatever time their transfers and their work take, and the times of a walk through them
//! (docs/explanation/cost-model-loop-nest.md, sections 4.7 to 4.10, 5.8 and 5.9).

use std::cell::RefCell;
use std::mem;
use std::ops::Range;

use crate::dataflow::LevelId;
use crate::hardware::Widths;
use crate::model::PerTensor;

use super::Walk;
use super::context::Phase;
use super::fill::FoldFill;
use super::machine::{Bandwidth, Machine, NocLevel};
use super::mapping::Mapping;
use super::nest::{Nest, outputs};
use super::off_chip::Moved;

/// A class of steps of a node.
#[derive(Debug, Clone)]
pub(super) struct Step {
    /// Number of such steps in a visit of the node.
    pub times: u64,
    /// Situation of the cluster.
    pub phase: Phase,
    /// Whether it begins a fold of a level with a fill.
    pub begins_fold: bool,
    /// Elements that move in one step.
    pub moved: Moved,
    /// Work of the units.
    pub work: Work,
}

/// Work of the units in a step.
#[derive(Debug, Clone)]
pub(super) enum Work {
    /// MACs of the PE that has the most.
    Macs(u64),
    /// Range in [`Steps::children`] of the nodes that are the contexts of the units.
    Clusters(Range<u32>),
}

/// Steps of all nodes of a walk, the distinct contexts of its levels. The first node is the walk, the second one the
/// flush after it.
#[derive(Debug, Default)]
pub(super) struct Steps {
    /// Counts; times are 0.
    pub walk: Walk,
    /// Nodes that are contexts of units.
    pub children: Vec<u32>,
    steps: Vec<Step>,
    /// First step of every node.
    starts: Vec<u32>,
    /// First node of every level, outermost first; every node comes after the nodes that contain it.
    levels: Vec<u32>,
}

impl Steps {
    /// Removes all steps, and releases memory beyond `many`.
    pub(super) fn clear(&mut self, many: usize) {
        self.walk.clear();
        self.children.clear();
        self.children.shrink_to(many);
        self.steps.clear();
        self.steps.shrink_to(many);
        self.starts.clear();
        self.starts.shrink_to(many);
        self.levels.clear();
    }

    /// Takes the steps of another walk.
    pub(super) fn copy(&mut self, other: &Self) {
        let Self { walk, children, steps, starts, levels } = other;
        self.walk.clone_from(walk);
        self.children.clone_from(children);
        self.steps.clone_from(steps);
        self.starts.clone_from(starts);
        self.levels.clone_from(levels);
    }

    /// Number of steps.
    pub(super) fn len(&self) -> usize {
        self.steps.len()
    }

    /// The nodes of the next level, which are all further ones of `n_nodes`.
    pub(super) fn next_level(&mut self, n_nodes: usize) -> Range<usize> {
        let first = self.starts.len();
        self.levels.push(first as u32);
        first..n_nodes
    }

    /// Begins the steps of the next node.
    pub(super) fn begin_node(&mut self) {
        self.starts.push(self.steps.len() as u32);
    }

    /// Adds a step of the current node, and returns its number.
    pub(super) fn push(&mut self, step: Step) -> usize {
        self.steps.push(step);
        self.steps.len() - 1
    }

    /// The walk on a machine.
    pub(super) fn walk(&self, nest: &Nest, mapping: &Mapping, machine: &Machine) -> Walk {
        TIMES.with_borrow_mut(|times| {
            times.clear();
            times.shrink_to(1024);
            times.resize(self.starts.len(), Time::default());
            let mut walk = self.walk.clone();
            let paces = walk.derive(nest, mapping, machine);
            let mut end = self.starts.len();
            for (pace, &first) in paces.iter().zip(&self.levels).rev() {
                let first = first as usize;
                for node in (first..end).rev() {
                    let steps = self.steps_of(node).iter();
                    let all = steps.map(|step| pace.of(step, self.work(step, times, machine)));
                    times[node] = all.fold(Time::default(), Time::plus);
                }
                end = first;
            }
            for step in &mut walk.off_chip {
                step.work = self.work(&self.steps[step.class], times, machine).chip;
            }
            let time = times[0].plus(times[1]);
            (walk.chip_cycles, walk.compute_cycles) = (time.chip, time.compute);
            walk
        })
    }

    fn steps_of(&self, node: usize) -> &[Step] {
        let end = self.starts.get(node + 1).map_or(self.steps.len(), |&it| it as usize);
        &self.steps[self.starts[node] as usize..end]
    }

    /// Time of the slowest unit in a step.
    fn work(&self, step: &Step, times: &[Time], machine: &Machine) -> Time {
        match &step.work {
            Work::Macs(macs) => {
                let cycles = macs.div_ceil(u64::from(machine.rate.max(1)));
                Time { chip: cycles, compute: cycles }
            }
            Work::Clusters(children) => {
                let children = &self.children[children.start as usize..children.end as usize];
                let times = children.iter().map(|&child| times[child as usize]);
                times.fold(Time::default(), Time::max)
            }
        }
    }
}

thread_local! {
    /// Times of nodes: walks reuse the buffer.
    static TIMES: RefCell<Vec<Time>> = RefCell::default();
}

/// Time of a node \[cycle\], and the same if transfers took no time.
#[derive(Debug, Clone, Copy, Default)]
struct Time {
    chip: u64,
    compute: u64,
}

impl Time {
    fn plus(self, other: Self) -> Self {
        Self { chip: self.chip + other.chip, compute: self.compute + other.compute }
    }

    fn max(self, other: Self) -> Self {
        Self { chip: self.chip.max(other.chip), compute: self.compute.max(other.compute) }
    }
}

/// How long the steps of a level take.
#[derive(Clone, Copy)]
struct Pace<'a> {
    noc: &'a NocLevel,
    widths: &'a Widths,
    /// Cycles of the fill of a fold.
    fill: u64,
}

impl Pace<'_> {
    /// Time of all steps of a class in which the slowest unit works for `work` (sections 4.3, 4.8 and 4.9).
    fn of(&self, step: &Step, work: Time) -> Time {
        let Self { noc, widths, .. } = self;
        let exposes_latency = step.phase != Phase::Warm || noc.step_latency;
        let latency = if exposes_latency { u64::from(noc.latency) } else { 0 };
        let delay = |bits: u64, bandwidth: Bandwidth| match bits {
            0 => 0,
            bits => latency + bandwidth.cycles_of_bits(bits),
        };
        // Counts are small enough for this (`is_countable`).
        let inputs = step.moved.sent.input * u64::from(widths.input.bits());
        let weights = step.moved.sent.weight * u64::from(widths.weight.bits());
        let own = noc.weights.unwrap_or(noc.down);
        let fill = match (noc.single_weights, noc.weights) {
            (true, _) => delay(inputs, noc.down),
            (false, Some(own)) => delay(inputs, noc.down).max(delay(weights, own)),
            (false, None) => delay(inputs + weights, noc.down),
        };
        let mut exposed = if step.begins_fold { self.fill } else { 0 };
        if noc.single_weights && weights > 0 {
            exposed += u64::from(noc.latency) + own.cycles_of_bits(weights);
        }
        let drain = delay(step.moved.arrived * u64::from(widths.partial_sum.bits()), noc.up);
        let overlapped = match step.phase {
            Phase::Cold => {
                exposed += fill;
                0
            }
            Phase::Warm => fill.max(drain),
            Phase::Flush => {
                exposed += drain;
                0
            }
        };
        let chip = exposed + overlapped.max(work.chip);
        Time { chip: step.times * chip, compute: step.times * work.compute }
    }
}

impl Walk {
    /// Removes all counts.
    fn clear(&mut self) {
        let (mut levels, mut off_chip) =
            (mem::take(&mut self.levels), mem::take(&mut self.off_chip));
        levels.clear();
        off_chip.clear();
        *self = Self { levels, off_chip, ..Self::default() };
    }

    /// Derives reads for accumulation and buffer requirements from the other counts (sections 4.10 and
    /// 5.8). Returns how long the steps of every level take. DRAM takes no time here.
    fn derive<'a>(
        &mut self,
        nest: &Nest,
        mapping: &Mapping,
        machine: &'a Machine,
    ) -> [Pace<'a>; Mapping::MAX_LEVELS] {
        let widths = &machine.widths;
        let mut paces = [Pace { noc: &NocLevel::IDEAL, widths, fill: 0 }; Mapping::MAX_LEVELS];
        let mut above = outputs(nest.extents());
        let mut extents = *nest.extents();
        let levels = mapping.all_levels();
        for (index, (counts, pace)) in self.levels.iter_mut().zip(&mut paces).enumerate() {
            let Some(level) = levels.get(index) else { break };
            if let LevelId::OnChip(on_chip) = mapping.id(index) {
                pace.noc = machine.noc_level(on_chip);
                pace.fill = FoldFill::new(pace.noc, level, levels.get(index + 1), &extents).cycles;
            }
            counts.accumulated = counts.arrived.saturating_sub(above);
            above = counts.left;
            extents = level.unit_extents(&extents);
            counts.unit_bytes = 2 * bytes(nest.footprints(&extents), widths);
        }
        self.pe_accumulations = self.pe_outputs.saturating_sub(above);
        paces
    }
}

/// Buffers that a unit of every level on chip needs, outermost first (section 4.10) \[byte\].
pub(super) fn unit_bytes(
    nest: &Nest,
    mapping: &Mapping,
    widths: &Widths,
) -> impl Iterator<Item = u64> {
    let mut extents =
        mapping.off_chip().map_or(*nest.extents(), |it| it.unit_extents(nest.extents()));
    mapping.levels().iter().map(move |level| {
        extents = level.unit_extents(&extents);
        2 * bytes(nest.footprints(&extents), widths)
    })
}

/// Bytes on chip of these elements, with outputs as partial sums.
fn bytes(elements: PerTensor<u64>, widths: &Widths) -> u64 {
    widths.input.bytes(elements.input)
        + widths.weight.bytes(elements.weight)
        + widths.partial_sum.bytes(elements.output)
}
