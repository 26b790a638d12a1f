//! Output of `xrsim import` equals its input, name by name and shape by shape.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::{Index, select};

use xrsim::config::{Catalog, Edition, Hardware, Kind, Source, export, maestro};
use xrsim::hardware::platform::Resources;
use xrsim::model::{
    Connections, ConvKind, ConvShape, Layer, MatmulShape, Network, Operator, Padding,
    Source as LayerSource, VectorOp, VectorShape,
};
use xrsim::scenario::Scenario;

/// Writes the imported files of `source` into a fresh folder; gives the folder and their paths.
fn import(source: &Arc<Source>) -> (tempfile::TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir().unwrap();
    let files = export::import(source).unwrap_or_else(|error| panic!("{error}"));
    let write = |(name, text): (String, String)| {
        let path = folder.path().join(name);
        assert!(!path.exists(), "{} twice", path.display());
        std::fs::write(&path, text).unwrap();
        path
    };
    let paths = files.into_iter().map(write).collect();
    (folder, paths)
}

fn network_again(network: &Network) -> Arc<Network> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("again.yaml");
    std::fs::write(&path, export::network(network)).unwrap();
    Catalog::new().network(path.to_str().unwrap()).unwrap_or_else(|error| panic!("{error}"))
}

fn reference(kind: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = folder.join("../shared/reference/xrbench-mlsys2023/inputs").join(kind);
    if !folder.exists() {
        println!("skipped: {} is absent", folder.display());
        return Vec::new();
    }
    let mut paths = Vec::new();
    let mut folders = vec![folder];
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir().unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { paths.push(path) }
        }
    }
    paths.sort();
    paths
}

#[test]
fn embedded_networks_survive_a_round_trip() {
    for (edition, _) in Edition::ALL {
        let mut catalog = Catalog::with_networks(edition);
        for name in [catalog.names(Kind::Network), catalog.mlperf_networks()].concat() {
            let network = catalog.network(&name).unwrap();
            // Extents are written as the numbers that parameters make of them.
            let numbers = (*network).clone().with_parameters(Vec::new());
            assert_eq!(*network_again(&network), numbers);
        }
    }
}

#[test]
fn strange_names_strides_and_kinds_survive_a_round_trip() {
    let shape = |kind, stride_y, stride_x, n| ConvShape {
        kind,
        n,
        k: 1,
        c: 7,
        y: 9,
        x: 8,
        r: 3,
        s: 2,
        stride_y,
        stride_x,
        ..ConvShape::UNIT
    };
    let layers = [
        ("conv1", shape(ConvKind::Conv, 1, 1, 1)),
        ("conv3", shape(ConvKind::Conv, 2, 2, 1)), // the second `conv`: needs its name
        ("conv3", shape(ConvKind::Conv, 2, 1, 5)), // the third: does not
        ("fc1", ConvShape { y: 1, x: 1, r: 1, s: 1, ..shape(ConvKind::Conv, 1, 1, 1) }),
        ("y: [#'\"", shape(ConvKind::Depthwise, 1, 3, 1)),
        ("12", shape(ConvKind::ZeroInserted, 1, 1, 1)),
        ("null", shape(ConvKind::NonGrouped, 4, 4, 1)),
        ("true", ConvShape { r: 10, ..shape(ConvKind::NonGrouped, 1, 1, 1) }),
    ];
    let layer = |(name, shape): (&str, ConvShape)| Layer::new(name, shape);
    let network = Network::new("~ odd: name", layers.map(layer).to_vec()).unwrap();
    let network = network.connected(Connections::Incomplete);
    assert_eq!(*network_again(&network), network);
}

/// Label of an operator in files.
fn label(operator: &Operator) -> &'static str {
    match operator {
        Operator::Conv(shape) => match shape.kind {
            ConvKind::Conv => "conv",
            ConvKind::Depthwise => "dwconv",
            ConvKind::ZeroInserted => "trconv",
            ConvKind::NonGrouped => "ngconv",
            ConvKind::Transposed => "deconv",
        },
        Operator::Matmul(shape) if shape.activations => "batched_matmul",
        Operator::Matmul(_) => "matmul",
        Operator::Vector(shape) => shape.op.name(),
    }
}

