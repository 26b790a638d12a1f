//! Networks of MLPerf: sizes, graphs, every operator, and runs.

use crate::support;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use support::operators::{self, Reads, Row, differences, producers, unread};
use xrsim::config::{Catalog, Hardware, Model};
use xrsim::cost::CostModel as _;
use xrsim::cost::loop_nest::LoopNest;
use xrsim::hardware::Accelerator;
use xrsim::model::{ConvKind, ConvShape, Operator, Padding, Source, VectorOp};

/// Row of the table of totals.
#[derive(Debug, serde::Deserialize)]
struct Size {
    network: String,
    layers: usize,
    macs: u64,
    weights: u64,
    parameters: u64,
    parameters_folded: u64,
    published_parameters: Option<u64>,
    published_macs: Option<u64>,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Totals of every network, by an independent count and as published.
fn sizes() -> Vec<Size> {
    let path = root().join("tests/reference/mlperf_networks.csv");
    let mut reader = csv::Reader::from_path(path).unwrap();
    let sizes: Vec<Size> = reader.deserialize().map(Result::unwrap).collect();
    assert_eq!(sizes.len(), 13);
    sizes
}

fn model(name: &str) -> Arc<Model> {
    Catalog::new().model(name).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn sizes_are_those_of_the_reference_tables() {
    for size in sizes() {
        let model = model(&size.network);
        let network = &model.network;
        let parameters = network.weights() + model.other_parameters;
        assert_eq!(network.layers().len(), size.layers, "{}: layers", size.network);
        assert_eq!(network.macs(), size.macs, "{}: multiply-accumulates", size.network);
        assert_eq!(network.weights(), size.weights, "{}: weights", size.network);
        assert_eq!(parameters, size.parameters, "{}: parameters", size.network);
        let folded = parameters - model.batch_norm_channels;
        assert_eq!(folded, size.parameters_folded, "{}: folded parameters", size.network);
    }
}

/// Deviation of parameters and multiply-accumulates from the published ones [%], to a tenth.
#[rustfmt::skip]
const DEVIATIONS: [(&str, [Option<f64>; 2]); 13] = [
    ("resnet50", [Some(-0.2), Some(-0.3)]),
    ("mobilenet_v1", [Some(0.8), Some(0.0)]),
    // The published parameters are not those of the reference model.
    ("ssd_resnet34", [Some(-45.0), Some(0.0)]),
    ("ssd_mobilenet_v1", [Some(-1.3), Some(0.2)]),
    ("gnmt", [Some(0.4), None]),
    ("mobilenet_edgetpu", [Some(1.8), None]),
    ("ssd_mobilenet_v2", [Some(-1.0), Some(-0.7)]),
    ("ssd_mobilenet_v2_quant", [None, None]),
    ("mobiledet", [Some(-1.3), Some(0.2)]),
    // Published rounded to 2 M; the count of operations probably lacks the decoder.
    ("deeplabv3plus", [Some(12.8), Some(95.5)]),
    ("mobilebert", [Some(-1.7), None]),
    ("mosaic", [None, Some(-9.6)]),
    ("edsr", [Some(0.0), None]),
];

#[test]
fn deviations_from_published_sizes_are_the_known_ones() {
    for (size, (name, known)) in sizes().iter().zip(DEVIATIONS) {
        assert_eq!(size.network, name);
        let model = model(name);
        let published = model.published.as_ref();
        let published = published.map_or([None; 2], |found| [found.parameters, found.macs]);
        assert_eq!(published, [size.published_parameters, size.published_macs], "{name}");
        for ((found, published), known) in
            [size.parameters, size.macs].into_iter().zip(published).zip(known)
        {
            let deviation = published.map(|published| found as f64 / published as f64 - 1.0);
            let tenths = deviation.map(|deviation| (deviation * 1000.0).round() / 10.0);
            assert_eq!(tenths, known, "{name}");
        }
    }
}

/// The files state unresolved differences, which `xrsim show` prints.
#[test]
fn unresolved_deviations_are_stated() {
    let unresolved = ["ssd_resnet34", "deeplabv3plus", "mobilebert", "mosaic"];
    for size in sizes() {
        let model = model(&size.network);
        let stated = model.deviations.iter().any(|text| text.starts_with("Unresolved"));
        assert_eq!(stated, unresolved.contains(&&*size.network), "{}", size.network);
        assert!(!model.deviations.is_empty(), "{}: every network has some choice", size.network);
    }
    let unverified = &model("mobilebert").deviations[1];
    assert!(unverified.contains("unverified") && unverified.contains("-5.5 %"), "{unverified}");
}

#[test]
fn texts_name_the_computed_sizes() {
    let readme = std::fs::read_to_string(root().join("models/README.md")).unwrap();
    for Size { network, layers, macs, parameters, .. } in sizes() {
        let (millions, giga) = (parameters as f64 / 1e6, macs as f64 / 1e9);
        let row = format!(" | {layers} | {millions:.3} M | {giga:.4} |");
        let start = format!("| `{network}` |");
        let mut rows = readme.lines().filter(|line| line.starts_with(&start));
        assert!(rows.next().is_some_and(|line| line.contains(&row)), "{network}: {row}");

        let text = Catalog::new().text(&network).unwrap();
        let header = text.text().split("network:").next().unwrap().replace("\n# ", " ");
        let sizes = format!(" {layers} layers, {millions:.3} M parameters, {giga:.3} GMACs.");
        assert!(header.contains(&sizes), "{network}: {sizes}");
    }
}

#[test]
fn networks_go_by_file_or_declared_name_in_any_case() {
    let mut catalog = Catalog::new();
    let names: Vec<_> = sizes().into_iter().map(|size| size.network).collect();
    let listed = catalog.mlperf_networks();
    assert_eq!(BTreeSet::from_iter(&names), BTreeSet::from_iter(&listed));
    for name in ["resnet50", "ResNet50", "mlperf/resnet50", "resnet50_v1.5_224"] {
        assert_eq!(catalog.network(name).unwrap().name(), "resnet50_v1.5_224", "{name}");
    }
    let error = catalog.network("resnet-50").unwrap_err().to_string();
    assert!(error.contains("did you mean `resnet50`?"), "{error}");
}

/// Batch normalisations follow convolutions without bias, which are all except those of boxes and classes.
/// The biases of the latter and of classifiers are the rest of the parameters.
#[test]
fn normalised_channels_are_those_of_convolutions_inside_the_network() {
    for size in sizes().iter().filter(|size| size.parameters != size.parameters_folded) {
        let model = model(&size.network);
        let layers = model.network.layers();
        let suppression = layers.len() - 1;
        let heads = match layers[suppression].operator {
            Operator::Vector(shape) if shape.op == VectorOp::Nms => producers(layers, suppression),
            _ => BTreeSet::new(),
        };
        let (mut normalised, mut biased) = (0, 0);
        for (index, layer) in layers.iter().enumerate() {
            match layer.operator {
                Operator::Conv(shape) if heads.contains(&Some(index)) => biased += shape.k,
                Operator::Conv(shape) => normalised += shape.output_channels(),
                Operator::Matmul(shape) => biased += shape.k,
                Operator::Vector(_) => {}
            }
        }
        if size.network == "ssd_resnet34" {
            // Its further features, 256 + 512 four more times less, have biases instead.
            let features = [256, 512, 256, 512, 128, 256, 128, 256, 128, 256].iter().sum::<u32>();
            normalised -= features;
            biased += features;
        }
        assert_eq!(u64::from(normalised), model.batch_norm_channels, "{}", size.network);
        assert_eq!(u64::from(2 * normalised + biased), model.other_parameters, "{}", size.network);
    }
}

/// The tensors of all steps of a sentence of GNMT pass through DRAM.
#[test]
fn every_layer_but_the_outputs_is_read() {
    for size in sizes() {
        let model = model(&size.network);
        let layers = model.network.layers();
        let expected: Vec<_> = match &*size.network {
            // Words, the last step of five LSTMs, keys; 25 times the words that a step gives.
            "gnmt" => [0, 25, 50, 75, 100, 125, 126]
                .into_iter()
                .chain((1..=25).map(|step| 126 + 12 * step))
                .collect(),
            _ => vec![size.layers - 1],
        };
        assert_eq!(unread(layers), expected, "{}", size.network);
        let mut sources = layers.iter().flat_map(|layer| &layer.sources);
        assert!(sources.any(|it| *it == Source::Outside), "{} reads from outside", size.network);
    }
}

/// Layers whose input differs from the outputs of their sources: network, class, relation, number of layers.
const DIFFERENCES: &[(&str, &str, Reads, usize)] = &[
    // Of four gates of a cell 1,024 states: the encoder's five LSTMs in their last 24 steps, the
    // query and the words of 25 steps.
    ("gnmt", "GEMM", Reads::Part, 5 * 24 + 3 * 25 + 25 * 2),
    // A word beside its two neighbours.
    ("mobilebert", "concat", Reads::More, 1),
    // The factors of a norm.
    ("mobilebert", "mul", Reads::More, 1 + 24 * 8),
    // One half of the channels.
    ("mosaic", "DSCONV", Reads::Part, 6),
];

#[test]
fn layers_read_what_their_sources_give() {
    for Size { network, .. } in sizes() {
        let known = DIFFERENCES.iter().filter(|(name, ..)| *name == network);
        let known = known.map(|&(_, class, reads, n)| ((class, reads), n));
        assert_eq!(differences(model(&network).network.layers()), known.collect(), "{network}");
    }
}

/// Accelerators of A, B and C (WS, OS and RS) with `pes` PEs on the chip of the paper.
fn accelerators(pes: u32) -> Vec<Accelerator> {
    let mut catalog = Catalog::new();
    let platform = catalog.platform("paper").unwrap();
    let single = ["A", "B", "C"].map(|name| match catalog.hardware(name) {
        Ok(Hardware::Style(style)) => style.instantiate(pes, &platform).unwrap(),
        other => panic!("{name} is {other:?}"),
    });
    single.iter().flat_map(|system| system.accelerators()).cloned().collect()
}

#[test]
fn every_network_runs_under_every_dataflow_at_every_size_of_the_study() {
    for accelerator in [1024, 2048, 4096, 8192].iter().flat_map(|&pes| accelerators(pes)) {
        for size in sizes() {
            let model = model(&size.network);
            let cost = LoopNest
                .network(&model.network, &accelerator)
                .unwrap_or_else(|error| panic!("{}: {error}", size.network));
            let fastest = size.macs / u64::from(accelerator.pes);
            assert!(cost.cycles.get() > fastest, "{} on {}", size.network, accelerator.name);
            assert_eq!(cost.layers.len(), size.layers);
        }
    }
}

/// Table of each network, in the order of the totals.
const TABLES: [&str; 13] = [
    "resnet50_v1.5_224",
    "mobilenet_v1_1.0_224",
    "ssd_resnet34_1200",
    "ssd_mobilenet_v1_300",
    "gnmt_ts25_tt25_beam10",
    "mobilenet_edgetpu_1.0_224",
    "ssd_mobilenet_v2_300",
    "ssd_mobilenet_v2_300_quantvariant",
    "mobiledet_edgetpu_ssd_320",
    "deeplabv3plus_mnv2_512",
    "mobilebert_seq384",
    "mosaic_512",
    "edsr_f32b5_540x960",
];

/// Convolution of a row.
fn conv(row: &Row, kind: ConvKind) -> ConvShape {
    let [top, bottom, left, right] =
        ["pad_t", "pad_b", "pad_l", "pad_r"].map(|column| row.extent(column));
    let depthwise = kind == ConvKind::Depthwise;
    let [k, groups] = ["K", "groups"].map(|column| row.extent(column));
    let [stride, dilation] = ["stride", "dilation"].map(|column| row.extent(column));
    ConvShape {
        kind,
        n: 1,
        groups: if depthwise { 1 } else { groups },
        k: if depthwise { 1 } else { k },
        c: row.extent("C"),
        y: row.extent("Y"),
        x: row.extent("X"),
        r: row.extent("R"),
        s: row.extent("S"),
        stride_y: stride,
        stride_x: stride,
        dilation_y: dilation,
        dilation_x: dilation,
        padding: Padding { top, bottom, left, right },
    }
}

/// Whether `operator` is that of a row, one of `count` equal ones.
fn is_of(operator: &Operator, row: &Row) -> bool {
    match *operator {
        Operator::Conv(shape) => shape == conv(row, shape.kind),
        Operator::Matmul(shape) => {
            let found = [shape.rows, shape.c, shape.k];
            found == ["Y", "C", "K"].map(|column| row.extent(column))
        }
        Operator::Vector(_) => false,
    }
}

/// Table of a network, if it is available.
fn table(file: &str) -> Option<Vec<Row>> {
    operators::table(&format!("mlperf-models/{file}.csv"))
}

/// Rows with multiply-accumulates of `file`, if it is available, one for each step of GNMT.
fn rows(file: &str) -> Option<Vec<Row>> {
    let rows = table(file)?.into_iter().filter(|row| row.text("macs") != "0").collect();
    Some(if file.starts_with("gnmt") { steps(rows) } else { rows })
}

/// Rows of GNMT in the order of execution: the encoder row by row, the decoder step by step.
fn steps(rows: Vec<Row>) -> Vec<Row> {
    let keys = rows.iter().position(|row| row.text("name") == "attn_memory_layer").unwrap();
    let steps = |row: &Row| vec![row.clone(); row.extent("count") as usize];
    let mut all: Vec<_> = rows[..=keys].iter().flat_map(steps).collect();
    let decoder = &rows[keys + 1..];
    for _ in 0..decoder[0].extent("count") {
        all.extend_from_slice(decoder);
    }
    all
}

#[test]
fn every_layer_with_multiply_accumulates_is_that_of_the_table() {
    for (size, file) in sizes().iter().zip(TABLES) {
        let Some(rows) = rows(file) else { continue };
        let model = model(&size.network);
        let layers = model.network.layers().iter().filter(|layer| layer.operator.macs() > 0);
        let layers: Vec<_> = layers.collect();
        assert_eq!(layers.len(), rows.len(), "{}", size.network);
        for (layer, row) in layers.into_iter().zip(&rows) {
            let place = format!("{} {}: {row:?}", size.network, layer.name);
            assert!(is_of(&layer.operator, row), "{place}");
            let steps = if size.network == "gnmt" { row.number("count") } else { 1 };
            assert_eq!(layer.operator.macs() * steps, row.number("macs"), "{place}");
        }
    }
}

/// Operators without multiply-accumulates that are layers, by their class in the tables.
const CLASSES: [(&str, &str); 9] = [
    ("ADD", "add"),
    ("ARG_MAX", "reduce_max"),
    ("AVGPOOL", "avg_pool"),
    ("CONCAT", "concat"),
    ("DEPTH_TO_SPACE", "concat"),
    ("MAXPOOL", "max_pool"),
    ("NMS", "nms"),
    ("RESIZE", "resize"),
    ("SOFTMAX", "softmax"),
];

/// The operators are in order and have outputs of equal size. Language models have layers that their tables
/// lack.
#[test]
fn every_other_layer_of_vision_models_is_that_of_the_table() {
    for (size, file) in sizes().iter().zip(TABLES) {
        if ["gnmt", "mobilebert"].contains(&&*size.network) {
            continue;
        }
        let Some(rows) = table(file) else { continue };
        let expected = rows.iter().filter_map(|row| {
            let (_, class) = CLASSES.iter().find(|(name, _)| *name == row.text("type"))?;
            let outputs = ["K", "Yo", "Xo"].map(|column| row.number(column));
            let global = *class == "avg_pool" && outputs[1..] == [1, 1];
            let class = if global { "global_pool" } else { class };
            Some((class, outputs.iter().product::<u64>()))
        });
        let model = model(&size.network);
        let found = model.network.layers().iter().filter(|layer| layer.operator.macs() == 0);
        let found = found.map(|layer| (layer.operator.name(), layer.operator.outputs()));
        assert_eq!(found.collect::<Vec<_>>(), expected.collect::<Vec<_>>(), "{}", size.network);
    }
}
