//! Operators that move elements: changes of shape are nothing, copies are layers.

use super::held::{Axis, Held, Place, reshaped};
use super::maker::Maker;
use super::op::{Done, Op};
use crate::rules::Fault;
use crate::trace::TensorId;
use xrsim_model::model::{VectorOp, View};

/// The operand that passes through a step.
fn operand(maker: &Maker<'_, '_>, op: &Op<'_>) -> Result<TensorId, Fault> {
    maker.data(op).first().copied().ok_or(Fault::Unsupported)
}

/// Gives every output the places of the operand, seen so.
fn through(
    maker: &mut Maker<'_, '_>,
    op: &Op<'_>,
    view: View,
    axes: impl Fn(Vec<Axis>, TensorId) -> Option<Vec<Axis>>,
) -> Done {
    maker.counts.moves += 1;
    let id = operand(maker, op)?;
    let held = maker.held(id);
    let is_alone = op.step.outputs.len() == 1;
    for &output in &op.step.outputs {
        let keeps = is_alone && maker.is_read_once(output) && maker.is_read_once(id);
        let behind = held.behind.filter(|_| keeps && view != View::Slice);
        let axes = held.axes.clone().and_then(|own| axes(own, output));
        let (bits, cached) = (held.bits, held.cached.filter(|_| view != View::Slice));
        let seen = Held::new(held.seen(view), output);
        maker.put(output, Held { axes, behind, bits, cached, ..seen });
    }
    Ok(())
}

/// Part of a layer of several nodes: its result is that of its operand.
pub(super) fn pass(maker: &mut Maker<'_, '_>, op: &Op<'_>) -> Done {
    let held = maker.held(operand(maker, op)?);
    op.step.outputs.iter().for_each(|&output| maker.put(output, held.clone()));
    Ok(())
}

/// The same elements.
pub(super) fn identity(maker: &mut Maker<'_, '_>, op: &Op<'_>) -> Done {
    maker.counts.moves += 1;
    same(maker, op)
}

fn same(maker: &mut Maker<'_, '_>, op: &Op<'_>) -> Done {
    let id = operand(maker, op)?;
    let held = maker.held(id);
    for &output in &op.step.outputs {
        let keeps = maker.is_read_once(output) && maker.is_read_once(id);
        let behind = held.behind.filter(|_| keeps);
        maker.put(output, Held { behind, ..held.clone() });
    }
    Ok(())
}

/// Another number format.
pub(super) fn format(maker: &mut Maker<'_, '_>, op: &Op<'_>) -> Done {
    maker.counts.formats += 1;
    same(maker, op)?;
    let of = match op.name() {
        "DequantizeLinear" => operand(maker, op)?,
        "QuantizeLinear" | "DynamicQuantizeLinear" => op.output(),
        _ => return Ok(()),
    };
    let bits = maker.fact(of).element.bits();
    let held = maker.held(op.output());
    maker.put(op.output(), Held { bits, ..held });
    Ok(())
}

/// Another shape.
pub(super) fn reshape(maker: &mut Maker<'_, '_>, op: &Op<'_>) -> Done {
    let trace = maker.trace;
    let from = maker.fact(operand(maker, op)?);
    through(maker, op, View::Reshape, |axes, output| {
        reshaped(&from.shape, &axes, &trace.fact(output)?.shape)
    })
}

/// Another order of axes.
pub(super) fn transpose(maker: &mut Maker<'_, '_>, op: &Op<'_>) -> Done {
    let fact = maker.fact(operand(maker, op)?);
    let order: Vec<usize> = match op.call.ints("perm")? {
        Some(order) => order.iter().map(|&axis| usize::try_from(axis).unwrap_or(0)).collect(),
        None => (0..fact.shape.len()).rev().collect(),
    };
    let long = order.iter().filter(|&&axis| fact.shape.get(axis).is_some_and(|&extent| extent > 1));
    if !long.is_sorted() {
        maker.transposed = maker.transposed.saturating_add(fact.count());
    }
    reordered(maker, op, &order)
}

