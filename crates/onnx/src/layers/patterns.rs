//! Normalisations that exporters write node by node.

use super::maker::{Maker, Role};
use crate::fact::Fact;
use crate::rules::{Call, reduction};
use crate::trace::{Step, TensorId};

/// Finds layer normalisations, and those by the root mean square. Their last node becomes the layer, and the others
/// parts of it.
pub(super) fn find(maker: &mut Maker<'_, '_>) {
    let trace = maker.trace;
    for (index, step) in trace.steps.iter().enumerate() {
        let is_free = maker.roles[index] == Role::Own;
        if !is_free || &*step.node.operator != "ReduceMean" || !is_of_last_axes(maker, step) {
            continue;
        }
        let Some(Some(of)) = step.inputs.first().copied() else { continue };
        let parts = centred(maker, index, of).or_else(|| scaled(maker, index, of));
        let Some(parts) = parts else { continue };
        let last = parts.last;
        if maker.roles[last] == Role::Own {
            parts.inner.into_iter().for_each(|part| maker.roles[part] = Role::Part);
            maker.roles[last] = Role::Norm(parts.of);
        }
    }
}

/// Nodes of a normalisation.
struct Parts {
    of: TensorId,
    inner: Vec<usize>,
    last: usize,
}

fn is_of_last_axes(maker: &Maker<'_, '_>, step: &Step<'_>) -> bool {
    if step.inputs.contains(&None) {
        return false;
    }
    let Some(inputs) = maker.trace.facts(&step.inputs) else { return false };
    let call = Call { node: &step.node, opset: step.opset, inputs: &inputs, bound: None };
    let Ok(reduction) = reduction(&call) else { return false };
    let rank = inputs[0].as_ref().map_or(0, |fact| fact.shape.len());
    let n = reduction.axes.len();
    reduction.keeps && n > 0 && reduction.axes.iter().copied().eq(rank - n..rank)
}

fn operator<'m>(maker: &'m Maker<'_, '_>, index: usize) -> &'m str {
    &maker.trace.steps[index].node.operator
}

fn is_pass(operator: &str) -> bool {
    matches!(operator, "Cast" | "Identity")
}

/// The tensor before changes of number format.
fn source(maker: &Maker<'_, '_>, mut id: TensorId) -> TensorId {
    while let Some(writer) = maker.trace.tensor(id).writer {
        let step = &maker.trace.steps[writer as usize];
        match step.inputs.first() {
            Some(&Some(before)) if is_pass(&step.node.operator) => id = before,
            _ => break,
        }
    }
    id
}

/// Operand of a step, before changes of number format.
fn operand(maker: &Maker<'_, '_>, index: usize, at: usize) -> Option<TensorId> {
    let id = maker.trace.steps[index].inputs.get(at).copied().flatten()?;
    Some(source(maker, id))
}

fn output(maker: &Maker<'_, '_>, index: usize) -> TensorId {
    maker.trace.steps[index].outputs[0]
}

