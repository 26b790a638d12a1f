//! `xrsim compare`: schedulers side by side on equal draws.

mod parts;
mod profiles;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};

use xrsim_experiment::{Prepared, programs, scheduler};
use xrsim_figures::Format;
use xrsim_model::column;
use xrsim_model::renamed;
use xrsim_model::statistics::Sequential;
use xrsim_model::text::{counted, listed};
use xrsim_report::comparison::{
    ALL, Measure, Pair, Ranking, Ranks, Tables, configurations_csv, figure as comparison_figure,
    metrics_csv, pairs, pairs_csv, policies_csv, ranks_figure, replicate_until, tables,
};
use xrsim_report::power::NO_LATER_REQUESTS;
use xrsim_sim::bounds::window::MAX_FRAMES;
use xrsim_sim::schedule::Policy;
use xrsim_sim::sweep::comparison::{Comparison, Configuration, Subject, Triggers};
use xrsim_sim::sweep::grid::Shard;

use super::assumed::assumed_by_all_schedulers;
use super::cluster::ClusterOptions;
use super::experiment::{CompareOptions, note_memory, prepare_compared};
use super::figure::PictureOptions;
use super::mappings::Mappings;
use super::message::{Failure, hint, say, warn};
use super::options::whole_number;
use super::output::OutputSet;
use super::parts::{PartOptions, shard};
use super::places::Places;
use super::progress::Progress;
use super::{output, record, schedulers, table_style};
use parts::{Divided, refuse_undivided};
use profiles::{note_time, refuse_beside_profiles, refuse_unknown};

/// Compare schedulers on common random numbers, with 95 % confidence intervals.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Every scheduler runs the same requests in each replication (common random numbers), so that their \
    differences have little noise. Without --scenario, --system and --pes: the whole benchmark, 182 \
    configurations. Without --scheduler as well: all online schedulers, in AR_gaming on M with 8,192 PEs, where they differ. `--scheduler NAME=external:COMMAND` is your own program, called NAME in the results. The order of models in the scenario decides ties between requests, which can decide \
    a comparison (examples/schedulers/README.md).\n\n\
    With --profile, runs are hours of use in place of scenarios, ranked by profile_score; each takes 1 to 3 s of CPU time. Several \
    profiles and devices add up.\n\n\
    Examples:\n  \
    xrsim compare                                                    all schedulers, in AR_gaming on M\n  \
    xrsim compare --scheduler edf,edf:admission=hopeless,rm --scenario AR_gaming\n  \
    xrsim compare --scheduler edf --scheduler sjf --scenario AR_gaming --half-width 0.005\n  \
    xrsim compare --scheduler edf --scheduler dream --replications 30 --out comparison\n  \
    xrsim compare --profile evening --device headset,glasses --system J --pes 4096 --scheduler edf,edf:governor=slack --replications 25\n  \
    xrsim compare --scheduler edf --scheduler sjf --width 3.35in --out paper    figures for a column of a paper\n  \
    xrsim compare --scheduler edf --scheduler sjf --pairs --format latex\n  \
    xrsim compare --scheduler edf --scheduler sjf --shard 2/5 --out part2     the second of five parts\n\n\
    A part (--shard) has some replications of some configurations. After an interruption the same command \
    continues it. The same command with --join for each part, in place of --shard, writes the same files \
    as one command without parts.\n\n\
    Exit status: 0 done, 1 some runs failed, 2 bad input, 75 another process is writing to the same folder (try later)."
)]
pub(super) struct CompareArgs {
    #[command(flatten)]
    pub options: CompareOptions,
    /// Scheduler, with its parameters; repeat for each, or separate them by commas: KEY=VALUE after a comma is one more
    /// parameter of the scheduler before it, and an external command goes to the end of its option [default: all online
    /// schedulers].
    #[arg(long, value_name = "P[:KEY=VALUE,..]")]
    pub scheduler: Vec<String>,
    /// What stands for runs that are not asked for, by option.
    #[arg(skip)]
    pub case: &'static [(&'static str, &'static str)],
    /// Independent replications, of every configuration.
    #[arg(long, value_name = "N", default_value_t = 30, allow_negative_numbers = true, value_parser = whole_number(1..=10_000))]
    pub replications: u64,
    /// Replicate to a precision: until half of the 95 % interval of the mean of every scheduler is at most X (30
    /// replications at least, 1000 at most).
    #[arg(long, value_name = "X", conflicts_with = "replications", value_parser = positive)]
    pub half_width: Option<f64>,
    /// Column of the ranking (a score, `missed` or `energy_mj`; of profiles `missed_share`, `hours` or `mean_w`) [default:
    /// score, the primary metric, by which `run` also ranks; profile_score for profiles].
    #[arg(long, value_name = "COLUMN")]
    pub by: Option<String>,
    /// Compare all pairs of schedulers, not only each with the best.
    #[arg(long)]
    pub pairs: bool,
    /// Format of the printed results.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub format: CompareFormat,
    /// Explain the columns, the bounds and the tests of ranks below the tables.
    #[arg(long)]
    pub explain_columns: bool,
    /// Use every pattern of triggers, with its probability, instead of draws, where there are few patterns.
    #[arg(long)]
    pub enumerate: bool,
    /// Also bound the score by windows: by exact optima of windows of N frames of the first replication, which take up
    /// to seconds each; for schedulers with model granularity.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole_number(1..=MAX_FRAMES as i64))]
    pub window: Option<u64>,
    /// Search alpha and beta of every `dream` given, as its authors do, for the least UXCost of the first
    /// replication.
    #[arg(long)]
    pub tune: bool,
    /// Steady state instead of a cold start: ten seconds at random sensor phases, with one second of
    /// warm-up.
    #[arg(long)]
    pub steady: bool,
    /// Folder of the results (policies.csv, pairs.csv, configurations.csv, metrics.csv of models and chains, LaTeX tables,
    /// and the figures of differences and of critical differences).
    #[arg(long, short, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Make the I-th of N equal parts of the replications only, into the folder of --out.
    #[arg(long, value_name = "I/N", value_parser = shard, conflicts_with = "join")]
    pub shard: Option<Shard>,
    /// Folder of a part (--shard) whose replications are taken; repeat for each. The result is that of a comparison
    /// without parts.
    #[arg(long, value_name = "DIR")]
    pub join: Vec<PathBuf>,
    /// Begin the part again, and discard what is in the folder.
    #[arg(long, requires = "shard")]
    pub restart: bool,
    #[command(flatten)]
    pub pictures: PictureOptions,
    #[command(flatten)]
    pub cluster: ClusterOptions,
}

