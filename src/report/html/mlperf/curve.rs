//! `curve.csv`: latency over rate, and the figure of it.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::report::mlperf::{LatencyBound, RatePoint, latency_over_rate};

use super::super::rows::{self, Row, problem_at_end};
use super::super::{ReadError, Source};

const NUMBERS: [&str; 9] = [
    "target_qps",
    "scheduled_qps",
    "completed_qps",
    "p50_ms",
    "p90_ms",
    "p97_ms",
    "p99_ms",
    "p99_9_ms",
    "late_percent",
];

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
            let numbers = numbers(row)?;
            let [rate_per_s, _, _, p50, p90, p97, p99, ..] = numbers;
            drawn.push(RatePoint { rate_per_s, percentiles_ms: [p50, p90, p97, p99] });
            points.push(cells(row, numbers)?);
            Ok(())
        })?;
        let svg = super::svg(&latency_over_rate((task, system), bound, &drawn))
            .map_err(|error| problem_at_end(source, error.to_string()))?;
        Ok(Self { task, svg, points })
    }
}

fn numbers(row: &Row<'_>) -> Result<[f64; NUMBERS.len()], ReadError> {
    let mut numbers = [0.0; NUMBERS.len()];
    for (number, column) in numbers.iter_mut().zip(NUMBERS) {
        *number = row.number(column)?;
    }
    Ok(numbers)
}

fn cells(row: &Row<'_>, numbers: [f64; NUMBERS.len()]) -> Result<Map<String, Value>, ReadError> {
    let mut cells: Map<_, _> =
        NUMBERS.iter().zip(numbers).map(|(name, number)| ((*name).into(), number.into())).collect();
    let within = match row.text(WITHIN_BOUND) {
        "true" => "yes",
        "false" => "no",
        _ => return Err(row.refusal(WITHIN_BOUND, "`true` or `false`")),
    };
    cells.insert(WITHIN_BOUND.into(), within.into());
    Ok(cells)
}
