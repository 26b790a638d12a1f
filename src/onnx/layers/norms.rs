//! Softmax and normalisations, also those that are written in several nodes.

use super::held::Held;
use super::maker::{Maker, Role};
use super::operands::{behind, operand};
use crate::model::{VectorOp, View};
use crate::onnx::fact::{Elements, Fact};
use crate::onnx::rules::{Call, Fault, reduction};
use crate::onnx::trace::{Step, TensorId};

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
    if held.behind.is_some() {
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

/// Finds layer normalisations and those by the root mean square, which exporters write node by node.
pub(super) fn find(maker: &mut Maker<'_, '_>) {
    let trace = maker.trace;
    for (index, step) in trace.steps.iter().enumerate() {
        if &*step.node.operator != "ReduceMean" || !is_of_last_axes(maker, step) {
            continue;
        }
        let Some(Some(of)) = step.inputs.first().copied() else { continue };
        if let Some(parts) = centred(maker, index, of).or_else(|| scaled(maker, index)) {
            let (last, of) = (parts.last, parts.of);
            for part in parts.inner {
                maker.roles[part] = Role::Part;
            }
            maker.roles[last] = Role::Norm(of);
        }
    }
}

/// Nodes of a normalisation.
struct Parts {
    of: TensorId,
    inner: Vec<usize>,
    last: usize,
}

fn is_of_last_axes(maker: &Maker<'_, '_>, step: &Step<'_>) -> bool {
    let inputs: Option<Vec<_>> =
        step.inputs.iter().map(|id| id.map(|id| maker.trace.fact(id).cloned())).collect();
    let Some(inputs) = inputs else { return false };
    if inputs.iter().any(Option::is_none) {
        return false;
    }
    let call = Call { node: &step.node, opset: step.opset, inputs: &inputs, bound: None };
    let Ok(reduction) = reduction(&call) else { return false };
    let rank = inputs[0].as_ref().map_or(0, |fact| fact.shape.len());
    let n = reduction.axes.len();
    reduction.keeps && n > 0 && reduction.axes.iter().copied().eq(rank - n..rank)
}

/// Steps that read the only output of a step, those after a `Cast` with the `Cast` among `passed`.
fn readers(maker: &Maker<'_, '_>, index: usize, passed: &mut Vec<usize>) -> Vec<usize> {
    let id = maker.trace.steps[index].outputs[0];
    let mut found = Vec::new();
    for &reader in &maker.readers[id.index()] {
        let reader = reader as usize;
        if matches!(operator(maker, reader), "Cast" | "Identity") {
            passed.push(reader);
            found.extend(readers(maker, reader, passed));
        } else {
            found.push(reader);
        }
    }
    found.dedup();
    found
}

fn operator<'m>(maker: &'m Maker<'_, '_>, index: usize) -> &'m str {
    &maker.trace.steps[index].node.operator
}

/// Whether a step squares its operand.
fn squares(maker: &Maker<'_, '_>, index: usize) -> bool {
    let step = &maker.trace.steps[index];
    match (&*step.node.operator, &step.inputs[..]) {
        ("Mul", [a, b]) => a == b,
        ("Pow", [_, Some(exponent)]) => {
            maker.trace.fact(*exponent).is_some_and(|fact| is_number(fact, 2.0))
        }
        _ => false,
    }
}

fn is_number(fact: &Fact, wanted: f64) -> bool {
    match fact.elements.as_deref() {
        Some(Elements::Floats(floats)) => floats[..] == [wanted],
        Some(Elements::Ints(ints)) => ints.len() == 1 && ints[0] as f64 == wanted,
        None => false,
    }
}

/// The nodes from the mean of squares to the root of it: `Add`, `Sqrt`, and a reciprocal if there is one.
/// Returns the steps that read the result.
fn root(maker: &Maker<'_, '_>, mean: usize, inner: &mut Vec<usize>) -> Option<Vec<usize>> {
    inner.push(mean);
    let next = |from: usize, inner: &mut Vec<usize>| match readers(maker, from, inner)[..] {
        [only] => Some(only),
        _ => None,
    };
    let mut at = next(mean, inner)?;
    if operator(maker, at) == "Add" {
        inner.push(at);
        at = next(at, inner)?;
    }
    match operator(maker, at) {
        "Sqrt" => inner.push(at),
        "Pow" => inner.push(at),
        _ => return None,
    }
    let mut ends = readers(maker, at, inner);
    if let [only] = ends[..]
        && (operator(maker, only) == "Reciprocal" || is_reciprocal(maker, only))
    {
        inner.push(only);
        ends = readers(maker, only, inner);
    }
    Some(ends)
}

/// Whether a step divides one by its operand.
fn is_reciprocal(maker: &Maker<'_, '_>, index: usize) -> bool {
    let step = &maker.trace.steps[index];
    let first = step.inputs.first().copied().flatten();
    let is_one = first.and_then(|id| maker.trace.fact(id)).is_some_and(|fact| is_number(fact, 1.0));
    &*step.node.operator == "Div" && is_one
}

/// `(x - mean) / sqrt(mean((x - mean)^2) + eps)`, from its first mean on.
fn centred(maker: &Maker<'_, '_>, mean: usize, of: TensorId) -> Option<Parts> {
    let mut inner = vec![mean];
    let differences = readers(maker, mean, &mut inner);
    let is_difference = |&index: &usize| operator(maker, index) == "Sub";
    if differences.is_empty() || !differences.iter().all(is_difference) {
        return None;
    }
    inner.extend(&differences);
    let after: Vec<usize> =
        differences.iter().flat_map(|&index| readers(maker, index, &mut inner)).collect();
    let mut squared: Vec<usize> =
        after.iter().copied().filter(|&index| squares(maker, index)).collect();
    squared.dedup();
    let [square] = squared[..] else { return None };
    inner.push(square);
    let [variance] = readers(maker, square, &mut inner)[..] else { return None };
    if operator(maker, variance) != "ReduceMean" {
        return None;
    }
    let ends = root(maker, variance, &mut inner)?;
    let [last] = ends[..] else { return None };
    let mut others = after.into_iter().filter(|&index| index != square);
    let is_it = matches!(operator(maker, last), "Div" | "Mul") && others.all(|index| index == last);
    is_it.then_some(Parts { of, inner, last })
}

/// `x / sqrt(mean(x^2) + eps)`, from its mean on.
fn scaled(maker: &Maker<'_, '_>, mean: usize) -> Option<Parts> {
    let squared = maker.trace.steps[mean].inputs.first().copied().flatten()?;
    let square = maker.trace.tensor(squared).writer? as usize;
    if !squares(maker, square) || !maker.is_read_once(squared) {
        return None;
    }
    let of = maker.trace.steps[square].inputs.first().copied().flatten()?;
    let mut inner = vec![square];
    let ends = root(maker, mean, &mut inner)?;
    let [last] = ends[..] else { return None };
    let step = &maker.trace.steps[last];
    let reads_it = step.inputs.contains(&Some(of));
    (matches!(operator(maker, last), "Div" | "Mul") && reads_it).then_some(Parts {
        of,
        inner,
        last,
    })
}
