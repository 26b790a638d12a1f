//! Tables of measured service times, as CSV.
//!
//! ```text
//! task,batch,latency_ms
//! image_classification_heavy,1,2.1
//! image_classification_heavy,8,9.6
//! ```
//!
//! Columns may be in any order. A row without `task`, or with an empty one, applies to every task that has
//! no row of its own. With the column `batch`, a row is the time of a batch of that many samples, from 1 on;
//! times between two sizes are interpolated linearly. With the column `sample`, a row is the time of a sample
//! of the data set, numbered from 0 without a gap; larger numbers repeat the list. Without either column,
//! every sample takes the same time. Empty lines and lines that begin with `#` are skipped.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use xrsim_mlperf::sut::ServiceTime;
use xrsim_model::units::SimSpan;

use super::cost_csv::{Row, misnamed, rows};
use super::{ConfigError, Problem, Source};

const COLUMNS: [&str; 4] = ["task", "batch", "sample", "latency_ms"];

/// Largest number of samples of a batch, or of the data set.
const MAX_INDEX: u32 = 1 << 20;

/// Service times by task.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServiceTables {
    /// Times by task; the empty name stands for all other tasks.
    tables: BTreeMap<Box<str>, ServiceTime>,
}

impl ServiceTables {
    /// The same times for all tasks.
    pub fn of_all(time: ServiceTime) -> Self {
        Self { tables: BTreeMap::from([("".into(), time)]) }
    }

    /// Service time of a task, if it is known.
    pub fn of(&self, task: &str) -> Option<&ServiceTime> {
        self.tables.get(task).or_else(|| self.tables.get(""))
    }
}

/// Reads a table of measured service times.
///
/// # Errors
///
/// [`ConfigError::Invalid`] with every problem of the header or, if the header is valid, of the rows.
pub fn parse(source: &Arc<Source>) -> Result<ServiceTables, ConfigError> {
    read(source.text())
        .map_err(|problems| ConfigError::Invalid { file: Arc::clone(source), problems })
}

