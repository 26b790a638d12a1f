//! Elaboration of a dataflow (section 3): its directives become six maps per level. Output axes become
//! input axes, missing maps are added, and every level gets its units and its bandwidth.

use crate::dataflow::{Axis, ClusterLevel, Dataflow, Directive, Mapping};
use crate::hardware::Accelerator;
use crate::model::{ConvKind, ConvShape};

use super::super::Infeasible;
use super::positions::Positions;

/// Number of axes of the loop nest. [`Axis`] numbers them from 0 in the order C, K, R, S, X, Y, which is
/// also the order in which missing maps are added (section 3.1). Output axes are rewritten before that.
pub(super) const N_AXES: usize = 6;

const AXES: [Axis; N_AXES] = [Axis::C, Axis::K, Axis::R, Axis::S, Axis::X, Axis::Y];

/// Extent of every axis, indexed by [`Axis`].
pub(super) type Extents = [i64; N_AXES];

/// Extents of a whole layer (section 2.4).
///
/// Quirks 4 and 5: stride and batch size are ignored.
pub(super) fn layer_extents(shape: &ConvShape) -> Extents {
    [shape.c, shape.k, shape.r, shape.s, shape.x, shape.y].map(i64::from)
}

/// Positions of the maps of a level whose axis indexes each tensor (section 2.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Coupling {
    pub input: Positions,
    pub weight: Positions,
    pub output: Positions,
}

impl Coupling {
    /// Coupling of the tensors of a layer of this kind.
    ///
    /// Quirk 6: depthwise layers keep K in their weights, and every kind but depthwise is dense.
    fn from_maps(maps: &[Template; N_AXES], kind: ConvKind) -> Self {
        use Axis::{C, K, R, S, X, Y};
        let channels = if kind == ConvKind::Depthwise { C } else { K };
        Self {
            input: Positions::where_true(maps, |map| matches!(map.axis, C | Y | X)),
            weight: Positions::where_true(maps, |map| matches!(map.axis, K | C | R | S)),
            output: Positions::where_true(maps, |map| {
                matches!(map.axis, Y | X) || map.axis == channels
            }),
        }
    }
}

/// One map of one level of a layer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Map {
    /// The axis v.
    pub axis: Axis,
    /// Whether the map is spatial, so that it distributes the axis over units and not over steps.
    pub spatial: bool,
    /// m: extent that one unit holds.
    pub size: i64,
    /// o: distance between steps or between units.
    pub offset: i64,
    /// D: extent of the axis at this level.
    pub extent: i64,
    /// E: effective extent (4.1), which is D less the halo of the kernel on window axes.
    ///
    /// Quirk 9: zero or negative if the kernel exceeds the window.
    pub effective: i64,
    /// m of the kernel axis of this axis; 1 if it is no window axis.
    pub kernel: i64,
    /// Stride per iteration: o on a temporal map, o · U on a spatial map.
    pub stride: i64,
    /// Whether one trip spans the axis.
    pub covered: bool,
    /// Whether the map exceeds the axis.
    pub oversized: bool,
    /// Whether full trips leave no edge.
    ///
    /// Quirk 11: unlike `covered`, this condition ignores the halo of a spatial map.
    pub absorbed: bool,
}

/// One level of a layer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Level {
    /// U: sub-clusters or PEs of the level.
    pub units: i64,
    /// b: bandwidth of the NoC level that feeds the level [element/cycle].
    pub bandwidth: i64,
    /// One map per axis, outer loop first.
    pub maps: [Map; N_AXES],
    /// Position of the first spatial map.
    pub leader: usize,
    /// Positions of the maps that do not cover their axis, so that the tile of a unit changes.
    pub live: Positions,
    pub coupling: Coupling,
}

/// A dataflow on an accelerator: the part of its levels that does not depend on the layer.
#[derive(Debug, Clone)]
pub(super) struct Elaboration {
    /// Outermost first.
    levels: Vec<LevelTemplate>,
}

/// One completed level, before the layer is known.
#[derive(Debug, Clone)]
struct LevelTemplate {
    units: i64,
    bandwidth: i64,
    maps: [Template; N_AXES],
    leader: usize,
    dense: Coupling,
    depthwise: Coupling,
}

/// One map of a completed level, before the layer is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Template {
    axis: Axis,
    mapping: Mapping,
    /// `None`: the whole extent of the layer.
    step: Option<Step>,
}

/// Map size m and offset o.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Step {
    size: i64,
    offset: i64,
}

