//! Options that every policy is combined with: admission, placement, granularity, preemption, quality and governor.

use xrsim_model::units::{ClockRate, SimSpan};

use super::{Arguments, Parameter};

/// Ready requests that are given up without being run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Admission {
    /// None: a waiting request is dropped at its deadline only.
    #[default]
    All,
    /// Requests that would end later than their deadline plus `tolerance` even if they started at once
    /// on their fastest accelerator.
    SkipHopeless {
        /// Largest lateness with which a frame is still run. With k = 15/ms a frame that is 0.3 ms late
        /// has a real-time score of 1.1 % (Definition 10).
        tolerance: SimSpan,
    },
}

/// Which of several networks of its model a request runs that has not begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Quality {
    /// The first one.
    #[default]
    First,
    /// The one with the least time on any idle accelerator; of equals the first.
    Cheapest,
    /// The first one that ends by the deadline on some idle accelerator if it starts now; the cheapest if there is none.
    Fitting,
}

/// Accelerator for a chosen request. Of equals, the one with the lowest id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Placement {
    /// The idle accelerator with the least latency of the rest of the request.
    #[default]
    Latency,
    /// The first idle accelerator.
    FirstIdle,
    /// The idle accelerator with the least energy.
    Energy,
    /// The idle accelerator with the least product of energy and latency, both of the whole rest.
    EnergyDelay,
    /// The idle accelerator with the least sum over the layers of energy times latency, as in the
    /// processor assignment of the published artifact. It differs from [`Placement::EnergyDelay`].
    EnergyDelayByLayer,
    /// The idle accelerator with the least product of energy and squared latency.
    EnergyDelaySquared,
    /// The accelerator where the request would end first, busy ones included. The request waits if that
    /// accelerator is busy.
    EarliestFinish,
    /// The idle accelerator with the least energy among those where the request meets its deadline; if
    /// there is none, the idle accelerator with the least latency.
    DeadlineEnergy {
        /// Span before the deadline by which the request must end to meet it.
        guard: SimSpan,
    },
}

/// How much of a request runs before the scheduler decides again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Granularity {
    /// The rest of the request.
    #[default]
    Model,
    /// The smallest number of whole layers that take at least this long, or the rest.
    Block(SimSpan),
    /// One layer.
    Layer,
}

/// Whether a running segment can end early.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Preemption {
    /// It cannot.
    #[default]
    None,
    /// When a request becomes ready, every running segment ends with its current layer, and the
    /// scheduler decides again.
    LayerBoundary,
}

/// Operating point of segments for which the policy has none, with a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Governor {
    /// Always the same: the nominal one, or the lowest with at least this clock.
    Fixed(Option<ClockRate>),
    /// The highest that is allowed.
    Race,
    /// The lowest, from that of least energy on, at which the request meets its deadline.
    Slack {
        /// Span before the deadline by which it must end.
        margin: SimSpan,
    },
    /// The lowest at which all models together need no more time than there is, by their rates (static EDF, Pillai & Shin,
    /// SOSP 2001).
    Static,
    /// The same with the time that the last request of each model took, until the next one arrives (cycle-conserving EDF).
    Conserving,
    /// The lowest that does the work which cannot be deferred beyond the next deadline (look-ahead EDF).
    Ahead,
    /// By the share of time that an accelerator was busy in the last window (`simple_ondemand` of Linux devfreq).
    OnDemand {
        /// Length of a window.
        window: SimSpan,
        /// Busy share above which the point is the highest \[%\].
        up: u32,
        /// Width of the band below it in which the point stays \[%\].
        down: u32,
    },
    /// The highest at which the node that is limited first stays below a temperature for ever, if the power of the last
    /// window goes on.
    Sustain {
        /// The temperature \[0.001 C\].
        limit_mc: i32,
        /// Length of a window.
        window: SimSpan,
    },
}

impl Governor {
    /// Whether it computes with the rates of all models.
    pub fn needs_rates(self) -> bool {
        match self {
            Self::Static | Self::Conserving | Self::Ahead => true,
            Self::Fixed(_) | Self::Race | Self::Slack { .. } => false,
            Self::OnDemand { .. } | Self::Sustain { .. } => false,
        }
    }
}

impl Default for Governor {
    fn default() -> Self {
        Self::Fixed(None)
    }
}

impl Governor {
    /// Names of governors that are defined for one accelerator and the policy `edf`.
    pub(super) const OF_EDF: [&str; 2] = ["cc-edf", "la-edf"];

