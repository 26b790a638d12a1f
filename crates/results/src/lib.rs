//! What runs leave for programs: rows of CSV files, JSON, columns in memory, traces of events, and the cause of
//! every missed deadline.
//!
//! Results go to the writer that is given: nothing here knows a path or computes a score. Rows are made by the
//! million, so this crate is optimised; what people look at is `xrsim-report`.

#![warn(missing_docs, unreachable_pub)]
#![cfg_attr(not(test), deny(clippy::disallowed_macros, clippy::disallowed_methods))]

mod cells;
pub mod columns;
pub mod csv;
pub mod idle;
pub mod json;
pub mod rows;
pub mod trace_events;
pub mod why;

use xrsim_model::scenario::Scenario;
use xrsim_sim::plan::Plan;

/// Identity of a run in every output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunLabel<'a> {
    /// Scenario.
    pub scenario: &'a str,
    /// System.
    pub system: &'a str,
    /// PEs of the whole system.
    pub pes: u64,
    /// Semantics.
    pub semantics: &'static str,
    /// Cost model.
    pub cost_model: &'a str,
    /// Scheduler.
    pub scheduler: &'a str,
    /// Seed.
    pub seed: u64,
    /// Replication.
    pub replication: u64,
}

/// Columns of the label of a run.
const N_LABELS: usize = 8;

/// A column of the label of a run.
#[derive(Debug, Clone, Copy)]
pub struct LabelColumn {
    /// Name in CSV and JSON.
    pub name: &'static str,
    /// Heading in pages.
    pub label: &'static str,
    /// Reads its value.
    value: for<'l> fn(&'l RunLabel<'_>) -> LabelValue<'l>,
}

/// A value in the label of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabelValue<'a> {
    /// A name.
    Text(&'a str),
    /// A whole number.
    Number(u64),
}

impl LabelColumn {
    const fn new(
        name: &'static str,
        label: &'static str,
        value: for<'l> fn(&'l RunLabel<'_>) -> LabelValue<'l>,
    ) -> Self {
        Self { name, label, value }
    }

    /// The value in `label`.
    pub fn of<'l>(&self, label: &'l RunLabel<'_>) -> LabelValue<'l> {
        (self.value)(label)
    }
}

impl RunLabel<'_> {
    /// The columns, in the order of every output.
    pub const COLUMNS: [LabelColumn; N_LABELS] = [
        LabelColumn::new("scenario", "Scenario", |it| LabelValue::Text(it.scenario)),
        LabelColumn::new("system", "System", |it| LabelValue::Text(it.system)),
        LabelColumn::new("pes", "PEs", |it| LabelValue::Number(it.pes)),
        LabelColumn::new("semantics", "Semantics", |it| LabelValue::Text(it.semantics)),
        LabelColumn::new("cost_model", "Cost model", |it| LabelValue::Text(it.cost_model)),
        LabelColumn::new("scheduler", "Scheduler", |it| LabelValue::Text(it.scheduler)),
        LabelColumn::new("seed", "Seed", |it| LabelValue::Number(it.seed)),
        LabelColumn::new("replication", "Replication", |it| LabelValue::Number(it.replication)),
    ];

    /// Names of the columns.
    pub const NAMES: [&'static str; N_LABELS] = {
        let mut names = [""; N_LABELS];
        let mut at = 0;
        while at < names.len() {
            names[at] = Self::COLUMNS[at].name;
            at += 1;
        }
        names
    };
}

impl<'a> RunLabel<'a> {
    /// The label of `plan`, costed by `cost_model`.
    pub fn of(plan: &'a Plan, cost_model: &'a str) -> Self {
        Self {
            scenario: plan.scenario.name(),
            system: plan.system.name(),
            pes: plan.system.pes(),
            semantics: plan.semantics.name(),
            cost_model,
            scheduler: plan.scheduler_name(),
            seed: plan.load.seed,
            replication: plan.load.replication,
        }
    }
}

/// Name of every model of a scenario in outputs: its task, or its network where a task occurs twice.
pub fn model_names(scenario: &Scenario) -> Vec<&str> {
    scenario
        .models()
        .iter()
        .map(|model| {
            let task = &*model.unit.task;
            let twice = scenario.models().iter().filter(|other| &*other.unit.task == task).count();
            if twice > 1 { model.unit.network.name() } else { task }
        })
        .collect()
}
