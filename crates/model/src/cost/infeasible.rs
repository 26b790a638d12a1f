//! Reasons for which a network has no cost on an accelerator, and the names that make them messages.

use std::error::Error;
use std::fmt;

use crate::dataflow::LayerShape;
use crate::hardware::Accelerator;
use crate::hardware::device::DeviceError;
use crate::scenario::Exclusion;
use crate::units::SimSpan;

use super::loop_nest;

/// Reason for which a layer or network has no cost on an accelerator. It is a value, not a failure of
/// the program: a sweep records it and continues.
///
/// It names neither the network nor the accelerator nor the dataflow, so that a reason that is found
/// once holds for every accelerator that costs the same. [`Infeasible::display`] adds the names; the reason
/// by itself speaks of "the accelerator".
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Infeasible {
    /// The dataflow has more levels than the NoC of the accelerator.
    TooManyLevels {
        /// Levels of the dataflow.
        levels: usize,
        /// Levels of the NoC.
        available: usize,
    },
    /// The cost model cannot express the dataflow.
    UnsupportedDataflow {
        /// Requirement of the model on a dataflow.
        why: &'static str,
    },
    /// The dataflow has directives for single layers only, and for none of this shape.
    OtherLayers {
        /// Shape of the layer.
        shape: Box<LayerShape>,
        /// Name and shape of the layer that is most like it.
        nearest: Option<Box<(Box<str>, LayerShape)>>,
    },
    /// The dataflow does not compute the layer, or computes only a part of it or a part twice.
    Illegal {
        /// Violated rule.
        reason: Box<loop_nest::Illegal>,
    },
    /// The tiles that a PE or a cluster works on do not fit into its scratchpad or buffer.
    TileTooLarge {
        /// NoC level of the cluster, from 0, outermost first; `None`: the scratchpad of a PE.
        level: Option<usize>,
        /// Bytes that two copies of the largest tiles take.
        needed: u64,
        /// Bytes of the scratchpad or buffer.
        available: u64,
    },
    /// The box that the loops above the shared memory select does not fit into it.
    BoxTooLarge {
        /// Bytes of the box, with the copies of what changes.
        needed: u64,
        /// Bytes of the shared memory.
        available: u64,
    },
    /// The accelerator has fewer PEs than one unit of the outermost level of the dataflow takes.
    TooFewPes {
        /// PEs of one unit.
        needed: u64,
    },
    /// The arithmetic of the model ends below zero, which happens where a kernel exceeds its window.
    BelowZero {
        /// Latency or energy.
        quantity: &'static str,
    },
    /// Counters exceed 64-bit arithmetic.
    Overflow,
    /// A table of measurements lacks the pair of network and accelerator.
    NotMeasured,
    /// A table of measurements has rows for other layers of the pair, but not for one.
    LayerNotMeasured {
        /// First layer that is missing.
        layer: Box<str>,
    },
    /// A table of measurements gives more cycles than simulated time can hold.
    TooLong {
        /// Cycles of the network.
        cycles: u64,
    },
    /// A table of measurements names a layer that the network does not have.
    UnknownLayer {
        /// Name in the table.
        layer: Box<str>,
    },
    /// A table of measurements was asked for a layer by its shape.
    UnnamedLayer,
    /// The accelerator chooses mappings by the rates of models, and the network has none.
    NoPeriod,
    /// Weights stay in the shared memory of the accelerator that are not known, because no scenario is.
    OpenPinned,
    /// It is a processor, whose costs come from a table, and there is none.
    NoTable,
    /// The network was measured as a whole, and there is no table.
    Measured,
    /// A table gives cycles for a processor, which has no clock.
    NoClock,
    /// A table gives no energy for a processor, which has no power while it runs.
    NoEnergy,
    /// The accelerator or the model lists what may run where.
    Excluded(Exclusion),
    /// The device of the run does not fit the system.
    Device(Box<DeviceError>),
    /// The accelerator has several operating points, and the cost does not tell what scales with the clock.
    NoParts,
}

impl Infeasible {
    /// This reason with `names` in it, for messages.
    pub fn display<'a>(&'a self, names: &'a PairNames) -> impl fmt::Display + 'a {
        Message { reason: self, subject: Subject::named(names) }
    }
}

impl fmt::Display for Infeasible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Message { reason: self, subject: Subject::nameless() }.fmt(f)
    }
}

impl Error for Infeasible {}

