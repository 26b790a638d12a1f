//! CSV tables by the names of their columns. Every problem has its line.

use csv::StringRecord;

use xrsim_model::units::{SimSpan, SimTime};

use xrsim_model::column;
use xrsim_model::renamed::Renamed;

use super::{ReadError, Source};

/// One row of a table.
pub(super) struct Row<'a> {
    cells: &'a StringRecord,
    /// Requested columns, each with its position.
    columns: &'a [(&'static str, usize)],
    source: Source<'a>,
    /// Position of the reader before the row \[byte\].
    before: usize,
}

/// A table whose header was read. Columns come in any order; further ones are ignored.
pub(super) struct Table<'a> {
    source: Source<'a>,
    reader: csv::Reader<&'a [u8]>,
    n_columns: usize,
    columns: Vec<(&'static str, usize)>,
    /// Columns that have the name of an earlier version.
    pub(super) renamed: Vec<Renamed>,
}

impl<'a> Table<'a> {
    /// The table of `source` with `columns`, each of which may be absent or not.
    ///
    /// # Errors
    ///
    /// A missing column.
    pub(super) fn open(
        source: Source<'a>,
        columns: impl IntoIterator<Item = (&'static str, bool)>,
    ) -> Result<Self, ReadError> {
        let mut reader =
            csv::ReaderBuilder::new().flexible(true).from_reader(source.text.as_bytes());
        let header = reader.headers().expect("the text is UTF-8");
        let n_columns = header.len();
        let place = |name: &str| header.iter().position(|it| it == name);
        let (mut found, mut renamed) = (Vec::new(), Vec::new());
        for (name, may_be_absent) in columns {
            let old = || column::change_to(name).and_then(|it| Some((it, place(it.old)?)));
            match (place(name), old()) {
                (Some(place), _) => found.push((name, place)),
                (None, Some((change, place))) => {
                    renamed.push(change);
                    found.push((name, place));
                }
                (None, None) if may_be_absent => {}
                (None, None) => return Err(problem(source, 0, format!("no column `{name}`"))),
            }
        }
        Ok(Self { source, reader, n_columns, columns: found, renamed })
    }

    /// Whether the table has the requested column `name`.
    pub(super) fn has(&self, name: &str) -> bool {
        self.columns.iter().any(|(known, _)| *known == name)
    }

    /// Gives every row to `take`.
    ///
    /// # Errors
    ///
    /// A row of another length, a last line without an end, or an error of `take`.
    pub(super) fn each(
        &mut self,
        mut take: impl FnMut(&Row<'_>) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        let Self { source, reader, n_columns, columns, .. } = self;
        let source = *source;
        let mut cells = StringRecord::new();
        while reader.read_record(&mut cells).expect("the text is UTF-8 and rows may be uneven") {
            let before = cells.position().map_or(0, |position| position.byte());
            let before = usize::try_from(before).expect("the text is in memory");
            if cells.len() != *n_columns {
                let message = format!("{} cells under {n_columns} columns", cells.len());
                return Err(problem(source, before, message));
            }
            take(&Row { cells: &cells, columns, source, before })?;
        }
        if source.text.ends_with('\n') {
            return Ok(());
        }
        let last_line = source.text.rfind('\n').map_or(0, |newline| newline + 1);
        Err(problem(source, last_line, "the last line has no end; the file was cut off"))
    }
}

/// Gives every row of a table, which has all `columns`, to `take`.
///
/// # Errors
///
/// Those of [`Table::open`] and [`Table::each`].
pub(super) fn each(
    source: Source<'_>,
    columns: &[&'static str],
    take: impl FnMut(&Row<'_>) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    Table::open(source, columns.iter().map(|name| (*name, false)))?.each(take)
}

/// A problem in the first line after `byte` that is not empty.
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

impl<'a> Row<'a> {
    /// The cell in a requested column.
    pub(super) fn text(&self, column: &str) -> &'a str {
        self.text_if_any(column).expect("the column was asked for")
    }

    /// The cell in a requested column, if the table has the column.
    pub(super) fn text_if_any(&self, column: &str) -> Option<&'a str> {
        let (_, position) = self.columns.iter().find(|(name, _)| *name == column)?;
        Some(&self.cells[*position])
    }

    /// A problem of this row.
    pub(super) fn problem(&self, message: impl Into<String>) -> ReadError {
        problem(self.source, self.before, message)
    }

    /// A problem of one cell: it is not `what`.
    pub(super) fn refusal(&self, column: &str, what: &str) -> ReadError {
        self.problem(format!("column `{column}`: `{}` is no {what}", self.text(column)))
    }

    /// A finite number.
    pub(super) fn number(&self, column: &str) -> Result<f64, ReadError> {
        let number = self.text(column).parse().ok().filter(|number: &f64| number.is_finite());
        number.ok_or_else(|| self.refusal(column, "finite number"))
    }

    /// A finite number, where there is one.
    pub(super) fn number_if_any(&self, column: &str) -> Result<Option<f64>, ReadError> {
        match self.text(column) {
            "" => Ok(None),
            _ => self.number(column).map(Some),
        }
    }

    /// A whole number that a page stores exactly.
    pub(super) fn count(&self, column: &str) -> Result<u64, ReadError> {
        let count = self.text(column).parse().ok().filter(|count| *count < 1 << 53);
        count.ok_or_else(|| self.refusal(column, "whole number below 2^53"))
    }

    /// A time in milliseconds: every time that a run can write, and any other number in its range.
    pub(super) fn time(&self, column: &str) -> Result<SimTime, ReadError> {
        let text = self.text(column);
        let rounded = || Some(SimTime::ZERO + text.parse().ok().and_then(SimSpan::from_ms)?);
        let time = exact_time(text).or_else(rounded);
        time.ok_or_else(|| self.refusal(column, "time in ms"))
    }
}

/// A time written to the nanosecond, such as `1.500000`, up to the end of the clock.
fn exact_time(text: &str) -> Option<SimTime> {
    let (ms, fraction) = text.split_once('.')?;
    let is_plain =
        fraction.len() == 6 && [ms, fraction].concat().bytes().all(|c| c.is_ascii_digit());
    let ns = ms.parse::<u64>().ok().filter(|_| is_plain)?.checked_mul(1_000_000)?;
    ns.checked_add(fraction.parse().ok()?).map(SimTime::from_ns)
}
