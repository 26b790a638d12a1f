//! `xrsim day`: hours of use on a device.

use std::cell::Cell;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use clap::Args;
use serde_json::{Map, Value, json};

use xrsim_experiment::{DayChange, DayRun, programs};
use xrsim_model::cancel;
use xrsim_model::hardware::Device;
use xrsim_model::hardware::device::{Heat, Trip};
use xrsim_model::units::{SimSpan, SimTime};
use xrsim_report::day::{DayReport, Replication, means, replications_csv};
use xrsim_results::{RunLabel, trace_events};
use xrsim_sim::sweep::day::Day;

use super::experiment::{DayOptions, SchedulerOption};
use super::figure::PictureOptions;
use super::message::{Failure, with_hints};
use super::options::whole_number;
use super::output::{OutputSet, print_text};
use super::places::Places;
use super::progress::Progress;
use super::trace::TraceFile;
use super::{record, table_style};

/// Run a profile, hours of use, on a device: battery, heat, throttling and score.
#[derive(Debug, Args)]
#[command(
    after_help = "The first lines say how long a charge lasts, the power with the share of the accelerators, the highest \
    temperatures, the share of the time that is throttled, and the score before and after throttling. Then follow the phases, \
    and the single change of governor, quality, scheduler or size that helps most, by running again on the same draws. Time after the \
    battery is empty scores 0 there.\n\n\
    Examples:\n  \
    xrsim day --profile evening --device headset --system J --pes 4096\n  \
    xrsim day --profile workday --device glasses --system J --pes 1024 --scheduler edf:governor=slack\n  \
    xrsim day --profile mine.yaml --device mine_too.yaml --system J --pes 4096 --out day\n  \
    xrsim day --profile evening --device headset --system J --pes 4096 --trace evening.json --no-changes\n  \
    xrsim day --profile evening --device headset --system J --pes 4096 --replications 30 --no-changes\n\n\
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
    /// Independent replications, whose means are printed with 95 % intervals.
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = whole_number(1..=10_000))]
    replications: u64,
    /// Do not look for the change that helps most, which takes about ten runs.
    #[arg(long)]
    no_changes: bool,
    /// Draw the day over time (phases, temperatures, power, charge and the limit of the clock) as .svg, .pdf or .png, with the data beside it as .csv.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Write the whole day as a trace for Perfetto (ui.perfetto.dev) or chrome://tracing: phases, times in which gates are closed,
    /// and temperatures, power by item, charge and the limit of the clock of the device. It has at most about 2,000 values of each, and
    /// no requests: `xrsim run --trace` has those of a scenario.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    #[command(flatten)]
    pictures: PictureOptions,
    /// Folder of files: phases.csv and day.json; with a device device.csv and course.csv; with several replications
    /// replications.csv.
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Tables of the folder. The first and the third one are of a device, the last one is of several replications.
pub(super) const DEVICE: &str = "device.csv";
pub(super) const PHASES: &str = "phases.csv";
pub(super) const COURSE: &str = "course.csv";
pub(super) const REPLICATIONS: &str = "replications.csv";

/// Files of the folder.
const FILES: [&str; 5] = [DEVICE, PHASES, COURSE, REPLICATIONS, record::DAY];

/// Makes the run and prints its results.
///
/// # Errors
///
/// Returns a failure for bad input, a run that cannot be made, or output that cannot be written.
pub(super) fn run(args: &DayArgs) -> Result<(), Failure> {
    let experiment = args.options.experiment(args.scheduler.text())?;
    let run = with_hints(|notes| DayRun::new(&experiment, &args.profile, notes))?;
    let plan = run.plan();
    if args.plot.is_some() && plan.device.is_none() {
        refuse!("--plot draws a device over time; name one with --device");
    }
    let schedulers = || args.scheduler.text().into_iter().map(String::as_str);
    Places::default()
        .reading(run.prepared().opened())
        .reading(schedulers().flat_map(programs::files))
        .folder(args.out.as_deref(), FILES)
        .drawing(&args.pictures, &args.plot)
        .writing(&args.trace)
        .check()?;
    record::refuse_other_kind(args.out.as_deref(), "day")?;
    let set = args.out.as_deref().map(OutputSet::create).transpose()?;
    let trace = args.trace.as_deref().map(|path| TraceFile::create(path, 1)).transpose()?;
    let inputs = programs::sha256_of_inputs(run.prepared().inputs(), schedulers())?;
    let day = made(&run)?;
    let supplied = plan.supplied().map_err(super::argument)?;
    let report = DayReport {
        phases: run.phases(),
        system: &plan.system,
        device: plan.device.as_ref().map(|device| &*device.name),
        supplied: &supplied,
        scheduler: plan.scheduler_name(),
        day: &day,
    };
    if let (Some(path), Some(chart)) = (&args.plot, report.chart(&trips(plan.device.as_deref()))) {
        args.pictures.write(path, &chart)?;
    }
    if let Some(mut trace) = trace {
        let label = RunLabel::from_plan(plan, &run.prepared().cost_model().name);
        trace.write_with(|file| trace_events::write_day(file, plan, &label, &day))?;
        if let Some(complete) = trace.complete()? {
            complete.rename()?;
        }
    }
    // What is printed stays if the user does not wait for the replications or the changes.
    print_text(&report.text(table_style()))?;
    let replications = replications(&run, args.replications)?;
    if let Some(mut set) = set {
        let replications = (args.replications > 1).then(|| replications_csv(&replications));
        let tables = [report.device(), Some(report.phases()), report.course(), replications];
        let mut written = Vec::new();
        for (name, table) in FILES.into_iter().zip(tables) {
            if let Some(table) = table {
                set.csv(name, table)?;
                written.push(name);
            }
        }
        written.push(record::DAY);
        let mut record = record_of(args, &run, inputs);
        record.insert("told".into(), json!(report.told()));
        let trip = |(node, at_c)| json!({ "node": node, "at_c": at_c });
        record
            .insert("trips".into(), trips(plan.device.as_deref()).into_iter().map(trip).collect());
        set.commit_and_say(record::DAY, record, format_args!("{}", written.join(", ")))?;
    }
    if args.replications > 1 {
        print_text(&means(&replications, report.outside(), table_style()))?;
    }
    if args.no_changes {
        return Ok(());
    }
    let progress = Progress::of_unknown_length("trying changes");
    let changes = run.changes();
    progress.finish();
    print_text(&advice(&changes, &run, &day))
}

