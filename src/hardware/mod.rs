//! What it runs on: accelerators, systems of them, and the styles of XRBench Table 5 that become
//! systems at any PE count.

pub mod platform;

use std::sync::Arc;

use thiserror::Error;

use crate::dataflow::Dataflow;
use crate::units::{Bytes, ClockRate};

/// On-chip network of one accelerator.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Noc {
    /// Bandwidth of each level [byte/cycle], outermost (fed by the shared memory) first; deeper
    /// levels than listed take the last entry. Never empty, no entry zero.
    pub bandwidth: Vec<u64>,
    /// Latency of each level \[cycle\], extended likewise.
    pub latency: Vec<u64>,
    /// Whether one send serves every unit that wants the element.
    pub multicast: bool,
}

/// Memories of one accelerator.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Memory {
    /// Shared on-chip buffer (L2).
    pub shared: Bytes,
    /// Buffer of one PE (L1).
    pub local: Bytes,
    /// Off-chip bandwidth [byte/cycle].
    pub offchip_bandwidth: u64,
}

/// Energy of one event, relative to a multiply-accumulate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EnergyTable {
    /// One multiply-accumulate \[nJ\].
    pub mac_nj: f64,
    /// One L1 access [multiple of a multiply-accumulate].
    pub l1_per_mac: f64,
    /// One L2 access [multiple of a multiply-accumulate].
    pub l2_per_mac: f64,
    /// One DRAM access [multiple of a multiply-accumulate].
    pub dram_per_mac: f64,
}

/// One accelerator: a single dataflow on a single pool of PEs.
#[derive(Debug, Clone, PartialEq)]
pub struct Accelerator {
    /// Name, e.g. `WS-0`.
    pub name: Box<str>,
    /// Dataflow that it runs.
    pub dataflow: Arc<Dataflow>,
    /// Processing elements.
    pub pes: u32,
    /// Clock.
    pub clock: ClockRate,
    /// On-chip network.
    pub noc: Noc,
    /// Memories.
    pub memory: Memory,
    /// Energy per event.
    pub energy: EnergyTable,
}

impl Accelerator {
    /// Most PEs of one accelerator.
    pub const MAX_PES: u32 = 1 << 24;

    /// Whether `other` costs the same for every layer: equal in all but its name.
    pub fn costs_as(&self, other: &Self) -> bool {
        self.pes == other.pes
            && (Arc::ptr_eq(&self.dataflow, &other.dataflow)
                || self.dataflow.levels() == other.dataflow.levels())
            && self.clock == other.clock
            && self.noc == other.noc
            && self.memory == other.memory
            && self.energy == other.energy
    }
}

/// A system under test: one or more accelerators that run side by side.
#[derive(Debug, Clone, PartialEq)]
pub struct System {
    name: Box<str>,
    accelerators: Vec<Accelerator>,
}

/// A system that cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum HardwareError {
    /// No accelerators.
    #[error("system `{0}` has no accelerators")]
    Empty(String),
    /// Too many accelerators.
    #[error(
        "system `{system}` has {found} accelerators; at most {} are allowed",
        System::MAX_ACCELERATORS
    )]
    TooMany {
        /// System.
        system: Box<str>,
        /// How many there are.
        found: usize,
    },
    /// Too few PEs for one unit of the dataflow.
    #[error(
        "accelerator `{accelerator}` has {pes} PEs, but one unit of dataflow {dataflow} needs \
         {needed} (the product of its cluster sizes)"
    )]
    TooFewPes {
        /// Accelerator.
        accelerator: Box<str>,
        /// Its PEs.
        pes: u32,
        /// Its dataflow.
        dataflow: Box<str>,
        /// PEs of one outermost unit.
        needed: u64,
    },
    /// A size is zero or absurd.
    #[error("accelerator `{accelerator}`: {what} is {found}; allowed are 1 to {max}")]
    Size {
        /// Accelerator.
        accelerator: Box<str>,
        /// Which size.
        what: &'static str,
        /// What was given.
        found: u64,
        /// Largest allowed.
        max: u64,
    },
    /// The PEs do not divide into the shares of a style.
    #[error("style {style} cannot split {pes} PEs {shares}: {pes} is not a multiple of {total}")]
    UnevenShares {
        /// Style.
        style: Box<str>,
        /// Total PEs.
        pes: u32,
        /// The shares, e.g. `3:1`.
        shares: String,
        /// Sum of the shares.
        total: u32,
    },
    /// A platform of tables does not list the partition.
    #[error(
        "style {style} needs accelerators of {partition} PEs, which platform `{platform}` does not \
         list (it has {known}); choose one of those sizes or `--platform paper`"
    )]
    NoTable {
        /// Style.
        style: Box<str>,
        /// PEs of its accelerators.
        partition: String,
        /// Platform.
        platform: Box<str>,
        /// Partitions that it lists.
        known: String,
    },
}

