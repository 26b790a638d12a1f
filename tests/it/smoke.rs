//! Every shipped file loads and agrees with the paper and the published artifact.
//!
//! Facts of the paper are written out here. Facts of the artifact are checked by a digest, and compared one
//! by one if `../shared` is present.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest as _, Sha256};
use xrsim::config::{Catalog, Edition, Hardware, Kind, Source, maestro};
use xrsim::cost::CostModel as _;
use xrsim::cost::loop_nest::LoopNest;
use xrsim::hardware::Style;
use xrsim::hardware::platform::Resources;
use xrsim::model::{Layer, Network, Operator};
use xrsim::scenario::{DependencyKind, JitterDistribution, QualityDirection, Scenario};
use xrsim::units::{Bytes, ClockRate};

const FOLDERS: [&str; 4] = ["dataflows", "hw_configs", "models", "scenarios"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Inputs and layer tables of the published artifact, if they are present.
fn reference() -> Option<PathBuf> {
    let folder = root().join("../shared/reference/xrbench-mlsys2023");
    if !folder.exists() {
        println!("skipped: {} is absent", folder.display());
    }
    folder.exists().then_some(folder)
}

/// Every shipped file, as a path from the root.
fn shipped() -> Vec<PathBuf> {
    fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
        for entry in folder.read_dir().unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => collect(&path, paths),
                false => paths.push(path),
            }
        }
    }
    let mut paths = Vec::new();
    FOLDERS.iter().for_each(|folder| collect(&root().join(folder), &mut paths));
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    paths.sort();
    paths
}

fn source(path: &Path) -> Arc<Source> {
    Source::read(path).unwrap()
}

/// Inputs with the networks of the artifact.
fn catalog_of_artifact() -> Catalog {
    Catalog::with_networks(Edition::Artifact)
}

fn scenario(name: &str, edition: Edition) -> Arc<Scenario> {
    catalog_of_artifact().scenario(name, edition).unwrap_or_else(|error| panic!("{error}"))
}

fn style(catalog: &mut Catalog, name: &str) -> Style {
    match catalog.hardware(name).unwrap_or_else(|error| panic!("{error}")) {
        Hardware::Style(style) => style,
        other => panic!("{name} is {other:?}"),
    }
}

#[test]
fn every_shipped_file_loads_from_disk() {
    let mut catalog = catalog_of_artifact();
    for path in shipped() {
        if let Err(error) = catalog.check(&path) {
            panic!("{error}");
        }
    }
}

#[test]
fn every_shipped_file_is_embedded_and_found_by_name() {
    let mut catalog = catalog_of_artifact();
    for path in shipped() {
        let name = path.strip_prefix(root()).unwrap().to_str().unwrap().replace('\\', "/");
        let reference = name.strip_suffix(".yaml").unwrap();
        let embedded = catalog.text(reference).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(embedded.name(), name);
        assert_eq!(embedded.text(), source(&path).text());
    }
}

#[test]
fn every_shipped_file_says_where_it_is_from_and_fits_the_page() {
    for path in shipped() {
        let source = source(&path);
        assert!(source.text().starts_with("# "), "{} has no comment", source.name());
        // Their digests stand in records of earlier runs: longer lines stay as they are.
        if ["searches", "technologies"].iter().any(|folder| source.name().contains(folder)) {
            continue;
        }
        for (index, line) in source.text().lines().enumerate() {
            assert!(line.chars().count() <= 110, "{}:{} is too long", source.name(), index + 1);
        }
    }
}

#[test]
fn the_examples_of_the_descriptions_load() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("example.yaml");
    let mut n_examples = 0;
    for name in FOLDERS.into_iter().chain(["scenarios/mlperf", "scenarios/sweeps"]) {
        let text = std::fs::read_to_string(root().join(name).join("README.md")).unwrap();
        // The name of a file may follow: "```yaml file=mine.yaml".
        let blocks = text.split("```yaml").skip(1).filter_map(|rest| rest.split_once('\n'));
        let blocks = blocks.map(|(_, block)| block.split("```").next().unwrap());
        // A block that is indented continues the one before.
        for block in blocks.filter(|block| !block.starts_with(' ')) {
            std::fs::write(&path, block).unwrap();
            catalog_of_artifact().check(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
            n_examples += 1;
        }
    }
    assert_eq!(n_examples, 16);
}

