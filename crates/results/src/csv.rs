//! The three CSV files of a set of runs: `scores.csv` (a row for each run), `models.csv` (a row for each
//! model of a run) and `inferences.csv` (a row for each request). The file of a sweep has a row for each
//! point.
//!
//! Numbers read back to the same value: scores and energies are written in the shortest such form, times
//! in milliseconds with all six decimals of a nanosecond.

use std::fmt::Write as _;
use std::io::{self, Write};

use xrsim_model::units::SimTime;
use xrsim_sim::plan::Plan;
use xrsim_sim::sweep::{Made, RunResult, Scored};

use super::RunLabel;
use super::cells::{Further, RunTable, add_made};
use super::digits::{push_ms, push_number, push_whole};
use super::fields::{Cells, Rows};
use super::rows::{CHECK, RowCheck};

/// Columns at the start of every file.
pub const LABEL: [&str; RunLabel::NAMES.len()] = RunLabel::NAMES;

/// Numbers below this are written with an exponent, which is shorter than leading zeros.
const SHORT: f64 = 1e-5;

/// Columns of a sweep before the label.
const POINT: [&str; 2] = ["point", "id"];

/// Columns of a sweep after the scores.
const REASON: [&str; 2] = ["reason", CHECK];

/// The `keys` that the label of a run does not have.
pub fn beside_label<'a>(keys: impl Iterator<Item = &'a str>) -> impl Iterator<Item = &'a str> {
    keys.filter(|key| !LABEL.contains(key))
}

/// Table of the results of a sweep with columns for `settings`: of runs of profiles or on devices if they give one.
fn of_sweep<'a>(settings: impl Iterator<Item = &'a str>) -> RunTable {
    settings.fold(RunTable::Scores, |table, key| match (table, key) {
        (_, "profile") => RunTable::Days,
        (RunTable::Scores, "device") => RunTable::Stops,
        _ => table,
    })
}

/// First line of the file of a sweep, whose rows have columns for `settings` after the label.
pub fn sweep_header(settings: &[&str]) -> String {
    let results = of_sweep(settings.iter().copied()).names();
    [&POINT[..], &LABEL, settings, &results, &REASON].concat().join(",") + "\n"
}

/// Writes the rows of one file; the header is written on creation.
pub struct Table<W> {
    out: W,
    lines: Lines,
}

impl<W: Write> Table<W> {
    /// The table of a `kind`, with columns for `settings` after the label, and with those of
    /// [`RunTable::further`] at the end.
    ///
    /// # Errors
    ///
    /// The error of the writer.
    pub fn new(
        mut out: W,
        kind: RunTable,
        settings: &[&str],
        further: Further,
    ) -> io::Result<Self> {
        let names: Vec<_> = kind.further(further).iter().map(|it| it.name).collect();
        writeln!(out, "{}", [&LABEL, settings, &kind.names(), &names].concat().join(","))?;
        Ok(Self { out, lines: Lines { further, ..Lines::new(kind, None) } })
    }

    /// Rows of a sweep, whose `header` is in the file already.
    pub fn sweep_rows(out: W, header: &str) -> Self {
        let check = RowCheck::below(header.as_bytes());
        Self { out, lines: Lines::new(of_sweep(header.split(',')), Some(check)) }
    }

    /// Sets the values of the columns of settings, in their order, for the rows that follow.
    pub fn set_settings<'a>(&mut self, values: impl Iterator<Item = &'a str>) {
        self.lines.row.clear();
        values.for_each(|value| self.lines.text(value));
        std::mem::swap(&mut self.lines.settings, &mut self.lines.row);
    }

    /// Writes the row of a point: its index and identity, its run, the values of its settings in the
    /// order of the columns, and its result, or the reason why it has none.
    ///
    /// # Errors
    ///
    /// The error of the writer.
    pub fn sweep_row<'a>(
        &mut self,
        (index, id): (u64, &str),
        label: &RunLabel<'_>,
        mut settings: impl Iterator<Item = &'a str>,
        result: Result<&Made, &str>,
    ) -> io::Result<()> {
        self.lines.make_sweep_row((index, id), label, &mut settings, result);
        self.out.write_all(self.lines.row.as_bytes())
    }

    /// Flushes the writer.
    ///
    /// # Errors
    ///
    /// The error of the writer.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Returns the writer, flushed.
    ///
    /// # Errors
    ///
    /// The error of the writer.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }

    /// The maker of rows for [`Table::write`].
    pub fn maker(&self) -> RowMaker {
        RowMaker { kind: self.lines.kind, further: self.lines.further }
    }

    /// Writes rows of the table's [`RowMaker`].
    ///
    /// # Errors
    ///
    /// The error of the writer.
    pub fn write(&mut self, rows: &[u8]) -> io::Result<()> {
        self.out.write_all(rows)
    }

    /// Writes the rows of one run.
    ///
    /// # Errors
    ///
    /// The error of the writer.
    pub fn add(&mut self, label: &RunLabel<'_>, plan: &Plan, result: &RunResult) -> io::Result<()> {
        self.lines.add(&mut self.out, label, plan, result)
    }

    /// Writes the rows of one run whose requests were not kept, which a table of requests has none of.
    ///
    /// # Errors
    ///
    /// The error of the writer.
    pub fn add_scored(
        &mut self,
        label: &RunLabel<'_>,
        plan: &Plan,
        scored: &Scored,
    ) -> io::Result<()> {
        let kind = self.lines.kind;
        self.lines.start_run(label);
        let further = self.lines.further;
        let mut written = Written { lines: &mut self.lines, out: &mut self.out };
        kind.add_scored(&mut written, plan, scored, further)
    }
}

