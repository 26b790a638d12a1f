//! Choices that every policy is combined with: what is admitted, where it runs, in what pieces, and
//! whether it can be interrupted.

use crate::units::SimSpan;

/// Which ready requests are given up rather than run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Admission {
    /// None: whatever waits is dropped by its deadline alone.
    #[default]
    All,
    /// All but those that would end later than their deadline plus `tolerance` even if they started at
    /// once on their fastest accelerator.
    SkipHopeless {
        /// How late a frame may end and still be worth running. With k = 15/ms a frame that is
        /// 0.3 ms late has a real-time score of 1.1 % (Definition 10).
        tolerance: SimSpan,
    },
}

/// On which accelerator a chosen request runs. Of equals the lowest id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Placement {
    /// The idle one that needs the least time.
    #[default]
    Latency,
    /// The first idle one.
    FirstIdle,
    /// The idle one that needs the least energy.
    Energy,
    /// The idle one with the least product of energy and latency, both of the whole rest.
    EnergyDelay,
    /// The idle one with the least sum over the layers of energy times latency, as the published
    /// artifact's processor assignment has it. Not the same as [`Placement::EnergyDelay`].
    EnergyDelayByLayer,
    /// The idle one with the least product of energy and squared latency.
    EnergyDelaySquared,
    /// The one where it would end first, busy ones included; if that one is busy, it waits.
    EarliestFinish,
    /// Of the idle ones where it meets its deadline the one that needs the least energy; if there is
    /// none, the one that needs the least time.
    DeadlineEnergy,
}

/// How much of a request runs before the policy is asked again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Granularity {
    /// All that is left of it.
    #[default]
    Model,
    /// As few whole layers as take this long, or all that is left.
    Block(SimSpan),
    /// One layer.
    Layer,
}

/// Whether what runs can be interrupted before the end of its piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Preemption {
    /// It cannot.
    #[default]
    None,
    /// When a request becomes ready, every running piece ends with its current layer, and the policy
    /// is asked again.
    LayerBoundary,
}

/// All of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// What is admitted.
    pub admission: Admission,
    /// Where it runs.
    pub placement: Placement,
    /// In what pieces.
    pub granularity: Granularity,
    /// Whether it can be interrupted.
    pub preemption: Preemption,
}
