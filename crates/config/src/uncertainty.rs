//! `uncertainty:` files: ranges of the constants of the model with their sources, from which
//! `xrsim sensitivity --joint` draws.

use std::fmt;

use xrsim_model::statistics::normal_quantile;

use super::form::{self, Key};
use super::yaml::Node;
use super::yaml::keys::keys;
use super::yaml::read::{At, Problems, printable};
use super::yaml::tree::Entry;
use super::yaml::values::{Reader, entries, list, number, proper_name, text};
use super::{Problem, nearest};

/// A constant of the model that nobody knows exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum UncertainConstant {
    /// Energy of DRAM.
    DramEnergy,
    /// Energy of the shared memory.
    SharedMemoryEnergy,
    /// Energy of the buffers of clusters.
    ClusterEnergy,
    /// Energy of the scratchpads.
    ScratchpadEnergy,
    /// Energy of the NoC.
    NocEnergy,
    /// Energy of multiply-accumulates.
    MacEnergy,
    /// Latency of networks, by dataflow.
    Latency,
    /// Wait of a layer for DRAM \[cycle\].
    DramLatencyCycles,
    /// Jitter of the sensors.
    Jitter,
    /// k of Definition 10.
    ScoreK,
    /// Largest energy of Definition 11.
    ScoreEnergyMax,
}

impl UncertainConstant {
    /// Every constant with its name and meaning.
    pub const ALL: [(Self, &'static str, &'static str); 11] = [
        (Self::DramEnergy, "dram_energy", "Energy of DRAM."),
        (Self::SharedMemoryEnergy, "shared_memory_energy", "Energy of the shared memory."),
        (Self::ClusterEnergy, "cluster_energy", "Energy of the buffers of clusters."),
        (Self::ScratchpadEnergy, "scratchpad_energy", "Energy of the scratchpads."),
        (Self::NocEnergy, "noc_energy", "Energy of the NoC."),
        (Self::MacEnergy, "mac_energy", "Energy of multiply-accumulates."),
        (Self::Latency, "latency", "Latency of every network, by one factor for each dataflow."),
        (
            Self::DramLatencyCycles,
            "dram_latency_cycles",
            "Wait of every layer with DRAM traffic, the value itself [cycle].",
        ),
        (Self::Jitter, "jitter", "Jitter of all sensors."),
        (Self::ScoreK, "score_k_per_ms", "k of Definition 10 of XRBench."),
        (
            Self::ScoreEnergyMax,
            "score_energy_max_mj",
            "Largest energy of Definition 11 of XRBench.",
        ),
    ];

    /// Its name in files.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    fn names() -> impl Iterator<Item = &'static str> {
        Self::ALL.iter().map(|(_, name, _)| *name)
    }
}

/// Distribution of a constant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum UncertainRange {
    /// Log-uniform multiples of the base between both.
    Factor([f64; 2]),
    /// Uniform between both, in the unit of the constant.
    Between([f64; 2]),
    /// Log-normal multiples of the base: median, and factor of one standard deviation.
    Lognormal([f64; 2]),
}

impl UncertainRange {
    /// The value below which a share `u` of all draws lies, for 0 < `u` < 1.
    pub fn quantile(self, u: f64) -> f64 {
        match self {
            Self::Factor([low, high]) => low * (high / low).powf(u),
            Self::Between([low, high]) => low + (high - low) * u,
            Self::Lognormal([median, spread]) => median * spread.powf(normal_quantile(u)),
        }
    }

    /// Whether all draws are one value.
    pub fn is_fixed(self) -> bool {
        match self {
            Self::Factor([low, high]) | Self::Between([low, high]) => low == high,
            Self::Lognormal([_, spread]) => spread == 1.0,
        }
    }
}

impl fmt::Display for UncertainRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Factor([low, high]) => write!(f, "x{low} to x{high}, log-uniform"),
            Self::Between([low, high]) => write!(f, "{low} to {high}, uniform"),
            Self::Lognormal([median, spread]) => {
                write!(f, "x{median}, times or over {spread} a standard deviation, log-normal")
            }
        }
    }
}

/// A constant with its range.
#[derive(Debug, Clone, PartialEq)]
pub struct Uncertain {
    /// The constant.
    pub constant: UncertainConstant,
    /// Its range.
    pub range: UncertainRange,
    /// Source of the range.
    pub source: Box<str>,
}

/// Ranges of constants.
#[derive(Debug, Clone, PartialEq)]
pub struct Uncertainty {
    /// Name.
    pub name: Box<str>,
    /// The constants, in the order of the file.
    pub constants: Vec<Uncertain>,
}

keys! {
    /// Ranges in which the constants of the model may lie, for `xrsim sensitivity --joint`.
    pub(super) fn uncertainty() -> Uncertainty: "an uncertainty" {
        /// Name of the uncertainty.
        name = required(proper_name());
        /// Constants with their ranges.
        constants = required(constants());
    }
}

