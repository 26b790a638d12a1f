//! The machine model: PEs, NoC levels, shared memory and DRAM (docs/explanation/cost-model-loop-nest.md,
//! section 2).

use std::num::NonZeroU64;

use crate::hardware::{self, Accelerator, Compression, Fill, Widths};
use crate::model::{Bits, Operator, PerTensor, TensorRole};

use super::energy::Energies;
use super::riders::Riders;

/// Bandwidth of a NoC level or memory: a whole number of bytes per cycle, or infinite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Bandwidth(Option<NonZeroU64>);

impl Bandwidth {
    /// Infinite bandwidth.
    pub const INFINITE: Self = Self(None);

    /// Largest finite bandwidth [byte/cycle].
    const MAX: u64 = u64::MAX >> 3;

    /// A finite bandwidth [byte/cycle], at most 2^61 - 1; `None` for 0.
    pub fn new(bytes_per_cycle: u64) -> Option<Self> {
        NonZeroU64::new(bytes_per_cycle.min(Self::MAX)).map(|bytes| Self(Some(bytes)))
    }

    /// Bytes in a cycle.
    pub(crate) fn bytes_per_cycle(self) -> f64 {
        self.0.map_or(f64::INFINITY, |bandwidth| bandwidth.get() as f64)
    }

    /// Cycles of a transfer of `bytes`, rounded up.
    pub fn cycles(self, bytes: u64) -> u64 {
        self.0.map_or(0, |bandwidth| bytes.div_ceil(bandwidth.get()))
    }

    /// Cycles of a transfer of `bits`, rounded up. Those of ⌈bits / 8⌉ bytes are as many.
    pub fn cycles_of_bits(self, bits: u64) -> u64 {
        self.0.map_or(0, |bandwidth| bits.div_ceil(bandwidth.get() << 3))
    }
}

/// One level of the NoC, which connects the units of a cluster to the buffer above. It is the form of
/// [`hardware::NocLevel`] that the model computes with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NocLevel {
    /// Bandwidth of inputs and weights, toward the PEs: `bw_in`.
    pub down: Bandwidth,
    /// Bandwidth of partial sums, toward the shared memory: `bw_out`.
    pub up: Bandwidth,
    /// Bandwidth of a separate network for weights, `bw_w`; `None` if they share `down` with inputs (no
    /// split).
    pub weights: Option<Bandwidth>,
    /// Whether units hold a single copy of their weights, so that loading weights is exposed:
    /// `single_w` (4.9).
    pub single_weights: bool,
    /// Cycles that nothing hides at the begin of every fold, `fill` (4.12).
    pub fill: Fill,
    /// Latency, `lat` \[cycle\].
    pub latency: u32,
    /// Whether every step pays the latency, `step_lat`; otherwise only the first fill and flushes do
    /// (4.8).
    pub step_latency: bool,
    /// Whether one send serves every unit of the cluster that needs the element in this step.
    pub multicast: bool,
    /// Whether an element that any unit of the cluster held in the previous step comes from there.
    pub forward: bool,
    /// Whether partial sums of one output that are sent up in one step are added on the way.
    pub reduce: bool,
}

impl NocLevel {
    /// Infinite bandwidth, no latency, no fill, multicast and reduction, no forwarding.
    pub const IDEAL: Self = Self {
        down: Bandwidth::INFINITE,
        up: Bandwidth::INFINITE,
        weights: None,
        single_weights: false,
        fill: Fill::Cycles(0),
        latency: 0,
        step_latency: false,
        multicast: true,
        forward: false,
        reduce: true,
    };
}

impl NocLevel {
    /// Cycles that the level is busy with sending `inputs` and `weights` \[bit\] to the units at once, without
    /// latency.
    pub fn down_cycles(&self, inputs: u64, weights: u64) -> u64 {
        match self.weights {
            Some(own) => self.down.cycles_of_bits(inputs).max(own.cycles_of_bits(weights)),
            None => self.down.cycles_of_bits(inputs.saturating_add(weights)),
        }
    }

    /// The model of one level of the NoC of an accelerator.
    fn from_hardware(level: &hardware::NocLevel) -> Self {
        let down = Bandwidth::new(level.bandwidth).unwrap_or(Bandwidth::INFINITE);
        Self {
            down,
            up: level.up_bandwidth.and_then(Bandwidth::new).unwrap_or(down),
            weights: level.weight_bandwidth.and_then(Bandwidth::new),
            single_weights: level.single_weights,
            fill: level.fill,
            latency: u32::try_from(level.latency).unwrap_or(u32::MAX),
            step_latency: level.step_latency,
            multicast: level.multicast,
            forward: level.forward,
            reduce: level.reduce,
        }
    }
}

