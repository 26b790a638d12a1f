//! Many runs: every cost computed once, runs in parallel, results in order.
//!
//! Results reach the caller in the order of the runs for every number of threads. They come in blocks,
//! so that memory does not grow with the number of runs.

#[cfg(feature = "bounds")]
pub mod comparison;
pub mod enumeration;
pub(crate) mod grid;
#[cfg(feature = "bounds")]
pub(crate) mod means;
pub(crate) mod pareto;
pub mod what_if;

use std::fmt;
use std::sync::Arc;

use rayon::prelude::*;
use thiserror::Error;

use crate::compat::{self, Ablation};
use crate::cost::CostError;
use crate::cost::library::CostLibrary;
use crate::cost::{CostModel, CostTable};
use crate::engine;
use crate::hardware::System;
use crate::load::{Drawn, LoadError, RequestStream};
use crate::plan::{DeadlineMiss, Plan};
use crate::scenario::Scenario;
use crate::schedule::{Granularity, Options, Placement, Policy, PolicyFailure, Preemption};
use crate::score::{self, InferenceScore, Scorecard};
use crate::trace::Trace;
use crate::units::SimSpan;

/// Rules that a run follows, see `docs/terms.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Semantics {
    /// The rules that the paper means, with its contradictions resolved.
    #[default]
    Principled,
    /// The rules of the published artifact, to the last digit.
    Mlsys2023,
}

impl Semantics {
    /// Name on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Principled => "principled",
            Self::Mlsys2023 => "mlsys2023",
        }
    }

    /// Name of `scheduler` in results. The dispatch of the artifact, the only scheduler under
    /// `mlsys2023`, is called `artifact`.
    pub fn scheduler_name(self, scheduler: &Policy) -> &str {
        match self {
            Self::Principled => scheduler.label(),
            Self::Mlsys2023 => "artifact",
        }
    }
}

impl fmt::Display for Semantics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One run to be made: a plan, and the runtime that follows it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RunSpec {
    /// Scenario, system, load, rules, scheduler and scores. `mlsys2023` takes scenario and system,
    /// seed + replication as the seed of the C library, and the trigger probability if one is set;
    /// it has its own rules, scheduler and score parameters.
    pub plan: Plan,
    /// Rules of the run.
    pub semantics: Semantics,
    /// Quirks of the published artifact that a run with `mlsys2023` semantics leaves out.
    pub without: Ablation,
}

impl RunSpec {
    /// A run of `plan` that leaves out no quirk.
    pub fn new(plan: Plan, semantics: Semantics) -> Self {
        Self { plan, semantics, without: Ablation::default() }
    }

    /// Name of the scheduler in results.
    pub fn scheduler_name(&self) -> &str {
        self.semantics.scheduler_name(&self.plan.scheduler)
    }

    /// First part of the duration, whose frames run but are not scored.
    pub fn warm_up(&self) -> SimSpan {
        match self.semantics {
            Semantics::Principled => self.plan.score.warm_up,
            Semantics::Mlsys2023 => SimSpan::ZERO,
        }
    }

    /// Random parts of the run. The artifact draws jitter, but never uses it.
    pub fn drawn(&self) -> Drawn {
        match self.semantics {
            Semantics::Principled => Drawn::of(&self.plan.scenario, &self.plan.load),
            Semantics::Mlsys2023 => {
                let triggers = Drawn::triggers(&self.plan.scenario, &self.plan.load);
                Drawn { triggers, ..Drawn::default() }
            }
        }
    }

    /// Whether the run may ask for the costs of single layers.
    fn needs_layers(&self) -> bool {
        let Plan { scheduler, engine, .. } = &self.plan;
        let Options { granularity, preemption, placement, .. } = scheduler.options();
        let whole = granularity == Granularity::Model
            && preemption == Preemption::None
            && placement != Placement::EnergyDelayByLayer
            && engine.deadline_miss == DeadlineMiss::Finish
            && !engine.effects.any();
        self.semantics == Semantics::Principled && !whole
    }
}

/// Result of a run.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RunResult {
    /// Scores of the run and of each model.
    pub scorecard: Scorecard,
    /// Outcome of every request.
    pub trace: Trace,
    /// Unit scores of every request of the trace; `None` where it was not executed.
    pub inferences: Vec<Option<InferenceScore>>,
    /// Costs of every model on every accelerator.
    pub costs: Arc<CostTable>,
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
    /// The scheduler failed.
    #[error(transparent)]
    Policy(#[from] PolicyFailure),
    /// No frame is scored, so the run has no score.
    #[error(
        "no frame is counted: every frame starts before score.warm_up_ms or after the end of the run, \
         or was not triggered"
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
const BLOCK_REQUESTS: u64 = 1 << 21;

/// Memory that a run takes for each of its requests, with its result \[byte\]. Requests that run in
/// several segments take more.
const BYTES_PER_REQUEST: u64 = 150;

/// Least memory that the runs take while they are made, from the number of their requests \[byte\].
pub(crate) fn memory(specs: &[RunSpec]) -> u64 {
    let allowed = |requests: &u64| *requests <= RequestStream::MAX_REQUESTS;
    let requests = || specs.iter().map(n_requests).filter(allowed);
    let together = requests().fold(0, u64::saturating_add).min(BLOCK_REQUESTS);
    requests().fold(together, u64::max) * BYTES_PER_REQUEST
}

/// Makes all runs and hands their results to `consume` in order, with the index of the run.
///
/// # Errors
///
/// The first error of `consume`, such as a full disk. No block is computed after it.
pub fn run_all<E>(
    specs: &[RunSpec],
    cost_model: &dyn CostModel,
    mut consume: impl FnMut(usize, &RunSpec, Result<RunResult, RunError>) -> Result<(), E>,
) -> Result<(), E> {
    let library = CostLibrary::evaluate(cost_model, pairs(specs));
    let mut done = 0;
    while done < specs.len() {
        let block = &specs[done..done + block_len(&specs[done..])];
        let results: Vec<_> = block.par_iter().map(|spec| run(spec, &library)).collect();
        for (index, (spec, result)) in block.iter().zip(results).enumerate() {
            consume(done + index, spec, result)?;
        }
        done += block.len();
    }
    Ok(())
}

/// Scenarios and systems that costs are needed for.
fn pairs<'a>(
    specs: impl IntoIterator<Item = &'a RunSpec>,
) -> impl Iterator<Item = (&'a Scenario, &'a System)> {
    specs.into_iter().map(|spec| (&*spec.plan.scenario, &*spec.plan.system))
}

