//! Entries of `layers:` in dataflow files: directives for single layers.

use serde_json::json;

use crate::Problem;
use crate::form::Form;
use crate::maestro::{Line, Notation, assemble};
use crate::yaml::keys::{Keys, keys, mapping};
use crate::yaml::read::{At, Problems};
use crate::yaml::values::{Reader, at, at_most, flag, list, number, text, tried, value};
use crate::yaml::{Fields, Node, Value};
use xrsim_model::cost::loop_nest::{Illegal, Nest, Window, is_form, nest_of};
use xrsim_model::dataflow::{LayerMapping, LayerMemory, LayerShape, LayerWindow};

/// Largest extent, stride or dilation.
const MAX: u32 = Nest::MAX_EXTENT;

/// An entry of `layers:`.
pub(super) fn layer(notation: Notation) -> impl Reader<Value = LayerMapping> {
    raw_layer(notation).then(move |raw, _, problems| raw.check(notation, problems)).shaped(|form| {
        let together = json!({"free_bytes": ["resident"], "resident": ["free_bytes"]});
        form.with("dependencies", together)
    })
}

keys! {
    /// Directives for the layers of one shape.
    fn raw_layer(notation: Notation) -> struct RawLayer: "a layer" {
        /// Name of the layer, for messages.
        layer: Box<str> = required(text());
        /// Shape of the layers that these directives are for.
        shape: At<LayerShape> = required(at(shape()));
        /// Another shape with the same products, which the directives map.
        form: Option<Option<At<LayerShape>>> = optional(tried(at(self::shape())));
        /// Bytes that are free in shared memory \[byte\].
        free_bytes: Option<Option<u64>> = optional(tried(number(0..=u64::MAX)));
        /// Bytes that DRAM moves for operators that ride along with the layer and for its outputs \[byte\].
        group_bytes: Option<u64> = optional(number(0..=u64::MAX));
        /// Tensors that stay in shared memory.
        resident: Option<Option<[bool; 3]>> = optional(tried(resident()));
        /// Directives of the layer, the outermost first.
        directives: Vec<At<Line>> = required(super::directives(notation));
    }
    check(fields) {
        if free_bytes.is_some() != resident.is_some() {
            let message =
                "`resident` and `free_bytes` stand together: both say which shared memory is meant";
            fields.problem(Problem::new(fields.span(), message));
        }
    }
}

impl RawLayer {
    fn check(self, notation: Notation, problems: &mut Problems) -> Option<LayerMapping> {
        let nest = valid(&self.shape, problems)?;
        let form = self.form.map_or(Some(None), |form| form.map(Some))?;
        if let Some(form) = &form
            && !is_form(&valid(form, problems)?, &nest)
        {
            let message = "this form has other numbers of products, inputs, weights or outputs than the \
                           layer";
            problems.push(Problem::new(form.span.clone(), message));
            return None;
        }
        let memory = match (self.resident, self.free_bytes) {
            (None, None) => None,
            (resident, free) => {
                let group = self.group_bytes;
                Some(LayerMemory { resident: resident??, free: free??, group })
            }
        };
        let opening = self.directives.first().map_or(0..0, |line| line.span.clone());
        match assemble("layer", opening, self.directives, notation) {
            Ok(dataflow) => Some(LayerMapping {
                layer: self.layer,
                shape: self.shape.value,
                memory,
                form: form.map(|it| it.value),
                directives: dataflow.directives().clone(),
            }),
            Err(found) => {
                problems.extend(found);
                None
            }
        }
    }
}

/// The loop nest of a shape, or the problem that there is none.
fn valid(shape: &At<LayerShape>, problems: &mut Problems) -> Option<Nest> {
    let problem = |error: Illegal| Problem::new(shape.span.clone(), error.to_string());
    nest_of(&shape.value).map_err(|error| problems.push(problem(error))).ok()
}

/// A shape. Extents are 1 unless they are given; without `input`, memory stores all input positions.
fn shape() -> impl Reader<Value = LayerShape> {
    mapping("a shape", |fields| {
        let extents = extents().among(fields)?;
        let Windows { stride, dilation, padding, input, depthwise } = windows().among(fields)?;
        let window = |at: usize| {
            let (stride, dilation) = (stride[at], dilation[at]);
            let unpadded = Window { stride, dilation, stored: 1, padding: 0 };
            let all = unpadded.reach(extents[4 + at], extents[6 + at]);
            let stored = input.map_or(all, |input| input[at]);
            LayerWindow { stride, dilation, stored, padding: padding[at] }
        };
        Some(LayerShape { extents, windows: [window(0), window(1)], depthwise })
    })
}

/// Extents of the axes, in the order of [`LayerShape::AXES`].
fn extents() -> Keys<impl Fn(&mut Fields<'_, '_, '_>) -> Option<[u32; 8]>> {
    mapping("extents", |fields| {
        let extent = |axis| {
            let about = match axis {
                "N" => "Batch",
                "G" => "Groups of channels",
                "K" => "Output channels of a group",
                "C" => "Input channels of a group",
                "Y'" => "Output rows",
                "X'" => "Output columns",
                "R" => "Kernel rows",
                _ => "Kernel columns",
            };
            fields.about(about).or(axis, 1, number(1..=MAX)).unwrap_or(1)
        };
        Some(LayerShape::AXES.map(extent))
    })
}

keys! {
    fn windows() -> struct Windows: "a shape" {
        /// Strides.
        stride: [u32; 2] = or("[1, 1]", pair(1));
        /// Dilations.
        dilation: [u32; 2] = or("[1, 1]", pair(1));
        /// Padding in front.
        padding: [u32; 2] = or("[0, 0]", pair(0));
        /// Input positions that memory stores. Without it, all.
        input: Option<[u32; 2]> = optional(pair(1));
        /// Whether the layer is depthwise.
        depthwise: bool = or(false, flag());
    }
}

/// A number of rows and one of columns.
fn pair(low: u32) -> impl Reader<Value = [u32; 2]> {
    let pair = |numbers: Vec<u32>, node: &Node<'_>, problems: &mut Problems| {
        let pair = <[u32; 2]>::try_from(numbers).ok();
        if pair.is_none() {
            problems.push(node.mismatch(&"a number for rows and one for columns"));
        }
        pair
    };
    at_most(2, list("numbers", number(low..=MAX)))
        .then(pair)
        .shaped(|form| form.exactly(2, "[rows, columns]"))
}

/// Names of resident tensors; the list may be empty.
fn resident() -> impl Reader<Value = [bool; 3]> {
    let read = |node: &Node<'_>, problems: &mut Problems| {
        let mut resident = [false; 3];
        let Value::List(items) = &node.value else {
            problems.push(node.mismatch(&"a list of tensors"));
            return None;
        };
        for item in items {
            let name = text().read(item, problems)?;
            let Some(at) = LayerMemory::TENSORS.iter().position(|known| **known == *name) else {
                problems.push(item.mismatch(&LayerMemory::TENSORS.join(" or ")));
                return None;
            };
            resident[at] = true;
        }
        Some(resident)
    };
    let form = || {
        let keywords = json!({"type": "array", "items": {"enum": LayerMemory::TENSORS}});
        Form::new(keywords, "a list of inputs and outputs, which may be empty")
    };
    value(read, form)
}
