//! Bounds of two classes of schedulers: each holds for its own, and no scheduler changes that of another.

use crate::support::{binary, n_cases, runs};

use std::fs;
use std::path::Path;
use std::sync::Arc;

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use tempfile::{TempDir, tempdir};

use binary::{output, stderr, xrsim};
use runs::span_ms;
use xrsim::bounds::{Bound, Bounds, Class};
use xrsim::config::{Catalog, Edition, Hardware};
use xrsim::cost::library::CostLibrary;
use xrsim::cost::maestro::Maestro;
use xrsim::engine;
use xrsim::plan::{DeadlineMiss, Plan};
use xrsim::schedule::{self, Policy};

/// A network of two layers, each fast on one of two accelerators: 21 ms where it stays, 2 ms where it moves, 10 ms are
/// allowed.
const FILES: [(&str, &str); 4] = [
    (
        "n.yaml",
        "network:\n  name: two\n  task: T\n  layers:\n    - conv: {k: 64, c: 64, y: 64, x: 64, r: 3, s: 3, pad: 1}\n    \
         - conv: {k: 64, c: 64, y: 64, x: 64, r: 3, s: 3, pad: 1}\n",
    ),
    (
        "s.yaml",
        "scenario:\n  name: one\n  models:\n    - {network: n.yaml, fps: 10, relative_deadline_ms: 10}\n",
    ),
    (
        "sys.yaml",
        "system:\n  name: pair\n  clock_mhz: 1000\n  \
         energy: {mac_nj: 0.00288, scratchpad_per_mac: 0.55, shared_memory_per_mac: 6, dram_per_mac: 75}\n  \
         accelerators:\n    \
         - {name: a0, dataflow: OS, pes: 64, noc_bandwidth_bytes_per_cycle: 16, shared_memory_kib: 64, scratchpad_kib: 8, dram_bandwidth_bytes_per_cycle: 8}\n    \
         - {name: a1, dataflow: OS, pes: 64, noc_bandwidth_bytes_per_cycle: 16, shared_memory_kib: 64, scratchpad_kib: 8, dram_bandwidth_bytes_per_cycle: 8}\n",
    ),
    (
        "c.csv",
        "network,accelerator,layer,latency_ms,energy_mj\ntwo,a0,conv1,1,10\ntwo,a1,conv1,20,10\ntwo,a0,conv2,20,10\ntwo,a1,conv2,1,10\n",
    ),
];

fn folder() -> TempDir {
    let folder = tempdir().expect("a folder can be made");
    for (name, text) in FILES {
        fs::write(folder.path().join(name), text).expect("it can be written");
    }
    folder
}

/// Rows of a table of a comparison of these schedulers on the network of two layers, as (column, cell).
fn compared(folder: &Path, schedulers: &[&str], table: &str) -> Vec<Vec<(String, String)>> {
    let path = |name: &str| folder.join(name).display().to_string();
    let (costs, out) = (path("c.csv"), path("out"));
    let (scenario, system) = (path("s.yaml"), path("sys.yaml"));
    let _ = fs::remove_dir_all(&out);
    let mut words = vec!["compare", "--scenario", &scenario, "--system", &system, "--quiet"];
    words.extend(["--cost-model", &costs, "--replications", "1"]);
    words.extend(["--out", &out]);
    schedulers.iter().for_each(|name| words.extend(["--scheduler", name]));
    output(&words);
    let text = fs::read_to_string(Path::new(&out).join(table)).expect("it is written");
    let mut lines = text.lines().map(|line| line.split(',').map(String::from));
    let header: Vec<String> = lines.next().expect("a header").collect();
    lines.map(|row| header.iter().cloned().zip(row).collect()).collect()
}

fn cell(row: &[(String, String)], name: &str) -> String {
    row.iter().find(|(known, _)| known == name).expect(name).1.clone()
}

fn number(row: &[(String, String)], name: &str) -> f64 {
    cell(row, name).parse().expect("a number")
}

