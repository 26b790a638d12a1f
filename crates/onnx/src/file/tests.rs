//! Files are read exactly, or refused with a place; nothing else happens, whatever their bytes are.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{Cursor, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::super::fact::{Element, Number};
use super::super::graph::{Attribute, Dim, Model, Port};
use super::super::onnx_files as files;
use super::super::onnx_files::{Fields, Function, Graph, Node, Tensor};
use super::wire::Limits;
use super::{load, order, order_of, parse, read, read_from};

fn model(graph: Graph) -> Model {
    parse(&files::Model::new(graph).write()).expect("a legal file").0
}

fn refused(bytes: &[u8]) -> String {
    parse(bytes).expect_err("refused").to_string()
}

/// The elements of a constant of a graph with nothing else.
fn elements(tensor: Tensor) -> Option<Vec<Number>> {
    model(Graph::new("g").constant(tensor)).graph.initializers.remove(0).elements
}

fn ints(values: &[i64]) -> Option<Vec<Number>> {
    Some(values.iter().copied().map(Number::Int).collect())
}

fn convolution() -> Graph {
    let node = Node::new("Conv", &["x", "w"], &["y"]).named("conv").ints("pads", &[1, 1, 1, 1]);
    Graph::new("g").input("x", &[1, 3, 16, 16]).weight("w", &[8, 3, 3, 3]).output("y").node(node)
}

#[test]
fn a_file_is_read_as_it_is_written() {
    let function = Function::new("local", "F", &["a"], &["b"])
        .attribute("alpha")
        .node(Node::new("LeakyRelu", &["a"], &["b"]).of_function("alpha", "alpha"));
    let body = Graph::new("then").node(Node::new("Relu", &["y"], &["z"])).output("z");
    let graph = convolution()
        .node(Node::new("If", &["c"], &["o"]).graph("then_branch", body))
        .node(Node::new("F", &["o"], &["p"]).domain("local").float("f", 0.5).text("t", "é"))
        .input_of(files::BOOL, "c", &[] as &[i64])
        .stated("o", &[files::Dim::Of(-1), files::Dim::Named("N"), files::Dim::Open]);
    let file = files::Model::bare(8, graph).opset("ai.onnx", 17).opset("local", 1);
    let (model, warnings) = parse(&file.function(function).write()).expect("a legal file");
    assert_eq!(warnings, [""; 0]);
    assert_eq!(model.ir_version, 8);
    assert_eq!(model.opsets, [("".into(), 17), ("local".into(), 1)]);
    let graph = &model.graph;
    assert_eq!(&*graph.name, "g");
    let [conv, branch, call] = &graph.nodes[..] else { panic!("{:?}", graph.nodes) };
    assert_eq!((&*conv.name, &*conv.operator, conv.inputs.len()), ("conv", "Conv", 2));
    assert_eq!(conv.attributes, [("pads".into(), Attribute::Ints(vec![1; 4]))]);
    let Attribute::Graph(body) = &branch.attributes[0].1 else { panic!("{branch:?}") };
    assert_eq!(&*body.nodes[0].operator, "Relu");
    assert_eq!(&*call.domain, "local");
    let values = [Attribute::Float(0.5), Attribute::Text("é".into())];
    assert!(call.attributes.iter().map(|(_, value)| value).eq(&values));
    let dims = [1, 3, 16, 16].map(Dim::Fixed).to_vec();
    let port = Port { name: "x".into(), element: Some(Element::FLOAT), dims: Some(dims) };
    assert_eq!(graph.inputs[0], port);
    assert_eq!(graph.inputs[1].dims, Some(Vec::new()));
    assert_eq!(graph.outputs[0].dims, None);
    let dims = vec![Dim::Fixed(-1), Dim::Named("N".into()), Dim::Open];
    assert_eq!(graph.stated[0].dims, Some(dims));
    let weight = &graph.initializers[0];
    assert_eq!((&weight.dims[..], weight.element), (&[8, 3, 3, 3][..], Element::FLOAT));
    assert_eq!((&weight.elements, &weight.external), (&None, &None));
    let [function] = &model.functions[..] else { panic!("{:?}", model.functions) };
    assert_eq!((&*function.domain, &*function.name), ("local", "F"));
    let value = Attribute::OfFunction("alpha".into());
    assert_eq!(function.nodes[0].attributes, [("alpha".into(), value)]);
}

