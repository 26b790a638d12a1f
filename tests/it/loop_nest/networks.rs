//! The loop-nest cost model on whole networks: both editions, every published dataflow.

use std::sync::Arc;

use xrsim::config::{Catalog, Edition, Hardware, Kind};
use xrsim::cost::loop_nest::{
    DramTraffic, EnergyPj, LayerReport, LoopNest, Start, nests_of_layer, step_classes,
};
use xrsim::cost::{CostModel, Infeasible};
use xrsim::dataflow::LevelId;
use xrsim::hardware::MemoryEnergy::{BySize, Usual};
use xrsim::hardware::{Accelerator, System, WriteBack};
use xrsim::model::{
    ConvShape, Layer, Network, PerOperand, PerTensor, Source, VectorOp, VectorShape,
};
use xrsim::units::Bytes;

/// Every network of an edition.
fn networks(edition: Edition) -> Vec<Arc<Network>> {
    let mut catalog = Catalog::with_networks(edition);
    let names = catalog.names(Kind::Network);
    names.iter().map(|name| catalog.network(name).expect("it is embedded")).collect()
}

/// Accelerators of the styles A, B and C (WS, OS and RS) with `pes` PEs on the platform of the paper.
fn accelerators(pes: u32) -> Vec<Accelerator> {
    let mut catalog = Catalog::new();
    let platform = catalog.platform("paper").expect("it is embedded");
    let single = ["A", "B", "C"].map(|name| match catalog.hardware(name) {
        Ok(Hardware::Style(style)) => style.instantiate(pes, &platform).expect("a system"),
        other => panic!("{name} is {other:?}"),
    });
    single.iter().flat_map(System::accelerators).cloned().collect()
}

#[test]
fn every_layer_of_both_editions_is_legal_on_every_dataflow_and_executed_once() {
    for edition in Edition::ALL.map(|(edition, _)| edition) {
        for accelerator in [1024, 3072, 16384].iter().flat_map(|&pes| accelerators(pes)) {
            for network in networks(edition) {
                let layers = LayerReport::of_network(&network, &accelerator)
                    .unwrap_or_else(|error| panic!("{}: {error}", network.name()));
                for (layer, report) in network.layers().iter().zip(&layers) {
                    assert_eq!(
                        report.macs,
                        layer.operator.macs(),
                        "{} {}",
                        network.name(),
                        layer.name
                    );
                    assert!((0.0..=1.0).contains(&report.utilisation), "{}", layer.name);
                    let roofs = report.compute_cycles.max(report.dram_cycles);
                    assert!(report.cycles >= roofs && report.chip_cycles >= report.compute_cycles);
                }
            }
        }
    }
}

#[test]
fn classes_of_steps_add_up_to_the_counts_of_their_level() {
    let network = &networks(Edition::Reference)[6];
    for accelerator in accelerators(1024) {
        for layer in 0..network.layers().len() {
            for nest in nests_of_layer(network, layer, &accelerator, None).expect("it is legal") {
                let classes = step_classes(&nest.nest, &nest.mapping, &nest.machine);
                for (level, counts) in nest.evaluation.levels().iter().enumerate() {
                    let here =
                        || classes.iter().filter(|class| class.level == LevelId::OnChip(level));
                    let steps = here().filter(|class| class.start != Start::Flush);
                    assert_eq!(steps.map(|class| class.times).sum::<u64>(), counts.steps);
                    let mut sent = PerOperand::default();
                    for class in here() {
                        sent += class.sent.map(|sent| class.times * sent);
                    }
                    assert_eq!(sent, counts.sent);
                    let arrived = here().map(|class| class.times * class.arrived);
                    assert_eq!(arrived.sum::<u64>(), counts.arrived);
                }
            }
        }
    }
}

#[test]
fn a_network_costs_what_its_layers_report_in_place() {
    let accelerator = &accelerators(4096)[0];
    for network in networks(Edition::Reference) {
        let total = LoopNest.network(&network, accelerator).expect("it is legal");
        let layers = LayerReport::of_network(&network, accelerator).expect("it is legal");
        let cycles: u64 = layers.iter().map(|layer| layer.cycles).sum();
        assert_eq!(total.cycles.get(), cycles);
        assert_eq!(total.layers, layers.iter().map(LayerReport::cost).collect::<Vec<_>>());
    }
}

