//! `suite.csv` and `tenants.csv`.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::report::mlperf::RateResult;

use super::super::rows::{self, Row, problem_at_end};
use super::super::{ReadError, Source};
use super::Place;

/// Most tests of a page: those of the largest suite, 1,000 tasks under four loads.
pub const MAX_TESTS: usize = 4000;

const LOADS: [&str; 4] = ["single-stream", "multi-stream", "server", "offline"];

const VALID: &str = "VALID";

/// What a folder holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Tests one after another.
    Suite,
    /// Several tasks at once.
    Tenants,
}

/// What a cell may be.
#[derive(Debug, Clone, Copy)]
enum Cell {
    Text,
    Task,
    Load,
    Verdict,
    Number,
    /// Empty where there is none.
    NumberIfAny,
    Count,
}

const SUITE: [(&str, Cell); 16] = [
    ("task", Cell::Task),
    ("load", Cell::Load),
    ("metric", Cell::Text),
    ("value", Cell::NumberIfAny),
    ("unit", Cell::Text),
    ("verdict", Cell::Verdict),
    ("p50_ms", Cell::Number),
    ("p90_ms", Cell::Number),
    ("p99_ms", Cell::Number),
    ("energy_mj_per_sample", Cell::NumberIfAny),
    ("energy_mj_per_stream", Cell::NumberIfAny),
    ("mean_power_w", Cell::NumberIfAny),
    ("queries", Cell::Count),
    ("trials", Cell::Count),
    ("beside_score", Cell::NumberIfAny),
    ("beside_score_alone", Cell::NumberIfAny),
];

const TENANTS: [(&str, Cell); 12] = [
    ("tenant", Cell::Count),
    ("task", Cell::Task),
    ("verdict", Cell::Verdict),
    ("scheduled_qps", Cell::NumberIfAny),
    ("completed_qps", Cell::NumberIfAny),
    ("p50_ms", Cell::Number),
    ("p90_ms", Cell::Number),
    ("p99_ms", Cell::Number),
    ("bound_ms", Cell::Number),
    ("late_percent", Cell::Number),
    ("energy_mj_per_sample", Cell::Number),
    ("queries", Cell::Count),
];

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 2] = [Self::Suite, Self::Tenants];

    /// File of the table.
    pub fn file(self) -> &'static str {
        match self {
            Self::Suite => "suite.csv",
            Self::Tenants => "tenants.csv",
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
    pub(super) fn keys(self) -> Vec<&'static str> {
        self.columns().iter().map(|(key, _)| *key).collect()
    }

    fn columns(self) -> &'static [(&'static str, Cell)] {
        match self {
            Self::Suite => &SUITE,
            Self::Tenants => &TENANTS,
        }
    }
}

/// A row, checked.
#[derive(Debug)]
pub(super) struct Test {
    /// By column.
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
        RateResult { per_s, is_valid: self.cells["verdict"] == VALID }
    }

    /// What tells it from all others: task and load, or number and task.
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
    rows::each(source, &kind.keys(), |row| {
        if tests.len() == MAX_TESTS {
            let message = format!("more than {MAX_TESTS} tests; make a page of fewer");
            return Err(row.problem(message));
        }
        let cells =
            kind.columns().iter().map(|&(name, cell)| Ok((name.into(), value(row, name, cell)?)));
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
        Cell::Load if LOADS.contains(&text) => Ok(text.into()),
        Cell::Load => Err(row.refusal(column, &format!("load; known: {}", LOADS.join(", ")))),
        Cell::Verdict if [VALID, "INVALID"].contains(&text) => Ok(text.into()),
        Cell::Verdict => Err(row.refusal(column, "verdict; known: VALID, INVALID")),
        Cell::Number => row.number(column).map(Value::from),
        Cell::NumberIfAny => row.number_if_any(column).map(Value::from),
        Cell::Count => row.count(column).map(Value::from),
    }
}

/// Whether `name` is that of a folder in any folder, and leads nowhere else.
fn is_folder(name: &str) -> bool {
    let leads_away = |c: char| matches!(c, '/' | '\\' | ':') || c.is_control();
    !["", ".", ".."].contains(&name) && !name.contains(leads_away)
}
