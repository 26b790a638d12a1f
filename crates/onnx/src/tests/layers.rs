//! Layers of small graphs, by hand.

use super::{from, graph, lines, node, problem, read, sources};
use crate::onnx_files::{Function, Graph, INT64, Model, Node, Tensor};
use crate::{Branch, Options};

/// A 3x3 convolution of 4 channels to 8, of `input`.
fn conv(input: &str, output: &str) -> Node {
    node("Conv", &[input, "w"], output).ints("pads", &[1, 1, 1, 1])
}

fn image() -> Graph {
    from(&[1, 4, 6, 5]).weight("w", &[8, 4, 3, 3])
}

const CONV: &str = "conv: {k: 8, c: 4, y: 6, x: 5, r: 3, s: 3, pad: 1}";

/// (256 + 1 - 3) / 2 + 1 = 128 rows; 32 x 128 x 128 x 27 = 14,155,776.
#[test]
fn padding_is_before_and_after() {
    let strided =
        node("Conv", &["x", "w"], "y").ints("strides", &[2, 2]).ints("pads", &[0, 0, 1, 1]);
    let imported = graph(from(&[1, 3, 256, 256]).weight("w", &[32, 3, 3, 3]).node(strided));
    let expected = "conv: {k: 32, c: 3, y: 256, x: 256, r: 3, s: 3, stride: 2, pad: [0, 1, 0, 1]}";
    assert_eq!(lines(&imported), [expected]);
    assert_eq!((imported.network.macs(), imported.network.weights()), (14_155_776, 864));
}

/// 12 x 26 x 34 x 3 x 9 = 286,416.
#[test]
fn groups_and_dilation_are_kept() {
    let dilated = node("Conv", &["x", "w"], "y").int("group", 3).ints("dilations", &[2, 3]);
    let dilated = dilated.ints("pads", &[2, 3, 2, 3]);
    let imported = graph(from(&[1, 9, 26, 34]).weight("w", &[12, 3, 3, 3]).node(dilated));
    let expected = "conv: {k: 12, c: 9, y: 26, x: 34, r: 3, s: 3, dilation_y: 2, dilation_x: 3, groups: 3, \
                    pad: [2, 2, 3, 3]}";
    assert_eq!(lines(&imported), [expected]);
    assert_eq!(imported.network.macs(), 286_416);
}

#[test]
fn a_group_for_each_channel_is_depthwise_and_one_axis_is_rows() {
    let deep = node("Conv", &["x", "w"], "y").int("group", 4);
    let imported = graph(from(&[1, 4, 9]).weight("w", &[4, 1, 3]).node(deep));
    assert_eq!(lines(&imported), ["dwconv: {c: 4, y: 9, x: 1, r: 3, s: 1}"]);
}

/// 39 x 51 pairs; 9 x 2 x 1,989 = 35,802.
#[test]
fn a_transposed_convolution_counts_pairs_that_meet() {
    let node = node("ConvTranspose", &["x", "w"], "y").int("group", 3).ints("strides", &[2, 2]);
    let node = node.ints("pads", &[1, 1, 1, 1]).ints("output_padding", &[1, 1]);
    let imported = graph(from(&[1, 6, 13, 17]).weight("w", &[6, 3, 3, 3]).node(node));
    assert_eq!(imported.network.macs(), 35_802);
    let written = imported.network.layers()[0].written().expect("a tensor");
    assert_eq!(written.extents(), [1, 9, 26, 34]);
    // The row has the padding of the node, not what is left of the crop.
    assert_eq!(imported.rows[0].padding.bottom, 1);
}

#[test]
fn padding_before_a_convolution_is_taken_over_if_it_is_zeros() {
    let pad = |mode: &str| {
        let pad = node("Pad", &["x", "pads"], "p").text("mode", mode);
        let graph = image().ints("pads", &[0, 0, 1, 2, 0, 0, 0, 1]).node(pad);
        lines(&super::graph(graph.node(node("Conv", &["p", "w"], "y"))))
    };
    assert_eq!(pad("constant"), ["conv: {k: 8, c: 4, y: 6, x: 5, r: 3, s: 3, pad: [1, 0, 2, 1]}"]);
    assert_eq!(
        pad("reflect"),
        ["concat: {k: 4, y: 7, x: 8}", "conv: {k: 8, c: 4, y: 7, x: 8, r: 3, s: 3}"]
    );
}