/// Runs in which schedulers differ, for a comparison that names neither schedulers nor runs.
static CASE: [(&str, &str); 3] = [("scenario", "AR_gaming"), ("system", "M"), ("pes", "8192")];

impl CompareArgs {
    /// The same arguments with one scheduler each, and with those and the runs that stand for none.
    fn complete(&self) -> Self {
        let mut all = Self { scheduler: listed(&self.scheduler), ..self.clone() };
        if !all.scheduler.is_empty() {
            return all;
        }
        all.scheduler = schedulers::online().map(|entry| entry.name.to_string()).collect();
        // A profile stands in the place of the scenario.
        let case: &[_] = if all.subject() == Subject::Profiles { &CASE[1..] } else { &CASE };
        if case.iter().all(|(key, _)| all.options.values(key).is_empty()) {
            let with = |options: CompareOptions, (key, value): &(&str, &str)| {
                options.with(key, vec![value.to_string()])
            };
            all.options = case.iter().fold(all.options, with);
            all.case = case;
        }
        all
    }

    /// What is compared on.
    fn subject(&self) -> Subject {
        match self.options.values("profile").is_empty() {
            true => Subject::Scenarios,
            false => Subject::Profiles,
        }
    }

    fn parts(&self) -> PartOptions<'_> {
        let Self { out, shard, join, restart, cluster, .. } = self;
        PartOptions { out, shard, join, restart, cluster }
    }
}

