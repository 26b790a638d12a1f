//! Messages for bad networks: layers, operators and their sources.

use super::check;

#[test]
fn networks() {
    check(
        "network:
  name: N
  nmae: M
  name: N
  quality: {metric: m, target: 0, better: more}
  layers:
    - conv: {k: 0, c: 2000000, y: 8, x: 8, r: three, s: 3, s: 1}
    - conv: {k: 4, c: 4, y: \"8\", x: 8, r: 9, s: 3}
    - pool: {size: 2}
    - repeat: 0
      layers: []
",
        &[
            "3:3: a network has no key `nmae` (known: name, task, title, dataset, quality, inputs, \
             other_parameters, batch_norm_channels, published, traced, deviations, connections, \
             parameters, counts, bits, \
             layers, measured)",
            "4:3: `name` is given twice (remove one of the two)",
            "5:32: expected a number above 0, found `0`",
            "5:43: expected `higher` or `lower`, found `more`",
            "7:17: expected a whole number from 1 to 1048576, found `0`",
            "7:23: expected a whole number from 1 to 1048576, found `2000000`",
            "7:47: expected a whole number from 1 to 1048576, found `three`",
            "7:60: `s` is given twice (remove one of the two)",
            "8:29: expected a whole number from 1 to 1048576, found the text \"8\"",
            "9:7: an entry of `layers` needs an operator (one of conv, fc, dwconv, trconv, ngconv, \
             deconv, matmul, batched_matmul, add, mul, concat, max_pool, avg_pool, global_pool, \
             reduce_max, resize, softmax, layer_norm, batch_norm, roi_align, nms, sparse_product; or \
             `repeat` with `layers`)",
            "10:15: expected a whole number from 1 to 50000, found `0`",
            "11:15: this list of layers is empty",
        ],
    );
}

#[test]
fn traces_that_cannot_be() {
    let network = |traced: &str| {
        format!(
            "network:\n  name: N\n  traced: {{{traced}}}\n  layers:\n    - fc: {{k: 1, c: 1}}\n    - add: {{k: 1}}\n"
        )
    };
    check(
        &network("layers: 1, edge: 1"),
        &[
            "3:11: a trace lacks the key `code`",
            "3:23: a trace has no key `edge` (did you mean `edges`?)",
        ],
    );
    // A sum has no multiply-accumulates.
    check(
        &network("code: c, layers: 2"),
        &["3:29: 2 layers of a network that has 1 with multiply-accumulates"],
    );
    check(
        &network("code: c, layers: 1, edges: 2"),
        &["3:39: sources of 2 layers, but 1 were compared"],
    );
    check(
        &network("code: c, layers: -1"),
        &["3:29: expected a whole number from 0 to 50000, found `-1`"],
    );
}

#[test]
fn layers_that_cannot_be() {
    let network = |layers: &str| format!("network:\n  name: N\n  layers:\n{layers}");
    check(
        &network("    - conv: {k: 4, c: 4, y: 8, x: 8, r: 9, s: 3}\n"),
        &[
            "4:41: a 9x3 kernel does not fit into the 8x8 input (padding included); pad the input, or \
           mark the layer `kernel_exceeds_input: true` if the published tables have it so",
        ],
    );
    check(
        &network("    - conv: {k: 4, c: 4, y: 8, x: 8, r: 3, s: 3, kernel_exceeds_input: true}\n"),
        &["4:72: the kernel fits; remove this mark"],
    );
    check(
        &network("    - conv: {k: 1000000, c: 1000000, y: 1000000, x: 1, r: 1, s: 1}\n"),
        &["4:13: the layer has more than 2^48 multiply-accumulates (the product of its extents)"],
    );
    let blocks = "    - repeat: 10000\n      layers:\n        - repeat: 10000\n          layers:\n";
    check(
        &network(&format!("{blocks}            - fc: {{k: 1, c: 1}}\n")),
        &["4:5: 100000000 layers; a network has at most 50000"],
    );
    check(
        &network("    - repeat: 2\n      layers:\n        - fc: {k: 1, c: 1, name: stem}\n"),
        &["6:34: a layer that is repeated cannot have a name"],
    );
}

#[test]
fn operators_that_cannot_be() {
    let one = |layer: &str| format!("network:\n  name: N\n  layers:\n    - {layer}\n");
    check(
        &one("conv: {k: 4, c: 4, y: 8, x: 8, r: 3, s: 3, pad: [1, 1], from: [], shared: 1}"),
        &[
            "4:55: expected one number, or four: [top, bottom, left, right], found a list",
            "4:69: this list of sources is empty",
            "4:81: expected true or false, found `1`",
        ],
    );
    check(
        &one("conv: {k: 4, c: 6, y: 8, x: 8, r: 3, s: 3, groups: 4}"),
        &["4:13: 4 groups do not divide 4 output and 6 input channels"],
    );
    check(
        &one("conv: {k: 4, c: 4, y: 4, x: 9, r: 3, s: 3, dilation: 4, pad: [2, 2, 0, 0]}"),
        &[
            "4:41: a 3x3 kernel does not fit into the 8x9 input (padding included); pad the input, or \
           mark the layer `kernel_exceeds_input: true` if the published tables have it so",
        ],
    );
    check(
        &one("deconv: {k: 4, c: 4, y: 4, x: 4, r: 4, s: 4, stride: 2, pad: 1, output_pad: 2}"),
        &["4:83: `output_pad` is larger than what `pad` cuts off below or to the right"],
    );
    check(
        &one("deconv: {k: 4, c: 4, y: 4, x: 4, r: 4, s: 4, dilation: 2}"),
        &["4:15: a transposed convolution cannot be dilated"],
    );
    check(
        &one("deconv: {k: 4, c: 4, y: 2, x: 4, r: 2, s: 2, stride: 2, pad: 2}"),
        &["4:15: the padding leaves nothing"],
    );
    check(
        &one("matmul: {c: 8, k: 8, y: 3}"),
        &[
            "4:15: a layer lacks the key `rows`",
            "4:28: a layer has no key `y` (known: name, from, shared, bits, reads, instances, \
             rows, c, k)",
        ],
    );
    check(
        &one("batched_matmul: {rows: 8, c: 8, k: 8}"),
        &["4:23: a layer lacks the key `instances`"],
    );
    check(
        &one("max_pool: {k: 8, y: 8, x: 8, r: 3, s: 9, pad: [1, 0, 0, 0]}"),
        &["4:45: the 3x9 window does not fit into the padded 9x8 input"],
    );
    check(&one("resize: {k: 8, y: 8}"), &["4:15: a layer lacks the key `to_y`"]);
    check(&one("nms: {n: 30, k: 4}"), &["4:12: a layer lacks the key `inputs`"]);
    check(
        &one("add: {outputs: 8, k: 8}"),
        &[
            "4:12: a layer lacks the key `inputs`",
            "4:25: a layer has no key `k` (known: name, from, shared, bits, reads, inputs, outputs, \
             operations)",
        ],
    );
    check(
        &one("softmax: {n: 1000000, k: 1000000, y: 1000000, x: 1000000}"),
        &["4:16: the layer has more than 2^48 multiply-accumulates (the product of its extents)"],
    );
}

#[test]
fn sources_that_are_not_there() {
    check(
        "network:
  name: N
  layers:
    - fc: {k: 1, c: 1}
    - repeat: 2
      layers:
        - [add: {k: 1, from: [2, 1]}]
",
        &["7:30: layer 1 (counted from 0) reads the one 2 before it; there is none"],
    );
}
