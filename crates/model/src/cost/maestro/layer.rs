//! Cost of one layer: its levels, chained from the innermost outward (section 8.4), and its energy
//! (section 9).

use std::collections::BTreeMap;

use crate::dataflow::Dataflow;
use crate::hardware::{Accelerator, EnergyTable};
use crate::model::{ConvKind, ConvShape};

use super::super::Infeasible;
use super::elaboration::{Elaboration, Extents, layer_extents};
use super::level::{self, BufferCounts, CaseSums};

/// Runtime of every level for a full tile \[cycle\], outermost first.
type Runtimes = [i64; Dataflow::MAX_LEVELS];

/// Evaluates layers on one accelerator.
///
/// The runtimes of the inner levels depend on the layer only through its kind and the extents that the
/// outermost level leaves them. Few of these differ between the layers of a network, so the runtimes are
/// kept (section 12).
pub(super) struct Evaluator {
    elaboration: Elaboration,
    inner: BTreeMap<(ConvKind, Extents), Runtimes>,
}

impl Evaluator {
    /// Evaluator of layers on `accelerator`.
    ///
    /// # Errors
    ///
    /// The same as [`Elaboration::new`].
    pub(super) fn new(accelerator: &Accelerator) -> Result<Self, Infeasible> {
        Ok(Self { elaboration: Elaboration::new(accelerator)?, inner: BTreeMap::new() })
    }

    /// Counts of one layer; `None` if they do not fit into 64 bits.
    pub(super) fn counts(&mut self, shape: &ConvShape) -> Option<LayerCounts> {
        let layer = layer_extents(shape);
        let extents = self.elaboration.level_extents(&layer);
        let mut runtimes = self.inner_runtimes(shape.kind, &layer, &extents)?;
        let outermost = self.elaboration.level(0, shape.kind, &layer, &extents[0]);
        let sums = CaseSums::compute(&outermost, handed_outward(runtimes[1]))?;
        runtimes[0] = sums.runtime;
        Some(LayerCounts {
            runtimes,
            n_levels: self.elaboration.n_levels(),
            partial_sums: sums.partial_sums,
            buffers: level::buffers(&outermost, &sums)?,
        })
    }

    /// Runtimes of all levels but the outermost, whose entry is 0; `None` if they do not fit into 64 bits.
    fn inner_runtimes(
        &mut self,
        kind: ConvKind,
        layer: &Extents,
        extents: &[Extents; Dataflow::MAX_LEVELS],
    ) -> Option<Runtimes> {
        let key = (kind, extents[1]);
        if let Some(known) = self.inner.get(&key) {
            return Some(*known);
        }
        let mut runtimes = [0; Dataflow::MAX_LEVELS];
        let mut inside = 0;
        for index in (1..self.elaboration.n_levels()).rev() {
            let level = self.elaboration.level(index, kind, layer, &extents[index]);
            runtimes[index] = CaseSums::compute(&level, inside)?.runtime;
            inside = handed_outward(runtimes[index]);
        }
        self.inner.insert(key, runtimes);
        Some(runtimes)
    }
}

/// Runtime as the next outer level sees it: the lower 32 bits, with sign (section 8.4).
fn handed_outward(runtime: i64) -> i64 {
    i64::from(runtime as i32)
}

/// All counts of one layer.
///
/// Quirk 24: L1 is the buffer of one cluster of the outermost level, not the scratchpad of a PE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LayerCounts {
    runtimes: Runtimes,
    n_levels: usize,
    /// Partial sums of all PEs.
    pub partial_sums: i64,
    /// L2 (up) and L1 (down) counts of the input, the weight and the output tensor.
    pub buffers: [BufferCounts; 3],
}

impl LayerCounts {
    /// Counts of `times` such layers that run one after another; capacities and runtimes of inner levels
    /// stay. `None` if the counts do not fit into 64 bits.
    pub(super) fn repeated(mut self, times: i64) -> Option<Self> {
        if times == 1 {
            return Some(self);
        }
        self.runtimes[0] = self.runtimes[0].checked_mul(times)?;
        self.partial_sums = self.partial_sums.checked_mul(times)?;
        for buffer in &mut self.buffers {
            for count in buffer.traffic() {
                *count = count.checked_mul(times)?;
            }
        }
        Some(self)
    }

    /// Latency \[cycle\].
    pub(super) fn cycles(&self) -> i64 {
        self.runtimes[0]
    }

    /// Runtime of every level for a full tile \[cycle\], outermost first.
    pub(super) fn runtimes(&self) -> &[i64] {
        &self.runtimes[..self.n_levels]
    }

    /// Traffic of DRAM and of the outermost NoC level, in elements of one byte (section 9.3).
    ///
    /// The artifact has no DRAM. Its writes to L2, each tensor once, stand for the traffic of DRAM. The
    /// traffic of the NoC is the reads of L2 by the operands and the writes of outputs. Negative counts
    /// (quirk 25) are taken as 0.
    pub(super) fn traffic(&self) -> [u64; 2] {
        let [input, weight, output] = &self.buffers;
        let add = |sum: u64, count: i64| sum.saturating_add(count.max(0) as u64);
        let sum = |counts: [i64; 3]| counts.into_iter().fold(0, add);
        [
            sum([input.up_writes, weight.up_writes, output.up_writes]),
            sum([input.up_reads, weight.up_reads, output.up_writes]),
        ]
    }

    /// Energy \[nJ\], summed in the order of (9.1) so that it is equal to the last bit.
    ///
    /// Quirk 27: MACs and accesses to L1 and L2 cost energy; DRAM, NoC, leakage and idle time do not.
    pub(super) fn energy_nj(&self, table: &EnergyTable) -> f64 {
        let [input, weight, output] = &self.buffers;
        let l2 =
            [input.up_reads, input.up_writes, weight.up_reads, weight.up_writes, output.up_writes];
        let l1 = [
            input.down_reads,
            input.down_writes,
            weight.down_reads,
            weight.down_writes,
            output.down_reads,
            output.down_writes,
        ];
        let add = |weight: f64| move |sum: f64, count: i64| sum + count as f64 * weight;
        let sum = l2.into_iter().fold(0.0, add(table.shared_memory_per_mac));
        let sum = l1.into_iter().fold(sum, add(table.scratchpad_per_mac));
        (sum + self.partial_sums as f64) * table.mac_nj
    }
}
