//! A published number beside the one that was found.

use super::{Column, Table};

/// A published number or count beside the one that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deviation {
    /// Figure of the paper.
    pub figure: &'static str,
    /// Semantics of the runs.
    pub semantics: String,
    /// Quantity that is compared.
    pub what: String,
    /// Published value.
    pub published: String,
    /// Value that was found.
    pub found: String,
    /// Difference, or a remark on it.
    pub remark: String,
}

impl Deviation {
    /// Two numbers with their difference as the remark.
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

    /// Appends `remark`, unless it is empty.
    pub(super) fn with_remark(mut self, remark: &str) -> Self {
        if !remark.is_empty() {
            self.remark = format!("{}; {remark}", self.remark);
        }
        self
    }

    /// The deviations as a table, one row each.
    pub fn table(deviations: &[Self]) -> Table {
        let columns: [Column<Self>; 6] = [
            ("figure", |it| it.figure.into()),
            ("semantics", |it| it.semantics.clone()),
            ("what", |it| it.what.clone()),
            ("published", |it| it.published.clone()),
            ("found", |it| it.found.clone()),
            ("remark", |it| it.remark.clone()),
        ];
        Table::of_items(&columns, deviations)
    }
}
