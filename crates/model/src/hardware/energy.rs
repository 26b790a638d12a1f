//! Energy tables of the hardware.

use super::{Memory, Width, Widths};

/// Energy of one event, relative to a multiply-accumulate, as the published artifact counts it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EnergyTable {
    /// One multiply-accumulate \[nJ\].
    pub mac_nj: f64,
    /// One access to a scratchpad [multiple of a multiply-accumulate].
    pub scratchpad_per_mac: f64,
    /// One access to the shared memory [multiple of a multiply-accumulate].
    pub shared_memory_per_mac: f64,
    /// One access to DRAM [multiple of a multiply-accumulate].
    pub dram_per_mac: f64,
}

impl EnergyTable {
    /// Energies that the published artifact fixes in its source code.
    pub const ARTIFACT: Self = Self {
        mac_nj: 0.00288,
        scratchpad_per_mac: 0.55,
        shared_memory_per_mac: 6.0,
        dram_per_mac: 75.0,
    };

    /// Least multiply-accumulate of a table that follows from other energies \[nJ\]: the others are multiples of it.
    const LEAST_MAC_NJ: f64 = 1e-12;

    /// The energies of `energy`, of an accelerator with these `widths` and this `memory`. An access is one of an input.
    pub fn from_byte_energy(energy: &ByteEnergy, widths: &Widths, memory: &Memory) -> Self {
        let word = widths.input.bytes_per_element();
        Self::from_picojoules([
            energy.mac_pj_of(widths),
            word * energy.scratchpad_pj(memory),
            word * energy.shared_memory_pj(memory),
            word * energy.dram,
        ])
    }

    /// A multiply-accumulate and an access to scratchpad, shared memory and DRAM \[pJ\].
    pub(super) fn picojoules(&self) -> [f64; 4] {
        let Self { mac_nj, scratchpad_per_mac, shared_memory_per_mac, dram_per_mac } = *self;
        [1.0, scratchpad_per_mac, shared_memory_per_mac, dram_per_mac]
            .map(|multiple| neat(multiple * mac_nj * 1e3))
    }

    /// The table of these [`Self::picojoules`].
    pub(super) fn from_picojoules([mac, scratchpad, shared_memory, dram]: [f64; 4]) -> Self {
        let mac_nj = neat(mac * 1e-3).max(Self::LEAST_MAC_NJ);
        let [scratchpad_per_mac, shared_memory_per_mac, dram_per_mac] =
            [scratchpad, shared_memory, dram].map(|pj| neat(pj * 1e-3 / mac_nj));
        Self { mac_nj, scratchpad_per_mac, shared_memory_per_mac, dram_per_mac }
    }
}

/// `value` without what rounding added behind its 13th digit.
fn neat(value: f64) -> f64 {
    format!("{value:.12e}").parse().unwrap_or(value)
}

/// Energy of a byte of an on-chip memory.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum MemoryEnergy {
    /// That of a usual size, whatever the size is: 0.5 KiB for a scratchpad, 8 KiB for the buffer of a
    /// cluster. Of the shared memory, that of its size.
    #[default]
    Usual,
    /// That of its size, by the law of SRAM sizes (docs/explanation/cost-model-loop-nest.md, section 7).
    BySize,
    /// This energy [pJ/byte].
    PerByte(f64),
    /// A multiple of one of the first two.
    Scaled {
        /// Whether it is a multiple of that of its size.
        by_size: bool,
        /// The multiple.
        factor: f64,
    },
}

impl MemoryEnergy {
    /// Energy of a byte [pJ/byte] of a memory of `bytes`, where a usual one has `usual` bytes.
    pub(super) fn of(self, bytes: f64, usual: f64) -> f64 {
        match self {
            Self::Usual => sram_pj_per_byte(usual),
            Self::BySize => sram_pj_per_byte(bytes),
            Self::PerByte(energy) => energy,
            Self::Scaled { by_size: false, factor } => factor * sram_pj_per_byte(usual),
            Self::Scaled { by_size: true, factor } => factor * sram_pj_per_byte(bytes),
        }
    }

    /// A multiple of this energy.
    pub(super) fn times(self, multiple: f64) -> Self {
        match self {
            Self::Usual => Self::Scaled { by_size: false, factor: multiple },
            Self::BySize => Self::Scaled { by_size: true, factor: multiple },
            Self::PerByte(energy) => Self::PerByte(energy * multiple),
            Self::Scaled { by_size, factor } => Self::Scaled { by_size, factor: factor * multiple },
        }
    }
}

/// Energy of a multiply-accumulate \[pJ\] and of a byte that is moved [pJ/byte]. Fields that are `None`
/// follow from the widths of operands and the sizes of memories.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ByteEnergy {
    /// A multiply-accumulate; by default [`ByteEnergy::mac_pj`] of the widths.
    pub mac: Option<f64>,
    /// A byte of a register. The default is a choice without a source.
    pub register: f64,
    /// A byte of the scratchpad of a PE.
    pub scratchpad: MemoryEnergy,
    /// A byte of the buffer of a cluster, 0 if clusters have none.
    pub cluster: MemoryEnergy,
    /// A byte of the shared memory.
    pub shared_memory: MemoryEnergy,
    /// A byte that the on-chip network delivers or collects: twice an 8-bit multiply-accumulate, as in
    /// the relative costs of Eyeriss (ISCA 2016).
    pub noc: f64,
    /// A byte that a neighbour forwards.
    pub forward: f64,
    /// A byte of DRAM: 1.3 nJ for 64 bits, the lower end of Horowitz, ISSCC 2014.
    pub dram: f64,
    /// Leakage [pJ/cycle].
    pub leakage: f64,
    /// Clock and control while the accelerator computes [pJ/cycle].
    pub clock: f64,
    /// Everything that the accelerator uses while it idles [pJ/cycle]. Runs report it; it is no part of the
    /// energy of a layer.
    pub idle: f64,
}

