//! `curve.csv`: latency over rate, and the figure of it.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::report::mlperf::{LatencyBound, RatePoint, latency_over_rate};

use super::super::rows::{self, Row, problem_at_end};
use super::super::{ReadError, Source};

const TARGET: &str = "target_qps";

const NUMBERS: [&str; 9] = [
    TARGET,
    "scheduled_qps",
    "completed_qps",
    "p50_ms",
    "p90_ms",
    "p97_ms",
    "p99_ms",
    "p99_9_ms",
    "late_percent",
];

/// Columns that are empty where there is no rate.
const RATES: [&str; 2] = ["scheduled_qps", "completed_qps"];

const WITHIN_BOUND: &str = "within_bound";

/// Columns of the table.
pub(super) fn keys() -> Vec<&'static str> {
    [&NUMBERS[..], &[WITHIN_BOUND]].concat()
}

/// Server tests of a task at several rates.
#[derive(Serialize)]
pub(super) struct Curve<'a> {
    task: &'a str,
    svg: String,
    /// By column.
    points: Vec<Map<String, Value>>,
}

impl<'a> Curve<'a> {
    /// The curve of `task` on `system`.
    ///
    /// # Errors
    ///
    /// A table of another kind, and what cannot be drawn.
    pub(super) fn read(
        source: Source<'_>,
        (task, system): (&'a str, &str),
        bound: Option<LatencyBound>,
    ) -> Result<Self, ReadError> {
        let (mut points, mut drawn) = (Vec::new(), Vec::new());
        rows::each(source, &keys(), |row| {
            drawn.push(RatePoint {
                rate_per_s: row.number(TARGET)?,
                percentiles_ms: [
                    row.number("p50_ms")?,
                    row.number("p90_ms")?,
                    row.number("p97_ms")?,
                    row.number("p99_ms")?,
                ],
            });
            points.push(cells(row)?);
            Ok(())
        })?;
        let svg = super::svg(&latency_over_rate((task, system), bound, &drawn))
            .map_err(|error| problem_at_end(source, error.to_string()))?;
        Ok(Self { task, svg, points })
    }
}

fn cells(row: &Row<'_>) -> Result<Map<String, Value>, ReadError> {
    let mut cells = Map::new();
    for column in NUMBERS {
        let number = match RATES.contains(&column) {
            true => row.number_if_any(column)?.into(),
            false => row.number(column)?.into(),
        };
        cells.insert(column.into(), number);
    }
    let within = match row.text(WITHIN_BOUND) {
        "true" => "yes",
        "false" => "no",
        _ => return Err(row.refusal(WITHIN_BOUND, "`true` or `false`")),
    };
    cells.insert(WITHIN_BOUND.into(), within.into());
    Ok(cells)
}
