//! Fill of systolic levels (docs/explanation/cost-model-loop-nest.md, section 4.12) against SCALE-Sim 3.0.0, which
//! simulates systolic arrays cycle by cycle.

use crate::loop_nest::enumerator::cases::cases;
use crate::support;

use xrsim::config::cost_cases::parse_mapping;
use xrsim::cost::loop_nest::{Fill, Machine, Mapping, Nest, NocLevel, Widths, Window, evaluate};

/// Matrix product of M x N outputs with a reduction over K.
type Product = [u32; 3];

/// Cycles of a product under `directives` on an array with and without fill.
fn cycles(directives: &str, [rows, columns]: [u32; 2], product: Product, fill: Fill) -> u64 {
    let [m, n, k] = product;
    let nest =
        Nest::new([1, 1, n, k, m, 1, 1, 1], [Window::new(m, 1, m), Window::new(1, 1, 1)], false);
    let nest = nest.expect("a layer");
    let level = NocLevel { latency: 1, ..NocLevel::IDEAL };
    let machine = Machine {
        noc_levels: vec![NocLevel { fill, ..level }, level],
        widths: Widths::of_bytes([1; 4]),
        ..Machine::new(rows * columns)
    };
    let directives = parse_mapping(directives).expect("it is well formed");
    let mapping = Mapping::new(&directives, &nest, &machine).expect("it is legal");
    evaluate(&nest, &mapping, &machine).expect("counts fit").chip_cycles
}

fn outputs_stationary(columns: u32) -> String {
    format!(
        "TemporalMap({columns},{columns}) K; SpatialMap(1,1) Y'; TemporalMap(1,1) C;
         Cluster({columns},P); SpatialMap(1,1) K;"
    )
}

fn weights_stationary(columns: u32) -> String {
    format!(
        "TemporalMap({columns},{columns}) K; SpatialMap(1,1) C; TemporalMap(1,1) Y';
         Cluster({columns},P); SpatialMap(1,1) K;"
    )
}

/// Array, product, and the cycles of SCALE-Sim with outputs and with weights stationary.
type Row = ([u32; 2], Product, Option<u64>, Option<u64>);

const SCALE_SIM: [Row; 10] = [
    ([16, 16], [32, 32, 32], Some(247), Some(311)),
    ([16, 16], [64, 48, 100], Some(1559), Some(2309)),
    ([16, 16], [400, 16, 27], Some(1424), Some(891)),
    ([16, 16], [16, 16, 1024], Some(1053), Some(3967)),
    ([32, 32], [17, 33, 65], Some(253), Some(665)),
    ([32, 32], [1, 100, 512], Some(2295), Some(6079)),
    ([32, 32], [325, 19, 171], Some(2562), Some(2513)),
    ([8, 32], [17, 33, 65], Some(617), Some(1133)),
    ([8, 32], [1, 100, 512], Some(2199), Some(12031)),
    ([8, 32], [325, 19, 171], Some(8568), Some(8161)),
];

#[test]
fn a_systolic_level_takes_the_cycles_of_scale_sim() {
    for (array, product, outputs, weights) in SCALE_SIM {
        let lists = [outputs_stationary(array[1]), weights_stationary(array[1])];
        for (directives, expected) in lists.iter().zip([outputs, weights]) {
            let Some(expected) = expected else { continue };
            let found = cycles(directives, array, product, Fill::Systolic);
            let ratio = found as f64 / expected as f64;
            assert!((0.94..=1.06).contains(&ratio), "{array:?} {product:?}: {found} {expected}");
        }
    }
}

#[test]
fn the_example_of_section_4_12_comes_out() {
    let [outputs, weights] = [outputs_stationary(16), weights_stationary(16)];
    let cycles = |list: &str, fill| cycles(list, [16, 16], [32, 32, 32], fill);
    assert_eq!(cycles(&outputs, Fill::default()), 132);
    assert_eq!(cycles(&outputs, Fill::Systolic), 132 + 4 * (16 + 16 - 2));
    assert_eq!(cycles(&weights, Fill::Systolic), 132 + 4 * (2 * 16 + 16 - 2));
    assert_eq!(cycles(&outputs, Fill::Cycles(5)), 132 + 4 * 5);
}

#[test]
fn a_fill_adds_cycles_and_changes_nothing_else() {
    for (seed, case) in cases() {
        let [with, without] = [case.with(|_| ()), case.with(|noc| noc.fill = Fill::default())];
        assert_eq!(with.levels(), without.levels(), "case {seed}");
        assert_eq!(with.memory, without.memory, "case {seed}");
        assert_eq!(with.compute_cycles, without.compute_cycles, "case {seed}");
        assert!(with.chip_cycles >= without.chip_cycles, "case {seed}");
    }
}

#[test]
fn all_rows_of_scale_sim_are_met() {
    let Some(path) = support::reference("crossval/data/scalesim.csv") else { return };
    let text = std::fs::read_to_string(path).expect("the table can be read");
    let mut logarithms = Vec::new();
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |index: usize| cells[index].parse().expect("a number");
        let (array, product) = ([number(2), number(3)], [number(5), number(6), number(7)]);
        let directives = match cells[1] {
            "os" => outputs_stationary(array[1]),
            _ => weights_stationary(array[1]),
        };
        let found = cycles(&directives, array, product, Fill::Systolic);
        let ratio = found as f64 / f64::from(number(8));
        assert!((0.94..=1.06).contains(&ratio), "{line}: {found}");
        logarithms.push(ratio.ln());
    }
    assert!(logarithms.len() >= 50, "{} rows", logarithms.len());
    let mean = (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp();
    assert!((0.99..=1.01).contains(&mean), "geometric mean {mean}");
}
