//! `xrsim sweep`: many runs, a row each, in a file that outlives the program.

mod check;
mod inputs;
mod journal;
mod keys;
mod manifest;
mod merge;
mod points;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufWriter};
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::config::sweep::SweepOptions;
use crate::config::{Catalog, SweepDraft};
use crate::report::csv::{self, Table};
use crate::sweep::Scorer;
use crate::sweep::grid::{Grid, Shard};

use super::args::SweepArgs;
use super::message::{Failure, say};
use super::progress::Progress;
use check::Sweep;
use inputs::Inputs;
use journal::Found;
use manifest::Manifest;
use points::{Candidate, Outcome};

pub use check::check;
pub use merge::merge;

/// Points that are computed before their rows are written.
const BLOCK_POINTS: u64 = 512;

/// Makes the points that `args` ask for and the file does not have.
///
/// # Errors
///
/// Bad input, a file of another sweep, or output that cannot be written; rows that are written stay.
pub fn run(args: &SweepArgs) -> Result<(), Failure> {
    let Sweep { grid, mut inputs } = Sweep::of(&draft(args)?)?;
    let points = args.shard.unwrap_or(Shard::WHOLE).points(grid.n_points());
    let mut rows = Rows::open(args, &grid, &inputs, &points)?;
    let cost_models = inputs.cost_models();
    let mut scorers: Vec<_> = cost_models.iter().map(|it| Scorer::new(&*it.model)).collect();
    let progress = Progress::resumed(points.end - points.start, rows.next - points.start);
    while rows.next < points.end {
        let block = rows.next..points.end.min(rows.next + BLOCK_POINTS);
        let candidates: Vec<_> = block
            .map(|index| Candidate::of(grid.point(index), &mut inputs))
            .collect::<Result<_, _>>()?;
        let outcomes = points::score(&candidates, &mut scorers);
        rows.add(&candidates, &outcomes)?;
        progress.set(rows.next - points.start);
    }
    progress.finish();
    rows.report(&points);
    Ok(())
}

/// What is varied: a file, or the options.
fn draft(args: &SweepArgs) -> Result<SweepDraft, Failure> {
    if let Some(spec) = &args.spec {
        return Ok(Catalog::new().sweep(spec)?);
    }
    let mut options = SweepOptions::default();
    for (option, key, values) in args.axes() {
        values.iter().for_each(|values| options.add(option, key, values));
    }
    for assignment in &args.set {
        let Some((key, values)) = assignment.split_once('=') else {
            let message = format!("--set takes key=values, found `{assignment}`");
            return Err(Failure::Argument(message));
        };
        options.add(&format!("--set {key}="), key.trim(), values);
    }
    if options.is_empty() && args.replications.is_none() {
        let message = "nothing to vary: give a sweep file, or options such as --pes 1024,4096";
        return Err(Failure::Argument(message.into()));
    }
    Ok(options.draft(args.replications))
}

/// Rows on their way into the file.
struct Rows {
    path: PathBuf,
    /// Keys with columns of their own.
    settings: Vec<Box<str>>,
    table: Table<BufWriter<File>>,
    /// First point without a row, now and at the start.
    next: u64,
    start: u64,
    n_infeasible: u64,
}

impl Rows {
    /// Opens the file of `points`, to go on behind the rows that it has.
    fn open(
        args: &SweepArgs,
        grid: &Grid,
        inputs: &Inputs,
        points: &Range<u64>,
    ) -> Result<Self, Failure> {
        let path = args.out.clone().unwrap_or_else(|| default_path(args));
        let keys = grid.keys().iter().map(|key| &**key);
        let settings: Vec<Box<str>> = csv::beside_label(keys).map(Into::into).collect();
        let header = csv::sweep_header(&settings.iter().map(|key| &**key).collect::<Vec<_>>());
        let manifest = Manifest::of(grid, inputs.files(), points);
        let file = journal::open(&path)?;
        let found = match args.restart {
            true => Found::Nothing,
            false => found(&path, &file, &header, &manifest, |index| grid.point(index).id())?,
        };
        let failure = |error: io::Error| Failure::writing(&path.display(), &error);
        let (next, file) = match found {
            Found::Rows { next, length } => (next, journal::cut(file, length)),
            Found::Nothing => {
                file.set_len(0).map_err(failure)?;
                manifest.write_beside(&path)?;
                (points.start, journal::begin(file, &header))
            }
        };
        let table = Table::sweep_rows(file.map_err(failure)?);
        Ok(Self { path, settings, table, next, start: next, n_infeasible: 0 })
    }

    /// Adds the rows of the next points.
    fn add(&mut self, candidates: &[Candidate<'_>], outcomes: &[Outcome]) -> Result<(), Failure> {
        self.write(candidates, outcomes).map_err(|error| {
            Failure::Output(format!(
                "cannot write {}: {error}; whole rows are kept, and the same command goes on behind \
                 them",
                self.path.display()
            ))
        })
    }

    fn write(&mut self, candidates: &[Candidate<'_>], outcomes: &[Outcome]) -> io::Result<()> {
        for (candidate, outcome) in candidates.iter().zip(outcomes) {
            let point = &candidate.point;
            let values = self.settings.iter().map(|key| point.get(key).unwrap_or_default());
            let outcome = outcome.as_ref().map_err(String::as_str);
            self.n_infeasible += u64::from(outcome.is_err());
            let identity = (point.index(), &*candidate.id);
            self.table.sweep_row(identity, &candidate.label(), values, outcome)?;
        }
        self.table.flush()?;
        self.next += candidates.len() as u64;
        Ok(())
    }

    /// Says what is in the file now.
    fn report(&self, points: &Range<u64>) {
        let (n, new) = (points.end - points.start, self.next - self.start);
        let path = self.path.display();
        match self.n_infeasible {
            0 => say(format_args!("{path}: {n} points, {new} of them new")),
            n_infeasible => say(format_args!(
                "{path}: {n} points, {new} of them new; {n_infeasible} of those without scores, see \
                 `reason`"
            )),
        }
    }
}

/// What `file`, at `path`, has of the sweep of `manifest`.
fn found(
    path: &Path,
    file: &File,
    header: &str,
    manifest: &Manifest,
    id: impl Fn(u64) -> String,
) -> Result<Found, Failure> {
    let refuse = |reason: String| {
        Failure::Argument(format!(
            "{} cannot go on: {reason}; --restart begins it anew, --out names another file",
            path.display()
        ))
    };
    if file.metadata().is_ok_and(|metadata| metadata.len() == 0) {
        return Ok(Found::Nothing);
    }
    let Some(earlier) = Manifest::beside(path)? else {
        return Err(refuse("it is not the file of a sweep".into()));
    };
    if let Some(difference) = manifest.difference(&earlier) {
        return Err(refuse(difference));
    }
    let found = journal::reader(file)
        .and_then(|reader| journal::find(reader, header, &manifest.points(), id));
    found.map_err(|error| refuse(error.to_string()))
}

/// The name of the sweep, with its part, ending in `.csv`, in the working directory.
fn default_path(args: &SweepArgs) -> PathBuf {
    let stem = args.spec.as_deref().and_then(|spec| Path::new(spec).file_stem());
    let mut name = stem.map_or_else(|| OsString::from("sweep"), OsString::from);
    if let Some(shard) = args.shard {
        name.push(format!(".{shard}"));
    }
    name.push(".csv");
    name.into()
}
