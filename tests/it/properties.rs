//! Properties of every run: random scenarios, systems, rules and seeds.

use crate::support::runs;
use crate::support::slow_engine;

use proptest::prelude::*;
use proptest::sample::{Index, select};

use runs::*;
use xrsim::engine;
use xrsim::ids::RequestId;
use xrsim::load::{FrameMapping, LoadSettings, RequestStream};
use xrsim::plan::{DeadlineMiss, EngineSettings, Plan};
use xrsim::scenario::{ActiveModel, InputStream, JitterDistribution, Scenario};
use xrsim::schedule::{self, Policy};
use xrsim::score::{self, Scoring};
use xrsim::trace::{DropReason, Outcome, Record, Trace};
use xrsim::units::SimTime;

/// Rates of sensors and models [FPS]; models take at most what their sensors give.
const RATES: [f64; 8] = [3.0, 10.0, 15.0, 29.97, 30.0, 45.0, 60.0, 90.0];

prop_compose! {
    fn streams()(
        streams in prop::collection::vec(
            (select(&RATES[4..]), 0.0..5.0, 0.0..8.0, any::<bool>()), 1..4
        )
    ) -> Vec<InputStream> {
        let stream = |(index, (fps, initial_ms, jitter_ms, uniform))| InputStream {
            initial_latency: span_ms(initial_ms),
            max_jitter: span_ms(jitter_ms),
            distribution: match uniform {
                true => JitterDistribution::Uniform,
                false => JitterDistribution::TruncatedNormal,
            },
            ..sensor(&format!("sensor {index}"), fps)
        };
        streams.into_iter().enumerate().map(stream).collect()
    }
}

/// Draft of a model before its scenario is known.
#[derive(Debug, Clone)]
struct Draft {
    fps: Index,
    inputs: Vec<Index>,
    /// Upstream model and trigger probability; data dependencies have none.
    dependencies: Vec<(Index, Option<f64>)>,
    deadline_ms: Option<f64>,
}

prop_compose! {
    fn draft()(
        fps in any::<Index>(),
        inputs in prop::collection::vec(any::<Index>(), 0..3),
        dependencies in prop::collection::vec(
            (any::<Index>(), prop::option::of(select(&[0.0, 0.3, 0.8, 1.0]))), 0..3
        ),
        deadline_ms in prop::option::weighted(0.2, 0.0..120.0),
    ) -> Draft {
        Draft { fps, inputs, dependencies, deadline_ms }
    }
}

impl Draft {
    fn build(&self, task: &str, streams: &[InputStream], earlier: &[usize]) -> ActiveModel {
        let inputs: Vec<_> = self.inputs.iter().map(|index| index.index(streams.len())).collect();
        let slowest = inputs.iter().map(|&input| streams[input].rate.as_fps()).fold(90.0, f64::min);
        let n_rates = RATES.iter().filter(|&&fps| fps <= slowest).count();
        let mut built = reading(&inputs, model(task, RATES[self.fps.index(n_rates)]));
        built.relative_deadline = self.deadline_ms.map(span_ms);
        let mut known = Vec::new();
        for (upstream, probability) in &self.dependencies {
            let Some(&upstream) = earlier.get(upstream.index(earlier.len().max(1))) else {
                continue;
            };
            if !known.contains(&upstream) {
                known.push(upstream);
                built = match probability {
                    Some(probability) => triggered_by(upstream, *probability, built),
                    None => after(upstream, built),
                };
            }
        }
        built
    }
}

/// Models in the order of `places`: a model may depend on those that come earlier in it, wherever
/// they stand in the scenario.
fn assemble(streams: Vec<InputStream>, drafts: &[Draft], places: &[usize]) -> Scenario {
    let mut models = vec![model("", 1.0); drafts.len()];
    for (position, (&place, draft)) in places.iter().zip(drafts).enumerate() {
        models[place] = draft.build(&format!("model {place}"), &streams, &places[..position]);
    }
    scenario(streams, models)
}

prop_compose! {
    fn any_scenario()(
        (drafts, places) in (1usize..7).prop_flat_map(|n| (
            prop::collection::vec(draft(), n),
            Just((0..n).collect::<Vec<_>>()).prop_shuffle(),
        )),
        streams in streams(),
    ) -> Scenario {
        assemble(streams, &drafts, &places)
    }
}

