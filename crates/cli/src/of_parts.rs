//! `xrsim parts`: the parts of a sweep, search, comparison or mapping.

use clap::{Args, Subcommand};

use super::cluster::{self, StatusArgs};
use super::message::Failure;
use super::sweep::{self, MergeArgs};

/// Join the parts of a long command, or show their progress.
#[derive(Debug, Args)]
pub(super) struct PartsArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Merge(MergeArgs),
    Status(StatusArgs),
}

/// Joins the parts, or prints how far they are.
///
/// # Errors
///
/// Returns a failure as [`sweep::merge`] and [`cluster::status`] do.
pub(super) fn run(args: &PartsArgs) -> Result<(), Failure> {
    match &args.action {
        Action::Merge(args) => sweep::merge(args),
        Action::Status(args) => cluster::status(args),
    }
}
