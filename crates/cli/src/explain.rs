//! `xrsim explain`: where the score of a run is lost, why a frame was late or dropped, what makes the
//! difference of two systems, and which single change helps most.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Map, Value, json};

use xrsim_config::nearest;
use xrsim_experiment::{Changes, Experiment, FrameOf, Prepared, Tried, flexibility_of, programs};
use xrsim_model::ids::{FrameId, ModelId};
use xrsim_model::scenario::Scenario;
use xrsim_model::trace::Record;
use xrsim_report::table::Style;
use xrsim_report::why::{Told, WholeRun, advice, story, table_names};
use xrsim_results::model_names;
use xrsim_results::why::Why;
use xrsim_sim::plan::Plan;
use xrsim_sim::sweep::what_if::Target;
use xrsim_sim::sweep::{RunError, RunResult};

use super::experiment::{RunOptions, SchedulerOption, note_memory, prepare};
use super::message::Failure;
use super::options::whole_number;
use super::output::{OutputSet, print_text};
use super::places::Places;
use super::progress::Progress;
use super::{record, table_style};

/// Explain where a run loses its score, or why a frame was late or dropped, and which single change helps most.
#[derive(Debug, Args)]
#[command(
    after_help = "Changes are ranked by the mean score of the scenario over --replications, on the same draws. \
    Changes of the hardware or of its choices need searches of mappings, which take seconds the first time.\n\n\
    Examples:\n  \
    xrsim explain --scenario AR_gaming --system J --pes 4096              where the score is lost\n  \
    xrsim explain --scenario AR_gaming --system J --pes 4096 DE:2         why frame 2 of DE was late\n  \
    xrsim explain --scenario AR_gaming --system J --pes 4096 --against A  causes of the difference\n  \
    xrsim explain --scenario AR_gaming --system J --pes 4096 --out why && xrsim report why\n\n\
    docs/explanation/sensitivity.md describes the parts."
)]
pub(super) struct ExplainArgs {
    #[command(flatten)]
    pub options: RunOptions,
    #[command(flatten)]
    pub scheduler: SchedulerOption,
    /// Replication of the frame, counted from 0.
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true, value_parser = whole_number(0..1_000_000))]
    pub replication: u64,
    /// Number of replications; scores are their means.
    #[arg(long, value_name = "N", default_value_t = 30, allow_negative_numbers = true, value_parser = whole_number(1..=10_000))]
    pub replications: u64,
    /// Compare with this system, on equal draws.
    #[arg(long, value_name = "A..M|MIX|FILE", conflicts_with_all = ["frame", "replication"])]
    pub against: Option<String>,
    /// Folder for the tables (what limits, what each change gives) and explain.json; `xrsim report DIR` makes a page of it.
    #[arg(long, short, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Model of the scenario and number of its frame, from 0.
    #[arg(value_name = "MODEL:FRAME")]
    pub frame: Option<String>,
}

/// Prints the story of a run, of one of its frames, or of a choice, and writes it into the folder of --out.
///
/// # Errors
///
/// Returns a failure for bad input, more than one run, a run that is infeasible, a frame that does not exist, or
/// output that cannot be written.
pub(super) fn run(args: &ExplainArgs) -> Result<(), Failure> {
    let experiment = args.options.experiment(args.scheduler.text())?;
    let one =
        prepare(&experiment.clone().only_replications(args.replication..args.replication + 1))?;
    note_memory(&one);
    refuse_several(&one)?;
    let experiment = experiment.replications(args.replications);
    let other = args.against.as_ref().map(|other| experiment.with_system(other).prepare());
    let other = other.transpose()?;
    let schedulers = || args.scheduler.text().into_iter().map(String::as_str);
    let out = args.out.as_deref();
    Places::default()
        .reading(one.opened())
        .reading(other.iter().flat_map(Prepared::opened))
        .reading(schedulers().flat_map(programs::files))
        .folder(out, table_names().chain([record::EXPLAIN]))
        .check()?;
    record::refuse_other_kind(out, "explain")?;
    super::schedulers::note_untracked(out.iter().flat_map(|_| schedulers()));
    let set = out.map(OutputSet::create).transpose()?;
    let inputs = one.inputs().chain(other.iter().flat_map(Prepared::inputs));
    let inputs = programs::sha256_of_inputs(inputs, schedulers())?;
    let mut said = Said::default();
    match (&args.frame, &other) {
        (Some(frame), _) => tell_frame(&experiment, &one, frame, &mut said)?,
        (None, Some(other)) => tell_choice(&experiment.prepare()?, other, &mut said)?,
        (None, None) => tell_run(&experiment, &mut said)?,
    }
    match set {
        Some(set) => said.write(set, record(args, &one, inputs)),
        None => Ok(()),
    }
}

/// Record with which the explanation can be made again.
fn record(
    args: &ExplainArgs,
    prepared: &Prepared,
    inputs: Map<String, Value>,
) -> Map<String, Value> {
    let mut record = args.options.requested();
    record.extend(record::of_results(json!({
        "scheduler": args.scheduler.text(), "replications": args.replications, "replication": args.replication,
        "against": args.against, "frame": args.frame, "cost_model": prepared.cost_model().name,
        "inputs_sha256": inputs,
    })));
    record.extend(prepared.mapping_record());
    record
}

