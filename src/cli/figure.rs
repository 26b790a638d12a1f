//! Figures as files: a picture, and beside it the data of the picture.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::figures::{Figure, Format, render};

use super::message::Failure;
use super::output::{self, Complete, OutputFile, OutputSet};

/// Returns the files of a figure at `path`: the picture, and its data with the ending `.csv`.
pub(super) fn files(path: &Path) -> [PathBuf; 2] {
    [path.into(), path.with_extension("csv")]
}

/// Writes `figure` to `path` in the format of its ending, and its data beside it.
///
/// # Errors
///
/// Returns a failure if the ending is unknown, if the data cannot be drawn, or if a file cannot be
/// written.
pub(super) fn write(path: &Path, figure: &dyn Figure) -> Result<(), Failure> {
    stage(path, figure)?.into_iter().try_for_each(Complete::rename)
}

/// Writes the files of `figure` completely, but does not move them to their places.
///
/// # Errors
///
/// Returns a failure as [`write`] does.
pub(super) fn stage(path: &Path, figure: &dyn Figure) -> Result<[Complete; 2], Failure> {
    let picture = drawn(figure, format(path)?)?;
    let [place, beside] = files(path);
    let mut file = OutputFile::create(&place)?;
    file.write_all(&picture).map_err(|error| Failure::writing(&place.display(), &error))?;
    let data = output::write_csv_to(OutputFile::create(&beside)?, data(figure))?;
    Ok([file.complete()?, data.complete()?])
}

/// Adds `figure` to `set` in every format under the name `stem`, and its data.
///
/// # Errors
///
/// Returns a failure if the data cannot be drawn, or if a file cannot be written.
pub(super) fn add(
    set: &mut OutputSet,
    stem: &str,
    formats: &[Format],
    figure: &dyn Figure,
) -> Result<(), Failure> {
    for &format in formats {
        set.bytes(&format!("{stem}.{}", format.extension()), &drawn(figure, format)?)?;
    }
    set.csv(&format!("{stem}.csv"), data(figure))
}

/// Draws the picture.
///
/// # Errors
///
/// Returns a failure if the data cannot be drawn.
pub(super) fn drawn(figure: &dyn Figure, format: Format) -> Result<Vec<u8>, Failure> {
    render(figure, format).map_err(super::argument)
}

fn data(figure: &dyn Figure) -> (Vec<String>, Vec<Vec<String>>) {
    let rows = figure.rows();
    (rows.header.iter().map(|name| (*name).to_string()).collect(), rows.rows)
}

/// Returns the format for the ending of `path`.
fn format(path: &Path) -> Result<Format, Failure> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let format = Format::ALL.iter().find(|format| format.extension().eq_ignore_ascii_case(ending));
    format.copied().ok_or_else(|| {
        Failure::Argument(format!("{}: a figure ends in .svg or .png", path.display()))
    })
}
