//! `xrsim mlperf`: measurements that LoadGen would make on a simulated system.

mod curve;
mod logs;
mod options;
mod results;
mod target;
mod tenants;
mod trace;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Map, Value};

use xrsim_config::{Catalog, Edition, Kind};
use xrsim_experiment::programs;
use xrsim_mlperf::benchmark::{TestError, TestOptions, TestResult, run_test};
use xrsim_mlperf::rules::{Benchmark, Load, ROUNDS, Round, Suite, Test};
use xrsim_mlperf::settings::MAX_SAMPLES;
use xrsim_model::parallel;
use xrsim_model::units::SimSpan;

use super::message::{Failure, input_hints};
use super::output::OutputSet;
use super::places::Places;
use super::progress::Progress;
use super::record::refuse_other_kind;
use super::schedulers::note_untracked;
use super::trace::CompleteTrace;

use curve::Curve;
use options::{MlperfArgs, MlperfBenchmark};
use results::Results;
use target::Target;

/// Runs the tests or tenants of `args`.
///
/// # Errors
///
/// Bad input, a network that cannot run on the system, or output that cannot be written.
pub(super) fn run(args: &MlperfArgs) -> Result<(), Failure> {
    let mut catalog = Catalog::new();
    let result = run_with(args, &mut catalog);
    // Old names that were read before an error.
    input_hints(catalog.notes());
    result
}

/// Runs the tests or tenants of `args`, with the inputs of `catalog`.
fn run_with(args: &MlperfArgs, catalog: &mut Catalog) -> Result<(), Failure> {
    let (suite, options) = suite_and_options(args, catalog)?;
    if !args.tenant.is_empty() {
        return tenants::run(args, catalog, &suite, &options);
    }
    let tests = tests(args, &suite)?;
    trace::check(args, &tests)?;
    let target = Target::new(args, catalog)?;
    input_hints(catalog.notes());
    target.warn(catalog, tests.iter().map(|test| test.task.network.name()));
    places(args, catalog)
        .folder(args.out.as_deref(), results::files(&tests, args.device.is_some(), &args.pictures))
        .check()?;
    let inputs = inputs(args, catalog)?;
    refuse_other_kind(args.out.as_deref(), "mlperf")?;
    note_untracked(args.out.iter().filter_map(|_| args.scheduler.as_deref()));
    let set = args.out.as_deref().map(OutputSet::create).transpose()?;
    // The other tests run even if one fails.
    let kept = args.out.is_some().then(Kept::default);
    let progress = Progress::counting_on("tests", tests.len() as u64, 0);
    let made = parallel::map(&tests, |test| {
        let made = make(test, &options, &target, args.curve, kept.as_ref());
        progress.add(1);
        made
    });
    progress.finish();
    if kept.is_some_and(|kept| kept.is_too_much()) {
        return Err(too_many_queries());
    }
    let (made, failed): (Vec<_>, Vec<_>) = made.into_iter().partition(Result::is_ok);
    let made: Vec<_> = made.into_iter().flatten().collect();
    let failed = failed.into_iter().filter_map(Result::err);
    let failed = failed.reduce(|one, other| one.and(&other));
    if made.is_empty() {
        return failed.map_or(Ok(()), Err);
    }
    let pictures = &args.pictures;
    let results =
        Results { suite: &suite, round: options.round, target: &target, inputs, pictures, made };
    let trace = args.trace.as_deref().map(|path| trace::write(path, &target, &results.made[0]));
    let trace = trace.transpose()?.flatten();
    if let Some(set) = set {
        results.write(set)?;
    }
    trace.map_or(Ok(()), CompleteTrace::rename)?;
    results.print(args.format)?;
    failed.map_or(Ok(()), Err)
}

/// Files that a command reads and writes, except those of its output folder.
fn places(args: &MlperfArgs, catalog: &Catalog) -> Places {
    let scripts = args.scheduler.as_deref().map_or(Vec::new(), programs::files);
    Places::default().reading(catalog.opened()).reading(scripts).writing(&args.trace)
}

