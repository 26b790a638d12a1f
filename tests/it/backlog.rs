//! Runs in which requests wait by the hundreds: what policies do then, and how much they look at.

use crate::support::layers::{stream, table_ns};
use crate::support::runs;
use crate::support::situations::with_parameters;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use proptest::prelude::*;
use proptest::sample::{Index, select};

use runs::{Case, lasting_ms, requests};
use xrsim::config::{Catalog, Edition, Hardware};
use xrsim::cost::CostTable;
use xrsim::cost::library::CostLibrary;
use xrsim::cost::loop_nest::LoopNest;
use xrsim::engine;
use xrsim::load::RequestStream;
use xrsim::plan::Plan;
use xrsim::schedule::{self, Decision, Entry, Policy, Ready, Scheduler, View};
use xrsim::trace::{Outcome, Record, Trace};
use xrsim::units::SimSpan;

/// Policies, with options in which they keep what waits in another way.
const ORDERED: [&str; 28] = [
    "latency-greedy",
    "round-robin",
    "rm",
    "sjf",
    "edf:granularity=layer",
    "edf:placement=earliest-finish",
    "edf:admission=hopeless,epsilon_ms=1000000",
    "llf:granularity=layer",
    "srpt:preemption=layer-boundary",
    "energy-greedy",
    "value",
    "heft",
    "heft:order=deadline,granularity=layer",
    "heft:placement=latency",
    "prema",
    "prema:mechanism=dynamic",
    "planaria",
    "veltair",
    "moca",
    "moca:placement=latency,granularity=layer",
    "sdrm3",
    "sdrm3:granularity=model",
    "dream",
    "dream:drop=off,granularity=model",
    "dysta",
    "dysta:granularity=model",
    "herald",
    "mk-firm",
];

/// AR gaming on accelerators of a 25th of the speed, where most of it has to wait, and may.
fn overloaded(ms: f64) -> Case {
    static CASE: LazyLock<Case> = LazyLock::new(ar_gaming_on_j);
    let mut plan = lasting_ms(ms, CASE.clone());
    plan.engine.grace = SimSpan::from_ms(1e6).expect("a time");
    plan
}

fn ar_gaming_on_j() -> Case {
    let mut catalog = Catalog::new();
    let scenario = catalog.scenario("AR_gaming", Edition::Reference).expect("it is embedded");
    let platform = catalog.platform("paper").expect("it is embedded");
    let Ok(Hardware::Style(style)) = catalog.hardware("J") else { panic!("J is a style") };
    let system = Arc::new(style.instantiate(4096, &platform).expect("the PEs divide"));
    let library = CostLibrary::evaluate(&LoopNest, [(&*scenario, &*system)]);
    let costs = library.table(&scenario, &system).expect("it is feasible");
    let slow = |costs: CostTable, model| costs.with_latency_percent(model, 2_500);
    let costs = scenario.model_ids().fold(costs, slow);
    Case { plan: Plan::new(scenario, system), costs: Arc::new(costs) }
}

/// Another policy, watched.
struct Watched {
    policy: Box<dyn Scheduler>,
    /// Whether it is shown ready jobs whose past it cannot know, so that it looks at all of them.
    forgets: bool,
    watch: Arc<Watch>,
}

#[derive(Default)]
struct Watch {
    asked: AtomicU64,
    looked_at: AtomicU64,
    most_ready: AtomicU64,
}

impl Scheduler for Watched {
    fn decide(&mut self, view: &View<'_>) -> Decision {
        self.watch.asked.fetch_add(1, Ordering::Relaxed);
        self.watch.most_ready.fetch_max(view.ready.len() as u64, Ordering::Relaxed);
        if self.forgets {
            let ready: Ready = view.ready.iter().copied().collect();
            return self.policy.decide(&View { ready: &ready, ..*view });
        }
        let decision = self.policy.decide(view);
        self.watch.looked_at.store(view.ready.looked_at(), Ordering::Relaxed);
        decision
    }
}

