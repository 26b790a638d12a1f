//! Contents of the files of a results folder, checked against each other.

use std::collections::HashMap;
use std::hash::Hash;

use serde_json::Value;

use xrsim_model::column::{Column, Kind};
use xrsim_model::renamed::Renamed;
use xrsim_model::units::SimTime;
use xrsim_results::cells::RunTable;
use xrsim_results::csv::LABEL;
use xrsim_sim::metrics::DeviceMetrics;
use xrsim_sim::score::{InferenceScore, Score};

use super::provenance::Provenance;
use super::rows::{Row, Table, problem_at_end};
use super::{Folder, ReadError, Source};

/// Number of scores of a request.
const N_SCORES: usize = InferenceScore::SCORES.len();

/// Column of the mean power of a run without leakage.
const POWER: &str = "power_without_leakage_mw";

/// Most requests of a page, which a browser holds all at once.
const MAX_REQUESTS: usize = 1_000_000;

/// The label of the run of a row.
fn label<'a>(row: &Row<'a>) -> [&'a str; LABEL.len()] {
    LABEL.map(|column| row.text(column))
}

/// Columns of the hardware of runs that the page shows. It has no space for leakage, which is an order of magnitude and in
/// the files.
fn device_columns() -> impl Iterator<Item = &'static Column<DeviceMetrics>> {
    DeviceMetrics::COLUMNS.iter().filter(|it| !it.name.contains("leakage"))
}

