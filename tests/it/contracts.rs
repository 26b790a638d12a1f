//! Holds every entry of `schedule::ALL` to the contract of its trait, with any parameters, and the
//! engine to its side of it.

use crate::support::layers;
use crate::support::runs;
use crate::support::situations;

use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::Index;

use runs::*;
use situations::*;
use xrsim::engine;
use xrsim::ids::{AccelId, RequestId};
use xrsim::schedule::{
    self, Activity, Breakdown, Decision, Dispatch, History, Job, OPTIONS, Options, Policy,
    Scheduler, View,
};
use xrsim::trace::{DropReason, Outcome, Record};
use xrsim::units::Millijoules;

/// Any parameters for every policy.
fn any_parameters() -> impl Strategy<Value = Vec<(Index, Index)>> {
    prop::collection::vec(any::<(Index, Index)>(), 0..4)
}

fn policies(picks: &[(Index, Index)]) -> impl Iterator<Item = Policy> {
    schedule::ALL.iter().map(|entry| with_parameters(entry, picks))
}

fn decisions(world: &World, policy: &Policy, situations: &[Situation]) -> Vec<Decision> {
    let mut scheduler = world.build(policy);
    situations.iter().map(|situation| situation.ask(world, &mut *scheduler)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1000,
        rng_seed: proptest::test_runner::RngSeed::Fixed(5),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_policy_answers_from_what_it_was_shown(
        (world, situations) in any_case(),
        picks in any_parameters(),
    ) {
        for policy in policies(&picks) {
            for (situation, decision) in situations.iter().zip(decisions(&world, &policy, &situations)) {
                let checked = situation.check(&decision);
                prop_assert!(checked.is_ok(), "{policy:?}: {checked:?}");
            }
        }
    }

    #[test]
    fn work_conserving_policies_start_something(
        (world, situations) in any_case(),
        picks in any_parameters(),
    ) {
        for policy in policies(&picks).filter(Policy::is_work_conserving) {
            for decision in decisions(&world, &policy, &situations) {
                let does = matches!(decision, Decision::Dispatch(_) | Decision::Drop(_));
                prop_assert!(does, "{policy:?}: {decision:?}");
            }
        }
    }

    #[test]
    fn equal_views_in_equal_order_give_equal_decisions(
        (world, situations) in any_case(),
        picks in any_parameters(),
    ) {
        for policy in policies(&picks) {
            // The second policy is built while the first is in use: they share nothing.
            let mut first = world.build(&policy);
            let first_half = situations[0].ask(&world, &mut *first);
            let second = decisions(&world, &policy, &situations);
            let rest = situations[1..].iter().map(|situation| situation.ask(&world, &mut *first));
            let first: Vec<_> = std::iter::once(first_half).chain(rest).collect();
            prop_assert_eq!(first, second, "{:?}", policy);
        }
    }

    #[test]
    fn only_policies_that_say_so_give_up_requests_beside_admission(
        (world, situations) in any_case(),
    ) {
        for entry in schedule::ALL.iter().filter(|entry| !DROPPING.contains(&entry.name)) {
            for decision in decisions(&world, &Policy::from_entry(entry), &situations) {
                prop_assert!(!matches!(decision, Decision::Drop(_)), "{}", entry.name);
            }
        }
    }

    /// With admission, what has no hope is dropped first, whatever the policy.
    #[test]
    fn admission_gives_up_what_has_no_hope_whatever_the_policy(
        (world, situations) in any_case(),
    ) {
        let situation = &situations[0];
        for entry in schedule::ALL {
            let policy = Policy::parse(&format!("{}:admission=hopeless,epsilon_ms=0", entry.name));
            let policy = policy.expect("every policy has admission");
            let [decision] = &decisions(&world, &policy, &situations[..1])[..] else {
                panic!("one situation, one decision");
            };
            let hopeless = situation.ready.iter().find(|job| {
                let accelerators = (0..N_ACCELERATORS).map(AccelId::new);
                let times = accelerators.map(|at| world.costs.on(job.model, at).remaining(job.next_layer));
                situation.now() + times.min().expect("there are four") > job.deadline
            });
            if let Some(job) = hopeless {
                prop_assert_eq!(decision, &Decision::Drop(job.request), "{}", entry.name);
            }
        }
    }
}

/// Policies that give up requests by themselves.
const DROPPING: [&str; 1] = ["dream"];

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
fn every_parameter_has_a_name_of_its_own_and_an_allowed_default() {
    for entry in schedule::ALL {
        let all: Vec<_> = entry.parameters.iter().chain(OPTIONS).collect();
        for (index, parameter) in all.iter().enumerate() {
            let name = parameter.name;
            assert!(all[..index].iter().all(|other| other.name != name), "{}: {name}", entry.name);
            assert!(!parameter.help.is_empty() && !parameter.help.ends_with('.'), "{name}");
            if entry.fixes.contains(&name) || parameter.only_with.is_some() {
                continue;
            }
            let text = format!("{}:{name}={}", entry.name, parameter.default);
            assert!(Policy::parse(&text).is_ok(), "{text}");
        }
        let known = |name: &str| OPTIONS.iter().any(|option| option.name == name);
        assert!(entry.fixes.iter().all(|name| known(name)), "{}", entry.name);
        assert!(entry.options.iter().all(|(name, _)| known(name)), "{}", entry.name);
        assert!(!entry.fixes.contains(&"admission"), "{}", entry.name);
    }
}

#[test]
fn what_a_policy_decides_itself_is_refused_and_not_ignored() {
    for entry in schedule::ALL {
        for name in entry.fixes {
            let default = OPTIONS.iter().find(|option| option.name == *name).unwrap().default;
            let error = Policy::parse(&format!("{}:{name}={default}", entry.name)).unwrap_err();
            let expected = format!("{} decides `{name}` itself; leave it out", entry.name);
            assert_eq!(error.to_string(), expected);
        }
    }
}

/// Of about 200 requests. Herald's rule uses one accelerator here: the two slow ones, which are more
/// than twice as bad for every model, are always the least loaded ones.
#[test]
fn every_policy_brings_a_busy_scenario_to_its_end() {
    for entry in schedule::ALL {
        let plan = by(entry.name, plan(six_models(), six_models_table()));
        let counts = plan.score(&trace(&plan)).total.counts;
        let least = if entry.work_conserving { 150 } else { 40 };
        assert!(counts.executed > least, "{}: {counts:?}", entry.name);
    }
}

/// Six models of five layers each, every one a fifth of the whole. Whatever segments a policy makes, every
/// request ends, runs one layer after the other, and shares its accelerators with nobody.
#[test]
fn every_policy_keeps_to_the_rules_of_pieces() {
    let whole = six_models_table();
    let of_model = |model| {
        let fifth = |at| layers::layer(whole.on(model, at).latency().ns() / 5);
        (0..4).map(|at| vec![fifth(AccelId::new(at)); 5]).collect()
    };
    let costs: Vec<_> = six_models().model_ids().map(of_model).collect();
    let layered = plan(six_models(), layers::table(&costs));
    for entry in schedule::ALL {
        for choice in
            ["granularity=layer", "granularity=block,block_ms=3", "preemption=layer-boundary"]
        {
            // What the policy decides itself stays as it is.
            let scheduler = format!("{}:{choice}", entry.name);
            let scheduler = Policy::parse(&scheduler).unwrap_or_else(|_| Policy::from_entry(entry));
            let plan = layered.clone().scheduled(scheduler);
            let trace = trace(&plan);
            layers::check_segments(&plan, &trace);
            let lost = |it: &&Record| matches!(it.outcome, Outcome::Lost { .. });
            assert_eq!(trace.records().iter().find(lost), None, "{:?}", plan.scheduler);
        }
    }
}

/// Behaviour of a policy made up by a test.
struct Made(fn(&View<'_>) -> Decision);

impl Scheduler for Made {
    fn decide(&mut self, view: &View<'_>) -> Decision {
        self.0(view)
    }
}

/// A made-up policy.
fn made(decide: fn(&View<'_>) -> Decision) -> Policy {
    Policy::new("made up", Options::default(), false, Arc::new(move |_| Ok(Box::new(Made(decide)))))
}

/// Starts all that is left of `job`.
fn start(job: &Job, accelerator: AccelId) -> Decision {
    Dispatch::new(job.request, accelerator).into()
}

fn outcomes(scheduler: Policy) -> Vec<Outcome> {
    let mut plan = plan(six_models(), six_models_table());
    plan.scheduler = scheduler;
    plan.load.trigger_probability = Some(1.0);
    trace(&plan).records().iter().map(|record| record.outcome).collect()
}

#[test]
fn a_policy_that_always_waits_leaves_everything_to_its_deadline() {
    for outcome in outcomes(made(|_| Decision::Wait)) {
        let Outcome::Dropped { reason, .. } = outcome else { panic!("{outcome:?}") };
        assert!(matches!(reason, DropReason::Deadline | DropReason::Upstream));
    }
}

/// GE waits for ES and SR for KD; they go with what they wait for.
#[test]
fn a_policy_may_give_up_whatever_is_ready() {
    let outcomes = outcomes(made(|view| Decision::Drop(view.ready[0].request)));
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
fn a_policy_that_cannot_go_on_ends_the_run_and_says_why() {
    let mut plan = plan(six_models(), six_models_table());
    plan.scheduler = made(|_| Decision::Fail(Breakdown::new("out of ideas")));
    let failure = engine::run(&plan, &plan.costs, &requests(&plan)).unwrap_err();
    assert_eq!(failure.to_string(), "scheduler made up: out of ideas");
}

#[test]
#[should_panic(expected = "a policy answers with a ready request that it was shown")]
fn a_policy_that_makes_up_a_request_is_a_bug() {
    outcomes(made(|view| {
        let request = RequestId::new(view.ready[0].request.index() + 1);
        Dispatch::new(request, view.idle[0]).into()
    }));
}

#[test]
#[should_panic(expected = "a policy answers with an idle accelerator that it was shown")]
fn a_policy_that_takes_a_busy_accelerator_is_a_bug() {
    outcomes(made(|view| start(&view.ready[0], AccelId::new(0))));
}

/// Checks what the engine shows whenever it asks.
fn inspect(view: &View<'_>) -> Decision {
    assert!(!view.ready.is_empty() && !view.idle.is_empty());
    let key = |job: &Job| (job.arrival, job.deadline, job.model, job.frame);
    assert!(view.ready.iter().is_sorted_by_key(key));
    assert!(view.ready.iter().all(|job| job.ready_since >= job.arrival));
    assert!(view.ready.iter().all(|job| job.ready_since <= view.now && view.now < job.deadline));
    assert!(view.idle.is_sorted());
    for (index, state) in view.accelerators.iter().enumerate() {
        let shown_idle = view.idle.contains(&AccelId::new(index));
        match state.activity {
            Activity::Idle { since } => assert!(shown_idle && since <= view.now),
            Activity::Running { model, since, predicted_end, .. } => {
                assert!(!shown_idle && since <= view.now && view.now <= predicted_end);
                assert_eq!(state.resident, Some(model));
                let latency = view.costs.on(model, AccelId::new(index)).latency();
                assert_eq!(predicted_end, since + latency);
            }
        }
    }
    start(&view.ready[0], view.fastest_idle(&view.ready[0]).expect("every pair is offered"))
}

#[test]
fn the_engine_shows_every_policy_a_consistent_view() {
    assert!(outcomes(made(inspect)).len() > 200);
}

/// GE waits for ES; both arrive together, and only one of them is ready at a time.
#[test]
fn the_view_counts_what_waits_for_an_upstream_result() {
    fn count(view: &View<'_>) -> Decision {
        let es_is_ready = view.ready[0].model.index() == 0;
        assert_eq!(view.blocked, [0, u32::from(es_is_ready)]);
        start(&view.ready[0], view.idle[0])
    }
    let models = vec![model("ES", 60.0), after(0, model("GE", 60.0))];
    let mut plan = plan(scenario(Vec::new(), models), table_ms(&[[5.0], [5.0]]));
    plan.scheduler = made(count);
    assert_eq!(plan.score(&trace(&plan)).total.counts.executed, 120);
}

/// Runs one model at 10 FPS on one accelerator; `decide` is asked when all before has ended.
fn alone(decide: fn(&View<'_>) -> Decision, latency_ms: f64) {
    let mut plan = plan(scenario(Vec::new(), vec![model("A", 10.0)]), table_ms(&[[latency_ms]]));
    plan.scheduler = made(decide);
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
            last_start: previous.map(|previous| at_ms(f64::from(previous) * 100.0)),
            energy: Millijoules::new(frame.into()),
            ..History::default()
        };
        assert_eq!(view.history, [expected]);
        let since = view.now;
        assert_eq!(view.accelerators[0].activity, Activity::Idle { since });
        start(&view.ready[0], view.idle[0])
    }
    alone(remember, 100.0);
}

/// Runs start 150 ms apart and all end late; what they pass over is dropped. Of three frames one is
/// dropped: frame 0 is late at 150, 1 runs from 150 (due at 200) to 300, at which 2 is dropped, and so
/// on; the newest is in bit 0.
#[test]
fn the_view_remembers_what_was_late_and_what_was_dropped() {
    fn remember(view: &View<'_>) -> Decision {
        let frame = view.ready[0].frame.index() as u32;
        let [history] = view.history else { panic!("one model") };
        let n_started = (view.now.as_ms() / 150.0) as u32;
        assert_eq!((history.on_time, history.late), (0, n_started));
        assert_eq!(history.dropped, frame - n_started);
        assert_eq!(history.misses, (1 << frame) - 1);
        assert_eq!(history.drops.count_ones(), history.dropped);
        start(&view.ready[0], view.idle[0])
    }
    alone(remember, 150.0);
}
