//! Descriptions that are refused.

use std::collections::HashSet;

use xrsim_model::scenario::Scenario;

use super::{ExperimentError, Settings};

/// Refuses parameters of networks of a scenario that was given as a value: the extents of their layers are
/// numbers already.
pub(super) fn refuse_parameters(
    scenario: &Scenario,
    settings: &Settings,
) -> Result<(), ExperimentError> {
    let mut tasks = scenario.models().iter().map(|model| &*model.unit.task);
    let Some(task) = tasks.find(|task| settings.parameters.of(task).is_some()) else {
        return Ok(());
    };
    Err(ExperimentError::Conflict(format!(
        "parameters.{task} has no effect on the scenario `{}`, which was given as a value: give the network of \
         {task} its parameters when it is read",
        scenario.name()
    )))
}

/// Refuses two of one name: their results could not be told apart.
pub(super) fn refuse_repeated(
    kind: &'static str,
    names: impl Iterator<Item = String>,
) -> Result<(), ExperimentError> {
    let mut seen = HashSet::new();
    for name in names {
        if let Some(name) = seen.replace(name) {
            return Err(ExperimentError::Repeated { kind, name });
        }
    }
    Ok(())
}
