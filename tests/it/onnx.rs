//! ONNX files as networks: `xrsim import`, and the file wherever a network is named.

use std::fs;

use tempfile::{TempDir, tempdir};
use xrsim::config::{Catalog, ConfigError, export};

use crate::support::binary::{output, path, refused, stderr, stdout, xrsim};
use crate::support::onnx_files::{Dim, Graph, Model, Node, Tensor};

/// Two convolutions of 3x3 with activations, then a matrix product.
fn small(batch: impl Into<Dim>) -> Graph {
    let pads = [1; 4];
    let dims = [batch.into(), Dim::Of(3), Dim::Of(16), Dim::Of(16)];
    Graph::new("small")
        .input("image", &dims)
        .weight("w1", &[8, 3, 3, 3])
        .weight("w2", &[8, 8, 3, 3])
        .weight("w3", &[8, 10])
        .node(Node::new("Conv", &["image", "w1"], &["a"]).named("stem").ints("pads", &pads))
        .node(Node::new("Relu", &["a"], &["b"]))
        .node(Node::new("Conv", &["b", "w2"], &["c"]).named("body").ints("pads", &pads))
        .node(Node::new("Add", &["c", "b"], &["d"]).named("sum"))
        .node(Node::new("GlobalAveragePool", &["d"], &["e"]).named("pool"))
        .node(Node::new("Flatten", &["e"], &["f"]))
        .node(Node::new("Gemm", &["f", "w3"], &["g"]).named("head"))
        .output("g")
}

/// A folder with a file of this graph.
fn written(name: &str, graph: Graph) -> TempDir {
    let folder = tempdir().expect("a folder can be made");
    fs::write(folder.path().join(name), Model::new(graph).write()).expect("the file is written");
    folder
}

/// Multiply-accumulates: 8 x 3 x 9 x 256 = 55,296, 8 x 8 x 9 x 256 = 147,456 and 8 x 10 = 80. Weights: 216, 576
/// and 80.
#[test]
fn an_import_prints_the_yaml_with_nodes_and_totals() {
    let folder = written("net.onnx", small(1));
    let text = output(&["import", &path(&folder, "net.onnx")]);
    let expected = "\
        # Imported from net.onnx by `xrsim import`. The comment after a layer names its node; in a repeated block, the node of the first copy.\n\
        network:\n  \
          name: net\n  \
          title: small\n  \
          layers:\n    \
            - conv: {k: 8, c: 3, y: 16, x: 16, r: 3, s: 3, pad: 1} # stem\n    \
            - conv: {k: 8, c: 8, y: 16, x: 16, r: 3, s: 3, pad: 1} # body\n    \
            - add: {k: 8, y: 16, x: 16, from: [1, 2]} # sum\n    \
            - global_pool: {k: 8, y: 16, x: 16} # pool\n    \
            - matmul: {rows: 1, c: 8, k: 10} # head\n\
        # 7 nodes became 5 layers: 1 activations, 1 changes of shape\n\
        # 5 layers: 2 CONV, 1 add, 1 global_pool, 1 GEMM\n\
        # weights: 872 (0.001 MiB at 8 bit)\n\
        # parameters: 872\n\
        # multiply-accumulates: 202,832\n";
    assert_eq!(text, expected);
}

#[test]
fn a_table_has_a_row_for_each_layer_and_the_totals() {
    let folder = written("net.onnx", small(1));
    let text = output(&["import", &path(&folder, "net.onnx"), "--format", "csv"]);
    let expected = "\
        layer,node,op,kind,n,k,c,y,x,r,s,stride_y,stride_x,pad,dilation_y,dilation_x,groups,instances,macs,params,outputs\n\
        conv1,stem,Conv,CONV,1,8,3,16,16,3,3,1,1,1 1 1 1,1,1,1,1,55296,216,2048\n\
        conv2,body,Conv,CONV,1,8,8,16,16,3,3,1,1,1 1 1 1,1,1,1,1,147456,576,2048\n\
        add1,sum,Add,add,1,8,,16,16,,,,,,,,,,0,0,2048\n\
        global_pool1,pool,GlobalAveragePool,global_pool,1,8,,16,16,,,,,,,,,,0,0,8\n\
        matmul1,head,Gemm,GEMM,1,10,8,1,1,1,1,1,1,0 0 0 0,1,1,1,1,80,80,10\n\
        total,,,,,,,,,,,,,,,,,,202832,872,6162\n";
    assert_eq!(text, expected);
}

