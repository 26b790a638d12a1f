//! Normalisations and other operators that keep the shape of their input.

use super::{Call, Fault, Outputs, invalid, shape};
use crate::fact::{Element, Fact};

/// `BatchNormalization`: the data, and statistics of training.
pub(crate) fn batch(call: &Call<'_>) -> Outputs {
    let data = call.input(0)?;
    let channels = data.shape.get(1).copied().unwrap_or(1);
    for index in 1..5 {
        of_channels(call.input(index)?, channels)?;
    }
    let statistics = call.output(call.input(3)?.element, vec![channels]);
    let count = if call.opset < 14 { 4 } else { 2 };
    let mut outputs = vec![call.like(data)];
    outputs.extend(std::iter::repeat_n(statistics, count));
    Ok(outputs)
}

fn of_channels(fact: &Fact, channels: u64) -> Result<(), Fault> {
    ensure!(fact.shape == [channels], "{channels} channels against {fact} of the normalisation");
    Ok(())
}

/// `InstanceNormalization`.
pub(crate) fn instance(call: &Call<'_>) -> Outputs {
    let data = call.input(0)?;
    let Some(&channels) = data.shape.get(1) else {
        return invalid(format!("a normalisation of {data}"));
    };
    of_channels(call.input(1)?, channels)?;
    of_channels(call.input(2)?, channels)?;
    same(call)
}

/// `GroupNormalization`.
pub(crate) fn group(call: &Call<'_>) -> Outputs {
    let data = call.input(0)?;
    let channels = data.shape.get(1).copied().unwrap_or(0);
    let groups = call.extent("num_groups", 0)?;
    let fits = groups > 0 && channels.is_multiple_of(groups);
    ensure!(fits, "{channels} channels in {groups} groups");
    same(call)
}

/// Operators that keep shape and type.
pub(crate) fn same(call: &Call<'_>) -> Outputs {
    Ok(vec![call.like(call.input(0)?)])
}

/// `Softmax`, `LogSoftmax`, `Hardmax` and `LpNormalization`: an axis of the input.
pub(crate) fn along_axis(call: &Call<'_>) -> Outputs {
    let rank = call.input(0)?.shape.len();
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
pub(crate) fn layer(call: &Call<'_>) -> Outputs {
    let data = call.input(0)?;
    let axis = call.axis(-1, 0)?;
    let scale = call.input(1)?;
    ensure!(shape::spreads(scale, &data.shape)?, "a scale of {scale} for {data}");
    let statistics = call.output(Element::FLOAT, reduced(data, axis));
    let count = match call.operator() {
        "LayerNormalization" => 2,
        "SimplifiedLayerNormalization" => 1,
        _ => 0,
    };
    let mut outputs = vec![call.like(data)];
    outputs.extend(std::iter::repeat_n(statistics, count));
    Ok(outputs)
}

/// Shape without the extents from an axis on.
fn reduced(data: &Fact, axis: usize) -> Vec<u64> {
    let mut reduced = data.shape.clone();
    reduced[axis..].fill(1);
    reduced
}

/// `SkipLayerNormalization`: the result, two statistics and the sum that is normalised.
pub(crate) fn skip_layer(call: &Call<'_>) -> Outputs {
    let (data, skip) = (call.input(0)?, call.input(1)?);
    ensure!(shape::spreads(skip, &data.shape)?, "{skip} is added to {data}");
    let full = call.like(data);
    let last = data.shape.len().saturating_sub(1);
    let statistics = call.output(Element::FLOAT, reduced(data, last));
    Ok(vec![full.clone(), statistics.clone(), statistics, full])
}

/// `EmbedLayerNormalization`: the result, an index for each of the batch, and the sum of embeddings.
pub(crate) fn embed_layer(call: &Call<'_>) -> Outputs {
    let (ids, words) = (call.input(0)?, call.input(2)?);
    let [batch, tokens] = shape::of_rank(ids, "the tokens")?;
    let [_, features] = shape::of_rank(words, "the table of words")?;
    let full = call.output(words.element, vec![batch, tokens, features]);
    let index = call.output(Element::INT32, vec![batch]);
    Ok(vec![full.clone(), index, full])
}

/// `ReverseSequence` and `RotaryEmbedding`: the shape of the input stays.
pub(crate) fn reordered(call: &Call<'_>) -> Outputs {
    call.input(1)?;
    same(call)
}

/// `BiasGelu`, `FastGelu` and `BiasAdd`: a bias of the last axis is added.
pub(crate) fn biased(call: &Call<'_>) -> Outputs {
    let data = call.input(0)?;
    if let Some(bias) = call.optional(1) {
        ensure!(shape::spreads(bias, &data.shape)?, "a bias of {bias} for {data}");
    }
    same(call)
}

/// `BiasDropout`: data and which of them are kept.
pub(crate) fn biased_dropout(call: &Call<'_>) -> Outputs {
    let mut outputs = biased(call)?;
    outputs.push(call.output(Element::BOOL, call.input(0)?.shape.clone()));
    Ok(outputs)
}
