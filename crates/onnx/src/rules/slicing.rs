//! Operators that cut tensors, join them and put borders around them.

use super::folding::{self, Known};
use super::number;
use super::{Call, Fault, Outputs, invalid, shape};
use crate::fact::{Fact, Number};

/// `Slice`; its bounds are attributes before opset 10.
pub(crate) fn slice(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    let missing = || Fault::Invalid("bounds are missing".to_owned());
    let starts = call.moved("starts", 1, 10)?.ok_or_else(missing)?;
    let ends = call.moved("ends", 2, 10)?.ok_or_else(missing)?;
    let axes = call.moved("axes", 3, 10)?;
    let axes = axes_or_first(axes.as_deref(), starts.len(), input.shape.len())?;
    let steps = match call.optional(4).filter(|_| call.opset >= 10) {
        Some(_) => call.elements(4)?,
        None => vec![1; starts.len()],
    };
    let fits = [ends.len(), axes.len(), steps.len()] == [starts.len(); 3];
    ensure!(fits, "{} starts against {} ends of a slice", starts.len(), ends.len());
    let mut cuts: Vec<Cut> = input.shape.iter().map(|&extent| Cut::whole(extent)).collect();
    for (index, &axis) in axes.iter().enumerate() {
        cuts[axis] = Cut::new(input.shape[axis], starts[index], ends[index], steps[index])?;
    }
    Ok(vec![cut(call, input, &cuts)])
}

/// Axes as given, or as many of the first ones.
fn axes_or_first(list: Option<&[i64]>, count: usize, rank: usize) -> Result<Vec<usize>, Fault> {
    match list {
        Some(list) => shape::axes(list, rank),
        None if count <= rank => Ok((0..count).collect()),
        None => invalid(format!("bounds of {count} axes for a tensor with {rank}")),
    }
}

/// Part of an axis.
#[derive(Debug, Clone, Copy)]
struct Cut {
    start: u64,
    step: i64,
    count: u64,
}

impl Cut {
    fn whole(extent: u64) -> Self {
        Self { start: 0, step: 1, count: extent }
    }

    fn new(extent: u64, start: i64, end: i64, step: i64) -> Result<Self, Fault> {
        ensure!(step != 0, "a slice with a step of 0");
        // An extent is at most 2^48.
        let all = extent as i64;
        let place = |value: i64| if value < 0 { value.saturating_add(all) } else { value };
        let (low, high) = if step > 0 { (0, all) } else { (-1, all - 1) };
        let first = place(start).clamp(low.max(0), high.max(0));
        let last = place(end).clamp(low, high);
        let distance = if step > 0 { last - first } else { first - last };
        let empty = distance <= 0 || extent == 0;
        let count = if empty { 0 } else { (distance as u64 - 1) / step.unsigned_abs() + 1 };
        Ok(Self { start: first as u64, step, count })
    }

    fn at(&self, coordinate: usize) -> usize {
        let place = i128::from(self.start) + i128::from(self.step) * coordinate as i128;
        usize::try_from(place).unwrap_or(usize::MAX)
    }
}

fn cut(call: &Call<'_>, input: &Fact, cuts: &[Cut]) -> Fact {
    let out: Vec<u64> = cuts.iter().map(|cut| cut.count).collect();
    let strides = shape::strides(&input.shape);
    let offset = |axis: usize, at: usize| cuts[axis].at(at).saturating_mul(strides[axis]);
    let elements = folding::follow(input, &out, offset);
    call.folded(input.element, out, elements)
}

