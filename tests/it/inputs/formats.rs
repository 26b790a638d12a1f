//! Every format of input files, under each of its extensions.

use xrsim::config::{Catalog, ConfigError, Kind, formats};

use crate::support::onnx_files::{Graph, Model, Node};

/// A file of every kind that a format has, in that format.
fn samples(format: &str) -> Vec<(Kind, Vec<u8>)> {
    let embedded = |(kind, reference): (Kind, &str)| {
        let text = Catalog::new().text(reference).unwrap_or_else(|error| panic!("{error}"));
        (kind, text.text().as_bytes().to_vec())
    };
    let layer = "Layer l { Type CONV Dimensions { K 1 C 1 Y 1 X 1 R 1 S 1 } }";
    match format {
        "YAML" => {
            let samples = [
                (Kind::Network, "models/reference/KD"),
                (Kind::Dataflow, "dataflows/WS"),
                (Kind::Style, "hw_configs/A"),
                (Kind::Platform, "hw_configs/paper"),
                (Kind::System, "hw_configs/examples/three_unequal"),
                (Kind::Scenario, "scenarios/VR_gaming"),
                (Kind::Sensors, "scenarios/sensors"),
                (Kind::Suite, "scenarios/suite"),
                (Kind::Sweep, "scenarios/sweeps/pe_scaling"),
                (Kind::Mlperf, "scenarios/mlperf/inference_v0.5"),
                (Kind::Mapspace, "dataflows/mapspaces/ws_like"),
                (Kind::Search, "scenarios/searches/two_way"),
                (Kind::Technology, "hw_configs/technologies/nvdla_28nm"),
                (Kind::Uncertainty, "hw_configs/uncertainties/default"),
                (Kind::Points, "hw_configs/points/rk3588_npu"),
                (Kind::Device, "hw_configs/devices/headset"),
                (Kind::Profile, "scenarios/profiles/evening"),
            ];
            samples.into_iter().map(embedded).collect()
        }
        "MAESTRO" => {
            let samples = [
                (Kind::Network, format!("Network n {{ {layer} }}\n")),
                (Kind::Scenario, format!("Network n {{ FPS 3 {layer} }}\n")),
                (
                    Kind::Dataflow,
                    "Dataflow { SpatialMap(1,1) K; Cluster(4,P); SpatialMap(1,1) C; }\n".into(),
                ),
                (Kind::System, "Accelerator a { num_pes 64 top_noc_bw 128 }\n".into()),
            ];
            samples.map(|(kind, text)| (kind, text.into_bytes())).into()
        }
        "ONNX" => {
            let node = Node::new("Conv", &["x", "w"], &["y"]);
            let graph = Graph::new("g").input("x", &[1, 3, 8, 8]).weight("w", &[4, 3, 1, 1]);
            vec![(Kind::Network, Model::new(graph.node(node).output("y")).write())]
        }
        "SCALE-Sim" => {
            vec![(Kind::Network, b"Layer, M, N, K,\nl, 2, 3, 4,\n".to_vec())]
        }
        other => panic!("give samples of the format {other}"),
    }
}

#[test]
fn every_format_reads_each_of_its_kinds_under_each_of_its_extensions() {
    for format in formats::ALL {
        let samples = samples(format.name);
        let kinds: Vec<_> = samples.iter().map(|(kind, _)| *kind).collect();
        assert!(format.kinds.iter().all(|kind| kinds.contains(kind)), "{format:?} {kinds:?}");
        let folder = tempfile::tempdir().unwrap();
        for (kind, text) in &samples {
            for extension in format.extensions {
                for extension in [extension.to_string(), extension.to_uppercase()] {
                    let path = folder.path().join(format!("sample.{extension}"));
                    std::fs::write(&path, text).unwrap();
                    let found = Catalog::new().check(&path);
                    assert_eq!(found.unwrap_or_else(|error| panic!("{error}")), *kind);
                }
            }
        }
    }
}

#[test]
fn every_format_refuses_damaged_files_at_a_place() {
    for format in formats::ALL {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(format!("sample.{}", format.extensions[0]));
        for (_, text) in samples(format.name) {
            for quarters in 0..4 {
                let part = &text[..text.len() * quarters / 4];
                std::fs::write(&path, part).unwrap();
                match Catalog::new().check(&path) {
                    Ok(kind) => {
                        assert!(!part.is_empty() && format.kinds.contains(&kind), "{part:?}");
                    }
                    Err(ConfigError::Invalid { file, problems }) => {
                        assert!(!problems.is_empty());
                        for problem in problems {
                            assert!(file.text().get(problem.span.clone()).is_some(), "{problem:?}");
                        }
                    }
                    Err(ConfigError::Import { problems, .. }) => assert!(!problems.is_empty()),
                    Err(error) => panic!("{error}: {part:?}"),
                }
            }
        }
    }
}

#[test]
fn every_format_has_extensions_of_its_own_which_make_a_reference_a_path() {
    let mut seen = Vec::new();
    for format in formats::ALL {
        assert!(!format.extensions.is_empty() && !format.kinds.is_empty(), "{format:?}");
        for extension in format.extensions {
            assert!(!seen.contains(extension), "{extension} is of two formats");
            seen.push(extension);
            assert!(extension.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit()));
            let error = Catalog::new().network(&format!("absent.{extension}")).unwrap_err();
            assert!(matches!(error, ConfigError::Unreadable { .. }), "{error}");
            let member = Catalog::new().network(&format!("absent.{extension}#n")).unwrap_err();
            let is_path = matches!(member, ConfigError::Unreadable { .. });
            assert_eq!(is_path, format.has_members, "{member}");
        }
    }
}