/// The machine model: an accelerator as this cost model computes with it, with one buffer per unit and
/// level. [`Machine::from_accelerator`] derives it from an [`Accelerator`].
#[derive(Debug, Clone, PartialEq)]
pub struct Machine {
    /// Number of PEs, at least 1.
    pub pes: u32,
    /// Upper limit of the units of level 0, for arrays of fixed shape.
    pub units_limit: Option<u32>,
    /// MACs per PE and cycle; 0 counts as 1.
    pub rate: u32,
    /// NoC levels, outermost first. The last one stands for all deeper levels; an empty list stands for
    /// [`NocLevel::IDEAL`] on every level.
    pub noc_levels: Vec<NocLevel>,
    /// Widths of elements.
    pub widths: Widths,
    /// Compression of inputs, weights and outputs in DRAM (6.3).
    pub compression: PerTensor<Compression>,
    /// Capacity of the shared memory \[byte\]; `None` is infinite.
    pub shared_bytes: Option<u64>,
    /// Copies of a changing tile that the shared memory holds; 2 is double buffering.
    pub shared_copies: PerTensor<u32>,
    /// Whether a tensor stays in shared memory: it occupies it as a whole, and DRAM never sees it.
    pub resident: PerTensor<bool>,
    /// Operators that ride along with the layer; `None` if there are none.
    pub riders: Option<Riders>,
    /// Operations in a cycle on outputs that leave; `None`: as many as outputs leave in a cycle.
    pub post_ops_per_cycle: Option<u32>,
    /// Bandwidth of DRAM.
    pub dram_bandwidth: Bandwidth,
    /// Latency of DRAM \[cycle\].
    pub dram_latency: u32,
    /// Whether mappings may compute outputs repeatedly (section 3.8).
    pub allow_overlap: bool,
    /// Energy table.
    pub energies: Energies,
}

impl Machine {
    /// A machine of `pes` PEs with the defaults of section 2: elements of one byte, ideal NoC levels,
    /// infinite shared memory with double buffering, infinite DRAM bandwidth.
    pub fn new(pes: u32) -> Self {
        Self {
            pes,
            units_limit: None,
            rate: 1,
            noc_levels: Vec::new(),
            widths: Widths::of_bytes([1; 4]),
            compression: PerTensor::default(),
            shared_bytes: None,
            shared_copies: PerTensor::splat(2),
            resident: PerTensor::splat(false),
            riders: None,
            post_ops_per_cycle: None,
            dram_bandwidth: Bandwidth::INFINITE,
            dram_latency: 0,
            allow_overlap: false,
            energies: Energies::default(),
        }
    }

    /// The machine model of an accelerator, with no tensor resident.
    pub fn from_accelerator(accelerator: &Accelerator) -> Self {
        let Accelerator { datapath, memory, noc, .. } = accelerator;
        let dram = Bandwidth::new(memory.dram_bandwidth);
        Self {
            pes: accelerator.pes,
            units_limit: datapath.units_limit,
            rate: datapath.macs_per_pe_cycle,
            noc_levels: noc.levels().iter().map(NocLevel::from_hardware).collect(),
            widths: datapath.widths,
            compression: memory.compression,
            shared_bytes: Some(memory.shared.get()),
            shared_copies: memory.shared_copies,
            resident: PerTensor::splat(false),
            riders: None,
            post_ops_per_cycle: accelerator.write_back.post_ops_per_cycle,
            dram_bandwidth: dram.unwrap_or(Bandwidth::INFINITE),
            dram_latency: u32::try_from(memory.dram_latency).unwrap_or(u32::MAX),
            allow_overlap: false,
            energies: Energies::from_accelerator(accelerator),
        }
    }

    /// The machine as an operator finds it whose data have these `bits` (2.1).
    #[must_use]
    pub(crate) fn with_bits(&self, bits: Bits, operator: &Operator) -> Self {
        Self { widths: self.widths.with_bits(bits, operator), ..self.clone() }
    }

    /// Bytes in DRAM of `elements` of a tensor that move together, outputs at their final width (6.3).
    pub fn dram_bytes(&self, tensor: TensorRole, elements: u64) -> u64 {
        let Widths { input, weight, output, .. } = self.widths;
        let width = PerTensor { input, weight, output }[tensor];
        self.compression[tensor].of(width.bytes(elements))
    }

    /// Bytes in DRAM of the complete outputs of a loop nest with `elements` of them, or of its group (6.10). Resident
    /// outputs do not move.
    pub fn output_dram_bytes(&self, elements: u64) -> u64 {
        match self.riders {
            Some(riders) => riders.dram_bytes(),
            None if self.resident.output => 0,
            None => self.dram_bytes(TensorRole::Output, elements),
        }
    }

    /// Cycles of so many operations on outputs that leave (6.10).
    pub(super) fn post_cycles(&self, operations: u64) -> u64 {
        let per_cycle = self.post_ops_per_cycle.map(u64::from).or_else(|| {
            let bytes = self.noc_level(0).up.0?.get();
            Some(bytes.saturating_mul(8) / u64::from(self.widths.partial_sum.bits()))
        });
        per_cycle.map_or(0, |per_cycle| operations.div_ceil(per_cycle.max(1)))
    }

    /// Cycles of DRAM for a traffic of `bytes` (6.5).
    pub fn dram_cycles(&self, bytes: u64) -> u64 {
        match bytes {
            0 => 0,
            bytes => u64::from(self.dram_latency) + self.dram_bandwidth.cycles(bytes),
        }
    }

    /// The NoC level of a level of the mapping, counted from 0, outermost first.
    pub fn noc_level(&self, level: usize) -> &NocLevel {
        self.noc_levels.get(level).or(self.noc_levels.last()).unwrap_or(&NocLevel::IDEAL)
    }
}

impl Energies {
    /// The energy table of an accelerator. Entries that its file leaves out follow from the widths of
    /// operands and the sizes of memories.
    pub fn from_accelerator(accelerator: &Accelerator) -> Self {
        let (table, memory) = (&accelerator.byte_energy, &accelerator.memory);
        Self {
            mac: table.mac_pj_of(&accelerator.datapath.widths),
            register: table.register,
            scratchpad: table.scratchpad_pj(memory),
            cluster: std::array::from_fn(|level| table.cluster_pj(memory, level)),
            shared: table.shared_memory_pj(memory),
            noc: table.noc,
            forward: table.forward,
            dram: table.dram,
            leakage: table.leakage,
            clock: table.clock,
        }
    }
}
