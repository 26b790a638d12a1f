//! Results of tests as a table, CSV, JSON and files.

use serde_json::{Map, Value, json};

use xrsim_figures::Format as Picture;
use xrsim_mlperf::benchmark::{BackgroundScores, TestResult, Trial};
use xrsim_mlperf::logs::{LoggedRun, files};
use xrsim_mlperf::results::{Metric, Performance, Unsustained};
use xrsim_mlperf::rules::{Cooldown, Load, Round, Suite, Test};
use xrsim_mlperf::settings::{EffectiveSettings, LoadScenario};
use xrsim_mlperf::sut::DeviceRun;
use xrsim_model::units::{Millijoules, SimSpan, SimTime};
use xrsim_report::mlperf::{
    NoShare, RateResult, SUITE_COLUMNS, server_share, server_to_offline, verdict,
};
use xrsim_report::power::Powers;
use xrsim_report::table::heading;
use xrsim_results::{device_cells, device_values};

use super::super::figure::PictureOptions;
use super::super::message::Failure;
use super::super::options::Format;
use super::super::output::{self, OutputSet};
use super::super::record;
use super::Made;
use super::logs;
use super::target::Target;

/// Results of all tests.
pub(super) struct Results<'a> {
    pub suite: &'a Suite,
    pub round: &'a Round,
    pub target: &'a Target,
    /// SHA-256 of the files that were read.
    pub inputs: Map<String, Value>,
    pub pictures: &'a PictureOptions,
    pub made: Vec<Made<'a>>,
}

/// Columns of the queries of a test.
const QUERY_COLUMNS: &str = "query,scheduled_ns,issued_ns,completed_ns,latency_ns";

/// Path in `--out` of a file of `test`.
fn file(test: &Test, name: &str) -> String {
    format!("{}/{}/{name}", test.task.name, test.load.name())
}

/// Every file that `--out` may have for these tests, on a device or not.
pub(super) fn files(tests: &[&Test], has_device: bool, pictures: &PictureOptions) -> Vec<String> {
    let of_test = |test: &&Test| {
        let own = [files::QUERIES.to_string()].into_iter();
        let own = own.chain(pictures.names(files::CURVE_FIGURE, Picture::ALL));
        let all = files::LOGS.into_iter().map(String::from).chain(own);
        all.map(|name| file(test, &name)).collect::<Vec<_>>()
    };
    let whole =
        [files::SUITE, files::RECORD].into_iter().chain(has_device.then_some(files::DEVICE));
    let whole = whole.map(String::from);
    let whole = whole.chain(pictures.names(files::SERVER_TO_OFFLINE, Picture::ALL));
    tests.iter().flat_map(of_test).chain(whole).collect()
}

/// Column of the result.
const VALUE: usize = 3;

/// Column of its unit.
const UNIT: usize = 4;

/// Columns of percentiles.
const PERCENTILES: [usize; 3] = [6, 7, 8];

/// Columns of the usage scenario in the background.
const BESIDE: [usize; 2] = [14, 15];

/// Number of columns that the printed table always has; it has the others if they are not empty.
const ALWAYS: usize = 10;