#[test]
fn names_are_listed_and_found_without_regard_to_case() {
    let mut catalog = catalog_of_artifact();
    let names = |kind| catalog.names(kind).join(" ");
    assert_eq!(names(Kind::Network), "AS DE DR ES GE HT KD OD PD SR SS");
    assert_eq!(names(Kind::Dataflow), "OS RS WS");
    assert_eq!(names(Kind::Style), "A B C D E F G H I J K L M");
    assert_eq!(names(Kind::Platform), "artifact eyeriss headset paper");
    assert_eq!(catalog.names(Kind::Scenario).len(), 9);
    let model = catalog.model("ht").unwrap();
    assert_eq!((&*model.task, model.network.name()), ("HT", "HT_hand_graph_cnn_half"));
    assert_eq!(catalog.model("HT_hand_graph_cnn_half").unwrap(), model);
    assert_eq!(catalog.scenario("ar_gaming", Edition::Reference).unwrap().name(), "AR_gaming");
}

#[test]
fn the_suite_is_figure_5() {
    let suite = catalog_of_artifact().suite().unwrap();
    let order = "social_interactionA social_interactionB outdoor_activity_A outdoor_activity_B \
                 AR_Assistant VR_gaming AR_gaming";
    assert_eq!(suite.scenarios.join(" "), order);
    assert_eq!(suite.systems.concat(), "ABCDEFGHIJKLM");
    assert_eq!(suite.pes, [4096, 8192]);
}

/// Models of a scenario in one line: task, rate and dependency.
fn summary(scenario: &Scenario) -> String {
    let task = |id| &*scenario.model(id).unit.task;
    let model = |model: &xrsim::scenario::ActiveModel| {
        let dependency = |dependency: &xrsim::scenario::Dependency| match dependency.kind {
            DependencyKind::Data => format!(" after {}", task(dependency.upstream)),
            DependencyKind::Control { probability } => {
                format!(" if {} ({probability})", task(dependency.upstream))
            }
        };
        let dependencies: String = model.dependencies.iter().map(dependency).collect();
        format!("{} {}{dependencies}", model.unit.task, model.rate.as_fps())
    };
    scenario.models().iter().map(model).collect::<Vec<_>>().join(", ")
}

#[test]
fn scenarios_are_table_2() {
    let expected = [
        ("social_interactionA", "ES 60, GE 60 after ES, DR 30, HT 30"),
        ("social_interactionB", "ES 60, GE 60 after ES, AS 30"),
        ("outdoor_activity_A", "KD 3, SR 3 if KD (0.2), SS 10, OD 30"),
        ("outdoor_activity_B", "KD 3, SR 3 if KD (0.2), OD 30"),
        ("AR_Assistant", "KD 3, SR 3 if KD (0.5), SS 10, DE 30, PD 30, OD 10"),
        ("VR_gaming", "ES 60, GE 60 after ES, HT 45"),
        ("AR_gaming", "HT 45, DE 30, PD 30"),
    ];
    for (name, models) in expected {
        let paper = scenario(name, Edition::Reference);
        assert_eq!((paper.name(), &*summary(&paper)), (name, models));
        // The artifact has plane detection at half the rate, and nothing else differs.
        let artifact = scenario(name, Edition::Artifact);
        assert_eq!((artifact.name(), summary(&artifact)), (name, models.replace("PD 30", "PD 15")));
    }
}

