//! Layer costs of `maestro` against those of the published artifact, row by row: a part from the golden
//! files, and all rows if the folder of reference data lies beside the checkout.

use crate::support;

use std::path::Path;

use csv::StringRecord;
use support::study::{self, CONFIGURATIONS};
use xrsim::cost::maestro::Maestro;
use xrsim::cost::{CostModel, Explanation, Quantity};
use xrsim::hardware::Accelerator;
use xrsim::model::ConvKind;

/// Number of columns of the reference tables before those that the model reports.
const INPUT_COLUMNS: usize = 13;

fn number<T: std::str::FromStr>(text: &str) -> T {
    let number = text.parse().ok();
    number.unwrap_or_else(|| panic!("`{text}` is not a number"))
}

fn accelerator(dataflow: &str, pes: u32, bandwidth: &[u64]) -> Accelerator {
    support::accelerator(&support::published_dataflow(dataflow), pes, bandwidth)
}

/// Compares one row of a reference table with the explanation of the model, column by column: integers and
/// texts as they are written, energies to the last bit.
fn check_row(header: &StringRecord, row: &StringRecord) {
    let bandwidth = [number(&row[2]), number(&row[3])];
    let accelerator = accelerator(&row[0], number(&row[1]), &bandwidth);
    assert_eq!(&row[5], "CONV");
    assert_eq!(&row[6], "1");
    let shape = support::shape(ConvKind::Conv, [7, 8, 9, 10, 11, 12].map(|at| number(&row[at])));
    let found = Maestro.explain(&shape.into(), &accelerator).expect("the study is feasible");
    assert_eq!(INPUT_COLUMNS + found.len(), header.len());
    let expected = header.iter().zip(row).skip(INPUT_COLUMNS);
    for ((name, found), (column, expected)) in found.iter().zip(expected) {
        assert_eq!(*name, column);
        let equal = match found {
            Quantity::Count(count) => count.to_string() == expected,
            Quantity::Real(real) => *real == number::<f64>(expected),
            Quantity::Text(text) => text == expected,
        };
        assert!(equal, "{column}: {found:?}, expected {expected}, in {row:?}");
    }
}

fn check_table(path: &Path) -> usize {
    let mut reader = csv::Reader::from_path(path).expect("the table can be read");
    let header = reader.headers().expect("the table has a header").clone();
    study::records(path).inspect(|row| check_row(&header, row)).count()
}

#[test]
fn every_column_of_the_sampled_rows_is_equal() {
    assert_eq!(check_table(&study::golden("cost_counters.csv")), 186);
}

#[test]
fn every_column_of_all_reference_rows_is_equal() {
    let Some(folder) = support::reference("xrbench-mlsys2023/layer_costs") else {
        return;
    };
    let tables = ["WS", "OS", "RS"].map(|dataflow| format!("layer_costs_{dataflow}.csv"));
    let rows = tables.map(|table| check_table(&folder.join(table)));
    assert_eq!(rows, [2296, 2296, 2296]);
}

/// Compares pairs of cycles and energy, one for each of [`CONFIGURATIONS`], with `cost`.
fn check_pairs(
    dataflow: &str,
    pairs: impl Iterator<Item = (u64, f64)>,
    cost: impl Fn(&Accelerator) -> (u64, f64),
) -> usize {
    let configurations = CONFIGURATIONS.into_iter();
    let compared = configurations.zip(pairs).inspect(|&((pes, bandwidth), expected)| {
        let accelerator = accelerator(dataflow, pes, &[bandwidth]);
        assert_eq!(cost(&accelerator), expected, "{dataflow} {pes}@{bandwidth}");
    });
    compared.count()
}

/// Pairs of cycles and energy, from the third column on.
fn pairs(row: &StringRecord) -> impl Iterator<Item = (u64, f64)> {
    let cells: Vec<&str> = row.iter().skip(2).collect();
    let pairs: Vec<_> = cells.chunks(2).map(|pair| (number(pair[0]), number(pair[1]))).collect();
    pairs.into_iter()
}

