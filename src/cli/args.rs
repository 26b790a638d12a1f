//! The command line: its words, as close to the text as possible. What they mean is in the module of
//! each command.

use std::path::PathBuf;

use clap::{Args, ColorChoice, Parser, Subcommand, ValueEnum};

use crate::bounds::window::MAX_FRAMES;
use crate::config::{Edition, SweepDraft};
use crate::cost::batch::BatchCosts;
use crate::mlperf::benchmark::ServerBed;
use crate::mlperf::sut::Batching;
use crate::sweep::Semantics;
use crate::sweep::grid::Shard;

/// Simulate real-time multi-network XR workloads on DNN accelerators.
#[derive(Debug, Parser)]
#[command(
    name = "xrsim",
    version,
    about = "Simulate real-time multi-network XR workloads on DNN accelerators (XRBench)",
    after_help = "Examples:\n  \
        xrsim run                                      the whole benchmark: 7 scenarios x 13 systems x 2 sizes\n  \
        xrsim run --scenario AR_gaming --system J      one system, with the breakdown of its scores\n  \
        xrsim run --semantics mlsys2023 --out results  the published artifact's numbers, as CSV\n  \
        xrsim cost --network KD --dataflow WS --pes 1024\n  \
        xrsim list scenarios\n\n\
        Exit status: 0 done, 1 a check failed, 2 bad input."
)]
pub struct Cli {
    /// When to use colours and bold type; `auto` goes by the terminal and by NO_COLOR, CLICOLOR_FORCE,
    /// CLICOLOR and TERM.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: ColorChoice,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run scenarios on systems and print their scores.
    Run(RunArgs),
    /// Replay the published artifact on its own files; writes its two CSV files byte for byte.
    Replay(ReplayArgs),
    /// Cost every layer of a network on one accelerator.
    Cost(CostArgs),
    /// Make many runs, a row each, in a file that outlives the program.
    Sweep(SweepArgs),
    /// Join the parts of a sweep to the file that the whole would have been.
    Merge(MergeArgs),
    /// Draw what a sweep found: Pareto front, best designs, heat map.
    Plot(PlotArgs),
    /// Predict what MLPerf's load generator would measure of a simulated system.
    Mlperf(MlperfArgs),
    /// Compare schedulers on equal draws, with intervals.
    Compare(CompareArgs),
    /// Reproduce the paper's figures and quotes, and say what changes under which semantics.
    Reproduce(ReproduceArgs),
    /// Say why a frame was late or dropped, and what would have met its deadline.
    Explain(ExplainArgs),
    /// Turn the results of runs or load tests into one HTML page that opens without a network.
    Report(ReportArgs),
    /// List what is there.
    List {
        /// What to list.
        what: Listing,
    },
    /// Print an input file (the YAML of a scenario, system, dataflow, model or platform), or what a
    /// scheduler is and takes.
    Show {
        /// Name, e.g. `AR_gaming`, `J`, `WS`, `KD`, `edf`.
        name: String,
    },
    /// Check input files and report every problem in them.
    Check {
        /// YAML or artifact (.m) files.
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
    /// Turn an artifact (.m) file into YAML.
    #[command(after_help = "Examples:\n  \
        xrsim import WS_OS.m                 print the YAML\n  \
        xrsim import AR_gaming.m --out my/   one YAML file a network, and the scenario")]
    Import {
        /// The file.
        file: PathBuf,
        /// Folder to write to, one file a concept; standard output without it.
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
    /// Compare the models with reference data: all that comes with the program, or tables of yours.
    Validate {
        /// Tables of yours.
        #[command(subcommand)]
        what: Option<Validation>,
    },
    /// Print shell completions.
    Completions {
        /// Shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page (roff), or write those of all commands.
    Man {
        /// Folder for the page of the program and one for each command.
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
}

/// `xrsim validate`.
#[derive(Debug, Subcommand)]
pub enum Validation {
    /// The principled cost model against tables of cases; exits with 1 if a row differs.
    Cost {
        /// CSV file of cases: layer, mapping, machine, and every expected count; repeat for several.
        #[arg(long, value_name = "FILE.csv", required = true)]
        cases: Vec<PathBuf>,
    },
    /// MLPerf load scenarios against runs of the real LoadGen; exits with 1 if a case differs.
    Loadgen {
        /// Folder with cases.json and, for as many cases as it likes, queries/ID.csv and
        /// summary/ID.txt; repeat for several.
        #[arg(long, value_name = "DIR", required = true)]
        cases: Vec<PathBuf>,
    },
}

/// `xrsim list`.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Listing {
    /// Unit models and their networks, and the networks of MLPerf.
    Models,
    /// Tests of MLPerf's suites, in their order.
    Mlperf,
    /// Usage scenarios.
    Scenarios,
    /// Accelerator styles and systems.
    Systems,
    /// Platforms that styles are instantiated on.
    Platforms,
    /// Dataflows.
    Dataflows,
    /// Sweeps that come with the program.
    Sweeps,
    /// Scheduling policies.
    Schedulers,
    /// Cost models.
    CostModels,
    /// Quirks of the published artifact that `mlsys2023` reproduces.
    Quirks,
    /// Keys of `--set`.
    Settings,
}

/// Output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Table,
    /// Comma-separated, a row a run (or layer).
    Csv,
    /// One JSON document.
    Json,
}

impl ValueEnum for Semantics {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Principled, Self::Mlsys2023]
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        let help = match self {
            Self::Principled => "what the paper means",
            Self::Mlsys2023 => "what the published artifact did, to the last digit",
        };
        Some(clap::builder::PossibleValue::new(self.name()).help(help))
    }
}

