//! Exact consequences of the recorded run: its schedule and samples follow from the seeds, its
//! statistics and verdict from its latencies.

use std::sync::Arc;

use crate::validate::Tally;
use xrsim_config::Source;
use xrsim_config::loadgen_cases::{Case, LogRow, Percentiles, QueryLog};
use xrsim_mlperf::load::QuerySchedule;
use xrsim_mlperf::logs::{early_stopping_text, six_digits};
use xrsim_mlperf::results::{
    EarlyStoppingOutcome, Estimate, LatencyStatistics, Observations, Performance,
};
use xrsim_mlperf::settings::LoadScenario;
use xrsim_model::units::{SimSpan, SimTime};

use super::place;
use super::simulated::Simulated;

/// Most time before the first query of a stream, which the log does not give. It was below 5 us in every
/// case that prints it.
const START: SimSpan = SimSpan::from_ns(100_000);

/// Relative tolerance of single-stream rates, for this time and for six printed digits.
const START_TOLERANCE: f64 = 1e-4;

/// Compares the log with the schedule: the due times of queries (Server) and their samples.
pub(super) fn schedule(case: &Case, schedule: &QuerySchedule, tallies: [&mut Tally; 2]) {
    let Some(QueryLog::Samples { source, rows }) = &case.log else { return };
    let [due, samples] = tallies;
    let n = schedule.samples_per_query();
    for (query, rows) in rows.chunks(n).enumerate() {
        if query == schedule.n_queries() {
            let name = place(source, rows[0].line);
            due.equal(format_args!("{name}: queries"), query + 1, schedule.n_queries());
            return;
        }
        if case.settings.scenario == LoadScenario::Server {
            let name = place(source, rows[0].line);
            let (expected, found) = (rows[0].scheduled, schedule.offsets[query]);
            due.equal(format_args!("{name}: scheduled_ns"), expected.ns(), found.ns());
        }
        for (row, index) in rows.iter().zip(schedule.samples(query)) {
            let name = place(source, row.line);
            samples.equal(format_args!("{name}: sample_idx"), row.index, u64::from(index));
        }
    }
}

/// Performance that follows from the recorded latencies. Offline logs too few latencies, so that its
/// recorded statistics are used instead.
pub(super) fn performance(case: &Case, simulated: &Simulated) -> Option<Performance> {
    match (&case.log, &case.expected.measured) {
        (Some(QueryLog::Samples { rows, .. }), _) => {
            Performance::compute(&case.settings, observations(case, rows)?)
        }
        (_, Some(measured)) if case.settings.scenario == LoadScenario::Offline => {
            let latency = statistics(measured);
            let simulated = simulated.measurement.performance.clone();
            Some(Performance { latency, sample_latency: latency, ..simulated })
        }
        _ => None,
    }
}

fn statistics(measured: &Percentiles) -> LatencyStatistics {
    LatencyStatistics {
        count: measured.count as usize,
        min: measured.min,
        max: measured.max,
        mean: measured.mean,
        percentiles: measured.percentiles,
        target: measured.percentiles[4],
    }
}

fn observations(case: &Case, rows: &[LogRow]) -> Option<Observations> {
    let settings = &case.settings;
    let queries = rows.chunks(settings.samples_per_query as usize);
    let latency = |query: &[LogRow]| query.iter().map(|row| row.latency).max();
    let last = queries.clone().next_back()?;
    let has_queries = settings.scenario == LoadScenario::MultiStream;
    Some(Observations {
        sample_latencies: rows.iter().map(|row| row.latency).collect(),
        query_latencies: queries.clone().filter(|_| has_queries).filter_map(latency).collect(),
        intervals: Vec::new(),
        queries: queries.len() as u64,
        last_scheduled: last[0].scheduled,
        last_issued: last[0].scheduled + last[0].issue_delay,
        last_completed: last[0].scheduled + latency(last)?,
    })
}

