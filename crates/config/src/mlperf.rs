//! `mlperf:` files: the tasks of a suite of MLPerf and the tests of each.

use std::sync::Arc;

use serde_json::json;

use xrsim_mlperf::logs::files;
use xrsim_mlperf::rules::{Benchmark, Cooldown, Load, Quality, QualityTarget, Suite, Task, Test};
use xrsim_model::model::Network;
use xrsim_model::units::SimSpan;

use super::form::{self, Form};
use super::network::statements;
use super::quantities::{positive, positive_ms, seconds};
use super::yaml::keys::{keys, mapping};
use super::yaml::read::{At, Problems, printable, unknown_name};
use super::yaml::values::{
    Reader, at, at_most, converted, flag, list, number, one_of, proper_name, text, value,
};
use super::yaml::{Fields, Node, Value};
use super::{ParameterValues, Parameters, Problem, parameters, reference};

/// Largest number of tasks of a suite.
const MAX_TASKS: usize = 1000;
/// Largest number of queries or samples of a test.
const MAX_COUNT: u64 = 1 << 32;
/// Largest number of runs of a test.
const MAX_RUNS: u32 = 1000;
/// Longest name of a task: file systems allow 255 bytes, some of which the number of a tenant takes.
const MAX_TASK_NAME: usize = 200;

/// Words of `benchmark`.
const BENCHMARKS: [(&str, Benchmark); 2] =
    [("inference", Benchmark::Inference), ("mobile", Benchmark::Mobile)];

/// Load as a key of `loads`, in the order of [`Load::NAMES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    SingleStream,
    MultiStream,
    Server,
    Offline,
}

impl Key {
    const ALL: [Self; 4] = [Self::SingleStream, Self::MultiStream, Self::Server, Self::Offline];

    /// Words of the key `load` of a test.
    const NAMES: [(&str, Self); 4] = [
        (Load::NAMES[0], Self::SingleStream),
        (Load::NAMES[1], Self::MultiStream),
        (Load::NAMES[2], Self::Server),
        (Load::NAMES[3], Self::Offline),
    ];

    /// Name in a file.
    fn text(self) -> &'static str {
        ["single_stream", "multi_stream", "server", "offline"][self as usize]
    }

    /// Description.
    fn about(self) -> &'static str {
        match self {
            Self::SingleStream => "One query after the other.",
            Self::MultiStream => "Queries of several samples at an interval.",
            Self::Server => "Queries at random, at a rate.",
            Self::Offline => "All samples at once.",
        }
    }
}

/// Requirements of a task under one load.
#[derive(Clone, Copy)]
struct Demand {
    load: Load,
    percentile: Option<f64>,
    min_count: u64,
    min_duration: SimSpan,
    is_optional: bool,
}

/// Keys of a load; the suite supplies those that a task omits.
#[derive(Clone, Copy, Default)]
struct RawLoad {
    percentile: Option<f64>,
    min_count: Option<u64>,
    min_duration: Option<SimSpan>,
    interval: Option<SimSpan>,
    queries_per_s: Option<f64>,
    bound: Option<SimSpan>,
    runs: Option<u32>,
    is_optional: Option<bool>,
}

/// Loads, indexed by [`Key`].
type RawLoads = [Option<At<RawLoad>>; 4];

/// Body of an `mlperf:` file.
pub(super) fn suite() -> impl Reader<Value = RawSuite> {
    raw_suite().then(|suite, _, problems| {
        refuse_namesakes(&suite.tasks, problems)?;
        Some(suite)
    })
}

/// An `mlperf:` file whose networks are still names.
pub(super) struct RawSuite {
    head: Head,
    tasks: Vec<RawTask>,
    order: Option<Vec<At<RawTest>>>,
}

keys! {
    fn head() -> struct Head: "a suite of MLPerf" {
        /// Name of the suite.
        name: Box<str> = required(proper_name());
        /// Benchmark whose rules hold.
        benchmark: Benchmark = required(one_of(&BENCHMARKS));
        /// Round of submissions, such as `v0.5`.
        round: Box<str> = required(text());
        cooldown: Option<Cooldown> = optional(cooldown());
        /// Deviations from the publication, and unverified values.
        deviations: Vec<Box<str>> = or_default(statements());
    }
}

