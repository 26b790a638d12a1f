//! Recurrent networks, by hand.

use super::{from, lines, node, sources};
use crate::onnx_files::Node;

/// Two directions of 5 steps: the first with weights, the others with the same.
#[test]
fn a_recurrent_network_is_a_product_for_each_step() {
    let lstm = Node::new("LSTM", &["x", "w", "r", "b"], &["", "y", ""]);
    let lstm = lstm.int("hidden_size", 16).text("direction", "bidirectional");
    let graph = from(&[5, 2, 8]).weight("w", &[2, 64, 8]).weight("r", &[2, 64, 16]);
    let imported = super::graph(graph.weight("b", &[2, 128]).node(lstm));
    let first = "matmul: {rows: 2, c: 24, k: 64, from: 0}";
    let next = "matmul: {rows: 2, c: 24, k: 64, from: [0, 1], reads: [whole, slice], \
                shared: true}";
    let found = lines(&imported);
    assert_eq!(found[..1], ["matmul: {rows: 2, c: 24, k: 64}"], "{found:?}");
    assert!(found.contains(&first.to_string()) && found.contains(&next.to_string()), "{found:?}");
    assert_eq!(imported.network.macs(), 10 * 2 * 24 * 64);
    // 2 x (16 + 8) x 64 weights and 2 x 128 biases.
    assert_eq!((imported.network.weights(), imported.other_parameters), (2 * 24 * 64, 256));
}

/// Exporters write W and R as rows that are put together: (16 + 8) x 64 numbers that the file has in parts.
#[test]
fn computed_weights_of_a_recurrent_network_are_other_parameters() {
    let graph = from(&[5, 2, 8])
        .weight("w1", &[1, 32, 8])
        .weight("w2", &[1, 32, 8])
        .weight("r1", &[1, 32, 16])
        .weight("r2", &[1, 32, 16])
        .node(node("Concat", &["w1", "w2"], "w").int("axis", 1))
        .node(node("Concat", &["r1", "r2"], "r").int("axis", 1))
        .node(Node::new("LSTM", &["x", "w", "r"], &["", "y"]).int("hidden_size", 16));
    let imported = super::graph(graph);
    assert_eq!((imported.network.weights(), imported.other_parameters), (0, 24 * 64));
    assert_eq!(imported.network.macs(), 5 * 2 * 24 * 64);
}

#[test]
fn a_recurrent_network_reads_its_first_state() {
    let gru = Node::new("GRU", &["x", "w", "r", "", "", "h"], &["", "y"]).int("hidden_size", 16);
    let graph =
        from(&[3, 1, 8]).input("s", &[1i64, 8]).weight("v", &[8, 16]).ints("state", &[1, 1, 16]);
    let graph = graph
        .weight("w", &[1, 48, 8])
        .weight("r", &[1, 48, 16])
        .node(node("MatMul", &["s", "v"], "m"))
        .node(node("Reshape", &["m", "state"], "h"));
    assert_eq!(sources(&super::graph(graph.node(gru)))[1], [0, 1]);
}
