//! The way through a trace, step by step.

use std::collections::HashSet;

use super::maker::{Made, Maker, Role};
use super::op::{Done, Op};
use super::{moves, norms, operators, padding, patterns};
use crate::problems::Problems;
use crate::rules::{Call, Fault};
use crate::trace::{Step, TensorId, Trace, operator_name};

/// Makes the network called `name`. `None` if there are problems.
pub(crate) fn make(
    trace: &Trace<'_>,
    name: &str,
    caches: HashSet<TensorId>,
    problems: &mut Problems,
) -> Option<Made> {
    let mut maker = Maker::new(trace, caches, problems);
    patterns::find(&mut maker);
    padding::find(&mut maker);
    let needed = needed(trace);
    for (index, is_needed) in needed.into_iter().enumerate() {
        match is_needed {
            true => step(&mut maker, index),
            false => maker.counts.unused += 1,
        }
    }
    maker.finish(name)
}

/// Whether each step is needed: an output of the network depends on its data, and not only on its shape.
fn needed(trace: &Trace<'_>) -> Vec<bool> {
    let mut is_read = vec![false; trace.tensors.len()];
    trace.outputs.iter().for_each(|id| is_read[id.index()] = true);
    let mut needed = vec![false; trace.steps.len()];
    // What reads a tensor, also as a part of another one, has a larger number.
    let mut tensors = (0..trace.tensors.len()).rev().peekable();
    for (index, step) in trace.steps.iter().enumerate().rev() {
        let first = step.outputs.iter().map(|id| id.index()).min().unwrap_or(0);
        while let Some(id) = tensors.next_if(|&id| id >= first) {
            if is_read[id] {
                trace.tensors[id].related.iter().for_each(|of| is_read[of.index()] = true);
            }
        }
        needed[index] = step.outputs.iter().any(|id| is_read[id.index()]);
        let is_known = |id: &TensorId| {
            trace.fact(*id).is_some_and(|fact| fact.elements.is_some() && fact.is_constant)
        };
        if needed[index] && !step.outputs.iter().all(is_known) {
            step.inputs.iter().flatten().for_each(|id| is_read[id.index()] = true);
        }
    }
    needed
}

/// Makes the layers of a step, or notes that it has none.
fn step(maker: &mut Maker<'_, '_>, index: usize) {
    let step = &maker.trace.steps[index];
    let inputs = maker.trace.facts(&step.inputs);
    let is_sure = |id: &TensorId| maker.trace.fact(*id).is_some() && !maker.trace.is_lost(*id);
    let known = step.outputs.iter().all(is_sure);
    // What is not known was reported, and is not reported again.
    let (Some(inputs), true) = (inputs, known) else {
        maker.lack(index);
        return;
    };
    let is_constant = |id: &TensorId| maker.trace.fact(*id).is_some_and(|fact| fact.is_constant);
    let is_computed = |id: &TensorId| maker.fact(*id).is_constant && !maker.is_constant(*id);
    let is_computed = step.inputs.iter().flatten().any(is_computed);
    let is_folded = |id: &TensorId| maker.fact(*id).elements.is_some();
    // A product of constants that is not folded runs like every other one.
    let row = operators::find(&step.node);
    let runs = row.is_some_and(|row| row.multiplies) && !step.outputs.iter().all(is_folded);
    if step.outputs.iter().all(is_constant) && !(is_computed || runs) {
        maker.counts.constants += 1;
        return;
    }
    let call = Call { node: &step.node, opset: step.opset, inputs: &inputs, bound: None };
    let op = Op { step, call };
    let before = maker.n_layers();
    match layers_of(maker, index, &op) {
        Ok(()) => maker.fill(&op, before),
        Err(fault) => report(maker, step, fault),
    }
}

/// Makes the layers of an operator, if it has any, and says what its outputs are.
///
/// # Errors
///
/// [`Fault::Unsupported`] of an operator that is not in the table; [`Fault::Invalid`] of one that no layer
/// can be.
fn layers_of(maker: &mut Maker<'_, '_>, index: usize, op: &Op<'_>) -> Done {
    match maker.roles[index] {
        Role::Part => {
            maker.counts.parts += 1;
            moves::pass(maker, op)
        }
        Role::Norm(of) => norms::normalised(maker, op, of),
        Role::Own => {
            let handler = operators::find(&op.step.node).and_then(|row| row.layer);
            handler.ok_or(Fault::Unsupported)?(maker, op)
        }
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
