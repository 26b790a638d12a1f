//! Keys `runs` of accelerators and `on` of models, which say what may run where.

use crate::support::binary;

use std::fs;

use tempfile::{TempDir, tempdir};

use binary::{path, stderr, xrsim};
use xrsim::trace::{Outcome, Record};
use xrsim::{Decision, Dispatch, Experiment, Scheduler, View};

/// A system of two accelerators with these further keys.
fn system(first: &str, second: &str) -> String {
    let body = "pes: 1024, noc_bandwidth_bytes_per_cycle: 128, shared_memory_kib: 1024, scratchpad_kib: 8, \
                dram_bandwidth_bytes_per_cycle: 64";
    format!(
        "system:\n  name: duo\n  clock_mhz: 1000\n  energy: {{mac_nj: 0.0003, scratchpad_per_mac: 1, \
         shared_memory_per_mac: 60, dram_per_mac: 540}}\n  accelerators:\n    \
         - {{name: vision, dataflow: WS, {body}{first}}}\n    - {{name: eyes, dataflow: OS, {body}{second}}}\n"
    )
}

/// A scenario of three models, hand tracking with these further keys.
fn scenario(of_hands: &str) -> String {
    format!(
        "scenario:\n  name: mine\n  models:\n    - {{network: HT, fps: 45{of_hands}}}\n    \
         - {{network: ES, fps: 60}}\n    - {{network: KD, fps: 3}}\n"
    )
}

fn folder(system: &str, scenario: &str) -> TempDir {
    let folder = tempdir().expect("a folder can be made");
    fs::write(folder.path().join("duo.yaml"), system).expect("written");
    fs::write(folder.path().join("mine.yaml"), scenario).expect("written");
    folder
}

/// Every request of a run, with latency-greedy unless another scheduler is given.
fn records(folder: &TempDir, scheduler: Option<Pinned>) -> Vec<Record> {
    let experiment =
        Experiment::new().scenario(path(folder, "mine.yaml")).system(path(folder, "duo.yaml"));
    let experiment = match scheduler {
        Some(pinned) => experiment.own_scheduler("pinned", move |_| pinned),
        None => experiment,
    };
    let runs = experiment.run().expect("the description is right");
    runs[0].result().expect("it runs").trace.records().to_vec()
}

/// Latency-greedy with each model on one accelerator.
#[derive(Clone, Copy)]
struct Pinned([usize; 3]);

impl Scheduler for Pinned {
    fn decide(&mut self, view: &View<'_>) -> Decision {
        let home = |model: usize| view.idle.iter().find(|at| at.index() == self.0[model]);
        let mut jobs = view.ready.iter();
        let start = jobs.find_map(|job| Some((job.request, *home(job.model.index())?)));
        start.map_or(Decision::Wait, |(request, at)| Dispatch::new(request, at).into())
    }
}

#[test]
fn models_pinned_by_either_key_run_as_under_a_scheduler_that_pins_them() {
    let plain = folder(&system("", ""), &scenario(""));
    let pinned = records(&plain, Some(Pinned([1, 1, 0])));
    assert_ne!(pinned, records(&plain, None));
    let by_runs = folder(&system(", runs: [KD]", ", runs: [ES, HT]"), &scenario(""));
    assert_eq!(records(&by_runs, None), pinned);
    let by_both =
        folder(&system(", runs: [KD, HT]", ", runs: [ES, HT]"), &scenario(", on: [eyes]"));
    assert_eq!(records(&by_both, None), pinned);
    let executed = |it: &&Record| matches!(it.outcome, Outcome::Executed { .. });
    assert!(pinned.iter().filter(executed).count() > 50);
}

fn refused(first: &str, second: &str, of_hands: &str) -> String {
    let folder = folder(&system(first, second), &scenario(of_hands));
    let words =
        ["run", "--scenario", &path(&folder, "mine.yaml"), "--system", &path(&folder, "duo.yaml")];
    let assert = xrsim(&words).assert().code(2);
    stderr(&assert)
}

#[test]
fn a_model_that_is_left_nowhere_is_refused_with_both_keys_and_their_places() {
    let message = refused("", ", runs: [ES, KD]", ", on: [eyes]");
    for part in [
        "model HT of scenario mine may run on no accelerator of system `duo`",
        "mine.yaml:4: `on: [eyes]`",
        "duo.yaml:7: eyes has `runs: [ES, KD]`",
        "name HT in a `runs`, or another accelerator in `on`",
    ] {
        assert!(message.contains(part), "{part} is not in {message}");
    }
}

#[test]
fn unknown_names_are_refused_with_the_nearest_known_one() {
    let message = refused("", "", ", on: [eye]");
    assert!(
        message
            .contains("mine.yaml:4: system `duo` has no accelerator `eye`; did you mean `eyes`?"),
        "{message}"
    );
    let message = refused(", runs: [HTT]", "", "");
    assert!(
        message.contains("duo.yaml:6: scenario mine has no model `HTT`; did you mean `HT`?"),
        "{message}"
    );
    // A task of other scenarios is no slip.
    let elsewhere = folder(&system(", runs: [HT, ES, KD, DE]", ""), &scenario(""));
    assert_eq!(records(&elsewhere, None), records(&folder(&system("", ""), &scenario("")), None));
}

/// The artifact places models by rules of its own.
#[test]
fn the_artifact_refuses_what_it_cannot_keep() {
    let folder = folder(&system(", runs: [ES, KD]", ""), &scenario(""));
    let [scenario, system] = ["mine.yaml", "duo.yaml"].map(|it| path(&folder, it));
    let words = ["run", "--scenario", &scenario, "--system", &system, "--semantics", "mlsys2023"];
    let message = stderr(&xrsim(&words).assert().failure());
    assert!(message.contains("accelerator `vision` has `runs: [ES, KD]`, without HT"), "{message}");
}
