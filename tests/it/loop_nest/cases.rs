//! The loop-nest cost model against reference tables, row by row, and against the worked examples of
//! docs/explanation/cost-model-loop-nest.md. The shipped tables are samples; the full ones are compared where the
//! folder of reference data lies beside this checkout.

use crate::support;

use std::path::{Path, PathBuf};

use xrsim::config::cost_cases::{self, parse_mapping};
use xrsim::config::{Catalog, Source};
use xrsim::cost::loop_nest::{
    Bandwidth, DramTraffic, Evaluation, Extents, Machine, Mapping, Nest, NocLevel, Widths, Window,
    evaluate,
};
use xrsim::dataflow::Directives;
use xrsim::mapper::{Effort, Limits, Mapspace, Search, Sizes, Status};
use xrsim::model::{PerOperand, PerTensor};

/// Checks every row of a table and returns the number of rows.
fn check(path: &Path) -> usize {
    let source = Source::read(path).expect("the table can be read");
    let verdicts = cost_cases::check(&source).unwrap_or_else(|error| panic!("{error}"));
    let different: Vec<_> = verdicts.iter().filter(|one| one.difference.is_some()).collect();
    let shown = &different[..different.len().min(12)];
    assert!(different.is_empty(), "{}: {} differ: {shown:#?}", path.display(), different.len());
    verdicts.len()
}

/// Checks a table of the folder of reference data, if that folder exists.
fn check_reference(file: &str, rows: usize) {
    if let Some(folder) = support::reference("cost-principled") {
        assert_eq!(check(&folder.join(file)), rows);
    }
}

/// Path of a shipped table.
fn shipped(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference").join(name)
}

#[test]
fn the_sampled_rows_are_equal() {
    let files = ["cases", "cases_big", "legality", "xrbench"];
    let rows = files.map(|file| check(&shipped(&format!("loop_nest_{file}.csv"))));
    assert_eq!(rows, [60, 10, 50, 41]);
}

#[test]
fn all_small_random_cases_are_equal() {
    check_reference("fuzz_cases.csv", 420);
}

#[test]
fn all_larger_random_cases_are_equal() {
    check_reference("fuzz_big.csv", 60);
}

#[test]
fn all_mappings_are_legal_or_illegal_for_the_same_reason() {
    check_reference("legality.csv", 150);
}

#[test]
fn all_layers_of_the_published_study_are_equal() {
    check_reference("xrbench_4096_256.csv", 492);
}

fn run(directives: &Directives, nest: &Nest, machine: &Machine) -> Evaluation {
    let mapping = Mapping::new(directives, nest, machine).expect("the mapping is legal");
    evaluate(nest, &mapping, machine).expect("counts fit")
}

/// Layer of section 4.11 on 2 PEs: 4 outputs in a row under a kernel of 3, 1 byte per cycle.
fn example_by_hand(change: impl Fn(&mut NocLevel)) -> Evaluation {
    let windows = [Window::new(4, 3, 6), Window::new(1, 1, 1)];
    let nest = Nest::new([1, 1, 1, 1, 4, 1, 3, 1], windows, false).expect("a layer");
    let bandwidth = Bandwidth::new(1).expect("not 0");
    let mut level = NocLevel { down: bandwidth, up: bandwidth, ..NocLevel::IDEAL };
    change(&mut level);
    let machine = Machine { noc_levels: vec![level], ..Machine::new(2) };
    run(&parse_mapping("SpatialMap(1,1) Y';").expect("it is well formed"), &nest, &machine)
}

#[test]
fn the_example_by_hand_of_section_4_11_comes_out() {
    let pair = |input, weight| PerOperand { input, weight };
    let plain = example_by_hand(|_| ());
    assert_eq!([plain.chip_cycles, plain.compute_cycles], [15, 6]);
    let counts = plain.levels()[0];
    assert_eq!([counts.sent, counts.delivered], [pair(7, 3), pair(10, 6)]);
    assert_eq!([counts.left, counts.arrived, counts.accumulated], [4, 4, 0]);
    let forwarding = example_by_hand(|level| level.forward = true).levels()[0];
    assert_eq!([forwarding.sent, forwarding.forwarded], [pair(6, 3), pair(1, 0)]);
    let unicast = example_by_hand(|level| level.multicast = false).levels()[0];
    assert_eq!(unicast.sent, pair(10, 6));
}

