//! `mlperf:` files: the tasks of a suite of MLPerf and the tests of each.

use std::ops::Range;
use std::sync::Arc;

use xrsim_mlperf::logs::files;
use xrsim_mlperf::rules::{Benchmark, Cooldown, Load, Quality, QualityTarget, Suite, Task, Test};
use xrsim_model::model::Network;
use xrsim_model::units::SimSpan;

use super::yaml::read::{
    At, Problems, at, at_most, flag, list, number, one_of, printable, proper_name, quantity, text,
    unknown_name,
};
use super::yaml::{Fields, Node};
use super::{ParameterValues, Parameters, Problem, parameters};

/// Largest number of tasks of a suite.
pub(super) const MAX_TASKS: usize = 1000;
/// Largest number of queries or samples of a test.
pub(super) const MAX_COUNT: u64 = 1 << 32;
/// Largest number of runs of a test.
pub(super) const MAX_RUNS: u32 = 1000;

/// Words of `benchmark`.
pub(super) const BENCHMARKS: [(&str, Benchmark); 2] =
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

    /// Name in a file.
    fn text(self) -> &'static str {
        ["single_stream", "multi_stream", "server", "offline"][self as usize]
    }
}

/// An `mlperf:` file whose networks are still names.
pub(super) struct RawSuite {
    name: Box<str>,
    benchmark: Benchmark,
    round: Box<str>,
    cooldown: Option<Cooldown>,
    deviations: Vec<Box<str>>,
    tasks: Vec<RawTask>,
    order: Option<Vec<RawTest>>,
}

