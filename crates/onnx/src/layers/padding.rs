//! Padding of windows, and `Pad` nodes that windows take over.

use super::held::{Axis, extents};
use super::maker::{Maker, Role, extent};
use crate::fact::Elements;
use crate::graph::Attribute;
use crate::rules::{Fault, Window};
use crate::trace::{Step, TensorId};
use xrsim_model::model::{ConvShape, Padding};

/// Padding of windows over one or two axes.
pub(super) fn of_windows(windows: &[Window]) -> Result<Padding, Fault> {
    let sides = |window: Option<&Window>| match window {
        Some(window) => Ok([small(window.pad_begin)?, small(window.pad_end)?]),
        None => Ok([0, 0]),
    };
    let [top, bottom] = sides(windows.first())?;
    let [left, right] = sides(windows.get(1))?;
    Ok(Padding { top, bottom, left, right })
}

pub(super) fn small(found: u64) -> Result<u32, Fault> {
    if found == 0 { Ok(0) } else { extent("the padding", found) }
}

/// Extents that a window reads, without the padding that it takes over.
pub(super) fn stored(maker: &Maker<'_, '_>, data: TensorId) -> [u64; 4] {
    let shape = &maker.fact(data).shape;
    let axes = [Axis::N, Axis::K, Axis::Y, Axis::X];
    let mut extents = extents(shape, &axes[..shape.len().min(4)]);
    if let Some(padding) = maker.padding.get(&data) {
        extents[2] = extents[2].saturating_sub(u64::from(padding.top + padding.bottom));
        extents[3] = extents[3].saturating_sub(u64::from(padding.left + padding.right));
    }
    extents
}

/// Finds `Pad` nodes that the only operator behind them, a convolution or pool, can take over: constant
/// zeros (for a maximum, the lowest number) around spatial axes.
pub(super) fn find(maker: &mut Maker<'_, '_>) {
    let trace = maker.trace;
    for (index, step) in trace.steps.iter().enumerate() {
        if &*step.node.operator != "Pad" || !step.node.domain.is_empty() {
            continue;
        }
        let output = step.outputs[0];
        let Some(reader) = reader_through_formats(maker, output) else { continue };
        let reader = &trace.steps[reader.1 as usize];
        let is_pool = match &*reader.node.operator {
            "Conv" | "ConvInteger" | "QLinearConv" => false,
            "MaxPool" => true,
            _ => continue,
        };
        let Some(padding) = constant_padding(maker, step, is_pool) else { continue };
        let mut id = output;
        maker.padding.insert(id, padding);
        while let Some((next, _)) = next_format(maker, id) {
            id = next;
            maker.padding.insert(id, padding);
        }
        maker.roles[index] = Role::Padding;
    }
}

/// The only step that reads a tensor, after changes of number format.
fn reader_through_formats(maker: &Maker<'_, '_>, id: TensorId) -> Option<(TensorId, u32)> {
    let mut id = id;
    while let Some((next, _)) = next_format(maker, id) {
        id = next;
    }
    let [reader] = maker.readers[id.index()][..] else { return None };
    let is_data = maker.trace.steps[reader as usize].inputs.first() == Some(&Some(id));
    (is_data && maker.is_read_once(id)).then_some((id, reader))
}

fn next_format(maker: &Maker<'_, '_>, id: TensorId) -> Option<(TensorId, u32)> {
    let [reader] = maker.readers[id.index()][..] else { return None };
    let step = &maker.trace.steps[reader as usize];
    let is_format =
        matches!(&*step.node.operator, "QuantizeLinear" | "DequantizeLinear" | "Identity" | "Cast");
    (is_format && maker.is_read_once(id)).then(|| (step.outputs[0], reader))
}

/// Padding of a `Pad` node if it is constant, of zeros, and around the last one or two axes.
fn constant_padding(maker: &Maker<'_, '_>, step: &Step<'_>, is_max: bool) -> Option<Padding> {
    let attribute = |name: &str| step.node.attributes.iter().find(|(known, _)| **known == *name);
    let is_constant = match attribute("mode") {
        None => true,
        Some((_, Attribute::Text(mode))) => **mode == *"constant",
        Some(_) => false,
    };
    let value = match (attribute("value"), step.inputs.get(2).copied().flatten()) {
        (Some((_, Attribute::Float(value))), _) => f64::from(*value),
        (_, Some(id)) => match maker.trace.fact(id)?.elements.as_deref()? {
            Elements::Floats(values) => *values.first()?,
            Elements::Ints(values) => *values.first()? as f64,
        },
        _ => 0.0,
    };
    let is_neutral = if is_max { value <= f64::from(f32::MIN) } else { value == 0.0 };
    // Axes that are chosen are rare, and stay a copy.
    if !is_constant || !is_neutral || step.inputs.get(3).is_some_and(Option::is_some) {
        return None;
    }
    let pads: Vec<i64> = match (attribute("pads"), step.inputs.get(1).copied().flatten()) {
        (Some((_, Attribute::Ints(pads))), _) => pads.clone(),
        (_, Some(id)) => match maker.trace.fact(id)?.elements.as_deref()? {
            Elements::Ints(pads) => pads.clone(),
            Elements::Floats(_) => return None,
        },
        _ => return None,
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
    Some(Padding {
        top: side(begins, 2)?,
        bottom: side(ends, 2)?,
        left: side(begins, 3)?,
        right: side(ends, 3)?,
    })
}
