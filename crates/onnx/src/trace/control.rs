//! Control flow: branches, loops and scans.

use std::collections::HashMap;
use std::sync::Arc;

use super::scope::Scope;
use super::walk::{Applied, Walk, scalar};
use super::{Step, Tensor, TensorId};
use crate::fact::{Element, Fact, Number};
use crate::file;
use crate::graph::{Attribute, Graph, Port};
use crate::options::Branch;
use xrsim_model::text::in_line;

/// Most trips of one loop.
const MAX_TRIPS: u64 = 1_000_000;

/// Whether an operator is one of control flow.
pub(super) fn is(operator: &str) -> bool {
    matches!(operator, "If" | "Loop" | "Scan")
}

/// Results of the trips of a loop so far.
struct Trips {
    /// Tensors that the next trip reads.
    state: Vec<TensorId>,
    /// Of each other output of the body, the tensors of all trips.
    scans: Vec<Vec<TensorId>>,
}

impl Trips {
    fn new(state: Vec<TensorId>, n_scans: usize) -> Self {
        Self { state, scans: vec![Vec::new(); n_scans] }
    }

    /// Adds a trip with these results: the state, then the others.
    fn add(&mut self, outputs: &[TensorId]) {
        let (state, others) = outputs.split_at(self.state.len());
        self.state = state.to_vec();
        self.scans.iter_mut().zip(others).for_each(|(scan, id)| scan.push(*id));
    }
}