#[test]
fn biases_normalisations_and_activations_are_no_layers() {
    let graph = image()
        .weight("b", &[8])
        .weight("scale", &[8, 1, 1])
        .weight("shift", &[1, 8, 1, 1])
        .node(node("Conv", &["x", "w", "b"], "c").ints("pads", &[1, 1, 1, 1]))
        .node(node("BatchNormalization", &["c", "b", "b", "b", "b"], "n"))
        .node(node("Mul", &["n", "scale"], "m"))
        .node(node("Add", &["m", "shift"], "a"))
        .node(node("Sigmoid", &["a"], "s"))
        .node(node("Mul", &["a", "s"], "silu"))
        .node(node("Relu", &["silu"], "y"));
    let imported = super::graph(graph);
    assert_eq!(lines(&imported), [CONV]);
    // Two batch normalisations of 8 channels; 8 biases, 2 x 8, and 8 and 8 of scale and shift.
    assert_eq!((imported.batch_norm_channels, imported.other_parameters), (16, 40));
}

#[test]
fn a_normalisation_after_an_activation_stays() {
    let norm = node("BatchNormalization", &["r", "b", "b", "b", "b"], "y");
    let graph = image().weight("b", &[8]).node(conv("x", "c")).node(node("Relu", &["c"], "r"));
    assert_eq!(lines(&super::graph(graph.node(norm))), [CONV, "batch_norm: {k: 8, y: 6, x: 5}"]);
    let read_twice = image()
        .weight("b", &[8])
        .node(conv("x", "c"))
        .node(node("BatchNormalization", &["c", "b", "b", "b", "b"], "n"))
        .node(node("Add", &["c", "n"], "y"));
    assert_eq!(lines(&super::graph(read_twice))[1], "batch_norm: {k: 8, y: 6, x: 5}");
}

/// Rows and features; a mask of zeros folds by no rule and is a sum.
#[test]
fn attention_is_products_and_a_softmax() {
    let matrix = |name: &str, output: &str| node("MatMul", &["x", name], output);
    let heads = |input: &str, output: &str, order: &[i64]| {
        let split = format!("{output}_split");
        let reshape = Node::new("Reshape", &[input, "heads"], &[&split]);
        (reshape, Node::new("Transpose", &[&split], &[output]).ints("perm", order))
    };
    let mut graph = from(&[1, 384, 512])
        .weight("q", &[512, 128])
        .weight("k", &[512, 128])
        .weight("v", &[512, 128])
        .weight("o", &[128, 512])
        .ints("heads", &[1, 384, 4, 32])
        .ints("rows", &[1, 384, 128])
        .constant(Tensor::floats("scale", &[5.0]));
    for (name, order) in [("q", [0, 2, 1, 3]), ("k", [0, 2, 3, 1]), ("v", [0, 2, 1, 3])] {
        let product = format!("{name}p");
        let (reshape, transpose) = heads(&product, &format!("{name}h"), &order);
        graph = graph.node(matrix(name, &product)).node(reshape).node(transpose);
    }
    let graph = graph
        .node(node("MatMul", &["qh", "kh"], "scores"))
        .node(node("Div", &["scores", "scale"], "scaled"))
        .node(node("Softmax", &["scaled"], "weights"))
        .node(node("MatMul", &["weights", "vh"], "values"))
        .node(node("Transpose", &["values"], "moved").ints("perm", &[0, 2, 1, 3]))
        .node(node("Reshape", &["moved", "rows"], "joined"))
        .node(node("MatMul", &["joined", "o"], "y"));
    let imported = super::graph(graph);
    assert_eq!(
        lines(&imported),
        [
            "matmul: {rows: 384, c: 512, k: 128}",
            "matmul: {rows: 384, c: 512, k: 128, from: 0}",
            "matmul: {rows: 384, c: 512, k: 128, from: 0}",
            "batched_matmul: {instances: 4, rows: 384, c: 32, k: 384, from: [3, 2]}",
            "softmax: {n: 4, k: 384, y: 384}",
            "batched_matmul: {instances: 4, rows: 384, c: 384, k: 32, from: [1, 3]}",
            "matmul: {rows: 384, c: 128, k: 512}",
        ]
    );
}