#[test]
fn numbers_are_read_packed_and_unpacked_and_messages_merge() {
    let packed =
        Node::new("A", &[], &["a"]).attribute("v", 7, Fields::default().packed(8, &[1, -2]));
    let alone = Node::new("A", &[], &["a"]).ints("v", &[1, -2]);
    let mixed =
        Node::new("A", &[], &["a"]).attribute("v", 7, Fields::default().int(8, 1).packed(8, &[-2]));
    for node in [packed, alone, mixed] {
        let read = model(Graph::new("g").node(node));
        assert_eq!(read.graph.nodes[0].attributes[0].1, Attribute::Ints(vec![1, -2]));
    }
    // Two halves of a graph, the tensor of an attribute, and a type that comes in two messages.
    let second = Graph::default().node(Node::new("B", &[], &["b"]));
    let file = files::Model::new(Graph::new("g").node(Node::new("A", &[], &["a"])));
    let bytes = file.0.bytes(7, second.0.0).0;
    let (read, _) = parse(&bytes).expect("a legal file");
    assert_eq!((&*read.graph.name, read.graph.nodes.len()), ("g", 2));
    let halves = Fields::default().bytes(5, Fields::default().int(1, 2).0);
    let halves = halves.bytes(5, Fields::default().int(2, 7).packed(7, &[3, 4]).0);
    let read = model(Graph::new("g").node(Node::new("A", &[], &["a"]).attribute("v", 4, halves)));
    let Attribute::Tensor(tensor) = &read.graph.nodes[0].attributes[0].1 else {
        panic!("a tensor")
    };
    assert_eq!(tensor.elements, ints(&[3, 4]));
}

#[test]
fn fields_may_come_in_any_order_and_unknown_ones_are_skipped() {
    let tensor = Fields::default().bytes(9, 5_i64.to_le_bytes()).int(2, 7).int(1, 1).int(999, 3);
    let graph = Fields::default().bytes(5, tensor.0).bytes(4000, [1, 2, 3]).float(77, 1.0);
    let bytes = Fields::default()
        .bytes(14, "metadata")
        .bytes(8, Fields::default().int(2, 13).0)
        .bytes(7, graph.0)
        .int(1, 7);
    let (model, _) = parse(&bytes.0).expect("a legal file");
    assert_eq!(model.graph.initializers[0].elements, ints(&[5]));
    assert_eq!((model.ir_version, model.opsets[0].1), (7, 13));
}

#[test]
fn elements_of_every_type_are_decoded() {
    let floats =
        |values: &[f64]| Some(values.iter().copied().map(Number::Float).collect::<Vec<_>>());
    let raw =
        |element, count, bytes: &[u8]| elements(Tensor::new("t", element, &[count]).raw(bytes));
    assert_eq!(raw(files::UINT8, 2, &[1, 255]), ints(&[1, 255]));
    assert_eq!(raw(files::INT8, 2, &[1, 255]), ints(&[1, -1]));
    assert_eq!(raw(files::BOOL, 2, &[0, 7]), ints(&[0, 1]));
    assert_eq!(raw(files::INT32, 1, &(-5_i32).to_le_bytes()), ints(&[-5]));
    assert_eq!(elements(Tensor::ints("t", &[i64::MIN, 9])), ints(&[i64::MIN, 9]));
    assert_eq!(elements(Tensor::floats("t", &[0.5, -2.0])), floats(&[0.5, -2.0]));
    assert_eq!(raw(files::DOUBLE, 1, &0.1_f64.to_le_bytes()), floats(&[0.1]));
    // Halves: one, minus two, the least number 2^-24, infinity.
    let halves = [0x3c00_u16, 0xc000, 0x0001, 0x7c00].map(u16::to_le_bytes).concat();
    assert_eq!(
        raw(files::FLOAT16, 4, &halves),
        floats(&[1.0, -2.0, 2_f64.powi(-24), f64::INFINITY])
    );
    // A bfloat16 is the upper half of a number of 32 bits.
    assert_eq!(raw(16, 1, &0x3fc0_u16.to_le_bytes()), floats(&[1.5]));
    // Unsigned numbers of 64 bits that no index has.
    assert_eq!(raw(13, 1, &u64::MAX.to_le_bytes()), None);
    // Four bits: a shape and no elements.
    assert_eq!(raw(22, 2, &[0x21]), None);
    let typed = |element, count, fields: Fields| {
        let mut tensor = Tensor::new("t", element, &[count]);
        tensor.0.0.extend(fields.0);
        elements(tensor)
    };
    assert_eq!(typed(files::INT32, 2, Fields::default().packed(5, &[-5, 6])), ints(&[-5, 6]));
    assert_eq!(typed(files::BOOL, 2, Fields::default().packed(5, &[0, 3])), ints(&[0, 1]));
    assert_eq!(typed(files::FLOAT16, 1, Fields::default().int(5, 0x3c00)), floats(&[1.0]));
    assert_eq!(typed(files::FLOAT, 1, Fields::default().float(4, 1.5)), floats(&[1.5]));
    let double = Fields::default().bytes(10, 1.25_f64.to_le_bytes());
    assert_eq!(typed(files::DOUBLE, 1, double), floats(&[1.25]));
    assert_eq!(typed(12, 1, Fields::default().int(11, 4_000_000_000)), ints(&[4_000_000_000]));
}

