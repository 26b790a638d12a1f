//! `xrsim sensitivity`: effects of the settings on scores and rankings.

pub(super) mod joint;

use std::path::PathBuf;

use clap::Args;
use serde_json::{Map, Value, json};

use xrsim_experiment::{DEFAULT_PES, Experiment, Prepared, Sensitivity, programs};
use xrsim_figures::{Figure, Format as Picture};
use xrsim_model::text::counted;
use xrsim_report::sensitivity::{
    level_chart, levels_csv, levels_json, levels_table, screening_chart, screening_csv,
    screening_json, screening_table,
};

use super::assumed::assumed;
use super::experiment::{RunOptions, SchedulerOption, prepare};
use super::figure::PictureOptions;
use super::message::{Failure, say};
use super::options::{Format, whole_number};
use super::output::{self, OutputSet};
use super::places::Places;
use super::progress::Progress;
use super::{record, table_style};

/// Vary the settings of runs, and measure how much scores and rankings depend on each.
#[derive(Debug, Args)]
#[command(
    after_help = "One factor at a time by default: bandwidths, latencies, memories, widths, energies, the on-chip \
    network, jitter, triggers, deadlines, and the constants of the scores. Without --scenario, --system and \
    --pes: all seven scenarios on systems A to M of 4096 PEs. Under a flexibility other than `none` every \
    hardware setting needs a search of mappings, which takes some seconds for all systems; the choices are \
    kept, so that the same command is quick the next time. `--flexibility none` needs no search.\n\n\
    Examples:\n  \
    xrsim sensitivity --flexibility none\n  \
    xrsim sensitivity --scenario AR_gaming --factor hardware.dram_bandwidth_bytes_per_cycle=32,64,256 --only\n  \
    xrsim sensitivity --system A --system J --factor pes=2048,8192 --factor score.k_per_ms=5 --only\n  \
    xrsim sensitivity --screening --flexibility none --out screening\n  \
    xrsim sensitivity --joint 400 --platform headset\n  \
    xrsim sensitivity --joint 400 --constants mine.yaml --system A,J,mine.yaml --out joint\n\n\
    docs/explanation/sensitivity.md describes factors, intervals and the screening design."
)]
pub(super) struct SensitivityArgs {
    #[command(flatten)]
    pub options: RunOptions,
    #[command(flatten)]
    pub scheduler: SchedulerOption,
    /// Factor with its levels, in place of the default levels or in addition to the default factors: any
    /// setting (`xrsim list settings`), with values or multiples such as `x0.5`; repeat for more.
    #[arg(long, value_name = "KEY[=V,V]")]
    pub factor: Vec<String>,
    /// Vary the factors of --factor only.
    #[arg(long, requires = "factor")]
    pub only: bool,
    /// Vary all factors at once, each between two levels, in a screening design of Plackett and Burman, and print
    /// main effects.
    #[arg(long)]
    pub screening: bool,
    /// Draw all uncertain constants at once, N times, with a draw of the load each, and say how often every system is the
    /// best, how far it falls, and which constant decides.
    #[arg(long, value_name = "N", conflicts_with_all = ["factor", "screening", "replications"], allow_negative_numbers = true,
        value_parser = whole_number(20..=2000))]
    pub joint: Option<u64>,
    /// Ranges of the constants for --joint: a name (`xrsim list uncertainties`) or a file.
    #[arg(long, value_name = "FILE", requires = "joint", default_value = "default")]
    pub constants: String,
    /// Independent replications of every run.
    #[arg(long, value_name = "N", default_value_t = 30, allow_negative_numbers = true, value_parser = whole_number(1..=10_000))]
    pub replications: u64,
    /// Form of the printed results.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub format: Format,
    /// Folder for sensitivity.csv, the chart tornado as pictures and data, and sensitivity.json; with --joint for
    /// joint.csv, draws.csv, the chart places, and joint.json.
    #[arg(long, short, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub pictures: PictureOptions,
}

/// Table of the folder.
pub(crate) const TABLE: &str = "sensitivity.csv";

/// Name of the chart, without an ending.
pub(crate) const CHART: &str = "tornado";

/// Names of the files of the folder.
fn files(args: &SensitivityArgs) -> Vec<String> {
    let mut files = vec![TABLE.to_string()];
    files.extend(args.pictures.names(CHART, Picture::ALL));
    files.push(record::SENSITIVITY.into());
    files
}

