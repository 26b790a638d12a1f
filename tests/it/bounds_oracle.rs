//! Upper bounds of scores beside the best of all schedules of tiny scenarios, found one by one.

use crate::support::runs;

use std::sync::Arc;

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use runs::*;
use xrsim::bounds::{Bounds, Class};
use xrsim::cost::{CostError, CostTable, Infeasible, LayerCost, NetworkCost, PairNames};
use xrsim::engine;
use xrsim::load::RequestStream;
use xrsim::schedule::{self, Policy};
use xrsim::score::energy::energy;
use xrsim::score::realtime::realtime;
use xrsim::units::{Cycles, Millijoules, SimSpan, SimTime};

/// A step of a model on one accelerator: time \[ns\] and energy \[mJ\].
type Step = (u64, f64);

/// A tiny scenario: at most two layers a model, at most three accelerators.
pub(crate) struct Tiny {
    pub(crate) case: Case,
    pub(crate) requests: RequestStream,
    /// At `[model][accelerator][layer]`.
    pub(crate) steps: Vec<Vec<Vec<Step>>>,
    /// Whether a model runs on an accelerator, at `[model][accelerator]`.
    may_run: Vec<Vec<bool>>,
}

impl Tiny {
    /// A scenario of at most `n_requests` requests whose models have `n_layers` layers.
    pub(crate) fn random(draws: &mut ChaCha8Rng, n_layers: usize, n_requests: usize) -> Self {
        loop {
            let n_models = draws.random_range(1..4);
            let n_accelerators = draws.random_range(1..4);
            let models = (0..n_models).map(|index| {
                let rates = [10.0, 30.0, 45.0, 60.0];
                let rate = rates[draws.random_range(0..rates.len())];
                let deadline = span_ms(draws.random_range(2.0..20.0));
                let model = model(&format!("model {index}"), rate).with_relative_deadline(deadline);
                match index > 0 && draws.random_bool(0.4) {
                    true => after(draws.random_range(0..index), model),
                    false => model,
                }
            });
            let scenario = scenario(vec![], models.collect());
            let steps: Vec<Vec<Vec<Step>>> = (0..n_models)
                .map(|_| {
                    let heavy = draws.random_range(1.0..8.0);
                    (0..n_accelerators)
                        .map(|_| {
                            (0..n_layers)
                                .map(|_| {
                                    let ms = heavy * draws.random_range(0.3..2.0) / n_layers as f64;
                                    ((ms * 1e6) as u64, draws.random_range(1.0..400.0))
                                })
                                .collect()
                        })
                        .collect()
                })
                .collect();
            let may_run = vec![vec![true; n_accelerators]; n_models];
            let plan = plan(scenario, costs(&steps, &may_run));
            let case = lasting_ms(draws.random_range(5.0..60.0), plan);
            let requests = runs::requests(&case);
            if (2..=n_requests).contains(&requests.requests().len()) {
                return Self { case, requests, steps, may_run };
            }
        }
    }

    /// The same scenario, whose models run on some of the accelerators only, each on at least one.
    fn restricted(mut self, draws: &mut ChaCha8Rng) -> Self {
        for row in &mut self.may_run {
            row.fill_with(|| draws.random_bool(0.5));
            let at = draws.random_range(0..row.len());
            row[at] = true;
        }
        self.case.costs = Arc::new(costs(&self.steps, &self.may_run));
        self
    }

    /// The bounds of a class, from the loosest to the tightest.
    fn bounds(&self, class: Class) -> [f64; 3] {
        let Self { case, requests, .. } = self;
        Bounds::compute(&case.scenario, &case.costs, requests, &case.score, class).values()
    }
}

