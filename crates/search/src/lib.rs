//! Search over systems: the best system of a space for some scenarios, with a proof or with a stated gap.
//!
//! A [`Space`] has accelerator types within a budget and the systems of them. A [`Question`] names an
//! objective, or the two or three of a front, the scenarios that count, and constraints. [`Search::solve`]
//! answers it over a fixed sample of draws that all systems share; [`Search::confirm`] compares the best
//! systems on draws that the search did not see.
//!
//! # Guarantees
//!
//! - [`Method::Bound`] excludes a system only if an upper bound of its score, for every scheduler, or
//!   for the draws that are left, is not above the best score that was found. With [`StopReason::Proven`] the
//!   answer is therefore the optimum of the space under the given schedulers, on these draws.
//! - [`Answer::certificates`] are the largest upper bounds (UB3) of all systems: no system of the space has
//!   a larger score under any scheduler of a class, listed or not.
//! - [`Method::Evolve`] has no guarantee but the gap to the bound of the whole space.
//!
//! The bounds are those of [`xrsim_sim::bounds`] and hold where they do: not under `mlsys2023` semantics, where
//! all systems are simulated.
//!
//! Results are the same for every number of threads, and for a search that was interrupted and goes on with
//! the runs that it had made ([`Progress::fresh`]).
//!
//! It uses `xrsim-model` and `xrsim-sim`. A way to search is a [`Method`] with a module beside `exact`, `branch` and
//! `evolve`; an objective is an entry of the table in `goal`.

#![warn(missing_docs, unreachable_pub)]
#![cfg_attr(not(test), deny(clippy::disallowed_macros, clippy::disallowed_methods))]

mod answer;
mod branch;
mod coarse;
mod confirm;
mod evaluation;
mod evolve;
mod exact;
pub mod front;
mod goal;
mod results;
mod space;
mod view;

use std::collections::HashMap;
use std::ops::ControlFlow;

use thiserror::Error;

use xrsim_model::cost::{ChosenLog, ChosenMappings, CostModel};
use xrsim_sim::bounds::Class;
use xrsim_sim::plan::Plan;
use xrsim_sim::schedule::Policy;
use xrsim_sim::sweep::RunError;

pub use answer::{Answer, Certificates, Claim};
use coarse::Coarse;
pub use confirm::{Candidate, ConfirmSettings, Confirmation};
use evaluation::{Evaluation, Job, Known, Load, Tested};
use exact::Hunt;
pub use exact::{Counts, Point};
pub use goal::{Constraint, Over, Quantity, Question};
pub use results::{Evaluated, Status};
pub use space::{
    AcceleratorType, Chip, Fraction, Parts, Space, SpaceError, SpaceSettings, Systems,
};
pub use view::TypeAreas;

/// Way of searching.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// [`Method::Bound`] up to [`Systems::MAX`] systems, [`Method::Evolve`] beyond.
    #[default]
    Auto,
    /// Exact, in the order of falling bounds; depth first with bounds of whole subspaces beyond
    /// [`Systems::MAX`] systems.
    Bound,
    /// Every system in every draw.
    Exhaustive,
    /// NSGA-II (Deb et al. 2002).
    Evolve,
}

impl Method {
    /// Every method with its name.
    pub const ALL: [(&'static str, Self); 4] = [
        ("auto", Self::Auto),
        ("bound", Self::Bound),
        ("exhaustive", Self::Exhaustive),
        ("evolve", Self::Evolve),
    ];

    /// Name.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].0
    }
}

/// Rules that end a search before its proof.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StopRules {
    /// Relative gap that is small enough.
    pub gap: f64,
    /// Most runs for one question.
    pub runs: u64,
    /// Most evaluated systems of [`Method::Evolve`].
    pub evaluations: u64,
}

impl Default for StopRules {
    /// No gap, five million runs, 20,000 evaluations.
    fn default() -> Self {
        Self { gap: 0.0, runs: 5_000_000, evaluations: 20_000 }
    }
}

/// Reason for which a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// Nothing is open: the answer is the optimum.
    Proven,
    /// The gap is small enough.
    Gap,
    /// The number of runs or evaluations is reached.
    Runs,
    /// The caller stopped it.
    Stopped,
}

impl StopReason {
    /// Name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Proven => "proven",
            Self::Gap => "gap",
            Self::Runs => "runs",
            Self::Stopped => "stopped",
        }
    }
}

/// State of a search, for those who wait.
#[derive(Debug)]
#[non_exhaustive]
pub struct Progress<'a> {
    /// The question.
    pub question: &'a Question,
    /// The best system so far with its objective, if there is one.
    pub best: Option<(u32, f64)>,
    /// Largest bound of the objective of what is open.
    pub upper: Option<f64>,
    /// Relative gap between the two.
    pub gap: Option<f64>,
    /// Systems by what became of them so far.
    pub counts: Counts,
    /// Runs so far, of all questions.
    pub runs: u64,
    /// Runs that were made since the last call, in order: a journal of the search.
    pub fresh: Vec<FreshRuns>,
}

