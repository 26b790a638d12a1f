//! Mappings as points of a mapspace: choices of every level, which become loops.

use crate::cost::loop_nest::{Axis, Extents, Loop, Mapping, Nest};

/// Number of axes.
pub(super) const N_AXES: usize = Axis::ALL.len();

/// Choices of one level: what a point of a mapspace says of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct LevelChoice {
    /// Number of units.
    pub units: u32,
    /// Axis that is spread over the units.
    pub spatial: Option<Axis>,
    /// Extents of the largest unit box, indexed by axis; never above those that enter the level.
    pub sizes: Extents,
    /// Axes, outermost first. Axes that the level does not split have no effect.
    pub order: [Axis; N_AXES],
}

/// A point of a mapspace: choices of every level, outermost first.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Candidate {
    pub levels: Vec<LevelChoice>,
}

impl Candidate {
    /// Extents that enter a level.
    pub(super) fn entering<'a>(&'a self, nest: &'a Nest, level: usize) -> &'a Extents {
        if level == 0 { nest.extents() } else { &self.levels[level - 1].sizes }
    }

    /// Limits the sizes of every level to those of the level above.
    pub(super) fn clip(&mut self, nest: &Nest) {
        let mut entering = *nest.extents();
        for level in &mut self.levels {
            for (size, limit) in level.sizes.iter_mut().zip(entering) {
                *size = (*size).min(limit);
            }
            entering = level.sizes;
        }
    }

    /// Loops and units for the cost model.
    pub(super) fn mapping(&self, nest: &Nest) -> Mapping {
        let mut mapping = Mapping::whole(nest);
        for (index, level) in self.levels.iter().enumerate() {
            mapping.push_level(level.units, level.loops(self.entering(nest, index)));
        }
        mapping
    }

    /// The candidate that makes the loops of `mapping`.
    pub(super) fn of(mapping: &Mapping, nest: &Nest) -> Self {
        let mut entering = *nest.extents();
        let choice = |level: &crate::cost::loop_nest::Level| {
            let sizes = level.unit_extents(&entering);
            entering = sizes;
            let looped = level.loops().iter().map(|it| it.axis);
            let rest = Axis::ALL
                .into_iter()
                .filter(|axis| level.loops().iter().all(|it| it.axis != *axis));
            let mut order = Axis::ALL;
            order.iter_mut().zip(looped.chain(rest)).for_each(|(to, axis)| *to = axis);
            LevelChoice {
                units: level.units(),
                spatial: level.spatial().map(|it| it.axis),
                sizes,
                order,
            }
        };
        Self { levels: mapping.levels().iter().map(choice).collect() }
    }
}

impl LevelChoice {
    /// A level that splits nothing.
    pub(super) fn whole(units: u32, extents: &Extents) -> Self {
        Self { units, spatial: None, sizes: *extents, order: Axis::ALL }
    }

    /// Loops with more than one chunk, outermost first.
    pub(super) fn loops<'a>(&'a self, entering: &'a Extents) -> impl Iterator<Item = Loop> + 'a {
        let split = |axis: &&Axis| self.sizes[**axis as usize] < entering[**axis as usize];
        self.order.iter().filter(split).map(|&axis| {
            let size = self.sizes[axis as usize];
            Loop { axis, size, offset: size, spatial: self.spatial == Some(axis) }
        })
    }
}
