//! Operators that write elements by indices into a copy.

use super::super::fact::{Elements, Fact};
use super::folding::Known;
use super::gathering::{block_starts, element_sources};
use super::number::{self, Number};
use super::{Call, Fault, Outputs, invalid, shape};

/// `Scatter` and `ScatterElements`.
pub(super) fn scatter_elements(call: &Call<'_>) -> Outputs {
    let (data, indices, updates) = (call.input(0)?, call.input(1)?, call.input(2)?);
    let axis = call.axis(0, 0)?;
    if indices.shape != updates.shape || indices.shape.len() != data.shape.len() {
        let (indices, updates) = (shape::text(&indices.shape), shape::text(&updates.shape));
        return invalid(format!("indices of {indices} against updates of {updates}"));
    }
    let targets = element_sources(data, indices, axis);
    let elements = written(call, data, targets, updates)?;
    Ok(vec![call.known(data.element, data.shape.clone(), elements)])
}

/// `ScatterND`.
pub(super) fn scatter_nd(call: &Call<'_>) -> Outputs {
    let (data, indices, updates) = (call.input(0)?, call.input(1)?, call.input(2)?);
    let Some((&width, rows)) = indices.shape.split_last() else {
        return invalid("indices without axes");
    };
    let width = usize::try_from(width).unwrap_or(usize::MAX);
    let fits = data.shape.get(width..).is_some_and(|block| {
        updates.shape.len() == rows.len() + block.len()
            && updates.shape.starts_with(rows)
            && updates.shape.ends_with(block)
    });
    if !fits {
        let text = |fact: &Fact| shape::text(&fact.shape);
        let (indices, updates, data) = (text(indices), text(updates), text(data));
        return invalid(format!("indices of {indices} with updates of {updates} into {data}"));
    }
    let elements = written(call, data, block_targets(data, indices, width), updates)?;
    Ok(vec![call.known(data.element, data.shape.clone(), elements)])
}

fn block_targets(data: &Fact, indices: &Fact, width: usize) -> Option<Vec<usize>> {
    let block = shape::few(&data.shape[width..])?;
    // The updates have as many elements, and are followed only if they are few.
    let starts = block_starts(data, indices, width)?;
    (starts.len().checked_mul(block)? <= Elements::MAX)
        .then(|| starts.iter().flat_map(|&start| start..start.saturating_add(block)).collect())
}

/// Data with the updates written to these indices.
fn written(
    call: &Call<'_>,
    data: &Fact,
    targets: Option<Vec<usize>>,
    updates: &Fact,
) -> Result<Known, Fault> {
    let combine: number::Binary = match call.text("reduction", "none")? {
        "add" => number::add,
        "mul" => number::mul,
        "max" => number::max,
        "min" => number::min,
        _ => |_, update| Some(update),
    };
    Ok(write(data, targets, updates, combine))
}

fn write(
    data: &Fact,
    targets: Option<Vec<usize>>,
    updates: &Fact,
    combine: number::Binary,
) -> Known {
    let known = data.elements.as_deref()?;
    let updates = updates.elements.as_deref()?;
    let mut numbers: Vec<Number> = super::folding::numbers(known).collect();
    for (index, target) in targets?.into_iter().enumerate() {
        let place = numbers.get_mut(target)?;
        *place = combine(*place, number::get(updates, index)?)?;
    }
    number::collect(numbers.into_iter().map(Some))
}
