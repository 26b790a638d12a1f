//! `xrsim mlperf --tenant`: several tasks at once, each with a load of its own.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::config::Catalog;
use crate::engine::Traced;
use crate::mlperf::arrivals::{Arrivals, Bursts};
use crate::mlperf::bed::TestBed as _;
use crate::mlperf::bench::{Batching, Bench, Tenant};
use crate::mlperf::benchmark::{Beside, Rules};
use crate::mlperf::peak::Trial;
use crate::mlperf::settings::{Library, Scenario, Settings};
use crate::mlperf::suite::{Load, Suite, Test};
use crate::mlperf::summary;
use crate::mlperf::tenants::{TenantOutcome, TenantTest, find_factor, play};
use crate::report::table;
use crate::units::{SimSpan, SimTime};

use super::super::args::{Format, MlperfArgs};
use super::super::key_values;
use super::super::message::{Failure, say};
use super::super::output::{self, OutputFile};
use super::super::table_style;
use super::results::short;
use super::target::{Accelerators, wait};

const KEYS: [&str; 10] = [
    "qps",
    "arrivals",
    "burst_qps",
    "burst_ms",
    "period_ms",
    "group",
    "bound_ms",
    "percentile",
    "max_batch",
    "batch_wait_ms",
];

/// A tenant that is asked for.
struct Asked<'a> {
    test: &'a Test,
    tenant: Tenant,
    load: TenantTest,
}

/// Plays the tenants of `args` at once.
///
/// # Errors
///
/// Bad input, a network that cannot run on the system, or output that cannot be written.
pub fn run(
    args: &MlperfArgs,
    catalog: &mut Catalog,
    suite: &Suite,
    rules: &Rules,
) -> Result<(), Failure> {
    let asked: Result<Vec<_>, Failure> =
        args.tenant.iter().map(|text| Parser::new(text, args, suite, rules)?.tenant()).collect();
    let asked = asked?;
    let accelerators = Accelerators::new(args, catalog)?;
    let bench = accelerators.bench(asked.iter().map(|it| it.tenant.clone()).collect())?;
    let loads = loads(&asked, rules);
    let results = Played::new(&loads, args.find_peak, &bench)?;
    let results = Results {
        system: format!("{}@{}", accelerators.system.name(), accelerators.system.pes()),
        accelerators: &accelerators,
        rules,
        asked: &asked,
        played: results,
    };
    if let Some(folder) = &args.out {
        results.write(folder)?;
    }
    match args.format {
        Format::Table => output::print(&results.text()),
        Format::Csv => output::print(&results.csv()),
        Format::Json => output::print(&(results.json() + "\n")),
    }
}

/// Queries that the slowest tenant is given time for unless others are asked for: as many as those of
/// single-stream.
const MIN_QUERIES: f64 = 1024.0;

/// What is asked of the tenants, who all last equally long: for the duration that is given, or else that of
/// the round but long enough for the slowest.
fn loads(asked: &[Asked<'_>], rules: &Rules) -> Vec<TenantTest> {
    let mut loads: Vec<_> = asked.iter().map(|it| it.load.clone()).collect();
    if rules.min_duration.is_none() {
        let rates = loads.iter().map(|it| it.arrivals.mean_rate());
        let queries = rules.min_queries.map_or(MIN_QUERIES, |queries| queries as f64);
        let longest = rates.map(|rate| queries / rate).fold(0.0, f64::max);
        let longest = SimSpan::from_ms(longest * 1e3).unwrap_or(SimSpan::MAX);
        for load in &mut loads {
            load.settings.min_duration = load.settings.min_duration.max(longest);
        }
    }
    loads
}

/// One `--tenant`.
struct Parser<'a> {
    option: String,
    test: &'a Test,
    values: BTreeMap<&'static str, &'a str>,
    args: &'a MlperfArgs,
    rules: &'a Rules,
}

impl<'a> Parser<'a> {
    fn new(
        text: &'a str,
        args: &'a MlperfArgs,
        suite: &'a Suite,
        rules: &'a Rules,
    ) -> Result<Self, Failure> {
        let (task, values) = text.split_once(':').unwrap_or((text, ""));
        let of_task = |test: &&Test| *test.task.name == *task;
        let is_server = |test: &&Test| matches!(test.load, Load::Server { .. });
        let server = suite.tests.iter().filter(of_task).find(is_server);
        let test = server.map_or_else(|| super::known_task(suite, task), Ok)?;
        let option = format!("--tenant {task}");
        let values = key_values::parse(&option, values, &KEYS)?;
        Ok(Self { option, test, values, args, rules })
    }

