//! Runs of the real LoadGen against simulations of the same runs, case by case.
//!
//! Schedules, samples and everything that follows from the recorded latencies must be equal. Simulated
//! latencies must be near: LoadGen, its Python system and their host added 40 to 180 us to a query.

mod case;
mod detail;
mod recorded;
mod simulated;
mod summary;
mod vectors;

use std::sync::Arc;

use xrsim_config::Source;
use xrsim_config::loadgen_cases::{CaseFiles, Cases};

use super::{Comparison, Tally, ValidateError, Verdict};

use simulated::Simulated;

pub use case::{ASPECTS, CaseReport};

/// Cases that come with the program.
const CASES: &str = include_str!("../../../../../tests/reference/loadgen/cases.json");

/// Random draws that come with the program.
const VECTORS: &str = include_str!("../../../../../tests/reference/loadgen/rng_vectors.json");

/// Logs of some of these cases.
const LOGS: [(&str, &str); 5] = [
    (
        "ss04_too_few",
        include_str!("../../../../../tests/reference/loadgen/queries/ss04_too_few.csv"),
    ),
    (
        "ss06_max_query",
        include_str!("../../../../../tests/reference/loadgen/queries/ss06_max_query.csv"),
    ),
    (
        "ss09_bimodal_n64",
        include_str!("../../../../../tests/reference/loadgen/queries/ss09_bimodal_n64.csv"),
    ),
    (
        "sv_earlystop_fail",
        include_str!("../../../../../tests/reference/loadgen/queries/sv_earlystop_fail.csv"),
    ),
    (
        "sv_md1_q250_maxasync",
        include_str!("../../../../../tests/reference/loadgen/queries/sv_md1_q250_maxasync.csv"),
    ),
];

/// Comparison of a folder of cases.
#[derive(Debug, Clone)]
pub struct Report {
    /// Comparison of each case, in order.
    pub cases: Vec<CaseReport>,
    /// Name of the file of random draws and their comparison, if the folder has one.
    pub vectors: Option<(String, Tally)>,
}

impl Report {
    /// Number of cases that are equal.
    pub fn n_equal(&self) -> usize {
        self.cases.iter().filter(|case| case.is_equal()).count()
    }

    /// Number of cases that differ; the file of random draws counts as one.
    pub fn n_different(&self) -> usize {
        let vectors = self.vectors.as_ref().is_some_and(|(_, tally)| !tally.is_equal());
        self.cases.len() - self.n_equal() + usize::from(vectors)
    }
}

/// Simulates every case and compares it with the run of LoadGen.
///
/// # Errors
///
/// [`ValidateError::Case`] if the settings of a case make too large a run.
pub fn compare(cases: &Cases) -> Result<Report, ValidateError> {
    let reports = cases.cases.iter().map(|case| {
        let simulated = Simulated::simulate(case).map_err(|error| ValidateError::Case {
            file: cases.source.name().into(),
            line: case.line,
            id: case.id.clone(),
            error,
        })?;
        Ok(CaseReport::compare(case, &simulated))
    });
    let vectors = cases.vectors.as_ref();
    Ok(Report {
        cases: reports.collect::<Result<_, ValidateError>>()?,
        vectors: vectors.map(|(file, draws)| (file.name().into(), vectors::compare(draws))),
    })
}

/// Compares the cases that come with the program, one comparison for each of [`ASPECTS`].
///
/// # Errors
///
/// [`ValidateError`] if an embedded case is invalid.
pub(super) fn compare_embedded() -> Result<Vec<Comparison>, ValidateError> {
    let vectors = Source::new("rng_vectors.json", VECTORS);
    let cases = Cases::parse(Source::new("cases.json", CASES), Some(vectors), |id| {
        let log = LOGS.iter().find(|(known, _)| *known == id);
        let log = log.map(|(name, text)| Source::new(format!("{name}.csv"), *text));
        Ok(CaseFiles { log, ..CaseFiles::default() })
    })?;
    let report = compare(&cases)?;
    let mut comparisons = case::comparisons(&report.cases);
    if let Some((_, tally)) = &report.vectors {
        comparisons.insert(0, of_vectors(tally));
    }
    Ok(comparisons)
}

fn of_vectors(tally: &Tally) -> Comparison {
    Comparison {
        what: "LoadGen, random numbers and early-stopping counts".into(),
        with: "LoadGen 6.0.17, GCC 11",
        result: tally.to_string(),
        verdict: Verdict::from_equal(tally.is_equal()),
    }
}

/// File and line of a log or a summary, for a difference.
fn place(source: &Arc<Source>, line: usize) -> String {
    format!("{}:{line}", source.name())
}
