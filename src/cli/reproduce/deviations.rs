//! What was published beside what was found, in one table.

use crate::report::table::{Style, new_table, render};

/// A line of the table.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Deviation {
    /// Figure of the paper, or section.
    pub figure: &'static str,
    /// Semantics of the runs.
    pub semantics: String,
    /// What is compared.
    pub what: String,
    /// As published.
    pub published: String,
    /// As found.
    pub found: String,
    /// What to know about it.
    pub remark: String,
}

impl Deviation {
    /// Two numbers, with their difference.
    pub(super) fn of_numbers(
        figure: &'static str,
        semantics: &str,
        what: &str,
        published: f64,
        found: f64,
    ) -> Self {
        Self {
            figure,
            semantics: semantics.into(),
            what: what.into(),
            published: format!("{published}"),
            found: format!("{found:.3}"),
            remark: format!("{:+.3}", found - published),
        }
    }
}

impl Deviation {
    /// The same with something else to know about it, if there is anything.
    pub(super) fn remarking(mut self, what: &str) -> Self {
        if !what.is_empty() {
            self.remark = format!("{}; {what}", self.remark);
        }
        self
    }
}

/// Header and rows.
pub(super) fn rows(deviations: &[Deviation]) -> (Vec<String>, Vec<Vec<String>>) {
    let header = ["figure", "semantics", "what", "published", "found", "remark"].map(String::from);
    let row = |it: &Deviation| {
        let Deviation { figure, semantics, what, published, found, remark } = it.clone();
        vec![figure.to_string(), semantics, what, published, found, remark]
    };
    (header.to_vec(), deviations.iter().map(row).collect())
}

/// The table for people.
pub(super) fn to_text(deviations: &[Deviation], style: Style) -> String {
    let (header, rows) = rows(deviations);
    let names: Vec<_> = header.iter().map(String::as_str).collect();
    let mut table = new_table(style, &names, 3);
    for row in rows {
        table.add_row(row);
    }
    render(&table)
}