/// What was printed, as files have it.
#[derive(Default)]
struct Said {
    headings: Vec<String>,
    told: Told,
}

impl Said {
    /// Prints headings and what follows. `told` makes it for a style.
    fn say(&mut self, headings: &[String], told: impl Fn(Style) -> Told) -> Result<(), Failure> {
        let style = table_style();
        let lines: String = headings.iter().map(|it| format!("{it}\n")).collect();
        print_text(&(lines + &told(style).text(style)))?;
        self.headings.extend_from_slice(headings);
        self.told.extend(told(Style::Plain));
        Ok(())
    }

    /// Writes the tables, and a record with everything in order.
    fn write(self, mut set: OutputSet, mut record: Map<String, Value>) -> Result<(), Failure> {
        let mut names = Vec::new();
        for (name, rows) in self.told.files() {
            set.csv(name, rows.clone())?;
            names.push(name);
        }
        record.insert("explains".into(), self.headings.join("; ").into());
        record.insert("told".into(), self.told.parts());
        names.push(record::EXPLAIN);
        set.commit_and_say(record::EXPLAIN, record, format_args!("{}", names.join(", ")))
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
fn tell_run(experiment: &Experiment, said: &mut Said) -> Result<(), Failure> {
    let prepared = experiment.prepare()?;
    let whole = whole(&prepared)?;
    let heading = heading(first(&prepared), &prepared, &over(prepared.n_runs()));
    said.say(&[heading], |style| whole.told(&*prepared.cost_model().model, style))?;
    let changes = Changes { experiment, base: &prepared, frame: None };
    tell_changes(&changes, &whole, said)
}

/// Tries changes of the runs of `whole`, with their number and the best one so far beside the bar of
/// progress, and prints those that help.
fn tell_changes(
    changes: &Changes<'_>,
    whole: &WholeRun<'_>,
    said: &mut Said,
) -> Result<(), Failure> {
    let progress = Progress::counting("changes");
    let Tried { changes: all, left_out } = changes.all(&|done, total, known| {
        progress.set_of(done, total);
        let best = known.iter().max_by(|a, b| a.change.mean.total_cmp(&b.change.mean));
        if let Some(best) = best.filter(|it| it.change.mean > 0.0) {
            progress.say(format!(", best so far {:+.3} by {}", best.change.mean, best.what));
        }
    });
    progress.finish();
    said.say(&[], |_| {
        let mut told = advice(whole.score(), whole.n_draws(), &all);
        left_out
            .iter()
            .for_each(|(what, reason)| told.note(&format!("{what} is left out: {reason}")));
        told
    })
}

/// Prints what makes the difference of the system of the runs and that of `others`.
fn tell_choice(prepared: &Prepared, others: &Prepared, said: &mut Said) -> Result<(), Failure> {
    if others.n_runs() != prepared.n_runs() {
        refuse!("--against makes several systems; name one");
    }
    let heads = [prepared, others].map(|it| heading(first(it), it, &over(it.n_runs())));
    let [own, other] = [whole(prepared)?, whole(others)?];
    said.say(&heads, |_| own.against(&other))
}

/// Prints why a frame ended as it did, and then the changes that help.
fn tell_frame(
    experiment: &Experiment,
    one: &Prepared,
    frame: &str,
    said: &mut Said,
) -> Result<(), Failure> {
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
    said.say(&[heading], |_| story(&why, id))?;
    if !why.account(id).is_some_and(|account| account.missed) {
        return Ok(());
    }
    let prepared = experiment.prepare()?;
    let whole = whole(&prepared)?;
    let frame = FrameOf { plan, result, target, involved: why.involved(id) };
    let changes = Changes { experiment, base: &prepared, frame: Some(frame) };
    tell_changes(&changes, &whole, said)
}

/// Makes all replications.
///
/// # Errors
///
/// Returns a failure if one of them cannot be made.
fn whole(prepared: &Prepared) -> Result<WholeRun<'_>, Failure> {
    let mut whole = WholeRun::new(first(prepared));
    let progress = Progress::new(prepared.n_runs() as u64);
    let keep = |_: &Plan, _: &str, result| result;
    prepared.run_each(keep, |index, plan, _, result| {
        match result {
            Err(RunError::NothingCounted) => whole.add_uncounted(),
            result => whole.add(plan, &result.map_err(super::argument)?),
        }
        progress.set(index as u64 + 1);
        Ok::<(), Failure>(())
    })?;
    match whole.n_draws() {
        0 => Err(super::argument(RunError::NothingCounted)),
        _ => Ok(whole),
    }
}

fn first(prepared: &Prepared) -> &Plan {
    prepared.plans().next().expect("a run was prepared")
}

/// The replications that a text is about.
fn over(n: usize) -> String {
    if n == 1 { "replication 0".into() } else { format!("replications 0 to {}", n - 1) }
}

/// First line, without its end: names the run.
fn heading(plan: &Plan, prepared: &Prepared, replications: &str) -> String {
    format!(
        "{} on {} with {} PEs, flexibility {}, {}, {}, seed {}, {replications}",
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
