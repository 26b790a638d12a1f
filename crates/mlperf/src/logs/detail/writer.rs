//! Writing of the detailed log.

use std::io;

use crate::load::loaded_set;
use crate::results::{LatencyStatistics, PERCENTILES, Performance};
use crate::run::Ending;
use crate::settings::{EffectiveSettings, LoadScenario};
use xrsim_model::units::SimTime;

use super::super::logged_run::LoggedRun;
use super::super::summary::early_stopping_text;
use super::date::date_and_time;
use super::keys::{COUNTS, EFFECTIVE, FOOT, Facts, HEAD, Key, LOGGER, RATES, REQUESTED, text};
use super::record::{LogRecord, LogValue};

/// Detailed log: every line, in order.
#[derive(Debug, Clone, PartialEq)]
pub struct DetailLog {
    /// Lines.
    pub records: Vec<LogRecord>,
}

impl DetailLog {
    /// Log of one run of the system called `system` with `settings`: its counts `run` and its
    /// `performance`.
    pub fn of_run(
        settings: &EffectiveSettings,
        run: &LoggedRun,
        performance: &Performance,
        system: &str,
    ) -> Self {
        let mut writer = Writer::new(settings, performance, system);
        writer.settings();
        writer.message("Starting performance mode");
        writer.load();
        writer.run(run);
        writer.results();
        writer.finish()
    }

    /// Log of a search for the highest rate, from that of `settings` on: the `messages` of the search, the
    /// counts of each run, and the `performance` of the run at the peak.
    pub fn of_search(
        settings: &EffectiveSettings,
        messages: &[String],
        runs: &[LoggedRun],
        performance: &Performance,
        system: &str,
    ) -> Self {
        let mut writer = Writer::new(settings, performance, system);
        let mut runs = runs.iter();
        writer.settings();
        writer.message("Starting FindPeakPerformance mode");
        let base = settings.target_qps;
        writer.message(&format!(
            "FindPeakPerformance: Check validity of the base settings field: {base:.6}"
        ));
        writer.load();
        runs.next().into_iter().for_each(|run| writer.run(run));
        for message in messages {
            writer.message(message);
            let is_bound = message.starts_with("FindBoundaries");
            // The set is loaded for each bound, and once for all rates between them.
            if is_bound || message.starts_with("FindPeakPerformance: Found boundaries") {
                writer.load();
            }
            if is_bound || message.starts_with("FindPeakPerformanceBinarySearch") {
                runs.next().into_iter().for_each(|run| writer.run(run));
            }
        }
        writer.results();
        writer.finish()
    }

    /// Writes every line.
    ///
    /// # Errors
    ///
    /// Errors of `out`.
    pub fn write(&self, out: &mut impl io::Write) -> io::Result<()> {
        self.records.iter().try_for_each(|record| writeln!(out, "{record}"))
    }
}

/// Log while it is written.
struct Writer<'a> {
    facts: Facts<'a>,
    /// Current instant of the simulated clock.
    at: SimTime,
    records: Vec<LogRecord>,
}

impl<'a> Writer<'a> {
    fn new(settings: &'a EffectiveSettings, performance: &'a Performance, system: &'a str) -> Self {
        let facts =
            Facts { settings, requested: settings.as_requested(), performance, system, errors: 0 };
        Self { facts, at: SimTime::ZERO, records: Vec::new() }
    }

    fn finish(self) -> DetailLog {
        DetailLog { records: self.records }
    }

    fn add(&mut self, key: impl Into<String>, value: LogValue) {
        self.records.push(LogRecord { key: key.into(), value, is_error: false, at: self.at });
    }

    fn keys(&mut self, keys: &[Key]) {
        for key in keys.iter().filter(|key| key.applies_to(self.facts.settings)) {
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

    /// Adds one run of the queries and advances the clock to its end.
    fn run(&mut self, run: &LoggedRun) {
        let begin = self.at;
        self.add("generated_query_count", LogValue::Whole(run.queries));
        self.add("generated_samples_per_query", LogValue::Whole(run.samples_per_query));
        self.add("generated_query_duration", LogValue::Whole(run.next_due.ns()));
        self.at = begin + (run.last_issued - SimTime::ZERO);
        for ending in &run.endings {
            match ending {
                // In Server all queries are issued, which LoadGen does not log.
                Ending::Natural if self.facts.settings.scenario == LoadScenario::Server => {}
                Ending::Natural => self.message(&ending.to_string()),
                _ => self.error(&ending.to_string()),
            }
        }
        let end = begin + (run.completed - SimTime::ZERO);
        self.at = self.at.max(end);
        self.keys(LOGGER);
        self.add("power_begin", text(date_and_time(begin)));
        self.add("power_end", text(date_and_time(end)));
    }

    fn results(&mut self) {
        self.verdict();
        self.keys(COUNTS);
        match (self.facts.settings.scenario, self.facts.performance.intervals) {
            (LoadScenario::MultiStream, Some(intervals)) => self.intervals(&intervals.percentiles),
            (LoadScenario::MultiStream, None) => self.query_latencies(),
            _ => {}
        }
        self.keys(RATES);
        let latency = self.facts.performance.sample_latency;
        self.ends("latency_ns", &latency);
        for (percentile, value) in PERCENTILES.iter().zip(latency.percentiles) {
            let percentile = 100.0 * percentile.get();
            self.add(
                format!("result_{percentile:.2}_percentile_latency_ns"),
                LogValue::Whole(value.ns()),
            );
        }
        self.keys(FOOT);
    }

    fn verdict(&mut self) {
        let Facts { settings, performance, .. } = self.facts;
        let validity = &performance.validity;
        let verdict = if validity.is_valid() { "VALID" } else { "INVALID" };
        self.add("result_validity", text(verdict));
        if let Some(holds) = validity.performance {
            self.add("result_perf_constraints_met", LogValue::Flag(holds));
        }
        self.add("result_min_duration_met", LogValue::Flag(validity.min_duration));
        self.add("result_min_queries_met", LogValue::Flag(validity.min_queries));
        if let Some(early_stopping) = &validity.early_stopping {
            self.add("early_stopping_met", LogValue::Flag(early_stopping.is_satisfied()));
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
            self.add(format!("result_{name}_{of}"), LogValue::Whole(value.ns()));
        }
    }

    fn query_latencies(&mut self) {
        let latency = self.facts.performance.latency;
        self.ends("query_latency_ns", &latency);
        for (percentile, value) in PERCENTILES.iter().zip(latency.percentiles) {
            let name = of_queries(100.0 * percentile.get());
            self.add(name, LogValue::Whole(value.ns()));
        }
    }

    /// Adds the intervals that queries took up, and their latencies.
    fn intervals(&mut self, intervals: &[u64; 6]) {
        let latency = self.facts.performance.latency;
        let values = intervals.iter().zip(latency.percentiles);
        for (percentile, (&intervals, latency)) in PERCENTILES.iter().zip(values) {
            let percentile = 100.0 * percentile.get();
            let name = format!("result_{percentile:.2}_percentile_num_intervals_between_queries");
            self.add(name, LogValue::Whole(intervals));
            self.add(of_queries(percentile), LogValue::Whole(latency.ns()));
        }
    }
}

fn of_queries(percentile: f64) -> String {
    format!("result_{percentile:.2}_percentile_per_query_latency_ns")
}