/// The result of the run.
///
/// # Errors
///
/// A failure that says how far the run came if it is interrupted.
fn made(run: &DayRun) -> Result<Day, Failure> {
    const MINUTE: u64 = 60_000_000_000;
    let whole = run.phases().duration();
    let progress = Progress::counting("minutes of use");
    let simulated = Cell::new(SimSpan::ZERO);
    let day = cancel::catch(|| {
        run.run(&|at| {
            simulated.set(at - SimTime::ZERO);
            progress.set_of((at.ns() / MINUTE) as usize, (whole.ns() / MINUTE) as usize);
        })
    });
    progress.finish();
    match day {
        Ok(day) => day.map_err(super::argument),
        Err(cancel::Cancelled) => Err(Failure::Interrupted(format!(
            "{:.2} h of {:.2} h were simulated; nothing is written",
            simulated.get().as_hours(),
            whole.as_hours()
        ))),
    }
}

/// The first `n` replications; none if the run stands alone.
///
/// # Errors
///
/// A failure if they are interrupted.
fn replications(run: &DayRun, n: u64) -> Result<Vec<Replication>, Failure> {
    if n <= 1 {
        return Ok(Vec::new());
    }
    let progress = Progress::counting_on("replications", n, 0);
    let n_made = AtomicUsize::new(0);
    let made = cancel::catch(|| {
        run.replications(n, &|done| {
            n_made.fetch_max(done, Ordering::Relaxed);
            progress.set(done as u64);
        })
    });
    progress.finish();
    made.map_err(|_| {
        let made = n_made.into_inner();
        Failure::Interrupted(format!("{made} of {n} replications were made; nothing is written"))
    })
}

/// Nodes of the trips of a device, with their temperatures \[C\].
fn trips(device: Option<&Device>) -> Vec<(String, f64)> {
    let heat = device.and_then(|device| device.heat.as_ref());
    let trip = |(heat, trip): (&Heat, &Trip)| {
        (heat.network.nodes()[trip.node.index()].name.to_string(), trip.at_c)
    };
    let trips = heat.into_iter().flat_map(|heat| heat.trips.iter().map(move |trip| (heat, trip)));
    trips.map(trip).collect()
}

/// The change that helps most.
fn advice(changes: &[DayChange], run: &DayRun, day: &Day) -> String {
    let (whole, metrics) = (run.phases().duration().as_hours(), run.metrics(day));
    let (hours, value) = (metrics.hours, metrics.profile_score);
    match changes.first().filter(|it| it.value > value) {
        None => format!(
            "\nno change of governor, quality, scheduler or size that was tried helps ({})\n",
            changes.len()
        ),
        Some(best) => {
            let is_early = hours.min(best.hours) < whole;
            let note = if is_early { "  (time after the battery is empty scores 0)\n" } else { "" };
            format!(
                "\nhelps most: {}\n  {}\n  score {value:.4} -> {:.4}, h {hours:.2} -> {:.2}\n{note}",
                best.what, best.option, best.value, best.hours
            )
        }
    }
}

/// The record that makes the run repeatable.
fn record_of(args: &DayArgs, run: &DayRun, inputs: Map<String, Value>) -> Map<String, Value> {
    let mut requested = args.options.requested();
    requested.insert("profile".into(), json!(args.profile));
    if args.replications > 1 {
        requested.insert("replications".into(), json!(args.replications));
    }
    requested.extend(args.scheduler.text().map(|it| ("scheduler".into(), json!(it))));
    let mut effective = run.prepared().settings.effective();
    // The phases have durations of their own.
    effective.remove("duration_ms");
    effective.insert("profile".into(), json!(run.phases().name()));
    effective.insert("duration_s".into(), json!(run.phases().duration().ns() as f64 / 1e9));
    effective.extend(run.prepared().mapping_record());
    effective.insert("scheduler".into(), json!(run.plan().scheduler_text()));
    effective.insert("system".into(), json!(run.prepared().system_names()));
    record::of_results(json!({
        "seed": run.plan().load.seed, "requested": requested, "effective": effective,
        "inputs_sha256": inputs,
    }))
}
