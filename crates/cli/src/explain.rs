//! `xrsim explain`: where the score of a run is lost, why a frame was late or dropped, what makes the
//! difference of two systems, and which single change helps most.

use clap::Args;

use xrsim_config::nearest;
use xrsim_experiment::{Changes, Experiment, FrameOf, Prepared, Tried, flexibility_of};
use xrsim_model::ids::{FrameId, ModelId};
use xrsim_model::scenario::Scenario;
use xrsim_model::trace::Record;
use xrsim_report::why::{WholeRun, advice, story};
use xrsim_results::model_names;
use xrsim_results::why::Why;
use xrsim_sim::plan::Plan;
use xrsim_sim::sweep::RunResult;
use xrsim_sim::sweep::what_if::Target;

use super::experiment::{RunOptions, SchedulerOption, note_memory, prepare};
use super::message::Failure;
use super::output::print_text;
use super::progress::Progress;
use super::table_style;

/// Explain where a run loses its score, or why a frame was late or dropped, and which single change helps most.
#[derive(Debug, Args)]
#[command(
    after_help = "Changes are ranked by the mean score of the scenario over --replications, on the same draws. \
    Changes of the hardware or of its choices need searches of mappings, which take seconds the first time.\n\n\
    Examples:\n  \
    xrsim explain --scenario AR_gaming --system J --pes 4096              where the score is lost\n  \
    xrsim explain --scenario AR_gaming --system J --pes 4096 DE:2         why frame 2 of DE was late\n  \
    xrsim explain --scenario AR_gaming --system J --pes 4096 --against A  causes of the difference\n\n\
    docs/explanation/sensitivity.md describes the parts."
)]
pub(super) struct ExplainArgs {
    #[command(flatten)]
    pub options: RunOptions,
    #[command(flatten)]
    pub scheduler: SchedulerOption,
    /// Replication of the frame, counted from 0.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..1_000_000))]
    pub replication: u64,
    /// Number of replications; scores are their means.
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub replications: u64,
    /// Compare with this system, on equal draws.
    #[arg(long, value_name = "A..M|MIX|FILE", conflicts_with_all = ["frame", "replication"])]
    pub against: Option<String>,
    /// Model of the scenario and number of its frame, from 0.
    #[arg(value_name = "MODEL:FRAME")]
    pub frame: Option<String>,
}

/// Prints the story of a run, of one of its frames, or of a choice.
///
/// # Errors
///
/// Returns a failure for bad input, more than one run, a run that is infeasible, or a frame that does not
/// exist.
pub(super) fn run(args: &ExplainArgs) -> Result<(), Failure> {
    let experiment = args.options.experiment(args.scheduler.text())?;
    let one =
        prepare(&experiment.clone().only_replications(args.replication..args.replication + 1))?;
    note_memory(&one);
    refuse_several(&one)?;
    let experiment = experiment.replications(args.replications);
    match (&args.frame, &args.against) {
        (Some(frame), _) => tell_frame(&experiment, &one, frame),
        (None, Some(other)) => print_text(&choice_text(&experiment, other)?),
        (None, None) => tell_run(&experiment),
    }
}

fn refuse_several(prepared: &Prepared) -> Result<(), Failure> {
    match prepared.n_runs() {
        1 => Ok(()),
        n => Err(Failure::Argument(format!(
            "explain takes one run, and these options make {n}; choose one with --scenario, --system \
             and --pes"
        ))),
    }
}

/// Prints where a run loses its score, and then the changes that help.
fn tell_run(experiment: &Experiment) -> Result<(), Failure> {
    let prepared = experiment.prepare()?;
    let whole = whole(&prepared)?;
    let heading = heading(first(&prepared), &prepared, &over(prepared.n_runs()));
    let text = whole.text(&*prepared.cost_model().model, table_style());
    print_text(&(heading + &text))?;
    let changes = Changes { experiment, base: &prepared, frame: None };
    tell_changes(&changes, whole.score())
}

