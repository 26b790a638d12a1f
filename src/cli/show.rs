//! `xrsim show`: one input file, or one scheduler.

use clap::Args;

use crate::config::Catalog;
use crate::validate::networks::facts;

use super::message::{Failure, input_hints};
use super::{output, schedulers};

/// Print an input file (the YAML of a scenario, system, dataflow, network, platform or sweep), or
/// describe a scheduler and its parameters.
#[derive(Debug, Args)]
pub(super) struct ShowArgs {
    /// Name, e.g. `AR_gaming`, `J`, `WS`, `KD`, `edf`.
    name: String,
}

/// Prints the text of an embedded or named file, and after a network its size; of a scheduler its
/// parameters.
///
/// # Errors
///
/// Returns a failure if there is no such file.
pub(super) fn run(args: &ShowArgs) -> Result<(), Failure> {
    if let Some(scheduler) = schedulers::find(&args.name) {
        return output::print(&schedulers::describe(scheduler));
    }
    let mut catalog = Catalog::new();
    let mut text = catalog.text(&args.name)?.text().to_string();
    if let Ok(model) = catalog.model(&args.name) {
        text += &facts(&model).to_comments();
    }
    input_hints(catalog.old_names());
    output::print(&text)
}
