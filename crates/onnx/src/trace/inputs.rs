//! Inputs of a graph: shapes that the file states, with what the user adds.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Tensor;
use super::scope::Scope;
use super::walk::{Walk, shape_text};
use crate::fact::{Element, Fact, Number};
use crate::graph::{Dim, Graph, Port};
use crate::options::Options;
use xrsim_model::text::{in_line, nearest};

/// Largest extent of an axis.
const MAX_EXTENT: u64 = 1 << 20;

impl<'a> Walk<'a, '_> {
    /// Names the inputs of a graph. Initializers that are also inputs are constants.
    pub(super) fn bind_inputs(&mut self, graph: &'a Graph, scope: &mut Scope<'a, '_>) {
        let constants: BTreeSet<&str> = graph.initializers.iter().map(|it| &*it.name).collect();
        let inputs: Vec<&'a Port> =
            graph.inputs.iter().filter(|port| !constants.contains(&*port.name)).collect();
        let batch = self.open_batch(&inputs);
        let n_problems = self.problems.count();
        let mut open = Open::default();
        for port in &inputs {
            let shape = self.shape_of(port, batch, &mut open);
            let fact = shape.map(|shape| self.input_fact(port, shape));
            let id = self.push(Tensor::new(&port.name, fact.map(Arc::new)));
            self.trace.inputs.push(id);
            scope.put(&port.name, id);
        }
        self.report(&open);
        if batch && self.problems.count() == n_problems {
            let decision = "the batch is open in the file, and 1 here";
            self.trace.decisions.push(decision.into());
        }
    }

    /// Whether the only open axis is the first one of every input that has any, under one name, and the user
    /// says nothing about axes.
    fn open_batch(&self, inputs: &[&Port]) -> bool {
        if !self.options.dims.is_empty() || !self.options.shapes.is_empty() {
            return false;
        }
        let mut is_open = false;
        let mut all = inputs.iter().map(|port| {
            let dims = port.dims.as_deref().unwrap_or_default();
            let open = |dim: &Dim| !matches!(dim, Dim::Fixed(_));
            let first = dims.first().is_some_and(open);
            is_open |= first;
            first && !dims[1..].iter().any(open)
        });
        all.all(|it| it) && is_open
    }

    /// Extents of an input; `None` after a problem.
    fn shape_of(&mut self, port: &'a Port, batch: bool, open: &mut Open) -> Option<Vec<u64>> {
        let name = in_line(&port.name);
        let given = self.options.shapes.get(&*port.name);
        if given.is_some() {
            self.used.insert(("shape", port.name.to_string()));
        }
        let value = self.options.values.get(&*port.name).map(|value| value.len() as u64);
        let Some(dims) = &port.dims else {
            return given.cloned().or_else(|| value.map(|n| vec![n])).or_else(|| {
                self.problems
                    .needs(format!("{name} has no shape"), format!("--shape {name}=1x3x16x16"));
                None
            });
        };
        if let Some(given) = given {
            if port.contradicts(given) {
                let shape = shape_text(given);
                self.problems
                    .add(format!("{name} is {shape} as given, which the file contradicts"));
                return None;
            }
            return Some(given.clone());
        }
        let mut shape = Vec::new();
        for (axis, dim) in dims.iter().enumerate() {
            match dim {
                Dim::Fixed(extent) => {
                    shape.extend(self.stated_extent(&name, axis, *extent, dims.len()));
                }
                Dim::Named(dim) if self.options.dims.contains_key(&**dim) => {
                    let extent = self.option("dim", dim, |options| &options.dims);
                    if extent == Some(0) {
                        let problem =
                            format!("--dim {}: an extent is 1 or more, found 0", in_line(dim));
                        self.problems.add(problem);
                    }
                    shape.extend(extent.filter(|extent| *extent > 0));
                }
                _ if batch && axis == 0 => shape.push(1),
                // A vector of integers is as long as its elements.
                _ if dims.len() == 1 && value.is_some() => shape.extend(value),
                Dim::Named(dim) => open.named(&port.name, dim, axis == 0),
                Dim::Open => open.shapes.push((port.name.to_string(), dims.clone(), axis)),
            }
        }
        (shape.len() == dims.len()).then_some(shape)
    }

    /// An extent that the file states, if it is within the limits.
    fn stated_extent(&mut self, name: &str, axis: usize, extent: i64, rank: usize) -> Option<u64> {
        let found = u64::try_from(extent).ok().filter(|&found| found > 0);
        let is_large = found.is_some_and(|found| found > MAX_EXTENT && rank > 1);
        if found.is_none() || is_large {
            let words = if is_large { ", above 1,048,576, the largest extent" } else { "" };
            self.problems.add(format!("axis {axis} of {name} is {extent}{words}"));
        }
        found.filter(|_| !is_large)
    }

    fn input_fact(&mut self, port: &Port, shape: Vec<u64>) -> Fact {
        let element = port.element.unwrap_or(Element::FLOAT);
        let mut fact = Fact { element, shape, elements: None, is_constant: false };
        if let Some(value) = self.options.values.get(&*port.name) {
            self.used.insert(("value", port.name.to_string()));
            if value.len() as u64 == fact.count() {
                let elements = value.iter().map(|&value| Number::Int(value)).collect();
                fact.elements = Some(Arc::new(elements));
            } else {
                let (name, n, given) = (in_line(&port.name), fact.count(), value.len());
                self.problems.add(format!("{name} has {n} elements, and {given} are given"));
            }
        }
        fact
    }

    fn report(&mut self, open: &Open) {
        for (input, axes) in &open.axes {
            let names: Vec<_> = axes.iter().map(|(name, _)| in_line(name)).collect();
            let (axis, are) = if names.len() == 1 { ("axis", "is") } else { ("axes", "are") };
            let problem = format!("{axis} {} of {} {are} open", names.join(", "), in_line(input));
            for (name, is_first) in axes {
                let value = if *is_first { "1" } else { "..." };
                let option = format!("--dim {}={value}", in_line(name));
                self.problems.needs(problem.clone(), option);
            }
        }
        for (input, dims, axis) in &open.shapes {
            let extent = |(axis, dim): (usize, &Dim)| match dim {
                Dim::Fixed(extent) => extent.to_string(),
                _ if axis == 0 => "1".into(),
                _ => "...".into(),
            };
            let shape: Vec<_> = dims.iter().enumerate().map(extent).collect();
            let name = in_line(input);
            let option = format!("--shape {name}={}", shape.join("x"));
            self.problems.needs(format!("axis {axis} of {name} is open and has no name"), option);
        }
    }

    /// The open axis or input that `name` may stand for.
    fn near(&self, kind: &str, name: &str) -> Option<String> {
        let inputs = self.model.graph.inputs.iter();
        let known: Vec<&str> = match kind {
            "dim" => inputs.flat_map(axes).collect(),
            "shape" | "value" => inputs.map(|port| &*port.name).collect(),
            _ => Vec::new(),
        };
        nearest(name, known).map(in_line)
    }

    /// Reports options that name nothing in the file.
    pub(super) fn check_options(&mut self) {
        let options = self.options;
        // After a problem not every node was looked at.
        let is_whole = self.problems.is_empty();
        let given = [
            ("dim", "open axis", options.dims.keys().collect::<Vec<_>>()),
            ("shape", "input", options.shapes.keys().collect()),
            ("value", "input", options.values.keys().collect()),
            ("trips", "loop", options.trips.keys().collect()),
            ("branch", "`If`", options.branches.keys().collect()),
            ("bound", "node", options.bounds.keys().collect()),
        ];
        for (kind, what, names) in given {
            let is_of_nodes = matches!(kind, "trips" | "branch" | "bound");
            for name in names.into_iter().filter(|_| is_whole || !is_of_nodes) {
                if !self.used.contains(&(kind, name.clone())) {
                    let shown = in_line(name);
                    let near = self.near(kind, name);
                    let near = near.map_or(String::new(), |it| format!("; did you mean `{it}`?"));
                    let problem = match (kind, &**name) {
                        ("bound", Options::ALL) => "--bound *: data decide no extent".into(),
                        _ => format!("--{kind} {shown}: no {what} is called `{shown}`{near}"),
                    };
                    self.problems.unused(kind, name, problem);
                }
            }
        }
    }
}

/// Names of the open axes of an input.
fn axes(port: &Port) -> impl Iterator<Item = &str> {
    port.dims.iter().flatten().filter_map(|dim| match dim {
        Dim::Named(name) => Some(&**name),
        _ => None,
    })
}

/// Open axes.
#[derive(Default)]
struct Open {
    /// Of each input, names of axes, and whether an axis is its first.
    axes: Vec<(String, Vec<(String, bool)>)>,
    /// Axes without a name: the input, its extents, and which it is.
    shapes: Vec<(String, Vec<Dim>, usize)>,
}

impl Open {
    /// Adds an axis, unless it is known already.
    fn named(&mut self, input: &str, name: &str, is_first: bool) {
        let mut known = self.axes.iter().flat_map(|(_, axes)| axes);
        if known.any(|(known, _)| known == name) {
            return;
        }
        let axis = (name.to_string(), is_first);
        match self.axes.last_mut() {
            Some((last, axes)) if last == input => axes.push(axis),
            _ => self.axes.push((input.into(), vec![axis])),
        }
    }
}
