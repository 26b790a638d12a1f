//! Tables of small mapspaces that were enumerated independently.

mod stored;

use crate::cost::loop_nest::{
    Bandwidth, Energies, Extents, Fill, Machine, Nest, NocLevel, Widths, Window,
};

use super::exact::{Exact, Incumbent};
use super::problem::Problem;
use super::*;

/// Machine of the tables: B byte/cycle on every level and at DRAM, latency 1, multicast and reduction,
/// partial sums of 4 bytes, a shared memory of 1 MiB.
fn machine(pes: u32, shared: u64) -> Machine {
    let bandwidth = Bandwidth::new(u64::from(pes)).expect("above 0");
    let noc = NocLevel { down: bandwidth, up: bandwidth, latency: 1, ..NocLevel::IDEAL };
    Machine {
        noc_levels: vec![noc],
        widths: Widths::of_bytes([1, 1, 4, 1]),
        shared_bytes: Some(shared),
        dram_bandwidth: bandwidth,
        energies: Energies::with_shared_memory(shared as f64),
        ..Machine::new(pes)
    }
}

/// A layer with these extents of K, C, Y', X', R and S, stride 1, without padding.
fn layer([k, c, y, x, r, s]: [u32; 6]) -> Nest {
    let extents: Extents = [1, 1, k, c, y, x, r, s];
    Nest::new(extents, [Window::new(y, r, y + r - 1), Window::new(x, s, x + s - 1)], false)
        .expect("a layer")
}

/// One row of a table.
struct Case {
    extents: [u32; 6],
    pes: u32,
    shared: u64,
    clusters: &'static [&'static [u32]],
    scratchpad: Option<u64>,
    /// Mappings, and those that exceed a capacity.
    counts: [u64; 2],
    /// Least cycles, energy and product, and how many mappings attain each.
    cycles: (u64, u64),
    energy: (f64, u64),
    edp: (f64, u64),
}

const MIB: u64 = 1 << 20;

/// Cases that a test takes without optimisation, which makes it ten times slower: those of fewer mappings.
fn cases(few: u64) -> impl Iterator<Item = &'static Case> {
    CASES.iter().filter(move |case| !cfg!(debug_assertions) || case.counts[0] < few)
}

const CASES: &[Case] = &[
    Case {
        extents: [4, 4, 4, 1, 1, 1],
        pes: 4,
        shared: MIB,
        clusters: &[&[]],
        scratchpad: None,
        counts: [277, 0],
        cycles: (24, 12),
        energy: (9786.0, 5),
        edp: (245_659.2, 6),
    },
    Case {
        extents: [4, 4, 4, 1, 1, 1],
        pes: 4,
        shared: MIB,
        clusters: &[&[]],
        scratchpad: Some(48),
        counts: [277, 55],
        cycles: (24, 12),
        energy: (9800.6, 4),
        edp: (245_659.2, 6),
    },
    Case {
        extents: [4, 4, 4, 1, 1, 1],
        pes: 4,
        shared: MIB,
        clusters: &[&[], &[2]],
        scratchpad: None,
        counts: [6230, 0],
        cycles: (24, 12),
        energy: (9786.0, 5),
        edp: (245_659.2, 6),
    },
    Case {
        extents: [8, 8, 8, 1, 1, 1],
        pes: 16,
        shared: MIB,
        clusters: &[&[]],
        scratchpad: None,
        counts: [1849, 0],
        cycles: (68, 6),
        energy: (39_457.6, 9),
        edp: (2_910_247.2, 4),
    },
    Case {
        extents: [8, 4, 8, 1, 1, 1],
        pes: 16,
        shared: MIB,
        clusters: &[&[], &[4]],
        scratchpad: None,
        counts: [64_886, 0],
        cycles: (26, 44),
        energy: (27_085.6, 9),
        edp: (788_247.2, 8),
    },
    Case {
        extents: [16, 16, 16, 1, 1, 1],
        pes: 16,
        shared: MIB,
        clusters: &[&[]],
        scratchpad: None,
        counts: [5869, 0],
        cycles: (263, 6),
        energy: (160_339.2, 13),
        edp: (45_712_252.8, 4),
    },
    Case {
        extents: [6, 5, 7, 1, 1, 1],
        pes: 8,
        shared: 4096,
        clusters: &[&[], &[2], &[4]],
        scratchpad: Some(64),
        counts: [181_205, 18_833],
        cycles: (41, 2),
        energy: (18_242.32, 2),
        edp: (753_359.95, 2),
    },
    Case {
        extents: [4, 2, 4, 4, 3, 3],
        pes: 8,
        shared: MIB,
        clusters: &[&[]],
        scratchpad: None,
        counts: [264_323, 0],
        cycles: (293, 480),
        energy: (43_256.2, 7),
        edp: (13_415_315.4, 6),
    },
];

