//! The reference edition of the networks: its sizes, its graph, and its operators one by one.

use crate::support;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use support::operators::{Reads, Row, differences, producers, table, unread};
use xrsim::config::{Catalog, Model};
use xrsim::model::{
    ConvKind, ConvShape, Layer, MatmulShape, Network, Operator, Padding, Source, VectorOp,
    VectorShape,
};
use xrsim::scenario::QualityGoal;

/// Size of a network.
struct Size {
    task: &'static str,
    layers: usize,
    macs: u64,
    weights: u64,
    /// Everything that training learns.
    parameters: u64,
    /// Deviation of parameters and multiply-accumulates from the published ones [%], to a tenth.
    deviations_percent: [Option<f64>; 2],
}

/// Sizes by two independent counts of the executed reference code: layer by layer, and by PyTorch's
/// own counter of operations.
#[rustfmt::skip]
const SIZES: [Size; 11] = [
    size("AS", 14, 354_910_976, 743_104, 743_435, [None, None]),
    // A residual unit of 4.72 M parameters is published but never runs.
    size("DE", 129, 4_595_168_256, 16_523_424, 16_600_929, [Some(-20.9), None]),
    size("DR", 52, 14_712_565_760, 13_673_104, 13_684_656, [None, None]),
    size("ES", 73, 1_027_112_960, 247_264, 248_900, [Some(0.0), None]),
    size("GE", 79, 137_999_712, 3_547_376, 3_613_739, [None, None]),
    size("HT", 437, 4_074_868_700, 20_085_504, 20_196_417, [None, None]),
    size("KD", 19, 7_026_618, 19_893, 19_905, [None, None]),
    size("OD", 209, 980_176_368, 5_270_832, 5_306_708, [None, None]),
    size("PD", 252, 34_905_884_672, 70_352_048, 70_526_558, [None, None]),
    size("SR", 531, 769_900_544, 76_032_000, 76_219_392, [None, None]),
    // Counting half of the products of attention would give -1.0 %.
    size("SS", 1027, 15_211_675_648, 8_047_264, 8_149_451, [Some(0.6), Some(7.9)]),
];

const fn size(
    task: &'static str,
    layers: usize,
    macs: u64,
    weights: u64,
    parameters: u64,
    deviations_percent: [Option<f64>; 2],
) -> Size {
    Size { task, layers, macs, weights, parameters, deviations_percent }
}

fn model(task: &str) -> Arc<Model> {
    let model = Catalog::new().model(&format!("reference/{task}"));
    model.unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn sizes_are_those_of_the_executed_reference_code() {
    for size in &SIZES {
        let model = model(size.task);
        let network = &model.network;
        assert_eq!(&*model.task, size.task);
        assert_eq!(network.layers().len(), size.layers, "{}: layers", size.task);
        assert_eq!(network.macs(), size.macs, "{}: multiply-accumulates", size.task);
        assert_eq!(network.weights(), size.weights, "{}: weights", size.task);
        let parameters = network.weights() + model.other_parameters;
        assert_eq!(parameters, size.parameters, "{}: parameters", size.task);
    }
}

#[test]
fn deviations_from_published_sizes_are_the_known_ones() {
    for size in &SIZES {
        let model = model(size.task);
        let published = model.published.as_ref();
        let published = published.map_or([None; 2], |found| [found.parameters, found.macs]);
        let found = [size.parameters, size.macs];
        for ((found, published), known) in
            found.into_iter().zip(published).zip(size.deviations_percent)
        {
            let deviation = published.map(|published| found as f64 / published as f64 - 1.0);
            let tenths = deviation.map(|deviation| (deviation * 1000.0).round() / 10.0);
            assert_eq!(tenths, known, "{}", size.task);
        }
        assert!(!model.deviations.is_empty(), "{}: every network has some choice", size.task);
    }
}

#[test]
fn both_editions_are_for_the_same_tasks_goals_and_sensors() {
    for size in &SIZES {
        let ours = model(size.task);
        let theirs = Catalog::new().model(&format!("artifact/{}", size.task)).unwrap();
        assert_eq!(ours.title, theirs.title);
        assert_eq!(ours.dataset, theirs.dataset);
        // The artifact knows no published qualities.
        let goal = QualityGoal { published: None, ..ours.quality.clone() };
        assert_eq!(goal, theirs.quality);
        assert_eq!(ours.inputs, theirs.inputs);
        assert_ne!(ours.network.name(), theirs.network.name());
    }
}

/// Headers of the files and the table of their description are written by hand.
#[test]
fn texts_name_the_computed_sizes() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/README.md");
    let readme = std::fs::read_to_string(readme).unwrap();
    for &Size { task, layers, macs, parameters, .. } in &SIZES {
        let theirs = Catalog::new().network(&format!("artifact/{task}")).unwrap();
        let millions = parameters as f64 / 1e6;
        let giga = |macs| macs as f64 / 1e9;
        let row = format!(
            " | {layers} | {millions:.3} M | {:.4} | {} | {:.4} |",
            giga(macs),
            theirs.layers().len(),
            giga(theirs.macs())
        );
        let mut rows = readme.lines().filter(|line| line.starts_with(&format!("| {task} |")));
        assert!(rows.next().unwrap().ends_with(&row), "{task}: {row}");

        let text = Catalog::new().text(&format!("reference/{task}")).unwrap();
        let header = text.text().split("network:").next().unwrap().replace("\n# ", " ");
        let layers = layers.to_string().replace("1027", "1,027");
        let macs = match macs {
            ..100_000_000 => format!("{:.3} MMACs", macs as f64 / 1e6),
            _ => format!("{:.3} GMACs", giga(macs)),
        };
        let sizes = format!(" {layers} layers, {millions:.3} M parameters, {macs}.");
        assert!(header.contains(&sizes), "{task}: {sizes}");
    }
}

