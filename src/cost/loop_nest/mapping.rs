//! Mappings: elaboration of directives for a layer, and legality (docs/cost-model-loop-nest.md,
//! section 3).

use std::fmt;

use crate::dataflow::{self, ClusterLevel, Dataflow, Directive, Size};

use super::nest::{Axis, Extents, N_AXES, Nest, Steps};
use super::{Illegal, Machine};

/// Axis of the nest that a directive maps, and the direction if the directive names input rows (0) or
/// input columns (1).
fn nest_axis(axis: dataflow::Axis) -> (Axis, Option<usize>) {
    match axis {
        dataflow::Axis::N => (Axis::N, None),
        dataflow::Axis::G => (Axis::G, None),
        dataflow::Axis::K => (Axis::K, None),
        dataflow::Axis::C => (Axis::C, None),
        dataflow::Axis::R => (Axis::R, None),
        dataflow::Axis::S => (Axis::S, None),
        dataflow::Axis::OutputY => (Axis::OutputY, None),
        dataflow::Axis::OutputX => (Axis::OutputX, None),
        dataflow::Axis::Y => (Axis::OutputY, Some(0)),
        dataflow::Axis::X => (Axis::OutputX, Some(1)),
    }
}

/// A loop over the chunks of an axis (section 3.7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    const UNUSED: Self = Self { axis: Axis::N, size: 1, offset: 1, spatial: false };

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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Level {
    loops: [Loop; N_AXES],
    n_loops: usize,
    units: u32,
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

    fn push(&mut self, map: Loop) {
        self.loops[self.n_loops] = map;
        self.n_loops += 1;
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "U={}", self.units)?;
        self.loops().iter().try_for_each(|map| write!(f, " {map}"))
    }
}

/// A legal mapping of one layer on one machine: loops and units of every level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mapping {
    levels: [Level; Self::MAX_LEVELS],
    n_levels: usize,
    macs: u64,
}

impl Mapping {
    /// Upper limit of the number of levels.
    pub(crate) const MAX_LEVELS: usize = Dataflow::MAX_LEVELS;

    /// Levels, outermost first. There is at least one.
    pub fn levels(&self) -> &[Level] {
        &self.levels[..self.n_levels]
    }

    /// Executed MACs: those of the layer, more if the mapping repeats outputs.
    pub fn macs(&self) -> u64 {
        self.macs
    }

    /// A mapping without levels yet, which executes every MAC of a layer once.
    pub(crate) fn whole(nest: &Nest) -> Self {
        Self { levels: [Level::UNUSED; Self::MAX_LEVELS], n_levels: 0, macs: nest.macs() }
    }

    /// Adds a level inside all others. The loops have more than one chunk, sizes equal to their offsets,
    /// different axes, and at most one is spatial. Levels beyond [`Mapping::MAX_LEVELS`] are left out.
    pub(crate) fn push_level(&mut self, units: u32, loops: impl Iterator<Item = Loop>) {
        let Some(level) = self.levels.get_mut(self.n_levels) else { return };
        level.units = units;
        loops.for_each(|map| level.push(map));
        self.n_levels += 1;
    }

    /// Elaborates `levels` for `nest` on the PEs of `machine` (sections 3.2 to 3.8). An empty list is
    /// one level without directives.
    ///
    /// # Errors
    ///
    /// [`Illegal`] for the outermost level that is not legal, for too few PEs, too many levels, or more
    /// executed MACs than 64 bits hold.
    pub fn new(levels: &[ClusterLevel], nest: &Nest, machine: &Machine) -> Result<Self, Illegal> {
        let n_levels = levels.len().max(1);
        if n_levels > Self::MAX_LEVELS {
            return Err(Illegal::TooManyLevels { found: n_levels });
        }
        let channels_are_groups = nest.is_depthwise() && !maps(levels, dataflow::Axis::G);
        let mut mapping = Self { levels: [Level::UNUSED; Self::MAX_LEVELS], n_levels, macs: 0 };
        let mut extents = *nest.extents();
        for index in 0..n_levels {
            let mut elaboration = Elaboration { index, nest, extents: &extents, maps: Maps::EMPTY };
            if index == 0 {
                elaboration.add_missing(levels, channels_are_groups);
            }
            for directive in levels.get(index).iter().flat_map(|level| &level.directives) {
                elaboration.add(directive, channels_are_groups)?;
            }
            let level = &mut mapping.levels[index];
            elaboration.finish(level, machine.allow_overlap)?;
            extents = level.unit_extents(&extents);
        }
        mapping.set_units(levels, nest, machine)?;
        mapping.macs = mapping.executed(nest).ok_or(Illegal::Overflow)?;
        Ok(mapping)
    }

