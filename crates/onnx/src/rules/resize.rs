//! Operators that sample maps again.

use xrsim_model::text::in_line;

use super::{Call, Fault, Outputs, invalid, shape};
use crate::fact::Fact;
use crate::graph::Attribute;

/// `Resize`: scales or sizes are inputs; opset 10 has scales alone. Where data decide them, a bound stands for
/// every extent after the first two.
pub(crate) fn resize(call: &Call<'_>) -> Outputs {
    match (given(call), call.bound) {
        (Err(Fault::Elements(_)), Some(bound)) => {
            let input = call.input(0)?;
            let mut out = input.shape.clone();
            out.iter_mut().skip(2).for_each(|extent| *extent = bound);
            Ok(vec![call.output(input.element, out)])
        }
        (outputs, _) => outputs,
    }
}

/// A `Resize` to known extents.
fn given(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    let rank = input.shape.len();
    let axes = shape::axes_or_all(call.ints("axes")?, rank)?;
    let mut out = input.shape.clone();
    let scales_at = if call.opset < 11 { 1 } else { 2 };
    if call.opset >= 11 && call.has(3) {
        ensure!(!call.has(scales_at), "scales and sizes at once");
        let sizes = sized(call, input, &axes)?;
        axes.iter().zip(sizes).for_each(|(&axis, size)| out[axis] = size);
    } else {
        let scales = call.floats(scales_at)?;
        let parts = parts(call, axes.len())?;
        matches(scales.len(), axes.len(), "scales")?;
        for (index, &axis) in axes.iter().enumerate() {
            out[axis] = scaled(out[axis], parts[index], scales[index])?;
        }
    }
    Ok(vec![call.output(input.element, out)])
}

fn matches(found: usize, axes: usize, what: &str) -> Result<(), Fault> {
    ensure!(found == axes, "{found} {what} for {axes} axes");
    Ok(())
}

/// Part of each axis that is sampled: below 1 if a region is cut out.
fn parts(call: &Call<'_>, axes: usize) -> Result<Vec<f32>, Fault> {
    let mode = call.text("coordinate_transformation_mode", "half_pixel")?;
    if mode != "tf_crop_and_resize" {
        return Ok(vec![1.0; axes]);
    }
    let region = call.floats(1)?;
    matches(region.len(), 2 * axes, "coordinates of the region")?;
    Ok((0..axes).map(|axis| (region[axes + axis] - region[axis]) as f32).collect())
}

/// Extent times scale, in the 32 bits that runtimes calculate with, rounded down.
fn scaled(extent: u64, part: f32, scale: f64) -> Result<u64, Fault> {
    let size = (extent as f32 * part * scale as f32).floor();
    if scale > 0.0 && (0.0..=Fact::MAX_EXTENT as f32).contains(&size) {
        return Ok(size as u64);
    }
    invalid(format!("an extent of {extent} with a scale of {scale}"))
}

/// Sizes as given, or with the ratio of the input.
fn sized(call: &Call<'_>, input: &Fact, axes: &[usize]) -> Result<Vec<u64>, Fault> {
    let sizes = shape::extents(&call.elements(3)?, "the sizes")?;
    matches(sizes.len(), axes.len(), "sizes")?;
    let ratios = axes.iter().zip(&sizes).map(|(&axis, &size)| (size, input.shape[axis]));
    // Ratios are compared exactly: a / b < c / d if a d < c b.
    let less = |a: &(u64, u64), b: &(u64, u64)| {
        (u128::from(a.0) * u128::from(b.1)).cmp(&(u128::from(b.0) * u128::from(a.1)))
    };
    let ratio = match call.text("keep_aspect_ratio_policy", "stretch")? {
        "stretch" => return Ok(sizes),
        "not_larger" => ratios.min_by(less),
        "not_smaller" => ratios.max_by(less),
        other => return invalid(format!("`keep_aspect_ratio_policy` of {}", in_line(other))),
    };
    let Some((size, extent)) = ratio.filter(|&(_, extent)| extent > 0) else {
        return invalid("sizes of an empty tensor");
    };
    // Rounded to the nearest, halves up.
    let (size, extent) = (u128::from(size), u128::from(extent));
    axes.iter()
        .map(|&axis| {
            let value = (2 * size * u128::from(input.shape[axis]) + extent) / (2 * extent);
            u64::try_from(value).or_else(|_| invalid("sizes above 2^48"))
        })
        .collect()
}

/// `Upsample`: scales are an attribute before opset 9.
pub(crate) fn upsample(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    let scales: Vec<f64> = if call.opset < 9 {
        match call.attribute("scales") {
            Some(Attribute::Floats(scales)) => scales.iter().copied().map(f64::from).collect(),
            _ => return invalid("`scales` is missing"),
        }
    } else {
        call.floats(1)?
    };
    matches(scales.len(), input.shape.len(), "scales")?;
    let extents = input.shape.iter().zip(scales);
    let out =
        extents.map(|(&extent, scale)| scaled(extent, 1.0, scale)).collect::<Result<_, _>>()?;
    Ok(vec![call.output(input.element, out)])
}

/// `GridSample`.
pub(crate) fn grid_sample(call: &Call<'_>) -> Outputs {
    let (input, grid) = (call.input(0)?, call.input(1)?);
    let rank = input.shape.len();
    let fits = rank >= 3
        && grid.shape.len() == rank
        && grid.shape[0] == input.shape[0]
        && grid.shape[rank - 1] == rank as u64 - 2;
    ensure!(fits, "a grid of {grid} for {input}");
    let mut out = input.shape[..2].to_vec();
    out.extend(&grid.shape[1..rank - 1]);
    Ok(vec![call.output(input.element, out)])
}
