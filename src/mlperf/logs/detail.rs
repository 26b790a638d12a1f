//! The detailed log of a run in the layout of LoadGen's `mlperf_log_detail.txt`: a line of JSON a key.
//!
//! ```text
//! :::MLLOG {"key": "result_validity", "value": "VALID", "time_ms": 5120.000000, .., "metadata": {..}}
//! ```
//!
//! Simulated time stands for the clock, which begins with the run at midnight of 1970-01-01 (UTC). What LoadGen
//! says of its own build, threads and source is left empty: `NA`, 0, `xrsim`.
//!
//! Deviations: LoadGen wrote plain text until v0.7, which none of today's tools read; those rounds have the lines
//! of v1.0. A number that is not finite is `null`, where LoadGen writes what is no JSON.

use std::fmt;
use std::io;

use crate::units::SimTime;

use crate::mlperf::benchmark::Measurement;
use crate::mlperf::load::loaded_set;
use crate::mlperf::results::{EarlyStoppingOutcome, LatencyStatistics, PERCENTILES, Performance};
use crate::mlperf::run::Ending;
use crate::mlperf::settings::{EffectiveSettings, LoadGenVersion, LoadScenario, TestSettings};

use super::summary::{early_stopping_text, six_digits};

/// Beginning of every line.
const MARKER: &str = ":::MLLOG";

/// Work made and done in one run of the queries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedRun {
    /// Queries that were made ahead.
    pub queries: u64,
    /// Samples of each.
    pub samples_per_query: u64,
    /// When a further query would have been due.
    pub next_due: SimTime,
    /// Why each issuing thread ended.
    pub endings: Vec<Ending>,
    /// When the last query was issued.
    pub last_issued: SimTime,
    /// When the last sample was done.
    pub done: SimTime,
}

impl LoggedRun {
    /// The run of `measurement`, with `settings`.
    pub fn of(settings: &EffectiveSettings, measurement: &Measurement) -> Self {
        let Measurement { schedule, run, performance } = measurement;
        // On a uniform bed a query of a fixed interval stands for its samples.
        let samples_per_query = match settings.scenario {
            LoadScenario::MultiStream => settings.samples_per_query,
            _ => schedule.samples_per_query() as u64,
        };
        Self {
            queries: schedule.n_queries() as u64,
            samples_per_query,
            next_due: schedule.end,
            endings: run.endings.clone(),
            last_issued: performance.last_issued,
            done: measurement.end(),
        }
    }
}

/// A value as LoadGen writes it.
#[derive(Debug, Clone, PartialEq)]
pub enum LogValue {
    /// Text.
    Text(String),
    /// A whole number.
    Whole(u64),
    /// A number, with six significant digits.
    Number(f64),
    /// Yes or no.
    Flag(bool),
    /// Samples.
    Samples(Vec<u32>),
    /// A list of files, of which there is none.
    NoFiles,
}

/// Its JSON.
impl fmt::Display for LogValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "{}", serde_json::Value::from(text.as_str())),
            Self::Whole(number) => write!(f, "{number}"),
            Self::Number(number) if !number.is_finite() => f.write_str("null"),
            Self::Number(number) => f.write_str(&six_digits(*number)),
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Samples(samples) => {
                for (index, sample) in samples.iter().enumerate() {
                    write!(f, "{}{sample}", if index == 0 { "[" } else { "," })?;
                }
                f.write_str(if samples.is_empty() { "[]" } else { "]" })
            }
            Self::NoFiles => f.write_str("{}"),
        }
    }
}

/// A line of the log.
#[derive(Debug, Clone, PartialEq)]
pub struct LogRecord {
    /// Key.
    pub key: String,
    /// Value.
    pub value: LogValue,
    /// Whether it tells of an error.
    pub is_error: bool,
    /// When it was logged.
    pub at: SimTime,
}

impl fmt::Display for LogRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, value, is_error, at } = self;
        let (ms, ns) = (at.ns() / 1_000_000, at.ns() % 1_000_000);
        write!(
            f,
            "{MARKER} {{\"key\": \"{key}\", \"value\": {value}, \"time_ms\": {ms}.{ns:06}, \
             \"namespace\": \"mlperf::logging\", \"event_type\": \"POINT_IN_TIME\", \"metadata\": \
             {{\"is_error\": {is_error}, \"is_warning\": false, \"file\": \"xrsim\", \"line_no\": 0, \
             \"pid\": 0, \"tid\": 0}}}}"
        )
    }
}

