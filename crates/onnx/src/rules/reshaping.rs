//! Operators that keep elements and change the shape around them, or the order of axes.

use super::super::fact::Fact;
use super::folding;
use super::{Call, Fault, Outputs, invalid, shape};

/// `Reshape`.
pub(super) fn reshape(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    let target = call.elements(1)?;
    let copies = !call.flag("allowzero")?;
    if !copies && target.contains(&0) && target.contains(&-1) {
        return invalid("a 0 and a -1 in the shape");
    }
    let mut open = None;
    let mut out = Vec::with_capacity(target.len().min(super::MAX_RANK));
    for (axis, &value) in target.iter().enumerate() {
        out.push(match value {
            0 if copies => *input.shape.get(axis).ok_or_else(|| {
                let text = "a 0 of the shape copies an extent, and the input has no such axis";
                Fault::Invalid(text.to_owned())
            })?,
            -1 if open.is_some() => return invalid("two -1 in the shape"),
            -1 => {
                open = Some(axis);
                1
            }
            value => shape::extent(value, "the shape")?,
        });
    }
    close(input, &mut out, open)?;
    Ok(vec![call.reshaped(input, out)])
}

/// Sets the open extent so that the elements of the input fit.
fn close(input: &Fact, out: &mut [u64], open: Option<usize>) -> Result<(), Fault> {
    let (have, rest) = (shape::count(&input.shape)?, shape::count(out)?);
    let text = || shape::text(&input.shape);
    match open {
        None if have == rest => Ok(()),
        None => invalid(format!("{} cannot become {}", text(), shape::text(out))),
        Some(_) if rest == 0 => invalid("a -1 beside an extent of 0 in the shape"),
        Some(axis) if have.is_multiple_of(rest) => {
            out[axis] = have / rest;
            Ok(())
        }
        Some(_) => invalid(format!("{have} elements of {} are no multiple of {rest}", text())),
    }
}

/// `Flatten`.
pub(super) fn flatten(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    let rank = input.shape.len();
    let axis = call.int("axis", 1)?;
    // The axis may be that after the last.
    let axis = if axis == rank as i64 { rank } else { shape::axis(axis, rank)? };
    let (rows, columns) = input.shape.split_at(axis);
    Ok(vec![call.reshaped(input, vec![shape::count(rows)?, shape::count(columns)?])])
}

/// `Squeeze`.
pub(super) fn squeeze(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    let axes = match call.moved("axes", 1, 13)? {
        Some(list) => shape::axes(list, input.shape.len())?,
        None => (0..input.shape.len()).filter(|&axis| input.shape[axis] == 1).collect(),
    };
    if let Some(&axis) = axes.iter().find(|&&axis| input.shape[axis] != 1) {
        return invalid(format!("axis {axis} to remove has an extent of {}", input.shape[axis]));
    }
    let kept = (0..input.shape.len()).filter(|axis| !axes.contains(axis));
    Ok(vec![call.reshaped(input, kept.map(|axis| input.shape[axis]).collect())])
}

/// `Unsqueeze`.
pub(super) fn unsqueeze(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    let Some(list) = call.moved("axes", 1, 13)? else { return invalid("`axes` is missing") };
    let rank = input.shape.len() + list.len();
    if rank > super::MAX_RANK {
        return invalid(format!("{rank} axes, and a tensor has at most {}", super::MAX_RANK));
    }
    let axes = shape::axes(list, rank)?;
    let mut own = input.shape.iter();
    let out = (0..rank).map(|axis| match axes.contains(&axis) {
        true => 1,
        false => own.next().copied().unwrap_or(1),
    });
    Ok(vec![call.reshaped(input, out.collect())])
}

/// `Transpose`.
pub(super) fn transpose(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    let rank = input.shape.len();
    let order = match call.ints("perm")? {
        Some(list) if list.len() != rank => {
            return invalid(format!("an order of {} axes for {rank}", list.len()));
        }
        Some(list) => shape::axes(list, rank)?,
        None => (0..rank).rev().collect(),
    };
    let out: Vec<u64> = order.iter().map(|&axis| input.shape[axis]).collect();
    let strides = shape::strides(&input.shape);
    let offset = |axis: usize, at: usize| at.saturating_mul(strides[order[axis]]);
    let elements = folding::follow(input, &out, offset);
    Ok(vec![call.known(input.element, out, elements)])
}

/// `Expand`.
pub(super) fn expand(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    let target = call.elements(1)?;
    let target: Vec<u64> =
        target.iter().map(|&value| shape::extent(value, "the shape")).collect::<Result<_, _>>()?;
    let out = shape::broadcast(&[&input.shape, &target])?;
    let elements = folding::expand(input, &out);
    Ok(vec![call.known(input.element, out, elements)])
}

/// `Tile`.
pub(super) fn tile(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    let repeats = call.elements(1)?;
    if repeats.len() != input.shape.len() {
        return invalid(format!("{} repeats for {} axes", repeats.len(), input.shape.len()));
    }
    let out: Vec<u64> = input
        .shape
        .iter()
        .zip(repeats)
        .map(|(&extent, &times)| Ok(extent.saturating_mul(shape::extent(times, "the repeats")?)))
        .collect::<Result<_, Fault>>()?;
    let strides = shape::strides(&input.shape);
    let offset =
        |axis: usize, at: usize| (at as u64 % input.shape[axis].max(1)) as usize * strides[axis];
    let elements = folding::follow(input, &out, offset);
    Ok(vec![call.known(input.element, out, elements)])
}

/// `DepthToSpace`.
pub(super) fn depth_to_space(call: &Call<'_>) -> Outputs {
    let (input, block) = blocks(call)?;
    let [n, c, y, x] = input.shape[..] else { return Err(Fault::Unsupported) };
    let area = block.saturating_mul(block);
    if !c.is_multiple_of(area) {
        return invalid(format!("{c} channels are no multiple of {area}"));
    }
    let out = vec![n, c / area, y.saturating_mul(block), x.saturating_mul(block)];
    Ok(vec![call.output(input.element, out)])
}

/// `SpaceToDepth`.
pub(super) fn space_to_depth(call: &Call<'_>) -> Outputs {
    let (input, block) = blocks(call)?;
    let [n, c, y, x] = input.shape[..] else { return Err(Fault::Unsupported) };
    if !y.is_multiple_of(block) || !x.is_multiple_of(block) {
        return invalid(format!("{y}x{x} is no multiple of {block}x{block}"));
    }
    let area = block.saturating_mul(block);
    let out = vec![n, c.saturating_mul(area), y / block, x / block];
    Ok(vec![call.output(input.element, out)])
}

fn blocks<'a>(call: &Call<'a>) -> Result<(&'a Fact, u64), Fault> {
    let input = call.input(0)?;
    shape::has_rank(input, 4, "the input")?;
    match shape::extent(call.int("blocksize", 0)?, "`blocksize`")? {
        0 => invalid("a block of 0"),
        block => Ok((input, block)),
    }
}
