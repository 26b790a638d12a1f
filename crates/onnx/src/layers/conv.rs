//! Convolutions.

use super::held::IMAGE;
use super::maker::{Maker, extent};
use super::op::{Done, Op};
use super::operands::{add_to, behind, weight_bits};
use super::padding::{over_image, padding, small, sum};
use crate::rules::{Fault, Window, windows};
use crate::trace::TensorId;
use xrsim_model::model::{ConvKind, ConvShape, Operator, Padding};

/// A dense, grouped or depthwise convolution.
pub(super) fn conv(maker: &mut Maker<'_, '_>, op: &Op<'_>) -> Done {
    let quantised = op.name() == "QLinearConv";
    let weights = op.operand(if quantised { 3 } else { 1 })?;
    let (mut shape, _) = shape(maker, op, weights)?;
    let groups = groups(op)?;
    shape.k = extent("the number of kernels", maker.fact(weights).shape[0])?;
    shape.groups = groups;
    if groups > 1 && groups == shape.c && groups == shape.k {
        shape = ConvShape { kind: ConvKind::Depthwise, groups: 1, k: 1, ..shape };
    }
    let own = shape.padding;
    // The tensor that is read holds the padding of a `Pad` before it already.
    let added = maker.padding.get(&op.operand(0)?).copied().unwrap_or_default();
    let (rows, columns) = (own.top + own.bottom, own.left + own.right);
    shape.y = extent("the number of rows", u64::from(shape.y) + u64::from(rows))?;
    shape.x = extent("the number of columns", u64::from(shape.x) + u64::from(columns))?;
    shape.padding = sum(own, added);
    shape.kernel_fits().map_err(Fault::invalid)?;
    finish(maker, op, shape, weights, shape.padding, if quantised { 8 } else { 2 })?;
    match op.given(3) {
        Some(other) if op.name() == "FusedConv" => add_to(maker, op, other),
        _ => Ok(()),
    }
}

fn groups(op: &Op<'_>) -> Result<u32, Fault> {
    let groups = op.call.int("group", 1)?;
    extent("the number of groups", u64::try_from(groups).unwrap_or(0))
}

/// A transposed convolution.
pub(super) fn transposed(maker: &mut Maker<'_, '_>, op: &Op<'_>) -> Done {
    let weights = op.operand(1)?;
    let (shape, windows) = shape(maker, op, weights)?;
    let groups = groups(op)?;
    let per_group = maker.fact(weights).shape[1];
    let k = extent("the number of kernels", per_group.saturating_mul(groups.into()))?;
    let mut crops = [[0, 0]; 2];
    for ((crop, window), stored) in crops.iter_mut().zip(windows).zip([shape.y, shape.x]) {
        // What is cut off after the last: everything that is neither output nor cut off before.
        let whole = (u64::from(stored) - 1) * window.stride + window.kernel;
        let after =
            whole.checked_sub(window.output).and_then(|cut| cut.checked_sub(window.pad_begin));
        let Some(after) = after else {
            return Err(Fault::invalid("`output_padding` adds more than `pads` cut off"));
        };
        *crop = [small(window.pad_begin)?, small(after)?];
    }
    let own = shape.padding;
    let kind = ConvKind::Transposed;
    let shape = ConvShape { kind, k, groups, padding: padding(crops), ..shape };
    finish(maker, op, shape, weights, own, 2)
}

/// Extents of data and kernel, and windows over rows and columns; padding is that of the node, `y` and `x` are
/// without it.
fn shape(
    maker: &Maker<'_, '_>,
    op: &Op<'_>,
    weights: TensorId,
) -> Result<(ConvShape, [Window; 2]), Fault> {
    let is_constant = maker.is_constant(weights);
    ensure!(is_constant, "its weights depend on data; a dynamic convolution is no layer here");
    let windows = over_image(&windows(&op.call)?, "convolution")?;
    let [rows, columns] = &windows;
    let data = &maker.fact(op.operand(0)?).shape;
    let shape = ConvShape {
        n: extent("the batch", data[0])?,
        c: extent("the number of channels", data[1])?,
        y: extent("the number of rows", data[2])?,
        x: extent("the number of columns", data.get(3).copied().unwrap_or(1))?,
        padding: super::padding::of_windows(&windows)?,
        r: extent("the number of kernel rows", rows.kernel)?,
        stride_y: extent("the stride", rows.stride)?,
        dilation_y: extent("the dilation", rows.dilation)?,
        s: extent("the number of kernel columns", columns.kernel)?,
        stride_x: extent("the stride", columns.stride)?,
        dilation_x: extent("the dilation", columns.dilation)?,
        ..ConvShape::UNIT
    };
    Ok((shape, windows))
}

fn finish(
    maker: &mut Maker<'_, '_>,
    op: &Op<'_>,
    shape: ConvShape,
    weights: TensorId,
    padding: Padding,
    bias: usize,
) -> Done {
    let data = op.operand(0)?;
    maker.parameters(op.given(bias));
    let places = maker.places(&[data], false);
    let layer = maker.layer(op, Operator::Conv(shape), None, places)?;
    let bits = maker.held(data).bits;
    let weight_bits = weight_bits(maker, weights);
    let row = maker.row(layer);
    (row.padding, row.activation_bits, row.weight_bits) = (padding, bits, weight_bits);
    if maker.is_shared(weights) {
        maker.share(layer);
    }
    let output = op.output();
    let rank = maker.fact(output).shape.len();
    maker.result(output, layer, Some(IMAGE[..rank.min(4)].to_vec()));
    behind(maker, output, layer);
    Ok(())
}