/// Trace of a run of `requests` under a policy, with the observations of the watch.
fn watched(
    inner: Policy,
    plan: &Case,
    requests: &RequestStream,
    forgets: bool,
) -> (Trace, Arc<Watch>) {
    let watch = Arc::new(Watch::default());
    let (label, options, of_run) = (inner.label().clone(), inner.options(), Arc::clone(&watch));
    let build = move |setup: &xrsim::schedule::Setup<'_>| {
        let (policy, watch) = (inner.build(setup)?, Arc::clone(&of_run));
        Ok(Box::new(Watched { policy, forgets, watch }) as Box<dyn Scheduler>)
    };
    // What is admitted is the inner policy's affair.
    let options = xrsim::schedule::Options { admission: Default::default(), ..options };
    let plan = plan.clone().scheduled(Policy::new(label, options, false, Arc::new(build)));
    let run = engine::run(&plan, &plan.costs, requests).expect("it does not fail");
    (run.trace, watch)
}

fn policy(text: &str) -> Policy {
    Policy::parse(text).expect("it exists")
}

/// Of a backlog of hundreds a decision sees a few, or what little it takes to begin an order.
#[test]
fn policies_do_not_look_through_the_backlog_for_every_decision() {
    let plan = overloaded(6_000.0);
    for text in ORDERED {
        let (_, watch) = watched(policy(text), &plan, &requests(&plan), false);
        let [asked, looked_at, most_ready] = [&watch.asked, &watch.looked_at, &watch.most_ready]
            .map(|it| it.load(Ordering::Relaxed));
        assert!(most_ready > 500, "{text}: at most {most_ready} wait");
        let few = 40 * asked;
        assert!(looked_at < few, "{text}: {looked_at} jobs looked at for {asked} decisions");
    }
}

/// Models of three priorities on two accelerators that differ, with these times of their four layers \[ns\].
fn any_plan(layers: &[u64], k_per_ms: f64) -> Case {
    let rates = [60.0, 30.0, 3.0];
    let models = rates.map(|fps| runs::model(&format!("at {fps}"), fps));
    let rows: Vec<Vec<Vec<u64>>> =
        layers.chunks(8).map(|row| row.chunks(4).map(<[u64]>::to_vec).collect()).collect();
    let mut plan = runs::plan(runs::scenario(vec![], models.into()), table_ns(&rows));
    plan.engine.grace = SimSpan::from_ms(1e6).expect("a time");
    plan.score.k_per_ms = k_per_ms;
    plan
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(debug_assertions) { 200 } else { 3_000 },
        rng_seed: proptest::test_runner::RngSeed::Fixed(11),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Deadlines in another order than arrivals, times that are equal, layers of no time, most policies and their
    /// parameters.
    #[test]
    fn any_policy_decides_in_a_backlog_as_if_it_looked_at_all(
        entry in any::<Index>(),
        picks in prop::collection::vec(any::<(Index, Index)>(), 0..4),
        layers in prop::collection::vec(prop_oneof![1 => Just(0), 9 => 1u64..60], 3 * 2 * 4),
        k_per_ms in select(&[0.0, 15.0, 1e5]),
        arrivals in prop::collection::vec((0..3usize, 0u64..400, slack()), 200..350),
    ) {
        let entries: Vec<_> = schedule::ALL.iter().filter(|it| !it.is_clairvoyant).collect();
        let policy = with_parameters(entry.get::<&Entry>(&entries), &picks);
        let plan = any_plan(&layers, k_per_ms);
        let arrivals: Vec<_> = arrivals.into_iter().map(|(m, at, slack)| (m, at, at + slack)).collect();
        let [(kept, _), (anew, watch)] =
            [false, true].map(|forgets| watched(policy.clone(), &plan, &stream(&arrivals), forgets));
        prop_assert!(kept == anew, "{policy:?}");
        let is_dropped = |record: &Record| matches!(record.outcome, Outcome::Dropped { .. });
        let is_deep = watch.most_ready.load(Ordering::Relaxed) > 128;
        prop_assert!(is_deep || kept.records().iter().any(is_dropped), "too few wait");
    }
}

/// Slacks of which some are alike, some short and some long.
fn slack() -> impl Strategy<Value = u64> {
    prop_oneof![Just(50), 0u64..100, 0u64..10_000]
}
