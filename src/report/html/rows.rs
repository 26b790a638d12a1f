//! CSV tables by the names of their columns, with the line of every problem.

use csv::StringRecord;

use crate::report::csv::LABEL;
use crate::units::{SimSpan, SimTime};

use super::{ReadError, Source};

/// Text of the columns that say which run a row belongs to.
pub(super) type Label<'a> = [&'a str; LABEL.len()];

/// One row: the label of its run and the cells of the columns asked for, in their order.
pub(super) struct Row<'a, const N: usize> {
    pub(super) label: Label<'a>,
    pub(super) cells: [&'a str; N],
    columns: [&'static str; N],
    source: Source<'a>,
    /// Byte at which the reader stood before the row.
    before: usize,
}

/// Hands every row of a table to `take`. Columns come in any order; further ones are ignored.
///
/// # Errors
///
/// A missing column, a row of another length, a last line without an end, and what `take` refuses.
pub(super) fn each<const N: usize>(
    source: Source<'_>,
    columns: [&'static str; N],
    mut take: impl FnMut(&Row<'_, N>) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(source.text.as_bytes());
    let header = reader.headers().expect("the text is UTF-8").clone();
    let label_at = positions(source, &header, LABEL)?;
    let cells_at = positions(source, &header, columns)?;
    let mut record = StringRecord::new();
    while reader.read_record(&mut record).expect("the text is UTF-8 and rows may be uneven") {
        let before = record.position().map_or(0, |position| position.byte());
        let before = usize::try_from(before).expect("the text is in memory");
        if record.len() != header.len() {
            let message = format!("{} cells under {} columns", record.len(), header.len());
            return Err(problem(source, before, message));
        }
        take(&Row {
            label: label_at.map(|at| &record[at]),
            cells: cells_at.map(|at| &record[at]),
            columns,
            source,
            before,
        })?;
    }
    if source.text.ends_with('\n') {
        return Ok(());
    }
    let last_line = source.text.rfind('\n').map_or(0, |newline| newline + 1);
    Err(problem(source, last_line, "the last line has no end; the file was cut off"))
}

fn positions<const N: usize>(
    source: Source<'_>,
    header: &StringRecord,
    columns: [&str; N],
) -> Result<[usize; N], ReadError> {
    let mut positions = [0; N];
    for (position, column) in positions.iter_mut().zip(columns) {
        let found = header.iter().position(|name| name == column);
        *position = found.ok_or_else(|| problem(source, 0, format!("no column `{column}`")))?;
    }
    Ok(positions)
}

/// A problem in the first line from `byte` on that is not empty.
fn problem(source: Source<'_>, byte: usize, message: impl Into<String>) -> ReadError {
    let (before, rest) = source.text.as_bytes().split_at(byte);
    let blank = rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
    let newlines = before.iter().chain(blank).filter(|byte| **byte == b'\n').count();
    ReadError { file: source.name.into(), line: newlines + 1, message: message.into() }
}

/// A problem of the file as a whole, at its last line.
pub(super) fn problem_at_end(source: Source<'_>, message: impl Into<String>) -> ReadError {
    let line = source.text.lines().count().max(1);
    ReadError { file: source.name.into(), line, message: message.into() }
}

impl<const N: usize> Row<'_, N> {
    /// A problem of this row.
    pub(super) fn problem(&self, message: impl Into<String>) -> ReadError {
        problem(self.source, self.before, message)
    }

    /// A problem of one cell: what it is not.
    pub(super) fn refusal(&self, index: usize, what: &str) -> ReadError {
        let (cell, column) = (self.cells[index], self.columns[index]);
        self.problem(format!("column `{column}`: `{cell}` is no {what}"))
    }

    /// A finite number.
    pub(super) fn number(&self, index: usize) -> Result<f64, ReadError> {
        let number = self.cells[index].parse().ok().filter(|number: &f64| number.is_finite());
        number.ok_or_else(|| self.refusal(index, "finite number"))
    }

    /// A whole number that a page holds exactly.
    pub(super) fn count(&self, index: usize) -> Result<u64, ReadError> {
        let count = self.cells[index].parse().ok().filter(|count| *count < 1 << 53);
        count.ok_or_else(|| self.refusal(index, "whole number below 2^53"))
    }

    /// A time in milliseconds; `None` where the cell is empty.
    pub(super) fn time(&self, index: usize) -> Result<Option<SimTime>, ReadError> {
        if self.cells[index].is_empty() {
            return Ok(None);
        }
        let span = self.cells[index].parse().ok().and_then(SimSpan::from_ms);
        let time = span.map(|span| SimTime::ZERO + span);
        time.map(Some).ok_or_else(|| self.refusal(index, "time in ms"))
    }

    /// A time that must be there.
    pub(super) fn instant(&self, index: usize) -> Result<SimTime, ReadError> {
        self.time(index)?.ok_or_else(|| self.refusal(index, "time in ms"))
    }
}
