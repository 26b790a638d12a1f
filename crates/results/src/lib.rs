//! What runs leave for programs: rows of CSV files, JSON, columns in memory, traces of events, and the cause of
//! every missed deadline.
//!
//! Results go to the writer that is given: nothing here knows a path or computes a score. Rows are made by the
//! million, so this crate is optimised; what people look at is `xrsim-report`.
//!
//! | to add | write |
//! |---|---|
//! | column of `models.csv` or `inferences.csv` | a `Field` of `ModelRow` or `RequestRow` in `src/cells.rs`, marked `later()`; for `--format json` a line in `src/json.rs` |

#![warn(missing_docs, unreachable_pub)]
#![cfg_attr(not(test), deny(clippy::disallowed_macros, clippy::disallowed_methods))]

pub mod cells;
pub mod columns;
pub mod csv;
mod device;
mod digits;
mod fields;
pub mod idle;
pub mod json;
pub mod limit;
pub mod model_parts;
pub mod ranking;
pub mod rows;
pub mod score_rows;
mod sequences;
pub mod span;
pub mod trace_events;
pub mod why;

use xrsim_model::scenario::Scenario;
use xrsim_sim::plan::Plan;

pub use device::{device_cells, device_values};
pub use fields::Field;
use fields::Value;

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

impl RunLabel<'_> {
    /// The columns, in the order of every output.
    pub const COLUMNS: [Field<Self>; N_LABELS] = [
        Field::<Self>::new("scenario", Value::Text(|it| it.scenario)).headed("Scenario"),
        Field::<Self>::new("system", Value::Text(|it| it.system)).headed("System"),
        Field::<Self>::new("pes", Value::Whole(|it| it.pes)).headed("PEs"),
        Field::<Self>::new("semantics", Value::Text(|it| it.semantics)).headed("Semantics"),
        Field::<Self>::new("cost_model", Value::Text(|it| it.cost_model)).headed("Cost model"),
        Field::<Self>::new("scheduler", Value::Text(|it| it.scheduler)).headed("Scheduler"),
        Field::<Self>::new("seed", Value::Whole(|it| it.seed)).headed("Seed"),
        Field::<Self>::new("replication", Value::Whole(|it| it.replication)).headed("Replication"),
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
    pub fn from_plan(plan: &'a Plan, cost_model: &'a str) -> Self {
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