impl Case {
    fn space(&self) -> Mapspace {
        let clusters = self.clusters.iter().map(|list| list.to_vec()).collect();
        Mapspace::free(clusters, Sizes::Balanced)
    }

    fn search(&self, objective: Objective, rules: Rules) -> (Value, Counts) {
        let limits = Limits { scratchpad: self.scratchpad, ..Limits::default() };
        let (nest, machine) = (layer(self.extents), machine(self.pes, self.shared));
        let space = &self.space();
        search(
            &Problem { nest: &nest, machine: &machine, limits: &limits, space, objective },
            rules,
        )
    }
}

/// The best value of a mapspace, and the numbers of decided mappings.
fn search(problem: &Problem, rules: Rules) -> (Value, Counts) {
    let mut exact = Exact::new(problem, rules, Incumbent::default(), u64::MAX);
    exact.run().expect("no budget");
    (*exact.incumbent.value().expect("a mapping runs"), exact.counts)
}

/// All rules, and all rules but one.
fn sets_of_rules() -> impl Iterator<Item = Rules> {
    let but_one = Rules::NAMES.map(|name| Rules::ALL.without(name).expect("a name"));
    std::iter::once(Rules::ALL).chain(but_one)
}

/// Asserts that no rule changes the best values of a mapspace, whatever the objective.
fn assert_rules_keep_the_best(nest: &Nest, machine: &Machine, space: &Mapspace) {
    let limits = &Limits::default();
    for objective in [Objective::Cycles, Objective::Energy, Objective::Edp] {
        let problem = Problem { nest, machine, limits, space, objective };
        let (best, _) = search(&problem, Rules::NONE);
        for rules in sets_of_rules() {
            let (value, _) = search(&problem, rules);
            assert_eq!(value, best, "{:?} {objective:?} {rules:?}", nest.extents());
        }
    }
}

#[test]
fn the_tables_are_met_without_rules() {
    for case in cases(100_000) {
        let (value, counts) = case.search(Objective::Cycles, Rules::NONE);
        assert_eq!([counts.evaluated, counts.infeasible], case.counts, "{:?}", case.extents);
        assert_eq!(value.cycles, case.cycles.0, "{:?}", case.extents);
    }
}

#[test]
fn every_rule_keeps_the_best_value() {
    for case in cases(10_000) {
        for rules in sets_of_rules() {
            let of = |objective| case.search(objective, rules).0;
            assert_eq!(of(Objective::Cycles).cycles, case.cycles.0, "{:?} {rules:?}", case.extents);
            let energy = of(Objective::Energy).energy_pj;
            assert!((energy - case.energy.0).abs() <= 5e-3, "{:?} {energy}", case.extents);
            let edp = of(Objective::Edp).edp();
            assert!((edp - case.edp.0).abs() <= 5e-2, "{:?} {edp}", case.extents);
        }
    }
}

#[test]
fn every_rule_keeps_the_best_value_of_units_that_pass_operands_on() {
    for case in cases(100_000).take(if cfg!(debug_assertions) { 3 } else { 5 }) {
        let mut machine = machine(case.pes, case.shared);
        machine.noc_levels[0].fill = Fill::Systolic;
        assert_rules_keep_the_best(&layer(case.extents), &machine, &case.space());
    }
}

