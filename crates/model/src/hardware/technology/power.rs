//! Peak power: every resource of an accelerator busy in every cycle (docs/explanation/area.md, section 5).

use super::laws::Port;
use crate::hardware::array::{Array, ArrayLevel};
use crate::hardware::{Accelerator, Width};

/// Power of an accelerator whose PEs, ports and memories are busy in every cycle, by component \[mW\]. No layer
/// reaches it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct PeakPower {
    /// Multiply-accumulates and registers.
    pub pes: f64,
    /// Scratchpads.
    pub scratchpads: f64,
    /// Buffers of clusters.
    pub clusters: f64,
    /// Shared memory.
    pub shared_memory: f64,
    /// On-chip network.
    pub network: f64,
    /// DRAM.
    pub dram: f64,
    /// Leakage and clock, as the energy table of the accelerator has them.
    pub constant: f64,
}

impl PeakPower {
    /// The peak power of `accelerator` by its energy table and its clock.
    pub fn compute(accelerator: &Accelerator) -> Self {
        let Accelerator { byte_energy: table, memory, noc, datapath, .. } = accelerator;
        let [input, weight, sum, _] = datapath.widths.into_array().map(Width::bytes_per_element);
        let macs = f64::from(accelerator.pes) * f64::from(datapath.macs_per_pe_cycle);
        let array = Array::from_accelerator(accelerator);
        let port = |(index, level): (usize, &ArrayLevel)| {
            let Port { down, up } = Port::from_level(accelerator, index, level);
            level.units as f64 * (down + up)
        };
        let ports = |levels: &[ArrayLevel]| -> f64 { levels.iter().enumerate().map(port).sum() };
        let through = |(index, level): (usize, &ArrayLevel)| match level.clusters {
            0 => 0.0,
            _ => port((index, level)) * table.cluster_pj(memory, index),
        };
        let through: f64 = array.levels().iter().enumerate().map(through).sum();
        let last = array.levels().len().saturating_sub(1);
        let into_pes = array.levels().get(last).map_or(0.0, |level| port((last, level)));
        let outermost = noc.level(0);
        let served = outermost.bandwidth as f64
            + outermost.weight_bandwidth.map_or(0.0, |it| it as f64)
            + outermost.up_bandwidth.unwrap_or(outermost.bandwidth) as f64;
        let dram = memory.dram_bandwidth as f64;
        // pJ per cycle times MHz are uW.
        let mw = |pj_per_cycle: f64| pj_per_cycle * accelerator.clock.as_mhz() * 1e-3;
        Self {
            pes: mw(macs
                * (table.mac_pj_of(&datapath.widths)
                    + (input + weight + 2.0 * sum) * table.register)),
            scratchpads: mw((macs * (input + weight) + into_pes) * table.scratchpad_pj(memory)),
            clusters: mw(2.0 * through),
            shared_memory: mw((served + dram) * table.shared_memory_pj(memory)),
            network: mw(ports(array.levels()) * table.noc),
            dram: mw(dram * table.dram),
            constant: mw(table.leakage + table.clock),
        }
    }

    /// Sum of the components \[mW\].
    pub fn total(&self) -> f64 {
        let on_chip = self.pes + self.scratchpads + self.clusters + self.shared_memory;
        on_chip + self.network + self.dram + self.constant
    }
}