/// A file of runs.
fn open(source: Source<'_>, table: RunTable) -> Result<Table<'_>, ReadError> {
    let columns = RunTable::label().chain(table.columns());
    Table::open(source, columns.map(|column| (column.name, column.is_later)))
}

/// All results; the runs are in the order of `scores.csv`.
#[derive(Default)]
pub(super) struct Results {
    pub(super) runs: Vec<Run>,
    /// Columns of the hardware of the runs.
    pub(super) device: Vec<&'static Column<DeviceMetrics>>,
    /// Accelerators, outcomes, reasons, causes, segments and whether a request counts.
    pub(super) names: Distinct<Box<str>>,
    /// Energies and scores of requests, as their bits.
    pub(super) numbers: Distinct<u64>,
    /// Columns that have the name of an earlier version, each once.
    pub(super) renamed: Vec<Renamed>,
    /// Index of every run.
    by_label: HashMap<[Box<str>; LABEL.len()], usize>,
    /// Index of the run of the last row; the next row is most likely of the same run.
    last: usize,
}

/// One run.
#[derive(Default)]
pub(super) struct Run {
    pub(super) label: [Box<str>; LABEL.len()],
    /// In the order of [`Score::columns`], then of the columns of the hardware.
    pub(super) cells: Vec<Value>,
    /// Mean power without leakage \[mW\], where the file has it.
    pub(super) power_mw: Option<f64>,
    /// Executed requests that the scores count.
    n_counted: u64,
    /// In the order of `models.csv`.
    pub(super) models: Vec<Model>,
    /// Index of every model.
    by_name: HashMap<Box<str>, usize>,
    /// In the order of `inferences.csv`.
    pub(super) requests: Vec<Request>,
}

/// One model of a run.
pub(super) struct Model {
    pub(super) name: Box<str>,
    pub(super) network: Box<str>,
    /// In the order of [`Score::columns`].
    pub(super) cells: Vec<Value>,
}

/// One request.
pub(super) struct Request {
    /// Index into the models of the run.
    pub(super) model: usize,
    pub(super) frame: u64,
    pub(super) arrival: SimTime,
    /// Arrival of the request before it, or the start of the run.
    pub(super) arrival_before: SimTime,
    pub(super) deadline: SimTime,
    pub(super) start: Option<SimTime>,
    /// Of execution, or when it was given up.
    pub(super) end: Option<SimTime>,
    /// Index into the names.
    pub(super) accelerator: u32,
    /// Index into the names.
    pub(super) outcome: u32,
    /// Index into the names.
    pub(super) reason: u32,
    /// Index into the names.
    pub(super) cause: u32,
    /// Index into the names: when and where its segments ran.
    pub(super) segments: u32,
    /// Index into the names: whether it counts in the scores, `yes` or `no`.
    pub(super) counted: u32,
    /// Index into the numbers \[mJ\].
    pub(super) energy: u32,
    /// Indices into the numbers, in the order of [`InferenceScore::SCORES`].
    pub(super) scores: Option<[u32; N_SCORES]>,
}

/// Values in order of first use, each once.
#[derive(Default)]
pub(super) struct Distinct<T> {
    indices: HashMap<T, u32>,
    pub(super) values: Vec<T>,
}

impl<T: Clone + Eq + Hash> Distinct<T> {
    /// The index of `value`, which is kept if it is new.
    pub(super) fn index(&mut self, value: T) -> u32 {
        let next = u32::try_from(self.values.len()).expect("fewer values than rows of a file");
        *self.indices.entry(value).or_insert_with_key(|value| {
            self.values.push(value.clone());
            next
        })
    }
}

impl Results {
    /// Reads the three tables.
    pub(super) fn read(folder: &Folder<'_>, provenance: &Provenance) -> Result<Self, ReadError> {
        let mut results = Self::default();
        results.scores(folder.scores, provenance)?;
        results.models(folder.models)?;
        results.inferences(folder.inferences)?;
        Ok(results)
    }

    fn scores(&mut self, source: Source<'_>, provenance: &Provenance) -> Result<(), ReadError> {
        let mut table = open(source, RunTable::Scores)?;
        let device: Vec<_> = device_columns().filter(|it| table.has(it.name)).collect();
        let has_power = table.has(POWER);
        table.each(|row| {
            let label = label(row).map(Box::from);
            if self.by_label.insert(label.clone(), self.runs.len()).is_some() {
                return Err(row.problem(format!("run {} is there twice", spoken(&label))));
            }
            let metric = |column: &&Column<_>| row.number_if_any(column.name).map(Value::from);
            let metrics = device.iter().map(metric).collect::<Result<Vec<_>, _>>()?;
            let cells = [score(row)?, metrics].concat();
            let n_counted = row.count("executed")?;
            let power_mw = if has_power { row.number_if_any(POWER)? } else { None };
            self.runs.push(Run { label, cells, power_mw, n_counted, ..Run::default() });
            Ok(())
        })?;
        self.note(table.renamed);
        self.device = device;
        match (self.runs.len() as u64, provenance.n_feasible) {
            (0, _) => Err(problem_at_end(source, "the table has no rows")),
            (found, expected) if found == expected => Ok(()),
            (found, expected) => {
                let message = format!(
                    "{found} runs, but run.json speaks of {expected}; are the files of one command?"
                );
                Err(problem_at_end(source, message))
            }
        }
    }

    fn models(&mut self, source: Source<'_>) -> Result<(), ReadError> {
        let mut table = open(source, RunTable::Models)?;
        table.each(|row| {
            let run = self.run(row)?;
            let name = row.text("model");
            let Run { models, by_name, .. } = &mut self.runs[run];
            if by_name.insert(name.into(), models.len()).is_some() {
                return Err(row.problem(format!("model `{name}` of this run is there twice")));
            }
            let network = row.text("network").into();
            models.push(Model { name: name.into(), network, cells: score(row)? });
            Ok(())
        })?;
        self.note(table.renamed);
        self.complete(source, |run| !run.models.is_empty())
    }

    /// Remembers columns that have an earlier name.
    fn note(&mut self, renamed: Vec<Renamed>) {
        let known = &mut self.renamed;
        for change in renamed {
            if !known.contains(&change) {
                known.push(change);
            }
        }
    }

    fn inferences(&mut self, source: Source<'_>) -> Result<(), ReadError> {
        let mut n_requests = 0;
        let mut table = open(source, RunTable::Inferences)?;
        table.each(|row| {
            n_requests += 1;
            if n_requests > MAX_REQUESTS {
                let message =
                    format!("more than {MAX_REQUESTS} requests; make a page of fewer runs");
                return Err(row.problem(message));
            }
            let run = self.run(row)?;
            let request = self.request(run, row, [segments(row)?, counted(row)?])?;
            self.runs[run].requests.push(request);
            Ok(())
        })?;
        self.note(table.renamed);
        // Frames of a warm-up are executed, but not counted.
        self.complete(source, |run| run.n_executed() >= run.n_counted)
    }

    /// Index of the run that a row belongs to.
    fn run(&mut self, row: &Row<'_>) -> Result<usize, ReadError> {
        let label = label(row);
        let is_last = |run: &Run| run.label.iter().zip(label).all(|(a, b)| **a == *b);
        if !self.runs.get(self.last).is_some_and(is_last) {
            let found = self.by_label.get(&label.map(Box::from));
            self.last = *found.ok_or_else(|| {
                row.problem(format!("run {} is not in scores.csv", spoken(&label)))
            })?;
        }
        Ok(self.last)
    }

    /// Refuses a table that lacks rows of a run.
    fn complete(
        &self,
        source: Source<'_>,
        is_complete: impl Fn(&Run) -> bool,
    ) -> Result<(), ReadError> {
        match self.runs.iter().find(|run| !is_complete(run)) {
            None => Ok(()),
            Some(run) => {
                let run = spoken(&run.label);
                Err(problem_at_end(source, format!("the rows of run {run} are not all there")))
            }
        }
    }

    fn request(
        &mut self,
        run: usize,
        row: &Row<'_>,
        [segments, counted]: [&str; 2],
    ) -> Result<Request, ReadError> {
        let model = row.text("model");
        let model = *self.runs[run].by_name.get(model).ok_or_else(|| {
            row.problem(format!("model `{model}` of this run is not in models.csv"))
        })?;
        let Ending { start, end, scores } = ending(row)?;
        let Self { runs, names, numbers, .. } = self;
        let before = runs[run].requests.last();
        Ok(Request {
            model,
            frame: row.count("frame")?,
            arrival: row.time("arrival_ms")?,
            arrival_before: before.map_or(SimTime::ZERO, |it| it.arrival),
            deadline: row.time("deadline_ms")?,
            start,
            end,
            accelerator: names.index(row.text("accelerator").into()),
            outcome: names.index(row.text("outcome").into()),
            reason: names.index(row.text("reason").into()),
            cause: names.index(row.text("cause").into()),
            segments: names.index(segments.into()),
            counted: names.index(counted.into()),
            energy: numbers.index(row.number("energy_mj")?.to_bits()),
            scores: scores.map(|scores| {
                std::array::from_fn(|at| {
                    let value = InferenceScore::SCORES[at].of(&scores);
                    numbers.index(value.unwrap_or(f64::NAN).to_bits())
                })
            }),
        })
    }
}

/// Times and scores of a request, which depend on its outcome.
#[derive(Default)]
struct Ending {
    start: Option<SimTime>,
    end: Option<SimTime>,
    scores: Option<InferenceScore>,
}

fn ending(row: &Row<'_>) -> Result<Ending, ReadError> {
    match row.text("outcome") {
        "executed" => executed(row),
        "dropped" => {
            Ok(Ending { start: attempt(row)?, end: Some(row.time("end_ms")?), scores: None })
        }
        "lost" => Ok(Ending { start: attempt(row)?, ..Ending::default() }),
        "not_triggered" | "not_captured" => Ok(Ending::default()),
        _ => {
            let known = "outcome; known: executed, dropped, not_triggered, not_captured, lost";
            Err(row.refusal("outcome", known))
        }
    }
}

/// Start of a run that did not finish, if there was one.
fn attempt(row: &Row<'_>) -> Result<Option<SimTime>, ReadError> {
    match row.text("start_ms") {
        "" => Ok(None),
        _ => row.time("start_ms").map(Some),
    }
}

/// Whether a request counts; empty in files of earlier versions.
fn counted<'a>(row: &Row<'a>) -> Result<&'a str, ReadError> {
    match row.text_if_any("counted") {
        None => Ok(""),
        Some(text @ ("yes" | "no")) => Ok(text),
        Some(_) => Err(row.refusal("counted", "`yes` or `no`")),
    }
}

