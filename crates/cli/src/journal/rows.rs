//! Rows of a part in a folder: `part.csv` with its record `part.csv.json`.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};

use xrsim_model::digest::Digest;
use xrsim_results::rows::{MAX_ROW, RowCheck};

use super::super::message::{Failure, say};
use super::super::output;
use super::manifest::Manifest;
use super::{Opened, Order, Pulse, resume};

/// First line of the file: the point, its identity, its result as text, and the check of the row.
const HEADER: &str = "point,id,result,check\n";

/// The file of rows of a part, to which rows are added.
pub(in super::super) struct PartRows {
    path: PathBuf,
    manifest: Manifest,
    check: RowCheck,
    out: BufWriter<File>,
    /// Lives as long as the rows are made.
    _pulse: Pulse,
    order: Order,
    n_held: u64,
    to_make: Vec<Range<u64>>,
}

impl PartRows {
    /// Name of the file of rows.
    pub(in super::super) const NAME: &'static str = "part.csv";

    /// Path of the rows in `folder`.
    pub(in super::super) fn path(folder: &Path) -> PathBuf {
        folder.join(Self::NAME)
    }

    /// Opens the rows in `folder`, which is made if it does not exist.
    ///
    /// # Errors
    ///
    /// Returns a failure as [`resume`] does.
    pub(in super::super) fn open(
        folder: &Path,
        restart: bool,
        manifest: Manifest,
    ) -> Result<Self, Failure> {
        output::create_folder(folder)?;
        let path = Self::path(folder);
        let id = |point| id(&manifest, point);
        let Opened { out, found, pulse } = resume(&path, restart, &manifest, HEADER, id)?;
        Ok(Self {
            path,
            check: RowCheck::below(HEADER.as_bytes()),
            out,
            _pulse: pulse,
            order: Order::of(&found),
            n_held: found.n_rows(),
            to_make: found.missing(&manifest.points()),
            manifest,
        })
    }

    /// Number of points that have a row.
    pub(in super::super) fn n_rows(&self) -> u64 {
        self.n_held
    }

    /// Number of points of the part.
    pub(in super::super) fn n_points(&self) -> u64 {
        let points = self.manifest.points();
        points.end - points.start
    }

    /// Points that had no row at the start.
    pub(in super::super) fn to_make(&self) -> Vec<Range<u64>> {
        self.to_make.clone()
    }

    /// Adds the row of a point. `result` has no line break.
    ///
    /// # Errors
    ///
    /// Returns a failure if the row is too long or cannot be written.
    pub(in super::super) fn add(&mut self, point: u64, result: &str) -> Result<(), Failure> {
        let mut row = format!("{point},{},{result},", id(&self.manifest, point));
        let digits = self.check.digits(row.as_bytes());
        row.push_str(&digits);
        row.push('\n');
        if row.len() > MAX_ROW {
            return Err(Failure::Argument(format!(
                "the row of point {point} would be longer than {} MiB; give fewer schedulers at once",
                MAX_ROW >> 20
            )));
        }
        self.out.write_all(row.as_bytes()).map_err(|error| self.failure(&error))?;
        self.order.note(point);
        self.n_held += 1;
        Ok(())
    }

    /// Hands all rows so far to the system.
    ///
    /// # Errors
    ///
    /// Returns a failure if they cannot be written.
    pub(in super::super) fn flush(&mut self) -> Result<(), Failure> {
        self.out.flush().map_err(|error| self.failure(&error))
    }

    fn failure(&self, error: &std::io::Error) -> Failure {
        Failure::Output(format!(
            "cannot write {}: {error}; whole rows are kept, and the same command continues after them",
            self.path.display()
        ))
    }

    /// Puts the rows in order and prints how many there are.
    ///
    /// # Errors
    ///
    /// Returns a failure if the file cannot be written.
    pub(in super::super) fn finish(mut self) -> Result<(), Failure> {
        self.flush()?;
        let (points, manifest) = (self.manifest.points(), &self.manifest);
        self.order
            .restore(self.out.get_ref(), &self.path, HEADER, &points, |it| id(manifest, it))?;
        let n_new: u64 = self.to_make.iter().map(|range| range.end - range.start).sum();
        let n_missing = (points.end - points.start).saturating_sub(self.n_held);
        say(format_args!(
            "{}: {} of {} points, {} of them new",
            self.path.display(),
            self.n_held,
            points.end - points.start,
            n_new.saturating_sub(n_missing)
        ));
        Ok(())
    }
}

/// Identity of a point: it depends on everything that its result depends on.
fn id(manifest: &Manifest, point: u64) -> String {
    Digest::of(format!("{} {point}", manifest.identity()).as_bytes()).hex()[..16].into()
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
