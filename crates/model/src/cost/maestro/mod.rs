//! Layer cost model of the published XRBench artifact (MLSys'23), a variant of MAESTRO.
//!
//! A dataflow splits the loop nest of a layer over cluster levels. The levels are analysed one by one
//! from the innermost outward. The analysis of a level finds the iteration cases of its loops with their
//! counts, and for each case the elements that are sent to the units, the work of the units, and the
//! cycles. The latency, the partial sums and the buffer counts of the outermost level are those of the
//! layer.
//!
//! The model is reproduced exactly, with everything that looks like a defect: results are equal to the
//! published ones in every count and in every bit of the energy. Passages marked *Quirk* name these
//! defects. Sections, equations and quirks have the numbers of docs/explanation/cost-model-maestro.md:
//!
//! | section | module | |
//! |---|---|---|
//! | 3 | `elaboration` | directives to six maps per level |
//! | 4 | `cases`, `status` | iteration cases and their counts |
//! | 5 | `reuse` | active units, reuse, ingress |
//! | 6 | `work` | partial sums and outputs of a unit |
//! | 7 | `delay` | cycles of an occurrence |
//! | 8 | `level` | sums over the cases, buffers |
//! | 9 | `layer` | chained levels, energy |
//!
//! All counts are 64-bit integers. Division truncates toward zero, also for the negative extents of a
//! window that is smaller than its kernel.
//!
//! Quirk 3: DRAM bandwidth, NoC latency, multicast and memory sizes have no effect.

mod cases;
mod delay;
mod elaboration;
mod layer;
mod level;
mod overflow;
mod positions;
mod reuse;
mod status;
mod work;

#[cfg(test)]
mod tests;

use crate::hardware::Accelerator;
use crate::model::{ConvKind, ConvShape, MatmulShape, Network, Operator};

use super::{CostModel, Entry, Explanation, Infeasible, LayerCost, NetworkCost, Quantity};
use layer::{Evaluator, LayerCounts};

/// Registry entry.
pub(super) const ENTRY: Entry = Entry {
    name: "maestro",
    help: "the published XRBench artifact's dataflow analysis, exact to the last digit",
    source: "XRBench artifact (MLSys'23), a variant of MAESTRO (MICRO'19)",
    build: Some(|| Box::new(Maestro)),
};

/// Cost model of the published artifact.
#[derive(Debug, Clone, Copy, Default)]
pub struct Maestro;

impl CostModel for Maestro {
    fn layer(
        &self,
        operator: &Operator,
        accelerator: &Accelerator,
    ) -> Result<LayerCost, Infeasible> {
        cost(&mut Evaluator::new(accelerator)?, operator, accelerator)
    }

    /// Columns in the order of the layer tables of the artifact. Unlike [`CostModel::layer`], this function
    /// reports negative latencies and energies as they are.
    fn explain(
        &self,
        operator: &Operator,
        accelerator: &Accelerator,
    ) -> Result<Explanation, Infeasible> {
        let counts = counts(&mut Evaluator::new(accelerator)?, operator)?;
        Ok(columns(&counts, accelerator))
    }

    fn network(
        &self,
        network: &Network,
        accelerator: &Accelerator,
    ) -> Result<NetworkCost, Infeasible> {
        let mut evaluator = Evaluator::new(accelerator)?;
        NetworkCost::of_operators(network, accelerator, |operator, _| {
            cost(&mut evaluator, operator, accelerator)
        })
    }

    /// Quirk 5: the batch size has no effect.
    fn supports_batches(&self) -> bool {
        false
    }
}