/// Every line of the log of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct DetailLog {
    /// Lines, in order.
    pub records: Vec<LogRecord>,
}

impl DetailLog {
    /// The log of one run of the system called `system`, with `settings`, which made `pass` and says
    /// `performance`.
    pub fn of_run(
        settings: &EffectiveSettings,
        pass: &LoggedRun,
        performance: &Performance,
        system: &str,
    ) -> Self {
        let mut writer = Writer::new(settings, performance, system);
        writer.settings();
        writer.message("Starting performance mode");
        writer.load();
        writer.pass(pass);
        writer.results();
        writer.finish()
    }

    /// The log of a search for a rate from that of `settings` on: `messages` as
    /// [`messages`](crate::mlperf::benchmark::search_messages) has them, what each of its runs made, and what the one at the peak says.
    pub fn of_search(
        settings: &EffectiveSettings,
        messages: &[String],
        passes: &[LoggedRun],
        performance: &Performance,
        system: &str,
    ) -> Self {
        let mut writer = Writer::new(settings, performance, system);
        let mut passes = passes.iter();
        writer.settings();
        writer.message("Starting FindPeakPerformance mode");
        let base = settings.target_qps;
        writer.message(&format!(
            "FindPeakPerformance: Check validity of the base settings field: {base:.6}"
        ));
        writer.load();
        passes.next().into_iter().for_each(|pass| writer.pass(pass));
        for message in messages {
            writer.message(message);
            let is_bound = message.starts_with("FindBoundaries");
            // The set is loaded for each bound, and once for all rates between them.
            if is_bound || message.starts_with("FindPeakPerformance: Found boundaries") {
                writer.load();
            }
            if is_bound || message.starts_with("FindPeakPerformanceBinarySearch") {
                passes.next().into_iter().for_each(|pass| writer.pass(pass));
            }
        }
        writer.results();
        writer.finish()
    }

    /// Writes every line.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn write(&self, out: &mut impl io::Write) -> io::Result<()> {
        self.records.iter().try_for_each(|record| writeln!(out, "{record}"))
    }
}

/// The accuracy log of a performance run, `mlperf_log_accuracy.json`: an empty list.
///
/// LoadGen logs the responses of a performance run only where a share of them is asked for, which no round's
/// configuration does.
pub const ACCURACY_LOG: &str = "[\n]\n";

/// Sources of the values.
struct Facts<'a> {
    settings: &'a EffectiveSettings,
    /// Settings that make LoadGen do this run.
    asked: TestSettings,
    performance: &'a Performance,
    system: &'a str,
    /// Errors logged so far.
    errors: u64,
}

/// A key, the runs that have it, and its value.
struct Key {
    name: &'static str,
    scenario: Option<LoadScenario>,
    since: LoadGenVersion,
    /// The first LoadGen without it.
    until: Option<LoadGenVersion>,
    value: fn(&Facts<'_>) -> LogValue,
}

impl Key {
    const fn new(name: &'static str, value: fn(&Facts<'_>) -> LogValue) -> Self {
        Self { name, scenario: None, since: LoadGenVersion::V0_5, until: None, value }
    }

    const fn of(self, scenario: LoadScenario) -> Self {
        Self { scenario: Some(scenario), ..self }
    }

    const fn since(self, since: LoadGenVersion) -> Self {
        Self { since, ..self }
    }

    const fn until(self, until: LoadGenVersion) -> Self {
        Self { until: Some(until), ..self }
    }

    fn is_of(&self, settings: &EffectiveSettings) -> bool {
        let loadgen = settings.loadgen;
        self.scenario.is_none_or(|scenario| scenario == settings.scenario)
            && loadgen >= self.since
            && self.until.is_none_or(|until| loadgen < until)
    }
}

use LoadScenario::{MultiStream, Offline, Server, SingleStream};
use LogValue::{Flag, NoFiles, Number, Whole};

fn text(text: impl Into<String>) -> LogValue {
    LogValue::Text(text.into())
}

fn ms(span: crate::units::SimSpan) -> LogValue {
    Whole(span.ns() / 1_000_000)
}

/// Who wrote the log.
const PROGRAM: &str = concat!("xrsim ", env!("CARGO_PKG_VERSION"));

