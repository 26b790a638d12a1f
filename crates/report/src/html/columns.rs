//! Columns of the tables of a page. The page carries them beside its data, so that its program needs no
//! copies of names, headings and meanings.

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
    label: String,
    /// Meaning.
    title: Option<&'static str>,
    kind: Kind,
    /// Which values are better: `higher` or `lower`; `None` for counts of which more is not a merit.
    better: Option<&'static str>,
}

impl Column {
    /// A column without a meaning or direction.
    fn plain(key: &'static str, label: &str, kind: Kind) -> Self {
        Self { key, label: label.into(), title: None, kind, better: None }
    }

    /// A column of results.
    fn of<T>(column: &column::Column<T>) -> Self {
        let kind = match (column.kind, column.unit) {
            (column::Kind::Overall, _) => Kind::Bar,
            (column::Kind::Score, _) => Kind::Score,
            (column::Kind::Count, _) => Kind::Count,
            (column::Kind::Quantity, "mJ") => Kind::Millijoules,
            (column::Kind::Quantity, _) => Kind::Number,
        };
        let label = match column.unit {
            "" => column.label.to_string(),
            unit => format!("{} [{unit}]", column.label),
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
    let column = |it: xrsim_results::LabelColumn| Column::plain(it.name, it.label, Kind::Word);
    RunLabel::COLUMNS.map(column).into()
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
    columns.into_iter().map(Column::of).collect()
}

/// Columns of the hardware of runs.
pub(super) fn device(columns: &[&'static column::Column<DeviceMetrics>]) -> Vec<Column> {
    columns.iter().map(|column| Column::of(column)).collect()
}

/// Columns of the scores of a request.
pub(super) fn scores() -> Vec<Column> {
    InferenceScore::SCORES.iter().map(Column::of).collect()
}

/// Heading of a column of load tests.
#[derive(Debug, Clone, Copy)]
pub(super) struct Heading {
    key: &'static str,
    label: &'static str,
    title: Option<&'static str>,
    kind: Kind,
}

const fn column(key: &'static str, label: &'static str, kind: Kind) -> Heading {
    Heading { key, label, title: None, kind }
}

impl Heading {
    const fn means(self, title: &'static str) -> Self {
        Self { title: Some(title), ..self }
    }
}

/// Headings of load tests and their curves.
pub(super) const TESTS: &[Heading] = &[
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

/// The columns of `keys`: in the order of `headings`, then those without a heading under their names.
pub(super) fn of(keys: &[&'static str], headings: &[Heading]) -> Vec<Column> {
    let headed = headings
        .iter()
        .filter(|heading| keys.contains(&heading.key))
        .map(|it| Column { title: it.title, ..Column::plain(it.key, it.label, it.kind) });
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
        let labels: Vec<_> = columns.iter().map(|column| column.label.as_str()).collect();
        assert_eq!(labels, ["Task", "Queries", "new"]);
    }
}
