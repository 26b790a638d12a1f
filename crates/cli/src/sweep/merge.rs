//! `xrsim parts merge`: joins the parts of a sweep to the file that the whole sweep would have written.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use clap::Args;

use super::super::journal::{self, Parts};
use super::super::message::{Failure, say};
use super::super::output::OutputFile;
use super::super::places::Places;

/// Join the parts of a sweep into the file of the whole sweep.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  xrsim parts merge mine.*-of-5.csv --out mine.csv")]
pub(crate) struct MergeArgs {
    /// Files that `xrsim sweep --shard` wrote, in any order, each with its .json beside it.
    #[arg(value_name = "FILE.csv", required = true)]
    pub files: Vec<PathBuf>,
    /// The file of all points.
    #[arg(long, short, value_name = "FILE.csv")]
    pub out: PathBuf,
}

/// Joins the files that `args` name, in the order of their points.
///
/// # Errors
///
/// Returns a failure for files of different sweeps, points that are missing or in two files, or output
/// that cannot be written.
pub(crate) fn merge(args: &MergeArgs) -> Result<(), Failure> {
    let parts = Parts::read("sweep", &args.files)?;
    let record = journal::place(&args.out);
    let inputs = args.files.iter().flat_map(|file| [file.clone(), journal::place(file)]);
    Places::default().reading(inputs).writing([&args.out, &record]).check()?;
    let mut out = OutputFile::create(&args.out)?;
    let (whole, header) = (parts.whole(), parts.whole().header());
    let failure = |error| Failure::writing(&args.out.display(), &error);
    out.write_all(header.as_bytes()).map_err(failure)?;
    parts.each_row(&header, |_, row| out.write_all(row).map_err(failure))?;
    let (out, new) = (out.complete()?, whole.stage_beside(&args.out)?);
    // Removed first: it would belong to other rows if the program stopped between the renames.
    if record.exists() {
        fs::remove_file(&record).map_err(|error| Failure::writing(&record.display(), &error))?;
    }
    out.rename()?;
    new.rename()?;
    say(format_args!("{}: {} points", args.out.display(), whole.n_points()));
    Ok(())
}
