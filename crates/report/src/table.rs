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

/// Words of names of columns that are units, with their signs.
const UNITS: [(&str, &str); 7] = [
    ("mj", "mJ"),
    ("uj", "uJ"),
    ("mw", "mW"),
    ("w", "W"),
    ("qps", "1/s"),
    ("kib", "KiB"),
    ("mb", "MB"),
];

/// Head of the column called `name` for people: words with the signs of units, `energy mJ per sample`.
pub fn heading(name: &str) -> String {
    let sign = |word| UNITS.iter().find(|(unit, _)| *unit == word).map_or(word, |(_, sign)| *sign);
    name.split('_').map(sign).collect::<Vec<_>>().join(" ")
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

    /// The columns called by the first names of `names`, in their order and under the second; those that the table does not
    /// have are left out.
    pub(crate) fn picked(&self, names: &[(&str, &str)]) -> Self {
        let place = |name: &str| self.header.iter().position(|known| known == name);
        let found = names.iter().filter_map(|(name, heading)| Some((place(name)?, heading)));
        let (places, header): (Vec<usize>, Vec<String>) =
            found.map(|(at, heading)| (at, (*heading).to_string())).unzip();
        let of = |row: &Vec<String>| places.iter().map(|&at| row[at].clone()).collect();
        Self {
            header,
            is_text: places.iter().map(|&at| self.is_text[at]).collect(),
            rows: self.rows.iter().map(of).collect(),
        }
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

/// A share in percent without decimals.
pub fn whole_percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
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
            table.load_style(presets::UTF8_HORIZONTAL_ONLY.row_separator(LineStyle::none()));
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

/// Renders `table` without trailing blanks, ending with a line break. In a terminal no line is wider than it: columns
/// that do not fit are left out, and named below the table.
pub fn render(table: &Table) -> String {
    let mut table = table.clone();
    let left_out = match (table.content_arrangement(), table.width()) {
        (ContentArrangement::Dynamic, Some(width)) => fit(&mut table, width),
        _ => Vec::new(),
    };
    let line = |line: String| shown_styled(line.trim_end()) + "\n";
    let mut text: String = table.lines().map(line).collect();
    if text.is_empty() {
        text.push('\n');
    }
    if !left_out.is_empty() {
        let names = left_out.join(", ");
        text += &format!("not shown in this width: {names} (with `| less -S` they are)\n");
    }
    text
}

/// Columns that a narrow terminal goes without, the first one first; after them those on the right.
const LEAST: [&str; 32] = [
    "executed mean",
    "requests",
    "executed",
    "QoE",
    "accuracy",
    "mm2",
    "energy",
    "realtime",
    "busiest",
    "limited by",
    "most lost",
    "mJ",
    "d_z",
    "ties",
    "wins",
    "K",
    "C",
    "Y",
    "X",
    "R",
    "S",
    "MAC/PE/cycle",
    "shared KiB",
    "base",
    "idle",
    "overhead",
    "PEs mm2",
    "clusters",
    "shared",
    "NoC",
    "metric",
    "mean place",
];

/// Length from which a cell is prose, which is broken between words; shorter cells are whole.
const PROSE: u16 = 30;

/// Least width of a column of prose.
const LEAST_PROSE: u16 = 20;

/// Widths of a column: in which it fits, and in which it is readable.
#[derive(Clone, Copy)]
struct Widths {
    whole: u16,
    least: u16,
}

/// Fits `table` into `width`. Returns the names of columns for which there is no place.
fn fit(table: &mut Table, width: u16) -> Vec<String> {
    let names = header(table);
    let mut widths: Vec<Widths> = names
        .iter()
        .map(|name| Widths { whole: length(name), least: longest_word(name) })
        .collect();
    for row in table.row_iter() {
        for (widths, cell) in widths.iter_mut().zip(row.cell_iter()) {
            let text = cell.content();
            let whole = text.lines().map(length).max().unwrap_or(0);
            let least = if whole > PROSE { longest_word(&text).max(LEAST_PROSE) } else { whole };
            widths.whole = widths.whole.max(whole);
            widths.least = widths.least.max(least);
        }
    }
    let mut shown: Vec<usize> = (0..widths.len()).collect();
    // A column is a blank and its separator wider than its content.
    let free = |shown: &[usize], of: fn(&Widths) -> u16| {
        let used: usize = shown.iter().map(|it| usize::from(of(&widths[*it])) + 2).sum();
        (usize::from(width) + 1).checked_sub(used)
    };
    let mut left_out = Vec::new();
    while free(&shown, |it| it.least).is_none() && shown.len() > 2 {
        let rank = |at: usize| LEAST.iter().position(|name| *name == names[at]);
        let next =
            shown.iter().copied().filter(|at| rank(*at).is_some()).min_by_key(|at| rank(*at));
        let next = next.unwrap_or(shown[shown.len() - 1]);
        shown.retain(|at| *at != next);
        left_out.push(next);
    }
    let padding = match free(&shown, |it| it.whole) {
        Some(free) if free >= shown.len() => (1, 1),
        _ => (0, 1),
    };
    // What is free goes to names of columns, then to prose.
    let mut rest = free(&shown, |it| it.least).unwrap_or(0);
    let mut given: Vec<usize> = widths.iter().map(|it| usize::from(it.least)).collect();
    let missing = |at: usize| usize::from(widths[at].whole - widths[at].least);
    let mut by_need = shown.clone();
    by_need.sort_by_key(|at| missing(*at));
    for (index, at) in by_need.iter().enumerate() {
        let part = missing(*at).min(rest / (by_need.len() - index));
        given[*at] += part;
        rest -= part;
    }
    for (at, column) in table.column_iter_mut().enumerate() {
        column.set_padding(padding);
        let wide = given[at] as u16 + padding.0 + padding.1;
        column.set_constraint(match shown.contains(&at) {
            true => ColumnConstraint::Absolute(Width::Fixed(wide)),
            false => ColumnConstraint::Hidden,
        });
    }
    left_out.sort_unstable();
    left_out.into_iter().map(|at| names[at].clone()).filter(|name| !name.is_empty()).collect()
}

/// Names of the columns.
fn header(table: &Table) -> Vec<String> {
    let cells = table.header().into_iter().flat_map(|row| row.cell_iter());
    cells.map(|cell| cell.content()).collect()
}

fn length(text: &str) -> u16 {
    text.chars().count().min(usize::from(u16::MAX / 2)) as u16
}

fn longest_word(text: &str) -> u16 {
    text.split_whitespace().map(length).max().unwrap_or(0)
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

    fn in_width(width: u16, header: &[&str], row: &[&str]) -> String {
        let mut table = new_table(Style::Lines, header, 1);
        table.set_width(width).add_row(row.to_vec());
        render(&table)
    }

    #[test]
    fn columns_leave_a_narrow_terminal_in_order() {
        let header = ["scenario", "mm2", "executed mean", "requests", "late", "energy mJ"];
        let row = ["AR_gaming~", "270", "0.136 no spread", "105", "5", "23796.4"];
        let at = |width| in_width(width, &header, &row);
        assert!(row.iter().all(|it| at(60).contains(it)) && !at(60).contains("not shown"));
        for (width, left_out) in [
            (50, "executed mean"),
            (35, "executed mean, requests"),
            (30, "mm2, executed mean, requests"),
        ] {
            let text = at(width);
            let (table, note) = text.split_once("not shown in this width: ").expect("a note");
            assert!(note.starts_with(&format!("{left_out} (")), "{text}");
            assert!(table.lines().all(|it| it.chars().count() <= width.into()), "{text}");
            let shown = header.iter().zip(row).filter(|(it, _)| !left_out.contains(*it));
            assert!(shown.into_iter().all(|(_, cell)| table.contains(cell)), "{text}");
        }
    }

    #[test]
    fn prose_is_broken_between_words_and_numbers_are_whole() {
        let prose = "one request after the other, the one with the earliest deadline first";
        let text = in_width(50, &["name", "meaning", "score"], &["edf", prose, "0.136 ± 0.001"]);
        assert!(prose.split(' ').all(|word| text.contains(word)), "{text}");
        assert!(text.contains("0.136 ± 0.001"), "{text}");
        assert!(text.lines().all(|it| it.chars().count() <= 50), "{text}");
        assert_eq!(text.matches('─').count() % 2, 0, "no line between rows: {text}");
    }
}
