//! The line under a table of runs that says what they assume.

use std::collections::HashSet;
use std::ptr;
use std::sync::Arc;

use xrsim_config::Edition;
use xrsim_experiment::{
    NamedCostModel, Prepared, deadline_share_of, effort_of, flexibility_of, fusion_of,
    objective_of, pinned_of,
};
use xrsim_model::hardware::System;
use xrsim_model::model::{Network, Parameter};
use xrsim_model::scenario::{ActiveModel, Numbers, Shows};
use xrsim_sim::plan::Plan;

/// Choices that all runs of a table have in common, by the names of the options that change them. The
/// platform stands there only if a system uses it.
pub(super) fn assumed(prepared: &Prepared) -> String {
    let mut choices = of_all_schedulers(prepared);
    let scheduler = prepared.plans().next().map(Plan::scheduler_name);
    choices.extend(scheduler.map(|name| ("scheduler", name.into())));
    line(&prepared.settings.semantics.to_string(), &choices)
        + &parameters(prepared)
        + &prepared.changes.concat()
}

/// The same for runs whose schedulers are compared, and which stand for those that are not asked for in the `case`.
pub(super) fn assumed_by_all_schedulers(prepared: &Prepared, case: &[(&str, &str)]) -> String {
    let case = case.iter().map(|(name, value)| (*name, value.to_string()));
    let choices: Vec<_> = case.chain(of_all_schedulers(prepared)).collect();
    let line = line(&prepared.settings.semantics.to_string(), &choices);
    line + &parameters(prepared) + &prepared.changes.concat()
}

/// The lines with the parameters of networks, and with a model that is a sequence.
fn parameters(prepared: &Prepared) -> String {
    let scenarios = distinct(prepared.plans().map(|plan| &*plan.scenario));
    let models = || scenarios.iter().flat_map(|scenario| scenario.models());
    let speaks = models().find(|model| model.sequence.is_some()).map(|model| &model.unit.task);
    let sequences = speaks.map_or(String::new(), |task| {
        format!(
            "sequences: requests of {task} are tokens, each with a deadline of its own; an extension of XRBench \
             (docs/explanation/sequences.md)\n"
        )
    });
    let parameters = parameters_of(models().map(|model| (&*model.unit.task, &*model.unit.network)));
    let mut works: Vec<_> = models().filter_map(work).collect();
    works.dedup();
    let works = match works.is_empty() {
        true => String::new(),
        false => format!(
            "counts: {}; an extension of XRBench (docs/explanation/varying-work.md)\n",
            works.join("; ")
        ),
    };
    let mut choices: Vec<_> = models().filter_map(choice).collect();
    choices.dedup();
    let choices = match choices.is_empty() {
        true => String::new(),
        false => format!(
            "variants: {}; an extension of XRBench (docs/explanation/varying-work.md)\n",
            choices.join("; ")
        ),
    };
    parameters + &works + &choices + &sequences
}

/// The networks of a model of which each request runs one, in words.
fn choice(model: &ActiveModel) -> Option<String> {
    let choice = model.choice.as_ref()?;
    let networks = std::iter::once(&model.unit.network).chain(&model.variants);
    let network = |(network, measured): (&Arc<Network>, &Option<f64>)| match measured {
        Some(value) => format!("{} ({} {value})", network.name(), model.unit.quality.metric),
        None => network.name().into(),
    };
    let networks = networks.zip(&choice.measured).map(network).collect::<Vec<_>>();
    Some(format!("{} runs {}", model.unit.task, networks.join(" or ")))
}

/// The counts of a model that differ from frame to frame, in words.
fn work(model: &ActiveModel) -> Option<String> {
    let work = model.work.as_ref()?;
    let count = |(name, numbers): &(Box<str>, Numbers)| {
        let (values, mean) = (numbers.values(), numbers.mean());
        match values[..] {
            [one] => format!("{name} {one}"),
            [first, .., last] => format!("{name} {first} to {last}, mean {mean:.1}"),
            [] => name.to_string(),
        }
    };
    let counts = work.counts().iter().map(count).collect::<Vec<_>>().join(", ");
    let seen = match work.shows() {
        Shows::Planned => "schedulers see the planned ones",
        Shows::Mean => "schedulers see the means",
        Shows::Drawn => "schedulers see them",
    };
    Some(format!("{} {counts} ({seen})", model.unit.task))
}

