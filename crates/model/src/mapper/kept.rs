//! Choices as they are kept, and everything that they depend on.

use crate::cost::Certainty;
use crate::cost::loop_nest::{Choice, Machine, Nest};
use crate::model::PerTensor;

use super::layer::FoundForm;
use super::objective::Value;
use super::search::Status;

/// A choice that is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept {
    /// Whether a full search found it.
    pub full: bool,
    /// Certainty about it.
    pub status: Status,
    /// Latency and energy.
    pub value: Value,
    /// Latency and energy that no mapping is below.
    pub bound: Value,
    /// Form and mapping; those that exceed capacities least if no mapping runs.
    pub choice: Choice,
}

impl Kept {
    /// Parts that are kept of the result of a search.
    pub(super) fn from_found(found: FoundForm, full: bool) -> Self {
        let FoundForm { nest, found } = found;
        let (status, value, bound) = (found.status, found.value(), found.bound);
        let choice = Choice { nest, mapping: found.mapping, certainty: None };
        Self { full, status, value, bound, choice }
    }

    /// Latency of the choice \[cycle\]; `None` if no mapping runs.
    pub(super) fn cycles(&self) -> Option<u64> {
        (self.status != Status::NoLegalMapping).then_some(self.value.cycles)
    }

    /// The choice, with the certainty about it; `None` if no mapping runs.
    pub fn into_choice(self) -> Option<Choice> {
        let certainty = Some(self.certainty()?);
        Some(Choice { certainty, ..self.choice })
    }

    /// Certainty about the choice; `None` if no mapping runs.
    fn certainty(&self) -> Option<Certainty> {
        let is_proven =
            matches!(self.status, Status::OptimalByBound | Status::OptimalByEnumeration);
        let certainty = Certainty::new(self.cycles()?, self.bound.cycles);
        Some(Certainty { full: self.full, is_proven, ..certainty })
    }
}

/// Everything of a layer that its choice depends on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LayerKey {
    /// The layer as it is written.
    pub nest: Nest,
    /// Whether each tensor stays in shared memory.
    pub resident: PerTensor<bool>,
    /// Free shared memory \[byte\].
    pub shared_bytes: Option<u64>,
}

impl LayerKey {
    /// The key of a layer on a machine with its resident tensors and free shared memory.
    pub(super) fn new(nest: &Nest, machine: &Machine) -> Self {
        Self { nest: nest.clone(), resident: machine.resident, shared_bytes: machine.shared_bytes }
    }
}