fn read(text: &str) -> Result<ServiceTables, Vec<Problem>> {
    let mut rows = rows(text);
    let Some(header) = rows.next() else {
        let problem = Problem::new(0..0, "the table is empty");
        return Err(vec![problem.help(format!("columns: {}", COLUMNS.join(", ")))]);
    };
    let columns = Columns::read(&header)?;
    let mut problems = Vec::new();
    let mut entries: BTreeMap<Box<str>, BTreeMap<u32, Entry>> = BTreeMap::new();
    for row in rows {
        match columns.entry(&row) {
            Ok((task, index, entry)) => {
                let of_task = entries.entry(task).or_default();
                if of_task.contains_key(&index) {
                    problems.push(Problem::new(row.line(), "the same row as one before"));
                }
                of_task.insert(index, entry);
            }
            Err(problem) => problems.push(problem),
        }
    }
    if entries.is_empty() && problems.is_empty() {
        problems.push(Problem::new(text.len()..text.len(), "the table has no rows"));
    }
    let mut tables = BTreeMap::new();
    for (task, entries) in entries {
        match columns.service_time(&entries) {
            Ok(time) => drop(tables.insert(task, time)),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(ServiceTables { tables }) } else { Err(problems) }
}

/// Row of a task.
struct Entry {
    latency: SimSpan,
    line: Range<usize>,
}

/// Column that numbers the rows.
#[derive(Clone, Copy)]
enum Index {
    None,
    Batch(usize),
    Sample(usize),
}

/// Position of every column.
struct Columns {
    task: Option<usize>,
    index: Index,
    latency: usize,
    count: usize,
}

impl Columns {
    fn read(header: &Row<'_>) -> Result<Self, Vec<Problem>> {
        let mut problems = misnamed(header, &COLUMNS);
        let find = |name| header.cells.iter().position(|cell| cell == name);
        let index = match (find("batch"), find("sample")) {
            (Some(_), Some(sample)) => {
                problems.push(header.problem(sample, "both `batch` and `sample`; give one"));
                Index::None
            }
            (Some(batch), None) => Index::Batch(batch),
            (None, Some(sample)) => Index::Sample(sample),
            (None, None) => Index::None,
        };
        let latency = find("latency_ms");
        if latency.is_none() {
            problems.push(Problem::new(header.line(), "no column `latency_ms`"));
        }
        let count = header.cells.len();
        let columns = Self { task: find("task"), index, latency: latency.unwrap_or(0), count };
        if problems.is_empty() { Ok(columns) } else { Err(problems) }
    }

    fn entry(&self, row: &Row<'_>) -> Result<(Box<str>, u32, Entry), Problem> {
        row.check_width(self.count)?;
        let task = self.task.map_or("", |column| &row.cells[column]);
        let number = |column: usize, first: u32| {
            let text = &row.cells[column];
            let number = text.parse().ok().filter(|number| (first..=MAX_INDEX).contains(number));
            number.ok_or_else(|| {
                row.problem(column, format!("`{text}` is not a number of samples"))
                    .help(format!("a whole number from {first} to {MAX_INDEX}"))
            })
        };
        let index = match self.index {
            Index::None => 0,
            Index::Batch(column) => number(column, 1)?,
            Index::Sample(column) => number(column, 0)?,
        };
        let text = &row.cells[self.latency];
        let latency = text.parse().ok().and_then(SimSpan::from_ms).ok_or_else(|| {
            row.problem(self.latency, format!("`{text}` is not a latency"))
                .help(format!("milliseconds, from 0 to {}", SimSpan::MAX_MS))
        })?;
        Ok((task.into(), index, Entry { latency, line: row.line() }))
    }

    /// Service time of the rows of a task, at least one.
    fn service_time(&self, entries: &BTreeMap<u32, Entry>) -> Result<ServiceTime, Problem> {
        let (&first, entry) = entries.first_key_value().expect("a task has a row");
        match self.index {
            Index::None => Ok(ServiceTime::Constant(entry.latency)),
            Index::Batch(_) if first != 1 => {
                Err(Problem::new(entry.line.clone(), "there is no batch of 1 before it"))
            }
            Index::Batch(_) => Ok(ServiceTime::Batches(interpolated(entries).into())),
            Index::Sample(_) => {
                let gap = entries.iter().zip(0..).find(|((found, _), expected)| *found != expected);
                if let Some(((_, entry), expected)) = gap {
                    let message = format!("there is no sample {expected} before it");
                    return Err(Problem::new(entry.line.clone(), message));
                }
                Ok(ServiceTime::Samples(entries.values().map(|entry| entry.latency).collect()))
            }
        }
    }
}

/// Times of 1, 2, ... samples, interpolated between the rows, the first of which is that of 1 sample.
fn interpolated(entries: &BTreeMap<u32, Entry>) -> Vec<SimSpan> {
    let mut spans: Vec<SimSpan> = Vec::new();
    for (&size, entry) in entries {
        let known = spans.len() as u32;
        let before = spans.last().map_or(0.0, |span| span.ns() as f64);
        let slope = (entry.latency.ns() as f64 - before) / f64::from(size - known);
        for step in 1..size - known {
            spans.push(SimSpan::from_ns((before + slope * f64::from(step)).round() as u64));
        }
        spans.push(entry.latency);
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ns(ms: &[u64]) -> Arc<[SimSpan]> {
        ms.iter().map(|ms| SimSpan::from_ns(ms * 1_000_000)).collect()
    }

    fn problems(text: &str) -> Vec<String> {
        read(text).unwrap_err().into_iter().map(|problem| problem.message).collect()
    }

    /// 2 ms for one sample, 8 ms for four: 4 and 6 ms between them.
    #[test]
    fn batches_between_measured_ones_are_interpolated() {
        let tables = read("batch,latency_ms\n4,8\n1,2\n5,9\n").unwrap();
        assert_eq!(tables.of("any"), Some(&ServiceTime::Batches(ns(&[2, 4, 6, 8, 9]))));
    }

    #[test]
    fn tasks_have_rows_of_their_own() {
        let tables = read("task,latency_ms\n,5\na,3\n").unwrap();
        let constant = |ms: u64| Some(ServiceTime::Constant(SimSpan::from_ns(ms * 1_000_000)));
        assert_eq!((tables.of("a").cloned(), tables.of("b").cloned()), (constant(3), constant(5)));
        let only = read("task,sample,latency_ms\na,0,1\na,1,4\n").unwrap();
        assert_eq!(only.of("a"), Some(&ServiceTime::Samples(ns(&[1, 4]))));
        assert_eq!(only.of("b"), None);
    }

    #[test]
    fn every_problem_is_named() {
        assert_eq!(problems(""), ["the table is empty"]);
        assert_eq!(problems("latency_ms\n"), ["the table has no rows"]);
        assert_eq!(
            problems("batch,sample,latency\n"),
            [
                "unknown column `latency`",
                "both `batch` and `sample`; give one",
                "no column `latency_ms`"
            ]
        );
        assert_eq!(
            problems("batch,latency_ms\n0,1\n2,x\n3,1\n3,1\n4\n"),
            [
                "`0` is not a number of samples",
                "`x` is not a latency",
                "the same row as one before",
                "1 cells under 2 columns",
                "there is no batch of 1 before it"
            ]
        );
        assert_eq!(problems("sample,latency_ms\n0,1\n2,1\n"), ["there is no sample 1 before it"]);
    }
}
