//! Batches of networks: quantities that scale with the batch size, and quantities that do not.

use std::sync::Arc;

use xrsim::config::{Catalog, Edition, Hardware, Kind};
use xrsim::cost::batch::BatchCosts;
use xrsim::cost::loop_nest::{DramTraffic, LayerReport, LoopNest};
use xrsim::cost::{CostModel as _, Infeasible};
use xrsim::hardware::Accelerator;
use xrsim::model::{ConvShape, Layer, MatmulShape, ModelError, Network, Operator};
use xrsim::model::{VectorOp, VectorShape};

/// Accelerators of A, B and C (WS, OS and RS) with 4096 PEs on the chip of the paper.
fn accelerators() -> Vec<Accelerator> {
    let mut catalog = Catalog::new();
    let platform = catalog.platform("paper").unwrap();
    let single = ["A", "B", "C"].map(|name| match catalog.hardware(name) {
        Ok(Hardware::Style(style)) => style.instantiate(4096, &platform).unwrap(),
        other => panic!("{name} is {other:?}"),
    });
    single.iter().flat_map(|system| system.accelerators()).cloned().collect()
}

fn mlperf() -> Vec<Arc<Network>> {
    let mut catalog = Catalog::new();
    let names = catalog.mlperf_networks();
    names.iter().map(|name| catalog.network(name).unwrap()).collect()
}

/// Every network that comes with the program.
fn networks() -> Vec<Arc<Network>> {
    let mut networks = mlperf();
    for (edition, _) in Edition::ALL {
        let mut catalog = Catalog::with_networks(edition);
        let names = catalog.names(Kind::Network);
        networks.extend(names.iter().map(|name| catalog.network(name).unwrap()));
    }
    networks
}

#[test]
fn work_is_that_of_the_inputs_and_weights_are_those_of_one() {
    for network in networks() {
        for n in [1, 2, 5] {
            let batched = network.batched(n).unwrap();
            let name = network.name();
            assert_eq!(batched.macs(), u64::from(n) * network.macs(), "{name}");
            assert_eq!(batched.weights(), network.weights(), "{name}");
            for (one, many) in network.layers().iter().zip(batched.layers()) {
                let scaled = [one.operator.outputs() * u64::from(n), one.operator.weights()];
                assert_eq!([many.operator.outputs(), many.operator.weights()], scaled, "{name}");
                assert_eq!((&many.name, &many.sources), (&one.name, &one.sources));
                assert_eq!(many.shares_weights, one.shares_weights);
            }
        }
    }
}

/// Network of these operators.
fn network(operators: impl IntoIterator<Item = Operator>) -> Network {
    let layers = operators.into_iter().map(|operator| Layer::new("layer", operator));
    Network::new("some", layers.collect()).unwrap()
}

#[test]
fn every_operator_has_its_own_axis_for_the_batch() {
    let conv = ConvShape { n: 2, k: 3, ..ConvShape::UNIT };
    let product = |instances, rows, activations| {
        Operator::Matmul(MatmulShape { instances, rows, k: 5, c: 4, activations })
    };
    let vector = |op, inputs, outputs, operations| {
        Operator::Vector(VectorShape { op, inputs, outputs, operations })
    };
    let one = [
        conv.into(),
        product(2, 3, false),
        product(2, 3, true),
        vector(VectorOp::Add, 20, 10, 10),
        // 4 rows of 3 features, and 7 nonzeros of a matrix that is there once.
        vector(VectorOp::SparseProduct, 19, 12, 21),
    ];
    let three = [
        ConvShape { n: 6, ..conv }.into(),
        product(2, 9, false),
        product(6, 3, true),
        vector(VectorOp::Add, 60, 30, 30),
        vector(VectorOp::SparseProduct, 3 * 12 + 7, 36, 63),
    ];
    let batched = network(one).batched(3).unwrap();
    let operators: Vec<_> = batched.layers().iter().map(|layer| layer.operator).collect();
    assert_eq!(operators, three);
    assert_eq!(batched.name(), "some x3");
    assert_eq!(network(one).batched(1).unwrap(), network(one));
}