/// Keys that the log begins with.
const HEAD: &[Key] = &[
    Key::new("loadgen_version", |_| text(PROGRAM)),
    Key::new("loadgen_build_date_local", |_| text("NA")),
    Key::new("loadgen_build_date_utc", |_| text("NA")),
    Key::new("loadgen_git_commit_date", |_| text("NA")),
    Key::new("loadgen_git_log_message", |_| text("NA")),
    Key::new("loadgen_git_status_message", |_| text("NA")),
    Key::new("loadgen_file_sha1", |_| NoFiles),
    Key::new("test_datetime", |_| text("1970-01-01T00:00:00Z")),
    Key::new("sut_name", |it| text(it.system)),
    Key::new("get_sut_name_duration_ns", |_| Whole(0)).since(LoadGenVersion::V2_1),
    Key::new("qsl_name", |_| text("xrsim")),
    Key::new("qsl_reported_total_count", |it| Whole(it.settings.requested.library.total_samples)),
    Key::new("qsl_reported_performance_count", |it| {
        Whole(it.settings.requested.library.performance_samples)
    }),
];

/// Keys of the settings that are asked for.
const REQUESTED: &[Key] = &[
    Key::new("requested_scenario", |it| text(it.asked.scenario.name())),
    Key::new("requested_test_mode", |it| text(it.asked.mode.name())),
    Key::new("requested_single_stream_expected_latency_ns", |it| {
        Whole(it.asked.single_stream_expected_latency_ns)
    })
    .of(SingleStream)
    .until(LoadGenVersion::V2_0),
    Key::new("requested_single_stream_expected_latency_ns", |it| {
        Number(it.asked.single_stream_expected_latency_ns as f64)
    })
    .of(SingleStream)
    .since(LoadGenVersion::V2_0),
    Key::new("requested_single_stream_target_latency_percentile", |it| {
        Number(it.asked.single_stream_target_latency_percentile)
    })
    .of(SingleStream),
    Key::new("requested_multi_stream_target_qps", |it| Number(it.asked.multi_stream_target_qps))
        .of(MultiStream)
        .until(LoadGenVersion::V2_0),
    Key::new("requested_multi_stream_target_latency_ns", |it| {
        Whole(it.settings.target_latency.ns())
    })
    .of(MultiStream)
    .until(LoadGenVersion::V2_0),
    Key::new("requested_multi_stream_expected_latency_ns", |it| {
        Number(it.asked.multi_stream_expected_latency_ns as f64)
    })
    .of(MultiStream)
    .since(LoadGenVersion::V2_0),
    Key::new("requested_multi_stream_target_latency_percentile", |it| {
        Number(it.asked.multi_stream_target_latency_percentile)
    })
    .of(MultiStream),
    Key::new("requested_multi_stream_samples_per_query", |it| {
        Whole(it.asked.multi_stream_samples_per_query)
    })
    .of(MultiStream),
    Key::new("requested_multi_stream_max_async_queries", |it| {
        Whole(it.asked.multi_stream_max_async_queries)
    })
    .of(MultiStream)
    .until(LoadGenVersion::V2_0),
    Key::new("requested_server_target_qps", |it| Number(it.asked.server_target_qps)).of(Server),
    Key::new("requested_server_target_latency_ns", |it| Whole(it.asked.server_target_latency_ns))
        .of(Server),
    Key::new("requested_server_target_latency_percentile", |it| {
        Number(it.asked.server_target_latency_percentile)
    })
    .of(Server),
    Key::new("requested_server_coalesce_queries", |it| Flag(it.asked.server_coalesce_queries))
        .of(Server),
    Key::new("requested_server_find_peak_qps_decimals_of_precision", |it| {
        Whole(it.asked.server_find_peak_qps_decimals_of_precision)
    })
    .of(Server),
    Key::new("requested_server_find_peak_qps_boundary_step_size", |it| {
        Number(it.asked.server_find_peak_qps_boundary_step_size)
    })
    .of(Server),
    Key::new("requested_server_max_async_queries", |it| Whole(it.asked.server_max_async_queries))
        .of(Server),
    Key::new("requested_server_num_issue_query_threads", |it| {
        Whole(it.asked.server_num_issue_query_threads)
    })
    .of(Server),
    Key::new("requested_offline_expected_qps", |it| Number(it.asked.offline_expected_qps))
        .of(Offline),
    Key::new("requested_min_duration_ms", |it| Whole(it.asked.min_duration_ms)),
    Key::new("requested_max_duration_ms", |it| Whole(it.asked.max_duration_ms)),
    Key::new("requested_min_query_count", |it| Whole(it.asked.min_query_count)),
    Key::new("requested_max_query_count", |it| Whole(it.asked.max_query_count)),
    Key::new("requested_qsl_rng_seed", |it| Whole(it.asked.seeds.qsl)),
    Key::new("requested_sample_index_rng_seed", |it| Whole(it.asked.seeds.sample_index)),
    Key::new("requested_schedule_rng_seed", |it| Whole(it.asked.seeds.schedule)),
    Key::new("requested_accuracy_log_rng_seed", |_| Whole(0)),
    Key::new("requested_accuracy_log_probability", |_| Whole(0)),
    Key::new("requested_accuracy_log_sampling_target", |_| Whole(0)),
    Key::new("requested_print_timestamps", |_| Flag(false)),
    Key::new("requested_performance_issue_unique", |_| Flag(false)),
    Key::new("requested_performance_issue_same", |_| Flag(false)),
    Key::new("requested_performance_issue_same_index", |_| Whole(0)),
    Key::new("requested_performance_sample_count_override", |it| {
        Whole(it.asked.performance_sample_count_override)
    }),
    Key::new("requested_accuracy_sample_count_override", |_| Whole(0)).since(LoadGenVersion::V6_0),
    Key::new("requested_sample_concatenate_permutation", |it| {
        Flag(it.asked.sample_concatenate_permutation)
    })
    .since(LoadGenVersion::V4_1),
];

