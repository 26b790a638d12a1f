//! Energies of accelerators.

use xrsim_model::hardware::{ByteEnergy, EnergyTable, MemoryEnergy};
use xrsim_model::renamed::Renamed;

use super::super::yaml::Node;
use super::super::yaml::keys::keys;
use super::super::yaml::read::Problems;
use super::super::yaml::values::{Reader, number, number_or};

/// Old keys of `energy`.
const OLD_ENERGY: [Renamed; 2] = [
    Renamed::key("l1_per_mac", "scratchpad_per_mac"),
    Renamed::key("l2_per_mac", "shared_memory_per_mac"),
];
/// Old keys of `energy_pj`.
const OLD_BYTE_ENERGY: [Renamed; 3] = [
    Renamed::key("l1_per_byte", "scratchpad_per_byte"),
    Renamed::key("l2_per_byte", "shared_memory_per_byte"),
    Renamed::key("network_per_byte", "noc_per_byte"),
];

keys! {
    /// Energies as the cost model `maestro` needs them. `loop-nest` takes those of `energy_pj`.
    pub(super) fn energy() -> EnergyTable: "an energy table", OLD_ENERGY {
        /// Energy of a multiply-accumulate \[nJ\].
        mac_nj = required(number(0.0..=1e6));
        /// Energy of an access to a scratchpad, in multiples of `mac_nj`.
        scratchpad_per_mac = required(number(0.0..=1e6));
        /// Energy of an access to the shared memory, in multiples of `mac_nj`.
        shared_memory_per_mac = required(number(0.0..=1e6));
        /// Energy of an access to DRAM, in multiples of `mac_nj`.
        dram_per_mac = required(number(0.0..=1e6));
    }
}

/// Energy of a byte of a memory \[pJ\], or `by-size`.
fn memory_energy() -> impl Reader<Value = MemoryEnergy> {
    let energy = |energy: Option<f64>, _: &Node<'_>, _: &mut Problems| {
        Some(energy.map_or(MemoryEnergy::BySize, MemoryEnergy::PerByte))
    };
    number_or("by-size", 0.0..=1e9).then(energy)
}

/// An energy \[pJ\].
fn pj() -> impl Reader<Value = f64> {
    number(0.0..=1e9)
}

keys! {
    /// Energies as the cost model `loop-nest` needs them.
    pub(super) fn byte_energy() -> ByteEnergy: "an energy table in pJ", OLD_BYTE_ENERGY {
        /// Energy of a byte of a scratchpad [pJ/byte]. `by-size`: by the size of the memory. Without it, that of 0.5 KiB.
        scratchpad as "scratchpad_per_byte" = or_default(memory_energy());
        /// Energy of a byte of the buffer of a cluster [pJ/byte]. `by-size`: by the size of the memory. Without it, that
        /// of 8 KiB.
        cluster as "cluster_per_byte" = or_default(memory_energy());
        /// Energy of a byte of the shared memory [pJ/byte]. `by-size`: by the size of the memory. Without it, `by-size`.
        shared_memory as "shared_memory_per_byte" = or_default(memory_energy());
        /// Energy of a multiply-accumulate \[pJ\]. Without it, by the widths of operands: 0.3 for 8 bits.
        mac = optional(pj());
        /// Energy of a byte of a register [pJ/byte].
        register as "register_per_byte" = or(ByteEnergy::default().register, pj());
        /// Energy of a byte on the NoC [pJ/byte].
        noc as "noc_per_byte" = or(ByteEnergy::default().noc, pj());
        /// Energy of a byte from one unit to its neighbour [pJ/byte].
        forward as "forward_per_byte" = or(ByteEnergy::default().forward, pj());
        /// Energy of a byte of DRAM [pJ/byte].
        dram as "dram_per_byte" = or(ByteEnergy::default().dram, pj());
        /// Leakage of a computing accelerator [pJ/cycle].
        leakage as "leakage_per_cycle" = or(ByteEnergy::default().leakage, pj());
        /// Energy of clock and control of a computing accelerator [pJ/cycle].
        clock as "clock_per_cycle" = or(ByteEnergy::default().clock, pj());
        /// Energy of an idle accelerator [pJ/cycle]. Runs report the sum, and no score counts it.
        idle as "idle_per_cycle" = or(ByteEnergy::default().idle, pj());
    }
}
