//! Operators that cut tensors, join them and put borders around them.

use super::super::fact::{Elements, Fact};
use super::folding::{self, Known};
use super::number::{self, Number};
use super::{Call, Fault, Outputs, invalid, shape};

/// `Slice`; its bounds are attributes before opset 10.
pub(super) fn slice(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    let missing = || Fault::Invalid("bounds are missing".to_owned());
    let starts = call.moved("starts", 1, 10)?.ok_or_else(missing)?;
    let ends = call.moved("ends", 2, 10)?.ok_or_else(missing)?;
    let axes = axes_or_first(call.moved("axes", 3, 10)?, starts.len(), input.shape.len())?;
    let steps =
        if call.opset < 10 || call.optional(4).is_none() { None } else { Some(call.elements(4)?) };
    let same = ends.len() == starts.len() && axes.len() == starts.len();
    if !same || steps.is_some_and(|steps| steps.len() != starts.len()) {
        return invalid(format!("{} starts against {} ends of a slice", starts.len(), ends.len()));
    }
    let mut cuts: Vec<Cut> = input.shape.iter().map(|&extent| Cut::whole(extent)).collect();
    for (index, &axis) in axes.iter().enumerate() {
        let step = steps.map_or(1, |steps| steps[index]);
        cuts[axis] = Cut::new(input.shape[axis], starts[index], ends[index], step)?;
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
        if step == 0 {
            return invalid("a slice with a step of 0");
        }
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
    call.known(input.element, out, elements)
}

/// `Split`; its parts are an attribute before opset 13.
pub(super) fn split(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    let axis = call.axis(0, 0)?;
    let extent = input.shape[axis];
    let parts = match call.moved("split", 1, 13)? {
        Some(parts) => parts
            .iter()
            .map(|&part| shape::extent(part, "the parts"))
            .collect::<Result<Vec<_>, _>>()?,
        None => equal_parts(call, extent)?,
    };
    let sum = parts.iter().fold(0, |sum: u64, &part| sum.saturating_add(part));
    if sum != extent || parts.len() != call.node.outputs.len() {
        let count = parts.len();
        let outputs = call.node.outputs.len();
        return invalid(format!("{count} parts of {sum} in all for {outputs} outputs of {extent}"));
    }
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
    let outputs = call.node.outputs.len() as u64;
    let count = match call.int_if("num_outputs")? {
        Some(count) if count as u64 != outputs => {
            return invalid(format!("`num_outputs` is {count} for {outputs} outputs"));
        }
        _ => outputs,
    };
    if count == 0 || call.opset < 18 && !extent.is_multiple_of(count) {
        return invalid(format!("{extent} is no multiple of {count} outputs"));
    }
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
pub(super) fn concat(call: &Call<'_>) -> Outputs {
    let facts: Vec<&Fact> =
        (0..call.inputs.len()).map(|index| call.input(index)).collect::<Result<_, _>>()?;
    match call.int_if("axis")? {
        Some(axis) => Ok(vec![join(call, &facts, axis)?]),
        None => invalid("`axis` is missing"),
    }
}

/// Tensors one after the other along an axis.
pub(super) fn join(call: &Call<'_>, facts: &[&Fact], axis: i64) -> Result<Fact, Fault> {
    let Some(first) = facts.first() else { return invalid("nothing to join") };
    let axis = shape::axis(axis, first.shape.len())?;
    let mut out = first.shape.clone();
    for fact in &facts[1..] {
        let fits = fact.shape.len() == out.len()
            && (0..out.len()).all(|other| other == axis || fact.shape[other] == out[other]);
        if !fits {
            let (a, b) = (shape::text(&first.shape), shape::text(&fact.shape));
            return invalid(format!("{a} and {b} cannot be joined along axis {axis}"));
        }
        out[axis] = out[axis].saturating_add(fact.shape[axis]);
    }
    let elements = fold_join(facts, &out, axis);
    Ok(call.known(first.element, out, elements))
}

fn fold_join(facts: &[&Fact], out: &[u64], axis: usize) -> Known {
    if shape::few(out)? == 0 {
        return Some(Elements::Ints(Vec::new()));
    }
    let blocks: Vec<_> = facts
        .iter()
        .filter(|fact| fact.count() > 0)
        .map(|fact| Some((fact.elements.as_deref()?, shape::few(&fact.shape[axis..])?)))
        .collect::<Option<_>>()?;
    let rows = shape::few(&out[..axis])?;
    number::collect((0..rows).flat_map(|row| {
        blocks.iter().flat_map(move |&(elements, width)| {
            (row * width..(row + 1) * width).map(|index| number::get(elements, index))
        })
    }))
}

/// `Pad`; its extents are an attribute before opset 11.
pub(super) fn pad(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    let rank = input.shape.len();
    let Some(pads) = call.moved("pads", 1, 11)? else { return invalid("`pads` is missing") };
    let axes = match call.optional(3) {
        Some(_) => shape::axes(call.elements(3)?, rank)?,
        None => (0..rank).collect(),
    };
    if pads.len() != 2 * axes.len() {
        return invalid(format!("{} pads for {} axes", pads.len(), axes.len()));
    }
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
    Ok(vec![call.known(input.element, out, elements)])
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
    let Some(known) = input.elements.as_deref() else { return Ok(None) };
    Ok(folding::offsets(out, offset).and_then(|sources| {
        number::collect(sources.into_iter().map(|index| match index {
            index if index >= outside => Some(border),
            index => number::get(known, index),
        }))
    }))
}

fn border_value(call: &Call<'_>, input: &Fact) -> Result<Option<Number>, Fault> {
    let zero = number::cast(Number::Int(0), input.element);
    if call.opset < 11 {
        return Ok(Some(Number::Float(f64::from(call.float("value", 0.0)?))));
    }
    Ok(match call.optional(2) {
        Some(fact) => fact.elements.as_deref().and_then(|known| number::get(known, 0)),
        None => zero,
    })
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
pub(super) fn center_crop_pad(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    let target = call.elements(1)?;
    let rank = input.shape.len();
    let axes = match call.ints("axes")? {
        Some(list) => shape::axes(list, rank)?,
        None => (0..rank).collect(),
    };
    if target.len() != axes.len() {
        return invalid(format!("{} extents for {} axes", target.len(), axes.len()));
    }
    let mut out = input.shape.clone();
    for (&axis, &value) in axes.iter().zip(target) {
        out[axis] = shape::extent(value, "the shape")?;
    }
    Ok(vec![call.output(input.element, out)])
}

/// `Trilu`: one triangle of each matrix.
pub(super) fn trilu(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    if input.shape.len() < 2 {
        return invalid(format!("a triangle of {}", shape::text(&input.shape)));
    }
    let diagonal = match call.optional(1) {
        Some(fact) => fact.elements.as_deref().and_then(|known| number::get(known, 0)),
        None => Some(Number::Int(0)),
    };
    let upper = call.int("upper", 1)? != 0;
    let elements = match diagonal {
        Some(Number::Int(diagonal)) => fold_triangle(input, upper, i128::from(diagonal)),
        _ => None,
    };
    Ok(vec![call.known(input.element, input.shape.clone(), elements)])
}

fn fold_triangle(input: &Fact, upper: bool, diagonal: i128) -> Known {
    let known = input.elements.as_deref()?;
    let zero = number::cast(Number::Int(0), input.element)?;
    let [.., rows, columns] = input.shape[..] else { return None };
    number::collect(folding::numbers(known).enumerate().map(|(index, value)| {
        let column = (index as u64 % columns) as i128;
        let row = (index as u64 / columns % rows) as i128;
        let beyond = column - row - diagonal;
        let kept = if upper { beyond >= 0 } else { beyond <= 0 };
        Some(if kept { value } else { zero })
    }))
}