/// Keys of the settings that come of those.
const EFFECTIVE: &[Key] = &[
    Key::new("effective_scenario", |it| text(it.settings.scenario.name())),
    Key::new("effective_test_mode", |it| text(it.settings.mode.name())),
    Key::new("effective_samples_per_query", |it| Whole(it.settings.samples_per_query)),
    Key::new("effective_target_qps", |it| Number(it.settings.target_qps)),
    Key::new("effective_target_latency_ns", |it| Whole(it.settings.target_latency.ns())),
    Key::new("effective_target_latency_percentile", |it| Number(it.settings.percentile.get())),
    Key::new("effective_max_async_queries", |it| Whole(it.settings.max_async_queries)),
    Key::new("effective_target_duration_ms", |it| match it.settings.scenario {
        Offline => Whole(0),
        _ => ms(it.settings.min_duration),
    }),
    Key::new("effective_min_duration_ms", |it| ms(it.settings.min_duration)),
    Key::new("effective_max_duration_ms", |it| it.settings.max_duration.map_or(Whole(0), ms)),
    Key::new("effective_min_query_count", |it| Whole(it.settings.min_query_count)),
    Key::new("effective_max_query_count", |it| Whole(it.settings.max_query_count.unwrap_or(0))),
    Key::new("effective_min_sample_count", |it| Whole(it.settings.min_sample_count)),
    Key::new("effective_qsl_rng_seed", |it| Whole(it.settings.seeds.qsl)),
    Key::new("effective_sample_index_rng_seed", |it| Whole(it.settings.seeds.sample_index)),
    Key::new("effective_schedule_rng_seed", |it| Whole(it.settings.seeds.schedule)),
    Key::new("effective_accuracy_log_rng_seed", |_| Whole(0)),
    Key::new("effective_accuracy_log_probability", |_| Whole(0)),
    Key::new("effective_accuracy_log_sampling_target", |_| Whole(0)),
    Key::new("effective_print_timestamps", |_| Flag(false)),
    Key::new("effective_performance_issue_unique", |_| Flag(false)),
    Key::new("effective_performance_issue_same", |_| Flag(false)),
    Key::new("effective_performance_issue_same_index", |_| Whole(0)),
    Key::new("effective_performance_sample_count", |it| {
        Whole(it.settings.library.performance_samples)
    }),
    Key::new("effective_accuracy_sample_count", |it| Whole(it.settings.library.total_samples))
        .since(LoadGenVersion::V6_0),
    Key::new("effective_sample_concatenate_permutation", |it| {
        Flag(it.settings.concatenate_permutation)
    })
    .since(LoadGenVersion::V4_1),
];

/// Counts that LoadGen makes of its own threads.
const LOGGER: &[Key] = &[
    Key::new("logger_swap_request_slots_retry_count", |_| Whole(0)),
    Key::new("logger_swap_request_slots_retry_retry_count", |_| Whole(0)),
    Key::new("logger_swap_request_slots_retry_reencounter_count", |_| Whole(0)),
    Key::new("logger_start_reading_entries_retry_count", |_| Whole(0)),
    Key::new("logger_tls_total_log_cas_fail_count", |_| Whole(0)),
    Key::new("logger_tls_total_swap_buffers_slot_retry_count", |_| Whole(0)),
];