fn costs(steps: &[Vec<Vec<Step>>], may_run: &[Vec<bool>]) -> CostTable {
    let network = |layers: &Vec<Step>| {
        let time = layers.iter().map(|it| it.0).sum();
        let layer = |&(cycles, energy_mj): &Step| LayerCost {
            cycles,
            energy_nj: energy_mj * 1e6,
            ..LayerCost::default()
        };
        Arc::new(NetworkCost {
            layers: layers.iter().map(layer).collect(),
            cycles: Cycles::new(time),
            latency: SimSpan::from_ns(time),
            energy_nj: layers.iter().map(|it| it.1 * 1e6).sum(),
            choices: None,
            spread: None,
        })
    };
    let names = PairNames {
        network: "it".into(),
        accelerator: "here".into(),
        dataflow: "any".into(),
        pes: 1,
    };
    let excluded = || CostError { names: names.clone(), reason: Infeasible::NotMeasured };
    let cell = |(layers, may): (_, &bool)| may.then(|| network(layers)).ok_or_else(excluded);
    let cells = steps.iter().flatten().zip(may_run.iter().flatten()).map(cell);
    CostTable::offering(cells.collect(), may_run[0].len()).expect("every model runs somewhere")
}

/// How far a request has come.
#[derive(Clone, Copy)]
struct Stage {
    /// Steps that have ended.
    done: usize,
    /// End of the last of them.
    end: u64,
    energy_mj: f64,
    /// Where it began.
    home: usize,
}

/// All schedules of a tiny scenario: in the order of starts, any step of any request that can be next, on any accelerator, as
/// early as it can be after those before it.
struct Schedules<'a> {
    tiny: &'a Tiny,
    /// Whether a request may change its accelerator between two steps.
    moves: bool,
    /// Contribution of a perfect request to the score.
    weights: Vec<f64>,
    stages: Vec<Stage>,
    free: Vec<u64>,
    best: f64,
}

impl<'a> Schedules<'a> {
    fn best(tiny: &'a Tiny, moves: bool) -> f64 {
        let all = tiny.requests.requests();
        let n_models = tiny.steps.len();
        let of_model = |model| all.iter().filter(|it| it.model == model).count();
        let with_frames =
            tiny.case.scenario.model_ids().filter(|&model| of_model(model) > 0).count();
        let weight = |model| 1.0 / (of_model(model) * with_frames) as f64;
        assert!(with_frames <= n_models);
        let stage = Stage { done: 0, end: 0, energy_mj: 0.0, home: 0 };
        let mut schedules = Self {
            tiny,
            moves,
            weights: all.iter().map(|it| weight(it.model)).collect(),
            stages: vec![stage; all.len()],
            free: vec![0; tiny.steps[0].len()],
            best: 0.0,
        };
        schedules.extend(0.0, 0);
        schedules.best
    }

    fn value(&self, index: usize, end: u64, energy_mj: f64) -> f64 {
        let settings = &self.tiny.case.score;
        let deadline = self.tiny.requests.requests()[index].deadline;
        self.weights[index]
            * realtime(SimTime::from_ns(end), deadline, settings.k_per_ms)
            * energy(Millijoules::new(energy_mj), settings.energy_max)
    }

    fn n_steps(&self, index: usize) -> usize {
        self.tiny.steps[self.tiny.requests.requests()[index].model.index()][0].len()
    }

    /// The most that requests which have not ended can add, if nothing is in their way.
    fn rest(&self, from: u64) -> f64 {
        let of = |index: usize| {
            let Stage { done, end, energy_mj, .. } = self.stages[index];
            let request = &self.tiny.requests.requests()[index];
            let steps = &self.tiny.steps[request.model.index()];
            let left = done..self.n_steps(index);
            let least = |of: &dyn Fn(Step) -> f64| -> f64 {
                let step = |layer: usize| {
                    steps.iter().map(|it| of(it[layer])).fold(f64::INFINITY, f64::min)
                };
                left.clone().map(step).sum()
            };
            let start = request.arrival.ns().max(end).max(from);
            let ends = start + least(&|step| step.0 as f64) as u64;
            match left.is_empty() {
                true => 0.0,
                false => self.value(index, ends, energy_mj + least(&|step| step.1)),
            }
        };
        (0..self.stages.len()).map(of).sum()
    }

