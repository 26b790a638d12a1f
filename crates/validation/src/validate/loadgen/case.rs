//! The comparison of a case.

use crate::validate::{Comparison, Mismatch, Tally, Verdict};
use xrsim_config::loadgen_cases::Case;

use super::detail;
use super::recorded;
use super::simulated::Simulated;
use super::summary::{self, Latencies};

/// Aspects of a case that are compared, each with a short name for a column and a long one.
pub const ASPECTS: [(&str, &str); 9] = [
    ("schedule", "schedules"),
    ("samples", "samples of queries"),
    ("statistics", "statistics of recorded latencies"),
    ("early stopping", "early stopping"),
    ("verdict", "verdicts"),
    ("summary", "summaries"),
    ("detail", "detailed logs"),
    ("peak", "searches for the peak"),
    ("deviation", "simulated latencies and rates"),
];

/// Index of the last aspect, which need only be near.
const SIMULATED: usize = ASPECTS.len() - 1;

/// The comparison of one case.
#[derive(Debug, Clone)]
pub struct CaseReport {
    /// Name of the case.
    pub id: Box<str>,
    /// Line in which the case begins, counted from 1.
    pub line: usize,
    /// Queries of the simulated run.
    pub queries: u64,
    /// Comparison of each of [`ASPECTS`].
    pub tallies: [Tally; ASPECTS.len()],
    /// Whether the reference simulation of the case has the same statistics to the nanosecond, if the
    /// case has one. No verdict depends on it.
    pub equals_ideal: Option<bool>,
}

impl CaseReport {
    /// Compares `case` with its simulation.
    pub(super) fn compare(case: &Case, simulated: &Simulated) -> Self {
        let mut tallies: [Tally; ASPECTS.len()] = std::array::from_fn(|_| Tally::default());
        let [due, samples, statistics, early, verdict, lines, details, peak, latencies] =
            &mut tallies;
        simulated.schedule(&case.expected.told, due);
        recorded::schedule(case, &simulated.measurement.schedule, [due, samples]);
        simulated.verdict(&case.expected.verdict, &case.expected.told, verdict);
        if let Some(errors) = &case.expected.errors {
            simulated.endings(errors, verdict);
        }
        match recorded::performance(case, simulated) {
            Some(performance) => {
                recorded::statistics_of(case, &performance, statistics);
                recorded::early_stopping(case, &performance, early);
                recorded::verdict(case, &performance, verdict);
                detail::compare(case, simulated, &performance, Latencies::Recorded, details);
                if recorded::duration_is_certain(case, &performance) {
                    let settings = &case.settings;
                    summary::compare(case, settings, &performance, Latencies::Recorded, lines);
                }
            }
            None => {
                let performance = &simulated.measurement.performance;
                let settings = &simulated.settings;
                detail::compare(case, simulated, performance, Latencies::Simulated, details);
                summary::compare(case, settings, performance, Latencies::Simulated, lines);
            }
        }
        simulated.peak(case, peak);
        simulated.latencies(case, latencies);
        let ideal = case.expected.ideal.as_ref();
        Self {
            id: case.id.clone(),
            line: case.line,
            queries: simulated.measurement.performance.queries,
            tallies,
            equals_ideal: ideal.map(|ideal| simulated.equals_ideal(ideal)),
        }
    }

    /// Whether nothing differs.
    pub fn is_equal(&self) -> bool {
        self.tallies.iter().all(Tally::is_equal)
    }

    /// The first difference, if there is one.
    pub fn first_mismatch(&self) -> Option<&Mismatch> {
        self.tallies.iter().find_map(|tally| tally.first.as_ref())
    }
}

/// Comparisons over all cases, one for each aspect that any case has.
pub(super) fn comparisons(reports: &[CaseReport]) -> Vec<Comparison> {
    let mut comparisons = Vec::new();
    for (index, (_, what)) in ASPECTS.iter().enumerate() {
        let mut all = Tally::default();
        reports.iter().for_each(|report| all.extend(&report.tallies[index]));
        if all.is_empty() {
            continue;
        }
        let result = match all.largest.filter(|_| index == SIMULATED) {
            Some(largest) => format!("{all}, largest deviation {:.2} %", 100.0 * largest),
            None => all.to_string(),
        };
        comparisons.push(Comparison {
            what: format!("LoadGen, {what}"),
            with: "LoadGen 6.0.17",
            result,
            verdict: Verdict::from_equal(all.is_equal()),
        });
    }
    comparisons
}
