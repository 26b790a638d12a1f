//! Explanations of late and dropped requests: cases with a known cause, breakdowns that add up over the
//! whole suite, and proposed changes that meet the deadline.

mod explain;

use crate::support::layers;
use crate::support::runs;

use std::sync::{Arc, LazyLock};

use runs::*;
use xrsim::config::{Catalog, Edition, Hardware};
use xrsim::cost::library::CostLibrary;
use xrsim::cost::maestro::Maestro;
use xrsim::cost::{CostModel, CostTable, NetworkCost};
use xrsim::ids::{AccelId, FrameId, ModelId, RequestId};
use xrsim::plan::{DeadlineMiss, Plan, Semantics};
use xrsim::report::why::{Account, Cause, Part, Why};
use xrsim::schedule::{self, Decision, Dispatch, Policy, Scheduler, View};
use xrsim::sweep::what_if::{self, LATENCY_PERCENTS, Target};
use xrsim::sweep::{self, RunResult, run_at_costs};
use xrsim::trace::{DropReason, Outcome};
use xrsim::units::SimSpan;

/// A finished run.
struct Made {
    plan: Plan,
    result: RunResult,
}

impl Made {
    fn new(plan: &Case) -> Self {
        Self::by(plan, Semantics::Principled)
    }

    fn by(case: &Case, semantics: Semantics) -> Self {
        let plan = under(semantics, case);
        let result = run_at_costs(&plan, Arc::clone(&case.costs)).expect("the run is feasible");
        Self { plan, result }
    }

    fn why(&self) -> Why<'_> {
        Why::new(&self.plan, &self.result)
    }

    fn id(&self, model: usize, frame: usize) -> RequestId {
        let target = Target { model: ModelId::new(model), frame: FrameId::new(frame) };
        target.find(&self.result.trace).expect("the frame was released")
    }

    /// Parts \[ms\] in order, and the cause in words.
    fn account(&self, model: usize, frame: usize) -> ([f64; 5], String) {
        let (why, id) = (self.why(), self.id(model, frame));
        let account = why.account(id).expect("it ran or was dropped");
        let parts =
            [Part::Sensor, Part::Upstream, Part::Accelerator, Part::Placement, Part::Latency];
        (parts.map(|part| account.parts.ms(part)), why.short(id).unwrap_or_default())
    }
}

/// One accelerator, 10 FPS: frame 0 of a model of 150 ms ends 50 ms late in every case.
#[test]
fn a_model_that_needs_more_than_its_period_has_itself_to_blame() {
    let made = Made::new(&lasting_ms(
        250.0,
        plan(scenario(vec![], vec![model("A", 10.0)]), table_ms(&[[150.0]])),
    ));
    let blame = "own latency: 150.000 of 100.000 ms".to_string();
    assert_eq!(made.account(0, 0), ([0.0, 0.0, 0.0, 0.0, 150.0], blame.clone()));
    // Frame 1 waits for frame 0 until 150 ms, and would be late without the wait.
    assert_eq!(made.account(0, 1), ([0.0, 0.0, 50.0, 0.0, 150.0], blame));
}

/// A (60 ms) and B (50 ms) arrive together; A goes first, and B ends at 110 ms.
#[test]
fn a_request_that_would_have_been_in_time_alone_blames_the_job_before_it() {
    let models = vec![model("A", 10.0), model("B", 10.0)];
    let plan = plan(scenario(vec![], models), table_ms(&[[60.0], [50.0]]));
    let made = Made::new(&lasting_ms(50.0, plan));
    let blame = "accelerator: 60.000 ms behind A:0 on accelerator 0".to_string();
    assert_eq!(made.account(1, 0), ([0.0, 0.0, 60.0, 0.0, 50.0], blame));
    let account = made.why().account(made.id(1, 0)).expect("it ran");
    assert!(account.in_time_without(Part::Accelerator), "50 ms of 100");
    assert!(!account.in_time_without(Part::Upstream), "no time was spent on it");
    assert_eq!(account.lateness_ns, 10_000_000);
    assert_eq!(made.account(0, 0).1, "", "in time");
}

