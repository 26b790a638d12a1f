//! Elaboration: from directives to the loops of a mapping (docs/explanation/cost-model-loop-nest.md, section 3).

use crate::dataflow::{self, ClusterLevel, Directive, Directives, LevelId, Size};

use super::mapping::{Level, Loop, Mapping};
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

impl Mapping {
    /// Elaborates `directives` for `nest` on the PEs of `machine` (sections 3.2 to 3.9). An empty list
    /// of levels is one level without directives.
    ///
    /// # Errors
    ///
    /// [`Illegal`] for the outermost level that is not legal, for too few PEs, too many levels, or more
    /// executed MACs than 64 bits hold.
    pub fn new(directives: &Directives, nest: &Nest, machine: &Machine) -> Result<Self, Illegal> {
        elaborate(directives, nest, machine)
    }
}

/// Elaborates `directives` for `nest` on the PEs of `machine`.
///
/// # Errors
///
/// As [`Mapping::new`].
fn elaborate(directives: &Directives, nest: &Nest, machine: &Machine) -> Result<Mapping, Illegal> {
    let Directives { off_chip, levels } = directives;
    let first = usize::from(!off_chip.is_empty());
    let mut mapping = Mapping::empty(first == 1, levels.len().max(1))?;
    let written = Written { directives, channels_are_groups: false };
    let channels_are_groups = nest.is_depthwise() && !written.maps(dataflow::Axis::G);
    let written = Written { channels_are_groups, ..written };
    let mut extents = *nest.extents();
    for index in 0..mapping.all_levels().len() {
        let id = mapping.id(index);
        let mut elaboration = Elaboration { level: id, nest, extents: &extents, maps: Maps::EMPTY };
        if id == LevelId::OnChip(0) {
            elaboration.add_missing(&written);
        }
        let lines = match id {
            LevelId::OffChip => off_chip,
            LevelId::OnChip(level) => levels.get(level).map_or(&[][..], |level| &level.directives),
        };
        for directive in lines {
            elaboration.add(directive, channels_are_groups)?;
        }
        let level = mapping.level_mut(index);
        elaboration.finish(level, machine.allow_overlap)?;
        extents = level.unit_extents(&extents);
    }
    set_units(&mut mapping, first, levels, nest, machine)?;
    mapping.count_macs(nest)?;
    Ok(mapping)
}

/// Sets the units of every level on chip, the first of which is at position `first` (section 3.2).
fn set_units(
    mapping: &mut Mapping,
    first: usize,
    levels: &[ClusterLevel],
    nest: &Nest,
    machine: &Machine,
) -> Result<(), Illegal> {
    let mut cluster_pes = 1u64;
    for (index, level) in levels.iter().enumerate() {
        let Some(size) = level.units else { continue };
        let value = value(size, |axis| layer_extent(nest, axis));
        let units = value.ok_or(Illegal::Size { level: LevelId::OnChip(index) })?;
        mapping.level_mut(first + index).set_units(units);
        cluster_pes = cluster_pes.saturating_mul(u64::from(units));
    }
    let units = u64::from(machine.pes) / cluster_pes;
    let limit = machine.units_limit.map_or(u64::MAX, u64::from);
    let units = u32::try_from(units.min(limit)).unwrap_or(u32::MAX);
    if units == 0 {
        return Err(Illegal::TooFewPes { pes: machine.pes, cluster_pes });
    }
    mapping.level_mut(first).set_units(units);
    Ok(())
}

/// Directives of all levels, and whether C stands for G in them (section 3.4).
#[derive(Clone, Copy)]
struct Written<'a> {
    directives: &'a Directives,
    channels_are_groups: bool,
}

impl Written<'_> {
    /// Whether any directive maps `axis`.
    fn maps(&self, axis: dataflow::Axis) -> bool {
        let Directives { off_chip, levels } = self.directives;
        let on_chip = levels.iter().flat_map(|level| &level.directives);
        off_chip.iter().chain(on_chip).any(|directive| directive.axis == axis)
    }
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
    level: LevelId,
    nest: &'a Nest,
    extents: &'a Extents,
    maps: Maps,
}

