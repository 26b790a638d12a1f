//! Softmax and normalisations.

use super::held::{Axis, Held, extents, whole};
use super::maker::Maker;
use super::op::{Done, Op};
use super::operands::behind;
use crate::trace::TensorId;
use xrsim_model::model::{VectorOp, View};

/// A softmax along one axis; before opset 13 along all from it on.
pub(super) fn softmax(maker: &mut Maker<'_, '_>, op: &Op<'_>) -> Done {
    let data = op.operand(0)?;
    let is_own = op.call.node.domain.is_empty();
    let flattens = if is_own { op.call.opset < 13 } else { op.call.int("opset", 13)? < 13 };
    let axis = op.call.axis(if flattens { 1 } else { -1 }, 0)?;
    let shape = &maker.fact(data).shape;
    let volume = |part: &[u64]| part.iter().fold(1u64, |all, &it| all.saturating_mul(it));
    let axes = maker.held(data).axes.filter(|axes| axes.len() == shape.len());
    let by_axes = axes.as_ref().filter(|axes| {
        let is_k = |at: usize| axes[at] == Axis::K && shape[at] > 1;
        (0..shape.len())
            .filter(|&at| is_k(at))
            .eq((axis..shape.len()).filter(|&at| at == axis && shape[at] > 1))
    });
    let extents = match by_axes {
        Some(axes) if !flattens || axis + 1 == shape.len() => extents(shape, axes),
        _ if flattens => [1, volume(&shape[axis..]), volume(&shape[..axis]), 1],
        _ => [1, shape.get(axis).copied().unwrap_or(1), volume(shape) / shape[axis].max(1), 1],
    };
    let places = maker.places(&[data], false);
    let layer = maker.vector_of(op, VectorOp::Softmax, extents, places, None)?;
    maker.result(op.output(), layer, axes);
    Ok(())
}

/// A normalisation of one node.
pub(super) fn layer_norm(maker: &mut Maker<'_, '_>, op: &Op<'_>) -> Done {
    maker.parameters(op.operands(1));
    normalised(maker, op, op.operand(0)?)
}

/// Adds a normalisation of this operand, the result of which is the first output.
pub(super) fn normalised(maker: &mut Maker<'_, '_>, op: &Op<'_>, data: TensorId) -> Done {
    let axes = maker.axes_like(&[data], op.output());
    let places = maker.places(&[data], false);
    let layer = maker.vector(op, VectorOp::LayerNorm, axes, places, None)?;
    behind(maker, op.output(), layer);
    // Means and deviations are a by-product.
    for &more in &op.step.outputs[1..] {
        maker.result(more, layer, None);
        let held = maker.held(more);
        maker.put(more, Held { places: held.seen(View::Slice), ..held });
    }
    Ok(())
}

/// A sum and a normalisation. The sum may be an output of its own.
pub(super) fn skip_layer_norm(maker: &mut Maker<'_, '_>, op: &Op<'_>) -> Done {
    let both = [op.operand(0)?, op.operand(1)?];
    maker.parameters(op.operands(2));
    let axes = maker.axes_like(&both, op.output());
    let data: Vec<_> = both.into_iter().filter(|id| !maker.is_constant(*id)).collect();
    let places = maker.places(&data, false);
    let sum = maker.vector(op, VectorOp::Add, axes.clone(), places, None)?;
    let layer = maker.vector(op, VectorOp::LayerNorm, axes.clone(), whole(sum), None)?;
    behind(maker, op.output(), layer);
    for &more in &op.step.outputs[1..] {
        maker.result(more, sum, axes.clone());
    }
    Ok(())
}

/// Look-ups of words, positions and segments, their sum, and its normalisation.
pub(super) fn embedding(maker: &mut Maker<'_, '_>, op: &Op<'_>) -> Done {
    maker.parameters(op.operands(0));
    let mut parts = Vec::new();
    // Words by their numbers, segments by theirs if there are any; positions are constant.
    for ids in [Some(op.operand(0)?), op.given(1)].into_iter().flatten() {
        let places = maker.held(ids).seen(View::Gather);
        let part = maker.vector(op, VectorOp::Concat, None, places, None)?;
        parts.extend(whole(part));
    }
    let sum = maker.vector(op, VectorOp::Add, None, parts, None)?;
    let layer = maker.vector(op, VectorOp::LayerNorm, None, whole(sum), None)?;
    for &written in &op.step.outputs {
        maker.result(written, layer, None);
    }
    Ok(())
}

/// A batch normalisation: folded into the layer before it, or a layer of its own.
pub(super) fn batch_norm(maker: &mut Maker<'_, '_>, op: &Op<'_>) -> Done {
    let (data, output) = (op.operand(0)?, op.output());
    let channels = maker.fact(op.operand(1)?).count();
    maker.other_parameters = maker.other_parameters.saturating_add(channels.saturating_mul(2));
    let held = maker.held(data);
    if held.behind.is_some_and(|layer| maker.is_product(layer)) {
        maker.counts.normalisations += 1;
        maker.fold_norm(channels);
        let behind = held.behind.filter(|_| maker.is_read_once(output));
        maker.put(output, Held { behind, ..held });
        return Ok(());
    }
    let places = maker.places(&[data], false);
    maker.vector(op, VectorOp::BatchNorm, held.axes, places, None).map(drop)
}
