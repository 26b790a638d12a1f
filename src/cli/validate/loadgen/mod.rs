//! `xrsim validate loadgen`: runs of the real LoadGen against the same runs simulated, case by case.
//!
//! Schedules, samples and everything that follows from the recorded latencies must be equal. Simulated
//! latencies must be near: LoadGen, its Python system and their host added 40 to 180 us to a query.

mod detail;
mod recorded;
mod report;
mod simulated;
mod summary;
mod tally;
mod vectors;

use std::path::PathBuf;
use std::sync::Arc;

use crate::config::Source;
use crate::config::loadgen_cases::{Case, CaseFiles, Cases};

use super::super::message::Failure;
use super::super::output;
use super::Comparison;

use report::{CaseReport, to_table};
use simulated::Simulated;
use tally::Tally;

/// Cases that come with the program.
const CASES: &str = include_str!("../../../../validation/loadgen/cases.json");

/// Draws that come with the program.
const VECTORS: &str = include_str!("../../../../validation/loadgen/rng_vectors.json");

/// Logs of the former.
const LOGS: [(&str, &str); 5] = [
    ("ss04_too_few", include_str!("../../../../validation/loadgen/queries/ss04_too_few.csv")),
    ("ss06_max_query", include_str!("../../../../validation/loadgen/queries/ss06_max_query.csv")),
    (
        "ss09_bimodal_n64",
        include_str!("../../../../validation/loadgen/queries/ss09_bimodal_n64.csv"),
    ),
    (
        "sv_earlystop_fail",
        include_str!("../../../../validation/loadgen/queries/sv_earlystop_fail.csv"),
    ),
    (
        "sv_md1_q250_maxasync",
        include_str!("../../../../validation/loadgen/queries/sv_md1_q250_maxasync.csv"),
    ),
];

/// Compares folders of cases and prints a table of each, and where the first difference of every case
/// is.
///
/// # Errors
///
/// A folder that cannot be read, or one with a case that differs.
pub fn run(folders: &[PathBuf]) -> Result<(), Failure> {
    let mut n_different = 0;
    for folder in folders {
        let cases = Cases::read(folder)?;
        let reports = reports(&cases)?;
        output::print_text(&to_table(&cases, &reports))?;
        n_different += reports.iter().filter(|report| !report.is_equal()).count();
        if let Some((source, vectors)) = &cases.vectors {
            let tally = vectors::compare(vectors);
            output::print_text(&report::vectors_line(source.name(), &tally))?;
            n_different += usize::from(!tally.is_equal());
        }
    }
    match n_different {
        0 => Ok(()),
        _ => Err(Failure::Check(format!("{n_different} cases differ"))),
    }
}

fn reports(cases: &Cases) -> Result<Vec<CaseReport>, Failure> {
    cases.cases.iter().map(|case| report(&cases.source, case)).collect()
}

fn report(source: &Source, case: &Case) -> Result<CaseReport, Failure> {
    let simulated = Simulated::of(case).map_err(|error| {
        let place = format!("{}:{}", source.name(), case.line);
        Failure::Argument(format!("{place}: case `{}`: {error}", case.id))
    })?;
    Ok(CaseReport::of(case, &simulated))
}

/// Compares what comes with the program.
///
/// # Errors
///
/// None for the embedded files that the tests have seen.
pub(super) fn compare() -> Result<Vec<Comparison>, Failure> {
    let vectors = Source::new("rng_vectors.json", VECTORS);
    let cases = Cases::parse(Source::new("cases.json", CASES), Some(vectors), |id| {
        let log = LOGS.iter().find(|(known, _)| *known == id);
        let log = log.map(|(name, text)| Source::new(format!("{name}.csv"), *text));
        Ok(CaseFiles { log, ..CaseFiles::default() })
    })?;
    let reports = reports(&cases)?;
    let mut comparisons: Vec<_> = report::comparisons(&reports);
    if let Some((_, vectors)) = &cases.vectors {
        comparisons.insert(0, of_vectors(&vectors::compare(vectors)));
    }
    Ok(comparisons)
}

fn of_vectors(tally: &Tally) -> Comparison {
    Comparison {
        what: "LoadGen, random numbers and early-stopping counts".into(),
        with: "LoadGen 6.0.17, GCC 11",
        result: tally.to_string(),
        passes: Some(tally.is_equal()),
    }
}

/// The file that a log or a summary came from, for a difference.
fn place(source: &Arc<Source>, line: usize) -> String {
    format!("{}:{line}", source.name())
}
