//! Many runs: every cost computed once, runs in parallel, results in order.
//!
//! Results reach the caller in the order of the runs for every number of threads. They come in blocks,
//! so that memory does not grow with the number of runs.
mod common;
pub mod comparison;
pub mod day;
pub mod enumeration;
pub mod grid;
pub(crate) mod means;
pub mod pareto;
pub mod what_if;

use std::ops::{ControlFlow, Deref};
use std::sync::Arc;

use thiserror::Error;

use crate::compat;
use crate::device::{Body, Ledger, Stop};
use crate::engine::{self, Played, Run};
use crate::load::{Feed, LoadError, RequestStream};
use crate::metrics::{DeviceMetrics, Usage};
use crate::plan::{Plan, Semantics};
use crate::schedule::PolicyFailure;
use crate::score::{self, InferenceScore, Scorecard, Scoring};
use common::Common;
use day::DayMetrics;
use xrsim_model::cancel;
use xrsim_model::cost::library::CostLibrary;
use xrsim_model::cost::{ChosenLog, CostError, Infeasible};
use xrsim_model::cost::{CostModel, CostTable};
use xrsim_model::hardware::System;
use xrsim_model::ids::{AccelId, ModelId, WorkId};
use xrsim_model::parallel;
use xrsim_model::scenario::Scenario;
use xrsim_model::trace::Trace;

/// Result of a run: its scores, and what became of each request.
#[derive(Debug, Clone, PartialEq)]
pub struct RunResult {
    /// Scores of the run.
    pub scored: Scored,
    /// Outcome of every request.
    pub trace: Trace,
    /// Unit scores of every request of the trace; `None` where it was not executed.
    pub inferences: Vec<Option<InferenceScore>>,
}

impl RunResult {
    /// The result of a run of `plan` at `costs` with this trace, whether any frame counts or not.
    pub fn from_trace(plan: &Plan, costs: Arc<CostTable>, trace: Trace) -> Self {
        let scored = Scored::from_trace(plan, costs, plan.score(&trace), &trace);
        let inferences = score::inferences(&plan.scenario, &trace, &plan.score);
        Self { scored, trace, inferences }
    }
}

impl Deref for RunResult {
    type Target = Scored;

    fn deref(&self) -> &Scored {
        &self.scored
    }
}

/// Scores of a run, and the use of its hardware. Its size does not depend on the number of requests.
#[derive(Debug, Clone, PartialEq)]
pub struct Scored {
    /// Scores of the run and of each model.
    pub scorecard: Scorecard,
    /// Use of the accelerators.
    pub usage: Usage,
    /// Area, idle PEs, leakage and power.
    pub device: DeviceMetrics,
    /// Costs of every model on every accelerator.
    pub costs: Arc<CostTable>,
    /// Account of the energy; `None` without a device.
    pub ledger: Option<Box<Ledger>>,
    /// Heat and charge at the end; `None` without a device.
    pub body: Option<Box<Body>>,
}

impl Scored {
    /// Scores of a run of `plan` at `costs`.
    fn new(plan: &Plan, costs: Arc<CostTable>, scorecard: Scorecard, usage: Usage) -> Self {
        let device = DeviceMetrics::compute(&plan.system, &usage);
        Self { scorecard, usage, device, costs, ledger: None, body: None }
    }

    /// Scores of a run of `plan` at `costs` with this trace.
    fn from_trace(plan: &Plan, costs: Arc<CostTable>, scorecard: Scorecard, trace: &Trace) -> Self {
        let usage = Usage::from_trace(costs.n_models(), costs.n_accelerators(), trace);
        Self::new(plan, costs, scorecard, usage)
    }
}

/// Result of a run of a sweep.
#[derive(Debug, Clone, PartialEq)]
pub enum Made {
    /// Of a scenario.
    Run(Box<Scored>),
    /// Of a profile.
    Day(Box<DayMetrics>),
}

impl Made {
    /// Whether the battery was empty before the end.
    pub fn is_stopped(&self) -> bool {
        match self {
            Self::Run(scored) => scored.body.as_deref().is_some_and(|it| it.stopped().is_some()),
            Self::Day(day) => day.stopped_at_s.is_some(),
        }
    }
}

