//! Time and quality of searches with full effort: every distinct layer shape of the embedded networks on
//! 1,024 PEs, with buffers of 32 KiB and 8 KiB for clusters and scratchpads of 512 bytes.
//!
//! ```text
//! cargo bench --bench mapper
//! ```
//!
//! Without the option `--bench`, which cargo adds, a few layers are searched.

use std::collections::BTreeSet;
use std::time::Instant;

use rayon::prelude::*;
use xrsim::config::{Catalog, Kind};
use xrsim::cost::loop_nest::{
    Bandwidth, Energies, Machine, Mapping, Nest, NocLevel, Widths, evaluate, lower,
};
use xrsim::mapper::{Effort, Limits, Mapspace, Search, Sizes, Status};

/// PEs of the machine.
const PES: u32 = 1024;

fn main() {
    let timed = std::env::args().any(|argument| argument == "--bench");
    let mut nests = nests();
    if !timed {
        nests.truncate(4);
    }
    let (machine, limits) = (machine(), Limits::new(Some(512), vec![32 << 10, 8 << 10]));
    let mut catalog = Catalog::new();
    let dataflows = ["WS", "OS", "RS"].map(|name| catalog.dataflow(name).expect("a dataflow"));
    let space = Mapspace::any(PES, 3, Sizes::Balanced);
    let start = Instant::now();
    let results = nests.par_iter().map(|nest| {
        let listed: Vec<_> = dataflows
            .iter()
            .filter_map(|it| Mapping::new(it.directives(), nest, &machine).ok())
            .collect();
        let search = Search::new(nest, &machine, &limits, &space).effort(Effort::FULL);
        let search = listed.iter().fold(search, |search, mapping| search.seed(mapping));
        let found = search.run().expect("a mapping can be counted");
        let cycles = |mapping| evaluate(nest, mapping, &machine).ok().map(|it| it.cycles);
        let best = listed.iter().filter_map(cycles).min();
        (found, best)
    });
    let results: Vec<_> = results.collect();
    let seconds = start.elapsed().as_secs_f64();
    let gap = |cycles: u64, bound: u64| cycles as f64 / bound as f64 - 1.0;
    let mut gaps: Vec<_> =
        results.iter().map(|(it, _)| gap(it.value().cycles, it.bound.cycles)).collect();
    gaps.sort_by(f64::total_cmp);
    let share = |within: f64| {
        let n = gaps.iter().filter(|gap| **gap <= within).count();
        100.0 * n as f64 / gaps.len() as f64
    };
    let evaluated: u64 = results.iter().map(|(it, _)| it.counts.evaluated).sum();
    let of = |status| results.iter().filter(|(it, _)| it.status == status).count();
    let worse = |(found, best): &&(xrsim::mapper::Found, Option<u64>)| {
        best.is_some_and(|best| found.value().cycles > best)
    };
    println!("{} layers in {seconds:.1} s, {evaluated} evaluations", results.len());
    println!(
        "optimal by bound {}, by enumeration {}, gap {}, none legal {}",
        of(Status::OptimalByBound),
        of(Status::OptimalByEnumeration),
        of(Status::Gap),
        of(Status::NoLegalMapping)
    );
    println!(
        "gap to the bound: median {:.2} %, worst {:.0} %; within 1 % {:.0} %, within 10 % {:.0} % of layers",
        100.0 * gaps[gaps.len() / 2],
        100.0 * gaps[gaps.len() - 1],
        share(0.01),
        share(0.1)
    );
    // Listed mappings may exceed capacities that the found ones keep.
    println!("slower than a listed mapping: {}", results.iter().filter(worse).count());
}

/// Distinct loop nests of the embedded networks.
fn nests() -> Vec<Nest> {
    let mut catalog = Catalog::new();
    let (mut seen, mut nests) = (BTreeSet::new(), Vec::new());
    for name in catalog.names(Kind::Network) {
        let network = catalog.network(&name).expect("it is embedded");
        for operator in network.operators() {
            for nest in lower::lower(operator).expect("it can be lowered") {
                if seen.insert(format!("{nest:?}")) {
                    nests.push(nest);
                }
            }
        }
    }
    nests
}

/// 256 byte/cycle on every NoC level, 8 MiB of shared memory and DRAM of 128 byte/cycle.
fn machine() -> Machine {
    let bandwidth = |bytes_per_cycle| Bandwidth::new(bytes_per_cycle).expect("not 0");
    let down = bandwidth(256);
    let shared_bytes = 8 << 20;
    Machine {
        noc_levels: vec![NocLevel { down, up: down, latency: 1, ..NocLevel::IDEAL }],
        widths: Widths::of_bytes([1, 1, 4, 1]),
        shared_bytes: Some(shared_bytes),
        dram_bandwidth: bandwidth(128),
        dram_latency: 100,
        energies: Energies::with_shared_memory(shared_bytes as f64),
        ..Machine::new(PES)
    }
}
