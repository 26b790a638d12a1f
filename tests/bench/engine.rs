//! Speed of the principled engine: events per second on one core, for each policy.
//!
//! ```text
//! cargo bench --bench engine
//! ```
//!
//! Plays 1,000 s of six models (VR gaming with depth estimation and the speech pipeline, 201
//! requests a second) on four accelerators that are about nine tenths busy. An event is an arrival,
//! a completion or an expiry. The best of seven runs counts: what a busy machine adds is not the
//! engine's. Offline references, which search before they run, are left out.

#[path = "../support/runs.rs"]
mod runs;

use std::time::{Duration, Instant};

use runs::{by, lasting_ms, plan, requests, six_models, six_models_table};
use xrsim::engine;
use xrsim::schedule;

fn main() {
    let plan = lasting_ms(1e6, plan(six_models(), six_models_table()));
    let (generating, stream) = best_of_seven(|| requests(&plan));
    let n_requests = stream.requests().len();
    println!("load generation: {:.2} million requests/s", per_us(n_requests as u64, generating));
    for entry in schedule::ALL.iter().filter(|entry| !entry.foresees) {
        let plan = by(entry.name, plan.clone());
        let (playing, run) =
            best_of_seven(|| engine::run(&plan, &stream).expect("it does not fail"));
        println!(
            "{:>16}: {:.2} million events/s ({} events in {:.1} ms)",
            entry.name,
            per_us(run.events, playing),
            run.events,
            playing.as_secs_f64() * 1e3,
        );
    }
    let run = engine::run(&plan, &stream).expect("it does not fail");
    let (scoring, _) = best_of_seven(|| plan.score(&run.trace));
    println!("scoring: {:.2} million requests/s", per_us(n_requests as u64, scoring));
}

/// Shortest time of seven calls, and the last result.
fn best_of_seven<T>(mut call: impl FnMut() -> T) -> (Duration, T) {
    let mut timed = || {
        let start = Instant::now();
        let result = call();
        (start.elapsed(), result)
    };
    let (mut best, mut result) = timed();
    for _ in 1..if std::env::args().any(|it| it == "--bench") { 7 } else { 1 } {
        let (time, next) = timed();
        best = best.min(time);
        result = next;
    }
    (best, result)
}

fn per_us(count: u64, time: Duration) -> f64 {
    count as f64 / time.as_secs_f64() / 1e6
}
