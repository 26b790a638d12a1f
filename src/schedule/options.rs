//! Choices that every policy is combined with: what is admitted, where it runs, in what segments, and
//! whether it can be interrupted.

use crate::units::SimSpan;

use super::{Arguments, Parameter};

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
    DeadlineEnergy {
        /// How long before the deadline it must end to meet it.
        guard: SimSpan,
    },
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

/// Whether what runs can be interrupted before the end of its segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Preemption {
    /// It cannot.
    #[default]
    None,
    /// When a request becomes ready, every running segment ends with its current layer, and the policy
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
    /// In what segments.
    pub granularity: Granularity,
    /// Whether it can be interrupted.
    pub preemption: Preemption,
}

/// Parameters that every policy has, unless it decides one of them itself.
pub const OPTIONS: &[Parameter] = &[
    Parameter::choice(
        "admission",
        "whether requests are given up that would be late even on their fastest accelerator",
        &["none", "hopeless"],
    ),
    Parameter::number(
        "epsilon_ms",
        "how late a frame may be before it is hopeless",
        0.3,
        [0.0, 1e6],
    )
    .only_with("admission", "hopeless"),
    Parameter::choice(
        "placement",
        "where a chosen request runs",
        &[
            "latency",
            "first-idle",
            "energy",
            "edp",
            "edp-by-layer",
            "ed2p",
            "earliest-finish",
            "deadline-energy",
        ],
    ),
    Parameter::number(
        "guard_ms",
        "how long before its deadline a request must end to meet it",
        0.0,
        [0.0, 1e6],
    )
    .only_with("placement", "deadline-energy"),
    Parameter::choice(
        "granularity",
        "how much of a request runs before the policy is asked again",
        &["model", "block", "layer"],
    ),
    Parameter::number("block_ms", "shortest block of whole layers", 1.0, [1e-3, 1e6])
        .only_with("granularity", "block"),
    Parameter::choice(
        "preemption",
        "whether a request that becomes ready cuts what runs at the end of its layer",
        &["none", "layer-boundary"],
    ),
];

impl Options {
    /// The values of [`OPTIONS`] in `arguments`.
    pub fn of(arguments: &Arguments) -> Self {
        let span =
            |name| SimSpan::from_ms(arguments.number(name)).expect("the allowed times are times");
        Self {
            admission: match arguments.name("admission") {
                "hopeless" => Admission::SkipHopeless { tolerance: span("epsilon_ms") },
                _ => Admission::All,
            },
            placement: match arguments.name("placement") {
                "first-idle" => Placement::FirstIdle,
                "energy" => Placement::Energy,
                "edp" => Placement::EnergyDelay,
                "edp-by-layer" => Placement::EnergyDelayByLayer,
                "ed2p" => Placement::EnergyDelaySquared,
                "earliest-finish" => Placement::EarliestFinish,
                "deadline-energy" => Placement::DeadlineEnergy { guard: span("guard_ms") },
                _ => Placement::Latency,
            },
            granularity: match arguments.name("granularity") {
                "block" => Granularity::Block(span("block_ms")),
                "layer" => Granularity::Layer,
                _ => Granularity::Model,
            },
            preemption: match arguments.name("preemption") {
                "layer-boundary" => Preemption::LayerBoundary,
                _ => Preemption::None,
            },
        }
    }
}
