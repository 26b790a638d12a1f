//! `xrsim explain`: why a frame was late or dropped, and what would have met its deadline.

use clap::Args;

use crate::config::nearest;
use crate::cost::CostModel;
use crate::cost::library::CostLibrary;
use crate::experiment;
use crate::ids::{FrameId, ModelId};
use crate::plan::{Plan, Semantics};
use crate::report::model_names;
use crate::report::why::{Change, Fate, Why, story};
use crate::scenario::Scenario;
use crate::sweep::what_if::{self, LATENCY_PERCENTS, PE_FACTORS, Target};
use crate::sweep::{self, RunResult};
use crate::trace::Record;

use super::experiment::{RunOptions, SchedulerOption, prepare};
use super::message::Failure;
use super::{output, table_style};

/// Say why a frame was late or dropped, and what would have met its deadline.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  \
    xrsim explain --scenario AR_gaming --system J --pes 4096 HT:12")]
pub(super) struct ExplainArgs {
    #[command(flatten)]
    pub options: RunOptions,
    #[command(flatten)]
    pub scheduler: SchedulerOption,
    /// Replication of the run, counted from 0.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..1_000_000))]
    pub replication: u64,
    /// The frame: a model of the scenario and a number from 0.
    #[arg(value_name = "MODEL:FRAME")]
    pub frame: String,
}

/// Prints the story of one frame of one run.
///
/// # Errors
///
/// Returns a failure for bad input, more than one run, a run that is infeasible, or a frame that does not
/// exist.
pub(super) fn run(args: &ExplainArgs) -> Result<(), Failure> {
    let replication = args.replication;
    let experiment = args.options.experiment(args.scheduler.0.as_ref())?;
    let prepared = prepare(&experiment.only_replications(replication..replication + 1))?;
    let plans: Vec<_> = prepared.plans().collect();
    let costs = prepared.cost_model();
    let [plan] = plans[..] else {
        return Err(Failure::Argument(format!(
            "explain takes one run, and these options make {}; choose one with --scenario, --system \
             and --pes",
            plans.len()
        )));
    };
    let target = target(&plan.scenario, &args.frame)?;
    let result = make(plan, &*costs.model)?;
    let Some(id) = target.find(&result.trace) else {
        return Err(no_such_frame(plan, &result, target));
    };
    let why = Why::new(plan, &result);
    let mut changes = Vec::new();
    if why.account(id).is_some_and(|account| account.missed) {
        let models = why.involved(id);
        changes
            .extend(models.into_iter().filter_map(|model| shorter(plan, &result, model, target)));
        changes.extend(more_pes(&args.options, plan, target, &*costs.model));
        changes.extend(other_schedulers(plan, target, &*costs.model));
    }
    let score = result.scorecard.total.score;
    let text = heading(plan) + &story(&why, id, score, &changes, table_style());
    output::print_text(&text)
}

/// Schedulers that are tried instead of that of the run.
const SCHEDULERS: [&str; 6] = [
    "latency-greedy",
    "latency-greedy:admission=hopeless",
    "edf",
    "edf:admission=hopeless",
    "value:admission=hopeless",
    "rm",
];

fn make(plan: &Plan, model: &dyn CostModel) -> Result<RunResult, Failure> {
    let library = CostLibrary::evaluate(model, [(&*plan.scenario, &*plan.system)]);
    sweep::run(plan, &library).map_err(super::argument)
}

/// First line: names the run.
fn heading(plan: &Plan) -> String {
    format!(
        "{} on {} with {} PEs, {}, {}, seed {}, replication {}{}\n",
        plan.scenario.name(),
        plan.system.name(),
        plan.system.pes(),
        plan.semantics,
        plan.scheduler_name(),
        plan.load.seed,
        plan.load.replication,
        if plan.drawn().any() { ": one draw" } else { "" }
    )
}