    fn number(&self, key: &str) -> Result<Option<f64>, Failure> {
        key_values::number(&self.option, &self.values, key)
    }

    fn ms(&self, key: &str) -> Result<Option<SimSpan>, Failure> {
        let ms = self.number(key)?;
        ms.map(|ms| wait(&format!("{key} of {}", self.option), ms)).transpose()
    }

    /// A whole number from 1 to `most`.
    fn count(&self, key: &str, most: u32) -> Result<Option<u32>, Failure> {
        let parse = |text: &&str| {
            text.parse()
                .ok()
                .filter(|count| (1..=most).contains(count))
                .ok_or_else(|| self.wrong(key, text, &format!("a whole number from 1 to {most}")))
        };
        self.values.get(key).map(parse).transpose()
    }

    fn wrong(&self, key: &str, found: &str, allowed: &str) -> Failure {
        Failure::Argument(format!("{}: {key} is `{found}`; allowed is {allowed}", self.option))
    }

    fn missing(&self, key: &str, what: &str) -> Failure {
        Failure::Argument(format!("{} needs {key}, {what}", self.option))
    }

    fn arrivals(&self) -> Result<Arrivals, Failure> {
        let qps = self.number("qps")?;
        let burst = ["burst_qps", "burst_ms", "period_ms"];
        if burst.iter().chain(&["group"]).any(|key| self.values.contains_key(key)) {
            if self.values.contains_key("arrivals") {
                return Err(Failure::Argument(format!(
                    "{}: bursts have Poisson arrivals; leave out arrivals",
                    self.option
                )));
            }
            let within = self.number("burst_qps")?;
            let within = within.ok_or_else(|| self.missing(burst[0], "the rate within a burst"))?;
            let length = self.ms("burst_ms")?;
            let length = length.ok_or_else(|| self.missing(burst[1], "how long a burst lasts"))?;
            let period = self.ms("period_ms")?;
            let period = period.ok_or_else(|| {
                self.missing(burst[2], "from the begin of a burst to that of the next")
            })?;
            let group = self.count("group", u32::MAX)?.unwrap_or(1);
            let bursts = Bursts::new(period, length, [within, qps.unwrap_or(0.0)], group);
            let failure = |error| Failure::Argument(format!("{}: {error}", self.option));
            return bursts.map(Arrivals::Bursts).map_err(failure);
        }
        let qps = qps.ok_or_else(|| self.missing("qps", "queries per second"))?;
        if !(1e-9..=1e9).contains(&qps) {
            return Err(self.wrong("qps", &qps.to_string(), "a number from 1e-9 to 1e9"));
        }
        match self.values.get("arrivals") {
            None | Some(&"poisson") => Ok(Arrivals::Poisson(qps)),
            Some(&"periodic") => Ok(Arrivals::Periodic(SimSpan::from_ns((1e9 / qps) as u64))),
            Some(other) => Err(self.wrong("arrivals", other, "poisson or periodic")),
        }
    }

    /// The bound that is given, or that of the task as a server.
    fn bound(&self) -> Result<SimSpan, Failure> {
        match (self.ms("bound_ms")?, self.test.load) {
            (Some(bound), _) => Ok(bound),
            (None, Load::Server { bound, .. }) => Ok(bound),
            _ => {
                Err(self.missing("bound_ms", "the latency bound, as the task has none of a server"))
            }
        }
    }

    fn tenant(&self) -> Result<Asked<'a>, Failure> {
        let bound = self.bound()?;
        let wait = self.ms("batch_wait_ms")?;
        let wait = wait.map_or_else(|| wait_of(self.args), Ok)?;
        let max = self.count("max_batch", Batching::MAX)?.unwrap_or(self.args.max_batch);
        let load = TenantTest { arrivals: self.arrivals()?, settings: self.settings(bound)? };
        let network = Arc::clone(&self.test.task.network);
        let tenant = Tenant { network, batching: Batching { max, wait }, bound };
        Ok(Asked { test: self.test, tenant, load })
    }

    /// LoadGen's settings of a server with this bound. All tenants last equally long, so that there is no
    /// least number of queries but by that.
    fn settings(&self, bound: SimSpan) -> Result<Settings, Failure> {
        let Self { test, rules, .. } = self;
        let percentile = match (self.number("percentile")?, test.load) {
            (Some(percent), _) => percent * 0.01,
            (None, Load::Server { .. }) => test.percentile.unwrap_or(0.99),
            _ => 0.99,
        };
        let samples = test.task.performance_samples;
        let mut requested = rules.round.settings(Scenario::Server, percentile, samples);
        requested.server_target_qps = self.arrivals()?.mean_rate();
        requested.server_target_latency_ns = bound.ns();
        requested.min_query_count = 1;
        if let Some(duration) = rules.min_duration {
            requested.min_duration_ms = duration.ns() / 1_000_000;
        } else if !rules.counts_of_round {
            requested.min_duration_ms = test.min_duration.ns() / 1_000_000;
        }
        let library = Library { performance_samples: samples, total_samples: samples };
        Settings::new(&requested, library, rules.round.loadgen)
            .map_err(|error| Failure::Argument(format!("{}: {error}", self.option)))
    }
}

