//! Descriptions that are refused.

use std::collections::HashSet;

use xrsim_config::Hardware;
use xrsim_model::scenario::Scenario;
use xrsim_sim::sweep::grid::{Factor, GridError};

use super::systems::name_with_pes;
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

/// The error for keys, the `factors`, that cannot vary as they are asked to.
pub(super) fn no_grid(factors: &[Factor], error: &GridError) -> ExperimentError {
    match error {
        GridError::RepeatedRow { factor, row } => {
            let Factor { keys, rows } = &factors[*factor];
            let value = rows[*row].iter().flatten().next();
            ExperimentError::Conflict(format!(
                "{} `{}` is given twice",
                keys[0],
                value.map_or("", |it| it)
            ))
        }
        other => ExperimentError::Conflict(other.to_string()),
    }
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

/// Refuses two files that describe a system, or a style, of one name; each is beside the words for it.
pub(super) fn refuse_namesakes(hardware: &[(String, Hardware)]) -> Result<(), ExperimentError> {
    let name = |hardware: &Hardware| match hardware {
        Hardware::System(system) => Some(name_with_pes(system)),
        Hardware::Style(style) => Some(style.name.to_string()),
        Hardware::Instances(_) => None,
    };
    let named = hardware.iter().filter(|(text, _)| !text.is_empty());
    let named: Vec<_> = named.filter_map(|(text, it)| Some((text, name(it)?))).collect();
    for (index, (text, name)) in named.iter().enumerate() {
        let is_namesake = |(other, known): &&(&String, String)| other != text && known == name;
        let Some((other, _)) = named[..index].iter().find(is_namesake) else { continue };
        return Err(ExperimentError::Conflict(format!(
            "{other} and {text} both describe a system `{name}`; give one of them another name: --system {}",
            shlex::try_quote(&format!("NAME={text}")).unwrap_or_default()
        )));
    }
    Ok(())
}