impl<'a> Walk<'a, '_> {
    /// Walks through the graphs of a node, and returns what it writes.
    pub(super) fn control(&mut self, at: &Applied<'_, 'a>) -> Vec<TensorId> {
        if self.is_too_deep(at.scope) {
            return Vec::new();
        }
        let outputs = match &*at.node.operator {
            "If" => self.branch(at),
            "Loop" => self.repeat(at),
            _ => self.scan(at),
        };
        outputs.unwrap_or_default()
    }

    /// Reports a problem of a node.
    fn invalid<T>(&mut self, at: &Applied<'_, '_>, words: &str) -> Option<T> {
        self.problems.add(format!("{}: {words}", in_line(at.name)));
        None
    }

    fn graph_of(&mut self, at: &Applied<'_, 'a>, attribute: &str) -> Option<&'a Graph> {
        match at.node.attribute(attribute) {
            Some(Attribute::Graph(graph)) => Some(graph),
            _ => self.invalid(at, &format!("`{attribute}` is no graph")),
        }
    }

    /// A branch whose condition is known, or which the user chooses, or either of two equal ones.
    fn branch(&mut self, at: &Applied<'_, 'a>) -> Option<Vec<TensorId>> {
        let then = self.graph_of(at, "then_branch")?;
        let other = self.graph_of(at, "else_branch")?;
        let known = at.input(0).and_then(|id| scalar(self.trace.fact(id)?));
        let chosen = self.option("branch", at.name, |options| &options.branches);
        let graph = match (known, chosen) {
            (Some(0), _) => other,
            (Some(_), _) => then,
            (None, Some(branch)) => {
                let word = Branch::ALL[branch as usize].0;
                let decision = format!("{}: the branch `{word}` runs, as given", in_line(at.name));
                self.trace.decisions.push(decision);
                if branch == Branch::Then { then } else { other }
            }
            (None, None) => return Some(self.either(at, [then, other])),
        };
        Some(self.body(graph, &[], at.scope))
    }

    /// The results of either branch, if both are equal in everything that layers depend on.
    fn either(&mut self, at: &Applied<'_, 'a>, graphs: [&'a Graph; 2]) -> Vec<TensorId> {
        let begin = self.trace.steps.len();
        let outputs = self.body(graphs[0], &[], at.scope);
        let middle = self.trace.steps.len();
        let others = self.body(graphs[1], &[], at.scope);
        let (first, second) = self.trace.steps[begin..].split_at(middle - begin);
        let mut pairs: HashMap<TensorId, TensorId> = HashMap::new();
        let is_equal = first.len() == second.len()
            && first.iter().zip(second).all(|(a, b)| self.is_alike(a, b, &mut pairs))
            && outputs.iter().zip(&others).all(|(a, b)| self.is_pair(*a, *b, &pairs));
        self.trace.steps.truncate(middle);
        if !is_equal {
            // What follows is looked at as if the first branch ran.
            let shown = in_line(at.name);
            self.problems.needs(
                format!("{shown}: which branch runs depends on data"),
                format!("--branch {shown}=then"),
            );
        }
        outputs
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
    fn repeat(&mut self, at: &Applied<'_, 'a>) -> Option<Vec<TensorId>> {
        let body = self.graph_of(at, "body")?;
        let given = self.option("trips", at.name, |options| &options.trips);
        let limit = at.input(0);
        let most = match limit {
            Some(id) => self.trace.fact(id)?.first().and_then(Number::int),
            None => Some(i64::MAX),
        };
        let most = most.map(|most| u64::try_from(most).unwrap_or(0));
        let mut goes_on = match at.input(1) {
            Some(id) => is_true(self.trace.fact(id)?),
            None => Some(true),
        };
        let carried = at.inputs.get(2..).unwrap_or_default();
        if let Some(index) = carried.iter().position(Option::is_none) {
            return self.invalid(at, &format!("input {} is left out", index + 2));
        }
        let state: Vec<TensorId> = carried.iter().copied().flatten().collect();
        let Some((_, ports)) = body.outputs.split_at_checked(1 + state.len()) else {
            return self.invalid(at, "its body writes less than it carries on");
        };
        let mut trips = Trips::new(state, ports.len());
        let mut trip = 0;
        let ends_by = [given, most].into_iter().flatten().min();
        while goes_on != Some(false) && ends_by != Some(trip) {
            if given.is_none() && (goes_on.is_none() || most.is_none()) {
                self.open_trips(at.name, limit);
                // What follows is looked at as if there were one trip.
                if trip > 0 {
                    break;
                }
            }
            if trip >= MAX_TRIPS {
                return self.invalid(at, &format!("more than {MAX_TRIPS} trips"));
            }
            let number = self.known(Element::INT64, trip as i64);
            let truth = self.known(Element::BOOL, goes_on.unwrap_or(true).into());
            let outputs = self.body(body, &[&[number, truth], &trips.state[..]].concat(), at.scope);
            // A problem of one trip is one of all. A trip without operators counts, too.
            if outputs.iter().any(|id| self.trace.fact(*id).is_none()) || self.is_over() {
                return None;
            }
            goes_on = self.trace.fact(outputs[0]).and_then(|fact| is_true(fact));
            trips.add(&outputs[1..]);
            trip += 1;
        }
        if given.is_some() {
            let kind = if goes_on.is_none() { ", an upper bound" } else { "" };
            let shown = in_line(at.name);
            self.trace.decisions.push(format!("{shown}: {trip} trips, as given{kind}"));
        }
        self.results(trips, ports)
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
        let name = self.trace.tensors[ids[0].index()].name;
        let is_lost = ids.iter().any(|id| self.trace.tensor(*id).is_lost);
        let tensor = Tensor::new(name, Some(Arc::new(fact)));
        self.push(Tensor { is_lost, related: ids, ..tensor })
    }

    /// The last state, and of each other output the results of all trips, one below the other.
    fn results(&mut self, trips: Trips, ports: &[Port]) -> Option<Vec<TensorId>> {
        let mut outputs = trips.state;
        for (parts, port) in trips.scans.into_iter().zip(ports) {
            let Some(&last) = parts.last() else {
                let name = in_line(&port.name);
                self.problems.add(format!("a loop without trips leaves `{name}` empty"));
                return None;
            };
            let fact = self.trace.fact(last)?;
            let shape = [&[parts.len() as u64], &fact.shape[..]].concat();
            let fact = Fact { shape, elements: None, ..(**fact).clone() };
            outputs.push(self.related(parts, fact));
        }
        Some(outputs)
    }

    /// An integer or truth value that is known.
    fn known(&mut self, element: Element, value: i64) -> TensorId {
        self.push(Tensor::new("", Some(Arc::new(Fact::scalar(element, value)))))
    }

    /// A scan: its body for every slice along an axis of its scanned inputs.
    fn scan(&mut self, at: &Applied<'_, 'a>) -> Option<Vec<TensorId>> {
        let body = self.graph_of(at, "body")?;
        let n_scanned = at.node.attribute("num_scan_inputs").and_then(Attribute::int);
        let n_scanned = n_scanned.and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
        let ids: Option<Vec<TensorId>> = at.inputs.iter().copied().collect();
        let (Some(ids), true) = (ids, n_scanned > 0 && n_scanned <= at.inputs.len()) else {
            return self.invalid(at, "it scans none of its inputs");
        };
        if at.scope.opset("").is_some_and(|version| version < 9) {
            self.problems.unsupported("Scan of opset 8", at.name);
            return None;
        }
        let n_states = ids.len() - n_scanned;
        let (state, scanned) = ids.split_at(n_states);
        if body.outputs.len() < n_states || body.inputs.len() < ids.len() {
            return self.invalid(at, "its body has other inputs or outputs than it");
        }
        let ports = &body.outputs[n_states..];
        let (n_trips, slices) = self.slices(at, scanned)?;
        if n_trips > MAX_TRIPS {
            return self.invalid(at, "it makes more than a million trips");
        }
        let mut trips = Trips::new(state.to_vec(), ports.len());
        for _ in 0..n_trips {
            let n_problems = self.problems.count();
            let outputs = self.body(body, &[&trips.state[..], &slices].concat(), at.scope);
            if self.problems.count() > n_problems || self.is_over() {
                return None;
            }
            trips.add(&outputs);
        }
        let outputs = self.results(trips, ports)?;
        for (index, &id) in outputs[n_states..].iter().enumerate() {
            let fact = Arc::clone(self.trace.fact(id)?);
            let Some(axis) = axis_of(at, "scan_output_axes", index, &fact) else {
                return self.invalid(at, "it writes along an axis that its output does not have");
            };
            let mut shape = fact.shape.clone();
            let extent = shape.remove(0);
            shape.insert(axis, extent);
            let fact = Arc::new(Fact { shape, ..(*fact).clone() });
            self.trace.tensors[id.index()].fact = Some(fact);
        }
        Some(outputs)
    }

    /// Number of trips of a scan, and a slice of each tensor that it scans.
    fn slices(
        &mut self,
        at: &Applied<'_, 'a>,
        scanned: &[TensorId],
    ) -> Option<(u64, Vec<TensorId>)> {
        let mut trips = None;
        let mut slices = Vec::new();
        for (index, &id) in scanned.iter().enumerate() {
            let fact = Arc::clone(self.trace.fact(id)?);
            let Some(axis) = axis_of(at, "scan_input_axes", index, &fact) else {
                return self.invalid(at, "it scans along an axis that its input does not have");
            };
            let mut shape = fact.shape.clone();
            let extent = shape.remove(axis);
            if *trips.get_or_insert(extent) != extent {
                return self.invalid(at, "it scans inputs of different length");
            }
            let fact = Fact { shape, elements: None, ..(*fact).clone() };
            slices.push(self.related(vec![id], fact));
        }
        Some((trips.unwrap_or(0), slices))
    }
}

/// An axis that a list of a scan gives for one of its tensors, counted from 0.
fn axis_of(at: &Applied<'_, '_>, list: &str, index: usize, fact: &Fact) -> Option<usize> {
    let list = at.node.attribute(list).and_then(Attribute::ints).unwrap_or_default();
    let axis = list.get(index).copied().unwrap_or(0);
    let rank = fact.shape.len();
    let axis = if axis < 0 { axis.checked_add(i64::try_from(rank).ok()?)? } else { axis };
    usize::try_from(axis).ok().filter(|&axis| axis < rank)
}

/// Whether a condition holds, if its elements are known.
fn is_true(fact: &Fact) -> Option<bool> {
    fact.known().map(|known| known.first() != Some(&Number::Int(0)))
}