#[test]
fn only_small_tensors_have_elements_and_wrong_lengths_are_no_error() {
    let zeros = |element, count: usize, width: usize| {
        elements(Tensor::new("t", element, &[count as i64]).raw(&vec![0; count * width]))
    };
    assert_eq!(zeros(files::FLOAT, 1024, 4).map(|it| it.len()), Some(1024));
    assert_eq!(zeros(files::FLOAT, 1025, 4), None);
    assert_eq!(zeros(files::INT64, 8192, 8).map(|it| it.len()), Some(8192));
    assert_eq!(zeros(files::INT64, 8193, 8), None);
    assert_eq!(zeros(files::INT8, 4097, 1), None);
    let many = Fields::default().packed(7, &[1; 70_000]);
    let mut tensor = Tensor::new("t", files::INT64, &[70_000]);
    tensor.0.0.extend(many.0);
    assert_eq!(elements(tensor), None);
    assert_eq!(elements(Tensor::new("t", files::FLOAT, &[4]).raw(&[0; 3])), None);
    assert_eq!(elements(Tensor::new("t", files::INT64, &[1]).raw(&[0; 16])), None);
    assert_eq!(elements(Tensor::new("t", files::INT64, &[-1]).raw(&[0; 8])), None);
    let huge = [i64::MAX, i64::MAX, i64::MAX];
    assert_eq!(elements(Tensor::new("t", files::INT64, &huge).raw(&[0; 8])), None);
    // A scalar has one element, a tensor with an extent of zero none.
    let scalar = Tensor::new("t", files::INT64, &[]).raw(&3_i64.to_le_bytes());
    assert_eq!(elements(scalar), ints(&[3]));
    let empty = Tensor::new("t", files::INT64, &[0]);
    assert_eq!(elements(empty), ints(&[]));
}

#[test]
fn attributes_without_a_type_have_that_of_their_field_and_defaults_are_left_out() {
    let value = |kind, fields| {
        let node = Node::new("A", &[], &["a"]).attribute("v", kind, fields);
        model(Graph::new("g").node(node)).graph.nodes.remove(0).attributes.remove(0).1
    };
    assert_eq!(value(0, Fields::default().int(3, 4)), Attribute::Int(4));
    assert_eq!(value(0, Fields::default().bytes(4, "t")), Attribute::Text("t".into()));
    assert_eq!(value(2, Fields::default()), Attribute::Int(0));
    assert_eq!(value(7, Fields::default()), Attribute::Ints(Vec::new()));
    let texts = vec!["a".into(), "b".into()];
    assert_eq!(value(8, Fields::default().bytes(9, "a").bytes(9, "b")), Attribute::Texts(texts));
    let floats =
        Fields::default().bytes(7, [1.0_f32.to_le_bytes(), 2.0_f32.to_le_bytes()].concat());
    assert_eq!(value(6, floats), Attribute::Floats(vec![1.0, 2.0]));
    assert_eq!(value(13, Fields::default()), Attribute::Other);
    // A text that is too long for anything here, such as a whole program.
    assert_eq!(value(3, Fields::default().bytes(4, vec![b'x'; 70_000])), Attribute::Other);
}

