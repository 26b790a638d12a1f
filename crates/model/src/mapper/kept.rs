//! Choices as they are kept, and everything that they depend on.

use crate::cost::Certainty;
use crate::cost::loop_nest::{Choice, Machine, Nest, Riders};
use crate::model::PerTensor;

use super::exact::Counts;
use super::layer::FoundForm;
use super::objective::Value;
use super::search::Status;

/// A choice that is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept {
    /// Certainty about it.
    pub status: Status,
    /// Latency and energy.
    pub value: Value,
    /// Latency and energy that no mapping is below.
    pub bound: Value,
    /// Product of latency and energy that no mapping is below; at least that of `bound`.
    pub bound_edp: f64,
    /// Form and mapping; those that exceed capacities least if no mapping runs.
    pub choice: Choice,
    /// Whether the mapping lies in the mapspace that was asked for. Seeds may lie outside.
    pub is_inside: bool,
    /// Numbers of decided mappings; all 0 if nobody asks for them.
    pub counts: Counts,
}

impl Kept {
    /// Parts that are kept of the result of a search.
    pub(super) fn from_found(found: FoundForm) -> Self {
        let FoundForm { nest, found } = found;
        let (status, value, bound) = (found.status, found.value(), found.bound);
        let bound_edp = found.bound_edp;
        let choice = Choice { nest, mapping: found.mapping, certainty: None };
        Self { status, value, bound, bound_edp, choice, is_inside: true, counts: found.counts }
    }

    /// Latency of the choice \[cycle\]; `None` if no mapping runs.
    pub(super) fn cycles(&self) -> Option<u64> {
        (self.status != Status::NoLegalMapping).then_some(self.value.cycles)
    }

    /// The choice, with the certainty about it; `None` if no mapping runs. `effort` is the name of that of the
    /// search.
    pub fn into_choice(self, effort: &'static str) -> Option<Choice> {
        let certainty = Some(Certainty { effort, ..self.certainty()? });
        Some(Choice { certainty, ..self.choice })
    }

    /// Certainty about the choice; `None` if no mapping runs.
    fn certainty(&self) -> Option<Certainty> {
        let is_proven =
            matches!(self.status, Status::OptimalByBound | Status::OptimalByEnumeration);
        let certainty = Certainty::new(self.cycles()?, self.bound.cycles);
        Some(Certainty { is_proven, ..certainty })
    }
}

/// Everything of a layer that its choice depends on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LayerKey {
    /// The layer as it is written.
    pub nest: Nest,
    /// Whether each tensor stays in shared memory.
    pub resident: PerTensor<bool>,
    /// Operators that ride along.
    pub riders: Option<Riders>,
    /// Free shared memory \[byte\].
    pub shared_bytes: Option<u64>,
}

impl LayerKey {
    /// The key of a layer on a machine with its resident tensors and free shared memory.
    pub(super) fn new(nest: &Nest, machine: &Machine) -> Self {
        let &Machine { resident, riders, shared_bytes, .. } = machine;
        Self { nest: nest.clone(), resident, riders, shared_bytes }
    }
}
