//! Upper bounds of scores: by hand, and never exceeded by any policy.

use crate::support::{n_cases, runs};

use std::sync::Arc;

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use runs::*;
use xrsim::bounds::window::{MAX_FRAMES, WindowError, Windows};
use xrsim::bounds::{Bound, Bounds, Class, gap};
use xrsim::cost::{CostTable, LayerCost, NetworkCost};
use xrsim::engine;
use xrsim::ids::RequestId;
use xrsim::load::{Request, RequestStream};
use xrsim::plan::DeadlineMiss;
use xrsim::scenario::{ActiveModel, InputStream, Scenario};
use xrsim::schedule::{self, Granularity, Options, Policy, Preemption};
use xrsim::score::energy::energy;
use xrsim::score::realtime::realtime;
use xrsim::score::{NeverTriggered, ScoreSettings};
use xrsim::units::{Cycles, Millijoules, SimSpan, SimTime};

fn bounds(plan: &Case, class: Class) -> Bounds {
    Bounds::compute(&plan.scenario, &plan.costs, &requests(plan), &plan.score, class)
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
}

/// Energy of 1 mJ of 1500: the value of a frame that is in time by far.
const VALUE: f64 = 1499.0 / 1500.0;

/// Score granted to a late frame: RtScore half a millisecond and a nanosecond after the deadline.
fn late() -> f64 {
    VALUE / (1.0 + (15.0f64 * 0.500_001).exp())
}

#[test]
fn a_frame_that_is_alone_reaches_every_bound() {
    let plan = lasting_ms(10.0, plan(scenario(vec![], vec![model("A", 60.0)]), table_ms(&[[2.0]])));
    let bounds = bounds(&plan, Class::Keeping);
    for bound in bounds.values() {
        assert!((VALUE..VALUE + 1e-14).contains(&bound), "{bound}: no more than rounding above");
    }
    assert_eq!(bounds.tightest().0, Bound::Isolation);
    assert_eq!(plan.score(&trace(&plan)).total.score_executed_mean, VALUE);
}

/// 60 frames of 20 ms at 60 FPS are 1200 ms of work in 1000.5 ms. On an idle system each would be late
/// by 3.33 ms and worth less than a late frame is granted; with a deadline of 33 ms they are worth all.
/// The last deadline is then at 59/60 s + 33 ms.
#[test]
fn a_full_accelerator_bounds_the_frames_that_it_can_run() {
    let slow = model("A", 60.0).with_relative_deadline(span_ms(33.0));
    let plan = plan(scenario(vec![], vec![slow]), table_ms(&[[20.0]]));
    let bounds = bounds(&plan, Class::Keeping);
    let horizon_ms = 59_000.0 / 60.0 + 33.5;
    let fits = horizon_ms / 20.0 / 60.0;
    let expected = fits * VALUE + (1.0 - fits) * late();
    // Frame 59 starts at 983333333 ns, a third of a nanosecond early.
    assert!((bounds.pooled_capacity - expected).abs() < 1e-8);
    assert!((bounds.linear_program - expected).abs() < 1e-8);
    close(bounds.isolation, VALUE);
}

/// Two accelerators, one of them so slow that nothing ends in time there: pooled they have room for
/// every frame, but the program sees that it is all on the wrong one.
#[test]
fn the_program_knows_which_accelerator_is_fast() {
    let model = model("A", 60.0).with_relative_deadline(span_ms(33.0));
    let plan = plan(scenario(vec![], vec![model]), table_ms(&[[20.0, 50.0]]));
    let bounds = bounds(&plan, Class::Keeping);
    let fits = (59_000.0 / 60.0 + 33.5) / 20.0 / 60.0;
    close(bounds.pooled_capacity, VALUE);
    let expected = fits * VALUE + (1.0 - fits) * late();
    assert!((bounds.linear_program - expected).abs() < 1e-6, "{bounds:?}");
}

