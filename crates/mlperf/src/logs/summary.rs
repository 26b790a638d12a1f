//! Summary of a run in the layout of LoadGen's `mlperf_log_summary.txt`.

use std::fmt::Write as _;

use xrsim_model::units::SimSpan;

use super::number::six_digits;

use crate::results::{
    EXITED_EARLY, EarlyStoppingOutcome, Estimate, LatencyStatistics, PERCENTILES, Performance,
};
use crate::settings::{EffectiveSettings, LoadGenVersion, LoadScenario};

const RULE: &str = "================================================";

/// LoadGen's warning that repetitions are permuted anew, which rounds the number of samples up to whole sets.
const CONCATENATED: &str = "WARNING: sample_concatenate_permutation was set to true. \nGenerated samples per query \
might be different as the one in the setting.\nCheck the generated_samples_per_query line in the detailed log for \
the real\nsamples_per_query value";

/// Summary of a run of the system called `system`, for which LoadGen would have logged `errors` errors.
///
/// The layouts are those of LoadGen v0.7, v2.0 and 6.0.17, for the rounds from v0.5, v2.0 and v4.1 on.
/// Differences within these spans of rounds are \[unverified\].
pub fn render_summary(
    settings: &EffectiveSettings,
    performance: &Performance,
    system: &str,
    errors: usize,
) -> String {
    let mut summary = Summary { settings, performance, text: String::new() };
    summary.title("MLPerf Results Summary");
    summary.line(&format!("SUT name : {system}"));
    summary.headline();
    summary.verdict();
    summary.blank_title("Additional Stats");
    summary.statistics();
    summary.blank_title("Test Parameters Used");
    summary.parameters();
    summary.line("\nNo warnings encountered during test.");
    summary.line(&match errors {
        0 => "\nNo errors encountered during test.".into(),
        1 => "\n1 ERROR encountered. See detailed log.".into(),
        n => format!("\n{n} ERRORS encountered. See detailed log."),
    });
    summary.text
}

struct Summary<'a> {
    settings: &'a EffectiveSettings,
    performance: &'a Performance,
    text: String,
}