/// Before, the bounds of a comparison without a scheduler that cuts requests were those of whole requests, and said to
/// hold for all.
#[test]
fn a_scheduler_that_is_not_listed_does_not_exceed_the_bound_for_any() {
    let folder = folder();
    let rows = compared(folder.path(), &["edf", "value:admission=hopeless"], "configurations.csv");
    let [any, keeping] = ["ub3_linear_program", "ub3_linear_program_keeping"];
    for row in &rows {
        assert!(number(row, keeping) < 1e-9 && number(row, any) > 0.98, "{row:?}");
    }
    let any = number(&rows[0], any);
    for entry in schedule::ALL {
        let other = if entry.name == "edf" { "sjf" } else { "edf" };
        let rows = compared(folder.path(), &[entry.name, other], "configurations.csv");
        let row = rows.iter().find(|row| cell(row, "scheduler") == entry.name);
        let score = number(row.expect("a row"), "score_executed_mean");
        assert!(score <= any, "{}: {score} {any}", entry.name);
    }
    let herald = compared(folder.path(), &["herald", "edf"], "configurations.csv");
    assert!(number(&herald[0], "score_executed_mean") > 0.98, "{herald:?}");
}

/// The rank-free columns of a scheduler are the same, whichever others are beside it.
#[test]
fn another_scheduler_in_the_list_changes_no_bound() {
    let folder = folder();
    let lists: [&[&str]; 4] = [
        &["edf", "sjf"],
        &["edf", "sjf", "herald-list"],
        &["dream", "edf", "sjf", "herald"],
        &["edf", "dream", "edf:granularity=layer", "sjf"],
    ];
    for table in ["configurations.csv", "policies.csv"] {
        let of = |name: &str, list: &[&str]| {
            let rows = compared(folder.path(), list, table);
            let row = rows.into_iter().find(|row| cell(row, "scheduler") == name).expect("a row");
            let own = row.into_iter().filter(|(name, _)| {
                name.starts_with("ub") || name.contains("bound") || name == "energy_mj"
            });
            own.collect::<Vec<_>>()
        };
        for name in ["edf", "sjf"] {
            let alone = of(name, lists[0]);
            assert!(alone.len() >= 3, "{alone:?}");
            for list in &lists[1..] {
                assert_eq!(of(name, list), alone, "{list:?}");
            }
        }
    }
    let rows = compared(folder.path(), &["edf", "dream"], "policies.csv");
    let class = |name: &str| {
        let row = rows.iter().find(|row| cell(row, "scheduler") == name).expect("a row");
        cell(row, "bound_for")
    };
    assert_eq!([class("edf"), class("dream")], ["keeping", "any"]);
}

/// A search that is proven for the schedulers that it lists is refused as a proof for any.
#[test]
fn a_proof_names_the_schedulers_that_it_is_about() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let tall = "dataflow:\n  name: TALL\n  directives: [\"TemporalMap(16,16) C\", \"TemporalMap(16,16) K\", \"TemporalMap(1,1) X'\", \
        \"SpatialMap(1,1) Y'\", \"Cluster(16)\", \"SpatialMap(1,1) K\", \"TemporalMap(64,64) C\", \"TemporalMap(1,1) Y'\", \
        \"TemporalMap(1,1) X'\", \"Cluster(16)\", \"SpatialMap(1,1) C\"]\n";
    let network = "network:\n  name: wide_then_tall\n  task: W\n  layers:\n    - repeat: 5\n      layers:\n        \
        - conv: {k: 64, c: 64, y: 1, x: 1024, r: 1, s: 1}\n    - conv: {k: 64, c: 64, y: 1024, x: 1, r: 1, s: 1, reads: reshape}\n    \
        - repeat: 4\n      layers:\n        - conv: {k: 64, c: 64, y: 1024, x: 1, r: 1, s: 1}\n";
    let scenario = "scenario:\n  name: phases\n  models:\n    - {network: wide.yaml, fps: 60, relative_deadline_ms: 0.12}\n";
    let search = "search:\n  name: phases\n  scenarios: [phases.yaml]\n  objective: {maximise: score_executed_mean, over: mean}\n  \
        space:\n    accelerators: 2\n    dataflows: [WS, TALL.yaml]\n    pes: {total: exactly 2048, step: 1024}\n    \
        scheduler: [latency-greedy, \"value:admission=hopeless\"]\n  settings: {flexibility: none}\n  replications: 2\n  confirm: false\n";
    let files = [
        ("TALL.yaml", tall),
        ("wide.yaml", network),
        ("phases.yaml", scenario),
        ("search.yaml", search),
    ];
    for (name, text) in files {
        fs::write(path(name), text).expect("it can be written");
    }
    let spec = path("search.yaml");
    let text = output(&["search", &spec, "--quiet", "--require-proof"]);
    assert!(text.contains("the optimum of the space under the listed schedulers"), "{text}");
    assert!(text.contains("under schedulers that keep a request where it began"), "{text}");
    assert!(text.contains("under any scheduler"), "{text}");
    let words = ["search", &spec, "--quiet", "--require-proof", "--proof-for"];
    output(&[&words[..], &["listed"]].concat());
    output(&[&words[..], &["keeping"]].concat());
    let refused = xrsim(&[&words[..], &["any"]].concat()).assert().code(1);
    let message = stderr(&refused);
    assert!(message.contains("not proven for any scheduler"), "{message}");
    let near = [&words[..], &["any", "--stop", "gap_percent=99"]].concat();
    output(&near);
}

