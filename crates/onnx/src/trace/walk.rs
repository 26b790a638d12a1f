//! The walk through a graph, node by node.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use super::functions::{arguments, local, resolved, step_name};
use super::scope::Scope;
use super::{Root, RuleOf, Step, Tensor, TensorId, Trace};
use crate::fact::{Fact, Number, text};
use crate::file;
use crate::graph::{self, Dim, Graph, Model, Node, Port};
use crate::options::Options;
use crate::problems::Problems;
use crate::rules::{self, Call, Fault, Rule};
use xrsim_model::model::Network;
use xrsim_model::text::in_line;

/// Most graphs and functions inside of each other.
const MAX_DEPTH: usize = 64;
/// Most nodes that are walked through beyond those of the file, those of a body once for each trip. A layer has a few
/// nodes, so that more would be more layers than a network has.
const MAX_WRITTEN_OUT: usize = 4 * Network::MAX_LAYERS;
/// Most elements of all tensors that are followed.
const MAX_FOLLOWED: usize = 4_000_000;

/// A node with what it reads.
pub(super) struct Applied<'w, 'a> {
    pub node: &'a Node,
    pub name: &'w str,
    pub inputs: &'w [Option<TensorId>],
    pub scope: &'w Scope<'a, 'w>,
}

impl Applied<'_, '_> {
    /// An operand, if it is there.
    pub(super) fn input(&self, index: usize) -> Option<TensorId> {
        self.inputs.get(index).copied().flatten()
    }
}

