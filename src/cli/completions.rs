//! `xrsim completions`: completion scripts for shells.

use clap::Args;

use super::message::Failure;
use super::output;

/// Print a completion script for a shell.
#[derive(Debug, Args)]
pub(super) struct CompletionsArgs {
    /// Shell.
    shell: clap_complete::Shell,
}

/// Prints the script.
///
/// # Errors
///
/// Returns a failure if standard output cannot be written.
pub(super) fn run(args: &CompletionsArgs) -> Result<(), Failure> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut super::program(), "xrsim", &mut text);
    output::print(&String::from_utf8_lossy(&text))
}