impl ValueEnum for Edition {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Reference, Self::Artifact]
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        let help = match self {
            Self::Reference => "true operators: strides, padding, groups, attention",
            Self::Artifact => "dense convolutions, as in the published artifact",
        };
        Some(clap::builder::PossibleValue::new(self.name()).help(help))
    }
}

/// `xrsim run`.
#[derive(Debug, Args)]
#[command(
    after_help = "Without --scenario, --system or --pes: all seven scenarios, systems A to M, 4096 and 8192 PEs.\n\n\
    Examples:\n  \
    xrsim run --scenario AR_gaming --system J --system M --pes 4096\n  \
    xrsim run --scheduler edf --replications 30 --out results\n  \
    xrsim run --system my_system.yaml --set score.k_per_ms=5\n  \
    xrsim run --semantics mlsys2023 --seed 7 --format csv\n  \
    xrsim run --semantics mlsys2023 --without name-order\n  \
    xrsim run --scenario AR_gaming --system J --pes 4096 --trace run.json"
)]
pub struct RunArgs {
    /// What to run.
    #[command(flatten)]
    pub options: RunOptions,
    /// Scheduling policy, with its parameters (`edf`, `dream:alpha=0.5`; see `xrsim list schedulers`)
    /// [default: latency-greedy].
    #[arg(long, value_name = "P[:KEY=VALUE,..]")]
    pub scheduler: Option<String>,
    /// Independent replications of every run.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub replications: u64,
    /// Folder for scores.csv, models.csv, inferences.csv and run.json.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// What to print.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub format: Format,
    /// Print a row a run with the breakdown of its scores, however many there are.
    #[arg(long)]
    pub detail: bool,
    /// Write the one run as a trace for Perfetto (ui.perfetto.dev) or chrome://tracing.
    #[arg(long, value_name = "FILE.json")]
    pub trace: Option<PathBuf>,
}

