//! Time to cost one layer with `maestro`, over the whole published study: 328 shapes on 19 accelerators.
//!
//! ```text
//! cargo bench --bench cost
//! ```
//!
//! `cargo bench` adds the argument `--bench`. Without it, everything is evaluated once and not timed. That
//! serves to count instructions: run `valgrind --tool=callgrind target/release/deps/cost-<hash>` and divide
//! the inclusive cost of `Maestro::network` by 6232.

#[allow(dead_code)]
#[path = "../it/support/mod.rs"]
mod support;

use std::hint::black_box;
use std::time::Instant;

use support::study;
use xrsim::cost::CostModel;
use xrsim::cost::maestro::Maestro;
use xrsim::model::{ConvShape, Layer, Network};

/// Evaluations that are timed together, because a single one is near the resolution of the clock.
const BATCH: u32 = 16;

/// Number of batches. The fastest one counts, because it was disturbed the least.
const BATCHES: usize = 7;

fn main() {
    let timed = std::env::args().any(|argument| argument == "--bench");
    let time = if timed { fastest } else { once };
    let accelerators = study::accelerators();
    let shapes = study::shapes();
    let whole_study = network(&shapes);
    let of_networks = accelerators.iter().map(|accelerator| {
        time(&|| {
            let cost = Maestro.network(black_box(&whole_study), black_box(accelerator));
            black_box(cost).expect("the study is feasible");
        })
    });
    report("one of a network's layers", of_networks.map(|ns| ns / shapes.len() as f64).collect());
    let pairs = accelerators
        .iter()
        .flat_map(|accelerator| shapes.iter().map(move |shape| (shape, accelerator)));
    let of_layers = pairs.map(|(shape, accelerator)| {
        time(&|| {
            let cost = Maestro.layer(black_box(&(*shape).into()), black_box(accelerator));
            black_box(cost).expect("the study is feasible");
        })
    });
    report("one layer by itself", of_layers.collect());
}

/// A network of all shapes.
fn network(shapes: &[ConvShape]) -> Network {
    let layers = shapes.iter().map(|&shape| Layer::new("layer", shape));
    Network::new("study", layers.collect()).expect("a legal network")
}

fn report(what: &str, mut ns: Vec<f64>) {
    ns.sort_by(f64::total_cmp);
    let quantile = |share: f64| ns[((ns.len() - 1) as f64 * share) as usize];
    println!(
        "{what} [ns]: mean {:.0}, median {:.0}, p99 {:.0}, largest {:.0} of {}",
        ns.iter().sum::<f64>() / ns.len() as f64,
        quantile(0.5),
        quantile(0.99),
        quantile(1.0),
        ns.len(),
    );
}

/// Mean time of an evaluation in the fastest batch [ns].
fn fastest(evaluate: &dyn Fn()) -> f64 {
    let batches = (0..BATCHES).map(|_| mean(BATCH, evaluate));
    batches.fold(f64::INFINITY, f64::min)
}

/// Time of a single evaluation [ns].
fn once(evaluate: &dyn Fn()) -> f64 {
    mean(1, evaluate)
}

/// Mean time of `count` evaluations [ns].
fn mean(count: u32, evaluate: &dyn Fn()) -> f64 {
    let start = Instant::now();
    (0..count).for_each(|_| evaluate());
    start.elapsed().as_nanos() as f64 / f64::from(count)
}