/// Format of the printed results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum CompareFormat {
    /// Tables for a terminal.
    Table,
    /// One table as CSV: the schedulers over all scenarios and in each, or all pairs with --pairs.
    Csv,
    /// The same table as a JSON document.
    Json,
    /// Tables for LaTeX, which need the package booktabs.
    Latex,
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
    let args = &args.complete();
    refuse_undivided(args)?;
    refuse_beside_profiles(args)?;
    let subject = args.subject();
    let measure = match &args.by {
        None => Measure::primary(subject),
        Some(name) => measure(subject, name)?,
    };
    let prepared = prepare_compared(&options(args).experiment([])?)?;
    refuse_unknown(measure, &prepared)?;
    note_memory(&prepared);
    note_time(args, &prepared);
    let triggers = if args.enumerate { Triggers::Enumerated } else { Triggers::Drawn };
    let given = policies(&args.scheduler)?;
    // Refuses runs that cannot be compared, before anything is written.
    prepared.compare_some(given.clone(), triggers, |_| false)?;
    let places = Places::default()
        .reading(prepared.opened())
        .reading(args.scheduler.iter().flat_map(|text| programs::files(text)))
        .reading(args.parts().joined());
    record::refuse_other_kind(args.out.as_deref(), "compare")?;
    schedulers::note_untracked(
        args.out.iter().flat_map(|_| args.scheduler.iter().map(String::as_str)),
    );
    let divided = |inputs: &Map<String, Value>| Divided::new(args, &prepared, triggers, inputs);
    if args.cluster.is_asked() {
        return divided(&inputs(&prepared, args)?).hand_over(given);
    }
    if let Some(files) = args.parts().written() {
        places.writing(&files).check()?;
        return divided(&inputs(&prepared, args)?).make(given);
    }
    places.folder(args.out.as_deref(), file_names(&args.pictures)).check()?;
    let set = args.out.as_deref().map(OutputSet::create).transpose()?;
    // Before a scheduler runs, which might change its files.
    let inputs = inputs(&prepared, args)?;
    let (tuned, policies) = if args.tune {
        let tuned = args.scheduler.iter().map(|text| tuned(text, &prepared));
        let tuned = tuned.collect::<Result<Vec<_>, _>>()?;
        let policies = policies(&tuned)?;
        (Some(tuned), policies)
    } else {
        (None, given)
    };
    let (comparison, mappings) = match args.join.is_empty() {
        true => {
            let mut comparison = prepared.compare(policies, triggers)?;
            replicate(&mut comparison, args, measure);
            let mappings = Mappings::of(&comparison.chosen_mappings());
            (comparison, mappings)
        }
        false => divided(&inputs).join(policies)?,
    };
    let n_failed = report_infeasible(&comparison)?;
    let results = Results::new(&comparison, measure);
    if let Some(set) = set {
        let mut record = record(args, measure, tuned, &prepared, inputs);
        mappings.add_to(&mut record);
        results.write(set, &args.pictures, &comparison, record)?;
    }
    results.print(args, &comparison, &prepared)?;
    match n_failed {
        0 => Ok(()),
        _ => Err(Failure::Check(format!(
            "error: {n_failed} of {} configurations failed; the comparison is of the others",
            comparison.configurations().len()
        ))),
    }
}

/// SHA-256 of every file that the runs depend on, by name.
fn inputs(prepared: &Prepared, args: &CompareArgs) -> Result<Map<String, Value>, Failure> {
    let schedulers = args.scheduler.iter().map(String::as_str);
    Ok(programs::sha256_of_inputs(prepared.inputs(), schedulers)?)
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
fn options(args: &CompareArgs) -> CompareOptions {
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
        if policies[..index].iter().any(|it| it.is_mistaken_for(policy)) {
            refuse!("scheduler `{}` is given twice", policy.label());
        }
    }
    Ok(policies)
}

fn measure(subject: Subject, name: &str) -> Result<Measure, Failure> {
    let (name, renamed) = renamed::current(&column::RENAMED, name);
    renamed.into_iter().for_each(hint);
    let columns = subject.columns();
    Measure::of_subject(subject, name)
        .ok_or_else(|| super::unknown("column", name, columns.iter().map(|column| column.name)))
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
    let done = comparison.n_replications() * runs_each;
    let progress = Progress::resumed(n_replications * runs_each, done);
    comparison.extend(n_replications, |more| progress.add(more));
    progress.finish();
}

