//! Rows of a part in a folder: `part.csv` with its record `part.csv.json`.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};

use xrsim_model::cost::ChosenMappings;
use xrsim_model::digest::Digest;
use xrsim_results::rows::{MAX_ROW, RowCheck};

use super::super::message::{Failure, say};
use super::super::output;
use super::super::progress::Progress;
use super::manifest::Manifest;
use super::{RowFile, Sink, as_made};

/// First line of the file: the point, its identity, its result as text, and the check of the row.
const HEADER: &str = "point,id,result,check\n";

/// Destination of the results of points, each by its place among them: a line of text, or the reason for which the
/// machine did not make it.
pub(crate) type Deliver<'d> = &'d (dyn Fn(usize, Result<String, String>) -> ControlFlow<()> + Sync);

/// The file of rows of a part, to which rows are added.
pub(crate) struct PartRows {
    file: RowFile,
    manifest: Manifest,
    check: RowCheck,
    out: BufWriter<File>,
    /// Number of points that have a row.
    n_rows: u64,
    /// Points in words, in the plural.
    things: &'static str,
    /// Points under way.
    points: Vec<u64>,
    progress: Progress,
    /// The first point that failed because of the machine, and the reason.
    reason: Option<(u64, String)>,
}

impl PartRows {
    /// Name of the file of rows.
    pub(crate) const NAME: &'static str = "part.csv";

    /// Path of the rows in `folder`.
    pub(crate) fn path(folder: &Path) -> PathBuf {
        folder.join(Self::NAME)
    }

    /// Opens the rows in `folder`, which is made if it does not exist. Points are called `things`; `progress` gets
    /// their number, and that of rows.
    ///
    /// # Errors
    ///
    /// Returns a failure as [`RowFile::open`] does.
    pub(crate) fn open(
        folder: &Path,
        restart: bool,
        manifest: Manifest,
        things: &'static str,
        progress: impl FnOnce(u64, u64) -> Progress,
    ) -> Result<Self, Failure> {
        output::create_folder(folder)?;
        let id = |point| id(&manifest, point);
        let (file, out) = RowFile::open(&Self::path(folder), restart, &manifest, HEADER, id)?;
        Ok(Self {
            n_rows: file.n_held,
            progress: progress(file.n_points, file.n_held),
            check: RowCheck::below(HEADER.as_bytes()),
            file,
            manifest,
            out,
            things,
            points: Vec::new(),
            reason: None,
        })
    }

    /// Whether one of `points` had no row at the start.
    pub(crate) fn lacks(&self, points: &Range<u64>) -> bool {
        let mut to_make = self.file.to_make.iter();
        to_make.any(|range| range.start < points.end && points.start < range.end)
    }

    /// Adds mappings to the record, see [`RowFile::record_mappings`].
    ///
    /// # Errors
    ///
    /// Returns a failure if rows have other mappings, or if the record cannot be written.
    pub(crate) fn record_mappings(&mut self, chosen: &ChosenMappings) -> Result<(), Failure> {
        self.file.record_mappings(chosen)
    }

    /// Lets `make` make the points that have no row yet, at most `most` at a time. Rows are written as they are made.
    ///
    /// # Errors
    ///
    /// Returns a failure for output that cannot be written, or for points that failed because of the machine. Rows
    /// that were written stay.
    pub(crate) fn make(
        mut self,
        most: usize,
        make: impl Fn(&[u64], Deliver<'_>),
    ) -> Result<(), Failure> {
        let mut to_make = self.file.to_make.clone().into_iter().flatten();
        loop {
            let points: Vec<_> = to_make.by_ref().take(most).collect();
            if points.is_empty() {
                return self.finish();
            }
            self.points.clone_from(&points);
            as_made(&mut self, |deliver| make(&points, deliver))?;
        }
    }

    /// Adds the row of a point. `result` has no line break.
    ///
    /// # Errors
    ///
    /// Returns a failure if the row is too long or cannot be written.
    fn add(&mut self, point: u64, result: &str) -> Result<(), Failure> {
        let mut row = format!("{point},{},{result},", id(&self.manifest, point));
        let digits = self.check.digits(row.as_bytes());
        row.push_str(&digits);
        row.push('\n');
        if row.len() > MAX_ROW {
            refuse!(
                "the row of point {point} would be longer than {} MiB; give fewer schedulers at once",
                MAX_ROW >> 20
            );
        }
        self.out.write_all(row.as_bytes()).map_err(|error| self.file.failure(&error))?;
        self.file.note(point);
        self.n_rows += 1;
        Ok(())
    }

    /// Puts the rows in order and prints how many there are.
    ///
    /// # Errors
    ///
    /// Returns a failure if the file cannot be written, or if points have no row.
    fn finish(mut self) -> Result<(), Failure> {
        self.flush()?;
        let Self { file, manifest, out, n_rows, things, progress, reason, .. } = self;
        progress.finish();
        file.put_in_order(out.get_ref(), |point| id(&manifest, point))?;
        let (n_points, n_new) = (file.n_points, n_rows - file.n_held);
        let path = file.path.display();
        say(format_args!("{path}: {n_rows} of {n_points} points, {n_new} of them new"));
        match reason {
            None => Ok(()),
            Some((point, reason)) => Err(Failure::Check(format!(
                "error: {} {things} are missing, {point} is the first of them; the same command tries them again \
                 ({reason})",
                n_points.saturating_sub(n_rows)
            ))),
        }
    }
}

impl Sink<Result<String, String>> for PartRows {
    fn take(&mut self, at: usize, result: Result<String, String>) -> Result<(), Failure> {
        let point = self.points[at];
        match result {
            Ok(text) => {
                self.add(point, &text)?;
                self.progress.set_of(self.n_rows as usize, self.file.n_points as usize);
            }
            Err(reason) if self.reason.as_ref().is_none_or(|(first, _)| point < *first) => {
                self.reason = Some((point, reason));
            }
            Err(_) => {}
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Failure> {
        self.out.flush().map_err(|error| self.file.failure(&error))
    }
}

/// Identity of a point: it depends on everything that its result depends on.
fn id(manifest: &Manifest, point: u64) -> String {
    Digest::compute(format!("{} {point}", manifest.identity()).as_bytes()).hex()[..16].into()
}

/// Passes the result of every point to `each`, in order.
///
/// # Errors
///
/// Returns a failure as [`super::Parts::each_row`] does.
pub(in super::super) fn each_result(
    parts: &super::Parts,
    mut each: impl FnMut(u64, &str) -> Result<(), Failure>,
) -> Result<(), Failure> {
    parts.each_row(HEADER, |point, row| {
        let id = id(parts.whole(), point);
        let text = std::str::from_utf8(row).ok();
        let cells = text.and_then(|row| row.strip_prefix(&format!("{point},{id},")));
        let result = cells.and_then(|cells| cells.rsplit_once(',')).map(|(result, _)| result);
        match result {
            Some(result) => each(point, result),
            None => Err(Failure::Argument(format!("the row of point {point} has no result"))),
        }
    })
}