#[test]
fn sensors_are_table_3() {
    let all = scenario("social_interactionA", Edition::Reference);
    let speech = scenario("outdoor_activity_B", Edition::Reference);
    let camera = &all.streams()[0];
    let lidar = &all.streams()[1];
    let microphone = &speech.streams()[1];
    for (stream, name, fps, jitter_ms) in [
        (camera, "camera", 60.0, 0.05),
        (lidar, "lidar", 60.0, 0.05),
        (microphone, "microphone", 3.0, 0.1),
    ] {
        assert_eq!(&*stream.name, name);
        assert_eq!(stream.rate.as_fps(), fps);
        assert_eq!(stream.max_jitter.as_ms(), jitter_ms);
        assert_eq!(stream.initial_latency.ns(), 0);
        assert_eq!(stream.distribution, JitterDistribution::TruncatedNormal);
    }
    let reads = |model: &xrsim::scenario::ActiveModel| {
        model.inputs.iter().map(|id| &*all.streams()[id.index()].name).collect::<Vec<_>>().join("+")
    };
    let inputs: Vec<_> = all.models().iter().map(reads).collect();
    assert_eq!(inputs, ["camera", "camera", "camera+lidar", "camera"]);
}

#[test]
fn quality_goals_are_table_1() {
    let (higher, lower) = (QualityDirection::Higher, QualityDirection::Lower);
    let expected = [
        ("HT", 0.948, higher),
        ("ES", 90.54, higher),
        ("GE", 3.39, lower),
        ("KD", 85.6, higher),
        ("SR", 8.79, lower),
        ("SS", 77.54, higher),
        ("OD", 21.84, higher),
        ("AS", 60.8, higher),
        ("DE", 22.9, lower),
        ("DR", 85.5, higher),
        ("PD", 0.37, higher),
    ];
    let mut catalog = catalog_of_artifact();
    for (task, target, better) in expected {
        let model = catalog.model(task).unwrap();
        let quality = &model.quality;
        assert_eq!((&*model.task, quality.target, quality.better), (task, target, better));
        assert_eq!(quality.measured, None);
        assert!(!model.dataset.is_empty() && !model.title.is_empty());
    }
}

#[test]
fn styles_are_table_5() {
    let expected = [
        ("A", "FDA WS:1"),
        ("B", "FDA OS:1"),
        ("C", "FDA RS:1"),
        ("D", "SFDA WS:1 WS:1"),
        ("E", "SFDA OS:1 OS:1"),
        ("F", "SFDA RS:1 RS:1"),
        ("G", "SFDA WS:1 WS:1 WS:1 WS:1"),
        ("H", "SFDA OS:1 OS:1 OS:1 OS:1"),
        ("I", "SFDA RS:1 RS:1 RS:1 RS:1"),
        ("J", "HDA WS:1 OS:1"),
        ("K", "HDA WS:3 OS:1"),
        ("L", "HDA WS:1 OS:3"),
        ("M", "HDA WS:1 OS:1 WS:1 OS:1"),
    ];
    let mut catalog = catalog_of_artifact();
    for (name, parts) in expected {
        let style = style(&mut catalog, name);
        let shares = style.shares.iter();
        let shares = shares.map(|share| format!(" {}:{}", share.dataflow.name(), share.pes));
        let found = format!("{}{}", style.class, shares.collect::<String>());
        assert_eq!((&*style.name, &*found), (name, parts));
    }
}

#[test]
fn every_style_becomes_a_system_on_every_platform_of_xr() {
    let mut catalog = catalog_of_artifact();
    for platform in ["paper", "headset", "artifact"] {
        let platform = catalog.platform(platform).unwrap();
        for name in catalog.names(Kind::Style) {
            let style = style(&mut catalog, &name);
            for pes in [4096, 8192] {
                let system = style.instantiate(pes, &platform).unwrap();
                assert_eq!((system.name(), system.pes()), (&*name, u64::from(pes)));
            }
        }
    }
}