pub(super) struct Walk<'a, 'p> {
    pub model: &'a Model,
    rule_of: RuleOf,
    pub options: &'p Options,
    folder: Option<&'p Path>,
    pub problems: &'p mut Problems,
    pub trace: Trace<'a>,
    roots: HashMap<*const u8, Root>,
    /// Facts about constants of the file, `None` after a problem.
    constants: HashMap<Root, Option<Arc<Fact>>>,
    /// Shapes that the file states for tensors of the outermost graph.
    stated: HashMap<&'a str, &'a Port>,
    /// Functions by domain, name and overload.
    functions_by_name: HashMap<(&'a str, &'a str, &'a str), &'a graph::Function>,
    /// Functions that are being expanded.
    functions: Vec<*const graph::Function>,
    /// Options that were used, as kind and name.
    pub used: BTreeSet<(&'static str, String)>,
    is_too_long: bool,
    /// Nodes and constants that were walked through.
    n_walked: usize,
    /// Elements that are followed so far.
    n_followed: usize,
}

impl<'a, 'p> Walk<'a, 'p> {
    pub(super) fn new(
        model: &'a Model,
        rule_of: RuleOf,
        options: &'p Options,
        folder: Option<&'p Path>,
        problems: &'p mut Problems,
    ) -> Self {
        let stated = model.graph.stated.iter().chain(&model.graph.outputs);
        let functions = model.functions.iter().rev();
        Self {
            model,
            rule_of,
            options,
            folder,
            problems,
            trace: Trace::default(),
            roots: HashMap::new(),
            constants: HashMap::new(),
            stated: stated.map(|port| (&*port.name, port)).collect(),
            functions_by_name: functions.map(|it| (it.key(), it)).collect(),
            functions: Vec::new(),
            used: BTreeSet::new(),
            is_too_long: false,
            n_walked: 0,
            n_followed: 0,
        }
    }

    pub(super) fn run(mut self) -> Trace<'a> {
        let graph = &self.model.graph;
        let mut scope = Scope::new(&self.model.opsets);
        self.constants(graph, &mut scope);
        self.bind_inputs(graph, &mut scope);
        let outputs: Vec<_> = graph.outputs.iter().map(|port| &*port.name).collect();
        let sorted = file::order_of(graph, &|_| false);
        self.nodes(&graph.nodes, sorted, &outputs, &mut scope);
        self.trace.outputs = self.outputs(&graph.outputs, &scope);
        self.check_stated_outputs(graph);
        if let Some(bound) = self.options.bounds.get(Options::ALL) {
            let decision = format!("data decide no extent above {bound}, as given for all nodes");
            self.trace.decisions.push(decision);
        }
        self.check_options();
        self.trace
    }

    /// Names the constants of a graph.
    pub(super) fn constants(&mut self, graph: &'a Graph, scope: &mut Scope<'a, '_>) {
        for tensor in &graph.initializers {
            if self.is_over() {
                return;
            }
            let id = self.constant(tensor);
            scope.put(&tensor.name, id);
        }
    }

    fn constant(&mut self, tensor: &'a graph::Tensor) -> TensorId {
        let root = self.root(tensor);
        let fact = match self.constants.get(&root) {
            Some(fact) => fact.clone(),
            None => {
                let fact = self.constant_fact(tensor);
                self.constants.insert(root, fact.clone());
                fact
            }
        };
        let external = tensor.external.is_some().then_some(tensor);
        self.push(Tensor { root: Some(root), external, ..Tensor::new(&tensor.name, fact) })
    }

    fn constant_fact(&mut self, tensor: &graph::Tensor) -> Option<Arc<Fact>> {
        match rules::of_tensor(tensor) {
            Ok(fact) => Some(Arc::new(self.followed(fact))),
            Err(fault) => {
                let name = in_line(&tensor.name);
                if let Fault::Invalid(words) = fault {
                    self.problems.add(format!("the constant `{name}`: {words}"));
                }
                None
            }
        }
    }

    /// The constant that something of the file is.
    fn root<T>(&mut self, of: &'a T) -> Root {
        let next = Root(self.roots.len() as u32);
        *self.roots.entry(std::ptr::from_ref(of).cast()).or_insert(next)
    }

    pub(super) fn push(&mut self, tensor: Tensor<'a>) -> TensorId {
        let id = TensorId(self.trace.tensors.len() as u32);
        self.trace.tensors.push(tensor);
        id
    }

    /// A tensor of which nothing is known.
    fn unknown(&mut self, name: &'a str) -> TensorId {
        self.push(Tensor::new(name, None))
    }

    /// Tensors of these ports, of which nothing may be known.
    pub(super) fn outputs(&mut self, ports: &'a [Port], scope: &Scope<'_, '_>) -> Vec<TensorId> {
        // The order of nodes reports what nothing writes.
        let id = |port: &'a Port| scope.get(&port.name).unwrap_or_else(|| self.unknown(&port.name));
        ports.iter().map(id).collect()
    }

    /// Walks through nodes in order of execution, without those that none of `outputs` needs.
    pub(super) fn nodes(
        &mut self,
        nodes: &'a [Node],
        sorted: Result<Vec<usize>, Vec<String>>,
        outputs: &[&str],
        scope: &mut Scope<'a, '_>,
    ) {
        let sorted = match sorted {
            Ok(sorted) => sorted,
            Err(problems) => {
                problems.into_iter().for_each(|problem| self.problems.add(problem));
                return;
            }
        };
        let needed = needed(nodes, &sorted, outputs);
        for index in sorted {
            if self.is_over() {
                return;
            }
            if needed[index] {
                self.trace.n_run += 1;
                self.node(&nodes[index], scope);
            } else {
                self.trace.n_unused += 1;
            }
        }
    }

    /// Counts a node, and reports once that there are too many.
    pub(super) fn is_over(&mut self) -> bool {
        self.n_walked += 1;
        let of_file = self.model.graph.nodes.len() + self.model.graph.initializers.len();
        let is_over = self.n_walked > of_file + MAX_WRITTEN_OUT;
        if is_over && !std::mem::replace(&mut self.is_too_long, true) {
            self.problems.add(format!(
                "more than {MAX_WRITTEN_OUT} nodes run beyond the {of_file} of the file, loops and functions written out"
            ));
        }
        is_over
    }

    fn node(&mut self, node: &'a Node, scope: &mut Scope<'a, '_>) {
        let name = step_name(node, &scope.path);
        // What is not borrowed from the file counts, so that memory stays bounded.
        let owned = if let Cow::Owned(name) = &name { name.len() } else { 0 };
        self.n_walked += owned / 256;
        let input = |name: &str| (!name.is_empty()).then(|| scope.get(name)).flatten();
        let inputs: Vec<_> = node.inputs.iter().map(|name| input(name)).collect();
        let at = Applied { node, name: &name, inputs: &inputs, scope };
        let outputs = match self.function_of(node) {
            Some(function) => self.call(function, &at),
            None if super::is_control(node) => self.control(&at),
            None => self.step(name, node, inputs, scope),
        };
        let mut outputs = outputs.into_iter();
        for name in &node.outputs {
            let id = outputs.next().unwrap_or_else(|| self.unknown(name));
            if !name.is_empty() {
                scope.put(name, id);
            }
        }
    }

    /// The function that a node applies. Functions come before operators of the same name.
    fn function_of(&self, node: &Node) -> Option<&'a graph::Function> {
        if self.functions_by_name.is_empty() {
            return None;
        }
        let key = (&*node.domain, &*node.operator, &*node.overload);
        self.functions_by_name.get(&key).copied()
    }