/// 30 frames of A at 32 or 64 ms and, each after one of A, 30 frames of B at 1 ms, on one accelerator
/// that has 29/30 s + 100.5 ms = 1067.17 ms. At 32 ms everything fits. At 64 ms there is room for
/// 1037.17/64 frames of A beside all of B, but only for 1067.17/65 pairs.
#[test]
fn the_program_knows_that_a_frame_needs_its_upstream() {
    let of = |latency_ms: f64| {
        let slow = model("A", 30.0).with_relative_deadline(span_ms(100.0));
        let fast = after(0, model("B", 30.0).with_relative_deadline(span_ms(100.0)));
        let costs = table_ms(&[[latency_ms], [1.0]]);
        bounds(&plan(scenario(vec![], vec![slow, fast]), costs), Class::Keeping)
    };
    close(of(32.0).linear_program, VALUE);
    let horizon_ms = 29_000.0 / 30.0 + 100.5;
    let bounds = of(64.0);
    let alone = (horizon_ms - 30.0) / 64.0 / 30.0;
    let pairs = horizon_ms / 65.0 / 30.0;
    let of_shares = |a: f64, b: f64| ((a + b) * VALUE + (2.0 - a - b) * late()) / 2.0;
    assert!((bounds.pooled_capacity - of_shares(alone, 1.0)).abs() < 1e-8, "{bounds:?}");
    assert!((bounds.linear_program - of_shares(pairs, pairs)).abs() < 1e-6, "{bounds:?}");
}

fn layer(cycles: u64, energy_nj: f64) -> LayerCost {
    LayerCost { cycles, energy_nj, ..LayerCost::default() }
}

/// Costs of models of two layers: 1 and 9 ms on one accelerator, 9 and 1 ms on the other.
fn crossed(n_models: usize) -> CostTable {
    let layer = |ms: u64| layer(ms * 1_000_000, 500_000.0);
    let network = |first, second| {
        Arc::new(NetworkCost {
            layers: vec![layer(first), layer(second)],
            cycles: Cycles::new(10_000_000),
            latency: span_ms(10.0),
            energy_nj: 1e6,
            choices: None,
            spread: None,
        })
    };
    let row = || [network(1, 9), network(9, 1)];
    CostTable::new((0..n_models).flat_map(|_| row()).collect(), 2)
}

/// Some models of one frame each that is due after `deadline_ms`.
fn single_frames(n_models: usize, deadline_ms: f64) -> Vec<ActiveModel> {
    let of = |index: usize| {
        model(&format!("model {index}"), 10.0).with_relative_deadline(span_ms(deadline_ms))
    };
    (0..n_models).map(of).collect()
}

/// 10 ms on either accelerator, 2 ms if it may change over; 5 ms are allowed.
#[test]
fn layers_that_may_move_are_bounded_by_their_own_best_accelerators() {
    let scenario = scenario(vec![], single_frames(1, 5.0));
    let plan = lasting_ms(50.0, plan(scenario, crossed(1)));
    assert!(bounds(&plan, Class::Keeping).isolation < 1e-30);
    for bound in bounds(&plan, Class::Any).values() {
        close(bound, VALUE);
    }
}

/// Twenty frames at once take 1 ms of each accelerator. In 20.5 ms both run all of them, in 10.5 ms 10.5.
/// The program takes a nanosecond of 1 ms as rounding.
#[test]
fn moving_layers_share_the_accelerators() {
    let of = |n: usize, deadline_ms| {
        let scenario = scenario(vec![], single_frames(n, deadline_ms));
        let plan = lasting_ms(50.0, plan(scenario, crossed(n)));
        bounds(&plan, Class::Any).linear_program
    };
    close(of(20, 20.0), VALUE);
    let expected = 0.525 * VALUE + 0.475 * late();
    assert!((of(20, 10.0) - expected).abs() < 2e-6, "{}", of(20, 10.0));
    // A few frames are not divided, and the second accelerator waits for the first one: the third frame would end after
    // 4 ms on both.
    assert!((of(4, 3.0) - (0.5 * VALUE + 0.5 * late())).abs() < 1e-6, "{}", of(4, 3.0));
}