/// Names of a network and of an accelerator that it cannot run on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairNames {
    /// Name of the network.
    pub network: Box<str>,
    /// Name of the accelerator.
    pub accelerator: Box<str>,
    /// Name of the dataflow of the accelerator.
    pub dataflow: Box<str>,
    /// PEs of the accelerator; 0 for a processor.
    pub pes: u32,
}

impl PairNames {
    /// Names of the pair of `network` and `accelerator`.
    pub fn new(network: &str, accelerator: &Accelerator) -> Self {
        Self {
            network: network.into(),
            accelerator: accelerator.name.clone(),
            dataflow: accelerator.dataflow.name().into(),
            pes: accelerator.pes,
        }
    }
}

/// A network that cannot run on an accelerator of the system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CostError {
    /// Names of network and accelerator.
    pub names: PairNames,
    /// Why the network cannot run there.
    pub reason: Infeasible,
}

impl CostError {
    /// The error that `network` cannot run on `accelerator` for `reason`.
    pub fn new(network: &str, accelerator: &Accelerator, reason: Infeasible) -> Self {
        Self { names: PairNames::new(network, accelerator), reason }
    }
}

impl fmt::Display for CostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { names, reason } = self;
        write!(f, "{} on {}: {}", names.network, names.accelerator, reason.display(names))
    }
}

impl Error for CostError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.reason)
    }
}

/// A reason and the words for what it is about.
struct Message<'a> {
    reason: &'a Infeasible,
    subject: Subject,
}

/// Phrases that stand for network, accelerator and dataflow in a message.
struct Subject {
    network: String,
    /// The accelerator by its name alone.
    accelerator: String,
    /// The accelerator, called so.
    the_accelerator: String,
    dataflow: String,
    /// Another name under which a table of measurements may have the accelerator; or nothing.
    alternative: String,
}

impl Subject {
    fn nameless() -> Self {
        Self {
            network: "the network".into(),
            accelerator: "the accelerator".into(),
            the_accelerator: "the accelerator".into(),
            dataflow: "the dataflow".into(),
            alternative: String::new(),
        }
    }

    fn named(names: &PairNames) -> Self {
        let PairNames { network, accelerator, dataflow, pes } = names;
        Self {
            network: format!("network `{network}`"),
            accelerator: format!("`{accelerator}`"),
            the_accelerator: match pes {
                0 => format!("processor `{accelerator}`"),
                _ => format!("accelerator `{accelerator}`"),
            },
            dataflow: format!("dataflow {dataflow}"),
            alternative: match pes {
                0 => String::new(),
                _ => format!(" (or {dataflow}@{pes})"),
            },
        }
    }
}