impl Summary<'_> {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn title(&mut self, title: &str) {
        self.line(&format!("{RULE}\n{title}\n{RULE}"));
    }

    fn blank_title(&mut self, title: &str) {
        self.line("");
        self.title(title);
    }

    /// A percentile in words, as in the headline and the estimates.
    fn ordinal(&self, percentile: f64) -> String {
        let decimals = self.settings.loadgen.percentile_decimals();
        format!("{:.decimals$}th percentile", percentile * 100.0)
    }

    fn headline(&mut self) {
        let Self { settings, performance, .. } = *self;
        let loadgen = settings.loadgen;
        self.line(&format!("Scenario : {}", settings.scenario.name_in_summary(loadgen)));
        self.line(&format!("Mode     : {}", settings.mode.name_in_summary(loadgen)));
        let headline = match settings.scenario {
            LoadScenario::MultiStream if settings.loadgen.has_fixed_interval() => {
                format!("Samples per query : {}", settings.samples_per_query)
            }
            LoadScenario::SingleStream | LoadScenario::MultiStream => {
                let percentile = self.ordinal(settings.percentile.get());
                format!("{percentile} latency (ns) : {}", performance.latency.target.ns())
            }
            LoadScenario::Server if settings.loadgen.reports_completion() => completed(performance),
            LoadScenario::Server => scheduled(performance),
            LoadScenario::Offline => {
                let throughput = known(performance.throughput(), six_digits);
                format!("Samples per second: {throughput}")
            }
        };
        self.line(&headline);
    }

    fn verdict(&mut self) {
        let validity = self.performance.validity;
        let verdict = if validity.is_valid() { "VALID" } else { "INVALID" };
        self.line(&format!("Result is : {verdict}"));
        let word = |holds: bool| if holds { "Yes" } else { "NO" };
        if let Some(holds) = validity.performance {
            self.line(&format!("  Performance constraints satisfied : {}", word(holds)));
        }
        self.line(&format!("  Min duration satisfied : {}", word(validity.min_duration)));
        self.line(&format!("  Min queries satisfied : {}", word(validity.min_queries)));
        if let Some(early_stopping) = validity.early_stopping {
            let holds = early_stopping.is_satisfied();
            self.line(&format!("  Early stopping satisfied: {}", word(holds)));
        }
        if !validity.is_valid() {
            self.line("Recommendations:");
        }
        for text in validity.recommendations() {
            self.line(&format!(" * {text}"));
            if text == EXITED_EARLY {
                self.line("   See the detailed log for why this may have occurred.");
            }
        }
        if let Some(text) = validity.early_stopping.and_then(|found| self.early_stopping(&found)) {
            self.line(&format!("Early Stopping Result:\n{text}"));
        }
    }

    fn early_stopping(&self, early_stopping: &EarlyStoppingOutcome) -> Option<String> {
        early_stopping_text(self.settings, early_stopping)
    }

    fn statistics(&mut self) {
        let Self { settings, performance, .. } = *self;
        match settings.scenario {
            LoadScenario::SingleStream => {
                let with = known(performance.rate_with_overhead(), hundredths);
                let without = known(performance.rate_without_overhead(), hundredths);
                self.line(&format!("QPS w/ loadgen overhead         : {with}"));
                self.line(&format!("QPS w/o loadgen overhead        : {without}\n"));
            }
            LoadScenario::Server if settings.loadgen.reports_completion() => {
                self.line(&scheduled(performance));
            }
            LoadScenario::Server => self.line(&(completed(performance) + "\n")),
            LoadScenario::MultiStream if settings.loadgen.has_fixed_interval() => self.intervals(),
            LoadScenario::MultiStream => self.line("Per-query latency:  "),
            LoadScenario::Offline => {}
        }
        let fixed_interval = performance.intervals.is_some();
        self.latencies(if fixed_interval {
            &performance.sample_latency
        } else {
            &performance.latency
        });
    }

    fn latencies(&mut self, statistics: &LatencyStatistics) {
        let ends = [("Min", statistics.min), ("Max", statistics.max), ("Mean", statistics.mean)];
        for (name, latency) in ends {
            let name = format!("{name} latency (ns)");
            self.line(&format!("{name:<32}: {}", latency.ns()));
        }
        self.percentiles(statistics);
    }

    fn percentiles(&mut self, statistics: &LatencyStatistics) {
        for (percentile, latency) in PERCENTILES.iter().zip(statistics.percentiles) {
            let percentile = 100.0 * percentile.get();
            self.line(&format!("{percentile:.2} percentile latency (ns)   : {}", latency.ns()));
        }
    }

    /// Statistics of a fixed interval, up to the title of the latencies of samples.
    fn intervals(&mut self) {
        let Self { settings, performance, .. } = *self;
        let qps = six_digits(settings.target_qps);
        let ms = six_digits(1000.0 / settings.target_qps);
        self.line(&format!("Intervals between each IssueQuery:  \"qps\" : {qps}, \"ms\" : {ms}"));
        let counts = performance.intervals.map_or([0; 6], |intervals| intervals.percentiles);
        for (percentile, count) in PERCENTILES.iter().zip(counts) {
            self.line(&format!("{:.2} percentile : {count}", 100.0 * percentile.get()));
        }
        let bound = settings.target_latency;
        let ms = six_digits(bound.as_ms());
        self.line(&format!(
            "\nPer-query latency:  \"target_ns\" : {}, \"target_ms\" : {ms}",
            bound.ns()
        ));
        self.percentiles(&performance.latency);
        self.line("\nPer-sample latency:");
    }

    fn parameters(&mut self) {
        let settings = self.settings;
        let ms = |span: SimSpan| span.ns() / 1_000_000;
        let flag = if settings.loadgen >= LoadGenVersion::V2_0 { "0" } else { "false" };
        let mut parameters = String::new();
        let mut add = |name: &str, value: String| {
            writeln!(parameters, "{name}: {value}").expect("writing to text does not fail");
        };
        add("samples_per_query ", settings.samples_per_query.to_string());
        add("target_qps ", six_digits(settings.target_qps));
        add("target_latency (ns)", settings.target_latency.ns().to_string());
        add("max_async_queries ", settings.max_async_queries.to_string());
        add("min_duration (ms)", ms(settings.min_duration).to_string());
        add("max_duration (ms)", settings.max_duration.map_or(0, ms).to_string());
        add("min_query_count ", settings.min_query_count.to_string());
        add("max_query_count ", settings.max_query_count.unwrap_or(0).to_string());
        add("qsl_rng_seed ", settings.seeds.qsl.to_string());
        add("sample_index_rng_seed ", settings.seeds.sample_index.to_string());
        add("schedule_rng_seed ", settings.seeds.schedule.to_string());
        add("accuracy_log_rng_seed ", "0".into());
        add("accuracy_log_probability ", "0".into());
        if settings.loadgen >= LoadGenVersion::V2_0 {
            add("accuracy_log_sampling_target ", "0".into());
        }
        add("print_timestamps ", flag.into());
        add("performance_issue_unique ", flag.into());
        add("performance_issue_same ", flag.into());
        add("performance_issue_same_index ", "0".into());
        add("performance_sample_count ", settings.library.performance_samples.to_string());
        if settings.loadgen >= LoadGenVersion::V6_0 {
            add("accuracy_sample_count ", settings.library.total_samples.to_string());
        }
        self.text.push_str(&parameters);
        if settings.concatenate_permutation && settings.loadgen >= LoadGenVersion::V5_1 {
            self.line(CONCATENATED);
        }
    }
}