    fn extend(&mut self, sum: f64, last_start: u64) {
        self.best = self.best.max(sum);
        if sum + self.rest(last_start) <= self.best * (1.0 + 1e-13) {
            return;
        }
        for index in 0..self.stages.len() {
            let before = self.stages[index];
            let n_steps = self.n_steps(index);
            if before.done == n_steps {
                continue;
            }
            let request = self.tiny.requests.requests()[index];
            let upstream = self.tiny.requests.upstream(xrsim::ids::RequestId::new(index)).iter();
            let ends: Option<Vec<u64>> = upstream
                .map(|up| {
                    let stage = &self.stages[up.index()];
                    (stage.done == self.n_steps(up.index())).then_some(stage.end)
                })
                .collect();
            let Some(ends) = ends else { continue };
            let ready = ends.into_iter().fold(request.arrival.ns().max(before.end), u64::max);
            for accelerator in 0..self.free.len() {
                if before.done > 0 && !self.moves && accelerator != before.home {
                    continue;
                }
                if !self.tiny.may_run[request.model.index()][accelerator] {
                    continue;
                }
                let free = self.free[accelerator];
                let start = ready.max(free);
                let is_dropped = before.done == 0 && start >= request.deadline.ns();
                if start < last_start || is_dropped {
                    continue;
                }
                let (time, spent) =
                    self.tiny.steps[request.model.index()][accelerator][before.done];
                let stage = Stage {
                    done: before.done + 1,
                    end: start + time,
                    energy_mj: before.energy_mj + spent,
                    home: if before.done == 0 { accelerator } else { before.home },
                };
                let gain = match stage.done == n_steps {
                    true => self.value(index, stage.end, stage.energy_mj),
                    false => 0.0,
                };
                self.free[accelerator] = stage.end;
                self.stages[index] = stage;
                self.extend(sum + gain, start);
                self.free[accelerator] = free;
                self.stages[index] = before;
            }
        }
    }
}

/// How bounds are beside the optimum, of a number of scenarios.
#[derive(Debug, Default)]
struct Count {
    below: u32,
    within: u32,
    n: u32,
    gaps: Vec<f64>,
}

impl Count {
    fn add(&mut self, bound: f64, optimum: f64) {
        self.n += 1;
        self.below += u32::from(bound < optimum * (1.0 - 1e-12));
        self.within += u32::from(bound <= 1.01 * optimum + 1e-9);
        self.gaps.push((bound - optimum) / optimum.max(1e-9));
    }

    fn worst(&self) -> f64 {
        self.gaps.iter().copied().fold(0.0, f64::max)
    }
}

/// 300 scenarios for each class: half of the models in one layer, half in two. The optimum of every scenario is below its
/// bounds; the tightest is within 1 % of it in at least nine of ten.
#[test]
fn bounds_are_near_the_best_of_all_schedules_and_never_below() {
    let mut draws = ChaCha8Rng::seed_from_u64(20240901);
    let mut counts = [[Count::default(), Count::default()], [Count::default(), Count::default()]];
    let mut n_moving = 0;
    for index in 0..300 {
        let n_layers = 1 + index % 2;
        let tiny = Tiny::random(&mut draws, n_layers, 6 - n_layers);
        let [kept, moved] = [false, true].map(|moves| Schedules::best(&tiny, moves));
        assert!(kept <= moved * (1.0 + 1e-12), "{index}");
        assert!(n_layers == 2 || kept == moved, "{index}: nothing can move");
        n_moving += u32::from(moved > kept * 1.001);
        for (class, optimum) in [(Class::Keeping, kept), (Class::Any, moved)] {
            let bounds = tiny.bounds(class);
            for bound in bounds {
                assert!(
                    bound >= optimum * (1.0 - 1e-12),
                    "{index}, {class:?}: {bounds:?} {optimum}"
                );
            }
            counts[n_layers - 1][class as usize].add(bounds[2], optimum);
        }
        if n_layers == 1 {
            assert_eq!(tiny.bounds(Class::Keeping), tiny.bounds(Class::Any), "{index}");
        }
    }
    for class in [Class::Keeping, Class::Any] {
        let of = |layers: usize| &counts[layers][class as usize];
        for layers in 0..2 {
            let Count { below, within, n, .. } = of(layers);
            let worst = 100.0 * of(layers).worst();
            println!(
                "{class:?}, {} layers: {below} below, {within} of {n} within 1 %, worst {worst:.1} %",
                layers + 1
            );
        }
        let within = of(0).within + of(1).within;
        assert!(within >= 270, "{class:?}: {within} of 300");
    }
    assert!(n_moving > 20, "{n_moving}");
}

