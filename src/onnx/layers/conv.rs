//! Convolutions, and padding that they take over.

use super::held::{Axis, Held, extents};
use super::maker::{Maker, Role, extent};
use crate::model::{ConvKind, ConvShape, Operator, Padding};
use crate::onnx::fact::Elements;
use crate::onnx::graph::Attribute;
use crate::onnx::rules::{Call, Fault, Window, windows};
use crate::onnx::trace::{Step, TensorId};

/// A dense, grouped or depthwise convolution.
pub(super) fn conv(
    maker: &mut Maker<'_, '_>,
    step: &Step<'_>,
    call: &Call<'_>,
) -> Result<(), Fault> {
    let quantised = call.operator() == "QLinearConv";
    let weights = operand(step, if quantised { 3 } else { 1 })?;
    let mut shape = shape(maker, step, call, weights)?;
    let group = call.int("group", 1)?;
    let groups = extent("the number of groups", u64::try_from(group).unwrap_or(0))?;
    shape.k = extent("the number of kernels", maker.fact(weights).shape[0])?;
    shape.groups = groups;
    if groups > 1 && groups == shape.c && groups == shape.k {
        shape = ConvShape { kind: ConvKind::Depthwise, groups: 1, k: 1, ..shape };
    }
    let own = shape.padding;
    // The tensor that is read holds the padding of a `Pad` before it already.
    let added = maker.padding.get(&operand(step, 0)?).copied().unwrap_or_default();
    let (rows, columns) = (own.top + own.bottom, own.left + own.right);
    shape.y = extent("the number of rows", u64::from(shape.y) + u64::from(rows))?;
    shape.x = extent("the number of columns", u64::from(shape.x) + u64::from(columns))?;
    shape.padding = sum(own, added);
    if let Err(error) = shape.kernel_fits() {
        return Err(Fault::Invalid(error.to_string()));
    }
    finish(maker, step, shape, weights, shape.padding, if quantised { 8 } else { 2 })?;
    if call.operator() == "FusedConv"
        && let Some(&Some(other)) = step.inputs.get(3)
    {
        return add_to(maker, step, other);
    }
    Ok(())
}

/// A transposed convolution.
pub(super) fn transposed(
    maker: &mut Maker<'_, '_>,
    step: &Step<'_>,
    call: &Call<'_>,
) -> Result<(), Fault> {
    let weights = operand(step, 1)?;
    let shape = shape(maker, step, call, weights)?;
    let groups = extent("the number of groups", u64::try_from(call.int("group", 1)?).unwrap_or(0))?;
    let per_group = maker.fact(weights).shape[1];
    let k = extent("the number of kernels", per_group.saturating_mul(groups.into()))?;
    let windows = windows(call)?;
    let stored = [shape.y, shape.x];
    let mut crops = [[0, 0]; 2];
    for ((crop, window), stored) in crops.iter_mut().zip(&windows).zip(stored) {
        // What is cut off after the last: everything that is neither output nor cut off before.
        let whole = (u64::from(stored) - 1) * window.stride + window.kernel;
        let after =
            whole.checked_sub(window.output).and_then(|cut| cut.checked_sub(window.pad_begin));
        let Some(after) = after else {
            let words = "`output_padding` adds more than `pads` cut off";
            return Err(Fault::Invalid(words.into()));
        };
        *crop = [small(window.pad_begin)?, small(after)?];
    }
    let [[top, bottom], [left, right]] = crops;
    let padding = Padding { top, bottom, left, right };
    let shape = ConvShape { kind: ConvKind::Transposed, k, groups, padding, ..shape };
    let own = |window: Option<&Window>| -> Result<[u32; 2], Fault> {
        let Some(window) = window else { return Ok([0, 0]) };
        let after = small(window.pad_end)?;
        Ok([small(window.pad_begin)?, after])
    };
    let [top, bottom] = own(windows.first())?;
    let [left, right] = own(windows.get(1))?;
    finish(maker, step, shape, weights, Padding { top, bottom, left, right }, 2)
}

