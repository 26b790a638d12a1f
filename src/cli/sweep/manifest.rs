//! Record of the inputs of a sweep, beside the file of its rows: a file is continued only with the inputs
//! that it began with.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::config::{InputFile, Source};
use crate::report::csv;
use crate::sweep::grid::Grid;

use super::super::message::Failure;
use super::super::output::{self, Complete, OutputFile};
use super::super::record;

/// The record beside `FILE.csv`, in `FILE.csv.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    program: String,
    version: String,
    /// SHA-256 of all keys and values.
    grid_sha256: String,
    /// SHA-256 of every file that was read.
    inputs_sha256: BTreeMap<String, String>,
    /// Number of points of the whole sweep.
    n_points: u64,
    /// First point of this file, and the point after its last one.
    points: [u64; 2],
    /// Keys and values: the keys and rows of every factor.
    grid: Value,
    /// Checksum of the record, which only its text has.
    #[serde(default, skip_serializing)]
    record_sha256: String,
}

impl Manifest {
    /// The record of the part `points` of `grid`, which refers to `inputs`.
    pub(super) fn of(
        grid: &Grid,
        inputs: impl Iterator<Item = InputFile>,
        points: &Range<u64>,
    ) -> Self {
        let factor = |factor: &crate::sweep::grid::Factor| serde_json::json!({ "keys": factor.keys, "rows": factor.rows });
        Self {
            program: "xrsim".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            grid_sha256: grid.digest(),
            inputs_sha256: inputs.map(|input| (input.name, input.sha256)).collect(),
            n_points: grid.n_points(),
            points: [points.start, points.end],
            grid: grid.factors().iter().map(factor).collect(),
            record_sha256: String::new(),
        }
    }

    /// The record beside the file at `path`; `None` if there is none.
    ///
    /// # Errors
    ///
    /// Returns a failure if the file is not the record of a sweep, or if another version of the program
    /// wrote it.
    pub(super) fn beside(path: &Path) -> Result<Option<Self>, Failure> {
        let place = place(path);
        if !place.exists() {
            return Ok(None);
        }
        let refuse = |reason: String| Err(refusal(&place, &reason));
        let source = Source::read(&place)?;
        let Ok(record) = serde_json::from_str::<Value>(source.text()) else {
            return refuse("not the record of a sweep".into());
        };
        let version = env!("CARGO_PKG_VERSION");
        match (record["version"].as_str(), record::is_whole(source.text())) {
            (Some(found), _) if found != version && record["program"] == "xrsim" => refuse(
                format!("made by xrsim {found}; this is {version}, whose numbers may differ"),
            ),
            (Some(_), Some(false)) => refuse(CHANGED.into()),
            (Some(_), None) if record["program"] == "xrsim" => {
                refuse("made by a version whose rows have no checks".into())
            }
            _ => match serde_json::from_value(record) {
                Ok(manifest) => Ok(Some(manifest)),
                Err(error) => refuse(format!("not the record of a sweep: {error}")),
            },
        }
    }

    /// The record beside the file at `path`, for readers of its rows; `None` without a record of this
    /// version.
    ///
    /// # Errors
    ///
    /// Returns a failure if the record was changed.
    pub(super) fn known_beside(path: &Path) -> Result<Option<Self>, Failure> {
        let place = place(path);
        let Ok(source) = Source::read(&place) else { return Ok(None) };
        match record::is_whole(source.text()) {
            None => Ok(None),
            Some(false) => Err(refusal(&place, CHANGED)),
            Some(true) => {
                let manifest = serde_json::from_str::<Self>(source.text()).ok();
                let is_own = |it: &Self| it.version == env!("CARGO_PKG_VERSION");
                Ok(manifest.filter(is_own))
            }
        }
    }

    /// Writes the record beside the file at `path`.
    ///
    /// # Errors
    ///
    /// Returns a failure if the record cannot be written.
    pub(super) fn write_beside(&self, path: &Path) -> Result<(), Failure> {
        self.stage_beside(path)?.rename()
    }

    /// Writes the record completely, but does not rename it to its place beside the file at `path` yet.
    ///
    /// # Errors
    ///
    /// Returns a failure if the record cannot be written.
    pub(super) fn stage_beside(&self, path: &Path) -> Result<Complete, Failure> {
        let place = place(path);
        let record = serde_json::to_value(self).expect("strings and numbers serialise");
        let text = record::sealed(output::object(record));
        let mut file = OutputFile::create(&place)?;
        let failure = |error| Failure::writing(&place.display(), &error);
        file.write_all(text.as_bytes()).map_err(failure)?;
        file.complete()
    }

    /// First line of the file of rows.
    pub(super) fn header(&self) -> String {
        let factors = self.grid.as_array().into_iter().flatten();
        let keys = factors.flat_map(|factor| factor["keys"].as_array().into_iter().flatten());
        let keys: Vec<_> = keys.filter_map(Value::as_str).collect();
        csv::sweep_header(&csv::beside_label(keys.into_iter()).collect::<Vec<_>>())
    }

    /// Difference between `earlier` and this record, in words; `None` if there is none.
    pub(super) fn difference(&self, earlier: &Self) -> Option<String> {
        if self.grid_sha256 != earlier.grid_sha256 {
            return Some("the keys or values of the sweep have changed".into());
        }
        if self.points != earlier.points {
            let [first, end] = earlier.points;
            return Some(format!("it holds another part of the sweep, points {first} to {end}"));
        }
        let hashes = |manifest: &Self| {
            let mut hashes: Vec<_> = manifest.inputs_sha256.values().cloned().collect();
            hashes.sort();
            hashes
        };
        // Compares contents, because the same file may have another path on another machine.
        if hashes(self) == hashes(earlier) {
            return None;
        }
        let changed = self
            .inputs_sha256
            .iter()
            .find(|(name, hash)| earlier.inputs_sha256.get(*name) != Some(hash));
        let name = changed.map_or("a file that it refers to", |(name, _)| name);
        Some(format!("{name} has changed"))
    }

    /// Number of points of the whole sweep.
    pub(super) fn n_points(&self) -> u64 {
        self.n_points
    }

    /// Points of the file.
    pub(super) fn points(&self) -> Range<u64> {
        self.points[0]..self.points[1]
    }

    /// The record of all points.
    pub(super) fn of_whole(&self) -> Self {
        Self { points: [0, self.n_points], ..self.clone() }
    }
}

/// Reason to refuse a record whose checksum is wrong.
const CHANGED: &str = "it was changed after it was written";

fn refusal(place: &Path, reason: &str) -> Failure {
    Failure::Argument(format!("{}: {reason}", place.display()))
}

/// `FILE.csv.json` of `FILE.csv`.
pub(crate) fn place(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".json");
    name.into()
}
