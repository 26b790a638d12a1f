//! The line under a table of runs that says what they assume.

use crate::config::Edition;
use crate::experiment::Prepared;
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

/// The flexibilities of all accelerators, in order of first use.
fn flexibilities(prepared: &Prepared) -> String {
    let mut found: Vec<String> = Vec::new();
    for accelerator in prepared.plans().flat_map(|plan| plan.system.accelerators()) {
        let name = accelerator.flexibility.to_string();
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found.join(" and ")
}
