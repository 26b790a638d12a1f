//! Hardware: accelerators, systems of accelerators, and the styles of XRBench Table 5, which become
//! systems of any number of PEs.
//!
//! A system of the caller's, with a dataflow of its own beside one of the paper:
//!
//! ```
//! use xrsim::dataflow::{Axis, ClusterLevel, Dataflow, Directive};
//! use xrsim::hardware::{Accelerator, Memory, Noc, NocLevel};
//! use xrsim::units::Bytes;
//! use xrsim::{Catalog, Experiment, System};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let directives = vec![
//!     Directive::spatial(1, 1, Axis::K),
//!     Directive::temporal(16, 16, Axis::C),
//!     Directive::temporal(1, 1, Axis::OutputY),
//!     Directive::temporal(1, 1, Axis::OutputX),
//! ];
//! let own = Dataflow::new("own", vec![ClusterLevel { units: None, directives }])?;
//! let memory = Memory::new(Bytes::new(4 << 20), Bytes::new(4096), 16);
//! let noc = Noc::uniform(NocLevel::new(64));
//! let system = System::new(
//!     "mine",
//!     vec![
//!         Accelerator::new("own-0", own.into(), 64, noc.clone(), memory.clone()),
//!         Accelerator::new("WS-1", Catalog::new().dataflow("WS")?, 1024, noc, memory),
//!     ],
//! )?;
//! let runs = Experiment::new().scenario("VR_gaming").system(system).run()?;
//! assert!(runs[0].scorecard()?.total.score > 0.0);
//! # Ok(())
//! # }
//! ```

mod array;
mod buffers;
mod change;
pub mod device;
mod energy;
mod error;
mod mapping;
mod noc;
mod order;
mod pinned;
pub mod platform;
mod processor;
mod style;
pub mod technology;
mod widths;
mod write_back;

pub use buffers::LocalBuffers;
pub use change::{AcceleratorChange, Change, EnergyChange, NocChange};
pub use device::Device;
pub use energy::{ByteEnergy, EnergyTable, MemoryEnergy};
pub use energy::{sram_pj_per_byte, usual_cluster_pj, usual_scratchpad_pj};
pub use error::HardwareError;
pub use mapping::{DeadlineShare, MappingDeadline, MappingObjective, MappingSettings};
pub use noc::{Fill, Noc, NocLevel};
pub use pinned::{Pinned, Tasks};
pub use processor::{CostOrigin, Processor};
pub use style::{Share, Style};
pub use technology::Technology;
pub use widths::{Compression, Width, Widths};
pub use write_back::{Fusion, WriteBack, WriteBackSettings};

use std::borrow::Cow;
use std::sync::Arc;

use crate::dataflow::Dataflow;
pub use crate::dataflow::Flexibility;
use crate::model::{PerTensor, TensorRole};
use crate::units::{Bytes, ClockRate};

/// Memories of one accelerator.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Memory {
    /// On-chip memory that all PEs share (L2).
    pub shared: Bytes,
    /// Copies of a tile of each tensor that the shared memory holds while the tile changes; 2 is double
    /// buffering.
    pub shared_copies: PerTensor<u32>,
    /// Scratchpad of one PE (L1).
    pub scratchpad: Bytes,
    /// Buffers of the units that are clusters, by NoC level, outermost first. The last one stands for all
    /// deeper levels; an empty list is no limit.
    pub clusters: Vec<Bytes>,
    /// Bandwidth of DRAM [byte/cycle].
    pub dram_bandwidth: u64,
    /// Latency of DRAM \[cycle\].
    pub dram_latency: u64,
    /// Compression of inputs, weights and outputs in DRAM. Partial sums are never compressed.
    pub compression: PerTensor<Compression>,
}

impl Memory {
    /// Memories with a double-buffered shared memory, cluster buffers without limit, no DRAM latency and no
    /// compression. `dram_bandwidth` is in byte/cycle.
    pub fn new(shared: Bytes, scratchpad: Bytes, dram_bandwidth: u64) -> Self {
        Self {
            shared,
            shared_copies: PerTensor::splat(2),
            scratchpad,
            clusters: Vec::new(),
            dram_bandwidth,
            dram_latency: 0,
            compression: PerTensor::default(),
        }
    }

    /// Buffer of a unit of NoC level `level` that is a cluster; `None` is no limit.
    pub fn cluster(&self, level: usize) -> Option<Bytes> {
        self.clusters.get(level).or(self.clusters.last()).copied()
    }
}

