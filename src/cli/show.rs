//! `xrsim show`: one input file, or one scheduler.

use clap::Args;

use crate::config::Catalog;
use crate::validate::networks::facts;

use super::message::{Failure, with_hints};
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
    let text = with_hints(|old_names| text(&args.name, Catalog::new().noting(old_names.clone())))?;
    output::print(&text)
}

/// Text of the file called `name`, with facts about the network that it describes, if any.
fn text(name: &str, mut catalog: Catalog) -> Result<String, Failure> {
    let mut text = catalog.text(name)?.text().to_string();
    if let Ok(model) = catalog.model(name) {
        text += &facts(&model).to_comments();
    }
    Ok(text)
}