/// B (50 ms) follows A (80 ms), each alone on an accelerator of its own.
#[test]
fn a_request_behind_a_slow_upstream_names_it_and_what_it_took() {
    let models = vec![model("A", 10.0), after(0, model("B", 10.0))];
    let plan = plan(scenario(vec![], models), table_ms(&[[80.0, 80.0], [50.0, 50.0]]));
    let made = Made::new(&lasting_ms(50.0, plan));
    let blame =
        "upstream: 80.000 ms for A:0 (in time) <- own latency: 80.000 of 100.000 ms".to_string();
    assert_eq!(made.account(1, 0), ([0.0, 80.0, 0.0, 0.0, 50.0], blame));
}

/// C runs for 300 ms, so A never starts; B is dropped with A at 100 ms.
#[test]
fn a_drop_that_takes_others_along_is_followed_to_its_own_cause() {
    let models = vec![model("C", 10.0), model("A", 10.0), after(1, model("B", 10.0))];
    let plan = plan(scenario(vec![], models), table_ms(&[[300.0], [1.0], [1.0]]));
    let made = Made::new(&lasting_ms(50.0, plan));
    let blame = "accelerator: 100.000 ms behind C:0 on accelerator 0";
    assert_eq!(made.account(1, 0), ([0.0, 0.0, 100.0, 0.0, 1.0], blame.into()));
    let blame = format!("upstream: 100.000 ms for A:0 (dropped) <- {blame}");
    assert_eq!(made.account(2, 0), ([0.0, 100.0, 0.0, 0.0, 1.0], blame));
    let involved = made.why().involved(made.id(2, 0));
    assert_eq!(
        involved,
        [2, 1, 0].map(ModelId::new),
        "B, its upstream A, and C in the way of that"
    );
}

/// B has the deadline of A, which runs for 120 ms: B is dropped while A continues.
#[test]
fn a_request_that_expires_before_its_upstream_result_blames_that_one() {
    let models = vec![model("A", 10.0), after(0, model("B", 10.0))];
    let plan = plan(scenario(vec![], models), table_ms(&[[120.0, 120.0], [1.0, 1.0]]));
    let made = Made::new(&lasting_ms(50.0, plan));
    let blame = "upstream: 100.000 ms for A:0 (late) <- own latency: 120.000 of 100.000 ms";
    assert_eq!(made.account(1, 0), ([0.0, 100.0, 0.0, 0.0, 1.0], blame.into()));
}

/// The second of two sensors delivers 60 ms later than the first, whose frames set the deadlines.
#[test]
fn a_late_sensor_is_blamed() {
    let mut slow = sensor("slow", 10.0);
    slow.initial_latency = span_ms(60.0);
    let streams = vec![sensor("fast", 10.0), slow];
    let plan =
        plan(scenario(streams, vec![reading(&[0, 1], model("A", 10.0))]), table_ms(&[[50.0]]));
    let made = Made::new(&lasting_ms(50.0, plan));
    assert_eq!(made.account(0, 0), ([60.0, 0.0, 0.0, 0.0, 50.0], "sensor: 60.000 ms".into()));
}

/// X takes accelerator 0, where Y would have needed 20 ms; on accelerator 1 Y needs 120.
#[test]
fn a_request_on_a_slower_accelerator_names_what_the_fastest_one_ran() {
    let models = vec![model("X", 10.0), model("Y", 10.0)];
    let plan = plan(scenario(vec![], models), table_ms(&[[90.0, 500.0], [20.0, 120.0]]));
    let made = Made::new(&lasting_ms(50.0, plan));
    let blame = "slower accelerator: 100.000 ms while accelerator 0 ran X:0".to_string();
    assert_eq!(made.account(1, 0), ([0.0, 0.0, 0.0, 100.0, 20.0], blame));
}

