//! `xrsim validate`: comparisons with reference data.

mod cross;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};

use xrsim_config::Source;
use xrsim_config::loadgen_cases::Cases;
use xrsim_validation::validate::loadgen::{self, ASPECTS, CaseReport, Report};
use xrsim_validation::validate::{self, Comparisons, Tally, ValidateError};

use super::message::{AndCheck as _, Failure};
use super::output;

/// Compare the simulator with reference data (built-in or your own).
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct ValidateArgs {
    /// Output format, of the comparisons with the data of the program.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: AllFormat,
    /// Tables of your own.
    #[command(subcommand)]
    tables: Option<Tables>,
}

/// Output format of all comparisons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum AllFormat {
    /// Tables for a terminal.
    Table,
    /// One JSON document: every comparison, and the numbers of other models and chips by source and quantity.
    Json,
}

/// Kinds of tables.
#[derive(Debug, Subcommand)]
enum Tables {
    /// Compare the loop-nest cost model with tables of cases, or with other models and measured chips;
    /// exits with 1 if a row differs.
    #[command(
        after_help = "Without --cases and --against, the tables of Timeloop, ZigZag, SCALE-Sim, Eyeriss, Gemmini's RTL, \
        NVDLA and Rockchip that come with the program are compared."
    )]
    Cost {
        /// CSV file of cases: layer, mapping, machine, and every expected count; repeat for more.
        #[arg(long, value_name = "FILE.csv")]
        cases: Vec<PathBuf>,
        /// CSV file with numbers of other models, RTL or chips, as in tests/reference/crossval; the header
        /// decides which. Exits with 1 if a number differs without a stated reason; repeat for more.
        #[arg(long, value_name = "FILE.csv", conflicts_with = "cases")]
        against: Vec<PathBuf>,
        /// Output format of comparisons: a summary, or a line a number.
        #[arg(long, value_name = "FORMAT", default_value = "table", conflicts_with = "cases")]
        format: cross::Format,
    },
    /// Compare power and costs at operating points with published powers, two chips and a table; exits with 1 if one
    /// differs.
    Power {
        /// Output format.
        #[arg(long, value_name = "FORMAT", default_value = "table")]
        format: AllFormat,
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
        None => print(&validate::all()?, args.format),
        Some(Tables::Power { format }) => print(&validate::power()?, *format),
        Some(Tables::Cost { cases, .. }) if !cases.is_empty() => compare_costs(cases),
        Some(Tables::Cost { against, format, .. }) => cross::compare(against, *format),
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

/// Prints comparisons. Fails if any differs.
fn print(all: &Comparisons, format: AllFormat) -> Result<(), Failure> {
    let printed = match format {
        AllFormat::Table => output::print_text(&all_to_text(all)),
        AllFormat::Json => output::print_json(&all.to_json()),
    };
    printed.and_check(check(all.n_different(), "comparisons"))
}

fn all_to_text(all: &Comparisons) -> String {
    let header = ["comparison", "with", "result", "verdict"];
    let rows = all.comparisons.iter();
    let rows =
        rows.map(|it| [&*it.what, it.with, &it.result, &it.verdict.to_string()].map(String::from));
    let table = output::table_text(&header, rows, header.len());
    match all.numbers.is_empty() {
        true => table,
        false => format!("{table}\n{}", cross::to_text(&all.numbers)),
    }
}

/// Fails if anything differs.
fn check(n_different: usize, things: &str) -> Result<(), Failure> {
    match n_different {
        0 => Ok(()),
        _ => Err(Failure::Check(format!("{n_different} {things} differ"))),
    }
}

/// Prints what `compare` says of every path. Fails if any of the `things` that it counts differs.
fn each(
    paths: &[PathBuf],
    things: &str,
    compare: impl Fn(&Path) -> Result<(String, usize), Failure>,
) -> Result<(), Failure> {
    let (mut n_different, mut printed) = (0, Ok(()));
    for path in paths {
        let (text, n) = compare(path)?;
        printed = printed.and_then(|()| output::print_text(&text));
        n_different += n;
    }
    printed.and_check(check(n_different, things))
}

/// Compares the loop-nest cost model with tables of cases. Prints the number of equal rows, and the first
/// row that differs.
fn compare_costs(tables: &[PathBuf]) -> Result<(), Failure> {
    each(tables, "rows", |path| {
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
        Ok((text, report.n_different))
    })
}

/// Compares folders of cases. Prints a table for each, and the first difference of every case.
fn compare_loadgen(folders: &[PathBuf]) -> Result<(), Failure> {
    each(folders, "cases", |folder| {
        let cases = Cases::read(folder)?;
        let report = loadgen::compare(&cases)?;
        Ok((loadgen_to_text(cases.source.name(), &report), report.n_different()))
    })
}

fn loadgen_to_text(name: &str, report: &Report) -> String {
    let mut header = vec!["case", "queries"];
    header.extend(ASPECTS.iter().map(|(column, _)| *column));
    header.push("ideal");
    let table = output::table_text(&header, report.cases.iter().map(loadgen_cells), 1);
    let (n_equal, n) = (report.n_equal(), report.cases.len());
    let mut text = format!("{table}{name}: {n_equal} of {n} cases equal\n");
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
