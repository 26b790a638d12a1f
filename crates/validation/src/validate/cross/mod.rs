//! The loop-nest model against other cost models and a measured chip (docs/explanation/cost-model-loop-nest.md,
//! section 10.4).
//!
//! Every number of the other side is compared by itself. It is equal, or within a stated tolerance, or
//! a stated rule of the other side leads from our number to it, or its difference is stated and not
//! reproduced; otherwise it differs, which is an error.

mod eyeriss;
mod gemmini;
mod nvdla;
mod on_network;
mod rockchip;
mod scalesim;
mod summary;
mod tiles;
mod timeloop;
mod zigzag;

use std::io::{self, Write};
use std::sync::Arc;

use xrsim_config::cross_tables::{self, CrossKind, CrossRow};
use xrsim_config::{Problem, Source};
use xrsim_model::cost::loop_nest::{Evaluation, Machine, Mapping, Nest, Window, evaluate};

use super::ValidateError;

pub use summary::Summary;

/// Tables that come with the program.
const SHIPPED: [(&str, &str); 9] = [
    (
        "tests/reference/crossval/timeloop_traffic.csv",
        include_str!("../../../../../tests/reference/crossval/timeloop_traffic.csv"),
    ),
    (
        "tests/reference/crossval/timeloop_dram.csv",
        include_str!("../../../../../tests/reference/crossval/timeloop_dram.csv"),
    ),
    (
        "tests/reference/crossval/zigzag.csv",
        include_str!("../../../../../tests/reference/crossval/zigzag.csv"),
    ),
    (
        "tests/reference/crossval/scalesim.csv",
        include_str!("../../../../../tests/reference/crossval/scalesim.csv"),
    ),
    (
        "tests/reference/crossval/eyeriss.csv",
        include_str!("../../../../../tests/reference/crossval/eyeriss.csv"),
    ),
    (
        "tests/reference/crossval/gemmini.csv",
        include_str!("../../../../../tests/reference/crossval/gemmini.csv"),
    ),
    ("tests/reference/crossval/nvdla_layers.csv", nvdla::LAYERS),
    (
        "tests/reference/crossval/nvdla_sizes.csv",
        include_str!("../../../../../tests/reference/crossval/nvdla_sizes.csv"),
    ),
    (
        "tests/reference/crossval/rockchip.csv",
        include_str!("../../../../../tests/reference/crossval/rockchip.csv"),
    ),
];

/// Reason for which the other side has another number.
pub type Reason = &'static str;

/// Verdict on one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agreement {
    /// Both sides have the same number.
    Equal,
    /// The difference is within the tolerance of the quantity.
    Within,
    /// A rule of the other side leads from our number to its number.
    ByRule(Reason),
    /// The difference is known, and no rule reproduces it.
    Open(Reason),
    /// The numbers differ without a stated reason.
    Differs,
}

impl Agreement {
    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::Within => "within",
            Self::ByRule(_) => "by rule",
            Self::Open(_) => "not reproduced",
            Self::Differs => "DIFFERS",
        }
    }

    /// Reason of the difference, if one is stated.
    pub fn reason(self) -> Option<Reason> {
        match self {
            Self::ByRule(reason) | Self::Open(reason) => Some(reason),
            _ => None,
        }
    }
}

/// Comparison of one number.
#[derive(Debug, Clone)]
pub struct Number {
    /// Tool or chip, and its network where it has several.
    pub source: &'static str,
    /// Quantity.
    pub quantity: &'static str,
    /// File of the row.
    pub file: Arc<str>,
    /// Line of the row, counted from 1.
    pub line: usize,
    /// Name of the case or layer.
    pub case: Arc<str>,
    /// Column of the number.
    pub column: String,
    /// Our number.
    pub found: f64,
    /// Number of the other side.
    pub reference: f64,
    /// Our number with the rule of the other side, where one was tried.
    pub by_rule: Option<f64>,
    /// Allowed relative difference; 0 for numbers that should be equal.
    pub tolerance: f64,
    /// Verdict.
    pub agreement: Agreement,
}

