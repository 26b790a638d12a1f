//! Control flow: branches, loops and scans.

use std::collections::HashMap;
use std::sync::Arc;

use super::scope::Scope;
use super::walk::{Walk, scalar};
use super::{Step, Tensor, TensorId};
use crate::fact::{Element, Elements, Fact};
use crate::file;
use crate::graph::{Attribute, Graph, Node};
use crate::options::Branch;
use xrsim_model::text::in_line;

/// Most trips of one loop.
const MAX_TRIPS: u64 = 1_000_000;

/// Whether an operator is one of control flow.
pub(super) fn is(operator: &str) -> bool {
    matches!(operator, "If" | "Loop" | "Scan")
}

impl<'a> Walk<'a, '_> {
    /// Walks through the graphs of a node, and returns what it writes.
    pub(super) fn control(
        &mut self,
        node: &'a Node,
        name: &str,
        inputs: &[Option<TensorId>],
        scope: &Scope<'a, '_>,
    ) -> Vec<TensorId> {
        if self.is_too_deep(scope) {
            return Vec::new();
        }
        let outputs = match &*node.operator {
            "If" => self.branch(node, name, inputs, scope),
            "Loop" => self.repeat(node, name, inputs, scope),
            _ => self.scan(node, name, inputs, scope),
        };
        outputs.unwrap_or_default()
    }

    fn graph_of(&mut self, node: &'a Node, name: &str, attribute: &str) -> Option<&'a Graph> {
        let found = node.attributes.iter().find(|(known, _)| **known == *attribute);
        if let Some((_, Attribute::Graph(graph))) = found {
            return Some(graph);
        }
        self.problems.add(format!("{}: `{attribute}` is no graph", in_line(name)));
        None
    }

    /// A branch whose condition is known, or which the user chooses, or either of two equal ones.
    fn branch(
        &mut self,
        node: &'a Node,
        name: &str,
        inputs: &[Option<TensorId>],
        scope: &Scope<'a, '_>,
    ) -> Option<Vec<TensorId>> {
        let then = self.graph_of(node, name, "then_branch")?;
        let other = self.graph_of(node, name, "else_branch")?;
        let condition = inputs.first().copied().flatten();
        let fact = condition.and_then(|id| self.trace.fact(id).cloned());
        let chosen = self.option("branch", name, |options| &options.branches);
        let known = fact.as_deref().and_then(scalar);
        let graph = match (known, chosen) {
            (Some(0), _) => other,
            (Some(_), _) => then,
            (None, Some(branch)) => {
                let word = Branch::ALL[branch as usize].0;
                let decision = format!("{}: the branch `{word}` runs, as given", in_line(name));
                self.trace.decisions.push(decision);
                if branch == Branch::Then { then } else { other }
            }
            (None, None) => return self.either(name, [then, other], scope),
        };
        Some(self.body(graph, &[], scope))
    }

    /// The results of either branch, if both are equal in everything that layers depend on.
    fn either(
        &mut self,
        name: &str,
        graphs: [&'a Graph; 2],
        scope: &Scope<'a, '_>,
    ) -> Option<Vec<TensorId>> {
        let begin = self.trace.steps.len();
        let outputs = self.body(graphs[0], &[], scope);
        let middle = self.trace.steps.len();
        let others = self.body(graphs[1], &[], scope);
        let (first, second) = self.trace.steps[begin..].split_at(middle - begin);
        let mut pairs: HashMap<TensorId, TensorId> = HashMap::new();
        let is_equal = first.len() == second.len()
            && first.iter().zip(second).all(|(a, b)| self.is_alike(a, b, &mut pairs))
            && outputs.iter().zip(&others).all(|(a, b)| self.is_pair(*a, *b, &pairs));
        self.trace.steps.truncate(middle);
        if !is_equal {
            self.open_branch(name);
        }
        Some(outputs)
    }

    /// Reports that nobody knows which branch runs. What follows is looked at as if the first one did.
    fn open_branch(&mut self, name: &str) {
        let shown = in_line(name);
        self.problems.needs(
            format!("{shown}: which branch runs depends on data"),
            format!("--branch {shown}=then"),
        );
    }

    /// Whether two operators become the same layer of the same tensors, given `pairs` of tensors that steps before
    /// wrote. Constants are the same if their shapes and known elements are.
    fn is_alike(
        &self,
        a: &Step<'_>,
        b: &Step<'_>,
        pairs: &mut HashMap<TensorId, TensorId>,
    ) -> bool {
        let is_input = |(a, b): (&Option<TensorId>, &Option<TensorId>)| match (*a, *b) {
            (Some(a), Some(b)) => self.is_pair(a, b, pairs),
            (a, b) => a == b,
        };
        let is_alike = a.node.operator == b.node.operator
            && a.node.domain == b.node.domain
            && a.node.attributes == b.node.attributes
            && a.inputs.len() == b.inputs.len()
            && a.outputs.len() == b.outputs.len()
            && a.inputs.iter().zip(&b.inputs).all(is_input);
        pairs.extend(a.outputs.iter().copied().zip(b.outputs.iter().copied()));
        is_alike
    }

    fn is_pair(&self, a: TensorId, b: TensorId, pairs: &HashMap<TensorId, TensorId>) -> bool {
        if a == b || pairs.get(&a) == Some(&b) {
            return self.trace.fact(a).map(|it| &it.shape)
                == self.trace.fact(b).map(|it| &it.shape);
        }
        let is_constant = |id| self.trace.fact(id).is_some_and(|fact| fact.is_constant);
        let is_new = !pairs.contains_key(&a);
        is_new && is_constant(a) && is_constant(b) && self.trace.fact(a) == self.trace.fact(b)
    }

    /// Walks through a body with these inputs, and returns its outputs.
    fn body(
        &mut self,
        graph: &'a Graph,
        inputs: &[TensorId],
        scope: &Scope<'a, '_>,
    ) -> Vec<TensorId> {
        let mut inner = scope.inner();
        self.constants(graph, &mut inner);
        for (port, id) in graph.inputs.iter().zip(inputs) {
            inner.put(&port.name, *id);
        }
        let outputs: Vec<_> = graph.outputs.iter().map(|port| &*port.name).collect();
        let sorted = file::order_of(graph, &|name| scope.get(name).is_some());
        self.nodes(&graph.nodes, sorted, &outputs, &mut inner);
        self.outputs(&graph.outputs, &inner)
    }

    /// A loop: its body for every trip, each with tensors of its own.
    fn repeat(
        &mut self,
        node: &'a Node,
        name: &str,
        inputs: &[Option<TensorId>],
        scope: &Scope<'a, '_>,
    ) -> Option<Vec<TensorId>> {
        let body = self.graph_of(node, name, "body")?;
        let given = self.option("trips", name, |options| &options.trips);
        let limit = inputs.first().copied().flatten();
        let most = match limit {
            Some(id) => self.trace.fact(id)?.elements.as_deref().map(first_integer),
            None => Some(Some(i64::MAX)),
        };
        let most = most.flatten().map(|most| u64::try_from(most).unwrap_or(0));
        let condition = inputs.get(1).copied().flatten();
        let mut goes_on = match condition {
            Some(id) => {
                self.trace.fact(id)?.elements.as_deref().map(|it| first_integer(it) != Some(0))
            }
            None => Some(true),
        };
        let mut state: Vec<TensorId> = Vec::new();
        for (index, id) in inputs.iter().enumerate().skip(2) {
            let Some(id) = id else {
                self.problems.add(format!("{}: input {index} is left out", in_line(name)));
                return None;
            };
            state.push(*id);
        }
        let n_scans = body.outputs.len().checked_sub(1 + state.len());
        let Some(n_scans) = n_scans else {
            let shown = in_line(name);
            self.problems.add(format!("{shown}: its body writes less than it carries on"));
            return None;
        };
        let mut scans: Vec<Vec<TensorId>> = vec![Vec::new(); n_scans];
        let mut trip = 0;
        let trips = loop {
            let ends_by = [given, most].into_iter().flatten().min();
            if goes_on == Some(false) || ends_by == Some(trip) {
                break trip;
            }
            if given.is_none() && (goes_on.is_none() || most.is_none()) {
                self.open_trips(name, limit);
                // What follows is looked at as if there were one trip.
                if trip > 0 {
                    break trip;
                }
            }
            if trip >= MAX_TRIPS {
                let shown = in_line(name);
                self.problems.add(format!("{shown}: more than {MAX_TRIPS} trips"));
                return None;
            }
            let number = self.integer(trip as i64);
            let truth = self.truth(goes_on.unwrap_or(true));
            let mut arguments = vec![number, truth];
            arguments.extend(&state);
            let outputs = self.body(body, &arguments, scope);
            // A problem of one trip is one of all.
            if outputs.iter().any(|id| self.trace.fact(*id).is_none()) {
                return None;
            }
            // A trip without operators counts, too.
            if self.is_over() {
                return None;
            }
            goes_on = self
                .trace
                .fact(outputs[0])
                .and_then(|fact| fact.elements.as_deref().map(|it| first_integer(it) != Some(0)));
            state = outputs[1..=state.len()].to_vec();
            for (scan, id) in scans.iter_mut().zip(&outputs[1 + state.len()..]) {
                scan.push(*id);
            }
            trip += 1;
        };
        if given.is_some() {
            let kind = if goes_on.is_none() { ", an upper bound" } else { "" };
            let shown = in_line(name);
            self.trace.decisions.push(format!("{shown}: {trips} trips, as given{kind}"));
        }
        let mut outputs = state;
        for (scan, port) in scans.into_iter().zip(&body.outputs[1 + outputs.len()..]) {
            outputs.push(self.stacked(scan, &port.name)?);
        }
        Some(outputs)
    }

    /// Reports that nobody knows how often a loop runs.
    fn open_trips(&mut self, name: &str, limit: Option<TensorId>) {
        let shown = in_line(name);
        let input = limit.and_then(|id| self.origin(id));
        let other = input.map(|id| {
            let input = in_line(self.trace.tensor(id).name);
            format!(", or --value {input}=N")
        });
        let other = other.unwrap_or_default();
        self.problems.needs(
            format!("{shown}: its trips depend on data (--trips {shown}=N{other})"),
            format!("--trips {shown}=N"),
        );
    }

    /// A slice of a tensor, or several together.
    fn related(&mut self, ids: Vec<TensorId>, fact: Fact) -> TensorId {
        let tensor = Tensor {
            name: self.trace.tensors[ids[0].index()].name,
            fact: Some(Arc::new(fact)),
            writer: None,
            root: None,
            is_lost: ids.iter().any(|id| self.trace.tensor(*id).is_lost),
            related: ids,
            external: None,
        };
        self.push(tensor)
    }

    /// The results of all trips, one below the other.
    fn stacked(&mut self, parts: Vec<TensorId>, name: &str) -> Option<TensorId> {
        let Some(&last) = parts.last() else {
            self.problems.add(format!("a loop without trips leaves `{}` empty", in_line(name)));
            return None;
        };
        let fact = self.trace.fact(last)?;
        let mut shape = vec![parts.len() as u64];
        shape.extend(&fact.shape);
        let fact = Fact { shape, elements: None, ..(**fact).clone() };
        Some(self.related(parts, fact))
    }

    fn integer(&mut self, value: i64) -> TensorId {
        self.scalar_of(Element::INT64, value)
    }

    fn truth(&mut self, value: bool) -> TensorId {
        self.scalar_of(Element::BOOL, value.into())
    }

    fn scalar_of(&mut self, element: Element, value: i64) -> TensorId {
        let elements = Some(Arc::new(Elements::Ints(vec![value])));
        let fact = Fact { element, shape: Vec::new(), elements, is_constant: true };
        self.given("", Some(Arc::new(fact)))
    }

    /// A scan: its body for every slice along an axis of its scanned inputs.
    fn scan(
        &mut self,
        node: &'a Node,
        name: &str,
        inputs: &[Option<TensorId>],
        scope: &Scope<'a, '_>,
    ) -> Option<Vec<TensorId>> {
        let body = self.graph_of(node, name, "body")?;
        let integer = |wanted: &str| {
            node.attributes.iter().find_map(|(known, value)| match value {
                Attribute::Int(value) if **known == *wanted => usize::try_from(*value).ok(),
                _ => None,
            })
        };
        let axes = |wanted: &str| {
            node.attributes.iter().find_map(|(known, value)| match value {
                Attribute::Ints(value) if **known == *wanted => Some(value.clone()),
                _ => None,
            })
        };
        let invalid = |walk: &mut Self, words: &str| {
            walk.problems.add(format!("{}: {words}", in_line(name)));
            None
        };
        let ids: Option<Vec<TensorId>> = inputs.iter().copied().collect();
        let n_scanned = integer("num_scan_inputs").unwrap_or(0);
        let (Some(ids), true) = (ids, n_scanned > 0 && n_scanned <= inputs.len()) else {
            return invalid(self, "it scans none of its inputs");
        };
        if scope.opset("").is_some_and(|version| version < 9) {
            self.problems.unsupported("Scan of opset 8", name);
            return None;
        }
        let n_states = ids.len() - n_scanned;
        if body.outputs.len() < n_states || body.inputs.len() < ids.len() {
            return invalid(self, "its body has other inputs or outputs than it");
        }
        let scan_axes = axes("scan_input_axes").unwrap_or_default();
        let mut trips = None;
        let mut slices = Vec::new();
        for (index, &id) in ids[n_states..].iter().enumerate() {
            let fact = Arc::clone(self.trace.fact(id)?);
            let axis = scan_axes.get(index).copied().unwrap_or(0);
            let Some(axis) = resolved_axis(axis, fact.shape.len()) else {
                return invalid(self, "it scans along an axis that its input does not have");
            };
            let extent = fact.shape[axis];
            if *trips.get_or_insert(extent) != extent {
                return invalid(self, "it scans inputs of different length");
            }
            let mut shape = fact.shape.clone();
            shape.remove(axis);
            let fact = Fact { shape, elements: None, ..(*fact).clone() };
            slices.push(self.related(vec![id], fact));
        }
        let trips = trips.unwrap_or(0);
        if trips > MAX_TRIPS {
            return invalid(self, "it makes more than a million trips");
        }
        let mut state = ids[..n_states].to_vec();
        let mut scans: Vec<Vec<TensorId>> = vec![Vec::new(); body.outputs.len() - n_states];
        for _ in 0..trips {
            let arguments = [&state[..], &slices].concat();
            let n_problems = self.problems.count();
            let outputs = self.body(body, &arguments, scope);
            if self.problems.count() > n_problems {
                return None;
            }
            state = outputs[..n_states].to_vec();
            for (scan, id) in scans.iter_mut().zip(&outputs[n_states..]) {
                scan.push(*id);
            }
            if self.is_over() {
                return None;
            }
        }
        let out_axes = axes("scan_output_axes").unwrap_or_default();
        let mut outputs = state;
        for (index, (scan, port)) in scans.into_iter().zip(&body.outputs[n_states..]).enumerate() {
            let id = self.stacked(scan, &port.name)?;
            let axis = out_axes.get(index).copied().unwrap_or(0);
            let fact = Arc::clone(self.trace.fact(id)?);
            let Some(axis) = resolved_axis(axis, fact.shape.len()) else {
                return invalid(self, "it writes along an axis that its output does not have");
            };
            let mut shape = fact.shape.clone();
            let extent = shape.remove(0);
            shape.insert(axis, extent);
            let fact = Arc::new(Fact { shape, ..(*fact).clone() });
            self.trace.tensors[id.index()].fact = Some(fact);
            outputs.push(id);
        }
        Some(outputs)
    }
}

/// An axis counted from 0, given from either end.
fn resolved_axis(axis: i64, rank: usize) -> Option<usize> {
    let axis = if axis < 0 { axis.checked_add(i64::try_from(rank).ok()?)? } else { axis };
    usize::try_from(axis).ok().filter(|&axis| axis < rank)
}

fn first_integer(elements: &Elements) -> Option<i64> {
    match elements {
        Elements::Ints(ints) => ints.first().copied(),
        Elements::Floats(_) => None,
    }
}
