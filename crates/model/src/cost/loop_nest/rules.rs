//! Rules by which the layers of a network are mapped: one for all of them, or, with the objective `deadline`, one of
//! several for each layer (docs/explanation/mapper.md, section 6.1).

use crate::hardware::{Accelerator, MappingObjective};

use super::super::selection::{self, Candidate, Selected};
use super::choose::{Choose, ChooseLayer};
use super::prepared::PreparedNetwork;
use super::report::LayerReport;

/// Objectives whose choices are the candidates of a layer, that of the residency first.
const CANDIDATES: [MappingObjective; 3] =
    [MappingObjective::Edp, MappingObjective::Cycles, MappingObjective::Energy];

/// The accelerator with each objective whose choices its networks are made of.
pub(super) fn candidates(accelerator: &Accelerator) -> Vec<Accelerator> {
    if !accelerator.chooses_by_period() {
        return vec![accelerator.clone()];
    }
    let with = |mapping_objective| Accelerator { mapping_objective, ..accelerator.clone() };
    CANDIDATES.map(with).into()
}

/// The choices of each accelerator that has any.
pub(super) fn on<'a>(
    rule: &'a dyn Choose,
    accelerators: &'a [Accelerator],
) -> Vec<Box<dyn ChooseLayer + 'a>> {
    accelerators.iter().filter_map(|accelerator| rule.on(accelerator)).collect()
}

/// The rule of each layer of a network.
pub(super) struct LayerRules<'a> {
    all: Vec<Box<dyn ChooseLayer + 'a>>,
    /// Number of the rule of each layer; empty if the first one is that of all.
    of_layer: Vec<usize>,
    /// Energy of the network and its limit of time, if these chose the rules.
    pub(super) selected: Option<Selected>,
}

impl<'a> LayerRules<'a> {
    /// No choices: directives map every layer.
    pub(super) fn none() -> Self {
        Self::first(Vec::new())
    }

    /// The first of these rules for all layers.
    pub(super) fn first(all: Vec<Box<dyn ChooseLayer + 'a>>) -> Self {
        Self { all, of_layer: Vec::new(), selected: None }
    }

    /// For each layer one of the rules, so that the network takes the least energy within `limit` \[cycle\].
    pub(super) fn within(mut self, limit: u64, prepared: &mut PreparedNetwork<'_>) -> Self {
        let mut layers: Vec<Vec<Candidate>> = Vec::new();
        for number in 0..self.all.len() {
            self.of_layer = vec![number; prepared.n_layers()];
            let costs = prepared.each_layer(&self, LayerReport::cost);
            layers.resize_with(costs.len(), Vec::new);
            for (candidates, cost) in layers.iter_mut().zip(costs) {
                candidates.push(Candidate { cycles: cost.cycles, energy_nj: cost.energy_nj });
            }
        }
        let found = selection::least_energy(&layers, limit);
        (self.of_layer, self.selected) = (found.chosen, Some(found.total));
        self
    }

    /// Whether layers are mapped by choices.
    pub(super) fn choose(&self) -> bool {
        !self.all.is_empty()
    }

    /// The rule of a layer; `None` if directives map it.
    pub(super) fn of(&self, layer: usize) -> Option<&dyn ChooseLayer> {
        self.all.get(self.number_of(layer)).map(|it| &**it)
    }

    /// Number of the rule of a layer.
    pub(super) fn number_of(&self, layer: usize) -> usize {
        self.of_layer.get(layer).copied().unwrap_or(0)
    }

    /// Every rule, or `None` once if directives map all layers.
    pub(super) fn each(&self) -> Vec<Option<&dyn ChooseLayer>> {
        match self.choose() {
            true => self.all.iter().map(|it| Some(&**it)).collect(),
            false => vec![None],
        }
    }
}
