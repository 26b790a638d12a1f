//! `xrsim compare`: schedulers side by side on equal draws.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use clap::Args;
use serde_json::{Map, Value, json};

use crate::bounds::window::MAX_FRAMES;
use crate::column;
use crate::experiment::{Prepared, programs, scheduler};
use crate::figures::Format;
use crate::renamed;
use crate::report::comparison::{
    Measure, Ranking, configurations_csv, figure as comparison_figure, metrics_csv, policies_csv,
    replicate_until, table,
};
use crate::schedule::Policy;
use crate::statistics::Sequential;
use crate::sweep::comparison::{Comparison, Sample, Triggers};

use super::assumed::assumed_by_all_schedulers;
use super::experiment::{RunOptions, prepare};
use super::figure::PictureOptions;
use super::message::{Failure, hint, say};
use super::output::OutputSet;
use super::places::Places;
use super::progress::Progress;
use super::{output, table_style};

/// Compare schedulers on equal draws, with intervals.
#[derive(Debug, Args)]
#[command(
    after_help = "Every scheduler runs the same requests in each replication (common random numbers), so that their \
    differences have little noise. Without --scenario, --system and --pes: the whole benchmark, 182 \
    configurations. Ties between requests go by the order of models in the scenario, which can decide \
    a comparison (schedulers/README.md).\n\n\
    Examples:\n  \
    xrsim compare --scheduler edf --scheduler edf:admission=hopeless --scheduler rm\n  \
    xrsim compare --scheduler edf --scheduler sjf --scenario AR_gaming --half-width 0.005\n  \
    xrsim compare --scheduler edf --scheduler dream --replications 30 --out comparison"
)]
pub(super) struct CompareArgs {
    #[command(flatten)]
    pub options: RunOptions,
    /// Scheduler, with its parameters; repeat for each.
    #[arg(long, value_name = "P[:KEY=VALUE,..]", required = true)]
    pub scheduler: Vec<String>,
    /// Independent replications of every configuration.
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub replications: u64,
    /// Replicate until half of the 95 % interval of the mean of every scheduler is at most X (30
    /// replications at least, 1000 at most).
    #[arg(long, value_name = "X", conflicts_with = "replications", value_parser = positive)]
    pub half_width: Option<f64>,
    /// Column to rank by: a score, `missed` or `energy_mj`.
    #[arg(long, value_name = "COLUMN", default_value = "score_executed_mean")]
    pub by: String,
    /// Use every pattern of triggers with its probability instead of draws, where there are few patterns.
    #[arg(long)]
    pub enumerate: bool,
    /// Also bound the score by exact optima of windows of N frames of the first replication, which take up
    /// to seconds each; for schedulers with model granularity.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MAX_FRAMES as u64))]
    pub window: Option<u64>,
    /// Search alpha and beta of every `dream` given, as its authors do, for the least UXCost of the first
    /// replication.
    #[arg(long)]
    pub tune: bool,
    /// Steady state instead of a cold start: ten seconds at random sensor phases, with one second of
    /// warm-up.
    #[arg(long)]
    pub steady: bool,
    /// Folder for policies.csv, configurations.csv, metrics.csv (of models and chains) and the figure.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub pictures: PictureOptions,
}

fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| "allowed is a number > 0".into())
}

/// Compares the schedulers and prints their ranking.
///
/// # Errors
///
/// Returns a failure for bad input, output that cannot be written, or if no run is feasible.
pub(super) fn run(args: &CompareArgs) -> Result<(), Failure> {
    let measure = measure(&args.by)?;
    let prepared = prepare(&options(args).experiment([])?)?;
    let triggers = if args.enumerate { Triggers::Enumerated } else { Triggers::Drawn };
    // Refuses runs that have no schedulers to compare, before anything is written.
    prepared.compare(Vec::new(), triggers)?;
    Places::default()
        .reading(prepared.opened())
        .reading(args.scheduler.iter().flat_map(|text| programs::files(text)))
        .folder(args.out.as_deref(), FILES)
        .check()?;
    let given = policies(&args.scheduler)?;
    let set = args.out.as_deref().map(OutputSet::create).transpose()?;
    // Before a scheduler runs, which might change its files.
    let inputs =
        programs::sha256_of_inputs(prepared.inputs(), args.scheduler.iter().map(String::as_str))?;
    let (tuned, policies) = if args.tune {
        let tuned = args.scheduler.iter().map(|text| tuned(text, &prepared));
        let tuned = tuned.collect::<Result<Vec<_>, _>>()?;
        let policies = policies(&tuned)?;
        (Some(tuned), policies)
    } else {
        (None, given)
    };
    let mut comparison = prepared.compare(policies, triggers)?;
    replicate(&mut comparison, args, measure);
    let n_failed = report_infeasible(&comparison)?;
    let ranking = Ranking::of(&comparison, measure);
    if let Some(set) = set {
        let record = record(args, tuned, &prepared, inputs);
        write(set, &args.pictures, &comparison, &ranking, record)?;
    }
    let mut text = table(&ranking, table_style()) + &assumed_by_all_schedulers(&prepared);
    if let Some(n_frames) = args.window {
        text.push_str(&window_bound(&comparison, n_frames as usize)?);
    }
    output::print_text(&text)?;
    match n_failed {
        0 => Ok(()),
        _ => Err(Failure::Check(format!(
            "error: {n_failed} of {} configurations failed; the comparison is of the others",
            comparison.configurations().len()
        ))),
    }
}

/// For DREAM: `text` with the parameters that its search finds for these runs. Other schedulers stay as
/// they are.
fn tuned(text: &str, prepared: &Prepared) -> Result<String, Failure> {
    let Some(found) = prepared.tune(text)? else { return Ok(text.into()) };
    say(format_args!(
        "{}: UXCost {:.4} in the mean, the least of {} candidates",
        found.scheduler, found.uxcost, found.candidates
    ));
    Ok(found.scheduler)
}

