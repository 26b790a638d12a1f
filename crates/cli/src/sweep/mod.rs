//! `xrsim sweep`: many runs, one row each, in a file that outlives the program.

mod merge;
mod options;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufReader, BufWriter};
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use xrsim_config::sweep::SweepOptions;
use xrsim_config::{Catalog, SweepDraft};
use xrsim_experiment::sweep::{
    Candidate, Inputs, PointResult, Sweep, change_of_rows, relate, score_each,
};
use xrsim_model::column;
use xrsim_model::cost::ChosenLog;
use xrsim_model::digest::Digest;
use xrsim_model::text::counted;
use xrsim_results::csv::{self, Table};
use xrsim_results::rows::{Line, Lines};
use xrsim_sim::sweep::grid::{Grid, Shard};
use xrsim_sim::sweep::{Made, Scorer};

use super::cluster::{self, Estimate, Form, Job, Shares};
use super::journal::{self, Manifest, RowFile, Sink, as_made};
use super::message::{Failure, say, with_hints};
use super::places::Places;
use super::progress::Progress;
use super::schedulers::note_untracked;

pub(super) use super::journal::place as record_of;
pub(super) use merge::{MergeArgs, merge};
pub(super) use options::SweepArgs;

/// Makes the runs of all points that have no row in the file yet.
///
/// # Errors
///
/// Returns a failure for bad input, a file of another sweep, output that cannot be written, or points
/// that are still missing. Rows that were written stay.
pub(super) fn run(args: &SweepArgs) -> Result<(), Failure> {
    let (draft, spec) = draft(args)?;
    let Sweep { grid, mut inputs } = with_hints(|notes| Sweep::from_draft(&draft, notes))?;
    let path = args.out.clone().unwrap_or_else(|| default_path(args));
    if args.cluster.is_asked() {
        return hand_over(args, &grid, &mut inputs, &path);
    }
    Places::default()
        .reading(inputs.paths().chain(spec))
        .writing([&path, &journal::place(&path)])
        .check()?;
    args.cluster.refuse_changed(|| identity(&grid, &inputs))?;
    note_untracked(schedulers(&grid));
    let mut rows = Rows::open(&path, args.restart, &grid, &mut inputs, args.shard)?;
    if let Some(note) = relate(&grid, &mut inputs)? {
        say(format_args!("{note}"));
    }
    let (cost_models, chosen) = (inputs.cost_models(), ChosenLog::default());
    let scorers = cost_models.iter().map(|it| Scorer::new(&*it.model).noting(&chosen));
    let mut scorers: Vec<_> = scorers.collect();
    let mut pace = Pace::new();
    let progress = Progress::counting_on("points", rows.file.n_points, rows.file.n_held);
    for mut range in rows.file.to_make.clone() {
        while !range.is_empty() {
            let block = range.start..range.end.min(range.start + pace.points);
            range.start = block.end;
            let candidates: Vec<_> = block
                .map(|index| Candidate::from_point(grid.point(index), &mut inputs))
                .collect::<Result<_, _>>()?;
            pace.time(|| {
                let (rows, candidates, progress) = (&mut rows, &candidates[..], &progress);
                let mut block = Block { rows, candidates, chosen: &chosen, progress };
                as_made(&mut block, |deliver| score_each(candidates, &mut scorers, deliver))
            })?;
        }
    }
    progress.finish();
    rows.finish()
}

/// Schedulers of all points.
fn schedulers(grid: &Grid) -> impl Iterator<Item = &str> {
    grid.factors().iter().flat_map(|factor| {
        let column = factor.keys.iter().position(|key| **key == *"scheduler");
        factor.rows.iter().filter_map(move |row| row.get(column?)?.as_deref())
    })
}

/// SHA-256 of the keys and values, and of all files that points refer to.
fn identity(grid: &Grid, inputs: &Inputs) -> String {
    let mut all = grid.digest();
    inputs.files().for_each(|file| all.push_str(&file.sha256));
    Digest::compute(all.as_bytes()).hex()
}

/// Estimates the sweep, or prints or submits the job of its parts.
fn hand_over(
    args: &SweepArgs,
    grid: &Grid,
    inputs: &mut Inputs,
    path: &Path,
) -> Result<(), Failure> {
    let job = Job {
        command: "sweep",
        things: "points",
        n_things: grid.n_points(),
        form: Form::File,
        out: path,
        spec: args.spec.as_deref(),
        digest: identity(grid, inputs),
    };
    cluster::hand_over(&job, &args.cluster, || {
        let cost_models = inputs.cost_models();
        let mut scorers: Vec<_> = cost_models.iter().map(|it| Scorer::new(&*it.model)).collect();
        Estimate::measure(grid.n_points(), Shares::Inputs, |index| {
            let candidate = Candidate::from_point(grid.point(index), inputs)?;
            score_each(&[candidate], &mut scorers, &|_, _| ControlFlow::Continue(()));
            Ok(())
        })
    })
}

/// Number of points that are made between two times that all threads wait for each other, about once per
/// second.
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
    with_hints(|notes| Sweep::from_draft(&draft, notes))?;
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
            refuse!("--set takes key=values, found `{assignment}`");
        };
        options.add(&format!("--set {key}="), key.trim(), values);
    }
    if options.is_empty() && args.replications.is_none() {
        refuse!("nothing to vary: give a sweep file, or options such as --pes 1024,4096");
    }
    Ok((options.draft(args.replications), Vec::new()))
}

