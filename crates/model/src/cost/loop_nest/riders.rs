//! Operators that ride along, as the cost of their layer knows them (docs/explanation/cost-model-loop-nest.md,
//! section 6.10).

use super::{DramTraffic, Energies};

/// All operators that ride along with a loop nest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Riders {
    /// Other operands that DRAM supplies \[byte\].
    pub read: u64,
    /// Outputs of the group that DRAM receives, in place of those of the layer \[byte\].
    pub written: u64,
    /// Other operands that the shared memory supplies to the path \[byte\].
    pub operands: u64,
    /// Operations.
    pub operations: u64,
    /// Cycles that the operations take.
    pub cycles: u64,
}

impl Riders {
    /// Most of each count; sums over several stay in 64 bits.
    const MOST: u64 = 1 << 58;

    /// `change` of every count.
    fn map(self, change: impl Fn(u64) -> u64) -> Self {
        Self {
            read: change(self.read),
            written: change(self.written),
            operands: change(self.operands),
            operations: change(self.operations),
            cycles: change(self.cycles),
        }
    }

    /// The same with no count above [`Riders::MOST`], which only absurd networks reach.
    pub(super) fn bounded(self) -> Self {
        self.map(|count| count.min(Self::MOST))
    }

    /// Bytes that DRAM moves for the group in place of the outputs of the layer.
    pub fn dram_bytes(&self) -> u64 {
        self.read + self.written
    }

    /// Energy of the operations, and of the other operands in shared memory \[pJ\].
    pub(crate) fn energy(&self, table: &Energies) -> f64 {
        self.operations as f64 * table.mac + self.operands as f64 * table.shared
    }

    /// Part number `index` of `n` equal ones, which add up to the whole.
    pub(super) fn part(self, index: u64, n: u64) -> Self {
        self.map(|all| share(all, index + 1, n) - share(all, index, n))
    }

    /// The traffic of a layer with this group, where `outputs` are the bytes of the outputs of the layer in it.
    pub(super) fn replace(&self, traffic: &mut DramTraffic, outputs: u64) {
        traffic.inputs_read += self.read;
        traffic.outputs_written = traffic.outputs_written.saturating_sub(outputs) + self.written;
    }
}

/// `all · part / whole`, rounded down.
fn share(all: u64, part: u64, whole: u64) -> u64 {
    let share = u128::from(all) * u128::from(part) / u128::from(whole.max(1));
    u64::try_from(share).unwrap_or(u64::MAX)
}
