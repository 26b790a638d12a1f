//! The three CSV files of a set of runs: `scores.csv` (a row for each run), `models.csv` (a row for each
//! model of a run) and `inferences.csv` (a row for each request). The file of a sweep has a row for each
//! point.
//!
//! Numbers read back to the same value: scores and energies are written in the shortest such form, times
//! in milliseconds with all six decimals of a nanosecond.

use std::fmt::Write as _;
use std::io::{self, Write};

use xrsim_model::units::SimTime;
use xrsim_sim::metrics::DeviceMetrics;
use xrsim_sim::plan::Plan;
use xrsim_sim::score::{InferenceScore, Score, Scorecard};
use xrsim_sim::sweep::{RunResult, Scored};

use super::RunLabel;
use super::cells::{self, Cells};
use super::rows::{CHECK, RowCheck};

/// Columns at the start of every file.
pub const LABEL: [&str; RunLabel::NAMES.len()] = RunLabel::NAMES;

/// Numbers below this are written with an exponent, which is shorter than leading zeros.
const SHORT: f64 = 1e-5;

/// Columns of a sweep before the label.
const POINT: [&str; 2] = ["point", "id"];

/// Columns of a sweep after the scores.
const REASON: [&str; 2] = ["reason", CHECK];

/// Columns of `inferences.csv` between the label and the scores of a request.
pub const REQUEST: [&str; 11] = [
    "model",
    "network",
    "frame",
    "arrival_ms",
    "deadline_ms",
    "start_ms",
    "end_ms",
    "accelerator",
    "outcome",
    "reason",
    "energy_mj",
];

/// Columns of `inferences.csv` after the scores of a request.
pub(super) const REST: [&str; 3] = ["cause", "segments", "counted"];

/// Names of the scores, counts and energy of runs, and of the metrics of their hardware.
fn run_results() -> Vec<&'static str> {
    let device = DeviceMetrics::COLUMNS.iter().map(|column| column.name);
    results().into_iter().chain(device).collect()
}

/// Names of the scores, counts and energy of runs and models.
fn results() -> Vec<&'static str> {
    Score::columns().map(|column| column.name).collect()
}

/// The `keys` that the label of a run does not have.
pub fn beside_label<'a>(keys: impl Iterator<Item = &'a str>) -> impl Iterator<Item = &'a str> {
    keys.filter(|key| !LABEL.contains(key))
}

/// First line of the file of a sweep, whose rows have columns for `settings` after the label.
pub fn sweep_header(settings: &[&str]) -> String {
    [&POINT[..], &LABEL, settings, &run_results(), &REASON].concat().join(",") + "\n"
}

/// The three files of a set of runs.
pub struct RunTables<W>([Table<W>; 3]);

impl<W: Write> RunTables<W> {
    /// Names of the files.
    pub const NAMES: [&str; 3] = ["scores.csv", "models.csv", "inferences.csv"];

    /// The tables in the files of [`RunTables::NAMES`], with columns for `settings` after the label.
    ///
    /// # Errors
    ///
    /// The error of a writer.
    pub fn new([scores, models, inferences]: [W; 3], settings: &[&str]) -> io::Result<Self> {
        let of_request: Vec<_> = InferenceScore::SCORES.iter().map(|column| column.name).collect();
        Ok(Self([
            Table::scores(scores, settings)?,
            Table::new(models, settings, &[&["model", "network"], &results()])?,
            Table::new(inferences, settings, &[&REQUEST, &of_request, &REST])?,
        ]))
    }

    /// Writes the rows of a run: its models in the order of the scenario, its requests in order of arrival. `values`
    /// are those of the columns of settings, in their order.
    ///
    /// # Errors
    ///
    /// The error of a writer.
    pub fn add<'a>(
        &mut self,
        plan: &Plan,
        label: &RunLabel<'_>,
        values: impl Iterator<Item = &'a str> + Clone,
        result: &RunResult,
    ) -> io::Result<()> {
        for table in &mut self.0 {
            table.set_settings(values.clone());
            table.start_run(label);
        }
        let [scores, models, inferences] = &mut self.0;
        cells::of_run(scores, &result.scorecard, &result.device(plan))?;
        cells::of_models(models, plan, &result.scorecard)?;
        cells::of_requests(inferences, plan, result)
    }

    /// Returns the writers, flushed.
    ///
    /// # Errors
    ///
    /// The error of a writer.
    pub fn finish(self) -> io::Result<[W; 3]> {
        let [scores, models, inferences] = self.0;
        Ok([scores.finish()?, models.finish()?, inferences.finish()?])
    }
}

/// Writes the rows of one file; the header is written on creation.
///
/// A row is assembled in one reused buffer: millions of rows cost no allocation.
pub struct Table<W> {
    out: W,
    row: String,
    /// The label columns of the current run, ending with a comma.
    label: String,
    /// The columns of settings after the label, each ending with a comma.
    settings: String,
    /// Check of the rows of a sweep.
    check: Option<RowCheck>,
}