#[test]
fn cycles_and_energy_of_all_6888_rows_are_equal() {
    let shapes = study::shapes();
    let rows = study::records(&study::golden("cost_layers.csv")).map(|row| {
        let shape = &shapes[number::<usize>(&row[1])];
        check_pairs(&row[0], pairs(&row), |accelerator| {
            let cost = Maestro.layer(&(*shape).into(), accelerator).expect("the study is feasible");
            (cost.cycles, cost.energy_nj)
        })
    });
    assert_eq!(rows.sum::<usize>(), 6888);
}

#[test]
fn cycles_and_energy_of_all_252_network_totals_are_equal() {
    let networks = study::networks();
    let totals = study::records(&study::golden("cost_network_totals.csv")).map(|row| {
        let network = networks.iter().find(|network| network.name() == &row[1]);
        let network = network.expect("a network of the study");
        check_pairs(&row[0], pairs(&row), |accelerator| {
            let cost = Maestro.network(network, accelerator).expect("the study is feasible");
            (cost.cycles.get(), cost.energy_nj)
        })
    });
    assert_eq!(totals.sum::<usize>(), 252);
}

/// Explanation of the layer of the worked examples in docs/explanation/cost-model-maestro.md: the second one of the
/// keyword detection network, on 1024 PEs with a bandwidth of 128.
fn worked_example(dataflow: &str) -> Explanation {
    let shape = support::shape(ConvKind::Conv, [19, 19, 24, 13, 3, 3]);
    Maestro
        .explain(&shape.into(), &accelerator(dataflow, 1024, &[128, 128]))
        .expect("it is feasible")
}

/// Checks the tables of a worked example: rows L2 read, L2 write, L1 read, L1 write, L2 and L1
/// requirement; columns input, weight, output.
fn check_example(
    dataflow: &str,
    energy_nj: f64,
    psums: i64,
    counts: [[i64; 3]; 6],
    runtimes: &str,
) {
    let found = worked_example(dataflow);
    let [l2_reads, l2_writes, l1_reads, l1_writes, l2_required, l1_required] = counts;
    let before = [l2_reads, l2_writes, l1_reads, l1_writes].concat();
    let after = [l2_required, l1_required].concat();
    let whole: Vec<i64> = [before, vec![psums], after].concat();
    let cycles: i64 = number(runtimes.split(';').next().expect("a level"));
    assert_eq!(found[0].1, Quantity::Count(cycles));
    assert_eq!(found[1].1, Quantity::Real(energy_nj));
    let counters = found[2..21].iter().map(|(_, quantity)| quantity.clone());
    let expected = whole.into_iter().map(Quantity::Count);
    assert_eq!(counters.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    assert_eq!(found[22].1, Quantity::Text(runtimes.into()));
}

#[test]
fn the_worked_example_for_ws_comes_out() {
    let counts = [
        [83_520, 9_216, 0],
        [5_928, 3_249, 4_598],
        [3_145_032, 3_145_032, 857_472],
        [181_248, 36_864, 857_736],
        [896, 4_608, 128],
        [512, 4_608, 512],
    ];
    // 6.0 * 106511 + 0.55 * 8223384 + 3145032 = 8306959.2 MACs of 0.00288 nJ.
    check_example("WS", 23_924.042_496, 3_145_032, counts, "9504;36;36");
}

#[test]
fn the_worked_example_for_os_comes_out() {
    let counts = [
        [306_432, 19_152, 0],
        [5_928, 3_249, 4_598],
        [1_572_516, 1_572_516, 142_728],
        [963_072, 224_352, 142_956],
        [4_256, 288, 20],
        [896, 288, 56],
    ];
    check_example("OS", 17_708.103_36, 1_572_516, counts, "8208;36;18");
}

#[test]
fn the_worked_example_for_rs_comes_out() {
    let counts = [
        [19_604, 75_240, 0],
        [5_928, 3_249, 4_598],
        [1_572_516, 1_572_516, 165_308],
        [313_664, 75_240, 165_528],
        [416, 1_152, 68],
        [608, 72, 152],
    ];
    check_example("RS", 12_527.581_248, 1_572_516, counts, "5280;24;24");
}

#[test]
fn the_study_needs_19_accelerators_and_6232_layer_costs() {
    assert_eq!(study::accelerators().len(), 19);
    assert_eq!(study::shapes().len(), 328);
    let layers: usize = study::networks().iter().map(|network| network.layers().len()).sum();
    assert_eq!(layers, 1439);
}
