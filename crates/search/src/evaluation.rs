//! Runs and bounds of systems, each made once.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use xrsim_model::cancel;
use xrsim_model::cost::CostModel;
use xrsim_model::cost::library::CostLibrary;
use xrsim_model::parallel;
use xrsim_sim::bounds::{Class, Routes};
use xrsim_sim::load::RequestStream;
use xrsim_sim::plan::{Plan, Semantics};
use xrsim_sim::schedule::Policy;
use xrsim_sim::sweep::comparison::Sample;
use xrsim_sim::sweep::{self, RunError};

use super::goal::{N_SAMPLED, Sampled, sampled};
use super::space::Space;

/// A scenario of a search with the requests of its draws.
pub(super) struct Load {
    /// A run, whose system, scheduler and replication do not count.
    pub(super) plan: Plan,
    /// Requests of every draw; a single one if nothing is drawn.
    pub(super) requests: Vec<RequestStream>,
}

impl Load {
    /// The load of `plan` in `n_draws` draws.
    ///
    /// # Errors
    ///
    /// [`RunError::Load`] if there are too many requests.
    pub(super) fn new(plan: Plan, n_draws: u64) -> Result<Self, RunError> {
        let n_draws = if plan.drawn().any() { n_draws } else { 1 };
        let requests = match plan.semantics {
            Semantics::Principled => draws(&plan, 0..n_draws)?,
            // The artifact draws its own requests.
            Semantics::Mlsys2023 => vec![RequestStream::default(); n_draws as usize],
        };
        Ok(Self { plan, requests })
    }

    pub(super) fn n_draws(&self) -> usize {
        self.requests.len()
    }
}

/// Requests of these draws of `plan`.
pub(super) fn draws(plan: &Plan, draws: Range<u64>) -> Result<Vec<RequestStream>, RunError> {
    let draw = |replication| {
        let mut plan = plan.clone();
        plan.load.replication = replication;
        Ok(plan.requests()?)
    };
    draws.map(draw).collect()
}

/// Runs of one system in one scenario under one scheduler.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tested {
    /// Number of draws, from the first on.
    pub(super) done: u32,
    /// Sums over these draws.
    pub(super) sums: Sampled,
    /// Sums of squares.
    pub(super) squares: Sampled,
}

impl Default for Tested {
    fn default() -> Self {
        Self { done: 0, sums: [0.0; N_SAMPLED], squares: [0.0; N_SAMPLED] }
    }
}

impl Tested {
    /// Runs with these sums, then sums of squares; `None` unless there are as many as quantities.
    pub(super) fn of_sums(draws: (u32, u32), sums: &[f64]) -> Option<Self> {
        let (first, second) = sums.split_at_checked(N_SAMPLED)?;
        let done = draws.1.checked_sub(draws.0)?;
        Some(Self { done, sums: first.try_into().ok()?, squares: second.try_into().ok()? })
    }

    fn add(&mut self, run: &Tested) {
        self.done += run.done;
        for at in 0..N_SAMPLED {
            self.sums[at] += run.sums[at];
            self.squares[at] += run.squares[at];
        }
    }

    fn add_sample(&mut self, sample: &Sampled) {
        self.done += 1;
        let places = self.sums.iter_mut().zip(&mut self.squares);
        for ((sum, squares), value) in places.zip(sample) {
            *sum += value;
            *squares += value * value;
        }
    }

    /// Mean of a quantity over the draws so far.
    pub(super) fn mean(&self, at: usize) -> f64 {
        self.sums[at] / f64::from(self.done.max(1))
    }

    /// Squared standard error of that mean.
    pub(super) fn squared_error(&self, at: usize) -> f64 {
        let n = f64::from(self.done);
        if self.done < 2 {
            return 0.0;
        }
        let squares = self.squares[at] - self.sums[at] * self.sums[at] / n;
        // The difference of equal numbers is no spread.
        match squares > 1e-12 * self.squares[at] {
            true => squares / (n - 1.0) / n,
            false => 0.0,
        }
    }
}

/// One system in one scenario.
#[derive(Debug, Clone)]
pub(super) struct Scene {
    /// Bounds by class of schedulers.
    bounds: [SceneBounds; 2],
    /// By scheduler.
    pub(super) tested: Box<[Tested]>,
}

