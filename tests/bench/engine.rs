//! Speed of the principled engine on one core: events per second for each policy, and simulated time
//! per second where requests run layer by layer.
//!
//! ```text
//! cargo bench --bench engine
//! ```
//!
//! First 1,000 s of six models (VR gaming with depth estimation and the speech pipeline, 201 requests
//! a second) on four accelerators that are about nine tenths busy. An event is an arrival, the start of a segment, its end,
//! or the drop of a request that has expired. Then 20 s of AR_Assistant on M with 8192 PEs at the costs of loop-nest.
//! Last, a table of every policy for 10 to 80 s of AR_gaming on J, where most requests wait for ever. The best of seven
//! runs counts, in the table of three: what a busy machine adds is not the engine's. Offline references, which search
//! before they run, are left out.
//!
//! Without the `--bench` that cargo adds, everything runs once, for counting instructions: `valgrind
//! --tool=callgrind --toggle-collect='engine::of_events' target/release/deps/engine-<hash>`; inclusive
//! cost of `engine::run`.

#[allow(dead_code)]
#[path = "../it/support/runs.rs"]
mod runs;

use std::sync::Arc;
use std::time::{Duration, Instant};

use runs::{Case, by, lasting_ms, plan, requests, six_models, six_models_table};
use xrsim::config::{Catalog, Edition, Hardware};
use xrsim::cost::library::CostLibrary;
use xrsim::cost::loop_nest::LoopNest;
use xrsim::engine::{self, Run};
use xrsim::plan::Plan;
use xrsim::schedule;
use xrsim::trace::{DropReason, Outcome, Record};
use xrsim::units::SimSpan;

fn main() {
    of_events();
    of_layers();
    of_backlogs();
}

#[inline(never)]
fn of_events() {
    let plan = lasting_ms(1e6, plan(six_models(), six_models_table()));
    let (generating, stream) = best(|| requests(&plan));
    let n_requests = stream.requests().len();
    println!("load generation: {:.2} million requests/s", per_us(n_requests as u64, generating));
    for entry in schedule::ALL.iter().filter(|entry| !entry.is_clairvoyant) {
        let plan = by(entry.name, plan.clone());
        let (playing, run) =
            best(|| engine::run(&plan, &plan.costs, &stream).expect("it does not fail"));
        println!(
            "{:>16}: {:.2} million events/s ({} events in {:.1} ms)",
            entry.name,
            per_us(n_events(&run), playing),
            n_events(&run),
            playing.as_secs_f64() * 1e3,
        );
    }
    let run = engine::run(&plan, &plan.costs, &stream).expect("it does not fail");
    let (scoring, _) = best(|| plan.score(&run.trace));
    println!("scoring: {:.2} million requests/s", per_us(n_requests as u64, scoring));
}

/// Cost of running layer by layer, and of shared bandwidth.
#[inline(never)]
fn of_layers() {
    const SECONDS: f64 = 20.0;
    println!("AR_Assistant on M, 8192 PEs, edf:");
    let plan = lasting_ms(SECONDS * 1e3, on_chip("AR_Assistant", "M", 8192));
    let stream = requests(&plan);
    for options in ["granularity=model", "preemption=layer-boundary", "granularity=layer"] {
        for dram in [None, Some(1e6), Some(32.0)] {
            let mut plan = by(&format!("edf:{options}"), plan.clone());
            plan.engine.effects.bandwidth.dram = dram;
            let (playing, run) =
                best(|| engine::run(&plan, &plan.costs, &stream).expect("it does not fail"));
            let sharing = match dram {
                None => "bandwidth of its own".into(),
                Some(rate) => format!("{rate} GB/s of DRAM shared"),
            };
            println!(
                "{options:>26}, {sharing:<30}: {:.2} million events/s, {:.0} times real time ({} events, {} segments)",
                per_us(n_events(&run), playing),
                SECONDS / playing.as_secs_f64(),
                n_events(&run),
                run.trace.segments().len(),
            );
        }
    }
}

/// Cost of a backlog that grows with the duration: times for each policy, and the exponent of their growth. It is 1
/// where a decision costs the same however many requests wait, and 2 where it looks at all of them.
#[inline(never)]
fn of_backlogs() {
    const SECONDS: [u32; 4] = [10, 20, 40, 80];
    println!("AR_gaming on J, 4096 PEs, nothing expires; ms for {SECONDS:?} s, and the exponent:");
    let mut plan = on_chip("AR_gaming", "J", 4096);
    plan.engine.grace = SimSpan::from_ms(1e9).expect("a time");
    for entry in schedule::ALL.iter().filter(|entry| !entry.is_clairvoyant) {
        let times = SECONDS.map(|seconds| {
            let plan = by(entry.name, lasting_ms(f64::from(seconds) * 1e3, plan.clone()));
            let stream = requests(&plan);
            let run = || engine::run(&plan, &plan.costs, &stream).expect("it does not fail");
            best_of(3, run).0.as_secs_f64() * 1e3
        });
        let [first, .., last] = times;
        let times = times.map(|ms| format!("{ms:9.2}")).concat();
        println!("{:>16}: {times}  {:.2}", entry.name, (last / first).log2() / 3.0);
    }
}

/// A scenario on a style of the paper.
fn on_chip(scenario: &str, style: &str, pes: u32) -> Case {
    let mut catalog = Catalog::new();
    let scenario = catalog.scenario(scenario, Edition::Reference).expect("it is embedded");
    let platform = catalog.platform("paper").expect("it is embedded");
    let Ok(Hardware::Style(style)) = catalog.hardware(style) else { panic!("it is a style") };
    let system = Arc::new(style.instantiate(pes, &platform).expect("the PEs divide"));
    let library = CostLibrary::evaluate(&LoopNest, [(&*scenario, &*system)]);
    let costs = library.table(&scenario, &system).expect("it is feasible");
    Case { plan: Plan::new(scenario, system), costs: Arc::new(costs) }
}

/// Shortest time of seven calls, and the last result.
fn best<T>(call: impl FnMut() -> T) -> (Duration, T) {
    best_of(7, call)
}

/// Shortest time of `n` calls, or of a single one without `--bench`, and the last result.
fn best_of<T>(n: u32, mut call: impl FnMut() -> T) -> (Duration, T) {
    let n_calls = if std::env::args().any(|argument| argument == "--bench") { n } else { 1 };
    let mut timed = || {
        let start = Instant::now();
        let result = call();
        (start.elapsed(), result)
    };
    let (mut best, mut result) = timed();
    for _ in 1..n_calls {
        let (time, next) = timed();
        best = best.min(time);
        result = next;
    }
    (best, result)
}

/// Number of events of a run. Those that the engine counts are arrivals, ends of segments and expiries; each segment that ends
/// has started.
fn n_events(run: &Run) -> u64 {
    let records = run.trace.records();
    let expired =
        |it: &&Record| matches!(it.outcome, Outcome::Dropped { reason: DropReason::Deadline, .. });
    let n_ends = run.events - (records.len() + records.iter().filter(expired).count()) as u64;
    run.events + n_ends
}

fn per_us(count: u64, time: Duration) -> f64 {
    count as f64 / time.as_secs_f64() / 1e6
}
