//! Operators that ride along with layers (docs/explanation/cost-model-loop-nest.md, section 6.10).

use xrsim::Experiment;
use xrsim::config::{Catalog, Kind};
use xrsim::cost::loop_nest::{LayerReport, LoopNest, Role};
use xrsim::cost::{CostModel, LayerCost};
use xrsim::hardware::{Accelerator, Fusion, Memory, Noc, WriteBack};
use xrsim::model::{
    ConvShape, Layer, Network, Operator, Source, Tensor, VectorForm, VectorOp, View,
};
use xrsim::trace::Outcome;
use xrsim::units::Bytes;

const FUSIONS: [Fusion; 3] = [Fusion::None, Fusion::InPlace, Fusion::Elementwise];

fn accelerator(dataflow: &str, pes: u32, shared: u64, fusion: Fusion) -> Accelerator {
    let dataflow = Catalog::new().dataflow(dataflow).expect("it ships");
    let noc = Noc::of_bandwidths(&[256]).expect("a level");
    let memory = Memory::new(Bytes::new(shared), Bytes::new(512), 32);
    let write_back = WriteBack { fusion, ..WriteBack::default() };
    Accelerator { write_back, ..Accelerator::new("chip", dataflow, pes, noc, memory) }
}

fn tensor(k: u32, y: u32, x: u32) -> Tensor {
    Tensor { n: 1, k, y, x }
}

fn conv(name: &str, k: u32, c: u32, [y, x]: [u32; 2], sources: &[u32]) -> Layer {
    layer(name, Operator::Conv(ConvShape { k, c, y, x, ..ConvShape::UNIT }), None, sources)
}

fn layer(name: &str, operator: Operator, form: Option<VectorForm>, sources: &[u32]) -> Layer {
    let of = |&back: &u32| if back == 0 { Source::Outside } else { Source::Back(back) };
    let sources = sources.iter().map(of).collect();
    Layer { sources, form, ..Layer::new(name, operator) }
}

fn vector(op: VectorOp, tensor: Tensor, sources: &[u32]) -> Layer {
    let form = VectorForm::Tensor(tensor);
    let sizes = form.sizes(op, sources.len(), 0);
    layer(op.name(), Operator::Vector(sizes), Some(form), sources)
}

fn concat(tensor: Tensor, sources: &[u32]) -> Layer {
    vector(VectorOp::Concat, tensor, sources)
}

fn pool(k: u32, y: u32, window: u32, stride: u32) -> Layer {
    let shape = ConvShape { c: k, y, x: y, r: window, s: window, ..ConvShape::UNIT };
    let shape = ConvShape { stride_y: stride, stride_x: stride, ..shape };
    let shape = ConvShape { kind: xrsim::model::ConvKind::Depthwise, ..shape };
    let form = VectorForm::Window(shape);
    let sizes = form.sizes(VectorOp::MaxPool, 1, 0);
    layer("pool", Operator::Vector(sizes), Some(form), &[1])
}

fn network(layers: Vec<Layer>) -> Network {
    Network::new("network", layers).expect("a legal network")
}

fn costs(network: &Network, accelerator: &Accelerator) -> Vec<LayerCost> {
    LoopNest.network(network, accelerator).expect("it runs").layers
}

fn bytes(network: &Network, accelerator: &Accelerator) -> u64 {
    costs(network, accelerator).iter().map(|it| it.dram_bytes).sum()
}

fn roles(layers: Vec<Layer>, fused_reads: u32) -> Vec<Role> {
    let mut chip = accelerator("WS", 256, 1 << 20, Fusion::Elementwise);
    chip.write_back.fused_reads = fused_reads;
    LoopNest.roles(&network(layers), &chip).expect("it runs")
}

/// 64 x 56 x 56 to 64 channels, 1x1, with an addition: 200,704 bytes in, as many of the other operand and out, 4,096
/// weights. Constants of an operator that reads nothing else are not counted, as those of a layer whose source stays.
#[test]
fn a_convolution_with_an_addition_moves_what_hand_calculation_says() {
    let map = tensor(64, 56, 56);
    let add = vector(VectorOp::Add, map, &[1, 0]);
    let layers = vec![conv("conv", 64, 64, [56, 56], &[0]), add];
    let chip = |fusion| accelerator("WS", 1024, 8 << 20, fusion);
    let moved = |layers: &[Layer], fusion| bytes(&network(layers.to_vec()), &chip(fusion));
    assert_eq!(moved(&layers, Fusion::Elementwise), 3 * 200_704 + 4_096);
    let mul = vector(VectorOp::Mul, map, &[1]);
    let longer = [layers.clone(), vec![mul]].concat();
    assert_eq!(moved(&longer, Fusion::Elementwise), 3 * 200_704 + 4_096);
    // Without fusion the tensor between both stays in shared memory, where it has room.
    assert_eq!(moved(&layers, Fusion::None), 3 * 200_704 + 4_096);
    let small = |fusion| accelerator("WS", 1024, 100 << 10, fusion);
    let of = |fusion| bytes(&network(layers.clone()), &small(fusion));
    assert_eq!(of(Fusion::None) - of(Fusion::Elementwise), 2 * 200_704);
    let cost = costs(&network(layers), &chip(Fusion::Elementwise));
    assert_eq!(cost[1], LayerCost::default());
}

