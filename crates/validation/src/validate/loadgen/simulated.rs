//! The simulation of a case, and its distance from the recorded run.

use crate::validate::Tally;
use xrsim_config::loadgen_cases::{Case, Percentiles, Told, Verdict};
use xrsim_mlperf::benchmark::{Measurement, PeakSearch, find_peak, measure, search_messages};
use xrsim_mlperf::logs::{DetailLog, LoggedRun, six_digits};
use xrsim_mlperf::results::{EarlyStoppingOutcome, PERCENTILES, Performance};
use xrsim_mlperf::run::{Ending, RunError};
use xrsim_mlperf::settings::{EffectiveSettings, LoadScenario, TestMode};
use xrsim_mlperf::sut::{Discipline, ServerSystem};
use xrsim_model::statistics::percentile_index;
use xrsim_model::units::{SimSpan, SimTime};

/// Latencies may differ by this or by [`TOLERANCE`] of the simulated one, whichever is more.
const TOLERANCE_NS: u64 = 150_000;

/// See [`TOLERANCE_NS`].
const TOLERANCE: f64 = 0.04;

/// Most time that LoadGen, the system in Python and their host add to a query.
const OVERHEAD: SimSpan = SimSpan::from_ns(200_000);

/// Relative tolerances of rates: of the schedule, which is printed with six digits; of completion; of
/// samples in Offline, which includes the start of the host.
const RATE_TOLERANCES: [f64; 3] = [1e-5, 2e-4, 1e-3];

/// Name of the system. No comparison depends on it.
const SYSTEM: &str = "simulated";

/// A case, simulated.
pub(super) struct Simulated {
    /// Settings of the reported run: those of the case, or of the peak.
    pub settings: EffectiveSettings,
    /// The reported run.
    pub measurement: Measurement,
    /// The search for the peak that led to it.
    search: Option<PeakSearch<()>>,
    /// Every run in order. The last run of a search is not the reported one.
    passes: Vec<LoggedRun>,
    /// Percentiles if every call took [`OVERHEAD`] longer, for systems that block their caller: their
    /// overhead accumulates.
    with_overhead: Option<[SimSpan; 6]>,
}

impl Simulated {
    /// Simulates `case`.
    ///
    /// # Errors
    ///
    /// [`RunError`] if its settings make too large a run.
    pub(super) fn simulate(case: &Case) -> Result<Self, RunError> {
        match case.settings.mode {
            TestMode::PerformanceOnly => Self::of_run(&case.settings, &case.service),
            TestMode::FindPeakPerformance => Self::of_search(&case.settings, &case.service),
        }
    }

    fn of_run(settings: &EffectiveSettings, service: &ServerSystem) -> Result<Self, RunError> {
        let measurement = measure(settings, &mut service.clone())?;
        let blocks = service.discipline() == Discipline::Blocking;
        let slowed = blocks.then(|| measure(settings, &mut service.slowed(OVERHEAD)));
        let with_overhead =
            slowed.transpose()?.map(|slowed| slowed.performance.latency.percentiles);
        let passes = vec![LoggedRun::from_measurement(settings, &measurement)];
        let settings = settings.clone();
        Ok(Self { settings, measurement, search: None, passes, with_overhead })
    }

    fn of_search(settings: &EffectiveSettings, service: &ServerSystem) -> Result<Self, RunError> {
        let (mut first, mut passes) = (None, Vec::new());
        let search = find_peak(settings, |settings| {
            let measurement = measure(settings, &mut service.clone())?;
            passes.push(LoggedRun::from_measurement(settings, &measurement));
            let passes = measurement.performance.validity.performance == Some(true);
            let kept = (settings.clone(), measurement);
            first.get_or_insert_with(|| kept.clone());
            Ok::<_, RunError>((passes, kept))
        })?;
        let PeakSearch { trials, peak } = search;
        let (value, reported) =
            peak.map_or((None, first), |(value, kept)| (Some(value), Some(kept)));
        let (settings, measurement) = reported.expect("a search makes a run");
        let search = Some(PeakSearch { trials, peak: value.map(|value| (value, ())) });
        Ok(Self { settings, measurement, search, passes, with_overhead: None })
    }

