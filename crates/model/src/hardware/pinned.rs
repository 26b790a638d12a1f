//! Networks whose weights stay in the shared memory (docs/explanation/cost-model-loop-nest.md, section 6.11).

use std::sync::Arc;

use crate::model::Network;

use super::{Accelerator, HardwareError, System, Widths};

/// Names, such as tasks of scenarios.
pub type Tasks = Arc<[Box<str>]>;

/// Networks whose weights stay in the shared memory of an accelerator, from before a run to its end.
#[derive(Debug, Clone, Default)]
pub struct Pinned {
    tasks: Tasks,
    weights: Option<Arc<Weights>>,
}

/// The networks of the tasks, in their order, and the bytes of their weights.
#[derive(Debug)]
struct Weights {
    networks: Vec<Arc<Network>>,
    bytes: u64,
}

impl PartialEq for Pinned {
    fn eq(&self, other: &Self) -> bool {
        let digests = |it: &Self| {
            let networks = it.weights.as_ref().map(|it| &it.networks);
            networks.map(|all| all.iter().map(|it| it.digest()).collect::<Vec<_>>())
        };
        self.tasks == other.tasks && (self.tasks.is_empty() || digests(self) == digests(other))
    }
}

impl Pinned {
    /// Most tasks.
    pub const MAX: usize = 64;

    /// Networks of these tasks, which are not known yet.
    pub fn of(tasks: Tasks) -> Self {
        Self { tasks, weights: None }
    }

    /// Tasks.
    pub fn tasks(&self) -> &[Box<str>] {
        &self.tasks
    }

    /// Whether there are tasks whose networks are not known.
    pub fn is_open(&self) -> bool {
        !self.tasks.is_empty() && self.weights.is_none()
    }

    /// Bytes of all weights.
    pub fn bytes(&self) -> u64 {
        self.weights.as_ref().map_or(0, |it| it.bytes)
    }

    /// Whether the weights of a network stay. Networks of equal layers share them.
    pub fn holds(&self, network: &Network) -> bool {
        self.weights.iter().flat_map(|it| &it.networks).any(|it| it.digest() == network.digest())
    }
}

impl Accelerator {
    /// The accelerator with the weights of its pinned tasks in its shared memory. `networks` are all tasks of `place`
    /// with their networks.
    ///
    /// # Errors
    ///
    /// [`HardwareError::UnknownPinned`] for a task without a network, [`HardwareError::PinnedTooLarge`] if the weights
    /// do not fit.
    pub fn with_pinned_weights(
        mut self,
        place: &str,
        networks: &[(&str, &Arc<Network>)],
    ) -> Result<Self, HardwareError> {
        let tasks = &self.pinned.tasks;
        let mut found = Vec::new();
        for task in &**tasks {
            let Some((_, network)) = networks.iter().find(|(known, _)| *known == &**task) else {
                let known: Vec<_> = networks.iter().map(|(task, _)| *task).collect();
                return Err(HardwareError::UnknownPinned {
                    accelerator: self.name,
                    task: task.clone(),
                    place: format!("{place} has the models {}", known.join(", ")),
                });
            };
            found.push(Arc::clone(network));
        }
        let widths = &self.datapath.widths;
        let sizes: Vec<u64> = found.iter().map(|it| weight_bytes(it, widths)).collect();
        let bytes = sizes.iter().copied().fold(0, u64::saturating_add);
        let available = self.memory.shared.get();
        if bytes > available {
            let sizes = tasks.iter().cloned().zip(sizes).collect();
            return Err(HardwareError::PinnedTooLarge { accelerator: self.name, available, sizes });
        }
        self.pinned.weights = Some(Arc::new(Weights { networks: found, bytes }));
        Ok(self)
    }
}

impl System {
    /// The system with the weights of its pinned tasks in shared memory, if there are any. `networks` are all tasks of
    /// `place` with their networks.
    ///
    /// # Errors
    ///
    /// As [`Accelerator::with_pinned_weights`], for the first accelerator.
    pub fn with_pinned_weights(
        self: Arc<Self>,
        place: &str,
        networks: &[(&str, &Arc<Network>)],
    ) -> Result<Arc<Self>, HardwareError> {
        if self.accelerators.iter().all(|it| it.pinned.tasks.is_empty()) {
            return Ok(self);
        }
        let accelerators = self.accelerators.iter().cloned();
        let accelerators = accelerators.map(|it| it.with_pinned_weights(place, networks));
        let accelerators = accelerators.collect::<Result<_, _>>()?;
        self.with_accelerators(accelerators).map(Arc::new)
    }
}

/// Tasks with the bytes of their weights, in words.
pub(super) fn in_words(sizes: &[(Box<str>, u64)]) -> String {
    let words: Vec<_> =
        sizes.iter().map(|(task, bytes)| format!("{task} ({bytes} bytes)")).collect();
    words.join(" and ")
}

/// Bytes of the weights of a network on chip.
fn weight_bytes(network: &Network, widths: &Widths) -> u64 {
    let of_layer = |&at: &u32| {
        let (operator, bits) = (&network.operators()[at as usize], network.bits()[at as usize]);
        (*widths).with_bits(bits, operator).weight.bytes(operator.weights())
    };
    network.operator_of().iter().map(of_layer).fold(0, u64::saturating_add)
}