/// 16 operations in a cycle, 5 x 4 x 4 outputs: a batch normalisation of six operations takes 30 cycles.
#[test]
fn operations_that_ride_along_take_their_time_where_it_is_longest() {
    let map = tensor(5, 4, 4);
    let layers = vec![conv("conv", 5, 3, [4, 4], &[0]), vector(VectorOp::BatchNorm, map, &[1])];
    let mut chip = accelerator("WS", 1024, 8 << 20, Fusion::Elementwise);
    chip.memory.dram_bandwidth = 1 << 20;
    chip.write_back.post_ops_per_cycle = Some(1 << 24);
    let fast = costs(&network(layers.clone()), &chip)[0].cycles;
    assert!(fast < 400, "{fast}");
    chip.write_back.post_ops_per_cycle = Some(1);
    assert_eq!(costs(&network(layers.clone()), &chip)[0].cycles, 6 * 80);
    // As many as leave in a cycle: 64 partial sums of four bytes on a port of 256 bytes.
    chip.write_back.post_ops_per_cycle = None;
    assert!(costs(&network(layers), &chip)[0].cycles >= (6 * 80_u64).div_ceil(64));
}

#[test]
fn groups_are_formed_first_fit_of_what_exists() {
    use Role::{InPlace, Rides, Step};
    let map = tensor(8, 16, 16);
    let conv8 = |sources: &[u32]| conv("conv", 8, 8, [16, 16], sources);
    let add = |sources: &[u32]| vector(VectorOp::Add, map, sources);
    let norm = || vector(VectorOp::BatchNorm, map, &[1]);
    // The second branch of a residual block exists only after the first: the addition rides along with it.
    let residual = vec![conv8(&[0]), conv8(&[1]), conv8(&[2]), add(&[1, 2]), norm()];
    assert_eq!(roles(residual.clone(), 1), [Step, Step, Step, Rides(2), Rides(2)]);
    assert_eq!(roles(residual, 0), [Step; 5]);
    // A second addition would be a second other operand.
    let two = vec![conv8(&[0]), conv8(&[0]), add(&[1, 2]), add(&[1, 0])];
    assert_eq!(roles(two.clone(), 1), [Step, Step, Rides(1), Step]);
    assert_eq!(roles(two, 2), [Step, Step, Rides(1), Rides(1)]);
    // Pools whose windows do not overlap.
    let pooled = |window, stride| vec![conv8(&[0]), pool(8, 16, window, stride)];
    assert_eq!(roles(pooled(2, 2), 1), [Step, Rides(0)]);
    assert_eq!(roles(pooled(3, 2), 1), [Step, Step]);
    for op in [VectorOp::Softmax, VectorOp::LayerNorm, VectorOp::RoiAlign, VectorOp::Nms] {
        assert_eq!(roles(vec![conv8(&[0]), vector(op, map, &[1])], 1), [Step, Step], "{op:?}");
    }
    // Not of a part, and not twice of the same.
    let mut slice = vec![conv8(&[0]), norm()];
    slice[1].views = vec![View::Slice];
    assert_eq!(roles(slice, 1), [Step, Step]);
    assert_eq!(roles(vec![conv8(&[0]), add(&[1, 1])], 1), [Step, Step]);
    // Concatenations: of two layers; the first one of two that read the same; in the middle of a chain.
    let both = tensor(16, 16, 16);
    let parts = vec![conv8(&[0]), conv8(&[1]), concat(both, &[1, 2])];
    assert_eq!(roles(parts.clone(), 1), [Step, Step, InPlace]);
    let after = vector(VectorOp::BatchNorm, both, &[1]);
    assert_eq!(roles([parts, vec![after]].concat(), 1), [Step, Step, Rides(1), Rides(1)]);
    let other_order = vec![concat(map, &[1])];
    assert_eq!(roles([vec![conv8(&[0])], other_order].concat(), 1), [Step, Step]);
}

/// Nothing stays in a shared memory of 64 KiB. The parts are 8 x 96 x 96 elements: two of them in place, a third from outside
/// copied.
#[test]
fn a_concatenation_moves_what_is_not_in_place() {
    let part = 8 * 96 * 96;
    let conv8 = || conv("conv", 8, 8, [96, 96], &[0]);
    let chip = |fusion| accelerator("WS", 256, 64 << 10, fusion);
    let all = tensor(24, 96, 96);
    let layers = vec![conv8(), conv8(), concat(all, &[1, 2, 0])];
    let of = |fusion| costs(&network(layers.clone()), &chip(fusion))[2];
    assert_eq!(of(Fusion::None).dram_bytes, 6 * part);
    assert_eq!(of(Fusion::InPlace).dram_bytes, 2 * part);
    // The second concatenation of a tensor copies it.
    let both = tensor(16, 96, 96);
    let twice = vec![conv8(), conv8(), concat(both, &[1, 2]), concat(both, &[2, 3])];
    let of = |fusion| costs(&network(twice.clone()), &chip(fusion));
    assert_eq!(of(Fusion::InPlace)[2], LayerCost::default());
    assert_eq!(of(Fusion::InPlace)[3].dram_bytes, 4 * part);
}