/// `Split`; its parts are an attribute before opset 13.
pub(crate) fn split(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    let axis = call.axis(0, 0)?;
    let extent = input.shape[axis];
    let parts = match call.moved("split", 1, 13)? {
        Some(parts) => shape::extents(&parts, "the parts")?,
        None => equal_parts(call, extent)?,
    };
    let sum = parts.iter().fold(0, |sum: u64, &part| sum.saturating_add(part));
    let (count, outputs) = (parts.len(), call.node.outputs.len());
    let fits = sum == extent && count == outputs;
    ensure!(fits, "{count} parts of {sum} in all for {outputs} outputs of {extent}");
    let mut start = 0;
    let part = |&count: &u64| {
        let mut cuts: Vec<Cut> = input.shape.iter().map(|&extent| Cut::whole(extent)).collect();
        cuts[axis] = Cut { start, step: 1, count };
        start += count;
        cut(call, input, &cuts)
    };
    Ok(parts.iter().map(part).collect())
}

/// Parts of one size; from opset 18 on the last may be smaller.
fn equal_parts(call: &Call<'_>, extent: u64) -> Result<Vec<u64>, Fault> {
    let count = call.node.outputs.len() as u64;
    let stated = call.int("num_outputs", count as i64)?;
    ensure!(stated as u64 == count, "`num_outputs` is {stated} for {count} outputs");
    let fits = count > 0 && (call.opset >= 18 || extent.is_multiple_of(count));
    ensure!(fits, "{extent} is no multiple of {count} outputs");
    let part = extent.div_ceil(count);
    let last = part.checked_mul(count - 1).and_then(|others| extent.checked_sub(others));
    let Some(last) = last else {
        return invalid(format!("{extent} is too small for {count} parts of {part}"));
    };
    // There are as many parts as the file names outputs.
    let mut parts = vec![part; count as usize - 1];
    parts.push(last);
    Ok(parts)
}

/// `Concat`.
pub(crate) fn concat(call: &Call<'_>) -> Outputs {
    join(call, &call.all(0, 1)?)
}

/// Tensors one after the other along an axis.
pub(super) fn join(call: &Call<'_>, facts: &[&Fact]) -> Outputs {
    let Some(axis) = call.int_if("axis")? else { return invalid("`axis` is missing") };
    let Some(first) = facts.first() else { return invalid("nothing to join") };
    let axis = shape::axis(axis, first.shape.len())?;
    let mut out = first.shape.clone();
    for fact in &facts[1..] {
        let fits = fact.shape.len() == out.len()
            && (0..out.len()).all(|other| other == axis || fact.shape[other] == out[other]);
        ensure!(fits, "{first} and {fact} cannot be joined along axis {axis}");
        out[axis] = out[axis].saturating_add(fact.shape[axis]);
    }
    let elements = fold_join(facts, &out, axis);
    Ok(vec![call.folded(first.element, out, elements)])
}

fn fold_join(facts: &[&Fact], out: &[u64], axis: usize) -> Known {
    if shape::few(out)? == 0 {
        return Some(Vec::new());
    }
    let blocks = facts
        .iter()
        .filter(|fact| fact.count() > 0)
        .map(|fact| Some((fact.known()?, shape::few(&fact.shape[axis..])?)))
        .collect::<Option<Vec<_>>>()?;
    let mut joined = Vec::new();
    for row in 0..shape::few(&out[..axis])? {
        for (known, width) in &blocks {
            joined.extend(known.get(row * width..(row + 1) * width)?);
        }
    }
    Some(joined)
}

/// `Pad`; its extents are an attribute before opset 11.
pub(crate) fn pad(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    let rank = input.shape.len();
    let Some(pads) = call.moved("pads", 1, 11)? else { return invalid("`pads` is missing") };
    let axes = match call.optional(3) {
        Some(_) => shape::axes(&call.elements(3)?, rank)?,
        None => (0..rank).collect(),
    };
    let fits = pads.len() == 2 * axes.len();
    ensure!(fits, "{} pads for {} axes", pads.len(), axes.len());
    let mut borders = vec![(0, 0); rank];
    for (index, &axis) in axes.iter().enumerate() {
        borders[axis] = (pads[index], pads[axes.len() + index]);
    }
    let mut out = Vec::with_capacity(rank);
    for (&extent, &(begin, end)) in input.shape.iter().zip(&borders) {
        let padded = i128::from(extent) + i128::from(begin) + i128::from(end);
        match u64::try_from(padded) {
            Ok(padded) => out.push(padded),
            Err(_) => return invalid(format!("pads {begin} and {end} of an extent of {extent}")),
        }
    }
    let elements = fold_pad(call, input, &borders, &out)?;
    Ok(vec![call.folded(input.element, out, elements)])
}

