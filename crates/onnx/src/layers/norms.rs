//! Softmax and normalisations.

use super::held::Held;
use super::maker::Maker;
use super::operands::{behind, operand};
use crate::rules::{Call, Fault};
use crate::trace::{Step, TensorId};
use xrsim_model::model::{VectorOp, View};

/// A softmax along one axis; before opset 13 along all from it on.
pub(super) fn softmax(
    maker: &mut Maker<'_, '_>,
    step: &Step<'_>,
    call: &Call<'_>,
) -> Result<(), Fault> {
    let data = operand(step, 0)?;
    let output = step.outputs[0];
    let is_own = call.node.domain.is_empty();
    let flattens = if is_own { call.opset < 13 } else { call.int("opset", 13)? < 13 };
    let axis = call.axis(if flattens { 1 } else { -1 }, 0)?;
    let shape = maker.fact(data).shape.clone();
    let volume = |part: &[u64]| part.iter().fold(1u64, |all, &it| all.saturating_mul(it));
    let axes = maker.held(data).axes.filter(|axes| axes.len() == shape.len());
    let by_axes = axes.as_ref().filter(|axes| {
        let is_k = |at: usize| axes[at] == super::held::Axis::K && shape[at] > 1;
        (0..shape.len())
            .filter(|&at| is_k(at))
            .eq((axis..shape.len()).filter(|&at| at == axis && shape[at] > 1))
    });
    let extents = match by_axes {
        Some(axes) if !flattens || axis + 1 == shape.len() => super::held::extents(&shape, axes),
        _ if flattens => [1, volume(&shape[axis..]), volume(&shape[..axis]), 1],
        _ => [1, shape.get(axis).copied().unwrap_or(1), volume(&shape) / shape[axis].max(1), 1],
    };
    let places = maker.places(&[data], false);
    let layer = maker.vector_of(step, VectorOp::Softmax, extents, places, None)?;
    maker.result(output, layer, axes);
    Ok(())
}

/// A normalisation of one node.
pub(super) fn layer_norm(maker: &mut Maker<'_, '_>, step: &Step<'_>) -> Result<(), Fault> {
    let data = operand(step, 0)?;
    for id in step.inputs.iter().skip(1).flatten() {
        maker.parameter(*id);
    }
    normalised(maker, step, &[data])
}

/// Adds a normalisation of these operands, the result of which is the first output.
fn normalised(maker: &mut Maker<'_, '_>, step: &Step<'_>, data: &[TensorId]) -> Result<(), Fault> {
    let output = step.outputs[0];
    let axes = maker.axes_like(data, output);
    maker.put(output, Held { axes: axes.clone(), ..Held::new(Vec::new(), output) });
    let places = maker.places(data, false);
    let layer = maker.vector(step, VectorOp::LayerNorm, output, places, None)?;
    maker.result(output, layer, axes);
    behind(maker, output, layer);
    // Means and deviations are a by-product.
    for &more in &step.outputs[1..] {
        maker.result(more, layer, None);
        let held = maker.held(more);
        maker.put(more, Held { places: held.seen(View::Slice), ..held });
    }
    Ok(())
}

/// A sum and a normalisation. The sum may be an output of its own.
pub(super) fn skip_layer_norm(maker: &mut Maker<'_, '_>, step: &Step<'_>) -> Result<(), Fault> {
    let [left, right] = [operand(step, 0)?, operand(step, 1)?];
    for id in step.inputs.iter().skip(2).flatten() {
        maker.parameter(*id);
    }
    let output = step.outputs[0];
    let axes = maker.axes_like(&[left, right], output);
    maker.put(output, Held { axes: axes.clone(), ..Held::new(Vec::new(), output) });
    let data: Vec<_> = [left, right].into_iter().filter(|id| !maker.is_constant(*id)).collect();
    let places = maker.places(&data, false);
    let sum = maker.vector(step, VectorOp::Add, output, places, None)?;
    let places = vec![(super::held::Place::Layer(sum), View::Whole)];
    let layer = maker.vector(step, VectorOp::LayerNorm, output, places, None)?;
    maker.result(output, layer, axes.clone());
    behind(maker, output, layer);
    for &more in &step.outputs[1..] {
        maker.result(more, sum, axes.clone());
    }
    Ok(())
}

/// Look-ups of words, positions and segments, their sum, and its normalisation.
pub(super) fn embedding(maker: &mut Maker<'_, '_>, step: &Step<'_>) -> Result<(), Fault> {
    let output = step.outputs[0];
    for id in step.inputs.iter().flatten() {
        maker.parameter(*id);
    }
    let mut parts = Vec::new();
    // Words by their numbers, segments by theirs if there are any; positions are constant.
    let lookups = [Some(0), step.inputs.get(1).filter(|id| id.is_some()).map(|_| 1)];
    for index in lookups.into_iter().flatten() {
        let ids = operand(step, index)?;
        let places = maker.held(ids).seen(View::Gather);
        parts.push(maker.vector(step, VectorOp::Concat, output, places, None)?);
    }
    let places = parts.iter().map(|&part| (super::held::Place::Layer(part), View::Whole)).collect();
    let sum = maker.vector(step, VectorOp::Add, output, places, None)?;
    let places = vec![(super::held::Place::Layer(sum), View::Whole)];
    let layer = maker.vector(step, VectorOp::LayerNorm, output, places, None)?;
    for &written in &step.outputs {
        maker.result(written, layer, None);
    }
    Ok(())
}

/// A batch normalisation: folded into the layer before it, or a layer of its own.
pub(super) fn batch_norm(maker: &mut Maker<'_, '_>, step: &Step<'_>) -> Result<(), Fault> {
    let data = operand(step, 0)?;
    let output = step.outputs[0];
    let channels = maker.fact(operand(step, 1)?).count();
    maker.other_parameters = maker.other_parameters.saturating_add(channels.saturating_mul(2));
    let held = maker.held(data);
    if held.behind.is_some_and(|layer| maker.is_product(layer)) {
        maker.counts.normalisations += 1;
        maker.batch_norm_channels = maker.batch_norm_channels.saturating_add(channels);
        let behind = held.behind.filter(|_| maker.is_read_once(output));
        maker.put(output, Held { behind, ..held });
        return Ok(());
    }
    let axes = held.axes.clone();
    maker.put(output, held);
    let places = maker.places(&[data], false);
    let layer = maker.vector(step, VectorOp::BatchNorm, output, places, None)?;
    maker.result(output, layer, axes);
    Ok(())
}

/// The last node of a normalisation that was found.
pub(super) fn found(maker: &mut Maker<'_, '_>, step: &Step<'_>, of: TensorId) -> Result<(), Fault> {
    normalised(maker, step, &[of])
}
