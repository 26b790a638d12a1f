//! A layer on a machine whose memories have limits: what a search evaluates mappings with.

use crate::cost::loop_nest::{Axis, Evaluation, Extents, Machine, Mapping, Nest, Walk};
use crate::hardware::{Accelerator, Fill, Memory};
use crate::model::TensorRole;

use super::bound;
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
    pub fn from_accelerator(accelerator: &Accelerator) -> Self {
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

    /// Whether the tiles of an evaluated mapping fit into their memories on a machine with these limits.
    pub(super) fn hold(&self, evaluation: &Evaluation, machine: &Machine) -> bool {
        let n_levels = evaluation.levels().len();
        let fits = |(level, unit_bytes): (usize, u64)| {
            self.of_level(level, n_levels).is_none_or(|limit| unit_bytes <= limit)
        };
        let mut units = evaluation.levels().iter().map(|it| it.unit_bytes).enumerate();
        let shared = machine.shared_bytes.unwrap_or(u64::MAX);
        units.all(fits) && evaluation.memory.shared_bytes <= shared
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
    /// Bytes that it moves between DRAM and the shared memory.
    pub dram_bytes: u64,
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
        let excess = self.excess(candidate) + beyond_shared;
        let dram_bytes = evaluation.memory.dram.total_bytes();
        Some(Score { excess, value, by_memory, dram_bytes })
    }

    /// Evaluation of a mapping by the cost model.
    pub(super) fn evaluate(&self, mapping: &Mapping) -> Option<Evaluation> {
        self.evaluate_on(mapping, self.machine)
    }

    fn evaluate_on(&self, mapping: &Mapping, machine: &Machine) -> Option<Evaluation> {
        let walk = Walk::new(self.nest, mapping, machine).ok()?;
        Some(walk.with_memory(self.nest, mapping, machine))
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
        let bytes = widths.input.bytes(footprints.input)
            + widths.weight.bytes(footprints.weight)
            + widths.partial_sum.bytes(footprints.output);
        (2 * bytes).saturating_sub(limit)
    }

    /// Bytes that the tiles need beyond the shared memory.
    fn shared_excess(&self, evaluation: &Evaluation) -> u64 {
        let capacity = self.machine.shared_bytes.unwrap_or(u64::MAX);
        evaluation.memory.shared_bytes.saturating_sub(capacity)
    }

    /// The machine on which outer levels are bounded: without time for the fill of units, which depends on
    /// the loops of all levels.
    pub(super) fn relaxed(&self) -> Machine {
        let mut machine = self.machine.clone();
        for level in &mut machine.noc_levels {
            level.fill = Fill::Cycles(0);
        }
        machine
    }

    /// Least cycles of all mappings whose outer levels are those of `outer`: the outer levels by the cost
    /// model, with units of `within` PEs each that execute their boxes at the full rate. `None` if no such
    /// mapping runs.
    pub(super) fn least_cycles(
        &self,
        outer: &Candidate,
        within: u32,
        relaxed: &mut Machine,
    ) -> Option<u64> {
        relaxed.rate = self.machine.rate.max(1).saturating_mul(within);
        let of_memory_only = outer.has_off_chip && outer.levels.len() == 1;
        let evaluation = if of_memory_only {
            // Any level on chip will do: the loops above the shared memory alone decide the traffic of DRAM.
            let mut whole = outer.clone();
            whole.levels.push(LevelChoice::whole(1, &outer.levels[0].sizes));
            self.evaluate_on(&whole.mapping(self.nest, self.machine)?, relaxed)?
        } else {
            self.evaluate_on(&outer.mapping(self.nest, self.machine)?, relaxed)?
        };
        let fits = self.shared_excess(&evaluation) == 0;
        let cycles = if of_memory_only { evaluation.dram_cycles } else { evaluation.cycles };
        fits.then_some(cycles)
    }

    /// Bound of the machine for every mapping.
    pub(super) fn machine_bound(&self) -> Value {
        bound::of_machine(self.nest, self.machine)
    }

    /// Whether the mapspace has the units, the spread axes, the split axes, the fixed sizes and the orders of
    /// a candidate. The family of sizes is not asked for.
    pub(super) fn contains(&self, candidate: &Candidate) -> bool {
        let Self { nest, machine, space, .. } = *self;
        let on_chip = &candidate.levels[usize::from(candidate.has_off_chip)..];
        let is_list = |clusters: &Vec<u32>| {
            let units = Mapspace::units(clusters, machine);
            units.is_some_and(|units| on_chip.iter().map(|it| it.units).eq(units))
        };
        let is_of_level = |(level, choice): (usize, &LevelChoice)| {
            let entering = candidate.entering(nest, level);
            let space = space.level_of(candidate.place_on_chip(level));
            space.allows(choice, entering)
        };
        (space.off_chip || !candidate.has_off_chip)
            && space.clusters.iter().any(is_list)
            && candidate.levels.iter().enumerate().all(is_of_level)
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