#[test]
fn either_operand_of_a_product_can_be_the_weight() {
    let left = from(&[1, 16, 5]).weight("w", &[24, 16]).node(node("MatMul", &["w", "x"], "y"));
    assert_eq!(lines(&super::graph(left)), ["matmul: {rows: 5, c: 16, k: 24}"]);
    let batch = from(&[3, 7, 16]).weight("w", &[3, 16, 24]).node(node("MatMul", &["x", "w"], "y"));
    assert_eq!(lines(&super::graph(batch)), ["matmul: {instances: 3, rows: 7, c: 16, k: 24}"]);
    let gemm = from(&[7, 16]).weight("w", &[24, 16]).weight("b", &[24]);
    let gemm = super::graph(gemm.node(node("Gemm", &["x", "w", "b"], "y").int("transB", 1)));
    assert_eq!(lines(&gemm), ["matmul: {rows: 7, c: 16, k: 24}"]);
    assert_eq!(gemm.other_parameters, 24);
}

/// 2,048 x 1,024 = 2^21 rows are two parts of 2^20.
#[test]
fn too_many_rows_are_parts_of_a_convolution() {
    let graph =
        from(&[2048, 1024, 16]).weight("w", &[16, 8]).node(node("MatMul", &["x", "w"], "y"));
    let imported = super::graph(graph);
    assert_eq!(lines(&imported), ["conv: {n: 2, k: 8, c: 16, y: 1048576, x: 1, r: 1, s: 1}"]);
    assert_eq!(imported.network.macs(), 1 << 28);
    let prime = from(&[1_048_583, 16]).weight("w", &[16, 8]).node(node("MatMul", &["x", "w"], "y"));
    assert!(problem(prime).contains("axis 0 of x is 1048583"));
}

/// 5 instances of 432 x 7 by 7 x 432, and 432 x 4 by a weight of 4 x 35.
#[test]
fn letters_of_einsum_are_instances_rows_and_columns() {
    let two =
        Graph::new("g").input("x", &[1i64, 432, 4]).input("z", &[1i64, 5, 432, 7]).output("y");
    let graph = two
        .weight("w", &[5, 4, 7])
        .node(node("Einsum", &["x", "w"], "h").text("equation", "bnc,hcd->bhnd"))
        .node(node("Einsum", &["h", "z"], "y").text("equation", "bhnd,bhmd->bhnm"));
    assert_eq!(
        lines(&super::graph(graph)),
        [
            "matmul: {rows: 432, c: 4, k: 35}",
            "batched_matmul: {instances: 5, rows: 432, c: 7, k: 432, from: [1, 0]}"
        ]
    );
    let dot = from(&[4, 4]).node(node("Einsum", &["x", "x"], "y").text("equation", "ii,ij->ij"));
    assert!(problem(dot).contains("a letter twice in one operand"));
}

#[test]
fn normalisations_of_many_nodes_are_one_layer() {
    let mean = |input: &str, output: &str| node("ReduceMean", &[input], output).ints("axes", &[-1]);
    let numbers = |graph: Graph| {
        graph.constant(Tensor::floats("two", &[2.0])).constant(Tensor::floats("eps", &[1e-5]))
    };
    let graph = numbers(from(&[1, 9, 16])).weight("gain", &[16]).weight("shift", &[16]);
    let graph = graph
        .node(mean("x", "mean"))
        .node(node("Sub", &["x", "mean"], "d"))
        .node(node("Pow", &["d", "two"], "square"))
        .node(mean("square", "variance"))
        .node(node("Add", &["variance", "eps"], "sum"))
        .node(node("Sqrt", &["sum"], "root"))
        .node(node("Div", &["d", "root"], "norm"))
        .node(node("Mul", &["norm", "gain"], "scaled"))
        .node(node("Add", &["scaled", "shift"], "y"));
    let imported = super::graph(graph);
    assert_eq!(lines(&imported), ["layer_norm: {k: 16, y: 9}"]);
    assert_eq!((imported.other_parameters, imported.batch_norm_channels), (32, 0));
    let square = numbers(from(&[1, 9, 16]))
        .node(node("Mul", &["x", "x"], "square"))
        .node(mean("square", "mean"))
        .node(node("Add", &["mean", "eps"], "sum"))
        .node(node("Sqrt", &["sum"], "root"))
        .node(node("Reciprocal", &["root"], "inverse"))
        .node(node("Mul", &["x", "inverse"], "y"));
    assert_eq!(lines(&super::graph(square)), ["layer_norm: {k: 16, y: 9}"]);
    // Another reader of the mean keeps every node.
    let read_twice = numbers(from(&[1, 9, 16])).output("mean").node(mean("x", "mean")).node(node(
        "Sub",
        &["x", "mean"],
        "y",
    ));
    assert_eq!(lines(&super::graph(read_twice)).len(), 2);
}

