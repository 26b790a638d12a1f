//! Area and power of accelerators in a technology (docs/explanation/area.md).
//!
//! A [`Technology`] is a set of constants, each with its source. Areas are within 30 % where they were compared
//! with chips, leakage is an order of magnitude.

mod constant;
mod laws;
mod power;

use thiserror::Error;

pub use constant::Constant;
pub use laws::{BusLaw, MemoryLaw, NetworkLaw};
pub use power::PeakPower;

use super::array::{Array, ArrayLevel};
use super::{Accelerator, Noc, System};
use crate::units::Bytes;

/// Square micrometres in a square millimetre.
const UM2_PER_MM2: f64 = 1e6;

/// Constants of area and leakage in one process, with the source of each.
#[derive(Debug, Clone, PartialEq)]
pub struct Technology {
    name: Box<str>,
    node_nm: f64,
    /// Values and sources, indexed by [`Constant`]; `None` where the laws of the technology need none.
    numbers: Vec<Option<(f64, Box<str>)>>,
    memory: MemoryLaw,
    network: NetworkLaw,
    leakage: Option<Leakage>,
}

/// Leakage of logic and memory.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Leakage {
    /// Of the logic of one multiply-accumulate \[uW\].
    pe_uw: f64,
    /// Of a byte of memory \[nW\].
    sram_nw_per_byte: f64,
}

/// Reasons why constants make no technology.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum TechnologyError {
    /// A constant is not given.
    #[error("`{}` lacks the key `{}`", .0.section(), .0.name())]
    Missing(Constant),
    /// Two constants of different laws.
    #[error("`{}` beside `{}`: they belong to different laws", .0.name(), .1.name())]
    TwoLaws(Constant, Constant),
    /// A constant has no source.
    #[error(
        "`{}` has no source; `sources` names one for every number, or says `choice`",
        .0.name()
    )]
    NoSource(Constant),
    /// A source of a constant that is not given.
    #[error("a source of `{}`, which is not given", .0.name())]
    IdleSource(Constant),
    /// A value is outside of its range.
    #[error("`{}` is {found}; allowed are {} to {}", .constant.name(), .constant.least(), .constant.most())]
    Range {
        /// Constant.
        constant: Constant,
        /// Given value.
        found: f64,
    },
    /// Larger memories would be smaller.
    #[error(
        "a memory of {large_bytes} bytes would have an area of {large_um2} um2, less than {small_um2} \
         um2 of one of {small_bytes} bytes"
    )]
    Shrinking {
        /// Size of the smaller memory \[byte\].
        small_bytes: f64,
        /// Its area \[um2\].
        small_um2: f64,
        /// Size of the larger memory \[byte\].
        large_bytes: f64,
        /// Its area \[um2\].
        large_um2: f64,
    },
}

impl TechnologyError {
    /// The constant that the error is about, if it is about one.
    pub fn constant(&self) -> Option<Constant> {
        match *self {
            Self::Missing(constant)
            | Self::TwoLaws(constant, _)
            | Self::NoSource(constant)
            | Self::IdleSource(constant)
            | Self::Range { constant, .. } => Some(constant),
            Self::Shrinking { .. } => None,
        }
    }
}

impl Technology {
    /// Technology where neither a command nor a file names one.
    pub const DEFAULT: &str = "nvdla_28nm";

    /// Relative uncertainty of areas, above and below: the largest deviation from the chips that they were compared
    /// with, where the size of a chip was known.
    pub const AREA_UNCERTAINTY: f64 = 0.3;

    /// A technology of these constants.
    ///
    /// # Errors
    ///
    /// Returns the first violated rule of [`TechnologyError`].
    pub fn new(
        name: impl Into<Box<str>>,
        node_nm: f64,
        values: &[(Constant, f64)],
        sources: &[(Constant, Box<str>)],
    ) -> Result<Self, TechnologyError> {
        let mut numbers = vec![None; Constant::ALL.len()];
        for &(constant, value) in values {
            let source = sources.iter().find(|(of, _)| *of == constant);
            let (_, source) = source.ok_or(TechnologyError::NoSource(constant))?;
            numbers[constant as usize] = Some((constant.check(value)?, source.clone()));
        }
        if let Some(&(constant, _)) = sources.iter().find(|(of, _)| numbers[*of as usize].is_none())
        {
            return Err(TechnologyError::IdleSource(constant));
        }
        Self::of_numbers(name.into(), node_nm, numbers)
    }