/// Prints which configurations cannot be compared. Returns the number of them that started and failed.
///
/// # Errors
///
/// Returns a failure if there is no configuration to compare.
fn report_infeasible(comparison: &Comparison) -> Result<usize, Failure> {
    let all = comparison.configurations();
    let without = all.iter().filter_map(|it| Some((it, it.replications.as_ref().err()?)));
    let without: Vec<_> = without.collect();
    for it in all.iter().filter(|it| it.n_uncounted() > 0).take(3) {
        let (n_draws, n_uncounted) = (comparison.n_replications(), it.n_uncounted());
        let (scenario, system) = (&it.name, it.plan.system.name());
        say(format_args!(
            "note: {scenario} on {system}: {} of {n_draws} draws count; in the others no frame is counted",
            n_draws - n_uncounted
        ));
    }
    for it in all.iter().filter(|it| it.n_stopped() > 0).take(3) {
        say(format_args!(
            "note: {} on {}: an empty battery ends {} early; {NO_LATER_REQUESTS}",
            it.name,
            it.plan.system.name(),
            counted(it.n_stopped() as usize, "run"),
        ));
    }
    let (n, n_failed) = (without.len(), without.iter().filter(|(_, it)| it.is_failure()).count());
    let tell = |line: String| match n_failed > 0 || n == all.len() {
        true => warn(format_args!("{line}")),
        false => say(format_args!("note: {line}")),
    };
    for (Configuration { plan, name: scenario, .. }, error) in without.iter().take(3) {
        let (name, pes) = (plan.system.name(), plan.system.pes());
        let mut systems = all.iter().map(|it| &it.plan.system);
        let system = match systems.any(|it| it.name() == name && it.pes() != pes) {
            true => format!("{name}@{pes}"),
            false => name.into(),
        };
        tell(format!("nothing to compare for {scenario} on {system}: {error}"));
    }
    if n > 3 {
        tell(format!("{} more configurations cannot run", n - 3));
    }
    if n == all.len() {
        refuse!("no run was feasible");
    }
    Ok(n_failed)
}

/// A line about the bound from exact optima of windows.
fn window_bound(comparison: &Comparison, n_frames: usize) -> Result<String, Failure> {
    if !comparison.runs_whole() {
        refuse!("--window bounds policies at model granularity; leave out those that cut requests");
    }
    let bound = comparison.window_bound(n_frames).map_err(super::argument)?;
    Ok(format!(
        "exact optima of windows of {n_frames} frames: no scheduler that runs requests whole exceeds a score_executed_mean of \
         {bound:.4} in the first replication\n"
    ))
}

/// Names of the tables in the folder.
pub(super) const POLICIES: &str = "policies.csv";
pub(super) const PAIRS: &str = "pairs.csv";
const CONFIGURATIONS: &str = "configurations.csv";
const METRICS: &str = "metrics.csv";

/// Names of the figures in the folder, without their endings.
const FIGURES: [&str; 2] = ["comparison", "critical_difference"];

/// Names of the tables for LaTeX, without their endings.
const LATEX: [&str; 3] = ["policies", "scenarios", "pairs"];

/// Names of all files that the folder may have.
fn file_names(pictures: &PictureOptions) -> Vec<String> {
    let tables = [POLICIES, PAIRS, CONFIGURATIONS, METRICS].map(String::from);
    let latex = LATEX.map(|name| format!("{name}.tex"));
    let figures = FIGURES.iter().flat_map(|stem| pictures.names(stem, Format::ALL));
    tables.into_iter().chain(latex).chain(figures).chain([record::COMPARE.to_string()]).collect()
}

/// Statistics of a comparison.
struct Results {
    overall: Ranking,
    by_scenario: Vec<Ranking>,
    ranks: Option<Ranks>,
    /// Pairs of all scenarios together, and of each, with the name of the scenario.
    pairs: Vec<(String, Vec<Pair>)>,
}

impl Results {
    fn new(comparison: &Comparison, measure: Measure) -> Self {
        let by_scenario = Ranking::by_scenario(comparison, measure);
        let names = by_scenario.iter().filter_map(|ranking| ranking.scenario.clone());
        let mut all_pairs = vec![(ALL.to_string(), pairs(comparison, measure, None))];
        all_pairs.extend(names.map(|name| {
            let pairs = pairs(comparison, measure, Some(&name));
            (name.to_string(), pairs)
        }));
        Self {
            overall: Ranking::new(comparison, measure),
            by_scenario,
            ranks: Ranks::compute(comparison, measure),
            pairs: all_pairs,
        }
    }

