//! Log of LoadGen for every sample, as CSV.

use std::sync::Arc;

use crate::cost_csv::{Row, rows};
use crate::{ConfigError, Problem, Source};
use xrsim_mlperf::settings::{EffectiveSettings, LoadScenario};
use xrsim_model::units::{SimSpan, SimTime};

use super::{MAX_PROBLEMS, finish};

const OF_SAMPLES: [&str; 6] =
    ["sample_seq", "query_seq", "sample_idx", "scheduled_ns", "issue_delay_ns", "latency_ns"];

const OF_CURVE: [&str; 2] = ["sample_seq", "complete_ns"];

/// A completed sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogRow {
    /// Line of the file, counted from 1.
    pub line: usize,
    /// Index in the data set.
    pub index: u64,
    /// Time at which its query was due, from the first query on.
    pub scheduled: SimTime,
    /// Delay from that time until the query was issued.
    pub issue_delay: SimSpan,
    /// Latency from that time until the sample was completed.
    pub latency: SimSpan,
}

/// Log of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueryLog {
    /// Every sample, query by query.
    Samples {
        /// The file.
        source: Arc<Source>,
        /// The samples; at least one.
        rows: Vec<LogRow>,
    },
    /// Offline: completion times of some of the samples, as (position, time).
    Curve(Vec<(u64, SimTime)>),
}

impl QueryLog {
    /// Reads the log of a run with `settings`.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Invalid`] if columns are missing, a cell is not a number, or rows are missing.
    pub(super) fn parse(
        source: &Arc<Source>,
        settings: &EffectiveSettings,
    ) -> Result<Self, ConfigError> {
        let mut problems = Vec::new();
        let parsed = match settings.scenario {
            LoadScenario::Offline => curve(source, &mut problems).map(Self::Curve),
            _ => samples(source, settings.samples_per_query, &mut problems)
                .map(|rows| Self::Samples { source: Arc::clone(source), rows }),
        };
        if let (None, true) = (&parsed, problems.is_empty()) {
            problems.push(Problem::new(0..0, "the log is empty"));
        }
        finish(source, problems)?;
        Ok(parsed.unwrap_or_else(|| Self::Curve(Vec::new())))
    }
}

/// Reads rows of numbers under `columns`. Returns `None` if there are no rows, or if they have problems.
fn table<const N: usize>(
    source: &Source,
    columns: [&str; N],
    problems: &mut Vec<Problem>,
    mut add: impl FnMut(&Row<'_>, usize, [u64; N]) -> Result<(), Problem>,
) -> Option<()> {
    let mut rows = rows(source.text());
    let header = rows.next()?;
    if !header.cells.iter().eq(columns) {
        let problem = Problem::new(header.line(), "these are not the columns of a log");
        problems.push(problem.help(columns.join(",")));
        return None;
    }
    let mut found = None;
    let mut lines = crate::cost_cases::Lines::new(source.text());
    for row in rows {
        let line = lines.at(row.line().start);
        match numbers(&row).and_then(|numbers| add(&row, line, numbers)) {
            Ok(()) => found = Some(()),
            Err(problem) => problems.push(problem),
        }
        if problems.len() >= MAX_PROBLEMS {
            break;
        }
    }
    found
}

fn numbers<const N: usize>(row: &Row<'_>) -> Result<[u64; N], Problem> {
    row.check_width(N)?;
    let mut numbers = [0; N];
    for (index, number) in numbers.iter_mut().enumerate() {
        let text = &row.cells[index];
        *number = text.parse().map_err(|_| {
            let text = crate::printable(text);
            row.problem(index, format!("`{text}` is no whole number of 0 or more"))
        })?;
    }
    Ok(numbers)
}

fn samples(
    source: &Source,
    samples_per_query: u64,
    problems: &mut Vec<Problem>,
) -> Option<Vec<LogRow>> {
    let mut samples: Vec<LogRow> = Vec::new();
    table(source, OF_SAMPLES, problems, |row, line, numbers| {
        let [sample, query, index, scheduled, issue_delay, latency] = numbers;
        let expected = samples.len() as u64;
        if sample != expected {
            return Err(row.problem(0, format!("sample {sample} where {expected} is expected")));
        }
        let expected = sample / samples_per_query;
        if query != expected {
            return Err(row.problem(1, format!("query {query} where {expected} is expected")));
        }
        samples.push(LogRow {
            line,
            index,
            scheduled: SimTime::from_ns(scheduled),
            issue_delay: SimSpan::from_ns(issue_delay),
            latency: SimSpan::from_ns(latency),
        });
        Ok(())
    })?;
    if !(samples.len() as u64).is_multiple_of(samples_per_query) {
        let end = source.text().len();
        let message = format!("the last query has fewer than {samples_per_query} samples");
        problems.push(Problem::new(end..end, message));
    }
    Some(samples)
}

fn curve(source: &Source, problems: &mut Vec<Problem>) -> Option<Vec<(u64, SimTime)>> {
    let mut curve: Vec<(u64, SimTime)> = Vec::new();
    table(source, OF_CURVE, problems, |row, _, [sample, completed]| {
        if curve.last().is_some_and(|&(before, _)| before >= sample) {
            return Err(row.problem(0, format!("sample {sample} is not after the one before")));
        }
        curve.push((sample, SimTime::from_ns(completed)));
        Ok(())
    })?;
    Some(curve)
}
