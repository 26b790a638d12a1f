//! Provenance of results from `run.json`, as pairs of text: a page shows all of it, and a browser must
//! not round its numbers.

use serde::Serialize;
use serde_json::{Map, Value};

use xrsim_results::csv::LABEL;

use super::{ReadError, Source};

/// Key and value.
pub(super) type Pair = (String, String);

/// Column of the reason why a run could not be made.
pub(super) const REASON: &str = "reason";

/// Provenance of results.
#[derive(Serialize)]
pub(super) struct Provenance {
    /// Program, version, seed.
    facts: Vec<Pair>,
    /// Settings that applied.
    effective: Vec<Pair>,
    /// Settings of the command line.
    requested: Vec<Pair>,
    /// Every file that was read, with its SHA-256.
    inputs: Vec<Pair>,
    /// Runs that could not be made: label and [`REASON`], by column.
    infeasible: Vec<Map<String, Value>>,
    /// Number of runs that could be made.
    #[serde(skip)]
    pub(super) n_feasible: u64,
    /// Version of the program that wrote the folder.
    #[serde(skip)]
    pub(super) version: String,
}

/// Reads `run.json`.
///
/// # Errors
///
/// Text that is not JSON, or that `xrsim run` did not write.
pub(super) fn read(source: Source<'_>) -> Result<Provenance, ReadError> {
    let problem = |line, message: String| ReadError { file: source.name.into(), line, message };
    let value: Value = serde_json::from_str(source.text)
        .map_err(|error| problem(error.line().max(1), error.to_string()))?;
    if value["program"] != "xrsim" {
        return Err(problem(
            1,
            "`program` is not `xrsim`; `xrsim run --out` did not write it".into(),
        ));
    }
    let infeasible = value["infeasible"].as_array().map_or(&[][..], Vec::as_slice);
    let feasible = value["n_runs"].as_u64().and_then(|n| n.checked_sub(infeasible.len() as u64));
    let n_feasible = feasible.ok_or_else(|| {
        problem(1, "`n_runs` is not the number of runs; the file is of another version".into())
    })?;
    Ok(Provenance {
        facts: value.as_object().map(scalars).unwrap_or_default(),
        effective: pairs(&value["effective"]),
        requested: pairs(&value["requested"]),
        inputs: pairs(&value["inputs_sha256"]),
        infeasible: infeasible.iter().map(refused_run).collect(),
        n_feasible,
        version: text(&value["version"]),
    })
}

/// The entries that are neither lists nor objects.
pub(super) fn scalars(object: &Map<String, Value>) -> Vec<Pair> {
    let scalars = object.iter().filter(|(_, value)| !value.is_array() && !value.is_object());
    scalars.map(|(key, value)| (key.clone(), text(value))).collect()
}

pub(super) fn pairs(object: &Value) -> Vec<Pair> {
    let entries = object.as_object().into_iter().flatten();
    entries.map(|(key, value)| (key.clone(), text(value))).collect()
}

/// Strings without quotes, lists with commas, other values as JSON.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(text).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

fn refused_run(run: &Value) -> Map<String, Value> {
    let columns = LABEL.iter().chain([&REASON]);
    columns.map(|&column| (column.into(), text(&run[column]).into())).collect()
}