/// Counts of queries.
const COUNTS: &[Key] = &[
    Key::new("result_query_count", |it| Whole(it.performance.queries)).since(LoadGenVersion::V2_0),
    Key::new("result_overlatency_query_count", |it| Whole(it.performance.late))
        .of(Server)
        .since(LoadGenVersion::V2_0),
];

/// Rates and estimates of the scenario.
const RATES: &[Key] = &[
    Key::new("result_qps_with_loadgen_overhead", |it| {
        rate_until(it.performance.rate_with_overhead(), it.performance.last_issued)
    })
    .of(SingleStream),
    Key::new("result_qps_without_loadgen_overhead", |it| {
        rate(it.performance.rate_without_overhead())
    })
    .of(SingleStream),
    Key::new("early_stopping_latency_ss", |it| Whole(estimates(it.performance)[0]))
        .of(SingleStream)
        .since(LoadGenVersion::V2_0),
    Key::new("early_stopping_latency_ms", |it| Whole(estimates(it.performance)[1]))
        .of(SingleStream)
        .since(LoadGenVersion::V2_0),
    Key::new("early_stopping_latency_ms", |it| Whole(estimates(it.performance)[0]))
        .of(MultiStream)
        .since(LoadGenVersion::V2_0),
    Key::new("result_scheduled_samples_per_sec", |it| {
        rate_until(it.performance.scheduled_rate(), it.performance.last_scheduled)
    })
    .of(Server),
    Key::new("result_completed_samples_per_sec", |it| {
        rate_until(it.performance.completed_rate(), it.performance.last_completed)
    })
    .of(Server),
    Key::new("result_samples_per_second", |it| rate(it.performance.throughput())).of(Offline),
];

/// A rate as LoadGen writes it: no number where no time passes.
fn rate(of: Option<f64>) -> LogValue {
    Number(of.unwrap_or(f64::NAN))
}

/// A rate of all queries but the last until `end` as LoadGen writes it: 0 of a single query.
fn rate_until(of: Option<f64>, end: SimTime) -> LogValue {
    rate(of.or((end > SimTime::ZERO).then_some(0.0)))
}

/// Keys that the log ends with.
const FOOT: &[Key] = &[Key::new("num_errors", |it| Whole(it.errors)).since(LoadGenVersion::V5_1)];

/// Estimates of early stopping \[ns\]: of the percentile of the result, and of that of multi-stream; the latter
/// only with the former, 0 where there is none.
fn estimates(performance: &Performance) -> [u64; 2] {
    match performance.validity.early_stopping {
        Some(EarlyStoppingOutcome::Estimates { target, inferred }) => {
            let inferred = inferred.filter(|_| target.found.is_some());
            [target.latency().ns(), inferred.map_or(0, |inferred| inferred.latency().ns())]
        }
        _ => [0; 2],
    }
}

/// A log in progress.
struct Writer<'a> {
    facts: Facts<'a>,
    /// Now.
    at: SimTime,
    records: Vec<LogRecord>,
}

impl<'a> Writer<'a> {
    fn new(settings: &'a EffectiveSettings, performance: &'a Performance, system: &'a str) -> Self {
        let facts = Facts { settings, asked: settings.asked(), performance, system, errors: 0 };
        Self { facts, at: SimTime::ZERO, records: Vec::new() }
    }

    fn finish(self) -> DetailLog {
        DetailLog { records: self.records }
    }

    fn add(&mut self, key: impl Into<String>, value: LogValue) {
        self.records.push(LogRecord { key: key.into(), value, is_error: false, at: self.at });
    }

    fn keys(&mut self, keys: &[Key]) {
        for key in keys.iter().filter(|key| key.is_of(self.facts.settings)) {
            self.add(key.name, (key.value)(&self.facts));
        }
    }

    fn settings(&mut self) {
        [HEAD, REQUESTED, EFFECTIVE].into_iter().for_each(|keys| self.keys(keys));
    }

    fn message(&mut self, message: &str) {
        self.add("generic_message", text(message));
    }

    fn error(&mut self, message: &str) {
        self.add("error_runtime", text(message));
        self.facts.errors += 1;
        self.records.iter_mut().next_back().into_iter().for_each(|record| record.is_error = true);
    }

    fn load(&mut self) {
        self.add("loaded_qsl_set", LogValue::Samples(loaded_set(self.facts.settings)));
    }