impl Number {
    /// Our number divided by that of the other side: 1 if both are 0, infinite if only the other one is.
    pub fn ratio(&self) -> f64 {
        if self.found == self.reference { 1.0 } else { self.found / self.reference }
    }
}

/// A rule of the other side, or its absence.
struct Rule {
    reason: Reason,
    /// Our number with the rule; `None` if no rule reproduces the difference.
    value: Option<f64>,
}

impl Rule {
    fn new(reason: Reason, value: f64) -> Self {
        Self { reason, value: Some(value) }
    }

    fn open(reason: Reason) -> Self {
        Self { reason, value: None }
    }
}

/// The numbers of one row.
struct Sheet<'a> {
    source: &'static str,
    row: &'a CrossRow,
    file: Arc<str>,
    case: Arc<str>,
    numbers: Vec<Number>,
}

impl<'a> Sheet<'a> {
    fn new(file: &Arc<str>, row: &'a CrossRow, source: &'static str, case: &str) -> Self {
        Self { source, row, file: Arc::clone(file), case: case.into(), numbers: Vec::new() }
    }

    /// Compares a number that should be equal.
    fn exact(&mut self, quantity: &'static str, column: &str, found: u64) {
        self.compare(quantity, column, found as f64, 0.0, Vec::new);
    }

    /// Compares `found` with the number in `column`, if there is one. The first of `rules` whose value is
    /// within the tolerance explains a difference, and so does one without a value.
    fn compare(
        &mut self,
        quantity: &'static str,
        column: &str,
        found: f64,
        tolerance: f64,
        rules: impl FnOnce() -> Vec<Rule>,
    ) {
        self.compare_with(quantity, column, found, |number| number, tolerance, rules);
    }

    /// Compares `found` with what `convert` makes of the number in `column`.
    fn compare_with(
        &mut self,
        quantity: &'static str,
        column: &str,
        found: f64,
        convert: impl Fn(f64) -> f64,
        tolerance: f64,
        rules: impl FnOnce() -> Vec<Rule>,
    ) {
        let Some(reference) = self.row.number(column).map(convert) else { return };
        let is_near = |value: f64| (value - reference).abs() <= tolerance * reference.abs();
        let mut by_rule = None;
        let agreement = if found == reference {
            Agreement::Equal
        } else if is_near(found) {
            Agreement::Within
        } else {
            let rules = rules();
            by_rule = rules.iter().find_map(|rule| rule.value);
            let fits = |rule: &&Rule| rule.value.is_none_or(is_near);
            match rules.iter().find(fits) {
                Some(&Rule { reason, value: Some(value) }) => {
                    by_rule = Some(value);
                    Agreement::ByRule(reason)
                }
                Some(&Rule { reason, value: None }) => Agreement::Open(reason),
                None => Agreement::Differs,
            }
        };
        self.numbers.push(Number {
            source: self.source,
            quantity,
            file: Arc::clone(&self.file),
            line: self.row.line,
            case: Arc::clone(&self.case),
            column: column.into(),
            found,
            reference,
            by_rule,
            tolerance,
            agreement,
        });
    }
}

/// Compares the model with every table that comes with the program.
///
/// # Errors
///
/// [`ValidateError`] if an embedded file is invalid. The tests compare all of them.
pub fn shipped() -> Result<Vec<Number>, ValidateError> {
    let mut numbers = Vec::new();
    for (name, text) in SHIPPED {
        numbers.extend(compare(&Source::new(name, text))?);
    }
    Ok(numbers)
}