/// One accelerator: a single dataflow on a single pool of PEs.
#[derive(Debug, Clone, PartialEq)]
pub struct Accelerator {
    /// Name, e.g. `WS-0`.
    pub name: Box<str>,
    /// Dataflow that it runs.
    pub dataflow: Arc<Dataflow>,
    /// Choices that it makes for every layer.
    pub flexibility: Flexibility,
    /// Objective of these choices.
    pub mapping_objective: MappingObjective,
    /// Time that a network may take under the objective `deadline`.
    pub mapping_deadline: MappingDeadline,
    /// Number of processing elements.
    pub pes: u32,
    /// Clock.
    pub clock: ClockRate,
    /// On-chip network.
    pub noc: Noc,
    /// Memories.
    pub memory: Memory,
    /// PEs, vector lanes and their operands.
    pub datapath: Datapath,
    /// Path on which outputs leave.
    pub write_back: WriteBack,
    /// Networks whose weights stay in its shared memory.
    pub pinned: Pinned,
    /// Tasks that it runs, and no others; `None`: all.
    pub runs: Option<Tasks>,
    /// Where the costs of networks on it come from. [`System::new`] sets it for accelerators that are no processors.
    pub origin: CostOrigin,
    /// Energy per event, relative to a multiply-accumulate.
    pub energy: EnergyTable,
    /// Energy per multiply-accumulate and per byte moved.
    pub byte_energy: ByteEnergy,
}

/// Operations of PEs and vector lanes in one cycle, and widths of their operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Datapath {
    /// Multiply-accumulates per PE and cycle.
    pub macs_per_pe_cycle: u32,
    /// Operations per cycle on operators without multiply-accumulates; `None`: one per PE.
    pub vector_lanes: Option<u32>,
    /// Most outermost units of a dataflow, if the array has a fixed shape.
    pub units_limit: Option<u32>,
    /// Widths of operands.
    pub widths: Widths,
}

impl Default for Datapath {
    /// One multiply-accumulate of 8-bit operands per PE and cycle, and one vector lane per PE.
    fn default() -> Self {
        let widths = Widths::default();
        Self { macs_per_pe_cycle: 1, vector_lanes: None, units_limit: None, widths }
    }
}

impl Accelerator {
    /// Most PEs of one accelerator.
    pub const MAX_PES: u32 = 1 << 24;

    /// An accelerator with the clock and energy of the published artifact, and the default datapath and
    /// energy per byte. Fields that differ are set afterwards; [`System::new`] checks all of them.
    pub fn new(
        name: impl Into<Box<str>>,
        dataflow: Arc<Dataflow>,
        pes: u32,
        noc: Noc,
        memory: Memory,
    ) -> Self {
        Self {
            name: name.into(),
            flexibility: dataflow.flexibility().unwrap_or_default(),
            mapping_objective: MappingObjective::default(),
            mapping_deadline: MappingDeadline::default(),
            dataflow,
            pes,
            clock: ClockRate::GHZ,
            noc,
            memory,
            datapath: Datapath::default(),
            write_back: WriteBack::default(),
            pinned: Pinned::default(),
            runs: None,
            origin: CostOrigin::default(),
            energy: EnergyTable::ARTIFACT,
            byte_energy: ByteEnergy::default(),
        }
    }

    /// The same accelerator with `settings`, where these have any; a processor as it is.
    #[must_use]
    pub fn mapped(self, settings: &MappingSettings) -> Self {
        if self.processor().is_some() {
            return self;
        }
        Self {
            flexibility: settings.flexibility.unwrap_or(self.flexibility),
            mapping_objective: settings.objective.unwrap_or(self.mapping_objective),
            mapping_deadline: MappingDeadline {
                share: settings.deadline_share.unwrap_or(self.mapping_deadline.share),
                ..self.mapping_deadline
            },
            write_back: settings.write_back.over(self.write_back),
            pinned: settings.pinned.clone().map_or(self.pinned, Pinned::of),
            ..self
        }
    }

