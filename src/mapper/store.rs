//! Choices that are kept, so that equal ones are made once.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use crate::cost::loop_nest::{Choice, Machine, Nest};
use crate::hardware::Accelerator;
use crate::model::PerTensor;

use super::objective::Objective;
use super::problem::Limits;

/// Choices of a process, by everything that they depend on.
#[derive(Debug, Default)]
pub struct Store {
    sections: Mutex<HashMap<Box<str>, Arc<Section>>>,
}

/// Choices of this process.
static OF_PROCESS: LazyLock<Arc<Store>> = LazyLock::new(Arc::default);

impl Store {
    /// The store that all cost models of the process share.
    pub fn of_process() -> Arc<Self> {
        Arc::clone(&OF_PROCESS)
    }

    /// The choices for an accelerator under an objective.
    pub(super) fn section(&self, accelerator: &Accelerator, objective: Objective) -> Arc<Section> {
        let key = section_key(accelerator, objective);
        let mut sections = self.sections.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(sections.entry(key).or_default())
    }
}

/// Choices for one accelerator under one objective.
#[derive(Debug, Default)]
pub(super) struct Section {
    choices: Mutex<HashMap<LayerKey, Option<Choice>>>,
}

impl Section {
    /// The known choice of a layer, or that of `search`, which is kept. Two threads that ask for the same
    /// unknown layer at once both search, and find the same.
    pub(super) fn get_or_search(
        &self,
        key: LayerKey,
        search: impl FnOnce() -> Option<Choice>,
    ) -> Option<Choice> {
        let known = |section: &Self| {
            section.choices.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned()
        };
        if let Some(choice) = known(self) {
            return choice;
        }
        let choice = search();
        let mut choices = self.choices.lock().unwrap_or_else(PoisonError::into_inner);
        choices.entry(key).or_insert(choice).clone()
    }
}

/// Everything of a layer that its choice depends on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct LayerKey {
    nest: Nest,
    resident: PerTensor<bool>,
    shared_bytes: Option<u64>,
}

impl LayerKey {
    /// The key of a layer on a machine with its resident tensors and free shared memory.
    pub(super) fn new(nest: &Nest, machine: &Machine) -> Self {
        Self { nest: nest.clone(), resident: machine.resident, shared_bytes: machine.shared_bytes }
    }
}

/// Text of everything of an accelerator that choices depend on.
fn section_key(accelerator: &Accelerator, objective: Objective) -> Box<str> {
    let mut text = String::new();
    let machine = Machine::of(accelerator);
    let limits = Limits::of(accelerator);
    let flexibility = accelerator.flexibility;
    // Writing to a string does not fail.
    let _ =
        write!(text, "{flexibility} {objective} {machine:?} {limits:?} {}", accelerator.dataflow);
    text.into()
}