#[test]
fn quantised_weights_and_activations_have_bits() {
    let scale = |name: &str| Tensor::floats(name, &[0.5]);
    let graph = from(&[1, 4, 6, 5])
        .constant(Tensor::new("w8", 3, &[8, 4, 3, 3]))
        .constant(scale("s"))
        .constant(Tensor::new("zero", 5, &[1]).raw(&[0, 0]))
        .node(node("QuantizeLinear", &["x", "s", "zero"], "q"))
        .node(node("DequantizeLinear", &["q", "s", "zero"], "d"))
        .node(node("DequantizeLinear", &["w8", "s"], "w"))
        .node(conv("d", "y"));
    let imported = super::graph(graph);
    let text = xrsim_config::export::network(&imported.network);
    assert!(text.contains("\n  bits: {activations: 16, weights: 8}\n  layers:\n"), "{text}");
    assert_eq!(lines(&imported), [CONV]);
    let row = &imported.rows[0];
    assert_eq!((row.weight_bits, row.activation_bits), (Some(8), Some(16)));
    assert_eq!(&*imported.deviations[0], "1 layer has 8-bit weights and 16-bit activations");
}

#[test]
fn pools_round_up_if_they_are_told_to() {
    let pool = |input: &str, output: &str| {
        node("MaxPool", &[input], output).ints("kernel_shape", &[2, 2]).ints("strides", &[2, 2])
    };
    let up = from(&[1, 4, 7, 5]).node(pool("x", "y").int("ceil_mode", 1));
    assert_eq!(
        lines(&super::graph(up)),
        ["max_pool: {k: 4, y: 7, x: 5, r: 2, s: 2, stride: 2, pad: [0, 1, 0, 1]}"]
    );
    let down = from(&[1, 4, 7, 5]).node(pool("x", "y"));
    assert_eq!(lines(&super::graph(down)), ["max_pool: {k: 4, y: 7, x: 5, r: 2, s: 2, stride: 2}"]);
    let all =
        from(&[1, 4, 7, 5]).node(node("AveragePool", &["x"], "y").ints("kernel_shape", &[7, 5]));
    assert_eq!(lines(&super::graph(all)), ["global_pool: {k: 4, y: 7, x: 5}"]);
}

/// Squeeze and excitation needs no rule of its own.
#[test]
fn squeeze_and_excitation_multiplies_a_map_by_factors() {
    let graph = from(&[1, 8, 6, 5])
        .weight("a", &[2, 8, 1, 1])
        .weight("b", &[8, 2, 1, 1])
        .node(node("GlobalAveragePool", &["x"], "p"))
        .node(node("Conv", &["p", "a"], "c"))
        .node(node("Relu", &["c"], "r"))
        .node(node("Conv", &["r", "b"], "d"))
        .node(node("Sigmoid", &["d"], "s"))
        .node(node("Mul", &["x", "s"], "y"));
    assert_eq!(
        lines(&super::graph(graph)),
        [
            "global_pool: {k: 8, y: 6, x: 5}",
            "conv: {k: 2, c: 8, y: 1, x: 1, r: 1, s: 1}",
            "conv: {k: 8, c: 2, y: 1, x: 1, r: 1, s: 1}",
            "mul: {k: 8, y: 6, x: 5, from: [0, 1]}",
        ]
    );
}

#[test]
fn looked_up_rows_are_a_copy_and_their_table_parameters() {
    let graph = Graph::new("g").input_of(INT64, "ids", &[1i64, 9]).output("y");
    let graph = graph.weight("table", &[100, 16]).weight("w", &[16, 4]);
    let graph =
        graph.node(node("Gather", &["table", "ids"], "e")).node(node("MatMul", &["e", "w"], "y"));
    let imported = super::graph(graph);
    assert_eq!(lines(&imported), ["concat: {k: 16, y: 9}", "matmul: {rows: 9, c: 16, k: 4}"]);
    assert_eq!(imported.other_parameters, 1600);
}

#[test]
fn layers_that_use_weights_again_share_them() {
    let graph = from(&[1, 4, 6, 5]).weight("w", &[4, 4, 3, 3]);
    let imported = super::graph(graph.node(conv("x", "a")).node(conv("a", "y")));
    assert_eq!(imported.network.weights(), 144);
    assert!(lines(&imported)[1].ends_with("shared: true}"));
}