    /// Expands a function.
    fn call(&mut self, function: &'a graph::Function, at: &Applied<'_, 'a>) -> Vec<TensorId> {
        let key = std::ptr::from_ref(function);
        if self.functions.contains(&key) {
            let domain = if function.domain.is_empty() { "ai.onnx" } else { &function.domain };
            let called = in_line(&format!("{domain}.{}", function.name));
            self.problems.add(format!("function {called} calls itself"));
            return Vec::new();
        }
        if self.is_too_deep(at.scope) {
            return Vec::new();
        }
        let attributes = arguments(function, at.node, at.scope.attributes);
        let mut body = at.scope.function(local(at.name), &function.opsets, &attributes);
        for (parameter, id) in function.inputs.iter().zip(at.inputs) {
            if let Some(id) = id {
                body.put(parameter, *id);
            }
        }
        self.functions.push(key);
        let names: Vec<_> = function.outputs.iter().map(|name| &**name).collect();
        let given = function.inputs.iter().map(|name| &**name);
        let sorted = file::order(&function.nodes, given, names.iter().copied(), &|_| false);
        self.nodes(&function.nodes, sorted, &names, &mut body);
        self.functions.pop();
        let output = |name| body.get(name).unwrap_or_else(|| self.unknown(&at.node.operator));
        names.into_iter().map(output).collect()
    }

    /// Whether there are too many graphs around one, which is a problem.
    pub(super) fn is_too_deep(&mut self, scope: &Scope<'_, '_>) -> bool {
        let is_too_deep = scope.depth >= MAX_DEPTH;
        if is_too_deep {
            self.problems.add(format!("subgraphs nest more than {MAX_DEPTH} deep"));
        }
        is_too_deep
    }

    /// Adds an operator with the facts about its results.
    fn step(
        &mut self,
        name: Cow<'a, str>,
        node: &'a Node,
        inputs: Vec<Option<TensorId>>,
        scope: &Scope<'a, '_>,
    ) -> Vec<TensorId> {
        let resolved = resolved(node, scope.attributes);
        if let Cow::Owned(node) = &resolved {
            self.n_walked += node.weight() / 256;
        }
        let bound = self.option("bound", &name, |options| &options.bounds);
        let opset = scope.opset(&node.domain);
        // A function may leave out what the file says.
        let of_file = || self.model.opsets.iter().find(|(domain, _)| *domain == node.domain);
        let opset = opset.or_else(|| Some(of_file()?.1)).unwrap_or(1);
        let mut is_lost = inputs.iter().flatten().any(|id| self.trace.is_lost(*id));
        let mut is_bounded = bound.is_some();
        let outputs = Vec::with_capacity(node.outputs.len());
        let mut step = Step { name, node: resolved, opset, inputs, outputs, is_bounded };
        // Operators without a rule are told together, when layers are made.
        let rule = (self.rule_of)(&step.node);
        let facts =
            rule.and_then(|rule| self.facts(rule, &step, bound, &mut is_bounded, &mut is_lost));
        step.is_bounded = is_bounded;
        let is_constant = !step.inputs.is_empty() || matches!(&*node.operator, "Constant");
        let root = match &facts {
            Some(facts) if is_constant && facts.iter().all(|fact| fact.is_constant) => {
                self.root_of(node, &step.inputs)
            }
            _ => None,
        };
        let writer = Some(self.trace.steps.len() as u32);
        let mut facts = facts.unwrap_or_default().into_iter().map(Some);
        // Outputs that are not wanted may come last; nothing is inferred of them.
        let wanted = node.outputs.iter().rposition(|name| !name.is_empty());
        for output in node.outputs.iter().take(wanted.map_or(0, |last| last + 1)) {
            let inferred = facts.next().flatten().map(|fact| self.followed(fact));
            let is_lost = is_lost || inferred.is_none();
            // What the file states counts only where no rule speaks.
            let stated = || self.stated_fact(output, scope).filter(|_| rule.is_none());
            let fact = inferred.or_else(stated).map(Arc::new);
            let tensor = Tensor { writer, root, is_lost, ..Tensor::new(output, fact) };
            step.outputs.push(self.push(tensor));
        }
        let outputs = step.outputs.clone();
        self.trace.steps.push(step);
        outputs
    }

