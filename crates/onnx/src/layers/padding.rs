//! Padding of windows, and `Pad` nodes that windows take over.

use super::held::{IMAGE, extents};
use super::maker::{Maker, Role, extent};
use crate::fact::{Fact, Number};
use crate::graph::Attribute;
use crate::rules::{Fault, Window};
use crate::trace::{Step, TensorId};
use xrsim_model::model::{ConvShape, Padding};

/// Windows over rows and columns; a window over one axis sees one column.
pub(super) fn over_image(windows: &[Window], kind: &str) -> Result<[Window; 2], Fault> {
    match *windows {
        [rows] => Ok([rows, Window::ONE]),
        [rows, columns] => Ok([rows, columns]),
        _ => {
            let words = format!("a {kind} over {} axes; two are the most", windows.len());
            Err(Fault::Invalid(words))
        }
    }
}

/// Padding of windows over rows and columns.
pub(super) fn of_windows(windows: &[Window; 2]) -> Result<Padding, Fault> {
    let [rows, columns] = windows;
    let side = |window: &Window| Ok([small(window.pad_begin)?, small(window.pad_end)?]);
    Ok(padding([side(rows)?, side(columns)?]))
}

pub(super) fn padding([[top, bottom], [left, right]]: [[u32; 2]; 2]) -> Padding {
    Padding { top, bottom, left, right }
}

pub(super) fn sum(a: Padding, b: Padding) -> Padding {
    padding([[a.top + b.top, a.bottom + b.bottom], [a.left + b.left, a.right + b.right]])
}

pub(super) fn small(found: u64) -> Result<u32, Fault> {
    if found == 0 { Ok(0) } else { extent("the padding", found) }
}

/// Extents that a window reads, without the padding that it takes over.
pub(super) fn stored(maker: &Maker<'_, '_>, data: TensorId) -> [u64; 4] {
    let shape = &maker.fact(data).shape;
    let mut extents = extents(shape, &IMAGE[..shape.len().min(4)]);
    if let Some(padding) = maker.padding.get(&data) {
        extents[2] = extents[2].saturating_sub(u64::from(padding.top + padding.bottom));
        extents[3] = extents[3].saturating_sub(u64::from(padding.left + padding.right));
    }
    extents
}

/// Finds `Pad` nodes that the only operator after them, a convolution or pool, can take over: constant
/// zeros (for a maximum, the lowest number) around spatial axes.
pub(super) fn find(maker: &mut Maker<'_, '_>) {
    let trace = maker.trace;
    for (index, step) in trace.steps.iter().enumerate() {
        if &*step.node.operator != "Pad" || !step.node.domain.is_empty() {
            continue;
        }
        let output = step.outputs[0];
        // The only step that reads the result, after changes of number format, takes the padding over.
        let mut held = vec![output];
        while let Some(next) = next_format(maker, held[held.len() - 1]) {
            held.push(next);
        }
        let id = held[held.len() - 1];
        let Some(reader) = only_reader(maker, id).filter(|it| it.inputs.first() == Some(&Some(id)))
        else {
            continue;
        };
        let is_pool = match &*reader.node.operator {
            "Conv" | "ConvInteger" | "QLinearConv" => false,
            "MaxPool" => true,
            _ => continue,
        };
        let Some(padding) = constant_padding(maker, step, is_pool) else { continue };
        maker.padding.extend(held.into_iter().map(|id| (id, padding)));
        maker.roles[index] = Role::Part;
    }
}

/// The only step that reads a tensor, which the network does not write.
fn only_reader<'t>(maker: &Maker<'t, '_>, id: TensorId) -> Option<&'t Step<'t>> {
    let [reader] = maker.readers[id.index()][..] else { return None };
    maker.is_read_once(id).then(|| &maker.trace.steps[reader as usize])
}

/// The same tensor in another number format, if nothing else reads it.
fn next_format(maker: &Maker<'_, '_>, id: TensorId) -> Option<TensorId> {
    let step = only_reader(maker, id)?;
    let is_format =
        matches!(&*step.node.operator, "QuantizeLinear" | "DequantizeLinear" | "Identity" | "Cast");
    is_format.then(|| step.outputs[0])
}

/// Padding of a `Pad` node if it is constant, of zeros, and around the last one or two axes.
fn constant_padding(maker: &Maker<'_, '_>, step: &Step<'_>, is_max: bool) -> Option<Padding> {
    let attribute = |name: &str| step.node.attribute(name);
    let input = |index: usize| step.inputs.get(index).copied().flatten();
    let is_constant =
        attribute("mode").is_none_or(|mode| mode.text().is_some_and(|mode| mode == "constant"));
    let value = match (attribute("value").and_then(Attribute::float), input(2)) {
        (Some(value), _) => f64::from(value),
        (None, Some(id)) => maker.trace.fact(id)?.first().map(Number::value)?,
        (None, None) => 0.0,
    };
    let is_neutral = if is_max { value <= f64::from(f32::MIN) } else { value == 0.0 };
    // Axes that are chosen are rare, and stay a copy.
    if !is_constant || !is_neutral || input(3).is_some() {
        return None;
    }
    let pads = match attribute("pads").and_then(Attribute::ints) {
        Some(pads) => pads.to_vec(),
        None => Fact::ints(maker.trace.fact(input(1)?)?)?,
    };
    let rank = pads.len() / 2;
    let (begins, ends) = pads.split_at(rank);
    if !(3..=4).contains(&rank) || begins[..2].iter().chain(&ends[..2]).any(|&pad| pad != 0) {
        return None;
    }
    let limit = i64::from(ConvShape::MAX_EXTENT);
    let side = |pads: &[i64], axis: usize| {
        let pad = pads.get(axis).copied().unwrap_or(0);
        (0..=limit).contains(&pad).then_some(pad as u32)
    };
    Some(padding([[side(begins, 2)?, side(ends, 2)?], [side(begins, 3)?, side(ends, 3)?]]))
}