#[test]
fn broken_fields_are_refused_with_their_place() {
    let beyond = [8, 8, 0x3a, 0xff, 0xff, 0xff, 0xff, 0x0f];
    let message =
        "a field of 4294967295 bytes goes beyond the end of the file of 8 bytes, at byte 2";
    assert_eq!(refused(&beyond), message);
    // A node of nine bytes in a graph of three.
    let inner = [8, 8, 0x3a, 3, 0x0a, 9, 0, 0, 0];
    let message = "a field of 9 bytes goes beyond the end of its message at byte 7, at byte 4";
    assert_eq!(refused(&inner), message);
    let endless = [&[8][..], &[0xff; 40]].concat();
    assert_eq!(refused(&endless), "a varint of more than 10 bytes, at byte 1");
    for wire_type in [3, 4, 6, 7] {
        let message =
            format!("a field of wire type {wire_type}, which ONNX files do not have, at byte 2");
        assert_eq!(refused(&[8, 8, 8 << 3 | wire_type]), message);
    }
    assert_eq!(refused(&[8, 8, 0x3d, 1]), "the file ends within a field, at byte 3");
    assert_eq!(refused(&[8, 8, 0, 1]), "a field with the number 0, at byte 2");
    let name = Graph::new(&"x".repeat(65_537));
    let message = "a name of 65537 bytes; names have at most 65536, at byte 10";
    assert_eq!(refused(&files::Model::new(name).write()), message);
    let length = "the offset `x` of external data is no number of bytes, at byte ";
    let entry = Fields::default().bytes(1, "offset").bytes(2, "x").0;
    let tensor = Tensor(Tensor::new("t", 1, &[1]).0.bytes(13, entry));
    let message = refused(&files::Model::new(Graph::new("g").constant(tensor)).write());
    assert!(message.starts_with(length), "{message}");
}

#[test]
fn graphs_nest_64_deep_and_no_deeper() {
    let nested = |depth: usize| {
        let inner = (1..depth).fold(Graph::new("g"), |inner, _| {
            Graph::new("g").node(Node::new("If", &["c"], &["o"]).graph("then_branch", inner))
        });
        files::Model::new(inner).write()
    };
    assert!(parse(&nested(64)).is_ok());
    assert!(refused(&nested(65)).starts_with("subgraphs nest more than 64 deep, at byte "));
}

#[test]
fn nodes_and_memory_are_limited() {
    let nodes = (0..11).fold(Graph::new("g"), |graph, _| graph.node(Node(Fields::default())));
    let bytes = files::Model::new(nodes).write();
    let length = bytes.len() as u64;
    let limits = Limits { nodes: 10, ..Limits::for_length(length) };
    let error = read_from(&mut Cursor::new(&bytes), length, limits).expect_err("11 nodes");
    assert!(error.to_string().starts_with("more than 10 nodes, at byte "), "{error}");
    // Empty nodes of two bytes, and packed integers of one byte, take far more memory than the file.
    let nodes = Fields::default().bytes(7, [0x0a, 0].repeat(2_000_000)).0;
    let ints =
        Node::new("A", &[], &["a"]).attribute("v", 7, Fields::default().bytes(8, vec![1; 8 << 20]));
    for bytes in [nodes, files::Model::new(Graph::new("g").node(ints)).write()] {
        let message = refused(&bytes);
        assert!(message.starts_with("contents that take more memory than"), "{message}");
    }
}

#[test]
fn versions_are_checked() {
    let versions =
        |ir, opset| parse(&files::Model::bare(ir, convolution()).opset("", opset).write());
    let error = |ir, opset| versions(ir, opset).expect_err("refused").to_string();
    assert_eq!(error(8, 6), "opset 6; 7 is the oldest that is read");
    assert_eq!(error(2, 7), "IR version 2; 3 is the oldest that is read");
    for (ir, opset) in [(3, 7), (13, 24)] {
        assert_eq!(versions(ir, opset).expect("a legal file").1, [""; 0]);
    }
    let (_, warnings) = versions(99, 25).expect("newer files are read");
    let expected = [
        "IR version 99 is newer than 13, the newest that was tested",
        "opset 25 is newer than 24, the newest that was tested",
    ];
    assert_eq!(warnings, expected);
    let message = "no opset: the file does not state the version of its operators";
    assert_eq!(refused(&files::Model::bare(8, convolution()).write()), message);
    let old = Function(Function::new("l", "F", &[], &[]).0.bytes(9, Fields::default().int(2, 5).0));
    let message = refused(&files::Model::new(convolution()).function(old).write());
    assert_eq!(message, "opset 5; 7 is the oldest that is read");
}