fn raw_suite() -> impl Reader<Value = RawSuite> {
    let read = |fields: &mut Fields<'_, '_, '_>| {
        let head = head().among(fields);
        let about = "Keys that the loads of all tasks share.";
        let shared = fields.about(about).or_default("loads", loads())?;
        let tasks = at_most(MAX_TASKS, list("tasks", task(&shared)));
        let tasks = fields.about("Tasks of the suite.").required("tasks", tasks);
        let about = "Tests in the order in which they run, each once. Without it, task by task.";
        let order = at_most(4 * MAX_TASKS, list("tests", at(test())));
        let order = fields.about(about).optional("order", order);
        Some(RawSuite { head: head?, tasks: tasks?, order })
    };
    mapping("a suite of MLPerf", read).about(
        "Suite of MLPerf: tasks with network, data set and quality target, and the tests of each.",
    )
}

keys! {
    /// Pauses.
    fn cooldown() -> Cooldown: "a cool-down" {
        /// Pause between tests \[s\].
        between_tests as "between_tests_s" = required(seconds());
        /// Longest pause between tests that may be chosen instead \[s\].
        max_between_tests as "max_between_tests_s" = required(seconds());
        /// Pause between runs of the suite \[s\].
        between_runs as "between_runs_s" = required(seconds());
    }
}

/// A percentile, as the fraction that LoadGen computes from it.
fn percentile() -> impl Reader<Value = f64> {
    let form = || {
        let keywords = json!({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 100});
        Form::new(keywords, "a number above 0 and below 100")
    };
    let fraction = |percent: f64| (percent > 0.0 && percent < 100.0).then_some(percent * 0.01);
    converted("a percentile above 0 and below 100", form, fraction)
}

fn loads() -> impl Reader<Value = RawLoads> {
    mapping("the loads", |fields| {
        let load = |key: Key| fields.about(key.about()).optional(key.text(), at(raw_load(key)));
        Some(Key::ALL.map(load))
    })
}

/// The load `key`.
fn raw_load(key: Key) -> impl Reader<Value = RawLoad> {
    mapping("a load", move |fields| {
        let mut load = RawLoad::default();
        let count = number(1..=MAX_COUNT);
        if key == Key::Offline {
            let about = "Least number of samples of the single query.";
            load.min_count = fields.about(about).optional("min_samples", count);
        } else {
            let about = "Percentile of latency that is the result, or that the bound holds for.";
            load.percentile = fields.about(about).optional("percentile", percentile());
            load.min_count =
                fields.about("Least number of queries.").optional("min_queries", count);
        }
        if key == Key::MultiStream {
            let about = "Interval of queries as published, which is also their latency bound [ms].";
            load.interval = fields.about(about).optional("interval_ms", positive_ms());
            let about = "Rate from which LoadGen computes the interval [1/s].";
            load.queries_per_s = fields.about(about).optional("queries_per_s", positive());
        }
        if key == Key::Server {
            load.bound = fields.about("Latency bound [ms].").optional("bound_ms", positive_ms());
            let about = "Number of runs, of which the lowest result counts.";
            let runs = number(1..=MAX_RUNS).with_default(1);
            load.runs = fields.about(about).optional("runs", runs);
        }
        let about = "Least duration of a run [s].";
        load.min_duration =
            fields.about(about).optional("min_duration_s", seconds().with_default(0));
        let about = "Whether a submission may omit the test.";
        load.is_optional = fields.about(about).optional("optional", flag().with_default(false));
        Some(load)
    })
}

