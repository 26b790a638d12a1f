//! A layer on a machine whose memories have limits: what a search evaluates mappings with.

use crate::cost::loop_nest::{Axis, Evaluation, Extents, Machine, Mapping, Nest, Walk};
use crate::hardware::{Accelerator, Memory};
use crate::model::TensorRole;

use super::bound::{self, Skeleton};
use super::candidate::{Candidate, LevelChoice};
use super::objective::{Objective, Value};
use super::space::Mapspace;

/// Capacities that a mapping must not exceed \[byte\].
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub struct Limits {
    /// Scratchpad of a PE; `None` is no limit.
    pub scratchpad: Option<u64>,
    /// Buffer of a unit of every level that is not the innermost one, outermost first. The last one stands
    /// for all deeper levels; an empty list is no limit.
    pub clusters: Vec<u64>,
}

impl Limits {
    /// Capacities of an accelerator.
    pub fn of(accelerator: &Accelerator) -> Self {
        let Memory { scratchpad, clusters, .. } = &accelerator.memory;
        Self::new(Some(scratchpad.get()), clusters.iter().map(|size| size.get()).collect())
    }

    /// Capacities of the scratchpad of a PE and of the buffers of clusters, outermost first \[byte\].
    pub fn new(scratchpad: Option<u64>, clusters: Vec<u64>) -> Self {
        Self { scratchpad, clusters }
    }

    /// Limit of a unit of `level` in a mapping of `n_levels`.
    pub(super) fn of_level(&self, level: usize, n_levels: usize) -> Option<u64> {
        if level + 1 == n_levels {
            return self.scratchpad;
        }
        self.clusters.get(level).or(self.clusters.last()).copied()
    }
}

/// Value of a mapping, and the bytes by which it exceeds capacities.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Score {
    /// Bytes above the capacities, summed over memories; 0 for a mapping that runs.
    pub excess: u64,
    /// Latency and energy.
    pub value: Value,
    /// Whether DRAM or the size of the shared memory limits it.
    pub by_memory: bool,
}

/// A layer, a machine, limits and a mapspace.
#[derive(Debug, Clone)]
pub(super) struct Problem<'a> {
    pub nest: &'a Nest,
    pub machine: &'a Machine,
    pub limits: &'a Limits,
    pub space: &'a Mapspace,
    pub objective: Objective,
}

impl Problem<'_> {
    /// Score of a candidate; `None` if 64 bits do not hold its counts.
    pub(super) fn score(&self, candidate: &Candidate) -> Option<Score> {
        let mapping = candidate.mapping(self.nest, self.machine)?;
        let evaluation = self.evaluate(&mapping)?;
        let beyond_shared = self.shared_excess(&evaluation);
        let value = Value { cycles: evaluation.cycles, energy_pj: evaluation.energy.total() };
        let by_memory = beyond_shared > 0 || evaluation.dram_cycles >= evaluation.chip_cycles;
        Some(Score { excess: self.excess(candidate) + beyond_shared, value, by_memory })
    }

    /// Evaluation of a mapping by the cost model.
    pub(super) fn evaluate(&self, mapping: &Mapping) -> Option<Evaluation> {
        let walk = Walk::new(self.nest, mapping, self.machine).ok()?;
        Some(walk.with_memory(self.nest, mapping, self.machine))
    }

    /// Bytes that the units of a candidate need beyond their buffers, summed over levels.
    pub(super) fn excess(&self, candidate: &Candidate) -> u64 {
        let on_chip = &candidate.levels[usize::from(candidate.has_off_chip)..];
        let excess = |(level, choice): (usize, &LevelChoice)| {
            self.level_excess(level, on_chip.len(), &choice.sizes)
        };
        on_chip.iter().enumerate().map(excess).sum()
    }

    /// Bytes that a unit of `level` needs beyond its buffer for a unit box of these extents.
    pub(super) fn level_excess(&self, level: usize, n_levels: usize, sizes: &Extents) -> u64 {
        let Some(limit) = self.limits.of_level(level, n_levels) else { return 0 };
        let widths = &self.machine.widths;
        let footprints = self.nest.footprints(sizes);
        let bytes = footprints.input * u64::from(widths.input)
            + footprints.weight * u64::from(widths.weight)
            + footprints.output * u64::from(widths.partial_sum);
        (2 * bytes).saturating_sub(limit)
    }

    /// Bytes that the tiles need beyond the shared memory.
    fn shared_excess(&self, evaluation: &Evaluation) -> u64 {
        let capacity = self.machine.shared_bytes.unwrap_or(u64::MAX);
        evaluation.memory.shared_bytes.saturating_sub(capacity)
    }

    /// Bound of all mappings whose outer levels are those of `outer`: the outer levels by the cost
    /// model, with units that execute their boxes at the full rate of their PEs, and the bounds of
    /// the machine and of `skeleton`.
    pub(super) fn partial_bound(
        &self,
        outer: &Candidate,
        skeleton: &Skeleton,
        floor: &Value,
    ) -> Option<Value> {
        let within: u32 = skeleton.units[outer.levels.len()..].iter().product();
        let machine = Machine {
            rate: self.machine.rate.max(1).saturating_mul(within),
            ..self.machine.clone()
        };
        let walk = Walk::new(self.nest, &outer.mapping(self.nest, self.machine)?, &machine).ok()?;
        let sizes: Vec<Extents> = outer.levels.iter().map(|level| level.sizes).collect();
        let compute = skeleton.compute_cycles(self.nest.extents(), &sizes, self.machine.rate);
        let cycles = floor.cycles.max(walk.chip_cycles()).max(compute);
        Some(Value { cycles, ..*floor })
    }

    /// Bound of the machine for every mapping.
    pub(super) fn machine_bound(&self) -> Value {
        bound::of_machine(self.nest, self.machine)
    }

    /// Whether a candidate keeps the stationary tensor of the mapspace in a PE from step to step.
    pub(super) fn is_stationary(&self, candidate: &Candidate) -> bool {
        let Some(tensor) = self.space.stationary else { return true };
        keeps(candidate, self.nest, tensor)
    }
}

/// Whether the innermost temporal loop does not index `tensor`, or no temporal loop could.
fn keeps(candidate: &Candidate, nest: &Nest, tensor: TensorRole) -> bool {
    let temporal = |axis: Axis, level: usize| {
        let choice = &candidate.levels[level];
        choice.spatial != Some(axis)
            && choice.sizes[axis as usize] < candidate.entering(nest, level)[axis as usize]
    };
    let mut loops = (0..candidate.levels.len()).rev().flat_map(|level| {
        let order = candidate.levels[level].order.iter().rev();
        order
            .copied()
            .filter(move |&axis| temporal(axis, level))
            .map(move |axis| axis.indexes(tensor))
    });
    match loops.next() {
        None | Some(false) => true,
        Some(true) => loops.all(|indexes| indexes),
    }
}
