//! Cost of a network whose layers are mapped by rules (docs/explanation/mapper.md, section 6.1).

use crate::cancel;
use crate::hardware::Accelerator;
use crate::model::Network;

use super::super::selection::{self, Candidate};
use super::super::{Choices, Infeasible, NetworkCost};
use super::choose::ChooseLayer;
use super::prepared::PreparedNetwork;
use super::report::LayerReport;
use super::rules::LayerRules;

/// Cost of a network whose layers `all` these rules map, as the objective of the accelerator has it.
pub(super) fn cost_by(
    network: &Network,
    accelerator: &Accelerator,
    all: Vec<Box<dyn ChooseLayer + '_>>,
) -> Result<NetworkCost, Infeasible> {
    cancel::check();
    with_all(network, accelerator, all, |prepared, rules| {
        if !rules.choose() {
            let layers = prepared.each_layer(rules, |layer| layer.cost());
            return NetworkCost::of_layers(layers, accelerator);
        }
        let of_layer = |it: &LayerReport| (it.cost(), it.choice.unwrap_or_default(), it.certainty);
        let layers = prepared.each_layer(rules, of_layer);
        let choices = layers.iter().map(|(_, choice, certainty)| (*choice, *certainty));
        let choices =
            Choices { selected: rules.selected, ..Choices::of_layers(rules.id(), choices) };
        let costs = layers.iter().map(|(cost, ..)| *cost).collect();
        NetworkCost { choices: Some(choices), ..NetworkCost::of_layers(costs, accelerator) }
    })
}

/// `work` with a network on an accelerator and `all` rules of its layers. With the objective `deadline`, residency is
/// planned as for `edp` (docs/explanation/mapper.md, section 6.1).
pub(super) fn with_all<T>(
    network: &Network,
    accelerator: &Accelerator,
    all: Vec<Box<dyn ChooseLayer + '_>>,
    work: impl FnOnce(&mut PreparedNetwork<'_>, &LayerRules<'_>) -> T,
) -> Result<T, Infeasible> {
    let rules = LayerRules::first(all);
    let mut prepared = PreparedNetwork::new(network, accelerator, rules.of(0))?;
    let rules = match rules.choose() && accelerator.chooses_by_period() {
        true => {
            let limit = accelerator.mapping_deadline.cycles.ok_or(Infeasible::NoPeriod)?;
            within(rules, limit, &mut prepared)
        }
        false => rules,
    };
    Ok(work(&mut prepared, &rules))
}

/// For each layer one of the rules, so that the network takes the least energy within `limit` \[cycle\].
fn within<'a>(
    mut rules: LayerRules<'a>,
    limit: u64,
    prepared: &mut PreparedNetwork<'_>,
) -> LayerRules<'a> {
    let n_layers = prepared.n_layers();
    let mut layers: Vec<Vec<Candidate>> = vec![Vec::new(); n_layers];
    for number in 0..rules.n_rules() {
        rules = rules.with_layers(vec![number; n_layers]);
        let costs = prepared.each_layer(&rules, |layer| layer.cost());
        for (candidates, cost) in layers.iter_mut().zip(costs) {
            candidates.push(Candidate { cycles: cost.cycles, energy_nj: cost.energy_nj });
        }
    }
    let found = selection::least_energy(&layers, limit);
    rules = rules.with_layers(found.chosen);
    rules.selected = Some(found.total);
    rules
}