/// Name of a task, which is also that of a folder of results.
fn task_name() -> impl Reader<Value = At<Box<str>>> {
    let check = |name: At<Box<str>>, _: &Node<'_>, problems: &mut Problems| {
        let Some(allowed) = task_name_needs(&name.value) else { return Some(name) };
        let message = format!("`{}` is not a valid name of a task", printable(&name.value));
        problems.push(Problem::new(name.span.clone(), message).help(allowed));
        None
    };
    at(text()).then(check).shaped(|_| {
        let keywords = json!({
            "type": ["string", "number"],
            "maxLength": MAX_TASK_NAME,
            "pattern": "^[A-Za-z0-9_-](?:[A-Za-z0-9_.-]*[A-Za-z0-9_-])?$",
        });
        Form::new(keywords, TASK_NAME)
    })
}

/// Characters of names of tasks.
const TASK_NAME: &str = "letters, digits, `_`, `-` and `.`, which is neither first nor last";

/// Rule for names of tasks that `name` breaks, if any. The rules allow for file systems that ignore case or
/// drop points at the end of a name.
fn task_name_needs(name: &str) -> Option<String> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    if !name.chars().all(is_allowed) || name.starts_with('.') || name.ends_with('.') {
        return Some(TASK_NAME.into());
    }
    if name.len() > MAX_TASK_NAME {
        return Some(format!("at most {MAX_TASK_NAME} characters; this one has {}", name.len()));
    }
    let file = files::ALL.iter().find(|file| file.eq_ignore_ascii_case(name))?;
    Some(format!("another name than that of a file of results, {file}"))
}

keys! {
    /// A task of the suite.
    fn task(shared: &RawLoads) -> struct RawTask: "a task" {
        /// Name of the task, and of the folder of its results.
        name: At<Box<str>> = required(task_name());
        /// Task in words.
        title: Box<str> = required(text());
        /// Reference model.
        network: At<Box<str>> = required(reference::network());
        parameters: Option<At<ParameterValues>> = optional(at(parameters::values()));
        /// Data set.
        dataset: Box<str> = required(text());
        /// Size of an input, in words.
        input: Box<str> = required(text());
        quality: Quality = required(quality());
        /// Samples in memory during a test, which queries draw from.
        performance_samples: u64 = required(number(1..=MAX_COUNT));
        /// Loads that the task is tested under. `{}` is enough for a load of which the suite gives all keys.
        demands as "loads": [Option<Demand>; 4] = required(loads()
            .then(|loads, node, problems| demands(&loads, shared, node, problems))
            .shaped(|form| form.with("minProperties", 1)));
    }
    check(fields) {
        parameters::check(network.as_ref(), parameters.as_ref(), fields);
    }
}

fn quality() -> impl Reader<Value = Quality> {
    let read = |node: &Node<'_>, problems: &mut Problems| {
        let is_given = matches!(&node.value, Value::Mapping(entries)
            if entries.iter().any(|entry| entry.key == "target"));
        quality_of(is_given).read(node, problems)
    };
    let form = || {
        form::any_of([quality_of(true).form(), quality_of(false).form()])
            .says("Quality target: `target`, or `fp32` with `percent_of_fp32`")
    };
    value(read, form)
}

/// A quality target as a number, or as a part of that of the reference model.
fn quality_of(is_given: bool) -> impl Reader<Value = Quality> {
    mapping("a quality target", move |fields| {
        let metric = fields.about("Metric of the quality.").required("metric", text());
        let unit = fields.about("Unit of the metric.").or_default("unit", text())?;
        let target = if is_given {
            let target = fields.about("Value that is to be reached.");
            target.required("target", positive()).map(QualityTarget::Absolute)
        } else {
            let about = "Value of the reference model in 32-bit floating point.";
            let fp32 = fields.about(about).required("fp32", positive());
            let about = "Part of that value which is to be reached [percent].";
            let percent = fields.about(about).required("percent_of_fp32", positive());
            fp32.zip(percent).map(|(fp32, percent)| QualityTarget::OfFp32 { fp32, percent })
        };
        Some(Quality { metric: metric?, unit, target: target? })
    })
}