impl Results<'_> {
    /// Prints all results.
    ///
    /// # Errors
    ///
    /// Output that cannot be printed.
    pub(super) fn print(&self, format: Format) -> Result<(), Failure> {
        format.print(|| self.text(), || self.json(), || self.csv())
    }

    fn text(&self) -> String {
        let mut rows: Vec<_> = self.made.iter().map(|made| cells(made, short)).collect();
        let beside = self.target.beside();
        for row in &mut rows {
            // Streams are whole.
            if row[UNIT].is_empty()
                && let Some((whole, _)) = row[VALUE].split_once('.')
            {
                row[VALUE] = whole.into();
            }
            let columns = BESIDE.into_iter().filter(|_| beside.is_some());
            for column in columns.chain([VALUE]).chain(PERCENTILES) {
                if row[column].is_empty() {
                    row[column] = "n/a".into();
                }
            }
        }
        let is_shown = |column: &usize| {
            *column < ALWAYS
                || rows.iter().any(|row| !row[*column].is_empty() && row[*column] != "0")
        };
        let shown: Vec<usize> = (0..SUITE_COLUMNS.len()).filter(is_shown).collect();
        let header: Vec<_> = shown.iter().map(|&it| heading(SUITE_COLUMNS[it])).collect();
        let rows = rows.iter().map(|row| shown.iter().map(|&column| &row[column]));
        let (_, scheduler) = self.target.model_and_scheduler();
        let mut text = format!(
            "{} under the rules of {} on {}, {scheduler}, batches of up to {}\n{}",
            self.suite.name,
            self.round.name,
            self.target.name(),
            self.target.batching.max,
            output::table_text(&header, rows, 3)
        );
        for made in self.made.iter().filter(|made| !made.result.is_valid()) {
            let Made { test, result, .. } = made;
            text.push_str(&format!(
                "{}, {}: {}\n",
                test.task.name,
                test.load.name(),
                reason_of(result)
            ));
        }
        for made in self.made.iter().filter(|made| made.result.background.is_none()) {
            let (task, load) = (&made.test.task.name, made.test.load.name());
            text.push_str(
                &beside.map_or(String::new(), |it| format!("{task}, {load}: {}", unscored(it))),
            );
        }
        for (task, share) in self.degradations() {
            text.push_str(&match share {
                Ok(share) => format!("{task}: server reaches {:.1} % of offline\n", 100.0 * share),
                Err(why) => format!("{task}: server is not compared with offline: {why}\n"),
            });
        }
        if let Some(cooldown) = &self.suite.cooldown {
            text.push_str(&self.timeline(cooldown));
        }
        let settings = self.made.iter().map(|made| &made.result.settings);
        let tasks = self.made.iter().map(|made| &*made.test.task);
        let devices = self.made.iter().filter_map(|made| made.result.device.as_ref());
        text + &powers(self.target.device_name(), devices)
            + &self.target.assumed(tasks)
            + &once(settings, self.round)
    }

    /// Duration of all tests one after another, by the rules of a suite with pauses.
    fn timeline(&self, cooldown: &Cooldown) -> String {
        let n = self.made.len();
        let minutes = |span: SimSpan| span.as_ms() / 60_000.0;
        let tests: f64 = self.made.iter().map(|made| minutes(made.result.duration())).sum();
        let pauses = (n - 1) as f64 * minutes(cooldown.between_tests);
        format!(
            "in this order: {tests:.1} min of tests and {} pauses of {:.0} min to cool down (0 to {:.0} \
             are allowed), {:.1} min in all; {:.0} min before the suite is run again\n",
            n - 1,
            minutes(cooldown.between_tests),
            minutes(cooldown.max_between_tests),
            tests + pauses,
            minutes(cooldown.between_runs),
        )
    }

    /// Server rate over offline rate of every task that has both, or the reason why it has none.
    fn degradations(&self) -> Vec<(&str, Result<f64, NoShare>)> {
        let result = |made: &Made<'_>| RateResult {
            per_s: metric(&made.result).1,
            is_valid: made.result.is_valid(),
        };
        let of_load = |task: &str, load: &str| {
            let of_test =
                |it: &&Made<'_>| *it.test.task.name == *task && it.test.load.name() == load;
            self.made.iter().find(of_test).map(result)
        };
        let servers = self.made.iter().filter(|made| matches!(made.test.load, Load::Server { .. }));
        servers
            .filter_map(|made| {
                let task = &*made.test.task.name;
                Some((task, server_share(result(made), of_load(task, "offline")?)))
            })
            .collect()
    }

    fn csv(&self) -> String {
        let rows = self.made.iter().map(|made| cells(made, xrsim_model::text::cell));
        output::csv_text(&SUITE_COLUMNS, &rows.collect::<Vec<_>>())
    }

    fn json(&self) -> Map<String, Value> {
        let tests: Vec<Value> = self.made.iter().map(document).collect();
        let (cost_model, scheduler) = self.target.model_and_scheduler();
        let cooldown = self.suite.cooldown.map(|it| {
            json!({
                "between_tests_s": it.between_tests.as_ms() / 1e3,
                "max_between_tests_s": it.max_between_tests.as_ms() / 1e3,
                "between_runs_s": it.between_runs.as_ms() / 1e3,
            })
        });
        let mut record = record::of_results(json!({
            "command_line": super::super::cluster::line("mlperf"),
            "suite": self.suite.name,
            "round": self.round.name, "system": self.target.name(), "cost_model": cost_model,
            "scheduler": scheduler, "max_batch": self.target.batching.max,
            "batch_wait_ms": self.target.batching.wait.as_ms(), "cooldown": cooldown,
            "deviations": self.suite.deviations, "inputs_sha256": self.inputs, "tests": tests,
        }));
        self.target.record(self.made.iter().map(|made| &*made.test.task), &mut record);
        record
    }

    /// Writes the files of `--out DIR`: a folder for each test, the table of the suite, and figures.
    ///
    /// # Errors
    ///
    /// A file that cannot be written.
    pub(super) fn write(&self, mut set: OutputSet) -> Result<(), Failure> {
        let system = self.target.name();
        for Made { test, result, curve } in &self.made {
            let place = |name: &str| file(test, name);
            let run = LoggedRun::from_measurement(&result.settings, &result.measurement);
            logs::write(&mut set, place, &result.settings, &run, result.performance(), &system)?;
            let queries = result.measurement.run.queries.iter().map(|query| {
                let times = [query.scheduled, query.issued, query.completed].map(SimTime::ns);
                let [scheduled, issued, completed] = times;
                [query.index as u64, scheduled, issued, completed, query.latency().ns()]
            });
            logs::write_queries(&mut set, &place(files::QUERIES), QUERY_COLUMNS, queries)?;
            if let Some(curve) = curve {
                if let Some(figure) = curve.draw(&test.task.title, &system) {
                    let stem = place(files::CURVE_FIGURE);
                    self.pictures.add_picture(&mut set, &stem, Picture::ALL, &figure)?;
                }
                set.csv(&place(files::CURVE), curve.rows())?;
            }
        }
        set.bytes(files::SUITE, self.csv().as_bytes())?;
        let rows = self.made.iter().filter_map(|Made { test, result, .. }| {
            let label = [("task", test.task.name.to_string()), ("load", test.load.name().into())];
            Some((label, result.device.as_ref()?))
        });
        let device = write_device(&mut set, rows)?;
        let shares = self.degradations().into_iter();
        let degradations: Vec<_> = shares.filter_map(|(task, it)| Some((task, it.ok()?))).collect();
        if !degradations.is_empty() {
            let figure = server_to_offline(&degradations, &system);
            self.pictures.add(&mut set, files::SERVER_TO_OFFLINE, Picture::ALL, &figure)?;
        }
        let files = format_args!("{}{device} and a folder for every test", files::SUITE);
        set.commit_and_say(files::RECORD, self.json(), files)
    }
}