fn wait_of(args: &MlperfArgs) -> Result<SimSpan, Failure> {
    wait("--batch-wait", args.batch_wait)
}

/// What came of the tenants.
struct Played {
    /// What all rates are multiplied by.
    factor: f64,
    trials: Vec<Trial>,
    outcomes: Vec<TenantOutcome>,
    beside: Option<Beside>,
}

impl Played {
    fn new(loads: &[TenantTest], finds_peak: bool, bench: &Bench) -> Result<Self, Failure> {
        let (factor, trials) = match finds_peak {
            true => {
                let search = find_factor(loads, bench).map_err(super::super::argument)?;
                let last = search.trials.last().map_or(1.0, |trial| trial.value);
                (search.peak.map_or(last, |(factor, ())| factor), search.trials)
            }
            false => (1.0, Vec::new()),
        };
        let played = play(loads, factor, bench, Traced::Load).map_err(super::super::argument)?;
        let end = |it: &TenantOutcome| it.performance.last_completed;
        let end = played.queries.iter().map(end).max().unwrap_or(SimTime::ZERO);
        let alone = bench.without_queries(end - SimTime::ZERO).map_err(super::super::argument)?;
        let pair = played.beside.zip(alone);
        let beside = pair.map(|(with_queries, alone)| Beside { with_queries, alone });
        Ok(Self { factor, trials, outcomes: played.queries, beside })
    }
}

struct Results<'a> {
    system: String,
    accelerators: &'a Accelerators,
    rules: &'a Rules,
    asked: &'a [Asked<'a>],
    played: Played,
}

const COLUMNS: [&str; 12] = [
    "tenant",
    "task",
    "verdict",
    "scheduled_qps",
    "completed_qps",
    "p50_ms",
    "p90_ms",
    "p99_ms",
    "bound_ms",
    "late_percent",
    "energy_mj_per_sample",
    "queries",
];

