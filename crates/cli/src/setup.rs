//! `xrsim setup`: what a shell and `man` want to know of the program.

use clap::{Args, Subcommand};

use super::completions::{self, CompletionsArgs};
use super::manual::{self, ManArgs};
use super::message::Failure;

/// Print completions for a shell, or manual pages.
#[derive(Debug, Args)]
pub(super) struct SetupArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Completions(CompletionsArgs),
    Man(ManArgs),
}

/// Prints the script or the pages.
///
/// # Errors
///
/// Returns a failure if the text cannot be written.
pub(super) fn run(args: &SetupArgs) -> Result<(), Failure> {
    match &args.action {
        Action::Completions(args) => completions::run(args),
        Action::Man(args) => manual::run(args),
    }
}
