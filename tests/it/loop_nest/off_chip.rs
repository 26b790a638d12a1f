//! Loops above the shared memory (docs/explanation/cost-model-loop-nest.md, sections 3.9 and 6.7): the example by hand,
//! bounds, DRAM traffic of Timeloop, and two layers that level 0 alone maps badly.

use std::sync::Arc;

use xrsim::config::cost_cases::parse_mapping;
use xrsim::config::{Catalog, Hardware};
use xrsim::cost::Infeasible;
use xrsim::cost::loop_nest::{
    Bandwidth, DramTraffic, Evaluation, LayerReport, Machine, Mapping, Nest, Widths, Window,
    evaluate,
};
use xrsim::dataflow::{Dataflow, Directives};
use xrsim::hardware::Accelerator;
use xrsim::model::{Operator, PerTensor};

use super::enumerator::cases::{Case, N_CASES, off_chip_cases};
use crate::support;

fn run(text: &str, nest: &Nest, machine: &Machine) -> Evaluation {
    let directives = parse_mapping(text).expect("it is well formed");
    let mapping = Mapping::new(&directives, nest, machine);
    let mapping = mapping.unwrap_or_else(|error| panic!("{text}: {error}"));
    evaluate(nest, &mapping, machine).expect("counts fit")
}

/// Example of section 6.7 on one PE: 2 outputs of 4 products each, and 1 byte of DRAM a cycle.
#[test]
fn the_example_by_hand_of_section_6_7_comes_out() {
    let nest = Nest::new([1, 1, 2, 4, 1, 1, 1, 1], [Window::new(1, 1, 1); 2], false);
    let machine = Machine {
        widths: Widths::of_bytes([1, 1, 4, 1]),
        dram_bandwidth: Bandwidth::new(1).expect("not 0"),
        ..Machine::new(1)
    };
    let text = "TemporalMap(2,2) C; TemporalMap(1,1) K; OffChip;";
    let found = run(text, &nest.expect("a layer"), &machine);
    let counts = found.off_chip().expect("the mapping has loops above the shared memory");
    assert_eq!([counts.sent.input, counts.sent.weight], [4, 8]);
    assert_eq!([counts.arrived, counts.accumulated, counts.steps], [4, 2, 4]);
    let dram =
        DramTraffic { inputs_read: 4, weights_read: 8, partial_sums_read: 8, outputs_written: 10 };
    assert_eq!(found.memory.dram, dram);
    assert_eq!(found.memory.shared_bytes, 16);
    assert_eq!([found.chip_cycles, found.dram_cycles, found.cycles], [8, 30, 32]);
    assert_eq!(found.levels().len(), 1);
}

/// DRAM and chip overlap within a step: a layer takes at least the longer of both, and at most their sum.
#[test]
fn a_layer_takes_between_the_longer_and_the_sum_of_chip_and_dram() {
    let mut overlaps = 0u64;
    for (seed, Case { nest, mapping, machine }) in off_chip_cases() {
        let on = |machine: &Machine| evaluate(&nest, &mapping, machine).expect("it is small");
        let found = on(&machine);
        let (chip, dram) = (found.chip_cycles, found.dram_cycles);
        assert!(found.cycles >= chip.max(dram) && found.cycles <= chip + dram, "case {seed}");
        overlaps += u64::from(found.cycles > chip.max(dram) && found.cycles < chip + dram);
        let free =
            Machine { dram_bandwidth: Bandwidth::INFINITE, dram_latency: 0, ..machine.clone() };
        assert_eq!([on(&free).cycles, on(&free).dram_cycles], [chip, 0], "case {seed}");
        let resident = on(&Machine { resident: PerTensor::splat(true), ..machine.clone() });
        assert_eq!((resident.cycles, resident.memory.dram), (chip, DramTraffic::default()));
    }
    assert!(overlaps >= N_CASES / 20 || std::env::var_os("XRSIM_CASES").is_some(), "{overlaps}");
}

/// A case of Timeloop: extents in the order of the axes, stride, dilation, number of maps above the shared
/// memory, all maps, and the size of the tiles in its global buffer.
struct TimeloopCase {
    extents: [u32; 8],
    steps: [u32; 2],
    n_off_chip: usize,
    maps: String,
    shared_bytes: u64,
}