#[test]
fn a_convolution_of_constants_runs() {
    let graph = image().weight("c", &[1, 4, 6, 5]).node(conv("c", "a"));
    let graph = graph.node(conv("x", "b")).node(node("Add", &["a", "b"], "y"));
    let found = lines(&super::graph(graph));
    assert_eq!(found.len(), 3, "{found:?}");
    let dynamic =
        from(&[8, 4, 3, 3]).weight("d", &[1, 4, 6, 5]).node(node("Conv", &["d", "x"], "y"));
    assert!(problem(dynamic).contains("a dynamic convolution"));
}

#[test]
fn operators_that_nothing_needs_are_left_out() {
    let graph = image().weight("v", &[9, 4, 1, 1]).node(node("Conv", &["x", "v"], "unused"));
    let imported = super::graph(graph.node(conv("x", "y")));
    assert_eq!((lines(&imported), imported.counts.unused), (vec![CONV.to_string()], 1));
}

/// The trips of a loop are layers with the same weights.
#[test]
fn loops_are_written_out_and_branches_chosen() {
    let body = Graph::new("body")
        .input_of(INT64, "i", &[] as &[i64])
        .input_of(9, "go", &[] as &[i64])
        .input("state", &[1i64, 4, 6, 5])
        .output("go")
        .output("next")
        .node(conv("state", "next"));
    let network = |trips: &str| {
        from(&[1, 4, 6, 5])
            .weight("w", &[4, 4, 3, 3])
            .input_of(INT64, "n", &[1i64])
            .ints("three", &[3])
            .node(
                Node::new("Loop", &[trips, "", "x"], &["y"])
                    .named("again")
                    .graph("body", body.clone()),
            )
    };
    let imported = graph(network("three"));
    assert_eq!((imported.network.layers().len(), imported.network.weights()), (3, 144));
    assert_eq!(
        problem(network("n")),
        "again: its trips depend on data (--trips again=N, or --value n=N)"
    );
    let bytes = Model::new(network("n")).write();
    let mut options = Options::default();
    options.trips.insert("again".into(), 4);
    assert_eq!(read(&bytes, &options).expect("four trips").network.layers().len(), 4);
    let mut options = Options::default();
    options.values.insert("n".into(), vec![2]);
    assert_eq!(read(&bytes, &options).expect("two trips").network.layers().len(), 2);

    let branch =
        |weights: &str| Graph::new("b").output("z").node(node("Conv", &["x", weights], "z"));
    let condition = image().weight("v", &[8, 4, 1, 1]).input_of(9, "flag", &[] as &[i64]);
    let choose = Node::new("If", &["flag"], &["y"]).named("choose");
    let choose = choose.graph("then_branch", branch("w")).graph("else_branch", branch("v"));
    let bytes = Model::new(condition.node(choose)).write();
    let error = read(&bytes, &Options::default()).expect_err("an open branch");
    assert_eq!(error.missing, ["--branch choose=then"]);
    let mut options = Options::default();
    options.branches.insert("choose".into(), Branch::Else);
    assert_eq!(read(&bytes, &options).expect("a branch").network.weights(), 32);
    options.branches.insert("other".into(), Branch::Else);
    let error = read(&bytes, &options).expect_err("an unknown node");
    assert_eq!(error.problems, ["--branch other: no `If` is called `other`"]);
}

#[test]
fn functions_are_expanded_with_their_attributes() {
    let function = Function::new("local", "Block", &["a", "b"], &["c"])
        .attribute("stride")
        .node(node("Conv", &["a", "b"], "d").of_function("strides", "stride"))
        .node(node("Relu", &["d"], "c"));
    let call =
        node("Block", &["x", "w"], "y").domain("local").named("block").ints("stride", &[2, 1]);
    let model = Model::new(image().node(call)).opset("local", 1).function(function);
    let imported = read(&model.write(), &Options::default()).expect("a network");
    assert_eq!(lines(&imported), ["conv: {k: 8, c: 4, y: 6, x: 5, r: 3, s: 3, stride_y: 2}"]);
    assert_eq!(&*imported.rows[0].node, "block/d");
}