prop_compose! {
    fn load()(
        seed in 0u64..1000,
        replication in 0u64..3,
        frame_mapping in select(&[FrameMapping::Floor, FrameMapping::Ceil, FrameMapping::Nominal]),
        random_phase in any::<bool>(),
    ) -> LoadSettings {
        let duration = span_ms(400.0);
        LoadSettings { duration, seed, replication, frame_mapping, random_phase, ..Default::default() }
    }
}

prop_compose! {
    fn rules()(
        deadline_miss in select(&[DeadlineMiss::Finish, DeadlineMiss::Finish, DeadlineMiss::Abort]),
        grace_ms in select(&[0.0, 0.0, 25.0]),
        replace_by_newer in prop::bool::weighted(0.3),
    ) -> EngineSettings {
        let mut engine = EngineSettings::default();
        (engine.deadline_miss, engine.grace) = (deadline_miss, span_ms(grace_ms));
        engine.replace_by_newer = replace_by_newer;
        engine
    }
}

/// Costs on one to four accelerators: latencies up to 60 ms (some zero), energies up to 2 J.
fn costs(n_models: usize) -> impl Strategy<Value = Vec<Vec<Cost>>> {
    let latency_ns = prop_oneof![1 => Just(0), 20 => 1u64..60_000_000];
    let cost = (latency_ns, 0.0..2e9);
    (1usize..5).prop_flat_map(move |n| {
        prop::collection::vec(prop::collection::vec(cost.clone(), n), n_models)
    })
}

prop_compose! {
    fn any_plan()(
        scenario in any_scenario(),
        costs in costs(6),
        load in load(),
        engine in rules(),
        scheduler in 0..schedule::ALL.len(),
    ) -> Case {
        let costs = table(&costs[..scenario.models().len()]);
        let scheduler = Policy::from_entry(&schedule::ALL[scheduler]);
        let Case { plan, costs } = plan(scenario, costs);
        Case { plan: Plan { load, engine, scheduler, ..plan }, costs }
    }
}

/// Start and end, if the request was executed.
fn interval(record: &Record) -> Option<(SimTime, SimTime)> {
    match record.outcome {
        Outcome::Executed { start, end, .. } => Some((start, end)),
        _ => None,
    }
}

fn ids(requests: &RequestStream) -> impl Iterator<Item = RequestId> {
    (0..requests.requests().len()).map(RequestId::new)
}

/// When a request is given up if it has not started.
fn expiry(plan: &Case, record: &Record) -> SimTime {
    (record.deadline + plan.engine.grace).max(record.arrival)
}

/// When the request could have started: its inputs and all its upstream results were there.
fn ready_at(requests: &RequestStream, trace: &Trace, id: RequestId) -> SimTime {
    let upstream = requests.upstream(id).iter().filter_map(|&id| interval(trace.record(id)));
    upstream.map(|(_, end)| end).fold(trace.record(id).arrival, SimTime::max)
}

/// When the first of the requests that this one needs was dropped.
fn first_upstream_drop(requests: &RequestStream, trace: &Trace, id: RequestId) -> Option<SimTime> {
    let upstream = requests.upstream(id).iter();
    let drops = upstream.filter_map(|&id| match trace.record(id).outcome {
        Outcome::Dropped { at, .. } => Some(at),
        _ => None,
    });
    drops.min()
}