/// A runs until 30 ms, then B, then A to 110 ms.
#[test]
fn a_request_that_was_cut_blames_what_ran_in_between() {
    let made = Made::new(&layers::preempted());
    let blame = "preempted: 50.000 ms behind B:0 on accelerator 0".to_string();
    assert_eq!(made.account(0, 0), ([0.0, 0.0, 0.0, 0.0, 60.0], blame));
    let account = made.why().account(made.id(0, 0)).expect("it ran");
    assert_eq!(account.parts.ms(Part::Preempted), 50.0);
    assert!(account.in_time_without(Part::Preempted));
    assert_eq!(account.lateness_ns, 10_000_000);
    // B waited for the first layer of A.
    let account = made.why().account(made.id(1, 0)).expect("it ran");
    assert_eq!(account.parts.ms(Part::Accelerator), 20.0);
}

/// Deadlines of 250 ms; A:1 arrives at 100 ms and replaces A:0, which waits for X.
#[test]
fn a_replaced_frame_blames_what_it_waited_for() {
    let patient = model("A", 10.0).with_relative_deadline(span_ms(250.0));
    let models = vec![model("X", 10.0), patient];
    let mut plan = plan(scenario(vec![], models), table_ms(&[[500.0], [10.0]]));
    plan.engine.replace_by_newer = true;
    let made = Made::new(&lasting_ms(150.0, plan));
    let blame = "accelerator: 100.000 ms behind X:0 on accelerator 0".to_string();
    assert_eq!(made.account(1, 0), ([0.0, 0.0, 100.0, 0.0, 10.0], blame));
    // 100 + 10 ms of 250: the deadline is not the reason.
    let account = made.why().account(made.id(1, 0)).expect("it was dropped");
    assert_eq!(account.lateness_ns, -140_000_000);
}

/// The request is aborted at 100 ms; it would have ended at 150.
#[test]
fn an_aborted_run_counts_with_the_time_that_it_would_have_taken() {
    let mut plan = plan(scenario(vec![], vec![model("A", 10.0)]), table_ms(&[[150.0]]));
    plan.engine.deadline_miss = DeadlineMiss::Abort;
    let made = Made::new(&lasting_ms(50.0, plan));
    let blame = "own latency: 150.000 of 100.000 ms".to_string();
    assert_eq!(made.account(0, 0), ([0.0, 0.0, 0.0, 0.0, 150.0], blame));
}

/// A policy that starts nothing before 60 ms.
struct Late;

impl Scheduler for Late {
    fn decide(&mut self, view: &View<'_>) -> Decision {
        if view.now < at_ms(60.0) {
            return Decision::Wait;
        }
        Dispatch::new(view.ready[0].request, view.idle[0]).into()
    }
}

static LATE: schedule::Entry = schedule::Entry {
    name: "late",
    work_conserving: false,
    ..schedule::Entry::new(|_, _| Box::new(Late))
};

/// The next event after time 0 is the arrival of B at 60 ms.
#[test]
fn a_policy_that_waits_beside_an_idle_accelerator_is_blamed() {
    let mut slow = sensor("slow", 10.0);
    slow.initial_latency = span_ms(60.0);
    let models = vec![model("A", 10.0), reading(&[0], model("B", 10.0))];
    let mut plan = plan(scenario(vec![slow], models), table_ms(&[[50.0], [1.0]]));
    plan.scheduler = Policy::from_entry(&LATE);
    let made = Made::new(&lasting_ms(50.0, plan));
    let blame = "policy: 60.000 ms".to_string();
    assert_eq!(made.account(0, 0), ([0.0, 0.0, 60.0, 0.0, 50.0], blame));
}

#[test]
fn what_nothing_asked_for_has_no_account() {
    let models = vec![model("A", 10.0), triggered_by(0, 0.0, model("B", 10.0))];
    let plan = plan(scenario(vec![], models), table_ms(&[[1.0], [1.0]]));
    let made = Made::new(&lasting_ms(50.0, plan));
    assert_eq!(made.why().account(made.id(1, 0)), None);
    assert_eq!(made.why().short(made.id(1, 0)), None);
}

