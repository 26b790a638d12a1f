//! Settings of the choice of mappings (docs/explanation/mapper.md, section 6).

use std::fmt;

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
}

impl MappingObjective {
    /// Objective where neither a command nor a file says one.
    pub const DEFAULT: Self = Self::Edp;

    /// Every value with its name.
    pub const ALL: [(&'static str, Self); 3] =
        [("cycles", Self::Cycles), ("energy", Self::Energy), ("edp", Self::Edp)];

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

/// Flexibility and objective as a command, a system, a style or an accelerator gives them; `None` where
/// it does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct MappingSettings {
    /// Choices for every layer.
    pub flexibility: Option<Flexibility>,
    /// Objective of the choices.
    pub objective: Option<MappingObjective>,
}

impl MappingSettings {
    /// These settings, and those of `other` where these have none.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            flexibility: self.flexibility.or(other.flexibility),
            objective: self.objective.or(other.objective),
        }
    }
}
