//! Mapspaces as files and dataflows declare them, for any layer and number of PEs.

use std::sync::Arc;

use crate::cost::loop_nest::{Axis, Machine, Nest};
use crate::dataflow::{self, ClusterLevel, Dataflow, Stationary};
use crate::model::TensorRole;

use super::sizes::Sizes;
use super::space::{AxisSet, LevelSpace, Mapspace};

/// Most levels of the mappings of a mapspace that does not list its clusters.
pub(super) const MAX_LEVELS: usize = 3;

/// A mapspace as it is declared. In depthwise layers, whose channels are groups, C stands for G.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct DeclaredSpace {
    /// Name.
    pub name: Box<str>,
    /// Sizes that each cluster may have, outermost first; `None`: powers of two, on up to two clusters.
    pub clusters: Option<Vec<Vec<u32>>>,
    /// Choices of every level, outermost first. The last one stands for all deeper levels; without any,
    /// everything is free.
    pub levels: Vec<LevelSpace>,
    /// Sizes of chunks.
    pub sizes: Sizes,
    /// Whether loops above the shared memory are allowed.
    pub off_chip: bool,
    /// Operand that a PE keeps from one step to the next.
    pub stationary: Option<Stationary>,
    /// Dataflows that are always evaluated.
    pub seeds: Vec<Arc<Dataflow>>,
}

impl DeclaredSpace {
    /// Most lists of cluster sizes of one mapspace.
    pub const MAX_LISTS: usize = 4096;

    /// A mapspace in which everything is free.
    pub fn free(name: impl Into<Box<str>>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// PEs that the smallest clusters of a mapspace take.
    pub fn least_pes(&self) -> u64 {
        let least = |sizes: &Vec<u32>| u64::from(sizes.iter().copied().min().unwrap_or(1));
        let clusters = self.clusters.iter().flatten().map(least);
        clusters.fold(1, u64::saturating_mul)
    }

    /// The mappings of a style whose hardware may change sizes and orders from layer to layer, but neither
    /// the clusters of these `levels` of directives, nor the axes that they spread, nor what PEs keep.
    /// `None` if a size of a cluster depends on the layer.
    pub fn of_style(levels: &[ClusterLevel], stationary: Option<Stationary>) -> Option<Self> {
        let clusters = clusters(levels)?;
        let levels = levels.iter();
        let levels = levels.map(|level| LevelSpace { spatial: spread(level), ..LevelSpace::FREE });
        Some(Self {
            clusters: Some(clusters.into_iter().map(|size| vec![size]).collect()),
            levels: levels.collect(),
            sizes: Sizes::All,
            off_chip: true,
            stationary,
            ..Self::free("")
        })
    }

    /// The mapspace for a layer on a machine.
    pub fn for_layer(&self, nest: &Nest, machine: &Machine) -> Mapspace {
        let mut space = match &self.clusters {
            None => Mapspace::any(machine.pes, MAX_LEVELS, self.sizes.clone()),
            Some(choices) => Mapspace::free(lists(choices), self.sizes.clone()),
        };
        if !self.levels.is_empty() {
            space.levels.clone_from(&self.levels);
        }
        space.off_chip = self.off_chip;
        if nest.is_depthwise() {
            space.levels.iter_mut().for_each(channels_are_groups);
        }
        space.stationary = match self.stationary {
            None => None,
            Some(Stationary::Inputs) => Some(TensorRole::Input),
            Some(Stationary::Weights) => Some(TensorRole::Weight),
            Some(Stationary::Outputs) => Some(TensorRole::Output),
            Some(Stationary::Rows) => {
                for level in &mut space.levels {
                    level.temporal = level.temporal.without(Axis::S);
                    level.spatial = level.spatial.without(Axis::S);
                }
                None
            }
        };
        space
    }
}

/// Every list with one of the sizes of each cluster.
fn lists(choices: &[Vec<u32>]) -> Vec<Vec<u32>> {
    choices.iter().fold(vec![Vec::new()], |lists, sizes| {
        let longer = |list: Vec<u32>| {
            let with = move |&size: &u32| [&list[..], &[size]].concat();
            sizes.iter().map(with).collect::<Vec<_>>()
        };
        lists.into_iter().flat_map(longer).collect()
    })
}

/// Sizes of the clusters of directives; `None` if one depends on the layer.
pub(super) fn clusters(levels: &[ClusterLevel]) -> Option<Vec<u32>> {
    levels.iter().filter_map(|level| level.units).map(|units| units.fixed()).collect()
}

/// Axes that the spatial directives of a level spread. Input rows stand for output rows.
fn spread(level: &ClusterLevel) -> AxisSet {
    let spatial = level.directives.iter().filter(|it| it.mapping == dataflow::Mapping::Spatial);
    AxisSet::from_axes(spatial.map(|directive| axis_of(directive.axis)))
}

/// Axis of the loop nest that a directive maps. Input rows stand for output rows.
pub fn axis_of(written: dataflow::Axis) -> Axis {
    use dataflow::Axis as Written;
    match written {
        Written::N => Axis::N,
        Written::G => Axis::G,
        Written::K => Axis::K,
        Written::C => Axis::C,
        Written::R => Axis::R,
        Written::S => Axis::S,
        Written::OutputY | Written::Y => Axis::OutputY,
        Written::OutputX | Written::X => Axis::OutputX,
    }
}

/// Lets C stand for G.
fn channels_are_groups(level: &mut LevelSpace) {
    let with_groups = |set: AxisSet| match set.contains(Axis::C) {
        true => set.with(Axis::G),
        false => set,
    };
    level.spatial = with_groups(level.spatial);
    level.temporal = with_groups(level.temporal);
    let has_groups = level.fixed.iter().any(|(axis, _)| *axis == Axis::G);
    for (axis, _) in level.fixed.iter_mut().filter(|_| !has_groups) {
        if *axis == Axis::C {
            *axis = Axis::G;
        }
    }
    let Some(order) = &mut level.order else { return };
    if !order.contains(&Axis::G) {
        order.iter_mut().filter(|axis| **axis == Axis::C).for_each(|axis| *axis = Axis::G);
    }
}
