//! `xrsim validate`: comparisons with reference data.

mod eyeriss;
mod figure5;
mod loadgen;

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, Subcommand};

use crate::config::{Catalog, Edition, Source, cost_cases};
use crate::report::table;

use super::message::Failure;
use super::show::facts;
use super::{output, table_style};

/// Compare the simulator with reference data: that of the program, or tables of your own.
#[derive(Debug, Args)]
pub struct ValidateArgs {
    /// Tables of your own.
    #[command(subcommand)]
    what: Option<Validation>,
}

/// Kinds of tables.
#[derive(Debug, Subcommand)]
enum Validation {
    /// Compare the loop-nest cost model with tables of cases; exits with 1 if a row differs.
    Cost {
        /// CSV file of cases: layer, mapping, machine, and every expected count; repeat for more.
        #[arg(long, value_name = "FILE.csv", required = true)]
        cases: Vec<PathBuf>,
    },
    /// Compare MLPerf load tests with runs of the real LoadGen; exits with 1 if a case differs.
    Loadgen {
        /// Folder with cases.json and, for any of its cases, queries/ID.csv and summary/ID.txt; repeat
        /// for more.
        #[arg(long, value_name = "DIR", required = true)]
        cases: Vec<PathBuf>,
    },
}

/// Makes the comparisons that `args` name.
///
/// # Errors
///
/// Returns a failure if a comparison that must hold does not, or if a table cannot be read.
pub fn run(args: &ValidateArgs) -> Result<(), Failure> {
    match &args.what {
        None => all(),
        Some(Validation::Cost { cases }) => cost(cases),
        Some(Validation::Loadgen { cases }) => loadgen::run(cases),
    }
}

/// Tables of cases that come with the program.
const CASES: [(&str, &str); 4] = [
    ("random small layers", include_str!("../../../validation/loop_nest_cases.csv")),
    ("random larger layers", include_str!("../../../validation/loop_nest_cases_big.csv")),
    ("legal and illegal mappings", include_str!("../../../validation/loop_nest_legality.csv")),
    ("layers of the published study", include_str!("../../../validation/loop_nest_xrbench.csv")),
];

/// A line of the table of comparisons.
struct Comparison {
    /// What is compared.
    what: String,
    /// With what.
    with: &'static str,
    /// What came out.
    result: String,
    /// Whether it is as it must be; `None` where nothing must be.
    passes: Option<bool>,
}

/// Makes every comparison that needs no file of the user's, and prints one table; then the chip that
/// was measured, layer by layer.
///
/// # Errors
///
/// If a comparison that must hold does not.
fn all() -> Result<(), Failure> {
    let eyeriss = eyeriss::compare()?;
    let mut comparisons = Vec::new();
    for (what, text) in CASES {
        comparisons.push(cases(what, text)?);
    }
    comparisons.extend(eyeriss.comparisons());
    comparisons.push(figure5::compare()?);
    comparisons.extend(networks()?);
    comparisons.extend(loadgen::compare()?);
    let mut table =
        table::new_table(table_style(), &["comparison", "with", "result", "verdict"], 4);
    for Comparison { what, with, result, passes } in &comparisons {
        let verdict = passes.map_or("stated", |passes| if passes { "equal" } else { "DIFFERS" });
        table.add_row([what, *with, result, verdict]);
    }
    output::print_text(&format!("{}\n{}", table::render(&table), eyeriss.to_table(table_style())))?;
    match comparisons.iter().filter(|comparison| comparison.passes == Some(false)).count() {
        0 => Ok(()),
        failed => Err(Failure::Check(format!("{failed} comparisons differ"))),
    }
}

fn cases(what: &str, text: &str) -> Result<Comparison, Failure> {
    let source: Arc<Source> = Source::new(what, text);
    let verdicts = cost_cases::check(&source)?;
    let equal = verdicts.iter().filter(|verdict| verdict.difference.is_none()).count();
    Ok(Comparison {
        what: format!("loop-nest model, {what}"),
        with: "enumeration step by step",
        result: format!("{equal} of {} rows equal", verdicts.len()),
        passes: Some(equal == verdicts.len()),
    })
}

/// Parameters and multiply-accumulates of the reference networks against published figures.
fn networks() -> Result<Vec<Comparison>, Failure> {
    let mut catalog = Catalog::with_networks(Edition::Reference);
    let mut comparisons = Vec::new();
    let names = [catalog.names(crate::config::Kind::Network), catalog.mlperf_networks()];
    for name in names.concat() {
        let model = catalog.model(&name)?;
        let published = model.published.is_some();
        comparisons.push(Comparison {
            what: format!("network {name}"),
            with: if published { "published size" } else { "nothing published" },
            result: facts(&model).summary(),
            passes: None,
        });
    }
    Ok(comparisons)
}

/// Compares the loop-nest cost model with tables of cases and says how many rows are equal, and
/// where the first one differs.
///
/// # Errors
///
/// A table that cannot be read, or one with a row that differs.
fn cost(tables: &[PathBuf]) -> Result<(), Failure> {
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
        output::print_text(&format!(
            "{}: {n_equal} of {} rows equal\n",
            source.name(),
            verdicts.len()
        ))?;
        if let Some((line, difference)) = first {
            output::print_text(&format!(
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
