//! Pairs of units and spread axes of all levels: the outermost choices of a mapping.

use crate::cost::loop_nest::{Axis, Mapping};

use super::bound::Skeleton;
use super::problem::Problem;
use super::space::Mapspace;

/// Units and spread axes of every level, outermost first.
#[derive(Debug, Clone, Copy)]
pub(super) struct OwnSkeleton {
    /// Whether the first level is the one above the shared memory.
    pub has_off_chip: bool,
    units: [u32; Mapping::MAX_LEVELS],
    axes: [Option<Axis>; Mapping::MAX_LEVELS],
    n_levels: usize,
    /// Least cycles in which the PEs execute the layer.
    pub compute: u64,
}

impl OwnSkeleton {
    const EMPTY: Self = Self {
        has_off_chip: false,
        units: [1; Mapping::MAX_LEVELS],
        axes: [None; Mapping::MAX_LEVELS],
        n_levels: 0,
        compute: 0,
    };

    /// Units of every level.
    pub(super) fn units(&self) -> &[u32] {
        &self.units[..self.n_levels]
    }

    /// Number of levels on chip.
    pub(super) fn n_on_chip(&self) -> usize {
        self.n_levels - usize::from(self.has_off_chip)
    }

    /// Axis that every level spreads.
    pub(super) fn axes(&self) -> &[Option<Axis>] {
        &self.axes[..self.n_levels]
    }

    /// The same skeleton with a level above the shared memory; `None` if it has as many levels as a mapping may.
    pub(super) fn under_off_chip(&self) -> Option<Self> {
        let mut under = Self { has_off_chip: true, ..*self };
        under.n_levels = Some(self.n_levels + 1).filter(|&it| it <= Mapping::MAX_LEVELS)?;
        under.units[1..].copy_from_slice(&self.units[..Mapping::MAX_LEVELS - 1]);
        under.axes[1..].copy_from_slice(&self.axes[..Mapping::MAX_LEVELS - 1]);
        (under.units[0], under.axes[0]) = (1, None);
        Some(under)
    }

    /// The same skeleton with a level 0 of one working unit.
    pub(super) fn unspread(&self, problem: &Problem) -> Self {
        let mut unspread = *self;
        (unspread.units[0], unspread.axes[0]) = (1, None);
        let compute = unspread.as_ref();
        let compute = compute.compute_cycles(problem.nest.extents(), problem.machine.rate);
        Self { compute, ..unspread }
    }

    pub(super) fn as_ref(&self) -> Skeleton<'_> {
        Skeleton { units: self.units(), axes: self.axes() }
    }
}

/// Levels on which no axis is spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unspread {
    /// Any level.
    Any,
    /// Only those on which no axis of more than one position may be spread.
    WhereNecessary,
}

/// Every pair of a list of cluster sizes and of spread axes in a mapspace.
pub(super) fn skeletons(problem: &Problem, unspread: Unspread) -> Vec<OwnSkeleton> {
    let Problem { machine, space, .. } = *problem;
    let mut found = Vec::new();
    for clusters in &space.clusters {
        let Some(units) = Mapspace::units(clusters, machine) else { continue };
        if units.len() > Mapping::MAX_LEVELS {
            continue;
        }
        let mut skeleton = OwnSkeleton { n_levels: units.len(), ..OwnSkeleton::EMPTY };
        skeleton.units[..units.len()].copy_from_slice(&units);
        spread(problem, unspread, &mut skeleton, 0, &mut found);
    }
    found
}

/// Adds every choice of the axes of `level` and deeper ones.
fn spread(
    problem: &Problem,
    unspread: Unspread,
    skeleton: &mut OwnSkeleton,
    level: usize,
    found: &mut Vec<OwnSkeleton>,
) {
    if level == skeleton.n_levels {
        let compute = skeleton.as_ref();
        let compute = compute.compute_cycles(problem.nest.extents(), problem.machine.rate);
        found.push(OwnSkeleton { compute, ..*skeleton });
        return;
    }
    let splits = |axis: &Axis| problem.nest.extent(*axis) > 1;
    let mut may_spread = problem.space.level(level).spatial.iter().filter(splits).peekable();
    if unspread == Unspread::Any || may_spread.peek().is_none() {
        skeleton.axes[level] = None;
        spread(problem, unspread, skeleton, level + 1, found);
    }
    for axis in may_spread {
        skeleton.axes[level] = Some(axis);
        spread(problem, unspread, skeleton, level + 1, found);
    }
}