/// The artifact: 60 FPS is 16 ms. B:0 waits for one completion of A, which takes 20 ms; the name of
/// A comes first. A:0 runs from 0 to 20; B:0, due at 16, is dropped at the event at 20 ms; A:1, due at
/// 32, runs from 20 to 40. Every frame is late.
#[test]
fn under_the_artifacts_rules_a_frame_waits_for_completions() {
    let models = vec![model("A", 60.0), after(0, model("B", 60.0))];
    let plan = plan(scenario(vec![], models), table_ms(&[[20.0], [5.0]]));
    let made = Made::by(&plan, Semantics::Mlsys2023);
    let why = made.why();
    let need = why.needs(made.id(1, 0)).next().expect("B follows A");
    assert_eq!(need.served_by, Some(made.id(0, 0)));
    let blame = "upstream: 20.000 ms for A:0 (late) <- own latency: 20.000 of 16.000 ms";
    assert_eq!(made.account(1, 0), ([0.0, 20.0, 0.0, 0.0, 5.0], blame.into()));
    // After the first drop of A, B counts completions of later frames.
    let dropped = |frame: usize| {
        let record = made.result.trace.record(made.id(0, frame));
        matches!(record.outcome, Outcome::Dropped { .. })
    };
    let first = (0..40).find(|frame| dropped(*frame)).expect("A is overloaded");
    let need = why.needs(made.id(1, first + 1)).next().expect("B follows A");
    assert_eq!(need.decided_by, Some(made.id(0, first)));
    assert_ne!(need.served_by, need.decided_by);
}

/// 45 FPS is 22 ms in the artifact, not 1000 / 45.
#[test]
fn under_the_artifacts_rules_frames_start_at_whole_milliseconds() {
    let plan = plan(scenario(vec![], vec![model("A", 45.0)]), table_ms(&[[5.0]]));
    let made = Made::by(&plan, Semantics::Mlsys2023);
    let account = made.why().account(made.id(0, 7)).expect("it ran");
    assert_eq!(account.nominal_start, at_ms(7.0 * 22.0));
}

/// Checks the breakdown of a request.
fn check(made: &Made, why: &Why<'_>, id: RequestId) {
    let record = made.result.trace.record(id);
    let name = why.name(id);
    let Some(account) = why.account(id) else {
        let no_account = matches!(
            record.outcome,
            Outcome::NotTriggered | Outcome::NotCaptured(_) | Outcome::Lost { .. }
        );
        assert!(no_account, "{name}");
        return;
    };
    let end = i128::from(account.nominal_start.ns()) + account.parts.total_ns();
    assert_eq!(end - i128::from(record.deadline.ns()), account.lateness_ns, "{name}");
    let waits = Part::ALL.into_iter().filter(|part| *part != Part::Sensor);
    let waits: Vec<_> = waits.collect();
    assert!(waits.iter().all(|part| account.parts.ns(*part) >= 0), "{name}");
    let missed = match record.outcome {
        Outcome::Executed { end: ended, .. } => {
            assert_eq!(end, i128::from(ended.ns()), "the parts of {name} add up");
            ended > record.deadline
        }
        _ => true,
    };
    assert_eq!(account.missed, missed, "{name}");
    assert_eq!(why.short(id).is_some_and(|text| !text.is_empty()), missed, "{name}");
    check_cause(made, why, id, &account);
}

