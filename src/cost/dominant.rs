//! A layer that decides what a whole network costs.

use crate::hardware::Accelerator;
use crate::model::Network;

use super::{NetworkCost, compulsory_bytes};

/// A layer that takes most of the time of its network, or much of it because its mapping moves its
/// tensors again and again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dominant {
    /// Place of the layer.
    pub layer: usize,
    /// Its part of the cycles of the network, in 0 to 1.
    pub share: f64,
    /// What DRAM moves for it, over the bytes of its tensors, each once.
    pub passes: f64,
}

impl Dominant {
    /// A layer with more of the cycles dominates.
    const SHARE: f64 = 0.5;
    /// So does one with more passes, if it has the share after it.
    const PASSES: f64 = 10.0;
    const SHARE_WITH_PASSES: f64 = 0.25;

    /// The layer of `network` that dominates its `cost` on `accelerator`; of several the longest.
    /// `None` without one, and where layers are not known or there is only one.
    pub fn of(network: &Network, cost: &NetworkCost, accelerator: &Accelerator) -> Option<Self> {
        if cost.layers.len() < 2 || cost.layers.len() != network.layers().len() {
            return None;
        }
        let (layer, longest) =
            cost.layers.iter().enumerate().max_by_key(|(_, layer)| layer.cycles)?;
        let share = longest.cycles as f64 / cost.cycles.get().max(1) as f64;
        let operator = &network.layers()[layer].operator;
        let compulsory = compulsory_bytes(operator, &accelerator.datapath.widths);
        let passes = longest.dram_bytes as f64 / compulsory.max(1) as f64;
        let repeats = passes > Self::PASSES && share > Self::SHARE_WITH_PASSES;
        (share > Self::SHARE || repeats).then_some(Self { layer, share, passes })
    }
}