#[test]
fn models_without_frames_enter_as_in_the_score() {
    let models = vec![model("A", 60.0), triggered_by(0, 0.0, model("B", 60.0))];
    let of = |never_triggered| {
        let mut plan = plan(scenario(vec![], models.clone()), table_ms(&[[2.0], [2.0]]));
        plan.score.never_triggered = never_triggered;
        let bounds = bounds(&plan, Class::Keeping);
        close(plan.score(&trace(&plan)).total.score_executed_mean, bounds.linear_program);
        bounds.linear_program
    };
    close(of(NeverTriggered::Excluded), VALUE);
    close(of(NeverTriggered::Zero), VALUE / 2.0);
    close(of(NeverTriggered::One), (VALUE + 1.0) / 2.0);
}

#[test]
fn the_gap_is_a_share_of_the_bound() {
    assert_eq!(gap(0.8, 0.6), (0.8 - 0.6) / 0.8);
    assert_eq!(gap(0.0, 0.0), 0.0);
}

/// A small random plan: contention, dependencies, triggers, jitter, warm-up, and every rule.
pub(crate) fn random_plan(draws: &mut ChaCha8Rng) -> Case {
    let streams = vec![InputStream {
        max_jitter: span_ms(draws.random_range(0.0..4.0)),
        initial_latency: span_ms(draws.random_range(0.0..4.0)),
        ..sensor("camera", 90.0)
    }];
    let n_models = draws.random_range(1..6);
    let n_accelerators = draws.random_range(1..5);
    let models = (0..n_models).map(|index| random_model(index, draws)).collect();
    let scenario = Scenario::new("test", streams, models).expect("the scenario is good");
    let heavy = draws.random_range(2.0..30.0);
    let costs = random_costs(n_models, n_accelerators, heavy, draws);
    let mut plan = lasting_ms(120.0, plan(scenario, costs));
    let pick =
        |options: &[f64], draws: &mut ChaCha8Rng| options[draws.random_range(0..options.len())];
    plan.load.seed = draws.random();
    plan.load.random_phase = draws.random_bool(0.3);
    plan.score = ScoreSettings {
        k_per_ms: pick(&[0.0, 0.2, 5.0, 15.0, 15.0, f64::INFINITY], draws),
        energy_max: Millijoules::new(pick(&[1500.0, 300.0], draws)),
        warm_up: span_ms(pick(&[0.0, 0.0, 35.0, 60.0], draws)),
        never_triggered: [NeverTriggered::Excluded, NeverTriggered::One, NeverTriggered::Zero]
            [draws.random_range(0..3)],
        ..ScoreSettings::default()
    };
    plan.engine.deadline_miss =
        [DeadlineMiss::Finish, DeadlineMiss::Abort][draws.random_range(0..2)];
    plan.engine.grace = span_ms(pick(&[0.0, 0.0, 20.0], draws));
    plan.engine.replace_by_newer = draws.random_bool(0.2);
    plan
}

fn random_model(index: usize, draws: &mut ChaCha8Rng) -> ActiveModel {
    let rates = [10.0, 30.0, 45.0, 60.0, 90.0];
    let mut built = model(&format!("model {index}"), rates[draws.random_range(0..rates.len())]);
    if draws.random_bool(0.7) {
        built = reading(&[0], built);
    }
    if draws.random_bool(0.3) {
        built.relative_deadline = Some(span_ms(draws.random_range(1.0..60.0)));
    }
    if index > 0 && draws.random_bool(0.5) {
        let upstream = draws.random_range(0..index);
        built = match draws.random_bool(0.5) {
            true => after(upstream, built),
            false => triggered_by(upstream, draws.random(), built),
        };
    }
    if index > 1 && built.dependencies.len() == 1 && draws.random_bool(0.2) {
        let upstream = (built.dependencies[0].upstream.index() + 1) % index;
        built = after(upstream, built);
    }
    built
}