impl Results<'_> {
    fn rows(&self) -> impl Iterator<Item = (usize, &Asked<'_>, &TenantOutcome)> {
        let pairs = self.asked.iter().zip(&self.played.outcomes).enumerate();
        pairs.map(|(index, (asked, outcome))| (index + 1, asked, outcome))
    }

    /// The cells of [`COLUMNS`].
    fn cells(&self, number: impl Fn(f64) -> String) -> Vec<Vec<String>> {
        let row = |(tenant, asked, outcome): (usize, &Asked<'_>, &TenantOutcome)| {
            let it = &outcome.performance;
            let [p50, p90, _, _, p99, _] = it.latency.percentiles.map(|it| number(it.as_ms()));
            let queries = it.queries as f64;
            vec![
                tenant.to_string(),
                asked.test.task.name.to_string(),
                verdict(outcome).into(),
                number(it.scheduled_rate()),
                number(it.completed_rate()),
                p50,
                p90,
                p99,
                number(asked.tenant.bound.as_ms()),
                number(100.0 * it.late as f64 / queries),
                number(outcome.energy.get() / queries),
                it.queries.to_string(),
            ]
        };
        self.rows().map(row).collect()
    }

    fn text(&self) -> String {
        let header = COLUMNS.map(|column| column.replace('_', " "));
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        let mut lines = table::new_table(table_style(), &header, 3);
        for row in self.cells(short) {
            lines.add_row(row);
        }
        let scheduler = self.accelerators.scheduler.label();
        let mut text = format!(
            "tenants at once under the rules of {} on {}, {scheduler}\n{}",
            self.rules.round.name,
            self.system,
            table::render(&lines)
        );
        if !self.played.trials.is_empty() {
            let factor = short(self.played.factor);
            text.push_str(&match self.played.outcomes.iter().all(TenantOutcome::holds) {
                true => format!("all bounds hold at up to {factor} times the rates given\n"),
                false => format!("not all bounds hold even at {factor} times the rates given\n"),
            });
        }
        for (tenant, asked, outcome) in self.rows().filter(|(.., outcome)| !is_valid(outcome)) {
            let reason = outcome.performance.validity.invalid_reason();
            let reason = match reason.trim() {
                "" => "early stopping asks for more queries",
                reason => reason,
            };
            text.push_str(&format!("{tenant}, {}: {reason}\n", asked.test.task.name));
        }
        if let (Some(beside), Some(background)) =
            (&self.played.beside, &self.accelerators.background)
        {
            text.push_str(&format!(
                "{} beside scores {:.3}, {:.3} without the tenants\n",
                background.scenario.name(),
                beside.with_queries.score_executed_mean,
                beside.alone.score_executed_mean
            ));
        }
        text
    }

    fn csv(&self) -> String {
        let rows = self.cells(crate::figures::cell);
        let rows = rows.into_iter().map(|row| row.join(",") + "\n");
        COLUMNS.join(",") + "\n" + &rows.collect::<String>()
    }

    fn json(&self) -> String {
        let tenants = self.rows().map(|(tenant, asked, outcome)| {
            let it = &outcome.performance;
            json!({
                "tenant": tenant, "task": asked.test.task.name, "verdict": verdict(outcome),
                "scheduled_qps": it.scheduled_rate(), "completed_qps": it.completed_rate(),
                "percentile": asked.load.settings.percentile.get(),
                "latency_ms": it.latency.target.as_ms(), "bound_ms": asked.tenant.bound.as_ms(),
                "late": it.late, "queries": it.queries, "energy_mj": outcome.energy.get(),
                "max_batch": asked.tenant.batching.max,
                "batch_wait_ms": asked.tenant.batching.wait.as_ms(),
            })
        });
        let trial = |trial: &Trial| json!({"factor": trial.value, "passes": trial.passes});
        let document = json!({
            "program": "xrsim", "version": env!("CARGO_PKG_VERSION"),
            "round": self.rules.round.name, "system": self.system,
            "cost_model": self.accelerators.costs.name,
            "scheduler": &**self.accelerators.scheduler.label(),
            "factor": self.played.factor,
            "trials": self.played.trials.iter().map(trial).collect::<Vec<_>>(),
            "beside_score": self.played.beside.map(|it| it.with_queries.score_executed_mean),
            "beside_score_alone": self.played.beside.map(|it| it.alone.score_executed_mean),
            "tenants": tenants.collect::<Vec<Value>>(),
        });
        serde_json::to_string_pretty(&document).expect("strings and numbers serialise")
    }

    /// A folder a tenant, and all of them as a table.
    fn write(&self, folder: &Path) -> Result<(), Failure> {
        for (tenant, asked, outcome) in self.rows() {
            let place = folder.join(format!("{tenant}_{}", asked.test.task.name));
            output::create_folder(&place)?;
            let (settings, performance) = (&outcome.settings, &outcome.performance);
            let text = summary::render(settings, performance, &self.system, 0);
            output::write_text(&place.join("mlperf_log_summary.txt"), &text)?;
            write_queries(&place.join("queries.csv"), outcome)?;
        }
        output::write_text(&folder.join("tenants.csv"), &self.csv())?;
        say(format_args!(
            "wrote tenants.csv and a folder for every tenant to {}",
            folder.display()
        ));
        Ok(())
    }
}

fn is_valid(outcome: &TenantOutcome) -> bool {
    outcome.performance.validity.is_valid()
}

fn verdict(outcome: &TenantOutcome) -> &'static str {
    if is_valid(outcome) { "VALID" } else { "INVALID" }
}

fn write_queries(path: &Path, outcome: &TenantOutcome) -> Result<(), Failure> {
    let failure = |error| Failure::writing(&path.display(), &error);
    let mut file = OutputFile::create(path)?;
    file.write_all(b"query,scheduled_ns,completed_ns,latency_ns\n").map_err(failure)?;
    for (query, (due, done)) in outcome.queries.iter().enumerate() {
        let latency = done.saturating_since(*due);
        writeln!(file, "{query},{},{},{}", due.ns(), done.ns(), latency.ns()).map_err(failure)?;
    }
    file.finish()
}
