//! Results as the page carries them: columns of small numbers, deflated, in base64.
//!
//! Columns of similar numbers compress far better than rows. Every text, energy and score is stored
//! once, and columns have its index. Times are whole nanoseconds: an arrival counts from the arrival of
//! the request before, other times from the arrival of their request. `app/data.js` is the inverse.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json as to_json};

use xrsim_figures::model_places;
use xrsim_model::units::SimTime;
use xrsim_results::csv::LABEL;
use xrsim_sim::score::{InferenceScore, Score};

use super::answer::Answer;
use super::columns::{self, Column};
use super::page::deflated;
use super::provenance::Provenance;
use super::results::{Request, Results, Run};

/// Document that the page decodes.
#[derive(Serialize)]
struct Document<'a> {
    answer: Answer,
    command: Option<&'a str>,
    provenance: &'a Provenance,
    columns: Columns,
    runs: Map<String, Value>,
    models: Map<String, Value>,
    requests: Requests<'a>,
    names: &'a [Box<str>],
    numbers: Vec<f64>,
    /// Every model with its place in the palette.
    places: Vec<(&'a str, usize)>,
}

/// Headings of the tables.
#[derive(Serialize)]
struct Columns {
    /// Columns of the label of a run.
    label: Vec<Column>,
    /// Scores, counts and energy, which runs and models share.
    summary: Vec<Column>,
    /// Area, leakage and power of runs, as far as the files have them.
    device: Vec<Column>,
    /// Scores of a request.
    scores: Vec<Column>,
    /// Columns of runs that could not be made.
    infeasible: Vec<Column>,
}

/// A column for every field of a request, with the requests of all runs one after another.
#[derive(Serialize)]
struct Requests<'a> {
    #[serde(flatten, serialize_with = "fields")]
    fields: &'a [Run],
    /// By the name of the score.
    scores: BTreeMap<&'static str, Vec<Option<u32>>>,
}

/// A name, and the value of a request if it has one.
type Field = (&'static str, fn(&Request) -> Option<i64>);

/// Fields of a request in the page, with their values.
const FIELDS: [Field; 13] = [
    ("model", |it| Some(it.model as i64)),
    ("frame", |it| Some(it.frame as i64)),
    ("arrival", |it| Some(ns_between(it.arrival_before, it.arrival))),
    ("deadline", |it| Some(it.until(it.deadline))),
    ("start", |it| it.start.map(|at| it.until(at))),
    ("end", |it| it.end.map(|at| it.until(at))),
    ("accelerator", |it| Some(it.accelerator.into())),
    ("outcome", |it| Some(it.outcome.into())),
    ("reason", |it| Some(it.reason.into())),
    ("cause", |it| Some(it.cause.into())),
    ("segments", |it| Some(it.segments.into())),
    ("counted", |it| Some(it.counted.into())),
    ("energy", |it| Some(it.energy.into())),
];

fn fields<S: Serializer>(runs: &[Run], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(FIELDS.map(|(name, of)| (name, all(runs).map(of).collect::<Vec<_>>())))
}

/// Requests of all runs.
fn all(runs: &[Run]) -> impl Iterator<Item = &Request> {
    runs.iter().flat_map(|run| &run.requests)
}

/// Text that the page carries, made of letters, digits, `+`, `/` and `=` only.
pub(super) fn pack(results: &Results, provenance: &Provenance, command: Option<&str>) -> String {
    let document = Document {
        answer: Answer::new(results, provenance),
        command,
        provenance,
        columns: Columns::new(results),
        runs: runs(results),
        models: models(&results.runs),
        requests: Requests { fields: &results.runs, scores: scores(&results.runs) },
        names: &results.names.values,
        numbers: results.numbers.values.iter().map(|bits| f64::from_bits(*bits)).collect(),
        places: places(&results.runs),
    };
    deflated(&document)
}

/// Places of all models in the palette, in the order of their names.
fn places(runs: &[Run]) -> Vec<(&str, usize)> {
    let models = runs.iter().flat_map(|run| &run.models);
    let names: BTreeSet<&str> = models.map(|model| &*model.name).collect();
    let names: Vec<&str> = names.into_iter().collect();
    let places = model_places(&names);
    names.into_iter().zip(places).collect()
}

impl Columns {
    fn new(results: &Results) -> Self {
        Self {
            device: columns::device(&results.device),
            label: columns::label(),
            summary: columns::results(),
            scores: columns::scores(),
            infeasible: columns::infeasible(),
        }
    }
}

fn runs(results: &Results) -> Map<String, Value> {
    let runs = &results.runs[..];
    let device = results.device.iter().map(|column| column.name);
    let names = Score::columns().map(|column| column.name).chain(device);
    let mut columns = transposed(names, runs.iter().map(|run| &run.cells[..]));
    let mut add = |name: &str, value: &dyn Fn(&Run) -> Value| {
        columns.insert(name.into(), runs.iter().map(value).collect());
    };
    for (index, name) in LABEL.iter().enumerate() {
        add(name, &|run| to_json!(run.label[index]));
    }
    add("n_models", &|run| run.models.len().into());
    add("n_requests", &|run| run.requests.len().into());
    columns
}

fn models(runs: &[Run]) -> Map<String, Value> {
    let models = || runs.iter().flat_map(|run| &run.models);
    let names = Score::columns().map(|column| column.name);
    let mut columns = transposed(names, models().map(|model| &model.cells[..]));
    columns.insert("model".into(), models().map(|model| to_json!(model.name)).collect());
    columns.insert("network".into(), models().map(|model| to_json!(model.network)).collect());
    columns
}

/// Columns called `names` of rows.
fn transposed<'a>(
    names: impl Iterator<Item = &'static str>,
    rows: impl Iterator<Item = &'a [Value]> + Clone,
) -> Map<String, Value> {
    let column = |at: usize| rows.clone().map(|row| row[at].clone()).collect();
    names.enumerate().map(|(at, name)| (name.into(), column(at))).collect()
}

fn scores(runs: &[Run]) -> BTreeMap<&'static str, Vec<Option<u32>>> {
    let values = |at: usize| all(runs).map(|it| Some(it.scores?[at])).collect();
    let scores = InferenceScore::SCORES.iter().enumerate();
    scores.map(|(at, column)| (column.name, values(at))).collect()
}

impl Request {
    /// Time from the arrival to `time` \[ns\].
    fn until(&self, time: SimTime) -> i64 {
        ns_between(self.arrival, time)
    }
}

/// Signed time from `a` to `b` \[ns\], clamped to 64 bits. A page shows times below 2^53 ns exactly.
fn ns_between(a: SimTime, b: SimTime) -> i64 {
    let ns = i128::from(b.ns()) - i128::from(a.ns());
    i64::try_from(ns).unwrap_or(if ns < 0 { i64::MIN } else { i64::MAX })
}
