//! Layers that dominate the cost of their network, or move their tensors many times.

use crate::hardware::Accelerator;
use crate::model::{Layer, Network};

use super::{LayerCost, NetworkCost, compulsory_bytes};

/// A layer that moves more than this many times its compulsory bytes through DRAM moves them many times.
pub const MANY_PASSES: f64 = 10.0;

/// DRAM traffic of a layer over its compulsory bytes, which are those of its tensors, each counted once.
pub fn passes(layer: &Layer, cost: &LayerCost, accelerator: &Accelerator) -> f64 {
    let compulsory = compulsory_bytes(layer, accelerator);
    cost.dram_bytes as f64 / compulsory.max(1) as f64
}

/// A layer that takes most of the time of its network, or a large part of it while its mapping moves its
/// tensors many times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dominant {
    /// Index of the layer in the network.
    pub layer: usize,
    /// Fraction of the cycles of the network that the layer takes, from 0 to 1.
    pub share: f64,
    /// DRAM traffic of the layer over the bytes of its tensors, each counted once.
    pub passes: f64,
}

impl Dominant {
    /// A layer with a larger fraction of the cycles dominates.
    const SHARE: f64 = 0.5;
    /// Fraction of the cycles above which a layer with more than [`MANY_PASSES`] dominates.
    const SHARE_WITH_PASSES: f64 = 0.25;

    /// The layer of `network` that dominates its `cost` on `accelerator`; the longest if several do. `None`
    /// if no layer does, if the layers are not known, or if there is only one.
    pub fn find(network: &Network, cost: &NetworkCost, accelerator: &Accelerator) -> Option<Self> {
        if cost.layers.len() < 2 || cost.layers.len() != network.layers().len() {
            return None;
        }
        let (layer, longest) =
            cost.layers.iter().enumerate().max_by_key(|(_, layer)| layer.cycles)?;
        let share = longest.cycles as f64 / cost.cycles.get().max(1) as f64;
        let passes = passes(&network.layers()[layer], longest, accelerator);
        let repeats = passes > MANY_PASSES && share > Self::SHARE_WITH_PASSES;
        (share > Self::SHARE || repeats).then_some(Self { layer, share, passes })
    }
}