impl Elaboration {
    /// Elaborates the dataflow of `accelerator`.
    ///
    /// # Errors
    ///
    /// - [`Infeasible::TooManyLevels`] if there are more levels than bandwidths.
    /// - [`Infeasible::TooFewPes`] if not even one outermost unit fits.
    /// - [`Infeasible::UnsupportedDataflow`] if the files of the artifact cannot express the dataflow.
    pub(super) fn new(accelerator: &Accelerator) -> Result<Self, Infeasible> {
        let dataflow = &accelerator.dataflow;
        if !dataflow.layers().is_empty() {
            let why = "it has directives for single layers";
            return Err(Infeasible::UnsupportedDataflow { why });
        }
        if !dataflow.directives().off_chip.is_empty() {
            return Err(Infeasible::UnsupportedDataflow {
                why: "it needs a dataflow without loops above the shared memory (`OffChip`)",
            });
        }
        let bandwidths = level_bandwidths(accelerator)?;
        // Quirk 7: PEs beyond a whole number of outermost units are idle.
        let outermost = u64::from(accelerator.pes) / dataflow.pes_per_unit();
        if outermost == 0 {
            return Err(Infeasible::TooFewPes { needed: dataflow.pes_per_unit() });
        }
        let mut levels: Vec<LevelTemplate> = Vec::with_capacity(dataflow.levels().len());
        for (level, bandwidth) in dataflow.levels().iter().zip(bandwidths) {
            let (units, written) = written(level).ok_or(Infeasible::UnsupportedDataflow {
                why: "it needs sizes in numbers, one or two spatial maps in every level, and no N or G",
            })?;
            let maps = match levels.last() {
                None => complete_outermost(&written),
                Some(outer) => complete_inner(&written, &outer.maps),
            };
            let units = units.map_or(outermost as i64, i64::from);
            levels.push(LevelTemplate::new(units, bandwidth, maps));
        }
        Ok(Self { levels })
    }

    /// Number of levels L.
    pub(super) fn n_levels(&self) -> usize {
        self.levels.len()
    }

    /// Extents of every level of a layer (3.3), outermost first: the map sizes of the next outer level,
    /// clipped to its extents.
    pub(super) fn level_extents(&self, layer: &Extents) -> [Extents; Dataflow::MAX_LEVELS] {
        let mut extents = [*layer; Dataflow::MAX_LEVELS];
        for (index, outer) in self.levels.iter().enumerate().take(self.levels.len() - 1) {
            for map in &outer.maps {
                let axis = map.axis as usize;
                extents[index + 1][axis] = extents[index][axis].min(map.step(layer).size);
            }
        }
        extents
    }

    /// Level `index` for a layer of this kind. `layer` holds the extents of the layer, `extents` those of the
    /// level.
    pub(super) fn level(
        &self,
        index: usize,
        kind: ConvKind,
        layer: &Extents,
        extents: &Extents,
    ) -> Level {
        let template = &self.levels[index];
        let units = template.units;
        let mut sizes = [0; N_AXES];
        for map in &template.maps {
            sizes[map.axis as usize] = map.step(layer).size;
        }
        let [a, b, c, d, e, f] = &template.maps;
        let map = |map: &Template| map.on(layer, extents, &sizes, units);
        let maps = [map(a), map(b), map(c), map(d), map(e), map(f)];
        Level {
            units,
            bandwidth: template.bandwidth,
            leader: template.leader,
            live: Positions::where_true(&maps, |map| !map.covered),
            maps,
            coupling: match kind {
                ConvKind::Depthwise => template.depthwise,
                _ => template.dense,
            },
        }
    }
}

impl LevelTemplate {
    fn new(units: i64, bandwidth: i64, maps: [Template; N_AXES]) -> Self {
        let leader = maps.iter().position(|map| map.mapping == Mapping::Spatial);
        Self {
            units,
            bandwidth,
            maps,
            leader: leader.expect("every level has a spatial map"),
            dense: Coupling::from_maps(&maps, ConvKind::Conv),
            depthwise: Coupling::from_maps(&maps, ConvKind::Depthwise),
        }
    }
}

/// Bandwidth of each level of the dataflow of `accelerator`, outermost first (2.1).
///
/// Quirk 2: the list of bandwidths is written outermost first, but used from its other end.
fn level_bandwidths(accelerator: &Accelerator) -> Result<impl Iterator<Item = i64>, Infeasible> {
    let noc = &accelerator.noc;
    let levels = accelerator.dataflow.levels().len();
    let available = noc.levels().len() + 3;
    if levels > available {
        return Err(Infeasible::TooManyLevels { levels, available });
    }
    let signed = |bandwidth| i64::try_from(bandwidth).unwrap_or(i64::MAX);
    Ok((0..levels).rev().map(move |index| signed(noc.level(index).bandwidth)))
}

