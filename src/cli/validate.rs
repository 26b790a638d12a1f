//! `xrsim validate`: comparisons with reference data.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::config::Source;
use crate::config::loadgen_cases::Cases;
use crate::report::table::{Style, new_table, render};
use crate::validate::eyeriss::{CASES, Eyeriss};
use crate::validate::loadgen::{self, ASPECTS, CaseReport, Report};
use crate::validate::{self, Tally, ValidateError};

use super::message::{AndCheck as _, Failure};
use super::{output, table_style};

/// Compare the simulator with reference data: that of the program, or tables of your own.
#[derive(Debug, Args)]
pub(super) struct ValidateArgs {
    /// Tables of your own.
    #[command(subcommand)]
    tables: Option<Tables>,
}

/// Kinds of tables.
#[derive(Debug, Subcommand)]
enum Tables {
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
/// Returns a failure if a comparison that must be equal differs, or if a table cannot be read.
pub(super) fn run(args: &ValidateArgs) -> Result<(), Failure> {
    match &args.tables {
        None => compare_all(),
        Some(Tables::Cost { cases }) => compare_costs(cases),
        Some(Tables::Loadgen { cases }) => compare_loadgen(cases),
    }
}

impl From<ValidateError> for Failure {
    fn from(error: ValidateError) -> Self {
        match error {
            ValidateError::Input(error) => error.into(),
            ValidateError::Study(error) => error.into(),
            error => super::argument(error),
        }
    }
}

fn compare_all() -> Result<(), Failure> {
    let all = validate::all()?;
    let header = ["comparison", "with", "result", "verdict"];
    let mut table = new_table(table_style(), &header, header.len());
    for it in &all.comparisons {
        table.add_row([&it.what, it.with, &it.result, &it.verdict.to_string()]);
    }
    let chip = eyeriss_to_text(&all.eyeriss, table_style());
    let printed = output::print_text(&format!("{}\n{chip}", render(&table)));
    printed.and_check(check(all.n_different(), "comparisons"))
}

/// Fails if anything differs.
fn check(n_different: usize, things: &str) -> Result<(), Failure> {
    match n_different {
        0 => Ok(()),
        _ => Err(Failure::Check(format!("{n_different} {things} differ"))),
    }
}

/// Latency of every layer on the chip and in the model, with the errors of the model.
fn eyeriss_to_text(eyeriss: &Eyeriss, style: Style) -> String {
    let mut header = vec!["Eyeriss, AlexNet batch 4", "silicon ms"];
    header.extend(CASES.iter().flat_map(|case| [case, "error"]));
    let mut table = new_table(style, &header, 1);
    for it in &eyeriss.layers {
        let mut cells = vec![it.layer.clone(), format!("{:.1}", it.silicon_ms)];
        for ms in it.model_ms {
            let error = 100.0 * (ms / it.silicon_ms - 1.0);
            cells.extend([format!("{ms:.2}"), format!("{error:+.1} %")]);
        }
        table.add_row(cells);
    }
    let mean = |case| format!("{:.1} %", 100.0 * eyeriss.mean_error(case));
    let total = |case| format!("{:+.1} %", 100.0 * eyeriss.total_error(case));
    let mut summary = |name: &str, error: &dyn Fn(usize) -> String| {
        let mut cells = vec![name.to_string(), String::new()];
        cells.extend((0..CASES.len()).flat_map(|case| [String::new(), error(case)]));
        table.add_row(cells);
    };
    summary("mean absolute error", &mean);
    summary("error of the total", &total);
    render(&table)
}

/// Compares the loop-nest cost model with tables of cases. Prints the number of equal rows, and the first
/// row that differs.
fn compare_costs(tables: &[PathBuf]) -> Result<(), Failure> {
    let (mut n_different, mut printed) = (0, Ok(()));
    for path in tables {
        let source = Source::read(path)?;
        let report = validate::cost_table(&source)?;
        let mut text =
            format!("{}: {} of {} rows equal\n", source.name(), report.n_equal(), report.n_rows);
        if let Some((line, it)) = &report.first {
            text += &format!(
                "  first difference: line {line}, column {}: expected {}, found {}\n",
                it.column, it.expected, it.found
            );
        }
        printed = printed.and_then(|()| output::print_text(&text));
        n_different += report.n_different;
    }
    printed.and_check(check(n_different, "rows"))
}

/// Compares folders of cases. Prints a table for each, and the first difference of every case.
fn compare_loadgen(folders: &[PathBuf]) -> Result<(), Failure> {
    let (mut n_different, mut printed) = (0, Ok(()));
    for folder in folders {
        let cases = Cases::read(folder)?;
        let report = loadgen::compare(&cases)?;
        let text = loadgen_to_text(cases.source.name(), &report);
        printed = printed.and_then(|()| output::print_text(&text));
        n_different += report.n_different();
    }
    printed.and_check(check(n_different, "cases"))
}

fn loadgen_to_text(name: &str, report: &Report) -> String {
    let mut header = vec!["case", "queries"];
    header.extend(ASPECTS.iter().map(|(column, _)| *column));
    header.push("ideal");
    let mut table = new_table(table_style(), &header, 1);
    for case in &report.cases {
        table.add_row(loadgen_cells(case));
    }
    let (n_equal, n) = (report.n_equal(), report.cases.len());
    let mut text = format!("{}{name}: {n_equal} of {n} cases equal\n", render(&table));
    for case in &report.cases {
        if let Some(mismatch) = case.first_mismatch() {
            text +=
                &format!("  first difference of {} (line {}): {mismatch}\n", case.id, case.line);
        }
    }
    if let Some((name, tally)) = &report.vectors {
        text += &format!("{name}: {tally}\n");
        if let Some(mismatch) = &tally.first {
            text += &format!("  first difference: {mismatch}\n");
        }
    }
    text
}

fn loadgen_cells(case: &CaseReport) -> Vec<String> {
    let cell = |tally: &Tally| match (tally.is_empty(), tally.is_equal()) {
        (true, _) => "-",
        (_, true) => "equal",
        _ => "DIFFERS",
    };
    let mut cells = vec![case.id.to_string(), case.queries.to_string()];
    let [exact @ .., near] = &case.tallies;
    cells.extend(exact.iter().map(|tally| cell(tally).to_string()));
    cells.push(match near.largest.filter(|_| near.is_equal()) {
        Some(largest) => format!("{:.2} %", 100.0 * largest),
        None => cell(near).into(),
    });
    cells.push(match case.equals_ideal {
        None => "-".into(),
        Some(true) => "equal".into(),
        Some(false) => "other".into(),
    });
    cells
}