    /// The tables, with all pairs if asked for.
    fn tables(&self, with_pairs: bool) -> Tables<'_> {
        let pairs = if with_pairs { &self.pairs[..] } else { &[] };
        tables(&self.overall, &self.by_scenario, self.ranks.as_ref(), pairs)
    }

    /// The table of a format for programs.
    fn rows(&self, with_pairs: bool) -> (Vec<String>, Vec<Vec<String>>) {
        match with_pairs {
            true => pairs_csv(&self.pairs),
            false => policies_csv(&self.overall, &self.by_scenario),
        }
    }

    fn print(
        &self,
        args: &CompareArgs,
        comparison: &Comparison,
        prepared: &Prepared,
    ) -> Result<(), Failure> {
        let window =
            args.window.map(|n_frames| window_bound(comparison, n_frames as usize)).transpose()?;
        match args.format {
            CompareFormat::Table => {
                let text = self.tables(args.pairs).text(table_style(), args.explain_columns);
                let assumed = assumed_by_all_schedulers(prepared, args.case);
                output::print_text(&(text + &assumed + &window.unwrap_or_default()))
            }
            CompareFormat::Csv => {
                let (header, rows) = self.rows(args.pairs);
                output::print(&output::csv_text(&header, &rows))
            }
            CompareFormat::Json => {
                let (header, rows) = self.rows(args.pairs);
                let name = if args.pairs { "pairs" } else { "schedulers" };
                let mut document = Map::new();
                document.insert("by".into(), self.overall.measure.name().into());
                document.insert(name.into(), objects(&header, &rows));
                output::print_json(&document)
            }
            CompareFormat::Latex => {
                let tables = self.tables(args.pairs).latex();
                let texts: Vec<_> = tables.into_iter().map(|(_, text)| text).collect();
                output::print(&texts.join("\n"))
            }
        }
    }

    /// Writes the files of `--out DIR`.
    fn write(
        &self,
        mut set: OutputSet,
        pictures: &PictureOptions,
        comparison: &Comparison,
        record: Map<String, Value>,
    ) -> Result<(), Failure> {
        let measure = self.overall.measure;
        set.csv(POLICIES, self.rows(false))?;
        set.csv(PAIRS, self.rows(true))?;
        set.csv(CONFIGURATIONS, configurations_csv(comparison, measure))?;
        if comparison.subject() == Subject::Scenarios {
            set.csv(METRICS, metrics_csv(comparison))?;
        }
        for (name, text) in self.tables(true).latex() {
            set.bytes(&format!("{name}.tex"), text.as_bytes())?;
        }
        let drawn = comparison_figure(&self.overall, &self.by_scenario);
        pictures.add(&mut set, FIGURES[0], Format::ALL, &drawn)?;
        if let Some(ranks) = &self.ranks {
            pictures.add(&mut set, FIGURES[1], Format::ALL, &ranks_figure(ranks, measure))?;
        }
        let metrics = match comparison.subject() {
            Subject::Scenarios => format!(", {METRICS}"),
            Subject::Profiles => String::new(),
        };
        let files = format_args!(
            "{POLICIES}, {PAIRS}, {CONFIGURATIONS}{metrics}, tables for LaTeX, figures and {}",
            record::COMPARE
        );
        set.commit_and_say(record::COMPARE, record, files)
    }
}

/// Rows as objects; cells that are numbers are numbers, and empty ones are null.
fn objects(header: &[String], rows: &[Vec<String>]) -> Value {
    let value = |cell: &String| match serde_json::from_str::<Value>(cell) {
        _ if cell.is_empty() => Value::Null,
        Ok(number @ Value::Number(_)) => number,
        _ => json!(cell),
    };
    let object = |row: &Vec<String>| {
        Value::Object(header.iter().cloned().zip(row.iter().map(value)).collect())
    };
    Value::Array(rows.iter().map(object).collect())
}

/// Record with which the comparison can be repeated. `tuned` has the schedulers with the parameters that
/// were found.
fn record(
    args: &CompareArgs,
    measure: Measure,
    tuned: Option<Vec<String>>,
    prepared: &Prepared,
    inputs: Map<String, Value>,
) -> Map<String, Value> {
    let mut record = options(args).requested();
    record.extend(record::of_results(json!({
        "schedulers": args.scheduler, "by": measure.name(),
        "replications": args.half_width.is_none().then_some(args.replications),
        "half_width": args.half_width, "enumerate": args.enumerate, "tune": args.tune,
        "tuned_schedulers": tuned, "steady": args.steady, "cost_model": prepared.cost_model().name,
        "inputs_sha256": inputs,
    })));
    record.extend(prepared.mapping_record());
    record
}