/// Of PD the refined depth beside the masks. Of SR, for each of its 24 layers, keys, values and
/// memory of the next chunk.
#[test]
fn every_layer_but_the_outputs_is_read() {
    for size in &SIZES {
        let model = model(size.task);
        let layers = model.network.layers();
        let expected = match size.task {
            "PD" => vec![250, 251],
            "SR" => (0..24).flat_map(|n| [13, 14, 15].map(|at| at + 22 * n)).chain([530]).collect(),
            _ => vec![size.layers - 1],
        };
        assert_eq!(unread(layers), expected, "{}", size.task);
        let mut sources = layers.iter().flat_map(|layer| &layer.sources);
        assert!(sources.any(|it| *it == Source::Outside), "{} reads from outside", size.task);
    }
}

/// Views of sources that differ from `whole`: task, class, view, number of layers.
const DIFFERENCES: &[(&str, &str, Reads, usize)] = &[
    // The largest channel, by which the other source is divided on the way in.
    ("AS", "GEMM", Reads::Part, 1),
    ("AS", "max_pool", Reads::Part, 2),
    ("AS", "resize", Reads::Part, 1),
    // The Laplacian is part of the network.
    ("HT", "sparse_product", Reads::More, 16),
    // The depth decoder crops its inputs from the pyramid and its own features.
    ("PD", "CONV", Reads::Part, 3),
    ("PD", "concat", Reads::Part, 2),
    // 5 of 8 classes of mask; depth, image and plane are the same for all 10 detections.
    ("PD", "resize", Reads::Part, 1),
    ("PD", "concat", Reads::More, 2),
    // Depth is one of 70 channels.
    ("PD", "add", Reads::Part, 1),
    // 8 of 10 rows; 2 are right context.
    ("SR", "GEMM", Reads::Part, 1),
    // Queries, keys and values are one tensor, and windows of 7 lines leave a rest unread.
    ("SS", "BMM", Reads::Part, 140),
    // The padding of the windows is cut off again.
    ("SS", "concat", Reads::Part, 24),
    // One half of the channels, or the values out of queries, keys and values.
    ("SS", "DSCONV", Reads::Part, 105),
];

#[test]
fn layers_read_what_their_sources_give() {
    for Size { task, .. } in &SIZES {
        let known = DIFFERENCES.iter().filter(|(name, ..)| name == task);
        let known = known.map(|&(_, class, reads, n)| ((class, reads), n));
        assert_eq!(differences(model(task).network.layers()), known.collect(), "{task}");
    }
}

