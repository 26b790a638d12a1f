//! Convolutions and pools.

use super::window::{Window, weights, windows};
use super::{Call, Fault, Outputs, invalid, shape};
use crate::fact::{Element, Fact};

/// `Conv`, `ConvInteger`, `QLinearConv` and `FusedConv`.
pub(crate) fn convolution(call: &Call<'_>) -> Outputs {
    let (data, weights) = (call.input(0)?, weights(call)?);
    channels_first(call)?;
    let windows = windows(call)?;
    let group = group(call)?;
    let (channels, filters, own) = (data.shape[1], weights.shape[0], weights.shape[1]);
    let of_groups = match group {
        1 => String::new(),
        _ => format!(" in each of {group} groups"),
    };
    let fits = own.saturating_mul(group) == channels;
    ensure!(fits, "{channels} channels against {own} of its weights{of_groups}");
    ensure!(filters.is_multiple_of(group), "{filters} filters in {group} groups");
    let (bias, element) = match call.operator() {
        // The third input of `ConvInteger` is a zero point.
        "ConvInteger" => (None, Element::INT32),
        "QLinearConv" => (call.optional(8), call.input(7)?.element),
        _ => (call.optional(2), data.element),
    };
    check_bias(bias, filters)?;
    Ok(vec![call.output(element, extents(data, filters, &windows))])
}

fn channels_first(call: &Call<'_>) -> Result<(), Fault> {
    if call.flag("channels_last")? { Err(Fault::Unsupported) } else { Ok(()) }
}

fn group(call: &Call<'_>) -> Result<u64, Fault> {
    let group = call.extent("group", 1)?;
    ensure!(group > 0, "0 groups");
    Ok(group)
}

fn check_bias(bias: Option<&Fact>, filters: u64) -> Result<(), Fault> {
    match bias {
        Some(bias) if bias.shape != [filters] => {
            invalid(format!("a bias of {bias} for {filters} filters"))
        }
        _ => Ok(()),
    }
}

fn extents(data: &Fact, channels: u64, windows: &[Window]) -> Vec<u64> {
    let mut out = vec![data.shape[0], channels];
    out.extend(windows.iter().map(|window| window.output));
    out
}

/// `ConvTranspose`.
pub(crate) fn transposed(call: &Call<'_>) -> Outputs {
    let (data, weights) = (call.input(0)?, call.input(1)?);
    let windows = windows(call)?;
    let group = group(call)?;
    let (channels, own) = (data.shape[1], weights.shape[0]);
    ensure!(channels == own, "{channels} channels against {own} of its weights");
    ensure!(channels.is_multiple_of(group), "{channels} channels in {group} groups");
    let filters = weights.shape[1].saturating_mul(group);
    check_bias(call.optional(2), filters)?;
    Ok(vec![call.output(data.element, extents(data, filters, &windows))])
}

/// `MaxPool`, `AveragePool`, `LpPool` and `QLinearAveragePool`; the indices of `MaxPool`, too.
pub(crate) fn pool(call: &Call<'_>) -> Outputs {
    let data = call.input(0)?;
    channels_first(call)?;
    let windows = windows(call)?;
    let out = extents(data, data.shape[1], &windows);
    let mut outputs = vec![call.output(data.element, out.clone())];
    if call.operator() == "MaxPool" {
        outputs.push(call.output(Element::INT64, out));
    }
    Ok(outputs)
}

/// Pools over all spatial axes.
pub(crate) fn global_pool(call: &Call<'_>) -> Outputs {
    let data = call.input(0)?;
    let rank = data.shape.len();
    ensure!(rank >= 3, "a pool over {data}");
    let mut out = data.shape.clone();
    let last = call.flag("channels_last")?;
    let spatial = if last { 1..rank - 1 } else { 2..rank };
    out[spatial].fill(1);
    Ok(vec![call.output(data.element, out)])
}

/// `MaxRoiPool`.
pub(crate) fn region_pool(call: &Call<'_>) -> Outputs {
    let (data, regions) = (call.input(0)?, call.input(1)?);
    let [_, channels, ..] = shape::of_rank::<4>(data, "the input")?;
    let [count, _] = shape::of_rank(regions, "the regions")?;
    let Some(&[y, x]) = call.ints("pooled_shape")? else {
        return invalid("`pooled_shape` has no two numbers");
    };
    let mut out = vec![count, channels];
    out.extend(shape::extents(&[y, x], "`pooled_shape`")?);
    Ok(vec![call.output(data.element, out)])
}

/// `RoiAlign`.
pub(crate) fn align(call: &Call<'_>) -> Outputs {
    let (map, regions, batch) = (call.input(0)?, call.input(1)?, call.input(2)?);
    let [_, channels, ..] = shape::of_rank::<4>(map, "the map")?;
    let [count, corners] = shape::of_rank(regions, "the regions")?;
    let [batch] = shape::of_rank(batch, "the indices of the batch")?;
    let fits = corners == 4 && batch == count;
    ensure!(fits, "regions of {regions} with {batch} of a batch");
    let (y, x) = (call.extent("output_height", 1)?, call.extent("output_width", 1)?);
    Ok(vec![call.output(map.element, vec![count, channels, y, x])])
}
