//! Tables for people: box-drawn in a terminal, aligned plain text when piped.

use comfy_table::{Attribute, Cell, CellAlignment, ContentArrangement, Table, presets};

use crate::statistics::{Fraction, Summary};
use crate::text::shown_styled;

/// How tables look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Lines and bold type, within the width of the terminal.
    Terminal,
    /// The same without bold type.
    Lines,
    /// Spaces only, every character ASCII where the data is.
    Plain,
}

/// An empty table in `style` with a header; the first `text_columns` are left-aligned, the rest
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

/// Renders `table` without trailing blanks, ending with a line break.
pub fn render(table: &Table) -> String {
    let line = |line: String| shown_styled(line.trim_end()) + "\n";
    let mut text: String = table.lines().map(line).collect();
    if text.is_empty() {
        text.push('\n');
    }
    text
}

/// A mean with half the width of its 95 % interval, `0.389 +- 0.073`. That is what `+-` means in every
/// table. Where all values are equal it is `0.389 no spread`; below two values it is the mean alone.
pub fn with_half_width(summary: &Summary, decimals: usize, style: Style) -> String {
    let mean = format!("{:.decimals$}", summary.mean);
    let Some(half) = summary.half_width(Fraction::P95) else {
        return mean;
    };
    if half == 0.0 {
        return format!("{mean} no spread");
    }
    let plus_minus = if style != Style::Plain { "±" } else { "+-" };
    let least = 0.1f64.powi(decimals as i32);
    match half < least / 2.0 {
        true => format!("{mean} {plus_minus} <{least:.decimals$}"),
        false => format!("{mean} {plus_minus} {half:.decimals$}"),
    }
}