/// Reason for which a run could not be made. It is a value: the other runs are made.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum RunError {
    /// A network cannot run on an accelerator.
    #[error(transparent)]
    Cost(#[from] CostError),
    /// The run has too many requests.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The artifact cannot express the scenario.
    #[error(transparent)]
    Compat(#[from] compat::CompatError),
    /// The device is hotter than anything that is modelled.
    #[error(
        "node `{node}` is hotter than {} C after {s:.3} s; the device needs less power, a better way of heat to the air, or trips",
        xrsim_model::hardware::device::Heat::HOTTEST_C
    )]
    TooHot {
        /// Node.
        node: Box<str>,
        /// Time \[s\].
        s: f64,
    },
    /// The scheduler failed.
    #[error(transparent)]
    Policy(#[from] PolicyFailure),
    /// No frame is scored, so the run has no score.
    #[error(
        "no frame is counted: every frame starts before score.warm_up_ms or after the end of the run, \
         or was not triggered or not captured; a longer duration has more frames"
    )]
    NothingCounted,
}

impl RunError {
    /// Whether the cause is the machine and not the run, such as a scheduler that could not be started.
    /// The same run may succeed at another time.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Policy(failure) if failure.is_transient)
    }

    /// Whether the run started and failed. The other errors are properties of the run, such as a network
    /// that does not fit.
    pub fn is_failure(&self) -> bool {
        matches!(self, Self::Policy(_))
    }
}

/// Maximum number of runs in a block.
const BLOCK_RUNS: usize = 1024;

/// Maximum number of requests of the runs of a block, unless a single run has more.
const BLOCK_REQUESTS: u64 = 1 << 19;

/// Memory that a run takes for each of its requests, with its result \[byte\]. Requests that run in
/// several segments take more.
const BYTES_PER_REQUEST: u64 = 150;

/// Memory that a run of a block takes for each of its requests, whose rows are kept as text \[byte\].
const BYTES_PER_ROW: u64 = 400;

/// Least memory that the runs take while they are made, from the number of their requests \[byte\]. Runs of profiles keep
/// none.
pub fn memory(plans: &[Plan]) -> u64 {
    let allowed = |requests: &u64| *requests <= RequestStream::MAX_REQUESTS;
    let kept = || plans.iter().filter(|plan| plan.phases.is_none());
    let requests = || kept().map(n_requests).filter(allowed);
    let together = requests().fold(0, u64::saturating_add).min(BLOCK_REQUESTS);
    let largest = requests().max().unwrap_or(0);
    (together * BYTES_PER_ROW).max(largest * BYTES_PER_REQUEST)
}

/// Makes all runs, makes of every result what is kept of it with `keep`, on any thread, and hands that to `consume` in
/// order, with the index of the run.
///
/// # Errors
///
/// The first error of `consume`, such as a full disk. No block is computed after it.
pub fn run_all<T: Send + Sync, E>(
    plans: &[Plan],
    cost_model: &dyn CostModel,
    keep: impl Fn(&Plan, RunResult) -> T + Sync,
    consume: impl FnMut(usize, &Plan, Result<T, RunError>) -> Result<(), E>,
) -> Result<(), E> {
    run_all_at(&mut CostLibrary::layers(cost_model), plans, cost_model, keep, consume)
}

/// Makes all runs as [`run_all`] does, without what became of single requests: memory does not grow with their number.
///
/// # Errors
///
/// The first error of `consume`.
pub fn score_all<E>(
    plans: &[Plan],
    cost_model: &dyn CostModel,
    consume: impl FnMut(usize, &Plan, Result<Scored, RunError>) -> Result<(), E>,
) -> Result<(), E> {
    let mut library = CostLibrary::layers(cost_model);
    in_blocks(&mut library, plans, cost_model, scored, consume)
}

