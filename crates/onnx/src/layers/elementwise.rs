//! Operators that work element by element: activations, sums and products.

use super::held::{Axis, Held};
use super::maker::Maker;
use super::op::{Done, Op};
use crate::rules::Fault;
use crate::trace::TensorId;
use xrsim_model::model::VectorOp;

/// An operator of one tensor: no layer.
pub(super) fn activation(maker: &mut Maker<'_, '_>, op: &Op<'_>) -> Done {
    maker.counts.activations += 1;
    function_of(maker, op, &maker.data(op))
}

/// Its result is a function of its operands, which are one tensor, element by element.
fn function_of(maker: &mut Maker<'_, '_>, op: &Op<'_>, data: &[TensorId]) -> Done {
    let Some(&first) = data.first() else { return Err(Fault::Unsupported) };
    let held = maker.held(first);
    for &output in &op.step.outputs {
        let axes = maker.axes_like(data, output);
        maker.put(output, Held { axes, behind: None, ..held.clone() });
    }
    Ok(())
}

/// A sum or choice, which is a layer if it joins two tensors.
pub(super) fn sum(maker: &mut Maker<'_, '_>, op: &Op<'_>) -> Done {
    several(maker, op, VectorOp::Add)
}

/// A product, which is a layer if it joins two tensors.
pub(super) fn product(maker: &mut Maker<'_, '_>, op: &Op<'_>) -> Done {
    several(maker, op, VectorOp::Mul)
}

fn several(maker: &mut Maker<'_, '_>, op: &Op<'_>, kind: VectorOp) -> Done {
    let all = maker.data(op);
    // One number that data decide, such as the scale of a dynamic quantisation, changes no more than a constant.
    let large: Vec<TensorId> =
        all.iter().copied().filter(|id| maker.fact(*id).count() > 1).collect();
    let data = if large.is_empty() { all } else { large };
    let Some(&first) = data.first() else { return Err(Fault::Unsupported) };
    let base = maker.held(first).base;
    let is_one = data.iter().all(|id| maker.held(*id).base == base);
    let constants: Vec<TensorId> = op.operands(0).filter(|id| maker.is_constant(*id)).collect();
    if !is_one {
        maker.parameters(constants);
        let inputs = (kind == VectorOp::Mul).then(|| maker.count_of(&data));
        return joined(maker, op, kind, &data, inputs);
    }
    if data.len() == 1
        && let [constant] = constants[..]
        && with_constant(maker, op, kind, first, constant)?
    {
        return Ok(());
    }
    maker.counts.activations += 1;
    function_of(maker, op, &data)
}

/// A tensor and a constant. Returns whether that is more than an activation, and is done.
fn with_constant(
    maker: &mut Maker<'_, '_>,
    op: &Op<'_>,
    kind: VectorOp,
    data: TensorId,
    constant: TensorId,
) -> Result<bool, Fault> {
    let operator = op.name();
    if operator == "PRelu" {
        maker.parameter(constant);
        return Ok(false);
    }
    let output = op.output();
    let long = long_axes(maker, constant, output);
    let is_sum = matches!(operator, "Add" | "Sub" | "Sum" | "QLinearAdd" | "BiasAdd");
    let is_bias = matches!(operator, "BiasGelu" | "FastGelu");
    let is_dividend = operator == "Div" && op.given(0) == Some(constant);
    let is_factor = kind == VectorOp::Mul && operator != "Pow" && !is_dividend;
    // A result that is larger than the tensor is more than the tensor with a bias or a factor.
    let keeps = maker.fact(data).shape == maker.fact(output).shape && long.len() == 1;
    if long.is_empty() || !(is_sum || is_factor || (is_bias && keeps)) {
        return Ok(false);
    }
    maker.parameter(constant);
    let held = maker.held(data);
    let axes = maker.axes_like(&[data], output);
    if keeps && !is_factor {
        // A bias, or the shift of a normalisation.
        maker.counts.biases += usize::from(is_sum);
        maker.counts.activations += usize::from(is_bias);
        let behind = held.behind.filter(|_| is_sum && maker.is_read_once(output));
        maker.put(output, Held { axes, behind, ..held });
    } else if let Some(layer) = held.behind.filter(|_| keeps && is_channel(maker, data, long[0])) {
        maker.counts.normalisations += 1;
        maker.put(output, Held { axes: axes.clone(), ..held.clone() });
        if maker.is_product(layer) && is_shifted(maker, output) {
            maker.fold_norm(maker.fact(constant).count());
        }
        let behind = held.behind.filter(|_| maker.is_read_once(output));
        maker.put(output, Held { axes, behind, ..held });
    } else {
        // A factor that is no channel's, a mask, a position, or another constant of many elements.
        let reads_constant = kind == VectorOp::Mul && !keeps;
        let inputs = reads_constant.then(|| maker.count_of(&[data, constant]));
        joined(maker, op, kind, &[data], inputs)?;
    }
    Ok(true)
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

/// A layer of these tensors that reads `inputs` elements, or as many as usual.
fn joined(
    maker: &mut Maker<'_, '_>,
    op: &Op<'_>,
    kind: VectorOp,
    data: &[TensorId],
    inputs: Option<u64>,
) -> Done {
    let axes = maker.axes_like(data, op.output());
    let places = maker.places(data, false);
    maker.vector(op, kind, axes, places, inputs).map(drop)
}