fn check_cause(made: &Made, why: &Why<'_>, id: RequestId, account: &Account) {
    let name = why.name(id);
    let part = match account.cause {
        Cause::Sensor => Part::Sensor,
        Cause::Upstream(need) => {
            let upstream = made.result.trace.record(need.decided_by.expect("it has frames"));
            assert_eq!(upstream.model, need.model, "{name}");
            Part::Upstream
        }
        Cause::Accelerator(job) => {
            let job = job.unwrap_or_else(|| panic!("every policy conserves work: {name}"));
            assert!(job.request != id && job.overlap > SimSpan::ZERO, "{name}");
            assert!(i128::from(job.overlap.ns()) <= account.parts.ns(Part::Accelerator), "{name}");
            Part::Accelerator
        }
        Cause::Preempted(job) => {
            let job = job.unwrap_or_else(|| panic!("every policy conserves work: {name}"));
            assert!(job.request != id && job.overlap > SimSpan::ZERO, "{name}");
            assert!(i128::from(job.overlap.ns()) <= account.parts.ns(Part::Preempted), "{name}");
            Part::Preempted
        }
        Cause::Interference => Part::Interference,
        Cause::Placement { .. } => Part::Placement,
        Cause::Latency => Part::Latency,
    };
    let waits = Part::ALL.into_iter().filter(|part| *part != Part::Latency);
    let waits: Vec<_> = waits.collect();
    let enough = |part: &Part| account.lateness_ns > 0 && account.in_time_without(*part);
    if account.missed && part != Part::Latency && waits.iter().any(enough) {
        let outcome = made.result.trace.record(id).outcome;
        let along = matches!(outcome, Outcome::Dropped { reason: DropReason::Upstream, .. });
        assert!(along || enough(&part), "{name}: some wait alone is enough, but not the cause");
    }
}

/// Plans of the whole suite with their costs.
struct Suite {
    plans: Vec<Plan>,
    library: CostLibrary,
}

static REFERENCE: LazyLock<Suite> = LazyLock::new(|| Suite::new(Edition::Reference));
static ARTIFACT: LazyLock<Suite> = LazyLock::new(|| Suite::new(Edition::Artifact));

impl Suite {
    fn new(edition: Edition) -> Self {
        let mut catalog = Catalog::with_networks(Edition::Artifact);
        let suite = catalog.suite().expect("the suite is embedded");
        let platform = catalog.platform("artifact").expect("it is embedded");
        let mut plans = Vec::new();
        for scenario in &suite.scenarios {
            let scenario = catalog.scenario(scenario, edition).expect("it is embedded");
            for name in &suite.systems {
                let Ok(Hardware::Style(style)) = catalog.hardware(name) else { panic!("{name}") };
                for &pes in &suite.pes {
                    let system = Arc::new(style.instantiate(pes, &platform).expect("a system"));
                    plans.push(Plan::new(Arc::clone(&scenario), system));
                }
            }
        }
        let model: &dyn CostModel = &Maestro;
        let pairs = plans.iter().map(|plan| (&*plan.scenario, &*plan.system));
        let library = CostLibrary::evaluate(model, pairs);
        Self { plans, library }
    }
}

/// Passes the runs of the whole suite under `semantics` to `take`.
fn suite(semantics: Semantics, change: impl Fn(&mut Plan), take: impl FnMut(&Made)) {
    let suite = match semantics {
        Semantics::Principled => &*REFERENCE,
        Semantics::Mlsys2023 => &*ARTIFACT,
    };
    runs_of(suite, suite.plans.iter(), semantics, change, take);
}

/// The same for some plans of a suite.
fn runs_of<'s>(
    suite: &'s Suite,
    plans: impl Iterator<Item = &'s Plan>,
    semantics: Semantics,
    change: impl Fn(&mut Plan),
    mut take: impl FnMut(&Made),
) {
    for plan in plans {
        let mut plan = Plan { semantics, ..plan.clone() };
        change(&mut plan);
        let result = sweep::run(&plan, &suite.library).expect("the suite is feasible");
        take(&Made { plan, result });
    }
}

fn check_all(made: &Made) -> usize {
    let why = made.why();
    let ids = (0..made.result.trace.records().len()).map(RequestId::new);
    ids.map(|id| check(made, &why, id)).count()
}

#[test]
fn accounts_of_the_suite_add_up_and_every_miss_has_a_cause() {
    let mut n_requests = 0;
    for semantics in [Semantics::Principled, Semantics::Mlsys2023] {
        suite(semantics, |_| {}, |made| n_requests += check_all(made));
    }
    let by_frame = |plan: &mut Plan| plan.without.completion_count = true;
    suite(Semantics::Mlsys2023, by_frame, |made| n_requests += check_all(made));
    assert!(n_requests > 20_000, "{n_requests}");
}