/// Makes all runs as [`run_all`] does, with the costs of `library`, which gets those that it lacks.
///
/// # Errors
///
/// The first error of `consume`.
pub fn run_all_at<T: Send + Sync, E>(
    library: &mut CostLibrary,
    plans: &[Plan],
    cost_model: &dyn CostModel,
    keep: impl Fn(&Plan, RunResult) -> T + Sync,
    consume: impl FnMut(usize, &Plan, Result<T, RunError>) -> Result<(), E>,
) -> Result<(), E> {
    let make = |plan: &Plan, index: usize, common: &Common<'_>| {
        let costs = common.costs(index, plan)?;
        run_with(plan, costs, || common.requests(index, plan)).map(|result| keep(plan, result))
    };
    in_blocks(library, plans, cost_model, make, consume)
}

/// Makes all runs block by block with `make`, which gets a run, its place in its block, and what the block has in common.
fn in_blocks<T: Send + Sync, E>(
    library: &mut CostLibrary,
    plans: &[Plan],
    cost_model: &dyn CostModel,
    make: impl Fn(&Plan, usize, &Common<'_>) -> Result<T, RunError> + Sync,
    mut consume: impl FnMut(usize, &Plan, Result<T, RunError>) -> Result<(), E>,
) -> Result<(), E> {
    library.extend(cost_model, pairs(plans));
    let library = &*library;
    let mut done = 0;
    while done < plans.len() {
        let block = &plans[done..done + block_len(&plans[done..])];
        let common = Common::new(block, |_| library);
        let indices: Vec<usize> = (0..block.len()).collect();
        let results = parallel::map(&indices, |&index| make(&block[index], index, &common));
        for (index, (plan, result)) in block.iter().zip(results).enumerate() {
            consume(done + index, plan, result)?;
        }
        done += block.len();
    }
    Ok(())
}

/// Scenarios and systems that costs are needed for.
fn pairs<'a>(
    plans: impl IntoIterator<Item = &'a Plan>,
) -> impl Iterator<Item = (&'a Scenario, &'a System)> {
    plans.into_iter().map(|plan| (&*plan.scenario, &*plan.system))
}

/// Scores runs in blocks with one cost model. Every pair of network and accelerator is evaluated once
/// for all blocks, or twice if some runs need layers and others do not.
pub struct Scorer<'m> {
    cost_model: &'m dyn CostModel,
    /// Costs for runs that need no layers, which are most runs.
    totals: CostLibrary,
    layers: CostLibrary,
    /// Gets the mappings of runs before they are made.
    chosen: Option<&'m ChosenLog>,
}

impl<'m> Scorer<'m> {
    /// A scorer that has not evaluated `cost_model` yet.
    pub fn new(cost_model: &'m dyn CostModel) -> Self {
        Self {
            cost_model,
            totals: CostLibrary::totals(cost_model),
            layers: CostLibrary::layers(cost_model),
            chosen: None,
        }
    }

    /// The same scorer, which adds the mappings of runs to `chosen` before it makes them.
    #[must_use]
    pub fn noting(self, chosen: &'m ChosenLog) -> Self {
        Self { chosen: Some(chosen), ..self }
    }

    /// Makes the runs in parallel and returns their scores in order.
    pub fn score(&mut self, plans: &[&Plan]) -> Vec<Result<Scored, RunError>> {
        self.extend(plans);
        let common = self.common(plans);
        let indices: Vec<usize> = (0..plans.len()).collect();
        parallel::map(&indices, |&index| scored(plans[index], index, &common))
    }

    /// Makes the runs in parallel, of scenarios or of profiles, about in their order, and hands the result of each to
    /// `each` with its index, on any thread. The work ends early if `each` breaks.
    pub fn make_each(
        &mut self,
        plans: &[&Plan],
        each: &(dyn Fn(usize, Result<Made, RunError>) -> ControlFlow<()> + Sync),
    ) {
        self.extend(plans);
        let common = self.common(plans);
        parallel::about_in_order(plans.len(), &|index| {
            each(index, made(plans[index], index, &common))
        });
    }

    fn common<'s>(&'s self, plans: &[&Plan]) -> Common<'s> {
        Common::new(plans.iter().copied(), |plan| self.library(plan))
    }

    fn extend(&mut self, plans: &[&Plan]) {
        let with = |layers| plans.iter().copied().filter(move |it| it.needs_layers() == layers);
        self.totals.extend(self.cost_model, pairs(with(false)));
        self.layers.extend(self.cost_model, pairs(with(true)));
        if let Some(chosen) = self.chosen {
            chosen.note(|chosen| self.totals.note(pairs(with(false)), chosen));
            chosen.note(|chosen| self.layers.note(pairs(with(true)), chosen));
        }
    }

    fn library(&self, plan: &Plan) -> &CostLibrary {
        if plan.needs_layers() { &self.layers } else { &self.totals }
    }
}

