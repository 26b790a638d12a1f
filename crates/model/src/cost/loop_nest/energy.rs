//! Energy: counts times a table (docs/explanation/cost-model-loop-nest.md, section 7).

use crate::hardware::{Width, sram_pj_per_byte, usual_cluster_pj, usual_scratchpad_pj};
use crate::model::PerOperand;

use super::{Evaluation, LevelCounts, Machine, Mapping};

/// Energy table: per operation \[pJ\] and per byte \[pJ/byte\].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Energies {
    /// Energy of a MAC \[pJ\].
    pub mac: f64,
    /// Energy per byte of a register.
    pub register: f64,
    /// Energy per byte of the scratchpad of a PE.
    pub scratchpad: f64,
    /// Energy per byte of the buffers of the units of every level that are clusters, outermost first; 0
    /// where they have none.
    pub cluster: [f64; Mapping::MAX_LEVELS],
    /// Energy per byte of the shared memory.
    pub shared: f64,
    /// Energy per byte that the NoC delivers or collects.
    pub noc: f64,
    /// Energy per byte that a neighbour forwards.
    pub forward: f64,
    /// Energy per byte of DRAM.
    pub dram: f64,
    /// Leakage \[pJ/cycle\].
    pub leakage: f64,
    /// Clock and control \[pJ/cycle\].
    pub clock: f64,
}

impl Energies {
    /// Table of 45 nm-class 8-bit logic with a shared memory of `shared_bytes`. MACs and SRAM are from
    /// Horowitz, ISSCC 2014. Scratchpads of 0.5 KiB and cluster buffers of 8 KiB follow from its law of
    /// SRAM sizes. The NoC is from the relative costs of Eyeriss, ISCA 2016. Registers are a choice
    /// without source.
    pub fn with_shared_memory(shared_bytes: f64) -> Self {
        Self {
            mac: 0.3,
            register: 0.03,
            scratchpad: usual_scratchpad_pj(),
            cluster: [usual_cluster_pj(); Mapping::MAX_LEVELS],
            shared: sram_pj_per_byte(shared_bytes),
            noc: 0.6,
            forward: 0.6,
            dram: 162.5,
            leakage: 0.0,
            clock: 0.0,
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
    /// MACs, or operations of operators without MACs.
    pub mac: f64,
    /// Registers of the PEs.
    pub register: f64,
    /// Scratchpads of the PEs.
    pub scratchpad: f64,
    /// Buffers of the clusters between PEs and shared memory.
    pub cluster: f64,
    /// Shared memory.
    pub shared: f64,
    /// All NoC levels.
    pub noc: f64,
    /// DRAM.
    pub dram: f64,
    /// Leakage over the latency of the layer.
    pub leakage: f64,
    /// Clock and control over the latency of the layer.
    pub clock: f64,
    /// Operators that ride along: their operations, and their other operands in shared memory (6.10).
    pub riders: f64,
}

impl EnergyPj {
    /// Sum of the components.
    pub fn total(&self) -> f64 {
        let on_chip =
            self.mac + self.register + self.scratchpad + self.cluster + self.shared + self.noc;
        on_chip + self.dram + self.leakage + self.clock + self.riders
    }

    /// Energy of the counts of `evaluation` (7.1).
    pub(super) fn compute(evaluation: &Evaluation, machine: &Machine) -> Self {
        let (widths, table) = (&machine.widths, &machine.energies);
        let [input, weight, sum, _] = widths.into_array().map(Width::bytes_per_element);
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
        let cluster = |pair: &[LevelCounts]| {
            operands(pair[0].delivered)
                + operands(pair[0].forwarded)
                + operands(pair[1].sent)
                + sums(pair[1].arrived + pair[1].accumulated + pair[0].left)
        };
        let noc = |level: &LevelCounts| {
            let forwarded = operands(level.forwarded);
            let moved = operands(level.delivered) - forwarded + sums(level.left);
            moved * table.noc + forwarded * table.forward
        };
        Self {
            mac: macs * table.mac,
            register: macs * (input + weight + 2.0 * sum) * table.register,
            scratchpad: scratchpad * table.scratchpad,
            cluster: of_clusters(levels.windows(2).map(cluster), &table.cluster),
            shared: (operands(first.sent) + sums(first.arrived + first.accumulated) + dram)
                * table.shared,
            noc: levels.iter().map(noc).sum(),
            dram: dram * table.dram,
            leakage: evaluation.cycles as f64 * table.leakage,
            clock: evaluation.cycles as f64 * table.clock,
            riders: machine.riders.map_or(0.0, |riders| riders.energy(table)),
        }
    }
}

/// Energy of the buffers of clusters, whose levels access them for `bytes`. Bytes of successive levels of
/// one energy are added first: a sum of products differs from the product of a sum in the last bit.
fn of_clusters(bytes: impl Iterator<Item = f64>, energies: &[f64; Mapping::MAX_LEVELS]) -> f64 {
    let (mut energy, mut pending, mut per_byte) = (0.0, 0.0, energies[0]);
    for (bytes, &of_level) in bytes.zip(energies) {
        if of_level != per_byte {
            energy += pending * per_byte;
            (pending, per_byte) = (0.0, of_level);
        }
        pending += bytes;
    }
    energy + pending * per_byte
}