    /// One run of the queries, after which it is later.
    fn pass(&mut self, pass: &LoggedRun) {
        let begin = self.at;
        self.add("generated_query_count", Whole(pass.queries));
        self.add("generated_samples_per_query", Whole(pass.samples_per_query));
        self.add("generated_query_duration", Whole(pass.next_due.ns()));
        self.at = begin + (pass.last_issued - SimTime::ZERO);
        for ending in &pass.endings {
            match ending {
                // The queries of a server are all issued, which is no reason to end.
                Ending::Natural if self.facts.settings.scenario == Server => {}
                Ending::Natural => self.message(&ending.to_string()),
                _ => self.error(&ending.to_string()),
            }
        }
        let end = begin + (pass.done - SimTime::ZERO);
        self.at = self.at.max(end);
        self.keys(LOGGER);
        self.add("power_begin", text(date_and_time(begin)));
        self.add("power_end", text(date_and_time(end)));
    }

    fn results(&mut self) {
        self.verdict();
        self.keys(COUNTS);
        match (self.facts.settings.scenario, self.facts.performance.intervals) {
            (MultiStream, Some(intervals)) => self.intervals(&intervals.percentiles),
            (MultiStream, None) => self.query_latencies(),
            _ => {}
        }
        self.keys(RATES);
        let latency = self.facts.performance.sample_latency;
        self.ends("latency_ns", &latency);
        for (percentile, value) in PERCENTILES.iter().zip(latency.percentiles) {
            let percentile = 100.0 * percentile.get();
            self.add(format!("result_{percentile:.2}_percentile_latency_ns"), Whole(value.ns()));
        }
        self.keys(FOOT);
    }

    fn verdict(&mut self) {
        let Facts { settings, performance, .. } = self.facts;
        let validity = &performance.validity;
        let verdict = if validity.is_valid() { "VALID" } else { "INVALID" };
        self.add("result_validity", text(verdict));
        if let Some(holds) = validity.performance {
            self.add("result_perf_constraints_met", Flag(holds));
        }
        self.add("result_min_duration_met", Flag(validity.min_duration));
        self.add("result_min_queries_met", Flag(validity.min_queries));
        if let Some(early_stopping) = &validity.early_stopping {
            self.add("early_stopping_met", Flag(early_stopping.is_satisfied()));
        }
        if !validity.is_valid() {
            self.add("result_invalid_reason", text(validity.invalid_reason()));
        }
        if let Some(early_stopping) = &validity.early_stopping {
            let said = early_stopping_text(settings, early_stopping).unwrap_or_default();
            self.add("early_stopping_result", text(said.replace('\n', " ")));
        }
    }

    fn ends(&mut self, of: &str, latency: &LatencyStatistics) {
        let ends = [("min", latency.min), ("max", latency.max), ("mean", latency.mean)];
        for (name, value) in ends {
            self.add(format!("result_{name}_{of}"), Whole(value.ns()));
        }
    }

    fn query_latencies(&mut self) {
        let latency = self.facts.performance.latency;
        self.ends("query_latency_ns", &latency);
        for (percentile, value) in PERCENTILES.iter().zip(latency.percentiles) {
            let name = of_queries(100.0 * percentile.get());
            self.add(name, Whole(value.ns()));
        }
    }

    /// Intervals that queries took up, and their latencies.
    fn intervals(&mut self, intervals: &[u64; 6]) {
        let latency = self.facts.performance.latency;
        let values = intervals.iter().zip(latency.percentiles);
        for (percentile, (&intervals, latency)) in PERCENTILES.iter().zip(values) {
            let percentile = 100.0 * percentile.get();
            let name = format!("result_{percentile:.2}_percentile_num_intervals_between_queries");
            self.add(name, Whole(intervals));
            self.add(of_queries(percentile), Whole(latency.ns()));
        }
    }
}

fn of_queries(percentile: f64) -> String {
    format!("result_{percentile:.2}_percentile_per_query_latency_ns")
}

/// A date and time as power meters are compared with: `01-31-1970 23:59:59.999`.
fn date_and_time(at: SimTime) -> String {
    let ms = at.ns() / 1_000_000;
    let (s, ms) = (ms / 1000, ms % 1000);
    let (year, month, day) = date(s / 86_400);
    let (hours, minutes, seconds) = (s / 3600 % 24, s / 60 % 60, s % 60);
    format!("{month:02}-{day:02}-{year} {hours:02}:{minutes:02}:{seconds:02}.{ms:03}")
}

/// Year, month and day that are `days` days after 1970-01-01.
fn date(mut days: u64) -> (u64, u64, u64) {
    let is_leap =
        |year: u64| year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    let mut year = 1970;
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    (year, month, days + 1)
}
