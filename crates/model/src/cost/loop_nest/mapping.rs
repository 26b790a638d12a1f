//! Mappings: loops and units of every level, and their legality (docs/explanation/cost-model-loop-nest.md,
//! section 3).

use std::fmt;
use std::hash::{Hash, Hasher};

use crate::dataflow::{Dataflow, LevelId};

use super::nest::{Axis, Extents, N_AXES, Nest};
use super::{Illegal, Machine};

/// A loop over the chunks of an axis (section 3.7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Loop {
    /// Axis.
    pub axis: Axis,
    /// Extent of a chunk; the last chunk may be shorter.
    pub size: u32,
    /// Distance of the starts of neighbouring chunks, at most `size`.
    pub offset: u32,
    /// Whether chunks are distributed over units; otherwise they follow one another in time.
    pub spatial: bool,
}

impl Loop {
    pub(super) const UNUSED: Self = Self { axis: Axis::N, size: 1, offset: 1, spatial: false };

    /// A loop over disjoint chunks of extent `size`.
    pub const fn new(axis: Axis, size: u32, spatial: bool) -> Self {
        Self { axis, size, offset: size, spatial }
    }

    /// Number of chunks of an axis of this extent (3.3).
    pub fn chunks(&self, extent: u32) -> u32 {
        chunks(extent, self.size, self.offset)
    }
}

impl fmt::Display for Loop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.spatial { 'S' } else { 'T' };
        write!(f, "{kind}({},{}){}", self.size, self.offset, self.axis.letter())
    }
}

/// Number of chunks of extent `size` whose starts are `offset` apart, in `extent` positions (3.3).
fn chunks(extent: u32, size: u32, offset: u32) -> u32 {
    if size >= extent {
        1
    } else if size >= offset {
        (extent - size).div_ceil(offset) + 1
    } else {
        extent.div_ceil(offset)
    }
}

/// One level of a mapping: the loops of a cluster over its box, and its units.
#[derive(Debug, Clone, Copy)]
pub struct Level {
    loops: [Loop; N_AXES],
    n_loops: usize,
    units: u32,
}

impl PartialEq for Level {
    fn eq(&self, other: &Self) -> bool {
        self.units == other.units && self.loops() == other.loops()
    }
}

impl Eq for Level {}

impl Hash for Level {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.units, self.loops()).hash(state);
    }
}

impl Level {
    const UNUSED: Self = Self { loops: [Loop::UNUSED; N_AXES], n_loops: 0, units: 1 };

    /// Loops with more than one chunk in the largest box, outermost first. At most one is spatial.
    pub fn loops(&self) -> &[Loop] {
        &self.loops[..self.n_loops]
    }

    /// Number of units of the cluster.
    pub fn units(&self) -> u32 {
        self.units
    }

    pub(super) fn set_units(&mut self, units: u32) {
        self.units = units;
    }

    /// The spatial loop, if there is one.
    pub fn spatial(&self) -> Option<&Loop> {
        self.loops().iter().find(|map| map.spatial)
    }

    /// Extents of the largest unit box in a cluster box of `extents` (section 3.3).
    pub fn unit_extents(&self, extents: &Extents) -> Extents {
        let mut unit = *extents;
        for map in self.loops() {
            unit[map.axis as usize] = map.size.min(unit[map.axis as usize]);
        }
        unit
    }

    /// Adds a loop over an axis of this extent inside the loops so far, unless it has one chunk. Checks that
    /// its chunks cover the axis exactly once (section 3.8).
    pub(super) fn add(
        &mut self,
        map: Loop,
        level: LevelId,
        extent: u32,
        allow_overlap: bool,
    ) -> Result<(), Illegal> {
        if map.size >= extent {
            return Ok(());
        }
        check_cover(&map, level, extent, allow_overlap)?;
        self.push(map);
        Ok(())
    }

    fn push(&mut self, map: Loop) {
        self.loops[self.n_loops] = map;
        self.n_loops += 1;
    }

