//! Runs in which requests wait by the hundreds: what policies do then, and how much they look at.

use crate::support::runs;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use runs::{Case, by, lasting_ms, requests};
use xrsim::config::{Catalog, Edition, Hardware};
use xrsim::cost::CostTable;
use xrsim::cost::library::CostLibrary;
use xrsim::cost::loop_nest::LoopNest;
use xrsim::engine;
use xrsim::plan::Plan;
use xrsim::schedule::{Decision, Policy, Ready, Scheduler, View};
use xrsim::trace::Trace;
use xrsim::units::SimSpan;

/// Policies that keep an order of what waits.
const ORDERED: [&str; 11] = [
    "latency-greedy",
    "rm",
    "sjf",
    "edf:granularity=layer",
    "edf:admission=hopeless,epsilon_ms=1000000",
    "llf:granularity=layer",
    "srpt:preemption=layer-boundary",
    "energy-greedy",
    "veltair",
    "heft:placement=latency",
    "herald",
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
    /// Whether it is shown ready jobs whose past it cannot know.
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

/// Trace of a plan under the policy `text`, with the observations of the watch.
fn watched(text: &str, plan: &Case, forgets: bool) -> (Trace, Arc<Watch>) {
    let watch = Arc::new(Watch::default());
    let inner = Policy::parse(text).expect("it exists");
    let (options, of_run) = (inner.options(), Arc::clone(&watch));
    let build = move |setup: &xrsim::schedule::Setup<'_>| {
        let (policy, watch) = (inner.build(setup)?, Arc::clone(&of_run));
        Ok(Box::new(Watched { policy, forgets, watch }) as Box<dyn Scheduler>)
    };
    // What is admitted is the inner policy's affair.
    let options = xrsim::schedule::Options { admission: Default::default(), ..options };
    let plan = plan.clone().scheduled(Policy::new(text, options, false, Arc::new(build)));
    let run = engine::run(&plan, &plan.costs, &requests(&plan)).expect("it does not fail");
    (run.trace, watch)
}

/// Of a backlog of hundreds a decision sees a few, or what little it takes to begin an order.
#[test]
fn policies_with_an_order_do_not_look_through_the_backlog_for_every_decision() {
    let plan = overloaded(6_000.0);
    for text in ORDERED {
        let (_, watch) = watched(text, &plan, false);
        let [asked, looked_at, most_ready] = [&watch.asked, &watch.looked_at, &watch.most_ready]
            .map(|it| it.load(Ordering::Relaxed));
        assert!(most_ready > 500, "{text}: at most {most_ready} wait");
        let few = 40 * asked;
        assert!(looked_at < few, "{text}: {looked_at} jobs looked at for {asked} decisions");
    }
}

/// An order that follows what changes is the one that is made anew for every decision.
#[test]
fn an_order_that_is_kept_is_the_one_that_is_made_anew() {
    // Without optimisation the longer one alone takes minutes.
    let spans = if cfg!(debug_assertions) { [1_000.0, 2_000.0] } else { [4_000.0, 8_000.0] };
    let [short, long] = spans.map(overloaded);
    let mut n_deep = 0;
    for text in ORDERED {
        let in_pieces = ["herald", "veltair"].contains(&text) || text.contains("granularity");
        let plan = if in_pieces { &short } else { &long };
        let (kept, _) = watched(text, plan, false);
        let (anew, watch) = watched(text, plan, true);
        n_deep += usize::from(watch.most_ready.load(Ordering::Relaxed) > 128);
        assert!(kept == anew, "{text}");
        assert!(kept == runs::trace(&by(text, plan.clone())), "{text}");
    }
    assert!(n_deep > ORDERED.len() / 2, "an order was kept by {n_deep} policies only");
}
