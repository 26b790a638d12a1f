//! Properties of imports: what must not matter, and what must not do harm.

use std::collections::{BTreeMap, HashMap};

use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::corpus::{answered, corpus, options, sorted_products, table, vectors};
use super::read;
use crate::graph::{Attribute, Graph, Model, Node};
use crate::onnx_files::{self as files, INT64, Tensor};
use crate::{Imported, Options, file, import};

/// Small networks of every family: an image, attention, a recurrence, control flow, functions.
fn own() -> Vec<(String, Vec<u8>)> {
    let node = |operator: &str, inputs: &[&str], output: &str| {
        files::Node::new(operator, inputs, &[output]).named(output)
    };
    let image = files::Graph::new("image")
        .input("x", &[files::Dim::from("batch"), 3.into(), 16.into(), 16.into()])
        .output("y")
        .weight("a", &[8, 3, 3, 3])
        .weight("b", &[8, 1, 3, 3])
        .weight("c", &[10, 8])
        .weight("n", &[8])
        .node(node("Conv", &["x", "a"], "t0").ints("strides", &[2, 2]))
        .node(node("BatchNormalization", &["t0", "n", "n", "n", "n"], "t1"))
        .node(node("Sigmoid", &["t1"], "t2"))
        .node(node("Mul", &["t1", "t2"], "t3"))
        .node(node("Conv", &["t3", "b"], "t4").int("group", 8).ints("pads", &[1; 4]))
        .node(node("Add", &["t3", "t4"], "t5"))
        .node(node("GlobalAveragePool", &["t5"], "t6"))
        .node(node("Flatten", &["t6"], "t7"))
        .node(node("Gemm", &["t7", "c"], "y").int("transB", 1));
    let tokens = files::Graph::new("tokens")
        .input("x", &[files::Dim::from("batch"), 9.into(), 16.into()])
        .output("y")
        .weight("w", &[16, 48])
        .ints("three", &[0, 9, 3, 16])
        .ints("first", &[0])
        .node(node("MatMul", &["x", "w"], "t0"))
        .node(node("Reshape", &["t0", "three"], "t1"))
        .node(node("Transpose", &["t1"], "t2").ints("perm", &[0, 2, 1, 3]))
        .node(node("Transpose", &["t2"], "t3").ints("perm", &[0, 1, 3, 2]))
        .node(node("MatMul", &["t2", "t3"], "t4"))
        .node(node("Softmax", &["t4"], "t5"))
        .node(node("MatMul", &["t5", "t2"], "y"));
    let steps = files::Graph::new("steps")
        .input("x", &[7i64, 1, 8])
        .output("y")
        .weight("w", &[1, 64, 8])
        .weight("r", &[1, 64, 16])
        .node(files::Node::new("LSTM", &["x", "w", "r"], &["y"]).int("hidden_size", 16));
    let body = files::Graph::new("body")
        .input_of(INT64, "i", &[] as &[i64])
        .input_of(9, "go", &[] as &[i64])
        .input("s", &[1i64, 8])
        .output("go")
        .output("z")
        .node(node("MatMul", &["s", "w"], "z"));
    let again = files::Graph::new("again")
        .input("x", &[1i64, 8])
        .output("y")
        .weight("w", &[8, 8])
        .constant(Tensor::ints("n", &[5]))
        .node(files::Node::new("Loop", &["n", "", "x"], &["y"]).graph("body", body));
    let graphs = [("image", image), ("tokens", tokens), ("steps", steps), ("again", again)];
    graphs.map(|(name, graph)| (name.into(), files::Model::new(graph).write())).into()
}

/// Files of our own, and those of the corpus that can be imported, with their options; without optimisation, those
/// of the corpus that are not long.
fn all() -> Vec<(String, Vec<u8>, Options)> {
    let mut all: Vec<_> =
        own().into_iter().map(|(name, bytes)| (name, bytes, Options::default())).collect();
    let Some(folder) = corpus() else { return all };
    for row in table(&folder.join("expected.csv")) {
        let path = folder.join(&row["file"]);
        let options = answered(&path, options(&row["dims"]));
        if row["file"] != "tv_video_r3d_18.onnx" {
            all.push((row["file"].clone(), std::fs::read(&path).expect("a file"), options));
        }
    }
    if cfg!(debug_assertions) {
        all.retain(|(_, bytes, _)| bytes.len() < 100_000);
    }
    all
}

/// Everything but the order of branches.
fn sums(imported: &Imported) -> (Vec<String>, BTreeMap<&'static str, usize>, [u64; 3], usize) {
    let network = &imported.network;
    let totals = [network.weights(), imported.other_parameters, imported.batch_norm_channels];
    (sorted_products(network), vectors(network), totals, network.layers().len())
}

fn of_model(model: &Model, options: &Options) -> Imported {
    import::of_model(model, "net", options, None).expect("a network")
}

