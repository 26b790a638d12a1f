//! Operators whose data decide how many elements leave.

use super::super::fact::{Element, Elements, Fact};
use super::folding::{self, Known};
use super::number::{self, Number};
use super::{Call, Fault, Outputs, invalid, shape};

impl Call<'_> {
    /// The extent that the user gives, as data decide it.
    pub(super) fn bounded(&self, what: &'static str, most: u64) -> Result<u64, Fault> {
        self.bound.map(|bound| bound.min(most)).ok_or(Fault::Bound(what))
    }
}

/// `NonZero`: for each axis the coordinates of elements that are not 0.
pub(super) fn non_zero(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    // A scalar counts as a list of one.
    let rank = input.shape.len().max(1) as u64;
    if let Some(known) = input.elements.as_deref() {
        let coordinates = fold_non_zero(input, known);
        let count = coordinates.len() as u64 / rank;
        let elements = Some(Elements::Ints(coordinates));
        return Ok(vec![call.known(Element::INT64, vec![rank, count], elements)]);
    }
    let count = call.bounded("nonzeros", input.count())?;
    Ok(vec![call.output(Element::INT64, vec![rank, count])])
}

fn fold_non_zero(input: &Fact, known: &Elements) -> Vec<i64> {
    let hits: Vec<usize> = folding::numbers(known)
        .enumerate()
        .filter(|(_, value)| !matches!(value, Number::Int(0) | Number::Float(0.0)))
        .map(|(index, _)| index)
        .collect();
    let own = if input.shape.is_empty() { &[1][..] } else { &input.shape };
    let strides = shape::strides(own);
    (0..own.len())
        .flat_map(|axis| {
            let (stride, extent) = (strides[axis], own[axis]);
            hits.iter().map(move |&hit| ((hit / stride) as u64 % extent) as i64)
        })
        .collect()
}

/// `Compress`: those slices for which a condition holds.
pub(super) fn compress(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    let condition = call.input(1)?;
    let axis = match call.int_if("axis")? {
        Some(axis) => Some(shape::axis(axis, input.shape.len())?),
        None => None,
    };
    let most = axis.map_or(input.count(), |axis| input.shape[axis]);
    let count = match condition.elements.as_deref() {
        Some(known) => folding::numbers(known)
            .take(usize::try_from(most).unwrap_or(usize::MAX))
            .filter(|value| !matches!(value, Number::Int(0)))
            .count() as u64,
        None => call.bounded("slices that are kept", most)?,
    };
    let out = match axis {
        Some(axis) => with_extent(input, axis, count),
        None => vec![count],
    };
    Ok(vec![call.output(input.element, out)])
}

fn with_extent(input: &Fact, axis: usize, extent: u64) -> Vec<u64> {
    let mut out = input.shape.clone();
    out[axis] = extent;
    out
}

/// `Unique`: different elements, their first indices, an index for each element, and counts.
pub(super) fn unique(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    let (shape, all, count) = match call.int_if("axis")? {
        Some(axis) => {
            let axis = shape::axis(axis, input.shape.len())?;
            let all = input.shape[axis];
            let count = call.bounded("unique slices", all)?;
            (with_extent(input, axis, count), all, count)
        }
        None => {
            let all = input.count();
            let count = match input.elements.as_deref() {
                Some(known) => different(known),
                None => call.bounded("unique elements", all)?,
            };
            (vec![count], all, count)
        }
    };
    let index = |extent| call.output(Element::INT64, vec![extent]);
    Ok(vec![call.output(input.element, shape), index(count), index(all), index(count)])
}

fn different(known: &Elements) -> u64 {
    let mut bits: Vec<u64> = folding::numbers(known)
        .map(|number| match number {
            Number::Int(value) => value as u64,
            Number::Float(value) => (value + 0.0).to_bits(),
        })
        .collect();
    bits.sort_unstable();
    bits.dedup();
    bits.len() as u64
}

