//! Energy: counts times a table (section 7).

use crate::hardware::sram_pj_per_byte;
use crate::model::PerOperand;

use super::{Evaluation, Machine};

/// Energy of operations \[pJ\] and of bytes moved \[pJ/byte\].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Energies {
    /// A MAC.
    pub mac: f64,
    /// A byte of a register.
    pub register: f64,
    /// A byte of a PE's scratchpad.
    pub scratchpad: f64,
    /// A byte of the buffer of a cluster; 0 if clusters have none.
    pub cluster: f64,
    /// A byte of the L2.
    pub shared: f64,
    /// A byte delivered or collected by a network.
    pub noc: f64,
    /// A byte that a neighbour forwards.
    pub forward: f64,
    /// A byte of DRAM.
    pub dram: f64,
    /// Leakage \[pJ/cycle\].
    pub leakage: f64,
}

impl Energies {
    /// 45 nm-class logic of 8 bits with an L2 of `shared_bytes`: MACs and SRAM from Horowitz, ISSCC
    /// 2014; scratchpads of 0.5 KiB and cluster buffers of 8 KiB by its law of SRAM sizes; networks
    /// from the relative costs of Eyeriss, ISCA 2016. Registers are a choice without source.
    pub fn with_shared_memory(shared_bytes: f64) -> Self {
        Self {
            mac: 0.3,
            register: 0.03,
            scratchpad: sram_pj_per_byte(512.0),
            cluster: sram_pj_per_byte(8.0 * 1024.0),
            shared: sram_pj_per_byte(shared_bytes),
            noc: 0.6,
            forward: 0.6,
            dram: 162.5,
            leakage: 0.0,
        }
    }
}

impl Default for Energies {
    /// [`Energies::with_shared_memory`] of 1 MiB.
    fn default() -> Self {
        Self::with_shared_memory(1024.0 * 1024.0)
    }
}

/// Energy of a layer by component \[pJ\] (7.1).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct EnergyPj {
    /// MACs.
    pub mac: f64,
    /// Registers of the PEs.
    pub register: f64,
    /// Scratchpads of the PEs.
    pub scratchpad: f64,
    /// Buffers of the clusters between PEs and L2.
    pub cluster: f64,
    /// L2.
    pub shared: f64,
    /// Networks of all levels.
    pub noc: f64,
    /// DRAM.
    pub dram: f64,
    /// Leakage over the latency of the layer.
    pub leakage: f64,
}

impl EnergyPj {
    /// Sum of the components.
    pub fn total(&self) -> f64 {
        let on_chip =
            self.mac + self.register + self.scratchpad + self.cluster + self.shared + self.noc;
        on_chip + self.dram + self.leakage
    }

    /// Energy of what `evaluation` counts (7.1).
    pub(super) fn of(evaluation: &Evaluation, machine: &Machine) -> Self {
        let (widths, table) = (&machine.widths, &machine.energies);
        let [input, weight, sum] = [widths.input, widths.weight, widths.partial_sum].map(f64::from);
        let operands =
            |counts: PerOperand<u64>| counts.input as f64 * input + counts.weight as f64 * weight;
        let sums = |count: u64| count as f64 * sum;
        let macs = evaluation.macs_executed as f64;
        let dram = evaluation.memory.dram.total_bytes() as f64;
        let levels = evaluation.levels();
        let first = &levels[0];
        let last = &levels[levels.len() - 1];
        let scratchpad = macs * (input + weight)
            + sums(evaluation.pe_outputs + evaluation.pe_accumulations)
            + operands(last.delivered)
            + operands(last.forwarded)
            + sums(last.left);
        let cluster = |pair: &[super::LevelCounts]| {
            operands(pair[0].delivered)
                + operands(pair[0].forwarded)
                + operands(pair[1].sent)
                + sums(pair[1].arrived + pair[1].accumulated + pair[0].left)
        };
        let noc = |level: &super::LevelCounts| {
            let forwarded = operands(level.forwarded);
            let moved = operands(level.delivered) - forwarded + sums(level.left);
            moved * table.noc + forwarded * table.forward
        };
        Self {
            mac: macs * table.mac,
            register: macs * (input + weight + 2.0 * sum) * table.register,
            scratchpad: scratchpad * table.scratchpad,
            cluster: levels.windows(2).map(cluster).sum::<f64>() * table.cluster,
            shared: (operands(first.sent) + sums(first.arrived + first.accumulated) + dram)
                * table.shared,
            noc: levels.iter().map(noc).sum(),
            dram: dram * table.dram,
            leakage: evaluation.cycles as f64 * table.leakage,
        }
    }
}
