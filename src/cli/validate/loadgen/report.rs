//! The comparison of a case, and how it is printed.

use crate::config::loadgen_cases::{Case, Cases};
use crate::report::table::{new_table, render};

use super::super::super::table_style;
use super::super::Comparison;
use super::detail;
use super::recorded;
use super::simulated::Simulated;
use super::summary::{self, Latencies};
use super::tally::Tally;

/// Columns of the table, and what plain `xrsim validate` calls them.
const ASPECTS: [(&str, &str); 9] = [
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

/// Position of the last, which need only be near.
const SIMULATED: usize = ASPECTS.len() - 1;

/// The comparison of one case.
pub struct CaseReport {
    id: Box<str>,
    line: usize,
    queries: u64,
    tallies: [Tally; ASPECTS.len()],
    /// Whether the simulation by others is equal to the nanosecond, which nothing depends on.
    equals_ideal: Option<bool>,
}

impl CaseReport {
    /// Compares `case` with its simulation.
    pub fn of(case: &Case, simulated: &Simulated) -> Self {
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

    fn cells(&self) -> Vec<String> {
        let mut cells = vec![self.id.to_string(), self.queries.to_string()];
        let cell = |tally: &Tally| match (tally.is_empty(), tally.is_equal()) {
            (true, _) => "-".into(),
            (_, true) => "equal".into(),
            _ => "DIFFERS".to_string(),
        };
        cells.extend(self.tallies[..SIMULATED].iter().map(cell));
        let near = &self.tallies[SIMULATED];
        cells.push(match near.largest {
            Some(largest) if near.is_equal() => format!("{:.2} %", 100.0 * largest),
            _ => cell(near),
        });
        cells.push(match self.equals_ideal {
            None => "-".into(),
            Some(true) => "equal".into(),
            Some(false) => "other".into(),
        });
        cells
    }
}

/// A table of all cases, and the first difference of each that has one.
pub fn to_table(cases: &Cases, reports: &[CaseReport]) -> String {
    let mut header = vec!["case", "queries"];
    header.extend(ASPECTS.iter().map(|(column, _)| *column));
    header.push("ideal");
    let mut table = new_table(table_style(), &header, 1);
    for report in reports {
        table.add_row(report.cells());
    }
    let equal = reports.iter().filter(|report| report.is_equal()).count();
    let name = cases.source.name();
    let mut text = format!("{}{name}: {equal} of {} cases equal\n", render(&table), reports.len());
    for report in reports {
        let first = report.tallies.iter().find_map(|tally| tally.first.as_ref());
        if let Some(difference) = first {
            let (line, id) = (report.line, &report.id);
            text += &format!("  first difference of {id} (line {line}): {difference}\n");
        }
    }
    text
}

/// A line that says how many draws are equal.
pub fn vectors_line(name: &str, tally: &Tally) -> String {
    let first = tally.first.as_ref();
    let first = first.map(|difference| format!("  first difference: {difference}\n"));
    format!("{name}: {tally}\n{}", first.unwrap_or_default())
}

/// Lines of the table of all comparisons: all cases together, an aspect a line.
pub fn comparisons(reports: &[CaseReport]) -> Vec<Comparison> {
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
            passes: Some(all.is_equal()),
        });
    }
    comparisons
}