/// Compares the model with the rows of `table`; the header decides what the table is.
///
/// # Errors
///
/// [`ValidateError::Input`] with every problem of the table: of the header, of cells, or of mappings
/// that cannot run.
pub fn compare(table: &Arc<Source>) -> Result<Vec<Number>, ValidateError> {
    let cross = cross_tables::read(table)?;
    let file: Arc<str> = table.name().into();
    let rows = &cross.rows;
    let (mut numbers, mut problems) = (Vec::new(), Vec::new());
    let mut keep = |sheet: Result<Sheet<'_>, Problem>| match sheet {
        Ok(sheet) => numbers.extend(sheet.numbers),
        Err(problem) => problems.push(problem),
    };
    match cross.kind {
        CrossKind::TimeloopTraffic => {
            rows.iter().map(|row| timeloop::traffic(&file, row)).for_each(keep)
        }
        CrossKind::TimeloopDram => rows.iter().map(|row| timeloop::dram(&file, row)).for_each(keep),
        CrossKind::ScaleSim => rows.iter().map(|row| scalesim::compare(&file, row)).for_each(keep),
        CrossKind::ZigZag => rows.iter().map(|row| zigzag::compare(&file, row)).for_each(keep),
        CrossKind::Silicon => {
            let chips = eyeriss::Chips::new()?;
            rows.iter().map(|row| chips.compare(&file, row)).for_each(keep);
        }
        CrossKind::Gemmini => gemmini::compare(&file, rows).into_iter().for_each(keep),
        CrossKind::NvdlaLayers => {
            rows.iter().map(|row| Ok(nvdla::layer(&file, row))).for_each(keep)
        }
        CrossKind::NvdlaSizes => {
            let mut chips = nvdla::Chips::new()?;
            rows.iter().for_each(|row| keep(chips.compare(&file, row)));
        }
        CrossKind::Rockchip => {
            let mut chips = rockchip::Chips::new()?;
            rows.iter().for_each(|row| keep(chips.compare(&file, row)));
        }
    }
    if problems.is_empty() {
        Ok(numbers)
    } else {
        Err(cross_tables::invalid(table, problems).into())
    }
}

/// Number of `numbers` that differ without a stated reason.
pub fn n_different(numbers: &[Number]) -> usize {
    numbers.iter().filter(|it| it.agreement == Agreement::Differs).count()
}

/// A column with the cell of a number.
type NumberColumn = (&'static str, fn(&Number) -> String);

/// Columns of the CSV of comparisons: name and text.
const COLUMNS: [NumberColumn; 13] = [
    ("file", |it| it.file.to_string()),
    ("line", |it| it.line.to_string()),
    ("case", |it| it.case.to_string()),
    ("source", |it| it.source.into()),
    ("quantity", |it| it.quantity.into()),
    ("column", |it| it.column.clone()),
    ("xrsim", |it| it.found.to_string()),
    ("reference", |it| it.reference.to_string()),
    ("ratio", |it| it.ratio().to_string()),
    ("xrsim_by_rule", |it| it.by_rule.map_or(String::new(), |value| value.to_string())),
    ("tolerance", |it| it.tolerance.to_string()),
    ("verdict", |it| it.agreement.name().into()),
    ("reason", |it| it.agreement.reason().unwrap_or_default().into()),
];

/// Writes every comparison as CSV, a line a number.
///
/// # Errors
///
/// The error of `out`.
pub fn write_csv(numbers: &[Number], out: &mut dyn Write) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(COLUMNS.map(|(name, _)| name))?;
    for number in numbers {
        csv.write_record(COLUMNS.map(|(_, text)| text(number)))?;
    }
    csv.flush()
}

/// Window with exactly the input positions that are touched.
fn unpadded(stride: u32, dilation: u32, output: u32, kernel: u32) -> Window {
    let window = Window { stride, dilation, stored: u32::MAX, padding: 0 };
    Window { stored: window.reach(output, kernel), ..window }
}

/// Elaborates and evaluates the mapping of a row.
fn run(row: &CrossRow, nest: &Nest, machine: &Machine) -> Result<(Mapping, Evaluation), Problem> {
    let problem = |illegal: xrsim_model::cost::loop_nest::Illegal| {
        row.problem("directives", illegal.to_string())
    };
    let mapping = Mapping::new(&row.directives(), nest, machine).map_err(problem)?;
    let evaluation = evaluate(nest, &mapping, machine).map_err(problem)?;
    Ok((mapping, evaluation))
}
