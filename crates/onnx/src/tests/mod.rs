//! Tests of imports.

mod corpus;
mod layers;
mod properties;
mod recurrent;
mod refusals;

use super::onnx_files::{Graph, Model, Node};
use super::{ImportError, Imported, Options, file, import};

/// Imports a file of these bytes.
fn read(bytes: &[u8], options: &Options) -> Result<Imported, ImportError> {
    let (model, _) = file::parse(bytes).expect("a legal file");
    import::of_model(&model, "net", options, None)
}

/// Imports a graph.
fn graph(graph: Graph) -> Imported {
    read(&Model::new(graph).write(), &Options::default()).expect("a network")
}

/// The first problem of a graph.
fn problem(graph: Graph) -> String {
    let error = read(&Model::new(graph).write(), &Options::default()).expect_err("a problem");
    error.problems[0].clone()
}

/// The layers of a network, as a file has them.
fn lines(imported: &Imported) -> Vec<String> {
    let text = xrsim_config::export::network(&imported.network);
    let layers = text.split_once("layers:\n").expect("layers").1;
    layers.lines().map(|line| line.trim().trim_start_matches("- ").to_string()).collect()
}

/// A graph from `x` of this shape to `y`.
fn from(dims: &[i64]) -> Graph {
    Graph::new("g").input("x", dims).output("y")
}

fn node(operator: &str, inputs: &[&str], output: &str) -> Node {
    Node::new(operator, inputs, &[output])
}

/// Numbers of layers that each layer reads, 0 for the outside.
fn sources(imported: &Imported) -> Vec<Vec<u32>> {
    let back = |source: &xrsim_model::model::Source| match *source {
        xrsim_model::model::Source::Outside => 0,
        xrsim_model::model::Source::Back(back) => back,
    };
    let layers = imported.network.layers().iter();
    layers.map(|layer| layer.sources.iter().map(back).collect()).collect()
}
