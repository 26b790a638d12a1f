//! The parts of a command, as the whole that one process would have made.

use std::fs::File;
use std::io::{self, BufReader};
use std::ops::Range;
use std::path::{Path, PathBuf};

use xrsim_results::rows::{Line, Lines, RowCheck};

use super::super::message::Failure;
use super::manifest::Manifest;

/// A file of rows, and what its record says of it alone.
struct Part {
    path: PathBuf,
    points: Range<u64>,
    /// The command that wrote it, in words.
    origin: String,
}

/// Files of rows that have every point once.
pub(in super::super) struct Parts {
    /// Parts, in the order of their points.
    parts: Vec<Part>,
    whole: Manifest,
}

impl Parts {
    /// Reads the records of `files`, which parts of `command` wrote.
    ///
    /// # Errors
    ///
    /// Returns a failure for files of different commands or inputs, and for points that are in none of the
    /// files or in two.
    pub(in super::super) fn read(command: &str, files: &[PathBuf]) -> Result<Self, Failure> {
        let Some(first) = files.first() else {
            refuse!("there is no part to join");
        };
        let mut whole = manifest(command, first)?.of_whole();
        let mut mappings = whole.mappings();
        // A record repeats all values, so that one is in memory at a time.
        let mut part = |path: &PathBuf| {
            let manifest = manifest(command, path)?;
            refuse_other((first, &whole), (path, &manifest))?;
            if mappings.merge(&manifest.mappings()) {
                whole = whole.clone().with_mappings(mappings.clone());
            }
            let (points, origin) = (manifest.points(), manifest.origin());
            Ok(Part { path: path.clone(), points, origin })
        };
        let mut parts = files.iter().map(&mut part).collect::<Result<Vec<_>, Failure>>()?;
        parts.sort_by_key(|part| (part.points.start, part.points.end));
        refuse_gaps(&parts, whole.n_points())?;
        Ok(Self { parts, whole })
    }

    /// The record of all points.
    pub(in super::super) fn whole(&self) -> &Manifest {
        &self.whole
    }

    /// Passes every row to `each`, with its point, in the order of the points.
    ///
    /// # Errors
    ///
    /// Returns a failure if a file cannot be read, or if it has not one row for each of its points, below
    /// `header`; and the failure of `each`.
    pub(in super::super) fn each_row(
        &self,
        header: &str,
        mut each: impl FnMut(u64, &[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.parts.iter().try_for_each(|part| part.each_row(header, &mut each))
    }
}

/// The record of the part of `command` at `path`.
fn manifest(command: &str, path: &Path) -> Result<Manifest, Failure> {
    let refuse = |reason: String| Err(Failure::Argument(format!("{}{reason}", path.display())));
    match Manifest::beside(path)? {
        None => refuse(format!(": not the file of a {command}, {}.json is absent", path.display())),
        Some(manifest) if manifest.command() != command => refuse(format!(
            ": the file of a {}, not of a {command}; {} joins it",
            manifest.command(),
            joins(manifest.command())
        )),
        Some(manifest) => Ok(manifest),
    }
}

/// The command that joins parts of `command`.
fn joins(command: &str) -> String {
    match command {
        "sweep" => "`xrsim parts merge`".into(),
        other => format!("`xrsim {other} --join`"),
    }
}

/// Refuses a file that is not of the same command and inputs as the first one.
fn refuse_other(
    (first, whole): (&Path, &Manifest),
    (path, manifest): (&Path, &Manifest),
) -> Result<(), Failure> {
    match manifest.of_whole().difference(whole) {
        None => Ok(()),
        Some(difference) => Err(Failure::Argument(format!(
            "{} and {} are not of one {}: {difference}",
            first.display(),
            path.display(),
            whole.command()
        ))),
    }
}

/// Refuses points that are in no file or in two.
fn refuse_gaps(parts: &[Part], n_points: u64) -> Result<(), Failure> {
    let mut end = 0;
    for part in parts.iter().filter(|part| !part.points.is_empty()) {
        let points = &part.points;
        if points.start > end {
            return Err(missing(end, points.start));
        }
        if points.start < end {
            let path = part.path.display();
            let first = points.start;
            refuse!("{path}: point {first} is in another file too");
        }
        end = points.end;
    }
    match end {
        _ if end < n_points => Err(missing(end, n_points)),
        _ if end > n_points => {
            let message = format!("a part has points up to {}, of {n_points}", end - 1);
            Err(Failure::Argument(message))
        }
        _ => Ok(()),
    }
}

fn missing(first: u64, end: u64) -> Failure {
    Failure::Argument(format!("points {first} to {} are in none of the files", end - 1))
}

impl Part {
    /// Passes one row for each point to `each`.
    fn each_row(
        &self,
        header: &str,
        mut each: impl FnMut(u64, &[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let refuse = |reason: &str| Failure::Argument(format!("{}: {reason}", self.path.display()));
        let unreadable = |error: io::Error| refuse(&error.to_string());
        let mut lines = Lines::new(BufReader::new(File::open(&self.path).map_err(unreadable)?));
        match lines.next_line().map_err(unreadable)? {
            Line::Whole(line) if line == header.as_bytes() => {}
            _ => return Err(refuse("its first line is not the one that the command writes")),
        }
        let check = RowCheck::below(header.as_bytes());
        let points = self.points.clone();
        for point in points.clone() {
            match lines.next_line().map_err(unreadable)? {
                Line::Whole(line)
                    if check.holds(line) && line.starts_with(format!("{point},").as_bytes()) =>
                {
                    each(point, line)?;
                }
                Line::Whole(_) => {
                    let number = point - points.start + 2;
                    return Err(refuse(&format!(
                        "line {number} is not the row of point {point} as it was written; {} makes it again",
                        self.origin
                    )));
                }
                Line::Torn(_) | Line::End => {
                    let (there, all) = (point - points.start, points.end - points.start);
                    return Err(refuse(&format!(
                        "{there} of its {all} points are there; {} makes the rest",
                        self.origin
                    )));
                }
            }
        }
        match lines.next_line().map_err(unreadable)? {
            Line::End => Ok(()),
            _ => Err(refuse("there are more rows than points")),
        }
    }
}
