//! Page of the file of a sweep.

use std::fs;
use std::path::Path;

use xrsim_model::text::counted;
use xrsim_report::html::sweep_page;

use super::super::message::Failure;
use super::super::{plot, sweep};
use super::{Made, command};

/// Makes the page of the sweep in `path`.
///
/// # Errors
///
/// Returns a failure if the file is not that of a sweep or of runs, or lacks scores.
pub(super) fn page(path: &Path) -> Result<Made, Failure> {
    let points = plot::points(path, &[])?;
    let record = fs::read_to_string(sweep::record_of(path)).ok();
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let command = record.as_deref().and_then(|it| command::of_sweep(&file, it));
    let html = sweep_page(&name, &points, record.as_deref(), command);
    let failed = |error| Failure::Argument(format!("{}: {error}", path.display()));
    Ok(Made { html: html.map_err(failed)?, contents: counted(points.n_rows(), "point") })
}
