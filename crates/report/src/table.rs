//! Tables for people: box-drawn in a terminal, aligned plain text when piped.

use comfy_table::{
    Attribute, Cell, CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Table, Width,
    presets,
};

use xrsim_model::statistics::{Fraction, Summary};
use xrsim_model::text::shown_styled;

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

/// A mean with half the width of its 95 % interval, `0.389 +- 0.073`; `+-` means this in every table.
/// If all values are equal the text is `0.389 no spread`. For fewer than two values it is the mean.
pub(crate) fn with_half_width(summary: &Summary, decimals: usize, style: Style) -> String {
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
