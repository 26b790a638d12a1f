//! Tables for people: box-drawn in a terminal, aligned plain text when piped.

use std::io::{self, Write};

use comfy_table::{
    Attribute, Cell, CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Table, Width,
    presets,
};

use xrsim_model::statistics::{Fraction, LEAST_VALUES, NoInterval, Summary};
use xrsim_model::text::{cell, shown_styled};

/// Appearance of tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Lines and bold type, within the width of the terminal.
    Terminal,
    /// Lines within the width of the terminal, without bold type.
    Lines,
    /// Spaces only; every character is ASCII if the data are.
    Plain,
}

/// A table as text: a header, and rows of as many cells.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Grid {
    /// Names of the columns.
    pub header: Vec<String>,
    /// Whether a column is of text, which is left-aligned; numbers are right-aligned.
    pub is_text: Vec<bool>,
    /// Rows.
    pub rows: Vec<Vec<String>>,
}

impl Grid {
    /// The table for a terminal.
    pub fn text(&self, style: Style) -> String {
        render(&self.table(style))
    }

    /// The table for a terminal, without lines between rows if they fit.
    pub fn dense_text(&self, style: Style) -> String {
        let mut table = self.table(style);
        leave_out_lines(&mut table);
        render(&table)
    }

    /// Writes the table as CSV.
    ///
    /// # Errors
    ///
    /// The error of the writer.
    pub fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(&self.header)?;
        self.rows.iter().try_for_each(|row| writer.write_record(row))?;
        writer.flush()
    }

    /// Header and rows.
    pub fn into_rows(self) -> Rows {
        (self.header, self.rows)
    }

    /// The table for a terminal, which takes further rows.
    pub(super) fn table(&self, style: Style) -> Table {
        let header: Vec<&str> = self.header.iter().map(String::as_str).collect();
        let mut table = new_table(style, &header, 0);
        for (column, is_text) in table.column_iter_mut().zip(&self.is_text) {
            if *is_text {
                column.set_cell_alignment(CellAlignment::Left);
            }
        }
        table.add_rows(&self.rows);
        table
    }
}

/// Header and rows of a file.
pub type Rows = (Vec<String>, Vec<Vec<String>>);

/// Columns of a table, each with the cell of a row of type `T`.
pub struct Columns<'c, T> {
    names: Vec<String>,
    is_text: Vec<bool>,
    cells: Vec<CellText<'c, T>>,
}

/// The text of a cell of a row.
type CellText<'c, T> = Box<dyn Fn(&T) -> String + 'c>;

impl<T> Default for Columns<'_, T> {
    fn default() -> Self {
        Self { names: Vec::new(), is_text: Vec::new(), cells: Vec::new() }
    }
}

impl<'c, T> Columns<'c, T> {
    /// No columns yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a column of text.
    #[must_use]
    pub fn text<C: ToString>(self, name: impl Into<String>, cell: impl Fn(&T) -> C + 'c) -> Self {
        self.column(name.into(), true, move |row| cell(row).to_string())
    }

    /// Adds a column of numbers.
    #[must_use]
    pub fn number<C: ToString>(self, name: impl Into<String>, cell: impl Fn(&T) -> C + 'c) -> Self {
        self.column(name.into(), false, move |row| cell(row).to_string())
    }

    fn column(mut self, name: String, is_text: bool, cell: impl Fn(&T) -> String + 'c) -> Self {
        self.names.push(name);
        self.is_text.push(is_text);
        self.cells.push(Box::new(cell));
        self
    }

    /// The table of `rows`.
    pub fn of(&self, rows: impl IntoIterator<Item = T>) -> Grid {
        let rows = rows.into_iter().map(|row| self.row(&row)).collect();
        Grid { rows, ..self.header() }
    }

    /// The table without rows.
    pub fn header(&self) -> Grid {
        Grid { header: self.names.clone(), is_text: self.is_text.clone(), rows: Vec::new() }
    }

    /// The cells of a row.
    pub fn row(&self, row: &T) -> Vec<String> {
        self.cells.iter().map(|cell| cell(row)).collect()
    }
}

/// The number for a file, or an empty cell.
pub fn cell_if_any(value: Option<f64>) -> String {
    value.map(cell).unwrap_or_default()
}

/// A share in percent with one decimal.
pub fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// The text of a value; `-` without one.
pub fn or_dash<T>(value: Option<T>, text: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| "-".into(), text)
}

/// An empty table in `style` with a header. The first `text_columns` are left-aligned, the others
/// right-aligned.
pub fn new_table(style: Style, header: &[&str], text_columns: usize) -> Table {
    let mut table = Table::new();
    match style {
        Style::Terminal | Style::Lines => {
            table.load_style(presets::UTF8_HORIZONTAL_ONLY);
            table.set_content_arrangement(ContentArrangement::Dynamic);
        }
        Style::Plain => {
            table.load_style(presets::NOTHING).force_no_tty();
            table.set_content_arrangement(ContentArrangement::Disabled);
        }
    }
    if style == Style::Terminal {
        table.enforce_styling();
    }
    table.set_header(header.iter().map(|name| emphasised(name, style)));
    for (index, column) in table.column_iter_mut().enumerate() {
        if index >= text_columns {
            column.set_cell_alignment(CellAlignment::Right);
        }
        if style == Style::Plain {
            column.set_padding((0, 2));
        }
    }
    table
}

