//! Operators that read elements by indices.

use super::super::fact::{Elements, Fact};
use super::folding::{self, Known};
use super::{Call, Outputs, invalid, shape};

/// `Gather`.
pub(super) fn gather(call: &Call<'_>) -> Outputs {
    let (data, indices) = (call.input(0)?, call.input(1)?);
    let axis = call.axis(0, 0)?;
    let mut out = data.shape[..axis].to_vec();
    out.extend(&indices.shape);
    out.extend(&data.shape[axis + 1..]);
    let elements = fold_gather(data, indices, axis);
    Ok(vec![call.known(data.element, out, elements)])
}

/// The output is seen as (axes before, all indices, axes after).
fn fold_gather(data: &Fact, indices: &Fact, axis: usize) -> Known {
    let places = places(indices, data.shape[axis])?;
    let mut flat = data.shape.clone();
    flat[axis] = places.len() as u64;
    let strides = shape::strides(&data.shape);
    folding::follow(data, &flat, |own, at| {
        let at = if own == axis { places[at] } else { at };
        at.saturating_mul(strides[own])
    })
}

/// Indices into an axis, counted from its beginning; `None` if one is outside.
pub(super) fn places(indices: &Fact, extent: u64) -> Option<Vec<usize>> {
    match indices.elements.as_deref()? {
        Elements::Ints(ints) => ints.iter().map(|&index| place(index, extent)).collect(),
        Elements::Floats(_) => None,
    }
}

/// An index into an axis, counted from its beginning.
pub(super) fn place(index: i64, extent: u64) -> Option<usize> {
    let index = if index < 0 { index.saturating_add_unsigned(extent) } else { index };
    let index = u64::try_from(index).ok().filter(|&index| index < extent)?;
    usize::try_from(index).ok()
}

/// `GatherElements`.
pub(super) fn gather_elements(call: &Call<'_>) -> Outputs {
    let (data, indices) = (call.input(0)?, call.input(1)?);
    let axis = call.axis(0, 0)?;
    if data.shape.len() != indices.shape.len() {
        let (a, b) = (indices.shape.len(), data.shape.len());
        return invalid(format!("indices with {a} axes into a tensor with {b}"));
    }
    let elements = element_sources(data, indices, axis)
        .and_then(|sources| folding::pick(data.elements.as_deref()?, &sources));
    Ok(vec![call.known(data.element, indices.shape.clone(), elements)])
}

/// Index into the data for each element of the indices.
pub(super) fn element_sources(data: &Fact, indices: &Fact, axis: usize) -> Option<Vec<usize>> {
    let strides = shape::strides(&data.shape);
    let others = folding::offsets(&indices.shape, |own, at| {
        if own == axis { 0 } else { at.saturating_mul(strides[own]) }
    })?;
    let places = places(indices, data.shape[axis])?;
    let own = places.iter().map(|place| place.saturating_mul(strides[axis]));
    Some(others.iter().zip(own).map(|(&other, own)| other.saturating_add(own)).collect())
}

/// `GatherND`.
pub(super) fn gather_nd(call: &Call<'_>) -> Outputs {
    let (data, indices) = (call.input(0)?, call.input(1)?);
    let batch = shape::extent(call.int("batch_dims", 0)?, "`batch_dims`")? as usize;
    let Some((&width, rows)) = indices.shape.split_last() else {
        return invalid("indices without axes");
    };
    let width = usize::try_from(width).unwrap_or(usize::MAX);
    let used = batch.saturating_add(width);
    if used > data.shape.len() || rows.len() < batch || rows[..batch] != data.shape[..batch] {
        let (indices, data) = (shape::text(&indices.shape), shape::text(&data.shape));
        return invalid(format!("indices of {indices} into {data}"));
    }
    let mut out = rows.to_vec();
    out.extend(&data.shape[used..]);
    let elements = if batch == 0 { fold_nd(data, indices, width, &out) } else { None };
    Ok(vec![call.known(data.element, out, elements)])
}

fn fold_nd(data: &Fact, indices: &Fact, width: usize, out: &[u64]) -> Known {
    let block = shape::few(&data.shape[width..])?;
    shape::few(out)?;
    let starts = block_starts(data, indices, width)?;
    let sources: Vec<usize> =
        starts.iter().flat_map(|&start| start..start.saturating_add(block)).collect();
    folding::pick(data.elements.as_deref()?, &sources)
}

/// First element of the block that each row of indices names.
pub(super) fn block_starts(data: &Fact, indices: &Fact, width: usize) -> Option<Vec<usize>> {
    let Elements::Ints(ints) = indices.elements.as_deref()? else { return None };
    let strides = shape::strides(&data.shape);
    if width == 0 {
        return None;
    }
    ints.chunks(width)
        .map(|row| {
            row.iter().enumerate().try_fold(0_usize, |sum, (axis, &index)| {
                let place = place(index, data.shape[axis])?;
                sum.checked_add(place.checked_mul(strides[axis])?)
            })
        })
        .collect()
}