/// Steps that read the result of a step; changes of number format between are among `passed`. `None` if the
/// network writes the result.
fn readers(maker: &Maker<'_, '_>, index: usize, passed: &mut Vec<usize>) -> Option<Vec<usize>> {
    let mut open = vec![output(maker, index)];
    let mut found = Vec::new();
    while let Some(id) = open.pop() {
        if maker.is_output(id) {
            return None;
        }
        for &reader in &maker.readers[id.index()] {
            let reader = reader as usize;
            if is_pass(operator(maker, reader)) {
                passed.push(reader);
                open.push(output(maker, reader));
            } else {
                found.push(reader);
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    Some(found)
}

/// The only step that reads the result of a step.
fn reader(maker: &Maker<'_, '_>, index: usize, passed: &mut Vec<usize>) -> Option<usize> {
    match readers(maker, index, passed)?[..] {
        [only] => Some(only),
        _ => None,
    }
}

/// Whether a step squares its operand.
fn squares(maker: &Maker<'_, '_>, index: usize) -> bool {
    match operator(maker, index) {
        "Mul" => operand(maker, index, 0) == operand(maker, index, 1),
        "Pow" => has_number(maker, index, 1, 2.0),
        _ => false,
    }
}

/// Whether an operand of a step is this number.
fn has_number(maker: &Maker<'_, '_>, index: usize, at: usize, wanted: f64) -> bool {
    let fact = operand(maker, index, at).and_then(|id| maker.trace.fact(id));
    fact.is_some_and(|fact| is_number(fact, wanted))
}

fn is_number(fact: &Fact, wanted: f64) -> bool {
    fact.known().is_some_and(|known| matches!(known, [number] if number.value() == wanted))
}

/// The node that divides by, or multiplies with the inverse of, the root of a mean and a small number. The nodes
/// between are among `inner`. Returns it with whether it divides.
fn quotient(maker: &Maker<'_, '_>, mean: usize, inner: &mut Vec<usize>) -> Option<(usize, bool)> {
    inner.push(mean);
    let mut at = reader(maker, mean, inner)?;
    if operator(maker, at) == "Add" {
        let is_small = |id: &TensorId| {
            maker.trace.fact(*id).is_some_and(|fact| fact.is_constant && fact.count() == 1)
        };
        if !maker.trace.steps[at].inputs.iter().flatten().any(is_small) {
            return None;
        }
        inner.push(at);
        at = reader(maker, at, inner)?;
    }
    let mut is_inverse = false;
    match operator(maker, at) {
        "Sqrt" => {}
        "Pow" if has_number(maker, at, 1, 0.5) => {}
        "Pow" if has_number(maker, at, 1, -0.5) => is_inverse = true,
        _ => return None,
    }
    inner.push(at);
    let mut last = reader(maker, at, inner)?;
    let inverts = operator(maker, last) == "Reciprocal"
        || (operator(maker, last) == "Div" && has_number(maker, last, 0, 1.0));
    if !is_inverse && inverts {
        inner.push(last);
        last = reader(maker, last, inner)?;
        is_inverse = true;
    }
    match (operator(maker, last), is_inverse) {
        ("Div", false) => Some((last, true)),
        ("Mul", true) => Some((last, false)),
        _ => None,
    }
}

/// Whether a quotient is that of this tensor.
fn is_of(maker: &Maker<'_, '_>, last: usize, divides: bool, of: TensorId) -> bool {
    let first = operand(maker, last, 0) == Some(of);
    first || (!divides && operand(maker, last, 1) == Some(of))
}

/// `(x - mean) / sqrt(mean((x - mean)^2) + eps)`, from its first mean on.
fn centred(maker: &Maker<'_, '_>, mean: usize, of: TensorId) -> Option<Parts> {
    let mut inner = vec![mean];
    let differences = readers(maker, mean, &mut inner)?;
    let is_difference = |&index: &usize| {
        operator(maker, index) == "Sub"
            && operand(maker, index, 0) == Some(source(maker, of))
            && operand(maker, index, 1) == Some(output(maker, mean))
    };
    if differences.is_empty() || !differences.iter().all(is_difference) {
        return None;
    }
    inner.extend(&differences);
    let mut after = Vec::new();
    for &difference in &differences {
        after.extend(readers(maker, difference, &mut inner)?);
    }
    after.sort_unstable();
    after.dedup();
    let (squared, others): (Vec<usize>, Vec<usize>) =
        after.into_iter().partition(|&index| squares(maker, index));
    let ([square], [other]) = (&squared[..], &others[..]) else { return None };
    inner.push(*square);
    let variance = reader(maker, *square, &mut inner)?;
    let shape = |index: usize| maker.trace.fact(output(maker, index)).map(|fact| &fact.shape);
    let is_mean = operator(maker, variance) == "ReduceMean";
    if !is_mean || shape(variance) != shape(mean) {
        return None;
    }
    let (last, divides) = quotient(maker, variance, &mut inner)?;
    let of_difference = |&index: &usize| is_of(maker, last, divides, output(maker, index));
    let is_it = last == *other && differences.iter().any(of_difference);
    is_it.then_some(Parts { of, inner, last })
}

/// `x / sqrt(mean(x^2) + eps)`, from its mean, of `squared`, on.
fn scaled(maker: &Maker<'_, '_>, mean: usize, squared: TensorId) -> Option<Parts> {
    let squared = source(maker, squared);
    let square = maker.trace.tensor(squared).writer? as usize;
    if !squares(maker, square) {
        return None;
    }
    let mut inner = vec![square];
    if reader(maker, square, &mut inner)? != mean {
        return None;
    }
    let of = operand(maker, square, 0)?;
    let (last, divides) = quotient(maker, mean, &mut inner)?;
    is_of(maker, last, divides, of).then_some(Parts { of, inner, last })
}