impl TimeloopCase {
    /// Inputs, weights and partial sums read, and outputs written \[byte\].
    fn moved(&self) -> [u64; 4] {
        let &Self { extents, steps: [stride, dilation], n_off_chip, shared_bytes, .. } = self;
        let [.., rows, columns, kernel_rows, kernel_columns] = extents;
        let window = |output, kernel| {
            let window = Window { stride, dilation, stored: 1, padding: 0 };
            Window { stored: window.reach(output, kernel), ..window }
        };
        let windows = [window(rows, kernel_rows), window(columns, kernel_columns)];
        let nest = Nest::new(extents, windows, false).expect("a layer");
        let machine = Machine {
            shared_bytes: Some(shared_bytes),
            shared_copies: PerTensor::splat(1),
            ..Machine::new(1024)
        };
        let maps: Vec<_> = self.maps.split(';').collect();
        let (above, below) = maps.split_at(n_off_chip);
        let text = format!("{}; OffChip; {}", above.join(";"), below.join(";"));
        let found = run(&text, &nest, &machine).memory;
        assert_eq!((found.shared_bytes, found.fits), (shared_bytes, true), "{text}");
        let DramTraffic { inputs_read, weights_read, partial_sums_read, outputs_written } =
            found.dram;
        [inputs_read, weights_read, partial_sums_read, outputs_written]
    }
}

