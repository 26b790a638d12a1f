//! Record of the inputs of a command, beside the file of its rows: a file is continued only with the inputs
//! that it began with.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use xrsim_config::{InputFile, Source};
use xrsim_model::digest::Digest;
use xrsim_results::csv;
use xrsim_sim::sweep::grid::{Factor, Grid, Shard};

use super::super::build::Build;
use super::super::mappings::Mappings;
use super::super::message::Failure;
use super::super::output::{self, Complete, OutputFile};
use super::super::record;
use super::super::writer::Writer;

/// The record beside `FILE.csv`, in `FILE.csv.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct Manifest {
    program: String,
    version: String,
    /// Commit of the program; absent where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    commit: Option<String>,
    /// Name of the command; absent for a sweep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    /// SHA-256 of all keys and values.
    grid_sha256: String,
    /// SHA-256 of every file that was read.
    inputs_sha256: BTreeMap<String, String>,
    /// Number of points of the whole.
    n_points: u64,
    /// First point of this file, and the point after its last one.
    points: [u64; 2],
    /// Number of the part, such as `2/5`; absent for the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    part: Option<String>,
    /// The last process that added rows to the part; absent for the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    writer: Option<Writer>,
    /// Mappings of the rows, and perhaps of further points; absent in records of earlier builds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mappings: Option<Mappings>,
    /// Keys and values: the keys and rows of every factor of a sweep, the options of another command.
    grid: Value,
    /// Keys and values of the sweep that is extended, as long as the file may have rows with its indices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    extends: Option<Value>,
    /// Checksum of the record, which only its text has.
    #[serde(default, skip_serializing)]
    record_sha256: String,
}

impl Manifest {
    /// The record of a part of the sweep of `grid`, or of all of it, which refers to `inputs`.
    pub(in super::super) fn of_sweep(
        grid: &Grid,
        inputs: impl Iterator<Item = InputFile>,
        shard: Option<Shard>,
    ) -> Self {
        let factor =
            |factor: &Factor| serde_json::json!({ "keys": factor.keys, "rows": factor.rows });
        Self {
            grid_sha256: grid.digest(),
            inputs_sha256: inputs.map(|input| (input.name, input.sha256)).collect(),
            grid: grid.factors().iter().map(factor).collect(),
            ..Self::of_points(grid.n_points(), shard)
        }
    }

    /// The record of a part of `command`, whose `n_points` results depend on `options` and on inputs, by
    /// name and SHA-256.
    pub(in super::super) fn of_part(
        command: &str,
        options: Value,
        inputs: BTreeMap<String, String>,
        n_points: u64,
        shard: Shard,
    ) -> Self {
        Self {
            command: Some(command.into()),
            grid_sha256: Digest::compute(options.to_string().as_bytes()).hex(),
            inputs_sha256: inputs,
            grid: options,
            ..Self::of_points(n_points, Some(shard))
        }
    }

    fn of_points(n_points: u64, shard: Option<Shard>) -> Self {
        let points = shard.unwrap_or(Shard::WHOLE).points(n_points);
        Self {
            program: "xrsim".into(),
            version: Build::own().version(),
            commit: Build::own().commit(),
            command: None,
            grid_sha256: String::new(),
            inputs_sha256: BTreeMap::new(),
            n_points,
            points: [points.start, points.end],
            part: shard.map(Shard::fraction),
            writer: shard.map(|_| Writer::of_process()),
            mappings: Some(Mappings::default()),
            grid: Value::Null,
            extends: None,
            record_sha256: String::new(),
        }
    }