/// A cell in bold type.
pub(super) fn emphasised(text: &str, style: Style) -> Cell {
    let cell = Cell::new(text);
    match style {
        Style::Terminal => cell.add_attribute(Attribute::Bold),
        Style::Lines | Style::Plain => cell,
    }
}

/// Leaves out the lines between rows if every row fits into a line of the terminal, with less space
/// between columns if necessary.
pub(super) fn leave_out_lines(table: &mut Table) {
    let Some(width) = table.width() else { return };
    let widths = table.column_max_content_widths();
    let n_columns = widths.len() as u16;
    let content = widths.iter().fold(0u16, |sum, width| sum.saturating_add(*width));
    // A column is a blank and its separator wider than its content, and two blanks where there is space.
    if content.saturating_add(2 * n_columns - 1) > width {
        return;
    }
    let without = table.style().row_separator(LineStyle::none());
    table.load_style(without);
    if content.saturating_add(3 * n_columns - 1) > width {
        table.set_content_arrangement(ContentArrangement::Disabled);
        for column in table.column_iter_mut() {
            column.set_padding((0, 1));
        }
    }
}

/// Renders `table` without trailing blanks, ending with a line break.
pub fn render(table: &Table) -> String {
    let mut table = table.clone();
    if let Some(width) = table.width() {
        fit(&mut table, width);
    }
    let line = |line: String| shown_styled(line.trim_end()) + "\n";
    let mut text: String = table.lines().map(line).collect();
    if text.is_empty() {
        text.push('\n');
    }
    text
}

/// Longest word of a cell that is not broken.
const MAX_WORD: u16 = 24;

/// Keeps numbers and short words of a table unbroken in the width of the terminal: a column is at least
/// as wide as its longest word. If the table is too wide then, there is less space between columns.
fn fit(table: &mut Table, width: u16) {
    if !matches!(table.content_arrangement(), ContentArrangement::Dynamic) {
        return;
    }
    let mut words = vec![1; table.column_count()];
    for row in table.row_iter() {
        for (word, cell) in words.iter_mut().zip(row.cell_iter()) {
            *word = longest_word(&cell.content()).max(*word);
        }
    }
    let n_columns = words.len() as u16;
    // Words of the header are broken before those of the rows.
    let names: Vec<u16> = table.header().map_or_else(Vec::new, |header| {
        header.cell_iter().map(|cell| longest_word(&cell.content())).collect()
    });
    let with_names: Vec<u16> =
        words.iter().zip(names).map(|(word, name)| *word.max(&name)).collect();
    if with_names.len() == words.len() && with_names.iter().sum::<u16>() + 2 * n_columns <= width {
        words = with_names;
    }
    let padding = if words.iter().sum::<u16>() + 3 * n_columns > width { (0, 1) } else { (1, 1) };
    for (column, word) in table.column_iter_mut().zip(words) {
        column.set_padding(padding);
        let least = Width::Fixed(word + padding.0 + padding.1);
        column.set_constraint(ColumnConstraint::LowerBoundary(least));
    }
}

fn longest_word(text: &str) -> u16 {
    let lengths = text.split_whitespace().map(|word| word.chars().count());
    lengths.max().map_or(0, |longest| longest.min(usize::from(MAX_WORD)) as u16)
}

/// Meaning of `+-` beside means of `n` draws: half of an interval, or why there is none.
pub fn interval_meaning(n: u64) -> String {
    match n < LEAST_VALUES {
        true => format!(
            "no 95 % intervals below {LEAST_VALUES} draws, which would cover less (docs/explanation/comparisons.md)"
        ),
        false => "+- is half of the 95 % interval of a mean (?: too few draws differ)".into(),
    }
}

/// A mean with half the width of its 95 % interval, `0.389 +- 0.073`; `+-` means this in every table.
/// If all values are equal the text is `0.389 no spread`, and `0.389 +- ?` if all but one or two are. For too few values it
/// is the mean.
pub fn with_half_width(summary: &Summary, decimals: usize, style: Style) -> String {
    let least = 0.1f64.powi(decimals as i32);
    let mean = match summary.mean.abs() < least / 2.0 && summary.mean < 0.0 {
        true => format!("-<{least:.decimals$}"),
        false => format!("{:.decimals$}", summary.mean),
    };
    let plus_minus = if style != Style::Plain { "±" } else { "+-" };
    let half = match (summary.half_width(Fraction::P95), summary.no_interval()) {
        (Some(half), _) => half,
        (None, Some(NoInterval::FewOthers)) => return format!("{mean} {plus_minus} ?"),
        (None, _) if summary.n >= 2 && (summary.sd == 0.0 || summary.n_others == 0) => {
            return format!("{mean} no spread");
        }
        (None, _) => return mean,
    };
    match half < least / 2.0 {
        true => format!("{mean} {plus_minus} <{least:.decimals$}"),
        false => format!("{mean} {plus_minus} {half:.decimals$}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_not_broken_in_a_narrow_terminal() {
        let header = ["scenario", "executed mean", "energy mJ"].repeat(4);
        let mut table = new_table(Style::Lines, &header, 1);
        table.set_width(80).add_row(["AR_gaming~", "0.136", "23796.4"].repeat(4));
        let text = render(&table);
        for word in ["AR_gaming~", "0.136", "23796.4"] {
            assert_eq!(text.matches(word).count(), 4, "{text}");
        }
    }
}