    /// The facts without elements if too many are followed already, which bounds memory.
    fn followed(&mut self, fact: Fact) -> Fact {
        self.n_followed += fact.elements.as_ref().map_or(0, |elements| elements.len());
        match self.n_followed > MAX_FOLLOWED {
            true => Fact { elements: None, ..fact },
            false => fact,
        }
    }

    /// The constant of the file that a node gives or passes on; `None` of one that is computed.
    fn root_of(&mut self, node: &'a Node, inputs: &[Option<TensorId>]) -> Option<Root> {
        match &*node.operator {
            "Constant" | "ConstantOfShape" => Some(self.root(node)),
            "Mul" => {
                let large = inputs.iter().copied().flatten();
                let count = |id: &TensorId| self.trace.fact(*id).map_or(0, |fact| fact.count());
                large.max_by_key(count).and_then(|id| self.trace.tensor(id).root)
            }
            operator if PASSING.contains(&operator) => {
                inputs.first().copied().flatten().and_then(|id| self.trace.tensor(id).root)
            }
            _ => None,
        }
    }

    /// Facts about the results of an operator; `None` after a problem.
    fn facts(
        &mut self,
        rule: Rule,
        step: &Step<'_>,
        mut bound: Option<u64>,
        is_bounded: &mut bool,
        is_lost: &mut bool,
    ) -> Option<Vec<Fact>> {
        let (name, node, opset) = (&*step.name, &*step.node, step.opset);
        loop {
            let inputs = self.trace.facts(&step.inputs)?;
            match rules::infer(rule, &Call { node, opset, inputs: &inputs, bound }) {
                Ok(facts) => return Some(facts),
                Err(Fault::Elements(index)) => {
                    let id = step.inputs.get(index).copied().flatten()?;
                    match self.load(id) {
                        Loaded::Whole => {}
                        Loaded::Failed => return None,
                        Loaded::Nothing if self.is_open_size(node, id) && bound.is_none() => {
                            bound =
                                Some(self.bound_of_all(is_bounded).unwrap_or_else(|| {
                                    self.guess(name, "rows and columns", is_lost)
                                }));
                        }
                        Loaded::Nothing => {
                            // One cause gives one message.
                            if !*is_lost {
                                self.needs_elements(name, node, id);
                            }
                            return None;
                        }
                    }
                }
                Err(Fault::Bound(what)) if bound.is_none() => {
                    let of_all = self.bound_of_all(is_bounded);
                    bound = Some(of_all.unwrap_or_else(|| self.guess(name, what, is_lost)));
                }
                Err(fault) => {
                    if !*is_lost {
                        self.fault(name, node, fault);
                    }
                    return None;
                }
            }
        }
    }

    /// The bound of every extent that data decide and that has none of its own, if the user gives one.
    fn bound_of_all(&mut self, is_bounded: &mut bool) -> Option<u64> {
        let bound = self.option("bound", Options::ALL, |options| &options.bounds);
        *is_bounded |= bound.is_some();
        bound
    }

    /// Whether data decide the size of an image.
    fn is_open_size(&self, node: &Node, id: TensorId) -> bool {
        *node.operator == *"Resize" && self.origin(id).is_none()
    }