    /// The accelerator as a network finds it that may take `limit` \[cycle\]; without a limit, as it is.
    pub fn within(&self, limit: Option<u64>) -> Cow<'_, Self> {
        if limit.is_none() {
            return Cow::Borrowed(self);
        }
        // The share has no effect beside the limit.
        let mapping_deadline = MappingDeadline { cycles: limit, ..MappingDeadline::default() };
        Cow::Owned(Self { mapping_deadline, ..self.clone() })
    }

    /// Whether the choice of mappings for a network depends on the period of its model.
    pub fn chooses_by_period(&self) -> bool {
        self.flexibility != Flexibility::None
            && self.mapping_objective == MappingObjective::Deadline
    }

    /// Whether every layer costs the same on `other`: they are equal in all but their names.
    pub fn costs_as(&self, other: &Self) -> bool {
        self.pes == other.pes
            && self.flexibility == other.flexibility
            && self.mapping_objective == other.mapping_objective
            && (self.mapping_objective != MappingObjective::Deadline
                || self.mapping_deadline == other.mapping_deadline)
            && (Arc::ptr_eq(&self.dataflow, &other.dataflow)
                || self.dataflow.maps_as(&other.dataflow))
            && self.clock == other.clock
            && self.noc == other.noc
            && self.memory == other.memory
            && self.datapath == other.datapath
            && self.write_back == other.write_back
            && self.pinned == other.pinned
            && self.origin == other.origin
            && self.energy == other.energy
            && self.byte_energy == other.byte_energy
    }
}

/// A system under test: one or more accelerators that run side by side.
#[derive(Debug, Clone, PartialEq)]
pub struct System {
    name: Box<str>,
    accelerators: Vec<Accelerator>,
    technology: Option<Arc<Technology>>,
    dram: Dram,
}

/// What the accelerators of a system have of the bandwidth of its DRAM.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Dram {
    /// Each has a part of its own.
    #[default]
    Split,
    /// Each has all of it while the others leave it alone. Those that run share it.
    Shared,
}

impl Dram {
    /// Every value with its name.
    pub const ALL: [(&'static str, Self); 2] = [("split", Self::Split), ("shared", Self::Shared)];

    /// Name in files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Split => "split",
            Self::Shared => "shared",
        }
    }
}

impl System {
    /// Most accelerators of a system.
    pub const MAX_ACCELERATORS: usize = 1024;

    /// A system of `accelerators`, each of which is checked.
    ///
    /// # Errors
    ///
    /// Returns [`HardwareError::Empty`] or [`HardwareError::TooMany`] for a wrong number of
    /// accelerators, and [`HardwareError::TooFewPes`] or [`HardwareError::Size`] for the first
    /// accelerator that is wrong.
    pub fn new(
        name: impl Into<Box<str>>,
        mut accelerators: Vec<Accelerator>,
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
        processor::join(&mut accelerators);
        Ok(Self { name, accelerators, technology: None, dram: Dram::Split })
    }

