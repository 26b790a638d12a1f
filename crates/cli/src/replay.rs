//! `xrsim replay`: takes the place of the published artifact's binary on the artifact's own files.

use std::path::PathBuf;

use clap::Args;

use xrsim_experiment::ArtifactFiles;

use super::message::{Failure, with_hints};
use super::output::{self, Complete, OutputFile};
use super::places::Places;

/// Replay the published artifact on its own files; writes its two CSV files byte for byte.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  \
    xrsim replay --model-file AR_gaming.m --dataflow-file WS_OS.m --hw-file Dual_4K.m")]
pub(super) struct ReplayArgs {
    /// Networks and their rates, in the artifact's format.
    #[arg(long, value_name = "F.m")]
    pub model_file: PathBuf,
    /// One dataflow for each accelerator, in the artifact's format.
    #[arg(long, value_name = "F.m")]
    pub dataflow_file: PathBuf,
    /// Accelerators, in the artifact's format.
    #[arg(long, value_name = "F.m")]
    pub hw_file: PathBuf,
    /// Seed of the C library's generator (the artifact takes the wall clock).
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub libc_seed: u32,
    /// Write the execution timeline here.
    #[arg(long, value_name = "OUT.csv")]
    pub timeline: Option<PathBuf>,
    /// Write the score summary here; standard output without it.
    #[arg(long, value_name = "OUT.csv")]
    pub summary: Option<PathBuf>,
}

/// Replays the files and writes the two CSV files.
///
/// # Errors
///
/// Returns a failure for files that are wrong or do not fit together, or output that cannot be written.
pub(super) fn run(args: &ReplayArgs) -> Result<(), Failure> {
    let inputs = [&args.model_file, &args.dataflow_file, &args.hw_file];
    Places::default()
        .reading(inputs.map(Clone::clone))
        .writing(args.timeline.iter().chain(&args.summary))
        .check()?;
    let files = ArtifactFiles {
        models: &args.model_file,
        dataflows: &args.dataflow_file,
        hardware: &args.hw_file,
    };
    let replay = with_hints(|notes| files.replay(args.libc_seed, notes))?;
    let timeline = args
        .timeline
        .iter()
        .map(|path| OutputFile::create(path)?.with(|out| replay.write_schedule(out))?.complete());
    let summary = args
        .summary
        .iter()
        .map(|path| OutputFile::create(path)?.with(|out| replay.write_summary(out))?.complete());
    let files = timeline.chain(summary).collect::<Result<Vec<_>, _>>()?;
    files.into_iter().try_for_each(Complete::rename)?;
    match &args.summary {
        Some(_) => Ok(()),
        None => output::print(&output::in_memory(|out| replay.write_summary(out))),
    }
}