/// A mapspace with loops above the shared memory, and a machine whose DRAM and shared memory limit it.
fn limited_by_memory(case: &Case, shared: u64) -> (Nest, Machine, Mapspace) {
    let nest = layer(case.extents);
    let dram_bandwidth = Bandwidth::new(2).expect("above 0");
    let machine = Machine { dram_bandwidth, dram_latency: 3, ..machine(case.pes, shared) };
    (nest, machine, Mapspace { off_chip: true, ..case.space() })
}

#[test]
fn every_loop_above_the_shared_memory_is_counted() {
    let (nest, machine, space) = limited_by_memory(&CASES[0], MIB);
    let (limits, objective) = (Limits::default(), Objective::Cycles);
    let problem =
        Problem { nest: &nest, machine: &machine, limits: &limits, space: &space, objective };
    let (_, counts) = search(&problem, Rules::NONE);
    // Sizes of an axis of extent d, and mappings of a level on chip for the extents that enter it.
    let sizes = |d: u32| Sizes::Balanced.of(d).len() as u64;
    let orders = |n: u64| (1..=n).product::<u64>();
    let level = |extents: [u32; 3], spreads: bool| -> u64 {
        let of_set = |set: u64| {
            let split = (0..3).filter(|at| set >> at & 1 == 1);
            let ways: u64 = split.clone().map(|at| sizes(extents[at]) - 1).product();
            let n = split.count() as u64;
            orders(n) * (1 + if spreads { n } else { 0 }) * ways
        };
        (0..8).map(of_set).sum()
    };
    assert_eq!(level([4, 4, 4], true), 277);
    let mut expected = 277;
    for k in Sizes::Balanced.of(4) {
        for c in Sizes::Balanced.of(4) {
            for y in Sizes::Balanced.of(4) {
                let split = [k, c, y].iter().filter(|&&size| size < 4).count() as u64;
                let above = if split == 0 { 0 } else { orders(split) };
                expected += above * level([k, c, y], true);
            }
        }
    }
    assert_eq!(counts.evaluated, expected);
}

#[test]
fn every_rule_keeps_the_best_value_with_loops_above_the_shared_memory() {
    let pairs = [(0, MIB), (0, 96), (3, 200), (1, 64)];
    let few = if cfg!(debug_assertions) { 2 } else { pairs.len() };
    for &(case, shared) in &pairs[..few] {
        let (nest, machine, space) = limited_by_memory(&CASES[case], shared);
        assert_rules_keep_the_best(&nest, &machine, &space);
    }
    let x = if cfg!(debug_assertions) { 1 } else { 3 };
    let case = Case { extents: [2, 2, 4, x, 2, 1], clusters: &[&[2]], ..CASES[0] };
    let (nest, machine, space) = limited_by_memory(&case, 90);
    assert_rules_keep_the_best(&nest, &machine, &space);
}

#[test]
fn a_mapspace_whose_boxes_never_fit_names_the_least_violating_mapping() {
    let (nest, machine) = (layer([4, 4, 4, 1, 1, 1]), machine(4, MIB));
    // One product needs an input, a weight and a sum, twice: 12 bytes.
    let limits = Limits::new(Some(11), Vec::new());
    let space = Mapspace::free(vec![vec![]], Sizes::Balanced);
    let found = Search::new(&nest, &machine, &limits, &space).run().expect("a mapping");
    assert_eq!(found.status, Status::NoLegalMapping);
    assert_eq!(found.evaluation.levels()[0].unit_bytes, 12);
}

#[test]
fn a_search_is_the_same_every_time() {
    let (nest, machine) = (layer([24, 20, 10, 6, 3, 3]), machine(64, MIB));
    let (limits, space) =
        (Limits::new(Some(512), vec![8192]), Mapspace::any(64, 2, Sizes::Balanced));
    let search =
        || Search::new(&nest, &machine, &limits, &space).effort(Effort::new(500, 0, 4)).run();
    let [a, b] = [search(), search()].map(|found| found.expect("a mapping"));
    assert_eq!(a.mapping, b.mapping);
    assert_eq!(a.evaluation, b.evaluation);
    assert!(a.evaluation.cycles >= a.bound.cycles);
}