/// Options of the runs. `--steady` sets a duration of ten seconds, random phases and a warm-up of one
/// second, unless they are given.
fn options(args: &CompareArgs) -> RunOptions {
    let mut options = args.options.clone();
    if args.steady {
        options = options.after(&["load.random_phase=true", "score.warm_up_ms=1000"]);
        if options.values("duration_ms").is_empty() {
            options = options.with("duration_ms", vec!["10000".into()]);
        }
    }
    options
}

fn policies(given: &[String]) -> Result<Vec<Policy>, Failure> {
    let policies: Vec<Policy> =
        given.iter().map(|text| scheduler(text)).collect::<Result<_, _>>()?;
    for (index, policy) in policies.iter().enumerate() {
        if policies[..index].contains(policy) {
            return Err(Failure::Argument(format!("scheduler {policy:?} is given twice")));
        }
    }
    Ok(policies)
}

fn measure(name: &str) -> Result<Measure, Failure> {
    let (name, renamed) = renamed::current(&column::RENAMED, name);
    renamed.into_iter().for_each(hint);
    Measure::named(name)
        .ok_or_else(|| super::unknown("column", name, Sample::columns().map(|column| column.name)))
}

/// Runs as many replications as are asked for, or as the interval needs.
fn replicate(comparison: &mut Comparison, args: &CompareArgs, measure: Measure) {
    match args.half_width {
        Some(half_width) => {
            replicate_until(Sequential::to(half_width), comparison, measure, extend);
        }
        None => extend(comparison, args.replications),
    }
}

/// Runs replications up to `n_replications` in all, with a bar of progress.
fn extend(comparison: &mut Comparison, n_replications: u64) {
    let runs_each = (comparison.configurations().len() * comparison.policies().len()) as u64;
    let done = AtomicU64::new(comparison.n_replications() * runs_each);
    let progress = Progress::resumed(n_replications * runs_each, done.load(Ordering::Relaxed));
    comparison.extend(n_replications, |more| {
        progress.set(done.fetch_add(more, Ordering::Relaxed) + more);
    });
    progress.finish();
}

/// Prints which configurations cannot be compared. Returns the number of them that started and failed.
///
/// # Errors
///
/// Returns a failure if there is no configuration to compare.
fn report_infeasible(comparison: &Comparison) -> Result<usize, Failure> {
    let (mut n, mut n_failed) = (0, 0);
    for configuration in comparison.configurations() {
        if let Err(error) = &configuration.replications {
            let plan = &configuration.plan;
            let (scenario, system) = (plan.scenario.name(), plan.system.name());
            n += 1;
            n_failed += usize::from(error.is_failure());
            if n <= 3 {
                say(format_args!("note: nothing to compare for {scenario} on {system}: {error}"));
            }
        }
    }
    if n > 3 {
        say(format_args!("note: {} more configurations cannot run", n - 3));
    }
    if n == comparison.configurations().len() {
        return Err(Failure::Argument("no run was feasible".into()));
    }
    Ok(n_failed)
}

/// A line about the bound from exact optima of windows.
fn window_bound(comparison: &Comparison, n_frames: usize) -> Result<String, Failure> {
    if !comparison.runs_whole() {
        let message =
            "--window bounds policies at model granularity; leave out those that cut requests";
        return Err(Failure::Argument(message.into()));
    }
    let bound = comparison.window_bound(n_frames).map_err(super::argument)?;
    Ok(format!(
        "exact optima of windows of {n_frames} frames: no scheduler exceeds a score_executed_mean of \
         {bound:.4} in the first replication\n"
    ))
}

/// Name of the record in the folder.
const RECORD: &str = "compare.json";

/// Names of the files in the folder.
const FILES: [&str; 7] = [
    "policies.csv",
    "configurations.csv",
    "metrics.csv",
    "comparison.svg",
    "comparison.png",
    "comparison.csv",
    RECORD,
];

/// Writes the files of `--out DIR`.
fn write(
    mut set: OutputSet,
    pictures: &PictureOptions,
    comparison: &Comparison,
    ranking: &Ranking,
    record: Map<String, Value>,
) -> Result<(), Failure> {
    let [policies, configurations, metrics, ..] = FILES;
    set.csv(policies, policies_csv(ranking))?;
    set.csv(configurations, configurations_csv(comparison, ranking.measure))?;
    set.csv(metrics, metrics_csv(comparison))?;
    let drawn = comparison_figure(comparison, ranking.measure);
    pictures.add(&mut set, "comparison", Format::ALL, &drawn)?;
    let folder = set.folder().display().to_string();
    set.commit(RECORD, record)?;
    say(format_args!("wrote {} to {folder}", FILES.join(", ")));
    Ok(())
}

/// Record with which the comparison can be repeated. `tuned` has the schedulers with the parameters that
/// were found.
fn record(
    args: &CompareArgs,
    tuned: Option<Vec<String>>,
    prepared: &Prepared,
    inputs: Map<String, Value>,
) -> Map<String, Value> {
    let mut record = options(args).requested();
    record.extend(output::object(json!({
        "program": "xrsim", "version": env!("CARGO_PKG_VERSION"),
        "schedulers": args.scheduler, "by": args.by,
        "replications": args.half_width.is_none().then_some(args.replications),
        "half_width": args.half_width, "enumerate": args.enumerate, "tune": args.tune,
        "tuned_schedulers": tuned, "steady": args.steady, "cost_model": prepared.cost_model().name,
        "inputs_sha256": inputs,
    })));
    record.extend(prepared.mapping_record());
    record
}
