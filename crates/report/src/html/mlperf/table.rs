//! `suite.csv` and `tenants.csv`.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::mlperf::{RateResult, SUITE_COLUMNS, TENANT_COLUMNS, verdict};
use xrsim_mlperf::logs::files;
use xrsim_mlperf::rules::Load;

use super::super::rows::{self, Row, problem_at_end};
use super::super::{ReadError, Source};
use super::Place;

/// Most tests of a page: those of the largest suite, 1,000 tasks under four loads.
pub(crate) const MAX_TESTS: usize = 4000;

/// Kind of the tests of a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Tests one after another.
    Suite,
    /// Several tasks at once.
    Tenants,
}

/// Allowed values of a cell.
#[derive(Debug, Clone, Copy)]
enum Cell {
    Text,
    Task,
    Load,
    Verdict,
    Number,
    /// A number, or an empty cell.
    NumberIfAny,
    Count,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 2] = [Self::Suite, Self::Tenants];

    /// File of the table.
    pub fn file(self) -> &'static str {
        match self {
            Self::Suite => files::SUITE,
            Self::Tenants => files::TENANTS,
        }
    }

    /// Name in the page.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Suite => "suite",
            Self::Tenants => "tenants",
        }
    }

    /// Columns of the table.
    pub(super) fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Suite => &SUITE_COLUMNS,
            Self::Tenants => &TENANT_COLUMNS,
        }
    }

    /// Allowed values of a column.
    fn cell(self, column: &str) -> Cell {
        match (column, self) {
            ("task", _) => Cell::Task,
            ("load", _) => Cell::Load,
            ("verdict", _) => Cell::Verdict,
            ("metric" | "unit", _) => Cell::Text,
            ("tenant" | "queries" | "trials", _) => Cell::Count,
            ("value" | "scheduled_qps" | "completed_qps", _)
            | ("beside_score" | "beside_score_alone" | "mean_power_w", _)
            | ("p50_ms" | "p90_ms" | "p99_ms" | "late_percent", _)
            | ("energy_mj_per_sample" | "energy_mj_per_stream", _) => Cell::NumberIfAny,
            _ => Cell::Number,
        }
    }
}

/// A row, checked.
#[derive(Debug)]
pub(super) struct Test {
    /// Cells by column.
    pub(super) cells: Map<String, Value>,
}

impl Test {
    pub(super) fn task(&self) -> &str {
        self.cells["task"].as_str().unwrap_or_default()
    }

    /// Load of a test of a suite.
    pub(super) fn load(&self) -> Option<&str> {
        self.cells.get("load")?.as_str()
    }

    /// Result of a test of a suite, as a rate.
    pub(super) fn rate(&self) -> RateResult {
        let per_s = self.cells.get("value").and_then(Value::as_f64);
        RateResult { per_s, is_valid: self.cells["verdict"] == verdict(true) }
    }

    /// Key that identifies the test: task and load, or number and task.
    pub(super) fn key(&self) -> (String, String) {
        match self.load() {
            Some(load) => (self.task().into(), load.into()),
            None => (self.cells["tenant"].to_string(), self.task().into()),
        }
    }

    pub(super) fn place(&self) -> Place {
        let (first, second) = self.key();
        let separator = if self.load().is_some() { '/' } else { '_' };
        Place {
            folder: format!("{first}{separator}{second}"),
            may_have_curve: self.load() == Some("server"),
        }
    }
}

/// The tests of a table.
pub(super) fn read(kind: Kind, source: Source<'_>) -> Result<Vec<Test>, ReadError> {
    let (mut tests, mut known) = (Vec::new(), HashSet::new());
    rows::each(source, kind.keys(), |row| {
        if tests.len() == MAX_TESTS {
            let message = format!("more than {MAX_TESTS} tests; make a page of fewer");
            return Err(row.problem(message));
        }
        let cells =
            kind.keys().iter().map(|&name| Ok((name.into(), value(row, name, kind.cell(name))?)));
        let test = Test { cells: cells.collect::<Result<_, ReadError>>()? };
        if !known.insert(test.key()) {
            let (first, second) = test.key();
            return Err(row.problem(format!("test `{first}, {second}` is there twice")));
        }
        tests.push(test);
        Ok(())
    })?;
    match tests.is_empty() {
        true => Err(problem_at_end(source, "the table has no rows")),
        false => Ok(tests),
    }
}

fn value(row: &Row<'_>, column: &'static str, cell: Cell) -> Result<Value, ReadError> {
    let text = row.text(column);
    match cell {
        Cell::Text => Ok(text.into()),
        Cell::Task if is_folder(text) => Ok(text.into()),
        Cell::Task => Err(row.refusal(column, "task, whose name is that of a folder")),
        Cell::Load if Load::NAMES.contains(&text) => Ok(text.into()),
        Cell::Load => Err(row.refusal(column, &format!("load; known: {}", Load::NAMES.join(", ")))),
        Cell::Verdict if [true, false].map(verdict).contains(&text) => Ok(text.into()),
        Cell::Verdict => Err(row.refusal(column, "verdict; known: VALID, INVALID")),
        Cell::Number => row.number(column).map(Value::from),
        Cell::NumberIfAny => row.number_if_any(column).map(Value::from),
        Cell::Count => row.count(column).map(Value::from),
    }
}

/// Whether `name` is a single part of a path that stays within a folder.
fn is_folder(name: &str) -> bool {
    let leads_away = |c: char| matches!(c, '/' | '\\' | ':') || c.is_control();
    !["", ".", ".."].contains(&name) && !name.contains(leads_away)
}