fn completed(performance: &Performance) -> String {
    let rate = known(performance.completed_rate(), hundredths);
    format!("Completed samples per second    : {rate}")
}

fn scheduled(performance: &Performance) -> String {
    let rate = known(performance.scheduled_rate(), hundredths);
    format!("Scheduled samples per second : {rate}")
}

fn hundredths(rate: f64) -> String {
    format!("{rate:.2}")
}

/// A rate, printed by `print`.
///
/// Deviation: without a rate LoadGen divides by zero and prints `nan` or `inf`.
fn known(rate: Option<f64>, print: impl Fn(f64) -> String) -> String {
    rate.map_or("n/a".into(), print)
}

/// LoadGen's text about early stopping, without its title; `None` in Offline.
pub fn early_stopping_text(
    settings: &EffectiveSettings,
    early_stopping: &EarlyStoppingOutcome,
) -> Option<String> {
    let decimals = settings.loadgen.percentile_decimals();
    match *early_stopping {
        EarlyStoppingOutcome::NotNeeded => None,
        EarlyStoppingOutcome::Bound { queries, required, .. } if queries >= required => {
            Some(" * Run successful.".into())
        }
        EarlyStoppingOutcome::Bound { queries, required, .. } => Some(format!(
            " * Run unsuccessful.\n * Processed {queries} queries.\n * Would need to run at least {} \
             more queries,\n with the run being successful if every additional\n query were under \
             latency.",
            required - queries
        )),
        EarlyStoppingOutcome::Estimates { target, inferred } => {
            let mut text = target_text(&target, decimals);
            if let Some(inferred) = inferred.filter(|_| target.found.is_some()) {
                text += &inferred_text(&inferred, decimals);
            }
            Some(text)
        }
    }
}

fn target_text(estimate: &Estimate, decimals: usize) -> String {
    let Estimate { percentile, needed, queries, found } = *estimate;
    match found {
        None => format!(
            " * Only processed {queries} queries.\n * Need to process at least {needed} queries for \
             early stopping."
        ),
        Some((late, latency)) => format!(
            " * Processed at least {needed} queries ({queries}).\n * Would discard {} highest \
             latency queries.\n * Early stopping {:.decimals$}th percentile estimate: {}",
            late - 1,
            percentile.get() * 100.0,
            latency.ns()
        ),
    }
}

