//! Order in which the nodes of a graph are executed.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

use xrsim_model::text::{in_line, nearest};

use super::super::graph::{Attribute, Graph, Node};

/// Most names of a circle that a message lists.
const MAX_LISTED: usize = 8;

/// Most problems of one graph that are reported one by one.
const MAX_PROBLEMS: usize = 20;

/// Problems for which a similar name is searched.
const MAX_HINTS: usize = 4;

/// Order of the nodes of `graph`, as indices: every node after those that write what it reads, in the order
/// of the file where there is a choice. `is_outer` tells whether an outer graph has a tensor of a name.
///
/// # Errors
///
/// Returns every tensor that is read and not written, or written twice, or the nodes of a circle.
pub(crate) fn order_of(
    graph: &Graph,
    is_outer: &dyn Fn(&str) -> bool,
) -> Result<Vec<usize>, Vec<String>> {
    let inputs = graph.inputs.iter().map(|port| &*port.name);
    let given = inputs.chain(graph.initializers.iter().map(|tensor| &*tensor.name));
    let outputs = graph.outputs.iter().map(|port| &*port.name);
    order(&graph.nodes, given, outputs, is_outer)
}

/// Like [`order_of`] for the nodes of a graph or function whose inputs and constants are `given`.
pub(crate) fn order<'a>(
    nodes: &'a [Node],
    given: impl Iterator<Item = &'a str>,
    outputs: impl Iterator<Item = &'a str>,
    is_outer: &dyn Fn(&str) -> bool,
) -> Result<Vec<usize>, Vec<String>> {
    let given: HashSet<&str> = given.collect();
    let mut problems = Vec::new();
    let writers = writers(nodes, &given, &mut problems);
    let mut readers: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    let mut missing = vec![0_usize; nodes.len()];
    for (index, node) in nodes.iter().enumerate() {
        for name in reads(node) {
            match writers.get(name) {
                Some(&writer) => {
                    readers[writer].push(index);
                    missing[index] += 1;
                }
                None if given.contains(name) || is_outer(name) => {}
                None => {
                    let hint = hint(name, &given, &writers, problems.len());
                    let (reader, name) = (node.label(), in_line(name));
                    problems.push(format!("{reader} reads `{name}`, which nothing writes{hint}"));
                }
            }
        }
    }
    for name in outputs {
        if !writers.contains_key(name) && !given.contains(name) && !is_outer(name) {
            let hint = hint(name, &given, &writers, problems.len());
            let name = in_line(name);
            problems.push(format!("nothing writes the output `{name}`{hint}"));
        }
    }
    let order = walk(&readers, &mut missing);
    if order.len() < nodes.len() {
        problems.push(circle(nodes, &writers, &missing));
    }
    let more = problems.len().saturating_sub(MAX_PROBLEMS);
    if more > 0 {
        problems.truncate(MAX_PROBLEMS);
        problems.push(format!("{more} more tensors are not written, or written twice"));
    }
    if problems.is_empty() { Ok(order) } else { Err(problems) }
}

/// The node that writes each tensor.
fn writers<'a>(
    nodes: &'a [Node],
    given: &HashSet<&str>,
    problems: &mut Vec<String>,
) -> HashMap<&'a str, usize> {
    let mut writers = HashMap::new();
    for (index, node) in nodes.iter().enumerate() {
        for name in node.outputs.iter().map(|name| &**name).filter(|name| !name.is_empty()) {
            if given.contains(name) {
                let tensor = in_line(name);
                problems.push(format!(
                    "{} writes `{tensor}`, which is an input or a constant",
                    node.label()
                ));
            } else if let Some(first) = writers.insert(name, index) {
                let (first, tensor) = (nodes[first].label(), in_line(name));
                problems.push(format!(
                    "`{tensor}` is written twice, by {first} and by {}",
                    node.label()
                ));
            }
        }
    }
    writers
}

/// Names of the tensors that a node reads, with those that its graphs read of the graph around them.
pub(crate) fn reads(node: &Node) -> Vec<&str> {
    let mut names: Vec<&str> =
        node.inputs.iter().map(|name| &**name).filter(|name| !name.is_empty()).collect();
    for graph in graphs(node) {
        outer_reads(graph, &mut names);
    }
    names
}

fn graphs(node: &Node) -> impl Iterator<Item = &Graph> {
    node.attributes.iter().filter_map(|(_, attribute)| match attribute {
        Attribute::Graph(graph) => Some(graph),
        _ => None,
    })
}

/// Adds what `graph` reads and does not have itself to `names`.
fn outer_reads<'a>(graph: &'a Graph, names: &mut Vec<&'a str>) {
    let inputs = graph.inputs.iter().map(|port| &port.name);
    let initializers = graph.initializers.iter().map(|tensor| &tensor.name);
    let written = graph.nodes.iter().flat_map(|node| &node.outputs);
    let own: HashSet<&str> =
        inputs.chain(initializers).chain(written).map(|name| &**name).collect();
    let read = graph.nodes.iter().flat_map(reads);
    let outputs = graph.outputs.iter().map(|port| &*port.name);
    let mut seen = HashSet::new();
    names.extend(read.chain(outputs).filter(|name| !own.contains(name) && seen.insert(*name)));
}

/// Order of Kahn: of the nodes that miss no input, the first of the file is next.
fn walk(readers: &[Vec<usize>], missing: &mut [usize]) -> Vec<usize> {
    let is_ready = |(index, count): (usize, &usize)| (*count == 0).then_some(Reverse(index));
    let mut ready: BinaryHeap<_> = missing.iter().enumerate().filter_map(is_ready).collect();
    let mut order = Vec::with_capacity(missing.len());
    while let Some(Reverse(index)) = ready.pop() {
        order.push(index);
        for &reader in &readers[index] {
            missing[reader] -= 1;
            if missing[reader] == 0 {
                ready.push(Reverse(reader));
            }
        }
    }
    order
}

/// A circle among the nodes that still miss inputs: going from each to one that it waits for ends in one.
fn circle(nodes: &[Node], writers: &HashMap<&str, usize>, missing: &[usize]) -> String {
    let waits_for = |index: usize| {
        let writers =
            reads(&nodes[index]).into_iter().filter_map(|name| writers.get(name).copied());
        writers.into_iter().find(|writer| missing[*writer] > 0)
    };
    let mut place = HashMap::new();
    let mut path = Vec::new();
    let mut next = missing.iter().position(|count| *count > 0);
    while let Some(index) = next {
        if let Some(first) = place.insert(index, path.len()) {
            path.drain(..first);
            break;
        }
        path.push(index);
        next = waits_for(index);
    }
    // The path was followed against the edges.
    let labels = path.iter().rev().take(MAX_LISTED).map(|&index| nodes[index].label());
    let mut listed = labels.collect::<Vec<_>>().join(", ");
    if path.len() > MAX_LISTED {
        listed += &format!(", and {} more", path.len() - MAX_LISTED);
    }
    format!("nodes that wait for each other in a circle: {listed}")
}

/// Words for the known name that is most similar to `name`, for the first problems alone: all names are
/// compared.
fn hint(
    name: &str,
    given: &HashSet<&str>,
    writers: &HashMap<&str, usize>,
    problems: usize,
) -> String {
    if problems >= MAX_HINTS {
        return String::new();
    }
    let mut known: Vec<&str> = given.iter().chain(writers.keys()).copied().collect();
    known.sort_unstable();
    let near = nearest(name, known);
    near.map_or(String::new(), |near| format!("; did you mean `{}`?", in_line(near)))
}
