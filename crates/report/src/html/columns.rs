//! Columns of the tables of a page. The page carries them beside its data, so that its program needs no
//! copies of names, headings and meanings.

use std::borrow::Cow;

use serde::Serialize;

use xrsim_model::column::{self, Better};
use xrsim_results::RunLabel;
use xrsim_sim::metrics::DeviceMetrics;
use xrsim_sim::score::{InferenceScore, Score};

use super::provenance::REASON;

/// Writing and sorting of the cells of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    /// Words.
    Word,
    /// Numbers to four digits.
    Number,
    /// Whole numbers.
    Count,
    /// Shares of 1, as decimal numbers.
    Score,
    /// Shares of 1, as decimal numbers over a bar.
    Bar,
    /// Shares of 1, in percent.
    Percent,
    /// Energies.
    Millijoules,
    /// `VALID` or `INVALID`, with a sign.
    Verdict,
    /// A metric with its unit, which is in the column `unit`.
    Metric,
    /// Part of another column, without one of its own.
    Part,
    /// Words or numbers.
    Any,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Column {
    /// Key in the data.
    key: &'static str,
    /// Text of the heading.
    label: Cow<'static, str>,
    /// Meaning.
    title: Option<&'static str>,
    kind: Kind,
    /// Which values are better: `higher` or `lower`; `None` for counts of which more is not a merit.
    better: Option<&'static str>,
}

impl Column {
    /// A column without a meaning or direction.
    const fn plain(key: &'static str, label: &'static str, kind: Kind) -> Self {
        Self { key, label: Cow::Borrowed(label), title: None, kind, better: None }
    }

    /// A column of results.
    fn from_column<T>(column: &column::Column<T>) -> Self {
        let kind = match (column.kind, column.unit) {
            (column::Kind::Overall, _) => Kind::Bar,
            (column::Kind::Score, _) => Kind::Score,
            (column::Kind::Count, _) => Kind::Count,
            (column::Kind::Quantity, "mJ") => Kind::Millijoules,
            (column::Kind::Quantity, _) => Kind::Number,
        };
        let label = match column.unit {
            "" => column.label.into(),
            unit => format!("{} [{unit}]", column.label).into(),
        };
        let better = match column.better {
            Better::Higher if kind == Kind::Count => None,
            Better::Higher => Some("higher"),
            Better::Lower => Some("lower"),
        };
        Self { key: column.name, label, title: Some(column.help), kind, better }
    }
}

/// Columns of the label of a run.
pub(super) fn label() -> Vec<Column> {
    RunLabel::COLUMNS.map(|it| Column::plain(it.name, it.label, Kind::Word)).into()
}

/// Columns of runs that could not be made.
pub(super) fn infeasible() -> Vec<Column> {
    let mut columns = label();
    columns.push(Column::plain(REASON, "Reason", Kind::Word));
    columns
}

/// Columns of the results of runs and models, the overall score first.
pub(super) fn results() -> Vec<Column> {
    let mut columns: Vec<_> = Score::columns().collect();
    columns.sort_by_key(|column| column.kind != column::Kind::Overall);
    columns.into_iter().map(Column::from_column).collect()
}

/// Columns of the hardware of runs.
pub(super) fn device(columns: &[&'static column::Column<DeviceMetrics>]) -> Vec<Column> {
    columns.iter().map(|column| Column::from_column(column)).collect()
}

/// Columns of the scores of a request.
pub(super) fn scores() -> Vec<Column> {
    InferenceScore::SCORES.iter().map(Column::from_column).collect()
}

/// A column with a meaning.
const fn column(key: &'static str, label: &'static str, kind: Kind, title: &'static str) -> Column {
    Column { key, label: Cow::Borrowed(label), title: Some(title), kind, better: None }
}

/// A column of numbers with a meaning.
const fn number(key: &'static str, label: &'static str, title: &'static str) -> Column {
    column(key, label, Kind::Number, title)
}

/// Headings of load tests and their curves.
pub(super) const TESTS: &[Column] = &[
    Column::plain("tenant", "Tenant", Kind::Word),
    Column::plain("task", "Task", Kind::Word),
    Column::plain("load", "Load", Kind::Word),
    Column::plain("value", "Value", Kind::Number),
    column("metric", "Metric", Kind::Metric, "What the load is about"),
    Column::plain("unit", "Unit", Kind::Part),
    column("verdict", "Verdict", Kind::Verdict, "Whether the test keeps LoadGen’s rules"),
    number("late_percent", "Late [%]", "Queries that took longer than the bound"),
    column("within_bound", "Within bound", Kind::Word, "Whether the constraint of latency holds"),
    number("mean_power_w", "Mean power [W]", "Energy over the duration of the test"),
    number("target_qps", "Target [1/s]", "Requested rate"),
    number("scheduled_qps", "Scheduled [1/s]", "Queries that were issued, per second"),
    number("completed_qps", "Completed [1/s]", "Queries that were completed, per second"),
    number("p50_ms", "50th [ms]", "50th percentile of latency"),
    number("p90_ms", "90th [ms]", "90th percentile of latency"),
    number("p97_ms", "97th [ms]", "97th percentile of latency"),
    number("p99_ms", "99th [ms]", "99th percentile of latency"),
    number("p99_9_ms", "99.9th [ms]", "99.9th percentile of latency"),
    number("bound_ms", "Bound [ms]", "Longest latency that meets the bound"),
    number(
        "energy_mj_per_sample",
        "Energy per sample [mJ]",
        "Energy of the accelerators for one sample",
    ),
    number(
        "energy_mj_per_stream",
        "Energy per stream [mJ]",
        "Energy of a query, in single-stream and multi-stream",
    ),
    column("queries", "Queries", Kind::Count, "Of the run that counts"),
    column("trials", "Trials", Kind::Count, "Runs of the search before it"),
    number("beside_score", "Score beside", "Score of the usage scenario, with the queries"),
    number(
        "beside_score_alone",
        "Score beside, alone",
        "Score of the usage scenario, without the queries",
    ),
    Column::plain("server", "Server [1/s]", Kind::Number),
    Column::plain("offline", "Offline [1/s]", Kind::Number),
    Column::plain("share", "Server / offline", Kind::Percent),
];

/// The columns of `keys`: in the order of `headings`, then those without a heading under their names.
pub(super) fn of(keys: &[&'static str], headings: &[Column]) -> Vec<Column> {
    let headed = headings.iter().filter(|heading| keys.contains(&heading.key)).cloned();
    let is_new = |key: &&&'static str| headings.iter().all(|heading| heading.key != **key);
    let new = keys.iter().filter(is_new).map(|key| Column::plain(key, key, Kind::Any));
    headed.chain(new).collect()
}
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_a_column_once_and_those_without_a_heading_come_last_by_name() {
        let columns = of(&["new", "queries", "task"], TESTS);
        let labels: Vec<_> = columns.iter().map(|column| &*column.label).collect();
        assert_eq!(labels, ["Task", "Queries", "new"]);
    }
}