impl System {
    /// Most accelerators of a system.
    pub const MAX_ACCELERATORS: usize = 1024;

    /// A system of `accelerators`, checked one by one.
    ///
    /// # Errors
    ///
    /// [`HardwareError::Empty`], [`HardwareError::TooMany`], [`HardwareError::TooFewPes`] or
    /// [`HardwareError::Size`].
    pub fn new(
        name: impl Into<Box<str>>,
        accelerators: Vec<Accelerator>,
    ) -> Result<Self, HardwareError> {
        let name = name.into();
        if accelerators.is_empty() {
            return Err(HardwareError::Empty(name.into()));
        }
        if accelerators.len() > Self::MAX_ACCELERATORS {
            let found = accelerators.len();
            return Err(HardwareError::TooMany { system: name, found });
        }
        for accelerator in &accelerators {
            accelerator.check()?;
        }
        Ok(Self { name, accelerators })
    }

    /// Name, e.g. `J`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Accelerators, indexed by [`crate::ids::AccelId`].
    pub fn accelerators(&self) -> &[Accelerator] {
        &self.accelerators
    }

    /// PEs of all accelerators.
    pub fn pes(&self) -> u64 {
        self.accelerators.iter().map(|accelerator| u64::from(accelerator.pes)).sum()
    }
}

impl Accelerator {
    fn check(&self) -> Result<(), HardwareError> {
        let bounded = |what, found: u64, max: u64| {
            if found == 0 || found > max {
                return Err(HardwareError::Size {
                    accelerator: self.name.clone(),
                    what,
                    found,
                    max,
                });
            }
            Ok(())
        };
        bounded("the number of PEs", self.pes.into(), Self::MAX_PES.into())?;
        bounded("the number of NoC levels", self.noc.bandwidth.len() as u64, 8)?;
        for &bandwidth in &self.noc.bandwidth {
            bounded("the NoC bandwidth", bandwidth, 1 << 32)?;
        }
        let needed = self.dataflow.pes_per_unit();
        if needed > u64::from(self.pes) {
            return Err(HardwareError::TooFewPes {
                accelerator: self.name.clone(),
                pes: self.pes,
                dataflow: self.dataflow.name().into(),
                needed,
            });
        }
        Ok(())
    }
}

/// An accelerator style (XRBench Table 5): dataflows and their shares of the PEs.
#[derive(Debug, Clone, PartialEq)]
pub struct Style {
    /// Name, e.g. `K`.
    pub name: Box<str>,
    /// Class of Table 5: `FDA`, `SFDA` or `HDA`.
    pub class: Box<str>,
    /// Dataflow and share of the PEs of every accelerator; never empty.
    pub shares: Vec<(Arc<Dataflow>, u32)>,
}

impl Style {
    /// PEs of every accelerator when the style has `pes` in total.
    ///
    /// # Errors
    ///
    /// [`HardwareError::UnevenShares`] unless `pes` is a multiple of the sum of the shares.
    pub fn partition(&self, pes: u32) -> Result<Vec<u32>, HardwareError> {
        let total: u32 = self.shares.iter().map(|(_, share)| share).sum();
        if pes == 0 || !pes.is_multiple_of(total) {
            let shares: Vec<_> = self.shares.iter().map(|(_, share)| share.to_string()).collect();
            return Err(HardwareError::UnevenShares {
                style: self.name.clone(),
                pes,
                shares: shares.join(":"),
                total,
            });
        }
        Ok(self.shares.iter().map(|(_, share)| pes / total * share).collect())
    }
}