/// Requirements of a task under each of its loads; `None` if a load lacks a key.
fn demands(
    own: &RawLoads,
    shared: &RawLoads,
    node: &Node<'_>,
    problems: &mut Problems,
) -> Option<[Option<Demand>; 4]> {
    if own.iter().all(Option::is_none) {
        problems.push(Problem::new(node.span.clone(), "a task has at least one load"));
        return None;
    }
    let mut demands = [None; 4];
    let mut complete = true;
    for key in Key::ALL {
        let Some(At { span, value }) = &own[key as usize] else {
            continue;
        };
        let shared = shared[key as usize].as_ref().map(|load| load.value).unwrap_or_default();
        match value.or(&shared).demand(key) {
            Ok(demand) => demands[key as usize] = Some(demand),
            Err(missing) => {
                let message = format!(
                    "`{}` lacks the key `{missing}`, and so do the `loads` of the suite",
                    key.text()
                );
                problems.push(Problem::new(span.clone(), message));
                complete = false;
            }
        }
    }
    complete.then_some(demands)
}

impl RawLoad {
    /// This load with missing keys taken from `other`.
    fn or(&self, other: &Self) -> Self {
        Self {
            percentile: self.percentile.or(other.percentile),
            min_count: self.min_count.or(other.min_count),
            min_duration: self.min_duration.or(other.min_duration),
            interval: self.interval.or(other.interval),
            queries_per_s: self.queries_per_s.or(other.queries_per_s),
            bound: self.bound.or(other.bound),
            runs: self.runs.or(other.runs),
            is_optional: self.is_optional.or(other.is_optional),
        }
    }

    /// Requirements of the load `key`.
    ///
    /// # Errors
    ///
    /// The first key that is missing.
    fn demand(&self, key: Key) -> Result<Demand, &'static str> {
        let load = match key {
            Key::SingleStream => Load::SingleStream,
            Key::MultiStream => Load::MultiStream {
                interval: self.interval.ok_or("interval_ms")?,
                queries_per_s: self.queries_per_s.ok_or("queries_per_s")?,
            },
            Key::Server => {
                Load::Server { bound: self.bound.ok_or("bound_ms")?, runs: self.runs.unwrap_or(1) }
            }
            Key::Offline => Load::Offline,
        };
        let count_key = if key == Key::Offline { "min_samples" } else { "min_queries" };
        let percentile = match key {
            Key::Offline => None,
            _ => Some(self.percentile.ok_or("percentile")?),
        };
        Ok(Demand {
            load,
            percentile,
            min_count: self.min_count.ok_or(count_key)?,
            min_duration: self.min_duration.unwrap_or_default(),
            is_optional: self.is_optional.unwrap_or_default(),
        })
    }
}

keys! {
    /// A test of the suite.
    fn test() -> struct RawTest: "a test" {
        /// Name of a task of the suite.
        task: At<Box<str>> = required(at(text()));
        /// Load scenario.
        load: At<Key> = required(at(one_of(&Key::NAMES)));
    }
}

/// Refuses tasks whose names differ in case only or not at all; `None` if there are any.
fn refuse_namesakes(tasks: &[RawTask], problems: &mut Problems) -> Option<()> {
    let n_before = problems.len();
    for (index, task) in tasks.iter().enumerate() {
        let name = &task.name;
        let is_same = |known: &&RawTask| known.name.value.eq_ignore_ascii_case(&name.value);
        if let Some(known) = tasks[..index].iter().find(is_same) {
            let message = match known.name.value == name.value {
                true => format!("a second task named `{}`", name.value),
                false => {
                    format!("`{}` differs from `{}` in case only", name.value, known.name.value)
                }
            };
            problems.push(Problem::new(name.span.clone(), message));
        }
    }
    (problems.len() == n_before).then_some(())
}

