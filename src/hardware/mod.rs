//! What it runs on: accelerators, systems of them, and the styles of XRBench Table 5 that become
//! systems at any PE count.

mod energy;
pub mod platform;

pub use energy::{ByteEnergy, EnergyTable, sram_pj_per_byte};

use std::sync::Arc;

use thiserror::Error;

use crate::dataflow::Dataflow;
use crate::model::PerTensor;
use crate::units::{Bytes, ClockRate};

/// On-chip network of one accelerator. Lists have an entry for each level, outermost (fed by the
/// shared memory) first; deeper levels than listed take the last entry.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Noc {
    /// Bandwidth of inputs and weights, downward [byte/cycle]. Never empty, no entry zero.
    pub bandwidth: Vec<u64>,
    /// Bandwidth of partial sums, upward [byte/cycle]; empty: as downward.
    pub up_bandwidth: Vec<u64>,
    /// Bandwidth of a network for weights alone [byte/cycle]; empty: they share that of inputs.
    pub weight_bandwidth: Vec<u64>,
    /// Latency \[cycle\]; empty: none.
    pub latency: Vec<u64>,
    /// Whether every step pays the latency, not only the first and the last; empty: no.
    pub step_latency: Vec<bool>,
    /// Whether one send serves every unit that wants the element; empty: no.
    pub multicast: Vec<bool>,
    /// Whether elements that a neighbour held in the step before come from there; empty: no.
    pub forward: Vec<bool>,
    /// Whether partial sums of one output are added on their way up; empty: no.
    pub reduce: Vec<bool>,
    /// Whether units hold one copy of their weights only, so that loading them is exposed; empty: no.
    pub single_weights: Vec<bool>,
}

impl Noc {
    /// Most levels of a network.
    pub const MAX_LEVELS: usize = Dataflow::MAX_LEVELS;

    /// The entry of a level in such a list; `None` in an empty one.
    pub fn at<T: Copy>(list: &[T], level: usize) -> Option<T> {
        list.get(level).or(list.last()).copied()
    }

    /// A network of these bandwidths [byte/cycle] with a latency of 1 cycle, multicast and
    /// reduction.
    pub fn new(bandwidth: Vec<u64>) -> Self {
        Self {
            bandwidth,
            up_bandwidth: vec![],
            weight_bandwidth: vec![],
            latency: vec![1],
            step_latency: vec![],
            multicast: vec![true],
            forward: vec![],
            reduce: vec![true],
            single_weights: vec![],
        }
    }

    /// The network with `share` applied to every bandwidth.
    pub(crate) fn shared(&self, share: impl Fn(u64) -> u64) -> Self {
        let scale = |list: &[u64]| list.iter().map(|&bandwidth| share(bandwidth)).collect();
        Self {
            bandwidth: scale(&self.bandwidth),
            up_bandwidth: scale(&self.up_bandwidth),
            weight_bandwidth: scale(&self.weight_bandwidth),
            ..self.clone()
        }
    }
}

/// Memories of one accelerator.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Memory {
    /// Shared on-chip buffer (L2).
    pub shared: Bytes,
    /// Copies that it holds of a tile that changes: of inputs, weights and outputs.
    pub shared_copies: PerTensor<u32>,
    /// Buffer of one PE (L1).
    pub local: Bytes,
    /// Off-chip bandwidth [byte/cycle].
    pub offchip_bandwidth: u64,
    /// Off-chip latency \[cycle\].
    pub offchip_latency: u64,
}

impl Memory {
    /// Memories with a double-buffered L2 and no off-chip latency.
    pub fn new(shared: Bytes, local: Bytes, offchip_bandwidth: u64) -> Self {
        Self {
            shared,
            shared_copies: PerTensor::splat(2),
            local,
            offchip_bandwidth,
            offchip_latency: 0,
        }
    }
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
    /// PEs, vector lanes and the operands that they work on.
    pub datapath: Datapath,
    /// Energy per event, relative to a multiply-accumulate.
    pub energy: EnergyTable,
    /// Energy per multiply-accumulate and per byte moved.
    pub byte_energy: ByteEnergy,
}

