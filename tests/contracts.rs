//! Holds every entry of `schedule::ALL` to the contract of its trait, and the engine to its side of it.

#[path = "support/runs.rs"]
mod runs;

use proptest::prelude::*;
use proptest::sample::subsequence;

use runs::*;
use xrsim::cost::CostTable;
use xrsim::ids::{AccelId, FrameId, ModelId, RequestId};
use xrsim::schedule::{
    self, AcceleratorState, Activity, Decision, Entry, History, Job, Scheduler, View,
};
use xrsim::trace::{DropReason, Outcome};
use xrsim::units::{FrameRate, Millijoules, SimTime};

const N_MODELS: usize = 5;
const N_ACCELERATORS: usize = 4;

/// The parts of a view, owned.
#[derive(Debug, Clone)]
struct Situation {
    ready: Vec<Job>,
    idle: Vec<AccelId>,
    costs: CostTable,
}

impl Situation {
    /// Asks `scheduler` what to do.
    fn ask(&self, scheduler: &mut dyn Scheduler) -> Decision {
        let rates: Vec<FrameRate> = [60.0, 45.0, 30.0, 10.0, 3.0].map(rate).into();
        let accelerators: Vec<_> =
            (0..N_ACCELERATORS).map(AccelId::new).map(|a| self.state(a)).collect();
        scheduler.decide(&View {
            now: SimTime::from_ns(100),
            ready: &self.ready,
            accelerators: &accelerators,
            idle: &self.idle,
            costs: &self.costs,
            rates: &rates,
            history: &[History::default(); N_MODELS],
        })
    }

    fn state(&self, accelerator: AccelId) -> AcceleratorState {
        let since = SimTime::from_ns(50);
        let activity = match self.idle.contains(&accelerator) {
            true => Activity::Idle { since },
            false => Activity::Running {
                request: RequestId::new(1_000_000 + accelerator.index()),
                model: ModelId::new(0),
                since,
                predicted_end: SimTime::from_ns(200),
            },
        };
        AcceleratorState { activity, resident: None }
    }

    fn shows(&self, request: RequestId) -> bool {
        self.ready.iter().any(|job| job.request == request)
    }
}

prop_compose! {
    /// Few distinct times, so that ties are common.
    fn any_job()(model in 0..N_MODELS, frame in 0..3usize, release in 0u64..4, slack in 1u64..4) -> Job {
        Job {
            request: RequestId::new(0),
            model: ModelId::new(model),
            frame: FrameId::new(frame),
            next_layer: 0,
            release: SimTime::from_ns(release),
            deadline: SimTime::from_ns(100 + release + slack),
            ready_since: SimTime::from_ns(release),
        }
    }
}

prop_compose! {
    fn any_situation()(
        mut ready in prop::collection::vec(any_job(), 1..8),
        idle in subsequence((0..N_ACCELERATORS).collect::<Vec<_>>(), 1..=N_ACCELERATORS),
        latencies in prop::collection::vec(prop::collection::vec(1u64..5, N_ACCELERATORS), N_MODELS),
    ) -> Situation {
        ready.sort_by_key(|job| (job.release, job.deadline, job.model, job.frame));
        ready.dedup_by_key(|job| (job.model, job.frame));
        for (index, job) in ready.iter_mut().enumerate() {
            job.request = RequestId::new(10 * index);
        }
        let cost = |ns: u64| (ns, 1.0);
        let rows: Vec<Vec<_>> =
            latencies.into_iter().map(|row| row.into_iter().map(cost).collect()).collect();
        Situation { ready, idle: idle.into_iter().map(AccelId::new).collect(), costs: table(&rows) }
    }
}