/// The line with the parameters of networks, each with its task, if they have any.
pub(super) fn parameters_of<'a>(networks: impl Iterator<Item = (&'a str, &'a Network)>) -> String {
    let mut found: Vec<String> = Vec::new();
    for (task, network) in networks {
        let values = network.parameters().iter().map(parameter).collect::<Vec<_>>().join(", ");
        let words = format!("{task} {values}");
        if !values.is_empty() && !found.contains(&words) {
            found.push(words);
        }
    }
    match found.is_empty() {
        true => String::new(),
        false => format!("parameters: {} (reasons: `xrsim list models`)\n", found.join("; ")),
    }
}

/// A parameter with its value, and the default if that is another one.
fn parameter(parameter: &Parameter) -> String {
    let Parameter { name, value, default, .. } = parameter;
    match parameter.is_default() {
        true => format!("{name} {value}"),
        false => format!("{name} {value} instead of {default}"),
    }
}

/// The line for these choices under `rules`.
pub(super) fn line(rules: &str, choices: &[(&str, String)]) -> String {
    let choices: Vec<_> = choices.iter().map(|(name, value)| format!("{name} {value}")).collect();
    format!("assumed ({rules}): {}\n", choices.join(", "))
}

/// The systems of all runs, each once.
fn systems(prepared: &Prepared) -> Vec<&System> {
    distinct(prepared.plans().map(|plan| &*plan.system))
}

/// What several runs share, once each: runs that differ in their draws share system and scenario.
fn distinct<'a, T>(all: impl Iterator<Item = &'a T>) -> Vec<&'a T> {
    let mut seen = HashSet::new();
    all.filter(|it| seen.insert(ptr::from_ref(*it))).collect()
}

/// A choice of a system in words; `None` if it has none.
type OfSystem = fn(&System, &NamedCostModel) -> Option<String>;

fn of_all_schedulers(prepared: &Prepared) -> Vec<(&'static str, String)> {
    let settings = &prepared.settings;
    let mut choices = vec![("flexibility", flexibilities(prepared))];
    for (name, of_system) in [("fusion", fusion_of as OfSystem), ("pinned", pinned_of)] {
        let mut texts: Vec<String> = Vec::new();
        for system in systems(prepared) {
            let text = of_system(system, prepared.cost_model());
            texts.extend(text.filter(|it| !texts.contains(it)));
        }
        choices.extend((!texts.is_empty()).then(|| (name, texts.join(" and "))));
    }
    let edition = Edition::ALL.iter().find(|(edition, _)| *edition == settings.networks());
    choices.extend(edition.map(|(_, name)| ("networks", name.to_string())));
    if prepared.uses_platform() {
        choices.push(("platform", settings.platform().into()));
    }
    choices.extend(drams(systems(prepared).into_iter()));
    choices.push(("cost model", prepared.cost_model().name.clone()));
    choices
}

/// Whether DRAM is split or shared, of the systems of several accelerators in order of first use; nothing if there
/// are none.
pub(super) fn drams<'a>(
    systems: impl Iterator<Item = &'a System>,
) -> Option<(&'static str, String)> {
    let mut found: Vec<&str> = Vec::new();
    for system in systems.filter(|system| system.accelerators().len() > 1) {
        let word = system.dram().name();
        if !found.contains(&word) {
            found.push(word);
        }
    }
    (!found.is_empty()).then(|| ("dram", found.join(" and ")))
}

/// Flexibility of the systems in order of first use, with objective and effort of their choices.
fn flexibilities(prepared: &Prepared) -> String {
    let cost_model = prepared.cost_model();
    let mut found: Vec<String> = Vec::new();
    for system in systems(prepared) {
        let words = flexibility(system, cost_model);
        if !found.contains(&words) {
            found.push(words);
        }
    }
    found.join(" and ")
}

/// Flexibility of a system, with objective and effort of its choices if it has any.
pub(super) fn flexibility(system: &System, cost_model: &NamedCostModel) -> String {
    let share = deadline_share_of(system, cost_model);
    let share = share.map_or_else(String::new, |it| format!(" within {it} of the time"));
    let objective = objective_of(system, cost_model).map(|it| format!("objective {it}{share}"));
    let effort = effort_of(system, cost_model).map(|it| format!("effort {it}"));
    let how: Vec<_> = objective.into_iter().chain(effort).collect();
    let how = if how.is_empty() { String::new() } else { format!(" ({})", how.join(", ")) };
    flexibility_of(system, cost_model) + &how
}