fn reordered(maker: &mut Maker<'_, '_>, op: &Op<'_>, order: &[usize]) -> Done {
    through(maker, op, View::Whole, |axes, _| {
        order.iter().map(|&axis| axes.get(axis).copied()).collect()
    })
}

/// Parts of a tensor.
pub(super) fn part(maker: &mut Maker<'_, '_>, op: &Op<'_>) -> Done {
    through(maker, op, View::Slice, |axes, _| Some(axes))
}

/// A tensor repeated along axes of extent 1.
pub(super) fn expand(maker: &mut Maker<'_, '_>, op: &Op<'_>) -> Done {
    let (from, to) = (maker.fact(operand(maker, op)?), maker.fact(op.output()));
    let view = if from.count() == to.count() { View::Reshape } else { View::Repeat };
    // Axes that do not match the rank of the output are not known.
    through(maker, op, view, |axes, _| Some(axes))
}

/// Copies of a tensor side by side; nothing if there is one.
pub(super) fn tile(maker: &mut Maker<'_, '_>, op: &Op<'_>) -> Done {
    let is_one = maker.fact(operand(maker, op)?).shape == maker.fact(op.output()).shape;
    if is_one { identity(maker, op) } else { copy(maker, op) }
}

/// Chosen elements: a look-up in a table, a part if the choice is constant, else a copy.
pub(super) fn gather(maker: &mut Maker<'_, '_>, op: &Op<'_>) -> Done {
    let (table, indices) = (op.operand(0)?, op.operand(1)?);
    if maker.is_constant(indices) {
        return part(maker, op);
    }
    maker.parameter(table);
    copy(maker, op)
}

/// A copy of what depends on data.
pub(super) fn copy(maker: &mut Maker<'_, '_>, op: &Op<'_>) -> Done {
    let data = maker.data(op);
    let rank = maker.fact(op.output()).shape.len();
    let held = data.iter().map(|id| maker.held(*id));
    let axes = held.filter_map(|held| held.axes).find(|axes| axes.len() == rank);
    let axes = axes.filter(|_| !matches!(op.name(), "Gather" | "GatherND" | "OneHot"));
    let view = match op.name() {
        "Pad" => View::Pad,
        "Tile" => View::Repeat,
        "Trilu" | "CumSum" | "ReverseSequence" | "RotaryEmbedding" => View::Whole,
        "DepthToSpace" | "SpaceToDepth" => View::Reshape,
        _ => View::Gather,
    };
    let mut places = Vec::new();
    for id in &data {
        for place in maker.held(*id).seen(view) {
            if !places.iter().any(|(known, _)| *known == place.0) {
                places.push(place);
            }
        }
    }
    let layer = maker.vector(op, VectorOp::Concat, axes, places, None)?;
    for &more in &op.step.outputs[1..] {
        maker.result(more, layer, None);
    }
    Ok(())
}

/// Tensors side by side.
pub(super) fn concat(maker: &mut Maker<'_, '_>, op: &Op<'_>) -> Done {
    if op.operands(0).count() == 1 {
        return identity(maker, op);
    }
    maker.parameters(op.operands(0));
    let data = maker.data(op);
    if data.first().is_some_and(|first| maker.caches.contains(first)) {
        maker.counts.moves += 1;
        let cached = Some(maker.fact(op.output()).count());
        let places = vec![(Place::Outside, View::Whole)];
        maker.put(op.output(), Held { cached, ..Held::new(places, op.output()) });
        return Ok(());
    }
    let axes = maker.axes_like(&data, op.output());
    let places = maker.places(&data, false);
    maker.vector(op, VectorOp::Concat, axes, places, None).map(drop)
}

/// Another order of the axes that these letters name.
pub(super) fn reorder<L: PartialEq>(
    maker: &mut Maker<'_, '_>,
    op: &Op<'_>,
    from: &[L],
    to: &[L],
) -> Done {
    let place = |letter: &L| from.iter().position(|known| known == letter);
    let order: Option<Vec<usize>> = to.iter().map(place).collect();
    reordered(maker, op, &order.ok_or(Fault::Unsupported)?)
}
