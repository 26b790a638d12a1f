//! `xrsim merge`: parts of a sweep joined to the file that the whole would have been.

use std::fs::File;
use std::io::{self, BufReader, Write as _};
use std::path::{Path, PathBuf};

use super::super::args::MergeArgs;
use super::super::message::{Failure, say};
use super::super::output::OutputFile;
use super::journal::{Line, Lines};
use super::manifest::Manifest;

/// A file with its record.
struct Part {
    path: PathBuf,
    manifest: Manifest,
}

/// Joins the files that `args` name, in the order of their points.
///
/// # Errors
///
/// Files of different sweeps, points that are missing or there twice, or output that cannot be
/// written.
pub fn merge(args: &MergeArgs) -> Result<(), Failure> {
    let mut parts = args.files.iter().map(|path| part(path)).collect::<Result<Vec<_>, _>>()?;
    parts.sort_by_key(|part| (part.manifest.points().start, part.manifest.points().end));
    let whole = parts[0].manifest.of_whole();
    refuse_others(&parts, &whole)?;
    refuse_gaps(&parts, &whole)?;
    let mut out = OutputFile::create(&args.out)?;
    let mut header = Vec::new();
    for part in &parts {
        append(part, &mut header, &mut out)?;
    }
    out.finish()?;
    whole.write_beside(&args.out)?;
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

/// Refuses files of sweeps that differ.
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

/// Refuses points in no file, or in two.
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

/// Appends the rows of `part`, behind its header where it is the first.
fn append(part: &Part, header: &mut Vec<u8>, out: &mut OutputFile) -> Result<(), Failure> {
    let refuse = |reason: &str| Failure::Argument(format!("{}: {reason}", part.path.display()));
    let unreadable = |error: io::Error| refuse(&error.to_string());
    let write = |out: &mut OutputFile, line: &[u8]| {
        out.write_all(line).map_err(|error| Failure::writing(&"the joined file", &error))
    };
    let mut lines = Lines::of(BufReader::new(File::open(&part.path).map_err(unreadable)?));
    match lines.next_line().map_err(unreadable)? {
        Line::Whole(line) if header.is_empty() => {
            header.extend_from_slice(line);
            write(out, line)?;
        }
        Line::Whole(line) if line == &**header => {}
        _ => return Err(refuse("its first line is not that of this sweep")),
    }
    let points = part.manifest.points();
    for point in points.clone() {
        match lines.next_line().map_err(unreadable)? {
            Line::Whole(line) if line.starts_with(format!("{point},").as_bytes()) => {
                write(out, line)?;
            }
            Line::Whole(_) => return Err(refuse(&format!("the row of point {point} is damaged"))),
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
