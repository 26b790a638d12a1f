//! Operators without MACs: roofline of vector lanes, shared memory and DRAM
//! (docs/cost-model-loop-nest.md, section 1.6).

use crate::hardware::Accelerator;
use crate::model::VectorShape;

use super::machine::Machine;
use super::{DramTraffic, EnergyPj, LayerBound};

/// Time, traffic and energy of an operator without MACs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct VectorCost {
    /// Cycles of the vector lanes.
    pub compute_cycles: u64,
    /// Cycles of the outermost NoC level.
    pub shared_cycles: u64,
    /// Cycles of DRAM.
    pub dram_cycles: u64,
    /// Latency: the largest of the three, which overlap.
    pub cycles: u64,
    /// Bytes read from shared memory and written to it.
    pub shared_bytes: u64,
    /// Traffic of DRAM; outputs count as written, inputs as read.
    pub dram: DramTraffic,
    /// Resource that takes longest; of equal ones the first of DRAM, NoC, lanes.
    pub bound: LayerBound,
    /// Energy by component. An operation counts as a MAC, and shared memory as in (7.1).
    pub energy: EnergyPj,
}

/// Evaluates an operator (1.3). DRAM supplies the share `from_dram` of the inputs, from 0 to 1, and
/// receives the outputs if `to_dram`.
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
    let shared_bytes = shape.op.passes() * inputs + outputs;
    let dram = DramTraffic {
        inputs_read: (inputs as f64 * from_dram).ceil() as u64,
        outputs_written: if to_dram { outputs } else { 0 },
        ..DramTraffic::default()
    };
    let moved = dram.total_bytes();
    let compute_cycles = shape.operations.div_ceil(lanes.into());
    let shared_cycles = machine.noc_level(0).down.cycles(shared_bytes);
    let dram_cycles = machine.dram_cycles(moved);
    let cycles = compute_cycles.max(shared_cycles).max(dram_cycles);
    let table = &machine.energies;
    VectorCost {
        compute_cycles,
        shared_cycles,
        dram_cycles,
        cycles,
        shared_bytes,
        dram,
        bound: bound(cycles, shared_cycles, dram_cycles),
        energy: EnergyPj {
            mac: shape.operations as f64 * table.mac,
            shared: (shared_bytes + moved) as f64 * table.shared,
            noc: shared_bytes as f64 * table.noc,
            dram: moved as f64 * table.dram,
            leakage: cycles as f64 * table.leakage,
            ..EnergyPj::default()
        },
    }
}

fn bound(cycles: u64, shared_cycles: u64, dram_cycles: u64) -> LayerBound {
    if dram_cycles == cycles {
        LayerBound::Dram
    } else if shared_cycles == cycles {
        LayerBound::Noc
    } else {
        LayerBound::Compute
    }
}
