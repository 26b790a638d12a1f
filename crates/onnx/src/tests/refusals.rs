//! Files that are refused, and questions that one option answers.

use super::super::onnx_files::{BOOL, Fields, Function, Graph, Model, Node, Tensor};
use super::{Options, file, from, node, read};

/// Message of a file that is not read.
fn refused(graph: Graph) -> String {
    file::parse(&Model::new(graph).write()).expect_err("it is refused").to_string()
}

fn product() -> Node {
    node("MatMul", &["x", "w"], "y")
}

#[test]
fn two_constants_of_one_name_are_refused_in_any_order_and_graph() {
    let base = || from(&[4, 8]).node(product());
    let message = refused(base().weight("w", &[8, 16]).weight("w", &[8, 8]));
    assert_eq!(message, "two constants are called `w`, one of 8x16 and one of 8x8");
    let message = refused(base().weight("w", &[8, 8]).weight("w", &[8, 16]));
    assert_eq!(message, "two constants are called `w`, one of 8x8 and one of 8x16");
    assert!(refused(base().weight("w", &[8, 8]).weight("w", &[8, 8])).contains("`w`"));
    // A sparse constant stands in another list.
    let values = Tensor::new("w", 1, &[1]).raw(&1.0f32.to_le_bytes());
    let indices = Tensor::ints("", &[0]);
    let sparse = Fields::default().bytes(1, values.0.0).bytes(2, indices.0.0).packed(3, &[8, 4]);
    let mut with_sparse = base().weight("w", &[8, 8]);
    with_sparse.0 = with_sparse.0.bytes(15, sparse.0);
    let message = refused(with_sparse);
    assert_eq!(message, "two constants are called `w`, one of 8x8 and one of 8x4");
    // A graph within a node, even one that never runs.
    let branch = || Graph::new("b").node(product()).output("y");
    let other = branch().weight("w", &[8, 8]).weight("w", &[8, 16]);
    let both = Node::new("If", &["c"], &["y"])
        .graph("then_branch", branch().weight("w", &[8, 8]))
        .graph("else_branch", other);
    let message = refused(from(&[4, 8]).constant(Tensor::new("c", BOOL, &[]).raw(&[1])).node(both));
    assert!(message.starts_with("two constants are called `w`"), "{message}");
    let twice = Graph::new("g").input("x", &[1, 8]).input("x", &[4, 8]).output("y");
    assert_eq!(refused(twice.weight("w", &[8, 8]).node(product())), "two inputs are called `x`");
    // Old files have constants among their inputs, too.
    let listed = from(&[4, 8]).input("w", &[8, 8]).weight("w", &[8, 8]).node(product());
    assert!(read(&Model::new(listed).write(), &Options::default()).is_ok());
}

/// Two extents that data decide.
fn open() -> Vec<u8> {
    let graph =
        from(&[4, 8]).node(node("NonZero", &["x"], "first")).node(node("NonZero", &["first"], "y"));
    Model::new(graph).write()
}

#[test]
fn one_option_bounds_every_extent_that_data_decide() {
    let missing = read(&open(), &Options::default()).expect_err("data decide").missing;
    assert_eq!(missing, ["--bound first=N", "--bound y=N"]);
    let bounds = |bounds: &[(&str, u64)]| Options {
        bounds: bounds.iter().map(|(name, bound)| (name.to_string(), *bound)).collect(),
        ..Options::default()
    };
    let all = read(&open(), &bounds(&[("*", 5)])).expect("all are bounded");
    let each = read(&open(), &bounds(&[("first", 5), ("y", 5)])).expect("each is bounded");
    assert_eq!(super::lines(&all), super::lines(&each));
    let own = read(&open(), &bounds(&[("*", 5), ("first", 2)])).expect("all are bounded");
    assert_ne!(super::lines(&all), super::lines(&own));
    let closed = Model::new(from(&[4, 8]).node(node("Relu", &["x"], "y"))).write();
    let error = read(&closed, &bounds(&[("*", 5)])).expect_err("no extent is open");
    assert_eq!(error.problems, ["--bound *: data decide no extent"]);
}

#[test]
fn a_small_file_that_becomes_many_nodes_is_refused_soon() {
    let calls = |of: &str| {
        let function = Function::new("f", &format!("f{of}"), &["x"], &["x9"]);
        let inner = if of == "0" {
            ("", "Relu".to_string())
        } else {
            ("f", format!("f{}", of.parse::<u8>().expect("a digit") - 1))
        };
        (0..10).fold(function, |function, at| {
            let input = if at == 0 { "x".to_string() } else { format!("x{}", at - 1) };
            let call = Node::new(&inner.1, &[&*input], &[&*format!("x{at}")]).domain(inner.0);
            function.node(call)
        })
    };
    let graph = from(&[4, 8]).node(Node::new("f6", &["x"], &["y"]).domain("f"));
    let model = Model::new(graph).opset("f", 1);
    let model = (0..7).fold(model, |model, of| model.function(calls(&of.to_string())));
    let error = read(&model.write(), &Options::default()).expect_err("ten million nodes");
    assert_eq!(
        error.problems,
        ["more than 200000 nodes run beyond the 1 of the file, loops and functions written out"]
    );
}
