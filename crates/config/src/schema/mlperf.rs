//! Schema of `mlperf:` files.

use serde_json::json;

use super::form::{
    Form, Key, any_of, flag, list, name, number, object, optional, positive, required, text, whole,
    word,
};
use super::scenario::{MAX_MS, MIN_MS, network, parameters};
use crate::mlperf::{BENCHMARKS, MAX_COUNT, MAX_RUNS, MAX_TASK_NAME, MAX_TASKS};
use xrsim_mlperf::rules::Load;

/// Longest span of time \[s\].
const MAX_S: f64 = 9_007_199.0;

pub(super) fn suite() -> Form {
    object([
        required("name", name().says("Name of the suite")),
        required(
            "benchmark",
            word(BENCHMARKS.map(|(word, _)| word)).says("Benchmark whose rules hold"),
        ),
        required("round", text().says("Round of submissions, such as `v0.5`")),
        optional("cooldown", cooldown()),
        optional(
            "deviations",
            list(text().says("A statement"))
                .allowed("a list of statements")
                .says("Deviations from the publication, and unverified values"),
        ),
        optional("loads", loads().says("Keys that the loads of all tasks share")),
        required("tasks", list(task()).at_most(MAX_TASKS).says("Tasks of the suite")),
        optional(
            "order",
            list(test())
                .at_most(4 * MAX_TASKS)
                .says("Tests in the order in which they run, each once")
                .remark("Without it, task by task."),
        ),
    ])
    .says("Suite of MLPerf: tasks with network, data set and quality target, and the tests of each")
}

fn seconds() -> Form {
    number(0.0..=MAX_S)
}

fn cooldown() -> Form {
    object([
        required("between_tests_s", seconds().says("Pause between tests [s]")),
        required(
            "max_between_tests_s",
            seconds().says("Longest pause between tests that may be chosen instead [s]"),
        ),
        required("between_runs_s", seconds().says("Pause between runs of the suite [s]")),
    ])
    .says("Pauses")
}

fn task() -> Form {
    let quality = quality();
    object([
        required(
            "name",
            Form::of(
                json!({
                    "type": ["string", "number"],
                    "maxLength": MAX_TASK_NAME,
                    "pattern": "^[A-Za-z0-9_-](?:[A-Za-z0-9_.-]*[A-Za-z0-9_-])?$",
                }),
                "letters, digits, `_`, `-` and `.`, which is neither first nor last",
            )
            .says("Name of the task, and of the folder of its results"),
        ),
        required("title", text().says("Task in words")),
        required("network", network().says("Reference model")),
        parameters(),
        required("dataset", text().says("Data set")),
        required("input", text().says("Size of an input, in words")),
        required("quality", quality),
        required(
            "performance_samples",
            whole(1..=MAX_COUNT).says("Samples in memory during a test, which queries draw from"),
        ),
        required(
            "loads",
            loads()
                .with("minProperties", 1)
                .says("Loads that the task is tested under")
                .remark("`{}` is enough for a load of which the suite gives all keys."),
        ),
    ])
    .says("A task of the suite")
}

fn quality() -> Form {
    let of = |keys: Vec<Key>| {
        let common = [
            required("metric", text().says("Metric of the quality")),
            optional("unit", text().says("Unit of the metric")),
        ];
        object(common.into_iter().chain(keys))
    };
    any_of([
        of(vec![required("target", positive().says("Value that is to be reached"))]),
        of(vec![
            required(
                "fp32",
                positive().says("Value of the reference model in 32-bit floating point"),
            ),
            required(
                "percent_of_fp32",
                positive().says("Part of that value which is to be reached [percent]"),
            ),
        ]),
    ])
    .says("Quality target: `target`, or `fp32` with `percent_of_fp32`")
}

/// Loads by their keys in files, in the order of [`Load::NAMES`].
fn loads() -> Form {
    object([
        optional("single_stream", load(latency(), "One query after the other")),
        optional(
            "multi_stream",
            load(
                latency().into_iter().chain(multi_stream()),
                "Queries of several samples at an interval",
            ),
        ),
        optional(
            "server",
            load(latency().into_iter().chain(server()), "Queries at random, at a rate"),
        ),
        optional(
            "offline",
            load(
                [optional(
                    "min_samples",
                    whole(1..=MAX_COUNT).says("Least number of samples of the single query"),
                )],
                "All samples at once",
            ),
        ),
    ])
}

fn load(keys: impl IntoIterator<Item = Key>, meaning: &str) -> Form {
    let further = [
        optional("min_duration_s", seconds().or(0).says("Least duration of a run [s]")),
        optional("optional", flag().or(false).says("Whether a submission may omit the test")),
    ];
    object(keys.into_iter().chain(further)).says(meaning)
}

fn latency() -> Vec<Key> {
    let percentile = Form::of(
        json!({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 100}),
        "a number above 0 and below 100",
    );
    vec![
        optional(
            "percentile",
            percentile
                .says("Percentile of latency that is the result, or that the bound holds for"),
        ),
        optional("min_queries", whole(1..=MAX_COUNT).says("Least number of queries")),
    ]
}

fn multi_stream() -> [Key; 2] {
    [
        optional(
            "interval_ms",
            number(MIN_MS..=MAX_MS)
                .says("Interval of queries as published, which is also their latency bound [ms]"),
        ),
        optional(
            "queries_per_s",
            positive().says("Rate from which LoadGen computes the interval [1/s]"),
        ),
    ]
}

fn server() -> [Key; 2] {
    [
        optional("bound_ms", number(MIN_MS..=MAX_MS).says("Latency bound [ms]")),
        optional(
            "runs",
            whole(1..=MAX_RUNS).or(1).says("Number of runs, of which the lowest result counts"),
        ),
    ]
}

fn test() -> Form {
    object([
        required("task", text().says("Name of a task of the suite")),
        required("load", word(Load::NAMES).says("Load scenario")),
    ])
    .says("A test of the suite")
}
