//! Weights that stay in shared memory (docs/explanation/cost-model-loop-nest.md, section 6.11).

use std::fs;
use std::sync::Arc;

use tempfile::TempDir;

use xrsim::config::{Catalog, Kind};
use xrsim::cost::loop_nest::LayerReport;
use xrsim::hardware::{Accelerator, ByteEnergy, HardwareError, MappingSettings, Memory, Noc};
use xrsim::model::Network;
use xrsim::units::Bytes;

use crate::support::binary::{output, path, refused};

fn chip(dataflow: &str, shared: u64) -> Accelerator {
    let dataflow = Catalog::new().dataflow(dataflow).expect("it ships");
    let noc = Noc::of_bandwidths(&[256]).expect("a level");
    let memory = Memory::new(Bytes::new(shared), Bytes::new(512), 32);
    let byte_energy = ByteEnergy { leakage: 0.0, clock: 0.0, ..ByteEnergy::default() };
    Accelerator { byte_energy, ..Accelerator::new("chip", dataflow, 256, noc, memory) }
}

fn network(name: &str) -> Arc<Network> {
    Catalog::new().network(name).expect("it ships")
}

fn with_pinned(
    chip: &Accelerator,
    networks: &[&Arc<Network>],
) -> Result<Accelerator, HardwareError> {
    let names: Vec<String> = (0..networks.len()).map(|it| format!("t{it}")).collect();
    let tasks = names.iter().map(|it| it.as_str().into()).collect();
    let settings = MappingSettings { pinned: Some(tasks), ..MappingSettings::default() };
    let all = names.iter().map(String::as_str).zip(networks.iter().copied()).collect::<Vec<_>>();
    chip.clone().mapped(&settings).with_pinned_weights("the test", &all)
}

fn weights(network: &Network) -> u64 {
    network.layers().iter().map(|it| it.operator.weights()).sum()
}

fn reports(network: &Network, chip: &Accelerator) -> Vec<LayerReport> {
    LayerReport::of_network(network, chip).expect("it runs")
}

/// With room for everything, the weights of a pinned network are what DRAM no longer moves, layer by layer.
#[test]
fn dram_moves_all_but_the_weights() {
    let mut n_layers = 0;
    for name in Catalog::new().names(Kind::Network) {
        let network = network(&name);
        for dataflow in ["WS", "OS", "RS"] {
            let chip = chip(dataflow, 1 << 40);
            let pinned = with_pinned(&chip, &[&network]).expect("it fits");
            assert_eq!(pinned.pinned.bytes(), weights(&network), "{name}");
            let layers = network.layers().iter();
            let pairs = reports(&network, &chip).into_iter().zip(reports(&network, &pinned));
            for (layer, (before, after)) in layers.zip(pairs) {
                let weights = before.dram.weights_read;
                let case = format!("{name} {} {dataflow}", layer.name);
                assert_eq!(before.dram.total_bytes() - after.dram.total_bytes(), weights, "{case}");
                assert_eq!(after.dram.weights_read, 0, "{case}");
                assert!(after.cycles <= before.cycles, "{case}");
                let saved = before.energy.total() - after.energy.total();
                // What comes from DRAM is also written to shared memory.
                let shared = chip.byte_energy.shared_memory_pj(&chip.memory);
                let moved = weights as f64 * (chip.byte_energy.dram + shared);
                assert!((saved - moved).abs() <= 1e-9 * before.energy.total(), "{case}");
                n_layers += u32::from(weights > 0);
            }
        }
    }
    assert!(n_layers > 2_000, "{n_layers}");
}

/// To other networks, pinned weights are shared memory that is not there.
#[test]
fn the_room_is_gone_for_others() {
    let (kept, other) = (network("KD"), network("ES"));
    for shared in [weights(&kept) + 4096, 1 << 17, 1 << 18, 1 << 20] {
        for dataflow in ["WS", "OS", "RS"] {
            let pinned = with_pinned(&chip(dataflow, shared), &[&kept]).expect("it fits");
            let smaller = chip(dataflow, shared - weights(&kept));
            let found = reports(&other, &pinned);
            for (a, b) in found.iter().zip(reports(&other, &smaller)) {
                assert_eq!((a.cycles, a.dram), (b.cycles, b.dram), "{dataflow} {shared}");
            }
        }
    }
}

/// What is in shared memory at once never exceeds it beside the weights of all pinned networks, wherever it did not
/// before.
#[test]
fn nothing_takes_the_room_of_pinned_weights() {
    let (kept, other) = (network("KD"), network("GE"));
    for shared in [1 << 22, 1 << 23] {
        let plain = chip("WS", shared);
        let pinned = with_pinned(&plain, &[&kept, &other]).expect("it fits");
        for (network, shift) in [(&kept, weights(&other)), (&other, weights(&kept))] {
            for (before, it) in reports(network, &plain).iter().zip(reports(network, &pinned)) {
                if before.shared_bytes <= shared {
                    assert!(it.shared_bytes + shift <= shared, "{}", network.name());
                }
            }
        }
    }
}

#[test]
fn weights_that_do_not_fit_are_refused_with_their_sizes() {
    let (a, b) = (network("KD"), network("ES"));
    let sizes = [weights(&a), weights(&b)];
    let chip = chip("WS", sizes[0] + sizes[1] - 1);
    let error = with_pinned(&chip, &[&a, &b]).expect_err("a byte is missing").to_string();
    for number in [sizes[0], sizes[1], sizes[0] + sizes[1], sizes[0] + sizes[1] - 1] {
        assert!(error.contains(&number.to_string()), "{error}");
    }
    with_pinned(&chip, &[&a]).expect("one fits");
}

const SYSTEM: &str = "style:
  name: P
  class: FDA
  pinned: [ES]
  accelerators:
    - dataflow: WS
      pe_share: 1
";

#[test]
fn files_and_settings_are_refused_with_file_and_line() {
    let folder = TempDir::new().expect("a folder");
    let path = path(&folder, "p.yaml");
    fs::write(&path, SYSTEM).expect("a file");
    let in_scenario = |scenario| {
        ["run", "--scenario", scenario, "--system", &path, "--pes", "1024", "--flexibility", "none"]
    };
    output(&in_scenario("VR_gaming"));
    let none = ["--set", "hardware.pinned=none"];
    output(&[&in_scenario("AR_gaming")[..], &none].concat());
    let models = ["p.yaml:4:", "weights of ES", "scenario AR_gaming has the models "];
    let sizes = ["p.yaml:4:", "ES (", "of 65536 bytes"];
    for (scenario, more, wanted) in [
        ("AR_gaming", &[][..], &models[..]),
        ("VR_gaming", &["--set", "hardware.shared_memory_kib=64"], &sizes),
        ("VR_gaming", &["--set", "hardware.pinned=ES+ES"], &["hardware.pinned", "ES+ES"]),
    ] {
        let text = refused(&[&in_scenario(scenario)[..], more].concat());
        for part in wanted {
            assert!(text.contains(part), "{text}");
        }
    }
    fs::write(&path, SYSTEM.replace("[ES]", "[ES, ES]")).expect("a file");
    let twice = refused(&in_scenario("VR_gaming"));
    assert!(twice.contains("p.yaml:4:") && twice.contains("twice"), "{twice}");
}