keys! {
    /// Range of a constant: one of `factor`, `between` and `lognormal`.
    fn range() -> struct RawRange: "a range" {
        /// Log-uniform multiples of the base: lowest and highest.
        factor: Option<At<Vec<f64>>> = optional(pair());
        /// Uniform values: lowest and highest.
        between: Option<At<Vec<f64>>> = optional(pair());
        /// Log-normal multiples of the base: median, and factor of one standard deviation.
        lognormal: Option<At<Vec<f64>>> = optional(pair());
        /// Source of the range, or the word `choice`.
        source: Box<str> = required(text());
    }
}

fn pair() -> impl Reader<Value = At<Vec<f64>>> {
    super::yaml::values::at(list("numbers", number(0.0..=1e9)))
}

fn constants() -> impl Reader<Value = Vec<Uncertain>> {
    entries("constants", constant).shaped(|_| {
        let key = |(_, name, about): (UncertainConstant, &str, &str)| {
            Key::new(name, range().form().says(about), false)
        };
        form::object(UncertainConstant::ALL.map(key)).with("minProperties", 1)
    })
}

fn constant(entry: &Entry<'_>, problems: &mut Problems) -> Option<Uncertain> {
    let known = UncertainConstant::ALL.iter().find(|(_, name, _)| *name == &*entry.key);
    let Some(&(constant, ..)) = known else {
        let message = format!("unknown constant `{}`", printable(&entry.key));
        let names: Vec<_> = UncertainConstant::names().collect();
        let help = match nearest(&entry.key, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known: {}", names.join(", ")),
        };
        problems.push(Problem::new(entry.key_span.clone(), message).help(help));
        return None;
    };
    range().read(&entry.value, problems)?.checked(constant, &entry.value, problems)
}

/// Makes a range of its two numbers.
type Make = fn([f64; 2]) -> UncertainRange;

impl RawRange {
    fn checked(
        self,
        constant: UncertainConstant,
        node: &Node<'_>,
        problems: &mut Problems,
    ) -> Option<Uncertain> {
        let Self { factor, between, lognormal, source } = self;
        let kinds: [(_, Make); 3] = [
            (factor, UncertainRange::Factor),
            (between, UncertainRange::Between),
            (lognormal, UncertainRange::Lognormal),
        ];
        let mut given = kinds.into_iter().filter_map(|(pair, kind)| Some((pair?, kind)));
        let (Some((pair, kind)), None) = (given.next(), given.next()) else {
            let message = "a range has one of `factor`, `between` and `lognormal`";
            problems.push(Problem::new(node.span.clone(), message));
            return None;
        };
        let mut refuse = |message: &str| {
            problems.push(Problem::new(pair.span.clone(), message.to_string()));
            None
        };
        let [first, second] = pair.value[..] else {
            return refuse("a range has two numbers");
        };
        let range = kind([first, second]);
        let is_absolute = constant == UncertainConstant::DramLatencyCycles;
        match range {
            UncertainRange::Lognormal(_) if first <= 0.0 || second < 1.0 => {
                refuse("a log-normal range has a median above 0 and a spread of 1 or more")
            }
            UncertainRange::Factor(_) if first <= 0.0 => refuse("a factor is above 0"),
            UncertainRange::Factor(_) | UncertainRange::Between(_) if first > second => {
                refuse("the first number of a range is not above the second")
            }
            UncertainRange::Between(_) if !is_absolute && first <= 0.0 => {
                refuse("a multiple of the base is above 0")
            }
            UncertainRange::Factor(_) | UncertainRange::Lognormal(_) if is_absolute => {
                refuse("the latency of DRAM has a range `between` two numbers of cycles")
            }
            _ => Some(Uncertain { constant, range, source }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_distributions() {
        let close = |found: f64, expected: f64| {
            assert!((found / expected - 1.0).abs() < 1e-6, "{found} {expected}");
        };
        close(UncertainRange::Factor([0.5, 2.0]).quantile(0.5), 1.0);
        close(UncertainRange::Factor([0.5, 2.0]).quantile(0.75), 2f64.sqrt());
        close(UncertainRange::Between([50.0, 250.0]).quantile(0.25), 100.0);
        close(UncertainRange::Lognormal([1.2, 1.5]).quantile(0.5), 1.2);
        // The normal distribution has 84.134 % below one standard deviation.
        close(UncertainRange::Lognormal([1.2, 1.5]).quantile(0.841_344_746), 1.8);
    }

    #[test]
    fn constants_stand_in_the_order_of_their_table() {
        for (at, (constant, name, _)) in UncertainConstant::ALL.into_iter().enumerate() {
            assert_eq!((constant as usize, constant.name()), (at, name));
        }
    }
}
