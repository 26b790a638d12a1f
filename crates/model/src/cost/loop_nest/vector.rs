//! Operators without MACs: roofline of vector lanes, shared memory and DRAM
//! (docs/explanation/cost-model-loop-nest.md, section 1.6).

use crate::hardware::Accelerator;
use crate::model::{Operator, PerTensor, TensorRole, VectorShape};

use super::machine::Machine;
use super::report::LayerReport;
use super::{DramTraffic, EnergyPj, LayerBound};

/// Report of an operator without MACs (1.3). The vector lanes, the outermost NoC level and DRAM overlap,
/// and an operation counts as a MAC. DRAM supplies the share `from_dram` of the inputs, from 0 to 1, and
/// receives the outputs, or if they are `resident` `also_written` elements of them.
pub(super) fn report(
    shape: &VectorShape,
    accelerator: &Accelerator,
    machine: &Machine,
    from_dram: f64,
    resident: PerTensor<bool>,
    also_written: u64,
) -> LayerReport {
    let dram = dram(shape, machine, from_dram, resident.output, also_written);
    let widths = &machine.widths;
    let lanes = accelerator.datapath.vector_lanes.unwrap_or(accelerator.pes).max(1);
    let inputs = widths.input.bytes(shape.inputs);
    let outputs = widths.output.bytes(shape.outputs);
    let noc_bytes = shape.op.passes() * inputs + outputs;
    let moved = dram.total_bytes();
    let compute_cycles = shape.operations.div_ceil(lanes.into());
    let noc_cycles = machine.noc_level(0).down.cycles(noc_bytes);
    let dram_cycles = machine.dram_cycles(moved);
    let chip_cycles = compute_cycles.max(noc_cycles);
    let cycles = chip_cycles.max(dram_cycles);
    let table = &machine.energies;
    LayerReport {
        cycles,
        compute_cycles,
        chip_cycles,
        dram_cycles,
        macs: Operator::Vector(*shape).macs(),
        bound: bound(cycles, noc_cycles, dram_cycles),
        dram,
        noc_bytes,
        energy: EnergyPj {
            mac: shape.operations as f64 * table.mac,
            // Shared memory as in (7.1).
            shared: (noc_bytes + moved) as f64 * table.shared,
            noc: noc_bytes as f64 * table.noc,
            dram: moved as f64 * table.dram,
            leakage: cycles as f64 * table.leakage,
            clock: cycles as f64 * table.clock,
            ..EnergyPj::default()
        },
        ..LayerReport::empty(resident)
    }
}

/// Traffic of DRAM in [`report`].
pub(super) fn dram(
    shape: &VectorShape,
    machine: &Machine,
    from_dram: f64,
    is_resident: bool,
    also_written: u64,
) -> DramTraffic {
    let inputs = machine.widths.input.bytes(shape.inputs);
    let outputs = if is_resident { also_written } else { shape.outputs };
    DramTraffic {
        inputs_read: machine.compression.input.of((inputs as f64 * from_dram).ceil() as u64),
        outputs_written: machine.dram_bytes(TensorRole::Output, outputs),
        ..DramTraffic::default()
    }
}

/// The resource that takes longest; of equal ones the first of DRAM, NoC, lanes.
fn bound(cycles: u64, noc_cycles: u64, dram_cycles: u64) -> LayerBound {
    if dram_cycles == cycles {
        LayerBound::Dram
    } else if noc_cycles == cycles {
        LayerBound::Noc
    } else {
        LayerBound::Compute
    }
}
