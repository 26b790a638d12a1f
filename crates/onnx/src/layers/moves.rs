//! Operators that move elements: changes of shape are nothing, copies are layers.

use super::held::{Axis, Held, reshaped};
use super::maker::Maker;
use crate::rules::{Call, Fault};
use crate::trace::{Step, TensorId};
use xrsim_model::model::{VectorOp, View};

/// The operand that passes through a step.
fn operand(maker: &Maker<'_, '_>, step: &Step<'_>) -> Result<TensorId, Fault> {
    maker.data(step).first().copied().ok_or(Fault::Unsupported)
}

/// Gives every output the places of the operand, seen so.
fn through(
    maker: &mut Maker<'_, '_>,
    step: &Step<'_>,
    id: TensorId,
    view: View,
    axes: impl Fn(&Maker<'_, '_>, TensorId) -> Option<Vec<Axis>>,
) {
    let held = maker.held(id);
    let is_alone = step.outputs.len() == 1;
    for &output in &step.outputs {
        let keeps = is_alone && maker.is_read_once(output) && maker.is_read_once(id);
        let behind = held.behind.filter(|_| keeps && view != View::Slice);
        let (places, axes) = (held.seen(view), axes(maker, output));
        let bits = held.bits;
        maker.put(output, Held { axes, behind, bits, ..Held::new(places, output) });
    }
}

/// Part of a layer of several nodes: its result is that of its operand.
pub(super) fn pass(maker: &mut Maker<'_, '_>, step: &Step<'_>) -> Result<(), Fault> {
    let id = operand(maker, step)?;
    let held = maker.held(id);
    step.outputs.iter().for_each(|&output| maker.put(output, held.clone()));
    Ok(())
}

/// The same elements.
pub(super) fn identity(maker: &mut Maker<'_, '_>, step: &Step<'_>) -> Result<(), Fault> {
    maker.counts.moves += 1;
    same(maker, step)
}

fn same(maker: &mut Maker<'_, '_>, step: &Step<'_>) -> Result<(), Fault> {
    let id = operand(maker, step)?;
    let held = maker.held(id);
    for &output in &step.outputs {
        let keeps = maker.is_read_once(output) && maker.is_read_once(id);
        let behind = held.behind.filter(|_| keeps);
        maker.put(output, Held { behind, ..held.clone() });
    }
    Ok(())
}

/// Another number format.
pub(super) fn format(maker: &mut Maker<'_, '_>, step: &Step<'_>) -> Result<(), Fault> {
    maker.counts.formats += 1;
    same(maker, step)?;
    let (input, output) = (operand(maker, step)?, step.outputs[0]);
    let of = match &*step.node.operator {
        "DequantizeLinear" => input,
        "QuantizeLinear" | "DynamicQuantizeLinear" => output,
        _ => return Ok(()),
    };
    let bits = maker.fact(of).element.bits();
    let held = maker.held(output);
    maker.put(output, Held { bits, ..held });
    Ok(())
}

/// Another shape.
pub(super) fn reshape(maker: &mut Maker<'_, '_>, step: &Step<'_>) -> Result<(), Fault> {
    maker.counts.moves += 1;
    let id = operand(maker, step)?;
    through(maker, step, id, View::Reshape, |maker, output| {
        let (from, to) = (&maker.fact(id).shape, &maker.fact(output).shape);
        reshaped(from, &maker.held(id).axes?, to)
    });
    Ok(())
}

/// Another order of axes.
pub(super) fn transpose(
    maker: &mut Maker<'_, '_>,
    step: &Step<'_>,
    call: &Call<'_>,
) -> Result<(), Fault> {
    maker.counts.moves += 1;
    let id = operand(maker, step)?;
    let fact = maker.fact(id);
    let order: Vec<usize> = match call.ints("perm")? {
        Some(order) => order.iter().map(|&axis| usize::try_from(axis).unwrap_or(0)).collect(),
        None => (0..fact.shape.len()).rev().collect(),
    };
    let long = order.iter().filter(|&&axis| fact.shape.get(axis).is_some_and(|&extent| extent > 1));
    if !long.is_sorted() {
        maker.transposed = maker.transposed.saturating_add(fact.count());
    }
    through(maker, step, id, View::Whole, |maker, _| {
        let axes = maker.held(id).axes?;
        order.iter().map(|&axis| axes.get(axis).copied()).collect()
    });
    Ok(())
}