/// Networks of one to four layers, up to about `heavy` milliseconds.
fn random_costs(
    n_models: usize,
    n_accelerators: usize,
    heavy: f64,
    draws: &mut ChaCha8Rng,
) -> CostTable {
    let mut networks = Vec::new();
    for _ in 0..n_models {
        let n_layers = draws.random_range(1..5);
        for _ in 0..n_accelerators {
            let layers: Vec<_> = (0..n_layers)
                .map(|_| {
                    let cycles = (draws.random_range(0.0..heavy) * 1e6) as u64 / n_layers;
                    layer(cycles, draws.random_range(0.0..1e9) / n_layers as f64)
                })
                .collect();
            let cycles = layers.iter().map(|layer| layer.cycles).sum();
            networks.push(Arc::new(NetworkCost {
                energy_nj: layers.iter().map(|layer| layer.energy_nj).sum(),
                layers,
                cycles: Cycles::new(cycles),
                latency: SimSpan::from_ns(cycles),
                choices: None,
                spread: None,
            }));
        }
    }
    CostTable::new(networks, n_accelerators)
}

/// A policy with random granularity, preemption and admission, as far as it leaves a choice.
pub(crate) fn random_policy(draws: &mut ChaCha8Rng) -> Policy {
    let entry = &schedule::ALL[draws.random_range(0..schedule::ALL.len())];
    let options = [
        ["granularity=model", "granularity=layer", "granularity=block,block_ms=1"],
        ["preemption=none", "preemption=none", "preemption=layer-boundary"],
        ["admission=none", "admission=none", "admission=hopeless"],
    ];
    let chosen: Vec<_> = options.iter().map(|all| all[draws.random_range(0..3)]).collect();
    let text = format!("{}:{}", entry.name, chosen.join(","));
    Policy::parse(&text).unwrap_or_else(|_| Policy::from_entry(entry))
}

#[test]
fn no_policy_exceeds_a_bound_on_random_instances() {
    let mut draws = ChaCha8Rng::seed_from_u64(20230604);
    let (mut tightest, mut n_whole, mut n_cut) = ([0; 3], 0, 0);
    let n_instances = n_cases(200, 10_000);
    for index in 0..n_instances {
        let plan = random_plan(&mut draws);
        let requests = requests(&plan);
        let of =
            |class| Bounds::compute(&plan.scenario, &plan.costs, &requests, &plan.score, class);
        let (whole, moving) = (of(Class::Keeping), of(Class::Any));
        for bounds in [whole, moving] {
            let [isolation, pooled, program] = bounds.values();
            assert!(program <= pooled && pooled <= isolation, "{index}: {bounds:?}");
        }
        for _ in 0..3 {
            let plan = plan.clone().scheduled(random_policy(&mut draws));
            let run = engine::run(&plan, &plan.costs, &requests).expect("the policy does not fail");
            let total = plan.score(&run.trace).total;
            let Options { granularity, preemption, .. } = plan.scheduler.options();
            let stays = granularity == Granularity::Model && preemption == Preemption::None;
            let bounds = if stays { whole } else { moving };
            n_whole += u32::from(stays);
            n_cut += u32::from(!run.trace.segments().is_empty());
            assert!(total.score <= total.score_executed_mean + 1e-12);
            for (bound, upper) in Bound::ALL.into_iter().zip(bounds.values()) {
                let (policy, score) = (plan.scheduler.label(), total.score_executed_mean);
                assert!(score <= upper, "{index}, {policy}: {score} {bound:?} {upper}");
            }
        }
        tightest[Bound::ALL.iter().position(|&b| b == whole.tightest().0).unwrap()] += 1;
    }
    // The instances are of every kind: each bound is the tightest of many.
    assert!(tightest.iter().all(|&n| n > n_instances / 50), "{tightest:?}");
    let many = 3 * n_instances / 10;
    assert!(n_whole > many && n_cut > many, "{n_whole} {n_cut}");
}

fn windows<'a>(plan: &'a Case, requests: &'a RequestStream) -> Windows<'a> {
    Windows::new(&plan.scenario, &plan.costs, requests, &plan.score, plan.engine.grace)
}

