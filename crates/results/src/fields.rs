//! Columns of tables: names, natures, and cells of rows.

use std::io;

use xrsim_model::column::{Column, Kind};
use xrsim_model::units::SimTime;

/// A column of rows of type `R`, with the value of a row.
#[derive(Debug, Clone, Copy)]
pub struct Field<R> {
    /// Name in CSV and JSON.
    pub name: &'static str,
    /// Heading in pages.
    pub label: &'static str,
    /// Whether files of earlier versions may lack it.
    is_later: bool,
    value: Value<R>,
}

/// Reads the value of a row.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Value<R> {
    /// A text.
    Text(fn(&R) -> &str),
    /// A whole number.
    Whole(fn(&R) -> u64),
    /// A number, or nothing.
    Number(fn(&R) -> Option<f64>),
    /// A time in milliseconds, or nothing.
    Time(fn(&R) -> Option<SimTime>),
}

impl<R> Field<R> {
    pub(super) const fn new(name: &'static str, value: Value<R>) -> Self {
        Self { name, label: name, is_later: false, value }
    }

    /// The same column with a heading.
    pub(super) const fn headed(self, label: &'static str) -> Self {
        Self { label, ..self }
    }

    /// The same column, which files of earlier versions may lack.
    pub(super) const fn later(self) -> Self {
        Self { is_later: true, ..self }
    }

    /// Adds the cell of `row`.
    pub(super) fn add(&self, row: &R, cells: &mut impl Cells) {
        match self.value {
            Value::Text(of) => cells.text(of(row)),
            Value::Whole(of) => cells.whole(of(row)),
            Value::Number(of) => cells.number(of(row)),
            Value::Time(of) => cells.time(of(row)),
        }
    }

    /// The value of `row` in JSON.
    pub(super) fn json(&self, row: &R) -> serde_json::Value {
        match self.value {
            Value::Text(of) => of(row).into(),
            Value::Whole(of) => of(row).into(),
            Value::Number(of) => of(row).into(),
            Value::Time(of) => of(row).map(SimTime::as_ms).into(),
        }
    }

    pub(super) fn heading(&self) -> Heading {
        let nature = match self.value {
            Value::Text(_) => Nature::Text,
            Value::Whole(_) => Nature::Whole,
            Value::Number(_) | Value::Time(_) => Nature::Number,
        };
        Heading { name: self.name, nature, is_later: self.is_later }
    }
}

/// A column of a table, apart from its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heading {
    /// Name.
    pub name: &'static str,
    /// Nature of its values.
    pub nature: Nature,
    /// Whether files of earlier versions may lack it.
    pub is_later: bool,
}

/// Nature of the values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nature {
    /// Texts.
    Text,
    /// Numbers.
    Number,
    /// Whole numbers.
    Whole,
}

impl Heading {
    pub(super) fn of<T>(column: &Column<T>) -> Self {
        let nature = match column.kind {
            Kind::Count => Nature::Whole,
            Kind::Overall | Kind::Score | Kind::Quantity => Nature::Number,
        };
        Self { name: column.name, nature, is_later: false }
    }
}

/// Destination of cells.
pub(super) trait Cells {
    /// Adds a whole number.
    fn whole(&mut self, value: u64);

    /// Adds a number, or nothing.
    fn number(&mut self, value: Option<f64>);

    /// Adds a time in milliseconds, or nothing.
    fn time(&mut self, time: Option<SimTime>);

    /// Adds a text.
    fn text(&mut self, text: &str);
}

/// Destination of rows, cell by cell.
pub(super) trait Rows: Cells {
    /// Begins a row of the current run with the label of the run.
    fn start_row(&mut self);

    /// Ends a row.
    ///
    /// # Errors
    ///
    /// The error of a writer.
    fn end_row(&mut self) -> io::Result<()>;
}