/// What to run, and how.
#[derive(Debug, Clone, Args)]
pub struct RunOptions {
    /// Scenario: a name or a file; repeat for several, or separate them by commas.
    #[arg(long, value_name = "S", value_delimiter = ',')]
    pub scenario: Vec<String>,
    /// System: a style A..M, one spelt out such as `WS:3 + OS:1`, or a file; repeat for several, or
    /// separate them by commas.
    #[arg(long, value_name = "A..M|FILE", value_delimiter = ',')]
    pub system: Vec<String>,
    /// PEs of the whole system, for styles; repeat for several, or separate them by commas.
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    pub pes: Vec<u32>,
    /// Rules of the run.
    #[arg(long, value_name = "SEMANTICS", default_value = "principled")]
    pub semantics: Semantics,
    /// Leave out a quirk of the published artifact, under --semantics mlsys2023; repeat for several.
    #[arg(long, value_name = "QUIRK")]
    pub without: Vec<String>,
    /// Layer costs: a cost model, or a CSV file of measurements [default: as the semantics].
    #[arg(long, value_name = "M|FILE.csv")]
    pub cost_model: Option<String>,
    /// Layers of the networks: their true operators, or those of the published artifact [default:
    /// reference; artifact under --semantics mlsys2023].
    #[arg(long, value_name = "EDITION")]
    pub networks: Option<Edition>,
    /// Bandwidth and memory of styles [default: paper; artifact under --semantics mlsys2023].
    #[arg(long, value_name = "P|FILE")]
    pub platform: Option<String>,
    /// Dataflows of a hardware file (.m), one for each accelerator.
    #[arg(long, value_name = "D|FILE")]
    pub dataflow: Vec<String>,
    /// Time in which requests are released [ms; default: 1000].
    #[arg(long, value_name = "MS", allow_negative_numbers = true)]
    pub duration: Option<f64>,
    /// Seed of every random draw.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Any other setting (see `xrsim list settings`); repeat for several.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

/// `xrsim explain`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  \
    xrsim explain --scenario AR_gaming --system J --pes 4096 HT:12")]
pub struct ExplainArgs {
    /// The run: one scenario on one system.
    #[command(flatten)]
    pub options: RunOptions,
    /// Scheduling policy, with its parameters [default: latency-greedy].
    #[arg(long, value_name = "P[:KEY=VALUE,..]")]
    pub scheduler: Option<String>,
    /// Which of its replications, counted from 0.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..1_000_000))]
    pub replication: u64,
    /// The frame: a model of the scenario and a number from 0.
    #[arg(value_name = "MODEL:FRAME")]
    pub frame: String,
}

/// `xrsim mlperf`.
#[derive(Debug, Args)]
#[command(
    after_help = "Rates of servers and numbers of streams are searched for, unless --qps or --streams is given. Seeds, \
    counts and durations are those of the round.\n\n\
    A tenant is a task with a load of its own, beside the others: rate, bound (that of the task unless \
    given) and batches, or bursts of burst_qps for burst_ms every period_ms with qps between them. A service \
    is what was measured of a system: latency_ms by batch or by sample.\n\n\
    Examples:\n  \
    xrsim mlperf inference                              five tasks, four loads\n  \
    xrsim mlperf inference --task machine_translation --load server --system M --max-batch 8\n  \
    xrsim mlperf inference --round v4.1 --load offline --out results\n  \
    xrsim mlperf inference --load server --curve 20 --out results\n  \
    xrsim mlperf mobile --system J --beside AR_gaming\n  \
    xrsim mlperf inference --tenant image_classification_heavy:qps=50 \\\n      \
    --tenant machine_translation:qps=1,max_batch=4 --beside VR_gaming --find-peak\n  \
    xrsim mlperf inference --tenant image_classification_light:qps=50,burst_qps=900,burst_ms=20,period_ms=500\n  \
    xrsim mlperf mobile --service measured.csv"
)]
pub struct MlperfArgs {
    /// Benchmark.
    pub benchmark: MlperfBenchmark,
    /// Round, which has LoadGen's rules, counts, durations and seeds [default: v0.5 of inference,
    /// v3.0 of mobile].
    #[arg(long, value_name = "R")]
    pub round: Option<String>,
    /// Tasks and tests in place of the round's: a suite, see mlperf/README.md; the round is its own unless
    /// given.
    #[arg(long, value_name = "NAME|FILE")]
    pub suite: Option<String>,
    /// Task; repeat for several.
    #[arg(long, value_name = "T")]
    pub task: Vec<String>,
    /// Load: single-stream, multi-stream, server or offline; repeat for several.
    #[arg(long, value_name = "LOAD")]
    pub load: Vec<String>,
    /// System: a style A..M, or a system file.
    #[arg(long, value_name = "A..M|FILE", default_value = "A")]
    pub system: String,
    /// PEs of the whole system, for styles.
    #[arg(long, value_name = "N", default_value_t = 4096, value_parser = clap::value_parser!(u32).range(1..))]
    pub pes: u32,
    /// Bandwidth and memory of styles [default: paper].
    #[arg(long, value_name = "P|FILE")]
    pub platform: Option<String>,
    /// Layer costs: a cost model, or a CSV file of measurements [default: principled].
    #[arg(long, value_name = "M|FILE.csv")]
    pub cost_model: Option<String>,
    /// Scheduling policy, with its parameters [default: fcfs].
    #[arg(long, value_name = "P[:KEY=VALUE,..]")]
    pub scheduler: Option<String>,
    /// Servers of a known latency in place of a system: constant:ms=L, batch:ms=A,sample_ms=B (A + B n for n
    /// samples), or a table with the columns latency_ms, batch or sample, and task.
    #[arg(long, value_name = "MODEL|FILE.csv", conflicts_with_all = ["system", "pes", "platform", "cost_model", "scheduler", "beside", "tenant", "trace"])]
    pub service: Option<String>,
    /// How many such servers there are.
    #[arg(long, value_name = "N", default_value_t = 1, requires = "service", value_parser = clap::value_parser!(u32).range(1..=i64::from(ServerBed::MAX)))]
    pub servers: u32,
    /// Most samples that are joined into a batch.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=i64::from(Batching::MAX)))]
    pub max_batch: u32,
    /// How long a sample waits for others to fill its batch (ms).
    #[arg(long, value_name = "MS", default_value_t = 0.0, allow_negative_numbers = true)]
    pub batch_wait: f64,
    /// Rate of a server in place of a search for the highest that is valid.
    #[arg(long, value_name = "1/S", allow_negative_numbers = true)]
    pub qps: Option<f64>,
    /// Streams of multi-stream in place of a search for the most that are valid; from v2.0 on samples of a
    /// query in place of 8.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub streams: Option<u64>,
    /// Search from --qps or --streams on, as LoadGen does; of tenants, for the highest factor of all rates.
    #[arg(long)]
    pub find_peak: bool,
    /// Least duration of a test in place of the round's (s).
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub min_duration: Option<f64>,
    /// Fewest queries of a test in place of the round's; of samples in offline.
    #[arg(long, value_name = "N")]
    pub min_queries: Option<u64>,
    /// A task with a load of its own, for the least duration beside all others; repeat for each. Keys: qps,
    /// arrivals (poisson or periodic), burst_qps, burst_ms, period_ms, group, bound_ms, percentile, max_batch,
    /// batch_wait_ms.
    #[arg(long, value_name = "TASK:KEY=VALUE,..", conflicts_with_all = ["task", "load", "qps", "streams", "curve"])]
    pub tenant: Vec<String>,
    /// Usage scenario whose frames run on the same system for as long as a test takes.
    #[arg(long, value_name = "S")]
    pub beside: Option<String>,
    /// Seed of the frames beside.
    #[arg(long, value_name = "N", default_value_t = 0, requires = "beside")]
    pub seed: u64,
    /// Latency at N rates up to beyond the peak of every server test, as curve.csv and a figure in --out.
    #[arg(long, value_name = "N", requires = "out", value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub curve: Option<u32>,
    /// Trace of the run that counts, of one test, for Perfetto or chrome://tracing.
    #[arg(long, value_name = "FILE.json", conflicts_with = "tenant")]
    pub trace: Option<PathBuf>,
    /// What to print.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub format: Format,
    /// Folder for LoadGen's logs and queries.csv of every test, suite.csv and figures.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// Benchmark of MLPerf.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MlperfBenchmark {
    /// MLPerf Inference.
    Inference,
    /// MLPerf Mobile.
    Mobile,
}