/// File of each table of operators.
const TABLES: [(&str, &str); 11] = [
    ("AS", "AS_edtcn_gtea_T644"),
    ("DE", "DE_midas_v21_small_256x256"),
    ("DR", "DR_s2d_rgbd_resnet18_upproj_228x912"),
    ("ES", "ES_ritnet_160x100"),
    ("GE", "GE_fbnet_c_160x100_gaze3"),
    ("HT", "HT_handgcn_128x128"),
    ("KD", "KD_res8_narrow_101x40"),
    ("OD", "OD_d2go_frcnn_fbnetv3a_c4_224x299_p30"),
    ("PD", "PD_planercnn_160x160_p1000_d10"),
    ("SR", "alt/SR_emformer_em24l_c320ms_r80ms_l1280ms_m0"),
    ("SS", "SS_hrvit_b1_segformer_512x512"),
];

/// Elements that a row gives.
fn outputs(row: &Row) -> u64 {
    ["N", "count", "K", "Yo", "Xo"].map(|column| row.number(column)).iter().product()
}

/// Positions in `order` of the rows that a row reads; `None` is the outside.
fn sources(row: &Row, order: &[usize]) -> BTreeSet<Option<usize>> {
    let position = |index: &str| {
        let index = index.parse::<usize>().ok()?;
        order.iter().position(|&row| row == index)
    };
    row.text("src").split_whitespace().map(position).collect()
}

/// Indices of rows in the order of our layers: in the modules of SS, every branch stands with its
/// patch embedding and norm, whereas the table has all embeddings, all branches, all norms.
fn order(task: &str, rows: &[Row]) -> Vec<usize> {
    let place = |index: &usize| -> (usize, usize) {
        let name: Vec<_> = rows[*index].text("name").split('.').collect();
        match name[..] {
            ["backbone", "features", module, "patch_embed" | "branches" | "norm", branch, ..] => {
                (module.parse().unwrap(), branch.parse().unwrap())
            }
            ["backbone", "features", module, ..] => (module.parse().unwrap(), 0),
            ["backbone", ..] => (0, 0),
            _ => (usize::MAX, 0),
        }
    };
    let mut order: Vec<_> = (0..rows.len()).collect();
    if task == "SS" {
        order.sort_by_key(place);
    }
    order
}

/// Name of a class in tables of ours.
fn class(row: &Row) -> String {
    match row.text("type") {
        "DWCONV" => "DSCONV".into(),
        "TRCONV" => "DECONV".into(),
        "SPMM" => "sparse_product".into(),
        kept @ ("CONV" | "GEMM" | "BMM") => kept.into(),
        "LAYERNORM" => "layer_norm".into(),
        "BATCHNORM" => "batch_norm".into(),
        "MAXPOOL" => "max_pool".into(),
        "AVGPOOL" => "avg_pool".into(),
        "GLOBALPOOL" => "global_pool".into(),
        "ROIALIGN" => "roi_align".into(),
        name => name.to_lowercase(),
    }
}

/// The convolution of a row. Transposed ones have their input without padding.
fn conv(row: &Row, kind: ConvKind) -> ConvShape {
    let [top, bottom, left, right] =
        ["pad_t", "pad_b", "pad_l", "pad_r"].map(|column| row.extent(column));
    let [y, x] = match kind {
        ConvKind::Transposed => ["Yin", "Xin"],
        _ => ["Y", "X"],
    };
    let depthwise = kind == ConvKind::Depthwise;
    let [stride_y, dilation_y] = ["stride", "dilation"].map(|column| row.extent(column));
    let other = |column, default: u32| row.number_or(column, default.into()) as u32;
    ConvShape {
        kind,
        n: row.extent("count"),
        groups: if depthwise { 1 } else { row.extent("groups") },
        k: if depthwise { 1 } else { row.extent("K") },
        c: row.extent("C"),
        y: row.extent(y),
        x: row.extent(x),
        r: row.extent("R"),
        s: row.extent("S"),
        stride_y,
        stride_x: other("stride_x", stride_y),
        dilation_y,
        dilation_x: other("dilation_x", dilation_y),
        padding: Padding { top, bottom, left, right },
    }
}