/// SHA-256 of the files that a command reads, before a scheduler runs.
fn inputs(args: &MlperfArgs, catalog: &Catalog) -> Result<Map<String, Value>, Failure> {
    Ok(programs::sha256_of_inputs(catalog.inputs(), args.scheduler.as_deref())?)
}

/// Requested suite, and the options of its tests.
fn suite_and_options(
    args: &MlperfArgs,
    catalog: &mut Catalog,
) -> Result<(Arc<Suite>, TestOptions), Failure> {
    let (suite, round, counts_of_round) = match &args.suite {
        Some(name) => {
            let suite = suite_named(name, args, catalog)?;
            let is_asked = match args.benchmark {
                MlperfBenchmark::Inference => suite.benchmark == Benchmark::Inference,
                MlperfBenchmark::Mobile => suite.benchmark == Benchmark::Mobile,
            };
            if !is_asked {
                refuse!("{} is a suite of the other benchmark", suite.name);
            }
            let round = round(args.round.as_deref().unwrap_or(&suite.round))?;
            (suite, round, false)
        }
        None => suite_of_round(args, catalog)?,
    };
    let options = TestOptions {
        round,
        counts_of_round,
        target_qps: args.qps,
        streams: args.streams,
        finds_peak: args.find_peak,
        min_duration: args.min_duration.map(min_duration).transpose()?,
        min_queries: args.min_queries,
    };
    Ok((suite.into(), options))
}

fn round(name: &str) -> Result<&'static Round, Failure> {
    Round::find(name)
        .ok_or_else(|| super::unknown("round", name, ROUNDS.iter().map(|round| round.name)))
}

/// The suite called `name` with the parameters that are set for its networks. Those of other tasks must be of
/// models of the background.
fn suite_named(name: &str, args: &MlperfArgs, catalog: &mut Catalog) -> Result<Suite, Failure> {
    let parameters = options::parameters(&args.set)?;
    let suite = catalog.mlperf_suite(name)?;
    let is_task = |task: &str| suite.tests.iter().any(|test| *test.task.name == *task);
    let background = match &args.beside {
        Some(name) => Some(catalog.scenario(name, Edition::Reference)?),
        None => None,
    };
    let models = || background.iter().flat_map(|scenario| scenario.models());
    let is_model = |task: &str| models().any(|model| *model.unit.task == *task);
    if let Some((task, _)) = parameters.iter().find(|(task, _)| !is_task(task) && !is_model(task)) {
        let tasks = suite.tests.iter().map(|test| &*test.task.name);
        let mut known: Vec<_> = tasks.chain(models().map(|model| &*model.unit.task)).collect();
        known.dedup();
        return Err(super::unknown("task", task, known.into_iter()));
    }
    Ok(catalog.mlperf_suite_with(name, &parameters.only(is_task))?)
}

/// Suite of a round. A round without a suite of its own has the tasks of the oldest one with its own counts
/// and durations.
fn suite_of_round(
    args: &MlperfArgs,
    catalog: &mut Catalog,
) -> Result<(Suite, &'static Round, bool), Failure> {
    let (prefix, default) = match args.benchmark {
        MlperfBenchmark::Inference => ("inference", "v0.5"),
        MlperfBenchmark::Mobile => ("mobile", "v3.0"),
    };
    let round = round(args.round.as_deref().unwrap_or(default))?;
    let own = format!("{prefix}_{}", round.name);
    let has_own = catalog.names(Kind::Mlperf).iter().any(|known| **known == *own);
    let suite = match (has_own, args.benchmark) {
        (true, _) => suite_named(&own, args, catalog)?,
        (false, MlperfBenchmark::Inference) => suite_named("inference_v0.5", args, catalog)?,
        (false, MlperfBenchmark::Mobile) => {
            let rounds = "v0.7, v1.0, v2.0, v3.0";
            refuse!("MLPerf Mobile has no tasks here for round {} (known: {rounds})", round.name);
        }
    };
    Ok((suite, round, !has_own))
}

/// A duration in seconds.
fn min_duration(seconds: f64) -> Result<SimSpan, Failure> {
    SimSpan::from_s(seconds).ok_or_else(|| {
        let allowed = "a number of seconds from 0 to 9007199";
        Failure::Argument(format!("--min-duration is {seconds}; allowed is {allowed}"))
    })
}

