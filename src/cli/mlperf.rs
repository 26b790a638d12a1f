//! `xrsim mlperf`: what LoadGen would measure of a simulated system.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;
use serde_json::{Value, json};

use crate::config::{Catalog, Edition, Hardware};
use crate::figures::{Axis, Bar, Caption, GroupPanel, GroupedBars};
use crate::hardware::System;
use crate::load::LoadSettings;
use crate::mlperf::benchmark::{Outcome, Rules, TestError, run_test};
use crate::mlperf::performance::Metric;
use crate::mlperf::rounds::{ROUNDS, Round};
use crate::mlperf::suite::{Load, Suite, Test};
use crate::mlperf::summary;
use crate::mlperf::system::{Background, Batching, Bench, Tenant};
use crate::plan::EngineSettings;
use crate::report::table;
use crate::schedule::Policy;
use crate::units::SimSpan;

use super::args::{Format, MlperfArgs, MlperfBenchmark};
use super::costs::{self, CostChoice};
use super::message::{Failure, say};
use super::output::{self, OutputFile};
use super::{conditions, table_style};

/// Measures what `args` name.
///
/// # Errors
///
/// Bad input, a network that cannot run on the system, or output that cannot be written.
pub fn run(args: &MlperfArgs) -> Result<(), Failure> {
    let mut catalog = Catalog::new();
    let (suite, rules) = suite_and_rules(args, &mut catalog)?;
    let tests = tests(args, &suite)?;
    let target = Target::new(args, &mut catalog)?;
    let made: Result<Vec<Made<'_>>, Failure> =
        tests.par_iter().map(|test| make(test, &rules, &target)).collect();
    let made = made?;
    if let Some(folder) = &args.out {
        write(folder, &made, &target)?;
    }
    match args.format {
        Format::Table => output::print(&text(&suite, rules.round, &made, &target)),
        Format::Csv => output::print(&csv(&made)),
        Format::Json => output::print(&(json(&suite, rules.round, &made, &target) + "\n")),
    }
}

/// The suite that is asked for. A round of which there is no suite has the tasks of the oldest one, with
/// the counts, durations and seeds of the round.
fn suite_and_rules(
    args: &MlperfArgs,
    catalog: &mut Catalog,
) -> Result<(Arc<Suite>, Rules), Failure> {
    let (prefix, default) = match args.benchmark {
        MlperfBenchmark::Inference => ("inference", "v0.5"),
        MlperfBenchmark::Mobile => ("mobile", "v3.0"),
    };
    let name = args.round.as_deref().unwrap_or(default);
    let round = Round::find(name)
        .ok_or_else(|| super::unknown("round", name, ROUNDS.iter().map(|round| round.name)))?;
    let own = format!("{prefix}_{}", round.name);
    let has_own = catalog.names(crate::config::Kind::Mlperf).iter().any(|known| **known == *own);
    let counts_of_round = !has_own;
    let suite = match (has_own, args.benchmark) {
        (true, _) => catalog.mlperf_suite(&own)?,
        (false, MlperfBenchmark::Inference) => catalog.mlperf_suite("inference_v0.5")?,
        (false, MlperfBenchmark::Mobile) => {
            let rounds = "v0.7, v1.0, v2.0, v3.0";
            let message =
                format!("MLPerf Mobile has no tasks here for round {name} (known: {rounds})");
            return Err(Failure::Argument(message));
        }
    };
    Ok((suite.into(), Rules { round, counts_of_round, target_qps: args.qps }))
}

/// The tests that are asked for, in the order of the suite.
fn tests<'a>(args: &MlperfArgs, suite: &'a Suite) -> Result<Vec<&'a Test>, Failure> {
    let tasks = suite.tasks();
    for name in &args.task {
        if !tasks.iter().any(|task| *task.name == **name) {
            return Err(super::unknown("task", name, tasks.iter().map(|task| &*task.name)));
        }
    }
    for name in &args.load {
        if !Load::NAMES.contains(&&**name) {
            return Err(super::unknown("load", name, Load::NAMES.into_iter()));
        }
    }
    let asked =
        |names: &[String], name: &str| names.is_empty() || names.iter().any(|it| it == name);
    let is_asked =
        |test: &&Test| asked(&args.task, &test.task.name) && asked(&args.load, test.load.name());
    let tests: Vec<_> = suite.tests.iter().filter(is_asked).collect();
    if tests.is_empty() {
        let message =
            format!("{} has no such test; `xrsim show {}` lists them", suite.name, suite.name);
        return Err(Failure::Argument(message));
    }
    Ok(tests)
}

/// What is measured.
struct Target {
    system: Arc<System>,
    costs: CostChoice,
    scheduler: Policy,
    batching: Batching,
    background: Option<Background>,
}