fn inferred_text(estimate: &Estimate, decimals: usize) -> String {
    let Estimate { percentile, needed, found, .. } = *estimate;
    let percentile = format!("{:.decimals$}th percentile", percentile.get() * 100.0);
    match found {
        None => format!(
            "\n * Not enough queries processed for {percentile}\n early stopping estimate (would \
             need to process at\n least {needed} total queries)."
        ),
        Some((_, latency)) => {
            format!("\n * Early stopping {percentile} estimate: {}", latency.ns())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmark::measure;
    use crate::load::QuerySchedule;
    use crate::settings::{QuerySampleLibrary, TestSettings};
    use crate::sut::{Discipline, ServerSystem, ServiceTime};

    fn summary(requested: &TestSettings, loadgen: LoadGenVersion, service_ns: u64) -> String {
        let library = QuerySampleLibrary { performance_samples: 4, total_samples: 8 };
        let settings = EffectiveSettings::new(requested, library, loadgen).unwrap();
        assert!(QuerySchedule::generate(&settings).is_ok());
        let time = ServiceTime::Constant(SimSpan::from_ns(service_ns));
        let mut service = ServerSystem::new(time, Discipline::Query, vec![1.0]);
        let found = measure(&settings, &mut service).unwrap();
        render_summary(&settings, &found.performance, "a system", found.run.errors().count())
    }

    fn has_lines(text: &str, lines: &[&str]) {
        for line in lines {
            assert!(text.lines().any(|found| found == *line), "no `{line}` in\n{text}");
        }
    }

    /// The whole text of a run of three queries of 5 ms; h(1) + 1 = 64 are needed.
    #[test]
    fn the_layout_is_that_of_loadgen() {
        let requested = TestSettings {
            single_stream_expected_latency_ns: 5_000_000,
            min_duration_ms: 10,
            min_query_count: 2,
            ..TestSettings::new(LoadScenario::SingleStream)
        };
        let text = summary(&requested, LoadGenVersion::V6_0, 5_000_000);
        let rule = "=".repeat(48);
        let expected = [
            &rule,
            "MLPerf Results Summary",
            &rule,
            "SUT name : a system",
            "Scenario : SingleStream",
            "Mode     : PerformanceOnly",
            "90.0th percentile latency (ns) : 5000000",
            "Result is : INVALID",
            "  Min duration satisfied : Yes",
            "  Min queries satisfied : Yes",
            "  Early stopping satisfied: NO",
            "Recommendations:",
            "Early Stopping Result:",
            " * Only processed 3 queries.",
            " * Need to process at least 64 queries for early stopping.",
            "",
            &rule,
            "Additional Stats",
            &rule,
            "QPS w/ loadgen overhead         : 200.00",
            "QPS w/o loadgen overhead        : 200.00",
            "",
            "Min latency (ns)                : 5000000",
            "Max latency (ns)                : 5000000",
            "Mean latency (ns)               : 5000000",
            "50.00 percentile latency (ns)   : 5000000",
            "90.00 percentile latency (ns)   : 5000000",
            "95.00 percentile latency (ns)   : 5000000",
            "97.00 percentile latency (ns)   : 5000000",
            "99.00 percentile latency (ns)   : 5000000",
            "99.90 percentile latency (ns)   : 5000000",
            "",
            &rule,
            "Test Parameters Used",
            &rule,
            "samples_per_query : 1",
            "target_qps : 200",
            "target_latency (ns): 0",
            "max_async_queries : 1",
            "min_duration (ms): 10",
            "max_duration (ms): 0",
            "min_query_count : 2",
            "max_query_count : 0",
            "qsl_rng_seed : 0",
            "sample_index_rng_seed : 0",
            "schedule_rng_seed : 0",
            "accuracy_log_rng_seed : 0",
            "accuracy_log_probability : 0",
            "accuracy_log_sampling_target : 0",
            "print_timestamps : 0",
            "performance_issue_unique : 0",
            "performance_issue_same : 0",
            "performance_issue_same_index : 0",
            "performance_sample_count : 4",
            "accuracy_sample_count : 8",
            "",
            "No warnings encountered during test.",
            "",
            "No errors encountered during test.",
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), expected);
    }

    /// 20 queries at ticks of 100 ms that take 150 ms, which lets every second tick pass.
    #[test]
    fn a_fixed_interval_is_reported_by_its_streams() {
        let requested = TestSettings {
            multi_stream_samples_per_query: 3,
            min_query_count: 20,
            min_duration_ms: 0,
            ..TestSettings::new(LoadScenario::MultiStream)
        };
        let text = summary(&requested, LoadGenVersion::V0_5, 150_000_000);
        has_lines(
            &text,
            &[
                "Samples per query : 3",
                "Result is : INVALID",
                "  Performance constraints satisfied : NO",
                " * Reduce samples per query to improve latency.",
                "Intervals between each IssueQuery:  \"qps\" : 10, \"ms\" : 100",
                "90.00 percentile : 2",
                "Per-query latency:  \"target_ns\" : 100000000, \"target_ms\" : 100",
                "Per-sample latency:",
                "Min latency (ns)                : 150000000",
                "print_timestamps : false",
            ],
        );
        assert!(!text.contains("Early"), "{text}");
    }

    /// A run that ends after one query of a hundred: too few, and not long enough.
    #[test]
    fn what_is_wrong_comes_with_advice() {
        let requested =
            TestSettings { max_query_count: 1, ..TestSettings::new(LoadScenario::Server) };
        let text = summary(&requested, LoadGenVersion::V2_0, 1);
        has_lines(
            &text,
            &[
                " * Increase the target QPS so the loadgen pre-generates more queries.",
                " * The test exited early, before enough queries were issued.",
                "   See the detailed log for why this may have occurred.",
                " * Processed 1 queries.",
                " * Would need to run at least 458 more queries,",
                "1 ERROR encountered. See detailed log.",
            ],
        );
    }
}