/// `TopK`: values and indices; how many is an attribute before opset 10.
pub(super) fn top_k(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    let axis = call.axis(-1, 0)?;
    let extent = input.shape[axis];
    let given = if call.opset < 10 {
        Some(call.int("k", -1)?)
    } else {
        match call.scalar(1) {
            Err(Fault::Elements(_)) => None,
            other => Some(other?),
        }
    };
    let count = match given {
        Some(count) => shape::extent(count, "`k`")?,
        None => call.bounded("elements on top", extent)?,
    };
    if count > extent {
        return invalid(format!("the first {count} of {extent} elements"));
    }
    let out = with_extent(input, axis, count);
    let largest = call.int("largest", 1)? != 0;
    let (values, indices) = match fold_top(input, axis, count, largest) {
        Some((values, indices)) => (Some(values), Some(indices)),
        None => (None, None),
    };
    Ok(vec![
        call.known(input.element, out.clone(), values),
        call.known(Element::INT64, out, indices),
    ])
}

/// Values and indices of the first elements along an axis.
fn fold_top(input: &Fact, axis: usize, count: u64, largest: bool) -> Option<(Elements, Elements)> {
    let known = input.elements.as_deref().filter(|known| known.len() > 0)?;
    let count = usize::try_from(count).ok()?;
    let extent = usize::try_from(input.shape[axis]).ok()?;
    let inner = shape::few(&input.shape[axis + 1..])?;
    let outer = shape::few(&input.shape[..axis])?;
    let mut sources = vec![0; outer * count * inner];
    for row in 0..outer {
        for column in 0..inner {
            let index = |at: usize| (row * extent + at) * inner + column;
            let order = sorted(known, (0..extent).map(index).collect(), largest)?;
            for (rank, source) in order.into_iter().take(count).enumerate() {
                sources[(row * count + rank) * inner + column] = source;
            }
        }
    }
    let places = sources.iter().map(|source| (source / inner % extent) as i64).collect();
    Some((folding::pick(known, &sources)?, Elements::Ints(places)))
}

/// Indices in the order of their elements; equal ones stay in order. `None` if an element is no number.
fn sorted(known: &Elements, mut indices: Vec<usize>, largest: bool) -> Option<Vec<usize>> {
    let mut ordered = true;
    indices.sort_by(|&a, &b| {
        let order = match (number::get(known, a), number::get(known, b)) {
            (Some(Number::Int(a)), Some(Number::Int(b))) => Some(a.cmp(&b)),
            (Some(Number::Float(a)), Some(Number::Float(b))) => Some(a.total_cmp(&b)),
            _ => None,
        };
        ordered &= order.is_some();
        let order = order.unwrap_or(std::cmp::Ordering::Equal);
        if largest { order.reverse() } else { order }
    });
    ordered.then_some(indices)
}

/// `CumSum`.
pub(super) fn cumulative_sum(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    let elements = match call.scalar(1) {
        Ok(axis) => {
            let axis = shape::axis(axis, input.shape.len())?;
            fold_sum(input, axis, call.flag("exclusive")?, call.flag("reverse")?)
        }
        Err(Fault::Elements(_)) => None,
        Err(fault) => return Err(fault),
    };
    Ok(vec![call.known(input.element, input.shape.clone(), elements)])
}

fn fold_sum(input: &Fact, axis: usize, exclusive: bool, reverse: bool) -> Known {
    let known = input.elements.as_deref().filter(|known| known.len() > 0)?;
    let extent = usize::try_from(input.shape[axis]).ok()?;
    let inner = shape::few(&input.shape[axis + 1..])?;
    let zero = number::cast(Number::Int(0), input.element)?;
    let mut sums = vec![zero; known.len()];
    let mut totals = vec![zero; known.len().checked_div(extent)?];
    let steps: Vec<usize> =
        if reverse { (0..extent).rev().collect() } else { (0..extent).collect() };
    for step in steps {
        for (line, total) in totals.iter_mut().enumerate() {
            let index = (line / inner * extent + step) * inner + line % inner;
            let next = number::add(*total, number::get(known, index)?)?;
            *sums.get_mut(index)? = if exclusive { *total } else { next };
            *total = next;
        }
    }
    number::collect(sums.into_iter().map(Some))
}