    /// This technology under another name with other values of some constants, whose source is then `source`.
    ///
    /// # Errors
    ///
    /// As [`Technology::new`].
    pub fn with(
        &self,
        name: impl Into<Box<str>>,
        values: &[(Constant, f64)],
        source: &str,
    ) -> Result<Self, TechnologyError> {
        let mut numbers = self.numbers.clone();
        for &(constant, value) in values {
            numbers[constant as usize] = Some((constant.check(value)?, source.into()));
        }
        Self::of_numbers(name.into(), self.node_nm, numbers)
    }

    fn of_numbers(
        name: Box<str>,
        node_nm: f64,
        numbers: Vec<Option<(f64, Box<str>)>>,
    ) -> Result<Self, TechnologyError> {
        let given = |constant: Constant| numbers[constant as usize].as_ref().map(|it| it.0);
        let need = |constant| given(constant).ok_or(TechnologyError::Missing(constant));
        [Constant::AcceleratorMm2, Constant::PeUm2, Constant::FixedMm2]
            .into_iter()
            .try_for_each(|constant| need(constant).map(drop))?;
        let leakage = match [Constant::PeUw, Constant::SramNwPerByte].map(given) {
            [None, None] => None,
            _ => Some(Leakage {
                pe_uw: need(Constant::PeUw)?,
                sram_nw_per_byte: need(Constant::SramNwPerByte)?,
            }),
        };
        let memory = MemoryLaw::from_terms(&given)?;
        let network = NetworkLaw::from_terms(&given)?;
        Ok(Self { name, node_nm, memory, network, leakage, numbers })
    }

    /// Name, e.g. `nvdla_28nm`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Process node \[nm\].
    pub fn node_nm(&self) -> f64 {
        self.node_nm
    }

    /// Value of `constant`; `None` if the laws of the technology do not have it.
    pub fn value(&self, constant: Constant) -> Option<f64> {
        self.numbers[constant as usize].as_ref().map(|(value, _)| *value)
    }

    /// Source of `constant`, or `choice`.
    pub fn source(&self, constant: Constant) -> Option<&str> {
        self.numbers[constant as usize].as_ref().map(|(_, source)| &**source)
    }

    /// Law of the area of memories.
    pub fn memory(&self) -> &MemoryLaw {
        &self.memory
    }

    /// Law of the area of the on-chip network.
    pub fn network(&self) -> &NetworkLaw {
        &self.network
    }

    /// Area outside of the accelerators \[mm2\].
    pub fn fixed_mm2(&self) -> f64 {
        self.of(Constant::FixedMm2)
    }

    /// Value of a constant that every technology has.
    fn of(&self, constant: Constant) -> f64 {
        self.value(constant).unwrap_or_default()
    }

    /// Area of one accelerator, with the memories that it declares, term by term (docs/explanation/area.md, (1)).
    /// Clusters without a declared buffer have none.
    pub fn area(&self, accelerator: &Accelerator) -> AcceleratorArea {
        let array = Array::from_accelerator(accelerator);
        let memory = &accelerator.memory;
        let mm2 = |um2: f64| um2 / UM2_PER_MM2;
        let pes = f64::from(accelerator.pes);
        let mut clusters = [0.0; Noc::MAX_LEVELS];
        for (index, (area, level)) in clusters.iter_mut().zip(array.levels()).enumerate() {
            let buffer = memory.cluster(index).map_or(0.0, |size| self.memory.buffer_um2(size));
            *area = mm2(level.clusters as f64 * buffer);
        }
        AcceleratorArea {
            overhead: self.of(Constant::AcceleratorMm2),
            pes: mm2(macs(accelerator) * self.of(Constant::PeUm2)),
            scratchpads: mm2(pes * self.memory.scratchpad_um2(memory.scratchpad)),
            clusters,
            shared_memory: mm2(self.memory.buffer_um2(memory.shared)),
            network: mm2(self.network.um2(accelerator, &array)),
        }
    }

    /// Area of all accelerators of a system, and what is fixed.
    pub fn system_area(&self, system: &System) -> SystemArea {
        let accelerators = system.accelerators().iter().map(|it| self.area(it)).collect();
        SystemArea { accelerators, fixed: self.fixed_mm2() }
    }

    /// Area of a system \[mm2\], the sum of [`Technology::system_area`].
    pub fn total_mm2(&self, system: &System) -> f64 {
        let accelerators = system.accelerators().iter().map(|it| self.area(it).total());
        accelerators.sum::<f64>() + self.fixed_mm2()
    }

    /// Power of an accelerator that does nothing, an order of magnitude \[mW\]; `None` if the technology has no
    /// leakage (docs/explanation/area.md, (5)).
    pub fn leakage_mw(&self, accelerator: &Accelerator) -> Option<f64> {
        let Leakage { pe_uw, sram_nw_per_byte } = self.leakage?;
        let bytes = on_chip_bytes(accelerator);
        Some(macs(accelerator) * pe_uw * 1e-3 + bytes * sram_nw_per_byte * 1e-6)
    }

