//! Quirks of `maestro` that show in its results, on layers that are small enough to be counted by hand.

use crate::support;
use xrsim::cost::maestro::Maestro;
use xrsim::cost::{CostModel, Infeasible, Quantity};
use xrsim::hardware::Accelerator;
use xrsim::model::{ConvKind, ConvShape};

fn conv(extents: [u32; 6]) -> ConvShape {
    support::shape(ConvKind::Conv, extents)
}

/// An accelerator with a dataflow in the notation of [`support::dataflow`] and ample bandwidth.
fn accelerator(dataflow: &str, pes: u32) -> Accelerator {
    support::accelerator(&support::dataflow("hand", dataflow), pes, &[1 << 20])
}

fn explain(shape: &ConvShape, accelerator: &Accelerator) -> Vec<(&'static str, Quantity)> {
    Maestro.explain(&(*shape).into(), accelerator).expect("it is feasible")
}

/// Checks some counts of a layer with extents [K, C, Y, X, R, S].
fn check(dataflow: &str, pes: u32, extents: [u32; 6], expected: &[(&str, i64)]) {
    let columns = explain(&conv(extents), &accelerator(dataflow, pes));
    for (name, count) in expected {
        let found = columns.iter().find(|(column, _)| column == name);
        assert_eq!(found, Some(&(*name, Quantity::Count(*count))), "{name}");
    }
}

fn runtimes(columns: &[(&str, Quantity)]) -> String {
    match columns.last() {
        Some((_, Quantity::Text(runtimes))) => runtimes.clone(),
        other => panic!("{other:?} is not the list of runtimes"),
    }
}

#[test]
fn quirk_2_bandwidths_are_used_from_the_wrong_end() {
    // Inner level: 4 inputs and 4 weights in one case. Outer level: K takes 4 steps. The first one loads 4
    // inputs and 4 weights, the others load 4 weights each.
    let dataflow = support::dataflow("hand", "S(1,1)K | 4: S(1,1)C");
    let layer = conv([4, 4, 1, 1, 1, 1]);
    let of = |bandwidth: &[u64]| {
        runtimes(&explain(&layer, &support::accelerator(&dataflow, 4, bandwidth)))
    };
    assert_eq!(of(&[1, 1000]), "32;8"); // the inner level has the first bandwidth
    assert_eq!(of(&[1000, 1]), "20;1"); // 8 + 3 * 4
    assert_eq!(of(&[1]), of(&[1, 1]));
}

#[test]
fn quirk_2_the_last_bandwidth_serves_three_more_levels() {
    let four = "S(1,1)K | 1: S(1,1)C | 1: S(1,1)K | 1: S(1,1)C";
    let layer = conv([2, 2, 1, 1, 1, 1]);
    explain(&layer, &accelerator(four, 1));
    let five = accelerator(&format!("{four} | 1: S(1,1)K"), 1);
    assert_eq!(
        Maestro.layer(&layer.into(), &five),
        Err(Infeasible::TooManyLevels { levels: 5, available: 4 })
    );
}

#[test]
fn quirk_3_latency_multicast_off_chip_bandwidth_and_memories_have_no_effect() {
    let layer = conv([19, 19, 24, 13, 3, 3]);
    let plain = support::accelerator(&support::published_dataflow("WS"), 1024, &[128]);
    let mut other = plain.clone();
    other.noc.set(&[100], |level, latency| level.latency = latency);
    other.noc.set(&[false], |level, multicast| level.multicast = multicast);
    other.memory.dram_bandwidth = 1;
    other.memory.shared = xrsim::units::Bytes::new(1);
    other.memory.scratchpad = xrsim::units::Bytes::new(1);
    assert_eq!(explain(&layer, &plain), explain(&layer, &other));
}

#[test]
fn quirks_4_and_5_stride_and_batch_have_no_effect() {
    let layer = conv([19, 19, 24, 13, 3, 3]);
    let strided = ConvShape { n: 8, stride_y: 2, stride_x: 3, ..layer };
    let accelerator = support::accelerator(&support::published_dataflow("OS"), 1024, &[128]);
    assert_eq!(explain(&layer, &accelerator), explain(&strided, &accelerator));
}

#[test]
fn quirk_6_depthwise_layers_keep_k_and_other_kinds_are_dense() {
    let accelerator = accelerator("S(1,1)K", 2);
    let of = |kind| explain(&support::shape(kind, [2, 3, 4, 4, 1, 1]), &accelerator);
    let count = |kind, name| {
        let columns = of(kind);
        columns.into_iter().find(|(column, _)| *column == name).expect("a column").1
    };
    for kind in [ConvKind::Conv, ConvKind::Depthwise] {
        assert_eq!(count(kind, "l2_wr_weight"), Quantity::Count(2 * 3));
        assert_eq!(count(kind, "num_psums"), Quantity::Count(2 * 3 * 4 * 4));
    }
    assert_eq!(count(ConvKind::Conv, "l2_wr_output"), Quantity::Count(2 * 4 * 4));
    assert_eq!(count(ConvKind::Depthwise, "l2_wr_output"), Quantity::Count(3 * 4 * 4));
    assert_eq!(of(ConvKind::ZeroInserted), of(ConvKind::Conv));
    assert_eq!(of(ConvKind::NonGrouped), of(ConvKind::Conv));
}

#[test]
fn quirk_7_pes_beyond_a_whole_number_of_units_are_idle() {
    let (dataflow, layer) = ("S(1,1)K | 2: S(1,1)C", conv([7, 4, 5, 5, 3, 3]));
    let four = explain(&layer, &accelerator(dataflow, 4));
    assert_eq!(four, explain(&layer, &accelerator(dataflow, 5)));
    assert_ne!(four, explain(&layer, &accelerator(dataflow, 6)));
    assert_eq!(
        Maestro.layer(&layer.into(), &accelerator(dataflow, 1)),
        Err(Infeasible::TooFewPes { needed: 2 })
    );
}

