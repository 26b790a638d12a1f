//! Entries of `layers:` in dataflow files: directives for single layers.

use crate::Problem;
use crate::maestro::{Notation, assemble};
use crate::yaml::read::{Problems, at, at_most, flag, list, number, text};
use crate::yaml::{Fields, Node, Value};
use xrsim_model::cost::loop_nest::{Nest, Window, is_form, nest_of};
use xrsim_model::dataflow::{LayerMapping, LayerMemory, LayerShape, LayerWindow};

use super::line;

/// Largest extent, stride or dilation.
const MAX: u32 = Nest::MAX_EXTENT;

/// Reads one entry.
pub(super) fn read(
    node: &Node<'_>,
    notation: Notation,
    problems: &mut Problems,
) -> Option<LayerMapping> {
    let mut fields = Fields::of(node, "a layer", problems)?;
    let layer = fields.required("layer", text);
    let shape_span = fields.span_of("shape");
    let shape = fields.required("shape", shape);
    let form_span = fields.span_of("form");
    let has_form = fields.given("form");
    let form = fields.optional("form", self::shape);
    let is_bound = fields.given("resident") || fields.given("free_bytes");
    let free = fields.optional("free_bytes", number(0..=u64::MAX));
    let resident = fields.optional("resident", resident);
    if is_bound && !(fields.given("resident") && fields.given("free_bytes")) {
        let message =
            "`resident` and `free_bytes` stand together: both say which shared memory is meant";
        fields.problem(Problem::new(node.span.clone(), message));
    }
    let line = |node: &Node<'_>, problems: &mut Problems| line::read(node, notation, problems);
    let lines = fields.required("directives", list("directives", at(line)));
    fields.finish();
    let (layer, shape, lines) = (layer?, shape?, lines?);
    let nest = valid(&shape, shape_span, problems)?;
    if let Some(form) = &form {
        let form = valid(form, form_span.clone(), problems)?;
        if !is_form(&form, &nest) {
            let message = "this form has other numbers of products, inputs, weights or outputs than the \
                           layer";
            problems.push(Problem::new(form_span, message));
            return None;
        }
    }
    if has_form && form.is_none() {
        return None;
    }
    let memory = match is_bound {
        true => Some(LayerMemory { resident: resident?, free: free? }),
        false => None,
    };
    let opening = lines.first().map_or(0..0, |line| line.span.clone());
    match assemble("layer", opening, lines, notation) {
        Ok(dataflow) => {
            let directives = dataflow.directives().clone();
            Some(LayerMapping { layer, shape, memory, form, directives })
        }
        Err(found) => {
            problems.extend(found);
            None
        }
    }
}

/// The loop nest of a shape, or the problem that there is none.
fn valid(
    shape: &LayerShape,
    span: std::ops::Range<usize>,
    problems: &mut Problems,
) -> Option<Nest> {
    nest_of(shape).map_err(|error| problems.push(Problem::new(span, error.to_string()))).ok()
}

/// Reads a shape. Extents are 1 unless they are given; without `input`, memory stores all input
/// positions.
fn shape(node: &Node<'_>, problems: &mut Problems) -> Option<LayerShape> {
    let mut fields = Fields::of(node, "a shape", problems)?;
    let extents = LayerShape::AXES.map(|axis| fields.optional(axis, number(1..=MAX)).unwrap_or(1));
    let mut pair = |key, low: u32| fields.optional(key, self::pair(low));
    let strides = pair("stride", 1).unwrap_or([1; 2]);
    let dilations = pair("dilation", 1).unwrap_or([1; 2]);
    let paddings = pair("padding", 0).unwrap_or([0; 2]);
    let inputs = pair("input", 1);
    let depthwise = fields.optional("depthwise", flag).unwrap_or(false);
    fields.finish();
    let window = |at: usize| {
        let (stride, dilation) = (strides[at], dilations[at]);
        let unpadded = Window { stride, dilation, stored: 1, padding: 0 };
        let all = unpadded.reach(extents[4 + at], extents[6 + at]);
        let stored = inputs.map_or(all, |inputs| inputs[at]);
        LayerWindow { stride, dilation, stored, padding: paddings[at] }
    };
    Some(LayerShape { extents, windows: [window(0), window(1)], depthwise })
}

/// Reads a number of rows and one of columns.
fn pair(low: u32) -> impl Fn(&Node<'_>, &mut Problems) -> Option<[u32; 2]> {
    move |node, problems| {
        let numbers = at_most(2, list("numbers", number(low..=MAX)))(node, problems)?;
        let pair = <[u32; 2]>::try_from(numbers).ok();
        if pair.is_none() {
            problems.push(node.mismatch(&"a number for rows and one for columns"));
        }
        pair
    }
}

/// Reads the names of resident tensors; the list may be empty.
fn resident(node: &Node<'_>, problems: &mut Problems) -> Option<[bool; 3]> {
    let mut resident = [false; 3];
    let Value::List(items) = &node.value else {
        problems.push(node.mismatch(&"a list of tensors"));
        return None;
    };
    for item in items {
        let name = text(item, problems)?;
        let Some(at) = LayerMemory::TENSORS.iter().position(|known| **known == *name) else {
            problems.push(item.mismatch(&LayerMemory::TENSORS.join(" or ")));
            return None;
        };
        resident[at] = true;
    }
    Some(resident)
}