prop_compose! {
    /// A convolution; stored rows and columns are drawn, padding is added to them.
    fn conv()(
        kind in select(&ConvKind::ALL),
        n in 1u32..3,
        groups in select(&[1u32, 2, 4]),
        (k, c) in (select(&[4u32, 8]), select(&[4u32, 12])),
        [y, x] in [1u32..12, 1u32..12],
        [r, s] in [1u32..5, 1u32..5],
        [stride_y, stride_x] in [1u32..4, 1u32..4],
        [dilation_y, dilation_x] in [1u32..3, 1u32..3],
        [top, bottom, left, right] in [0u32..3, 0u32..3, 0u32..3, 0u32..3],
    ) -> Operator {
        let padding = Padding { top, bottom, left, right };
        let transposed = kind.0 == ConvKind::Transposed;
        let [dilation_y, dilation_x] = if transposed { [1, 1] } else { [dilation_y, dilation_x] };
        let [y, x] = if transposed { [y, x] } else { [y + top + bottom, x + left + right] };
        let kind = kind.0;
        Operator::Conv(ConvShape {
            kind, n, groups, k, c, y, x, r, s, stride_y, stride_x, dilation_y, dilation_x, padding,
        })
    }
}

fn operator() -> impl Strategy<Value = Operator> {
    let matmul = ([1u32..4, 1u32..4, 1u32..4, 1u32..4], any::<bool>());
    let matmul = matmul.prop_map(|([instances, rows, k, c], activations)| {
        Operator::Matmul(MatmulShape { instances, rows, k, c, activations })
    });
    let vector = (select(&VectorOp::ALL), 0u64..30, 0u64..30, prop::option::of(0u64..1 << 48));
    let vector = vector.prop_map(|((op, ..), inputs, outputs, operations)| {
        let usual = VectorShape::new(op, inputs, outputs, 1);
        let operations = operations.unwrap_or(usual.operations);
        Operator::Vector(VectorShape { operations, ..usual })
    });
    let any = prop_oneof![2 => conv(), 1 => matmul, 2 => vector];
    any.prop_filter("it can exist", |operator| operator.check().is_ok())
}

