//! Recurrent networks: a product for each step.

use super::held::{Axis, Held, Place};
use super::maker::{Maker, extent};
use super::operands::{operand, weight_bits};
use crate::rules::{Call, Fault};
use crate::trace::Step;
use xrsim_model::model::{MatmulShape, Operator, View};

/// An LSTM, GRU or RNN. In every direction the first step reads weights of its own, and those after it the
/// same; inputs and states stand side by side.
pub(super) fn recurrent(
    maker: &mut Maker<'_, '_>,
    step: &Step<'_>,
    call: &Call<'_>,
) -> Result<(), Fault> {
    let form = crate::rules::recurrent(call)?;
    let data = operand(step, 0)?;
    let (weights, states) = (operand(step, 1)?, operand(step, 2)?);
    if !maker.is_constant(weights) || !maker.is_constant(states) {
        return Err(Fault::Invalid("its weights depend on data".into()));
    }
    if let Some(&Some(bias)) = step.inputs.get(3) {
        maker.parameter(bias);
    }
    for (index, what) in [(4, "lengths of sequences"), (7, "peepholes")] {
        if step.inputs.get(index).is_some_and(Option::is_some) {
            let name = xrsim_model::text::in_line(&step.name);
            maker.decisions.push(format!("{name}: {what} are ignored"));
        }
    }
    let shape = MatmulShape {
        instances: 1,
        rows: extent("the batch", form.batch)?,
        c: extent("the number of features", form.inputs.saturating_add(form.hidden))?,
        k: extent("the number of gates", form.gates.saturating_mul(form.hidden))?,
        activations: false,
    };
    let n_layers = form.directions.saturating_mul(form.steps);
    if n_layers == 0 {
        return Err(Fault::Invalid("a sequence of no steps".into()));
    }
    if n_layers > xrsim_model::model::Network::MAX_LAYERS as u64 {
        let limit = xrsim_model::model::Network::MAX_LAYERS;
        return Err(Fault::Invalid(format!(
            "{n_layers} steps are layers; a network has at most {limit}"
        )));
    }
    let is_shared = maker.is_shared(weights);
    // A layer has the weights of both products, or none of them.
    if maker.trace.tensor(weights).root.is_none() {
        maker.parameter(states);
    }
    let bits = maker.held(data).bits;
    let weight_bits = weight_bits(maker, weights);
    // The first step of each direction reads initial states, too.
    let given = step.inputs.iter().skip(5).take(2).flatten();
    let given = given.copied().filter(|id| !maker.is_constant(*id));
    let first: Vec<_> = std::iter::once(data).chain(given).collect();
    let first = maker.places(&first, false);
    let mut last = Vec::new();
    for _ in 0..form.directions {
        for index in 0..form.steps {
            // Later steps read their part of a sequence that passes through DRAM, and the state before.
            let places = if index == 0 {
                first.iter().map(|&(place, _)| (place, View::Slice)).collect()
            } else {
                let before: usize = last.last().copied().unwrap_or_default();
                vec![(Place::Outside, View::Whole), (Place::Layer(before), View::Slice)]
            };
            let layer = maker.layer(step, Operator::Matmul(shape), None, places)?;
            let row = maker.row(layer);
            (row.activation_bits, row.weight_bits) = (bits, weight_bits);
            if is_shared || index > 0 {
                maker.share(layer);
            }
            match index {
                0 => last.push(layer),
                _ => *last.last_mut().expect("the first step pushed one") = layer,
            }
        }
    }
    let states: Vec<_> = last.iter().map(|&layer| (Place::Layer(layer), View::Slice)).collect();
    let all = if form.steps == 1 { states.clone() } else { vec![(Place::Outside, View::Whole)] };
    for (index, &output) in step.outputs.iter().enumerate() {
        let rank = maker.fact(output).shape.len();
        let mut axes = vec![Axis::Y; rank];
        // Directions stand side by side in the features.
        let direction = if form.batch_first {
            rank - 2
        } else if index == 0 {
            1
        } else {
            0
        };
        axes[direction] = Axis::K;
        axes[rank - 1] = Axis::K;
        let places = if index == 0 { all.clone() } else { states.clone() };
        maker.put(output, Held { axes: Some(axes), ..Held::new(places, output) });
    }
    Ok(())
}
