//! Mappings as points of a mapspace: choices of every level, which become loops.

use crate::cost::loop_nest::{Axis, Extents, Level, Loop, Machine, Mapping, Nest};

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
    /// Whether the first level is the one above the shared memory.
    pub has_off_chip: bool,
    pub levels: Vec<LevelChoice>,
}

impl Candidate {
    /// Number of a level among those on chip; `None` for the one above the shared memory.
    pub(super) fn place_on_chip(&self, level: usize) -> Option<usize> {
        level.checked_sub(usize::from(self.has_off_chip))
    }

    /// The same with a level above the shared memory that splits nothing, if there is none.
    pub(super) fn add_off_chip(&mut self, nest: &Nest) {
        if !self.has_off_chip {
            self.has_off_chip = true;
            self.levels.insert(0, LevelChoice::whole(1, nest.extents()));
        }
    }

    /// The same without a level above the shared memory.
    pub(super) fn remove_off_chip(&mut self) {
        if std::mem::take(&mut self.has_off_chip) {
            self.levels.remove(0);
        }
    }

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

    /// Loops and units for the cost model. `None` if the mapping is not legal on `machine`.
    pub(super) fn mapping(&self, nest: &Nest, machine: &Machine) -> Option<Mapping> {
        let loops = |(index, level): (usize, &LevelChoice)| {
            let mut list = LoopList::EMPTY;
            level.loops(self.entering(nest, index)).for_each(|it| list.push(it));
            (level.units, list)
        };
        let lists: Vec<_> = self.levels.iter().enumerate().map(loops).collect();
        let (off_chip, on_chip) = lists.split_at(usize::from(self.has_off_chip));
        let off_chip = off_chip.first().map(|(_, list)| list.as_slice());
        let off_chip = off_chip.filter(|loops| !loops.is_empty());
        let on_chip: Vec<_> =
            on_chip.iter().map(|(units, list)| (*units, list.as_slice())).collect();
        Mapping::of_loops(off_chip, &on_chip, nest, machine).ok()
    }

    /// The candidate that makes the loops of `mapping`.
    pub(super) fn from_mapping(mapping: &Mapping, nest: &Nest) -> Self {
        let mut entering = *nest.extents();
        let choice = |level: &Level| {
            let sizes = level.unit_extents(&entering);
            entering = sizes;
            let looped = level.loops().iter().map(|it| it.axis);
            let split = |axis: &Axis| level.loops().iter().any(|it| it.axis == *axis);
            let rest = Axis::ALL.into_iter().filter(|axis| !split(axis));
            let mut order = Axis::ALL;
            order.iter_mut().zip(looped.chain(rest)).for_each(|(to, axis)| *to = axis);
            let spatial = level.spatial().map(|it| it.axis);
            LevelChoice { units: level.units(), spatial, sizes, order }
        };
        let has_off_chip = mapping.off_chip().is_some();
        Self { has_off_chip, levels: mapping.all_levels().iter().map(choice).collect() }
    }
}

/// Loops of one level.
struct LoopList {
    loops: [Loop; N_AXES],
    count: usize,
}

impl LoopList {
    const EMPTY: Self = Self { loops: [Loop::new(Axis::N, 1, false); N_AXES], count: 0 };

    fn push(&mut self, map: Loop) {
        self.loops[self.count] = map;
        self.count += 1;
    }

    fn as_slice(&self) -> &[Loop] {
        &self.loops[..self.count]
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
            Loop::new(axis, size, self.spatial == Some(axis))
        })
    }
}