/// Number of the next runs that make a block, at least one.
fn block_len(plans: &[Plan]) -> usize {
    let mut requests = 0u64;
    let fits = plans.iter().take(BLOCK_RUNS).take_while(|plan| {
        requests = requests.saturating_add(n_requests(plan));
        requests <= BLOCK_REQUESTS
    });
    fits.count().max(1)
}

/// Number of requests of a run. This is an upper bound under `mlsys2023` semantics, which fix the
/// duration.
fn n_requests(plan: &Plan) -> u64 {
    let models = plan.scenario.models().iter();
    let frames = models.map(|model| model.frames_before(plan.load.duration));
    frames.fold(0, u64::saturating_add)
}

/// Makes one run with the costs in `library`.
///
/// # Errors
///
/// [`RunError`] if the run cannot be made.
///
/// # Panics
///
/// If `library` was evaluated without the run's scenario and system.
pub fn run(plan: &Plan, library: &CostLibrary) -> Result<RunResult, RunError> {
    run_at_costs(plan, costs(plan, library)?)
}

/// Makes one run with `costs`.
///
/// # Errors
///
/// [`RunError`] if the run cannot be made.
///
/// # Panics
///
/// If `costs` are not of the run's scenario and system.
pub fn run_at_costs(plan: &Plan, costs: Arc<CostTable>) -> Result<RunResult, RunError> {
    run_with(plan, costs, || plan.requests().map(Arc::new))
}

/// Makes one run with `costs`, of `requests` unless it draws its own.
fn run_with(
    plan: &Plan,
    costs: Arc<CostTable>,
    requests: impl FnOnce() -> Result<Arc<RequestStream>, LoadError>,
) -> Result<RunResult, RunError> {
    cancel::check();
    match plan.semantics {
        Semantics::Principled => {
            let Run { trace, ledger, body, .. } = engine::run(plan, &costs, &*requests()?)?;
            cool(body.as_deref())?;
            let mut result = RunResult::from_trace(plan, costs, trace);
            (result.scored.ledger, result.scored.body) = (ledger, body);
            counted(plan, &result.scorecard)?;
            Ok(result)
        }
        Semantics::Mlsys2023 => {
            let replay = mlsys2023(plan, &costs)?;
            let (trace, inferences) = (replay.trace(), replay.inferences());
            let scored = Scored::from_trace(plan, costs, replay.scorecard(), &trace);
            Ok(RunResult { scored, trace, inferences })
        }
    }
}

/// Result of a run of a scenario or of a profile.
fn made(plan: &Plan, index: usize, common: &Common<'_>) -> Result<Made, RunError> {
    match &plan.phases {
        None => Ok(Made::Run(Box::new(scored(plan, index, common)?))),
        Some(phases) => {
            let day = day::play(plan, &common.costs(index, plan)?, None, &|_| {})?;
            Ok(Made::Day(Box::new(DayMetrics::of(&day, phases.duration()))))
        }
    }
}

/// Result of [`run`] without trace and inferences.
fn scored(plan: &Plan, index: usize, common: &Common<'_>) -> Result<Scored, RunError> {
    cancel::check();
    let costs = common.costs(index, plan)?;
    match plan.semantics {
        Semantics::Principled => {
            let known = common.known_requests(index, plan).transpose()?;
            let feed = known.as_deref().map_or_else(|| plan.feed(), |known| Ok(known.into()))?;
            played(plan, costs, feed)
        }
        Semantics::Mlsys2023 => {
            let replay = mlsys2023(plan, &costs)?;
            Ok(Scored::from_trace(plan, costs, replay.scorecard(), &replay.trace()))
        }
    }
}

