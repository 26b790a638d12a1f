//! Normalisations and what else keeps the shape of its input along an axis.

use super::super::fact::{Element, Fact};
use super::{Call, Fault, Outputs, invalid, shape};

/// `BatchNormalization`: the data, and statistics of training.
pub(super) fn batch(call: &Call<'_>) -> Outputs {
    let data = call.input(0)?;
    let channels = data.shape.get(1).copied().unwrap_or(1);
    for index in 1..5 {
        of_channels(call.input(index)?, channels)?;
    }
    let statistics = call.output(call.input(3)?.element, vec![channels]);
    let count = if call.opset < 14 { 4 } else { 2 };
    let mut outputs = vec![call.output(data.element, data.shape.clone())];
    outputs.extend(std::iter::repeat_n(statistics, count));
    Ok(outputs)
}

fn of_channels(fact: &Fact, channels: u64) -> Result<(), Fault> {
    match fact.shape == [channels] {
        true => Ok(()),
        false => {
            let found = shape::text(&fact.shape);
            invalid(format!("{channels} channels against {found} of the normalisation"))
        }
    }
}

/// `InstanceNormalization`.
pub(super) fn instance(call: &Call<'_>) -> Outputs {
    let data = call.input(0)?;
    let Some(&channels) = data.shape.get(1) else {
        return invalid(format!("a normalisation of {}", shape::text(&data.shape)));
    };
    of_channels(call.input(1)?, channels)?;
    of_channels(call.input(2)?, channels)?;
    same(call)
}

/// `GroupNormalization`.
pub(super) fn group(call: &Call<'_>) -> Outputs {
    let data = call.input(0)?;
    let channels = data.shape.get(1).copied().unwrap_or(0);
    let groups = shape::extent(call.int("num_groups", 0)?, "`num_groups`")?;
    if groups == 0 || !channels.is_multiple_of(groups) {
        return invalid(format!("{channels} channels in {groups} groups"));
    }
    same(call)
}

/// Operators that keep shape and type.
pub(super) fn same(call: &Call<'_>) -> Outputs {
    let data = call.input(0)?;
    Ok(vec![call.output(data.element, data.shape.clone())])
}

/// `Softmax`, `LogSoftmax`, `Hardmax` and `LpNormalization`: an axis of the input.
pub(super) fn along_axis(call: &Call<'_>) -> Outputs {
    let data = call.input(0)?;
    let rank = data.shape.len();
    let flattens = call.opset < 13 && call.operator() != "LpNormalization";
    let axis = call.int("axis", if flattens { 1 } else { -1 })?;
    // A scalar has one element along its axis; the flattened form takes the end of the shape, too.
    let is_end = (rank == 0 && (-1..=0).contains(&axis)) || (flattens && axis == rank as i64);
    if !is_end {
        shape::axis(axis, rank)?;
    }
    same(call)
}

/// `LayerNormalization`, `RMSNormalization` and `SimplifiedLayerNormalization`, with their statistics.
pub(super) fn layer(call: &Call<'_>) -> Outputs {
    let data = call.input(0)?;
    let axis = call.axis(-1, 0)?;
    let scale = call.input(1)?;
    if shape::broadcast(&[&data.shape, &scale.shape])? != data.shape {
        let (scale, data) = (shape::text(&scale.shape), shape::text(&data.shape));
        return invalid(format!("a scale of {scale} for {data}"));
    }
    let mut reduced = data.shape.clone();
    reduced[axis..].fill(1);
    let statistics = call.output(Element::FLOAT, reduced);
    let count = match call.operator() {
        "LayerNormalization" => 2,
        "SimplifiedLayerNormalization" => 1,
        _ => 0,
    };
    let mut outputs = vec![call.output(data.element, data.shape.clone())];
    outputs.extend(std::iter::repeat_n(statistics, count));
    Ok(outputs)
}

/// `SkipLayerNormalization`: the result, two statistics and the sum that is normalised.
pub(super) fn skip_layer(call: &Call<'_>) -> Outputs {
    let (data, skip) = (call.input(0)?, call.input(1)?);
    if shape::broadcast(&[&data.shape, &skip.shape])? != data.shape {
        let (skip, data) = (shape::text(&skip.shape), shape::text(&data.shape));
        return invalid(format!("{skip} is added to {data}"));
    }
    let mut reduced = data.shape.clone();
    if let Some(last) = reduced.last_mut() {
        *last = 1;
    }
    let full = call.output(data.element, data.shape.clone());
    let statistics = call.output(Element::FLOAT, reduced);
    Ok(vec![full.clone(), statistics.clone(), statistics, full])
}

/// `EmbedLayerNormalization`: the result, an index for each of the batch, and the sum of embeddings.
pub(super) fn embed_layer(call: &Call<'_>) -> Outputs {
    let (ids, words) = (call.input(0)?, call.input(2)?);
    shape::has_rank(ids, 2, "the tokens")?;
    shape::has_rank(words, 2, "the table of words")?;
    let full = call.output(words.element, vec![ids.shape[0], ids.shape[1], words.shape[1]]);
    let index = call.output(Element::INT32, vec![ids.shape[0]]);
    Ok(vec![full.clone(), index, full])
}

/// `ReverseSequence` and `RotaryEmbedding`: the shape of the input stays.
pub(super) fn reordered(call: &Call<'_>) -> Outputs {
    call.input(1)?;
    same(call)
}