impl<W: Write> Table<W> {
    fn new(mut out: W, settings: &[&str], columns: &[&[&str]]) -> io::Result<Self> {
        let first = [&LABEL[..], settings].concat();
        writeln!(out, "{}", [first, columns.concat()].concat().join(","))?;
        let (row, label, settings) = (String::new(), String::new(), String::new());
        Ok(Self { out, row, label, settings, check: None })
    }

    /// `scores.csv`, with columns for `settings` after the label.
    ///
    /// # Errors
    ///
    /// The error of the writer.
    pub fn scores(out: W, settings: &[&str]) -> io::Result<Self> {
        Self::new(out, settings, &[&run_results()])
    }

    /// Rows of a sweep, whose `header` is in the file already.
    pub fn sweep_rows(out: W, header: &str) -> Self {
        let check = Some(RowCheck::below(header.as_bytes()));
        let (row, label, settings) = (String::new(), String::new(), String::new());
        Self { out, row, label, settings, check }
    }

    /// Sets the values of the columns of settings, in their order, for the rows that follow.
    fn set_settings<'a>(&mut self, values: impl Iterator<Item = &'a str>) {
        self.row.clear();
        values.for_each(|value| self.text(value));
        std::mem::swap(&mut self.settings, &mut self.row);
    }

    /// Writes the row of a point: its index and identity, its run, the values of its settings in the
    /// order of the columns, and its scores, or the reason why it has none.
    ///
    /// # Errors
    ///
    /// The error of the writer.
    pub fn sweep_row<'a>(
        &mut self,
        (index, id): (u64, &str),
        label: &RunLabel<'_>,
        settings: impl Iterator<Item = &'a str>,
        result: Result<&Scored, &str>,
    ) -> io::Result<()> {
        self.start_run(label);
        self.row.clear();
        self.display(index);
        self.text(id);
        self.row.push_str(&self.label);
        settings.for_each(|value| self.text(value));
        match result {
            Ok(Scored { scorecard, device }) => {
                cells::of_score(self, &scorecard.total);
                cells::of_device(self, device);
                self.row.push(',');
            }
            Err(reason) => {
                self.row.extend(run_results().iter().map(|_| ','));
                self.text(reason);
            }
        }
        // A row is one line, even where a name has line breaks.
        if self.row.contains(['\n', '\r']) {
            self.row = self.row.replace(['\n', '\r'], " ");
        }
        let digits = self.check.as_ref().map(|check| check.digits(self.row.as_bytes()));
        self.text(&digits.unwrap_or_default());
        self.end_row()
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

    /// Writes the row of one run of `scores.csv`.
    ///
    /// # Errors
    ///
    /// The error of the writer.
    pub fn scores_row(
        &mut self,
        label: &RunLabel<'_>,
        scorecard: &Scorecard,
        device: &DeviceMetrics,
    ) -> io::Result<()> {
        self.start_run(label);
        cells::of_run(self, scorecard, device)
    }

    fn start_run(&mut self, label: &RunLabel<'_>) {
        self.row.clear();
        cells::of_label(self, label);
        self.row.push_str(&self.settings);
        std::mem::swap(&mut self.label, &mut self.row);
    }

    fn display(&mut self, value: impl std::fmt::Display) {
        write!(self.row, "{value},").expect("writing to a string cannot fail");
    }
}

impl<W: Write> Cells for Table<W> {
    fn start_row(&mut self) {
        self.row.clear();
        self.row.push_str(&self.label);
    }

    fn end_row(&mut self) -> io::Result<()> {
        self.row.pop();
        self.row.push('\n');
        self.out.write_all(self.row.as_bytes())
    }

    fn whole(&mut self, value: u64) {
        self.display(value);
    }

    /// The shortest text that reads back to the value, or an empty cell.
    fn number(&mut self, value: Option<f64>) {
        match value {
            Some(value) if value != 0.0 && value.abs() < SHORT => {
                write!(self.row, "{value:e},").expect("writing to a string cannot fail");
            }
            Some(value) => self.display(value),
            None => self.row.push(','),
        }
    }

    fn time(&mut self, time: Option<SimTime>) {
        if let Some(time) = time {
            let ns = time.ns();
            write!(self.row, "{}.{:06}", ns / 1_000_000, ns % 1_000_000)
                .expect("writing to a string cannot fail");
        }
        self.row.push(',');
    }

    /// A text cell, quoted where the comma, quote or line break in a user's name needs it.
    fn text(&mut self, text: &str) {
        if text.contains([',', '"', '\n', '\r']) {
            self.row.push('"');
            self.row.push_str(&text.replace('"', "\"\""));
            self.row.push_str("\",");
        } else {
            self.row.push_str(text);
            self.row.push(',');
        }
    }
}
