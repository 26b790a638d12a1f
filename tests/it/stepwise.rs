//! Runs that are asked for decisions from outside.

use std::sync::Arc;

use xrsim::cost::CostTable;
use xrsim::engine::{Refused, Run, Stepwise};
use xrsim::schedule::{Decision, Dispatch, Scheduler, Setup};
use xrsim::trace::{DropReason, Outcome, Trace};
use xrsim::{AccelId, Experiment, Plan, RequestId};

/// Plays `plan` with its own scheduler, asked from outside.
fn played(plan: &Plan, costs: &CostTable) -> (Run, usize) {
    let requests = plan.requests().expect("requests");
    let setup = Setup {
        scenario: &plan.scenario,
        costs,
        score: &plan.score,
        options: plan.scheduler.options(),
        known_requests: &requests,
        supplied: &[],
    };
    let mut scheduler: Box<dyn Scheduler> = plan.scheduler.build(&setup).expect("built");
    let mut run = Stepwise::new(plan, costs, &requests).expect("a run");
    let mut n_ended = 0;
    while run.advance().is_some() {
        let decision = scheduler.decide(&run.view().expect("a question"));
        run.answer(decision).expect("the policy keeps its contract");
        run.ended(|_, _, _| n_ended += 1);
    }
    run.ended(|_, _, _| n_ended += 1);
    assert_eq!(run.answer(Decision::Wait), Err(Refused::NoQuestion));
    let so_far = run.trace();
    let done = run.finish();
    let known =
        |trace: &Trace| trace.entries().map(|it| (*it.record, it.variant)).collect::<Vec<_>>();
    assert_eq!(known(&so_far), known(&done.trace));
    (done, n_ended)
}

#[test]
fn policies_asked_from_outside_make_the_same_runs() {
    let policies = [
        "edf",
        "latency-greedy",
        "srpt:preemption=layer-boundary",
        "llf:granularity=block,block_ms=0.5",
        "edf:admission=hopeless",
    ];
    for deadline_miss in ["drop", "abort"] {
        let experiment =
            Experiment::new().scenarios(["AR_gaming", "VR_gaming"]).systems(["J", "A"]);
        let experiment = experiment.pes(4096).schedulers(policies).set("flexibility", "none");
        let experiment = match deadline_miss {
            "abort" => experiment.set("engine.deadline_miss", "abort"),
            _ => experiment,
        };
        for run in &experiment.run().expect("runs") {
            let result = run.result().expect("it is feasible");
            let plan = Plan { scheduler: run.plan.scheduler.clone(), ..run.plan.clone() };
            let (played, n_ended) = played(&plan, &Arc::clone(&result.costs));
            assert_eq!(played.trace, result.trace, "{:?}", run.label());
            assert_eq!(n_ended, result.trace.records().len(), "{:?}", run.label());
        }
    }
}

/// A cell of 1.5 J at 3 W and more is empty within half a second.
#[test]
fn a_run_whose_device_stops_ends_there() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("cell.yaml");
    let text = "device:\n  name: cell\n  base_mw: 3000\n  battery: {wh: 0.000416}\n";
    std::fs::write(&file, text).expect("the file can be written");
    let experiment = Experiment::new().scenario("AR_gaming").system("J").pes(4096);
    let experiment = experiment.set("flexibility", "none").scheduler("edf");
    let runs = experiment.set("device", file.display().to_string()).run().expect("a run");
    let result = runs[0].result().expect("it is feasible");
    let (played, n_ended) = played(&runs[0].plan, &Arc::clone(&result.costs));
    assert_eq!(played.trace, result.trace);
    assert_eq!(n_ended, result.trace.records().len());
    let stopped = played.body.as_ref().and_then(|body| body.stopped());
    assert!(stopped.is_some_and(|(at, _)| at.ns() < 500_000_000), "{stopped:?}");
    let by_power = |it: &xrsim::trace::Record| {
        matches!(it.outcome, Outcome::Dropped { reason: DropReason::Power, .. })
    };
    assert!(played.trace.records().iter().any(by_power));
}

/// The light network takes less time, so that every frame of detection runs it.
#[test]
fn networks_that_are_chosen_are_those_of_the_run() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("ladder.yaml");
    let text = "scenario:
  name: ladder
  models:
    - {network: HT, fps: 45}
    - {network: OD, fps: 30, variants: [{network: OD, measured: 22.99}, {network: OD_dsmask, measured: 21.06}]}
";
    std::fs::write(&file, text).expect("the file can be written");
    let experiment = Experiment::new().scenario(file.display().to_string()).system("A").pes(4096);
    let experiment = experiment.scheduler("edf:quality=cheapest").set("flexibility", "none");
    let runs = experiment.run().expect("a run");
    let result = runs[0].result().expect("it is feasible");
    let (played, _) = played(&runs[0].plan, &Arc::clone(&result.costs));
    assert_eq!(played.trace, result.trace);
    let chosen = played.trace.entries().filter(|it| it.variant != 0).count();
    assert_eq!(chosen, 30);
}

#[test]
fn a_decision_that_is_not_allowed_leaves_the_question() {
    let experiment = Experiment::new().scenario("AR_gaming").system("J").pes(4096);
    let runs = experiment.set("flexibility", "none").run().expect("a run");
    let (plan, costs) = (&runs[0].plan, &runs[0].result().expect("feasible").costs);
    let requests = plan.requests().expect("requests");
    let mut run = Stepwise::new(plan, costs, &requests).expect("a run");
    assert_eq!(run.answer(Decision::Wait), Err(Refused::NoQuestion));
    let job = *run.advance().expect("a question").ready.iter().next().expect("a job");
    let far = RequestId::new(requests.requests().len() - 1);
    assert_eq!(run.answer(Decision::Drop(far)), Err(Refused::NotReady(far)));
    let none = AccelId::new(99);
    let dispatch = Dispatch::new(job.request, none);
    assert_eq!(run.answer(dispatch.into()), Err(Refused::NotIdle(none)));
    // No model of the scenario has several networks.
    let variant = Dispatch::new(job.request, AccelId::new(0)).of_variant(1);
    assert_eq!(run.answer(variant.into()), Err(Refused::Variant(1)));
    assert!(run.view().is_some());
}