impl Target {
    fn new(args: &MlperfArgs, catalog: &mut Catalog) -> Result<Self, Failure> {
        let platform = catalog.platform(args.platform.as_deref().unwrap_or("paper"))?;
        let system = match catalog.hardware(&args.system)? {
            Hardware::Style(style) => {
                Arc::new(style.instantiate(args.pes, &platform).map_err(super::argument)?)
            }
            Hardware::System(system) => system,
            Hardware::Instances(_) => {
                let message = "--system takes a style or a system file, not a hardware file (.m)";
                return Err(Failure::Argument(message.into()));
            }
        };
        let wait = SimSpan::from_ms(args.batch_wait).ok_or_else(|| {
            Failure::Argument(format!(
                "--batch-wait is {}; allowed is a number of ms >= 0",
                args.batch_wait
            ))
        })?;
        let background = args.beside.as_deref().map(|name| {
            let scenario = catalog.scenario(name, Edition::Paper)?;
            let duration = SimSpan::from_ns(60_000_000_000);
            Ok::<_, Failure>(Background {
                scenario,
                load: LoadSettings { duration, ..LoadSettings::default() },
            })
        });
        Ok(Self {
            system,
            costs: costs::choose(catalog, args.cost_model.as_deref().unwrap_or("principled"))?,
            scheduler: conditions::scheduler(args.scheduler.as_deref().unwrap_or("fcfs"))?,
            batching: Batching { max: args.max_batch, wait },
            background: background.transpose()?,
        })
    }

    fn bench(&self, test: &Test) -> Result<Bench, Failure> {
        let bound = match test.load {
            Load::Server { bound, .. } => bound,
            Load::MultiStream { interval, .. } => interval,
            Load::SingleStream | Load::Offline => SimSpan::from_ns(1_000_000_000),
        };
        let network = Arc::clone(&test.task.network);
        Bench::new(
            vec![Tenant { network, batching: self.batching, bound }],
            self.background.as_ref(),
            Arc::clone(&self.system),
            &*self.costs.model,
            self.scheduler.clone(),
            EngineSettings::default(),
        )
        .map_err(super::argument)
    }

    fn name(&self) -> String {
        format!("{}@{}", self.system.name(), self.system.pes())
    }
}

/// A test that was made.
struct Made<'a> {
    test: &'a Test,
    outcome: Outcome,
}

fn make<'a>(test: &'a Test, rules: &Rules, target: &Target) -> Result<Made<'a>, Failure> {
    let bench = target.bench(test)?;
    let outcome = run_test(test, rules, &bench).map_err(|error: TestError| {
        Failure::Argument(format!("{}, {}: {error}", test.task.name, test.load.name()))
    })?;
    Ok(Made { test, outcome })
}

/// What the result is, its value and its unit.
fn metric(made: &Made<'_>) -> (String, f64, &'static str) {
    let percentile = made.outcome.settings.percentile * 100.0;
    match made.outcome.metric() {
        Metric::Latency(latency) => {
            (format!("{percentile:.0}th percentile latency"), latency.as_ms(), "ms")
        }
        Metric::Streams(streams) => ("streams".into(), streams as f64, ""),
        Metric::Rate(rate) => ("queries".into(), rate, "1/s"),
        Metric::Throughput(rate) => ("samples".into(), rate, "1/s"),
    }
}

const COLUMNS: [&str; 12] = [
    "task",
    "load",
    "metric",
    "value",
    "unit",
    "verdict",
    "p50_ms",
    "p90_ms",
    "p99_ms",
    "energy_mj_per_sample",
    "queries",
    "trials",
];

/// The cells of [`COLUMNS`].
fn cells(made: &Made<'_>, number: impl Fn(f64) -> String) -> Vec<String> {
    let (name, value, unit) = metric(made);
    let outcome = &made.outcome;
    let latency = &outcome.performance().latency;
    // 50, 90, 95, 97, 99 and 99.9.
    let [p50, p90, _, _, p99, _] = latency.percentiles.map(|it| number(it.as_ms()));
    vec![
        made.test.task.name.to_string(),
        made.test.load.name().into(),
        name,
        number(value),
        unit.into(),
        verdict(outcome).into(),
        p50,
        p90,
        p99,
        number(outcome.energy_per_sample.get()),
        outcome.performance().queries.to_string(),
        outcome.trials.to_string(),
    ]
}

fn verdict(outcome: &Outcome) -> &'static str {
    if outcome.is_valid() { "VALID" } else { "INVALID" }
}