    /// Checks that at most one loop is spatial, where `extents` enter the level.
    pub(super) fn check_spatial(&self, level: LevelId, extents: &Extents) -> Result<(), Illegal> {
        let spatial = self.loops().iter().filter(|map| map.spatial);
        if spatial.clone().count() > 1 {
            let chunks = spatial.map(|map| u64::from(map.chunks(extents[map.axis as usize])));
            let combinations = chunks.fold(1u64, u64::saturating_mul);
            return Err(Illegal::SpatialLoops { level, combinations });
        }
        Ok(())
    }
}

/// Checks that a loop covers an axis of this extent exactly once (section 3.8).
fn check_cover(
    map: &Loop,
    level: LevelId,
    extent: u32,
    allow_overlap: bool,
) -> Result<(), Illegal> {
    let &Loop { axis, size, offset, .. } = map;
    if size == offset {
        return Ok(());
    }
    let between = u64::from(map.chunks(extent) - 1);
    let start = between * u64::from(offset);
    let last = u64::from(size).min(u64::from(extent) - start);
    let covered = between * u64::from(size) + last;
    if size < offset {
        Err(Illegal::UnderCover { level, axis, size, offset, covered, extent })
    } else if allow_overlap && !axis.is_reduction() {
        Ok(())
    } else {
        Err(Illegal::OverCover { level, axis, size, offset, executed: covered, extent })
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "U={}", self.units)?;
        self.loops().iter().try_for_each(|map| write!(f, " {map}"))
    }
}

/// A legal mapping of one layer on one machine: loops and units of every level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Mapping {
    /// All levels, that above the shared memory first if there is one.
    levels: [Level; Self::MAX_LEVELS],
    n_levels: usize,
    n_off_chip: usize,
    macs: u64,
}

impl Mapping {
    /// Upper limit of the number of levels, the off-chip level included.
    pub const MAX_LEVELS: usize = Dataflow::MAX_LEVELS;

    /// The mapping with these loops, without directives. `off_chip` are the loops above the shared memory,
    /// outermost first; `None` stands for no such level. `levels` are the units and loops of every level on
    /// chip, outermost first. Loops of one chunk are dropped. No axis is mapped unless a loop maps it: an
    /// axis without loops is held whole (unlike section 3.4).
    ///
    /// # Errors
    ///
    /// [`Illegal`] for the outermost level that is not legal: a size or number of units of 0, an axis that
    /// is mapped twice, chunks that do not cover an axis exactly once, two spatial loops, or one
    /// above the shared memory. The same for no level on chip or too many levels, for more units than the
    /// machine has PEs, or more on level 0 than it allows, and for more executed MACs than 64 bits hold.
    pub fn of_loops(
        off_chip: Option<&[Loop]>,
        levels: &[(u32, &[Loop])],
        nest: &Nest,
        machine: &Machine,
    ) -> Result<Self, Illegal> {
        let mut mapping = Self::empty(off_chip.is_some(), levels.len())?;
        let mut extents = *nest.extents();
        let mut pes = 1u64;
        let off_chip = off_chip.map(|loops| (1, loops));
        for (index, &(units, loops)) in off_chip.iter().chain(levels).enumerate() {
            let id = mapping.id(index);
            if units == 0 {
                return Err(Illegal::Size { level: id });
            }
            pes = pes.saturating_mul(u64::from(units));
            let level = &mut mapping.levels[index];
            level.units = units;
            for (at, map) in loops.iter().enumerate() {
                check_loop(map, &loops[..at], id)?;
                let extent = extents[map.axis as usize];
                level.add(*map, id, extent, machine.allow_overlap)?;
            }
            level.check_spatial(id, &extents)?;
            extents = level.unit_extents(&extents);
        }
        if pes > u64::from(machine.pes) {
            return Err(Illegal::TooFewPes { pes: machine.pes, cluster_pes: pes });
        }
        let units = mapping.levels()[0].units();
        if let Some(limit) = machine.units_limit.filter(|&limit| units > limit) {
            return Err(Illegal::TooManyUnits { units, limit });
        }
        mapping.count_macs(nest)?;
        Ok(mapping)
    }

