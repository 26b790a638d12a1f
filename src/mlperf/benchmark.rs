//! The tests of a suite on an accelerator system: what a submitter would have measured.

use thiserror::Error;

use crate::schedule::PolicyFailure;
use crate::units::{Millijoules, SimSpan, SimTime};

use super::peak::find_peak;
use super::performance::{Measurement, Metric, Performance, measure};
use super::rounds::Round;
use super::run::RunError;
use super::settings::{Library, Scenario, Seeds, Settings, SettingsError};
use super::suite::{Load, Test};
use super::sut::{Completions, Sample, SystemUnderTest};
use super::system::Bench;

/// Why a test could not be made.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TestError {
    /// Its settings are out of range.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// Its run broke off.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The scheduler broke off.
    #[error(transparent)]
    Policy(#[from] PolicyFailure),
}

/// What a test is made with beside the suite.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// Round whose LoadGen and seeds hold.
    pub round: &'static Round,
    /// Whether its counts and durations hold too, in place of the suite's.
    pub counts_of_round: bool,
    /// Server: the rate that is tested in place of a search for the highest \[1/s\].
    pub target_qps: Option<f64>,
}

/// What a test gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Settings of the run that counts.
    pub settings: Settings,
    /// That run; of several the one with the least result.
    pub measurement: Measurement,
    /// Runs of the search that found its load; 0 without one.
    pub trials: usize,
    /// Runs that had to pass.
    pub runs: u32,
    /// Energy of a sample \[mJ\].
    pub energy_per_sample: Millijoules,
}

impl Outcome {
    /// What the run says.
    pub fn performance(&self) -> &Performance {
        &self.measurement.performance
    }

    /// The number that the test is about.
    pub fn metric(&self) -> Metric {
        self.performance().metric(&self.settings)
    }

    /// Whether it counts.
    pub fn is_valid(&self) -> bool {
        self.performance().validity.is_valid()
    }

    /// Whether its latencies pass, or nothing is asked of them.
    fn passes(&self) -> bool {
        self.performance().validity.performance != Some(false)
    }
}

/// Makes `test` by `rules` on `bench`, whose first tenant is the network of the task. Server rates and
/// numbers of streams are searched for unless they are given; of a server, every run of the round has
/// to pass.
///
/// # Errors
///
/// [`TestError`].
pub fn run_test(test: &Test, rules: &Rules, bench: &Bench) -> Result<Outcome, TestError> {
    let settings = settings(test, rules, bench)?;
    match test.load {
        Load::Server { runs, .. } => {
            let runs = if rules.counts_of_round { rules.round.server_runs } else { runs };
            match rules.target_qps {
                Some(_) => Ok(server_runs(&settings, runs, bench)?.1),
                None => peak_server(&settings, runs, bench),
            }
        }
        Load::MultiStream { .. } if settings.loadgen.has_fixed_interval() => {
            peak_streams(&settings, bench)
        }
        _ => make(&settings, bench),
    }
}

/// LoadGen's settings of a test. What a submitter would have to know of the system beforehand
/// (expected latencies and rates) is taken from its costs.
fn settings(test: &Test, rules: &Rules, bench: &Bench) -> Result<Settings, TestError> {
    let scenario = match test.load {
        Load::SingleStream => Scenario::SingleStream,
        Load::MultiStream { .. } => Scenario::MultiStream,
        Load::Server { .. } => Scenario::Server,
        Load::Offline => Scenario::Offline,
    };
    let samples = test.task.performance_samples;
    let percentile = test.percentile.unwrap_or(0.99);
    let mut requested = rules.round.settings(scenario, percentile, samples);
    if !rules.counts_of_round {
        requested.min_query_count = test.min_count;
        requested.min_duration_ms = test.min_duration.ns() / 1_000_000;
    }
    let capacity = bench.capacity_per_s(0);
    requested.single_stream_expected_latency_ns = bench.latency_of(1)?.ns();
    requested.offline_expected_qps = capacity;
    requested.server_target_qps = rules.target_qps.unwrap_or(capacity / 4.0);
    match test.load {
        Load::Server { bound, .. } => requested.server_target_latency_ns = bound.ns(),
        Load::MultiStream { queries_per_s, .. } if rules.round.loadgen.has_fixed_interval() => {
            requested.multi_stream_target_qps = queries_per_s;
            requested.multi_stream_samples_per_query = 1;
        }
        Load::MultiStream { .. } => {
            let samples = requested.multi_stream_samples_per_query;
            requested.multi_stream_expected_latency_ns = bench.latency_of(samples)?.ns();
        }
        Load::SingleStream | Load::Offline => {}
    }
    let library = Library { performance_samples: samples, total_samples: samples };
    Ok(Settings::new(&requested, library, rules.round.loadgen)?)
}

