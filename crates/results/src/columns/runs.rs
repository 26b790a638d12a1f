//! Rows of runs as columns.

use std::io;

use crate::RunLabel;
use crate::cells::{Further, RunTable};
use crate::fields::{Cells, Nature, Rows};
use xrsim_model::units::SimTime;
use xrsim_sim::plan::Plan;
use xrsim_sim::sweep::RunResult;

use super::{Builder, Columns};

/// Adds rows of runs to columns.
pub struct ColumnsOfRuns {
    table: RunTable,
    /// Columns of the label and of settings.
    label: Vec<Builder>,
    /// Columns after them.
    columns: Vec<Builder>,
    /// Column of the next cell.
    at: usize,
    n_rows: usize,
    further: Further,
}

impl ColumnsOfRuns {
    /// Columns of `table`, with columns for `settings` after the label, and with those of [`RunTable::further`] at the
    /// end.
    pub fn new(table: RunTable, settings: &[&str], further: Further) -> Self {
        let label = RunTable::label().map(|it| Builder::new(it.name, it.nature, 0));
        let settings = settings.iter().map(|name| Builder::new(name, Nature::Text, 0));
        let label = label.chain(settings).filter(|_| table != RunTable::InferenceTexts).collect();
        let columns = table.columns().into_iter().chain(table.further(further));
        let columns = columns.map(|it| Builder::new(it.name, it.nature, 0)).collect();
        Self { table, label, columns, at: 0, n_rows: 0, further }
    }

    /// Adds the rows of a run with these values of the settings.
    pub fn add<'a>(
        &mut self,
        label: &RunLabel<'_>,
        settings: impl Iterator<Item = &'a str>,
        plan: &Plan,
        result: &RunResult,
    ) -> io::Result<()> {
        let before = self.n_rows;
        self.table.add(self, plan, result, self.further)?;
        let Some(more) = (self.n_rows - before).checked_sub(1) else { return Ok(()) };
        let n_fields = RunLabel::COLUMNS.len().min(self.label.len());
        let (fields, others) = self.label.split_at_mut(n_fields);
        for (column, builder) in RunLabel::COLUMNS.iter().zip(fields) {
            column.add(label, builder);
        }
        others.iter_mut().zip(settings).for_each(|(builder, value)| builder.text(value));
        self.label.iter_mut().for_each(|builder| builder.repeat_last(more));
        Ok(())
    }

    /// The columns.
    pub fn finish(self) -> Columns {
        let columns = self.label.into_iter().chain(self.columns).map(Builder::finish).collect();
        Columns { columns, n_rows: self.n_rows }
    }

    fn next(&mut self) -> &mut Builder {
        self.at += 1;
        &mut self.columns[self.at - 1]
    }
}

impl Rows for ColumnsOfRuns {
    fn start_row(&mut self) {
        self.at = 0;
    }

    fn end_row(&mut self) -> io::Result<()> {
        self.n_rows += 1;
        Ok(())
    }
}

impl Cells for ColumnsOfRuns {
    fn whole(&mut self, value: u64) {
        self.next().whole(value);
    }

    fn number(&mut self, value: Option<f64>) {
        self.next().number(value);
    }

    fn time(&mut self, time: Option<SimTime>) {
        self.next().time(time);
    }

    fn text(&mut self, text: &str) {
        self.next().text(text);
    }
}
