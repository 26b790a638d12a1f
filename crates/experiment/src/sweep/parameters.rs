//! Check of the parameters of networks that a sweep sets.

use std::collections::BTreeSet;
use std::sync::Arc;

use xrsim_config::sweep::DraftFactor;
use xrsim_config::{At, Problem, SweepDraft, parameter_fault, unknown_name};
use xrsim_model::model::Network;
use xrsim_model::scenario::Scenario;
use xrsim_model::sequence::distinct_by;

use super::super::keys::task_and_parameter;

/// Problems of keys of parameters that no network of `scenarios` has, and of values that a network does not
/// allow.
pub(super) fn problems(draft: &SweepDraft, scenarios: &[Arc<Scenario>]) -> Vec<Problem> {
    let columns = draft.factors.iter().flat_map(|factor| {
        factor.keys.iter().enumerate().map(move |(column, key)| (factor, column, key))
    });
    let of_column = |(factor, column, key)| of_column(factor, column, key, scenarios);
    columns.flat_map(of_column).collect()
}

fn of_column(
    factor: &DraftFactor,
    column: usize,
    key: &At<Box<str>>,
    scenarios: &[Arc<Scenario>],
) -> Vec<Problem> {
    let Some((task, name)) = task_and_parameter(&key.value) else { return Vec::new() };
    let models = || scenarios.iter().flat_map(|scenario| scenario.models());
    let of_task = models().filter(|model| *model.unit.task == *task);
    let networks = of_task.map(|model| &model.unit.network);
    let networks = distinct_by(networks, |a, b| Arc::ptr_eq(a, b));
    if networks.is_empty() {
        let tasks: BTreeSet<&str> = models().map(|model| &*model.unit.task).collect();
        let task = At { span: key.span.clone(), value: task.into() };
        return vec![unknown_name("model in these scenarios", &task, tasks.iter().copied())];
    }
    if let Some(fault) = networks.iter().find_map(|it| unknown(it, name)) {
        return vec![Problem::new(key.span.clone(), format!("`{task}`: {fault}"))];
    }
    let mut problems = Vec::new();
    for cell in factor.rows.iter().filter_map(|row| row[column].as_ref()) {
        let Ok(value) = cell.value.parse() else { continue };
        let faults = networks.iter().map(|it| parameter_fault(it.parameters(), name, value));
        if let Some(fault) = faults.flatten().next() {
            problems.push(Problem::new(cell.span.clone(), format!("`{task}`: {fault}")));
        }
    }
    problems
}

/// The reason why `network` has no value of the parameter `name`, if it has not.
fn unknown(network: &Network, name: &str) -> Option<String> {
    let is_known = network.parameters().iter().any(|it| *it.name == *name);
    if is_known { None } else { parameter_fault(network.parameters(), name, 1) }
}