/// The file of a sweep, to which rows are added.
struct Rows<'g> {
    file: RowFile,
    grid: &'g Grid,
    /// Keys that have a column after the label.
    settings: Vec<Box<str>>,
    table: Table<BufWriter<File>>,
    n_infeasible: u64,
    /// Number of new rows of runs that a battery ended.
    n_stopped: u64,
    /// Number of points that were tried, and of those that had a row at the start.
    n_done: u64,
    /// Points that failed because of the machine, in the order in which they did.
    missing: Vec<Range<u64>>,
    /// The first point that failed, and the reason.
    reason: Option<(u64, String)>,
}

impl<'g> Rows<'g> {
    /// Opens the file of the points of `shard`, at `path`, to add the missing rows.
    fn open(
        path: &Path,
        restart: bool,
        grid: &'g Grid,
        inputs: &mut Inputs,
        shard: Option<Shard>,
    ) -> Result<Self, Failure> {
        let keys = grid.keys().iter().map(|key| &**key);
        let settings: Vec<Box<str>> = csv::beside_label(keys).map(Into::into).collect();
        let manifest = Manifest::of_sweep(grid, inputs.files(), shard);
        let header = manifest.header();
        if !restart {
            let change = |earlier: &Grid| Ok(change_of_rows(earlier, grid, inputs)?);
            journal::extend(path, &manifest, &header, grid, change)?;
        }
        let id = |index| grid.point(index).id();
        let (file, out) = RowFile::open(path, restart, &manifest, &header, id)?;
        Ok(Self {
            grid,
            settings,
            table: Table::sweep_rows(out, &header),
            n_infeasible: 0,
            n_stopped: 0,
            n_done: file.n_held,
            missing: Vec::new(),
            reason: None,
            file,
        })
    }

    fn write_row(
        &mut self,
        candidate: &Candidate<'_>,
        result: &Result<Made, String>,
    ) -> io::Result<()> {
        let point = &candidate.point;
        let values = self.settings.iter().map(|key| point.get(key).unwrap_or_default());
        let result = result.as_ref().map_err(String::as_str);
        self.n_infeasible += u64::from(result.is_err());
        self.n_stopped += u64::from(result.is_ok_and(Made::is_stopped));
        self.file.note(point.index());
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
    fn finish(self) -> Result<(), Failure> {
        let Self { file, grid, table, mut missing, reason, .. } = self;
        missing.sort_by_key(|range| range.start);
        missing.dedup_by(|next, range| {
            let follows = range.end == next.start;
            if follows {
                range.end = next.end;
            }
            follows
        });
        let path = file.path.display();
        let failure = |error: io::Error| Failure::writing(&path, &error);
        let rows = table.finish().and_then(|out| Ok(out.into_inner()?)).map_err(failure)?;
        file.put_in_order(&rows, |index| grid.point(index).id())?;
        let n = file.n_points;
        let n_missing: u64 = missing.iter().map(|range| range.end - range.start).sum();
        let new = n - file.n_held - n_missing;
        let of_new = |n: u64, what: &str| match n {
            0 => String::new(),
            n => format!("; {n} of the new ones {what}"),
        };
        let without = of_new(self.n_infeasible, "without scores, see `reason`");
        let points = counted(n as usize, "point");
        let stopped = of_new(self.n_stopped, "ended by an empty battery, see `stopped_at_s`");
        say(format_args!("{path}: {points}, {new} of them new{without}{stopped}"));
        match reason {
            None => Ok(()),
            Some((_, reason)) => Err(Failure::Check(format!(
                "error: {path}: {n_missing} of {n} points are missing, {}; the same command tries them \
                 again ({reason})",
                listed(&missing)
            ))),
        }
    }
}

/// Points under way, whose rows are written as they are made.
struct Block<'b, 'g> {
    rows: &'b mut Rows<'g>,
    candidates: &'b [Candidate<'g>],
    /// Mappings of the points under way, and of earlier ones.
    chosen: &'b ChosenLog,
    progress: &'b Progress,
}

impl Sink<PointResult> for Block<'_, '_> {
    fn take(&mut self, index: usize, result: PointResult) -> Result<(), Failure> {
        let (rows, candidate) = (&mut *self.rows, &self.candidates[index]);
        if let Some(chosen) = self.chosen.changes() {
            rows.file.record_mappings(&chosen)?;
        }
        match result {
            PointResult::Row(result) => {
                rows.write_row(candidate, &result).map_err(|error| rows.file.failure(&error))?;
            }
            PointResult::Missing(reason) => {
                let point = candidate.point.index();
                rows.note_missing(point);
                if rows.reason.as_ref().is_none_or(|(first, _)| point < *first) {
                    rows.reason = Some((point, reason));
                }
            }
        }
        rows.n_done += 1;
        self.progress.set(rows.n_done);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Failure> {
        self.rows.table.flush().map_err(|error| self.rows.file.failure(&error))
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
    let mut lines = Lines::new(BufReader::new(File::open(path).map_err(failure)?));
    match lines.next_line().map_err(failure)? {
        Line::Whole(line) if present(line) == manifest.header().into_bytes() => {
            let points = manifest.points();
            Ok(Some(points.end - points.start))
        }
        _ => Err(Failure::Argument(format!(
            "{}: its first line is not that of the sweep in {}",
            path.display(),
            journal::place(path).display()
        ))),
    }
}

/// A header with the names of columns that are in use.
fn present(header: &[u8]) -> Vec<u8> {
    let header = String::from_utf8_lossy(header);
    header.split(',').map(column::current).collect::<Vec<_>>().join(",").into_bytes()
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
