//! Weights and results that several kinds of layers have.

use super::held::Held;
use super::maker::Maker;
use super::op::{Done, Op};
use crate::trace::TensorId;
use xrsim_model::model::VectorOp;

/// Bits of weights that are quantised; `None` of others.
pub(super) fn weight_bits(maker: &Maker<'_, '_>, weights: TensorId) -> Option<u32> {
    let mut id = weights;
    // Weights come through `DequantizeLinear` and changes of shape.
    for _ in 0..8 {
        let Some(writer) = maker.trace.tensor(id).writer else { break };
        let step = &maker.trace.steps[writer as usize];
        id = step.inputs.first().copied().flatten()?;
        if &*step.node.operator == "DequantizeLinear" {
            return maker.trace.fact(id)?.element.bits();
        }
    }
    let element = maker.trace.fact(weights)?.element;
    element.bits().filter(|&bits| bits <= 8)
}

/// Notes that a tensor is the result of a layer with weights, which what follows can be folded into.
pub(super) fn behind(maker: &mut Maker<'_, '_>, output: TensorId, layer: usize) {
    let held = maker.held(output);
    let behind = maker.is_read_once(output).then_some(layer);
    maker.put(output, Held { behind, ..held });
}

/// Adds another operand to the result of a fused operator.
pub(super) fn add_to(maker: &mut Maker<'_, '_>, op: &Op<'_>, other: TensorId) -> Done {
    if maker.is_constant(other) {
        maker.parameter(other);
        return Ok(());
    }
    let axes = maker.held(op.output()).axes;
    let places = maker.places(&[op.output(), other], false);
    maker.vector(op, VectorOp::Add, axes, places, None).map(drop)
}