/// A layer that is not yet at its place: operator, how far back its sources are, whether it shares
/// its weights, and its name unless that follows from its place.
type Draft = (Operator, Vec<u32>, bool, Option<&'static str>);

fn draft() -> impl Strategy<Value = Draft> {
    let name = prop::option::weighted(0.1, select(&["add2", "conv1", "fc1", "no", "a: b"]));
    (operator(), prop::collection::vec(0u32..6, 1..4), any::<bool>(), name)
}

/// A network that draws from a few layers again and again; sources before its first layer are taken
/// as the outside.
fn network(drafts: &[Draft], order: &[Index]) -> Network {
    let mut counts = HashMap::new();
    let layer = |(position, index): (usize, &Index)| {
        let (operator, sources, shares_weights, name) = index.get(drafts);
        let count = counts.entry(label(operator)).or_insert(0);
        *count += 1;
        let name = name.map_or(format!("{}{count}", label(operator)), String::from);
        let mut layer = Layer::new(name, *operator);
        layer.shares_weights = *shares_weights;
        let source = |&back: &u32| match back {
            1.. if back as usize <= position => LayerSource::Back(back),
            _ => LayerSource::Outside,
        };
        layer.sources = sources.iter().map(source).collect();
        layer
    };
    let network = Network::new("drawn", order.iter().enumerate().map(layer).collect()).unwrap();
    network.connected(Connections::Incomplete)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 500,
        rng_seed: proptest::test_runner::RngSeed::Fixed(20230604),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_network_survives_a_round_trip(
        drafts in prop::collection::vec(draft(), 1..4),
        order in prop::collection::vec(any::<Index>(), 1..40),
    ) {
        let network = network(&drafts, &order);
        prop_assert_eq!(&*network_again(&network), &network);
    }
}

const NETWORKS: &str = "
Network KD { FPS: 3
  Layer conv1 { Type: CONV Dimensions { K: 4, C: 3, Y: 8, X: 8, R: 3, S: 3 } } }
Network ../SR { FPS: 3 Dependency { KD } Probability: 0.25
  Layer a { Type: DSCONV Stride { X: 2, Y: 2 } Dimensions { K: 4, C: 4, Y: 8, X: 8, R: 3, S: 3 } } }
";

#[test]
fn a_scenario_of_the_artifact_becomes_files_that_refer_to_each_other() {
    let source = Source::new("some/where/Pair.m", NETWORKS);
    let (folder, paths) = import(&source);
    let names: Vec<_> = paths
        .iter()
        .map(|path| path.strip_prefix(folder.path()).unwrap().to_str().unwrap())
        .collect();
    assert_eq!(names, ["KD.yaml", "_SR.yaml", "Pair.yaml"], "no file leaves its folder");
    same_scenario(&source, &paths[2], "Pair");
}

/// Compares the imported scenario at `path` with the one in the artifact's format.
fn same_scenario(source: &Source, path: &Path, name: &str) {
    let expected = maestro::scenario(source, name).unwrap();
    let mut catalog = Catalog::new();
    let found = catalog.scenario(path.to_str().unwrap(), Edition::Reference);
    let found = found.unwrap_or_else(|error| panic!("{error}"));
    let facts = |scenario: &Scenario| {
        let models = scenario.models().iter().map(|model| {
            let network = model.unit.network.as_ref().clone();
            (network, model.rate, model.dependencies.clone())
        });
        models.collect::<Vec<_>>()
    };
    assert_eq!((found.name(), facts(&found)), (expected.name(), facts(&expected)));
}

#[test]
fn every_scenario_of_the_artifact_survives_a_round_trip() {
    for path in [reference("usage_scenarios"), reference("probability_sweep")].concat() {
        let source = Source::read(&path).unwrap();
        let (_folder, paths) = import(&source);
        same_scenario(&source, paths.last().unwrap(), path.file_stem().unwrap().to_str().unwrap());
    }
}

#[test]
fn every_dataflow_of_the_artifact_survives_a_round_trip() {
    for path in reference("dataflows") {
        let source = Source::read(&path).unwrap();
        let expected = maestro::parse_dataflows(&source).unwrap();
        let (_folder, paths) = import(&source);
        let mut catalog = Catalog::new();
        let again = paths.iter().map(|path| catalog.dataflow(path.to_str().unwrap()).unwrap());
        let again: Vec<_> = again.map(|dataflow| dataflow.as_ref().clone()).collect();
        assert_eq!(again, expected, "{}", path.display());
    }
}

#[test]
fn every_hardware_file_of_the_artifact_survives_a_round_trip() {
    for path in reference("hw_configs") {
        let source = Source::read(&path).unwrap();
        let expected = maestro::parse_hardware(&source).unwrap();
        let (_folder, paths) = import(&source);
        let mut catalog = Catalog::new();
        let platform = catalog.platform(paths[0].to_str().unwrap()).unwrap();
        let Resources::Tables(tables) = &platform.resources else {
            panic!("tables");
        };
        assert_eq!(tables[0].instances, expected, "{}", path.display());
        let direct = Catalog::new().hardware(path.to_str().unwrap()).unwrap();
        assert!(matches!(direct, Hardware::Instances(instances) if instances == expected));
        let shipped = Catalog::new().platform("artifact").unwrap();
        assert_eq!((platform.clock, platform.energy), (shipped.clock, shipped.energy));
    }
}

#[test]
fn files_with_one_name_do_not_overwrite_each_other() {
    let text = NETWORKS.replace("../SR", "kd").replace("KD", "Pair").replace("kd", "PAIR");
    let (_folder, paths) = import(&Source::new("Pair.m", text));
    let names = paths.iter().map(|path| path.file_name().unwrap().to_str().unwrap());
    assert_eq!(names.collect::<Vec<_>>(), ["Pair.yaml", "PAIR-2.yaml", "Pair-3.yaml"]);
}

#[test]
fn the_artifacts_files_are_taken_where_yaml_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("Pair.m");
    std::fs::write(&path, NETWORKS).unwrap();
    let path = path.to_str().unwrap();
    let mut catalog = Catalog::new();
    assert_eq!(catalog.scenario(path, Edition::Reference).unwrap().models().len(), 2);
    assert_eq!(catalog.network(&format!("{path}#KD")).unwrap().name(), "KD");
    let several = catalog.network(path).unwrap_err().to_string();
    assert!(several.contains("2 networks; one is needed here"), "{several}");
    assert!(several.contains("KD, ../SR"), "{several}");
    let unknown = catalog.network(&format!("{path}#DK")).unwrap_err().to_string();
    assert!(unknown.contains("known: KD, ../SR"), "{unknown}");
    assert_eq!(catalog.check(Path::new(path)).unwrap(), Kind::Scenario);
    assert!(Arc::ptr_eq(
        &catalog.network(&format!("{path}#KD")).unwrap(),
        &catalog.network(&format!("{path}#KD")).unwrap(),
    ));
}
