//! `xrsim check`: every problem of input files.

use std::path::{Path, PathBuf};

use clap::Args;

use xrsim_config::{Catalog, Edition, Kind};
use xrsim_experiment::feasibility;
use xrsim_model::model::Connections;

use super::message::{AndCheck as _, Failure, input_hints, warn};
use super::{cost, output, search, show, sweep};

/// Check input files and report every problem in them.
#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    /// Files: YAML, ONNX, topologies of SCALE-Sim (.csv), or the artifact's format (.m).
    #[arg(required = true)]
    files: Vec<PathBuf>,
}

/// Checks files and reports every problem of each.
///
/// # Errors
///
/// Returns a failure if a file has a problem.
pub(super) fn run(args: &CheckArgs) -> Result<(), Failure> {
    let mut catalog = Catalog::new();
    let (mut n_bad, mut printed) = (0, Ok(()));
    for path in &args.files {
        match one(path, &mut catalog) {
            Ok((kind, remark)) => {
                let remark = remark.map_or(String::new(), |remark| format!("; {remark}"));
                let line = format!("{}: {kind}, no problems{remark}\n", path.display());
                printed = printed.and_then(|()| output::print_text(&line));
            }
            Err(failure) => {
                n_bad += 1;
                let _ = failure.report();
            }
        }
    }
    input_hints(catalog.notes());
    for warning in catalog.unused_keys(cost::COST_MODEL) {
        warn(format_args!("{warning}"));
    }
    printed.and_check(match n_bad {
        0 => Ok(()),
        _ => Err(Failure::Check(format!("{n_bad} of {} files have problems", args.files.len()))),
    })
}

/// Checks one file. Returns its kind, and a remark on what is left unchecked.
///
/// # Errors
///
/// [`Failure`] with every problem of the file.
pub(super) fn one(path: &Path, catalog: &mut Catalog) -> Result<(Kind, Option<String>), Failure> {
    let kind = catalog.check(path)?;
    Ok((kind, check_further(kind, path, catalog)?))
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
        Kind::Search => search::check(path).map(|()| None),
        Kind::Network => Ok(unchecked_shapes(path, catalog)),
        Kind::Scenario => {
            let scenario = catalog.scenario(&path.to_string_lossy(), Edition::default());
            let Ok(scenario) = scenario else { return Ok(None) };
            let lines: Vec<_> = show::recordings(&scenario).collect();
            Ok((!lines.is_empty()).then(|| lines.join("; ")))
        }
        _ => feasible_networks(kind, path),
    }
}

/// Remark that the shapes between the layers of a network are not checked, if they are not. A file of
/// several networks is in the artifact's format, which has no connections.
fn unchecked_shapes(path: &Path, catalog: &mut Catalog) -> Option<String> {
    let model = catalog.model(&path.to_string_lossy());
    let complete = model.is_ok_and(|model| model.network.connections() == Connections::Complete);
    (!complete).then(|| "connections are incomplete: shapes between layers not checked".into())
}

/// Remark on the networks that cannot run on the hardware of a file. Fails if none can.
fn feasible_networks(kind: Kind, path: &Path) -> Result<Option<String>, Failure> {
    let Some(found) = feasibility(kind, path, cost::COST_MODEL)? else { return Ok(None) };
    let open = match found.n_open {
        0 => None,
        n => Some(format!(
            "its directives do not run {n} of the {} networks, and no mappings were searched for these",
            found.n_networks
        )),
    };
    let Some(first) = found.infeasible.first() else { return Ok(open) };
    let (n, first) = (
        found.n_networks,
        format!("{}: {}", first.names.network, first.reason.display(&first.names)),
    );
    match n - found.infeasible.len() {
        n_open if n_open == found.n_open && n_open > 0 => Ok(Some(format!(
            "it runs none of {} networks, e.g. {first}; {}",
            n - n_open,
            open.unwrap_or_default()
        ))),
        0 => Err(Failure::Argument(format!(
            "{}: the cost model `{}` can run none of the {n} networks with this {kind}, e.g. {first}",
            path.display(),
            cost::COST_MODEL
        ))),
        feasible => {
            let feasible = feasible - found.n_open;
            let open = open.map_or(String::new(), |open| format!("; {open}"));
            Ok(Some(format!("it runs {feasible} of the {n} networks, but not e.g. {first}{open}")))
        }
    }
}