/// Bounds of one system in one scenario under the schedulers of a class.
#[derive(Debug, Clone, Default)]
pub(super) struct SceneBounds {
    /// UB1 of every draw, if computed.
    pub(super) isolation: Option<Box<[f64]>>,
    /// UB3 of every draw, if computed.
    pub(super) program: Option<Box<[f64]>>,
}

impl Scene {
    /// The bounds of a class.
    pub(super) fn of(&self, class: Class) -> &SceneBounds {
        &self.bounds[class as usize]
    }

    /// The tightest upper bounds of the score that are known, by draw, under the schedulers of a class.
    pub(super) fn bounds(&self, class: Class) -> Option<&[f64]> {
        let bounds = self.of(class);
        bounds.program.as_deref().or(bounds.isolation.as_deref())
    }
}

/// A system that was looked at.
#[derive(Debug, Clone)]
pub(super) struct State {
    /// By scenario.
    pub(super) scenes: Box<[Scene]>,
    /// Reason for which it cannot run.
    pub(super) failure: Option<Box<str>>,
}

/// Work on one system in one scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Job {
    pub(super) system: u32,
    pub(super) load: usize,
    pub(super) task: Task,
}

/// Kind of work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Task {
    /// UB1 of every draw under the schedulers of a class.
    Isolation(Class),
    /// UB3 of every draw under the schedulers of a class.
    Program(Class),
    /// The runs of these schedulers, each from its next draw up to this one.
    Runs { schedulers: Vec<usize>, until: usize },
}

impl Task {
    /// Whether it needs the costs of layers in any case.
    fn is_in_layers(&self) -> bool {
        matches!(self, Self::Isolation(Class::Any) | Self::Program(Class::Any))
    }
}

/// Result of a job.
enum Done {
    Isolation(Class, Box<[f64]>),
    Program(Class, Box<[f64]>),
    Runs(Vec<(usize, Tested)>),
    Failure(Box<str>),
}

/// Runs that are already known, by [`RunKey`].
pub(super) type Known = HashMap<RunKey, Tested>;

/// Runs of a system in a scenario under a scheduler: their indices, and the draws from one to another.
pub(super) type RunKey = (u32, u32, u32, u32, u32);

/// Runs and bounds of all systems that were looked at.
pub(super) struct Evaluation<'a> {
    pub(super) space: &'a Space,
    pub(super) loads: &'a [Load],
    pub(super) schedulers: &'a [Policy],
    cost_model: &'a dyn CostModel,
    /// Costs for runs.
    library: CostLibrary,
    /// Costs with layers for bounds of schedulers that may change accelerators between them, if the others have none.
    layers: Option<CostLibrary>,
    /// The class of all schedulers together.
    pub(super) class: Class,
    states: HashMap<u32, State>,
    /// Number of runs that were made or known.
    pub(super) n_runs: u64,
    known: Known,
    /// Runs that were made since they were taken last, in order.
    pub(super) fresh: Vec<(RunKey, Tested)>,
}

impl<'a> Evaluation<'a> {
    pub(super) fn new(
        space: &'a Space,
        loads: &'a [Load],
        schedulers: &'a [Policy],
        cost_model: &'a dyn CostModel,
        known: Known,
    ) -> Self {
        let in_layers = |load: &Load| {
            let with = |it: &Policy| Plan { scheduler: it.clone(), ..load.plan.clone() };
            schedulers.iter().any(|it| with(it).needs_layers())
        };
        let (library, layers) = match loads.iter().any(in_layers) {
            true => (CostLibrary::layers(cost_model), None),
            false => (CostLibrary::totals(cost_model), Some(CostLibrary::layers(cost_model))),
        };
        let is_keeping = schedulers.iter().all(|it| it.class() == Class::Keeping);
        let class = if is_keeping { Class::Keeping } else { Class::Any };
        let (states, fresh) = (HashMap::new(), Vec::new());
        Self {
            space,
            loads,
            schedulers,
            cost_model,
            library,
            layers,
            class,
            states,
            n_runs: 0,
            known,
            fresh,
        }
    }

    /// Whether upper bounds hold for the runs.
    pub(super) fn has_bounds(&self) -> bool {
        self.loads.iter().all(|load| load.plan.semantics == Semantics::Principled)
    }

