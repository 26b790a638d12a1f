//! `xrsim sweep`: many runs, one row each, in a file that outlives the program.

mod journal;
mod manifest;
mod merge;
mod options;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufReader, BufWriter};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::column;
use crate::config::sweep::SweepOptions;
use crate::config::{Catalog, SweepDraft};
use crate::digest::Digest;
use crate::experiment::sweep::{Candidate, Inputs, PointResult, Sweep, score};
use crate::report::csv::{self, Table};
use crate::report::rows::{Line, Lines};
use crate::sweep::grid::{Grid, Shard};
use crate::sweep::{Scored, Scorer};

use super::cluster::{self, Estimate, Form, Job};
use super::message::{Failure, say, with_hints};
use super::output::OutputFile;
use super::places::Places;
use super::progress::Progress;
use journal::Found;
use manifest::Manifest;

pub(super) use manifest::place as record_of;
pub(super) use merge::merge;
pub(super) use options::{SweepArgs, shard};

/// Makes the runs of all points that have no row in the file yet.
///
/// # Errors
///
/// Returns a failure for bad input, a file of another sweep, output that cannot be written, or points
/// that are still missing. Rows that were written stay.
pub(super) fn run(args: &SweepArgs) -> Result<(), Failure> {
    let (draft, spec) = draft(args)?;
    let Sweep { grid, mut inputs } = with_hints(|notes| Sweep::of(&draft, notes))?;
    let points = args.shard.unwrap_or(Shard::WHOLE).points(grid.n_points());
    let path = args.out.clone().unwrap_or_else(|| default_path(args));
    if args.cluster.is_asked() {
        return hand_over(args, &grid, &mut inputs, &path);
    }
    Places::default()
        .reading(inputs.paths().chain(spec))
        .writing([&path, &manifest::place(&path)])
        .check()?;
    let mut rows = Rows::open(path, args.restart, &grid, &inputs, &points)?;
    let cost_models = inputs.cost_models();
    let mut scorers: Vec<_> = cost_models.iter().map(|it| Scorer::new(&*it.model)).collect();
    let mut pace = Pace::new();
    let progress = Progress::resumed(points.end - points.start, rows.n_held);
    let mut n_done = rows.n_held;
    for mut range in rows.to_make.clone() {
        while !range.is_empty() {
            let block = range.start..range.end.min(range.start + pace.points);
            range.start = block.end;
            let candidates: Vec<_> = block
                .map(|index| Candidate::of(grid.point(index), &mut inputs))
                .collect::<Result<_, _>>()?;
            pace.time(|| {
                let outcomes = score(&candidates, &mut scorers);
                rows.add(&candidates, outcomes)
            })?;
            n_done += candidates.len() as u64;
            progress.set(n_done);
        }
    }
    progress.finish();
    rows.finish(&points)
}

/// Estimates the sweep, or prints or submits the job of its parts.
fn hand_over(
    args: &SweepArgs,
    grid: &Grid,
    inputs: &mut Inputs,
    path: &Path,
) -> Result<(), Failure> {
    let mut identity = grid.digest();
    inputs.files().for_each(|file| identity.push_str(&file.sha256));
    let job = Job {
        command: "sweep",
        things: "points",
        n_things: grid.n_points(),
        form: Form::File,
        out: path,
        spec: args.spec.as_deref(),
        digest: Digest::of(identity.as_bytes()).hex(),
    };
    cluster::hand_over(&job, &args.cluster, || {
        let cost_models = inputs.cost_models();
        let mut scorers: Vec<_> = cost_models.iter().map(|it| Scorer::new(&*it.model)).collect();
        Estimate::of(grid.n_points(), |index| {
            let candidate = Candidate::of(grid.point(index), inputs)?;
            score(&[candidate], &mut scorers);
            Ok(())
        })
    })
}

/// Number of points that are computed before their rows are written, about once per second.
struct Pace {
    points: u64,
}

impl Pace {
    /// Maximum number of points.
    const MAX: u64 = 512;

    /// Starts with as many points as there are threads.
    fn new() -> Self {
        Self { points: (rayon::current_num_threads() as u64).clamp(1, Self::MAX) }
    }

    /// Does the `work` of this number of points, and adapts the number to the time that it took.
    fn time<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        match start.elapsed() {
            short if short < Duration::from_millis(250) => {
                self.points = (2 * self.points).min(Self::MAX);
            }
            long if long > Duration::from_millis(1000) => {
                self.points = (self.points / 2).max(Self::new().points);
            }
            _ => {}
        }
        result
    }
}

/// Checks the sweep in the file at `path`, with every file that it refers to.
///
/// # Errors
///
/// Returns a failure with every problem of the sweep.
pub(super) fn check(path: &Path) -> Result<(), Failure> {
    let draft = Catalog::new().sweep(&path.display().to_string())?;
    with_hints(|notes| Sweep::of(&draft, notes))?;
    Ok(())
}

