//! Provenance of results from `run.json`, as pairs of text: a page shows all of it, and a browser must
//! not round its numbers.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::{Map, Value};

use xrsim_results::csv::LABEL;
use xrsim_sim::load::Drawn;

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
    /// What is drawn at random in every scenario; `None` in records of earlier versions.
    #[serde(skip)]
    random: Option<HashMap<String, Drawn>>,
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
        random: value["random"].as_object().map(random),
        infeasible: infeasible.iter().map(refused_run).collect(),
        n_feasible,
        version: text(&value["version"]),
    })
}

impl Provenance {
    /// What is drawn at random in a scenario; `None` if the record does not say so.
    pub(super) fn drawn(&self, scenario: &str) -> Option<Drawn> {
        Some(self.random.as_ref()?.get(scenario).copied().unwrap_or_default())
    }

    /// The value of a setting that applied; empty without one.
    pub(super) fn effective(&self, key: &str) -> &str {
        let found = self.effective.iter().find(|(known, _)| known == key);
        found.map_or("", |(_, value)| value)
    }

    /// Seed of the draws.
    pub(super) fn seed(&self) -> u64 {
        let seed = self.facts.iter().find(|(key, _)| key == "seed");
        seed.and_then(|(_, seed)| seed.parse().ok()).unwrap_or(0)
    }
}

fn random(scenarios: &Map<String, Value>) -> HashMap<String, Drawn> {
    let drawn = |names: &Value| {
        let names = names.as_array().into_iter().flatten().filter_map(Value::as_str);
        Drawn::from_names(&names.collect::<Vec<_>>())
    };
    scenarios.iter().map(|(scenario, names)| (scenario.clone(), drawn(names))).collect()
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
