//! An explanation as sentences and tables in order: the text of a terminal, and the tables and the list of its parts from
//! which a page is made.

use serde_json::{Value, json};

use crate::table::{Grid, Rows, Style};

/// An explanation in order.
#[derive(Debug, Default)]
pub struct Told {
    blocks: Vec<Block>,
}

/// Sentences or a table, below a title; an empty title is none.
#[derive(Debug)]
struct Block {
    title: String,
    body: Body,
}

#[derive(Debug)]
enum Body {
    /// Lines, of which a page has those of answers on top.
    Lines { text: String, is_answer: bool },
    /// A table as a terminal shows it, and as a file has it.
    Table { shown: Grid, file: TableFile },
}

/// A table of a file: every row, with numbers in full.
#[derive(Debug)]
pub(super) struct TableFile {
    /// Name of the file.
    pub(super) name: &'static str,
    /// Its content.
    pub(super) rows: Rows,
    /// Column of numbers, and how many rows with its largest numbers a page shows; `None` for all rows in their order.
    pub(super) top: Option<(&'static str, usize)>,
}

/// A table that explanations write as a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TableKind {
    /// Name of the file.
    pub(crate) file: &'static str,
    /// Name of its section in the address of a page.
    pub(crate) id: &'static str,
    /// Heading of the section.
    pub(crate) heading: &'static str,
}

const fn kind(file: &'static str, id: &'static str, heading: &'static str) -> TableKind {
    TableKind { file, id, heading }
}

/// Losses of models by cause.
pub(super) const LOSSES: &str = "losses.csv";
/// Busy time of accelerators by model.
pub(super) const ACCELERATORS: &str = "accelerators.csv";
/// Time and traffic of layers.
pub(super) const LAYERS: &str = "layers.csv";
/// Losses on two systems.
pub(super) const DIFFERENCES: &str = "differences.csv";
/// Parts of the time of a frame.
pub(super) const PARTS: &str = "parts.csv";
/// Single changes.
pub(super) const CHANGES: &str = "changes.csv";

/// Every table that an explanation can have.
pub(crate) const TABLES: [TableKind; 6] = [
    kind(LOSSES, "models", "Losses of models"),
    kind(ACCELERATORS, "accelerators", "Accelerators"),
    kind(LAYERS, "layers", "Layers"),
    kind(DIFFERENCES, "differences", "Differences of the systems"),
    kind(PARTS, "parts", "Parts of the frame"),
    kind(CHANGES, "changes", "Single changes"),
];

/// Names of all files that an explanation can have.
pub fn table_names() -> impl Iterator<Item = &'static str> {
    TABLES.iter().map(|it| it.file)
}

impl Told {
    /// Adds lines without a title.
    pub(super) fn lines(&mut self, text: impl Into<String>) {
        self.list("", text);
    }

    /// Adds lines that a page has on top.
    pub(super) fn answer(&mut self, text: impl Into<String>) {
        let body = Body::Lines { text: text.into(), is_answer: true };
        self.blocks.push(Block { title: String::new(), body });
    }

    /// Adds lines below a title, unless there are none.
    pub(super) fn list(&mut self, title: &str, text: impl Into<String>) {
        let body = Body::Lines { text: text.into(), is_answer: false };
        self.push(title, body);
    }

    /// Adds a table, unless it has no rows.
    pub(super) fn table(&mut self, title: &str, shown: Grid, file: TableFile) {
        self.push(title, Body::Table { shown, file });
    }

    fn push(&mut self, title: &str, body: Body) {
        let is_empty = match &body {
            Body::Lines { text, .. } => text.is_empty(),
            Body::Table { shown, .. } => shown.rows.is_empty(),
        };
        if !is_empty {
            self.blocks.push(Block { title: title.into(), body });
        }
    }

    /// Adds a note, such as what was left out.
    pub fn note(&mut self, text: &str) {
        self.lines(format!("note: {text}\n"));
    }

    /// Adds everything of `other`.
    pub fn extend(&mut self, other: Self) {
        self.blocks.extend(other.blocks);
    }

    /// The text for a terminal.
    pub fn text(&self, style: Style) -> String {
        let text = |block: &Block| match (&*block.title, &block.body) {
            ("", Body::Lines { text, .. }) => text.clone(),
            ("", Body::Table { shown, .. }) => format!("\n{}", shown.text(style)),
            (title, Body::Lines { text, .. }) => format!("\n{title}\n{text}"),
            (title, Body::Table { shown, .. }) => format!("\n{title}\n{}", shown.text(style)),
        };
        self.blocks.iter().map(text).collect()
    }

    /// The files of the tables: names and contents. A file of two tables is there once.
    pub fn files(&self) -> Vec<(&'static str, &Rows)> {
        let mut files: Vec<(&'static str, &Rows)> = Vec::new();
        for block in &self.blocks {
            if let Body::Table { file, .. } = &block.body
                && files.iter().all(|(name, _)| *name != file.name)
            {
                files.push((file.name, &file.rows));
            }
        }
        files
    }

    /// The parts in order, for a record: `{"title", "lines"}`, with `"answer": true` for what a page has on top, and
    /// `{"title", "table"}` for a table, with `"by"` and `"most"` where a page shows the largest rows only.
    pub fn parts(&self) -> Value {
        let part = |block: &Block| {
            let mut part = match &block.body {
                Body::Lines { text, is_answer } => {
                    let lines: Vec<_> = text.lines().map(str::trim).collect();
                    let lines: Vec<_> = lines.into_iter().filter(|it| !it.is_empty()).collect();
                    let mut part = json!({ "lines": lines });
                    if *is_answer {
                        part["answer"] = true.into();
                    }
                    part
                }
                Body::Table { file, .. } => {
                    let mut part = json!({ "table": file.name });
                    if let Some((by, most)) = file.top {
                        part["by"] = by.into();
                        part["most"] = most.into();
                    }
                    part
                }
            };
            if !block.title.is_empty() {
                part["title"] = (&*block.title).into();
            }
            part
        };
        self.blocks.iter().map(part).collect()
    }
}
