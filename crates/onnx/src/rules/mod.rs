//! Shapes and elements after an operator: one function for each family of operators of `ai.onnx` 7 to 24
//! and of `com.microsoft`.
//!
//! [`infer`] is the entry. Layers need more of an operator than its shapes; that is here as well:
//!
//! | item | of |
//! |---|---|
//! | [`Call`]: `input`, `optional`, `has`, `elements`, `int`, `int_if`, `ints`, `float`, `text`, `axis` | operands and attributes |
//! | [`Window`], [`windows`] | `Conv`, pools and `ConvTranspose`, for each spatial axis |
//! | [`reductions::Reduction`], [`reduction`] | axes of `Reduce*` and `ArgMax` |
//! | [`einsum::Equation`], [`equation`] | letters of `Einsum` |
//! | [`Product`], [`product`] | batch, rows, depth and columns of `MatMul`, `Gemm` and what is like them |
//! | [`recurrent::Recurrent`], [`recurrent`] | steps, batch, directions and features of `LSTM`, `GRU` and `RNN` |
//! | [`attention::Heads`], [`heads`] | heads, rows and depths of the attention operators |
//! | [`of_tensor`] | facts about a constant of the file |

mod attention;
mod call;
mod convolution;
mod detection;
mod einsum;
mod elementwise;
mod folding;
mod fused;
mod gathering;
mod generators;
mod normalisation;
mod number;
mod products;
mod quantisation;
mod recurrent;
mod reductions;
mod reshaping;
mod resize;
mod scattering;
mod selection;
mod shape;
mod slicing;
mod table;
mod window;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use super::fact::{Elements, Fact};
use super::graph::Node;

pub(super) use attention::heads;
pub(super) use einsum::{Letter, equation};
pub(super) use generators::of_tensor;
pub(super) use products::{Product, product};
pub(super) use recurrent::recurrent;
pub(super) use reductions::reduction;
pub(super) use window::{Window, windows};

/// One operator with the facts about what it reads.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call<'a> {
    /// The node; attributes of functions are resolved.
    pub node: &'a Node,
    /// Version of the domain of its operator.
    pub opset: i64,
    /// Facts about its inputs in order; `None` of those that are left out.
    pub inputs: &'a [Option<Arc<Fact>>],
    /// Extent to assume where data decide it, as the user gives it.
    pub bound: Option<u64>,
}

/// Reason for which nothing is known of the outputs of an operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    /// There is no rule for the operator.
    Unsupported,
    /// The elements of this input are needed and are not known.
    Elements(usize),
    /// Data decide an extent: of how many of these, in words, there are.
    Bound(&'static str),
    /// The operator is not valid, in words.
    Invalid(String),
}

/// Facts about the outputs of an operator.
type Outputs = Result<Vec<Fact>, Fault>;

/// Most axes of a tensor.
const MAX_RANK: usize = 64;

/// Whether there is a rule for the operator of a node.
pub(super) fn is_known(node: &Node) -> bool {
    table::rule(&node.domain, &node.operator).is_some()
}

/// Infers facts about the outputs of an operator, in order; at most as many as its node names.
///
/// # Errors
///
/// [`Fault`], if nothing can be said. Control flow (`If`, `Loop`, `Scan`) and functions are unsupported here.
pub(super) fn infer(call: &Call<'_>) -> Outputs {
    let rule = table::rule(&call.node.domain, &call.node.operator).ok_or(Fault::Unsupported)?;
    call.inputs.iter().flatten().try_for_each(|fact| limits(fact).map(drop))?;
    let mut outputs = rule(call)?;
    let wanted = call.node.outputs.iter().rposition(|name| !name.is_empty()).map_or(0, |i| i + 1);
    if wanted > outputs.len() {
        return invalid(format!("{wanted} outputs, and the operator has {}", outputs.len()));
    }
    outputs.truncate(wanted);
    outputs.iter_mut().try_for_each(check)?;
    Ok(outputs)
}

/// Checks that a tensor is within the limits, and counts its elements.
fn limits(fact: &Fact) -> Result<u64, Fault> {
    match fact.shape.len() {
        ..=MAX_RANK => shape::count(&fact.shape),
        rank => invalid(format!("{rank} axes, and a tensor has at most {MAX_RANK}")),
    }
}

/// Checks limits of an output, and forgets elements that do not match its shape.
fn check(fact: &mut Fact) -> Result<(), Fault> {
    let count = limits(fact)?;
    let matches =
        |known: &Arc<Elements>| known.len() as u64 == count && known.len() <= Elements::MAX;
    fact.elements = fact.elements.take().filter(matches);
    // Nothing is unknown of a tensor without elements.
    if count == 0 && fact.elements.is_none() {
        fact.elements = Some(Arc::new(Elements::Ints(Vec::new())));
    }
    Ok(())
}

/// A [`Fault::Invalid`] as a result.
fn invalid<T>(text: impl Into<String>) -> Result<T, Fault> {
    Err(Fault::Invalid(text.into()))
}