#[test]
fn names_that_are_not_utf_8_are_replaced() {
    let graph = Graph(Fields::default().bytes(2, [b'a', 0xff, b'b']));
    assert_eq!(&*model(graph).graph.name, "a\u{fffd}b");
}

#[test]
fn sparse_constants_are_dense_with_a_warning() {
    let values = Tensor::floats("s", &[1.0, 2.0]);
    let sparse = Fields::default().bytes(1, values.0.0).packed(3, &[3, 4]);
    let graph = Graph(Fields::default().bytes(15, sparse.0));
    let (model, warnings) = parse(&files::Model::new(graph).write()).expect("a legal file");
    let tensor = &model.graph.initializers[0];
    assert_eq!((&*tensor.name, &tensor.dims[..], &tensor.elements), ("s", &[3, 4][..], &None));
    assert_eq!(warnings, ["the sparse initialiser `s` is read as a dense one"]);
}

#[test]
fn files_of_other_programs_are_recognised() {
    let zip = b"PK\x03\x04\0\0\0\0archive/data.pkl";
    assert!(
        refused(zip).contains("a PyTorch checkpoint") && refused(zip).contains("torch.onnx.export")
    );
    assert!(refused(b"\x1c\0\0\0TFL3\0\0\0\0").contains("a TFLite file"));
    assert!(refused(b"\x89HDF\r\n\x1a\n\0\0\0\0").contains("an HDF5 file, as Keras writes"));
    assert!(refused(b"\x40\0\0\0\0\0\0\0{\"a\":{}}").contains("a safetensors file"));
    assert!(refused(b"\x1f\x8b\x08\0\0\0").contains("gzip"));
    let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n";
    assert!(refused(pointer).contains("git lfs pull"));
    assert_eq!(refused("layers: größe\n".as_bytes()), "not an ONNX file, but text");
    assert_eq!(refused(b""), "not an ONNX file: it is empty");
    let empty = Fields::default().int(1, 8).bytes(8, Fields::default().int(2, 17).0).0;
    assert_eq!(refused(&empty), "not an ONNX file: it has no graph");
}

#[test]
fn external_data_are_read_in_the_folder_of_the_file_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let inside = folder.path().join("in");
    fs::create_dir(&inside).expect("a folder in a folder");
    let bytes = [7_i64, 8, 9].map(i64::to_le_bytes).concat();
    for path in [inside.join("data"), folder.path().join("secret")] {
        fs::write(path, &bytes).expect("a file");
    }
    let tensor = |location: &str, offset, length| {
        let tensor = Tensor::new("s", files::INT64, &[2]).external(location, offset, length);
        parse(&files::Model::new(Graph::new("g").constant(tensor)).write())
            .map(|(mut model, _)| model.graph.initializers.remove(0))
    };
    let loaded = |location, offset, length| {
        let tensor = tensor(location, offset, length).expect("a legal place");
        load(&tensor, &inside).map_err(|error| error.to_string())
    };
    assert_eq!(loaded("data", 8, 16), Ok(ints(&[8, 9])));
    assert_eq!(loaded("./data", 0, 24), Ok(ints(&[7, 8])));
    let message = "`s` is needed for a shape, and its data in `data` have fewer than 16 bytes";
    assert_eq!(loaded("data", 0, 8), Err(message.into()));
    assert!(loaded("data", 16, 16).expect_err("the end").contains("cannot be read"));
    assert!(loaded("data", u64::MAX, 16).expect_err("the end").contains("cannot be read"));
    assert!(loaded("absent", 0, 16).expect_err("absent").contains("cannot be read"));
    assert!(loaded(".", 0, 16).expect_err("a folder").contains("no regular file"));
    for place in
        ["/dev/zero", "../secret", "a/../../secret", "..\\secret", "C:\\secret", "\\secret"]
    {
        let error = tensor(place, 0, 16).expect_err("outside").to_string();
        assert!(error.contains("outside of the file's folder are not read, at byte "), "{error}");
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(folder.path().join("secret"), inside.join("link"))
            .expect("a link");
        let error = loaded("link", 0, 16).expect_err("a link out of the folder");
        assert!(error.contains("outside of the file's folder"), "{error}");
    }
    let large = Tensor::new("s", files::FLOAT, &[1 << 20]).external("data", 0, 4 << 20);
    let large = model(Graph::new("g").constant(large)).graph.initializers.remove(0);
    assert_eq!(load(&large, &inside), Ok(None));
}

