//! Operators that work element by element: activations, sums and products.

use super::held::{Axis, Held};
use super::maker::Maker;
use crate::rules::Fault;
use crate::trace::{Step, TensorId};
use xrsim_model::model::VectorOp;

/// An operator of one tensor: no layer.
pub(super) fn activation(maker: &mut Maker<'_, '_>, step: &Step<'_>) -> Result<(), Fault> {
    maker.counts.activations += 1;
    function_of(maker, step, &maker.data(step))
}

/// Its result is a function of its operands, which are one tensor, element by element.
fn function_of(maker: &mut Maker<'_, '_>, step: &Step<'_>, data: &[TensorId]) -> Result<(), Fault> {
    let Some(&first) = data.first() else { return Err(Fault::Unsupported) };
    let held = maker.held(first);
    for &output in &step.outputs {
        let axes = maker.axes_like(data, output);
        let held = Held { axes, behind: None, ..held.clone() };
        maker.put(output, held);
    }
    Ok(())
}

/// A sum, product or choice, which is a layer if it joins two tensors.
pub(super) fn several(
    maker: &mut Maker<'_, '_>,
    step: &Step<'_>,
    op: VectorOp,
) -> Result<(), Fault> {
    let all = maker.data(step);
    // One number that data decide, such as the scale of a dynamic quantisation, changes no more than a constant.
    let large: Vec<TensorId> =
        all.iter().copied().filter(|id| maker.fact(*id).count() > 1).collect();
    let data = if large.is_empty() { all } else { large };
    let Some(&first) = data.first() else { return Err(Fault::Unsupported) };
    let base = maker.held(first).base;
    let is_one = data.iter().all(|id| maker.held(*id).base == base);
    let constants: Vec<TensorId> =
        step.inputs.iter().copied().flatten().filter(|id| maker.is_constant(*id)).collect();
    if !is_one {
        return joined(maker, step, op, &data);
    }
    if data.len() == 1
        && let [constant] = constants[..]
        && let Some(done) = with_constant(maker, step, op, first, constant)?
    {
        return Ok(done);
    }
    maker.counts.activations += 1;
    function_of(maker, step, &data)
}

/// A tensor and a constant. `None` if that is an activation.
fn with_constant(
    maker: &mut Maker<'_, '_>,
    step: &Step<'_>,
    op: VectorOp,
    data: TensorId,
    constant: TensorId,
) -> Result<Option<()>, Fault> {
    let operator = &*step.node.operator;
    if operator == "PRelu" {
        maker.parameter(constant);
        return Ok(None);
    }
    let output = step.outputs[0];
    let long = long_axes(maker, constant, output);
    if long.is_empty() {
        return Ok(None);
    }
    let is_sum = matches!(operator, "Add" | "Sub" | "Sum" | "QLinearAdd" | "BiasAdd");
    let is_bias = matches!(operator, "BiasGelu" | "FastGelu");
    let is_dividend = operator == "Div" && step.inputs.first() == Some(&Some(constant));
    let is_factor = op == VectorOp::Mul && operator != "Pow" && !is_dividend;
    let held = maker.held(data);
    // A result that is larger than the tensor is more than the tensor with a bias or a factor.
    let keeps = maker.fact(data).shape == maker.fact(output).shape;
    let is_of_channel = keeps && long.len() == 1 && is_channel(maker, data, long[0]);
    if keeps && long.len() == 1 && (is_sum || is_bias) {
        // A bias, or the shift of a normalisation.
        maker.parameter(constant);
        maker.counts.biases += usize::from(is_sum);
        maker.counts.activations += usize::from(is_bias);
        let axes = maker.axes_like(&[data], output);
        let behind = held.behind.filter(|_| is_sum && maker.is_read_once(output));
        maker.put(output, Held { axes, behind, ..held });
        return Ok(Some(()));
    }
    if keeps && long.len() == 1 && is_factor {
        maker.parameter(constant);
        let axes = maker.axes_like(&[data], output);
        if let Some(layer) = held.behind.filter(|_| is_of_channel) {
            maker.counts.normalisations += 1;
            maker.put(output, Held { axes: axes.clone(), ..held.clone() });
            if maker.is_product(layer) && is_shifted(maker, output) {
                let channels = maker.fact(constant).count();
                maker.batch_norm_channels = maker.batch_norm_channels.saturating_add(channels);
            }
            let behind = held.behind.filter(|_| maker.is_read_once(output));
            maker.put(output, Held { axes, behind, ..held });
            return Ok(Some(()));
        }
        let places = maker.places(&[data], false);
        maker.put(output, Held { axes: axes.clone(), ..held });
        let layer = maker.vector(step, VectorOp::Mul, output, places, None)?;
        maker.result(output, layer, axes);
        return Ok(Some(()));
    }
    if !(is_sum || is_factor) {
        return Ok(None);
    }
    // A mask, a position, or another constant of many elements.
    maker.parameter(constant);
    let axes = maker.axes_like(&[data], output);
    maker.put(output, Held { axes: axes.clone(), ..held.clone() });
    let places = maker.places(&[data], false);
    let inputs = maker.fact(data).count().saturating_add(maker.fact(constant).count());
    let inputs = (op == VectorOp::Mul).then_some(inputs);
    let layer = maker.vector(step, op, output, places, inputs)?;
    maker.result(output, layer, axes);
    Ok(Some(()))
}