#[test]
fn open_axes_are_named_and_a_batch_is_one() {
    let open = |dims: &[&'static str]| {
        let graph = Graph::new("g").input("x", dims).output("y").weight("w", &[16, 8]);
        Model::new(graph.node(node("MatMul", &["x", "w"], "y"))).write()
    };
    let error = read(&open(&["rows", "features"]), &Options::default()).expect_err("open axes");
    assert_eq!(error.problems, ["axes rows, features of x are open"]);
    assert_eq!(error.missing, ["--dim rows=1", "--dim features=..."]);
    let batch = Graph::new("g").input("x", &["batch"]).output("y").node(node("Relu", &["x"], "y"));
    let error = read(&Model::new(batch).write(), &Options::default()).expect_err("no layer");
    assert_eq!(error.problems, ["no layers: nothing but activations and changes of shape"]);
    let mut options = Options::default();
    options.dims.insert("rows".into(), 5);
    options.dims.insert("features".into(), 16);
    let imported = read(&open(&["rows", "features"]), &options).expect("a network");
    assert_eq!(lines(&imported), ["matmul: {rows: 5, c: 16, k: 8}"]);
    options.dims.insert("tokens".into(), 5);
    let error = read(&open(&["rows", "features"]), &options).expect_err("an unknown axis");
    assert_eq!(error.problems, ["--dim tokens: no open axis is called `tokens`"]);
}

#[test]
fn every_unsupported_operator_is_named_at_once() {
    let graph = image()
        .node(node("DeformConv", &["x", "w", "x"], "a").named("d0"))
        .node(node("STFT", &["x"], "b").named("s0"))
        .node(node("DeformConv", &["x", "w", "x"], "y").named("d1"));
    assert_eq!(
        problem(graph),
        "cannot import: 3 nodes of 2 operators are not supported: DeformConv x2 (first: d0), STFT (s0)"
    );
}

#[test]
fn sensors_and_states_are_those_of_inputs() {
    let graph = Graph::new("g").input("x", &[1i64, 4, 6, 5]).input("past_x", &[1i64, 8, 6, 5]);
    let graph = graph.weight("w", &[8, 4, 3, 3]).output("present_x");
    let graph = graph.node(conv("x", "c")).node(node("Add", &["c", "past_x"], "present_x"));
    let bytes = Model::new(graph).write();
    let imported = read(&bytes, &Options::default()).expect("a network");
    assert!(imported.remarks[0].ends_with("--state past_x=present_x"), "{:?}", imported.remarks);
    let mut options = Options::default();
    options.sensors.insert("x".into(), "camera".into());
    options.states.insert("past_x".into(), "present_x".into());
    let imported = read(&bytes, &options).expect("a network");
    assert_eq!(imported.inputs, ["camera".into()]);
    assert!(imported.remarks.is_empty(), "{:?}", imported.remarks);
    options.states.insert("z".into(), "y".into());
    assert_eq!(read(&bytes, &options).expect_err("no such input").problems.len(), 2);
}

/// A pair of `[n, k, y, x]` and a constant of one element.
#[test]
fn constants_of_many_elements_are_summed_and_of_one_are_not() {
    let sum = |dims: &[i64]| {
        let graph = image().weight("c", dims).node(conv("x", "a")).node(node("Relu", &["a"], "r"));
        lines(&super::graph(graph.node(node("Add", &["r", "c"], "y"))))
    };
    assert_eq!(sum(&[1]), [CONV]);
    assert_eq!(sum(&[8, 1, 1]), [CONV]);
    assert_eq!(sum(&[8, 6, 5]), [CONV, "add: {k: 8, y: 6, x: 5}"]);
}

#[test]
fn an_index_of_two_axes_adds_an_axis() {
    let indices = Tensor::new("at", INT64, &[2, 2]).raw(&[0; 32]);
    let graph = image()
        .constant(indices)
        .ints("flat", &[1, -1])
        .weight("v", &[160, 3])
        .node(conv("x", "c"))
        .node(node("Gather", &["c", "at"], "g").int("axis", 2))
        .node(node("Reshape", &["g", "flat"], "r"))
        .node(node("MatMul", &["r", "v"], "y"));
    assert_eq!(lines(&super::graph(graph))[1], "matmul: {rows: 1, c: 160, k: 3, reads: slice}");
}