    /// Compares the schedule that was made before the run, and the number of queries at its end.
    pub(super) fn schedule(&self, told: &Told, tally: &mut Tally) {
        if let Some(last) = self.passes.last() {
            tally.equal_if("generated_query_count", told.generated_queries, last.queries);
            let (expected, found) = (told.generated_samples_per_query, last.samples_per_query);
            tally.equal_if("generated_samples_per_query", expected, found);
            let found = last.next_due.ns();
            tally.equal_if("generated_query_duration", told.generated_duration_ns, found);
        }
        if self.count_is_certain() {
            let queries = self.measurement.performance.queries;
            tally.equal_if("result_query_count", told.queries, queries);
        }
    }

    /// Whether the number of queries is independent of the overhead of the host.
    fn count_is_certain(&self) -> bool {
        let ending = self.measurement.run.endings.first();
        match (self.settings.scenario, ending) {
            (LoadScenario::Offline, _) => true,
            (LoadScenario::Server, ending) => ending.is_none_or(|ending| !ending.is_error()),
            (_, Some(Ending::Natural)) => {
                self.measurement.performance.queries == self.settings.min_query_count
            }
            (_, ending) => !matches!(ending, Some(Ending::MaxDuration { .. })),
        }
    }

    /// Compares the conditions of a valid run, as far as the host cannot have decided them.
    pub(super) fn verdict(&self, expected: &Verdict, told: &Told, tally: &mut Tally) {
        let performance = &self.measurement.performance;
        let validity = &performance.validity;
        let what = |name: &str| format!("{name} (simulated)");
        if let Some(found) = validity.performance {
            tally.equal_if(what("Performance constraints satisfied"), expected.performance, found);
        }
        let certain = [self.duration_is_certain(), self.queries_are_certain(told)];
        if certain[0] {
            let found = validity.min_duration;
            tally.equal_if(what("Min duration satisfied"), expected.min_duration, found);
        }
        if certain[1] {
            let found = validity.min_queries;
            tally.equal_if(what("Min queries satisfied"), expected.min_queries, found);
            let found = validity.early_stopping.is_none_or(|found| found.is_satisfied());
            tally.equal_if(what("Early stopping satisfied"), expected.early_stopping, found);
        }
        if certain == [true; 2] {
            tally.equal_if(what("Result is VALID"), expected.valid, validity.is_valid());
        }
    }

    /// Compares the reasons for an early end of the run, which LoadGen logs as errors.
    pub(super) fn endings(&self, errors: &[Box<str>], tally: &mut Tally) {
        let endings = errors.iter().filter(|error| error.contains("Ending early: "));
        let reason = |text: &str| {
            let (_, reason) = text.split_once("Ending early: ").unwrap_or(("", text));
            reason.split_once('.').unwrap_or((reason, "")).0.to_owned()
        };
        let expected: Vec<_> = endings.map(|error| reason(error)).collect();
        let found: Vec<_> =
            self.measurement.run.errors().map(|ending| reason(&ending.to_string())).collect();
        if self.search.is_none() && self.endings_are_certain() {
            tally.equal("errors (simulated)", expected.join("; "), found.join("; "));
        }
    }

    /// Whether the host cannot have influenced the end of the run.
    pub(super) fn endings_are_certain(&self) -> bool {
        self.duration_is_certain()
    }

    /// The detailed log of `case`, whose reported run has `performance`.
    pub(super) fn detail_log(&self, case: &Case, performance: &Performance) -> DetailLog {
        let settings = &case.settings;
        match (&self.search, &self.passes[..]) {
            (None, [pass]) => DetailLog::of_run(settings, pass, performance, SYSTEM),
            (search, passes) => {
                let messages = search.as_ref().map_or_else(Vec::new, search_messages);
                DetailLog::of_search(settings, &messages, passes, performance, SYSTEM)
            }
        }
    }

    /// Whether the overhead of the host cannot make a short run long enough.
    fn duration_is_certain(&self) -> bool {
        let performance = &self.measurement.performance;
        let least = self.settings.min_duration;
        let (elapsed, slack) = match self.settings.scenario {
            LoadScenario::Server => {
                return self.count_is_certain() || !performance.validity.min_duration;
            }
            LoadScenario::Offline => {
                let latency = performance.latency.max;
                (latency, SimSpan::from_ns((latency.ns() as f64 * RATE_TOLERANCES[2]) as u64))
            }
            LoadScenario::SingleStream | LoadScenario::MultiStream => {
                let slack = OVERHEAD.ns().saturating_mul(performance.queries);
                (performance.last_issued - SimTime::ZERO, SimSpan::from_ns(slack))
            }
        };
        elapsed >= least || elapsed + slack < least
    }

