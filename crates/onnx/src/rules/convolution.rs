//! Convolutions and pools.

use super::super::fact::{Element, Fact};
use super::window::{Window, operands, windows};
use super::{Call, Fault, Outputs, invalid, shape};

/// `Conv`, `ConvInteger`, `QLinearConv` and `FusedConv`.
pub(super) fn convolution(call: &Call<'_>) -> Outputs {
    let (data, weights) = operands(call);
    let (data, weights) = (call.input(data)?, call.input(weights)?);
    channels_first(call)?;
    let windows = windows(call)?;
    let group = group(call)?;
    let (channels, filters, own) = (data.shape[1], weights.shape[0], weights.shape[1]);
    if own.saturating_mul(group) != channels {
        let text = match group {
            1 => format!("{channels} channels against {own} of its weights"),
            _ => format!(
                "{channels} channels against {own} of its weights in each of {group} groups"
            ),
        };
        return invalid(text);
    }
    if !filters.is_multiple_of(group) {
        return invalid(format!("{filters} filters in {group} groups"));
    }
    check_bias(call, if call.operator() == "QLinearConv" { 8 } else { 2 }, filters)?;
    let element = match call.operator() {
        "ConvInteger" => Element::INT32,
        "QLinearConv" => call.input(7)?.element,
        _ => data.element,
    };
    Ok(vec![call.output(element, extents(data, filters, &windows))])
}

fn channels_first(call: &Call<'_>) -> Result<(), Fault> {
    if call.flag("channels_last")? { Err(Fault::Unsupported) } else { Ok(()) }
}

fn group(call: &Call<'_>) -> Result<u64, Fault> {
    match shape::extent(call.int("group", 1)?, "`group`")? {
        0 => invalid("0 groups"),
        group => Ok(group),
    }
}

fn check_bias(call: &Call<'_>, index: usize, filters: u64) -> Result<(), Fault> {
    // The third input of `ConvInteger` is a zero point.
    if call.operator() == "ConvInteger" {
        return Ok(());
    }
    match call.optional(index) {
        Some(bias) if bias.shape != [filters] => {
            let bias = shape::text(&bias.shape);
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
pub(super) fn transposed(call: &Call<'_>) -> Outputs {
    let (data, weights) = (call.input(0)?, call.input(1)?);
    let windows = windows(call)?;
    let group = group(call)?;
    let (channels, own) = (data.shape[1], weights.shape[0]);
    if channels != own {
        return invalid(format!("{channels} channels against {own} of its weights"));
    }
    if !channels.is_multiple_of(group) {
        return invalid(format!("{channels} channels in {group} groups"));
    }
    let filters = weights.shape[1].saturating_mul(group);
    check_bias(call, 2, filters)?;
    Ok(vec![call.output(data.element, extents(data, filters, &windows))])
}

/// `MaxPool`, `AveragePool`, `LpPool` and `QLinearAveragePool`; the indices of `MaxPool`, too.
pub(super) fn pool(call: &Call<'_>) -> Outputs {
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
pub(super) fn global_pool(call: &Call<'_>) -> Outputs {
    let data = call.input(0)?;
    let rank = data.shape.len();
    if rank < 3 {
        return invalid(format!("a pool over {}", shape::text(&data.shape)));
    }
    let mut out = data.shape.clone();
    let last = call.flag("channels_last")?;
    let spatial = if last { 1..rank - 1 } else { 2..rank };
    out[spatial].fill(1);
    Ok(vec![call.output(data.element, out)])
}

/// `MaxRoiPool`.
pub(super) fn region_pool(call: &Call<'_>) -> Outputs {
    let (data, regions) = (call.input(0)?, call.input(1)?);
    shape::has_rank(data, 4, "the input")?;
    shape::has_rank(regions, 2, "the regions")?;
    let Some([y, x]) = call.ints("pooled_shape")? else {
        return invalid("`pooled_shape` has no two numbers");
    };
    let extent = |value: &i64| shape::extent(*value, "`pooled_shape`");
    let out = vec![regions.shape[0], data.shape[1], extent(y)?, extent(x)?];
    Ok(vec![call.output(data.element, out)])
}
