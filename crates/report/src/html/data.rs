//! Results as the page carries them: columns of small numbers, deflated, in base64.
//!
//! Columns of similar numbers compress far better than rows. Every text, energy and score is stored
//! once, and columns have its index. Times are whole nanoseconds: an arrival counts from the arrival of
//! the request before, other times from the arrival of their request. `app/data.js` is the inverse.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde_json::{Map, Value, json as to_json};

use xrsim_figures::model_places;
use xrsim_model::units::SimTime;
use xrsim_results::csv::LABEL;
use xrsim_results::json;
use xrsim_sim::score::{InferenceScore, Score};

use super::columns::{self, Column};
use super::provenance::Provenance;
use super::results::{Request, Results, Run};

/// Level of the compressor, from 0 to 10.
const LEVEL: u8 = 9;

/// Document that the page decodes.
#[derive(Serialize)]
struct Document<'a> {
    provenance: &'a Provenance,
    columns: Columns,
    runs: Map<String, Value>,
    models: Map<String, Value>,
    requests: Requests,
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
struct Requests {
    model: Vec<usize>,
    frame: Vec<u64>,
    arrival: Vec<i64>,
    deadline: Vec<i64>,
    start: Vec<Option<i64>>,
    end: Vec<Option<i64>>,
    accelerator: Vec<u32>,
    outcome: Vec<u32>,
    reason: Vec<u32>,
    cause: Vec<u32>,
    segments: Vec<u32>,
    counted: Vec<u32>,
    energy: Vec<u32>,
    /// By the name of the score.
    scores: BTreeMap<&'static str, Vec<Option<u32>>>,
}

/// Text that the page carries, made of letters, digits, `+`, `/` and `=` only.
pub(super) fn pack(results: &Results, provenance: &Provenance) -> String {
    let document = Document {
        provenance,
        columns: Columns::new(results),
        runs: runs(results),
        models: models(&results.runs),
        requests: requests(&results.runs),
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

/// A document of columns and text as the page carries it.
pub(super) fn deflated(document: &impl Serialize) -> String {
    let text = serde_json::to_vec(document).expect("columns and text serialise");
    STANDARD.encode(miniz_oxide::deflate::compress_to_vec(&text, LEVEL))
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
    let mut columns = scores(runs.iter().map(|run| &run.score));
    for (index, column) in results.device.iter().enumerate() {
        let values = runs.iter().map(|run| to_json!(run.device[index])).collect();
        columns.insert(column.name.into(), values);
    }
    for (index, name) in LABEL.iter().enumerate() {
        columns.insert((*name).into(), runs.iter().map(|run| to_json!(run.label[index])).collect());
    }
    let mut count = |name: &str, count: fn(&Run) -> usize| {
        columns.insert(name.into(), runs.iter().map(|run| to_json!(count(run))).collect());
    };
    count("n_models", |run| run.models.len());
    count("n_requests", |run| run.requests.len());
    columns
}

fn models(runs: &[Run]) -> Map<String, Value> {
    let models = || runs.iter().flat_map(|run| &run.models);
    let mut columns = scores(models().map(|model| &model.score));
    columns.insert("model".into(), models().map(|model| to_json!(model.name)).collect());
    columns.insert("network".into(), models().map(|model| to_json!(model.network)).collect());
    columns
}

fn scores<'a>(scores: impl Iterator<Item = &'a Score> + Clone) -> Map<String, Value> {
    let values = |column| scores.clone().map(|score| json::value(column, score)).collect();
    Score::columns().map(|column| (column.name.to_string(), values(column))).collect()
}

fn requests(runs: &[Run]) -> Requests {
    let all: Vec<&Request> = runs.iter().flat_map(|run| &run.requests).collect();
    let since = |time: SimTime, request: &Request| ns_between(request.arrival, time);
    Requests {
        model: all.iter().map(|request| request.model).collect(),
        frame: all.iter().map(|request| request.frame).collect(),
        arrival: runs.iter().flat_map(|run| gaps(&run.requests)).collect(),
        deadline: all.iter().map(|request| since(request.deadline, request)).collect(),
        start: all.iter().map(|request| request.start.map(|at| since(at, request))).collect(),
        end: all.iter().map(|request| request.end.map(|at| since(at, request))).collect(),
        accelerator: all.iter().map(|request| request.accelerator).collect(),
        outcome: all.iter().map(|request| request.outcome).collect(),
        reason: all.iter().map(|request| request.reason).collect(),
        cause: all.iter().map(|request| request.cause).collect(),
        segments: all.iter().map(|request| request.segments).collect(),
        counted: all.iter().map(|request| request.counted).collect(),
        energy: all.iter().map(|request| request.energy).collect(),
        scores: scores_of(&all),
    }
}

fn scores_of(requests: &[&Request]) -> BTreeMap<&'static str, Vec<Option<u32>>> {
    let values = |index: usize| {
        let score = |request: &&Request| request.scores.as_ref().map(|scores| scores[index]);
        requests.iter().map(score).collect()
    };
    let scores = InferenceScore::SCORES.iter().enumerate();
    scores.map(|(index, column)| (column.name, values(index))).collect()
}

/// Time from every arrival to the next, the first from the start of the run.
fn gaps(requests: &[Request]) -> impl Iterator<Item = i64> {
    let before = std::iter::once(SimTime::ZERO).chain(requests.iter().map(|r| r.arrival));
    before.zip(requests).map(|(before, request)| ns_between(before, request.arrival))
}

/// Signed time from `a` to `b` \[ns\], clamped to 64 bits. A page shows times below 2^53 ns exactly.
fn ns_between(a: SimTime, b: SimTime) -> i64 {
    let ns = i128::from(b.ns()) - i128::from(a.ns());
    i64::try_from(ns).unwrap_or(if ns < 0 { i64::MIN } else { i64::MAX })
}