/// Rows whose outputs are not those of the table: suppression hands on boxes, where the table repeats
/// the regions that are cut out next; and means over 10 detections are one tensor, not 10.
const OTHER_OUTPUTS: [(&str, &[usize]); 2] =
    [("OD", &[157, 208]), ("PD", &[195, 205, 237, 239, 242, 246])];

/// Rows that read fewer tensors than the table says: of PD one of which only the size is used; of SR
/// a memory of length 0.
fn reads_fewer(task: &str, index: usize, row: &Row) -> bool {
    match task {
        "PD" => [198, 207].contains(&index),
        "SR" => {
            row.text("type") == "CONCAT" && row.number("count") != 42 && row.number("count") != 72
        }
        _ => false,
    }
}

/// Multiply-accumulates of a row. The table has 1,928 nonzeros of the mesh of 320 vertices of HT, the executed code
/// has 1,916.
fn macs(task: &str, row: &Row) -> u64 {
    let macs = row.number("macs");
    match task == "HT" && class(row) == "sparse_product" && macs.is_multiple_of(1928) {
        true => macs / 1928 * 1916,
        false => macs,
    }
}

fn compare(task: &str, layers: &[Layer], at: usize, row: &Row, order: &[usize]) {
    let layer = &layers[at];
    let place = format!("{task} row {} ({})", order[at], layer.name);
    let operator = &layer.operator;
    assert_eq!(operator.name(), class(row), "{place}");
    assert_eq!(operator.macs(), macs(task, row), "{place}");
    let other_outputs =
        OTHER_OUTPUTS.iter().any(|(t, rows)| *t == task && rows.contains(&order[at]));
    assert_eq!(operator.outputs() == outputs(row), !other_outputs, "{place}: outputs");
    let (found, expected) = (producers(layers, at), sources(row, order));
    if reads_fewer(task, order[at], row) {
        assert!(found.is_subset(&expected), "{place}: {found:?} of {expected:?}");
    } else {
        assert_eq!(found, expected, "{place}: sources");
    }
    match operator {
        Operator::Conv(shape) => {
            assert_eq!(*shape, conv(row, shape.kind), "{place}");
            let weights = if layer.shares_weights { 0 } else { shape.weights() };
            assert_eq!(weights, row.number("weights"), "{place}: weights");
        }
        Operator::Matmul(shape) => {
            let found = [shape.instances, shape.rows, shape.c, shape.k];
            assert_eq!(found, ["count", "Y", "C", "K"].map(|column| row.extent(column)), "{place}");
            assert_eq!(operator.weights(), row.number("weights"), "{place}: weights");
        }
        Operator::Vector(shape)
            if matches!(shape.op, VectorOp::MaxPool | VectorOp::AveragePool) =>
        {
            let window = row.number("R") * row.number("S");
            assert_eq!(shape.operations, outputs(row) * window, "{place}: operations");
        }
        Operator::Vector(_) => {}
    }
}

#[test]
fn every_layer_is_that_of_the_table() {
    for (task, file) in TABLES {
        let Some(rows) = table(&format!("xrbench-models/{file}.csv")) else { continue };
        let order = order(task, &rows);
        let model = model(task);
        let layers = model.network.layers();
        assert_eq!(layers.len(), rows.len(), "{task}");
        for (at, &row) in order.iter().enumerate() {
            compare(task, layers, at, &rows[row], &order);
        }
    }
}

/// The network of these lines of `layers:`.
fn read(layers: &str) -> Arc<Network> {
    read_body(&format!("  layers:\n{layers}"))
}

/// The network with these lines after its name.
fn read_body(body: &str) -> Arc<Network> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("network.yaml");
    std::fs::write(&path, format!("network:\n  name: N\n{body}")).unwrap();
    Catalog::new().network(path.to_str().unwrap()).unwrap_or_else(|error| panic!("{error}"))
}

/// Checks that `entry` means `expected`, independent of earlier layers.
fn check(entry: &str, expected: impl Into<Operator>) {
    let network = read_body(&format!(
        "  connections: incomplete\n  layers:\n    - repeat: 3\n      layers: [fc: {{k: 1, c: 1}}]\n    \
         - {entry}\n"
    ));
    assert_eq!(network.layers()[3].operator, expected.into(), "{entry}");
}

