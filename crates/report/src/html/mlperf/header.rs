//! `mlperf.json`: the measured system, and facts about tests that the table does not have.

use serde::Deserialize;
use serde_json::Value;

use crate::mlperf::LatencyBound;

use super::super::provenance::{self, Pair};
use super::super::rows::problem_at_end;
use super::super::{ReadError, Source};
use super::table::Test;

/// Facts about the measurement.
#[derive(Debug, Deserialize)]
pub struct Header {
    /// Name of the suite; `None` for tenants.
    pub(super) suite: Option<String>,
    pub(super) system: String,
    /// The command that wrote the folder; `None` in folders of earlier versions.
    #[serde(default, rename = "command_line")]
    pub(super) command: Option<String>,
    /// Deviations from the publication.
    #[serde(default)]
    pub(super) deviations: Vec<String>,
    #[serde(default)]
    tests: Vec<Known>,
    #[serde(default)]
    tenants: Vec<Known>,
    /// Version of the program that wrote the folder.
    #[serde(skip)]
    pub(super) version: String,
    /// All facts that do not belong to a test, as they are.
    #[serde(skip)]
    pub(super) facts: Vec<Pair>,
}

/// Facts about a test besides its row.
#[derive(Debug, Deserialize)]
struct Known {
    task: String,
    load: Option<String>,
    tenant: Option<u64>,
    /// Reason why the result is invalid.
    reason: Option<String>,
    bound_ms: Option<f64>,
    percentile: Option<f64>,
}

impl Known {
    /// As [`Test::key`].
    fn key(&self) -> (String, String) {
        match (&self.load, self.tenant) {
            (Some(load), _) => (self.task.clone(), load.clone()),
            (None, tenant) => (tenant.unwrap_or(0).to_string(), self.task.clone()),
        }
    }
}

impl Header {
    /// Reads `mlperf.json`.
    ///
    /// # Errors
    ///
    /// Text that is not JSON, or not the record of `xrsim mlperf`.
    pub fn read(source: Source<'_>) -> Result<Self, ReadError> {
        let problem = |line, message: String| ReadError { file: source.name.into(), line, message };
        let of_json = |error: serde_json::Error| problem(error.line().max(1), error.to_string());
        let value: Value = serde_json::from_str(source.text).map_err(of_json)?;
        if value["program"] != "xrsim" {
            let message = "`program` is not `xrsim`; `xrsim mlperf --out` did not write it";
            return Err(problem(1, message.into()));
        }
        let version = provenance::text(&value["version"]);
        let mut header: Self = serde_json::from_str(source.text)
            .map_err(|error| of_json(error).in_folder_of(&version))?;
        header.tests.append(&mut header.tenants);
        Ok(Self { version, facts: facts(&value), ..header })
    }

    /// Checks that the table has the same tests.
    ///
    /// # Errors
    ///
    /// A table of other tests.
    pub(super) fn check(&self, source: Source<'_>, tests: &[Test]) -> Result<(), ReadError> {
        if tests.iter().map(Test::key).eq(self.tests.iter().map(Known::key)) {
            return Ok(());
        }
        let message = format!(
            "{} tests, and mlperf.json speaks of {} others; are the files of one command?",
            tests.len(),
            self.tests.len()
        );
        Err(problem_at_end(source, message))
    }

    /// Reason why a test is invalid.
    pub(super) fn reason(&self, test: usize) -> Option<&str> {
        self.tests[test].reason.as_deref()
    }

    /// Latency constraint of a server.
    pub(super) fn bound(&self, test: usize) -> Option<LatencyBound> {
        let Known { bound_ms, percentile, .. } = &self.tests[test];
        Some(LatencyBound { latency_ms: (*bound_ms)?, percentile: (*percentile)? })
    }
}

/// Facts that do not belong to a single test, as text, without null values.
fn facts(document: &Value) -> Vec<Pair> {
    let mut facts = document.as_object().map(provenance::scalars).unwrap_or_default();
    facts.retain(|(key, value)| value != "null" && key != "command_line");
    facts.extend(
        provenance::pairs(&document["cooldown"])
            .into_iter()
            .map(|(key, value)| (format!("cooldown.{key}"), value)),
    );
    facts
}