#[test]
fn residency_never_moves_more_than_layers_by_themselves() {
    // A resident tensor saves its own traffic. It could cost more only by taking memory from tiles that
    // are then reloaded, which happens in no network of the suite on the platform of the paper.
    for accelerator in accelerators(4096) {
        for network in networks(Edition::Reference) {
            let in_place = LayerReport::of_network(&network, &accelerator).expect("it is legal");
            let alone = network
                .layers()
                .iter()
                .map(|layer| LayerReport::new(&layer.operator, &accelerator).expect("it is legal"));
            let bytes = |report: &LayerReport| report.dram.total_bytes();
            let (in_place, alone): (u64, u64) =
                (in_place.iter().map(bytes).sum(), alone.map(|report| bytes(&report)).sum());
            assert!(in_place <= alone, "{}: {in_place} > {alone}", network.name());
            let compulsory = network.weights();
            assert!(in_place >= compulsory, "{}: {in_place} < {compulsory}", network.name());
        }
    }
}

/// A 1x1 convolution of 8 channels at 4x4 positions: 128 inputs, 64 weights, 128 outputs.
fn small() -> ConvShape {
    ConvShape { k: 8, c: 8, y: 4, x: 4, ..ConvShape::UNIT }
}

#[test]
fn outputs_stay_in_shared_memory_until_they_are_read_last() {
    // conv2 reads conv1, and so does the sum two layers later; conv3 feeds the sum only. DRAM moves the
    // input of the network (128 bytes), the weights (64 each) and the result (128).
    let mut sum = Layer::new(
        "sum",
        xrsim::model::Operator::Vector(VectorShape::new(VectorOp::Add, 256, 128, 1)),
    );
    sum.sources = vec![Source::Back(3), Source::Back(1)];
    let conv = |name| Layer::new(name, small());
    let layers = vec![conv("conv1"), conv("conv2"), conv("conv3"), sum];
    let network = Network::new("residual", layers).expect("a network");
    // The sum is a layer.
    let write_back = WriteBack::default();
    let accelerator = Accelerator { write_back, ..accelerators(1024)[0].clone() };
    let reports = LayerReport::of_network(&network, &accelerator).expect("it is legal");
    let of = |dram: DramTraffic| {
        [dram.inputs_read, dram.weights_read, dram.partial_sums_read, dram.outputs_written]
    };
    let bytes: Vec<_> = reports.iter().map(|report| of(report.dram)).collect();
    assert_eq!(bytes, [[128, 64, 0, 0], [0, 64, 0, 0], [0, 64, 0, 0], [0, 0, 0, 128]]);
    let stays: Vec<_> = reports.iter().map(|report| report.resident.into_array()).collect();
    let [yes, no] = [true, false];
    assert_eq!(stays, [[no, no, yes], [yes, no, yes], [yes, no, yes], [yes, no, no]]);
}

#[test]
fn tensors_without_room_move_through_dram() {
    // 500 bytes hold the 64 weights and the smallest tiles of a layer, but not 128 inputs and 128 partial
    // sums of 4 bytes with them.
    let layers = vec![Layer::new("a", small()), Layer::new("b", small())];
    let network = Network::new("chain", layers).expect("a network");
    let mut accelerator = accelerators(1024)[0].clone();
    accelerator.memory.shared = Bytes::new(500);
    let reports = LayerReport::of_network(&network, &accelerator).expect("it is legal");
    assert!(reports.iter().all(|report| report.resident == PerTensor::splat(false)));
    assert!(reports[0].dram.outputs_written >= 128 && reports[1].dram.inputs_read >= 128);
}

#[test]
fn a_tile_larger_than_a_scratchpad_is_a_reason_and_not_an_error() {
    let mut accelerator = accelerators(1024)[0].clone();
    accelerator.memory.scratchpad = Bytes::new(8);
    let conv = Layer::new("conv", ConvShape { y: 9, x: 9, r: 3, s: 3, ..small() });
    let network = Network::new("one", vec![conv]).expect("a network");
    let reason = LoopNest.network(&network, &accelerator).expect_err("it does not fit");
    // Twice 9 inputs, 9 weights and one partial sum of 4 bytes.
    assert!(reason.to_string().contains("needs 44 bytes in every PE"), "{reason}");
}