#[test]
fn half_a_gigabyte_of_weights_is_skipped() {
    const WEIGHTS: u64 = 524 << 20;
    let path = tempfile::tempdir().expect("a folder");
    let path = path.path().join("large.onnx");
    let mut tensor = Tensor::new("large", files::FLOAT, &[131, 1024, 1024]).0.0;
    files::varint(&mut tensor, 9 << 3 | 2);
    files::varint(&mut tensor, WEIGHTS);
    let mut graph = convolution().0.0;
    files::varint(&mut graph, 5 << 3 | 2);
    files::varint(&mut graph, tensor.len() as u64 + WEIGHTS);
    graph.extend(tensor);
    let mut bytes = Fields::default().int(1, 8).bytes(8, Fields::default().int(2, 17).0).0;
    files::varint(&mut bytes, 7 << 3 | 2);
    files::varint(&mut bytes, graph.len() as u64 + WEIGHTS);
    bytes.extend(graph);
    // The weights are a hole in the file. The name of the graph stands after them.
    let mut file = File::create(&path).expect("a file");
    file.write_all(&bytes).expect("the start is written");
    file.seek(SeekFrom::Current(WEIGHTS as i64)).expect("a hole");
    file.write_all(&Fields::default().bytes(2, "tool").0).expect("the end is written");
    let length = file.metadata().expect("a length").len();
    let limits = Limits { memory: 64 << 10, ..Limits::for_length(length) };
    let mut file = File::open(&path).expect("it is there");
    let (model, _) = read_from(&mut file, length, limits).expect("64 KiB of contents");
    assert_eq!(&*model.producer, "tool");
    assert_eq!(model.graph.initializers[1].dims, [131, 1024, 1024]);
    assert_eq!(read(&path).expect("a legal file").0, model);
}

/// Order of nodes that are written as `reads > writes`.
fn order_in(nodes: &[&str]) -> Result<Vec<usize>, Vec<String>> {
    let graph = nodes.iter().fold(Graph::new("g").input("x", &[1]), |graph, node| {
        let (reads, writes) = node.split_once('>').expect("an arrow");
        let names = |text: &'static str| text.split_whitespace().collect::<Vec<_>>();
        let (reads, writes) = (names(leak(reads)), names(leak(writes)));
        graph.node(Node::new("Op", &reads, &writes).named(&format!("n{}", writes[0])))
    });
    order_of(&model(graph).graph, &|name| name == "outer")
}

fn leak(text: &str) -> &'static str {
    text.to_string().leak()
}

#[test]
fn nodes_are_sorted_and_sorted_ones_stay() {
    assert_eq!(order_in(&["x > a", "x > b", "a b > c", "outer > d"]), Ok(vec![0, 1, 2, 3]));
    // Of the nodes that can run, the first of the file is next.
    assert_eq!(order_in(&["b > c", "x > a", "a a > b", "x > d"]), Ok(vec![1, 2, 0, 3]));
    let problems = order_in(&["x > conv1", "nowhere > b", "conv > c"]).expect_err("unknown names");
    let expected = [
        "nb reads `nowhere`, which nothing writes",
        "nc reads `conv`, which nothing writes; did you mean `conv1`?",
    ];
    assert_eq!(problems, expected);
    let problems =
        order_in(&["x d > a", "a > b", "b > c", "c > d", "d > e"]).expect_err("a circle");
    let [problem] = &problems[..] else { panic!("{problems:?}") };
    let message = "nodes that wait for each other in a circle: ";
    let mut names: Vec<&str> = problem.strip_prefix(message).expect(problem).split(", ").collect();
    names.sort_unstable();
    assert_eq!(names, ["na", "nb", "nc", "nd"]);
    let problems = order_in(&["x > a", "x > a", "a > x"]).expect_err("written twice");
    let expected =
        ["`a` is written twice, by na and by na", "nx writes `x`, which is an input or a constant"];
    assert_eq!(problems, expected);
    let graph = model(Graph::new("g").input("x", &[1]).output("y")).graph;
    assert_eq!(order_of(&graph, &|_| false), Err(vec!["nothing writes the output `y`".into()]));
}