#[test]
fn keys_of_convolutions_and_products() {
    check(
        "conv: {n: 2, k: 8, c: 4, y: 10, x: 9, r: 3, s: 2, stride: 2, dilation_x: 3, groups: 2, \
         pad: [1, 0, 2, 1]}",
        ConvShape {
            n: 2,
            groups: 2,
            k: 8,
            c: 4,
            y: 11,
            x: 12,
            r: 3,
            s: 2,
            stride_y: 2,
            stride_x: 2,
            dilation_x: 3,
            padding: Padding { top: 1, bottom: 0, left: 2, right: 1 },
            ..ConvShape::UNIT
        },
    );
    // 5 rows spread to 9, 2 of the kernel around them, 1 cut off above: 10.
    let transposed = ConvShape {
        kind: ConvKind::Transposed,
        k: 2,
        c: 4,
        y: 5,
        x: 5,
        r: 3,
        s: 3,
        stride_y: 2,
        stride_x: 2,
        padding: Padding { top: 1, bottom: 0, left: 1, right: 0 },
        ..ConvShape::UNIT
    };
    assert_eq!(transposed.output_rows(), 10);
    check(
        "deconv: {k: 2, c: 4, y: 5, x: 5, r: 3, s: 3, stride: 2, pad: 1, output_pad: 1}",
        transposed,
    );
    let product = |instances, activations| {
        Operator::Matmul(MatmulShape { instances, rows: 3, k: 5, c: 4, activations })
    };
    check("matmul: {rows: 3, c: 4, k: 5}", product(1, false));
    check("matmul: {instances: 2, rows: 3, c: 4, k: 5}", product(2, false));
    check("batched_matmul: {instances: 8, rows: 3, c: 4, k: 5}", product(8, true));
}

/// Inputs, outputs and operations follow from extents.
#[test]
fn keys_of_vector_operators() {
    let sizes = |op, inputs, outputs, operations| {
        Operator::Vector(VectorShape { op, inputs, outputs, operations })
    };
    // Three tensors of 4 x 5; one without a source of its own is the layer before.
    check("add: {k: 4, y: 5, from: [1, 2, 0]}", sizes(VectorOp::Add, 60, 20, 20));
    check("add: {k: 4, y: 5}", sizes(VectorOp::Add, 20, 20, 20));
    // A tensor of 2 x 3 x 2 x 2 and 2 x 3 factors.
    check("mul: {n: 2, k: 3, y: 2, x: 2}", sizes(VectorOp::Mul, 30, 24, 24));
    check("concat: {k: 6, y: 2}", sizes(VectorOp::Concat, 12, 12, 0));
    // Windows of 3 x 3 from 8 x 7, one row and column more on every side, give 4 x 4.
    check(
        "max_pool: {k: 2, y: 8, x: 7, r: 3, s: 3, stride: 2, pad: 1}",
        sizes(VectorOp::MaxPool, 112, 32, 288),
    );
    check("avg_pool: {k: 2, y: 8, r: 4, stride: 4}", sizes(VectorOp::AveragePool, 16, 4, 16));
    check("global_pool: {n: 2, k: 8, y: 3, x: 3}", sizes(VectorOp::GlobalPool, 144, 16, 144));
    check("reduce_max: {k: 8, y: 5}", sizes(VectorOp::ReduceMax, 40, 5, 40));
    check("resize: {k: 2, y: 3, x: 4, to_y: 6}", sizes(VectorOp::Resize, 24, 48, 336));
    check("softmax: {n: 2, k: 10, y: 3}", sizes(VectorOp::Softmax, 60, 60, 300));
    check("layer_norm: {k: 10, inputs: 11}", sizes(VectorOp::LayerNorm, 11, 10, 60));
    check("batch_norm: {k: 10, y: 2}", sizes(VectorOp::BatchNorm, 20, 20, 120));
    check(
        "roi_align: {n: 2, k: 3, y: 7, x: 7, inputs: 99}",
        sizes(VectorOp::RoiAlign, 99, 294, 2058),
    );
    check("nms: {n: 30, k: 4, inputs: 500}", sizes(VectorOp::Nms, 500, 120, 120));
    // 4 rows of 3 features and the 7 nonzeros; each of these meets 3 features.
    let sparse = sizes(VectorOp::SparseProduct, 19, 12, 21);
    assert_eq!(sparse.macs(), 21);
    check("sparse_product: {nonzeros: 7, k: 3, y: 4}", sparse);
    check("max_pool: {inputs: 100, outputs: 25}", sizes(VectorOp::MaxPool, 100, 25, 100));
    check(
        "max_pool: {inputs: 100, outputs: 25, operations: 225}",
        sizes(VectorOp::MaxPool, 100, 25, 225),
    );
}