/// The same scenario, every model under another name.
fn renamed(scenario: &Scenario) -> Scenario {
    let models = scenario.models().iter().enumerate();
    let rename = |(index, active): (usize, &ActiveModel)| {
        let name = format!("{}", 99 - index);
        let mut renamed = active.clone();
        renamed.unit = model(&name, 1.0).unit;
        renamed
    };
    Scenario::new("renamed", scenario.streams().to_vec(), models.map(rename).collect())
        .expect("names make no scenario bad")
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400,
        rng_seed: proptest::test_runner::RngSeed::Fixed(20230604),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_engine_agrees_with_the_rules_played_one_by_one(plan in any_plan()) {
        let mut plan = by("latency-greedy", plan);
        plan.engine.deadline_miss = DeadlineMiss::Finish;
        plan.engine.replace_by_newer = false;
        plan.load.duration = span_ms(150.0);
        let requests = requests(&plan);
        let outcomes: Vec<_> = trace(&plan).records().iter().map(|r| r.outcome).collect();
        prop_assert_eq!(outcomes, slow_engine::play(&plan, &requests));
    }

    /// Requests that are made as the engine takes them, and results that leave one by one.
    #[test]
    fn a_run_without_a_stream_is_that_of_its_stream(plan in any_plan()) {
        let clairvoyant = plan.scheduler.is_clairvoyant();
        let plan = if clairvoyant { by("edf:granularity=layer", plan) } else { plan };
        let mut left = Trace::default();
        let feed = plan.feed().expect("the load is small");
        let events = engine::play(&plan, &plan.costs, feed, &mut |entry| left.push(entry));
        let run = run(&plan);
        prop_assert_eq!(&left, &run.trace);
        prop_assert_eq!(events.map(|it| it.events), Ok(run.events));
        let card = score::score(&plan.scenario, &left, &plan.score);
        let mut scoring = Scoring::new(&plan.scenario, &plan.score, plan.load.duration);
        run.trace.entries().for_each(|entry| scoring.add(entry.record, entry.variant));
        prop_assert_eq!(scoring.scorecard(), card);
    }

    /// Appendix B.2, dependency condition: T_end of what a request depends on is not after its
    /// T_start.
    #[test]
    fn nothing_starts_before_what_it_depends_on_has_ended(plan in any_plan()) {
        let (requests, trace) = (requests(&plan), trace(&plan));
        for id in ids(&requests) {
            let Some((start, _)) = interval(trace.record(id)) else { continue };
            for &upstream in requests.upstream(id) {
                let ended = interval(trace.record(upstream)).map(|(_, end)| end);
                prop_assert!(ended.is_some_and(|end| end <= start), "{upstream:?} of {id:?}");
            }
        }
    }

    /// Appendix B.2, hardware occupancy condition.
    #[test]
    fn no_accelerator_runs_two_requests_at_once(plan in any_plan()) {
        for executions in occupancy(&trace(&plan), plan.system.accelerators().len()) {
            for pair in executions.windows(2) {
                prop_assert!(pair[0].1 <= pair[1].0, "{pair:?}");
            }
        }
    }

    #[test]
    fn every_released_frame_ends_in_exactly_one_way(plan in any_plan()) {
        let trace = trace(&plan);
        let mut frames: Vec<_> = trace.records().iter().map(|r| (r.model, r.frame)).collect();
        frames.sort();
        let released = plan.scenario.models().iter().zip(plan.scenario.model_ids());
        let expected: Vec<_> = released
            .flat_map(|(model, id)| {
                let n_frames = model.rate.frames_before(plan.load.duration) as usize;
                (0..n_frames).map(move |frame| (id, xrsim::ids::FrameId::new(frame)))
            })
            .collect();
        prop_assert_eq!(frames, expected);
        let counts = plan.score(&trace).total.counts;
        prop_assert_eq!(counts.requests, counts.executed + counts.dropped);
        let ended = counts.requests + counts.not_triggered;
        prop_assert_eq!(ended, trace.records().len() as u64);
        let lost = |record: &Record| matches!(record.outcome, Outcome::Lost { .. });
        prop_assert!(!trace.records().iter().any(lost));
    }

    #[test]
    fn every_outcome_follows_from_the_request_and_the_rules(plan in any_plan()) {
        let (requests, trace) = (requests(&plan), trace(&plan));
        for id in ids(&requests) {
            let (request, record) = (requests.request(id), trace.record(id));
            let expiry = expiry(&plan, record);
            prop_assert_eq!(request.triggered, record.outcome != Outcome::NotTriggered);
            match record.outcome {
                Outcome::Executed { accelerator, start, end, energy } => {
                    prop_assert!(ready_at(&requests, &trace, id) <= start && start < expiry);
                    prop_assert_eq!(end - start, plan.costs.on(record.model, accelerator).latency());
                    prop_assert_eq!(energy, plan.costs.on(record.model, accelerator).energy());
                    prop_assert!(plan.engine.deadline_miss == DeadlineMiss::Finish || end <= expiry);
                }
                Outcome::Dropped { at, reason, energy, attempt } => {
                    prop_assert!(record.arrival <= at && at <= expiry);
                    let on_time = matches!(reason, DropReason::Deadline | DropReason::Aborted);
                    prop_assert!(!on_time || at == expiry);
                    if reason == DropReason::Upstream {
                        let gone = first_upstream_drop(&requests, &trace, id);
                        prop_assert_eq!(gone.map(|gone| gone.max(record.arrival)), Some(at));
                    }
                    prop_assert!(energy.get() == 0.0 || reason == DropReason::Aborted);
                    prop_assert_eq!(attempt.is_some(), reason == DropReason::Aborted);
                }
                Outcome::NotTriggered | Outcome::NotCaptured(_) => {}
                Outcome::Lost { .. } => prop_assert!(false, "lost"),
            }
        }
    }

    /// Nothing waits while something is idle, unless the policy says that it may.
    #[test]
    fn accelerators_are_busy_while_a_request_waits(plan in any_plan()) {
        prop_assume!(plan.engine.deadline_miss == DeadlineMiss::Finish && plan.scheduler.is_work_conserving());
        let (requests, trace) = (requests(&plan), trace(&plan));
        let busy = occupancy(&trace, plan.system.accelerators().len());
        for id in ids(&requests) {
            let Some((start, _)) = interval(trace.record(id)) else { continue };
            let ready = ready_at(&requests, &trace, id);
            for executions in &busy {
                let mut covered = ready;
                for &(from, to) in executions {
                    if from <= covered && covered < start {
                        covered = covered.max(to);
                    }
                }
                prop_assert!(covered >= start, "{id:?} waits from {ready:?} to {start:?}");
            }
        }
    }

    #[test]
    fn every_score_lies_between_zero_and_one(plan in any_plan()) {
        let trace = trace(&plan);
        let card = plan.score(&trace);
        let unit = 0.0..=1.0;
        for scores in card.models.iter() {
            for score in [scores.realtime, scores.energy, scores.accuracy, scores.qoe] {
                prop_assert!(unit.contains(&score), "{scores:?}");
            }
            prop_assert!(unit.contains(&scores.score));
            // Rounding of two quotients against one.
            prop_assert!(scores.score <= scores.score_executed_mean * (1.0 + 1e-12));
            prop_assert!(scores.score_executed_mean <= 1.0);
        }
        for score in [card.total.realtime, card.total.energy, card.total.accuracy, card.total.qoe, card.total.score] {
            prop_assert!(unit.contains(&score), "{card:?}");
        }
        for score in xrsim::score::inferences(&plan.scenario, &trace, &plan.score).iter().flatten() {
            let product = score.realtime * score.energy * score.accuracy;
            prop_assert_eq!(score.inference, product);
            prop_assert!(unit.contains(&score.inference));
        }
    }

    /// Sums are taken model by model in one place and over all records in the other: they differ by
    /// rounding, at most 10^-15 for each of some hundred additions.
    #[test]
    fn the_energy_of_a_run_is_the_sum_of_its_parts(plan in any_plan()) {
        let trace = trace(&plan);
        let parts = trace.records().iter().map(|record| match record.outcome {
            Outcome::Executed { energy, .. } | Outcome::Dropped { energy, .. } => energy.get(),
            Outcome::NotTriggered | Outcome::NotCaptured(_) | Outcome::Lost { .. } => 0.0,
        });
        let (sum, total): (f64, _) = (parts.sum(), plan.score(&trace).total.counts.energy.get());
        prop_assert!((sum - total).abs() <= 1e-12 * total, "{sum} {total}");
    }

    #[test]
    fn names_of_models_change_nothing(plan in any_plan()) {
        let mut other = plan.clone();
        other.scenario = renamed(&plan.scenario).into();
        let (first, second) = (trace(&plan), trace(&other));
        prop_assert_eq!(plan.score(&first), other.score(&second));
        prop_assert_eq!(first, second);
    }

    /// Common random numbers: what arrives, and what is asked for, is the same for every system,
    /// policy and rule.
    #[test]
    fn the_load_knows_nothing_of_the_system(plan in any_plan(), other in any_plan()) {
        let Plan { scenario, load, .. } = plan.plan.clone();
        let costs = table_ms(&vec![[1.0, 2.0]; scenario.models().len()]).into();
        let other =
            Case { plan: Plan { scenario, load, system: system(2).into(), ..other.plan }, costs };
        let of = |plan: &Case| {
            let trace = trace(plan);
            let request = |r: &Record| (r.arrival, r.deadline, r.outcome == Outcome::NotTriggered);
            trace.records().iter().map(request).collect::<Vec<_>>()
        };
        prop_assert_eq!(of(&plan), of(&other));
    }
}
