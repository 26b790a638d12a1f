//! What the files of a results folder say, checked against each other.

use std::collections::HashMap;
use std::hash::Hash;

use crate::report::csv::LABEL;
use crate::score::{Counts, Score};
use crate::units::SimTime;

use super::provenance::Provenance;
use super::rows::{self, Row, problem_at_end};
use super::{Folder, ReadError, Source};

/// Most requests of a page: a browser holds them all.
const MAX_REQUESTS: usize = 1_000_000;

const SCORES: [&str; 11] = concat(Score::COLUMNS, Counts::COLUMNS);

/// Columns of numbers that runs and models share.
pub(super) const SUMMARY: [&str; 12] = concat(SCORES, ["energy_mj"]);

/// Position of the column `executed`.
const EXECUTED: usize = 7;

/// Scores, counts and energy \[mJ\], in the order of [`SUMMARY`].
pub(super) type Summary = [f64; SUMMARY.len()];

/// Columns of a model.
const MODEL: [&str; 14] = concat(["model", "network"], SUMMARY);

/// Columns of a request.
const REQUEST: [&str; 14] = concat(
    [
        "model",
        "frame",
        "arrival_ms",
        "deadline_ms",
        "start_ms",
        "end_ms",
        "accelerator",
        "outcome",
        "reason",
        "energy_mj",
    ],
    ["realtime", "energy", "accuracy", "inference"],
);