/// Parts of a tensor.
pub(super) fn part(maker: &mut Maker<'_, '_>, step: &Step<'_>) -> Result<(), Fault> {
    maker.counts.moves += 1;
    let id = operand(maker, step)?;
    through(maker, step, id, View::Slice, |maker, _| maker.held(id).axes);
    Ok(())
}

/// A tensor repeated along axes of extent 1.
pub(super) fn expand(maker: &mut Maker<'_, '_>, step: &Step<'_>) -> Result<(), Fault> {
    maker.counts.moves += 1;
    let id = operand(maker, step)?;
    let (from, to) = (&maker.fact(id).shape, &maker.fact(step.outputs[0]).shape);
    let view = if maker.fact(id).count() == maker.fact(step.outputs[0]).count() {
        View::Reshape
    } else {
        View::Repeat
    };
    let is_same_rank = from.len() == to.len();
    through(maker, step, id, view, |maker, _| maker.held(id).axes.filter(|_| is_same_rank));
    Ok(())
}

/// Copies of a tensor side by side; nothing if there is one.
pub(super) fn tile(maker: &mut Maker<'_, '_>, step: &Step<'_>) -> Result<(), Fault> {
    let id = operand(maker, step)?;
    if maker.fact(id).shape == maker.fact(step.outputs[0]).shape {
        return identity(maker, step);
    }
    copy(maker, step)
}

/// Chosen elements: a look-up in a table, a part if the choice is constant, else a copy.
pub(super) fn gather(maker: &mut Maker<'_, '_>, step: &Step<'_>) -> Result<(), Fault> {
    let [Some(table), Some(indices)] = step.inputs[..2.min(step.inputs.len())] else {
        return Err(Fault::Unsupported);
    };
    if maker.is_constant(indices) {
        return part(maker, step);
    }
    maker.parameter(table);
    copy(maker, step)
}

/// A copy of what depends on data.
pub(super) fn copy(maker: &mut Maker<'_, '_>, step: &Step<'_>) -> Result<(), Fault> {
    let data = maker.data(step);
    let output = step.outputs[0];
    let rank = maker.fact(output).shape.len();
    let held = data.iter().map(|id| maker.held(*id));
    let axes = held.filter_map(|held| held.axes).find(|axes| axes.len() == rank);
    let axes = axes.filter(|_| !matches!(&*step.node.operator, "Gather" | "GatherND" | "OneHot"));
    maker.put(output, Held { axes: axes.clone(), ..Held::new(Vec::new(), output) });
    let view = match &*step.node.operator {
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
    let layer = maker.vector(step, VectorOp::Concat, output, places, None)?;
    maker.result(output, layer, axes);
    for &more in &step.outputs[1..] {
        maker.result(more, layer, None);
    }
    Ok(())
}

/// Tensors side by side.
pub(super) fn concat(maker: &mut Maker<'_, '_>, step: &Step<'_>) -> Result<(), Fault> {
    let tensors: Vec<TensorId> = step.inputs.iter().copied().flatten().collect();
    let data = maker.data(step);
    if tensors.len() == 1 {
        return identity(maker, step);
    }
    let output = step.outputs[0];
    let axes = maker.axes_like(&data, output);
    maker.put(output, Held { axes: axes.clone(), ..Held::new(Vec::new(), output) });
    tensors.iter().for_each(|id| maker.parameter(*id));
    let places = maker.places(&data, false);
    let layer = maker.vector(step, VectorOp::Concat, output, places, None)?;
    maker.result(output, layer, axes);
    Ok(())
}

/// Another order of the axes that these letters name.
pub(super) fn reorder<L: PartialEq>(
    maker: &mut Maker<'_, '_>,
    step: &Step<'_>,
    from: &[L],
    to: &[L],
) -> Result<(), Fault> {
    maker.counts.moves += 1;
    let id = operand(maker, step)?;
    let order: Option<Vec<usize>> =
        to.iter().map(|letter| from.iter().position(|known| known == letter)).collect();
    let order = order.ok_or(Fault::Unsupported)?;
    through(maker, step, id, View::Whole, |maker, _| {
        let axes = maker.held(id).axes?;
        order.iter().map(|&axis| axes.get(axis).copied()).collect()
    });
    Ok(())
}