#[test]
fn a_network_that_is_written_and_read_is_the_same() {
    // Twelve equal blocks with residuals, names that YAML takes for other things, and an input of a sensor.
    let graph = (0..12).fold(small(2).weight("w", &[8, 8, 1, 1]), |graph, index| {
        let names = [format!("t{index}"), format!("u{index}"), format!("t{}", index + 1)];
        let from = if index == 0 { "d" } else { &names[0] };
        graph
            .node(Node::new("Conv", &[from, "w"], &[&names[1]]).named("a: {b} # \"c\" \u{1b} é"))
            .node(Node::new("Add", &[&names[1], from], &[&names[2]]).named("- [x"))
    });
    let folder = written("net.onnx", graph.output("t12"));
    let arguments = ["--task", "no", "--input", "image=camera", "--out", &path(&folder, "out")];
    let file = path(&folder, "net.onnx");
    let call = [&["import", file.as_str()][..], &arguments].concat();
    let list = output(&call);
    let read = Catalog::new().model(list.trim_end()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((&*read.task, &*read.title), ("no", "small"));
    assert_eq!(read.inputs, ["camera".into()]);
    let text = fs::read_to_string(list.trim_end()).expect("it was written");
    assert!(text.contains("- repeat: 11\n"), "{text}");
    assert!(text.contains("# a: {b} # \"c\" \\u{1b} é\n"), "{text}");
    let again = path(&folder, "again.yaml");
    fs::write(&again, export::model(&read)).expect("a file");
    assert_eq!(Catalog::new().model(&again).expect("it is legal"), read);
    // What commands read is what the import writes.
    let direct = Catalog::new().network(&file).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(direct, read.network);
}

#[test]
fn open_questions_are_asked_with_the_command_that_answers_them() {
    let folder = written(
        "net.onnx",
        small(1)
            .input("y", &["rows", "columns"])
            .node(Node::new("MatMul", &["y", "w3"], &["z"]))
            .output("z"),
    );
    let file = path(&folder, "net.onnx");
    let given = ["import", &file, "--dim", "rows=5"];
    let message = refused(&given);
    assert!(message.contains("columns of y"), "{message}");
    let command = format!("help: xrsim import {file} --dim rows=5 --dim columns=...");
    assert!(message.contains(&command), "{message}");
    let text = output(&[&given[..], &["--dim", "columns=8"]].concat());
    assert!(text.contains("- matmul: {rows: 5, c: 8, k: 10"), "{text}");
    // Where no option can be given, the message is the same.
    for command in ["check", "show"] {
        let call = xrsim(&[command, &file]).assert().failure();
        let message = stderr(&call);
        assert!(
            message.contains(&format!("xrsim import {file} --dim rows=1 --dim columns=...")),
            "{message}"
        );
    }
}

/// A network that halves its input and joins it with the doubled result, which fits even extents only.
#[test]
fn extents_that_do_not_fit_are_told_with_one_that_does_and_slips_with_the_axis() {
    let graph = Graph::new("halves")
        .input("x", &[Dim::Of(1), Dim::Of(4), "height".into(), "width".into()])
        .weight("w", &[4, 4, 2, 2])
        .node(
            Node::new("MaxPool", &["x"], &["a"])
                .ints("kernel_shape", &[2, 2])
                .ints("strides", &[2, 2]),
        )
        .node(Node::new("ConvTranspose", &["a", "w"], &["b"]).ints("strides", &[2, 2]))
        .node(Node::new("Concat", &["b", "x"], &["c"]).int("axis", 1))
        .output("c");
    let folder = written("net.onnx", graph);
    let file = path(&folder, "net.onnx");
    let import = |dims: &'static [&str]| [&["import", &*file], dims].concat().join(" ");
    let refused_with =
        |dims: &'static [&str]| refused(&import(dims).split(' ').collect::<Vec<_>>());
    let odd = refused_with(&["--dim", "height=16,width=101"]);
    assert!(odd.contains("from --dim width=101: 102, a multiple of 2, fits"), "{odd}");
    assert!(
        odd.contains(&format!("help: xrsim import {file} --dim height=16 --dim width=102")),
        "{odd}"
    );
    let zero = refused_with(&["--dim", "height=0", "--dim", "width=16"]);
    assert!(zero.contains("--dim height: an extent is 1 or more, found 0"), "{zero}");
    assert!(!zero.contains("does not fit"), "{zero}");
    let slip = refused_with(&["--dim", "heigth=16,width=16"]);
    assert!(slip.contains("no open axis is called `heigth`; did you mean `height`?"), "{slip}");
    assert!(
        slip.contains(&format!("help: xrsim import {file} --dim width=16 --dim height=...")),
        "{slip}"
    );
}

#[test]
fn an_open_batch_is_one_unless_it_is_given() {
    let folder = written("net.onnx", small("batch"));
    let file = path(&folder, "net.onnx");
    let call = xrsim(&["import", &file]).assert().success();
    assert!(stdout(&call).contains("# multiply-accumulates: 202,832\n"), "{}", stdout(&call));
    assert!(stderr(&call).starts_with("note: "), "{}", stderr(&call));
    assert!(stdout(&call).contains("  deviations:\n"), "{}", stdout(&call));
    for command in ["check", "show"] {
        let call = xrsim(&[command, &file]).assert().success();
        assert!(stderr(&call).starts_with(&format!("note: {file}: ")), "{}", stderr(&call));
    }
    let call = xrsim(&["import", &file, "--dim", "batch=8"]).assert().success();
    assert!(stdout(&call).contains("# multiply-accumulates: 1,622,656\n"), "{}", stdout(&call));
    assert_eq!(stderr(&call), "");
}

#[test]
fn a_file_serves_wherever_a_network_is_named() {
    // The ending does not matter: the contents tell the kind.
    for name in ["net.onnx", "net.bin"] {
        let folder = written(name, small(1));
        let file = path(&folder, name);
        assert!(output(&["show", &file]).ends_with("# multiply-accumulates: 202,832\n"));
        assert!(output(&["check", &file]).contains("network, no problems"));
        let hardware = ["--dataflow", "WS", "--pes", "256", "--format", "csv"];
        let table = output(&[&["cost", "--network", &file][..], &hardware].concat());
        assert_eq!(table.lines().filter(|line| line.contains("CONV")).count(), 2, "{table}");
        let scenario = format!(
            "scenario:\n  name: mine\n  models:\n    - {{network: ./{name}, fps: 10, inputs: [camera]}}\n"
        );
        fs::write(folder.path().join("mine.yaml"), scenario).expect("a file");
        let scenario = path(&folder, "mine.yaml");
        let scores = output(&[
            "run",
            "--scenario",
            &scenario,
            "--system",
            "J",
            "--pes",
            "4096",
            "--format",
            "csv",
        ]);
        assert_eq!(scores.lines().count(), 2, "{scores}");
    }
}

#[test]
fn equal_networks_are_one() {
    let folder = written("a.onnx", small(1));
    let mut catalog = Catalog::new();
    let network = catalog.network(&path(&folder, "a.onnx")).expect("it is legal");
    let text = output(&["import", &path(&folder, "a.onnx")]);
    fs::write(folder.path().join("b.yaml"), text).expect("a file");
    let again = catalog.network(&path(&folder, "b.yaml")).expect("it is legal");
    assert!(std::sync::Arc::ptr_eq(&network, &again));
}

#[test]
fn options_for_onnx_files_are_refused_elsewhere_and_checked() {
    let folder = written("net.onnx", small(1));
    let layer =
        "Network n { Layer L { Type: CONV Dimensions { K: 1, C: 1, R: 1, S: 1, Y: 1, X: 1 } } }";
    fs::write(folder.path().join("net.m"), layer).expect("a file");
    let (file, other) = (path(&folder, "net.onnx"), path(&folder, "net.m"));
    for option in [["--dim", "a=1"], ["--name", "n"], ["--format", "csv"], ["--branch", "a=then"]] {
        let message = refused(&["import", &other, option[0], option[1]]);
        assert!(message.contains(&format!("{}: ", option[0])), "{message}");
        assert!(message.contains("is not an ONNX file"), "{message}");
    }
    for [option, value, reason] in [
        ["--dim", "a", "a name, `=` and a value are needed"],
        ["--dim", "a=b", "`b` is not a whole number"],
        ["--shape", "a=1x", "`` is not a whole number"],
        ["--value", "a=1,z", "`z` is not an integer"],
        ["--branch", "a=left", "`left` is neither then nor else"],
        ["--name", "=x", "a name has no control characters"],
    ] {
        let message = refused(&["import", &file, option, value]);
        assert!(message.contains(reason), "{message}");
    }
    let message = refused(&["import", &file, "--dim", "a=1", "--dim", "a=2"]);
    assert!(message.contains("--dim: `a` is given twice"), "{message}");
}

#[test]
fn other_files_are_refused_with_what_they_are() {
    let folder = tempdir().expect("a folder can be made");
    fs::write(folder.path().join("net.onnx"), "network:\n  name: x\n").expect("a file");
    let file = path(&folder, "net.onnx");
    assert_eq!(refused(&["import", &file]), format!("error: {file}: not an ONNX file, but text\n"));
    let error = Catalog::new().network(&file).expect_err("text");
    let ConfigError::Import { problems, command, .. } = error else { panic!("{error:?}") };
    assert_eq!((problems.len(), command), (1, None));
}

/// A constant in another file decides a shape.
#[test]
fn elements_beside_the_file_are_read_where_a_shape_needs_them() {
    let shape = Tensor::new("s", 7, &[2]).external("net.data", 8, 16);
    let graph = Graph::new("g")
        .input("x", &[4, 6])
        .constant(shape)
        .weight("w", &[6, 5])
        .node(Node::new("Reshape", &["x", "s"], &["y"]))
        .node(Node::new("MatMul", &["y", "w"], &["z"]))
        .output("z");
    let folder = written("net.onnx", graph);
    let file = path(&folder, "net.onnx");
    assert!(refused(&["import", &file]).contains("its data in `net.data` cannot be read"));
    let data = [0_i64, -1, 6].map(i64::to_le_bytes).concat();
    fs::write(folder.path().join("net.data"), data).expect("a file");
    assert!(output(&["import", &file]).contains("- matmul: {rows: 4, c: 6, k: 5}"));
}

/// The import of a decoder against the shipped network of the same model: equal but for products of frequencies and
/// positions, 32 for each token, and for words of all positions, of which the shipped one has the last.
#[test]
fn a_decoder_has_the_products_of_the_shipped_one_at_every_length() {
    let folder = tempdir().expect("a folder can be made");
    let dims = "batch_size=1,sequence_length=new,past_sequence_length=past";
    let both = "past_sequence_length + sequence_length=past + new";
    let decoder = "examples/onnx/decoder.onnx";
    let out = path(&folder, "out");
    output(&["import", decoder, "--dim", dims, "--dim", both, "--out", &out, "--quiet"]);
    let file = format!("{out}/decoder.yaml");
    for [new, past] in [[1, 0], [1, 1], [1, 257], [128, 0], [128, 1000]] {
        let at = |name: &str| {
            let network = Catalog::new().network(&format!("{name}:new={new},past={past}"));
            let network = network.expect("the file is right");
            let macs = network.macs();
            (macs, xrsim::scenario::cache_bytes(&network))
        };
        let ((macs, cache), (expected, of_shipped)) = (at(&file), at("assistant_1b"));
        assert_eq!(macs, expected + 32 * new + (new - 1) * 2048 * 32_000, "{new} {past}");
        assert_eq!(cache, of_shipped);
    }
}

#[test]
fn axes_of_a_decoder_that_contradict_each_other_are_refused() {
    let decoder = "examples/onnx/decoder.onnx";
    let open = refused(&["import", decoder]);
    assert!(open.contains("in its cache `past`"), "{open}");
    let dims = "batch_size=1,sequence_length=new,past_sequence_length=past";
    let both = |extent: &str| format!("past_sequence_length + sequence_length={extent}");
    let short = refused(&["import", decoder, "--dim", dims, "--dim", &both("new")]);
    assert!(short.contains("decoder.onnx"), "{short}");
    let alone = "batch_size=1,sequence_length=new,past_sequence_length=64";
    let alone = refused(&["import", decoder, "--dim", alone, "--dim", &both("65")]);
    assert!(alone.contains("one of `past` tokens"), "{alone}");
    let unknown = refused(&["import", decoder, "--dim", "batch_size=old"]);
    assert!(unknown.contains("past+new"), "{unknown}");
}