    /// The record beside the file at `path`; `None` if there is none.
    ///
    /// # Errors
    ///
    /// Returns a failure if the file is not a record of rows, or if another version of the program wrote
    /// it.
    pub(in super::super) fn beside(path: &Path) -> Result<Option<Self>, Failure> {
        let place = place(path);
        if !place.exists() {
            return Ok(None);
        }
        let refuse = |reason: String| Err(refusal(&place, &reason));
        let source = Source::read(&place)?;
        let Ok(record) = serde_json::from_str::<Value>(source.text()) else {
            return refuse("not the record of a sweep".into());
        };
        let build = Build::of_record(&record);
        let difference = build.as_ref().and_then(|it| Build::own().difference(it));
        match (build, record::is_whole(source.text())) {
            (Some(_), _) if record["program"] == "xrsim" && difference.is_some() => {
                refuse(difference.unwrap_or_default())
            }
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
    pub(in super::super) fn known_beside(path: &Path) -> Result<Option<Self>, Failure> {
        let place = place(path);
        let Ok(source) = Source::read(&place) else { return Ok(None) };
        match record::is_whole(source.text()) {
            None => Ok(None),
            Some(false) => Err(refusal(&place, CHANGED)),
            Some(true) => {
                let manifest = serde_json::from_str::<Self>(source.text()).ok();
                let is_own = |it: &Self| it.version == Build::own().version();
                Ok(manifest.filter(is_own))
            }
        }
    }

    /// SHA-256 of the keys and values, and of all files that were read.
    pub(in super::super) fn digest(&self) -> String {
        let mut all = self.grid_sha256.clone();
        self.inputs_sha256.values().for_each(|hash| all.push_str(hash));
        Digest::compute(all.as_bytes()).hex()
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
    pub(in super::super) fn stage_beside(&self, path: &Path) -> Result<Complete, Failure> {
        let record = serde_json::to_value(self).expect("strings and numbers serialise");
        let text = record::sealed(output::object(record));
        OutputFile::create(&place(path))?.with(|out| out.write_all(text.as_bytes()))?.complete()
    }

    /// First line of the rows of a sweep.
    pub(in super::super) fn header(&self) -> String {
        let factors = self.grid.as_array().into_iter().flatten();
        let keys = factors.flat_map(|factor| factor["keys"].as_array().into_iter().flatten());
        let keys: Vec<_> = keys.filter_map(Value::as_str).collect();
        csv::sweep_header(&csv::beside_label(keys.into_iter()).collect::<Vec<_>>())
    }

    /// The grid of a whole sweep.
    pub(super) fn grid(&self) -> Option<Grid> {
        let is_whole = self.command.is_none() && self.part.is_none();
        grid(&self.grid).filter(|it| is_whole && it.digest() == self.grid_sha256)
    }

    /// The grid that is extended, as long as the file may have rows with its indices.
    pub(super) fn extended(&self) -> Option<Grid> {
        grid(self.extends.as_ref()?)
    }

    /// The same record, of a sweep that extends that of `earlier`.
    pub(super) fn extending(self, earlier: &Self) -> Self {
        Self { extends: Some(earlier.grid.clone()), ..self }
    }

    /// Whether both records have the same keys and values.
    pub(super) fn has_grid_of(&self, other: &Self) -> bool {
        self.grid_sha256 == other.grid_sha256
    }

    /// Keys and values that this sweep has in addition to those of `earlier`, in words.
    pub(super) fn addition(&self, earlier: &Self) -> String {
        change_of_grid(&self.grid, &earlier.grid)
    }

    /// The first file that `earlier` refers to and that is another one here, in words; `None` if all are the same. This sweep
    /// may refer to more.
    pub(super) fn changed_input(&self, earlier: &Self) -> Option<String> {
        let own: Vec<_> = self.inputs_sha256.values().collect();
        let changed = earlier.inputs_sha256.iter().find(|(name, hash)| {
            match self.inputs_sha256.get(*name) {
                Some(own) => own != *hash,
                // The same file may have another path on another machine.
                None => !own.contains(hash),
            }
        });
        changed.map(|(name, _)| format!("{name} has changed"))
    }

    /// Difference between `earlier` and this record, in words; `None` if there is none.
    pub(in super::super) fn difference(&self, earlier: &Self) -> Option<String> {
        if self.grid_sha256 != earlier.grid_sha256 {
            return Some(match &self.command {
                None => format!(
                    "the keys or values of the sweep have changed: {}",
                    change_of_grid(&self.grid, &earlier.grid)
                ),
                Some(_) => "the options have changed".into(),
            });
        }
        if self.points != earlier.points {
            let [first, end] = earlier.points;
            return Some(format!(
                "it holds another part of the {}, points {first} to {end}",
                self.command()
            ));
        }
        let hashes = |manifest: &Self| {
            let mut hashes: Vec<_> = manifest.inputs_sha256.values().cloned().collect();
            hashes.sort();
            hashes
        };
        // The same file may have another path on another machine; then contents alone are compared.
        let has_same_names = self.inputs_sha256.keys().eq(earlier.inputs_sha256.keys());
        let is_same = match has_same_names {
            true => self.inputs_sha256 == earlier.inputs_sha256,
            false => hashes(self) == hashes(earlier),
        };
        if is_same {
            return self.difference_of_mappings(earlier);
        }
        let changed = self
            .inputs_sha256
            .iter()
            .find(|(name, hash)| earlier.inputs_sha256.get(*name) != Some(hash));
        let name = changed.map_or("a file that it refers to", |(name, _)| name);
        Some(format!("{name} has changed"))
    }

    /// How the mappings of `earlier` differ from those of this record, in words; `None` if nothing shows that they do.
    pub(super) fn difference_of_mappings(&self, earlier: &Self) -> Option<String> {
        match (&self.mappings, &earlier.mappings) {
            (Some(own), Some(other)) => own.difference(other),
            _ => Some(WITHOUT_MAPPINGS.into()),
        }
    }

    /// Why this program adds no rows to those of the record, in words: it chooses other mappings.
    pub(in super::super) fn refusal(&self) -> Option<String> {
        self.mappings.as_ref().and_then(Mappings::refusal)
    }

    /// Mappings of the rows.
    pub(in super::super) fn mappings(&self) -> Mappings {
        self.mappings.clone().unwrap_or_default()
    }

    /// The same record with these mappings.
    pub(in super::super) fn with_mappings(self, mappings: Mappings) -> Self {
        Self { mappings: Some(mappings), ..self }
    }

    /// Name of the command.
    pub(in super::super) fn command(&self) -> &str {
        self.command.as_deref().unwrap_or("sweep")
    }

    /// Kind of place that the command writes to.
    pub(super) fn output(&self) -> &'static str {
        if self.command.is_none() { "file" } else { "folder" }
    }

    /// The command that wrote the rows, in words.
    pub(super) fn origin(&self) -> String {
        match &self.part {
            Some(part) => format!("the command that began it, with --shard {part},"),
            None => "the command that began it".into(),
        }
    }

    /// Whether the record names the process that writes.
    pub(super) fn has_writer(&self) -> bool {
        self.writer.is_some()
    }

    /// Everything that the result of a point depends on, as text.
    pub(super) fn identity(&self) -> String {
        let hashes: Vec<_> = self.inputs_sha256.values().map(String::as_str).collect();
        format!("{} {} {}", self.command(), self.grid_sha256, hashes.join(" "))
    }

    /// Number of points of the whole.
    pub(in super::super) fn n_points(&self) -> u64 {
        self.n_points
    }

    /// Points of the file.
    pub(in super::super) fn points(&self) -> Range<u64> {
        self.points[0]..self.points[1]
    }

    /// The record of all points.
    pub(in super::super) fn of_whole(&self) -> Self {
        Self { points: [0, self.n_points], part: None, writer: None, ..self.clone() }
    }
}

/// The grid of the keys and rows of factors in a record; `None` if it makes none.
fn grid(record: &Value) -> Option<Grid> {
    #[derive(Deserialize)]
    struct OfFactor {
        keys: Vec<Box<str>>,
        rows: Vec<Vec<Option<Box<str>>>>,
    }
    let factors: Vec<OfFactor> = Vec::deserialize(record).ok()?;
    let is_table = |it: &OfFactor| it.rows.iter().all(|row| row.len() == it.keys.len());
    let of = |OfFactor { keys, rows }| Factor { keys, rows };
    factors
        .iter()
        .all(is_table)
        .then(|| factors.into_iter().map(of).collect())
        .and_then(|factors| Grid::new(factors).ok())
}

/// What differs between the keys and values of two sweeps, in words.
fn change_of_grid(now: &Value, before: &Value) -> String {
    let (now, before) = (values_of(now), values_of(before));
    let mut changes = Vec::new();
    for (key, values) in &now {
        let Some(earlier) = before.get(key) else {
            changes.push(format!("the key `{key}` is new"));
            continue;
        };
        if let ([value], [before]) = (&values[..], &earlier[..])
            && value != before
        {
            changes.push(format!("`{key}` was `{before}`, is `{value}`"));
            continue;
        }
        let only = |of: &[String], others: &[String]| {
            let only: Vec<_> = of.iter().filter(|it| !others.contains(it)).cloned().collect();
            (!only.is_empty()).then(|| shortened(&only))
        };
        let changed = |what: &str, list: String| format!("`{key}` has {what} {list}");
        changes.extend(only(values, earlier).map(|list| changed("the new", list)));
        changes.extend(only(earlier, values).map(|list| changed("no longer", list)));
    }
    let gone = before.keys().filter(|key| !now.contains_key(*key));
    changes.extend(gone.map(|key| format!("the key `{key}` is gone")));
    match changes.is_empty() {
        true => "the order or combinations of values have changed".into(),
        false => changes.join(", "),
    }
}

/// The values of every key in the record of a sweep.
fn values_of(grid: &Value) -> BTreeMap<String, Vec<String>> {
    let mut values: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for factor in grid.as_array().into_iter().flatten() {
        let keys = factor["keys"].as_array().into_iter().flatten().filter_map(Value::as_str);
        for (column, key) in keys.enumerate() {
            let rows = factor["rows"].as_array().into_iter().flatten();
            let column = rows.filter_map(|row| row[column].as_str()).map(String::from);
            values.entry(key.into()).or_default().extend(column);
        }
    }
    values
}

/// The first few of `values`, and the number of the others.
fn shortened(values: &[String]) -> String {
    const SHOWN: usize = 4;
    let shown: Vec<_> = values.iter().take(SHOWN).map(|it| format!("`{it}`")).collect();
    match values.len().saturating_sub(SHOWN) {
        0 => shown.join(" "),
        more => format!("{} and {more} more", shown.join(" ")),
    }
}

/// Reason to refuse a record whose checksum is wrong.
const CHANGED: &str = "it was changed after it was written";

/// Reason to refuse a record without mappings.
const WITHOUT_MAPPINGS: &str =
    "its record has no digests of mappings: an earlier build made it, whose mappings may differ";

fn refusal(place: &Path, reason: &str) -> Failure {
    Failure::Argument(format!("{}: {reason}", place.display()))
}

/// `FILE.csv.json` of `FILE.csv`.
pub(in super::super) fn place(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".json");
    name.into()
}