#[test]
fn a_tile_larger_than_the_buffer_of_a_cluster_names_its_level() {
    let mut accelerator = accelerators(1024)[0].clone();
    let conv = Layer::new("conv", ConvShape { y: 9, x: 9, r: 3, s: 3, ..small() });
    let network = Network::new("one", vec![conv]).expect("a network");
    let mut with = |sizes: &[u64]| {
        accelerator.memory.clusters = sizes.iter().copied().map(Bytes::new).collect();
        LoopNest.network(&network, &accelerator)
    };
    // A cluster of level 0 has 8 x 8 channels: twice 72 inputs, 576 weights and 8 partial sums. One of
    // level 1 has one output channel: twice 72 inputs, 72 weights and one partial sum.
    let [outer, inner] = [2 * (72 + 576 + 8 * 4), 2 * (72 + 72 + 4)];
    let whole = with(&[]).expect("there is no limit");
    assert_eq!(with(&[outer, inner]), Ok(whole.clone()));
    assert_eq!(with(&[outer]), Ok(whole));
    let too_large = |level, needed| {
        Err(Infeasible::TileTooLarge { level: Some(level), needed, available: needed - 1 })
    };
    assert_eq!(with(&[outer - 1]), too_large(0, outer));
    assert_eq!(with(&[outer, inner - 1]), too_large(1, inner));
}

#[test]
fn energies_by_size_are_those_of_the_sizes() {
    let plain = accelerators(1024)[0].clone();
    let network = &networks(Edition::Reference)[6];
    let report = |change: &dyn Fn(&mut Accelerator)| {
        let mut accelerator = plain.clone();
        change(&mut accelerator);
        let reports = LayerReport::of_network(network, &accelerator).expect("it is legal");
        let sum = |of: fn(&EnergyPj) -> f64| reports.iter().map(|it| of(&it.energy)).sum::<f64>();
        [sum(|it| it.scratchpad), sum(|it| it.cluster), sum(|it| it.shared)]
    };
    let usual = report(&|it| {
        (it.byte_energy.scratchpad, it.byte_energy.cluster) = (Usual, Usual);
    });
    // The law takes half as much energy at a quarter of the size (section 7).
    let by_size = report(&|it| {
        it.memory.clusters = vec![Bytes::new(8 << 10)];
        (it.byte_energy.scratchpad, it.byte_energy.cluster) = (BySize, BySize);
        it.byte_energy.shared_memory = BySize;
    });
    assert_eq!(by_size[1..], usual[1..]);
    let ratio = by_size[0] / usual[0];
    assert!((ratio - 4.0).abs() < 1e-12, "8 KiB in place of 0.5 KiB: {ratio}");
    let of_levels = |sizes: [u64; 2]| {
        let sizes = sizes.map(|kib| Bytes::new(kib << 10));
        report(&|it| {
            it.memory.clusters = sizes.to_vec();
            it.byte_energy.cluster = BySize;
        })
    };
    let usual = usual[1];
    let [outer, inner] = [of_levels([32, 8]), of_levels([8, 32])].map(|it| it[1] - usual);
    // 32 KiB take twice as much as 8 KiB, so that both levels add up to the energy at 8 KiB. Rounding.
    assert!(outer > 0.0 && inner > 0.0);
    assert!((outer + inner - usual).abs() < 1e-9 * usual, "{outer} {inner}");
}

#[test]
fn operators_without_macs_take_the_longest_of_lanes_shared_memory_and_dram() {
    // The sum of two tensors of 1,024 elements takes 1 cycle on 1,024 lanes. Its 3,072 bytes take 12
    // cycles at 256 bytes per cycle, and 24 cycles of DRAM at 128 (section 1.6).
    let sum = VectorShape::new(VectorOp::Add, 2048, 1024, 1);
    let accelerator = &accelerators(1024)[0];
    let operator = xrsim::model::Operator::Vector(sum);
    let report = LayerReport::new(&operator, accelerator).expect("it always runs");
    assert_eq!((report.compute_cycles, report.chip_cycles, report.dram_cycles), (1, 12, 24));
    assert_eq!(report.cycles, 24);
    // Softmax reads its input three times: 4 x 1,024 bytes.
    let softmax = VectorShape::new(VectorOp::Softmax, 1024, 1024, 1);
    let report = LayerReport::new(&xrsim::model::Operator::Vector(softmax), accelerator);
    assert_eq!(report.expect("it always runs").chip_cycles, 16);
}
