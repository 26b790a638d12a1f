//! Settings of the choice of mappings (docs/explanation/mapper.md, section 6).

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::RangeInclusive;

use super::{Tasks, WriteBackSettings};
use crate::dataflow::Flexibility;

/// Quantity of which an accelerator that chooses mappings takes the least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum MappingObjective {
    /// Latency; of the mappings within 1 % of the least latency, energy.
    Cycles,
    /// Energy; of mappings with equal energy, latency.
    Energy,
    /// Product of latency and energy.
    Edp,
    /// Energy of whole networks that keep the periods of the models of a scenario.
    Deadline,
}

impl MappingObjective {
    /// Objective where neither a command nor a file says one.
    pub const DEFAULT: Self = Self::Edp;

    /// Every value with its name.
    pub const ALL: [(&'static str, Self); 4] = [
        ("cycles", Self::Cycles),
        ("energy", Self::Energy),
        ("edp", Self::Edp),
        ("deadline", Self::Deadline),
    ];

    /// Objectives by which every layer is chosen by itself.
    pub const OF_LAYERS: [Self; 3] = [Self::Cycles, Self::Energy, Self::Edp];

    /// Name.
    pub const fn name(self) -> &'static str {
        Self::ALL[self as usize].0
    }
}

impl Default for MappingObjective {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl fmt::Display for MappingObjective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Largest part of the time that the networks of a scenario may fill under [`MappingObjective::Deadline`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DeadlineShare(f64);

impl Eq for DeadlineShare {}

impl Hash for DeadlineShare {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

impl Default for DeadlineShare {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl DeadlineShare {
    /// Share where neither a command nor a file says one, by which runs of the suite miss hardly more deadlines than
    /// with mappings by `edp` (docs/explanation/mapper.md, section 6.1).
    pub const DEFAULT: Self = Self(0.5);

    /// Shares that are allowed.
    pub const RANGE: RangeInclusive<f64> = 1e-6..=1.0;

    /// A share; `None` outside of [`DeadlineShare::RANGE`].
    pub fn new(share: f64) -> Option<Self> {
        Self::RANGE.contains(&share).then_some(Self(share))
    }

    /// The share as a number.
    pub const fn get(self) -> f64 {
        self.0
    }
}

/// Time that a network may take under [`MappingObjective::Deadline`]. No other objective depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct MappingDeadline {
    /// Part of the time that the models of a scenario may fill.
    pub share: DeadlineShare,
    /// Most cycles of the network of one model; `None` as long as no scenario is known.
    pub cycles: Option<u64>,
}

/// How networks are mapped, as a command, a system, a style or an accelerator says it; `None` where it does not.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct MappingSettings {
    /// Choices for every layer.
    pub flexibility: Option<Flexibility>,
    /// Objective of the choices.
    pub objective: Option<MappingObjective>,
    /// Part of the time that networks may fill under the objective `deadline`.
    pub deadline_share: Option<DeadlineShare>,
    /// Operators that ride along with layers.
    pub write_back: WriteBackSettings,
    /// Tasks whose networks keep their weights in the shared memory.
    pub pinned: Option<Tasks>,
}

impl MappingSettings {
    /// These settings, and those of `other` where these have none.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        Self {
            flexibility: self.flexibility.or(other.flexibility),
            objective: self.objective.or(other.objective),
            deadline_share: self.deadline_share.or(other.deadline_share),
            write_back: self.write_back.or(other.write_back),
            pinned: self.pinned.clone().or_else(|| other.pinned.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_from_a_millionth_to_1() {
        for wrong in [0.0, -0.5, 9e-7, 1.000_001, 2.0, f64::NAN, f64::INFINITY] {
            assert_eq!(DeadlineShare::new(wrong), None, "{wrong}");
        }
        assert_eq!(DeadlineShare::new(1.0).map(DeadlineShare::get), Some(1.0));
        assert_eq!(DeadlineShare::new(1e-6).map(DeadlineShare::get), Some(1e-6));
    }
}
