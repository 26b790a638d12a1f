//! Fill of systolic levels: cycles of a fold that nothing hides (docs/explanation/cost-model-loop-nest.md, section
//! 4.12).

use crate::hardware::Fill;
use crate::model::TensorRole;

use super::context::Phase;
use super::egress::staying;
use super::machine::NocLevel;
use super::mapping::{Level, Loop};
use super::nest::{Axis, Extents};
use super::transition::{Transition, Trips};

/// Fill of the clusters of one level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FoldFill {
    /// Cycles of a fold.
    pub cycles: u64,
    /// Whether folds have any fill.
    exists: bool,
    /// Stationary tensor: a fold is a span in which the units hold the same part of it.
    stationary: TensorRole,
}

impl FoldFill {
    /// No fill.
    pub(super) const NONE: Self = Self { cycles: 0, exists: false, stationary: TensorRole::Output };

    /// Fill of the clusters of `level`, whose units are clusters of the level `below` or else PEs.
    /// `extents` are those that enter the level.
    pub(super) fn new(
        noc: &NocLevel,
        level: &Level,
        below: Option<&Level>,
        extents: &Extents,
    ) -> Self {
        if noc.fill == Fill::default() {
            return Self::NONE;
        }
        let stationary = stationary(level, below, extents);
        let [rows, columns] =
            [level.units(), below.map_or(1, Level::units)].map(|units| u64::from(units.max(1)));
        let cycles = match (noc.fill, stationary) {
            (Fill::Cycles(cycles), _) => cycles,
            (Fill::Systolic, TensorRole::Output) => rows + columns - 2,
            (Fill::Systolic, _) => 2 * rows + columns - 2,
        };
        Self { cycles, exists: true, stationary }
    }

    /// Cycles that a step adds: those of a fold if the step begins one, otherwise 0. `spatial` is the loop
    /// over the units.
    pub(super) fn of(&self, step: &Transition, spatial: Option<&Loop>) -> u64 {
        if self.begins_fold(step, spatial) { self.cycles } else { 0 }
    }

    /// Whether folds have a fill, and some working unit held another part of the stationary tensor before, or none.
    pub(super) fn begins_fold(&self, step: &Transition, spatial: Option<&Loop>) -> bool {
        if !self.exists {
            return false;
        }
        match step.unit.phase {
            Phase::Cold => return true,
            Phase::Flush => return false,
            Phase::Warm => {}
        }
        let changes = |axis: Axis| match spatial.filter(|map| map.axis == axis) {
            Some(map) => staying(step, map) < step.units,
            None => step.span(axis).changes(),
        };
        let mut axes = Axis::ALL.into_iter().filter(|axis| axis.indexes(self.stationary));
        axes.any(changes)
    }
}

/// Stationary tensor of the array of a level and the level below: of the tensors that every axis indexes
/// that is spread over the array, the one whose innermost loop on the level is outermost; of several the
/// first of outputs, weights and inputs.
fn stationary(level: &Level, below: Option<&Level>, extents: &Extents) -> TensorRole {
    const ORDER: [TensorRole; 3] = [TensorRole::Output, TensorRole::Weight, TensorRole::Input];
    let spread = [level.spatial(), below.and_then(Level::spatial)];
    let is_spread =
        |tensor: &TensorRole| spread.iter().flatten().all(|map| map.axis.indexes(*tensor));
    let repeats = |map: &Loop| Trips::new(map, level.units(), extents[map.axis as usize]).count > 1;
    let depth = |tensor: &TensorRole| {
        let moves = |map: &Loop| map.axis.indexes(*tensor) && repeats(map);
        level.loops().iter().rposition(moves).map_or(0, |index| index + 1)
    };
    // Any two axes index a tensor in common.
    ORDER.into_iter().filter(is_spread).min_by_key(depth).unwrap_or(TensorRole::Output)
}

impl NocLevel {
    /// Largest fill of any level of a machine of `pes` PEs \[cycle\].
    pub(super) fn largest_fill(&self, pes: u32) -> u128 {
        match self.fill {
            Fill::Cycles(cycles) => cycles.into(),
            Fill::Systolic => 3 * u128::from(pes),
        }
    }
}