fn ids(requests: &RequestStream) -> Vec<RequestId> {
    (0..requests.requests().len()).map(RequestId::new).collect()
}

/// Two frames of 6 ms that are due at 10 ms, one of them worth less because it needs 301 mJ: it would
/// run second and end 2 ms late, for 1/(1 + e^30) of its worth, which counts as nothing.
#[test]
fn the_better_of_two_frames_runs() {
    let models = single_frames(2, 10.0);
    let costs = table(&[vec![(6_000_000, 301e6)], vec![(6_000_000, 1e6)]]);
    let plan = lasting_ms(50.0, plan(scenario(vec![], models), costs));
    let requests = requests(&plan);
    let optimum = windows(&plan, &requests).optimum(&ids(&requests)).expect("it is small");
    assert!((optimum.reached - VALUE / 2.0).abs() < 1e-12, "{optimum:?}");
    assert!((optimum.upper - VALUE / 2.0).abs() < 1e-10, "{optimum:?}");
    let runs: Vec<_> = optimum.runs.iter().map(|run| (run.request.index(), run.end)).collect();
    assert_eq!(runs, [(1, at_ms(6.0))]);
}

/// A and B, 5 ms each and due at 10 ms, and C, 1 ms after A: on two accelerators all are done in
/// time, whichever is where.
#[test]
fn frames_run_behind_what_they_need_and_beside_what_they_do_not() {
    let mut models = single_frames(3, 10.0);
    models[2] = after(0, models[2].clone());
    let plan = plan(scenario(vec![], models), table_ms(&[[5.0, 5.0], [5.0, 5.0], [1.0, 1.0]]));
    let plan = lasting_ms(50.0, plan);
    let requests = requests(&plan);
    let optimum = windows(&plan, &requests).optimum(&ids(&requests)).expect("it is small");
    close(optimum.reached, VALUE);
    let end = |index: usize| {
        let mut runs = optimum.runs.iter();
        runs.find(|run| run.request == RequestId::new(index)).expect("it runs").end
    };
    assert!(end(2) >= end(0) + span_ms(1.0), "{optimum:?}");
}

#[test]
fn a_window_that_is_too_large_says_so() {
    let models = single_frames(MAX_FRAMES + 1, 10.0);
    let costs = table(&vec![vec![(1_000_000, 1e6)]; MAX_FRAMES + 1]);
    let plan = lasting_ms(50.0, plan(scenario(vec![], models), costs));
    let requests = requests(&plan);
    let windows = windows(&plan, &requests);
    let error = windows.optimum(&ids(&requests)).expect_err("it is too large");
    assert_eq!(error, WindowError::TooManyFrames { frames: MAX_FRAMES + 1 });
    assert!(windows.optimum(&ids(&requests)[..4]).is_ok());
}

/// All schedules of some requests, one by one: any order, any accelerator, each frame as early as it
/// can be after those before it.
struct AllSchedules<'a> {
    plan: &'a Case,
    requests: &'a RequestStream,
    /// Contribution of one request to the score if RtScore, EnScore and AccScore are 1.
    weights: Vec<f64>,
    ends: Vec<Option<SimTime>>,
    free: Vec<SimTime>,
}

impl<'a> AllSchedules<'a> {
    fn best(plan: &'a Case, requests: &'a RequestStream) -> f64 {
        let triggered = || requests.requests().iter().filter(|request| request.triggered);
        let of_model = |model| triggered().filter(|request| request.model == model).count();
        let models = plan.scenario.model_ids().filter(|&model| of_model(model) > 0).count();
        let weight = |request: &Request| 1.0 / (of_model(request.model) * models) as f64;
        let all = requests.requests();
        let mut schedules = Self {
            plan,
            requests,
            weights: all.iter().map(weight).collect(),
            ends: vec![None; all.len()],
            free: vec![SimTime::ZERO; plan.costs.n_accelerators()],
        };
        schedules.extend()
    }