#[test]
fn batches_that_are_too_large_are_errors() {
    let conv = network([ConvShape::UNIT.into()]);
    let extent = |n, found| {
        assert_eq!(conv.batched(n), Err(ModelError::Extent { axis: "N", found }));
    };
    extent(0, 0);
    extent((1 << 20) + 1, (1 << 20) + 1);
    extent(u32::MAX, u32::MAX);
    assert!(conv.batched(1 << 20).is_ok());
    let sum = network([Operator::Vector(VectorShape::new(VectorOp::Add, 1 << 40, 1, 1))]);
    assert_eq!(sum.batched(u32::MAX), Err(ModelError::TooLarge));
    assert_eq!(sum.batched(0), Err(ModelError::Extent { axis: "N", found: 0 }));
}

/// A 1x1 convolution of 8 channels at 4x4 positions: 128 inputs, 64 weights, 128 outputs; and a product
/// of 3 rows of 16 features with 16 x 32 weights. Both fit into the L2 many times.
#[test]
fn weights_that_fit_cross_the_pins_once_for_the_whole_batch() {
    let conv = ConvShape { k: 8, c: 8, y: 4, x: 4, ..ConvShape::UNIT };
    let product = MatmulShape { instances: 1, rows: 3, k: 32, c: 16, activations: false };
    for accelerator in accelerators() {
        for n in [1, 2, 7] {
            for (operator, [inputs, weights, outputs]) in
                [(Operator::Conv(conv), [128, 64, 128]), (Operator::Matmul(product), [48, 512, 96])]
            {
                let batched = network([operator]).batched(n).unwrap();
                let report = &LayerReport::of_network(&batched, &accelerator).unwrap()[0];
                let n = u64::from(n);
                let dram = DramTraffic {
                    inputs_read: n * inputs,
                    weights_read: weights,
                    partial_sums_read: 0,
                    outputs_written: n * outputs,
                };
                assert_eq!(report.dram, dram);
                assert_eq!(report.macs, n * operator.macs());
            }
        }
    }
}

/// The weights of every layer of ResNet-50 fit into 8 MiB together with the smallest tiles of the other tensors.
#[test]
fn weights_of_a_network_are_read_once_for_a_batch() {
    let mut catalog = Catalog::new();
    let network = catalog.network("resnet50").unwrap();
    for accelerator in accelerators() {
        let read = |n| {
            let batched = network.batched(n).unwrap();
            let layers = LayerReport::of_network(&batched, &accelerator).unwrap();
            layers.iter().map(|layer| layer.dram.weights_read).sum::<u64>()
        };
        assert_eq!([read(1), read(2)], [network.weights(); 2], "{}", accelerator.name);
    }
}

#[test]
fn a_batch_takes_no_longer_than_its_parts_and_a_larger_one_no_less() {
    for accelerator in accelerators() {
        for network in mlperf() {
            let costs = BatchCosts::new(&LoopNest, &network, &accelerator, 12).unwrap();
            let single = LoopNest.network(&network, &accelerator).unwrap();
            assert_eq!(costs.of(1).latency, single.latency);
            assert_eq!(costs.of(1).energy, single.energy());
            let latency = |batch: u32| costs.of(batch).latency.ns();
            for batch in 2..=costs.max_batch() {
                let place = format!("{} x{batch} on {}", network.name(), accelerator.name);
                assert!(latency(batch) <= u64::from(batch) * latency(1), "{place}");
                assert!(latency(batch) >= latency(batch - 1), "{place}");
                for part in 1..batch {
                    assert!(latency(batch) <= latency(part) + latency(batch - part), "{place}");
                }
            }
        }
    }
}

/// Every time step reads the weights of its layer from DRAM; a step of a batch reads them once for all its
/// sentences. This matters if DRAM bounds the steps, which is not the case under RS.
#[test]
fn a_recurrent_network_gains_from_batches() {
    let network = Catalog::new().network("gnmt").unwrap();
    let [ws, os, _] = &accelerators()[..] else { panic!("three accelerators") };
    for accelerator in [ws, os] {
        let costs = BatchCosts::new(&LoopNest, &network, accelerator, 8).unwrap();
        let share = costs.of(8).latency.as_ms() / (8.0 * costs.of(1).latency.as_ms());
        assert!(share < 0.9, "{}: {share}", accelerator.name);
    }
}

#[test]
fn what_is_infeasible_alone_is_infeasible_in_batches() {
    let mut accelerator = accelerators()[0].clone();
    accelerator.memory.scratchpad = xrsim::units::Bytes::new(1);
    let network = Catalog::new().network("edsr").unwrap();
    let error = BatchCosts::new(&LoopNest, &network, &accelerator, 2).unwrap_err();
    assert!(matches!(error, Infeasible::TileTooLarge { .. }), "{error}");
}
