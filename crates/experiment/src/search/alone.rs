//! Costs of a system without the other accelerators of a search.

use xrsim_model::cost::loop_nest::Family;
use xrsim_model::hardware::System;

use super::super::NamedCostModel;
use super::PreparedSearch;

/// A network that takes another time on an accelerator without the others of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangedAlone {
    /// Network.
    pub network: Box<str>,
    /// Time in the search \[ms\].
    pub here: f64,
    /// Time without the others \[ms\].
    pub alone: f64,
}

impl PreparedSearch {
    /// The network that changes most on a system without the other accelerators of the search, whose mappings are
    /// candidates of its own (docs/explanation/mapper.md, section 6.3); `None` if no time changes by more than a thousandth.
    pub fn changed_alone(&self, system: &System) -> Option<ChangedAlone> {
        let accelerators = system.accelerators();
        let alone = self.cost_model.among(Family::new(accelerators, []));
        let models = self.plans.iter().flat_map(|plan| plan.scenario.models());
        let pairs = models.flat_map(|it| accelerators.iter().map(|on| (&it.unit.network, on)));
        let changed = pairs.filter_map(|(network, on)| {
            let ms =
                |it: &NamedCostModel| Some(it.model.network(network, on).ok()?.latency.as_ms());
            let (here, alone) = (ms(&self.cost_model)?, ms(&alone)?);
            let changed = ChangedAlone { network: network.name().into(), here, alone };
            ((here - alone).abs() > here / 1e3).then_some(changed)
        });
        changed.max_by(|a, b| (a.alone / a.here).total_cmp(&(b.alone / b.here)))
    }
}