impl Default for ByteEnergy {
    /// 45 nm-class logic.
    fn default() -> Self {
        Self {
            mac: None,
            register: 0.03,
            scratchpad: MemoryEnergy::Usual,
            cluster: MemoryEnergy::Usual,
            shared_memory: MemoryEnergy::Usual,
            noc: 0.6,
            forward: 0.6,
            dram: 162.5,
            leakage: 0.0,
            clock: 0.0,
            idle: 0.0,
        }
    }
}

/// Size of a scratchpad unless its energy follows from its own \[byte\].
const USUAL_SCRATCHPAD_BYTES: f64 = 512.0;
/// Size of the buffer of a cluster unless its energy follows from its own \[byte\].
const USUAL_CLUSTER_BYTES: f64 = 8.0 * 1024.0;

/// Energy of a byte of a usual scratchpad [pJ/byte].
pub fn usual_scratchpad_pj() -> f64 {
    sram_pj_per_byte(USUAL_SCRATCHPAD_BYTES)
}

/// Energy of a byte of a usual buffer of a cluster [pJ/byte].
pub fn usual_cluster_pj() -> f64 {
    sram_pj_per_byte(USUAL_CLUSTER_BYTES)
}

/// Energies of a byte that an [`EnergyTable`] does not have, in multiples of a multiply-accumulate: a choice, with the
/// ratios of the platform `headset` (7 nm, hw_configs/headset.yaml).
const REGISTER_PER_MAC: f64 = 0.1;
const NOC_PER_MAC: f64 = 2.0;
const CLUSTER_PER_MAC: f64 = 9.4;

impl ByteEnergy {
    /// The energies of `table`, of an accelerator with these `widths`. An access of the table is one of an input.
    /// What it does not have are multiples of a multiply-accumulate: 0.1 for a byte of a register, 2 for one that the
    /// network moves or a neighbour forwards, 9.4 for one of the buffer of a cluster, which is between those of
    /// scratchpad and shared memory.
    pub fn from_table(table: &EnergyTable, widths: &Widths) -> Self {
        let word = widths.input.bytes_per_element();
        let [mac, memories @ ..] = table.picojoules();
        let [scratchpad, shared_memory, dram] = memories.map(|pj| neat(pj / word));
        let (low, high) = (scratchpad.min(shared_memory), scratchpad.max(shared_memory));
        Self {
            mac: Some(mac),
            register: neat(REGISTER_PER_MAC * mac),
            scratchpad: MemoryEnergy::PerByte(scratchpad),
            cluster: MemoryEnergy::PerByte(neat(CLUSTER_PER_MAC * mac).clamp(low, high)),
            shared_memory: MemoryEnergy::PerByte(shared_memory),
            noc: neat(NOC_PER_MAC * mac),
            forward: neat(NOC_PER_MAC * mac),
            dram,
            ..Self::default()
        }
    }

    /// Energy of a multiply-accumulate of operands of these widths \[pJ\].
    pub(crate) fn mac_pj_of(&self, widths: &Widths) -> f64 {
        self.mac.unwrap_or_else(|| Self::mac_pj(widths))
    }

    /// Energy of a byte of the scratchpad of a PE [pJ/byte].
    pub fn scratchpad_pj(&self, memory: &Memory) -> f64 {
        self.scratchpad.of(memory.scratchpad.get() as f64, USUAL_SCRATCHPAD_BYTES)
    }

    /// Energy of a byte of the buffer of a unit of NoC level `level` that is a cluster [pJ/byte].
    pub fn cluster_pj(&self, memory: &Memory, level: usize) -> f64 {
        let size = memory.cluster(level).map_or(USUAL_CLUSTER_BYTES, |size| size.get() as f64);
        self.cluster.of(size, USUAL_CLUSTER_BYTES)
    }

    /// Energy of a byte of the shared memory [pJ/byte].
    pub fn shared_memory_pj(&self, memory: &Memory) -> f64 {
        let size = memory.shared.get() as f64;
        self.shared_memory.of(size, size)
    }

    /// Energy of a multiply-accumulate \[pJ\] of operands of these widths. An 8-bit
    /// multiplication takes 0.2 pJ and grows with the product of the widths (32 bits: 3.2, measured 3.1).
    /// A 32-bit addition takes 0.1 pJ and grows with the width (Horowitz, ISSCC 2014).
    pub fn mac_pj(widths: &Widths) -> f64 {
        let [input, weight, partial_sum, _] = widths.into_array().map(Width::bytes_per_element);
        0.2 * input * weight + 0.1 * partial_sum / 4.0
    }
}

/// Energy per byte of an SRAM \[pJ/byte\]: 1.25 at 8 KiB, 2.5 at 32 KiB and 12.5 at 1 MiB (Horowitz,
/// ISSCC 2014: 10, 20 and 100 pJ per 64 bits), by a power law between and beyond these sizes, at least
/// 0.06. `bytes` is the size of the memory.
pub fn sram_pj_per_byte(bytes: f64) -> f64 {
    let ratio = bytes / (32.0 * 1024.0);
    let exponent = if ratio < 1.0 { 0.5 } else { 5f64.ln() / 32f64.ln() };
    (2.5 * ratio.powf(exponent)).max(0.06)
}