/// Both lists, one behind the other.
const fn concat<const A: usize, const B: usize, const N: usize>(
    first: [&'static str; A],
    second: [&'static str; B],
) -> [&'static str; N] {
    assert!(A + B == N);
    let mut all = [""; N];
    let mut index = 0;
    while index < N {
        all[index] = if index < A { first[index] } else { second[index - A] };
        index += 1;
    }
    all
}

/// Everything, runs in the order of `scores.csv`.
pub(super) struct Results {
    pub(super) runs: Vec<Run>,
    /// Accelerators, outcomes and reasons.
    pub(super) names: Distinct<Box<str>>,
    /// Energies and scores of requests, as their bits.
    pub(super) numbers: Distinct<u64>,
}

/// One run.
pub(super) struct Run {
    pub(super) label: [Box<str>; LABEL.len()],
    pub(super) summary: Summary,
    /// In the order of `models.csv`.
    pub(super) models: Vec<Model>,
    /// In the order of `inferences.csv`.
    pub(super) requests: Vec<Request>,
}

/// One model of a run.
pub(super) struct Model {
    pub(super) name: Box<str>,
    pub(super) network: Box<str>,
    pub(super) summary: Summary,
}

/// One request.
pub(super) struct Request {
    /// Index into the models of the run.
    pub(super) model: usize,
    pub(super) frame: u64,
    pub(super) arrival: SimTime,
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
    /// Index into the numbers \[mJ\].
    pub(super) energy: u32,
    /// Indices into the numbers: real time, energy, accuracy, inference.
    pub(super) scores: Option<[u32; 4]>,
}

/// Values in order of first use, each once.
pub(super) struct Distinct<T> {
    indices: HashMap<T, u32>,
    pub(super) values: Vec<T>,
}

impl<T: Clone + Eq + Hash> Distinct<T> {
    pub(super) fn new() -> Self {
        Self { indices: HashMap::new(), values: Vec::new() }
    }

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
        let mut reading = Reading::new();
        reading.scores(folder.scores, provenance)?;
        reading.models(folder.models)?;
        reading.inferences(folder.inferences)?;
        Ok(reading.results)
    }
}

/// Results on the way in.
struct Reading {
    results: Results,
    by_label: HashMap<[Box<str>; LABEL.len()], usize>,
    /// The run of the last row, which the next row most likely continues.
    last: usize,
}

impl Reading {
    fn new() -> Self {
        let results =
            Results { runs: Vec::new(), names: Distinct::new(), numbers: Distinct::new() };
        Self { results, by_label: HashMap::new(), last: 0 }
    }

    fn scores(&mut self, source: Source<'_>, provenance: &Provenance) -> Result<(), ReadError> {
        rows::each(source, SUMMARY, |row| {
            let label = row.label.map(Box::from);
            if self.by_label.insert(label.clone(), self.results.runs.len()).is_some() {
                return Err(row.problem(format!("run {} is there twice", spoken(&row.label))));
            }
            let summary = summary(row, 0)?;
            self.results.runs.push(Run { label, summary, models: vec![], requests: vec![] });
            Ok(())
        })?;
        let found = self.results.runs.len() as u64;
        let expected = provenance.n_feasible;
        match found {
            0 => Err(problem_at_end(source, "the table has no rows")),
            _ if found == expected => Ok(()),
            _ => Err(problem_at_end(
                source,
                format!("{found} runs, but run.json speaks of {expected}; was a file replaced?"),
            )),
        }
    }

    fn models(&mut self, source: Source<'_>) -> Result<(), ReadError> {
        rows::each(source, MODEL, |row| {
            let [name, network, ..] = row.cells;
            let summary = summary(row, 2)?;
            let models = &mut self.run(row)?.models;
            if models.iter().any(|model| &*model.name == name) {
                return Err(row.problem(format!("model `{name}` of this run is there twice")));
            }
            models.push(Model { name: name.into(), network: network.into(), summary });
            Ok(())
        })?;
        self.complete(source, |run| !run.models.is_empty())
    }

    fn inferences(&mut self, source: Source<'_>) -> Result<(), ReadError> {
        let mut n_requests = 0;
        rows::each(source, REQUEST, |row| {
            n_requests += 1;
            if n_requests > MAX_REQUESTS {
                let message =
                    format!("more than {MAX_REQUESTS} requests; make a page of fewer runs");
                return Err(row.problem(message));
            }
            let request = self.request(row)?;
            self.run(row)?.requests.push(request);
            Ok(())
        })?;
        // Frames of a warm-up are played, but not counted in the scores.
        self.complete(source, |run| run.n_executed() >= run.summary[EXECUTED])
    }

    /// The run that a row belongs to.
    fn run<const N: usize>(&mut self, row: &Row<'_, N>) -> Result<&mut Run, ReadError> {
        let is_last = |run: &Run| run.label.iter().zip(row.label).all(|(a, b)| **a == *b);
        if !self.results.runs.get(self.last).is_some_and(is_last) {
            let found = self.by_label.get(&row.label.map(Box::from));
            self.last = *found.ok_or_else(|| {
                row.problem(format!("run {} is not in scores.csv", spoken(&row.label)))
            })?;
        }
        Ok(&mut self.results.runs[self.last])
    }

    /// Refuses a table that lacks rows of a run.
    fn complete(
        &self,
        source: Source<'_>,
        is_complete: impl Fn(&Run) -> bool,
    ) -> Result<(), ReadError> {
        match self.results.runs.iter().find(|run| !is_complete(run)) {
            None => Ok(()),
            Some(run) => {
                let run = spoken(&run.label);
                Err(problem_at_end(source, format!("the rows of run {run} are not all there")))
            }
        }
    }

    fn request(&mut self, row: &Row<'_, 14>) -> Result<Request, ReadError> {
        let [model, _, _, _, _, _, accelerator, outcome, reason, ..] = row.cells;
        let known = self.run(row)?.models.iter().position(|known| &*known.name == model);
        let model = known.ok_or_else(|| {
            row.problem(format!("model `{model}` of this run is not in models.csv"))
        })?;
        let (start, end, scores) = match outcome {
            "executed" => executed(row)?,
            "dropped" => (None, Some(row.instant(5)?), None),
            "not_triggered" | "lost" => (None, None, None),
            _ => return Err(row.refusal(7, "outcome: executed, dropped, not_triggered or lost")),
        };
        let Results { names, numbers, .. } = &mut self.results;
        Ok(Request {
            model,
            frame: row.count(1)?,
            arrival: row.instant(2)?,
            deadline: row.instant(3)?,
            start,
            end,
            accelerator: names.index(accelerator.into()),
            outcome: names.index(outcome.into()),
            reason: names.index(reason.into()),
            energy: numbers.index(row.number(9)?.to_bits()),
            scores: scores.map(|scores| scores.map(|score| numbers.index(score.to_bits()))),
        })
    }
}

/// Start, end and scores: real time, energy, accuracy, inference.
type Ending = (Option<SimTime>, Option<SimTime>, Option<[f64; 4]>);

fn executed(row: &Row<'_, 14>) -> Result<Ending, ReadError> {
    let (start, end) = (row.instant(4)?, row.instant(5)?);
    if end < start {
        return Err(row.problem("the request ends before it starts"));
    }
    let scores = [row.number(10)?, row.number(11)?, row.number(12)?, row.number(13)?];
    Ok((Some(start), Some(end), Some(scores)))
}

/// The numbers of [`SUMMARY`], the first of them in cell `first`.
fn summary<const N: usize>(row: &Row<'_, N>, first: usize) -> Result<Summary, ReadError> {
    let mut summary = Summary::default();
    for (index, number) in summary.iter_mut().enumerate() {
        *number = row.number(first + index)?;
    }
    Ok(summary)
}

/// A run as messages name it.
fn spoken<T: AsRef<str>>(label: &[T]) -> String {
    let cells: Vec<_> = label.iter().map(AsRef::as_ref).collect();
    format!("`{}`", cells.join(","))
}

impl Run {
    fn n_executed(&self) -> f64 {
        self.requests.iter().filter(|request| request.scores.is_some()).count() as f64
    }
}