/// Compares statistics and rates.
pub(super) fn statistics_of(case: &Case, performance: &Performance, tally: &mut Tally) {
    let told = &case.expected.told;
    if let Some(measured) = &case.expected.measured {
        let found = &performance.latency;
        tally.equal("n", measured.count, found.count as u64);
        let names = ["p50", "p90", "p95", "p97", "p99", "p99_9"];
        for (index, name) in names.into_iter().enumerate() {
            let (expected, found) = (measured.percentiles[index], found.percentiles[index]);
            tally.equal(name, expected.ns(), found.ns());
        }
        tally.equal("min", measured.min.ns(), found.min.ns());
        tally.equal("max", measured.max.ns(), found.max.ns());
        tally.equal("mean", measured.mean.ns(), found.mean.ns());
    }
    let mut printed = |what: &str, expected: Option<f64>, found: Option<f64>| {
        tally.equal_if(what, expected.map(six_digits), six_digits(found.unwrap_or(0.0)));
    };
    match case.settings.scenario {
        LoadScenario::SingleStream => {
            let found = performance.rate_without_overhead();
            printed("result_qps_without_loadgen_overhead", told.rate_without_overhead, found);
            let found = performance.rate_with_overhead();
            let what = "result_qps_with_loadgen_overhead";
            tally.near_if(what, told.rate_with_overhead, found, START_TOLERANCE);
        }
        LoadScenario::MultiStream => {}
        LoadScenario::Server => {
            let found = performance.scheduled_rate();
            printed("result_scheduled_samples_per_sec", told.scheduled_rate, found);
            let found = performance.completed_rate();
            printed("result_completed_samples_per_sec", told.completed_rate, found);
            tally.equal_if("result_overlatency_query_count", told.late, performance.overlatency);
        }
        LoadScenario::Offline => {
            printed("result_samples_per_second", told.throughput, performance.throughput());
        }
    }
    if case.settings.scenario != LoadScenario::Offline {
        tally.equal_if("result_query_count (recorded)", told.queries, performance.queries);
    }
}

/// Compares the results of early stopping.
pub(super) fn early_stopping(case: &Case, performance: &Performance, tally: &mut Tally) {
    let Some(found) = &performance.validity.early_stopping else { return };
    let told = &case.expected.told;
    let text = early_stopping_text(&case.settings, found).unwrap_or_default();
    tally.equal_if("early_stopping_text", case.expected.early_stopping_text.clone(), text);
    match *found {
        EarlyStoppingOutcome::NotNeeded => {}
        EarlyStoppingOutcome::Bound { overlatency: late, required, .. } => {
            tally.equal_if("es_overlatency", told.early_stopping_late, late);
            tally.equal_if("es_required_queries", told.early_stopping_required, required);
        }
        EarlyStoppingOutcome::Estimates { target, inferred } => {
            let is_single = case.settings.scenario == LoadScenario::SingleStream;
            let (single, multi) = (told.single_stream_estimate_ns, told.multi_stream_estimate_ns);
            let discarded = |estimate: &Estimate| estimate.found.map_or(0, |(late, _)| late);
            tally.equal_if("es_discard_t", told.discarded, discarded(&target));
            let (of_target, name) = match is_single {
                true => (single, "early_stopping_latency_ss"),
                false => (multi, "early_stopping_latency_ms"),
            };
            tally.equal_if(name, of_target, target.latency().ns());
            if let Some(inferred) = inferred {
                tally.equal_if("es_discard_t_p99", told.discarded_inferred, discarded(&inferred));
                let latency = inferred.latency().ns();
                tally.equal_if("early_stopping_latency_ms", multi, latency);
            }
        }
    }
}

/// Compares the conditions of a valid run, and the reasons for an invalid one.
pub(super) fn verdict(case: &Case, performance: &Performance, tally: &mut Tally) {
    let (expected, validity) = (&case.expected.verdict, &performance.validity);
    if let Some(found) = validity.performance {
        tally.equal_if("Performance constraints satisfied", expected.performance, found);
    }
    tally.equal_if("Min queries satisfied", expected.min_queries, validity.min_queries);
    let found = validity.early_stopping.is_none_or(|found| found.is_satisfied());
    tally.equal_if("Early stopping satisfied", expected.early_stopping, found);
    if !duration_is_certain(case, performance) {
        return;
    }
    tally.equal_if("Min duration satisfied", expected.min_duration, validity.min_duration);
    tally.equal_if("Result is VALID", expected.valid, validity.is_valid());
    let reason = case.expected.invalid_reason.as_ref().map(|text| text.trim_end().to_owned());
    let found = validity.invalid_reason().trim_end().to_owned();
    tally.equal_if("result_invalid_reason", reason, found);
}

/// Whether the time before the first query of a stream cannot decide if the run was long enough.
pub(super) fn duration_is_certain(case: &Case, performance: &Performance) -> bool {
    let elapsed = performance.last_issued - SimTime::ZERO;
    let is_stream =
        matches!(case.settings.scenario, LoadScenario::SingleStream | LoadScenario::MultiStream);
    let least = case.settings.min_duration;
    !is_stream || elapsed >= least || elapsed + START < least
}

/// File and line of the line of a summary at `index`.
pub(super) fn summary_place(source: &Arc<Source>, index: usize) -> String {
    place(source, index + 1)
}