    /// The most that the requests still to be placed can add.
    fn extend(&mut self) -> f64 {
        let mut best = 0.0f64;
        for id in ids(self.requests) {
            let request = *self.requests.request(id);
            if !request.triggered || self.ends[id.index()].is_some() {
                continue;
            }
            let upstream = self.requests.upstream(id).iter();
            let ends: Option<Vec<_>> = upstream.map(|up| self.ends[up.index()]).collect();
            let Some(ready) = ends.map(|it| it.into_iter().fold(request.arrival, SimTime::max))
            else {
                continue;
            };
            for accelerator in accelerators(self.plan) {
                let free = self.free[accelerator.index()];
                let start = ready.max(free);
                if start >= (request.deadline + self.plan.engine.grace).max(request.arrival) {
                    continue;
                }
                let end = start + self.plan.costs.on(request.model, accelerator).latency();
                self.free[accelerator.index()] = end;
                self.ends[id.index()] = Some(end);
                let settings = &self.plan.score;
                let spent = self.plan.costs.on(request.model, accelerator).energy();
                let value = realtime(end, request.deadline, settings.k_per_ms)
                    * energy(spent, settings.energy_max);
                best = best.max(self.weights[id.index()] * value + self.extend());
                self.free[accelerator.index()] = free;
                self.ends[id.index()] = None;
            }
        }
        best
    }
}

/// A random plan of at most `n_frames` frames on at most `n_accelerators`.
fn random_window(draws: &mut ChaCha8Rng, n_frames: usize, n_accelerators: usize) -> Case {
    loop {
        let mut plan = random_plan(draws);
        plan.load.duration = span_ms(draws.random_range(5.0..40.0));
        plan.score.warm_up = SimSpan::ZERO;
        plan.score.never_triggered = NeverTriggered::Excluded;
        let n = requests(&plan).requests().len();
        if (3..=n_frames).contains(&n) && plan.costs.n_accelerators() <= n_accelerators {
            return plan;
        }
    }
}

/// The solver decides to 10^-9; values are of order 1.
#[test]
fn the_optimum_of_a_window_is_the_best_of_all_schedules() {
    let mut draws = ChaCha8Rng::seed_from_u64(8);
    let mut contended = 0;
    for (n_frames, n_accelerators, n_instances) in [(5, 4, 100), (6, 2, 60), (8, 1, 20)] {
        for index in 0..n_instances {
            let plan = random_window(&mut draws, n_frames, n_accelerators);
            let requests = requests(&plan);
            let found = windows(&plan, &requests).optimum(&ids(&requests)).expect("it is small");
            let expected = AllSchedules::best(&plan, &requests);
            let case = format!("{n_frames}, {index}: {found:?} {expected}");
            assert!((found.reached - expected).abs() < 2e-9, "{case}");
            assert!(found.upper > expected - 2e-9 && found.upper < expected + 2e-9, "{case}");
            contended += u32::from(expected < bounds(&plan, Class::Keeping).linear_program - 1e-6);
        }
    }
    assert!(contended > 15, "{contended}");
}

/// A run is a schedule of every window of its frames.
#[test]
fn no_policy_exceeds_the_optima_of_its_windows() {
    let mut draws = ChaCha8Rng::seed_from_u64(12);
    let mut tighter = 0;
    for index in 0..60 {
        let mut plan = random_plan(&mut draws);
        plan.load.duration = span_ms(60.0);
        let requests = requests(&plan);
        let bound = windows(&plan, &requests).bound(7).expect("windows of 7 are small");
        for entry in schedule::ALL {
            let plan = plan.clone().scheduled(Policy::from_entry(entry));
            let Options { granularity, preemption, .. } = plan.scheduler.options();
            if granularity != Granularity::Model || preemption != Preemption::None {
                continue;
            }
            let run = engine::run(&plan, &plan.costs, &requests).expect("the policy does not fail");
            let score = plan.score(&run.trace).total.score_executed_mean;
            assert!(score <= bound + 1e-8, "{index}, {entry:?}: {score} {bound}");
        }
        tighter += u32::from(bound < bounds(&plan, Class::Keeping).linear_program - 1e-6);
    }
    assert!(tighter > 0, "{tighter}");
}
