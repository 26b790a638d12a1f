//! Pages of sections with figures and tables. A kind of page that needs no program of its own fills an [`Article`]
//! from its results; `app/article.js` shows any of them.

use serde::Serialize;
use serde_json::Value;

use xrsim_figures::{Figure, FigureError, Format, Sheet, render_on};

use crate::table::{Grid, Rows};
use crate::words;

use super::page;
use super::provenance::Pair;

/// A page.
#[derive(Debug, Default, Serialize)]
pub(super) struct Article {
    /// Heading of the page.
    pub title: String,
    /// Sentence below the heading: the result.
    pub summary: String,
    /// The command that made the results.
    pub command: Option<String>,
    /// The sections, in order; those without figures and tables are left out.
    pub sections: Vec<Section>,
    /// Program, version and settings.
    pub facts: Vec<Pair>,
}

/// A section of a page.
#[derive(Debug, Default, Serialize)]
pub(super) struct Section {
    /// Name in the address of the section: lower-case letters.
    pub id: &'static str,
    /// Heading.
    pub title: String,
    /// Explanation below the heading.
    pub lead: String,
    /// Sentences below it, as a list.
    pub points: Vec<String>,
    pub drawings: Vec<Drawing>,
    pub tables: Vec<Table>,
}

/// A figure with its caption.
#[derive(Debug, Serialize)]
pub(super) struct Drawing {
    svg: String,
    caption: String,
}

/// A table that can be sorted.
#[derive(Debug, Serialize)]
pub(super) struct Table {
    caption: String,
    columns: Vec<Column>,
    /// Texts and numbers; empty cells are `null`.
    rows: Vec<Vec<Value>>,
}

/// A column of a table: of text if any of its cells is.
#[derive(Debug, Serialize)]
struct Column {
    label: String,
    /// Meaning; empty if the label says it.
    title: &'static str,
    is_text: bool,
    /// Whether the numbers are texts, such as `0.988 ± 0.001`, that stand as they are and sort by their first number.
    is_written: bool,
}

impl Table {
    /// The table of `grid`, whose cells and headings stand as they are written.
    pub(super) fn written(caption: &str, grid: Grid) -> Self {
        let columns = grid.header.into_iter().zip(grid.is_text);
        let columns =
            columns.map(|(label, is_text)| Column { label, title: "", is_text, is_written: true });
        let cells = |row: Vec<String>| row.into_iter().map(Value::from).collect();
        let rows = grid.rows.into_iter().map(cells).collect();
        Self { caption: caption.into(), columns: columns.collect(), rows }
    }
}

impl Article {
    /// The document. Equal contents give equal bytes.
    pub(super) fn page(mut self) -> String {
        let has_some = |it: &Section| {
            !it.drawings.is_empty() || !it.tables.is_empty() || !it.points.is_empty()
        };
        self.sections.retain(has_some);
        page::Kind::Article.fill(&page::deflated(&self))
    }
}

impl Section {
    /// A section without contents.
    pub(super) fn new(id: &'static str, title: &str, lead: &str) -> Self {
        Self { id, title: title.into(), lead: lead.into(), ..Self::default() }
    }

    /// Adds a figure.
    ///
    /// # Errors
    ///
    /// Data that cannot be drawn.
    pub(super) fn draw(&mut self, figure: &dyn Figure) -> Result<(), FigureError> {
        let bytes = render_on(&Sheet::default().untitled(), figure, Format::Svg)?;
        let svg =
            String::from_utf8(bytes).map_err(|error| FigureError::Encode(error.to_string()))?;
        let caption = words::in_text(&figure.texts().sentences());
        self.drawings.push(Drawing { svg, caption });
        Ok(())
    }

    /// Adds a table of a file, unless it has no rows. Columns whose cells are all empty are left out; the names of the
    /// others become words.
    pub(super) fn add(&mut self, caption: &str, (header, rows): &Rows) {
        if rows.is_empty() {
            return;
        }
        let cells = |at: usize| rows.iter().map(move |row| row.get(at).map_or("", String::as_str));
        let is_there = |at: &usize| cells(*at).any(|cell| !cell.is_empty());
        let shown: Vec<usize> = (0..header.len()).filter(is_there).collect();
        let is_number = |cell: &str| cell.is_empty() || number(cell).is_some();
        let columns: Vec<Column> = shown
            .iter()
            .map(|&at| Column {
                label: words::heading(&header[at]),
                title: words::of(&header[at]).help,
                is_text: !cells(at).all(is_number),
                is_written: false,
            })
            .collect();
        let cell = |row: &Vec<String>, (&at, column): (&usize, &Column)| match row
            .get(at)
            .map_or("", String::as_str)
        {
            "" => Value::Null,
            text if column.is_text => text.into(),
            text => number(text).into(),
        };
        let row = |row: &Vec<String>| shown.iter().zip(&columns).map(|it| cell(row, it)).collect();
        let rows = rows.iter().map(row).collect();
        self.tables.push(Table { caption: caption.into(), columns, rows });
    }
}

impl Section {
    /// Adds a table whose cells and headings stand as they are written, unless it has no rows.
    pub(super) fn add_written(&mut self, caption: &str, grid: Grid) {
        if !grid.rows.is_empty() {
            self.tables.push(Table::written(caption, grid));
        }
    }
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_of_numbers_if_all_of_its_cells_are() {
        let text = |cells: &[&str]| cells.iter().map(|it| (*it).to_string()).collect::<Vec<_>>();
        let mut section = Section::new("a", "A", "");
        let header = text(&["name", "score", "empty"]);
        section.add("t", &(header.clone(), vec![text(&["1", "0.5", ""]), text(&["x", "", ""])]));
        let found = serde_json::to_value(&section.tables).expect("it serialises");
        assert_eq!(found[0]["columns"][0]["is_text"], true);
        assert_eq!(found[0]["columns"].as_array().map(Vec::len), Some(2));
        assert_eq!(found[0]["rows"], serde_json::json!([["1", 0.5], ["x", null]]));
        section.add("t", &(header, Vec::new()));
        assert_eq!(section.tables.len(), 1);
    }
}