    /// Reads a constant of another file.
    fn load(&mut self, id: TensorId) -> Loaded {
        let tensor = &mut self.trace.tensors[id.index()];
        let (Some(external), Some(fact)) = (tensor.external.take(), tensor.fact.clone()) else {
            return Loaded::Nothing;
        };
        match file::load(external, self.folder.unwrap_or(Path::new(""))) {
            Ok(Some(elements)) => {
                let elements = Some(Arc::new(elements));
                tensor.fact = Some(Arc::new(Fact { elements, ..(*fact).clone() }));
                Loaded::Whole
            }
            Ok(None) => Loaded::Nothing,
            Err(error) => {
                self.problems.add(error.to_string());
                Loaded::Failed
            }
        }
    }

    /// Facts that the file states about a tensor of the outermost graph, if they are complete.
    fn stated_fact(&self, name: &str, scope: &Scope<'_, '_>) -> Option<Fact> {
        let port = (scope.depth == 0).then(|| self.stated.get(name)).flatten()?;
        let extent = |dim: &Dim| match dim {
            Dim::Fixed(extent) => u64::try_from(*extent).ok(),
            Dim::Named(name) => self.options.dims.get(&**name).copied(),
            Dim::Open => None,
        };
        let shape = port.dims.as_ref()?.iter().map(extent).collect::<Option<_>>()?;
        Some(Fact { element: port.element?, shape, elements: None, is_constant: false })
    }

    /// Warns of outputs whose stated extents are others than the inferred ones.
    fn check_stated_outputs(&mut self, graph: &Graph) {
        for (port, id) in graph.outputs.iter().zip(self.trace.outputs.clone()) {
            let Some(fact) = self.trace.fact(id) else { continue };
            if port.contradicts(&fact.shape) {
                let (name, shape) = (in_line(&port.name), shape_text(&fact.shape));
                self.trace.warnings.push(format!(
                    "the output {name} has the shape {shape}, not the one that the file states"
                ));
            }
        }
    }

    /// The answer of the user for a node, by its name or what it writes.
    pub(super) fn option<T: Copy>(
        &mut self,
        kind: &'static str,
        name: &str,
        of: impl Fn(&Options) -> &BTreeMap<String, T>,
    ) -> Option<T> {
        let found = of(self.options).get(name).copied();
        if found.is_some() {
            self.used.insert((kind, name.into()));
        }
        found
    }
}

/// Elements of a constant in another file.
enum Loaded {
    /// They are known now.
    Whole,
    /// They cannot be read, which is reported.
    Failed,
    /// There are none, or too many to follow.
    Nothing,
}

/// Operators whose result is the constant that they read, in another form.
const PASSING: [&str; 9] = [
    "DequantizeLinear",
    "QuantizeLinear",
    "Transpose",
    "Reshape",
    "Cast",
    "Identity",
    "Squeeze",
    "Unsqueeze",
    "Flatten",
];

/// Whether each node is needed for one of `outputs`.
fn needed(nodes: &[Node], sorted: &[usize], outputs: &[&str]) -> Vec<bool> {
    let mut read: HashSet<&str> = outputs.iter().copied().collect();
    let mut needed = vec![false; nodes.len()];
    for &index in sorted.iter().rev() {
        let node = &nodes[index];
        if node.outputs.iter().any(|name| read.contains(&**name)) {
            needed[index] = true;
            read.extend(file::reads(node));
        }
    }
    needed
}

/// An operator with its domain, unless that is the usual one.
pub(crate) fn operator_name(node: &Node) -> String {
    match node.domain.is_empty() {
        true => in_line(&node.operator),
        false => in_line(&format!("{}.{}", node.domain, node.operator)),
    }
}

/// Extents as `1x3x224x224`.
pub(super) fn shape_text(shape: &[u64]) -> String {
    if shape.is_empty() { "of one number".into() } else { text(shape) }
}

/// Whether the elements of a tensor are all known to be this.
pub(super) fn scalar(fact: &Fact) -> Option<i64> {
    if let [Number::Int(value)] = fact.known()? { Some(*value) } else { None }
}