/// Requested tests, in the order of the suite.
fn tests<'a>(args: &MlperfArgs, suite: &'a Suite) -> Result<Vec<&'a Test>, Failure> {
    args.task.iter().try_for_each(|name| known_task(suite, name).map(drop))?;
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
    for (option, is_given, load) in [
        ("--qps", args.qps.is_some(), "server"),
        ("--curve", args.curve.is_some(), "server"),
        ("--streams", args.streams.is_some(), "multi-stream"),
    ] {
        if is_given && !tests.iter().any(|test| test.load.name() == load) {
            refuse!("{option} is of {load} tests, and this command makes none");
        }
    }
    if tests.is_empty() {
        refuse!("{} has no such test; `xrsim show {}` lists them", suite.name, suite.name);
    }
    Ok(tests)
}

/// The first test of a task.
fn known_task<'a>(suite: &'a Suite, name: &str) -> Result<&'a Test, Failure> {
    let of_task = |test: &&Test| *test.task.name == *name;
    suite.tests.iter().find(of_task).ok_or_else(|| {
        let tasks = suite.tasks();
        super::unknown("task", name, tasks.iter().map(|task| &*task.name))
    })
}

/// Number of queries that are kept for files.
#[derive(Default)]
struct Kept(AtomicU64);

impl Kept {
    /// Adds the queries of a test.
    fn add(&self, queries: u64) {
        self.0.fetch_add(queries, Ordering::Relaxed);
    }

    /// Whether all tests together have more queries than one test may have. The order of the tests and the
    /// number of threads do not matter.
    fn is_too_much(&self) -> bool {
        self.0.load(Ordering::Relaxed) > MAX_SAMPLES
    }
}

fn too_many_queries() -> Failure {
    Failure::Argument(format!(
        "--out would have more than {MAX_SAMPLES} queries; make fewer tests at once (--task, --load) or \
         shorter ones (--min-duration)"
    ))
}

/// Counts the queries of a test among those `kept` for files; frees them without files.
///
/// # Errors
///
/// Too many queries.
fn keep(result: &mut TestResult, kept: Option<&Kept>) -> Result<(), Failure> {
    let Some(kept) = kept else {
        result.measurement.clear_queries();
        return Ok(());
    };
    kept.add(result.performance().queries);
    room(Some(kept))
}

/// Checks that a further test may keep its queries.
///
/// # Errors
///
/// Too many queries of the tests so far. The command fails then, even if its other tests succeed.
fn room(kept: Option<&Kept>) -> Result<(), Failure> {
    match kept.is_some_and(Kept::is_too_much) {
        true => Err(too_many_queries()),
        false => Ok(()),
    }
}

/// Test with its result.
struct Made<'a> {
    test: &'a Test,
    result: TestResult,
    /// Latency over rate, if it is requested and the test is one of a server.
    curve: Option<Curve>,
}

fn make<'a>(
    test: &'a Test,
    options: &TestOptions,
    target: &Target,
    curve: Option<u32>,
    kept: Option<&Kept>,
) -> Result<Made<'a>, Failure> {
    room(kept)?;
    let bed = target.bed(test)?;
    let failure = |error: TestError| {
        Failure::Argument(format!("{}, {}: {error}", test.task.name, test.load.name()))
    };
    let mut result = run_test(test, options, &*bed).map_err(failure)?;
    keep(&mut result, kept)?;
    let points = curve.filter(|_| matches!(test.load, Load::Server { .. }));
    let curve = points.map(|points| Curve::measure(&result, points, &*bed)).transpose();
    Ok(Made { test, result, curve: curve.map_err(failure)? })
}

#[cfg(test)]
mod tests {
    use super::{Kept, MAX_SAMPLES};

    #[test]
    fn whether_there_are_too_many_queries_does_not_depend_on_the_order_of_tests() {
        let half = MAX_SAMPLES / 2;
        for tests in [[half, half, 1], [half, 1, half], [1, half, half]] {
            let kept = Kept::default();
            kept.add(tests[0]);
            kept.add(tests[1]);
            assert!(!kept.is_too_much());
            kept.add(tests[2]);
            assert!(kept.is_too_much());
        }
    }
}
