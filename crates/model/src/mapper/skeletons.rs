//! Pairs of units and spread axes of all levels: the outermost choices of a mapping.

use crate::cost::loop_nest::Axis;

use super::bound::Skeleton;
use super::problem::Problem;
use super::space::Mapspace;

/// Units and spread axes of every level, outermost first.
#[derive(Debug, Clone)]
pub(super) struct OwnSkeleton {
    /// Whether the first level is the one above the shared memory.
    pub has_off_chip: bool,
    pub units: Vec<u32>,
    pub axes: Vec<Option<Axis>>,
    /// Least cycles in which the PEs execute the layer.
    pub compute: u64,
}

impl OwnSkeleton {
    /// The same skeleton with a level above the shared memory.
    pub(super) fn under_off_chip(&self) -> Self {
        Self {
            has_off_chip: true,
            units: [&[1], &self.units[..]].concat(),
            axes: [&[None], &self.axes[..]].concat(),
            compute: self.compute,
        }
    }

    pub(super) fn as_ref(&self) -> Skeleton<'_> {
        Skeleton { units: &self.units, axes: &self.axes }
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
    let Problem { nest, machine, space, .. } = *problem;
    let mut found = Vec::new();
    for clusters in &space.clusters {
        let Some(units) = Mapspace::units(clusters, machine) else { continue };
        let mut lists = vec![Vec::new()];
        for level in 0..units.len() {
            let splits = |axis: &Axis| nest.extent(*axis) > 1;
            let spread = space.level(level).spatial.iter().filter(splits).map(Some);
            let mut choices: Vec<_> = spread.collect();
            if unspread == Unspread::Any || choices.is_empty() {
                choices.insert(0, None);
            }
            let longer = |list: Vec<Option<Axis>>| {
                let add = move |&axis: &Option<Axis>| [&list[..], &[axis]].concat();
                choices.iter().map(add).collect::<Vec<_>>()
            };
            lists = lists.into_iter().flat_map(longer).collect();
        }
        found.extend(lists.into_iter().map(|axes| {
            let skeleton = Skeleton { units: &units, axes: &axes };
            let compute = skeleton.compute_cycles(nest.extents(), machine.rate);
            OwnSkeleton { has_off_chip: false, units: units.clone(), axes, compute }
        }));
    }
    found
}
