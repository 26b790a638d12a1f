//! `xrsim run`: scenarios on systems, scores out.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Map, Value, json};

use xrsim_experiment::{Experiment, Prepared, programs};
use xrsim_sim::plan::{Plan, Semantics};

use super::again::Again;
use super::arrivals;
use super::experiment::{RunOptions, SchedulerOption, note_memory, prepare};
use super::message::Failure;
use super::options::{Format, whole_number};
use super::places::Places;
use super::progress::Progress;
use super::record;
use super::results::{self, Kept, OutputOptions, Results};
use super::trace::TraceFile;

/// Run scenarios on systems and print their scores.
#[derive(Debug, Args)]
#[command(
    after_help = "Without --scenario, --system or --pes: all seven scenarios, systems A to M, 4096 and 8192 PEs.\n\n\
    Tables have means over 30 replications, each with half of its 95 % interval; the whole suite takes about \
    a second, or longer where mappings have to be searched first. The table has a row with every column for each pair of scenario and system, up to 14 pairs of up to 4 systems. For more pairs it has the \
    best system of every scenario. Files, CSV and JSON have a row for each run, and one replication.\n\n\
    Examples:\n  \
    xrsim run --scenario AR_gaming --system J --system M --pes 4096\n  \
    xrsim run --matrix\n  \
    xrsim run --scheduler edf --replications 30 --out results\n  \
    xrsim run --system my_system.yaml --set score.k_per_ms=5\n  \
    xrsim run --semantics mlsys2023 --seed 7 --format csv\n  \
    xrsim run --semantics mlsys2023 --without name-order\n  \
    xrsim run --scenario AR_gaming --system J --pes 4096 --trace run.json"
)]
pub(super) struct RunArgs {
    #[command(flatten)]
    pub options: RunOptions,
    #[command(flatten)]
    pub scheduler: SchedulerOption,
    /// Independent replications of every run [default: 30 of each run with random draws; 1 with --out,
    /// --trace, `--format csv`, `--format json` or `--semantics mlsys2023`].
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole_number(1..=1_000_000))]
    pub replications: Option<u64>,
    #[command(flatten)]
    pub output: OutputOptions,
    /// Write a single run as a trace for Perfetto (ui.perfetto.dev) or chrome://tracing.
    #[arg(long, value_name = "FILE.json")]
    pub trace: Option<PathBuf>,
    /// Write when frames of sensors arrive, as a recording that a scenario can read (key `arrivals` of a sensor).
    /// Replications stand one after the other.
    #[arg(long, value_name = "FILE.csv")]
    pub arrivals: Option<PathBuf>,
}

/// Replications of random runs for a table. The half-width of the interval of a score is a few hundredths
/// at most then.
const REPLICATIONS: u64 = 30;

impl RunArgs {
    /// Whether the results are a table for a person, without files. Programs get a row for each run, and files
    /// grow with the number of runs.
    fn is_for_people(&self) -> bool {
        self.output.format == Format::Table && !self.keeps_requests()
    }

    /// Whether an output has rows of single requests.
    fn keeps_requests(&self) -> bool {
        self.output.out.is_some() || self.trace.is_some()
    }

    /// The experiment that the options describe, and the largest number of replications of a run.
    ///
    /// # Errors
    ///
    /// The mistake of an option.
    fn experiment(&self) -> Result<(Experiment, u64), Failure> {
        let experiment = self.options.experiment(self.scheduler.text())?;
        Ok(match self.replications {
            Some(n) => (experiment.replications(n), n),
            None if self.is_for_people() && experiment.semantics() == Semantics::Principled => {
                (experiment.replications_of_random(REPLICATIONS), REPLICATIONS)
            }
            None => (experiment, 1),
        })
    }
}