/// Bytes that vanish where nothing stays in shared memory, counted from the list of layers: a tensor that is not written
/// is not read either; one that another layer reads is written.
fn vanished(network: &Network, roles: &[Role]) -> u64 {
    let layers = network.layers();
    let mut n_readers = vec![0; layers.len()];
    for (at, layer) in layers.iter().enumerate() {
        for source in &layer.sources {
            if let Source::Back(back) = *source {
                n_readers[at - back as usize] += 1;
            }
        }
    }
    let mut total = 0;
    for (at, layer) in layers.iter().enumerate() {
        match roles[at] {
            Role::Step => {}
            Role::InPlace => total += 2 * layer.operator.outputs(),
            Role::Rides(with) => {
                // What it reads of its group is the last operator of the group before it.
                let in_group = |it: &usize| *it == with as usize || roles[*it] == Role::Rides(with);
                let before = (0..at).rev().find(in_group).expect("a group");
                let outputs = layers[before].operator.outputs();
                total += if n_readers[before] == 1 { 2 * outputs } else { outputs };
            }
        }
    }
    total
}

/// Bytes, products and what vanishes, on all networks with three dataflows.
#[test]
fn fusion_never_moves_more_and_saves_every_tensor_that_vanishes() {
    let mut catalog = Catalog::new();
    let names = catalog.names(Kind::Network);
    let (mut n_pairs, mut n_exact, mut n_saved) = (0, 0, 0);
    for name in names {
        let Ok(network) = catalog.network(&name) else { continue };
        for dataflow in ["WS", "OS", "RS"] {
            for (pes, shared) in [(256, 2 << 20), (2048, 1 << 20), (1024, 1)] {
                let chips = FUSIONS.map(|fusion| accelerator(dataflow, pes, shared, fusion));
                let reports = chips.each_ref().map(|it| LayerReport::of_network(&network, it));
                let [Ok(none), Ok(in_place), Ok(elementwise)] = &reports else { continue };
                let all = [none, in_place, elementwise];
                let bytes = all.map(|it| it.iter().map(|it| it.dram.total_bytes()).sum::<u64>());
                let macs =
                    all.map(|it| it.iter().map(|it| it.levels.len() as u64 * it.macs).sum::<u64>());
                let what = format!("{name} on {dataflow}@{pes}: {bytes:?}");
                assert!(bytes[2] <= bytes[1] && bytes[1] <= bytes[0], "{what}");
                assert!(macs[0] == macs[1] && macs[1] == macs[2], "{what}");
                n_pairs += 1;
                n_saved += usize::from(bytes[2] < bytes[0]);
                let is_plain = network.layers().iter().all(|it| it.bits == Default::default());
                if shared > 1 || !is_plain {
                    continue;
                }
                for at in 1..3 {
                    let roles = LoopNest.roles(&network, &chips[at]).expect("it runs");
                    // What concatenations in place copy all the same.
                    let of_place =
                        roles.iter().zip(all[at]).filter(|(it, _)| **it == Role::InPlace);
                    let copied: u64 = of_place.map(|(_, report)| report.dram.total_bytes()).sum();
                    assert_eq!(bytes[0] - bytes[at] + copied, vanished(&network, &roles), "{what}");
                    n_exact += 1;
                }
            }
        }
    }
    assert!(n_pairs >= 99 && n_saved >= 60 && n_exact >= 40, "{n_pairs} {n_saved} {n_exact}");
}

#[test]
fn without_fusion_every_setting_of_the_path_is_without_effect() {
    let network = Catalog::new().network("KD_res8_narrow_101x40").expect("it ships");
    let chip = accelerator("WS", 1024, 2 << 20, Fusion::None);
    let write_back = WriteBack { fused_reads: 9, post_ops_per_cycle: Some(1), ..chip.write_back };
    let other = Accelerator { write_back, ..chip.clone() };
    assert_eq!(costs(&network, &chip), costs(&network, &other));
}

/// Lists of layers that were made before a run have no entries for operators that ride along: an accelerator that
/// waited for one of no length could wait for ever.
#[test]
fn lists_of_layers_do_not_wait_for_what_rides_along() {
    let experiment = Experiment::new().scenario("VR_gaming").system("M").pes(1024);
    let runs = experiment.scheduler("herald-list").run().expect("it is right");
    let trace = &runs[0].result.as_ref().expect("it runs").trace;
    assert!(!trace.records().iter().any(|it| matches!(it.outcome, Outcome::Lost { .. })));
}
