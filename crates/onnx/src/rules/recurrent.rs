//! Recurrent networks.

use xrsim_model::text::in_line;

use super::{Call, Fault, Outputs, invalid, shape};
use crate::fact::text;

/// Extents of an `LSTM`, `GRU` or `RNN`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Recurrent {
    /// Steps.
    pub steps: u64,
    /// Batch.
    pub batch: u64,
    /// Directions, 1 or 2.
    pub directions: u64,
    /// Features of the input.
    pub inputs: u64,
    /// Features of the state.
    pub hidden: u64,
    /// Gates: 4, 3 or 1.
    pub gates: u64,
    /// Whether the batch comes before the steps.
    pub batch_first: bool,
}

/// Extents of an `LSTM`, `GRU` or `RNN`.
///
/// # Errors
///
/// [`Fault::Invalid`], if weights and input do not fit each other; [`Fault::Unsupported`] of other operators.
pub(crate) fn recurrent(call: &Call<'_>) -> Result<Recurrent, Fault> {
    let gates = match call.operator() {
        "LSTM" => 4,
        "GRU" => 3,
        "RNN" => 1,
        _ => return Err(Fault::Unsupported),
    };
    let (data, weights, state) = (call.input(0)?, call.input(1)?, call.input(2)?);
    let [a, b, inputs] = shape::of_rank(data, "the input")?;
    shape::has_rank(weights, 3, "W")?;
    let [.., state_columns] = shape::of_rank::<3>(state, "R")?;
    let batch_first = call.flag("layout")?;
    let (steps, batch) = if batch_first { (b, a) } else { (a, b) };
    let directions = match call.text("direction", "forward")? {
        "forward" | "reverse" => 1,
        "bidirectional" => 2,
        other => return invalid(format!("`direction` of {}", in_line(other))),
    };
    let hidden = match call.int_if("hidden_size")? {
        Some(hidden) => shape::extent(hidden, "`hidden_size`")?,
        None => state_columns,
    };
    let rows = hidden.saturating_mul(gates);
    for (fact, name, columns) in [(weights, "W", inputs), (state, "R", hidden)] {
        let wanted = [directions, rows, columns];
        ensure!(fact.shape == wanted, "{name} is {fact} instead of {}", text(&wanted));
    }
    Ok(Recurrent { steps, batch, directions, inputs, hidden, gates, batch_first })
}

/// All states, the last one, and of an `LSTM` the last cell.
pub(crate) fn states(call: &Call<'_>) -> Outputs {
    let Recurrent { steps, batch, directions, hidden, batch_first, .. } = recurrent(call)?;
    let element = call.input(0)?.element;
    let (all, last) = match batch_first {
        true => (vec![batch, steps, directions, hidden], vec![batch, directions, hidden]),
        false => (vec![steps, directions, batch, hidden], vec![directions, batch, hidden]),
    };
    let mut outputs = vec![call.output(element, all), call.output(element, last.clone())];
    if call.operator() == "LSTM" {
        outputs.push(call.output(element, last));
    }
    Ok(outputs)
}
