//! Tensors that stay in shared memory between the layers of a network
//! (docs/explanation/cost-model-loop-nest.md, section 6.6).
//!
//! The output of a layer may stay in shared memory from the layer that writes it to the last layer
//! that reads it. It occupies memory during every layer in between, and each of these must retain
//! enough for its own smallest tiles. Outputs are placed greedily, the shortest lifetime first and
//! then the earliest, because they block the least. DRAM holds outputs that no layer reads, weights,
//! inputs of the network, and outputs with lifetimes of more than [`MAX_LIFETIME`] layers.

use crate::model::{Network, PerOperand, Source};

/// Longest lifetime of a resident output \[layer\]; it bounds the time of planning.
const MAX_LIFETIME: usize = 1024;

/// Shared memory that a layer needs \[byte\].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct SharedMemoryNeed {
    /// Smallest tiles of all tensors.
    pub least: u64,
    /// Whole operands. The second one counts only where another layer computes it.
    pub operands: PerOperand<u64>,
    /// Whole output as partial sums, while the layer runs.
    pub computed: u64,
    /// Whole output at its final width, after the layer.
    pub stored: u64,
}

/// Tensors in shared memory while a layer runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct Residency {
    /// Bit i is set if source i of the layer is resident. Sources after the 32nd never are.
    pub sources: u32,
    /// Whether the output of the layer stays.
    pub output: bool,
    /// Tensors of other layers \[byte\].
    pub reserved: u64,
}

impl Residency {
    /// Whether source number `index`, from 0, is resident.
    pub(super) fn source(&self, index: usize) -> bool {
        index < 32 && self.sources >> index & 1 == 1
    }
}

/// Residency of every layer of a network under a shared memory of `capacity` bytes. `needs` is in
/// execution order.
pub(super) fn plan(network: &Network, needs: &[SharedMemoryNeed], capacity: u64) -> Vec<Residency> {
    let layers = network.layers();
    let mut plans = vec![Residency::default(); layers.len()];
    let mut free: Vec<u64> = needs.iter().map(|need| capacity.saturating_sub(need.least)).collect();
    for (writer, last) in lifetimes(network) {
        let occupied = |layer: usize| occupied_bytes(network, needs, writer, layer);
        let fits = (writer..=last).all(|layer| occupied(layer) <= free[layer]);
        if !fits {
            continue;
        }
        plans[writer].output = true;
        free[writer] -= occupied(writer);
        for layer in writer + 1..=last {
            free[layer] -= occupied(layer);
            match sources_from(network, layer, writer) {
                0 => plans[layer].reserved += needs[writer].stored,
                sources => plans[layer].sources |= sources,
            }
        }
    }
    plans
}

/// Sources of `layer` that are the output of `writer`, as bits of [`Residency::sources`].
fn sources_from(network: &Network, layer: usize, writer: usize) -> u32 {
    let back = Source::Back((layer - writer) as u32);
    let sources = network.layers()[layer].sources.iter().take(32).enumerate();
    sources.filter(|(_, source)| **source == back).map(|(index, _)| 1 << index).sum()
}

/// Writer and last reader of every output that is read, the shortest lifetime first.
fn lifetimes(network: &Network) -> Vec<(usize, usize)> {
    let mut last = vec![0; network.layers().len()];
    for (reader, layer) in network.layers().iter().enumerate() {
        for source in &layer.sources {
            if let Source::Back(back) = *source {
                last[reader - back as usize] = reader;
            }
        }
    }
    let all = last.into_iter().enumerate();
    let mut lifetimes: Vec<_> = all
        .filter(|(writer, last)| (1..=MAX_LIFETIME).contains(&last.saturating_sub(*writer)))
        .collect();
    lifetimes.sort_by_key(|&(writer, last)| (last - writer, writer));
    lifetimes
}

/// Shared memory that the output of `writer` occupies while `layer` runs \[byte\].
fn occupied_bytes(
    network: &Network,
    needs: &[SharedMemoryNeed],
    writer: usize,
    layer: usize,
) -> u64 {
    if layer == writer {
        return needs[writer].computed.max(needs[writer].stored);
    }
    let as_input = match sources_from(network, layer, writer) {
        0 => 0,
        1 => needs[layer].operands.input,
        sources if sources & 1 == 0 => needs[layer].operands.weight,
        _ => needs[layer].operands.sum(),
    };
    as_input.max(needs[writer].stored)
}