/// The highest rate at which every run passes. The search starts at a rate that does, and is as fine
/// as a thousandth of the rate.
fn peak_server(settings: &Settings, runs: u32, bench: &Bench) -> Result<Outcome, TestError> {
    let mut start = settings.clone();
    let mut trials = 1;
    let mut first = server_runs(&start, runs, bench)?;
    while !first.0 && trials < MAX_STARTS {
        start = start.with_rate(start.target_qps / 4.0)?;
        trials += 1;
        first = server_runs(&start, runs, bench)?;
    }
    if !first.0 {
        return Ok(Outcome { trials, runs, ..first.1 });
    }
    start.peak_decimals = 3 - start.target_qps.log10().ceil() as i32;
    let search = find_peak(&start, |trial| server_runs(trial, runs, bench))?;
    let (_, peak) = search.peak.expect("its first trial has passed before");
    Ok(Outcome { trials: trials + search.trials.len(), runs, ..peak })
}

/// Rates that are tried before it is said that none passes: a quarter each time.
const MAX_STARTS: usize = 8;

/// Every run that has to pass at one rate: whether all do, and the one with the least result, or that
/// does not pass. The first run has the seeds of the settings, the others have those after them, since
/// equal seeds make equal runs.
fn server_runs(
    settings: &Settings,
    runs: u32,
    bench: &Bench,
) -> Result<(bool, Outcome), TestError> {
    let mut least = make(settings, bench)?;
    for run in 1..u64::from(runs) {
        if !least.passes() {
            break;
        }
        let schedule = settings.seeds.schedule.wrapping_add(run);
        let seeds = Seeds { schedule, ..settings.seeds };
        let outcome = make(&Settings { seeds, ..settings.clone() }, bench)?;
        let rate = |outcome: &Outcome| outcome.performance().scheduled_rate();
        if !outcome.passes() || rate(&outcome) < rate(&least) {
            least = outcome;
        }
    }
    Ok((least.passes(), Outcome { runs, ..least }))
}

/// The most streams whose query is done within the interval.
///
/// A query finds the system idle whatever the ones before took, so that all of its kind take the same
/// time: as many streams pass as have that time within the interval. Numbers are doubled and then
/// halved, as LoadGen's search does.
fn peak_streams(settings: &Settings, bench: &Bench) -> Result<Outcome, TestError> {
    let mut trials = 0;
    let mut passes = |streams: u64| {
        trials += 1;
        bench.latency_of(streams).map(|latency| latency <= settings.target_latency)
    };
    let (mut low, mut high) = (1, 2);
    if passes(low)? {
        while high <= MAX_STREAMS && passes(high)? {
            (low, high) = (high, 2 * high);
        }
        while low + 1 < high {
            let middle = low.midpoint(high);
            if passes(middle)? {
                low = middle;
            } else {
                high = middle;
            }
        }
    }
    let outcome = streams(settings, low, bench)?;
    Ok(Outcome { trials, ..outcome })
}

/// Streams beyond which no more are looked for.
const MAX_STREAMS: u64 = 1 << 20;

/// The run of queries of `streams` samples. Every query stands for its samples, which are done
/// together with the last of them.
fn streams(settings: &Settings, streams: u64, bench: &Bench) -> Result<Outcome, TestError> {
    let mut system = Interval { latency: bench.latency_of(streams)? };
    let measurement = measure(settings, &mut system)?;
    let min_sample_count = settings.min_sample_count.saturating_mul(streams);
    Ok(Outcome {
        settings: Settings { samples_per_query: streams, min_sample_count, ..settings.clone() },
        measurement,
        trials: 0,
        runs: 1,
        energy_per_sample: Millijoules::new(bench.energy_of(streams)?.get() / streams as f64),
    })
}

/// A system whose queries all take the same time.
struct Interval {
    latency: SimSpan,
}

impl SystemUnderTest for Interval {
    fn issue(&mut self, now: SimTime, query: &[Sample], completions: &mut Completions) -> SimTime {
        for sample in query {
            completions.record(sample.id, now + self.latency);
        }
        now
    }
}

/// A run with every sample by itself.
fn make(settings: &Settings, bench: &Bench) -> Result<Outcome, TestError> {
    let mut system = bench.start()?;
    let measurement = measure(settings, &mut system);
    if let Some(failure) = system.failure() {
        return Err(failure.clone().into());
    }
    let measurement = measurement?;
    let samples = measurement.run.completed.len().max(1) as f64;
    Ok(Outcome {
        settings: settings.clone(),
        trials: 0,
        runs: 1,
        energy_per_sample: Millijoules::new(system.energy().get() / samples),
        measurement,
    })
}
