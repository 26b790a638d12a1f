//! Options of `xrsim sweep`.

use std::path::PathBuf;

use clap::Args;

use xrsim_config::SweepDraft;
use xrsim_sim::sweep::grid::Shard;

use super::super::cluster::ClusterOptions;
use super::super::experiment::AxisOptions;
use super::super::options::whole_number;
use super::super::parts::shard;

/// Make many runs and write a row for each; an interrupted sweep continues.
#[derive(Debug, Args)]
#[command(
    after_help = "A sweep file has the same keys, see scenarios/sweeps/README.md. Values are separated by commas; a range is \
    FIRST..LAST, with `step N` or `step xN`. Options may be repeated. Several options make a grid. Options that are left out \
    are as in `xrsim run`.\n\n\
    After an interruption the same command continues where it stopped. The file is the same, byte for \
    byte, for every number of threads, of interruptions and of parts. The same command with more values of its settings \
    keeps the rows and makes the new points, unless an accelerator could take mappings of a new one with less.\n\n\
    Examples:\n  \
    xrsim sweep pe_scaling                          a sweep that comes with the program\n  \
    xrsim sweep mine.yaml --shard 2/5               the second of five parts; `xrsim parts merge` joins them\n  \
    xrsim sweep mine.yaml --dry-run                 points, and about how long they take\n  \
    xrsim sweep mine.yaml --sbatch 16 -- --mem=2G   a job script for Slurm, of 16 parts\n  \
    xrsim sweep --profile evening --device headset --system A,J --pes 4096 --out days.csv   a row for each day\n  \
    xrsim sweep --scenario AR_gaming --pes '1024..16384 step x2' --system 'J,WS:3 + OS:1' \\\n              \
    --set score.k_per_ms=5,15 --out mine.csv"
)]
pub(crate) struct SweepArgs {
    /// Sweep file, or the name of a built-in sweep.
    #[arg(value_name = "SWEEP|FILE", conflicts_with_all = conflicting())]
    pub spec: Option<String>,
    #[command(flatten)]
    pub axes: AxisOptions,
    /// Independent replications of every point.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole_number(1..=SweepDraft::MAX_REPLICATIONS as i64))]
    pub replications: Option<u64>,
    /// Values of any other setting (see `xrsim list settings`); repeat for several settings.
    #[arg(long, value_name = "KEY=V,..")]
    pub set: Vec<String>,
    /// File of the rows. A record of the inputs is written beside it as FILE.csv.json [default: the
    /// name of the sweep's file, ending in .csv, in the working directory].
    #[arg(long, short, value_name = "FILE.csv")]
    pub out: Option<PathBuf>,
    /// Make the I-th of N equal parts only.
    #[arg(long, value_name = "I/N", value_parser = shard)]
    pub shard: Option<Shard>,
    /// Begin the file again and discard its rows.
    #[arg(long)]
    pub restart: bool,
    #[command(flatten)]
    pub cluster: ClusterOptions,
}

/// Names of the options that a sweep file takes the place of.
fn conflicting() -> Vec<&'static str> {
    let mut names = AxisOptions::names();
    names.extend(["set", "replications"]);
    names
}
