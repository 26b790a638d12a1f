//! Widths of the data of layers: files, traffic, energy, choices of mappings, and who ignores them.

use std::sync::Arc;

use xrsim::config::{Catalog, Hardware, Source, export};
use xrsim::cost::loop_nest::{ChosenLoopNest, LayerReport, LoopNest, Width, Widths};
use xrsim::cost::{self, CostModel};
use xrsim::hardware::{Accelerator, ByteEnergy, Flexibility};
use xrsim::mapper::{Chooser, Effort, NetworkMapper, Store};
use xrsim::model::{Bits, Layer, Network, TensorRole};

use crate::support::binary::output;

/// A convolution of 256 inputs, 128 weights and 128 outputs, and a sum of them with themselves.
const NETWORK: &str = "network:
  name: own
  layers:
    - conv: {k: 8, c: 16, y: 4, x: 4, r: 1, s: 1}
    - add: {k: 8, y: 4, x: 4, from: [1, 1]}
";

fn network(text: &str) -> Arc<Network> {
    let mut catalog = Catalog::new();
    catalog.provide(Source::new("own.yaml", text));
    catalog.network("own.yaml").unwrap_or_else(|error| panic!("{error}"))
}

fn problem(from: &str, to: &str) -> String {
    assert!(NETWORK.contains(from), "{from}");
    let mut catalog = Catalog::new();
    catalog.provide(Source::new("own.yaml", NETWORK.replace(from, to)));
    catalog.network("own.yaml").expect_err("it is wrong").to_string()
}

/// The accelerators of the styles A, B and C (WS, OS and RS) with 1,024 PEs.
fn accelerators() -> Vec<Accelerator> {
    let mut catalog = Catalog::new();
    let platform = catalog.platform("paper").expect("it is embedded");
    let of = |name| match catalog.hardware(name) {
        Ok(Hardware::Style(style)) => {
            let system = style.instantiate(1024, &platform).expect("it can be made");
            system.accelerators()[0].clone()
        }
        other => panic!("{name} is {other:?}"),
    };
    ["A", "B", "C"].map(of).to_vec()
}

/// The embedded network `name`, all layers with these bits.
fn with_bits(name: &str, weights: Option<u32>, activations: Option<u32>) -> Network {
    let network = Catalog::new().network(name).expect("it is embedded");
    let bits = Bits { weights, activations };
    let layers = network.layers().iter();
    let layers = layers.map(|it| Layer { bits: bits.of(&it.operator), ..it.clone() }).collect();
    Network::new(network.name(), layers).expect("the layers are right")
}

/// The accelerator with other widths and the same energy of a multiply-accumulate.
fn with_widths(accelerator: &Accelerator, weights: u32, activations: u32) -> Accelerator {
    let mut changed = accelerator.clone();
    let widths = accelerator.datapath.widths;
    let mac = accelerator.byte_energy.mac.unwrap_or_else(|| ByteEnergy::mac_pj(&widths));
    changed.byte_energy.mac = Some(mac);
    let [weight, activation] = [weights, activations].map(Width::of_bits);
    let partial_sum = widths.partial_sum.max(activation);
    changed.datapath.widths = Widths { input: activation, weight, partial_sum, output: activation };
    changed
}

fn reports(network: &Network, accelerator: &Accelerator) -> Vec<LayerReport> {
    LayerReport::of_network(network, accelerator).expect("it runs")
}

#[test]
fn a_layer_has_its_own_bits_or_those_of_its_network() {
    let text = NETWORK.replace("  layers", "  bits: {weights: 4, activations: 16}\n  layers");
    let text = text.replace("s: 1}", "s: 1, bits: {activations: 6}}");
    let network = network(&text);
    let bits: Vec<_> = network.layers().iter().map(|layer| layer.bits).collect();
    let of = |weights, activations| Bits { weights, activations };
    assert_eq!(bits, [of(Some(4), Some(6)), of(None, Some(16))]);
    let written = export::network(&network);
    assert!(written.contains("bits: {activations: 6, weights: 4}"), "{written}");
    assert_eq!(*self::network(&written), *network);
    assert!(!export::network(&self::network(NETWORK)).contains("bits"));
}

#[test]
fn wrong_bits_are_refused() {
    assert_eq!(
        problem("s: 1}", "s: 1, bits: {weights: 0, activations: 65}}"),
        "own.yaml:4:67: expected a whole number from 1 to 64, found `0`\n\
         own.yaml:4:83: expected a whole number from 1 to 64, found `65`"
    );
    let unknown = problem("s: 1}", "s: 1, bits: {weight: 4}}");
    assert!(unknown.contains("has no key `weight` (did you mean `weights`?)"), "{unknown}");
    let none = problem("from: [1, 1]}", "from: [1, 1], bits: {weights: 4}}");
    assert!(none.starts_with("own.yaml:5:") && none.contains("`add` has no weights"), "{none}");
}