    pub(super) fn cost_model(&self) -> &'a dyn CostModel {
        self.cost_model
    }

    /// Adds runs that need not be made again.
    pub(super) fn add_known(&mut self, key: RunKey, tested: Tested) {
        self.known.insert(key, tested);
    }

    /// A system that was looked at; `None` for others.
    pub(super) fn state(&self, system: u32) -> Option<&State> {
        self.states.get(&system)
    }

    /// Every system that was looked at, in order.
    pub(super) fn states(&self) -> Vec<(u32, &State)> {
        let mut states: Vec<_> = self.states.iter().map(|(&system, it)| (system, it)).collect();
        states.sort_by_key(|(system, _)| *system);
        states
    }

    /// Notes that `system` was looked at.
    pub(super) fn touch(&mut self, system: u32) {
        let n_schedulers = self.schedulers.len();
        self.states.entry(system).or_insert_with(|| {
            let tested = vec![Tested::default(); n_schedulers].into();
            let scene = Scene { bounds: Default::default(), tested };
            State { scenes: vec![scene; self.loads.len()].into(), failure: None }
        });
    }

    /// Does all `jobs` in parallel. `members` has the types of a system.
    pub(super) fn work<'m>(&mut self, jobs: &[Job], members: impl Fn(u32) -> &'m [u32] + Sync) {
        self.evaluate_costs(jobs, &members);
        let this = &*self;
        let done = parallel::map(jobs, |job| this.done(job, members(job.system)));
        for (job, done) in jobs.iter().zip(done) {
            self.note(job, done);
        }
    }

    fn evaluate_costs<'m>(&mut self, jobs: &[Job], members: &(impl Fn(u32) -> &'m [u32] + Sync)) {
        let is_needed = |job: &&Job| !matches!(job.task, Task::Isolation(_)) || self.has_bounds();
        let systems = jobs.iter().filter(is_needed).filter_map(|job| {
            Some((job.load, self.space.system(members(job.system)).ok()?, job.task.is_in_layers()))
        });
        let systems: Vec<_> = systems.collect();
        let pair = |&(load, ref system, _): &'_ (usize, _, _)| {
            let system: &Arc<_> = system;
            (Arc::clone(&self.loads[load].plan.scenario), Arc::clone(system))
        };
        let has_layers = self.layers.is_none();
        let [whole, layers] = [false, true].map(|in_layers| {
            let here = systems.iter().filter(|it| (it.2 && !has_layers) == in_layers);
            here.map(pair).collect::<Vec<_>>()
        });
        self.library.extend(self.cost_model, whole.iter().map(|(a, b)| (&**a, &**b)));
        if let Some(library) = &mut self.layers {
            library.extend(self.cost_model, layers.iter().map(|(a, b)| (&**a, &**b)));
        }
    }

    fn done(&self, job: &Job, members: &[u32]) -> Done {
        cancel::check();
        self.attempt(job, members).unwrap_or_else(|error| Done::Failure(error.to_string().into()))
    }

    fn attempt(&self, job: &Job, members: &[u32]) -> Result<Done, Box<dyn std::error::Error>> {
        let load = &self.loads[job.load];
        let mut plan = Plan { system: self.space.system(members)?, ..load.plan.clone() };
        let library = match &self.layers {
            Some(layers) if job.task.is_in_layers() => layers,
            _ => &self.library,
        };
        let costs = sweep::costs(&plan, library)?;
        let scenario = Arc::clone(&plan.scenario);
        // No frame of a search has counts of its own.
        let none = RequestStream::default();
        let routes = |class| Routes::new(&scenario, &costs, &plan.score, class, &none);
        Ok(match &job.task {
            &Task::Isolation(class) => {
                let routes = routes(class);
                let bound = |it: &RequestStream| routes.isolation(&scenario, it);
                Done::Isolation(class, load.requests.iter().map(bound).collect())
            }
            &Task::Program(class) => {
                let routes = routes(class);
                let bound = |it: &RequestStream| routes.bounds(&scenario, it).linear_program;
                Done::Program(class, load.requests.iter().map(bound).collect())
            }
            Task::Runs { schedulers, until } => {
                let mut runs = Vec::new();
                for &scheduler in schedulers {
                    let from = self.states[&job.system].scenes[job.load].tested[scheduler].done;
                    let key = (job.system, job.load as u32, scheduler as u32, from, *until as u32);
                    let known = self.known.get(&key);
                    plan.scheduler = self.schedulers[scheduler].clone();
                    let tested = match known {
                        Some(known) => *known,
                        None => runs_of(&mut plan, &costs, load, from as usize..*until)?,
                    };
                    runs.push((scheduler, tested));
                }
                Done::Runs(runs)
            }
        })
    }

    fn note(&mut self, job: &Job, done: Done) {
        let state = self.states.get_mut(&job.system).expect("it was touched");
        let scene = &mut state.scenes[job.load];
        match done {
            Done::Isolation(class, bounds) => {
                scene.bounds[class as usize].isolation = Some(bounds);
            }
            Done::Program(class, bounds) => scene.bounds[class as usize].program = Some(bounds),
            Done::Runs(runs) => {
                for (scheduler, tested) in runs {
                    let from = scene.tested[scheduler].done;
                    scene.tested[scheduler].add(&tested);
                    self.n_runs += u64::from(tested.done);
                    let until = from + tested.done;
                    let key = (job.system, job.load as u32, scheduler as u32, from, until);
                    if !self.known.contains_key(&key) {
                        self.fresh.push((key, tested));
                    }
                }
            }
            Done::Failure(reason) => state.failure = Some(reason),
        }
    }

    /// Samples of fresh draws `range`, after those of the search, of systems under schedulers: the
    /// weighted mean, or the worst, of `value` over the scenarios of each. At `[candidate][draw]`.
    pub(super) fn fresh_draws<'m>(
        &mut self,
        candidates: &[(u32, usize)],
        loads: &[usize],
        range: Range<u64>,
        members: impl Fn(u32) -> &'m [u32] + Sync,
        combine: impl Fn(&[Sampled]) -> f64 + Sync,
    ) -> Result<Vec<Vec<f64>>, RunError> {
        let jobs = candidates.iter().flat_map(|&(system, _)| {
            loads.iter().map(move |&load| Job { system, load, task: Task::Program(Class::Keeping) })
        });
        let jobs: Vec<_> = jobs.collect();
        self.evaluate_costs(&jobs, &members);
        let this = &*self;
        let streams =
            parallel::map(loads, |&load| Ok((load, draws(&this.loads[load].plan, range.clone())?)));
        let streams: Vec<_> = streams.into_iter().collect::<Result<_, RunError>>()?;
        let n_draws = (range.end - range.start) as usize;
        let of = |&(system, scheduler): &(u32, usize)| {
            let mut samples = vec![Vec::with_capacity(loads.len()); n_draws];
            for (load, streams) in &streams {
                let system = this.space.system(members(system)).expect("it ran before");
                let scheduler = this.schedulers[scheduler].clone();
                let mut plan = Plan { system, scheduler, ..this.loads[*load].plan.clone() };
                let costs = sweep::costs(&plan, &this.library)?;
                for (draw, requests) in streams.iter().enumerate() {
                    plan.load.replication = range.start + draw as u64;
                    let card = sweep::scorecard_at_costs(&plan, &costs, requests)?;
                    samples[draw].push(sampled(&Sample::new(&card.total)));
                }
            }
            Ok(samples.iter().map(|it| combine(it)).collect())
        };
        let values = parallel::map(candidates, of).into_iter();
        let values = values.collect::<Result<Vec<Vec<f64>>, RunError>>()?;
        self.n_runs += (candidates.len() * loads.len() * n_draws) as u64;
        Ok(values)
    }
}

/// Runs of a plan in a range of draws.
fn runs_of(
    plan: &mut Plan,
    costs: &xrsim_model::cost::CostTable,
    load: &Load,
    range: Range<usize>,
) -> Result<Tested, RunError> {
    let mut tested = Tested::default();
    for draw in range {
        plan.load.replication = draw as u64;
        let card = sweep::scorecard_at_costs(plan, costs, &load.requests[draw])?;
        tested.add_sample(&sampled(&Sample::new(&card.total)));
    }
    Ok(tested)
}
