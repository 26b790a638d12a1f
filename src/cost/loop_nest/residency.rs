//! Which tensors stay in the L2 between the layers of a network.
//!
//! A layer's output may stay there from the layer that writes it to the last one that reads it. It
//! takes up room in every layer in between, which must keep enough for its own smallest tiles. Where
//! not all outputs have room, those with the shortest life come first, and of these the earliest:
//! they block the least. Outputs that nothing reads go off chip, and so do weights, what comes from
//! outside, and what lives for more than [`MAX_LIFE`] layers.

use crate::model::{Network, Source};

/// Most layers over which an output stays; bounds the time that a plan takes.
const MAX_LIFE: usize = 1024;

/// L2 that a layer takes up \[byte\].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Need {
    /// At least, with the smallest tiles.
    pub least: u64,
    /// Its first operand as a whole, and its second one if another layer computes that too.
    pub inputs: [u64; 2],
    /// Its output as a whole, while it is computed.
    pub output: u64,
    /// Its output as a whole, once it is done.
    pub stored: u64,
}

/// What is in the L2 when a layer runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct Residency {
    /// Which of its first 32 sources are resident, one bit each.
    pub sources: u32,
    /// Whether its output stays.
    pub output: bool,
    /// What other layers keep there meanwhile \[byte\].
    pub reserved: u64,
}

impl Residency {
    /// Whether source number `index` is resident.
    pub fn source(&self, index: usize) -> bool {
        index < 32 && self.sources >> index & 1 == 1
    }
}

/// Plans the L2 of `capacity` bytes for every layer; `needs` has an entry for each.
pub(super) fn plan(network: &Network, needs: &[Need], capacity: u64) -> Vec<Residency> {
    let layers = network.layers();
    let mut plans = vec![Residency::default(); layers.len()];
    let mut free: Vec<u64> = needs.iter().map(|need| capacity.saturating_sub(need.least)).collect();
    for (writer, last) in lives(network) {
        let room = |layer: usize| room(network, needs, writer, layer);
        let fits = (writer..=last).all(|layer| room(layer) <= free[layer]);
        if !fits {
            continue;
        }
        plans[writer].output = true;
        free[writer] -= room(writer);
        for layer in writer + 1..=last {
            free[layer] -= room(layer);
            match read_by(network, layer, writer) {
                0 => plans[layer].reserved += needs[writer].stored,
                sources => plans[layer].sources |= sources,
            }
        }
    }
    plans
}

/// The sources of `layer` that are the output of `writer`, as bits of [`Residency::sources`].
fn read_by(network: &Network, layer: usize, writer: usize) -> u32 {
    let back = Source::Back((layer - writer) as u32);
    let sources = network.layers()[layer].sources.iter().take(32).enumerate();
    sources.filter(|(_, source)| **source == back).map(|(index, _)| 1 << index).sum()
}

/// Writer and last reader of every output that is read, the shortest life first.
fn lives(network: &Network) -> Vec<(usize, usize)> {
    let mut last = vec![0; network.layers().len()];
    for (reader, layer) in network.layers().iter().enumerate() {
        for source in &layer.sources {
            if let Source::Back(back) = *source {
                last[reader - back as usize] = reader;
            }
        }
    }
    let all = last.into_iter().enumerate();
    let mut lives: Vec<_> = all
        .filter(|(writer, last)| (1..=MAX_LIFE).contains(&last.saturating_sub(*writer)))
        .collect();
    lives.sort_by_key(|&(writer, last)| (last - writer, writer));
    lives
}

/// Room that the output of `writer` takes while `layer` runs.
fn room(network: &Network, needs: &[Need], writer: usize, layer: usize) -> u64 {
    if layer == writer {
        return needs[writer].output.max(needs[writer].stored);
    }
    let as_input = match read_by(network, layer, writer) {
        0 => 0,
        1 => needs[layer].inputs[0],
        sources if sources & 1 == 0 => needs[layer].inputs[1],
        _ => needs[layer].inputs[0] + needs[layer].inputs[1],
    };
    as_input.max(needs[writer].stored)
}