/// `xrsim compare`.
#[derive(Debug, Args)]
#[command(
    after_help = "Every scheduler plays the same requests, replication by replication, so that what is random cancels \
    out of their differences. Without --scenario, --system and --pes: the whole benchmark, 182 \
    configurations. Ties between requests go by the order of models in the scenario, which can decide \
    a comparison (schedulers/README.md).\n\n\
    Examples:\n  \
    xrsim compare --scheduler edf --scheduler edf:admission=hopeless --scheduler rm\n  \
    xrsim compare --scheduler edf --scheduler sjf --scenario AR_gaming --half-width 0.005\n  \
    xrsim compare --scheduler edf --scheduler dream --replications 30 --out comparison"
)]
pub struct CompareArgs {
    /// What to run.
    #[command(flatten)]
    pub options: RunOptions,
    /// Scheduling policy, with its parameters; repeat for each.
    #[arg(long, value_name = "P[:KEY=VALUE,..]", required = true)]
    pub scheduler: Vec<String>,
    /// Independent replications of every configuration.
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub replications: u64,
    /// Replicate until the 95 % interval of every scheduler's mean is at most this much to either side
    /// (30 replications at least, 1000 at most).
    #[arg(long, value_name = "X", conflicts_with = "replications", value_parser = positive)]
    pub half_width: Option<f64>,
    /// What to rank by: a column of scores, `missed` or `energy_mj`.
    #[arg(long, value_name = "COLUMN", default_value = "score_executed_mean")]
    pub by: String,
    /// Count every pattern of triggers with its probability in place of draws, where they are few.
    #[arg(long)]
    pub enumerate: bool,
    /// Also bound the score by exact optima of windows of N frames of the first replication, which takes
    /// up to seconds a window; for policies at model granularity.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MAX_FRAMES as u64))]
    pub window: Option<u64>,
    /// Search alpha and beta of every `dream` given, as its authors do, for the least UXCost of the first
    /// replication.
    #[arg(long)]
    pub tune: bool,
    /// The steady state in place of a cold start: ten seconds at random sensor phases, of which the
    /// first is not counted.
    #[arg(long)]
    pub steady: bool,
    /// Folder for policies.csv, configurations.csv, metrics.csv (of models and chains) and the figure.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| "allowed is a number > 0".into())
}

