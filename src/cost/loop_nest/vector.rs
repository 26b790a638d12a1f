//! Operators without multiply-accumulates, by bandwidth (1.6).

use crate::hardware::Accelerator;
use crate::model::VectorShape;

use super::machine::Machine;
use super::{Bound, EnergyPj};

/// What such an operator takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VectorCost {
    /// Cycles of the vector lanes.
    pub compute_cycles: u64,
    /// Cycles of the L2.
    pub l2_cycles: u64,
    /// Cycles of DRAM.
    pub dram_cycles: u64,
    /// The most of them: they overlap.
    pub cycles: u64,
    /// Bytes read from the L2 and written to it.
    pub l2_bytes: u64,
    /// Bytes read from DRAM and written to it.
    pub dram_bytes: [u64; 2],
    /// What takes most; of equal ones the first of DRAM, L2, lanes.
    pub bound: Bound,
    /// Energy by component: an operation counts as a multiply-accumulate, the L2 as in (7.1).
    pub energy: EnergyPj,
}

/// Evaluates an operator of which DRAM brings a share of the inputs (`from_dram` of 0 to 1) and takes
/// the outputs if `to_dram` (1.3).
pub(super) fn evaluate(
    shape: &VectorShape,
    accelerator: &Accelerator,
    machine: &Machine,
    from_dram: f64,
    to_dram: bool,
) -> VectorCost {
    let widths = &machine.widths;
    let lanes = accelerator.datapath.vector_lanes.unwrap_or(accelerator.pes).max(1);
    let inputs = shape.inputs * u64::from(widths.input);
    let outputs = shape.outputs * u64::from(widths.output);
    let l2_bytes = shape.op.passes() * inputs + outputs;
    let written = if to_dram { outputs } else { 0 };
    let dram_bytes = [(inputs as f64 * from_dram).ceil() as u64, written];
    let moved = dram_bytes[0] + dram_bytes[1];
    let compute_cycles = shape.operations.div_ceil(lanes.into());
    let l2_cycles = machine.network(0).down.cycles(l2_bytes);
    let dram_cycles = machine.dram_cycles(moved);
    let cycles = compute_cycles.max(l2_cycles).max(dram_cycles);
    let table = &machine.energies;
    VectorCost {
        compute_cycles,
        l2_cycles,
        dram_cycles,
        cycles,
        l2_bytes,
        dram_bytes,
        bound: bound(cycles, l2_cycles, dram_cycles),
        energy: EnergyPj {
            mac: shape.operations as f64 * table.mac,
            l2: (l2_bytes + moved) as f64 * table.l2,
            network: l2_bytes as f64 * table.network,
            dram: moved as f64 * table.dram,
            leakage: cycles as f64 * table.leakage,
            ..EnergyPj::default()
        },
    }
}

fn bound(cycles: u64, l2_cycles: u64, dram_cycles: u64) -> Bound {
    if dram_cycles == cycles {
        Bound::Dram
    } else if l2_cycles == cycles {
        Bound::Network
    } else {
        Bound::Compute
    }
}
