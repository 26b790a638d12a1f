//! Check of the keys `runs` of hardware and `on` of scenarios against each other.

use xrsim_config::{Catalog, Kind, nearest};
use xrsim_model::hardware::{System, Tasks};
use xrsim_model::scenario::{ActiveModel, Scenario};
use xrsim_model::sequence::distinct;
use xrsim_model::text::in_line;

use super::ExperimentError;

/// Checks that the names of both keys are known, and that every model may run somewhere.
///
/// # Errors
///
/// [`ExperimentError::Conflict`] for the first name that is unknown, or the first model that may run nowhere, with the
/// places of the keys in files of `catalog`.
pub(super) fn check(
    system: &System,
    scenario: &Scenario,
    catalog: &Catalog,
) -> Result<(), ExperimentError> {
    let pair = Pair { system, scenario, catalog };
    let known = || system.accelerators().iter().map(|it| &*it.name);
    for (index, model) in scenario.models().iter().enumerate() {
        let mut names = names(model.on.as_ref());
        if let Some(name) = names.find(|name| !known().any(|it| it == *name)) {
            let kind = format!("system `{}` has no accelerator", system.name());
            return Err(pair.unknown(pair.place_of_on(index), &kind, name, known().collect()));
        }
    }
    if system.accelerators().iter().any(|it| it.runs.is_some()) {
        let networks = catalog.names(Kind::Network);
        let tasks = scenario.models().iter().map(|it| &*it.unit.task);
        let known: Vec<_> = tasks.chain(networks.iter().map(|name| &**name)).collect();
        for (index, accelerator) in system.accelerators().iter().enumerate() {
            let mut tasks = names(accelerator.runs.as_ref());
            if let Some(task) = tasks.find(|task| !known.contains(task)) {
                let kind = format!("scenario {} has no model", scenario.name());
                return Err(pair.unknown(pair.place_of_runs(index), &kind, task, known));
            }
        }
    }
    let is_homeless = |(_, model): &(usize, &ActiveModel)| {
        system.accelerators().iter().all(|it| model.exclusion(it).is_some())
    };
    match scenario.models().iter().enumerate().find(is_homeless) {
        Some((index, model)) => Err(pair.homeless(index, model)),
        None => Ok(()),
    }
}

/// The names of a key; none without the key.
fn names(key: Option<&Tasks>) -> impl Iterator<Item = &str> {
    key.into_iter().flat_map(|names| names.iter().map(|name| &**name))
}

struct Pair<'a> {
    system: &'a System,
    scenario: &'a Scenario,
    catalog: &'a Catalog,
}

impl Pair<'_> {
    /// File and line of the key `on` of a model with a colon; nothing if no file has it.
    fn place_of_on(&self, index: usize) -> String {
        let place = self.catalog.place_of_item(self.scenario.name(), ("models", index), "on");
        place.map_or(String::new(), |it| it + ": ")
    }

    fn place_of_runs(&self, index: usize) -> String {
        let item = ("accelerators", index);
        let place = self.catalog.place_of_item(self.system.name(), item, "runs");
        place.map_or(String::new(), |it| it + ": ")
    }

    fn unknown(&self, place: String, kind: &str, name: &str, known: Vec<&str>) -> ExperimentError {
        let known = distinct(known);
        let help = match nearest(name, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known: {}", known.join(", ")),
        };
        ExperimentError::Conflict(format!("{place}{kind} `{}`; {help}", in_line(name)))
    }

    /// The error that a model may run nowhere.
    fn homeless(&self, index: usize, model: &ActiveModel) -> ExperimentError {
        let task = in_line(&model.unit.task);
        let mut rules: Vec<_> = model
            .on
            .iter()
            .map(|names| format!("{}`on: [{}]`", self.place_of_on(index), names.join(", ")))
            .collect();
        let accelerators = self.system.accelerators().iter().enumerate();
        rules.extend(accelerators.filter_map(|(at, it)| {
            let is_on = model.on.as_ref().is_none_or(|names| names.contains(&it.name));
            let tasks = it.runs.as_ref().filter(|_| is_on)?.join(", ");
            Some(format!("{}{} has `runs: [{tasks}]`", self.place_of_runs(at), it.name))
        }));
        ExperimentError::Conflict(format!(
            "model {task} of scenario {} may run on no accelerator of system `{}` ({}); name {task} in a `runs`, or \
             another accelerator in `on`",
            self.scenario.name(),
            self.system.name(),
            rules.join("; ")
        ))
    }
}
