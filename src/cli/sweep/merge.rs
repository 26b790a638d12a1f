//! `xrsim merge`: joins the parts of a sweep to the file that the whole sweep would have written.

use std::fs::{self, File};
use std::io::{self, BufReader, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;

use crate::report::rows::{Line, Lines, RowCheck};

use super::super::message::{Failure, say};
use super::super::output::OutputFile;
use super::super::places::Places;
use super::manifest::{self, Manifest};

/// Join the parts of a sweep to the file that the whole sweep would have written.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  xrsim merge mine.*-of-5.csv --out mine.csv")]
pub(crate) struct MergeArgs {
    /// Files that `xrsim sweep --shard` wrote, in any order, each with its .json beside it.
    #[arg(value_name = "FILE.csv", required = true)]
    pub files: Vec<PathBuf>,
    /// The file of all points.
    #[arg(long, short, value_name = "FILE.csv")]
    pub out: PathBuf,
}

/// A file with its record.
struct Part {
    path: PathBuf,
    manifest: Manifest,
}

/// Joins the files that `args` name, in the order of their points.
///
/// # Errors
///
/// Returns a failure for files of different sweeps, points that are missing or in two files, or output
/// that cannot be written.
pub(crate) fn merge(args: &MergeArgs) -> Result<(), Failure> {
    let mut parts = args.files.iter().map(|path| part(path)).collect::<Result<Vec<_>, _>>()?;
    parts.sort_by_key(|part| (part.manifest.points().start, part.manifest.points().end));
    let whole = parts[0].manifest.of_whole();
    refuse_others(&parts, &whole)?;
    refuse_gaps(&parts, &whole)?;
    let record = manifest::place(&args.out);
    let inputs = args.files.iter().flat_map(|file| [file.clone(), manifest::place(file)]);
    Places::default().reading(inputs).writing([&args.out, &record]).check()?;
    let mut out = OutputFile::create(&args.out)?;
    let header = whole.header();
    let failure = |error| Failure::writing(&args.out.display(), &error);
    out.write_all(header.as_bytes()).map_err(failure)?;
    for part in &parts {
        append(part, &header, &mut out)?;
    }
    let (out, new) = (out.complete()?, whole.stage_beside(&args.out)?);
    // Removed first: it would belong to other rows if the program stopped between the renames.
    if record.exists() {
        fs::remove_file(&record).map_err(|error| Failure::writing(&record.display(), &error))?;
    }
    out.rename()?;
    new.rename()?;
    say(format_args!("{}: {} points", args.out.display(), whole.n_points()));
    Ok(())
}

fn part(path: &Path) -> Result<Part, Failure> {
    let manifest = Manifest::beside(path)?.ok_or_else(|| {
        let path = path.display();
        Failure::Argument(format!("{path}: not the file of a sweep, {path}.json is absent"))
    })?;
    Ok(Part { path: path.into(), manifest })
}

/// Refuses files of different sweeps.
fn refuse_others(parts: &[Part], whole: &Manifest) -> Result<(), Failure> {
    for part in parts {
        if let Some(difference) = part.manifest.of_whole().difference(whole) {
            return Err(Failure::Argument(format!(
                "{} and {} are not of one sweep: {difference}",
                parts[0].path.display(),
                part.path.display()
            )));
        }
    }
    Ok(())
}

/// Refuses points that are in no file or in two.
fn refuse_gaps(parts: &[Part], whole: &Manifest) -> Result<(), Failure> {
    let mut end = 0;
    for part in parts.iter().filter(|part| !part.manifest.points().is_empty()) {
        let points = part.manifest.points();
        if points.start > end {
            return Err(missing(end, points.start));
        }
        if points.start < end {
            let path = part.path.display();
            let first = points.start;
            return Err(Failure::Argument(format!("{path}: point {first} is in another file too")));
        }
        end = points.end;
    }
    if end < whole.n_points() { Err(missing(end, whole.n_points())) } else { Ok(()) }
}

fn missing(first: u64, end: u64) -> Failure {
    Failure::Argument(format!("points {first} to {} are in none of the files", end - 1))
}

/// Appends the rows of `part`, which must have this header and one row for each of its points.
fn append(part: &Part, header: &str, out: &mut OutputFile) -> Result<(), Failure> {
    let refuse = |reason: &str| Failure::Argument(format!("{}: {reason}", part.path.display()));
    let unreadable = |error: io::Error| refuse(&error.to_string());
    let mut lines = Lines::of(BufReader::new(File::open(&part.path).map_err(unreadable)?));
    match lines.next_line().map_err(unreadable)? {
        Line::Whole(line) if line == header.as_bytes() => {}
        _ => return Err(refuse("its first line is not that of this sweep")),
    }
    let check = RowCheck::below(header.as_bytes());
    let points = part.manifest.points();
    for point in points.clone() {
        match lines.next_line().map_err(unreadable)? {
            Line::Whole(line)
                if check.holds(line) && line.starts_with(format!("{point},").as_bytes()) =>
            {
                let failure = |error| Failure::writing(&"the joined file", &error);
                out.write_all(line).map_err(failure)?;
            }
            Line::Whole(_) => {
                let number = point - points.start + 2;
                return Err(refuse(&format!(
                    "line {number} is not the row of point {point} as it was written; the command \
                     that began the file makes it again"
                )));
            }
            Line::Torn(_) | Line::End => {
                let (there, all) = (point - points.start, points.end - points.start);
                return Err(refuse(&format!(
                    "{there} of its {all} points are there; the command that began it makes the rest"
                )));
            }
        }
    }
    match lines.next_line().map_err(unreadable)? {
        Line::End => Ok(()),
        _ => Err(refuse("there are more rows than points")),
    }
}
