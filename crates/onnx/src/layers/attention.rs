//! Attention of one node, written out: products of queries and keys, softmax, and products with values.

use super::held::{Axis, Held, Place, Places, axes_ending, whole};
use super::maker::{Maker, extent};
use super::op::{Done, Op};
use super::products::{Form, add};
use crate::rules::{Fault, Heads, heads};
use xrsim_model::model::{MatmulShape, Operator, VectorOp, View};

/// The layers of an attention. Masks and positions are part of the softmax.
pub(super) fn attention(maker: &mut Maker<'_, '_>, op: &Op<'_>) -> Done {
    let mut form = heads(&op.call)?;
    let [queries, keys, values] = match form.projected {
        Some(features) => projected(maker, op, &form, features)?,
        None => operands(maker, op),
    };
    // Keys and values of frames before, and masks that depend on data, are read, too.
    let more = |kind: &str| -> Places {
        let all = past_and_masks(op).iter().filter(|(known, _)| *known == kind);
        all.flat_map(|&(_, index)| read(maker, op, index, View::Gather)).collect()
    };
    let is_past = |index: &usize| op.given(*index).is_some_and(|id| maker.caches.contains(&id));
    let is_cached =
        past_and_masks(op).iter().any(|(kind, index)| *kind != "mask" && is_past(index));
    let (keys, values) = match is_cached {
        // Rows of this step are read with the cache, once for all queries that share them.
        true => {
            form.queries = form.queries.saturating_mul(form.heads / form.key_heads.max(1));
            form.heads = form.key_heads;
            let cache: Places = vec![(Place::Outside, View::Whole)];
            (cache.clone(), cache)
        }
        false => ([keys, more("key")].concat(), [values, more("value")].concat()),
    };
    let masks = more("mask");
    let operator = product(&form, form.depth, form.keys)?;
    let scores = maker.layer(op, operator, None, [&queries[..], &keys].concat())?;
    let instances = form.batch.saturating_mul(form.heads);
    let softmax = maker.vector_of(
        op,
        VectorOp::Softmax,
        [instances, form.keys, form.queries, 1],
        [whole(scores), masks].concat(),
        Some(instances.saturating_mul(form.queries).saturating_mul(form.keys)),
    )?;
    let operator = product(&form, form.keys, form.value_depth)?;
    let result = maker.layer(op, operator, None, [&whole(softmax)[..], &values].concat())?;
    for (index, &output) in op.step.outputs.iter().enumerate() {
        let places = match index {
            0 => whole(result),
            // Keys and values of this frame and of those before.
            1 => keys.clone(),
            3 => whole(scores),
            _ => values.clone(),
        };
        let axes = axes_ending(maker.fact(output).shape.len(), Axis::N, [Axis::Y, Axis::K]);
        let axes = Some(axes).filter(|_| !is_cached);
        maker.put(output, Held { axes, ..Held::new(places, output) });
    }
    Ok(())
}

/// Queries, keys and values as parts of the product that makes them of the data.
fn projected(
    maker: &mut Maker<'_, '_>,
    op: &Op<'_>,
    form: &Heads,
    features: u64,
) -> Result<[Places; 3], Fault> {
    let (data, weights) = (op.operand(0)?, op.operand(1)?);
    ensure!(maker.is_constant(weights), "its weights depend on data");
    maker.parameters(op.given(2));
    let k = maker.fact(weights).shape.last().copied().unwrap_or(0);
    let rows = form.batch.saturating_mul(form.queries);
    let form = Form { instances: 1, rows, c: features, k, weights: Some(weights) };
    let layer = add(maker, op, &form, &[data], None)?;
    let part = vec![(Place::Layer(layer), View::Slice)];
    Ok([part.clone(), part.clone(), part])
}

/// Queries, keys and values, which may stand side by side in the first operand.
fn operands(maker: &Maker<'_, '_>, op: &Op<'_>) -> [Places; 3] {
    let packed = op.given(1).is_none();
    let view = if packed { View::Slice } else { View::Whole };
    let queries = read(maker, op, 0, view);
    let keys = if packed { queries.clone() } else { read(maker, op, 1, view) };
    let values = if op.given(2).is_none() { keys.clone() } else { read(maker, op, 2, view) };
    [queries, keys, values]
}

/// Places of an operand, if it depends on data.
fn read(maker: &Maker<'_, '_>, op: &Op<'_>, index: usize, view: View) -> Places {
    let data = op.given(index).filter(|id| !maker.is_constant(*id));
    data.map_or_else(Vec::new, |id| maker.held(id).seen(view))
}

/// A product for each head.
fn product(form: &Heads, c: u64, k: u64) -> Result<Operator, Fault> {
    Ok(Operator::Matmul(MatmulShape {
        instances: extent("the number of heads", form.batch.saturating_mul(form.heads))?,
        rows: extent("the number of rows", form.queries)?,
        c: extent("the number of features", c)?,
        k: extent("the number of columns", k)?,
        activations: true,
    }))
}

/// Inputs beside queries, keys and values that an attention reads: their kind, and which they are.
fn past_and_masks(op: &Op<'_>) -> &'static [(&'static str, usize)] {
    match (&*op.call.node.domain, op.name()) {
        ("", _) => &[("mask", 3), ("key", 4), ("value", 5)],
        (_, "MultiHeadAttention") => &[("mask", 4), ("mask", 5), ("key", 6), ("value", 7)],
        (_, "GroupQueryAttention") => &[("key", 3), ("value", 4)],
        (_, "Attention") => &[("mask", 3), ("mask", 5), ("key", 4), ("value", 4)],
        _ => &[("mask", 5), ("key", 8), ("value", 8)],
    }
}
