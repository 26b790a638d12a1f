//! Layers that dominate the scores of a table: such a score depends on one mapping more than on the
//! system.

use xrsim_model::cost::Dominant;
use xrsim_model::ids::{AccelId, ModelId};
use xrsim_model::model::Network;
use xrsim_sim::plan::Plan;
use xrsim_sim::sweep::Scored;

use xrsim_results::model_names;
use xrsim_results::span::Span;

/// Smallest share of the time of an accelerator that a named layer takes at the rate of its model.
const LEAST_LOAD: f64 = 0.25;

/// Largest number of named layers.
const MOST_LINES: usize = 2;

/// Layers that dominate their networks in the runs of a table.
#[derive(Debug, Default)]
pub struct DominantLayers {
    found: Vec<Found>,
}

/// One layer, over all systems.
#[derive(Debug, Default)]
struct Found {
    scenarios: Vec<String>,
    model: String,
    /// The command that costs the network on the system of the first run.
    command: Option<String>,
    layer: String,
    systems: Vec<String>,
    /// Shares of the network's time [%].
    share: Span<f64>,
    /// Numbers of passes through DRAM.
    passes: Span<f64>,
    /// Largest share of the time of an accelerator.
    load: f64,
}

/// Makes the command that costs the network of a task on a system.
type ToCommand<'a> = &'a dyn Fn(&str, &Network) -> Option<String>;

impl DominantLayers {
    /// Adds a run, with every model on its fastest accelerator. `command` costs the network of a task on the system of
    /// the run, if a command does.
    pub fn take(&mut self, plan: &Plan, result: &Scored, command: ToCommand<'_>) {
        for found in on_fastest(plan, result) {
            self.take_model(plan, result, found, command);
        }
    }

    fn take_model(
        &mut self,
        plan: &Plan,
        result: &Scored,
        (model, name, fastest): (ModelId, &str, AccelId),
        command: ToCommand<'_>,
    ) {
        let active = plan.scenario.model(model);
        let (network, cost) = (&active.unit.network, result.costs.on(model, fastest).network());
        let accelerator = &plan.system.accelerators()[fastest.index()];
        let Some(Dominant { layer, share, passes }) = Dominant::find(network, cost, accelerator)
        else {
            return;
        };
        let load = share * cost.latency.as_ms() / 1e3 * active.rate.as_fps();
        if load < LEAST_LOAD {
            return;
        }
        let layer = &*network.layers()[layer].name;
        let same = |it: &Found| it.model == name && it.layer == layer;
        let at = self.found.iter().position(same).unwrap_or_else(|| {
            self.found.push(Found {
                model: name.into(),
                command: command(&active.unit.task, network),
                layer: layer.into(),
                ..Found::default()
            });
            self.found.len() - 1
        });
        let found = &mut self.found[at];
        remember(&mut found.scenarios, plan.scenario.name());
        remember(&mut found.systems, plan.system.name());
        found.share.hold(100.0 * share);
        found.passes.hold(passes);
        found.load = found.load.max(load);
    }

    /// A line for each of the most dominant layers, the worst first; empty without any.
    pub fn notes(&self) -> String {
        let mut order: Vec<&Found> = self.found.iter().collect();
        order.sort_by(|a, b| b.load.total_cmp(&a.load));
        let lines: String = order.iter().take(MOST_LINES).map(|found| found.line()).collect();
        match order.len().saturating_sub(MOST_LINES) {
            0 => lines,
            n => format!("{lines}note: {n} more layers take most of the time of their networks\n"),
        }
    }
}

impl Found {
    fn line(&self) -> String {
        let Self { model, layer, .. } = self;
        let is_one = self.systems.len() == 1;
        let command = self.command.as_ref().filter(|_| is_one);
        let command = command.map_or_else(String::new, |it| format!(" ({it})"));
        let share = self.share.words(|it| format!("{it:.0}"));
        let passes = self.passes.words(|it| format!("{it:.0}"));
        let passes = match self.passes.largest() {
            Some(2.0..) => {
                format!(" and moves {passes} times the bytes of its tensors through DRAM")
            }
            _ => String::new(),
        };
        format!(
            "note: {}: on {}, layer {layer} takes {share} % of the time of {model}{passes}; its \
             mapping decides the score{command}\n",
            listed(&self.scenarios, "scenarios"),
            listed(&self.systems, "systems")
        )
    }
}

/// Models of a run that can run, with their names and fastest accelerators.
pub(super) fn on_fastest<'r>(
    plan: &'r Plan,
    result: &'r Scored,
) -> impl Iterator<Item = (ModelId, &'r str, AccelId)> {
    let models = plan.scenario.model_ids().zip(model_names(&plan.scenario));
    models.filter_map(|(model, name)| {
        let latency = |id: &AccelId| result.costs.on(model, *id).latency();
        Some((model, name, result.costs.offers(model).min_by_key(latency)?))
    })
}

/// Adds `name` unless it is known.
fn remember(known: &mut Vec<String>, name: &str) {
    if !known.iter().any(|it| it == name) {
        known.push(name.into());
    }
}

/// All names if they are few, otherwise the number of `things`.
fn listed(names: &[String], things: &str) -> String {
    match names {
        [first, .., last] if names.len() > 4 => {
            format!("{} {things}, {first} to {last}", names.len())
        }
        names => names.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_commas_are_told_apart_and_many_are_counted() {
        let mut names = Vec::new();
        for name in ["a, b", "a", "b", "a"] {
            remember(&mut names, name);
        }
        assert_eq!(listed(&names, "scenarios"), "a, b, a, b");
        names.extend(["c", "d"].map(String::from));
        assert_eq!(listed(&names, "scenarios"), "5 scenarios, a, b to d");
    }
}