/// LPDDR5-6400 on 64 bits has 51.2 GB/s, of which half is for the networks. The scratchpads are the least
/// powers of two that hold the tiles.
#[test]
fn the_headset_runs_every_network_with_half_of_its_dram_bandwidth() {
    let mut catalog = Catalog::new();
    let platform = catalog.platform("headset").expect("it is embedded");
    for name in ["A", "B", "C"] {
        let system = style(&mut catalog, name).instantiate(4096, &platform).expect("it fits");
        let [accelerator] = system.accelerators() else { panic!("{name} has one accelerator") };
        let bytes_per_us = accelerator.memory.dram_bandwidth * 800;
        assert_eq!(
            (accelerator.clock, bytes_per_us),
            (ClockRate::from_mhz(800.0).unwrap(), 25_600)
        );
        let mut smaller = accelerator.clone();
        smaller.memory.scratchpad = Bytes::new(accelerator.memory.scratchpad.get() / 2);
        let mut fits_in_less = true;
        for task in catalog.names(Kind::Network) {
            let network = catalog.network(&task).expect("it is embedded");
            let cost = LoopNest.network(&network, accelerator);
            assert!(cost.is_ok(), "{task} on {name}: {cost:?}");
            fits_in_less &= LoopNest.network(&network, &smaller).is_ok();
        }
        assert!(name == "C" || !fits_in_less, "{name}");
    }
}

#[test]
fn equal_references_share_one_value() {
    let mut catalog = catalog_of_artifact();
    let a = catalog.scenario("outdoor_activity_A", Edition::Artifact).unwrap();
    let b = catalog.scenario("outdoor_activity_B", Edition::Artifact).unwrap();
    // Object detection is one network with two names in the artifact.
    let (in_a, in_b) = (&a.models()[3], &b.models()[2]);
    assert_eq!(
        (in_a.unit.network.name(), in_b.unit.network.name()),
        ("OD_D2go_FasterRCNN", "D2go_FastRCNN")
    );
    assert_eq!(in_a.unit.network.layers(), in_b.unit.network.layers());
    assert!(Arc::ptr_eq(&a.models()[0].unit.network, &b.models()[0].unit.network));
    let j = style(&mut catalog, "J");
    let m = style(&mut catalog, "M");
    assert!(Arc::ptr_eq(&j.shares[0].dataflow, &m.shares[2].dataflow));
}