/// Layer of section 5.10: K = C = 19, 22 x 11 outputs, 3 x 3 kernel; on 1024 PEs with 128 bytes per
/// cycle and latency 1 on every level.
fn worked_example(dataflow: &str) -> Evaluation {
    let windows = [Window::new(22, 3, 24), Window::new(11, 3, 13)];
    let nest = Nest::new([1, 1, 19, 19, 22, 11, 3, 3], windows, false).expect("a layer");
    let bandwidth = Bandwidth::new(128).expect("not 0");
    let noc = NocLevel { down: bandwidth, up: bandwidth, latency: 1, ..NocLevel::IDEAL };
    let machine = Machine { noc_levels: vec![noc], ..Machine::new(1024) };
    let dataflow = Catalog::new().dataflow(dataflow).expect("an embedded dataflow");
    run(dataflow.directives(), &nest, &machine)
}

/// Checks chip and compute cycles; inputs and weights sent and partial sums arrived on each level;
/// the shared memory in use and the hold depths (sections 5.10 and 6.4). DRAM traffic is compulsory.
fn check_example(
    dataflow: &str,
    cycles: [u64; 2],
    levels: [[u64; 3]; 3],
    shared_bytes: u64,
    depths: [usize; 3],
) {
    let found = worked_example(dataflow);
    assert_eq!([found.chip_cycles, found.compute_cycles], cycles);
    let traffic = found.levels().iter().map(|l| [l.sent.input, l.sent.weight, l.arrived]);
    assert_eq!(traffic.collect::<Vec<_>>(), levels);
    assert_eq!(found.memory.shared_bytes, shared_bytes);
    assert_eq!(found.memory.depths.into_array(), depths);
    let once = DramTraffic {
        inputs_read: 5_928,
        weights_read: 3_249,
        partial_sums_read: 0,
        outputs_written: 4_598,
    };
    assert_eq!(found.memory.dram, once);
}

#[test]
fn the_worked_example_for_ws_comes_out() {
    let levels = [[42_636, 3_249, 9_196], [82_764, 12_996, 9_196], [786_258, 12_996, 9_196]];
    check_example("WS", [2_429, 2_376], levels, 13_775, [0, 0, 0]);
}

#[test]
fn the_worked_example_for_os_comes_out() {
    let levels = [[159_562, 19_494, 4_598], [405_042, 214_434, 4_598], [786_258, 786_258, 9_196]];
    check_example("OS", [2_381, 2_052], levels, 6_398, [0, 1, 3]);
}

#[test]
fn the_worked_example_for_rs_comes_out() {
    let levels = [[16_302, 71_478, 22_990], [260_832, 71_478, 22_990], [662_112, 786_258, 22_990]];
    check_example("RS", [2_526, 2_508], levels, 5_149, [1, 0, 1]);
}

/// Diagonal of Eyeriss: one PE per kernel row.
const DIAGONAL: &str = "SpatialMap(1,1) Y; SpatialMap(1,1) R; TemporalMap(Sz(S),Sz(S)) S;";
/// Mapping of CONV4 and CONV5 without the diagonal.
const CONV4: &str = "TemporalMap(4,4) N; TemporalMap(1,1) G; TemporalMap(64,64) K;
    TemporalMap(6,6) C; Cluster(2,P); SpatialMap(16,16) K; Cluster(2,P); SpatialMap(3,3) C;
    Cluster(13,P); TemporalMap(1,1) N; SpatialMap(1,1) Y'; Cluster(3,P); TemporalMap(1,1) X';";

/// AlexNet with 4 images on Eyeriss (JSSC 2017): extents N G K C Y' X' R S, stride, total padding,
/// mapping, and the cycles with double-buffered and with single-buffered weights.
const ALEXNET: [(Extents, u32, u32, &str, [u64; 2]); 5] = [
    (
        [4, 1, 96, 3, 55, 55, 11, 11],
        4,
        0,
        "TemporalMap(1,1) N; TemporalMap(7,7) Y'; TemporalMap(1,1) C; SpatialMap(16,16) K;
         Cluster(7,P); SpatialMap(1,1) Y'; Cluster(11,P); TemporalMap(1,1) X';",
        [2_896_580, 3_175_652],
    ),
    (
        [4, 2, 128, 48, 27, 27, 5, 5],
        1,
        4,
        "TemporalMap(1,1) N; TemporalMap(1,1) G; TemporalMap(64,64) K; TemporalMap(2,2) C;
         Cluster(1,P); TemporalMap(16,16) K; Cluster(27,P); SpatialMap(1,1) Y'; Cluster(5,P);
         TemporalMap(1,1) X';",
        [6_720_394, 7_027_978],
    ),
    (
        [4, 1, 384, 256, 13, 13, 3, 3],
        1,
        2,
        "TemporalMap(4,4) N; SpatialMap(16,16) K; TemporalMap(4,4) C; Cluster(13,P);
         TemporalMap(1,1) N; SpatialMap(1,1) Y'; Cluster(3,P); TemporalMap(1,1) X';",
        [3_854_162, 4_075_730],
    ),
    ([4, 2, 192, 192, 13, 13, 3, 3], 1, 2, CONV4, [2_911_993, 3_078_073]),
    ([4, 2, 128, 192, 13, 13, 3, 3], 1, 2, CONV4, [1_953_529, 2_064_249]),
];