/// `xrsim sweep`.
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

/// `xrsim merge`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  xrsim merge mine.*-of-5.csv --out mine.csv")]
pub struct MergeArgs {
    /// Files that `xrsim sweep --shard` wrote, in any order, each with its .json beside it.
    #[arg(value_name = "FILE.csv", required = true)]
    pub files: Vec<PathBuf>,
    /// The file of all points.
    #[arg(long, short, value_name = "FILE.csv")]
    pub out: PathBuf,
}

/// `xrsim plot`.
#[derive(Debug, Args)]
#[command(
    after_help = "A design is everything that a sweep varies but scenario, seed and replication; its numbers are means over \
    those, first over seeds and replications, then over scenarios. Designs without scores are left out.\n\n\
    Columns are those of the file. More is better of scores and of executed frames, less of energy, drops, late frames, \
    PEs and hardware; COLUMN:max and COLUMN:min say otherwise.\n\n\
    Examples:\n  \
    xrsim plot pe_scaling.csv --kind pareto --out front.svg           energy_mj against score\n  \
    xrsim plot pe_scaling.csv --kind pareto --x pes --y qoe --z energy_mj\n  \
    xrsim plot pe_scaling.csv --kind best\n  \
    xrsim plot pe_scaling.csv --kind heatmap --x pes --y system --where scheduler=edf --out map.png"
)]
pub struct PlotArgs {
    /// Rows of a sweep, or the scores.csv of a run.
    #[arg(value_name = "FILE.csv")]
    pub file: PathBuf,
    /// What to make of them.
    #[arg(long, value_name = "KIND")]
    pub kind: PlotKind,
    /// First objective [default: energy_mj], or what the columns of a heat map are [default: pes].
    #[arg(long, value_name = "COLUMN")]
    pub x: Option<String>,
    /// Second objective [default: score], or what the rows of a heat map are [default: system].
    #[arg(long, value_name = "COLUMN")]
    pub y: Option<String>,
    /// Third objective, what is best, or what the colours of a heat map measure [default: score].
    #[arg(long, value_name = "COLUMN")]
    pub z: Option<String>,
    /// Take only rows with this value in this column; repeat for more conditions.
    #[arg(long = "where", value_name = "COLUMN=VALUE")]
    pub conditions: Vec<String>,
    /// Picture as .svg or .png, with its data beside it as .csv; tables as .csv.
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// `xrsim plot --kind`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PlotKind {
    /// Designs that no other beats in two columns, as a picture and a table, or in three, as a table.
    Pareto,
    /// The best design of every scenario, as a table.
    Best,
    /// One column over two settings.
    Heatmap,
}

/// `xrsim replay`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  \
    xrsim replay --model-file AR_gaming.m --dataflow-file WS_OS.m --hw-file Dual_4K.m")]