/// What PEs and vector lanes do in a cycle, and on what operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Datapath {
    /// Multiply-accumulates of a PE and cycle.
    pub macs_per_pe_cycle: u32,
    /// Operations of a cycle on operators without multiply-accumulates; `None`: one for each PE.
    pub vector_lanes: Option<u32>,
    /// Most outermost units of a dataflow, where the array has a fixed shape.
    pub units_limit: Option<u32>,
    /// Sizes of operands.
    pub widths: Widths,
}

impl Default for Datapath {
    /// One multiply-accumulate of 8-bit operands a PE and cycle, a vector lane for each PE.
    fn default() -> Self {
        let widths = Widths { input: 1, weight: 1, partial_sum: 4, output: 1 };
        Self { macs_per_pe_cycle: 1, vector_lanes: None, units_limit: None, widths }
    }
}

/// Sizes of elements \[byte\].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Widths {
    /// An input element.
    pub input: u32,
    /// A weight.
    pub weight: u32,
    /// A partial sum, and an output before it is requantised at the L2.
    pub partial_sum: u32,
    /// An output off chip.
    pub output: u32,
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
            && self.datapath == other.datapath
            && self.energy == other.energy
            && self.byte_energy == other.byte_energy
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
    /// A platform of tables has no budget to change.
    #[error(
        "platform `{platform}` lists its accelerators one by one; bandwidth and memory are set on a \
         platform with a budget, such as `paper`"
    )]
    NoBudget {
        /// Platform.
        platform: Box<str>,
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
        bounded(
            "the number of NoC levels",
            self.noc.bandwidth.len() as u64,
            Noc::MAX_LEVELS as u64,
        )?;
        let Noc { bandwidth, up_bandwidth, weight_bandwidth, .. } = &self.noc;
        for &bandwidth in bandwidth.iter().chain(up_bandwidth).chain(weight_bandwidth) {
            bounded("the NoC bandwidth", bandwidth, 1 << 32)?;
        }
        bounded("the off-chip bandwidth", self.memory.offchip_bandwidth, 1 << 32)?;
        bounded("MACs of a PE and cycle", self.datapath.macs_per_pe_cycle.into(), 1 << 16)?;
        let Widths { input, weight, partial_sum, output } = self.datapath.widths;
        for width in [input, weight, partial_sum, output] {
            bounded("the width of an operand", width.into(), 64)?;
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
    /// What every accelerator gets; never empty.
    pub shares: Vec<Share>,
}

/// Dataflow of an accelerator of a style, and its shares of the chip. Shares are relative to the sum
/// over the accelerators.
#[derive(Debug, Clone, PartialEq)]
pub struct Share {
    /// Dataflow.
    pub dataflow: Arc<Dataflow>,
    /// Of the PEs.
    pub pes: u32,
    /// Of the on-chip bandwidth.
    pub noc: u32,
    /// Of the shared memory.
    pub shared_memory: u32,
    /// Of the off-chip bandwidth.
    pub offchip: u32,
}

impl Share {
    /// The same share of everything.
    pub fn of_all(dataflow: Arc<Dataflow>, share: u32) -> Self {
        Self { dataflow, pes: share, noc: share, shared_memory: share, offchip: share }
    }
}

impl Style {
    /// PEs of every accelerator when the style has `pes` in total.
    ///
    /// # Errors
    ///
    /// [`HardwareError::UnevenShares`] unless `pes` is a multiple of the sum of the shares.
    pub fn partition(&self, pes: u32) -> Result<Vec<u32>, HardwareError> {
        let total: u32 = self.shares.iter().map(|share| share.pes).sum();
        if pes == 0 || !pes.is_multiple_of(total) {
            let shares: Vec<_> = self.shares.iter().map(|share| share.pes.to_string()).collect();
            return Err(HardwareError::UnevenShares {
                style: self.name.clone(),
                pes,
                shares: shares.join(":"),
                total,
            });
        }
        Ok(self.shares.iter().map(|share| pes / total * share.pes).collect())
    }
}
