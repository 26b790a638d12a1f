//! Headings of the tables of a page. The page carries them beside its data, so that what it shows and what
//! it has cannot drift apart: a key without a heading is shown under its own name.

use serde::Serialize;

/// How the page writes the cells of a column, and how it sorts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    /// As they are.
    Word,
    /// Numbers to four digits.
    Number,
    /// Whole numbers.
    Count,
    /// Shares of 1, as they are.
    Score,
    /// The same over a bar.
    Bar,
    /// Shares of 1, in percent.
    Percent,
    /// Energies.
    Millijoules,
    /// `VALID` or not, with a sign.
    Verdict,
    /// With its unit, which is in `unit`.
    Metric,
    /// No column of its own: another shows it.
    Part,
    /// Words or numbers, whatever the data has.
    Any,
}

/// A column of a table.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Column {
    /// Of the data.
    key: &'static str,
    /// Text of the heading.
    label: &'static str,
    /// What the column means.
    title: Option<&'static str>,
    kind: Kind,
}

const fn column(key: &'static str, label: &'static str, kind: Kind) -> Column {
    Column { key, label, title: None, kind }
}

impl Column {
    const fn means(self, title: &'static str) -> Self {
        Self { title: Some(title), ..self }
    }
}

/// Of runs and their models.
pub(super) const RUNS: &[Column] = &[
    column("scenario", "Scenario", Kind::Word),
    column("system", "System", Kind::Word),
    column("pes", "PEs", Kind::Word),
    column("semantics", "Semantics", Kind::Word),
    column("cost_model", "Cost model", Kind::Word),
    column("scheduler", "Scheduler", Kind::Word),
    column("seed", "Seed", Kind::Word),
    column("replication", "Replication", Kind::Word),
    column("score", "Score", Kind::Bar)
        .means("Definition 15: sum of inference scores over requested frames, times QoE"),
    column("realtime", "Real time", Kind::Score)
        .means("Definition 10, mean over executed requests"),
    column("energy", "Energy", Kind::Score).means("Definition 11, mean over executed requests"),
    column("accuracy", "Accuracy", Kind::Score).means("Definition 12, mean over executed requests"),
    column("qoe", "QoE", Kind::Score).means("Definition 13: executed part of the requested frames"),
    column("score_executed_mean", "Score, executed mean", Kind::Score)
        .means("Section 3.7: mean over executed frames, times QoE"),
    column("requests", "Requests", Kind::Count).means("Requests that the sensors asked for"),
    column("executed", "Executed", Kind::Count)
        .means("Requests that ran to completion, on time or late"),
    column("dropped", "Dropped", Kind::Count).means("Requests that never finished"),
    column("late", "Late", Kind::Count).means("Executed requests that ended after their deadline"),
    column("not_triggered", "Not triggered", Kind::Count)
        .means("Requests that their upstream result did not ask for"),
    column("energy_mj", "Energy [mJ]", Kind::Millijoules).means("Energy of all executions"),
    column("reason", "Reason", Kind::Word),
];

/// Of load tests and their curves.
pub(super) const TESTS: &[Column] = &[
    column("tenant", "Tenant", Kind::Word),
    column("task", "Task", Kind::Word),
    column("load", "Load", Kind::Word),
    column("verdict", "Verdict", Kind::Verdict).means("Whether the test keeps LoadGen’s rules"),
    column("metric", "Metric", Kind::Metric).means("What the load is about"),
    column("unit", "Unit", Kind::Part),
    column("value", "Value", Kind::Number),
    column("target_qps", "Target [1/s]", Kind::Number).means("Rate that was asked for"),
    column("scheduled_qps", "Scheduled [1/s]", Kind::Number)
        .means("Queries that were issued, per second"),
    column("completed_qps", "Completed [1/s]", Kind::Number)
        .means("Queries that were completed, per second"),
    column("p50_ms", "50th [ms]", Kind::Number).means("50th percentile of latency"),
    column("p90_ms", "90th [ms]", Kind::Number).means("90th percentile of latency"),
    column("p97_ms", "97th [ms]", Kind::Number).means("97th percentile of latency"),
    column("p99_ms", "99th [ms]", Kind::Number).means("99th percentile of latency"),
    column("p99_9_ms", "99.9th [ms]", Kind::Number).means("99.9th percentile of latency"),
    column("bound_ms", "Bound [ms]", Kind::Number).means("Longest latency that is no violation"),
    column("late_percent", "Late [%]", Kind::Number)
        .means("Queries that took longer than the bound"),
    column("within_bound", "Within bound", Kind::Word)
        .means("Whether the constraint of latency holds"),
    column("energy_mj_per_sample", "Energy per sample [mJ]", Kind::Number)
        .means("That the accelerators take for a sample"),
    column("energy_mj_per_stream", "Energy per stream [mJ]", Kind::Number)
        .means("Of a query, in single-stream and multi-stream"),
    column("mean_power_w", "Mean power [W]", Kind::Number)
        .means("That energy over the duration of the test"),
    column("queries", "Queries", Kind::Count).means("Of the run that counts"),
    column("trials", "Trials", Kind::Count).means("Runs of the search before it"),
    column("beside_score", "Score beside", Kind::Number)
        .means("Of the usage scenario beside, with the queries"),
    column("beside_score_alone", "Score beside, alone", Kind::Number)
        .means("Of the usage scenario, without the queries"),
    column("server", "Server [1/s]", Kind::Number),
    column("offline", "Offline [1/s]", Kind::Number),
    column("share", "Server / offline", Kind::Percent),
];

/// The columns of `keys`: in the order of `headings`, and at the end those that have none there.
pub(super) fn of(keys: &[&'static str], headings: &[Column]) -> Vec<Column> {
    let headed = headings.iter().filter(|heading| keys.contains(&heading.key)).copied();
    let is_new = |key: &&&'static str| headings.iter().all(|heading| heading.key != **key);
    headed.chain(keys.iter().filter(is_new).map(|key| column(key, key, Kind::Any))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_a_column_once_and_those_without_a_heading_come_last_by_name() {
        let columns = of(&["new", "queries", "task"], TESTS);
        let labels: Vec<_> = columns.iter().map(|column| column.label).collect();
        assert_eq!(labels, ["Task", "Queries", "new"]);
    }
}
