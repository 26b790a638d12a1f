//! Operators that work element by element: activations, sums and products.

use super::held::Held;
use super::maker::Maker;
use crate::model::VectorOp;
use crate::onnx::rules::Fault;
use crate::onnx::trace::{Step, TensorId};

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
    let data = maker.data(step);
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
    let shape = &maker.fact(constant).shape;
    let long = shape.iter().filter(|&&extent| extent > 1).count();
    if long == 0 || !matches!(op, VectorOp::Add | VectorOp::Mul) {
        return Ok(None);
    }
    let operator = &*step.node.operator;
    let is_sum = matches!(operator, "Add" | "Sub" | "Sum" | "QLinearAdd" | "BiasAdd");
    let is_bias = matches!(operator, "BiasGelu" | "FastGelu");
    let is_factor = matches!(operator, "Mul" | "Div" | "QLinearMul");
    let output = step.outputs[0];
    let held = maker.held(data);
    if long == 1 && (is_sum || is_bias) {
        // A bias, or the shift of a normalisation.
        maker.parameter(constant);
        maker.counts.biases += usize::from(is_sum);
        maker.counts.activations += usize::from(is_bias);
        let axes = maker.axes_like(&[data], output);
        let behind = held.behind.filter(|_| is_sum && maker.is_read_once(output));
        maker.put(output, Held { axes, behind, ..held });
        return Ok(Some(()));
    }
    if long == 1 && is_factor {
        maker.parameter(constant);
        let axes = maker.axes_like(&[data], output);
        if let Some(layer) = held.behind {
            maker.counts.normalisations += 1;
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

/// Whether the next operator, alone, adds constants of a channel.
fn is_shifted(maker: &Maker<'_, '_>, output: TensorId) -> bool {
    let [reader] = maker.readers[output.index()][..] else { return false };
    let step = &maker.trace.steps[reader as usize];
    let is_channel = |id: &TensorId| {
        let Some(fact) = maker.trace.fact(*id) else { return false };
        fact.is_constant && fact.shape.iter().filter(|&&extent| extent > 1).count() == 1
    };
    matches!(&*step.node.operator, "Add" | "Sub")
        && step.inputs.iter().flatten().any(|id| is_channel(id))
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
    let places = maker.places(data, false);
    let inputs = (op == VectorOp::Mul).then(|| {
        let counts = data.iter().map(|id| maker.fact(*id).count());
        counts.fold(0, u64::saturating_add)
    });
    let layer = maker.vector(step, op, output, places, inputs)?;
    maker.result(output, layer, axes);
    Ok(())
}
