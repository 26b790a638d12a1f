//! Operators that write elements by indices into a copy.

use super::folding::Known;
use super::gathering::{block_sources, element_sources};
use super::number;
use super::{Call, Fault, Outputs, invalid};
use crate::fact::Fact;

/// `Scatter` and `ScatterElements`.
pub(crate) fn scatter_elements(call: &Call<'_>) -> Outputs {
    let (data, indices, updates) = (call.input(0)?, call.input(1)?, call.input(2)?);
    let axis = call.axis(0, 0)?;
    let fits = indices.shape == updates.shape && indices.shape.len() == data.shape.len();
    ensure!(fits, "indices of {indices} against updates of {updates}");
    let targets = element_sources(data, indices, axis);
    let elements = written(call, data, targets, updates)?;
    Ok(vec![call.folded(data.element, data.shape.clone(), elements)])
}

/// `ScatterND`.
pub(crate) fn scatter_nd(call: &Call<'_>) -> Outputs {
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
    ensure!(fits, "indices of {indices} with updates of {updates} into {data}");
    let targets = block_sources(data, indices, width);
    let elements = written(call, data, targets, updates)?;
    Ok(vec![call.folded(data.element, data.shape.clone(), elements)])
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
    let mut numbers = data.known()?.to_vec();
    let updates = updates.known()?;
    for (index, target) in targets?.into_iter().enumerate() {
        let place = numbers.get_mut(target)?;
        *place = combine(*place, *updates.get(index)?)?;
    }
    Some(numbers)
}
