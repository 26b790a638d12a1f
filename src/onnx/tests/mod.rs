//! Tests of imports.

mod corpus;
mod layers;
mod properties;

use super::onnx_files::{Graph, Model};
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
    let text = crate::config::export::network(&imported.network);
    let layers = text.split_once("layers:\n").expect("layers").1;
    layers.lines().map(|line| line.trim().trim_start_matches("- ").to_string()).collect()
}
