//! `xrsim explain`: why a frame was late or dropped, and what would have met its deadline.

use crate::config::nearest;
use crate::cost::CostModel;
use crate::cost::library::CostLibrary;
use crate::ids::{FrameId, ModelId};
use crate::report::model_names;
use crate::report::why::{Change, Played, Why, story};
use crate::scenario::Scenario;
use crate::sweep::what_if::{self, LATENCY_PERCENTS, PE_FACTORS, Remedy, Target};
use crate::sweep::{self, RunResult, RunSpec};
use crate::trace::Record;

use super::args::{ExplainArgs, RunOptions};
use super::message::Failure;
use super::run::{self, Prepared};
use super::{output, table_style};

/// Prints the story of one frame of one run.
///
/// # Errors
///
/// Bad input, more than one run, a run that is not feasible, or a frame that it does not have.
pub fn run(args: &ExplainArgs) -> Result<(), Failure> {
    let replication = args.replication;
    let Prepared { costs, specs, .. } =
        run::prepare(&args.options, args.scheduler.as_deref(), replication..replication + 1)?;
    let [spec] = &specs[..] else {
        return Err(Failure::Argument(format!(
            "explain takes one run, and these options make {}; choose one with --scenario, --system \
             and --pes",
            specs.len()
        )));
    };
    let target = target(&spec.scenario, &args.frame)?;
    let result = make(spec, &*costs.model)?;
    let Some(id) = target.find(&result.trace) else {
        return Err(no_such_frame(spec, &result, target));
    };
    let why = Why::new(Played::new(spec, &result));
    let mut changes = Vec::new();
    if why.account(id).is_some_and(|account| account.missed) {
        let models = why.involved(id);
        changes.extend(models.into_iter().map(|model| shorter(spec, &result, model, target)));
        changes.extend(more_pes(&args.options, spec, target, &*costs.model));
    }
    let text = heading(spec) + &story(&why, id, &changes, table_style());
    output::print(&text)
}

fn make(spec: &RunSpec, model: &dyn CostModel) -> Result<RunResult, Failure> {
    let library = CostLibrary::evaluate(model, [(&*spec.scenario, &*spec.system)]);
    sweep::run(spec, &library).map_err(super::argument)
}

/// Which run it is.
fn heading(spec: &RunSpec) -> String {
    format!(
        "{} on {} with {} PEs, {}, {}, seed {}, replication {}{}\n",
        spec.scenario.name(),
        spec.system.name(),
        spec.system.pes(),
        spec.semantics,
        spec.scheduler_name(),
        spec.load.seed,
        spec.load.replication,
        if spec.drawn().any() { ": one draw" } else { "" }
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

fn no_such_frame(spec: &RunSpec, result: &RunResult, target: Target) -> Failure {
    let name = model_names(&spec.scenario)[target.model.index()];
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

/// A shorter latency of one model.
fn shorter(spec: &RunSpec, result: &RunResult, model: ModelId, target: Target) -> Change {
    let [least, .., most] = LATENCY_PERCENTS;
    let enough = what_if::latency(spec, &result.costs, model, target);
    Change {
        what: format!("latency of {}", model_names(&spec.scenario)[model.index()]),
        enough: enough.map(|Remedy { change, margin_ms }| (format!("{change} % of it"), margin_ms)),
        tried: format!("{least} % to {most} % of it"),
    }
}

/// More PEs, for a system that is a style.
fn more_pes(
    options: &RunOptions,
    spec: &RunSpec,
    target: Target,
    model: &dyn CostModel,
) -> Option<Change> {
    // Only styles are given PEs, or have a choice of them.
    let pes = *options.pes.first()?;
    let enough = PE_FACTORS.into_iter().find_map(|factor| {
        let larger = larger(options, spec, pes.checked_mul(factor)?)?;
        let result = make(&larger, model).ok()?;
        target.margin_ms(&result.trace).map(|margin_ms| {
            (format!("{factor} times as many ({})", larger.system.pes()), margin_ms)
        })
    });
    let [least, .., most] = PE_FACTORS;
    let tried = format!("{least} to {most} times as many");
    Some(Change { what: "PEs".into(), enough, tried })
}

/// The same run on `pes` PEs, if the style can have as many.
fn larger(options: &RunOptions, spec: &RunSpec, pes: u32) -> Option<RunSpec> {
    let options = RunOptions { pes: vec![pes], ..options.clone() };
    let prepared = run::prepare(&options, None, 0..1).ok()?;
    let larger = prepared.specs.into_iter().next()?;
    Some(RunSpec { system: larger.system, ..spec.clone() })
}
