//! Detailed log of LoadGen: its lines, or a table of their keys and values.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use crate::cost_cases::Lines;
use crate::cost_csv::rows;
use crate::{ConfigError, Problem, Source};

use super::{MAX_PROBLEMS, finish};

/// Begin of every line of a log.
const MARKER: &str = ":::MLLOG";

/// Columns of a table.
const COLUMNS: [&str; 3] = ["key", "is_error", "value"];

/// Detailed log of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Detail {
    /// The file.
    pub source: Arc<Source>,
    /// Lines in order; at least one.
    pub rows: Vec<DetailRow>,
}

/// A line of the log.
#[derive(Debug, Clone, PartialEq)]
pub struct DetailRow {
    /// Line of the file, counted from 1.
    pub line: usize,
    /// Key.
    pub key: String,
    /// Value.
    pub value: Value,
    /// Whether the line reports an error.
    pub is_error: bool,
}

impl Detail {
    /// Reads a log, or a table.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Invalid`] if the file has no lines, or a line of another form.
    pub(super) fn parse(source: &Arc<Source>) -> Result<Self, ConfigError> {
        let mut problems = Vec::new();
        let found = match source.text().starts_with(MARKER) {
            true => log(source.text(), &mut problems),
            false => table(source.text(), &mut problems),
        };
        if found.is_empty() && problems.is_empty() {
            problems.push(Problem::new(0..0, "the log is empty"));
        }
        finish(source, problems)?;
        Ok(Self { source: Arc::clone(source), rows: found })
    }
}

#[derive(Deserialize)]
struct Line {
    key: String,
    value: Value,
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Metadata {
    is_error: bool,
}

/// Reads the lines of a log. Lines that other programs wrote between them are skipped.
fn log(text: &str, problems: &mut Vec<Problem>) -> Vec<DetailRow> {
    let mut found = Vec::new();
    let mut start = 0;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let span = start..start + line.trim_end().len();
        start += line.len();
        let Some(json) = line.strip_prefix(MARKER) else { continue };
        match serde_json::from_str(json) {
            Ok(Line { key, value, metadata }) => {
                found.push(DetailRow { line: index + 1, key, value, is_error: metadata.is_error });
            }
            Err(error) => problems.push(Problem::new(span, format!("no line of a log: {error}"))),
        }
        if problems.len() >= MAX_PROBLEMS {
            break;
        }
    }
    found
}

fn table(text: &str, problems: &mut Vec<Problem>) -> Vec<DetailRow> {
    let mut rows = rows(text);
    let Some(header) = rows.next() else { return Vec::new() };
    if !header.cells.iter().eq(COLUMNS) {
        let problem = Problem::new(header.line(), "these are not the columns of a log");
        problems.push(problem.help(COLUMNS.join(",")));
        return Vec::new();
    }
    let mut lines = Lines::new(text);
    let mut found = Vec::new();
    for row in rows {
        let line = lines.at(row.line().start);
        let parsed = match row.cells.iter().collect::<Vec<_>>()[..] {
            [key, is_error, value] => is_error
                .parse()
                .ok()
                .zip(serde_json::from_str(value).ok())
                .map(|(is_error, value)| DetailRow { line, key: key.into(), value, is_error }),
            _ => None,
        };
        match parsed {
            Some(row) => found.push(row),
            None => {
                let problem = Problem::new(row.line(), "no row of a log");
                problems.push(problem.help("a key, `true` or `false`, and a value as JSON"));
            }
        }
        if problems.len() >= MAX_PROBLEMS {
            break;
        }
    }
    found
}