    /// Whether it is defined for one accelerator and the policy `edf` only.
    pub(super) fn is_of_edf(self) -> bool {
        matches!(self, Self::Conserving | Self::Ahead)
    }
}

/// Options that a policy is combined with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// Requests that are given up.
    pub admission: Admission,
    /// Accelerator of a request.
    pub placement: Placement,
    /// Length of segments.
    pub granularity: Granularity,
    /// Whether segments can end early.
    pub preemption: Preemption,
    /// Network of a request, if its model has several.
    pub quality: Quality,
    /// Operating points of segments, with a device.
    pub governor: Governor,
}

/// Parameters of all policies. A policy may decide some of them itself ([`Entry::fixes`]).
///
/// [`Entry::fixes`]: super::Entry::fixes
pub const OPTIONS: &[Parameter] = &[
    Parameter::choice("admission", &["none", "hopeless"]).meaning("whether to give up requests that would be late even on their fastest accelerator"),
    Parameter::number("epsilon_ms", 0.3, [0.0, 1e6]).meaning("lateness from which a frame is hopeless")
        .only_with("admission", "hopeless"),
    Parameter::choice("placement", &[
            "latency",
            "first-idle",
            "energy",
            "edp",
            "edp-by-layer",
            "ed2p",
            "earliest-finish",
            "deadline-energy",
        ]).meaning("accelerator on which a chosen request runs"),
    Parameter::number("guard_ms", 0.0, [0.0, 1e6]).meaning("time before its deadline by which a request must end to meet it")
    .only_with("placement", "deadline-energy"),
    Parameter::choice("granularity", &["model", "block", "layer"]).meaning("how much of a request runs before the scheduler decides again"),
    Parameter::number("block_ms", 1.0, [1e-3, 1e6]).meaning("shortest block of whole layers")
        .only_with("granularity", "block"),
    Parameter::choice("preemption", &["none", "layer-boundary"]).meaning("whether running requests are interrupted at the end of a layer when another one becomes ready"),
    Parameter::choice("quality", &["first", "cheapest", "fitting"]).meaning("which of several networks of its model a request runs: the first, the fastest on any idle accelerator, or the first that ends by the deadline on one"),
    Parameter::choice("governor", &["fixed", "race", "slack", "static", "cc-edf", "la-edf", "ondemand", "sustain"])
        .meaning("operating point of a segment, with a device"),
    Parameter::number("mhz", 0.0, [0.0, 1e6]).meaning("clock of the point, or the next higher one; 0: the nominal point")
        .only_with("governor", "fixed"),
    Parameter::number("margin_ms", 0.3, [0.0, 1e6]).meaning("time before its deadline by which a request must end")
        .only_with("governor", "slack"),
    Parameter::number("busy_window_ms", 100.0, [1e-3, 1e6]).meaning("window over which the busy share is taken")
        .only_with("governor", "ondemand"),
    Parameter::whole("up", 90, [1, 100]).meaning("busy share [%] above which the highest point is taken")
        .only_with("governor", "ondemand"),
    Parameter::whole("down", 5, [0, 100]).meaning("busy share [%] below `up` down to which the point stays")
        .only_with("governor", "ondemand"),
    Parameter::number("limit_c", 42.0, [-40.0, 200.0]).meaning("temperature [C] that the node with the lowest trip may reach")
        .only_with("governor", "sustain"),
    Parameter::number("window_s", 10.0, [1e-3, 1e6]).meaning("window over which the power is taken")
        .only_with("governor", "sustain"),
];

impl Options {
    /// Options with the values of [`OPTIONS`] in `arguments`.
    pub fn from_arguments(arguments: &Arguments) -> Self {
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
            quality: match arguments.name("quality") {
                "cheapest" => Quality::Cheapest,
                "fitting" => Quality::Fitting,
                _ => Quality::First,
            },
            governor: match arguments.name("governor") {
                "race" => Governor::Race,
                "slack" => Governor::Slack { margin: span("margin_ms") },
                "static" => Governor::Static,
                "cc-edf" => Governor::Conserving,
                "la-edf" => Governor::Ahead,
                "ondemand" => Governor::OnDemand {
                    window: span("busy_window_ms"),
                    up: arguments.whole("up"),
                    down: arguments.whole("down"),
                },
                "sustain" => Governor::Sustain {
                    limit_mc: (arguments.number("limit_c") * 1e3).round() as i32,
                    window: SimSpan::from_ms(arguments.number("window_s") * 1e3)
                        .expect("the allowed times are times"),
                },
                _ => Governor::Fixed(ClockRate::from_mhz(arguments.number("mhz"))),
            },
        }
    }
}
