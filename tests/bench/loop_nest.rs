//! Time to evaluate one layer with the loop-nest cost model: every distinct layer shape of the embedded
//! networks under the three published dataflows, from the elaboration of the mapping to walk, DRAM and
//! energy.
//!
//! ```text
//! cargo bench --bench loop_nest
//! ```
//!
//! Without the option `--bench`, which cargo adds, every layer is evaluated once and nothing is timed.
//! This counts instructions: run `valgrind --tool=callgrind target/release/deps/loop_nest-<hash>` and
//! divide the inclusive cost of `loop_nest::evaluate_once` by the printed number of evaluations.

use std::collections::BTreeSet;
use std::hint::black_box;
use std::time::Instant;

use xrsim::config::{Catalog, Kind};
use xrsim::cost::loop_nest::{
    Bandwidth, Energies, Machine, Mapping, Nest, NocLevel, Widths, evaluate, lower,
};
use xrsim::dataflow::Directives;

/// Number of rounds over all evaluations. The fastest round of each evaluation counts, because the
/// others were disturbed. No evaluation follows itself, so that it finds caches and branch predictors
/// untrained.
const ROUNDS: usize = 31;

/// A layer and its mapping.
struct Case {
    nest: Nest,
    directives: Directives,
}

fn main() {
    let timed = std::env::args().any(|argument| argument == "--bench");
    let (machine, cases) = (machine(), cases());
    if timed {
        report(fastest(&cases, &machine));
    } else {
        cases.iter().for_each(|case| evaluate_once(case, &machine));
        println!("{} evaluations", cases.len());
    }
}

/// 4096 PEs with 256 byte/cycle on every NoC level, 8 MiB of shared memory and DRAM of 128 byte/cycle.
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
        ..Machine::new(4096)
    }
}

/// Every loop nest of the embedded networks under every published dataflow.
fn cases() -> Vec<Case> {
    let nests = nests();
    let dataflows = ["WS", "OS", "RS"].map(|name| {
        let dataflow = Catalog::new().dataflow(name);
        dataflow.expect("an embedded dataflow").directives().clone()
    });
    let pairs =
        dataflows.iter().flat_map(|directives| nests.iter().map(move |nest| (directives, nest)));
    pairs
        .map(|(directives, nest)| Case { nest: nest.clone(), directives: directives.clone() })
        .collect()
}

/// Loop nests of the distinct operators of the embedded networks.
fn nests() -> Vec<Nest> {
    let mut catalog = Catalog::new();
    let names = catalog.names(Kind::Network);
    let mut operators = BTreeSet::new();
    for name in &names {
        let network = catalog.network(name).expect("an embedded network");
        operators.extend(network.operators().iter().copied());
    }
    operators.iter().flat_map(|operator| lower::lower(operator).expect("it is small")).collect()
}

/// Elaborates the mapping and evaluates the layer. Not inlined, so that profiles show it.
#[inline(never)]
fn evaluate_once(case: &Case, machine: &Machine) {
    let Case { nest, directives } = black_box(case);
    let mapping = Mapping::new(directives, nest, machine).expect("a published mapping is legal");
    black_box(evaluate(nest, &mapping, machine)).expect("the counts of the study fit");
}

/// Time of every evaluation in its fastest round \[ns\].
fn fastest(cases: &[Case], machine: &Machine) -> Vec<f64> {
    let time = |case| {
        let start = Instant::now();
        evaluate_once(case, machine);
        start.elapsed().as_nanos() as f64
    };
    let mut fastest = vec![f64::INFINITY; cases.len()];
    for _ in 0..ROUNDS {
        for (fastest, case) in fastest.iter_mut().zip(cases) {
            *fastest = fastest.min(time(case));
        }
    }
    fastest
}

fn report(mut ns: Vec<f64>) {
    ns.sort_by(f64::total_cmp);
    let quantile = |share: f64| ns[((ns.len() - 1) as f64 * share) as usize];
    let mean = ns.iter().sum::<f64>() / ns.len() as f64;
    println!(
        "one layer [ns]: mean {mean:.0}, median {:.0}, p99 {:.0}, largest {:.0} of {}; {:.0} evaluations/s",
        quantile(0.5),
        quantile(0.99),
        quantile(1.0),
        ns.len(),
        1e9 / mean,
    );
}
