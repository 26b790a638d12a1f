//! Operators that keep elements and change the shape around them, or the order of axes.

use super::folding;
use super::{Call, Fault, MAX_RANK, Outputs, invalid, shape};
use crate::fact::{Fact, text};

/// `Reshape`.
pub(crate) fn reshape(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    let target = call.elements(1)?;
    let copies = !call.flag("allowzero")?;
    let is_clear = copies || !target.contains(&0) || !target.contains(&-1);
    ensure!(is_clear, "a 0 and a -1 in the shape");
    let mut open = None;
    let mut out = Vec::with_capacity(target.len().min(MAX_RANK));
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
    let Some(axis) = open else {
        ensure!(have == rest, "{input} cannot become {}", text(out));
        return Ok(());
    };
    ensure!(rest != 0, "a -1 beside an extent of 0 in the shape");
    let fits = have.is_multiple_of(rest);
    ensure!(fits, "{have} elements of {input} are no multiple of {rest}");
    out[axis] = have / rest;
    Ok(())
}

/// `Flatten`.
pub(crate) fn flatten(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    let rank = input.shape.len();
    let axis = call.int("axis", 1)?;
    // The axis may be that after the last.
    let axis = if axis == rank as i64 { rank } else { shape::axis(axis, rank)? };
    let (rows, columns) = input.shape.split_at(axis);
    Ok(vec![call.reshaped(input, vec![shape::count(rows)?, shape::count(columns)?])])
}

/// `Squeeze`.
pub(crate) fn squeeze(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    let axes = match call.moved("axes", 1, 13)? {
        Some(list) => shape::axes(&list, input.shape.len())?,
        None => (0..input.shape.len()).filter(|&axis| input.shape[axis] == 1).collect(),
    };
    if let Some(&axis) = axes.iter().find(|&&axis| input.shape[axis] != 1) {
        return invalid(format!("axis {axis} to remove has an extent of {}", input.shape[axis]));
    }
    let kept = (0..input.shape.len()).filter(|axis| !axes.contains(axis));
    Ok(vec![call.reshaped(input, kept.map(|axis| input.shape[axis]).collect())])
}

/// `Unsqueeze`.
pub(crate) fn unsqueeze(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    let Some(list) = call.moved("axes", 1, 13)? else { return invalid("`axes` is missing") };
    let rank = input.shape.len() + list.len();
    ensure!(rank <= MAX_RANK, "{rank} axes, and a tensor has at most {MAX_RANK}");
    let axes = shape::axes(&list, rank)?;
    let mut own = input.shape.iter();
    let out = (0..rank).map(|axis| match axes.contains(&axis) {
        true => 1,
        false => own.next().copied().unwrap_or(1),
    });
    Ok(vec![call.reshaped(input, out.collect())])
}

/// `Transpose`.
pub(crate) fn transpose(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    let rank = input.shape.len();
    let order = match call.ints("perm")? {
        Some(list) => {
            ensure!(list.len() == rank, "an order of {} axes for {rank}", list.len());
            shape::axes(list, rank)?
        }
        None => (0..rank).rev().collect(),
    };
    let out: Vec<u64> = order.iter().map(|&axis| input.shape[axis]).collect();
    let strides = shape::strides(&input.shape);
    let offset = |axis: usize, at: usize| at.saturating_mul(strides[order[axis]]);
    let elements = folding::follow(input, &out, offset);
    Ok(vec![call.folded(input.element, out, elements)])
}

/// `Expand`.
pub(crate) fn expand(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    let target = shape::extents(&call.elements(1)?, "the shape")?;
    let out = shape::broadcast(&[&input.shape, &target])?;
    let elements = folding::expand(input, &out);
    Ok(vec![call.folded(input.element, out, elements)])
}

/// `Tile`.
pub(crate) fn tile(call: &Call<'_>) -> Outputs {
    let input = call.input(0)?;
    let repeats = call.elements(1)?;
    let (count, rank) = (repeats.len(), input.shape.len());
    ensure!(count == rank, "{count} repeats for {rank} axes");
    let repeats = shape::extents(&repeats, "the repeats")?;
    let extents = input.shape.iter().zip(repeats);
    let out: Vec<u64> = extents.map(|(extent, times)| extent.saturating_mul(times)).collect();
    let strides = shape::strides(&input.shape);
    let offset =
        |axis: usize, at: usize| (at as u64 % input.shape[axis].max(1)) as usize * strides[axis];
    let elements = folding::follow(input, &out, offset);
    Ok(vec![call.folded(input.element, out, elements)])
}

/// `DepthToSpace`.
pub(crate) fn depth_to_space(call: &Call<'_>) -> Outputs {
    let ([n, c, y, x], block) = blocks(call)?;
    let area = block.saturating_mul(block);
    ensure!(c.is_multiple_of(area), "{c} channels are no multiple of {area}");
    let out = vec![n, c / area, y.saturating_mul(block), x.saturating_mul(block)];
    Ok(vec![call.output(call.input(0)?.element, out)])
}

/// `SpaceToDepth`.
pub(crate) fn space_to_depth(call: &Call<'_>) -> Outputs {
    let ([n, c, y, x], block) = blocks(call)?;
    let fits = y.is_multiple_of(block) && x.is_multiple_of(block);
    ensure!(fits, "{y}x{x} is no multiple of {block}x{block}");
    let area = block.saturating_mul(block);
    let out = vec![n, c.saturating_mul(area), y / block, x / block];
    Ok(vec![call.output(call.input(0)?.element, out)])
}

fn blocks(call: &Call<'_>) -> Result<([u64; 4], u64), Fault> {
    let extents = shape::of_rank(call.input(0)?, "the input")?;
    let block = call.extent("blocksize", 0)?;
    ensure!(block > 0, "a block of 0");
    Ok((extents, block))
}