/// Extents of data and kernel; padding is that of the node, `y` and `x` are without it.
fn shape(
    maker: &Maker<'_, '_>,
    step: &Step<'_>,
    call: &Call<'_>,
    weights: TensorId,
) -> Result<ConvShape, Fault> {
    let data = operand(step, 0)?;
    if !maker.is_constant(weights) {
        let words = "its weights depend on data; a dynamic convolution is no layer here";
        return Err(Fault::Invalid(words.into()));
    }
    let [n, c, spatial @ ..] = &maker.fact(data).shape[..] else { return Err(Fault::Unsupported) };
    let windows = windows(call)?;
    if spatial.len() > 2 {
        let words = format!("a convolution over {} axes; two are the most", spatial.len());
        return Err(Fault::Invalid(words));
    }
    let mut shape = ConvShape {
        n: extent("the batch", *n)?,
        c: extent("the number of channels", *c)?,
        y: extent("the number of rows", spatial[0])?,
        x: extent("the number of columns", spatial.get(1).copied().unwrap_or(1))?,
        padding: padding(&windows)?,
        ..ConvShape::UNIT
    };
    let [rows, columns] = [windows.first(), windows.get(1)];
    if let Some(window) = rows {
        shape.r = extent("the number of kernel rows", window.kernel)?;
        shape.stride_y = extent("the stride", window.stride)?;
        shape.dilation_y = extent("the dilation", window.dilation)?;
    }
    if let Some(window) = columns {
        shape.s = extent("the number of kernel columns", window.kernel)?;
        shape.stride_x = extent("the stride", window.stride)?;
        shape.dilation_x = extent("the dilation", window.dilation)?;
    }
    Ok(shape)
}

/// Padding of windows over one or two axes.
pub(super) fn padding(windows: &[Window]) -> Result<Padding, Fault> {
    let sides = |window: Option<&Window>| match window {
        Some(window) => Ok([small(window.pad_begin)?, small(window.pad_end)?]),
        None => Ok([0, 0]),
    };
    let [top, bottom] = sides(windows.first())?;
    let [left, right] = sides(windows.get(1))?;
    Ok(Padding { top, bottom, left, right })
}

fn small(found: u64) -> Result<u32, Fault> {
    if found == 0 { Ok(0) } else { extent("the padding", found) }
}

pub(super) fn operand(step: &Step<'_>, index: usize) -> Result<TensorId, Fault> {
    step.inputs.get(index).copied().flatten().ok_or(Fault::Unsupported)
}

fn finish(
    maker: &mut Maker<'_, '_>,
    step: &Step<'_>,
    shape: ConvShape,
    weights: TensorId,
    padding: Padding,
    bias: usize,
) -> Result<(), Fault> {
    let data = operand(step, 0)?;
    if let Some(&Some(bias)) = step.inputs.get(bias) {
        maker.parameter(bias);
    }
    let places = maker.places(&[data], false);
    let layer = maker.layer(step, Operator::Conv(shape), None, places)?;
    let bits = maker.held(data).bits;
    let weight_bits = super::products::weight_bits(maker, weights);
    let row = maker.row(layer);
    (row.padding, row.activation_bits, row.weight_bits) = (padding, bits, weight_bits);
    if maker.is_shared(weights) {
        maker.share(layer);
    }
    let output = step.outputs[0];
    let axes = [Axis::N, Axis::K, Axis::Y, Axis::X];
    let axes = axes[..maker.fact(output).shape.len().min(4)].to_vec();
    maker.result(output, layer, Some(axes));
    behind(maker, output, layer);
    Ok(())
}

/// Notes that a tensor is the result of a layer with weights, which what follows can be folded into.
pub(super) fn behind(maker: &mut Maker<'_, '_>, output: TensorId, layer: usize) {
    let held = maker.held(output);
    let behind = maker.is_read_once(output).then_some(layer);
    maker.put(output, Held { behind, ..held });
}

/// Adds another operand to the result of a fused operator.
pub(super) fn add_to(
    maker: &mut Maker<'_, '_>,
    step: &Step<'_>,
    other: TensorId,
) -> Result<(), Fault> {
    if maker.is_constant(other) {
        maker.parameter(other);
        return Ok(());
    }
    let output = step.outputs[0];
    let axes = maker.held(output).axes;
    let places = maker.places(&[output, other], false);
    let layer = maker.vector(step, crate::model::VectorOp::Add, output, places, None)?;
    maker.result(output, layer, axes);
    Ok(())
}

fn sum(a: Padding, b: Padding) -> Padding {
    Padding {
        top: a.top + b.top,
        bottom: a.bottom + b.bottom,
        left: a.left + b.left,
        right: a.right + b.right,
    }
}

/// Finds `Pad` nodes that the only operator behind them, a convolution or pool, can take over: constant
/// zeros (for a maximum, the lowest number) around spatial axes.
pub(super) fn find_padding(maker: &mut Maker<'_, '_>) {
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
