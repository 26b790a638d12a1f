//! Shapes: axes, broadcasting and sizes.

use super::{Fault, invalid};
use crate::fact::{Fact, text};

/// Axis of a tensor with `rank` axes; negative ones count from the end.
pub(super) fn axis(axis: i64, rank: usize) -> Result<usize, Fault> {
    let index = if axis < 0 { axis.saturating_add_unsigned(rank as u64) } else { axis };
    match usize::try_from(index) {
        Ok(index) if index < rank => Ok(index),
        _ => invalid(format!("axis {axis} of a tensor with {rank} axes")),
    }
}

/// Axes of a tensor, each at most once, in the order given.
pub(super) fn axes(list: &[i64], rank: usize) -> Result<Vec<usize>, Fault> {
    let mut seen = vec![false; rank];
    list.iter()
        .map(|&given| {
            let index = axis(given, rank)?;
            match std::mem::replace(&mut seen[index], true) {
                true => invalid(format!("axis {given} twice")),
                false => Ok(index),
            }
        })
        .collect()
}

/// Axes as they are given, or all of them.
pub(super) fn axes_or_all(list: Option<&[i64]>, rank: usize) -> Result<Vec<usize>, Fault> {
    list.map_or_else(|| Ok((0..rank).collect()), |list| axes(list, rank))
}

/// Shape of several tensors that are broadcast to each other.
pub(super) fn broadcast(shapes: &[&[u64]]) -> Result<Vec<u64>, Fault> {
    let rank = shapes.iter().map(|shape| shape.len()).max().unwrap_or(0);
    let mut out = vec![1; rank];
    for shape in shapes {
        let first = rank - shape.len();
        for (out, &extent) in out[first..].iter_mut().zip(*shape) {
            match (*out, extent) {
                (_, 1) => {}
                (1, _) => *out = extent,
                (a, b) if a == b => {}
                _ => {
                    let all: Vec<_> = shapes.iter().map(|shape| text(shape)).collect();
                    return invalid(format!("{} cannot be broadcast", all.join(" and ")));
                }
            }
        }
    }
    Ok(out)
}

/// Whether a tensor is broadcast to the shape of another.
///
/// # Errors
///
/// [`Fault::Invalid`], if they cannot be broadcast to each other.
pub(super) fn spreads(part: &Fact, whole: &[u64]) -> Result<bool, Fault> {
    Ok(broadcast(&[whole, &part.shape])? == whole)
}

/// Number of elements; each extent and all of them together are limited.
pub(super) fn count(shape: &[u64]) -> Result<u64, Fault> {
    let fits = shape.iter().all(|&extent| extent <= Fact::MAX_EXTENT);
    let count = match shape.contains(&0) {
        true => Some(0),
        false => shape.iter().try_fold(1, |count: u64, &extent| count.checked_mul(extent)),
    };
    count
        .filter(|&count| fits && count <= Fact::MAX_EXTENT)
        .ok_or_else(|| Fault::Invalid(format!("{} is above 2^48 elements", text(shape))))
}

/// Number of elements, if they are few enough to be followed.
pub(super) fn few(shape: &[u64]) -> Option<usize> {
    let count = usize::try_from(count(shape).ok()?).ok()?;
    (count <= Fact::MAX_ELEMENTS).then_some(count)
}

/// Distance in elements between neighbours along each axis.
pub(super) fn strides(shape: &[u64]) -> Vec<usize> {
    let mut strides = vec![1_usize; shape.len()];
    for axis in (1..shape.len()).rev() {
        let extent = usize::try_from(shape[axis]).unwrap_or(usize::MAX);
        strides[axis - 1] = strides[axis].saturating_mul(extent);
    }
    strides
}

/// An extent that a file gives as a number.
pub(super) fn extent(value: i64, name: &str) -> Result<u64, Fault> {
    match u64::try_from(value) {
        Ok(value) if value <= Fact::MAX_EXTENT => Ok(value),
        Ok(_) => invalid(format!("{value} in {name} is above 2^48")),
        Err(_) => invalid(format!("{value} in {name}")),
    }
}

/// Extents that a file gives as numbers.
pub(super) fn extents(values: &[i64], name: &str) -> Result<Vec<u64>, Fault> {
    values.iter().map(|&value| extent(value, name)).collect()
}

/// Checks that a tensor has `rank` axes.
pub(super) fn has_rank(fact: &Fact, rank: usize, name: &str) -> Result<(), Fault> {
    let found = fact.shape.len();
    ensure!(found == rank, "{found} axes of {name}, which has {rank}");
    Ok(())
}

/// Extents of a tensor that has `N` axes.
pub(super) fn of_rank<const N: usize>(fact: &Fact, name: &str) -> Result<[u64; N], Fault> {
    has_rank(fact, N, name)?;
    fact.shape[..].try_into().map_err(|_| Fault::Unsupported)
}
