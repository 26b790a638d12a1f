//! Operators that read elements by indices.

use super::folding::{self, Known};
use super::{Call, Outputs, invalid, shape};
use crate::fact::Fact;

/// `Gather`.
pub(crate) fn gather(call: &Call<'_>) -> Outputs {
    let (data, indices) = (call.input(0)?, call.input(1)?);
    let axis = call.axis(0, 0)?;
    let mut out = data.shape[..axis].to_vec();
    out.extend(&indices.shape);
    out.extend(&data.shape[axis + 1..]);
    let elements = fold_gather(data, indices, axis);
    Ok(vec![call.folded(data.element, out, elements)])
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
fn places(indices: &Fact, extent: u64) -> Option<Vec<usize>> {
    indices.known()?.iter().map(|index| place(index.int()?, extent)).collect()
}

/// An index into an axis, counted from its beginning.
fn place(index: i64, extent: u64) -> Option<usize> {
    let index = if index < 0 { index.saturating_add_unsigned(extent) } else { index };
    let index = u64::try_from(index).ok().filter(|&index| index < extent)?;
    usize::try_from(index).ok()
}

/// `GatherElements`.
pub(crate) fn gather_elements(call: &Call<'_>) -> Outputs {
    let (data, indices) = (call.input(0)?, call.input(1)?);
    let axis = call.axis(0, 0)?;
    let (a, b) = (indices.shape.len(), data.shape.len());
    ensure!(a == b, "indices with {a} axes into a tensor with {b}");
    let elements = element_sources(data, indices, axis)
        .and_then(|sources| folding::pick(data.known()?, &sources));
    Ok(vec![call.folded(data.element, indices.shape.clone(), elements)])
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
pub(crate) fn gather_nd(call: &Call<'_>) -> Outputs {
    let (data, indices) = (call.input(0)?, call.input(1)?);
    let batch = call.extent("batch_dims", 0)? as usize;
    let Some((&width, rows)) = indices.shape.split_last() else {
        return invalid("indices without axes");
    };
    let width = usize::try_from(width).unwrap_or(usize::MAX);
    let used = batch.saturating_add(width);
    let is_inside = used <= data.shape.len() && batch <= rows.len();
    let fits = is_inside && rows[..batch] == data.shape[..batch];
    ensure!(fits, "indices of {indices} into {data}");
    let mut out = rows.to_vec();
    out.extend(&data.shape[used..]);
    let sources = if batch == 0 { block_sources(data, indices, width) } else { None };
    let elements = sources.and_then(|sources| folding::pick(data.known()?, &sources));
    Ok(vec![call.folded(data.element, out, elements)])
}

/// Indices into the data of all elements of the blocks that rows of indices name.
pub(super) fn block_sources(data: &Fact, indices: &Fact, width: usize) -> Option<Vec<usize>> {
    let block = shape::few(&data.shape[width..])?;
    let ints = indices.ints().filter(|_| width > 0)?;
    let strides = shape::strides(&data.shape);
    let start = |row: &[i64]| {
        row.iter().enumerate().try_fold(0_usize, |sum, (axis, &index)| {
            let place = place(index, data.shape[axis])?;
            sum.checked_add(place.checked_mul(strides[axis])?)
        })
    };
    let starts: Vec<usize> = ints.chunks(width).map(start).collect::<Option<_>>()?;
    // As many elements leave, and are followed only if they are few.
    (starts.len().checked_mul(block)? <= Fact::MAX_ELEMENTS)
        .then(|| starts.iter().flat_map(|&start| start..start.saturating_add(block)).collect())
}