pub struct ReplayArgs {
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

/// `xrsim reproduce`.
#[derive(Debug, Args)]
#[command(
    after_help = "Without --figure and --semantics: every figure under both semantics, and what changes in the \
    conclusions of the paper.\n\n\
    Examples:\n  \
    xrsim reproduce --out plots\n  \
    xrsim reproduce --figure 5 --semantics mlsys2023 --out plots"
)]
pub struct ReproduceArgs {
    /// Figure of the paper; repeat for several.
    #[arg(long, value_name = "5|6|7|8", value_parser = clap::value_parser!(u8).range(5..=8))]
    pub figure: Vec<u8>,
    /// Rules of the runs; repeat for both.
    #[arg(long, value_name = "SEMANTICS")]
    pub semantics: Vec<Semantics>,
    /// Folder for each figure as SVG and PNG with the CSV that it was drawn from, and the tables.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// `xrsim report`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  \
    xrsim run --out results && xrsim report results -o report.html")]
pub struct ReportArgs {
    /// Folder that `xrsim run --out` or `xrsim mlperf --out` wrote.
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Page to write.
    #[arg(long, short, value_name = "FILE.html", default_value = "report.html")]
    pub out: PathBuf,
}

/// `xrsim cost`.
#[derive(Debug, Args)]
#[command(
    after_help = "Without --network: all networks of the suite. Several of --dataflow, --pes or --cost-model stand \
    side by side.\n\n\
    Examples:\n  \
    xrsim cost                                              every network on WS, OS and RS\n  \
    xrsim cost --network KD --dataflow WS --pes 1024\n  \
    xrsim cost --network KD --dataflow WS --layer conv2 --explain\n  \
    xrsim cost --network DE --dataflow WS --dataflow RS --plot energy.svg --roofline roofs.png\n  \
    xrsim cost --network resnet50 --batch 1 --batch 8 --batch 32\n  \
    xrsim cost --networks artifact --cost-model principled --cost-model maestro\n  \
    xrsim cost --network mine.yaml --dataflow RS --noc-bandwidth 256,128 --format csv"
)]
pub struct CostArgs {
    /// Network: a task, a network name, or a file; repeat for several.
    #[arg(long, value_name = "N|FILE")]
    pub network: Vec<String>,
    /// Layers of the networks: their true operators, or those of the published artifact.
    #[arg(long, value_name = "EDITION", default_value = "reference")]
    pub networks: Edition,
    /// One layer only.
    #[arg(long, value_name = "NAME")]
    pub layer: Option<String>,
    /// Dataflow: a name or a file; repeat for several [default: WS, OS, RS].
    #[arg(long, value_name = "D|FILE")]
    pub dataflow: Vec<String>,
    /// Processing elements; repeat for several [default: 4096].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub pes: Vec<u32>,
    /// Bandwidth of the on-chip network's levels, outermost first [byte/cycle; default: the
    /// platform's].
    #[arg(long, value_name = "TOP,COL", value_delimiter = ',', num_args = 1)]
    pub noc_bandwidth: Vec<u64>,
    /// Cost model, or a CSV file of measurements; repeat for several [default: principled].
    #[arg(long, value_name = "M|FILE.csv")]
    pub cost_model: Vec<String>,
    /// Clock, memories and energy.
    #[arg(long, value_name = "P|FILE", default_value = "paper")]
    pub platform: String,
    /// Inputs of a batch in place of one input: its time and energy, and the parts that it is fastest
    /// in; repeat for several.
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(BatchCosts::MAX_BATCH)),
        conflicts_with_all = ["layer", "explain", "plot", "plot_cycles", "roofline"]
    )]
    pub batch: Vec<u32>,
    /// Explain the one layer of --layer: levels, tiles, traffic and what bounds it.
    #[arg(long, requires = "layer", conflicts_with_all = ["format", "plot", "plot_cycles", "roofline"])]
    pub explain: bool,
    /// Draw energy by component, one bar a layer or network, as .svg or .png; the data goes beside
    /// it as .csv.
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Draw cycles by what they are spent on likewise.
    #[arg(long, value_name = "FILE")]
    pub plot_cycles: Option<PathBuf>,
    /// Draw every layer under the roofs of its accelerator likewise.
    #[arg(long, value_name = "FILE")]
    pub roofline: Option<PathBuf>,
    /// What to print.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub format: Format,
}
