//! Budgets that systems divide: chips, parts of their resources, and what a space is made of.

use std::ops::RangeInclusive;
use std::sync::Arc;

use thiserror::Error;

use super::Space;
use xrsim_model::dataflow::Dataflow;
use xrsim_model::hardware::platform::{Budget, Platform, Resources};
use xrsim_model::hardware::{AcceleratorChange, HardwareError, MappingSettings};

/// A chip whose resources the accelerators of a system divide.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Chip {
    /// Platform with a budget, after all changes.
    pub platform: Arc<Platform>,
    /// Values of the keys in which chips of a space differ, as text; empty if there is one chip.
    pub varied: Vec<(Box<str>, Box<str>)>,
    /// Choice of mappings of every accelerator, where it is not that of the dataflow.
    pub mapping: MappingSettings,
    /// Changes of every accelerator.
    pub change: AcceleratorChange,
}

impl Chip {
    /// A chip of `platform` without changes.
    pub fn new(platform: Arc<Platform>) -> Self {
        Self {
            platform,
            varied: Vec::new(),
            mapping: MappingSettings::default(),
            change: AcceleratorChange::default(),
        }
    }

    /// Its resources.
    ///
    /// # Errors
    ///
    /// [`SpaceError::NoBudget`] if the platform has tables.
    pub(crate) fn budget(&self) -> Result<&Budget, SpaceError> {
        match &self.platform.resources {
            Resources::Budget(budget) => Ok(budget),
            Resources::Tables(_) => {
                Err(SpaceError::NoBudget { platform: self.platform.name.clone() })
            }
        }
    }
}

/// Parts of a resource that an accelerator may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parts {
    /// As large a part as its PEs are of all PEs, where systems use the whole budget. Otherwise a single accelerator has
    /// the whole, and several have parts as their PEs are of the least power of two of steps that all of them need:
    /// what a budget leaves unused takes nothing away.
    AsPes,
    /// One of these fractions, whatever its PEs. Those of a system add up to at most 1.
    Fractions(Vec<Fraction>),
}

/// A fraction in (0, 1], in lowest terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fraction {
    numerator: u16,
    denominator: u16,
}

impl Fraction {
    /// The whole.
    pub const ONE: Self = Self { numerator: 1, denominator: 1 };

    /// Largest denominator.
    pub const MAX_DENOMINATOR: u16 = 1024;

    /// `numerator / denominator`; `None` unless it is above 0, at most 1, and has a denominator of at most
    /// [`Fraction::MAX_DENOMINATOR`].
    pub fn new(numerator: u16, denominator: u16) -> Option<Self> {
        let fits = numerator > 0 && numerator <= denominator;
        let common = gcd(numerator.into(), denominator.into()) as u16;
        let reduced = || Self { numerator: numerator / common, denominator: denominator / common };
        (fits && denominator <= Self::MAX_DENOMINATOR).then(reduced)
    }

    /// `whole` times the fraction, rounded down, at least 1.
    pub(super) fn of(self, whole: u64) -> u64 {
        part(whole, u32::from(self.numerator), u32::from(self.denominator))
    }

    /// Parts of one of `units` that it is; `units` is a multiple of the denominator.
    pub(super) fn units(self, units: u32) -> u32 {
        units / u32::from(self.denominator) * u32::from(self.numerator)
    }
}

impl std::fmt::Display for Fraction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.denominator {
            1 => write!(f, "{}", self.numerator),
            _ => write!(f, "{}/{}", self.numerator, self.denominator),
        }
    }
}

/// Resources that the accelerators of a system divide.
pub(crate) const RESOURCES: [&str; 3] = ["noc", "shared_memory", "dram"];

/// Description of a space.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SpaceSettings {
    /// Chips; a system is on one of them.
    pub chips: Vec<Chip>,
    /// Dataflows that an accelerator may have.
    pub dataflows: Vec<Arc<Dataflow>>,
    /// Numbers of accelerators.
    pub accelerators: RangeInclusive<usize>,
    /// PEs of the budget.
    pub pes: u32,
    /// Whether systems use the whole budget: exactly as many PEs, and parts that add up to 1.
    pub is_exact: bool,
    /// PEs of an accelerator are multiples of this number.
    pub step: u32,
    /// Parts of the on-chip network, the shared memory and the DRAM bandwidth.
    pub parts: [Parts; 3],
}

impl SpaceSettings {
    /// One to two accelerators with at most 4,096 PEs in steps of 128, whose parts are as their PEs.
    pub fn new(chip: Chip, dataflows: Vec<Arc<Dataflow>>) -> Self {
        Self {
            chips: vec![chip],
            dataflows,
            accelerators: 1..=2,
            pes: 4096,
            is_exact: false,
            step: 128,
            parts: [Parts::AsPes, Parts::AsPes, Parts::AsPes],
        }
    }
}

/// Reason for which a space cannot be made.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum SpaceError {
    /// The platform has no budget to divide.
    #[error("platform `{platform}` has fixed tables and no budget that a search could divide")]
    NoBudget {
        /// The platform.
        platform: Box<str>,
    },
    /// No system keeps within the budget.
    #[error("step {step} leaves no partition of {pes} PEs: {needs}")]
    Empty {
        /// The step.
        step: u32,
        /// The budget.
        pes: u32,
        /// PEs that the dataflows need at least.
        needs: String,
    },
    /// There are too many types to cost.
    #[error("{types} accelerator types; at most {} are costed", Space::MAX_TYPES)]
    TooManyTypes {
        /// Number of types.
        types: u64,
    },
    /// A number has no meaning in a space.
    #[error("{0}")]
    Number(&'static str),
    /// Hardware that cannot be built.
    #[error(transparent)]
    Hardware(#[from] HardwareError),
}

/// An accelerator of a space, as its parameters. [`Space::accelerator`] makes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct AcceleratorType {
    /// Index of the chip.
    pub chip: u16,
    /// Index of the dataflow.
    pub dataflow: u16,
    /// Number of PEs.
    pub pes: u32,
    /// PEs that have the whole of what is divided as the PEs.
    pub of: u32,
    /// Parts of the network, the shared memory and the DRAM bandwidth; `None` is as its PEs.
    pub parts: [Option<Fraction>; 3],
}

/// Least common multiple of the denominators of the parts; 0 if they are as the PEs.
pub(super) fn units(parts: &Parts) -> Result<u32, SpaceError> {
    let Parts::Fractions(fractions) = parts else { return Ok(0) };
    let mut lcm = 1u64;
    for fraction in fractions {
        let denominator = u64::from(fraction.denominator);
        lcm = lcm / u64::from(gcd(lcm as u32, u32::from(fraction.denominator))) * denominator;
        if lcm > 1 << 20 {
            let message = "fractions of one resource have a common denominator of at most 2^20";
            return Err(SpaceError::Number(message));
        }
    }
    Ok(lcm as u32)
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

pub(super) fn options(parts: &Parts) -> Vec<Option<Fraction>> {
    match parts {
        Parts::AsPes => vec![None],
        Parts::Fractions(fractions) => fractions.iter().copied().map(Some).collect(),
    }
}

/// `whole` times `share` over `total`, rounded down, at least 1.
pub(super) fn part(whole: u64, share: u32, total: u32) -> u64 {
    let part = u128::from(whole) * u128::from(share) / u128::from(total.max(1));
    u64::try_from(part).unwrap_or(whole).max(1)
}
