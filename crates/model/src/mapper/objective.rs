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
    /// Energy among mappings with at most this latency \[cycle\]. Above it, less latency is better.
    EnergyWithin(u64),
}

impl Objective {
    /// Objectives with a name.
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
            Self::EnergyWithin(limit) => {
                let above = |value: &Value| value.cycles.saturating_sub(limit);
                above(a).cmp(&above(b)).then(by_energy).then(by_cycles)
            }
        }
    }

    /// Whether a mapping whose latency and energy are at least `bound` may be better than `best`. A bound
    /// of energy may exceed the energy that the cost model computes by rounding errors of its sums.
    pub(super) fn may_improve(self, bound: &Value, best: &Value) -> bool {
        let energy_pj = bound.energy_pj * (1.0 - ROUNDING);
        self.compare(&Value { energy_pj, ..*bound }, best) == Ordering::Less
    }

    /// Whether a value is within the latency that the objective allows.
    pub(super) fn allows(self, value: &Value) -> bool {
        !matches!(self, Self::EnergyWithin(limit) if value.cycles > limit)
    }

    /// Main quantity of a value: the latency, the energy or their product.
    pub fn of(self, value: &Value) -> f64 {
        match self {
            Self::Cycles => value.cycles as f64,
            Self::Energy | Self::EnergyWithin(_) => value.energy_pj,
            Self::Edp => value.edp(),
        }
    }
}

/// Largest relative error of a sum of energies.
const ROUNDING: f64 = 1e-12;

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cycles => f.write_str("cycles"),
            Self::Energy => f.write_str("energy"),
            Self::Edp => f.write_str("edp"),
            Self::EnergyWithin(limit) => write!(f, "energy within {limit} cycles"),
        }
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

/// Goal of a user for the mapping of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Goal {
    /// The least of one objective.
    Least(Objective),
    /// The least energy among mappings whose latency is at most 1 % above the least one.
    CyclesThenEnergy,
    /// Mappings of which no other one has both less latency and less energy.
    Pareto,
}

impl Goal {
    /// Every goal with its name.
    pub const ALL: [(&'static str, Self); 5] = [
        ("cycles", Self::Least(Objective::Cycles)),
        ("energy", Self::Least(Objective::Energy)),
        ("edp", Self::Least(Objective::Edp)),
        ("cycles,energy", Self::CyclesThenEnergy),
        ("pareto", Self::Pareto),
    ];

    /// Name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, goal)| *goal == self).map_or("", |(name, _)| name)
    }
}

/// Largest latency of a mapping of [`Goal::CyclesThenEnergy`] for the least latency \[cycle\].
pub(super) fn within_one_percent(cycles: u64) -> u64 {
    cycles.saturating_add(cycles / 100)
}