    /// Sets the units of every level (section 3.2).
    fn set_units(
        &mut self,
        levels: &[ClusterLevel],
        nest: &Nest,
        machine: &Machine,
    ) -> Result<(), Illegal> {
        let mut cluster_pes = 1u64;
        for (index, level) in levels.iter().enumerate() {
            let Some(size) = level.units else { continue };
            let value = value(size, |axis| layer_extent(nest, axis));
            let units = value.ok_or(Illegal::Size { level: index })?;
            self.levels[index].units = units;
            cluster_pes = cluster_pes.saturating_mul(u64::from(units));
        }
        let units = u64::from(machine.pes) / cluster_pes;
        let limit = machine.units_limit.map_or(u64::MAX, u64::from);
        self.levels[0].units = u32::try_from(units.min(limit)).unwrap_or(u32::MAX);
        if self.levels[0].units == 0 {
            return Err(Illegal::TooFewPes { pes: machine.pes, cluster_pes });
        }
        Ok(())
    }

    /// Number of executed MACs; `None` if 64 bits do not hold it.
    fn executed(&self, nest: &Nest) -> Option<u64> {
        let mut loops = self.levels().iter().flat_map(Level::loops);
        if loops.all(|map| map.size == map.offset) {
            return Some(nest.macs());
        }
        let along = |&axis: &Axis| executed_along(self.levels(), axis, nest.extent(axis));
        Axis::ALL.iter().try_fold(1u64, |product, axis| product.checked_mul(along(axis)?))
    }
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

/// Whether any directive maps `axis`.
fn maps(levels: &[ClusterLevel], axis: dataflow::Axis) -> bool {
    levels.iter().flat_map(|level| &level.directives).any(|directive| directive.axis == axis)
}

/// Value of `size`, where `extent` gives the extent of an axis. `None` if it is less than 1 or exceeds
/// `u32`.
fn value(size: Size, extent: impl FnOnce(dataflow::Axis) -> u64) -> Option<u32> {
    let value = match size {
        Size::Fixed(value) => i64::from(value),
        Size::Extent { axis, plus } => i64::try_from(extent(axis)).ok()? + i64::from(plus),
    };
    u32::try_from(value).ok().filter(|&value| value >= 1)
}

/// Extent of the layer along an axis; for input rows and columns the number in memory.
fn layer_extent(nest: &Nest, axis: dataflow::Axis) -> u64 {
    match nest_axis(axis) {
        (axis, None) => u64::from(nest.extent(axis)),
        (_, Some(window)) => u64::from(nest.windows()[window].stored),
    }
}

/// Maps of one level with the direction of those on input rows or columns, which are not translated
/// yet.
#[derive(Clone, Copy)]
struct Maps {
    maps: [(Loop, Option<usize>); N_AXES],
    count: usize,
}

impl Maps {
    const EMPTY: Self = Self { maps: [(Loop::UNUSED, None); N_AXES], count: 0 };

    fn iter(&self) -> impl Iterator<Item = &(Loop, Option<usize>)> {
        self.maps[..self.count].iter()
    }

    fn push(&mut self, map: Loop, window: Option<usize>) {
        self.maps[self.count] = (map, window);
        self.count += 1;
    }
}

/// A level under elaboration: the extents that enter it, and its maps so far.
struct Elaboration<'a> {
    index: usize,
    nest: &'a Nest,
    extents: &'a Extents,
    maps: Maps,
}

