//! Same inputs, same bytes: at any number of threads, in any order of runs, in every version.

use crate::support::runs;

use rayon::prelude::*;

use runs::*;
use xrsim::schedule::{self, Policy};

/// Every policy with three seeds on the six-model scenario, for a third of a second.
fn plans() -> Vec<Case> {
    let seeds = 1..=3;
    let plan = lasting_ms(333.0, plan(six_models(), six_models_table()));
    seeds
        .flat_map(|seed| {
            let mut plan = plan.clone();
            plan.load.seed = seed;
            schedule::ALL.iter().map(move |entry| plan.clone().scheduled(Policy::from_entry(entry)))
        })
        .collect()
}

fn digests(plans: &[Case], n_threads: usize) -> Vec<String> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build();
    let pool = pool.expect("a few threads can be had");
    pool.install(|| plans.par_iter().map(|plan| digest(&trace(plan))).collect())
}

#[test]
fn traces_are_the_same_at_any_number_of_threads() {
    let plans = plans();
    let alone = digests(&plans, 1);
    assert_eq!(digests(&plans, 2), alone);
    assert_eq!(digests(&plans, 8), alone);
}

#[test]
fn traces_do_not_depend_on_the_runs_before_them() {
    let mut plans = plans();
    let forwards = digests(&plans, 1);
    plans.reverse();
    let mut backwards = digests(&plans, 1);
    backwards.reverse();
    assert_eq!(forwards, backwards);
}

#[test]
fn seeds_and_replications_change_the_trace() {
    let mut plan = plan(six_models(), six_models_table());
    let mut seen = Vec::new();
    for (seed, replication) in [(1, 0), (2, 0), (1, 1), (2, 1)] {
        plan.load.seed = seed;
        plan.load.replication = replication;
        seen.push(digest(&trace(&plan)));
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 4);
}

/// A change here changes the numbers of every published result: it needs a reason, a line in the
/// changelog and a new version.
#[test]
fn traces_of_this_version_are_those_of_every_version() {
    let mut plan = lasting_ms(5000.0, plan(six_models(), six_models_table()));
    plan.load.seed = 1;
    let golden = [
        (
            "latency-greedy",
            [936, 61, 8, 262],
            "2bfeb43c9d45f0e0eaff7fbe89cc3047f6ae6ccca4d617863f99293320c543c5",
        ),
        (
            "round-robin",
            [814, 183, 8, 288],
            "0dbbf8b11b99a8dc5e584ad5109a9eb68e2cdd915eb4ffdff95941c8982d4b3d",
        ),
        (
            "edf",
            [939, 58, 8, 256],
            "5ef4534d57fd5628660f2618a57a735f46dab8de196666ab39d4118169f7b1b2",
        ),
    ];
    for (scheduler, counts, expected) in golden {
        let plan = by(scheduler, plan.clone());
        let trace = trace(&plan);
        let found = plan.score(&trace).total.counts;
        let found = [found.executed, found.dropped, found.not_triggered, found.late];
        assert_eq!(found, counts, "{scheduler}: executed, dropped, not triggered, late");
        assert_eq!(digest(&trace), expected, "{scheduler}");
    }
}
