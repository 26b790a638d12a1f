//! A sweep with more values than before: the rows of its file are kept, with the indices that they have now.
//!
//! While the file is rewritten, its record names the earlier keys and values, too. A start after an interruption finds
//! rows with either indices, and goes on from there.

use std::io::{self, Write as _};
use std::path::Path;

use xrsim_model::text::counted;
use xrsim_results::rows::{Line, Lines, RowCheck};
use xrsim_sim::sweep::grid::{Grid, Places};

use super::super::message::{Failure, say};
use super::super::output::OutputFile;
use super::manifest::Manifest;
use super::{has_no_row, open, reader, refusal};

/// Gives the rows of the file at `path`, below `header`, the indices of the sweep of `manifest` and `grid`, if that sweep
/// has all points of theirs and more. Leaves any other file alone. `change` says why rows of an earlier grid would be
/// others in this sweep.
///
/// # Errors
///
/// Returns a failure if rows would be others, if the file cannot be written, or if another process writes to it.
pub(in super::super) fn extend(
    path: &Path,
    manifest: &Manifest,
    header: &str,
    grid: &Grid,
    change: impl FnOnce(&Grid) -> Result<Option<String>, Failure>,
) -> Result<(), Failure> {
    if !path.is_file() || manifest.grid().is_none() {
        return Ok(());
    }
    let file = open(path)?;
    if file.metadata().is_ok_and(|it| it.len() == 0) || has_no_row(&file) {
        return Ok(());
    }
    let Some(earlier) = Manifest::beside(path)? else { return Ok(()) };
    let is_begun = manifest.has_grid_of(&earlier);
    let before = if is_begun { earlier.extended() } else { earlier.grid() };
    let places = before.as_ref().and_then(|before| Some((before, before.places_in(grid)?)));
    let Some((before, places)) = places else { return Ok(()) };
    let refuse = |reason: String| Err(refusal(path, &reason, "file"));
    let changed = manifest.changed_input(&earlier).or_else(|| earlier.refusal());
    if let Some(reason) = changed.or_else(|| manifest.difference_of_mappings(&earlier)) {
        return refuse(reason);
    }
    let kept = manifest.clone().with_mappings(earlier.mappings());
    if !is_begun {
        if earlier.extended().is_some() {
            return refuse(
                "an earlier extension of it was interrupted; the command that began it ends it"
                    .into(),
            );
        }
        if let Some(reason) = change(before)? {
            return refuse(format!("{}; {reason}", manifest.addition(&earlier)));
        }
        kept.clone().extending(&earlier).write_beside(path)?;
    }
    let failure = |error: io::Error| Failure::Argument(format!("{}: {error}", path.display()));
    let mut lines = Lines::new(reader(&file).map_err(failure)?);
    let check = RowCheck::below(header.as_bytes());
    let mut out = OutputFile::create(path)?;
    let writing = |error: io::Error| Failure::writing(&path.display(), &error);
    out.write_all(header.as_bytes()).map_err(writing)?;
    let mut n_rows = 0;
    while let Line::Whole(line) = lines.next_line().map_err(failure)? {
        // Other lines are damaged, so that their points are made again.
        let row = Some(line).filter(|line| check.holds(line));
        if let Some(row) = row.and_then(|row| moved(row, &check, before, &places, grid)) {
            out.write_all(row.as_bytes()).map_err(writing)?;
            n_rows += 1;
        }
    }
    out.complete()?.rename()?;
    kept.write_beside(path)?;
    say(format_args!(
        "{}: {} kept; {}",
        path.display(),
        counted(n_rows, "row"),
        match is_begun {
            true => "an extension of the sweep goes on".into(),
            false => manifest.addition(&earlier),
        }
    ));
    Ok(())
}

/// An undamaged row of `before` or already of `grid`, with its index in `grid`; `None` if it is of neither.
fn moved(
    line: &[u8],
    check: &RowCheck,
    before: &Grid,
    places: &Places,
    grid: &Grid,
) -> Option<String> {
    let text = std::str::from_utf8(line).ok()?.trim_end();
    let (cells, _) = text.rsplit_once(',')?;
    let (index, rest) = cells.split_once(',')?;
    let (id, _) = rest.split_once(',')?;
    let index: u64 = index.parse().ok()?;
    let is_of = |grid: &Grid| index < grid.n_points() && grid.point(index).id() == id;
    let index = match (is_of(before), is_of(grid)) {
        (true, _) => places.of(index),
        (false, true) => index,
        (false, false) => return None,
    };
    let cells = format!("{index},{rest},");
    let digits = check.digits(cells.as_bytes());
    Some(format!("{cells}{digits}\n"))
}