/// 256 inputs, 128 weights and 128 outputs, each moved once; the sum of the second layer stays on chip but for
/// its 128 outputs.
#[test]
fn traffic_follows_the_bits_of_the_layer() {
    let plain = network(NETWORK);
    let narrow = NETWORK.replace("s: 1}", "s: 1, bits: {weights: 4}}");
    let wide = NETWORK.replace("  layers", "  bits: {activations: 16}\n  layers");
    for accelerator in accelerators() {
        let before = reports(&plain, &accelerator);
        let expected = |inputs, weights, outputs| [inputs, weights, 0, outputs];
        let dram = |it: &LayerReport| {
            let it = it.dram;
            [it.inputs_read, it.weights_read, it.partial_sums_read, it.outputs_written]
        };
        assert_eq!(dram(&before[0]), expected(256, 128, 0));
        let half = reports(&network(&narrow), &accelerator);
        assert_eq!(dram(&half[0]), expected(256, 64, 0));
        assert_eq!(half[1], before[1]);
        let double = reports(&network(&wide), &accelerator);
        assert_eq!(dram(&double[0]), expected(512, 128, 0));
        assert_eq!(dram(&double[1]), expected(0, 0, 2 * dram(&before[1])[3]));
        let sent = |it: &LayerReport| it.levels[0].sent;
        let [counts, sums] = [sent(&before[0]), sent(&double[0])];
        assert_eq!((counts, sent(&half[0])), (sums, counts), "elements do not change");
        let noc = |it: &LayerReport| it.noc_bytes;
        assert_eq!(noc(&before[0]) - noc(&half[0]), counts.weight / 2);
        assert_eq!(noc(&double[0]) - noc(&before[0]), counts.input);
        for (index, changed) in [&half[0], &double[0]].into_iter().enumerate() {
            assert_eq!(changed.compute_cycles, before[0].compute_cycles);
            assert_eq!(changed.energy.mac, before[0].energy.mac);
            let is_more = changed.energy.total() > before[0].energy.total();
            assert_eq!(is_more, index == 1, "{index}");
        }
    }
}

/// Networks in which no operator multiplies activations have the costs of hardware with these widths.
#[test]
fn layers_of_some_widths_cost_as_on_hardware_of_these_widths() {
    for (weights, activations) in [(4, 16), (8, 8), (3, 11), (64, 64)] {
        for accelerator in accelerators() {
            let wide = with_widths(&accelerator, weights, activations);
            for name in ["KD", "ES", "GE"] {
                let own = with_bits(name, Some(weights), Some(activations));
                let plain = with_bits(name, None, None);
                let expected = LayerReport::of_network(&plain, &wide);
                assert_eq!(LayerReport::of_network(&own, &accelerator), expected, "{name}");
                let local = |network, accelerator| LoopNest.local_buffers(network, accelerator);
                assert_eq!(local(&own, &accelerator), local(&plain, &wide), "{name}");
            }
        }
    }
}

#[test]
fn accelerators_that_differ_in_their_memory_cost_alike_together_and_alone() {
    let network = with_bits("KD", Some(4), Some(16));
    let first = accelerators().remove(0);
    let mut second = first.clone();
    second.memory.shared = xrsim::units::Bytes::new(20_000);
    let all = [first, second];
    let together = LoopNest.networks(&network, &all);
    let alone: Vec<_> = all.iter().map(|it| LoopNest.network(&network, it)).collect();
    assert_eq!(together, alone);
}

/// Choices for one width are not taken for another, in whatever order they are asked for.
#[test]
fn choices_are_kept_apart_by_width() {
    let mut accelerator = accelerators().remove(0);
    accelerator.flexibility = Flexibility::Tiles;
    let networks = [with_bits("KD", None, None), with_bits("KD", Some(2), Some(32))];
    let cost = |store: &Arc<Store>, network: &Network| {
        let chooser = Chooser::new(Effort::QUICK, Arc::clone(store));
        let model = ChosenLoopNest::new(Arc::new(chooser));
        model.network(network, &accelerator).expect("it runs")
    };
    let alone = networks.each_ref().map(|network| cost(&Arc::default(), network));
    let store = Arc::default();
    assert_eq!(networks.each_ref().map(|network| cost(&store, network)), alone);
    assert_eq!(cost(&store, &networks[0]), alone[0]);
    let wide = with_widths(&accelerator, 2, 32);
    let model = ChosenLoopNest::new(Arc::new(Chooser::new(Effort::QUICK, Arc::default())));
    let layers = model.network(&networks[0], &wide).expect("it runs").layers;
    assert_eq!(layers, alone[1].layers);
}

