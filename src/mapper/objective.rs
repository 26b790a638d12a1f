//! Objectives of the choice of a mapping, and values of mappings under them.

use std::cmp::Ordering;
use std::fmt;

/// Quantity that the best mapping has least of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Objective {
    /// Latency; of mappings with equal latency the energy.
    #[default]
    Cycles,
    /// Energy; of mappings with equal energy the latency.
    Energy,
    /// Product of latency and energy.
    Edp,
}

impl Objective {
    /// Every objective with its name.
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::Cycles, "cycles"), (Self::Energy, "energy"), (Self::Edp, "edp")];

    /// The objective with this name; `None` if there is none.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == name).map(|&(objective, _)| objective)
    }

    /// Order of two values; less is better.
    pub(super) fn compare(self, a: &Value, b: &Value) -> Ordering {
        let by_cycles = a.cycles.cmp(&b.cycles);
        let by_energy = a.energy_pj.total_cmp(&b.energy_pj);
        match self {
            Self::Cycles => by_cycles.then(by_energy),
            Self::Energy => by_energy.then(by_cycles),
            Self::Edp => a.edp().total_cmp(&b.edp()).then(by_cycles),
        }
    }

    /// Whether a mapping whose latency and energy are at least `bound` may be better than `best`. A bound
    /// of energy may exceed the energy that the cost model computes by rounding errors of its sums.
    pub(super) fn may_improve(self, bound: &Value, best: &Value) -> bool {
        let energy_pj = bound.energy_pj * (1.0 - ROUNDING);
        self.compare(&Value { energy_pj, ..*bound }, best) == Ordering::Less
    }

    /// Main quantity of a value: of `cycles` the latency, of `energy` the energy, of `edp` the product.
    pub fn of(self, value: &Value) -> f64 {
        match self {
            Self::Cycles => value.cycles as f64,
            Self::Energy => value.energy_pj,
            Self::Edp => value.edp(),
        }
    }
}

/// Largest relative error of a sum of energies.
const ROUNDING: f64 = 1e-12;

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::ALL.iter().find(|(objective, _)| objective == self).map(|(_, name)| *name);
        f.write_str(name.unwrap_or_default())
    }
}

/// Latency and energy of a layer under a mapping, or lower bounds of both.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Value {
    /// Latency \[cycle\].
    pub cycles: u64,
    /// Energy \[pJ\].
    pub energy_pj: f64,
}

impl Value {
    /// Product of latency and energy \[pJ cycle\].
    pub fn edp(&self) -> f64 {
        self.cycles as f64 * self.energy_pj
    }
}