impl Elaboration<'_> {
    fn extent(&self, axis: Axis) -> u32 {
        self.extents[axis as usize]
    }

    /// Adds maps of single images and groups where no level maps these axes (section 3.4).
    fn add_missing(&mut self, written: &Written) {
        let images = written.maps(dataflow::Axis::N);
        let channels = written.channels_are_groups && written.maps(dataflow::Axis::C);
        let groups = channels || written.maps(dataflow::Axis::G);
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
        let level = self.level;
        if self.maps.iter().any(|(map, _)| map.axis == axis) {
            return Err(Illegal::AxisTwice { level, axis });
        }
        let value = |size| value(size, |axis| self.extent_in(axis, window.is_some()));
        let (Some(size), Some(offset)) = (value(directive.size), value(directive.offset)) else {
            return Err(Illegal::Size { level });
        };
        let spatial = directive.mapping == dataflow::Mapping::Spatial;
        if spatial && level == LevelId::OffChip {
            return Err(Illegal::SpatialOffChip { axis });
        }
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
            level.add(map, self.level, self.extent(map.axis), allow_overlap)?;
        }
        level.check_spatial(self.level, self.extents)
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
        Err(Illegal::Diagonal { level: self.level, axis: output, rows })
    }

    /// Translates a map of input rows to output rows (3.1).
    fn translate(&self, map: &Loop, window: usize) -> Result<Loop, Illegal> {
        let kernel_reach = self.kernel_reach(window);
        let rows = self.extent(map.axis);
        let Steps { stride, .. } = self.steps(window);
        let size = u64::from(map.size);
        let all = u64::from(rows - 1) * u64::from(stride) + kernel_reach;
        let stored = u64::from(self.nest.windows()[window].stored);
        let size = if size >= all || (self.is_outermost() && size >= stored) {
            rows
        } else if size < kernel_reach {
            let level = self.level;
            return Err(Illegal::Window { level, axis: map.axis, size, kernel: kernel_reach });
        } else {
            ((size - kernel_reach) / u64::from(stride)) as u32 + 1
        };
        Ok(Loop { size, offset: map.offset.div_ceil(stride), ..*map })
    }

    /// Whether the shared memory or the units of level 0 hold what the level selects: there, a map of all
    /// stored positions is one of all positions.
    fn is_outermost(&self) -> bool {
        matches!(self.level, LevelId::OffChip | LevelId::OnChip(0))
    }
}

#[cfg(test)]
mod tests {
    use super::super::nest::Window;
    use super::*;

    /// A level with one temporal map.
    fn level(size: u32, offset: u32, axis: dataflow::Axis) -> Directives {
        let directives = vec![Directive::temporal(size, offset, axis)];
        vec![ClusterLevel { units: None, directives }].into()
    }

    #[test]
    fn input_rows_become_the_output_rows_that_they_hold() {
        // 14 rows under a kernel of 7 and stride 2 hold floor(7/2) + 1 = 4 outputs; the next 4
        // start 8 rows on.
        let window = Window { stride: 2, dilation: 1, stored: 25, padding: 0 };
        let extents = [1, 1, 1, 1, 10, 1, 7, 1];
        let nest = Nest::new(extents, [window, Window::new(1, 1, 1)], false).expect("a layer");
        let directives = level(14, 8, dataflow::Axis::Y);
        let expected = Loop::new(Axis::OutputY, 4, false);
        let mapping = Mapping::new(&directives, &nest, &Machine::new(1)).expect("it is legal");
        assert_eq!(mapping.levels()[0].loops(), [expected]);
        assert_eq!(mapping.macs(), 70);
        let off_chip = directives.levels[0].directives.clone();
        let directives = Directives { off_chip, levels: Vec::new() };
        let mapping = Mapping::new(&directives, &nest, &Machine::new(1)).expect("it is legal");
        assert_eq!(mapping.off_chip().map(Level::loops), Some(&[expected][..]));
        assert!(mapping.levels()[0].loops().is_empty());
    }

    #[test]
    fn axes_that_only_the_off_chip_level_maps_are_not_divided_on_chip() {
        let windows = [Window::new(1, 1, 1); 2];
        let nest = Nest::new([6, 1, 1, 1, 1, 1, 1, 1], windows, false).expect("a layer");
        let shown = |off_chip: Vec<Directive>| {
            let directives = Directives { off_chip, levels: Vec::new() };
            let mapping = Mapping::new(&directives, &nest, &Machine::new(1)).expect("it is legal");
            mapping.all_levels().iter().map(Level::to_string).collect::<Vec<_>>()
        };
        let images = Directive::temporal(2, 2, dataflow::Axis::N);
        assert_eq!(shown(vec![images]), ["U=1 T(2,2)N", "U=1"]);
        let other = Directive::temporal(1, 1, dataflow::Axis::K);
        assert_eq!(shown(vec![other]), ["U=1", "U=1 T(1,1)N"]);
    }

    #[test]
    fn what_is_computed_twice_or_not_at_all_is_said() {
        let nest = Nest::new([1, 1, 1, 5, 1, 1, 1, 1], [Window::new(1, 1, 1); 2], false);
        let nest = nest.expect("a layer");
        let check = |size, offset| {
            let level = level(size, offset, dataflow::Axis::C);
            Mapping::new(&level, &nest, &Machine::new(1)).map_err(|error| error.to_string())
        };
        let under = check(2, 4).expect_err("positions 2 and 3 are left out");
        assert!(under.contains("covers 3 of 5 (under-cover)"), "{under}");
        let over = check(2, 1).expect_err("0..2, 1..3, 2..4, 3..5");
        assert!(over.contains("executes 8 for 5 (over-cover)"), "{over}");
        assert!(check(2, 2).is_ok());
    }
}