    /// Leakage of all accelerators of a system \[mW\].
    pub fn system_leakage_mw(&self, system: &System) -> Option<f64> {
        system.accelerators().iter().map(|it| self.leakage_mw(it)).sum()
    }
}

/// Multiply-accumulate units of an accelerator.
fn macs(accelerator: &Accelerator) -> f64 {
    f64::from(accelerator.pes) * f64::from(accelerator.datapath.macs_per_pe_cycle)
}

/// Bytes of all memories of an accelerator.
fn on_chip_bytes(accelerator: &Accelerator) -> f64 {
    let (array, memory) = (Array::from_accelerator(accelerator), &accelerator.memory);
    let bytes = |size: Bytes| size.get() as f64;
    let clusters = |(index, level): (usize, &ArrayLevel)| {
        level.clusters as f64 * memory.cluster(index).map_or(0.0, bytes)
    };
    let clusters: f64 = array.levels().iter().enumerate().map(clusters).sum();
    f64::from(accelerator.pes) * bytes(memory.scratchpad) + clusters + bytes(memory.shared)
}

/// Term of an area (docs/explanation/area.md, (1)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AreaTerm {
    /// Part that does not depend on any size.
    Overhead,
    /// PEs without their scratchpads.
    Pes,
    /// Scratchpads of all PEs.
    Scratchpads,
    /// Buffers of the clusters of all levels.
    Clusters,
    /// Shared memory.
    SharedMemory,
    /// On-chip network.
    Network,
}

impl AreaTerm {
    /// Every term.
    pub const ALL: [Self; 6] = [
        Self::Overhead,
        Self::Pes,
        Self::Scratchpads,
        Self::Clusters,
        Self::SharedMemory,
        Self::Network,
    ];

    /// Name in texts.
    pub fn name(self) -> &'static str {
        match self {
            Self::Overhead => "overhead",
            Self::Pes => "PEs",
            Self::Scratchpads => "scratchpads",
            Self::Clusters => "cluster buffers",
            Self::SharedMemory => "shared memory",
            Self::Network => "on-chip network",
        }
    }

    /// Whether the name is a plural.
    pub fn is_plural(self) -> bool {
        matches!(self, Self::Pes | Self::Scratchpads | Self::Clusters)
    }
}

/// Area of one accelerator, term by term \[mm2\].
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct AcceleratorArea {
    /// Part that does not depend on any size.
    pub overhead: f64,
    /// PEs without their scratchpads.
    pub pes: f64,
    /// Scratchpads of all PEs.
    pub scratchpads: f64,
    /// Buffers of the clusters of each NoC level, outermost first; 0 where units are PEs.
    pub clusters: [f64; Noc::MAX_LEVELS],
    /// Shared memory.
    pub shared_memory: f64,
    /// On-chip network.
    pub network: f64,
}

impl AcceleratorArea {
    /// Sum of the terms \[mm2\].
    pub fn total(&self) -> f64 {
        let clusters: f64 = self.clusters.iter().sum();
        self.overhead + self.pes + self.scratchpads + clusters + self.shared_memory + self.network
    }

    /// One of the terms \[mm2\].
    pub fn term(&self, term: AreaTerm) -> f64 {
        match term {
            AreaTerm::Overhead => self.overhead,
            AreaTerm::Pes => self.pes,
            AreaTerm::Scratchpads => self.scratchpads,
            AreaTerm::Clusters => self.clusters.iter().sum(),
            AreaTerm::SharedMemory => self.shared_memory,
            AreaTerm::Network => self.network,
        }
    }
}

/// Area of a system \[mm2\].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SystemArea {
    /// Area of each accelerator, indexed by [`crate::ids::AccelId`].
    pub accelerators: Vec<AcceleratorArea>,
    /// Area outside of the accelerators.
    pub fixed: f64,
}

impl SystemArea {
    /// Sum of all areas \[mm2\].
    pub fn total(&self) -> f64 {
        self.accelerators.iter().map(AcceleratorArea::total).sum::<f64>() + self.fixed
    }

    /// The term that takes more than half of the area, with its share from 0 to 1; `None` if no term does.
    pub fn large_term(&self) -> Option<(AreaTerm, f64)> {
        let whole = self.total();
        let share = |term: AreaTerm| {
            let sum: f64 = self.accelerators.iter().map(|it| it.term(term)).sum();
            (term, sum / whole)
        };
        AreaTerm::ALL.map(share).into_iter().find(|(_, share)| *share > 0.5)
    }
}
