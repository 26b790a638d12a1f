//! What is printed and written: CSV and JSON for programs, tables for people. Writes into what it is
//! handed; knows no paths and computes no scores.

pub mod comparison;
pub mod cost;
pub mod csv;
pub mod dominant;
pub mod html;
pub mod json;
pub mod mlperf;
pub mod network;
pub mod points;
pub mod rows;
pub mod scores;
pub mod table;
pub mod timeline;
pub mod trace_events;
pub mod why;

use crate::scenario::Scenario;
use crate::sweep::RunSpec;

/// What identifies a run in every output.
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
    /// Policy.
    pub scheduler: &'a str,
    /// Seed.
    pub seed: u64,
    /// Replication.
    pub replication: u64,
}

impl<'a> RunLabel<'a> {
    /// The label of `spec`, costed by `cost_model`.
    pub fn of(spec: &'a RunSpec, cost_model: &'a str) -> Self {
        Self {
            scenario: spec.plan.scenario.name(),
            system: spec.plan.system.name(),
            pes: spec.plan.system.pes(),
            semantics: spec.semantics.name(),
            cost_model,
            scheduler: spec.scheduler_name(),
            seed: spec.plan.load.seed,
            replication: spec.plan.load.replication,
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
            if twice > 1 { &*model.artifact_name } else { task }
        })
        .collect()
}
