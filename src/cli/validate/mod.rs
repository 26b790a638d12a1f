//! `xrsim validate`: comparisons with reference data.

use std::path::PathBuf;

use crate::config::{Source, cost_cases};

use super::message::Failure;
use super::output;

/// Compares the principled cost model with tables of cases and says how many rows are equal, and
/// where the first one differs.
///
/// # Errors
///
/// A table that cannot be read, or one with a row that differs.
pub fn cost(tables: &[PathBuf]) -> Result<(), Failure> {
    let mut n_different = 0;
    for path in tables {
        let source = Source::read(path)?;
        let verdicts = cost_cases::check(&source)?;
        let mut different = verdicts.iter().filter_map(|verdict| {
            verdict.difference.as_ref().map(|difference| (verdict.line, difference))
        });
        let first = different.next();
        let n_here = first.iter().count() + different.count();
        let n_equal = verdicts.len() - n_here;
        output::print(&format!("{}: {n_equal} of {} rows equal\n", source.name(), verdicts.len()))?;
        if let Some((line, difference)) = first {
            output::print(&format!(
                "  first difference: line {line}, column {}: expected {}, found {}\n",
                difference.column, difference.expected, difference.found
            ))?;
        }
        n_different += n_here;
    }
    match n_different {
        0 => Ok(()),
        _ => Err(Failure::Check(format!("{n_different} rows differ"))),
    }
}