/// Scores of a run of the requests of `feed`.
fn played(plan: &Plan, costs: Arc<CostTable>, feed: Feed<'_>) -> Result<Scored, RunError> {
    let mut scoring = Scoring::new(&plan.scenario, &plan.score, plan.load.duration);
    let mut usage = Usage::new(costs.n_models(), costs.n_accelerators());
    let Played { ledger, body, .. } = engine::play(plan, &costs, feed, &mut |entry| {
        scoring.add(entry.record, entry.variant);
        usage.add(entry);
    })?;
    cool(body.as_deref())?;
    let scorecard = scoring.scorecard();
    counted(plan, &scorecard)?;
    Ok(Scored { ledger, body, ..Scored::new(plan, costs, scorecard, usage) })
}

/// Scores of a run of `requests` with `costs`. The artifact draws its own requests.
pub fn scorecard_at_costs(
    plan: &Plan,
    costs: &CostTable,
    requests: &RequestStream,
) -> Result<Scorecard, RunError> {
    match plan.semantics {
        Semantics::Principled => {
            let mut scoring = Scoring::new(&plan.scenario, &plan.score, plan.load.duration);
            let Played { body, .. } = engine::play(plan, costs, requests.into(), &mut |entry| {
                scoring.add(entry.record, entry.variant)
            })?;
            cool(body.as_deref())?;
            let scorecard = scoring.scorecard();
            counted(plan, &scorecard)?;
            Ok(scorecard)
        }
        Semantics::Mlsys2023 => Ok(mlsys2023(plan, costs)?.scorecard()),
    }
}

/// The cost table of a run, with the effects that change costs.
pub fn costs(plan: &Plan, library: &CostLibrary) -> Result<Arc<CostTable>, CostError> {
    let Plan { scenario, system, engine, .. } = plan;
    let table = match plan.semantics {
        Semantics::Principled => library.offers(scenario, system)?,
        // The artifact costs every pair.
        Semantics::Mlsys2023 => library.table(scenario, system)?,
    };
    if plan.semantics == Semantics::Mlsys2023 {
        return Ok(Arc::new(table));
    }
    let table = at_points(plan, table)?;
    let exposed = engine.effects.non_overlapped;
    Ok(Arc::new(match exposed > 0.0 {
        true => table.with_non_overlapped(exposed, system.accelerators()),
        false => table,
    }))
}

/// The cost table of a run with the points of its device, if it has one.
///
/// # Errors
///
/// [`CostError`] if the device does not fit the system, or costs do not tell what scales with the clock.
pub fn at_points(plan: &Plan, table: CostTable) -> Result<CostTable, CostError> {
    let Some(device) = &plan.device else { return Ok(table) };
    let pair = |model: ModelId, accelerator: AccelId, reason| {
        let network = plan.scenario.model(model).unit.network.name();
        CostError::new(network, &plan.system.accelerators()[accelerator.index()], reason)
    };
    let first = || (ModelId::new(0), AccelId::new(0));
    let supplied = device.on(&plan.system).map_err(|error| {
        let (model, accelerator) = first();
        pair(model, accelerator, Infeasible::Device(Box::new(error)))
    })?;
    let rows: Vec<ModelId> =
        (0..table.n_works()).map(|it| table.model_of(WorkId::new(it))).collect();
    table
        .with_points(&supplied)
        .map_err(|(work, accelerator)| pair(rows[work.index()], accelerator, Infeasible::NoParts))
}

/// Checks that no node of the device got too hot.
fn cool(body: Option<&Body>) -> Result<(), RunError> {
    match body.and_then(Body::stopped) {
        Some((at, Stop::TooHot(node))) => {
            Err(RunError::TooHot { node: node.clone(), s: at.ns() as f64 / 1e9 })
        }
        _ => Ok(()),
    }
}

/// Checks that at least one frame counts.
fn counted(plan: &Plan, scorecard: &Scorecard) -> Result<(), RunError> {
    match scorecard.is_empty(&plan.score) {
        true => Err(RunError::NothingCounted),
        false => Ok(()),
    }
}

fn mlsys2023(plan: &Plan, costs: &CostTable) -> Result<compat::Replay, RunError> {
    let libc_seed = plan.load.seed.wrapping_add(plan.load.replication) as u32;
    Ok(compat::run(plan, costs, libc_seed)?)
}
