//! Comparisons of the simulator with reference data: cases in, comparisons out.
//!
//! [`all`] makes every comparison whose reference data comes with the program. [`cost_table`],
//! [`cross::compare`] and [`loadgen::compare`] compare with tables of the user. Everything here is data: it prints nothing and
//! writes no file.

pub mod cross;
mod figure5;
pub mod loadgen;
pub mod networks;
mod power;
mod tally;

use std::fmt;
use std::sync::Arc;

use serde_json::{Value, json};
use thiserror::Error;

use crate::reproduce::ReproduceError;
use xrsim_config::cost_cases::{self, Difference};
use xrsim_config::{ConfigError, Source};
use xrsim_experiment::ExperimentError;
use xrsim_mlperf::run::RunError;

use cross::{Number, Summary};

pub use tally::{Mismatch, Tally};

/// Tables of cases that come with the program.
const CASES: [(&str, &str); 4] = [
    ("random small layers", include_str!("../../../../tests/reference/loop_nest_cases.csv")),
    ("random larger layers", include_str!("../../../../tests/reference/loop_nest_cases_big.csv")),
    (
        "legal and illegal mappings",
        include_str!("../../../../tests/reference/loop_nest_legality.csv"),
    ),
    (
        "layers of the published study",
        include_str!("../../../../tests/reference/loop_nest_xrbench.csv"),
    ),
];

/// Comparison of one part of the simulator with one set of reference data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comparison {
    /// Part of the simulator that is compared.
    pub what: String,
    /// Reference data.
    pub with: &'static str,
    /// Result in words.
    pub result: String,
    /// Verdict.
    pub verdict: Verdict,
}

/// Verdict of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Equal to the reference, within the tolerance of the comparison.
    Equal,
    /// Different from the reference, which is an error of the simulator.
    Differs,
    /// A difference that is stated without a requirement.
    Stated,
}

impl Verdict {
    fn from_equal(is_equal: bool) -> Self {
        if is_equal { Self::Equal } else { Self::Differs }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Equal => "equal",
            Self::Differs => "DIFFERS",
            Self::Stated => "stated",
        })
    }
}

/// Every comparison whose reference data comes with the program.
#[derive(Debug, Clone)]
pub struct Comparisons {
    /// The comparisons.
    pub comparisons: Vec<Comparison>,
    /// The comparisons with other cost models and a measured chip, number by number.
    pub numbers: Vec<Number>,
}

impl Comparisons {
    /// Number of comparisons that must be equal and differ, and of numbers that differ without a stated
    /// reason.
    pub fn n_different(&self) -> usize {
        let n_comparisons =
            self.comparisons.iter().filter(|it| it.verdict == Verdict::Differs).count();
        n_comparisons + cross::n_different(&self.numbers)
    }

    /// One document: `comparisons` in their order, and `numbers` by source and quantity.
    pub fn to_json(&self) -> Value {
        let comparison = |it: &Comparison| {
            json!({
                "comparison": it.what, "with": it.with, "result": it.result,
                "verdict": it.verdict.to_string(),
            })
        };
        let numbers = |it: &Summary| {
            json!({
                "with": it.source, "quantity": it.quantity, "numbers": it.n, "equal": it.n_equal,
                "within": it.n_within, "tolerance": it.tolerance, "by_rule": it.n_by_rule,
                "not_reproduced": it.n_open, "different": it.n_different, "geometric_mean": it.geometric_mean(),
                "mean_error": it.mean_error(), "median_error": it.median_error(), "spearman": it.spearman(),
            })
        };
        json!({
            "comparisons": self.comparisons.iter().map(comparison).collect::<Vec<_>>(),
            "numbers": Summary::of(&self.numbers).iter().map(numbers).collect::<Vec<_>>(),
        })
    }
}

/// Makes every comparison whose reference data comes with the program.
///
/// # Errors
///
/// [`ValidateError`] if an embedded input file is invalid or cannot run. The tests make every comparison.
pub fn all() -> Result<Comparisons, ValidateError> {
    let mut comparisons = Vec::new();
    for (what, text) in CASES {
        let table = cost_table(&Source::new(what, text))?;
        comparisons.push(Comparison {
            what: format!("loop-nest model, {what}"),
            with: "enumeration step by step",
            result: format!("{} of {} rows equal", table.n_equal(), table.n_rows),
            verdict: Verdict::from_equal(table.n_different == 0),
        });
    }
    comparisons.push(figure5::compare()?);
    comparisons.extend(networks::compare()?);
    comparisons.extend(loadgen::compare_embedded()?);
    comparisons.extend(power::compare()?);
    Ok(Comparisons { comparisons, numbers: cross::shipped()? })
}

/// The comparisons of [`all`] of power at operating points.
///
/// # Errors
///
/// As [`all`].
pub fn power() -> Result<Comparisons, ValidateError> {
    Ok(Comparisons { comparisons: power::compare()?, numbers: Vec::new() })
}

/// Comparison of the loop-nest cost model with a table of cases.
#[derive(Debug, Clone)]
pub struct CostTableReport {
    /// Rows of the table.
    pub n_rows: usize,
    /// Rows that differ.
    pub n_different: usize,
    /// Line and first difference of the first row that differs.
    pub first: Option<(usize, Difference)>,
}

impl CostTableReport {
    /// Number of rows that are equal.
    pub fn n_equal(&self) -> usize {
        self.n_rows - self.n_different
    }
}

/// Compares the loop-nest cost model with the cases of `table`.
///
/// # Errors
///
/// [`ConfigError::Invalid`] with every problem of the table.
pub fn cost_table(table: &Arc<Source>) -> Result<CostTableReport, ConfigError> {
    let verdicts = cost_cases::check(table)?;
    let n_rows = verdicts.len();
    let mut different =
        verdicts.into_iter().filter_map(|it| it.difference.map(|difference| (it.line, difference)));
    let first = different.next();
    let n_different = usize::from(first.is_some()) + different.count();
    Ok(CostTableReport { n_rows, n_different, first })
}

/// Reason for which a comparison cannot be made.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ValidateError {
    /// An input file is invalid.
    #[error(transparent)]
    Input(#[from] ConfigError),
    /// A measured chip cannot be made.
    #[error(transparent)]
    Chip(#[from] ExperimentError),
    /// The published study cannot be made.
    #[error(transparent)]
    Study(#[from] ReproduceError),
    /// A load test of the user is too large.
    #[error("{file}:{line}: case `{id}`: {error}")]
    Case {
        /// File of the case.
        file: String,
        /// Line in which the case begins, counted from 1.
        line: usize,
        /// Name of the case.
        id: Box<str>,
        /// Error of the load test.
        error: RunError,
    },
}