/// Makes rows of a table without settings as text, on any thread.
#[derive(Debug, Clone, Copy)]
pub struct RowMaker {
    kind: RunTable,
    further: Further,
}

impl RowMaker {
    /// The rows of one run.
    pub fn rows(self, label: &RunLabel<'_>, plan: &Plan, result: &RunResult) -> Vec<u8> {
        let mut rows = Vec::new();
        let mut lines = Lines { further: self.further, ..Lines::new(self.kind, None) };
        lines.add(&mut rows, label, plan, result).expect("memory takes every row");
        rows.shrink_to_fit();
        rows
    }
}

/// Text of rows, apart from the type of the writer, so that it is compiled once, and here.
///
/// A row is assembled in one reused buffer: millions of rows cost no allocation.
struct Lines {
    kind: RunTable,
    row: String,
    /// The label columns of the current run, ending with a comma.
    label: String,
    /// The columns of settings after the label, each ending with a comma.
    settings: String,
    /// Check of the rows of a sweep.
    check: Option<RowCheck>,
    /// Columns at the end.
    further: Further,
}

impl Lines {
    fn new(kind: RunTable, check: Option<RowCheck>) -> Self {
        let (row, label, settings) = (String::new(), String::new(), String::new());
        Self { kind, row, label, settings, check, further: Further::default() }
    }

    /// Adds the rows of one run to `out`.
    fn add(
        &mut self,
        out: &mut dyn Write,
        label: &RunLabel<'_>,
        plan: &Plan,
        result: &RunResult,
    ) -> io::Result<()> {
        let (kind, further) = (self.kind, self.further);
        self.start_run(label);
        kind.add(&mut Written { lines: self, out }, plan, result, further)
    }

    fn make_sweep_row(
        &mut self,
        (index, id): (u64, &str),
        label: &RunLabel<'_>,
        settings: &mut dyn Iterator<Item = &str>,
        result: Result<&Made, &str>,
    ) {
        self.start_run(label);
        self.row.clear();
        self.whole(index);
        self.text(id);
        self.row.push_str(&self.label);
        settings.for_each(|value| self.text(value));
        match result {
            Ok(made) => {
                add_made(self, self.kind, made);
                self.row.push(',');
            }
            Err(reason) => {
                self.row.extend(self.kind.names().iter().map(|_| ','));
                self.text(reason);
            }
        }
        // A row is one line, even where a name has line breaks.
        if self.row.contains(['\n', '\r']) {
            self.row = self.row.replace(['\n', '\r'], " ");
        }
        let digits = self.check.as_ref().map(|check| check.digits(self.row.as_bytes()));
        self.text(&digits.unwrap_or_default());
        self.end();
    }

    fn start_run(&mut self, label: &RunLabel<'_>) {
        self.row.clear();
        RunLabel::COLUMNS.iter().for_each(|column| column.add(label, self));
        self.row.push_str(&self.settings);
        std::mem::swap(&mut self.label, &mut self.row);
    }

    /// Ends the row with a line break in place of its last comma.
    fn end(&mut self) {
        self.row.pop();
        self.row.push('\n');
    }
}

/// Lines on their way to a writer.
struct Written<'a> {
    lines: &'a mut Lines,
    out: &'a mut dyn Write,
}

impl Rows for Written<'_> {
    fn start_row(&mut self) {
        self.lines.row.clear();
        self.lines.row.push_str(&self.lines.label);
    }

    fn end_row(&mut self) -> io::Result<()> {
        self.lines.end();
        self.out.write_all(self.lines.row.as_bytes())
    }
}

impl Cells for Written<'_> {
    fn whole(&mut self, value: u64) {
        self.lines.whole(value);
    }

    fn number(&mut self, value: Option<f64>) {
        self.lines.number(value);
    }

    fn time(&mut self, time: Option<SimTime>) {
        self.lines.time(time);
    }

    fn text(&mut self, text: &str) {
        self.lines.text(text);
    }
}

impl Cells for Lines {
    fn whole(&mut self, value: u64) {
        push_whole(&mut self.row, value);
        self.row.push(',');
    }

    /// The shortest text that reads back to the value, or an empty cell.
    fn number(&mut self, value: Option<f64>) {
        match value {
            Some(value) if value != 0.0 && value.abs() < SHORT => {
                write!(self.row, "{value:e}").expect("writing to a string cannot fail");
            }
            Some(value) => push_number(&mut self.row, value),
            None => {}
        }
        self.row.push(',');
    }

    fn time(&mut self, time: Option<SimTime>) {
        if let Some(time) = time {
            push_ms(&mut self.row, time);
        }
        self.row.push(',');
    }

    /// A text cell, quoted where the comma, quote or line break in a user's name needs it.
    fn text(&mut self, text: &str) {
        let is_special = |it| matches!(it, b',' | b'"' | b'\n' | b'\r');
        // All bytes, so that the compiler compares many at once.
        if text.bytes().fold(false, |any, it| any | is_special(it)) {
            self.row.push('"');
            self.row.push_str(&text.replace('"', "\"\""));
            self.row.push_str("\",");
        } else {
            self.row.push_str(text);
            self.row.push(',');
        }
    }
}