/// The frame that `text` names.
fn target(scenario: &Scenario, text: &str) -> Result<Target, Failure> {
    let parsed = text.rsplit_once(':').and_then(|(name, frame)| {
        let frame = frame.parse::<u32>().ok()?;
        Some((name, FrameId::new(frame as usize)))
    });
    let Some((name, frame)) = parsed else {
        return Err(Failure::Argument(format!(
            "`{text}` is no frame; name one as MODEL:FRAME, for example HT:12"
        )));
    };
    let names = model_names(scenario);
    let model = names.iter().position(|known| known.eq_ignore_ascii_case(name));
    let model = model.ok_or_else(|| {
        let hint = nearest(name, names.iter().copied())
            .map(|name| format!("; did you mean `{name}`?"))
            .unwrap_or_default();
        let known = names.join(", ");
        Failure::Argument(format!(
            "no model `{name}` in {}{hint} (known: {known})",
            scenario.name()
        ))
    })?;
    Ok(Target { model: ModelId::new(model), frame })
}

fn no_such_frame(plan: &Plan, result: &RunResult, target: Target) -> Failure {
    let name = model_names(&plan.scenario)[target.model.index()];
    let of_model = |record: &&Record| record.model == target.model;
    let n_frames = result.trace.records().iter().filter(of_model).count();
    Failure::Argument(match n_frames {
        0 => format!("{name} has no frames in this run"),
        _ => format!(
            "{name} has frames 0 to {} in this run, not {}",
            n_frames - 1,
            target.frame.index()
        ),
    })
}

/// The smallest reduction of the latency of one model with which the frame meets its deadline. Without
/// one, the reduction with the best score.
fn shorter(plan: &Plan, result: &RunResult, model: ModelId, target: Target) -> Option<Change> {
    let [least, .., most] = LATENCY_PERCENTS;
    let trials = what_if::latencies(plan, &result.costs, model, target);
    let name = model_names(&plan.scenario)[model.index()];
    let last = trials.last()?;
    if let Some(margin_ms) = last.margin_ms {
        let what = format!("latency of {name}: {} % of it", last.change);
        return Some(Change { what, fate: Fate::InTime(margin_ms), score: last.score });
    }
    let best = trials.iter().rev().max_by(|a, b| a.score.total_cmp(&b.score))?;
    let what = format!("latency of {name}: {least} % to {most} % of it, best {} %", best.change);
    Some(Change { what, fate: Fate::MissedByAll, score: best.score })
}

/// Changes of the number of PEs, for a system that is a style.
fn more_pes(
    options: &RunOptions,
    plan: &Plan,
    target: Target,
    model: &dyn CostModel,
) -> Vec<Change> {
    // Only styles are given PEs, or have a choice of them.
    let Some(pes) = options.values("pes").first().and_then(|pes| pes.parse::<u32>().ok()) else {
        return Vec::new();
    };
    let change = |factor: u32| {
        let larger = larger(options, plan, pes.checked_mul(factor)?)?;
        let what = format!("PEs: {factor} times as many ({})", larger.system.pes());
        tried(what, &larger, target, model)
    };
    PE_FACTORS.into_iter().filter_map(change).collect()
}

/// Other schedulers, where the rules of the run leave a choice.
fn other_schedulers(plan: &Plan, target: Target, model: &dyn CostModel) -> Vec<Change> {
    if plan.semantics == Semantics::Mlsys2023 {
        return Vec::new();
    }
    let change = |text: &&str| {
        let scheduler = experiment::scheduler(text).ok().filter(|it| *it != plan.scheduler)?;
        let mut plan = plan.clone();
        plan.scheduler = scheduler;
        tried(format!("scheduler: {text}"), &plan, target, model)
    };
    SCHEDULERS.iter().filter_map(change).collect()
}

/// Fate of `target` and the score in a run; `None` if it cannot be made.
fn tried(what: String, plan: &Plan, target: Target, model: &dyn CostModel) -> Option<Change> {
    let result = make(plan, model).ok()?;
    let fate = target.margin_ms(&result.trace).map_or(Fate::Missed, Fate::InTime);
    Some(Change { what, fate, score: result.scorecard.total.score })
}

/// The same run on `pes` PEs, if the style can have as many.
fn larger(options: &RunOptions, plan: &Plan, pes: u32) -> Option<Plan> {
    let options = options.clone().with("pes", vec![pes.to_string()]);
    let prepared = options.experiment([]).ok()?.prepare().ok()?;
    let mut plan = plan.clone();
    plan.system = prepared.plans().next()?.system.clone();
    Some(plan)
}