/// The simulator agrees: no scheduler is above the optimum of its class.
#[test]
fn no_scheduler_exceeds_the_best_of_all_schedules() {
    let mut draws = ChaCha8Rng::seed_from_u64(77);
    for index in 0..60 {
        let tiny = Tiny::random(&mut draws, 1 + index % 2, 4);
        let [kept, moved] = [false, true].map(|moves| Schedules::best(&tiny, moves));
        for entry in schedule::ALL {
            let case = tiny.case.clone().scheduled(Policy::from_entry(entry));
            let optimum = match case.scheduler.class() {
                Class::Keeping => kept,
                Class::Any => moved,
            };
            let run = engine::run(&case, &case.costs, &tiny.requests).expect("it does not fail");
            let score = case.score(&run.trace).total.score_executed_mean;
            assert!(score <= optimum * (1.0 + 1e-12), "{index}, {entry:?}: {score} {optimum}");
        }
    }
}

/// Models run on some accelerators only. Bounds are above the best of all schedules that keep to this, and every scheduler
/// keeps to it.
#[test]
fn bounds_and_schedulers_keep_to_the_accelerators_of_models() {
    let mut draws = ChaCha8Rng::seed_from_u64(1128);
    let (mut n_restricted, mut counts) = (0, [Count::default(), Count::default()]);
    for index in 0..120 {
        let tiny = Tiny::random(&mut draws, 1 + index % 2, 4).restricted(&mut draws);
        n_restricted += u32::from(!tiny.case.costs.is_complete());
        let [kept, moved] = [false, true].map(|moves| Schedules::best(&tiny, moves));
        for (class, optimum) in [(Class::Keeping, kept), (Class::Any, moved)] {
            let bounds = tiny.bounds(class);
            for bound in bounds {
                assert!(bound >= optimum * (1.0 - 1e-12), "{index}: {bounds:?} {optimum}");
            }
            counts[class as usize].add(bounds[2], optimum);
        }
        for entry in schedule::ALL {
            let case = tiny.case.clone().scheduled(Policy::from_entry(entry));
            let optimum = match case.scheduler.class() {
                Class::Keeping => kept,
                Class::Any => moved,
            };
            let run = engine::run(&case, &case.costs, &tiny.requests).expect("it does not fail");
            for entry in run.trace.entries() {
                let mut places = entry.busy_intervals().map(|it| it.accelerator.index());
                let may_run = &tiny.may_run[entry.record.model.index()];
                assert!(places.all(|at| may_run[at]), "{index}, {:?}", case.scheduler);
            }
            let score = case.score(&run.trace).total.score_executed_mean;
            assert!(score <= optimum * (1.0 + 1e-12), "{index}, {entry:?}: {score} {optimum}");
        }
    }
    assert!(n_restricted > 40, "{n_restricted}");
    for Count { within, n, .. } in counts {
        assert!(10 * within >= 9 * n, "{within} of {n} within 1 %");
    }
}