/// Five rows of `timeloop_dram.csv` (Timeloop v3.0.3, `timeloop-model`): weights, partial sums and outputs are
/// Timeloop's; inputs where no sliding window is involved. Timeloop fetches whole tiles again when the loop
/// over a window rewinds or a kernel loop advances; this model keeps the rows that both boxes have.
#[test]
fn dram_traffic_is_that_of_timeloop() {
    // Case, extents, stride and dilation, maps above, maps, bytes, [inputs, weights, sums, outputs], inputs of
    // Timeloop.
    type Row = ([u32; 8], [u32; 2], usize, &'static str, u64, [u64; 4], u64);
    let rows: [Row; 5] = [
        (
            [1, 1, 32, 16, 8, 8, 1, 1],
            [1, 1],
            1,
            "TemporalMap(8,8) C; SpatialMap(1,1) K",
            2816,
            [1024, 512, 0, 2048],
            1024,
        ),
        (
            [1, 1, 16, 8, 12, 12, 3, 3],
            [2, 1],
            2,
            "TemporalMap(2,2) K; TemporalMap(6,6) Y'; TemporalMap(2,2) C; TemporalMap(1,1) R; \
             SpatialMap(3,3) X'",
            2888,
            [38600, 1152, 0, 2304],
            40000,
        ),
        (
            [4, 1, 8, 8, 6, 6, 3, 3],
            [1, 1],
            3,
            "TemporalMap(4,4) N; TemporalMap(1,1) C; TemporalMap(1,1) K; TemporalMap(3,3) X'; \
             TemporalMap(2,2) Y'; SpatialMap(1,1) S",
            409,
            [2048, 576, 8064, 9216],
            2048,
        ),
        (
            [1, 1, 16, 8, 12, 12, 3, 3],
            [2, 1],
            3,
            "TemporalMap(1,1) S; TemporalMap(6,6) Y'; TemporalMap(1,1) X'; TemporalMap(1,1) K; \
             SpatialMap(1,1) C",
            584,
            [7488, 1152, 4608, 6912],
            7488,
        ),
        (
            [1, 1, 64, 96, 1, 1, 1, 1],
            [1, 1],
            1,
            "TemporalMap(8,8) K; SpatialMap(3,3) C",
            872,
            [96, 6144, 0, 64],
            96,
        ),
    ];
    for (extents, steps, n_off_chip, maps, shared_bytes, expected, timeloop_inputs) in rows {
        let case = TimeloopCase { extents, steps, n_off_chip, maps: maps.into(), shared_bytes };
        assert_eq!(case.moved(), expected, "{maps}");
        assert!(expected[0] <= timeloop_inputs, "{maps}");
    }
}

/// Letter of the axis of a loop such as `P4`, whose rows and columns are called P and Q.
fn letter_of_loop(text: &str) -> Option<char> {
    text.chars().next().map(|letter| match letter {
        'P' => 'Y',
        'Q' => 'X',
        other => other,
    })
}

/// All rows of the table, where the folder of reference data lies beside this checkout.
#[test]
fn dram_traffic_is_that_of_timeloop_in_every_row() {
    let Some(folder) = support::reference("crossval/data") else {
        return;
    };
    let path = folder.join("timeloop_dram.csv");
    let Ok(mut table) = csv::Reader::from_path(&path) else {
        eprintln!("skipped: {} is absent", path.display());
        return;
    };
    let header = table.headers().expect("a header").clone();
    let (mut rows, mut equal) = (0, 0);
    for record in table.records().map(|record| record.expect("a row")) {
        let cell = |name: &str| {
            let index = header.iter().position(|known| known == name).expect("a column");
            record[index].to_string()
        };
        let number = |name: &str| cell(name).parse::<u64>().expect("a number");
        // The maps up to the innermost loop at DRAM; those in front that are no loops are one chunk.
        let above: Vec<_> = cell("dram_loops").split(' ').map(letter_of_loop).collect();
        let maps = cell("directives");
        let is_above = |map: &str| above.contains(&map.trim_end_matches('\'').chars().last());
        let n_off_chip = 1 + maps
            .split(';')
            .enumerate()
            .filter(|(_, map)| is_above(map))
            .take(above.len())
            .map(|(index, _)| index)
            .max()
            .expect("a loop at DRAM");
        let case = TimeloopCase {
            extents: ["N", "G", "K", "C", "P", "Q", "R", "S"].map(|name| number(name) as u32),
            steps: ["stride", "dilation"].map(|name| number(name) as u32),
            n_off_chip,
            maps: cell("directives"),
            shared_bytes: number("l2_bytes"),
        };
        let [inputs, others @ ..] = case.moved();
        let timeloop = ["timeloop_rd_w", "timeloop_rd_o", "timeloop_wr_o"].map(number);
        assert_eq!(others, timeloop, "{}", cell("case"));
        // The table also has the inputs of the capacity rule (section 6.4), which may hold a larger tile than
        // the loops at DRAM say: its traffic is a lower bound.
        assert!(inputs >= number("xrsim_rd_i"), "{}", cell("case"));
        assert!(inputs <= number("timeloop_rd_i"), "{}", cell("case"));
        rows += 1;
        equal += u32::from(inputs == number("timeloop_rd_i"));
    }
    assert!(rows >= 30 && equal * 2 >= rows, "{equal} of {rows}");
}

/// The accelerator of style A (WS) or B (OS) on the platform of the paper, with these maps above the shared
/// memory of its dataflow.
fn accelerator(style: &str, off_chip: &str) -> Accelerator {
    let mut catalog = Catalog::new();
    let platform = catalog.platform("paper").expect("it is embedded");
    let Ok(Hardware::Style(style)) = catalog.hardware(style) else { panic!("{style}") };
    let system = style.instantiate(4096, &platform).expect("a system");
    let mut accelerator = system.accelerators()[0].clone();
    let off_chip =
        parse_mapping(&format!("{off_chip}OffChip;")).expect("it is well formed").off_chip;
    let levels = accelerator.dataflow.levels().to_vec();
    let dataflow = Dataflow::new("tiled", Directives { off_chip, levels }).expect("a dataflow");
    accelerator.dataflow = Arc::new(dataflow);
    accelerator
}

fn operator(network: &str, layer: &str) -> Operator {
    let network = Catalog::new().network(network).expect("it is embedded");
    let found = network.layers().iter().find(|known| &*known.name == layer);
    found.expect("a layer").operator
}

/// Level 0 of WS and OS reads the weights of PlaneRCNN's classifier once for each of its 1,000 regions, and
/// moves 100 times the compulsory bytes of the head of HRViT. Two maps above the shared memory reach the
/// compulsory bytes: sums of all outputs and two chunks of 16 channels fit into 8 MiB, and so do all weights
/// with two chunks of 8 rows.
#[test]
fn two_layers_move_no_more_than_half_again_their_compulsory_bytes() {
    let layers = [
        // 1,000 regions of 320 x 7 x 7 on 1,024 outputs.
        ("PD", "conv140", "TemporalMap(16,16) C; ", 15_680_000 + 16_056_320 + 1_024_000),
        // 1 x 1 kernels: 1,024 to 256 channels of 128 x 128.
        ("SS", "conv56", "TemporalMap(8,8) Y'; ", 16_777_216 + 262_144 + 4_194_304),
    ];
    for (network, layer, off_chip, compulsory) in layers {
        let operator = operator(network, layer);
        for style in ["A", "B"] {
            let report = LayerReport::new(&operator, &accelerator(style, off_chip));
            let report = report.unwrap_or_else(|error| panic!("{layer} on {style}: {error}"));
            let moved = report.dram.total_bytes();
            assert_eq!(moved, compulsory, "{layer} on {style}");
            assert!(report.shared_fits && report.off_chip.is_some(), "{layer} on {style}");
        }
    }
}

#[test]
fn a_box_that_does_not_fit_into_the_shared_memory_is_refused() {
    // Two chunks of 32 channels: 1,000 x 32 x 49 inputs and 1,024 x 32 x 49 weights, and 1,024,000 sums of
    // 4 bytes.
    let accelerator = accelerator("A", "TemporalMap(32,32) C; ");
    let error = LayerReport::new(&operator("PD", "conv140"), &accelerator).expect_err("too large");
    let needed = 2 * (1_568_000 + 1_605_632) + 4 * 1_024_000;
    assert_eq!(error, Infeasible::BoxTooLarge { needed, available: 8 << 20 });
}
