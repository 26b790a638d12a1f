//! Recurrent networks: a product for each step.

use super::held::{Axis, Held, Place, Places};
use super::maker::{Maker, extent};
use super::op::{Done, Op};
use super::operands::weight_bits;
use crate::rules::{Fault, Recurrent, recurrent as extents};
use crate::trace::TensorId;
use xrsim_model::model::{MatmulShape, Network, Operator, View};

/// An LSTM, GRU or RNN.
pub(super) fn recurrent(maker: &mut Maker<'_, '_>, op: &Op<'_>) -> Done {
    let form = extents(&op.call)?;
    let (weights, states) = (op.operand(1)?, op.operand(2)?);
    let is_constant = maker.is_constant(weights) && maker.is_constant(states);
    ensure!(is_constant, "its weights depend on data");
    maker.parameters(op.given(3));
    for (index, ignored) in [(4, "lengths of sequences"), (7, "peepholes")] {
        if op.given(index).is_some() {
            let name = xrsim_model::text::in_line(&op.step.name);
            maker.decisions.push(format!("{name}: {ignored} are ignored"));
        }
    }
    let shape = MatmulShape {
        instances: 1,
        rows: extent("the batch", form.batch)?,
        c: extent("the number of features", form.inputs.saturating_add(form.hidden))?,
        k: extent("the number of gates", form.gates.saturating_mul(form.hidden))?,
        activations: false,
    };
    let (n, limit) = (form.directions.saturating_mul(form.steps), Network::MAX_LAYERS);
    ensure!(n > 0, "a sequence of no steps");
    ensure!(n <= limit as u64, "{n} steps are layers; a network has at most {limit}");
    let last = steps(maker, op, &form, shape, [weights, states])?;
    let states: Places = last.iter().map(|&layer| (Place::Layer(layer), View::Slice)).collect();
    let all = if form.steps == 1 { states.clone() } else { vec![(Place::Outside, View::Whole)] };
    for (index, &output) in op.step.outputs.iter().enumerate() {
        let rank = maker.fact(output).shape.len();
        let mut axes = vec![Axis::Y; rank];
        // Directions stand side by side in the features.
        let direction = if form.batch_first { rank - 2 } else { usize::from(index == 0) };
        axes[direction] = Axis::K;
        axes[rank - 1] = Axis::K;
        let places = if index == 0 { all.clone() } else { states.clone() };
        maker.put(output, Held { axes: Some(axes), ..Held::new(places, output) });
    }
    Ok(())
}

/// Adds the layers of all steps, and returns the last one of each direction. In every direction the first step
/// reads weights of its own, and those after it the same; inputs and states stand side by side.
fn steps(
    maker: &mut Maker<'_, '_>,
    op: &Op<'_>,
    form: &Recurrent,
    shape: MatmulShape,
    [weights, states]: [TensorId; 2],
) -> Result<Vec<usize>, Fault> {
    let data = op.operand(0)?;
    let is_shared = maker.is_shared(weights);
    // A layer has the weights of both products, or none of them.
    if maker.trace.tensor(weights).root.is_none() {
        maker.parameter(states);
    }
    let bits = (maker.held(data).bits, weight_bits(maker, weights));
    // The first step of each direction reads initial states, too.
    let given = [5, 6].into_iter().filter_map(|index| op.given(index));
    let given = given.filter(|id| !maker.is_constant(*id));
    let first: Vec<_> = std::iter::once(data).chain(given).collect();
    let mut first = maker.places(&first, false);
    first.iter_mut().for_each(|(_, view)| *view = View::Slice);
    let mut last = Vec::new();
    for _ in 0..form.directions {
        let mut before = None;
        for _ in 0..form.steps {
            // Later steps read their part of a sequence that passes through DRAM, and the state before.
            let places = match before {
                None => first.clone(),
                Some(before) => {
                    vec![(Place::Outside, View::Whole), (Place::Layer(before), View::Slice)]
                }
            };
            let layer = maker.layer(op, Operator::Matmul(shape), None, places)?;
            let row = maker.row(layer);
            (row.activation_bits, row.weight_bits) = bits;
            if is_shared || before.is_some() {
                maker.share(layer);
            }
            before = Some(layer);
        }
        last.extend(before);
    }
    Ok(last)
}