#[test]
fn quirk_9_a_kernel_larger_than_its_window_is_evaluated_all_the_same() {
    // E(Y) = 2 - 5 + 1 = -2 gives -2 trips, and hence a steady count of -3. Each of the -2 occurrences
    // computes max(1, 1 - 5 + 1) * 5 partial sums.
    let expected = [("runtime_cycles", -10), ("num_psums", -10), ("l2_wr_output", -2)];
    check("T(1,1)Y S(1,1)K", 1, [1, 1, 2, 1, 5, 1], &expected);
}

#[test]
fn a_negative_latency_is_no_cost() {
    let layer = conv([1, 1, 2, 1, 5, 1]);
    assert_eq!(
        Maestro.layer(&layer.into(), &accelerator("T(1,1)Y S(1,1)K", 1)),
        Err(Infeasible::BelowZero { quantity: "latency" })
    );
}

#[test]
fn quirk_14_a_map_larger_than_its_axis_is_loaded_for_free() {
    // Of both tensors, 3 mod 1 = 0 channels are loaded; 2 * 3 partial sums are computed.
    let expected = [("l2_rd_input", 0), ("l2_rd_weight", 0), ("num_psums", 6)];
    check("T(5,1)C S(1,1)K", 2, [2, 3, 1, 1, 1, 1], &expected);
    // With an offset of 4, 3 mod 4 = 3 channels are loaded, which is right.
    let expected = [("l2_rd_input", 3), ("l2_rd_weight", 6)];
    check("T(5,4)C S(1,1)K", 2, [2, 3, 1, 1, 1, 1], &expected);
}

#[test]
fn quirk_15_what_restarts_inside_is_not_fetched_again() {
    // C, K and Y take 8 steps. The 2 steps at which K advances and Y restarts fetch no input; 6 are left.
    let dataflow = "T(1,1)C T(1,1)K T(1,1)Y S(1,1)X";
    check(dataflow, 1, [2, 2, 2, 1, 1, 1], &[("l2_rd_input", 6)]);
}

#[test]
fn quirk_16_a_sliding_window_is_kept_though_the_channels_inside_restart() {
    // 3 window positions of 2 channels. The first position loads 2 rows of each channel. The two others
    // load 1 new row of the first channel and 2 rows of the second: 4 + 2 * (1 + 2).
    check("T(2,1)Y T(1,1)C S(1,1)K", 1, [1, 2, 3, 1, 1, 1], &[("l2_rd_input", 10)]);
}

#[test]
fn quirk_17_multicast_and_halo_forwarding_are_free() {
    // 4 units with 3 columns each at distance 1: the first one loads 3, each other one loads 1 new column.
    // The weight is sent once to all. L1 is charged for the elements that every unit receives.
    let expected =
        [("l2_rd_input", 6), ("l1_wr_input", 12), ("l2_rd_weight", 1), ("l1_wr_weight", 4)];
    check("S(3,1)X", 4, [1, 1, 1, 4, 1, 1], &expected);
}

#[test]
fn quirk_19_outputs_under_overlapping_windows_are_computed_again() {
    // 5 positions of a window of 3 rows with a 1x1 kernel: 15 partial sums for 5 outputs.
    check("T(3,1)Y S(1,1)K", 1, [1, 1, 5, 1, 1, 1], &[("num_psums", 15)]);
}

#[test]
fn quirk_23_an_inner_runtime_wraps_at_32_bits() {
    // The inner level computes 2^20 channels times 2^11 kernel rows in 2^31 cycles. The outer level reads
    // them as -2^31 and waits only for its operands: 2^32 elements at 2^32 per cycle.
    let dataflow = support::dataflow("hand", "S(1,1)K | 1: S(1,1)K");
    let accelerator = support::accelerator(&dataflow, 1, &[1 << 32]);
    let columns = explain(&conv([1, 1 << 20, 1 << 11, 1, 1 << 11, 1]), &accelerator);
    assert_eq!(runtimes(&columns), "1;2147483648");
}

#[test]
fn quirk_24_output_counters_leave_out_all_units_but_one() {
    // 4 units with one partial sum each.
    let expected = [("num_psums", 4), ("l1_rd_input", 4), ("l1_wr_output", 1), ("l1_rd_output", 0)];
    check("S(1,1)X", 4, [1, 1, 1, 4, 1, 1], &expected);
}

#[test]
fn quirk_26_capacities_are_of_the_first_case_and_count_input_windows_as_outputs() {
    // Double buffers. Upstream: one row of 4 columns, 3 weights, 4 - 3 + 1 outputs. Downstream: the same,
    // with 4 columns in place of the outputs.
    let expected = [
        ("l2_req_input", 8),
        ("l2_req_weight", 6),
        ("l2_req_output", 4),
        ("l1_req_input", 8),
        ("l1_req_weight", 6),
        ("l1_req_output", 8),
    ];
    check("T(4,2)X S(1,1)K", 1, [1, 1, 1, 8, 1, 3], &expected);
}

#[test]
fn counts_beyond_64_bits_are_a_value() {
    let maps = "T(16777216,1)C T(16777216,1)R T(16777216,1)S S(1,1)K";
    assert_eq!(
        Maestro.layer(&conv([1, 1, 1, 1, 1, 1]).into(), &accelerator(maps, 1)),
        Err(Infeasible::Overflow)
    );
}