/// Line about the single draw of random arrivals; empty without a server.
pub(super) fn once<'a>(
    settings: impl Iterator<Item = &'a EffectiveSettings>,
    round: &Round,
) -> String {
    let server = settings.into_iter().find(|it| it.scenario == LoadScenario::Server);
    server.map_or(String::new(), |server| {
        format!(
            "arrivals at servers are random: one draw, of the schedule seed {} of {}, at every rate; no \
             interval\n",
            server.seeds.schedule, round.name
        )
    })
}

/// Lines about the power of the device called `name` in all its runs; empty without a device.
pub(super) fn powers<'a>(name: Option<&str>, runs: impl Iterator<Item = &'a DeviceRun>) -> String {
    let mut powers = Powers::default();
    runs.for_each(|run| powers.add(name.unwrap_or_default(), &run.ledger));
    powers.note()
}

/// Adds the table of the device to `set`: a row for each run, each with the cells of its own columns before those of
/// every device. Its name, after a comma, for the line about what was written; empty without a device.
pub(super) fn write_device<'a, const N: usize>(
    set: &mut OutputSet,
    rows: impl Iterator<Item = ([(&'static str, String); N], &'a DeviceRun)>,
) -> Result<&'static str, Failure> {
    let row = |(label, run): ([(&'static str, String); N], &DeviceRun)| {
        label.into_iter().chain(device_cells(&run.ledger, Some(&run.body))).unzip()
    };
    let (headers, rows): (Vec<Vec<&str>>, Vec<Vec<String>>) = rows.map(row).unzip();
    let Some(header) = headers.into_iter().next() else { return Ok("") };
    set.csv(files::DEVICE, (header.into_iter().map(String::from).collect(), rows))?;
    Ok(", device.csv")
}

/// The device of a run in JSON: the columns of its table.
pub(super) fn device_document(run: &DeviceRun) -> Value {
    let values = device_values(&run.ledger, Some(&run.body)).into_iter();
    Value::Object(values.map(|(name, value)| (name.into(), value)).collect())
}

/// Line about a usage scenario in the background that has no score.
pub(super) fn unscored(scenario: &str) -> String {
    format!(
        "{scenario} beside has no score: no frame that counts came until the last query was done\n"
    )
}

fn reason_of(result: &TestResult) -> String {
    if let Some(device) = result.stopped() {
        return device.why_stopped();
    }
    reason(&result.settings, result.performance(), result.unsustained.as_ref())
}

/// Reason why a result is invalid.
pub(super) fn reason(
    settings: &EffectiveSettings,
    performance: &Performance,
    unsustained: Option<&Unsustained>,
) -> String {
    let is_valid = performance.validity.is_valid();
    let explains = |it: &&Unsustained| is_valid || matches!(it, Unsustained::NoRate { .. });
    if let Some(unsustained) = unsustained.filter(explains) {
        return unsustained.to_string();
    }
    let (least, bound) = (performance.latency.min, settings.target_latency);
    if settings.scenario == LoadScenario::Server && least > bound {
        let (least, bound) = (least.as_ms(), bound.as_ms());
        return format!("one query alone takes {least} ms, and the bound is {bound} ms");
    }
    let reason = performance.validity.invalid_reason();
    match reason.trim() {
        "" => "early stopping asks for more queries".into(),
        reason => reason.into(),
    }
}

/// Name, value and unit of the result. There is no value if not every sample was done.
fn metric(result: &TestResult) -> (String, Option<f64>, &'static str) {
    let percentile = result.settings.percentile.get() * 100.0;
    let (name, value, unit) = match result.metric() {
        Metric::Latency(latency) => {
            (format!("{percentile:.0}th percentile latency"), Some(latency.as_ms()), "ms")
        }
        Metric::Streams(streams) => ("streams".into(), Some(streams as f64), ""),
        Metric::Rate(rate) => ("queries".into(), rate, "1/s"),
        Metric::Throughput(rate) => ("samples".into(), rate, "1/s"),
    };
    (name, value.filter(|_| result.stopped().is_none()), unit)
}

/// The cells of [`SUITE_COLUMNS`].
fn cells(made: &Made<'_>, number: impl Fn(f64) -> String) -> Vec<String> {
    let Made { test, result, .. } = made;
    let (name, value, unit) = metric(result);
    // 50, 90, 95, 97, 99 and 99.9.
    let percentiles = result.performance().latency.percentiles;
    // A test that the device ended has no results.
    let stopped = result.stopped().is_some();
    let measured = |it: SimSpan| if stopped { String::new() } else { number(it.as_ms()) };
    let [p50, p90, _, _, p99, _] = percentiles.map(measured);
    let known = |value: Option<f64>| value.map_or(String::new(), &number);
    let energy = |energy: Option<Millijoules>| known(energy.map(Millijoules::get));
    let beside = |of: fn(&BackgroundScores) -> f64| known(result.background.as_ref().map(of));
    vec![
        test.task.name.to_string(),
        test.load.name().into(),
        name,
        known(value),
        unit.into(),
        verdict(result.is_valid()).into(),
        p50,
        p90,
        p99,
        energy(result.energy_per_sample()),
        energy(result.energy_per_stream()),
        known(result.mean_power_w()),
        result.performance().queries.to_string(),
        result.trials.len().to_string(),
        beside(|it| it.with_queries.score_executed_mean),
        beside(|it| it.alone.score_executed_mean),
    ]
}

/// Number with about four significant digits.
pub(super) fn short(value: f64) -> String {
    let decimals = match value.abs() {
        large if large >= 1000.0 => 0,
        large if large >= 100.0 => 1,
        large if large >= 10.0 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

fn document(made: &Made<'_>) -> Value {
    let Made { test, result, .. } = made;
    let (name, value, unit) = metric(result);
    let trial = |trial: &Trial| json!({"value": trial.value, "passes": trial.passes});
    let quality = &test.task.quality;
    let bound = match test.load {
        Load::Server { bound, .. } => Some(bound.as_ms()),
        _ => None,
    };
    let mut document = json!({
        "task": test.task.name, "load": test.load.name(), "metric": name, "value": value,
        "unit": unit, "verdict": verdict(result.is_valid()),
        "reason": (!result.is_valid()).then(|| reason_of(result)),
        "dataset": test.task.dataset,
        "quality": {"metric": quality.metric, "unit": quality.unit, "target": quality.target.value()},
        "percentile": result.settings.percentile.get(), "bound_ms": bound,
        "queries": result.performance().queries, "runs": result.runs,
        "duration_s": result.duration().as_ms() / 1e3,
        "energy_mj_per_sample": result.energy_per_sample().map(Millijoules::get),
        "energy_mj_per_stream": result.energy_per_stream().map(Millijoules::get),
        "mean_power_w": result.mean_power_w(),
        "beside_score": result.background.map(|it| it.with_queries.score_executed_mean),
        "beside_score_alone": result.background.map(|it| it.alone.score_executed_mean),
        "trials": result.trials.iter().map(trial).collect::<Vec<_>>(),
    });
    if let Some(device) = &result.device {
        document["device"] = device_document(device);
    }
    document
}