    /// A mapping of so many levels on chip, none of which has loops.
    ///
    /// # Errors
    ///
    /// [`Illegal::TooManyLevels`], or [`Illegal::NoLevel`] for no level on chip.
    pub(super) fn empty(has_off_chip: bool, on_chip: usize) -> Result<Self, Illegal> {
        let n_off_chip = usize::from(has_off_chip);
        let n_levels = on_chip + n_off_chip;
        if n_levels > Self::MAX_LEVELS {
            return Err(Illegal::TooManyLevels { found: n_levels });
        }
        if on_chip == 0 {
            return Err(Illegal::NoLevel);
        }
        let levels = [Level::UNUSED; Self::MAX_LEVELS];
        Ok(Self { levels, n_levels, n_off_chip, macs: 0 })
    }

    /// Sets the number of its MACs.
    ///
    /// # Errors
    ///
    /// [`Illegal::Overflow`] if 64 bits do not hold it.
    pub(super) fn count_macs(&mut self, nest: &Nest) -> Result<(), Illegal> {
        self.macs = self.executed(nest).ok_or(Illegal::Overflow)?;
        Ok(())
    }

    /// Levels on chip, outermost first. There is at least one.
    pub fn levels(&self) -> &[Level] {
        &self.levels[self.n_off_chip..self.n_levels]
    }

    /// The level above the shared memory, whose one unit is the shared memory (section 3.9).
    pub fn off_chip(&self) -> Option<&Level> {
        self.levels[..self.n_off_chip].first()
    }

    /// All levels, the off-chip level first if there is one.
    pub fn all_levels(&self) -> &[Level] {
        &self.levels[..self.n_levels]
    }

    /// The level at a position of [`Mapping::all_levels`], for messages.
    pub(super) fn id(&self, index: usize) -> LevelId {
        index.checked_sub(self.n_off_chip).map_or(LevelId::OffChip, LevelId::OnChip)
    }

    /// A level at a position of [`Mapping::all_levels`].
    pub(super) fn level_mut(&mut self, index: usize) -> &mut Level {
        &mut self.levels[index]
    }

    /// Executed MACs: those of the layer, more if the mapping repeats outputs.
    pub fn macs(&self) -> u64 {
        self.macs
    }

    /// Number of executed MACs; `None` if 64 bits do not hold it.
    fn executed(&self, nest: &Nest) -> Option<u64> {
        let levels = self.all_levels();
        if levels.iter().flat_map(Level::loops).all(|map| map.size == map.offset) {
            return Some(nest.macs());
        }
        let along = |&axis: &Axis| executed_along(levels, axis, nest.extent(axis));
        Axis::ALL.iter().try_fold(1u64, |product, axis| product.checked_mul(along(axis)?))
    }
}

/// Checks a loop of a level by itself and against the loops `before` it.
fn check_loop(map: &Loop, before: &[Loop], level: LevelId) -> Result<(), Illegal> {
    if map.size == 0 || map.offset == 0 {
        return Err(Illegal::Size { level });
    }
    if before.iter().any(|other| other.axis == map.axis) {
        return Err(Illegal::AxisTwice { level, axis: map.axis });
    }
    if map.spatial && level == LevelId::OffChip {
        return Err(Illegal::SpatialOffChip { axis: map.axis });
    }
    Ok(())
}

/// Number of positions that `levels` execute along an axis of this extent, repetitions included; `None`
/// if 64 bits do not hold it. All chunks of a level but the last have the same extent.
fn executed_along(levels: &[Level], axis: Axis, extent: u32) -> Option<u64> {
    let Some((level, inner)) = levels.split_first() else {
        return Some(u64::from(extent));
    };
    let map = level.loops().iter().find(|map| map.axis == axis);
    let Some(map) = map.filter(|map| map.chunks(extent) > 1) else {
        return executed_along(inner, axis, extent);
    };
    let full = u64::from(map.chunks(extent) - 1);
    let last = extent - (map.chunks(extent) - 1) * map.offset;
    let all_full = full.checked_mul(executed_along(inner, axis, map.size)?)?;
    all_full.checked_add(executed_along(inner, axis, last)?)
}

#[cfg(test)]
mod tests {
    use super::super::nest::Window;
    use super::*;

