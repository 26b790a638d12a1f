//! What is known of the mappings that an accelerator chooses for the layers of a network.

use std::fmt;

use crate::digest::FastDigest;

use super::selection::Selected;

/// Choices of mappings for the layers of a network.
#[derive(Debug, Clone, PartialEq)]
pub struct Choices {
    /// Who chooses.
    pub chooser: ChooserId,
    /// Digest of the forms and mappings of all layers, in execution order.
    pub digest: FastDigest,
    /// Certainty about every layer, in execution order: `None` for a layer that nothing was chosen for. Empty if
    /// the costs of layers are not kept.
    pub layers: Box<[Option<Certainty>]>,
    /// Energy of the network and its limit of time, if the objective is `deadline`.
    pub selected: Option<Selected>,
}

impl Choices {
    /// The choices of `chooser` for layers, each with its digest and the certainty about it, in execution order.
    pub fn of_layers(
        chooser: ChooserId,
        layers: impl IntoIterator<Item = (FastDigest, Option<Certainty>)>,
    ) -> Self {
        let mut digest = FastDigest::default();
        let of_layer = |(of_layer, certainty): (FastDigest, _)| {
            digest.add_digest(of_layer);
            certainty
        };
        let layers = layers.into_iter().map(of_layer).collect();
        Self { chooser, digest, layers, selected: None }
    }
}

/// An accelerator and the effort with which it searches, for choices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ChooserId {
    /// Digest of everything of the accelerator and the effort that choices depend on.
    pub digest: FastDigest,
    /// Name of the effort; empty without a search.
    pub effort: &'static str,
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
    fn the_digest_of_choices_is_that_of_their_order() {
        let of = |numbers: &[u32]| {
            let mut digest = FastDigest::default();
            numbers.iter().for_each(|number| digest.add(*number));
            digest
        };
        assert_ne!(of(&[1, 2]), of(&[2, 1]));
        let layers = |numbers: &[u32]| {
            let layers = numbers.iter().map(|number| (of(&[*number]), None));
            Choices::of_layers(ChooserId::default(), layers)
        };
        assert_ne!(layers(&[1, 2]).digest, layers(&[2, 1]).digest);
        assert_eq!(layers(&[1, 2]), layers(&[1, 2]));
    }
}