/// The sweep as it was written: a file, with its path unless it comes with the program, or options.
fn draft(args: &SweepArgs) -> Result<(SweepDraft, Vec<PathBuf>), Failure> {
    if let Some(spec) = &args.spec {
        let mut catalog = Catalog::new();
        let draft = catalog.sweep(spec)?;
        return Ok((draft, catalog.opened().collect()));
    }
    let mut options = SweepOptions::default();
    for (option, key, values) in args.axes.axes() {
        values.iter().for_each(|values| options.add(&option, key, values));
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
    Ok((options.draft(args.replications), Vec::new()))
}

/// The file of a sweep, to which rows are added.
struct Rows<'g> {
    path: PathBuf,
    grid: &'g Grid,
    header: String,
    /// Keys that have a column after the label.
    settings: Vec<Box<str>>,
    table: Table<BufWriter<File>>,
    /// Number of points that had a row at the start.
    n_held: u64,
    /// Points without a row.
    to_make: Vec<Range<u64>>,
    /// Whether the rows will not be in the order of the points, because earlier rows were missing or
    /// damaged.
    is_out_of_order: bool,
    n_infeasible: u64,
    /// Points that failed because of the machine, in order.
    missing: Vec<Range<u64>>,
    /// Reason for which the first of them failed.
    reason: Option<String>,
}

impl<'g> Rows<'g> {
    /// Opens the file of `points` at `path` to add the missing rows.
    fn open(
        path: PathBuf,
        restart: bool,
        grid: &'g Grid,
        inputs: &Inputs,
        points: &Range<u64>,
    ) -> Result<Self, Failure> {
        let keys = grid.keys().iter().map(|key| &**key);
        let settings: Vec<Box<str>> = csv::beside_label(keys).map(Into::into).collect();
        let manifest = Manifest::of(grid, inputs.files(), points);
        let header = manifest.header();
        let file = journal::open(&path)?;
        OutputFile::tidy(&path);
        let found = match restart {
            true => Found::default(),
            false => found(&path, &file, &header, &manifest, |index| grid.point(index).id())?,
        };
        let failure = |error: io::Error| Failure::writing(&path.display(), &error);
        let file = if found.is_nothing() {
            file.set_len(0).map_err(failure)?;
            manifest.write_beside(&path)?;
            journal::begin(file, &header)
        } else {
            journal::continue_after(file, &found)
        };
        note_damage(&path, &found);
        let to_make = found.missing(points);
        Ok(Self {
            table: Table::sweep_rows(file.map_err(failure)?, &header),
            n_held: found.n_rows(),
            is_out_of_order: !found.is_in_order()
                || to_make.first().is_some_and(|range| range.start < found.end()),
            to_make,
            path,
            grid,
            header,
            settings,
            n_infeasible: 0,
            missing: Vec::new(),
            reason: None,
        })
    }

