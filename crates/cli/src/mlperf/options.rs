//! Options of `xrsim mlperf`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use xrsim_config::Parameters;
use xrsim_experiment::Settings;
use xrsim_mlperf::benchmark::ServerBed;
use xrsim_mlperf::sut::Batching;

use super::super::experiment::{MappingOptions, one_scheduler};
use super::super::figure::PictureOptions;
use super::super::message::Failure;
use super::super::options::{Format, whole_number};

/// Predict results of MLPerf load tests on simulated systems.
#[derive(Debug, Args)]
#[command(
    after_help = "A search finds the highest rate of a server and the largest number of streams, unless --qps or --streams \
    is given. Seeds, counts and durations are those of the round.\n\n\
    With a device, every run and every trial of a search starts with a fresh, full and cool one. A test in which it stops is \
    INVALID.\n\n\
    A tenant is a task with a load of its own that runs at the same time as the others: rate, latency bound \
    (by default that of the task) and batches, or bursts of burst_qps for burst_ms every period_ms with qps \
    between them. A service is a table of measured latencies: latency_ms by batch or by sample.\n\n\
    Examples:\n  \
    xrsim mlperf inference                              five tasks, four loads\n  \
    xrsim mlperf inference --task machine_translation --load server --system M --max-batch 8\n  \
    xrsim mlperf inference --round v4.1 --load offline --out results\n  \
    xrsim mlperf inference --load server --curve 20 --out results\n  \
    xrsim mlperf mobile --system J --beside AR_gaming\n  \
    xrsim mlperf mobile --system J --device headset --scheduler edf:governor=slack\n  \
    xrsim mlperf mobile --system J --load offline --flexibility tiles\n  \
    xrsim mlperf inference --tenant image_classification_heavy:qps=50 \\\n      \
    --tenant machine_translation:qps=1,max_batch=4 --beside VR_gaming --find-peak\n  \
    xrsim mlperf inference --tenant image_classification_light:qps=50,burst_qps=900,burst_ms=20,period_ms=500\n  \
    xrsim mlperf mobile --service measured.csv"
)]
pub(crate) struct MlperfArgs {
    /// Benchmark.
    pub benchmark: MlperfBenchmark,
    /// Round of the benchmark (its LoadGen version, counts, durations and seeds) [default: v0.5 of inference,
    /// v3.0 of mobile].
    #[arg(long, value_name = "R")]
    pub round: Option<String>,
    /// Suite of tasks and tests, in place of the suite of the round (scenarios/mlperf/README.md); by default the round is
    /// that of the suite.
    #[arg(long, value_name = "NAME|FILE")]
    pub suite: Option<String>,
    /// Task; repeat for several, or separate them by commas.
    #[arg(long, value_name = "T", value_delimiter = ',')]
    pub task: Vec<String>,
    /// Load of LoadGen (single-stream, multi-stream, server or offline); repeat for several, or separate them by commas.
    #[arg(long, value_name = "LOAD", value_delimiter = ',')]
    pub load: Vec<String>,
    /// Style A..M, or a system file.
    #[arg(long, value_name = "A..M|FILE", default_value = "A")]
    pub system: String,
    /// PEs of the whole system, for styles.
    #[arg(long, value_name = "N", default_value_t = 4096, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    pub pes: u32,
    /// Bandwidth and memory of styles [default: headset].
    #[arg(long, value_name = "P|FILE")]
    pub platform: Option<String>,
    /// Supply of the accelerators: operating points, leakage, gates, heat, battery, and the power around them (a name
    /// or a file; `xrsim list devices`). Energy and power are then those of the whole device.
    #[arg(long, value_name = "D|FILE")]
    pub device: Option<String>,
    /// Cost model, or a CSV file of measurements [default: loop-nest].
    #[arg(long, value_name = "M|FILE.csv")]
    pub cost_model: Option<String>,
    #[command(flatten)]
    pub mapping: MappingOptions,
    /// Scheduling policy, with its parameters [default: fcfs].
    #[arg(long, value_name = "P[:KEY=VALUE,..]", value_parser = one_scheduler)]
    pub scheduler: Option<String>,
    /// Servers of known latency, in place of a system: constant:ms=L, batch:ms=A,sample_ms=B (A + B n for n
    /// samples), or a table with the columns latency_ms, batch or sample, and task.
    #[arg(long, value_name = "MODEL|FILE.csv", conflicts_with_all = ["system", "pes", "platform", "device", "cost_model", "flexibility", "mapping-objective", "scheduler", "beside", "tenant", "trace"])]
    pub service: Option<String>,
    /// Number of servers of a --service.
    #[arg(long, value_name = "N", default_value_t = 1, requires = "service", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=i64::from(ServerBed::MAX)))]
    pub servers: u32,
    /// Largest number of samples of a batch.
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=i64::from(Batching::MAX)))]
    pub max_batch: u32,
    /// Longest wait of a sample for a full batch [ms].
    #[arg(long, value_name = "MS", default_value_t = 0.0, allow_negative_numbers = true)]
    pub batch_wait: f64,
    /// Rate of a server, in place of a search for the highest valid rate.
    #[arg(long, value_name = "1/S", allow_negative_numbers = true)]
    pub qps: Option<f64>,
    /// Number of streams of multi-stream, in place of a search for the largest valid number; from v2.0 on
    /// samples of a query in place of 8.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole_number(1..))]
    pub streams: Option<u64>,
    /// Search from --qps or --streams upwards, as LoadGen does; with tenants, for the largest factor of all rates.
    #[arg(long)]
    pub find_peak: bool,
    /// Minimum duration of a test, in place of the minimum of the round (s).
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub min_duration: Option<f64>,
    /// Minimum number of queries of a test, or of samples in offline, in place of the minimum of the round.
    #[arg(long, value_name = "N")]
    pub min_queries: Option<u64>,
    /// Task with a load of its own, at the same time as all other tenants; repeat for each. Keys: qps,
    /// arrivals (poisson or periodic), burst_qps, burst_ms, period_ms, group, bound_ms, percentile, max_batch,
    /// batch_wait_ms.
    #[arg(long, value_name = "TASK:KEY=VALUE,..", conflicts_with_all = ["task", "load", "qps", "streams", "curve"])]
    pub tenant: Vec<String>,
    /// Parameter of the network of a task, or of a model of --beside; repeat for several.
    #[arg(long, value_name = "parameters.TASK.NAME=N")]
    pub set: Vec<String>,
    /// Usage scenario in the background: its frames run on the same system during the test.
    #[arg(long, value_name = "S")]
    pub beside: Option<String>,
    /// Seed of the frames of --beside.
    #[arg(long, value_name = "N", default_value_t = 0, requires = "beside")]
    pub seed: u64,
    /// Measure the latency at N rates, below and above the peak of every server test; --out has it as
    /// curve.csv and a figure.
    #[arg(long, value_name = "N", requires = "out", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub curve: Option<u32>,
    /// File for a trace of the run of one test, for Perfetto or chrome://tracing.
    #[arg(long, value_name = "FILE.json", conflicts_with = "tenant")]
    pub trace: Option<PathBuf>,
    /// Format of the printed results.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub format: Format,
    /// Folder of the results (LoadGen's logs and queries.csv of every test, suite.csv, and figures as SVG and PDF).
    #[arg(long, short, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub pictures: PictureOptions,
}

/// Values of parameters of networks that `--set` gives.
///
/// # Errors
///
/// Returns a failure for any other key, and for a value that is not allowed.
pub(super) fn parameters(assignments: &[String]) -> Result<Parameters, Failure> {
    let mut settings = Settings::default();
    for assignment in assignments {
        let (key, value) = assignment.split_once('=').unwrap_or((assignment, ""));
        if !key.trim().starts_with("parameters.") {
            refuse!("--set takes parameters.TASK.NAME=N, found `{assignment}`");
        }
        settings.set(key.trim(), value.trim())?;
    }
    Ok(settings.parameters)
}

/// Benchmark of MLPerf.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MlperfBenchmark {
    /// MLPerf Inference.
    Inference,
    /// MLPerf Mobile.
    Mobile,
}
