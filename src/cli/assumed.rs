//! The line under a table of runs that says what they assume.

use crate::config::Edition;
use crate::experiment::{Prepared, flexibility_of, objective_of};
use crate::plan::Plan;

/// Choices that all runs of a table have in common, by the names of the options that change them. The
/// platform stands there only if a system uses it.
pub(super) fn assumed(prepared: &Prepared) -> String {
    let settings = &prepared.settings;
    let mut choices = vec![("flexibility", flexibilities(prepared))];
    let edition = Edition::ALL.iter().find(|(edition, _)| *edition == settings.networks());
    choices.extend(edition.map(|(_, name)| ("networks", name.to_string())));
    if prepared.uses_platform() {
        choices.push(("platform", settings.platform().into()));
    }
    choices.push(("cost model", prepared.cost_model().name.clone()));
    let scheduler = prepared.plans().next().map(Plan::scheduler_name);
    choices.extend(scheduler.map(|name| ("scheduler", name.into())));
    let choices: Vec<_> = choices.iter().map(|(name, value)| format!("{name} {value}")).collect();
    format!("assumed ({}): {}\n", settings.semantics, choices.join(", "))
}

/// Flexibility of the systems in order of first use, with the objective of their choices.
fn flexibilities(prepared: &Prepared) -> String {
    let cost_model = prepared.cost_model();
    let mut found: Vec<String> = Vec::new();
    for plan in prepared.plans() {
        let objective = objective_of(&plan.system, cost_model);
        let objective = objective.map_or_else(String::new, |it| format!(" (objective {it})"));
        let words = flexibility_of(&plan.system, cost_model) + &objective;
        if !found.contains(&words) {
            found.push(words);
        }
    }
    found.join(" and ")
}