    /// Adds the rows of the next points.
    fn add(
        &mut self,
        candidates: &[Candidate<'_>],
        outcomes: Vec<PointResult>,
    ) -> Result<(), Failure> {
        self.write(candidates, outcomes).map_err(|error| {
            Failure::Output(format!(
                "cannot write {}: {error}; whole rows are kept, and the same command continues after \
                 them",
                self.path.display()
            ))
        })
    }

    fn write(
        &mut self,
        candidates: &[Candidate<'_>],
        outcomes: Vec<PointResult>,
    ) -> io::Result<()> {
        for (candidate, outcome) in candidates.iter().zip(outcomes) {
            match outcome {
                PointResult::Row(result) => self.write_row(candidate, &result)?,
                PointResult::Missing(reason) => {
                    self.note_missing(candidate.point.index());
                    self.reason.get_or_insert(reason);
                }
            }
        }
        self.table.flush()
    }

    fn write_row(
        &mut self,
        candidate: &Candidate<'_>,
        result: &Result<Scored, String>,
    ) -> io::Result<()> {
        let point = &candidate.point;
        let values = self.settings.iter().map(|key| point.get(key).unwrap_or_default());
        let result = result.as_ref().map_err(String::as_str);
        self.n_infeasible += u64::from(result.is_err());
        let identity = (point.index(), &*candidate.id);
        self.table.sweep_row(identity, &candidate.label(), values, result)
    }

    fn note_missing(&mut self, point: u64) {
        match self.missing.last_mut() {
            Some(range) if range.end == point => range.end += 1,
            _ => self.missing.push(point..point + 1),
        }
    }

    /// Puts the rows in order and prints a summary of the file.
    ///
    /// # Errors
    ///
    /// Returns a failure if the file cannot be written, or if points are missing.
    fn finish(self, points: &Range<u64>) -> Result<(), Failure> {
        let Self { path, grid, header, table, is_out_of_order, missing, reason, .. } = self;
        let failure = |error: io::Error| Failure::writing(&path.display(), &error);
        let file = table.finish().and_then(|out| Ok(out.into_inner()?)).map_err(failure)?;
        if is_out_of_order {
            let id = |index| grid.point(index).id();
            let found = journal::reader(&file)
                .and_then(|reader| journal::find(reader, &header, points, id))
                .map_err(|error| Failure::Argument(format!("{}: {error}", path.display())))?;
            journal::put_in_order(&file, &found, &header, &path)?;
        }
        let n = points.end - points.start;
        let n_missing: u64 = missing.iter().map(|range| range.end - range.start).sum();
        let new = n - self.n_held - n_missing;
        let path = path.display();
        let without = match self.n_infeasible {
            0 => String::new(),
            n_infeasible => {
                format!("; {n_infeasible} of those without scores, see `reason`")
            }
        };
        say(format_args!("{path}: {n} points, {new} of them new{without}"));
        match reason {
            None => Ok(()),
            Some(reason) => Err(Failure::Check(format!(
                "error: {path}: {n_missing} of {n} points are missing, {}; the same command tries them \
                 again ({reason})",
                listed(&missing)
            ))),
        }
    }
}

/// Prints a note on damaged lines.
fn note_damage(path: &Path, found: &Found) {
    let path = path.display();
    let first = found.first_damaged;
    match found.damaged {
        0 => {}
        1 => say(format_args!("note: {path}:{first}: a damaged row is made again")),
        n => say(format_args!(
            "note: {path}:{first}: {n} damaged rows, from here on, are made again"
        )),
    }
}

/// Maximum number of ranges of points in a message.
const MAX_LISTED: usize = 8;

/// Ranges of points in words: `3, 5 to 7`.
fn listed(points: &[Range<u64>]) -> String {
    let name = |range: &Range<u64>| match range.end - range.start {
        1 => range.start.to_string(),
        _ => format!("{} to {}", range.start, range.end - 1),
    };
    let mut names: Vec<_> = points.iter().take(MAX_LISTED).map(name).collect();
    if points.len() > MAX_LISTED {
        names.push("..".into());
    }
    names.join(", ")
}

/// Number of points in the record of the file of a sweep, whose first line must be that of the record.
/// `None` without a record, or with a record of another version.
///
/// # Errors
///
/// Returns a failure if the first line or the record was changed.
pub(super) fn check_header(path: &Path) -> Result<Option<u64>, Failure> {
    let Some(manifest) = Manifest::known_beside(path)? else { return Ok(None) };
    let failure = |error: io::Error| Failure::Argument(format!("{}: {error}", path.display()));
    let mut lines = Lines::of(BufReader::new(File::open(path).map_err(failure)?));
    match lines.next_line().map_err(failure)? {
        Line::Whole(line) if present(line) == manifest.header().into_bytes() => {
            let points = manifest.points();
            Ok(Some(points.end - points.start))
        }
        _ => Err(Failure::Argument(format!(
            "{}: its first line is not that of the sweep in {}",
            path.display(),
            manifest::place(path).display()
        ))),
    }
}

/// A header with the names of columns that are in use.
fn present(header: &[u8]) -> Vec<u8> {
    let header = String::from_utf8_lossy(header);
    header.split(',').map(column::current).collect::<Vec<_>>().join(",").into_bytes()
}

/// Rows that `file`, at `path`, has of the sweep of `manifest`.
///
/// # Errors
///
/// Returns a failure if it is the file of another sweep.
fn found(
    path: &Path,
    file: &File,
    header: &str,
    manifest: &Manifest,
    id: impl Fn(u64) -> String,
) -> Result<Found, Failure> {
    let refuse = |reason: String| {
        Failure::Argument(format!(
            "{} cannot be continued: {reason}; --restart begins it again, --out names another file",
            path.display()
        ))
    };
    if file.metadata().is_ok_and(|metadata| metadata.len() == 0) {
        return Ok(Found::default());
    }
    let Some(earlier) = Manifest::beside(path)? else {
        return Err(refuse("it is not the file of a sweep".into()));
    };
    if let Some(difference) = manifest.difference(&earlier) {
        // A file without rows can be overwritten.
        return if has_no_row(file) { Ok(Found::default()) } else { Err(refuse(difference)) };
    }
    let found = journal::reader(file)
        .and_then(|reader| journal::find(reader, header, &manifest.points(), id));
    found.map_err(|error| refuse(error.to_string()))
}

/// Whether `file` has nothing after its first line.
fn has_no_row(file: &File) -> bool {
    let Ok(reader) = journal::reader(file) else { return false };
    let mut lines = Lines::of(reader);
    matches!(lines.next_line(), Ok(Line::Whole(_))) && matches!(lines.next_line(), Ok(Line::End))
}

/// Path of the rows unless one is given: the name of the sweep and of the part, ending in `.csv`, in
/// the working directory.
fn default_path(args: &SweepArgs) -> PathBuf {
    let stem = args.spec.as_deref().and_then(|spec| Path::new(spec).file_stem());
    let mut name = stem.map_or_else(|| OsString::from("sweep"), OsString::from);
    if let Some(shard) = args.shard {
        name.push(format!(".{shard}"));
    }
    name.push(".csv");
    name.into()
}