    #[test]
    fn chunks_are_counted_by_equation_3_3() {
        // One chunk holds all; disjoint chunks, the last one cut; overlapping ones: 0..3, 1..4,
        // 2..5; chunks with gaps: 0..1, 2..3, 4..5.
        assert_eq!(chunks(5, 5, 1), 1);
        assert_eq!(chunks(5, 2, 2), 3);
        assert_eq!(chunks(5, 3, 1), 3);
        assert_eq!(chunks(5, 1, 2), 3);
    }

    /// A matrix product of 6 rows, 4 columns and a reduction of 5.
    fn nest() -> Nest {
        let windows = [Window::new(6, 1, 6), Window::new(1, 1, 1)];
        Nest::new([1, 1, 4, 5, 6, 1, 1, 1], windows, false).expect("a layer")
    }

    #[test]
    fn loops_without_directives_make_a_mapping() {
        let off_chip = [Loop::new(Axis::K, 2, false), Loop::new(Axis::C, 9, false)];
        let outer = [Loop::new(Axis::OutputY, 2, true), Loop::new(Axis::K, 1, false)];
        let inner = [Loop::new(Axis::C, 1, true)];
        let levels = [(3, &outer[..]), (4, &inner[..])];
        let machine = Machine::new(13);
        let mapping = Mapping::of_loops(Some(&off_chip), &levels, &nest(), &machine);
        let mapping = mapping.expect("it is legal");
        let shown: Vec<_> = mapping.all_levels().iter().map(Level::to_string).collect();
        assert_eq!(shown, ["U=1 T(2,2)K", "U=3 S(2,2)Y T(1,1)K", "U=4 S(1,1)C"]);
        assert_eq!(mapping.off_chip(), Some(&mapping.all_levels()[0]));
        assert_eq!((mapping.levels().len(), mapping.macs()), (2, 120));
        let without = Mapping::of_loops(None, &levels, &nest(), &machine).expect("it is legal");
        assert_eq!((without.off_chip(), without.levels().len()), (None, 2));
    }

    #[test]
    fn illegal_loops_are_refused() {
        let check = |off_chip: &[Loop], loops: &[Loop], units: u32, expected: Illegal| {
            let machine = Machine { units_limit: Some(4), ..Machine::new(8) };
            let found = Mapping::of_loops(Some(off_chip), &[(units, loops)], &nest(), &machine);
            assert_eq!(found, Err(expected));
        };
        let of = Loop::new;
        let (above, first) = (LevelId::OffChip, LevelId::OnChip(0));
        let spatial = Illegal::SpatialOffChip { axis: Axis::K };
        check(&[of(Axis::K, 2, true)], &[], 1, spatial);
        check(&[of(Axis::K, 0, false)], &[], 1, Illegal::Size { level: above });
        check(&[], &[], 0, Illegal::Size { level: first });
        let twice = [of(Axis::K, 2, false), of(Axis::K, 1, false)];
        check(&twice, &[], 1, Illegal::AxisTwice { level: above, axis: Axis::K });
        let gap = Loop { offset: 3, ..of(Axis::C, 2, false) };
        let (axis, size, offset, covered, extent) = (Axis::C, 2, 3, 4, 5);
        let under = Illegal::UnderCover { level: above, axis, size, offset, covered, extent };
        check(&[gap], &[], 1, under);
        let side_by_side = [of(Axis::K, 2, true), of(Axis::C, 1, true)];
        let spatial = Illegal::SpatialLoops { level: first, combinations: 10 };
        check(&[], &side_by_side, 1, spatial);
        check(&[], &[], 9, Illegal::TooFewPes { pes: 8, cluster_pes: 9 });
        check(&[], &[], 5, Illegal::TooManyUnits { units: 5, limit: 4 });
        let none = Mapping::of_loops(Some(&[]), &[], &nest(), &Machine::new(1));
        assert_eq!(none, Err(Illegal::NoLevel));
        let deep = [(1, &[][..]); 8];
        let found = Mapping::of_loops(Some(&[]), &deep, &nest(), &Machine::new(1));
        assert_eq!(found, Err(Illegal::TooManyLevels { found: 9 }));
    }
}
