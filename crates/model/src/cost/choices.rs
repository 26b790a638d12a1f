//! What is known of the mappings that an accelerator chooses for the layers of a network.

use std::fmt;

use super::selection::Selected;

/// Choices of mappings for the layers of a network.
#[derive(Debug, Clone, PartialEq)]
pub struct Choices {
    /// Digest of the forms and mappings of all layers, in execution order.
    pub digest: ChoiceDigest,
    /// Certainty about every layer, in execution order: `None` for a layer that nothing was chosen for. Empty if
    /// the costs of layers are not kept.
    pub layers: Box<[Option<Certainty>]>,
    /// Energy of the network and its limit of time, if the objective is `deadline`.
    pub selected: Option<Selected>,
}

impl Choices {
    /// The choices of layers, each with its digest and the certainty about it, in execution order.
    pub fn of_layers(layers: impl IntoIterator<Item = (ChoiceDigest, Option<Certainty>)>) -> Self {
        let mut digest = ChoiceDigest::default();
        let of_layer = |(of_layer, certainty): (ChoiceDigest, _)| {
            digest.add_digest(of_layer);
            certainty
        };
        let layers = layers.into_iter().map(of_layer).collect();
        Self { digest, layers, selected: None }
    }
}

/// Digest of forms and mappings (FNV-1a, 128 bits): equal on every machine and in every version of the
/// compiler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChoiceDigest(u128);

impl Default for ChoiceDigest {
    /// The digest of nothing.
    fn default() -> Self {
        Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }
}

impl ChoiceDigest {
    /// Adds a number.
    pub(super) fn add(&mut self, number: u32) {
        self.add_bytes(&number.to_le_bytes());
    }

    /// Adds another digest.
    pub fn add_digest(&mut self, other: Self) {
        self.add_bytes(&other.0.to_le_bytes());
    }

    fn add_bytes(&mut self, bytes: &[u8]) {
        const PRIME: u128 = (1 << 88) + 0x13b;
        for &byte in bytes {
            self.0 = (self.0 ^ u128::from(byte)).wrapping_mul(PRIME);
        }
    }
}

impl fmt::Display for ChoiceDigest {
    /// 32 hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// Certainty about the latency of a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Certainty {
    /// Name of the effort of the search that made the choice.
    pub effort: &'static str,
    /// Whether it is proven that nothing that could have been chosen is better.
    pub is_proven: bool,
    /// Latency \[cycle\].
    pub cycles: u64,
    /// Latency that no mapping is below \[cycle\].
    pub bound_cycles: u64,
}

impl Certainty {
    /// Certainty about a choice of this latency, where no mapping is below `bound_cycles`.
    pub fn new(cycles: u64, bound_cycles: u64) -> Self {
        Self { effort: "", is_proven: false, cycles, bound_cycles }
    }

    /// Certainty about this choice and `other`, one after the other.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            effort: self.effort,
            is_proven: self.is_proven && other.is_proven,
            cycles: self.cycles.saturating_add(other.cycles),
            bound_cycles: self.bound_cycles.saturating_add(other.bound_cycles),
        }
    }

    /// Distance of the latency to its bound \[percent\].
    pub fn gap_percent(&self) -> f64 {
        100.0 * (self.cycles as f64 / self.bound_cycles.max(1) as f64 - 1.0).max(0.0)
    }
}

impl fmt::Display for Certainty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { effort, .. } = self;
        let gap = self.gap_percent();
        write!(f, "{effort} effort, latency {gap:.1} % above its lower bound")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_that_of_the_bytes_of_its_numbers_and_of_their_order() {
        // FNV-1a of "foobar": published test vector.
        let mut digest = ChoiceDigest::default();
        digest.add_bytes(b"foobar");
        assert_eq!(digest.to_string(), "343e1662793c64bf6f0d3597ba446f18");
        let of = |numbers: &[u32]| {
            let mut digest = ChoiceDigest::default();
            numbers.iter().for_each(|number| digest.add(*number));
            digest
        };
        assert_ne!(of(&[1, 2]), of(&[2, 1]));
        let layers = |numbers: &[u32]| {
            Choices::of_layers(numbers.iter().map(|number| (of(&[*number]), None)))
        };
        assert_ne!(layers(&[1, 2]).digest, layers(&[2, 1]).digest);
        assert_eq!(layers(&[1, 2]), layers(&[1, 2]));
    }
}