/// Scores runs in blocks with one cost model. Every pair of network and accelerator is evaluated once
/// for all blocks, or twice if some runs need layers and others do not.
pub(crate) struct Scorer<'m> {
    cost_model: &'m dyn CostModel,
    /// Costs for runs that need no layers, which are most runs.
    totals: CostLibrary,
    layers: CostLibrary,
}

impl<'m> Scorer<'m> {
    /// A scorer that has not evaluated `cost_model` yet.
    pub(crate) fn new(cost_model: &'m dyn CostModel) -> Self {
        Self {
            cost_model,
            totals: CostLibrary::totals(cost_model),
            layers: CostLibrary::layers(cost_model),
        }
    }

    /// Makes the runs in parallel and returns their scores in order.
    pub(crate) fn score(&mut self, specs: &[&RunSpec]) -> Vec<Result<Scorecard, RunError>> {
        let with = |layers| specs.iter().copied().filter(move |it| it.needs_layers() == layers);
        self.totals.extend(self.cost_model, pairs(with(false)));
        self.layers.extend(self.cost_model, pairs(with(true)));
        let library =
            |spec: &RunSpec| if spec.needs_layers() { &self.layers } else { &self.totals };
        specs.par_iter().map(|spec| scorecard(spec, library(spec))).collect()
    }
}

/// Number of the next runs that make a block, at least one.
fn block_len(specs: &[RunSpec]) -> usize {
    let mut requests = 0u64;
    let fits = specs.iter().take(BLOCK_RUNS).take_while(|spec| {
        requests = requests.saturating_add(n_requests(spec));
        requests <= BLOCK_REQUESTS
    });
    fits.count().max(1)
}

/// Number of requests of a run. This is an upper bound under `mlsys2023` semantics, which fix the
/// duration.
fn n_requests(spec: &RunSpec) -> u64 {
    let Plan { scenario, load, .. } = &spec.plan;
    let frames = scenario.models().iter().map(|model| model.rate.frames_before(load.duration));
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
pub fn run(spec: &RunSpec, library: &CostLibrary) -> Result<RunResult, RunError> {
    run_at_costs(spec, costs(spec, library)?)
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
pub fn run_at_costs(spec: &RunSpec, costs: Arc<CostTable>) -> Result<RunResult, RunError> {
    match spec.semantics {
        Semantics::Principled => principled(&spec.plan, costs),
        Semantics::Mlsys2023 => {
            let replay = mlsys2023(spec, &costs)?;
            Ok(RunResult {
                scorecard: replay.scorecard(),
                trace: replay.trace(),
                inferences: replay.inferences(),
                costs,
            })
        }
    }
}

/// Result of [`run`] without trace and inferences.
fn scorecard(spec: &RunSpec, library: &CostLibrary) -> Result<Scorecard, RunError> {
    let (plan, costs) = (&spec.plan, costs(spec, library)?);
    match spec.semantics {
        Semantics::Principled => score(plan, &engine::run(plan, &costs, &plan.requests()?)?.trace),
        Semantics::Mlsys2023 => Ok(mlsys2023(spec, &costs)?.scorecard()),
    }
}

fn costs(spec: &RunSpec, library: &CostLibrary) -> Result<Arc<CostTable>, RunError> {
    let Plan { scenario, system, engine, .. } = &spec.plan;
    let table = library.table(scenario, system)?;
    let exposed = engine.effects.non_overlapped;
    Ok(Arc::new(match spec.semantics == Semantics::Principled && exposed > 0.0 {
        true => table.with_non_overlapped(exposed, system.accelerators()),
        false => table,
    }))
}

fn principled(plan: &Plan, costs: Arc<CostTable>) -> Result<RunResult, RunError> {
    let trace = engine::run(plan, &costs, &plan.requests()?)?.trace;
    let inferences = score::inferences(&plan.scenario, &trace, &plan.score);
    Ok(RunResult { scorecard: score(plan, &trace)?, trace, inferences, costs })
}

/// Scores of a run of which at least one frame counts.
fn score(plan: &Plan, trace: &Trace) -> Result<Scorecard, RunError> {
    let scorecard = plan.score(trace);
    match scorecard.is_empty(&plan.score) {
        true => Err(RunError::NothingCounted),
        false => Ok(scorecard),
    }
}

fn mlsys2023(spec: &RunSpec, costs: &CostTable) -> Result<compat::Replay, RunError> {
    let RunSpec { plan, without, .. } = spec;
    let libc_seed = plan.load.seed.wrapping_add(plan.load.replication) as u32;
    Ok(compat::run(plan, costs, *without, libc_seed)?)
}