impl Elaboration<'_> {
    fn extent(&self, axis: Axis) -> u32 {
        self.extents[axis as usize]
    }

    /// Adds maps of single images and groups where no level maps these axes (section 3.4).
    fn add_missing(&mut self, levels: &[ClusterLevel], channels_are_groups: bool) {
        let images = maps(levels, dataflow::Axis::N);
        let channels = channels_are_groups && maps(levels, dataflow::Axis::C);
        let groups = channels || maps(levels, dataflow::Axis::G);
        for (axis, mapped) in [(Axis::N, images), (Axis::G, groups)] {
            if !mapped {
                self.maps.push(Loop { axis, ..Loop::UNUSED }, None);
            }
        }
    }

    /// Adds a map with evaluated sizes (section 3.1), C read as G if `channels_are_groups`
    /// (section 3.4).
    fn add(&mut self, directive: &Directive, channels_are_groups: bool) -> Result<(), Illegal> {
        let (axis, window) = match nest_axis(directive.axis) {
            (Axis::C, _) if channels_are_groups => (Axis::G, None),
            target => target,
        };
        let level = self.index;
        if self.maps.iter().any(|(map, _)| map.axis == axis) {
            return Err(Illegal::AxisTwice { level, axis });
        }
        let value = |size| value(size, |axis| self.extent_in(axis, window.is_some()));
        let (Some(size), Some(offset)) = (value(directive.size), value(directive.offset)) else {
            return Err(Illegal::Size { level });
        };
        let spatial = directive.mapping == dataflow::Mapping::Spatial;
        self.maps.push(Loop { axis, size, offset, spatial }, window);
        Ok(())
    }

    /// Value of `Sz(axis)`. In a directive `on_input`, R and S stand for the input positions under the
    /// kernel that enters the level.
    fn extent_in(&self, axis: dataflow::Axis, on_input: bool) -> u64 {
        match axis {
            dataflow::Axis::R if on_input => self.kernel_reach(0),
            dataflow::Axis::S if on_input => self.kernel_reach(1),
            axis => layer_extent(self.nest, axis),
        }
    }

    /// Number of input rows (or columns) under the kernel that enters the level: w of section 3.5.
    fn kernel_reach(&self, window: usize) -> u64 {
        let kernel = self.extent(Axis::WINDOWS[window][1]);
        self.steps(window).reach(1, kernel)
    }

    /// Stride and dilation as written.
    fn steps(&self, window: usize) -> Steps {
        let window = &self.nest.windows()[window];
        Steps { stride: window.stride, dilation: window.dilation }
    }

    /// Drops maps of input rows that a diagonal makes redundant, translates the others into loops of
    /// `level`, and checks that the remaining loops execute every MAC once (sections 3.5 to 3.8).
    fn finish(&self, level: &mut Level, allow_overlap: bool) -> Result<(), Illegal> {
        for &(map, window) in self.maps.iter() {
            let map = match window {
                None => map,
                Some(window) if self.is_diagonal(&map, window)? => continue,
                Some(window) => self.translate(&map, window)?,
            };
            if map.size < self.extent(map.axis) {
                self.check(&map, allow_overlap)?;
                level.push(map);
            }
        }
        let spatial = level.loops().iter().filter(|map| map.spatial);
        if spatial.clone().count() > 1 {
            let chunks = spatial.map(|map| u64::from(map.chunks(self.extent(map.axis))));
            let combinations = chunks.fold(1u64, u64::saturating_mul);
            return Err(Illegal::SpatialLoops { level: self.index, combinations });
        }
        Ok(())
    }

    /// Whether a map of input rows and one of kernel rows form a diagonal (3.2).
    fn is_diagonal(&self, input: &Loop, window: usize) -> Result<bool, Illegal> {
        let [output, kernel] = Axis::WINDOWS[window];
        let kernel_map = self.maps.iter().find(|(map, _)| map.axis == kernel && map.spatial);
        let Some((kernel_map, _)) = kernel_map.filter(|_| input.spatial) else {
            return Ok(false);
        };
        let rows = self.extent(output);
        let steps = self.steps(window);
        let taps = rows == 1 && (input.size, input.offset) == (kernel_map.size, kernel_map.offset);
        let elements = u64::from(input.size) == steps.reach(rows, kernel_map.size)
            && u64::from(input.offset) == u64::from(kernel_map.offset) * u64::from(steps.dilation);
        let whole = rows == 1 && kernel_map.chunks(self.extent(kernel)) == 1;
        if taps || elements || whole {
            return Ok(true);
        }
        Err(Illegal::Diagonal { level: self.index, axis: output, rows })
    }

    /// Translates a map of input rows to output rows (3.1).
    fn translate(&self, map: &Loop, window: usize) -> Result<Loop, Illegal> {
        let kernel_reach = self.kernel_reach(window);
        let rows = self.extent(map.axis);
        let Steps { stride, .. } = self.steps(window);
        let size = u64::from(map.size);
        let all = u64::from(rows - 1) * u64::from(stride) + kernel_reach;
        let stored = u64::from(self.nest.windows()[window].stored);
        let size = if size >= all || (self.index == 0 && size >= stored) {
            rows
        } else if size < kernel_reach {
            let level = self.index;
            return Err(Illegal::Window { level, axis: map.axis, size, kernel: kernel_reach });
        } else {
            ((size - kernel_reach) / u64::from(stride)) as u32 + 1
        };
        Ok(Loop { size, offset: map.offset.div_ceil(stride), ..*map })
    }

    /// Checks that a loop covers its axis exactly once (section 3.8).
    fn check(&self, map: &Loop, allow_overlap: bool) -> Result<(), Illegal> {
        let (level, &Loop { axis, size, offset, .. }) = (self.index, map);
        let extent = self.extent(axis);
        let between = u64::from(map.chunks(extent) - 1);
        let start = between * u64::from(offset);
        let last = u64::from(size).min(u64::from(extent) - start);
        let covered = between * u64::from(size) + last;
        let allowed = allow_overlap && !axis.is_reduction();
        if size < offset {
            Err(Illegal::UnderCover { level, axis, size, offset, covered, extent })
        } else if size > offset && !allowed {
            Err(Illegal::OverCover { level, axis, size, offset, executed: covered, extent })
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::nest::Window;
    use super::*;

    /// A level with one temporal map.
    fn level(size: u32, offset: u32, axis: dataflow::Axis) -> ClusterLevel {
        let [size, offset] = [size, offset].map(Size::Fixed);
        let mapping = dataflow::Mapping::Temporal;
        ClusterLevel { units: None, directives: vec![Directive { mapping, size, offset, axis }] }
    }

    #[test]
    fn chunks_are_counted_by_equation_3_3() {
        // One chunk holds all; disjoint chunks, the last one cut; overlapping ones: 0..3, 1..4,
        // 2..5; chunks with gaps: 0..1, 2..3, 4..5.
        assert_eq!(chunks(5, 5, 1), 1);
        assert_eq!(chunks(5, 2, 2), 3);
        assert_eq!(chunks(5, 3, 1), 3);
        assert_eq!(chunks(5, 1, 2), 3);
    }

    #[test]
    fn input_rows_become_the_output_rows_that_they_hold() {
        // 14 rows under a kernel of 7 and stride 2 hold floor(7/2) + 1 = 4 outputs; the next 4
        // start 8 rows on.
        let window = Window { stride: 2, dilation: 1, stored: 25, padding: 0 };
        let extents = [1, 1, 1, 1, 10, 1, 7, 1];
        let nest = Nest::new(extents, [window, Window::new(1, 1, 1)], false).expect("a layer");
        let level = level(14, 8, dataflow::Axis::Y);
        let mapping = Mapping::new(&[level], &nest, &Machine::new(1)).expect("it is legal");
        let expected = Loop { axis: Axis::OutputY, size: 4, offset: 4, spatial: false };
        assert_eq!(mapping.levels()[0].loops(), [expected]);
        assert_eq!(mapping.macs(), 70);
    }

    #[test]
    fn what_is_computed_twice_or_not_at_all_is_said() {
        let nest = Nest::new([1, 1, 1, 5, 1, 1, 1, 1], [Window::new(1, 1, 1); 2], false);
        let nest = nest.expect("a layer");
        let check = |size, offset| {
            let level = level(size, offset, dataflow::Axis::C);
            Mapping::new(&[level], &nest, &Machine::new(1)).map_err(|error| error.to_string())
        };
        let under = check(2, 4).expect_err("positions 2 and 3 are left out");
        assert!(under.contains("covers 3 of 5 (under-cover)"), "{under}");
        let over = check(2, 1).expect_err("0..2, 1..3, 2..4, 3..5");
        assert!(over.contains("executes 8 for 5 (over-cover)"), "{over}");
        assert!(check(2, 2).is_ok());
    }
}