fn fold_pad(
    call: &Call<'_>,
    input: &Fact,
    borders: &[(i64, i64)],
    out: &[u64],
) -> Result<Known, Fault> {
    let mode = call.text("mode", "constant")?;
    let Some(border) = border_value(call, input)? else { return Ok(None) };
    let strides = shape::strides(&input.shape);
    // Elements outside of the input are beyond all that it has.
    let outside = input.count().saturating_add(1) as usize;
    let offset = |axis: usize, at: usize| {
        let place = at as i128 - i128::from(borders[axis].0);
        match source(mode, place, i128::from(input.shape[axis])) {
            Some(place) => place.saturating_mul(strides[axis]),
            None => outside,
        }
    };
    let Some(known) = input.known() else { return Ok(None) };
    let shown =
        |index: usize| if index >= outside { Some(border) } else { known.get(index).copied() };
    let sources = folding::offsets(out, offset);
    Ok(sources.and_then(|sources| sources.into_iter().map(shown).collect()))
}

fn border_value(call: &Call<'_>, input: &Fact) -> Result<Option<Number>, Fault> {
    if call.opset < 11 {
        return Ok(Some(Number::Float(f64::from(call.float("value", 0.0)?))));
    }
    let zero = number::cast(Number::Int(0), input.element);
    Ok(call.optional(2).map_or(zero, Fact::first))
}

/// Coordinate that a padded one shows; `None` outside of the input.
fn source(mode: &str, place: i128, extent: i128) -> Option<usize> {
    if extent <= 0 {
        return None;
    }
    let inside = match mode {
        "edge" => place.clamp(0, extent - 1),
        "wrap" => place.rem_euclid(extent),
        "reflect" if extent == 1 => 0,
        "reflect" => {
            let period = 2 * (extent - 1);
            let place = place.rem_euclid(period);
            place.min(period - place)
        }
        _ if (0..extent).contains(&place) => place,
        _ => return None,
    };
    usize::try_from(inside).ok()
}

/// `CenterCropPad`.
pub(crate) fn center_crop_pad(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    let target = call.elements(1)?;
    let rank = input.shape.len();
    let axes = shape::axes_or_all(call.ints("axes")?, rank)?;
    let fits = target.len() == axes.len();
    ensure!(fits, "{} extents for {} axes", target.len(), axes.len());
    let mut out = input.shape.clone();
    for (axis, extent) in axes.into_iter().zip(shape::extents(&target, "the shape")?) {
        out[axis] = extent;
    }
    Ok(vec![call.output(input.element, out)])
}

/// `Trilu`: one triangle of each matrix.
pub(crate) fn trilu(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    ensure!(input.shape.len() >= 2, "a triangle of {input}");
    let diagonal = call.optional(1).map_or(Some(Number::Int(0)), Fact::first);
    let upper = call.int("upper", 1)? != 0;
    let elements = diagonal
        .and_then(Number::int)
        .and_then(|diagonal| fold_triangle(input, upper, i128::from(diagonal)));
    Ok(vec![call.folded(input.element, input.shape.clone(), elements)])
}

fn fold_triangle(input: &Fact, upper: bool, diagonal: i128) -> Known {
    let zero = number::cast(Number::Int(0), input.element)?;
    let [.., rows, columns] = input.shape[..] else { return None };
    let kept = |(index, &value): (usize, &Number)| {
        let column = (index as u64 % columns) as i128;
        let row = (index as u64 / columns % rows) as i128;
        let beyond = column - row - diagonal;
        if (upper && beyond >= 0) || (!upper && beyond <= 0) { value } else { zero }
    };
    Some(input.known()?.iter().enumerate().map(kept).collect())
}