/// Caller that looks at the progress of a search after every batch of work, and can stop it.
pub type Observe<'o> = dyn FnMut(&Progress<'_>) -> ControlFlow<()> + 'o;

/// Reason for which a search cannot begin or go on.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The space has no systems.
    #[error(transparent)]
    Space(#[from] SpaceError),
    /// A run cannot be made.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A question cannot be answered.
    #[error("{0}")]
    Question(String),
}

/// Everything that a search needs beside its space.
pub struct SearchSettings<'a> {
    /// Schedulers that systems are simulated under, in order of preference among equals.
    pub schedulers: Vec<Policy>,
    /// Cost model.
    pub cost_model: &'a dyn CostModel,
    /// Areas and leakage, for objectives and constraints on them.
    pub areas: Option<TypeAreas>,
    /// Part of the systems that this search owns, if it is one of several: those whose rank by their
    /// bound is `index` modulo `count`.
    pub shard: Option<(u64, u64)>,
    /// Method.
    pub method: Method,
    /// Rules that end it early.
    pub stop: StopRules,
}

/// Runs that were made, in the form in which a later search takes them.
#[derive(Debug, Clone, PartialEq)]
pub struct FreshRuns {
    /// Types of the system.
    pub members: Vec<u32>,
    /// Index of the scenario.
    pub scenario: u32,
    /// Index of the scheduler.
    pub scheduler: u32,
    /// First draw, and the draw after the last one.
    pub draws: (u32, u32),
    /// Sums over the draws, then sums of squares.
    pub sums: Vec<f64>,
}

/// A search over the systems of a space. The order of questions does not matter to their answers, but runs
/// are shared.
pub struct Search<'a> {
    space: &'a Space,
    systems: Systems,
    /// Systems by their types, where they are not listed.
    known: HashMap<Box<[u32]>, u32>,
    /// Known runs of systems that are not listed and were not met yet.
    waiting: HashMap<Vec<u32>, Vec<FreshRuns>>,
    is_listed: bool,
    n_systems: u64,
    schedulers: &'a [Policy],
    evaluation: Evaluation<'a>,
    coarse: Coarse,
    /// Mappings of the accelerator types.
    chosen: ChosenMappings,
    areas: Option<TypeAreas>,
    seconds: Vec<f64>,
    shard: Option<(u64, u64)>,
    method: Method,
    stop: StopRules,
    /// Runs before the current question.
    runs_before: u64,
}

/// Scenarios of a search with their draws.
pub struct Loads(Vec<Load>);

impl Loads {
    /// Draws the requests of all scenarios.
    ///
    /// # Errors
    ///
    /// [`SearchError::Run`] if there are too many requests.
    pub fn new(plans: &[Plan], draws: u64) -> Result<Self, SearchError> {
        let load = |plan: &Plan| Load::new(plan.clone(), draws);
        Ok(Self(plans.iter().map(load).collect::<Result<_, _>>()?))
    }

    /// Number of draws of a scenario.
    pub fn n_draws(&self, scenario: usize) -> usize {
        self.0[scenario].n_draws()
    }
}

impl<'a> Search<'a> {
    /// Lists the systems and costs their accelerator types. `done` gets the number of types costed since
    /// the last call, on any thread. `earlier` has runs of the same search that are known.
    ///
    /// # Errors
    ///
    /// [`SearchError::Space`] for an empty space.
    pub fn new(
        space: &'a Space,
        loads: &'a Loads,
        settings: &'a SearchSettings<'a>,
        earlier: Vec<FreshRuns>,
        done: impl Fn(u64) + Sync,
    ) -> Result<Self, SearchError> {
        let loads = &loads.0[..];
        let listed = match settings.method {
            Method::Evolve => Err(space.count()),
            _ => space.systems()?,
        };
        let (systems, is_listed, n_systems) = match listed {
            Ok(systems) => {
                let n = systems.len() as u64;
                (systems, true, n)
            }
            Err(n) => (Systems::default(), false, n),
        };
        if n_systems == 0 {
            return Err(space.empty().into());
        }
        let schedulers = &settings.schedulers[..];
        let evaluation =
            Evaluation::new(space, loads, schedulers, settings.cost_model, Known::new());
        let (cost_model, chosen) = (evaluation.cost_model(), ChosenLog::default());
        let coarse = Coarse::new(space, loads, (cost_model, &chosen), &done);
        let mut search = Self {
            space,
            systems,
            known: HashMap::new(),
            waiting: HashMap::new(),
            is_listed,
            n_systems,
            schedulers,
            evaluation,
            coarse,
            chosen: chosen.all(),
            areas: settings.areas.clone(),
            seconds: loads.iter().map(|it| it.plan.load.duration.as_ms() / 1e3).collect(),
            shard: settings.shard,
            method: settings.method,
            stop: settings.stop,
            runs_before: 0,
        };
        search.take_earlier(earlier);
        Ok(search)
    }

