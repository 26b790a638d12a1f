//! Sizes of the buffers inside of an accelerator that mappings decide.

use super::{Accelerator, Memory};
use crate::units::Bytes;

/// Sizes of the scratchpad of a PE and of the buffers of clusters.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct LocalBuffers {
    /// Scratchpad of one PE (L1).
    pub scratchpad: Bytes,
    /// Buffer of a unit of each NoC level whose units are clusters, outermost first.
    pub clusters: Vec<Bytes>,
}

impl LocalBuffers {
    /// Enlarges the buffers so that they also hold `units`, the bytes of a unit of every level, outermost first.
    /// The last level has PEs for its units.
    pub(crate) fn hold(&mut self, units: impl DoubleEndedIterator<Item = u64>) {
        let mut units = units.map(Bytes::new);
        let Some(scratchpad) = units.next_back() else { return };
        self.scratchpad = self.scratchpad.max(scratchpad);
        for (index, bytes) in units.enumerate() {
            match self.clusters.get_mut(index) {
                Some(size) => *size = bytes.max(*size),
                None => self.clusters.push(bytes),
            }
        }
    }

    /// The least buffers that hold what these and `others` hold.
    #[must_use]
    pub fn and(mut self, others: &Self) -> Self {
        let units = others.clusters.iter().chain([&others.scratchpad]);
        self.hold(units.map(|size| size.get()));
        self
    }
}

impl Accelerator {
    /// The same accelerator with these buffers. Without clusters among them, the declared ones stay.
    #[must_use]
    pub fn with_buffers(&self, buffers: &LocalBuffers) -> Self {
        let LocalBuffers { scratchpad, clusters } = buffers;
        let clusters = if clusters.is_empty() { &self.memory.clusters } else { clusters };
        let memory =
            Memory { scratchpad: *scratchpad, clusters: clusters.clone(), ..self.memory.clone() };
        Self { memory, ..self.clone() }
    }

    /// The same accelerator with buffers of any size.
    pub(crate) fn with_unlimited_buffers(&self) -> Self {
        let scratchpad = Bytes::new(u64::MAX);
        let memory = Memory { scratchpad, clusters: Vec::new(), ..self.memory.clone() };
        Self { memory, ..self.clone() }
    }
}