/// The mean is that of another tensor: nothing folds.
#[test]
fn a_normalisation_by_the_statistics_of_another_tensor_stays() {
    let mean = |input: &str, output: &str| node("ReduceMean", &[input], output).ints("axes", &[-1]);
    let graph = from(&[1, 9, 16])
        .weight("w", &[16, 16])
        .constant(Tensor::floats("two", &[2.0]))
        .constant(Tensor::floats("eps", &[1e-5]))
        .node(node("MatMul", &["x", "w"], "h"))
        .node(mean("h", "mean"))
        .node(node("Sub", &["x", "mean"], "d"))
        .node(node("Pow", &["d", "two"], "square"))
        .node(mean("square", "variance"))
        .node(node("Add", &["variance", "eps"], "sum"))
        .node(node("Sqrt", &["sum"], "root"))
        .node(node("Div", &["d", "root"], "y"));
    let found = lines(&super::graph(graph));
    // The quotient is that of the difference by its own root mean square.
    assert_eq!(found.len(), 4, "{found:?}");
    assert!(found[2].starts_with("add: {k: 16, y: 9, from: [0, 1]"), "{found:?}");
}

#[test]
fn all_trips_of_a_loop_are_sources_of_what_they_write() {
    let body = Graph::new("body")
        .input_of(INT64, "i", &[] as &[i64])
        .input_of(9, "go", &[] as &[i64])
        .input("s", &[1i64, 8])
        .output("go")
        .output("z")
        .output("all")
        .node(node("MatMul", &["s", "w"], "z"))
        .node(node("Relu", &["z"], "all"));
    let graph = from(&[1, 8])
        .weight("w", &[8, 8])
        .weight("v", &[8, 4])
        .ints("n", &[3])
        .node(Node::new("Loop", &["n", "", "x"], &["last", "stack"]).graph("body", body))
        .node(node("MatMul", &["stack", "v"], "y"));
    let imported = super::graph(graph);
    assert_eq!(sources(&imported)[3], [3, 2, 1]);
    assert_eq!(imported.network.layers()[3].operator.macs(), 3 * 8 * 4);
}

/// Both branches return a shape, and the shapes differ.
#[test]
fn branches_of_different_constants_are_a_question() {
    let branch = |shape: &[i64]| Graph::new("b").ints("s", shape).output("s");
    let choose = Node::new("If", &["flag"], &["shape"]).named("choose");
    let choose = choose.graph("then_branch", branch(&[4, 4])).graph("else_branch", branch(&[2, 8]));
    let graph = from(&[16]).input_of(9, "flag", &[] as &[i64]).weight("v", &[8, 3]).node(choose);
    let graph = graph.node(node("Reshape", &["x", "shape"], "r")).node(node("Relu", &["r"], "y"));
    assert_eq!(problem(graph), "choose: which branch runs depends on data");
}

#[test]
fn factors_of_columns_are_no_normalisation() {
    let graph = image().weight("f", &[1, 1, 1, 5]).node(conv("x", "c"));
    let graph = graph.node(node("Mul", &["c", "f"], "y"));
    assert_eq!(lines(&super::graph(graph)), [CONV, "mul: {k: 8, y: 6, x: 5}"]);
}

#[test]
fn a_table_that_is_also_a_weight_counts_once() {
    let graph = Graph::new("g").input_of(INT64, "ids", &[1i64, 9]).output("y");
    let graph = graph.weight("table", &[100, 16]);
    let graph = graph
        .node(node("Gather", &["table", "ids"], "e"))
        .node(node("Transpose", &["table"], "t").ints("perm", &[1, 0]))
        .node(node("MatMul", &["e", "t"], "y"));
    let imported = super::graph(graph);
    assert_eq!(imported.network.weights() + imported.other_parameters, 1600);
}

#[test]
fn what_only_a_shape_needs_does_not_run() {
    let graph = image()
        .node(conv("x", "c"))
        .node(node("Shape", &["c"], "s"))
        .node(conv("x", "d"))
        .node(node("Reshape", &["d", "s"], "y"));
    assert_eq!(lines(&super::graph(graph)), [CONV]);
}

#[test]
fn a_scale_that_data_decide_is_no_layer() {
    let graph = image()
        .node(Node::new("DynamicQuantizeLinear", &["x"], &["q", "scale", "zero"]))
        .constant(Tensor::new("w8", 2, &[8, 4, 3, 3]))
        .node(node("ConvInteger", &["q", "w8", "zero"], "c").ints("pads", &[1, 1, 1, 1]))
        .node(node("Cast", &["c"], "f").int("to", 1))
        .node(node("Mul", &["f", "scale"], "y"));
    assert_eq!(lines(&super::graph(graph)), [CONV]);
}