/// Results in all forms.
struct Made {
    table: String,
    csv: (Vec<String>, Vec<Vec<String>>),
    json: Value,
    chart: Box<dyn Figure>,
}

/// Makes the runs and prints their sensitivities.
///
/// # Errors
///
/// Returns a failure for bad input, output that cannot be written, or if no run is feasible.
pub(super) fn run(args: &SensitivityArgs) -> Result<(), Failure> {
    if let Some(n_draws) = args.joint {
        return joint::run(args, n_draws);
    }
    let experiment = experiment(args)?;
    let prepared = prepare(&experiment)?;
    let schedulers = || args.scheduler.text().into_iter().map(String::as_str);
    Places::default()
        .reading(prepared.opened())
        .reading(schedulers().flat_map(programs::files))
        .folder(args.out.as_deref(), files(args))
        .check()?;
    record::refuse_other_kind(args.out.as_deref(), "sensitivity")?;
    super::schedulers::note_untracked(args.out.iter().flat_map(|_| schedulers()));
    let sensitivity =
        Sensitivity::new(experiment, &prepared, args.replications, &args.factor, args.only)?;
    let set = args.out.as_deref().map(OutputSet::create).transpose()?;
    let inputs = programs::sha256_of_inputs(prepared.inputs(), schedulers())?;
    let made = make(args, &sensitivity, &prepared)?;
    if let Some(set) = set {
        write(set, args, &made, record(args, &prepared, inputs))?;
    }
    let Made { table, csv: (header, rows), json, .. } = &made;
    args.format.print(
        || format!("{table}{}", assumed(&prepared)),
        || json,
        || output::csv_text(header, rows),
    )
}

/// The experiment that the options describe. Systems of one size have one ranking.
fn experiment(args: &SensitivityArgs) -> Result<Experiment, Failure> {
    let experiment = args.options.experiment(args.scheduler.text())?;
    let experiment = experiment.replications(args.replications);
    let is_default = ["system", "pes"].iter().all(|key| args.options.values(key).is_empty());
    Ok(if is_default { experiment.pes(DEFAULT_PES) } else { experiment })
}

/// Makes all runs, with their number beside the bar of progress.
fn make(
    args: &SensitivityArgs,
    sensitivity: &Sensitivity,
    prepared: &Prepared,
) -> Result<Made, Failure> {
    let [n_settings, n_runs] = sensitivity.n_settings_and_runs(args.screening);
    say(format_args!(
        "{} under {}{}",
        counted(n_runs, "run"),
        counted(n_settings, "setting"),
        match prepared.chooses_mappings() {
            true => "; mappings that are not known yet are searched, and kept",
            false => "",
        }
    ));
    let progress = Progress::counting_on("runs", n_runs as u64, 0);
    let tell = |more: usize| progress.add(more as u64);
    let made = match args.screening {
        true => {
            let screened = sensitivity.screening(prepared, &tell)?;
            Made {
                table: screening_table(&screened, table_style()),
                csv: screening_csv(&screened),
                json: screening_json(&screened),
                chart: Box::new(screening_chart(&screened)),
            }
        }
        false => {
            let levels = sensitivity.levels(prepared, &tell)?;
            Made {
                table: levels_table(&levels, table_style()),
                csv: levels_csv(&levels),
                json: levels_json(&levels),
                chart: Box::new(level_chart(&levels)),
            }
        }
    };
    progress.finish();
    Ok(made)
}

/// Writes the files of `--out DIR`.
fn write(
    mut set: OutputSet,
    args: &SensitivityArgs,
    made: &Made,
    mut record: Map<String, Value>,
) -> Result<(), Failure> {
    set.csv(TABLE, made.csv.clone())?;
    args.pictures.add(&mut set, CHART, Picture::ALL, &*made.chart)?;
    record.insert("results".into(), made.json.clone());
    set.commit_and_say(record::SENSITIVITY, record, format_args!("{}", files(args).join(", ")))
}

/// Record with which the runs can be repeated.
fn record(
    args: &SensitivityArgs,
    prepared: &Prepared,
    inputs: Map<String, Value>,
) -> Map<String, Value> {
    let mut record = args.options.requested();
    record.extend(record::of_results(json!({
        "scheduler": args.scheduler.text(), "factors": args.factor, "only": args.only,
        "screening": args.screening, "replications": args.replications,
        "cost_model": prepared.cost_model().name, "inputs_sha256": inputs,
    })));
    record.extend(prepared.mapping_record());
    record
}
