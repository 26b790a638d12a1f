//! A choice that is kept, and the layer that it is for.

use crate::cost::loop_nest::{Choice, Machine, Nest};
use crate::model::PerTensor;

/// A choice that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Kept {
    /// Whether a full search found it.
    pub full: bool,
    /// The choice; `None` if no mapping runs.
    pub choice: Option<Choice>,
}

/// Everything of a layer that its choice depends on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct LayerKey {
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