/// Shipped scenarios on random styles, under random schedulers and rules of the run: none exceeds the bounds of its class.
#[test]
fn no_scheduler_exceeds_its_bounds_on_shipped_scenarios() {
    let mut draws = ChaCha8Rng::seed_from_u64(31);
    let mut catalog = Catalog::with_networks(Edition::Artifact);
    let suite = catalog.suite().expect("it is embedded");
    let platform = catalog.platform("artifact").expect("it is embedded");
    let cases = n_cases(24, 400);
    let (mut n_any, mut n_tight) = (0, 0);
    for case in 0..cases {
        let pick = |n: usize, draws: &mut ChaCha8Rng| draws.random_range(0..n);
        let scenario = &suite.scenarios[pick(suite.scenarios.len(), &mut draws)];
        let scenario = catalog.scenario(scenario, Edition::Reference).expect("it is embedded");
        let style = &suite.systems[pick(suite.systems.len(), &mut draws)];
        let Ok(Hardware::Style(style)) = catalog.hardware(style) else { panic!("a style") };
        let pes = [4096, 8192][pick(2, &mut draws)];
        let system = style.instantiate(pes, &platform).expect("it is legal");
        let mut plan = Plan::new(scenario, Arc::new(system));
        plan.load.duration = span_ms(draws.random_range(50.0..400.0));
        plan.load.replication = draws.random_range(0..100);
        plan.load.random_phase = draws.random_bool(0.3);
        plan.engine.grace = span_ms([0.0, 10.0][pick(2, &mut draws)]);
        plan.engine.deadline_miss =
            [DeadlineMiss::Finish, DeadlineMiss::Abort][pick(2, &mut draws)];
        let library = CostLibrary::evaluate(&Maestro, [(&*plan.scenario, &*plan.system)]);
        let costs = library.table(&plan.scenario, &plan.system).expect("everything can run");
        let requests = plan.requests().expect("the load is small");
        let bounds = Class::ALL
            .map(|class| Bounds::compute(&plan.scenario, &costs, &requests, &plan.score, class));
        for entry in schedule::ALL {
            let options =
                ["", ":admission=hopeless", ":granularity=layer", ":preemption=layer-boundary"];
            let text = format!("{}{}", entry.name, options[pick(options.len(), &mut draws)]);
            plan.scheduler = Policy::parse(&text).unwrap_or_else(|_| Policy::from_entry(entry));
            let run = engine::run(&plan, &costs, &requests).expect("the policy does not fail");
            let score = plan.score(&run.trace).total.score_executed_mean;
            let class = plan.scheduler.class();
            n_any += u32::from(class == Class::Any);
            let bounds = bounds[class as usize];
            for (bound, upper) in Bound::ALL.into_iter().zip(bounds.values()) {
                let label = plan.scheduler.label();
                assert!(score <= upper, "{case}, {label}: {score} {bound:?} {upper}");
            }
            n_tight += u32::from(score > 0.99 * bounds.linear_program);
        }
    }
    assert!(n_any > cases && n_tight > cases, "{n_any} {n_tight}");
}
