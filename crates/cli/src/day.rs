//! `xrsim day`: hours of use on a device.

use std::cell::Cell;
use std::path::PathBuf;

use clap::Args;
use serde_json::{Map, Value, json};

use xrsim_experiment::{DayChange, DayRun, programs};
use xrsim_model::cancel;
use xrsim_model::hardware::Device;
use xrsim_model::hardware::device::{Heat, Trip};
use xrsim_report::day::DayReport;
use xrsim_sim::sweep::day::Day;

use super::experiment::{DayOptions, RunOptions, SchedulerOption};
use super::figure::PictureOptions;
use super::message::{Failure, with_hints};
use super::output::{OutputSet, print_text};
use super::places::Places;
use super::progress::Progress;
use super::{record, table_style};

/// Run a profile, hours of use, on a device: battery, heat, throttling and score.
#[derive(Debug, Args)]
#[command(
    after_help = "The first lines say how long a charge lasts, the power with the share of the accelerators, the highest \
    temperatures, the share of the time that is throttled, and the score before and after throttling. Then follow the phases, \
    and the single change of governor, scheduler or size that helps most, by running again on the same draws. Time after the \
    battery is empty scores 0 there.\n\n\
    Examples:\n  \
    xrsim day --profile evening --device headset --system J --pes 4096\n  \
    xrsim day --profile workday --device glasses --system J --pes 1024 --scheduler edf:governor=slack\n  \
    xrsim day --profile mine.yaml --device mine_too.yaml --system J --pes 4096 --out day\n\n\
    docs/how-to/battery.md shows how."
)]
pub(super) struct DayArgs {
    /// Profile: a name (`xrsim list profiles`) or a file.
    #[arg(long, value_name = "P|FILE")]
    profile: String,
    #[command(flatten)]
    options: DayOptions,
    #[command(flatten)]
    scheduler: SchedulerOption,
    /// Do not look for the change that helps most, which takes about ten runs.
    #[arg(long)]
    no_changes: bool,
    /// Draw temperatures, power and charge over time as .svg, .pdf or .png, with the data beside it as .csv.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    pictures: PictureOptions,
    /// Folder of files: device.csv, phases.csv, course.csv and day.json.
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Files of the folder.
const FILES: [&str; 4] = ["device.csv", "phases.csv", "course.csv", record::DAY];

/// Makes the run and prints its results.
///
/// # Errors
///
/// Returns a failure for bad input, a run that cannot be made, or output that cannot be written.
pub(super) fn run(args: &DayArgs) -> Result<(), Failure> {
    let options = RunOptions::from(args.options.clone());
    let experiment = options.experiment(args.scheduler.text())?;
    let run = with_hints(|notes| DayRun::new(&experiment, &args.profile, notes))?;
    let schedulers = || args.scheduler.text().into_iter().map(String::as_str);
    Places::default()
        .reading(run.prepared().opened())
        .reading(schedulers().flat_map(programs::files))
        .folder(args.out.as_deref(), FILES)
        .drawing(&args.pictures, &args.plot)
        .check()?;
    record::refuse_other_kind(args.out.as_deref(), "day")?;
    let set = args.out.as_deref().map(OutputSet::create).transpose()?;
    let inputs = programs::sha256_of_inputs(run.prepared().inputs(), schedulers())?;
    let day = made(&run)?;
    let plan = run.plan();
    let report = DayReport {
        phases: run.phases(),
        system: &plan.system,
        device: plan.device.as_ref().map(|device| &*device.name),
        scheduler: plan.scheduler_name(),
        day: &day,
    };
    let mut text = report.text(table_style());
    if !args.no_changes {
        let progress = Progress::of_unknown_length("trying changes");
        let changes = run.changes();
        progress.finish();
        text += &advice(&changes, run.value(&day));
    }
    if let Some(path) = &args.plot {
        let Some(chart) = report.chart(&limits(plan.device.as_deref())) else {
            refuse!("--plot draws a device over time; name one with --device");
        };
        args.pictures.write(path, &chart)?;
    }
    if let Some(mut set) = set {
        set.csv(FILES[0], report.device())?;
        set.csv(FILES[1], report.phases())?;
        set.csv(FILES[2], report.course())?;
        let record = record_of(args, &options, &run, inputs);
        set.commit_and_say(record::DAY, record, format_args!("{}", FILES.join(", ")))?;
    }
    print_text(&text)
}

/// The result of the run.
///
/// # Errors
///
/// A failure that says how far the run came if it is interrupted.
fn made(run: &DayRun) -> Result<Day, Failure> {
    const MINUTE: u64 = 60_000_000_000;
    let whole = run.phases().duration().ns();
    let progress = Progress::counting("minutes of use");
    let simulated = Cell::new(0);
    let day = cancel::catch(|| {
        run.run(&|at| {
            simulated.set(at.ns());
            progress.set_of((at.ns() / MINUTE) as usize, (whole / MINUTE) as usize);
        })
    });
    progress.finish();
    let hours = |ns: u64| ns as f64 / 3.6e12;
    match day {
        Ok(day) => day.map_err(super::argument),
        Err(cancel::Cancelled) => Err(Failure::Interrupted(format!(
            "{:.2} h of {:.2} h were simulated; nothing is written",
            hours(simulated.get()),
            hours(whole)
        ))),
    }
}

/// Limits of the trips of a device, with their names.
fn limits(device: Option<&Device>) -> Vec<(String, f64)> {
    let heat = device.and_then(|device| device.heat.as_ref());
    let limit = |(heat, trip): (&Heat, &Trip)| {
        let node = &heat.network.nodes()[trip.node.index()].name;
        (format!("trip of {node}: {} C", trip.at_c), trip.at_c)
    };
    let trips = heat.into_iter().flat_map(|heat| heat.trips.iter().map(move |trip| (heat, trip)));
    trips.map(limit).collect()
}

/// The change that helps most.
fn advice(changes: &[DayChange], value: f64) -> String {
    match changes.first().filter(|it| it.value > value) {
        None => format!(
            "\nno change of governor, scheduler or size that was tried helps ({})\n",
            changes.len()
        ),
        Some(best) => format!(
            "\nhelps most: {} ({}): {:.2} h, score {:.4}; over the whole profile {:.4} in place of {value:.4}\n",
            best.what, best.option, best.hours, best.score, best.value
        ),
    }
}

/// The record that makes the run repeatable.
fn record_of(
    args: &DayArgs,
    options: &RunOptions,
    run: &DayRun,
    inputs: Map<String, Value>,
) -> Map<String, Value> {
    let mut requested = options.requested();
    requested.insert("profile".into(), json!(args.profile));
    requested.extend(args.scheduler.text().map(|it| ("scheduler".into(), json!(it))));
    let mut effective = run.prepared().settings.effective();
    effective.extend(run.prepared().mapping_record());
    effective.insert("scheduler".into(), json!(run.plan().scheduler_text()));
    effective.insert("system".into(), json!(run.prepared().system_names()));
    record::of_results(json!({
        "seed": run.plan().load.seed, "requested": requested, "effective": effective,
        "inputs_sha256": inputs,
    }))
}
