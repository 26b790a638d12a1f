//! Shapes and elements after an operator: one function for each family of operators of `ai.onnx` 7 to 24
//! and of `com.microsoft`.
//!
//! [`infer`] is the entry, `layers::operators` the table of rules. Layers need more of an operator than its shapes;
//! that is here as well:
//!
//! | item | of |
//! |---|---|
//! | [`Call`]: `input`, `optional`, `has`, `elements`, `int`, `int_if`, `ints`, `float`, `text`, `axis` | operands and attributes |
//! | [`Window`], [`windows`] | `Conv`, pools and `ConvTranspose`, for each spatial axis |
//! | [`reductions::Reduction`], [`reduction`] | axes of `Reduce*` and `ArgMax` |
//! | [`einsum::Equation`], [`equation`] | letters of `Einsum` |
//! | [`products::Product`], [`product`] | batch, rows, depth and columns of `MatMul`, `Gemm` and what is like them |
//! | [`recurrent::Recurrent`], [`recurrent`] | steps, batch, directions and features of `LSTM`, `GRU` and `RNN` |
//! | [`attention::Heads`], [`heads`] | heads, rows and depths of the attention operators |
//! | [`of_tensor`] | facts about a constant of the file |

pub(crate) mod attention;
mod call;
pub(crate) mod convolution;
pub(crate) mod einsum;
pub(crate) mod elementwise;
mod folding;
pub(crate) mod gathering;
pub(crate) mod generators;
pub(crate) mod normalisation;
mod number;
pub(crate) mod products;
pub(crate) mod quantisation;
pub(crate) mod recurrent;
pub(crate) mod reductions;
pub(crate) mod reshaping;
pub(crate) mod resize;
pub(crate) mod scattering;
pub(crate) mod selection;
mod shape;
pub(crate) mod slicing;
mod window;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::fact::Fact;
use crate::graph::Node;

pub(crate) use attention::{Heads, heads};
pub(crate) use einsum::{Equation, Letter, equation};
pub(crate) use generators::of_tensor;
pub(crate) use products::product;
pub(crate) use recurrent::{Recurrent, recurrent};
pub(crate) use reductions::reduction;
pub(crate) use window::{Window, windows};

/// One operator with the facts about what it reads.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call<'a> {
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
pub(crate) enum Fault {
    /// There is no rule for the operator.
    Unsupported,
    /// The elements of this input are needed and are not known.
    Elements(usize),
    /// Data decide an extent: of how many of these, in words, there are.
    Bound(&'static str),
    /// The operator is not valid, in words.
    Invalid(String),
}

impl Fault {
    /// An operator that is not valid, in these words.
    pub(crate) fn invalid(words: impl ToString) -> Self {
        Self::Invalid(words.to_string())
    }
}

/// Facts about the outputs of an operator.
pub(crate) type Outputs = Result<Vec<Fact>, Fault>;

/// Most axes of a tensor.
const MAX_RANK: usize = 64;

/// Rule of an operator: what is known of its outputs.
pub(crate) type Rule = fn(&Call<'_>) -> Outputs;

/// Infers facts about the outputs of an operator by its rule, in order; at most as many as its node names.
///
/// # Errors
///
/// [`Fault`], if nothing can be said.
pub(crate) fn infer(rule: Rule, call: &Call<'_>) -> Outputs {
    call.inputs.iter().flatten().try_for_each(|fact| limits(fact).map(drop))?;
    let mut outputs = rule(call)?;
    let wanted = call.node.outputs.iter().rposition(|name| !name.is_empty()).map_or(0, |i| i + 1);
    let count = outputs.len();
    ensure!(wanted <= count, "{wanted} outputs, and the operator has {count}");
    outputs.truncate(wanted);
    outputs.iter_mut().try_for_each(check)?;
    Ok(outputs)
}

/// Checks that a tensor is within the limits, and counts its elements.
fn limits(fact: &Fact) -> Result<u64, Fault> {
    let rank = fact.shape.len();
    ensure!(rank <= MAX_RANK, "{rank} axes, and a tensor has at most {MAX_RANK}");
    shape::count(&fact.shape)
}

/// Checks limits of an output, and forgets elements that do not match its shape.
fn check(fact: &mut Fact) -> Result<(), Fault> {
    let count = limits(fact)?;
    let few = |known: &usize| *known as u64 == count && *known <= Fact::MAX_ELEMENTS;
    // Nothing is unknown of a tensor without elements.
    if count == 0 {
        fact.elements = Some(Arc::default());
    } else if fact.known().map(<[_]>::len).filter(few).is_none() {
        fact.elements = None;
    }
    Ok(())
}

/// A [`Fault::Invalid`] as a result.
fn invalid<T>(text: impl Into<String>) -> Result<T, Fault> {
    Err(Fault::Invalid(text.into()))
}
