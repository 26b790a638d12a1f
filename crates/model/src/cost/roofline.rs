//! Roofline: a lower bound of time and energy for any dataflow.
//!
//! Assumptions:
//! - Every PE does one multiply-accumulate per cycle, and all PEs have work until the end.
//! - Traffic is compulsory only: each element of input, weight and output crosses the DRAM interface
//!   once and the outermost NoC level once, as if the memories held whole tensors. Input elements that a
//!   stride skips are counted, padding is not.
//! - An element has one byte (8-bit operands, XRBench section 4.1) unless its layer says its bits; those of a
//!   tensor are packed. Energy counts such an element as its bytes.
//! - Computation and both transfers overlap completely.
//! - Energy is spent on multiply-accumulates, and on one access to L2 and one to DRAM per element. L1 is
//!   left out, because the number of its accesses depends on the dataflow.
//!
//! The dataflow has no effect. Batch size and stride have one, unlike in `maestro`.

use crate::hardware::{Accelerator, Widths};
use crate::model::{Bits, Network, Operator};

use super::{CostModel, Entry, Explanation, Infeasible, LayerCost, NetworkCost, Quantity};

/// Registry entry.
pub(super) const ENTRY: Entry = Entry {
    name: "roofline",
    help: "lower bound: peak compute, NoC and DRAM bandwidth, compulsory traffic",
    source: "Williams et al., Roofline (CACM 2009), with a bandwidth per interface",
    build: Some(|| Box::new(Roofline)),
};

/// Width of an element of any tensor unless its layer says another one.
const WIDTHS: Widths = Widths::of_bytes([1; 4]);

/// The roofline cost model.
#[derive(Debug, Clone, Copy, Default)]
pub struct Roofline;

/// Least cycles that computation and each interface take for one layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Roofs {
    macs: u64,
    /// Elements of all three tensors.
    elements: u64,
    /// Bytes of all three tensors.
    bytes: u64,
    compute_cycles: u64,
    noc_cycles: u64,
    dram_cycles: u64,
}

impl Roofs {
    fn compute(operator: &Operator, bits: Bits, accelerator: &Accelerator) -> Self {
        let macs = operator.macs();
        let elements = elements(operator);
        let Widths { input, weight, output, .. } = WIDTHS.with_bits(bits, operator);
        let bytes = input.bytes(operator.inputs())
            + weight.bytes(operator.weights())
            + output.bytes(operator.outputs());
        Self {
            macs,
            elements,
            bytes,
            compute_cycles: macs.div_ceil(accelerator.pes.into()),
            noc_cycles: bytes.div_ceil(accelerator.noc.levels()[0].bandwidth),
            dram_cycles: bytes.div_ceil(accelerator.memory.dram_bandwidth),
        }
    }

    /// ```text
    /// cycles = max( MACs / PEs, bytes / NoC bandwidth, bytes / DRAM bandwidth )
    /// energy = e_MAC * ( MACs + bytes * (L2 + DRAM) )
    /// ```
    ///
    /// where each quotient is rounded up, e_MAC is in nJ, and L2 and DRAM are relative to it.
    fn cost(&self, accelerator: &Accelerator) -> LayerCost {
        let table = &accelerator.energy;
        let per_element = table.shared_memory_per_mac + table.dram_per_mac;
        let on_chip = self.compute_cycles.max(self.noc_cycles);
        let bytes = self.bytes;
        LayerCost {
            cycles: on_chip.max(self.dram_cycles),
            energy_nj: table.mac_nj * (self.macs as f64 + bytes as f64 * per_element),
            dram_bytes: bytes,
            noc_bytes: bytes,
            chip_cycles: on_chip,
            dram_cycles: self.dram_cycles,
            dram_energy_nj: table.mac_nj * bytes as f64 * table.dram_per_mac,
        }
    }

    /// Name of the highest roof; the first one of equals.
    fn bound(&self) -> &'static str {
        if self.compute_cycles >= self.noc_cycles.max(self.dram_cycles) {
            "compute"
        } else if self.noc_cycles >= self.dram_cycles {
            "noc"
        } else {
            "dram"
        }
    }
}

/// Elements of input, weight and output tensor.
fn elements(operator: &Operator) -> u64 {
    operator.inputs() + operator.weights() + operator.outputs()
}

impl CostModel for Roofline {
    fn layer(
        &self,
        operator: &Operator,
        accelerator: &Accelerator,
    ) -> Result<LayerCost, Infeasible> {
        Ok(Roofs::compute(operator, Bits::default(), accelerator).cost(accelerator))
    }

    fn network(
        &self,
        network: &Network,
        accelerator: &Accelerator,
    ) -> Result<NetworkCost, Infeasible> {
        NetworkCost::of_operators(network, accelerator, |operator, bits| {
            Ok(Roofs::compute(operator, bits, accelerator).cost(accelerator))
        })
    }

    fn explain(
        &self,
        operator: &Operator,
        accelerator: &Accelerator,
    ) -> Result<Explanation, Infeasible> {
        Ok(explanation(operator, Bits::default(), accelerator))
    }

    fn explain_network(
        &self,
        network: &Network,
        accelerator: &Accelerator,
    ) -> Result<Vec<Explanation>, Infeasible> {
        let layers = network.layers().iter();
        Ok(layers.map(|it| explanation(&it.operator, it.bits, accelerator)).collect())
    }
}

/// Roofs of an operator whose data have these `bits`, and its cost.
fn explanation(operator: &Operator, bits: Bits, accelerator: &Accelerator) -> Explanation {
    let roofs = Roofs::compute(operator, bits, accelerator);
    let cost = roofs.cost(accelerator);
    let count = |count: u64| Quantity::Count(count as i64);
    vec![
        ("runtime_cycles", count(cost.cycles)),
        ("energy_nJ", Quantity::Real(cost.energy_nj)),
        ("compute_cycles", count(roofs.compute_cycles)),
        ("noc_cycles", count(roofs.noc_cycles)),
        ("dram_cycles", count(roofs.dram_cycles)),
        ("macs", count(roofs.macs)),
        ("compulsory_elements", count(roofs.elements)),
        ("bound", Quantity::Text(roofs.bound().into())),
    ]
}