struct RawTask {
    name: At<Box<str>>,
    title: Box<str>,
    network: At<Box<str>>,
    parameters: Option<At<ParameterValues>>,
    dataset: Box<str>,
    input: Box<str>,
    quality: Quality,
    performance_samples: u64,
    /// Indexed by [`Key`].
    demands: [Option<Demand>; 4],
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

/// An entry of `order`.
struct RawTest {
    span: Range<usize>,
    task: At<Box<str>>,
    load: At<Key>,
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

/// Reads the body of an `mlperf:` file.
pub(super) fn read(node: &Node<'_>, problems: &mut Problems) -> Option<RawSuite> {
    let mut fields = Fields::of(node, "a suite of MLPerf", problems)?;
    let name = fields.required("name", proper_name);
    let benchmark = fields.required("benchmark", one_of(&BENCHMARKS));
    let round = fields.required("round", text);
    let cooldown = fields.optional("cooldown", cooldown);
    let deviations = fields.optional("deviations", list("statements", text)).unwrap_or_default();
    let shared = fields.optional("loads", loads).unwrap_or_default();
    let read = |node: &Node<'_>, problems: &mut Problems| task(node, &shared, problems);
    let tasks = fields.required("tasks", at_most(MAX_TASKS, list("tasks", read)));
    let order = fields.optional("order", at_most(4 * MAX_TASKS, list("tests", test)));
    fields.finish();
    let tasks = tasks?;
    refuse_namesakes(&tasks, problems)?;
    let (name, benchmark, round) = (name?, benchmark?, round?);
    Some(RawSuite { name, benchmark, round, cooldown, deviations, tasks, order })
}

fn cooldown(node: &Node<'_>, problems: &mut Problems) -> Option<Cooldown> {
    let mut fields = Fields::of(node, "a cool-down", problems)?;
    let between_tests = fields.required("between_tests_s", seconds);
    let max_between_tests = fields.required("max_between_tests_s", seconds);
    let between_runs = fields.required("between_runs_s", seconds);
    fields.finish();
    Some(Cooldown {
        between_tests: between_tests?,
        max_between_tests: max_between_tests?,
        between_runs: between_runs?,
    })
}

fn seconds(node: &Node<'_>, problems: &mut Problems) -> Option<SimSpan> {
    quantity("a time from 0 to 9007199 s", SimSpan::from_s)(node, problems)
}

fn milliseconds(node: &Node<'_>, problems: &mut Problems) -> Option<SimSpan> {
    quantity("a time from 0.000001 to 9007199254 ms", SimSpan::from_positive_ms)(node, problems)
}

fn positive(node: &Node<'_>, problems: &mut Problems) -> Option<f64> {
    let positive = |value: f64| (value > 0.0 && value.is_finite()).then_some(value);
    quantity("a number above 0", positive)(node, problems)
}

/// Reads a percentile as the fraction that LoadGen computes from it.
fn percentile(node: &Node<'_>, problems: &mut Problems) -> Option<f64> {
    let fraction = |percent: f64| (percent > 0.0 && percent < 100.0).then_some(percent * 0.01);
    quantity("a percentile above 0 and below 100", fraction)(node, problems)
}

fn loads(node: &Node<'_>, problems: &mut Problems) -> Option<RawLoads> {
    let mut fields = Fields::of(node, "the loads", problems)?;
    let read = |key| move |node: &Node<'_>, problems: &mut Problems| raw_load(key, node, problems);
    let loads = Key::ALL.map(|key| fields.optional(key.text(), at(read(key))));
    fields.finish();
    Some(loads)
}

/// Reads the load `key`.
fn raw_load(key: Key, node: &Node<'_>, problems: &mut Problems) -> Option<RawLoad> {
    let mut fields = Fields::of(node, "a load", problems)?;
    let mut load = RawLoad::default();
    let count = number(1..=MAX_COUNT);
    if key == Key::Offline {
        load.min_count = fields.optional("min_samples", count);
    } else {
        load.percentile = fields.optional("percentile", percentile);
        load.min_count = fields.optional("min_queries", count);
    }
    if key == Key::MultiStream {
        load.interval = fields.optional("interval_ms", milliseconds);
        load.queries_per_s = fields.optional("queries_per_s", positive);
    }
    if key == Key::Server {
        load.bound = fields.optional("bound_ms", milliseconds);
        load.runs = fields.optional("runs", number(1..=MAX_RUNS));
    }
    load.min_duration = fields.optional("min_duration_s", seconds);
    load.is_optional = fields.optional("optional", flag);
    fields.finish();
    Some(load)
}

/// Longest name of a task: file systems allow 255 bytes, some of which the number of a tenant takes.
pub(super) const MAX_TASK_NAME: usize = 200;

/// Reads the name of a task, which is also that of a folder of results.
fn task_name(node: &Node<'_>, problems: &mut Problems) -> Option<At<Box<str>>> {
    let name = at(text)(node, problems)?;
    let Some(allowed) = task_name_needs(&name.value) else { return Some(name) };
    let message = format!("`{}` is not a valid name of a task", printable(&name.value));
    problems.push(Problem::new(name.span.clone(), message).help(allowed));
    None
}

/// Rule for names of tasks that `name` breaks, if any. The rules allow for file systems that ignore case or
/// drop points at the end of a name.
fn task_name_needs(name: &str) -> Option<String> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    if !name.chars().all(is_allowed) || name.starts_with('.') || name.ends_with('.') {
        return Some("letters, digits, `_`, `-` and `.`, which is neither first nor last".into());
    }
    if name.len() > MAX_TASK_NAME {
        return Some(format!("at most {MAX_TASK_NAME} characters; this one has {}", name.len()));
    }
    let file = files::ALL.iter().find(|file| file.eq_ignore_ascii_case(name))?;
    Some(format!("another name than that of a file of results, {file}"))
}

fn task(node: &Node<'_>, shared: &RawLoads, problems: &mut Problems) -> Option<RawTask> {
    let mut fields = Fields::of(node, "a task", problems)?;
    let name = fields.required("name", task_name);
    let title = fields.required("title", text);
    let network = fields.required("network", at(text));
    let parameters = parameters::of_reference(network.as_ref(), &mut fields);
    let dataset = fields.required("dataset", text);
    let input = fields.required("input", text);
    let quality = fields.required("quality", quality);
    let performance_samples = fields.required("performance_samples", number(1..=MAX_COUNT));
    let loads = fields.required("loads", |node, problems| {
        let loads = loads(node, problems)?;
        if loads.iter().all(Option::is_none) {
            let message = "a task has at least one load";
            problems.push(Problem::new(node.span.clone(), message));
            return None;
        }
        demands(&loads, shared, problems)
    });
    fields.finish();
    Some(RawTask {
        name: name?,
        title: title?,
        network: network?,
        parameters,
        dataset: dataset?,
        input: input?,
        quality: quality?,
        performance_samples: performance_samples?,
        demands: loads?,
    })
}

fn quality(node: &Node<'_>, problems: &mut Problems) -> Option<Quality> {
    let mut fields = Fields::of(node, "a quality target", problems)?;
    let metric = fields.required("metric", text);
    let unit = fields.optional("unit", text).unwrap_or_default();
    let target = if fields.given("target") {
        fields.optional("target", positive).map(QualityTarget::Absolute)
    } else {
        let fp32 = fields.required("fp32", positive);
        let percent = fields.required("percent_of_fp32", positive);
        fp32.zip(percent).map(|(fp32, percent)| QualityTarget::OfFp32 { fp32, percent })
    };
    fields.finish();
    Some(Quality { metric: metric?, unit, target: target? })
}

/// Requirements of a task under each of its loads; `None` if a load lacks a key.
fn demands(
    own: &RawLoads,
    shared: &RawLoads,
    problems: &mut Problems,
) -> Option<[Option<Demand>; 4]> {
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

fn test(node: &Node<'_>, problems: &mut Problems) -> Option<RawTest> {
    const NAMES: [(&str, Key); 4] = [
        (Load::NAMES[0], Key::SingleStream),
        (Load::NAMES[1], Key::MultiStream),
        (Load::NAMES[2], Key::Server),
        (Load::NAMES[3], Key::Offline),
    ];
    let mut fields = Fields::of(node, "a test", problems)?;
    let task = fields.required("task", at(text));
    let load = fields.required("load", at(one_of(&NAMES)));
    fields.finish();
    Some(RawTest { span: node.span.clone(), task: task?, load: load? })
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
            name: self.name,
            benchmark: self.benchmark,
            round: self.round,
            tests: order.into_iter().filter_map(test).collect(),
            cooldown: self.cooldown,
            deviations: self.deviations,
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
    order: &[RawTest],
    tasks: &[RawTask],
    problems: &mut Problems,
) -> Option<Vec<(usize, Key)>> {
    let n_before = problems.len();
    let mut tests = Vec::new();
    for entry in order {
        match place(entry, tasks) {
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
