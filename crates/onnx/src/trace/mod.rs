//! Execution of a graph without data: every operator that runs, in order, with facts about every tensor.
//! Functions are expanded, the branch that is taken stands for an `If`, and a loop is its body for every trip.

mod control;
mod functions;
mod inputs;
mod questions;
mod scope;
mod walk;

pub(crate) use walk::operator_name;

/// Whether a node is one of control flow.
pub(crate) fn is_control(node: &Node) -> bool {
    node.domain.is_empty() && control::is(&node.operator)
}

use std::borrow::Cow;
use std::sync::Arc;

use crate::fact::Fact;
use crate::graph::{self, Model, Node};
use crate::options::Options;
use crate::problems::Problems;
use crate::rules::Rule;

/// A tensor of a trace, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct TensorId(u32);

impl TensorId {
    /// Index into [`Trace::tensors`].
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A constant of the file: equal for every use of one initializer or one node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Root(u32);

/// A tensor.
#[derive(Debug, Clone)]
pub(crate) struct Tensor<'a> {
    /// Its name in the file.
    pub name: &'a str,
    /// Facts about it; `None` after a problem that is reported already.
    pub fact: Option<Arc<Fact>>,
    /// Step that writes it; `None` of inputs and constants.
    pub writer: Option<u32>,
    /// The constant that it is, if it is one of the file.
    pub root: Option<Root>,
    /// Whether it depends on something of which a problem was reported.
    is_lost: bool,
    /// The tensor of which it is a slice, or the tensors that it consists of.
    pub related: Vec<TensorId>,
    /// The constant as the file has it, if its elements are in another file.
    external: Option<&'a graph::Tensor>,
}

impl<'a> Tensor<'a> {
    /// A tensor with these facts that no step writes.
    fn new(name: &'a str, fact: Option<Arc<Fact>>) -> Self {
        let is_lost = fact.is_none();
        Self { name, fact, writer: None, root: None, is_lost, related: Vec::new(), external: None }
    }
}

/// An operator that runs.
#[derive(Debug, Clone)]
pub(crate) struct Step<'a> {
    /// Name of its node, or of what it writes; unique names are not promised.
    pub name: Cow<'a, str>,
    /// The node.
    pub node: Cow<'a, Node>,
    /// Version of the domain of its operator.
    pub opset: i64,
    /// Tensors that it reads; `None` of operands that are left out.
    pub inputs: Vec<Option<TensorId>>,
    /// Tensors that it writes.
    pub outputs: Vec<TensorId>,
    /// Whether the user gave an extent of its result that data decide.
    pub is_bounded: bool,
}

/// Everything that runs.
#[derive(Debug, Default)]
pub(crate) struct Trace<'a> {
    /// Operators in order of execution.
    pub steps: Vec<Step<'a>>,
    /// Tensors.
    pub tensors: Vec<Tensor<'a>>,
    /// Inputs of the graph, without initializers.
    pub inputs: Vec<TensorId>,
    /// Outputs of the graph.
    pub outputs: Vec<TensorId>,
    /// Decisions that change the network, in plain words.
    pub decisions: Vec<String>,
    /// Nodes that ran, those in bodies once for each use.
    pub n_run: usize,
    /// Nodes that no output needs.
    pub n_unused: usize,
    /// Warnings, in plain words.
    pub warnings: Vec<String>,
}

impl Trace<'_> {
    /// The tensor.
    pub(crate) fn tensor(&self, id: TensorId) -> &Tensor<'_> {
        &self.tensors[id.index()]
    }

    /// Whether a tensor depends on something of which a problem was reported.
    pub(crate) fn is_lost(&self, id: TensorId) -> bool {
        self.tensor(id).is_lost
    }

    /// Facts about a tensor; `None` after a problem that is reported already.
    pub(crate) fn fact(&self, id: TensorId) -> Option<&Arc<Fact>> {
        self.tensor(id).fact.as_ref()
    }

    /// Facts about operands; `None` of those that are left out, and if nothing is known of one.
    pub(crate) fn facts(&self, ids: &[Option<TensorId>]) -> Option<Vec<Option<Arc<Fact>>>> {
        let fact = |id: &Option<TensorId>| match id {
            None => Some(None),
            Some(id) => self.fact(*id).cloned().map(Some),
        };
        ids.iter().map(fact).collect()
    }
}

/// The rule of a node, if it has one.
pub(crate) type RuleOf = fn(&Node) -> Option<Rule>;

/// Executes a model by these rules. `folder` is that of its file, in which external data may be. Everything that is
/// invalid, not supported or left open goes to `problems`; the trace then lacks facts.
pub(crate) fn trace<'a>(
    model: &'a Model,
    rule_of: RuleOf,
    options: &Options,
    folder: Option<&std::path::Path>,
    problems: &mut Problems,
) -> Trace<'a> {
    walk::Walk::new(model, rule_of, options, folder, problems).run()
}