/// Segments such as `0.0-1.5 WS-0; 2.0-2.25 OS-1`, checked for this form; empty in files of earlier versions.
fn segments<'a>(row: &Row<'a>) -> Result<&'a str, ReadError> {
    let is_time = |text: &str| text.parse().is_ok_and(|ms: f64| ms.is_finite());
    let is_segment = |segment: &str| {
        let times = segment.split_once(' ').and_then(|(times, _)| times.split_once('-'));
        times.is_some_and(|(start, end)| is_time(start) && is_time(end))
    };
    match row.text_if_any("segments").unwrap_or_default() {
        "" => Ok(""),
        text if text.split("; ").all(is_segment) => Ok(text),
        _ => Err(row.refusal("segments", "list of segments, `start-end accelerator; ...`")),
    }
}

fn executed(row: &Row<'_>) -> Result<Ending, ReadError> {
    let (start, end) = (row.time("start_ms")?, row.time("end_ms")?);
    if end < start {
        return Err(row.problem("the request ends before it starts"));
    }
    // A chunk of a prompt before the last one is executed and has no scores.
    let has_scores = InferenceScore::SCORES.iter().any(|column| !row.text(column.name).is_empty());
    let scores = has_scores.then(|| InferenceScore::read_scores(|column| row.number(column.name)));
    Ok(Ending { start: Some(start), end: Some(end), scores: scores.transpose()? })
}

/// Scores, counts and energy of a run or model.
fn score(row: &Row<'_>) -> Result<Vec<Value>, ReadError> {
    let cell = |column: &Column<Score>| match column.kind {
        Kind::Count => row.count(column.name).map(Value::from),
        _ => row.number(column.name).map(Value::from),
    };
    Score::columns().map(cell).collect()
}

/// Name of a run in messages.
fn spoken<T: AsRef<str>>(label: &[T]) -> String {
    let cells: Vec<_> = label.iter().map(AsRef::as_ref).collect();
    format!("`{}`", cells.join(","))
}

impl Run {
    fn n_executed(&self) -> u64 {
        self.requests.iter().filter(|request| request.scores.is_some()).count() as u64
    }
}