fn decisions(entry: &Entry, situations: &[Situation]) -> Vec<Decision> {
    let mut scheduler = (entry.build)();
    situations.iter().map(|situation| situation.ask(&mut *scheduler)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        rng_seed: proptest::test_runner::RngSeed::Fixed(5),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_policy_answers_from_what_it_was_shown(
        situations in prop::collection::vec(any_situation(), 1..6)
    ) {
        for entry in schedule::ALL {
            for (situation, decision) in situations.iter().zip(decisions(entry, &situations)) {
                match decision {
                    Decision::Dispatch { request, accelerator } => {
                        prop_assert!(situation.shows(request), "{}: {request:?}", entry.name);
                        prop_assert!(situation.idle.contains(&accelerator), "{}", entry.name);
                    }
                    Decision::Drop(request) => prop_assert!(situation.shows(request)),
                    Decision::Wait => {}
                }
            }
        }
    }

    #[test]
    fn work_conserving_policies_start_something(
        situations in prop::collection::vec(any_situation(), 1..6)
    ) {
        for entry in schedule::ALL.iter().filter(|entry| entry.work_conserving) {
            for decision in decisions(entry, &situations) {
                let starts = matches!(decision, Decision::Dispatch { .. });
                prop_assert!(starts, "{}: {decision:?}", entry.name);
            }
        }
    }

    #[test]
    fn equal_views_in_equal_order_give_equal_decisions(
        situations in prop::collection::vec(any_situation(), 1..6)
    ) {
        for entry in schedule::ALL {
            // The second policy is built while the first is in use: they share nothing.
            let mut first = (entry.build)();
            let first_half = situations[0].ask(&mut *first);
            let second = decisions(entry, &situations);
            let rest = situations[1..].iter().map(|situation| situation.ask(&mut *first));
            let first: Vec<_> = std::iter::once(first_half).chain(rest).collect();
            prop_assert_eq!(first, second, "{}", entry.name);
        }
    }
}

#[test]
fn every_policy_has_a_name_of_its_own_and_says_what_it_is() {
    for (index, entry) in schedule::ALL.iter().enumerate() {
        let kebab = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        assert!(!entry.name.is_empty() && entry.name.chars().all(kebab), "{}", entry.name);
        assert!(!entry.help.is_empty() && !entry.help.ends_with('.'), "{}", entry.name);
        assert!(!entry.source.is_empty(), "{}", entry.name);
        assert!(schedule::find(entry.name).is_some(), "{}", entry.name);
        let earlier = &schedule::ALL[..index];
        assert!(earlier.iter().all(|other| other.name != entry.name), "{} is taken", entry.name);
    }
    assert_eq!(schedule::ALL[0].name, "latency-greedy");
    assert!(schedule::find("no such policy").is_none());
}

#[test]
fn every_policy_brings_a_busy_scenario_to_its_end() {
    for entry in schedule::ALL {
        let plan = by(entry.name, plan(six_models(), six_models_table()));
        let counts = plan.score(&trace(&plan)).total.counts;
        assert!(counts.executed > 150, "{}: {counts:?}", entry.name);
    }
}

/// What a policy that is made up by a test does.
struct Made(fn(&View<'_>) -> Decision);

impl Scheduler for Made {
    fn decide(&mut self, view: &View<'_>) -> Decision {
        self.0(view)
    }
}

/// An entry of a made-up policy.
const fn made(name: &'static str, build: fn() -> Box<dyn Scheduler>) -> Entry {
    Entry { name, help: "made up", source: "this test", work_conserving: false, build }
}

fn outcomes(entry: &'static Entry) -> Vec<Outcome> {
    let mut plan = plan(six_models(), six_models_table());
    plan.scheduler = entry;
    plan.load.trigger_probability = Some(1.0);
    trace(&plan).records().iter().map(|record| record.outcome).collect()
}

#[test]
fn a_policy_that_always_waits_leaves_everything_to_its_deadline() {
    static WAITS: Entry = made("waits", || Box::new(Made(|_| Decision::Wait)));
    for outcome in outcomes(&WAITS) {
        let Outcome::Dropped { reason, .. } = outcome else { panic!("{outcome:?}") };
        assert!(matches!(reason, DropReason::Deadline | DropReason::Upstream));
    }
}

/// GE waits for ES and SR for KD; they go with what they wait for.
#[test]
fn a_policy_may_give_up_whatever_is_ready() {
    static GIVES_UP: Entry =
        made("gives-up", || Box::new(Made(|view| Decision::Drop(view.ready[0].request))));
    let outcomes = outcomes(&GIVES_UP);
    let of = |wanted| {
        let reasons = outcomes.iter().filter(
            |outcome| matches!(outcome, Outcome::Dropped { reason, .. } if *reason == wanted),
        );
        reasons.count()
    };
    let (ht, es, ge, de, kd, sr) = (45, 60, 60, 30, 3, 3);
    assert_eq!(of(DropReason::Scheduler), ht + es + de + kd);
    assert_eq!(of(DropReason::Upstream), ge + sr);
}

#[test]
#[should_panic(expected = "a policy answers with a ready request that it was shown")]
fn a_policy_that_makes_up_a_request_is_a_bug() {
    static MAKES_UP: Entry = made("makes-up", || {
        Box::new(Made(|view| Decision::Dispatch {
            request: RequestId::new(view.ready[0].request.index() + 1),
            accelerator: view.idle[0],
        }))
    });
    outcomes(&MAKES_UP);
}

#[test]
#[should_panic(expected = "a policy answers with an idle accelerator that it was shown")]
fn a_policy_that_takes_a_busy_accelerator_is_a_bug() {
    static TAKES_FIRST: Entry = made("takes-first", || {
        Box::new(Made(|view| Decision::Dispatch {
            request: view.ready[0].request,
            accelerator: AccelId::new(0),
        }))
    });
    outcomes(&TAKES_FIRST);
}

/// Checks what the engine shows whenever it asks.
fn inspect(view: &View<'_>) -> Decision {
    assert!(!view.ready.is_empty() && !view.idle.is_empty());
    let key = |job: &Job| (job.release, job.deadline, job.model, job.frame);
    assert!(view.ready.is_sorted_by_key(key));
    assert!(view.ready.iter().all(|job| job.ready_since >= job.release));
    assert!(view.ready.iter().all(|job| job.ready_since <= view.now && view.now < job.deadline));
    assert!(view.idle.is_sorted());
    for (index, state) in view.accelerators.iter().enumerate() {
        let shown_idle = view.idle.contains(&AccelId::new(index));
        match state.activity {
            Activity::Idle { since } => assert!(shown_idle && since <= view.now),
            Activity::Running { model, since, predicted_end, .. } => {
                assert!(!shown_idle && since <= view.now && view.now <= predicted_end);
                assert_eq!(state.resident, Some(model));
                let latency = view.latency(model, AccelId::new(index));
                assert_eq!(predicted_end, since + latency);
            }
        }
    }
    let job = view.ready[0];
    Decision::Dispatch { request: job.request, accelerator: view.fastest_idle(job.model) }
}

#[test]
fn the_engine_shows_every_policy_a_consistent_view() {
    static INSPECTS: Entry = made("inspects", || Box::new(Made(inspect)));
    assert!(outcomes(&INSPECTS).len() > 200);
}

/// Runs one model at 10 FPS on one accelerator; `entry` is asked when all before has ended.
fn alone(entry: &'static Entry, latency_ms: f64) {
    let mut plan = plan(scenario(Vec::new(), vec![model("A", 10.0)]), table_ms(&[[latency_ms]]));
    plan.scheduler = entry;
    let executed = plan.score(&trace(&plan)).total.counts.executed;
    assert_eq!(executed, (1000.0 / latency_ms).ceil() as u64);
}

/// Each run ends with its period, exactly on time; 1 mJ each.
#[test]
fn the_view_remembers_what_was_on_time_and_since_when_accelerators_are_idle() {
    fn remember(view: &View<'_>) -> Decision {
        let frame = view.ready[0].frame.index() as u32;
        let previous = frame.checked_sub(1);
        let expected = History {
            on_time: frame,
            late: 0,
            dropped: 0,
            last_start: previous.map(|previous| at_ms(f64::from(previous) * 100.0)),
            energy: Millijoules::new(frame.into()),
        };
        assert_eq!(view.history, [expected]);
        let since = view.now;
        assert_eq!(view.accelerators[0].activity, Activity::Idle { since });
        Decision::Dispatch { request: view.ready[0].request, accelerator: view.idle[0] }
    }
    static REMEMBERS: Entry = made("remembers", || Box::new(Made(remember)));
    alone(&REMEMBERS, 100.0);
}

/// Runs start 150 ms apart and all end late; what they pass over is dropped.
#[test]
fn the_view_remembers_what_was_late_and_what_was_dropped() {
    fn remember(view: &View<'_>) -> Decision {
        let frame = view.ready[0].frame.index() as u32;
        let [history] = view.history else { panic!("one model") };
        let n_started = (view.now.as_ms() / 150.0) as u32;
        assert_eq!((history.on_time, history.late), (0, n_started));
        assert_eq!(history.dropped, frame - n_started);
        Decision::Dispatch { request: view.ready[0].request, accelerator: view.idle[0] }
    }
    static REMEMBERS: Entry = made("remembers", || Box::new(Made(remember)));
    alone(&REMEMBERS, 150.0);
}