    /// Name, e.g. `J`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The same system by another name.
    #[must_use]
    pub fn with_name(self, name: impl Into<Box<str>>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// Accelerators, indexed by [`crate::ids::AccelId`].
    pub fn accelerators(&self) -> &[Accelerator] {
        &self.accelerators
    }

    /// The same system in `technology`; in none if it has processors.
    #[must_use]
    pub fn in_technology(self, technology: Option<Arc<Technology>>) -> Self {
        Self { technology: technology.filter(|_| !self.has_processors()), ..self }
    }

    /// Technology that its file or platform names, or that a command gives it.
    pub fn technology(&self) -> Option<&Arc<Technology>> {
        self.technology.as_ref()
    }

    /// The same system with other accelerators.
    ///
    /// # Errors
    ///
    /// As [`System::new`].
    pub fn with_accelerators(&self, accelerators: Vec<Accelerator>) -> Result<Self, HardwareError> {
        let system = Self::new(self.name.clone(), accelerators)?;
        Ok(system.in_technology(self.technology.clone()).with_dram(self.dram))
    }

    /// The same system with DRAM that is split or shared. The bandwidths of its accelerators stay.
    #[must_use]
    pub fn with_dram(self, dram: Dram) -> Self {
        Self { dram, ..self }
    }

    /// The same system with DRAM that is split or shared, and the bandwidths of its accelerators with it: all of
    /// their sum, or the parts of the largest by their PEs.
    #[must_use]
    pub fn in_dram(mut self, dram: Dram) -> Self {
        if dram == self.dram {
            return self;
        }
        let has_dram = |it: &&Accelerator| it.processor().is_none();
        let with_dram = self.accelerators.iter().filter(has_dram);
        let bandwidths = with_dram.map(Accelerator::dram_gb_per_s);
        let most = match dram {
            Dram::Shared => bandwidths.sum(),
            Dram::Split => bandwidths.fold(0.0, f64::max),
        };
        let pes = self.pes();
        for it in self.accelerators.iter_mut().filter(|it| it.processor().is_none()) {
            // Whole bytes and clocks of whole Hz: what is off from a whole number is rounding.
            let whole = (most / (it.clock.as_mhz() / 1e3) + 1e-6) as u64;
            it.memory.dram_bandwidth = match dram {
                Dram::Shared => whole.max(1),
                Dram::Split => platform::part(whole, it.pes, pes),
            };
        }
        Self { dram, ..self }
    }

    /// Whether its DRAM is split or shared.
    pub fn dram(&self) -> Dram {
        self.dram
    }

    /// Bandwidth of DRAM that several accelerators share, that of the accelerator with the most
    /// \[byte/ns = GB/s\]; `None` if it is split, or if there is only one accelerator.
    pub fn shared_dram(&self) -> Option<f64> {
        let with_dram = self.accelerators.iter().filter(|it| it.processor().is_none());
        let is_shared = self.dram == Dram::Shared && with_dram.clone().count() > 1;
        let bandwidths = with_dram.map(Accelerator::dram_gb_per_s);
        is_shared.then(|| bandwidths.fold(0.0, f64::max))
    }

    /// PEs of all accelerators.
    pub fn pes(&self) -> u64 {
        self.accelerators.iter().map(|accelerator| u64::from(accelerator.pes)).sum()
    }
}

impl Accelerator {
    /// Bandwidth of its DRAM at its clock \[byte/ns = GB/s\].
    pub fn dram_gb_per_s(&self) -> f64 {
        self.memory.dram_bandwidth as f64 * (self.clock.as_mhz() / 1e3)
    }

    /// Bytes in DRAM of `elements` of a tensor that move together, outputs at their final width: whole bytes,
    /// then the factor of compression.
    pub fn dram_bytes(&self, tensor: TensorRole, elements: u64) -> u64 {
        self.dram_bytes_at(&self.datapath.widths, tensor, elements)
    }

    /// The same of a layer whose elements have these widths.
    pub fn dram_bytes_at(&self, widths: &Widths, tensor: TensorRole, elements: u64) -> u64 {
        let &Widths { input, weight, output, .. } = widths;
        let width = PerTensor { input, weight, output }[tensor];
        self.memory.compression[tensor].of(width.bytes(elements))
    }

    /// The accelerator as layers of these widths find it: their data are moved and kept in them, and the
    /// energy of a multiply-accumulate is that of the datapath.
    pub(crate) fn with_widths(&self, widths: Widths) -> Self {
        let mut accelerator = self.clone();
        accelerator.byte_energy.mac = Some(self.byte_energy.mac_pj_of(&self.datapath.widths));
        accelerator.datapath.widths = widths;
        accelerator
    }

    fn check(&self) -> Result<(), HardwareError> {
        if self.processor().is_some() {
            return Ok(());
        }
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
        let levels = self.noc.levels();
        bounded("the number of NoC levels", levels.len() as u64, Noc::MAX_LEVELS as u64)?;
        for &NocLevel { bandwidth, up_bandwidth, weight_bandwidth, .. } in levels {
            for bandwidth in [Some(bandwidth), up_bandwidth, weight_bandwidth].into_iter().flatten()
            {
                bounded("the NoC bandwidth", bandwidth, 1 << 32)?;
            }
        }
        let clusters = &self.memory.clusters;
        if clusters.len() > Noc::MAX_LEVELS {
            bounded(
                "the number of cluster buffers",
                clusters.len() as u64,
                Noc::MAX_LEVELS as u64,
            )?;
        }
        if clusters.is_empty() && self.byte_energy.cluster == MemoryEnergy::BySize {
            return Err(HardwareError::NoClusterSize { accelerator: self.name.clone() });
        }
        bounded("the DRAM bandwidth", self.memory.dram_bandwidth, 1 << 32)?;
        bounded("MACs of a PE and cycle", self.datapath.macs_per_pe_cycle.into(), 1 << 16)?;
        for width in self.datapath.widths.into_array() {
            bounded(
                "the number of bits of an operand",
                width.bits().into(),
                Width::MAX.bits().into(),
            )?;
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
