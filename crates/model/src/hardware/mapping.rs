//! Settings of the choice of mappings (docs/explanation/mapper.md, section 6).

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::RangeInclusive;

use crate::dataflow::Flexibility;
use crate::units::{ClockRate, SimSpan};

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
    /// Energy of a whole network that keeps a part of the period of its model.
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

/// Largest part of the period of its model that a network may take under [`MappingObjective::Deadline`].
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
        Self::WHOLE
    }
}

impl DeadlineShare {
    /// The whole period.
    pub const WHOLE: Self = Self(1.0);

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

    /// Most cycles at `clock` whose time is at most this part of `period`.
    fn cycles(self, period: SimSpan, clock: ClockRate) -> u64 {
        clock.whole_cycles_in(SimSpan::from_ns((period.ns() as f64 * self.0) as u64)).get()
    }
}

/// Time that a network may take under [`MappingObjective::Deadline`]. No other objective depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct MappingDeadline {
    /// Part of the period of a model.
    pub share: DeadlineShare,
    /// Most cycles of the network of one model; `None` as long as no model is known.
    pub cycles: Option<u64>,
}

impl MappingDeadline {
    /// The limit for a model with this period, whatever the share is that it comes from.
    pub(super) fn within(self, period: SimSpan, clock: ClockRate) -> Self {
        Self { share: DeadlineShare::WHOLE, cycles: Some(self.share.cycles(period, clock)) }
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
    /// Part of the period that a network may take under the objective `deadline`.
    pub deadline_share: Option<DeadlineShare>,
}

impl MappingSettings {
    /// These settings, and those of `other` where these have none.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            flexibility: self.flexibility.or(other.flexibility),
            objective: self.objective.or(other.objective),
            deadline_share: self.deadline_share.or(other.deadline_share),
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
        assert_eq!(DeadlineShare::new(1.0), Some(DeadlineShare::WHOLE));
        assert_eq!(DeadlineShare::new(1e-6).map(DeadlineShare::get), Some(1e-6));
    }

    #[test]
    fn the_limit_is_the_most_cycles_whose_time_is_within_the_share() {
        let clock = ClockRate::from_mhz(300.0).expect("a clock");
        let limit = |share: f64, ns| {
            let share = DeadlineShare::new(share).expect("a share");
            MappingDeadline { share, cycles: None }.within(SimSpan::from_ns(ns), clock).cycles
        };
        // 3 cycles take 10 ns.
        assert_eq!([limit(1.0, 10), limit(1.0, 9), limit(1.0, 13)], [Some(3), Some(2), Some(3)]);
        assert_eq!(limit(0.5, 20), Some(3));
        // 16,666,666 ns are 4,999,999.8 cycles.
        assert_eq!(limit(1.0, 16_666_666), Some(4_999_999));
        assert_eq!(limit(0.01, 10), Some(0));
    }
}