#[test]
fn layers_of_one_shape_and_several_widths_are_apart() {
    let layer = "    - conv: {k: 8, c: 8, y: 4, x: 4, r: 1, s: 1";
    let text = format!(
        "network:\n  name: own\n  layers:\n{layer}}}\n{layer}, bits: {{weights: 4}}}}\n{layer}}}\n"
    );
    let network = network(&text);
    assert_eq!(network.operators().len(), 2);
    assert_eq!(network.bits().iter().map(|bits| bits.weights).collect::<Vec<_>>(), [None, Some(4)]);
    let batched = network.batched(2).expect("it is small");
    assert_eq!(batched.bits(), network.bits());
    let accelerator = accelerators().remove(0);
    let reports = reports(&network, &accelerator);
    let weights = reports.iter().map(|it| it.dram.weights_read).collect::<Vec<_>>();
    assert_eq!(weights, [64, 32, 64]);
    let mut mapper = NetworkMapper::new(accelerator, vec![]);
    mapper.effort = Effort::QUICK;
    let mapped = mapper.map(&[network], None, &|_, _| {}).remove(0);
    let energies = mapped.layers.iter().map(|it| it.value.energy_pj).collect::<Vec<_>>();
    assert_eq!(energies.len(), 3);
    assert!(energies[1] < energies[0] && energies[1] < energies[2], "{energies:?}");
}

#[test]
fn the_roofline_follows_the_bits_and_maestro_ignores_them() {
    let accelerator = accelerators().remove(0);
    let find = |name: &str| {
        let entry = cost::ALL.iter().find(|it| it.name == name).expect("there is such a model");
        (entry.build.expect("it needs no file"))()
    };
    let text = NETWORK.replace("  layers", "  bits: {weights: 4, activations: 16}\n  layers");
    let (plain, own) = (network(NETWORK), network(&text));
    let bytes = |network: &Network| {
        let cost = find("roofline").network(network, &accelerator).expect("it runs");
        cost.layers.iter().map(|layer| layer.dram_bytes).collect::<Vec<_>>()
    };
    assert_eq!(bytes(&plain), [256 + 128 + 128, 256 + 128]);
    assert_eq!(bytes(&own), [2 * 256 + 64 + 2 * 128, 2 * (256 + 128)]);
    let maestro = |network: &Network| find("maestro").network(network, &accelerator);
    let conv = |network: &Network| {
        Network::new("conv", network.layers()[..1].to_vec()).expect("it has a layer")
    };
    assert_eq!(maestro(&conv(&plain)), maestro(&conv(&own)));
}

#[test]
fn a_narrow_network_is_shown_with_its_size() {
    let folder = tempfile::tempdir().expect("there is a folder");
    let path = folder.path().join("own.yaml");
    let text = NETWORK.replace("  layers", "  bits: {weights: 4}\n  layers");
    std::fs::write(&path, text).expect("it can be written");
    let shown = output(&["show", path.to_str().expect("it is UTF-8")]);
    assert!(shown.contains("# weights: 128 (0.000 MiB at 4 bit)"), "{shown}");
    let accelerator = accelerators().remove(0);
    assert_eq!(accelerator.dram_bytes(TensorRole::Weight, 128), 128);
}

/// A context switch moves weights and live activations at their bits: 4 bits are less energy than those of the
/// hardware, and 8 bits are the same.
#[test]
fn context_switches_move_the_bits_of_a_network() {
    let folder = tempfile::tempdir().expect("there is a folder");
    let run = |bits: &str| {
        let text = NETWORK.replace("  layers", &format!("{bits}  layers"));
        let scenario = "scenario:\n  name: two\n  models:\n    \
                        - {network: own.yaml, task: A, fps: 60}\n    \
                        - {network: own.yaml, task: B, fps: 30}\n";
        let path = folder.path().join("scenario.yaml");
        std::fs::write(folder.path().join("own.yaml"), text).expect("it can be written");
        std::fs::write(&path, scenario).expect("it can be written");
        let words = ["run", "--scenario", path.to_str().expect("it is UTF-8"), "--system", "A"];
        let more = ["--pes", "1024", "--flexibility", "none", "--format", "csv"];
        let effects =
            ["--set", "effects.switch=true", "--set", "effects.switch_dram_pj_per_bit=1e9"];
        output(&[&words[..], &more[..], &effects[..]].concat())
    };
    let plain = run("");
    assert_eq!(run("  bits: {weights: 8, activations: 8}\n"), plain);
    assert_ne!(run("  bits: {weights: 4}\n"), plain);
}
