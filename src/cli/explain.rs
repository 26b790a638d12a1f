//! `xrsim explain`: why a frame was late or dropped, and what would have met its deadline.

use clap::Args;

use crate::config::nearest;
use crate::experiment::{Changes, Prepared, flexibility_of};
use crate::ids::{FrameId, ModelId};
use crate::plan::Plan;
use crate::report::model_names;
use crate::report::why::{Why, story};
use crate::scenario::Scenario;
use crate::sweep::RunResult;
use crate::sweep::what_if::Target;
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
    let experiment = experiment.only_replications(replication..replication + 1);
    let prepared = prepare(&experiment)?;
    if prepared.n_runs() != 1 {
        return Err(Failure::Argument(format!(
            "explain takes one run, and these options make {}; choose one with --scenario, --system \
             and --pes",
            prepared.n_runs()
        )));
    }
    let plan = prepared.plans().next().expect("there is one run");
    let target = target(&plan.scenario, &args.frame)?;
    let runs = prepared.run();
    let result = runs[0].result()?;
    let Some(id) = target.find(&result.trace) else {
        return Err(no_such_frame(plan, result, target));
    };
    let why = Why::new(plan, result);
    let mut tried = Vec::new();
    if why.account(id).is_some_and(|account| account.missed) {
        let cost_model = &*prepared.cost_model().model;
        let changes = Changes { experiment: &experiment, plan, result, cost_model, target };
        tried = changes.all(why.involved(id));
    }
    let score = result.scorecard.total.score;
    let text = heading(plan, &prepared) + &story(&why, id, score, &tried, table_style());
    output::print_text(&text)
}

/// First line: names the run.
fn heading(plan: &Plan, prepared: &Prepared) -> String {
    format!(
        "{} on {} with {} PEs, flexibility {}, {}, {}, seed {}, replication {}{}\n",
        plan.scenario.name(),
        plan.system.name(),
        plan.system.pes(),
        flexibility_of(&plan.system, prepared.cost_model()),
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