impl RawSuite {
    /// References to the networks with their values of parameters, of which those that are `set` take the
    /// place of the file's; a task that there is not is a problem.
    pub(super) fn networks(&self, set: &Parameters, problems: &mut Problems) -> Vec<At<Box<str>>> {
        let names = || self.tasks.iter().map(|task| &*task.name.value);
        for (task, _) in set.iter().filter(|(task, _)| !names().any(|name| name == *task)) {
            let task = At { span: 0..0, value: task.into() };
            problems.push(unknown_name("task", &task, names()));
        }
        let with = |task: &RawTask| {
            parameters::reference(&task.network, task.parameters.as_ref(), set.of(&task.name.value))
        };
        self.tasks.iter().map(with).collect()
    }

    /// Suite with `networks`, one for each task.
    pub(crate) fn resolve(
        self,
        networks: Vec<Arc<Network>>,
        problems: &mut Problems,
    ) -> Option<Suite> {
        let order = match &self.order {
            Some(order) => checked_order(order, &self.tasks, problems)?,
            None => every_test(&self.tasks),
        };
        let (tasks, demands): (Vec<_>, Vec<_>) = self
            .tasks
            .into_iter()
            .zip(networks)
            .map(|(task, network)| task.resolve(network))
            .unzip();
        let test = |(task, key): (usize, Key)| {
            let demand: Demand = demands[task][key as usize]?;
            Some(demand.of(Arc::clone(&tasks[task])))
        };
        Some(Suite {
            name: self.head.name,
            benchmark: self.head.benchmark,
            round: self.head.round,
            tests: order.into_iter().filter_map(test).collect(),
            cooldown: self.head.cooldown,
            deviations: self.head.deviations,
        })
    }
}

impl RawTask {
    fn resolve(self, network: Arc<Network>) -> (Arc<Task>, [Option<Demand>; 4]) {
        let task = Task {
            name: self.name.value,
            title: self.title,
            network,
            dataset: self.dataset,
            input: self.input,
            quality: self.quality,
            performance_samples: self.performance_samples,
        };
        (Arc::new(task), self.demands)
    }
}

impl Demand {
    fn of(self, task: Arc<Task>) -> Test {
        let Self { load, percentile, min_count, min_duration, is_optional } = self;
        Test { task, load, percentile, min_count, min_duration, is_optional }
    }
}

/// Task and load of every test, task by task in the order of the file.
fn every_test(tasks: &[RawTask]) -> Vec<(usize, Key)> {
    let of_task = |(index, task): (usize, &RawTask)| {
        let given = Key::ALL.into_iter().filter(|&key| task.demands[key as usize].is_some());
        given.map(|key| (index, key)).collect::<Vec<_>>()
    };
    tasks.iter().enumerate().flat_map(of_task).collect()
}

/// Task and load of every test in the given order; `None` unless it has every test once.
fn checked_order(
    order: &[At<RawTest>],
    tasks: &[RawTask],
    problems: &mut Problems,
) -> Option<Vec<(usize, Key)>> {
    let n_before = problems.len();
    let mut tests = Vec::new();
    for entry in order {
        match place(&entry.value, tasks) {
            Ok(test) if tests.contains(&test) => {
                problems.push(Problem::new(entry.span.clone(), "this test is listed before"));
            }
            Ok(test) => tests.push(test),
            Err(problem) => problems.push(problem),
        }
    }
    for (task, key) in every_test(tasks).into_iter().filter(|test| !tests.contains(test)) {
        let name = &tasks[task].name;
        let load = Load::NAMES[key as usize];
        let message = format!("`order` lacks the test of {} under {load}", name.value);
        problems.push(Problem::new(name.span.clone(), message));
    }
    (problems.len() == n_before).then_some(tests)
}

/// Task and load that an entry of `order` names.
fn place(entry: &RawTest, tasks: &[RawTask]) -> Result<(usize, Key), Problem> {
    let names = tasks.iter().map(|task| &*task.name.value);
    let task = names.clone().position(|name| *name == *entry.task.value);
    let task = task.ok_or_else(|| unknown_name("task", &entry.task, names))?;
    let key = entry.load.value;
    if tasks[task].demands[key as usize].is_none() {
        let message = format!("{} has no load `{}`", entry.task.value, key.text());
        return Err(Problem::new(entry.load.span.clone(), message));
    }
    Ok((task, key))
}