    /// Mappings that the accelerator types chose.
    pub fn chosen_mappings(&self) -> &ChosenMappings {
        &self.chosen
    }

    /// Takes other areas and leakage for the questions that follow.
    pub fn set_areas(&mut self, areas: TypeAreas) {
        self.areas = Some(areas);
    }

    /// Number of systems of the space; 2^40 stands for more.
    pub fn n_systems(&self) -> u64 {
        self.n_systems
    }

    /// Whether every system is listed.
    pub fn is_listed(&self) -> bool {
        self.is_listed
    }

    /// Types of a system of an answer.
    pub fn members(&self, system: u32) -> &[u32] {
        self.systems.members(system as usize)
    }

    /// Whether the search owns only some of the systems.
    pub fn is_part(&self) -> bool {
        self.shard.is_some()
    }

    /// Does the work of `jobs`.
    fn work(&mut self, jobs: &[Job]) {
        let Self { evaluation, systems, .. } = self;
        evaluation.work(jobs, |system| systems.members(system as usize));
    }

    /// Whether a model that counts for a question runs on none of these types.
    fn is_homeless(&self, question: &Question, members: &[u32]) -> bool {
        question.loads().any(|load| self.coarse.homeless(members, load).is_some())
    }

    /// Answers a question. `observe` is called after every batch of work and can stop the search. If it does so after
    /// the proof, the answer has no certificate.
    ///
    /// # Errors
    ///
    /// [`SearchError::Question`] if no bound and no run answers it.
    pub fn solve(
        &mut self,
        question: &Question,
        observe: &mut Observe<'_>,
    ) -> Result<Answer, SearchError> {
        self.check(question)?;
        self.runs_before = self.evaluation.n_runs;
        let excludes = self.method != Method::Exhaustive;
        let mut hunt = Hunt::new(question.clone(), excludes);
        let (stop, is_exact) = match (self.method, self.is_listed) {
            (Method::Evolve, _) => (self.evolve(&mut hunt, observe), false),
            (Method::Auto | Method::Bound | Method::Exhaustive, true) => {
                for system in self.owned(question) {
                    self.open(&mut hunt, system);
                }
                (self.refine(&mut hunt, observe), true)
            }
            (Method::Auto, false) => (self.evolve(&mut hunt, observe), false),
            (Method::Bound | Method::Exhaustive, false) => (self.branch(&mut hunt, observe), true),
        };
        let stop =
            stop.err().unwrap_or(if is_exact { StopReason::Proven } else { StopReason::Runs });
        let mut upper = hunt.upper();
        if !self.is_listed && stop != StopReason::Proven {
            upper = self.super_system(question, self.evaluation.class);
        }
        let mut certify = |class| match stop {
            StopReason::Stopped => None,
            _ if self.is_listed => self.certificate(&hunt, class, observe),
            _ => self.super_system(question, class),
        };
        let [keeping, any] = [Class::Keeping, Class::Any].map(&mut certify);
        // What holds for any scheduler holds for those that keep requests.
        let keeping = keeping.map(|it| it.min(any.unwrap_or(it)));
        hunt.best.sort_by(|a, b| b.goods[0].total_cmp(&a.goods[0]).then(a.system.cmp(&b.system)));
        Ok(Answer {
            question: question.clone(),
            points: hunt.best,
            upper,
            certificates: Certificates { keeping, any },
            counts: hunt.counts,
            runs: self.evaluation.n_runs - self.runs_before,
            stop,
            is_exact,
        })
    }