    /// Whether no limit on the number of queries lies between the simulated and the recorded number.
    fn queries_are_certain(&self, told: &Told) -> bool {
        let Some(recorded) = told.queries else { return true };
        let performance = &self.measurement.performance;
        let simulated = performance.queries;
        let between = |least: u64| (recorded >= least) != (simulated >= least);
        let needed = match performance.validity.early_stopping {
            Some(EarlyStoppingOutcome::Estimates { target, .. }) => target.needed,
            _ => 0,
        };
        !between(self.settings.min_query_count) && !between(needed)
    }

    /// Compares the search for the peak.
    pub(super) fn peak(&self, case: &Case, tally: &mut Tally) {
        let Some(search) = &self.search else { return };
        let sought = &case.expected.sought;
        if let Some(expected) = &sought.messages {
            let found = search_messages(search);
            let longest = expected.len().max(found.len());
            for index in 0..longest {
                let expected = expected.get(index).map_or("nothing", |text| &**text);
                let found = found.get(index).map_or("nothing", String::as_str);
                tally.equal(format_args!("loadgen_search_path, step {index}"), expected, found);
            }
        }
        if let Some(trials) = &sought.trials {
            let path = |trials: &mut dyn Iterator<Item = (f64, bool)>| {
                let steps = trials.map(|(rate, passes)| format!("{rate} {passes}"));
                steps.collect::<Vec<_>>().join(", ")
            };
            let found = &mut search.trials.iter().map(|trial| (trial.value, trial.passes));
            let expected = path(&mut trials.iter().copied());
            tally.equal("ideal_search_path", expected, path(found));
        }
        tally.equal_if("passes", sought.runs, search.trials.len() as u64);
        if let Some((peak, ())) = search.peak {
            tally.equal_if("ideal_peak_qps", sought.peak, peak);
        }
        let printed = sought.printed_peak.map(six_digits);
        tally.equal_if("final_target_qps", printed, six_digits(self.settings.target_qps));
    }

    /// Compares latencies and rates, which must be near.
    ///
    /// The 99.9th percentile and the largest latency show stalls of the host and are not compared, nor is
    /// any percentile that is the largest latency because there are few queries.
    pub(super) fn latencies(&self, case: &Case, tally: &mut Tally) {
        let performance = &self.measurement.performance;
        if let Some(measured) = &case.expected.measured {
            let shorter = measured.count.min(performance.latency.count as u64) as usize;
            for (index, percentile) in PERCENTILES.into_iter().enumerate().take(5) {
                if percentile_index(shorter, percentile).is_some_and(|rank| rank + 1 < shorter) {
                    self.percentile(index, measured.percentiles[index], tally);
                }
            }
        }
        let told = &case.expected.told;
        let [scheduled, completed, throughput] = RATE_TOLERANCES;
        match self.settings.scenario {
            LoadScenario::Server if self.count_is_certain() => {
                let found = performance.scheduled_rate();
                tally.near_if("scheduled rate (simulated)", told.scheduled_rate, found, scheduled);
                let found = performance.completed_rate();
                let is_host_bound = self.with_overhead.is_some();
                let tolerance = if is_host_bound { TOLERANCE } else { completed };
                tally.near_if("completed rate (simulated)", told.completed_rate, found, tolerance);
            }
            LoadScenario::Offline => {
                let found = performance.throughput();
                tally.near_if("throughput (simulated)", told.throughput, found, throughput);
            }
            _ => {}
        }
    }

    fn percentile(&self, index: usize, measured: SimSpan, tally: &mut Tally) {
        let simulated = self.measurement.performance.latency.percentiles[index];
        let distance = measured.ns().abs_diff(simulated.ns());
        let deviation = distance as f64 / (simulated.ns() as f64).max(1.0);
        let is_near = distance <= TOLERANCE_NS || deviation <= TOLERANCE;
        let is_explained = self
            .with_overhead
            .is_some_and(|slowed| (simulated..=slowed[index]).contains(&measured));
        let what = format!("percentile {} (simulated, ns)", 100.0 * PERCENTILES[index].get());
        let values = [measured, simulated].map(|latency| latency.ns() as f64);
        tally.deviation(&what, values, deviation, is_near || is_explained);
    }

    /// Whether the reference simulation has the same statistics to the nanosecond.
    pub(super) fn equals_ideal(&self, ideal: &Percentiles) -> bool {
        let found = &self.measurement.performance.latency;
        let found = Percentiles {
            count: found.count as u64,
            percentiles: found.percentiles,
            min: found.min,
            max: found.max,
            mean: found.mean,
        };
        found == *ideal
    }
}