#[test]
fn accounts_add_up_under_every_rule_of_the_run() {
    let rules: [fn(&mut Plan); 7] = [
        |plan| plan.scheduler = Policy::parse("edf:granularity=layer").expect("it exists"),
        |plan| plan.scheduler = Policy::parse("edf:preemption=layer-boundary").expect("it exists"),
        |plan| {
            plan.scheduler = Policy::parse("edf:granularity=layer").expect("it exists");
            plan.engine.deadline_miss = DeadlineMiss::Abort;
        },
        |plan| plan.engine.deadline_miss = DeadlineMiss::Abort,
        |plan| plan.engine.grace = span_ms(40.0),
        |plan| {
            plan.engine.replace_by_newer = true;
            plan.engine.grace = span_ms(40.0);
        },
        |plan| {
            plan.load.random_phase = true;
            plan.scheduler = Policy::parse("edf").expect("it exists");
        },
    ];
    // Without optimisation every rule takes other runs.
    let step = if cfg!(debug_assertions) { 4 } else { 1 };
    for (at, rule) in rules.into_iter().enumerate() {
        let plans = REFERENCE.plans.iter().skip(at % step).step_by(step);
        runs_of(&REFERENCE, plans, Semantics::Principled, rule, |made| {
            check_all(made);
        });
    }
}

/// The table of dependencies of the engine is an independent source.
#[test]
fn needs_are_the_dependencies_of_the_load() {
    suite(
        Semantics::Principled,
        |_| {},
        |made| {
            let stream = xrsim::load::generate(&made.plan.scenario, &made.plan.load);
            let stream = stream.expect("the load is small");
            let why = made.why();
            for id in (0..stream.requests().len()).map(RequestId::new) {
                let needs: Vec<_> = why.needs(id).filter_map(|need| need.decided_by).collect();
                assert_eq!(needs, stream.upstream(id), "{}", why.name(id));
            }
        },
    );
}

/// The costs, with those of one model scaled by hand.
fn scaled(costs: &CostTable, model: ModelId, percent: u64) -> CostTable {
    let models = (0..costs.n_models()).map(ModelId::new);
    let cells = models.flat_map(|row| {
        (0..costs.n_accelerators()).map(move |column| {
            let cost = costs.on(row, AccelId::new(column)).network();
            let ns = cost.latency.ns();
            let ns = if row == model { (ns * percent).div_ceil(100) } else { ns };
            let latency = SimSpan::from_ns(ns);
            Arc::new(NetworkCost { latency, ..cost.as_ref().clone() })
        })
    });
    CostTable::new(cells.collect(), costs.n_accelerators())
}

#[test]
fn a_proposed_latency_meets_the_deadline_and_no_longer_one_does() {
    let plan = plan(six_models(), six_models_table());
    let made = Made::new(&plan);
    let why = made.why();
    let (mut found, mut none) = (0, 0);
    for id in (0..made.result.trace.records().len()).map(RequestId::new) {
        if why.short(id).is_none() {
            continue;
        }
        let record = made.result.trace.record(id);
        let target = Target { model: record.model, frame: record.frame };
        let remedy = what_if::latency(&made.plan, &plan.costs, record.model, target);
        for percent in LATENCY_PERCENTS {
            let costs = Arc::new(scaled(&plan.costs, record.model, percent.into()));
            let again = run_at_costs(&made.plan, costs).expect("the run is feasible");
            let margin_ms = target.margin_ms(&again.trace);
            match remedy {
                Some(remedy) if remedy.change == percent => {
                    assert_eq!(margin_ms, Some(remedy.margin_ms), "{}", why.name(id));
                    break;
                }
                _ => assert_eq!(margin_ms, None, "{} at {percent} %", why.name(id)),
            }
        }
        found += usize::from(remedy.is_some());
        none += usize::from(remedy.is_none());
    }
    assert!(found > 10, "{found} remedies, {none} without");
}