/// Tries changes of runs that score `score` in the mean, with their number and the best one so far beside the bar of
/// progress, and prints those that help.
fn tell_changes(changes: &Changes<'_>, score: f64) -> Result<(), Failure> {
    let progress = Progress::counting("changes");
    let Tried { changes: all, left_out } = changes.all(&|done, total, known| {
        progress.set_of(done, total);
        let best = known.iter().max_by(|a, b| a.change.mean.total_cmp(&b.change.mean));
        if let Some(best) = best.filter(|it| it.change.mean > 0.0) {
            progress.say(format!(", best so far {:+.3} by {}", best.change.mean, best.what));
        }
    });
    progress.finish();
    let note = |(what, reason)| format!("note: {what} is left out: {reason}\n");
    let notes: String = left_out.into_iter().map(note).collect();
    print_text(&(advice(score, changes.base.n_runs(), &all, table_style()) + &notes))
}

/// What makes the difference of the system of the runs and `other`.
fn choice_text(experiment: &Experiment, other: &str) -> Result<String, Failure> {
    let prepared = experiment.prepare()?;
    let against = experiment.with_system(other).prepare()?;
    if against.n_runs() != prepared.n_runs() {
        refuse!("--against {other} makes several systems; name one");
    }
    let heads = [&prepared, &against].map(|it| heading(first(it), it, &over(it.n_runs())));
    let text = whole(&prepared)?.against(&whole(&against)?, table_style());
    Ok(heads.concat() + &text)
}

/// Prints why a frame ended as it did, and then the changes that help.
fn tell_frame(experiment: &Experiment, one: &Prepared, frame: &str) -> Result<(), Failure> {
    let plan = first(one);
    let target = target(&plan.scenario, frame)?;
    let progress = Progress::new(1);
    let runs = one.run();
    progress.finish();
    let result = runs[0].result()?;
    let Some(id) = target.find(&result.trace) else {
        return Err(no_such_frame(plan, result, target));
    };
    let why = Why::new(plan, result);
    let replication = format!("replication {}", plan.load.replication);
    let drawn = if plan.drawn().any() { ": one draw" } else { "" };
    let heading = heading(plan, one, &format!("{replication}{drawn}"));
    print_text(&(heading + &story(&why, id, table_style())))?;
    if !why.account(id).is_some_and(|account| account.missed) {
        return Ok(());
    }
    let prepared = experiment.prepare()?;
    let whole = whole(&prepared)?;
    let frame = FrameOf { plan, result, target, involved: why.involved(id) };
    tell_changes(&Changes { experiment, base: &prepared, frame: Some(frame) }, whole.score())
}

/// Makes all replications.
///
/// # Errors
///
/// Returns a failure if one of them cannot be made.
fn whole(prepared: &Prepared) -> Result<WholeRun<'_>, Failure> {
    let mut whole = WholeRun::new(first(prepared));
    let progress = Progress::new(prepared.n_runs() as u64);
    prepared.run_each(|index, plan, _, result| {
        let result = result.map_err(super::argument)?;
        whole.add(plan, &result);
        progress.set(index as u64 + 1);
        Ok::<(), Failure>(())
    })?;
    Ok(whole)
}

fn first(prepared: &Prepared) -> &Plan {
    prepared.plans().next().expect("a run was prepared")
}

/// The replications that a text is about.
fn over(n: usize) -> String {
    if n == 1 { "replication 0".into() } else { format!("replications 0 to {}", n - 1) }
}

/// First line: names the run.
fn heading(plan: &Plan, prepared: &Prepared, replications: &str) -> String {
    format!(
        "{} on {} with {} PEs, flexibility {}, {}, {}, seed {}, {replications}\n",
        plan.scenario.name(),
        plan.system.name(),
        plan.system.pes(),
        flexibility_of(&plan.system, prepared.cost_model()),
        plan.semantics,
        plan.scheduler_name(),
        plan.load.seed,
    )
}

/// The frame that `text` names.
fn target(scenario: &Scenario, text: &str) -> Result<Target, Failure> {
    let parsed = text.rsplit_once(':').and_then(|(name, frame)| {
        let frame = frame.parse::<u32>().ok()?;
        Some((name, FrameId::new(frame as usize)))
    });
    let Some((name, frame)) = parsed else {
        refuse!("`{text}` is no frame; name one as MODEL:FRAME, for example HT:12");
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