#[test]
fn used_files_are_recorded_with_their_digest() {
    let mut catalog = catalog_of_artifact();
    catalog.scenario("VR_gaming", Edition::Reference).unwrap();
    catalog.scenario("VR_gaming", Edition::Reference).unwrap();
    let names: Vec<_> = catalog.inputs().into_iter().map(|file| file.name).collect();
    let models = ["ES", "GE", "HT"].map(|task| format!("models/artifact/{task}.yaml"));
    let scenarios = ["VR_gaming", "sensors"].map(|name| format!("scenarios/{name}.yaml"));
    assert_eq!(names, [&models[..], &scenarios[..]].concat());
    let digest = |bytes: &[u8]| hex(&Sha256::digest(bytes));
    let on_disk = source(&root().join("scenarios/sensors.yaml"));
    assert_eq!(catalog.inputs()[4].sha256, digest(on_disk.text().as_bytes()));
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The networks of the artifact by its names. Two names mean one network.
fn artifact_networks() -> BTreeMap<String, Arc<Network>> {
    let mut catalog = catalog_of_artifact();
    let mut networks = BTreeMap::new();
    for name in catalog.suite().unwrap().scenarios {
        let scenario = catalog.scenario(&name, Edition::Artifact).unwrap();
        for model in scenario.models() {
            networks.insert(model.unit.network.name().to_string(), Arc::clone(&model.unit.network));
        }
    }
    networks
}

/// A row of the tables of the artifact: name, type, N, K, C, Y, X, R, S.
fn row(layer: &Layer) -> String {
    let extents = layer.operator.extents().expect("the artifact knows convolutions only");
    let extents = extents.map(|extent| extent.to_string()).join(",");
    format!("{},{},{extents}", layer.name, layer.operator.name())
}

fn fits(operator: &Operator) -> bool {
    matches!(operator, Operator::Conv(shape) if shape.kernel_fits().is_ok())
}

#[test]
fn the_networks_are_the_artifacts_by_count_and_digest() {
    let networks = artifact_networks();
    assert_eq!(networks.len(), 12);
    let layers: Vec<_> = networks.values().flat_map(|network| network.layers()).collect();
    assert_eq!(layers.len(), 1439);
    let shapes: BTreeSet<_> = layers.iter().map(|layer| layer.operator).collect();
    assert_eq!(shapes.len(), 328);
    let unfit = shapes.iter().filter(|operator| !fits(operator)).count();
    assert_eq!(unfit, 4);
    // SHA-256 of the same rows from the tables of the artifact, with the networks in order of name.
    let rows = networks.iter().flat_map(|(name, network)| {
        network.layers().iter().map(move |layer| format!("{name},{}\n", row(layer)))
    });
    let text: String = rows.collect();
    let digest = hex(&Sha256::digest(text.as_bytes()));
    assert_eq!(digest, "c7b642acc92421fad87c888f7ba5d5ea48be90a4659f948aa0c6fec1b85d93aa");
}

#[test]
fn the_networks_are_the_artifacts_layer_by_layer() {
    let Some(reference) = reference() else { return };
    let read = |name: &str| {
        let mut reader = csv::Reader::from_path(reference.join("layer_costs").join(name)).unwrap();
        reader.records().map(Result::unwrap).collect::<Vec<_>>()
    };
    // type,N,K,C,Y,X,R,S by shape id
    let shapes = read("shapes.csv");
    let shape = |id: &str| {
        shapes[id.parse::<usize>().unwrap()].iter().skip(1).collect::<Vec<_>>().join(",")
    };
    let mut expected: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for record in read("model_layers.csv") {
        let layers = expected.entry(record[0].to_string()).or_default();
        layers.push(format!("{},{}", &record[2], shape(&record[3])));
    }
    let networks = artifact_networks();
    let found = networks
        .into_iter()
        .map(|(name, network)| (name, network.layers().iter().map(row).collect::<Vec<_>>()));
    assert_eq!(found.collect::<BTreeMap<_, _>>(), expected);
}

#[test]
fn dataflows_are_the_artifacts() {
    let Some(reference) = reference() else { return };
    let mut catalog = catalog_of_artifact();
    for name in catalog.names(Kind::Dataflow) {
        let path = reference.join(format!("inputs/dataflows/single/{name}.m"));
        let artifact = maestro::parse_dataflows(&source(&path)).unwrap();
        let shipped = catalog.dataflow(&name).unwrap();
        let [artifact] = &artifact[..] else { panic!("{name}") };
        assert_eq!(artifact.name(), shipped.name());
        assert_eq!(artifact.directives(), shipped.directives());
    }
}

#[test]
fn the_platform_is_the_artifacts_hardware_files() {
    let Some(reference) = reference() else { return };
    let platform = catalog_of_artifact().platform("artifact").unwrap();
    let Resources::Tables(tables) = &platform.resources else {
        panic!("tables");
    };
    assert_eq!(tables.len(), 10);
    for table in tables {
        let folder = table.name.split('_').next().unwrap().to_lowercase();
        let path = reference.join(format!("inputs/hw_configs/{folder}/{}.m", table.name));
        assert_eq!(
            maestro::parse_hardware(&source(&path)).unwrap(),
            table.instances,
            "{}",
            table.name
        );
    }
}

#[test]
fn scenarios_of_the_artifacts_edition_are_its_files() {
    let Some(reference) = reference() else { return };
    for name in catalog_of_artifact().suite().unwrap().scenarios {
        let path = reference.join(format!("inputs/usage_scenarios/{name}.m"));
        let artifact = maestro::scenario(&source(&path), &name).unwrap();
        let ours = scenario(&name, Edition::Artifact);
        assert_eq!(ours.models().len(), artifact.models().len(), "{name}");
        for (ours, artifact) in ours.models().iter().zip(artifact.models()) {
            assert_eq!(ours.unit.network.name(), artifact.unit.network.name());
            assert_eq!(ours.unit.network.layers(), artifact.unit.network.layers());
            assert_eq!(ours.rate, artifact.rate);
            let upstream = |model: &xrsim::scenario::ActiveModel| {
                // The paper calls a certain trigger a data dependency (section 4.1).
                let chance = |kind| match kind {
                    DependencyKind::Data => 1.0,
                    DependencyKind::Control { probability } => probability,
                };
                let pairs = model.dependencies.iter().map(|d| (d.upstream, chance(d.kind)));
                pairs.collect::<Vec<_>>()
            };
            assert_eq!(upstream(ours), upstream(artifact));
        }
    }
}
