//! Shapes and elements after an operator.

use std::sync::Arc;

use super::fact::Fact;
use super::graph::Node;

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