/// Eyeriss: 168 PEs, 16-bit words, separate buses for the weights of every level (section 10.2.2).
fn eyeriss(single_weights: bool) -> Machine {
    let [inputs, wide] = [2, 8].map(|bytes| Bandwidth::new(bytes).expect("not 0"));
    let plain =
        NocLevel { down: inputs, up: wide, weights: Some(wide), latency: 1, ..NocLevel::IDEAL };
    Machine {
        noc_levels: vec![NocLevel { single_weights, ..plain }, plain],
        widths: Widths::of_bytes([2; 4]),
        shared_bytes: Some(108 << 10),
        shared_copies: PerTensor::splat(1),
        ..Machine::new(168)
    }
}

/// Layers of [`ALEXNET`] with their mappings and cycles.
fn alexnet() -> impl Iterator<Item = (Nest, Directives, [u64; 2])> {
    ALEXNET.into_iter().map(|(extents, stride, padding, mapping, expected)| {
        let [.., rows, columns, kernel_rows, kernel_columns] = extents;
        let window = |output: u32, kernel: u32| {
            let unpadded = Window { stride, dilation: 1, stored: 1, padding: padding / 2 };
            Window { stored: unpadded.reach(output, kernel) - padding, ..unpadded }
        };
        let windows = [window(rows, kernel_rows), window(columns, kernel_columns)];
        let nest = Nest::new(extents, windows, false).expect("a layer");
        let directives = parse_mapping(&format!("{mapping}{DIAGONAL}")).expect("it is well formed");
        (nest, directives, expected)
    })
}

#[test]
fn eyeriss_takes_the_cycles_of_the_specification() {
    for (nest, directives, expected) in alexnet() {
        let cycles = [false, true].map(|single| run(&directives, &nest, &eyeriss(single)).cycles);
        assert_eq!(cycles, expected, "{nest:?}");
    }
}

/// Within the scratchpads and the shared memory of the chip, the mapper finds mappings of whole layers that
/// take at most the cycles of the published ones (section 10.2.2), even where those need larger buffers,
/// and at least those of all PEs at work.
#[test]
fn the_mapper_is_no_slower_than_the_published_mappings_of_eyeriss() {
    // A PE holds 224 filter words, 12 input words and 24 sums of 2 bytes, and the model two copies of each.
    let limits = Limits::new(Some(2 * 2 * (224 + 12 + 24)), vec![108 << 10]);
    let machine = eyeriss(false);
    let mut catalog = Catalog::new();
    for (index, (nest, published, [expected, _])) in alexnet().enumerate() {
        let pass = catalog.dataflow(&format!("eyeriss/CONV{}", index + 1)).expect("it is shipped");
        let mapping = |directives: &Directives| {
            Mapping::new(directives, &nest, &machine).expect("the mapping is legal")
        };
        let seeds = [mapping(&published), mapping(pass.directives())];
        // Clusters of the chip are no powers of two.
        let clusters = |seed: &Mapping| seed.levels()[1..].iter().map(|it| it.units()).collect();
        let mut space = Mapspace::any(machine.pes, 3, Sizes::default());
        space.clusters.extend(seeds.iter().map(clusters));
        let search = Search::new(&nest, &machine, &limits, &space).effort(Effort::new(1000, 0, 4));
        let search = seeds.iter().fold(search, |search, seed| search.seed(seed));
        let found = search.run().expect("it can be counted");
        assert_ne!(found.status, Status::NoLegalMapping, "{nest:?}");
        let cycles = found.evaluation.cycles;
        assert!(cycles <= expected, "{nest:?}: {cycles} are more than {expected}");
        assert!(cycles >= nest.macs().div_ceil(168), "{nest:?}: {cycles}");
    }
}