/// Makes the runs and writes their results.
///
/// # Errors
///
/// Returns a failure for bad input, output that cannot be written, or if no run is feasible.
pub(super) fn run(args: &RunArgs) -> Result<(), Failure> {
    let scheduler = args.scheduler.text();
    let (experiment, n_replications) = args.experiment()?;
    let prepared = prepare(&experiment)?;
    if args.keeps_requests() {
        note_memory(&prepared);
    }
    let schedulers = || scheduler.map(String::as_str);
    Places::default()
        .reading(prepared.opened())
        .reading(schedulers().map_or(Vec::new(), programs::files))
        .folder(args.output.out.as_deref(), results::files())
        .writing(&args.trace)
        .writing(&args.arrivals)
        .check()?;
    record::refuse_other_kind(args.output.out.as_deref(), "run")?;
    if let Some(path) = &args.arrivals {
        arrivals::write(path, &prepared)?;
    }
    let mut trace =
        args.trace.as_deref().map(|path| TraceFile::create(path, prepared.n_runs())).transpose()?;
    // Before a scheduler runs, which might change its files.
    let programs = programs::sha256_of_inputs([], schedulers())?;
    super::schedulers::note_untracked(args.output.out.iter().filter_map(|_| schedulers()));
    let mut results = {
        let again = Again::new(&args.options, scheduler);
        Results::new(&args.output, args.trace.is_some(), &prepared, again)?
    };
    let progress = Progress::new(prepared.n_runs() as u64);
    match args.keeps_requests() {
        true => {
            let keep = results.keep(trace.is_some());
            let keep = |plan: &Plan, cost_model: &str, result| keep.of(plan, cost_model, result);
            prepared.run_each(keep, |index, plan, cost_model, kept| {
                progress.set(index as u64 + 1);
                if let (Some(trace), Ok(Kept::Whole(result))) = (&mut trace, &kept) {
                    trace.write(plan, cost_model, result)?;
                }
                results.take(plan, kept)
            })?;
        }
        false => prepared.score_each(|index, plan, result| {
            progress.set(index as u64 + 1);
            results.take_scored(plan, result)
        })?,
    }
    progress.finish();
    let trace = trace.map(TraceFile::complete).transpose()?.flatten();
    results.finish(trace, || provenance(args, n_replications, &prepared, &programs))
}

/// Runs of a caller in the same process, read and checked.
pub(super) struct Requested {
    args: RunArgs,
    pub(super) prepared: Prepared,
    /// SHA-256 of the files of schedulers, before they run.
    programs: Map<String, Value>,
}

impl Requested {
    /// Reads and checks the runs of `args`.
    ///
    /// # Errors
    ///
    /// Returns a failure for bad input.
    pub(super) fn read(args: RunArgs) -> Result<Self, Failure> {
        let experiment = args.options.experiment(args.scheduler.text())?;
        let prepared = prepare(&experiment.replications(args.replications.unwrap_or(1)))?;
        let scheduler = args.scheduler.text().map(String::as_str);
        let programs = programs::sha256_of_inputs([], scheduler)?;
        Ok(Self { args, prepared, programs })
    }

    /// The record that makes the runs repeatable.
    pub(super) fn record(&self) -> Map<String, Value> {
        let n = self.args.replications.unwrap_or(1);
        provenance(&self.args, n, &self.prepared, &self.programs)
    }
}

/// The record that makes the runs repeatable.
fn provenance(
    args: &RunArgs,
    n_replications: u64,
    prepared: &Prepared,
    programs: &Map<String, Value>,
) -> Map<String, Value> {
    let mut inputs = programs.clone();
    inputs.extend(prepared.inputs().map(|it| (it.name, it.sha256.into())));
    let mut effective = prepared.settings.effective();
    effective.extend(prepared.mapping_record());
    effective.insert("scenarios".into(), json!(prepared.scenario_names()));
    effective.insert("systems".into(), json!(prepared.system_names()));
    effective.insert("technologies".into(), json!(prepared.technology_names()));
    effective.insert("cost_model".into(), json!(prepared.cost_model().name));
    let scheduler = prepared.plans().next().map(Plan::scheduler_text);
    effective.insert("scheduler".into(), json!(scheduler));
    effective.insert("replications".into(), json!(n_replications));
    let mut requested = args.options.requested();
    requested.extend(args.scheduler.text().map(|it| ("scheduler".into(), json!(it))));
    requested.insert("replications".into(), json!(n_replications));
    record::of_results(json!({
        "seed": prepared.settings.load.seed, "requested": requested, "effective": effective,
        "random": random(prepared), "inputs_sha256": inputs,
    }))
}

/// What is drawn at random in every scenario, by its name; scenarios without draws are left out.
fn random(prepared: &Prepared) -> Map<String, Value> {
    let drawn = prepared.plans().map(|plan| (plan.scenario.name(), plan.drawn()));
    let random = drawn.filter(|(_, drawn)| drawn.any());
    random.map(|(scenario, drawn)| (scenario.into(), json!(drawn.names()))).collect()
}