/// A directive as the files of the artifact write it.
#[derive(Debug, Clone, Copy)]
struct Written {
    axis: Axis,
    mapping: Mapping,
    step: Step,
}

/// Cluster size and directives of a level; `None` if the files of the artifact cannot express it.
fn written(level: &ClusterLevel) -> Option<(Option<u32>, Vec<Written>)> {
    let units = match level.units {
        Some(size) => Some(size.fixed()?),
        None => None,
    };
    let directives = level.directives.iter().map(|directive| {
        let size = i64::from(directive.size.fixed()?);
        let offset = i64::from(directive.offset.fixed()?);
        let known = AXES.contains(&directive.axis.input_axis());
        let &Directive { axis, mapping, .. } = directive;
        known.then_some(Written { axis, mapping, step: Step { size, offset } })
    });
    let directives: Vec<_> = directives.collect::<Option<_>>()?;
    let spatial = directives.iter().filter(|map| map.mapping == Mapping::Spatial).count();
    (1..=2).contains(&spatial).then_some((units, directives))
}

/// Rewrites maps of output axes as maps of input axes (3.1).
///
/// Quirk 1: the window grows by the map of the kernel only if the same level maps the kernel. Otherwise it
/// grows by the number of directives that are written at the level.
fn input_centric(written: &[Written]) -> impl Iterator<Item = Template> {
    let kernel = |axis: Axis| {
        let mapped = written.iter().find(|other| other.axis == axis);
        mapped.map_or(written.len() as i64, |map| map.step.size)
    };
    written.iter().map(move |directive| {
        let growth = match directive.axis {
            Axis::OutputY => kernel(Axis::R) - 1,
            Axis::OutputX => kernel(Axis::S) - 1,
            _ => 0,
        };
        Template {
            axis: directive.axis.input_axis(),
            mapping: directive.mapping,
            step: Some(Step { size: directive.step.size + growth, ..directive.step }),
        }
    })
}

/// Appends a map of the whole extent for each axis that level 0 does not map (section 3.5).
fn complete_outermost(written: &[Written]) -> [Template; N_AXES] {
    let missing = AXES.into_iter().filter(|&axis| !is_mapped(written, axis));
    six(input_centric(written).chain(missing.map(Template::whole)))
}

/// Puts the map of the next outer level in front for each axis that an inner level does not map (section
/// 3.5). The inherited maps become temporal and stand in reverse order.
///
/// Quirk 8: they keep their size even if the extent of the level is smaller.
fn complete_inner(written: &[Written], outer: &[Template; N_AXES]) -> [Template; N_AXES] {
    let missing = outer.iter().rev().filter(|map| !is_mapped(written, map.axis));
    let inherited = missing.map(|&map| Template { mapping: Mapping::Temporal, ..map });
    six(inherited.chain(input_centric(written)))
}

fn is_mapped(written: &[Written], axis: Axis) -> bool {
    written.iter().any(|map| map.axis.input_axis() == axis)
}

/// The six maps of a completed level as an array.
fn six(completed: impl Iterator<Item = Template>) -> [Template; N_AXES] {
    let mut maps = AXES.map(Template::whole);
    completed.zip(&mut maps).for_each(|(map, slot)| *slot = map);
    maps
}

impl Template {
    fn whole(axis: Axis) -> Self {
        Self { axis, mapping: Mapping::Temporal, step: None }
    }

    #[inline]
    fn step(&self, layer: &Extents) -> Step {
        let whole = layer[self.axis as usize];
        self.step.unwrap_or(Step { size: whole, offset: whole })
    }

    /// This map for a layer, at a level with these extents, map sizes and units (4.1, section 4.3).
    #[inline]
    fn on(&self, layer: &Extents, extents: &Extents, sizes: &Extents, units: i64) -> Map {
        let Step { size, offset } = self.step(layer);
        let extent = extents[self.axis as usize];
        let (effective, kernel) = match self.axis {
            Axis::Y => (extent - extents[Axis::R as usize] + 1, sizes[Axis::R as usize]),
            Axis::X => (extent - extents[Axis::S as usize] + 1, sizes[Axis::S as usize]),
            _ => (extent, 1),
        };
        let spatial = self.mapping == Mapping::Spatial;
        let (stride, held, span) = if spatial {
            (offset * units, offset * units, offset * (units - 1) + size)
        } else {
            (offset, size, size)
        };
        Map {
            axis: self.axis,
            spatial,
            size,
            offset,
            extent,
            effective,
            kernel,
            stride,
            covered: span >= extent,
            oversized: held > extent,
            absorbed: held >= extent,
        }
    }
}