/// Axes of the result along which a constant has more than one element.
fn long_axes(maker: &Maker<'_, '_>, constant: TensorId, output: TensorId) -> Vec<usize> {
    let Some(fact) = maker.trace.fact(constant) else { return Vec::new() };
    let Some(whole) = maker.trace.fact(output) else { return Vec::new() };
    // Axes are matched from the last one on.
    let first = whole.shape.len().saturating_sub(fact.shape.len());
    let is_long = |(axis, extent): (usize, &u64)| (*extent > 1).then_some(first + axis);
    fact.shape.iter().enumerate().filter_map(is_long).collect()
}

/// Whether an axis of a tensor is that of its channels: the last one, if nothing else is known.
fn is_channel(maker: &Maker<'_, '_>, id: TensorId, axis: usize) -> bool {
    match maker.held(id).axes {
        Some(axes) => axes.get(axis) == Some(&Axis::K),
        None => axis + 1 == maker.fact(id).shape.len(),
    }
}

/// Whether the next operator, alone, adds constants of a channel.
fn is_shifted(maker: &Maker<'_, '_>, output: TensorId) -> bool {
    let [reader] = maker.readers[output.index()][..] else { return false };
    let step = &maker.trace.steps[reader as usize];
    let is_shift = |id: &TensorId| {
        let is_constant = maker.trace.fact(*id).is_some_and(|fact| fact.is_constant);
        let long = long_axes(maker, *id, step.outputs[0]);
        is_constant && long.len() == 1 && is_channel(maker, output, long[0])
    };
    matches!(&*step.node.operator, "Add" | "Sub") && step.inputs.iter().flatten().any(is_shift)
}

/// A layer that reads several tensors.
fn joined(
    maker: &mut Maker<'_, '_>,
    step: &Step<'_>,
    op: VectorOp,
    data: &[TensorId],
) -> Result<(), Fault> {
    let output = step.outputs[0];
    let axes = maker.axes_like(data, output);
    maker.put(output, Held { axes: axes.clone(), ..maker.held(data[0]) });
    for id in step
        .inputs
        .iter()
        .flatten()
        .filter(|id| maker.is_constant(**id))
        .copied()
        .collect::<Vec<_>>()
    {
        maker.parameter(id);
    }
    let places = maker.places(data, false);
    let inputs = (op == VectorOp::Mul).then(|| {
        let counts = data.iter().map(|id| maker.fact(*id).count());
        counts.fold(0, u64::saturating_add)
    });
    let layer = maker.vector(step, op, output, places, inputs)?;
    maker.result(output, layer, axes);
    Ok(())
}