impl fmt::Display for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Subject { network, accelerator, the_accelerator, dataflow, alternative } =
            &self.subject;
        match self.reason {
            Infeasible::TooManyLevels { levels, available } => write!(
                f,
                "{dataflow} has {levels} levels, but the NoC of {accelerator} has {available}"
            ),
            Infeasible::UnsupportedDataflow { why } => {
                write!(f, "this cost model does not know {dataflow}: {why}")
            }
            Infeasible::OtherLayers { shape, nearest } => {
                write!(f, "{dataflow} has no directives for a layer of {shape}")?;
                match nearest.as_deref() {
                    Some((layer, near)) => write!(f, "; the nearest is `{layer}` of {near}"),
                    None => Ok(()),
                }
            }
            Infeasible::Illegal { reason } => write!(f, "{dataflow} on {accelerator}: {reason}"),
            Infeasible::TileTooLarge { level: Some(level), needed, available } => write!(
                f,
                "{dataflow} needs {needed} bytes in the buffer of every cluster of level {level}, but \
                 those of {accelerator} have {available}"
            ),
            Infeasible::TileTooLarge { level: None, needed, available } => write!(
                f,
                "{dataflow} needs {needed} bytes in every PE, but those of {accelerator} have \
                 {available}"
            ),
            Infeasible::BoxTooLarge { needed, available } => write!(
                f,
                "{dataflow} selects {needed} bytes above the shared memory, but that of {accelerator} \
                 has {available}"
            ),
            Infeasible::TooFewPes { needed } => write!(
                f,
                "one unit of the dataflow needs {needed} PEs, more than {accelerator} has"
            ),
            Infeasible::BelowZero { quantity } => {
                write!(f, "the model gives a negative {quantity} for a layer on {accelerator}")
            }
            Infeasible::Overflow => {
                write!(f, "the counters of this layer exceed 64-bit arithmetic on {accelerator}")
            }
            Infeasible::NotMeasured => write!(
                f,
                "the cost table has no row for {network} on {the_accelerator}{alternative}"
            ),
            Infeasible::Excluded(rule) if rule.key == "on" => {
                write!(f, "model {} has {rule}, without {accelerator}", rule.task)
            }
            Infeasible::Excluded(rule) => {
                write!(f, "{the_accelerator} has {rule}, without {}", rule.task)
            }
            Infeasible::NoTable => {
                write!(f, "{the_accelerator} has costs in a table alone (--cost-model FILE.csv)")
            }
            Infeasible::Measured => write!(
                f,
                "{network} was measured as a whole (`measured: true`), and has costs in a table alone (--cost-model \
                 FILE.csv)"
            ),
            Infeasible::NoClock => write!(
                f,
                "the cost table gives cycles for {network} on {the_accelerator}, which has no clock; give latency_ms"
            ),
            Infeasible::NoEnergy => write!(
                f,
                "the cost table has no energy for {network} on {the_accelerator}, and that has no `active_mw`"
            ),
            Infeasible::NoPeriod => write!(
                f,
                "{accelerator} chooses mappings by the rates of models (objective `deadline`), and {network} has one in \
                 a scenario only; choose them by `edp`, `energy` or `cycles`"
            ),
            Infeasible::OpenPinned => write!(
                f,
                "weights of models stay in the shared memory of {accelerator} (key `pinned`), and their networks are known \
                 in a scenario only"
            ),
            Infeasible::LayerNotMeasured { layer } => write!(
                f,
                "the cost table has no row for layer `{layer}` of {network} on {the_accelerator}, \
                 though it has rows for other layers"
            ),
            Infeasible::TooLong { cycles } => write!(
                f,
                "the cost table gives {network} {cycles} cycles on {the_accelerator}, which take \
                 longer than {} ms at its clock",
                SimSpan::MAX_MS
            ),
            Infeasible::UnknownLayer { layer } => {
                write!(f, "the cost table names layer `{layer}`, which {network} does not have")
            }
            Infeasible::Device(error) => error.fmt(f),
            Infeasible::NoParts => write!(
                f,
                "{the_accelerator} has several operating points, and the costs of {network} do not tell the cycles of the \
                 chip from those of DRAM"
            ),
            Infeasible::UnnamedLayer => {
                write!(f, "a cost table knows layers by name and network, not by shape")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> PairNames {
        PairNames {
            network: "net".into(),
            accelerator: "WS-0".into(),
            dataflow: "WS".into(),
            pes: 64,
        }
    }

    fn check(reason: &Infeasible, nameless: &str, named: &str) {
        assert_eq!(reason.to_string(), nameless);
        assert_eq!(reason.display(&names()).to_string(), named);
    }

    #[test]
    fn a_reason_can_be_said_with_and_without_names() {
        check(
            &Infeasible::TooManyLevels { levels: 5, available: 4 },
            "the dataflow has 5 levels, but the NoC of the accelerator has 4",
            "dataflow WS has 5 levels, but the NoC of `WS-0` has 4",
        );
        check(
            &Infeasible::TileTooLarge { level: None, needed: 44, available: 8 },
            "the dataflow needs 44 bytes in every PE, but those of the accelerator have 8",
            "dataflow WS needs 44 bytes in every PE, but those of `WS-0` have 8",
        );
        check(
            &Infeasible::TileTooLarge { level: Some(1), needed: 44, available: 8 },
            "the dataflow needs 44 bytes in the buffer of every cluster of level 1, but those of the \
             accelerator have 8",
            "dataflow WS needs 44 bytes in the buffer of every cluster of level 1, but those of `WS-0` \
             have 8",
        );
        check(
            &Infeasible::NotMeasured,
            "the cost table has no row for the network on the accelerator",
            "the cost table has no row for network `net` on accelerator `WS-0` (or WS@64)",
        );
    }

    #[test]
    fn an_error_begins_with_network_and_accelerator() {
        let error = CostError { names: names(), reason: Infeasible::TooFewPes { needed: 256 } };
        assert_eq!(
            error.to_string(),
            "net on WS-0: one unit of the dataflow needs 256 PEs, more than `WS-0` has"
        );
    }
}