    fn check(&self, question: &Question) -> Result<(), SearchError> {
        let refuse = |message: &str| Err(SearchError::Question(message.into()));
        if !(1..=Question::MAX_OBJECTIVES).contains(&question.objectives.len()) {
            return refuse("a question has one to three objectives");
        }
        let limits = question.constraints.iter().map(|it| it.quantity);
        let quantities = question.objectives.iter().copied().chain(limits);
        let needs_area = |it: &Quantity| *it == Quantity::Area;
        if self.shard.is_some() && !self.is_listed {
            return refuse(
                "parts are parts of a list of systems, and this space is too large to list",
            );
        }
        let is_bounded = matches!(question.objectives[..], [it] if it.has_bound());
        let is_exact = matches!(self.method, Method::Bound | Method::Exhaustive);
        if !self.is_listed && is_exact && (!is_bounded || self.method == Method::Exhaustive) {
            return refuse(
                "more systems than can be listed: depth first, only `score` and `score_executed_mean` have bounds of \
                 whole subspaces; take fewer systems or `method: evolve`",
            );
        }
        if self.areas.is_none() && quantities.clone().any(|it| needs_area(&it)) {
            return refuse("area needs a technology");
        }
        let only = question.objectives.len() == 1;
        if only && question.objectives[0].needs_miss_limit() && question.most_missed().is_none() {
            return refuse(
                "dropped frames take no energy and have no latency: limit `miss_ratio` where energy, power, latency or headroom is the objective",
            );
        }
        if question.rewards_drops() {
            return refuse(
                "dropped frames have no latency: limit `miss_ratio` too where latency or headroom has a limit and costs are the objective",
            );
        }
        Ok(())
    }

    /// Systems of this part of the search, in the order of their bounds.
    fn owned(&self, question: &Question) -> Vec<u32> {
        let all = 0..self.systems.len() as u32;
        let Some((index, count)) = self.shard else { return all.collect() };
        let bound = |system: u32| {
            let members = self.systems.members(system as usize);
            let score = |load| self.coarse.score(members, load, self.evaluation.class);
            question.over(question.objectives[0], score)
        };
        let mut ranked: Vec<_> = all.map(|system| (bound(system), system)).collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let is_own = |rank: &(usize, (f64, u32))| rank.0 as u64 % count == index;
        ranked.into_iter().enumerate().filter(is_own).map(|(_, (_, system))| system).collect()
    }

    /// Whether a rule or the caller stops the search.
    fn check_stop(&mut self, hunt: &Hunt, observe: &mut Observe<'_>) -> Result<(), StopReason> {
        let (upper, gap) = match hunt.question.is_front() {
            true => (None, None),
            false => (hunt.upper(), hunt.gap()),
        };
        let progress = Progress {
            question: &hunt.question,
            best: hunt.best.first().map(|point| (point.system, point.goods[0])),
            upper,
            gap,
            counts: hunt.counts,
            runs: self.evaluation.n_runs,
            fresh: self.take_fresh(),
        };
        if observe(&progress).is_break() {
            return Err(StopReason::Stopped);
        }
        if upper.is_some() && gap.is_some_and(|gap| gap > 0.0 && gap <= self.stop.gap) {
            return Err(StopReason::Gap);
        }
        if self.evaluation.n_runs - self.runs_before >= self.stop.runs && hunt.has_open() {
            return Err(StopReason::Runs);
        }
        Ok(())
    }

    /// Index of the system of these types.
    fn intern(&mut self, members: &[u32]) -> u32 {
        if let Some(&known) = self.known.get(members) {
            return known;
        }
        let index = self.systems.push(members);
        self.known.insert(members.into(), index);
        for runs in self.waiting.remove(members).unwrap_or_default() {
            self.add_known(index, &runs);
        }
        index
    }

    /// Adds runs of a system that need not be made again.
    fn add_known(&mut self, system: u32, runs: &FreshRuns) {
        let (from, until) = runs.draws;
        if let Some(tested) = Tested::of_sums(runs.draws, &runs.sums) {
            let key = (system, runs.scenario, runs.scheduler, from, until);
            self.evaluation.add_known(key, tested);
        }
    }

    /// Runs that were made since the last call, in order.
    fn take_fresh(&mut self) -> Vec<FreshRuns> {
        let fresh = std::mem::take(&mut self.evaluation.fresh);
        let of =
            |((system, scenario, scheduler, from, until), tested): (evaluation::RunKey, Tested)| {
                FreshRuns {
                    members: self.systems.members(system as usize).to_vec(),
                    scenario,
                    scheduler,
                    draws: (from, until),
                    sums: tested.sums.iter().chain(&tested.squares).copied().collect(),
                }
            };
        fresh.into_iter().map(of).collect()
    }

    fn take_earlier(&mut self, earlier: Vec<FreshRuns>) {
        if earlier.is_empty() {
            return;
        }
        if !self.is_listed {
            for runs in earlier {
                self.waiting.entry(runs.members.clone()).or_default().push(runs);
            }
            return;
        }
        let types = |it| (self.systems.members(it), it as u32);
        let listed: HashMap<&[u32], u32> = (0..self.systems.len()).map(types).collect();
        let system = |runs: FreshRuns| Some((*listed.get(&runs.members[..])?, runs));
        let known: Vec<_> = earlier.into_iter().filter_map(system).collect();
        for (system, runs) in known {
            self.add_known(system, &runs);
        }
    }
}

#[cfg(test)]
mod tests;