#[test]
fn the_order_of_nodes_and_stated_shapes_do_not_matter() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    for (name, bytes, options) in all() {
        let (mut model, _) = file::parse(&bytes).expect("a legal file");
        let expected = sums(&of_model(&model, &options));
        model.graph.nodes.shuffle(&mut random);
        model.graph.initializers.shuffle(&mut random);
        assert_eq!(sums(&of_model(&model, &options)), expected, "{name}, shuffled");
        model.graph.stated.clear();
        assert_eq!(sums(&of_model(&model, &options)), expected, "{name}, without shapes");
    }
}

/// Other names of all inner tensors, in graphs inside of graphs, too. Names of inputs stay, as options use
/// them.
#[test]
fn names_of_tensors_do_not_matter() {
    fn rename(graph: &mut Graph, names: &mut HashMap<Box<str>, Box<str>>) {
        fn new(name: &mut Box<str>, names: &mut HashMap<Box<str>, Box<str>>) {
            let next = format!("r{}", names.len()).into();
            if !name.is_empty() {
                *name = names.entry(name.clone()).or_insert(next).clone();
            }
        }
        graph.initializers.iter_mut().for_each(|tensor| new(&mut tensor.name, names));
        let ports = graph.inputs.iter_mut().chain(&mut graph.outputs).chain(&mut graph.stated);
        ports.for_each(|port| new(&mut port.name, names));
        for Node { inputs, outputs, attributes, .. } in &mut graph.nodes {
            inputs.iter_mut().chain(outputs).for_each(|name| new(name, names));
            for (_, attribute) in attributes {
                if let Attribute::Graph(graph) = attribute {
                    rename(graph, names);
                }
            }
        }
    }
    for (name, bytes, options) in all() {
        let (mut model, _) = file::parse(&bytes).expect("a legal file");
        let before = of_model(&model, &options);
        // Options call nodes by what they write if they have no name.
        if options != Options::default() && !options.bounds.is_empty() {
            continue;
        }
        let inputs = model.graph.inputs.iter().map(|port| (port.name.clone(), port.name.clone()));
        let mut names = inputs.collect();
        rename(&mut model.graph, &mut names);
        let after = of_model(&model, &options);
        assert_eq!(after.network, before.network, "{name}");
        assert_eq!(sums(&after), sums(&before), "{name}");
    }
}

/// Eight inputs at once take eight times the multiply-accumulates, and the same weights.
#[test]
fn an_open_batch_multiplies_the_work_and_not_the_weights() {
    let mut found = 0;
    for (name, bytes, mut options) in all() {
        let is_open = |name: &str| name.starts_with("batch");
        let (model, _) = file::parse(&bytes).expect("a legal file");
        let dims = model.graph.inputs.iter().flat_map(|port| port.dims.iter().flatten());
        let batch = dims.into_iter().find_map(|dim| match dim {
            crate::graph::Dim::Named(name) if is_open(name) => Some(name.to_string()),
            _ => None,
        });
        let Some(batch) = batch else { continue };
        let mut of = |n: u64| {
            options.dims.insert(batch.clone(), n);
            of_model(&model, &options).network
        };
        let (one, eight) = (of(1), of(8));
        assert_eq!(eight.macs(), 8 * one.macs(), "{name}");
        assert_eq!(eight.weights(), one.weights(), "{name}");
        found += 1;
    }
    assert!(found >= 2);
}

/// Truncated and damaged files end in a network or an error.
#[test]
fn damaged_files_do_no_harm() {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    for (name, bytes, options) in all() {
        let (n_cuts, n_damages) = if cfg!(debug_assertions) { (10, 3) } else { (40, 10) };
        let step = (bytes.len() / n_cuts).max(97);
        for end in (0..bytes.len()).step_by(step) {
            if let Ok((model, _)) = file::parse(&bytes[..end]) {
                let _ = import::of_model(&model, &name, &options, None);
            }
        }
        for _ in 0..n_damages {
            let mut bytes = bytes.clone();
            for _ in 0..random.random_range(1..4) {
                let at = random.random_range(0..bytes.len());
                bytes[at] = random.random();
            }
            if let Ok((model, _)) = file::parse(&bytes) {
                let _ = import::of_model(&model, &name, &options, None);
            }
        }
    }
}

/// A chain of 50,000 convolutions is a network, one of 50,001 is not.
#[test]
fn fifty_thousand_layers_are_the_most() {
    let chain = |n: usize| {
        let mut graph =
            files::Graph::new("g").input("t0", &[1i64, 4, 6, 5]).weight("w", &[4, 4, 1, 1]);
        graph = graph.output(&format!("t{n}"));
        for index in 0..n {
            let (input, output) = (format!("t{index}"), format!("t{}", index + 1));
            graph = graph.node(files::Node::new("Conv", &[&input, "w"], &[&output]));
        }
        read(&files::Model::new(graph).write(), &Options::default())
    };
    assert_eq!(chain(50_000).expect("a network").network.layers().len(), 50_000);
    let error = chain(50_001).expect_err("too many layers");
    assert_eq!(error.problems, ["50001 layers; a network has at most 50000"]);
}
