//! `xrsim check`: every problem of input files.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::config::{Catalog, Kind};
use crate::model::Connections;

use super::message::{Failure, input_hints};
use super::{output, probe, sweep};

/// Check input files and report every problem in them.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Files: YAML, or the artifact's format (.m).
    #[arg(required = true)]
    files: Vec<PathBuf>,
}

/// Checks files and reports every problem of each.
///
/// # Errors
///
/// Returns a failure if a file has a problem.
pub fn run(args: &CheckArgs) -> Result<(), Failure> {
    let mut catalog = Catalog::new();
    let mut n_bad = 0;
    for path in &args.files {
        let kind = catalog.check(path).map_err(Failure::from);
        match kind.and_then(|kind| Ok((kind, check_further(kind, path, &mut catalog)?))) {
            Ok((kind, remark)) => {
                let remark = remark.map_or(String::new(), |remark| format!("; {remark}"));
                output::print_text(&format!("{}: {kind}, no problems{remark}\n", path.display()))?;
            }
            Err(failure) => {
                n_bad += 1;
                let _ = failure.report();
            }
        }
    }
    input_hints(catalog.old_names());
    match n_bad {
        0 => Ok(()),
        _ => Err(Failure::Check(format!("{n_bad} of {} files have problems", args.files.len()))),
    }
}

/// Checks the keys of a sweep, or whether hardware can run any network. Returns a remark on what is
/// left unchecked.
fn check_further(
    kind: Kind,
    path: &Path,
    catalog: &mut Catalog,
) -> Result<Option<String>, Failure> {
    match kind {
        Kind::Sweep => sweep::check(path).map(|()| None),
        Kind::Network => Ok(unchecked_shapes(path, catalog)),
        _ => probe::check(kind, path),
    }
}

/// Remark that the shapes between the layers of a network are not checked, if they are not. A file of
/// several networks is in the artifact's format, which has no connections.
fn unchecked_shapes(path: &Path, catalog: &mut Catalog) -> Option<String> {
    let model = catalog.model(&path.to_string_lossy());
    let complete = model.is_ok_and(|model| model.network.connections() == Connections::Complete);
    (!complete).then(|| "connections are incomplete: shapes between layers not checked".into())
}