/// Convolution that stands for an operator in the files of the artifact, and how often it runs (section
/// 9.2).
///
/// The artifact knows convolutions of four kinds. Groups and instances become several convolutions that
/// run one after another, matrix products become convolutions of their rows, and transposed convolutions
/// become convolutions of an input with zeros inserted. Operators without multiply-accumulates cost
/// nothing.
fn in_artifact(operator: &Operator) -> (ConvShape, i64) {
    match *operator {
        Operator::Conv(shape) if shape.kind == ConvKind::Transposed => {
            let zero_inserted = ConvShape {
                kind: ConvKind::ZeroInserted,
                y: shape.output_rows() + shape.r - 1,
                x: shape.output_columns() + shape.s - 1,
                stride_y: 1,
                stride_x: 1,
                ..one_group(shape)
            };
            (zero_inserted, shape.groups.into())
        }
        Operator::Conv(shape) if shape.kind == ConvKind::Depthwise => (shape, 1),
        Operator::Conv(shape) => (one_group(shape), shape.groups.into()),
        Operator::Matmul(MatmulShape { instances, rows, k, c, .. }) => {
            (ConvShape { k, c, y: rows, ..ConvShape::UNIT }, instances.into())
        }
        Operator::Vector(_) => (ConvShape::UNIT, 0),
    }
}

/// Shape of one group of a grouped convolution.
fn one_group(shape: ConvShape) -> ConvShape {
    let [k, c] = [shape.k, shape.c].map(|channels| channels / shape.groups);
    ConvShape { k, c, groups: 1, ..shape }
}

/// Counts of an operator, all groups and instances together.
fn counts(evaluator: &mut Evaluator, operator: &Operator) -> Result<LayerCounts, Infeasible> {
    let (shape, times) = in_artifact(operator);
    let counts = evaluator.counts(&shape).and_then(|counts| counts.repeated(times));
    counts.ok_or(Infeasible::Overflow)
}

fn cost(
    evaluator: &mut Evaluator,
    operator: &Operator,
    accelerator: &Accelerator,
) -> Result<LayerCost, Infeasible> {
    let counts = counts(evaluator, operator)?;
    let cycles = u64::try_from(counts.cycles())
        .map_err(|_| Infeasible::BelowZero { quantity: "latency" })?;
    let energy_nj = counts.energy_nj(&accelerator.energy);
    if energy_nj < 0.0 {
        return Err(Infeasible::BelowZero { quantity: "energy" });
    }
    let [dram_bytes, noc_bytes] = counts.traffic();
    let dram_cycles = dram_bytes.div_ceil(accelerator.memory.dram_bandwidth);
    Ok(LayerCost {
        cycles,
        energy_nj,
        dram_bytes,
        noc_bytes,
        chip_cycles: cycles,
        // The artifact takes no layer to wait for DRAM.
        dram_cycles: dram_cycles.min(cycles),
        dram_energy_nj: 0.0,
    })
}

fn columns(counts: &LayerCounts, accelerator: &Accelerator) -> Explanation {
    let [input, weight, output] = &counts.buffers;
    let runtimes: Vec<_> = counts.runtimes().iter().map(i64::to_string).collect();
    let whole = [
        ("l2_rd_input", input.up_reads),
        ("l2_rd_weight", weight.up_reads),
        ("l2_rd_output", output.up_reads),
        ("l2_wr_input", input.up_writes),
        ("l2_wr_weight", weight.up_writes),
        ("l2_wr_output", output.up_writes),
        ("l1_rd_input", input.down_reads),
        ("l1_rd_weight", weight.down_reads),
        ("l1_rd_output", output.down_reads),
        ("l1_wr_input", input.down_writes),
        ("l1_wr_weight", weight.down_writes),
        ("l1_wr_output", output.down_writes),
        ("num_psums", counts.partial_sums),
        ("l2_req_input", input.up_capacity),
        ("l2_req_weight", weight.up_capacity),
        ("l2_req_output", output.up_capacity),
        ("l1_req_input", input.down_capacity),
        ("l1_req_weight", weight.down_capacity),
        ("l1_req_output", output.down_capacity),
        ("num_levels", counts.runtimes().len() as i64),
    ];
    let mut columns = vec![
        ("runtime_cycles", Quantity::Count(counts.cycles())),
        ("energy_nJ", Quantity::Real(counts.energy_nj(&accelerator.energy))),
    ];
    columns.extend(whole.map(|(name, count)| (name, Quantity::Count(count))));
    columns.push(("level_runtimes_outer_to_inner", Quantity::Text(runtimes.join(";"))));
    columns
}
