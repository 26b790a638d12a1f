//! Results as the page carries them: columns of small numbers, deflated, in base64.
//!
//! A column of one kind of number compresses far better than rows. Texts, energies and scores stand
//! for themselves once and are indices elsewhere. Times are whole nanoseconds: the arrival since the
//! arrival of the request before, the others since their own arrival. `app/data.js` is the inverse.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::report::csv::LABEL;
use crate::score::{Counts, Score};
use crate::units::SimTime;

use super::columns::{self, Column};
use super::provenance::{Provenance, REASON};
use super::results::{Request, Results, Run, summary_columns};

/// Effort of the compressor, from 0 to 10.
const LEVEL: u8 = 9;

/// The document that the page decodes.
#[derive(Serialize)]
struct Document<'a> {
    provenance: &'a Provenance,
    columns: Columns,
    runs: Map<String, Value>,
    models: Map<String, Value>,
    requests: Requests,
    names: &'a [Box<str>],
    numbers: Vec<f64>,
}

/// Headings of the tables.
#[derive(Serialize)]
struct Columns {
    /// Of the label of a run.
    label: Vec<Column>,
    /// Of scores, counts and energy, which runs and models share.
    summary: Vec<Column>,
    /// Of runs that could not be made.
    infeasible: Vec<Column>,
}

/// A column for every field of a request, those of all runs one behind the other.
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
    scores: [Vec<Option<u32>>; 4],
}

/// The text that the page carries; of letters, digits, `+`, `/` and `=` only.
pub(super) fn pack(results: &Results, provenance: &Provenance) -> String {
    let document = Document {
        provenance,
        columns: Columns::new(),
        runs: runs(&results.runs),
        models: models(&results.runs),
        requests: requests(&results.runs),
        names: &results.names.values,
        numbers: results.numbers.values.iter().map(|bits| f64::from_bits(*bits)).collect(),
    };
    deflated(&document)
}

/// A document of columns and text as the page carries it.
pub(super) fn deflated(document: &impl Serialize) -> String {
    let text = serde_json::to_vec(document).expect("columns and text serialise");
    STANDARD.encode(miniz_oxide::deflate::compress_to_vec(&text, LEVEL))
}

impl Columns {
    fn new() -> Self {
        let of = |keys: &[&'static str]| columns::of(keys, columns::RUNS);
        let infeasible = [&LABEL[..], &[REASON]].concat();
        Self { label: of(&LABEL), summary: of(&summary_columns()), infeasible: of(&infeasible) }
    }
}

fn runs(runs: &[Run]) -> Map<String, Value> {
    let mut columns = scores(runs.iter().map(|run| &run.score));
    for (index, name) in LABEL.into_iter().enumerate() {
        columns.insert(name.into(), runs.iter().map(|run| json!(run.label[index])).collect());
    }
    let mut count = |name: &str, count: fn(&Run) -> usize| {
        columns.insert(name.into(), runs.iter().map(|run| json!(count(run))).collect());
    };
    count("n_models", |run| run.models.len());
    count("n_requests", |run| run.requests.len());
    columns
}

fn models(runs: &[Run]) -> Map<String, Value> {
    let models = || runs.iter().flat_map(|run| &run.models);
    let mut columns = scores(models().map(|model| &model.score));
    columns.insert("model".into(), models().map(|model| json!(model.name)).collect());
    columns.insert("network".into(), models().map(|model| json!(model.network)).collect());
    columns
}

fn scores<'a>(scores: impl Iterator<Item = &'a Score> + Clone) -> Map<String, Value> {
    let mut columns = Map::new();
    for (index, name) in Score::COLUMNS.into_iter().enumerate() {
        let column = scores.clone().map(|score| json!(score.values()[index]));
        columns.insert(name.into(), column.collect());
    }
    for (index, name) in Counts::COLUMNS.into_iter().enumerate() {
        let column = scores.clone().map(|score| json!(score.counts.values()[index]));
        columns.insert(name.into(), column.collect());
    }
    let energies = scores.map(|score| json!(score.counts.energy.get()));
    columns.insert("energy_mj".into(), energies.collect());
    columns
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
        scores: [0, 1, 2, 3].map(|index| {
            all.iter().map(|request| request.scores.map(|scores| scores[index])).collect()
        }),
    }
}

/// Time from every arrival to the next, the first from the start of the run.
fn gaps(requests: &[Request]) -> impl Iterator<Item = i64> {
    let before = std::iter::once(SimTime::ZERO).chain(requests.iter().map(|r| r.arrival));
    before.zip(requests).map(|(before, request)| ns_between(before, request.arrival))
}

/// Signed time from `a` to `b` \[ns\], as far as it fits; a page shows those below 2^53 ns exactly.
fn ns_between(a: SimTime, b: SimTime) -> i64 {
    let ns = i128::from(b.ns()) - i128::from(a.ns());
    i64::try_from(ns).unwrap_or(if ns < 0 { i64::MIN } else { i64::MAX })
}
