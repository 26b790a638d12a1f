//! Rules by which the layers of a network are mapped: one for all of them, or, with the objective `deadline`, one of
//! several for each layer (docs/explanation/mapper.md, section 6.1).

use crate::hardware::{Accelerator, MappingObjective};
use crate::model::Network;

use super::super::ChooserId;
use super::super::selection::Selected;
use super::choose::{Choose, ChooseLayer};

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

/// The choices of each accelerator that has any for the layers of a network, by `rule` if there is one.
pub(super) fn of_all<'a>(
    rule: Option<&'a dyn Choose>,
    accelerators: &'a [Accelerator],
    network: &Network,
) -> Vec<Box<dyn ChooseLayer + 'a>> {
    let Some(rule) = rule else { return Vec::new() };
    accelerators.iter().filter_map(|accelerator| rule.in_network(accelerator, network)).collect()
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

    /// The same rules, with the number of that of each layer.
    pub(super) fn with_layers(self, of_layer: Vec<usize>) -> Self {
        Self { of_layer, ..self }
    }

    /// Who chooses: the first rule, or all of them within the limit of time.
    pub(super) fn id(&self) -> ChooserId {
        let mut id = self.of(0).map_or_else(ChooserId::default, ChooseLayer::id);
        if let Some(selected) = &self.selected {
            self.all[1..].iter().for_each(|it| id.digest.add_digest(it.id().digest));
            let limit = selected.limit_cycles;
            [limit as u32, (limit >> 32) as u32].into_iter().for_each(|it| id.digest.add(it));
        }
        id
    }

    /// Number of rules.
    pub(super) fn n_rules(&self) -> usize {
        self.all.len()
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
