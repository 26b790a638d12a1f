//! The way through a trace, step by step.

use std::sync::Arc;

use super::maker::{Made, Maker};
use super::{norms, operators, padding};
use crate::onnx::fact::Fact;
use crate::onnx::problems::Problems;
use crate::onnx::rules::{Call, Fault};
use crate::onnx::trace::{Step, TensorId, Trace, operator_name};

/// Makes the network called `name`. `None` if there are problems.
pub(in crate::onnx) fn make(
    trace: &Trace<'_>,
    name: &str,
    problems: &mut Problems,
) -> Option<Made> {
    let mut maker = Maker::new(trace, problems);
    norms::find(&mut maker);
    padding::find(&mut maker);
    for index in 0..trace.steps.len() {
        step(&mut maker, index);
    }
    maker.finish(name)
}

/// Makes the layers of a step, or notes that it has none.
fn step(maker: &mut Maker<'_, '_>, index: usize) {
    let step = &maker.trace.steps[index];
    let inputs: Option<Vec<Option<Arc<Fact>>>> = step
        .inputs
        .iter()
        .map(|id| match id {
            None => Some(None),
            Some(id) => maker.trace.fact(*id).cloned().map(Some),
        })
        .collect();
    let known = step.outputs.iter().all(|id| maker.trace.fact(*id).is_some());
    // What is not known was reported, and is not reported again.
    let (Some(inputs), true) = (inputs, known) else {
        maker.lack(index);
        return;
    };
    let is_constant = |id: &TensorId| maker.trace.fact(*id).is_some_and(|fact| fact.is_constant);
    let is_computed = step
        .inputs
        .iter()
        .flatten()
        .any(|id| maker.fact(*id).is_constant && !maker.is_constant(*id));
    let is_folded = |id: &TensorId| maker.fact(*id).elements.is_some();
    // A product of constants that is not folded runs like every other one.
    let runs = operators::has_products(&step.node) && !step.outputs.iter().all(is_folded);
    if step.outputs.iter().all(is_constant) && !(is_computed || runs) {
        maker.counts.constants += 1;
        return;
    }
    let call = Call { node: &step.node, opset: step.opset, inputs: &inputs, bound: None };
    if let Err(fault) = operators::layer(maker, index, step, &call) {
        report(maker, step, fault);
    }
}

/// Reports why a step is no layer.
fn report(maker: &mut Maker<'_, '_>, step: &Step<'_>, fault: Fault) {
    match fault {
        Fault::Unsupported => maker.problems.unsupported(&operator_name(&step.node), &step.name),
        Fault::Invalid(words) => maker.problems.of_node(&step.name, &words),
        Fault::Elements(_) | Fault::Bound(_) => {
            maker.problems.of_node(&step.name, "its extents depend on data");
        }
    }
}
