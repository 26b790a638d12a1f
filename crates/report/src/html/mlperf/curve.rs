//! `curve.csv`: latency over rate, and its figure.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::mlperf::{CURVE_COLUMNS, LatencyBound, RatePoint, latency_over_rate};

use super::super::rows::{self, Row, problem_at_end};
use super::super::{ReadError, Source};

/// Columns that are empty if a rate is undefined.
const RATES: [&str; 2] = ["scheduled_qps", "completed_qps"];

const WITHIN_BOUND: &str = "within_bound";

/// Server tests of a task at several rates.
#[derive(Serialize)]
pub(super) struct Curve<'a> {
    task: &'a str,
    /// Empty if the device ended every test.
    svg: String,
    /// Cells by column.
    points: Vec<Map<String, Value>>,
}

impl<'a> Curve<'a> {
    /// The curve of `task` on `system`, with the bound and the rate of the result.
    ///
    /// # Errors
    ///
    /// A table of another kind, or numbers that cannot be drawn.
    pub(super) fn read(
        source: Source<'_>,
        (task, system): (&'a str, &str),
        limits: (Option<LatencyBound>, Option<f64>),
    ) -> Result<Self, ReadError> {
        let (mut points, mut drawn) = (Vec::new(), Vec::new());
        rows::each(source, &CURVE_COLUMNS, |row| {
            if is_stopped(row) {
                points.push(cells(row)?);
                return Ok(());
            }
            drawn.push(RatePoint {
                rate_per_s: row.number("target_qps")?,
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
        if drawn.is_empty() && !points.is_empty() {
            return Ok(Self { task, svg: String::new(), points });
        }
        let svg = super::svg(&latency_over_rate((task, system), limits, &drawn))
            .map_err(|error| problem_at_end(source, error.to_string()))?;
        Ok(Self { task, svg, points })
    }
}

/// Whether the device ended the test, which then has no results.
fn is_stopped(row: &Row<'_>) -> bool {
    row.text(WITHIN_BOUND) == "false" && row.text("p50_ms").is_empty()
}

fn cells(row: &Row<'_>) -> Result<Map<String, Value>, ReadError> {
    let mut cells = Map::new();
    for column in CURVE_COLUMNS.into_iter().filter(|column| *column != WITHIN_BOUND) {
        let may_lack = is_stopped(row) && column != "target_qps";
        let number = match RATES.contains(&column) || may_lack {
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
