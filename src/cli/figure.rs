//! Figures as files: a picture, and the data that it was drawn from beside it.

use std::io::Write as _;
use std::path::Path;

use crate::figures::{Figure, Format, render};

use super::message::Failure;
use super::output::{self, OutputFile};

/// Writes `figure` to `path`, as its ending says, and its data to the same name ending in `.csv`.
///
/// # Errors
///
/// Another ending, data that cannot be drawn, or a file that cannot be written.
pub fn write(path: &Path, figure: &dyn Figure) -> Result<(), Failure> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let format = Format::ALL.iter().find(|format| format.extension().eq_ignore_ascii_case(ending));
    let Some(&format) = format else {
        let message = format!("{}: a figure ends in .svg or .png", path.display());
        return Err(Failure::Argument(message));
    };
    let picture = render(figure, format).map_err(super::argument)?;
    let rows = figure.rows();
    let header = rows.header.iter().map(|name| (*name).to_string()).collect();
    bytes(path, &picture)?;
    output::write_csv(&path.with_extension("csv"), (header, rows.rows))
}

fn bytes(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let mut file = OutputFile::create(path)?;
    file.write_all(bytes).map_err(|error| Failure::writing(&path.display(), &error))?;
    file.finish()
}