fn text(suite: &Suite, round: &Round, made: &[Made<'_>], target: &Target) -> String {
    let header = COLUMNS.map(|column| column.replace('_', " "));
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let mut rows = table::new_table(table_style(), &header, 3);
    for made in made {
        rows.add_row(cells(made, short));
    }
    let mut text = format!(
        "{} under the rules of {} on {}, {}, batches of up to {}\n{}",
        suite.name,
        round.name,
        target.name(),
        target.scheduler.label(),
        target.batching.max,
        table::render(&rows)
    );
    for made in made.iter().filter(|made| !made.outcome.is_valid()) {
        let reason = made.outcome.performance().validity.invalid_reason();
        let reason =
            if reason.is_empty() { "early stopping asks for more queries" } else { reason.trim() };
        text.push_str(&format!("{}, {}: {reason}\n", made.test.task.name, made.test.load.name()));
    }
    for (task, share) in degradations(made) {
        text.push_str(&format!("{task}: server reaches {:.1} % of offline\n", 100.0 * share));
    }
    text
}

/// Server rate over offline rate, of every task that has both (ISCA 2020, Figure 6).
fn degradations(made: &[Made<'_>]) -> Vec<(String, f64)> {
    let value = |task: &str, load: &str| {
        let of_test = |it: &&Made<'_>| *it.test.task.name == *task && it.test.load.name() == load;
        made.iter().find(of_test).map(|made| metric(made).1)
    };
    let servers = made.iter().filter(|made| matches!(made.test.load, Load::Server { .. }));
    servers
        .filter_map(|made| {
            let task = &*made.test.task.name;
            Some((task.to_string(), value(task, "server")? / value(task, "offline")?))
        })
        .collect()
}

/// Four significant digits.
fn short(value: f64) -> String {
    let decimals = match value.abs() {
        large if large >= 1000.0 => 0,
        large if large >= 100.0 => 1,
        large if large >= 10.0 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

fn csv(made: &[Made<'_>]) -> String {
    let rows = made.iter().map(|made| cells(made, crate::figures::cell).join(",") + "\n");
    COLUMNS.join(",") + "\n" + &rows.collect::<String>()
}

fn json(suite: &Suite, round: &Round, made: &[Made<'_>], target: &Target) -> String {
    let tests = made.iter().map(|made| {
        let (name, value, unit) = metric(made);
        json!({
            "task": made.test.task.name, "load": made.test.load.name(), "metric": name,
            "value": value, "unit": unit, "verdict": verdict(&made.outcome),
            "queries": made.outcome.performance().queries, "trials": made.outcome.trials,
            "runs": made.outcome.runs,
            "energy_mj_per_sample": made.outcome.energy_per_sample.get(),
        })
    });
    let tests: Vec<Value> = tests.collect();
    let document = json!({
        "program": "xrsim", "version": env!("CARGO_PKG_VERSION"), "suite": suite.name,
        "round": round.name, "system": target.name(), "cost_model": target.costs.name,
        "scheduler": &**target.scheduler.label(), "max_batch": target.batching.max, "tests": tests,
    });
    serde_json::to_string_pretty(&document).expect("strings and numbers serialise")
}

/// The files of `--out DIR`: a folder a test, the suite as a table, and the degradation as a figure.
fn write(folder: &Path, made: &[Made<'_>], target: &Target) -> Result<(), Failure> {
    for made in made {
        let place = folder.join(&*made.test.task.name).join(made.test.load.name());
        output::create_folder(&place)?;
        let outcome = &made.outcome;
        let errors = outcome.measurement.run.endings.iter().filter(|it| it.is_error()).count();
        let text =
            summary::render(&outcome.settings, outcome.performance(), &target.name(), errors);
        output::write_text(&place.join("mlperf_log_summary.txt"), &text)?;
        write_queries(&place.join("queries.csv"), outcome)?;
    }
    output::write_text(&folder.join("suite.csv"), &csv(made))?;
    let degradations = degradations(made);
    if !degradations.is_empty() {
        super::figure::write(&folder.join("server_to_offline.svg"), &degradation(&degradations))?;
    }
    say(format_args!("wrote suite.csv and a folder for every test to {}", folder.display()));
    Ok(())
}

fn write_queries(path: &Path, outcome: &Outcome) -> Result<(), Failure> {
    let failure = |error| Failure::writing(&path.display(), &error);
    let mut file = OutputFile::create(path)?;
    file.write_all(b"query,scheduled_ns,issued_ns,completed_ns,latency_ns\n").map_err(failure)?;
    for query in &outcome.measurement.run.queries {
        let [scheduled, issued, completed] =
            [query.scheduled, query.issued, query.completed].map(|time| time.ns());
        let latency = query.latency().ns();
        writeln!(file, "{},{scheduled},{issued},{completed},{latency}", query.index)
            .map_err(failure)?;
    }
    file.finish()
}

fn degradation(shares: &[(String, f64)]) -> GroupedBars {
    let bar = |&(_, share): &(String, f64)| Some(Bar::plain(share));
    GroupedBars {
        caption: Caption::titled("Server throughput under its latency bound, relative to offline"),
        group_axis: "Task".into(),
        value_axis: Axis::new("Server / offline", ""),
        groups: shares.iter().map(|(task, _)| task.clone()).collect(),
        series: vec!["server / offline".into()],
        columns: 1,
        panels: vec![GroupPanel {
            title: String::new(),
            bars: vec![shares.iter().map(bar).collect()],
        }],
        shared_scale: true,
        published: String::new(),
    }
}