#[test]
fn sources_are_relative_and_blocks_can_be_named() {
    let network = read(
        "    - fc: {k: 1, c: 1}
    - &block
      - fc: {k: 1, c: 1}
      - add: {k: 1, from: [2, 1]}
    - repeat: 2
      layers: *block
    - fc: {k: 1, c: 1, from: 0, shared: true}
",
    );
    let layers = network.layers();
    let names: Vec<_> = layers.iter().map(|layer| &*layer.name).collect();
    assert_eq!(names, ["fc1", "fc2", "add1", "fc3", "add2", "fc4", "add3", "fc5"]);
    assert_eq!(layers[0].sources, [Source::Outside]);
    assert_eq!(layers[1].sources, [Source::Back(1)]);
    for add in [2, 4, 6] {
        assert_eq!(layers[add].sources, [Source::Back(2), Source::Back(1)]);
    }
    assert_eq!(layers[7].sources, [Source::Outside]);
    assert!(layers[7].shares_weights && !layers[5].shares_weights);
}

#[test]
fn a_network_goes_by_its_own_name_in_any_edition() {
    let mut catalog = Catalog::new();
    for (name, layers) in [("KD", 19), ("KD_res8_narrow_101x40", 19), ("KD_res8_narrow", 8)] {
        let network = catalog.network(name).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(network.layers().len(), layers, "{name}");
    }
}

/// Number of layers with multiply-accumulates.
fn mac_layers(network: &Network) -> usize {
    network.layers().iter().filter(|layer| layer.operator.macs() > 0).count()
}

/// Every network of the program says how it was confirmed, and the table of the manual says the same.
#[test]
fn the_table_of_traces_is_that_of_the_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = std::fs::read_to_string(root.join("models/README.md")).unwrap();
    let names = SIZES.iter().map(|size| format!("reference/{}", size.task));
    let mlperf = Catalog::new().mlperf_networks();
    let names = names.chain(mlperf.iter().map(|name| format!("mlperf/{name}")));
    for name in names {
        let model = Catalog::new().model(&name).unwrap();
        let traced = model.traced.as_ref().unwrap_or_else(|| panic!("{name} is not traced"));
        let known = mac_layers(&model.network);
        let equal = match traced.layers {
            0 => "totals only".into(),
            layers => format!("{layers} of {known}"),
        };
        let edges = traced.edges.map_or("-".into(), |edges| edges.to_string());
        let row = format!("| `{name}` | {} | {equal} | {edges} | {}", traced.code, traced.remark);
        let row = format!("{} |", row.trim_end());
        assert!(readme.lines().any(|line| line == row), "{row}");
    }
}

/// Only the heads and the decoders of these could not be executed.
#[test]
fn every_operator_is_traced_but_of_five_networks() {
    let partly = ["gnmt", "mobiledet", "mosaic", "ssd_mobilenet_v2", "ssd_mobilenet_v2_quant"];
    let mut catalog = Catalog::new();
    let names = SIZES.iter().map(|size| size.task.to_string()).chain(catalog.mlperf_networks());
    let names: Vec<_> = names.collect();
    for name in names {
        let model = catalog.model(&name).unwrap();
        let known = mac_layers(&model.network);
        let is_whole = model.traced.as_ref().unwrap().layers as usize == known;
        assert_eq!(is_whole, !partly.contains(&&*name), "{name}");
    }
}
