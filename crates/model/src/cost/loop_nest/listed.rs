//! Directives that a dataflow lists for single layers, and mappings written as such directives.

use std::borrow::Cow;

use crate::dataflow::{
    self, ClusterLevel, Dataflow, Directive, Directives, LayerMapping, LayerMemory, LayerShape,
    LayerWindow, Size,
};
use crate::model::PerTensor;

use super::super::Infeasible;
use super::{Axis, Illegal, Level, Machine, Mapping, Nest, Window};

/// Form and directives with which a dataflow maps a layer.
pub(crate) struct Listed<'a> {
    /// Form; the layer as it is written if the directives are those for all layers.
    pub nest: Cow<'a, Nest>,
    /// Directives of all levels.
    pub directives: &'a Directives,
    /// Whether the directives are those of this layer alone.
    pub of_layer: bool,
}

impl<'a> Listed<'a> {
    /// Directives of `dataflow` for `nest` on a machine with its resident tensors and free shared memory.
    ///
    /// # Errors
    ///
    /// [`Infeasible::OtherLayers`] if the dataflow lists only other layers.
    pub(crate) fn new(
        dataflow: &'a Dataflow,
        nest: &'a Nest,
        machine: &Machine,
    ) -> Result<Self, Infeasible> {
        let directives = dataflow.directives();
        let general = Self { nest: Cow::Borrowed(nest), directives, of_layer: false };
        if dataflow.layers().is_empty() {
            return Ok(general);
        }
        let shape = shape(nest);
        let Some(entry) = dataflow.of_layer(&shape, &memory(machine)) else {
            return if directives.is_empty() {
                Err(other_layers(dataflow, shape))
            } else {
                Ok(general)
            };
        };
        let illegal = |reason: Illegal| Infeasible::Illegal { reason: Box::new(reason) };
        let nest = match &entry.form {
            None => Cow::Borrowed(nest),
            Some(form) => Cow::Owned(nest_of(form).map_err(illegal)?),
        };
        Ok(Self { nest, directives: &entry.directives, of_layer: true })
    }
}

fn other_layers(dataflow: &Dataflow, shape: LayerShape) -> Infeasible {
    let nearest = dataflow.nearest_layer(&shape);
    let nearest = nearest.map(|LayerMapping { layer, shape, .. }| (layer.clone(), *shape));
    Infeasible::OtherLayers { shape: Box::new(shape), nearest: nearest.map(Box::new) }
}

/// Shared memory as a layer finds it on `machine`.
pub(crate) fn memory(machine: &Machine) -> LayerMemory {
    let PerTensor { input, weight, output } = machine.resident;
    LayerMemory {
        resident: [input, weight, output],
        free: machine.shared_bytes.unwrap_or(u64::MAX),
        group: machine.riders.map(|riders| riders.dram_bytes()),
    }
}

/// Shape of a loop nest.
pub fn shape(nest: &Nest) -> LayerShape {
    let window = |it: &Window| LayerWindow {
        stride: it.stride,
        dilation: it.dilation,
        stored: it.stored,
        padding: it.padding,
    };
    let [rows, columns] = nest.windows();
    LayerShape {
        extents: *nest.extents(),
        windows: [window(rows), window(columns)],
        depthwise: nest.is_depthwise(),
    }
}

/// Loop nest of a shape.
///
/// # Errors
///
/// As [`Nest::new`].
pub fn nest_of(shape: &LayerShape) -> Result<Nest, Illegal> {
    let window = |it: &LayerWindow| Window {
        stride: it.stride,
        dilation: it.dilation,
        stored: it.stored,
        padding: it.padding,
    };
    let [rows, columns] = &shape.windows;
    Nest::new(shape.extents, [window(rows), window(columns)], shape.depthwise)
}

/// Whether two loop nests have equal numbers of products and of elements of every tensor, as the forms of
/// a layer have.
pub fn is_form(form: &Nest, nest: &Nest) -> bool {
    let counts = |it: &Nest| {
        let whole = it.footprints(it.extents());
        (it.macs(), it.touched_inputs(), whole.weight, whole.output)
    };
    counts(form) == counts(nest)
}

/// Directives that make a mapping again. Images and groups that it does not split get maps on the outermost
/// level, because a dataflow without any runs image by image and group by group (section 3.4).
pub fn directives(mapping: &Mapping) -> Directives {
    let splits =
        |axis: Axis| mapping.all_levels().iter().flat_map(Level::loops).any(|it| it.axis == axis);
    let whole = [Axis::N, Axis::G].into_iter().filter(|axis| !splits(*axis)).map(whole);
    let mut whole: Vec<_> = whole.collect();
    let off_chip = mapping.off_chip().map_or(Vec::new(), |level| {
        let mut maps: Vec<_> = whole.drain(..).chain(maps(level)).collect();
        if maps.is_empty() {
            // A level above the shared memory needs a map, even one of a single chunk.
            maps.push(self::whole(Axis::N));
        }
        maps
    });
    let level = |(index, level): (usize, &Level)| ClusterLevel {
        units: (index > 0).then(|| Size::Fixed(level.units())),
        directives: whole.drain(..).chain(maps(level)).collect(),
    };
    let levels = mapping.levels().iter().enumerate().map(level).collect();
    Directives { off_chip, levels }
}

/// A map that holds an axis whole.
fn whole(axis: Axis) -> Directive {
    let axis = written(axis);
    let size = Size::Extent { axis, plus: 0 };
    Directive { mapping: dataflow::Mapping::Temporal, size, offset: size, axis }
}

/// Maps with the loops of a level.
fn maps(level: &Level) -> impl Iterator<Item = Directive> + '_ {
    level.loops().iter().map(|it| match it.spatial {
        true => Directive::spatial(it.size, it.offset, written(it.axis)),
        false => Directive::temporal(it.size, it.offset, written(it.axis)),
    })
}

/// Axis in directives.
fn written(axis: Axis) -> dataflow::Axis {
    match axis {
        Axis::N => dataflow::Axis::N,
        Axis::G => dataflow::Axis::G,
        Axis::K => dataflow::Axis::K,
        Axis::C => dataflow::Axis::C,
        Axis::OutputY => dataflow::Axis::OutputY,
        Axis::OutputX => dataflow::Axis::OutputX,
        Axis::R => dataflow::Axis::R,
        Axis::S => dataflow::Axis::S,
    }
}
