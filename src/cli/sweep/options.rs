//! Options of `xrsim sweep`.

use std::path::PathBuf;

use clap::Args;

use crate::config::SweepDraft;
use crate::sweep::grid::Shard;

/// Make many runs, a row each, in a file that outlives the program.
#[derive(Debug, Args)]
#[command(
    after_help = "A sweep file has the same keys, see sweeps/README.md. Values are separated by commas; a range is \
    FIRST..LAST, with `step N` or `step xN`. Several options make a grid. Options that are left out \
    are as in `xrsim run`.\n\n\
    Killed or interrupted, the same command goes on where it was. Rows are the same bytes whatever the \
    number of threads, of interruptions and of parts.\n\n\
    Examples:\n  \
    xrsim sweep pe_scaling                          a sweep that comes with the program\n  \
    xrsim sweep mine.yaml --shard 2/5               the second of five parts; `xrsim merge` joins them\n  \
    xrsim sweep --scenario AR_gaming --pes '1024..16384 step x2' --system 'J,WS:3 + OS:1' \\\n              \
    --set score.k_per_ms=5,15 --out mine.csv"
)]
pub struct SweepArgs {
    /// What to vary: a sweep file, or the name of one that comes with the program.
    #[arg(value_name = "SWEEP|FILE", conflicts_with_all = [
        "scenario", "system", "pes", "semantics", "cost_model", "networks", "platform", "scheduler",
        "without", "duration", "seed", "set", "replications",
    ])]
    pub spec: Option<String>,
    /// Scenarios: names or files; repeat for more, as all lists.
    #[arg(long, value_name = "S,..")]
    pub scenario: Vec<String>,
    /// Systems: styles A..M, files, or dataflows with their shares of the PEs: `WS:3 + OS:1`.
    #[arg(long, value_name = "A..M|FILE|MIX,..")]
    pub system: Vec<String>,
    /// PEs of the whole system, for styles.
    #[arg(long, value_name = "N,..")]
    pub pes: Vec<String>,
    /// Rules of the run.
    #[arg(long, value_name = "SEMANTICS,..")]
    pub semantics: Vec<String>,
    /// Layer costs: cost models, or CSV files of measurements.
    #[arg(long, value_name = "M|FILE.csv,..")]
    pub cost_model: Vec<String>,
    /// Layers of the networks.
    #[arg(long, value_name = "EDITION,..")]
    pub networks: Vec<String>,
    /// Bandwidth and memory of styles.
    #[arg(long, value_name = "P|FILE,..")]
    pub platform: Vec<String>,
    /// Scheduling policies.
    #[arg(long, value_name = "P,..")]
    pub scheduler: Vec<String>,
    /// Quirks that mlsys2023 leaves out: names joined by `+`, or `none`.
    #[arg(long, value_name = "Q+Q|none,..")]
    pub without: Vec<String>,
    /// Time in which requests are released (ms).
    #[arg(long, value_name = "MS,..")]
    pub duration: Vec<String>,
    /// Seeds.
    #[arg(long, value_name = "N,..")]
    pub seed: Vec<String>,
    /// Independent replications of every point.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=SweepDraft::MAX_REPLICATIONS))]
    pub replications: Option<u64>,
    /// Values of any other setting (see `xrsim list settings`); repeat for several settings.
    #[arg(long, value_name = "KEY=V,..")]
    pub set: Vec<String>,
    /// File of the rows; what they were made from goes beside it as FILE.csv.json [default: the
    /// name of the sweep's file, ending in .csv, in the working directory].
    #[arg(long, short, value_name = "FILE.csv")]
    pub out: Option<PathBuf>,
    /// Make the I-th of N equal parts only.
    #[arg(long, value_name = "I/N", value_parser = shard)]
    pub shard: Option<Shard>,
    /// Begin the file anew, whatever is in it.
    #[arg(long)]
    pub restart: bool,
}

impl SweepArgs {
    /// Options that list values, each with its key in a sweep file.
    pub fn axes(&self) -> [(&'static str, &'static str, &[String]); 11] {
        [
            ("--scenario", "scenario", &self.scenario),
            ("--pes", "pes", &self.pes),
            ("--system", "system", &self.system),
            ("--semantics", "semantics", &self.semantics),
            ("--networks", "networks", &self.networks),
            ("--cost-model", "cost_model", &self.cost_model),
            ("--platform", "platform", &self.platform),
            ("--scheduler", "scheduler", &self.scheduler),
            ("--without", "without", &self.without),
            ("--duration", "duration_ms", &self.duration),
            ("--seed", "seed", &self.seed),
        ]
    }
}

fn shard(text: &str) -> Result<Shard, &'static str> {
    let number = |text: &str| text.trim().parse().ok();
    let shard =
        text.split_once('/').and_then(|(part, count)| Some((number(part)?, number(count)?)));
    let shard = shard.and_then(|(part, count)| Shard::new(part, count));
    shard.ok_or("a part is I/N, such as 2/5, with I from 1 to N")
}