#[test]
fn a_node_waits_for_what_its_graphs_read() {
    // The branch reads `a` and `x` of the graph around it, `own` is its own.
    let inner = Graph::new("inner").node(Node::new("Relu", &["a"], &["z"])).output("z");
    let body = Graph::new("body")
        .node(Node::new("Add", &["own", "x"], &["own2"]))
        .node(Node::new("If", &["own2"], &["o"]).graph("then_branch", inner))
        .weight("own", &[1])
        .output("o");
    let graph = Graph::new("g")
        .input("x", &[1])
        .node(Node::new("If", &["x"], &["y"]).graph("then_branch", body))
        .node(Node::new("Relu", &["x"], &["a"]))
        .output("y");
    let graph = model(graph).graph;
    assert_eq!(order_of(&graph, &|_| false), Ok(vec![1, 0]));
    let Attribute::Graph(body) = &graph.nodes[0].attributes[0].1 else { panic!("a graph") };
    assert_eq!(order_of(body, &|name| ["a", "x"].contains(&name)), Ok(vec![0, 1]));
    assert_eq!(
        order(&graph.nodes[1..], ["x"].into_iter(), ["a"].into_iter(), &|_| false),
        Ok(vec![0])
    );
}

#[test]
fn thirty_thousand_shuffled_nodes_are_sorted() {
    const NODES: u64 = 30_000;
    // A chain in the order of a permutation: 7919 has no factor in common with the number of nodes.
    let graph = (0..NODES).fold(Graph::new("g").input("t0", &[1]), |graph, index| {
        let at = index * 7919 % NODES;
        graph.node(Node::new("Relu", &[&format!("t{at}")], &[&format!("t{}", at + 1)]))
    });
    let order = order_of(&model(graph).graph, &|_| false).expect("a chain");
    assert!(order.iter().enumerate().all(|(at, &node)| node as u64 * 7919 % NODES == at as u64));
}

/// The folder of the reference files beside this checkout; `None` where it is absent, with a note.
fn corpus() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/reference/onnx");
    if !folder.is_dir() {
        eprintln!("skipped: {} is absent", folder.display());
        return None;
    }
    Some(folder)
}

#[test]
fn reference_files_have_the_expected_number_of_nodes() {
    let Some(folder) = corpus() else { return };
    let mut table = csv::Reader::from_path(folder.join("expected.csv")).expect("a table");
    for row in table.deserialize::<HashMap<String, String>>() {
        let row = row.expect("a row");
        let path = folder.join(&row["file"]);
        let (model, warnings) = read(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        assert_eq!(model.graph.nodes.len().to_string(), row["nodes"], "{path:?}");
        assert_eq!(warnings, [""; 0], "{path:?}");
        let order = order_of(&model.graph, &|_| false).expect("an order");
        // Exporters write nodes in an order of execution, which stays.
        assert!(order.is_sorted(), "{path:?}");
    }
}

/// A generator of Knuth (section 3.3.4 of The Art of Computer Programming, volume 2), seeded by what it damages.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

/// Reads `bytes` cut off at every 97th byte, of long files at fewer, and with changed bytes.
fn damage(bytes: &[u8]) {
    // The time of all cuts grows with the square of the length.
    let (n_cuts, n_damages) = if cfg!(debug_assertions) { (12, 6) } else { (32, 16) };
    for end in (0..bytes.len()).step_by(97.max(bytes.len() / n_cuts)) {
        let _ = parse(&bytes[..end]);
    }
    let mut random = Random(bytes.len() as u64);
    for _ in 0..n_damages {
        let mut changed = bytes.to_vec();
        for _ in 0..=random.below(8) {
            let at = random.below(changed.len());
            changed[at] = random.below(256) as u8;
        }
        if let Ok((model, _)) = parse(&changed) {
            let _ = order_of(&model.graph, &|_| false);
        }
    }
}

#[test]
fn damaged_files_are_read_or_refused() {
    let graph = convolution()
        .ints("s", &[1, 2])
        .node(Node::new("If", &["y"], &["z"]).graph("then_branch", convolution()));
    damage(&files::Model::new(graph).function(Function::new("l", "F", &["a"], &["b"])).write());
}

#[test]
fn damaged_reference_files_are_read_or_refused() {
    let Some(folder) = corpus() else { return };
    for folder in [folder.join("bad"), folder] {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|end| end == "onnx") {
                let bytes = fs::read(&path).expect("a file");
                // Time grows with the square of the length.
                if !cfg!(debug_assertions) || bytes.len() < 100_000 {
                    damage(&bytes);
                }
            }
        }
    }
}
