//! Convolutions.

use super::held::Axis;
use super::maker::{Maker, extent};
use super::operands::{add_to, behind, operand, weight_bits};
use super::padding::{of_windows, small};
use crate::rules::{Call, Fault, Window, windows};
use crate::trace::{Step, TensorId};
use xrsim_model::model::{ConvKind, ConvShape, Operator, Padding};

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
        padding: of_windows(&windows)?,
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
    let weight_bits = weight_bits(maker, weights);
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

fn sum(a: Padding, b: Padding) -> Padding {
    Padding {
        top: a.top + b.top,
        bottom: a.bottom + b.bottom,
        left: a.left + b.left,
        right: a.right + b.right,
    }
}
