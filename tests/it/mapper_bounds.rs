//! Bounds of the layers that took most time above their bounds when these did not know capacities, and the mappings
//! that the effort of runs finds for them under the objective `cycles`.

use std::sync::Arc;

use xrsim::Catalog;
use xrsim::cost::loop_nest::ChosenLoopNest;
use xrsim::cost::{Certainty, CostModel as _};
use xrsim::experiment::shipped_accelerators;
use xrsim::hardware::{Accelerator, MappingObjective};
use xrsim::mapper::{Chooser, Effort};
use xrsim::model::{Layer, Network};

/// A layer alone on an accelerator of a style.
struct Pair {
    network: &'static str,
    layer: &'static str,
    platform: &'static str,
    accelerator: &'static str,
    /// Bound \[cycle\], and the one that does not know capacities.
    bound: u64,
    plain: u64,
    /// Most that the mapping may be above the bound \[percent\].
    above: f64,
}

const fn pair(
    [network, layer]: [&'static str; 2],
    [platform, accelerator]: [&'static str; 2],
    [bound, plain]: [u64; 2],
    above: f64,
) -> Pair {
    Pair { network, layer, platform, accelerator, bound, plain, above }
}

const CONV140: [&str; 2] = ["PD", "conv140"];
const CONV112: [&str; 2] = ["PD", "conv112"];
const CONV56: [&str; 2] = ["SS", "conv56"];

const PAIRS: [Pair; 20] = [
    pair(CONV140, ["headset", "OS-1024-of-4096"], [17_909_211, 16_056_320], 1.0),
    pair(CONV140, ["headset", "OS-2048-of-4096"], [8_028_160, 8_028_160], 1.0),
    pair(CONV140, ["headset", "OS-4096-of-4096"], [4_014_080, 4_014_080], 1.0),
    pair(CONV140, ["headset", "OS-3072-of-4096"], [6_021_120, 6_021_120], 1.0),
    pair(CONV140, ["paper", "OS-1024-of-4096"], [16_056_320, 16_056_320], 1.0),
    pair(CONV140, ["headset", "WS-4096-of-4096"], [3_951_360, 3_951_360], 1.0),
    pair(CONV140, ["headset", "WS-3072-of-4096"], [5_268_480, 5_268_480], 1.0),
    pair(CONV140, ["headset", "WS-1024-of-4096"], [15_996_251, 15_680_000], 12.3),
    pair(CONV140, ["headset", "WS-2048-of-4096"], [7_840_032, 7_840_000], 1.0),
    pair(CONV140, ["paper", "OS-4096-of-4096"], [4_014_080, 4_014_080], 1.0),
    pair(CONV140, ["paper", "OS-3072-of-4096"], [6_021_120, 6_021_120], 1.0),
    pair(CONV56, ["headset", "OS-1024-of-4096"], [4_194_304, 4_194_304], 1.0),
    pair(CONV112, ["headset", "RS-1024-of-4096"], [1_105_920, 1_105_920], 1.0),
    pair(CONV56, ["paper", "RS-1024-of-4096"], [4_194_304, 4_194_304], 1.0),
    pair(CONV140, ["paper", "OS-2048-of-4096"], [8_028_160, 8_028_160], 1.0),
    pair(CONV140, ["headset", "RS-1024-of-4096"], [16_056_320, 16_056_320], 1.0),
    pair(CONV140, ["headset", "RS-4096-of-4096"], [4_014_080, 4_014_080], 1.0),
    pair(CONV140, ["headset", "OS-2048-of-8192"], [16_056_403, 8_028_160], 11.6),
    pair(CONV56, ["headset", "OS-2048-of-8192"], [2_654_299, 2_654_299], 6.2),
    pair(CONV140, ["headset", "WS-4096-of-8192"], [5_895_715, 3_951_360], 2.5),
];

/// An accelerator with its part of the DRAM bandwidth of its platform, by the PEs in its name.
fn with_part_of_dram(mut accelerator: Accelerator) -> Accelerator {
    let of = |text: &str| text.parse::<u64>().expect("a number of PEs");
    let pes: Vec<_> = accelerator.name.split('-').filter(|it| it.parse::<u64>().is_ok()).collect();
    let bandwidth = &mut accelerator.memory.dram_bandwidth;
    *bandwidth = *bandwidth * of(pes[0]) / of(pes[1]);
    accelerator
}

/// What is known of the mapping that is found for a layer alone.
fn search(catalog: &mut Catalog, pair: &Pair, accelerators: &[Accelerator]) -> Certainty {
    let network = catalog.network(pair.network).expect("a network");
    let of_name = |layer: &&Layer| &*layer.name == pair.layer;
    let layer = network.layers().iter().find(of_name).expect("a layer");
    let alone = Layer::new("alone", layer.operator);
    let network = Network::new("alone", vec![alone]).expect("a network");
    let of_name = |it: &&Accelerator| &*it.name == pair.accelerator;
    let mut accelerator = accelerators.iter().find(of_name).expect("an accelerator").clone();
    if pair.platform == "headset" {
        accelerator = with_part_of_dram(accelerator);
    }
    accelerator.mapping_objective = MappingObjective::Cycles;
    let chooser = Chooser::new(Effort::DEFAULT, Arc::default());
    let model = ChosenLoopNest::new(Arc::new(chooser));
    let cost = model.network(&network, &accelerator).expect("it runs");
    let choices = cost.choices().expect("it chooses");
    choices.layers[0].expect("it has products")
}

#[test]
fn the_layers_that_took_most_time_above_their_bounds_are_near_them() {
    let mut catalog = Catalog::new();
    let shipped = shipped_accelerators().expect("they are built");
    let mut wrong = Vec::new();
    for pair in &PAIRS {
        let of_platform = shipped.iter().filter(|it| it.platform == pair.platform);
        let accelerators: Vec<_> = of_platform.map(|it| it.accelerator.clone()).collect();
        let found = search(&mut catalog, pair, &accelerators);
        let above = 100.0 * (found.cycles as f64 / found.bound_cycles as f64 - 1.0);
        let Pair { layer, platform, accelerator, bound, .. } = pair;
        if found.bound_cycles != *bound || above > pair.above || *bound < pair.plain {
            let name = format!("{layer} on {accelerator} of {platform}");
            wrong.push(format!(
                "{name}: {} over {}, {above:.2} %",
                found.cycles, found.bound_cycles
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
