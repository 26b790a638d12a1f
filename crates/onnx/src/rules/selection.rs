//! Operators whose data decide how many elements leave.

use super::folding::{self, Known};
use super::number;
use super::{Call, Fault, Outputs, shape};
use crate::fact::{Element, Fact, Number};

impl Call<'_> {
    /// The extent that the user gives, as data decide it.
    fn bounded(&self, what: &'static str, most: u64) -> Result<u64, Fault> {
        self.bound.map(|bound| bound.min(most)).ok_or(Fault::Bound(what))
    }
}

/// `NonZero`: for each axis the coordinates of elements that are not 0.
pub(crate) fn non_zero(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    // A scalar counts as a list of one.
    let rank = input.shape.len().max(1) as u64;
    let elements = fold_non_zero(input);
    let count = match &elements {
        Some(coordinates) => coordinates.len() as u64 / rank,
        None => call.bounded("nonzeros", input.count())?,
    };
    Ok(vec![call.folded(Element::INT64, vec![rank, count], elements)])
}

fn fold_non_zero(input: &Fact) -> Known {
    let known = input.known()?;
    let hits: Vec<usize> = (0..known.len()).filter(|&index| known[index].value() != 0.0).collect();
    let own = if input.shape.is_empty() { &[1][..] } else { &input.shape };
    let strides = shape::strides(own);
    let coordinates = (0..own.len()).flat_map(|axis| {
        let (stride, extent) = (strides[axis], own[axis]);
        hits.iter().map(move |&hit| Number::Int(((hit / stride) as u64 % extent) as i64))
    });
    Some(coordinates.collect())
}

/// `Compress`: those slices for which a condition holds.
pub(crate) fn compress(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    let condition = call.input(1)?;
    let axis = match call.int_if("axis")? {
        Some(axis) => Some(shape::axis(axis, input.shape.len())?),
        None => None,
    };
    let most = axis.map_or(input.count(), |axis| input.shape[axis]);
    let count = match condition.known() {
        Some(known) => {
            let asked = known.iter().take(usize::try_from(most).unwrap_or(usize::MAX));
            asked.filter(|&&value| value != Number::Int(0)).count() as u64
        }
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
pub(crate) fn unique(call: &Call<'_>) -> Outputs {
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
            let count = match input.known() {
                Some(known) => different(known),
                None => call.bounded("unique elements", all)?,
            };
            (vec![count], all, count)
        }
    };
    let index = |extent| call.output(Element::INT64, vec![extent]);
    Ok(vec![call.output(input.element, shape), index(count), index(all), index(count)])
}

fn different(known: &[Number]) -> u64 {
    let bits = known.iter().map(|number| match *number {
        Number::Int(value) => value as u64,
        Number::Float(value) => (value + 0.0).to_bits(),
    });
    let mut bits: Vec<u64> = bits.collect();
    bits.sort_unstable();
    bits.dedup();
    bits.len() as u64
}

/// `TopK`: values and indices; how many is an attribute before opset 10.
pub(crate) fn top_k(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    let axis = call.axis(-1, 0)?;
    let extent = input.shape[axis];
    let is_attribute = call.opset < 10;
    let given = if is_attribute { Some(call.int("k", -1)?) } else { call.scalar_if_known(1)? };
    let count = match given {
        Some(count) => shape::extent(count, "`k`")?,
        None => call.bounded("elements on top", extent)?,
    };
    ensure!(count <= extent, "the first {count} of {extent} elements");
    let out = with_extent(input, axis, count);
    let largest = call.int("largest", 1)? != 0;
    let (values, indices) = fold_top(input, axis, count, largest).unzip();
    Ok(vec![
        call.folded(input.element, out.clone(), values),
        call.folded(Element::INT64, out, indices),
    ])
}

/// Values and indices of the first elements along an axis.
fn fold_top(
    input: &Fact,
    axis: usize,
    count: u64,
    largest: bool,
) -> Option<(Vec<Number>, Vec<Number>)> {
    let known = input.known().filter(|known| !known.is_empty())?;
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
    let place = |source: &usize| Number::Int((source / inner % extent) as i64);
    Some((folding::pick(known, &sources)?, sources.iter().map(place).collect()))
}

/// Indices in the order of their elements; equal ones stay in order. `None` if an element is no number.
fn sorted(known: &[Number], mut indices: Vec<usize>, largest: bool) -> Option<Vec<usize>> {
    indices.iter().all(|&index| index < known.len()).then_some(())?;
    indices.sort_by(|&a, &b| {
        let order = match (known[a], known[b]) {
            (Number::Int(a), Number::Int(b)) => a.cmp(&b),
            (a, b) => a.value().total_cmp(&b.value()),
        };
        if largest { order.reverse() } else { order }
    });
    Some(indices)
}

/// `CumSum`.
pub(crate) fn cumulative_sum(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    let elements = match call.scalar_if_known(1)? {
        Some(axis) => {
            let axis = shape::axis(axis, input.shape.len())?;
            fold_sum(input, axis, call.flag("exclusive")?, call.flag("reverse")?)
        }
        None => None,
    };
    Ok(vec![call.folded(input.element, input.shape.clone(), elements)])
}

fn fold_sum(input: &Fact, axis: usize, exclusive: bool, reverse: bool) -> Known {
    let known = input.known().filter(|known| !known.is_empty())?;
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
            let next = number::add(*total, *known.get(index)?)?;
            *sums.get_mut(index)? = if exclusive { *total } else { next };
            *total = next;
        }
    }
    Some(sums)
}

/// `NonMaxSuppression`: batch, class and box of each selected one.
pub(crate) fn suppression(call: &Call<'_>) -> Outputs {
    let (boxes, scores) = (call.input(0)?, call.input(1)?);
    let [batch, count, corners] = shape::of_rank(boxes, "the boxes")?;
    let [own_batch, classes, own_count] = shape::of_rank(scores, "the scores")?;
    let fits = corners == 4 && [batch, count] == [own_batch, own_count];
    ensure!(fits, "boxes of {boxes} against scores of {scores}");
    // None are selected of a class if no number is given.
    let most = if call.optional(2).is_some() { call.scalar_if_known(2)? } else { Some(0) };
    let selected = match most.filter(|_| call.bound.is_none()) {
        Some(most) => {
            let most = u64::try_from(most).unwrap_or(0).min(count);
            most.saturating_mul(classes).saturating_mul(batch)
        }
        None => {
            let all = batch.saturating_mul(classes).saturating_mul(count);
            call.bounded("selected boxes", all)?
        }
    };
    Ok(vec![call.output(Element::INT64, vec![selected, 3])])
}
