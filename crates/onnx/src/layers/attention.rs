//! Attention of one node, written out: products of queries and keys, softmax, and products with values.

use super::held::{Axis, Held, Place};
use super::maker::Maker;
use super::operands::operand;
use super::products::{Form, add};
use crate::rules::{Call, Fault, heads};
use crate::trace::{Step, TensorId};
use xrsim_model::model::{MatmulShape, Operator, VectorOp, View};

/// The layers of an attention. Masks and positions are part of the softmax.
pub(super) fn attention(
    maker: &mut Maker<'_, '_>,
    step: &Step<'_>,
    call: &Call<'_>,
) -> Result<(), Fault> {
    let form = heads(call)?;
    let instances = form.batch.saturating_mul(form.heads);
    let operands = |range: std::ops::Range<usize>| -> Vec<TensorId> {
        let inputs = step.inputs.get(range).unwrap_or_default();
        inputs.iter().copied().flatten().filter(|id| !maker.is_constant(*id)).collect()
    };
    let [queries, keys, values] = match form.projected {
        Some(features) => {
            let (data, weights) = (operand(step, 0)?, operand(step, 1)?);
            if !maker.is_constant(weights) {
                return Err(Fault::Invalid("its weights depend on data".into()));
            }
            if let Some(&Some(bias)) = step.inputs.get(2) {
                maker.parameter(bias);
            }
            let columns = maker.fact(weights).shape.last().copied().unwrap_or(0);
            let rows = form.batch.saturating_mul(form.queries);
            let form = Form { instances: 1, rows, c: features, k: columns, weights: Some(weights) };
            let layer = add(maker, step, &form, &[data], None)?;
            let part = vec![(Place::Layer(layer), View::Slice)];
            [part.clone(), part.clone(), part]
        }
        None => {
            let [q, k, v] = [0, 1, 2].map(|index| operands(index..index + 1));
            // Queries, keys and values may stand side by side in the first operand.
            let packed = call.optional(1).is_none();
            let view = if packed { View::Slice } else { View::Whole };
            let seen = |ids: &[TensorId]| -> Vec<(Place, View)> {
                ids.iter().flat_map(|id| maker.held(*id).seen(view)).collect()
            };
            let q = seen(&q);
            let k = if packed { q.clone() } else { seen(&k) };
            let v = if call.optional(2).is_none() { k.clone() } else { seen(&v) };
            [q, k, v]
        }
    };
    let product = |rows: u64, c: u64, k: u64| -> Result<Operator, Fault> {
        let extent = super::maker::extent;
        Ok(Operator::Matmul(MatmulShape {
            instances: extent("the number of heads", instances)?,
            rows: extent("the number of rows", rows)?,
            c: extent("the number of features", c)?,
            k: extent("the number of columns", k)?,
            activations: true,
        }))
    };
    let both = |first: &[(Place, View)], second: &[(Place, View)]| [first, second].concat();
    // Keys and values of frames before, and masks that depend on data, are read, too.
    let named = |name: &str| {
        past_and_masks(call)
            .iter()
            .filter(|(of, _)| *of == name)
            .map(|(_, at)| *at)
            .collect::<Vec<_>>()
    };
    let more = |name: &str| -> Vec<(Place, View)> {
        let ids = named(name).into_iter().filter_map(|at| step.inputs.get(at).copied().flatten());
        ids.filter(|id| !maker.is_constant(*id))
            .flat_map(|id| maker.held(id).seen(View::Gather))
            .collect()
    };
    let (keys, values, masks) =
        ([keys, more("key")].concat(), [values, more("value")].concat(), more("mask"));
    let operator = product(form.queries, form.depth, form.keys)?;
    let scores = maker.layer(step, operator, None, both(&queries, &keys))?;
    let whole = |layer: usize| vec![(Place::Layer(layer), View::Whole)];
    let extents = [instances, form.keys, form.queries, 1];
    let softmax = maker.vector_of(
        step,
        VectorOp::Softmax,
        extents,
        both(&whole(scores), &masks),
        Some(instances.saturating_mul(form.queries).saturating_mul(form.keys)),
    )?;
    let operator = product(form.queries, form.keys, form.value_depth)?;
    let result = maker.layer(step, operator, None, both(&whole(softmax), &values))?;
    for (index, &output) in step.outputs.iter().enumerate() {
        let rank = maker.fact(output).shape.len();
        let places = match index {
            0 => whole(result),
            // Keys and values of this frame and of those before.
            1 => keys.clone(),
            3 => whole(scores),
            _ => values.clone(),
        };
        let mut axes = vec![Axis::N; rank];
        for (axis, end) in axes.iter_mut().rev().zip([Axis::K, Axis::Y]) {
            *axis = end;
        }
        maker.put(output, Held { axes: Some(axes), ..Held::new(places, output) });
    }
    Ok(())
}

/// Inputs beside queries, keys and values that an attention reads: their kind, and which they are.
fn past_and_masks(call: &Call<'_>) -> &'static [(&'static str, usize)] {
    match (&*call.node.domain, call.operator()) {
        ("", _) => &[("mask", 3), ("key", 4), ("value", 5)],
        (_, "MultiHeadAttention") => &[("mask", 4), ("mask", 5), ("key", 6), ("value", 7)],
        (_, "GroupQueryAttention") => &[("key", 3), ("value", 4)],
        (_, "Attention") => &[("mask", 3), ("mask", 5), ("key", 4), ("value", 4)],
        _ => &[("mask", 5), ("key", 8), ("value", 8)],
    }
}
