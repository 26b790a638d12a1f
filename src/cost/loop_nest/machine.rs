//! The machine: PEs, networks, L2 and DRAM (section 2).

use std::num::NonZeroU64;

use crate::hardware::{self, Accelerator, ByteEnergy, Widths};
use crate::model::PerTensor;

use super::energy::Energies;

/// Bandwidth of a network or memory: whole bytes per cycle, or without limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Bandwidth(Option<NonZeroU64>);

impl Bandwidth {
    /// No limit.
    pub const INFINITE: Self = Self(None);

    /// So many bytes per cycle; `None` if that is 0.
    pub fn new(bytes_per_cycle: u64) -> Option<Self> {
        NonZeroU64::new(bytes_per_cycle).map(|bytes| Self(Some(bytes)))
    }

    /// Cycles that `bytes` take, rounded up.
    pub fn cycles(self, bytes: u64) -> u64 {
        self.0.map_or(0, |bandwidth| bytes.div_ceil(bandwidth.get()))
    }
}

/// The network that feeds the units of one level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NocLevel {
    /// Bandwidth of inputs and weights, downward.
    pub down: Bandwidth,
    /// Bandwidth of partial sums, upward.
    pub up: Bandwidth,
    /// Bandwidth of the weights' own network, if they have one; inputs then have `down` alone.
    pub weights: Option<Bandwidth>,
    /// Whether units hold one copy of their weights, so that loading them is exposed (4.9).
    pub single_weights: bool,
    /// Latency \[cycle\].
    pub latency: u32,
    /// Whether every step pays the latency rather than the first one and the last drain.
    pub step_latency: bool,
    /// Whether one send serves every unit of the cluster that wants the element in this step.
    pub multicast: bool,
    /// Whether elements that a unit of the cluster held in the step before come from there.
    pub forward: bool,
    /// Whether partial sums of one output element that are sent up in one step are added on the way.
    pub reduce: bool,
}

impl NocLevel {
    /// Without limits: infinite bandwidth, no latency, multicast and reduction, no forwarding.
    pub const IDEAL: Self = Self {
        down: Bandwidth::INFINITE,
        up: Bandwidth::INFINITE,
        weights: None,
        single_weights: false,
        latency: 0,
        step_latency: false,
        multicast: true,
        forward: false,
        reduce: true,
    };
}

impl NocLevel {
    /// The network of one level of an accelerator.
    fn of(level: &hardware::NocLevel) -> Self {
        let down = Bandwidth::new(level.bandwidth).unwrap_or(Bandwidth::INFINITE);
        Self {
            down,
            up: level.up_bandwidth.and_then(Bandwidth::new).unwrap_or(down),
            weights: level.weight_bandwidth.and_then(Bandwidth::new),
            single_weights: level.single_weights,
            latency: u32::try_from(level.latency).unwrap_or(u32::MAX),
            step_latency: level.step_latency,
            multicast: level.multicast,
            forward: level.forward,
            reduce: level.reduce,
        }
    }
}

/// A machine with one buffer per unit and level.
#[derive(Debug, Clone, PartialEq)]
pub struct Machine {
    /// Number of PEs, at least 1.
    pub pes: u32,
    /// Upper limit of the units of level 0, if the array has a fixed shape.
    pub units_limit: Option<u32>,
    /// MACs per PE and cycle, at least 1; 0 counts as 1.
    pub rate: u32,
    /// Networks, outermost first; the last one stands for all levels below it, and
    /// [`NocLevel::IDEAL`] for an empty list.
    pub noc_levels: Vec<NocLevel>,
    /// Sizes of elements.
    pub widths: Widths,
    /// Capacity of the L2 \[byte\]; `None` is infinite.
    pub shared_bytes: Option<u64>,
    /// Copies that the L2 holds of a tile that changes: of inputs, weights and outputs.
    pub shared_copies: PerTensor<u32>,
    /// Whether inputs, weights and outputs live in the L2, so that they take it up whole and DRAM
    /// never sees them.
    pub resident: PerTensor<bool>,
    /// Bandwidth of DRAM.
    pub dram_bandwidth: Bandwidth,
    /// Latency of DRAM \[cycle\].
    pub dram_latency: u32,
    /// Whether mappings may compute outputs more than once.
    pub allow_overlap: bool,
    /// Energy per operation and byte.
    pub energies: Energies,
}

impl Machine {
    /// A machine of `pes` PEs with the defaults of section 2: elements of one byte, ideal networks,
    /// infinite L2 and DRAM bandwidth, double buffering in the L2.
    pub fn new(pes: u32) -> Self {
        Self {
            pes,
            units_limit: None,
            rate: 1,
            noc_levels: Vec::new(),
            widths: Widths { input: 1, weight: 1, partial_sum: 1, output: 1 },
            shared_bytes: None,
            shared_copies: PerTensor::splat(2),
            resident: PerTensor::splat(false),
            dram_bandwidth: Bandwidth::INFINITE,
            dram_latency: 0,
            allow_overlap: false,
            energies: Energies::default(),
        }
    }

    /// The machine that an accelerator is, with nothing resident in its L2.
    pub fn of(accelerator: &Accelerator) -> Self {
        let Accelerator { datapath, memory, noc, .. } = accelerator;
        let dram = Bandwidth::new(memory.dram_bandwidth);
        Self {
            pes: accelerator.pes,
            units_limit: datapath.units_limit,
            rate: datapath.macs_per_pe_cycle,
            noc_levels: noc.levels().iter().map(NocLevel::of).collect(),
            widths: datapath.widths,
            shared_bytes: Some(memory.shared.get()),
            shared_copies: memory.shared_copies,
            resident: PerTensor::splat(false),
            dram_bandwidth: dram.unwrap_or(Bandwidth::INFINITE),
            dram_latency: u32::try_from(memory.dram_latency).unwrap_or(u32::MAX),
            allow_overlap: false,
            energies: Energies::of(accelerator),
        }
    }

    /// Cycles that DRAM takes for so many bytes (6.5).
    pub fn dram_cycles(&self, bytes: u64) -> u64 {
        match bytes {
            0 => 0,
            bytes => u64::from(self.dram_latency) + self.dram_bandwidth.cycles(bytes),
        }
    }

    /// The network of a level, counted from the outermost.
    pub fn noc_level(&self, level: usize) -> &NocLevel {
        self.noc_levels.get(level).or(self.noc_levels.last()).unwrap_or(&NocLevel::IDEAL)
    }
}

impl Energies {
    /// The table of an accelerator; what its file leaves open follows from the widths of operands
    /// and the sizes of memories.
    pub fn of(accelerator: &Accelerator) -> Self {
        let (table, widths) = (&accelerator.byte_energy, &accelerator.datapath.widths);
        let default = Self::with_shared_memory(accelerator.memory.shared.get() as f64);
        let mac = || ByteEnergy::mac_pj(widths.input, widths.weight, widths.partial_sum);
        Self {
            mac: table.mac.unwrap_or_else(mac),
            register: table.register,
            scratchpad: table.scratchpad.unwrap_or(default.scratchpad),
            cluster: table.cluster.unwrap_or(default.cluster),
            shared: table.shared_memory.unwrap_or(default.shared),
            noc: table.noc,
            forward: table.forward,
            dram: table.dram,
            leakage: table.leakage,
        }
    }
}
