//! The array of an accelerator: units of every NoC level, by the clusters of its dataflow.

use crate::dataflow::{ClusterLevel, Dataflow, Flexibility};

use super::Accelerator;

/// Units of one NoC level in the whole accelerator. Where layers have directives of their own, each number is the
/// largest of all directives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ArrayLevel {
    /// Units of the level.
    pub units: u64,
    /// Units of the level that are clusters, each with a buffer; 0 where units are PEs.
    pub clusters: u64,
    /// PEs of one unit.
    pub pes: u64,
    /// Units that one cluster of the level above feeds; of the outermost level all of them.
    pub fed: u64,
    /// Clusters of the level above; 1 for the outermost level, which the shared memory feeds.
    pub parents: u64,
}

/// Units of every NoC level, outermost first. Cluster sizes that depend on the layer count as 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Array {
    levels: [ArrayLevel; Dataflow::MAX_LEVELS],
    n_levels: usize,
    /// PEs in whole outermost units.
    used: u64,
}

impl Array {
    /// The array of `accelerator`.
    pub(super) fn from_accelerator(accelerator: &Accelerator) -> Self {
        let dataflow = &accelerator.dataflow;
        let mut array = Self { levels: Default::default(), n_levels: 0, used: 0 };
        let limit = accelerator.datapath.units_limit.map_or(u64::MAX, u64::from);
        let of_layers = dataflow.layers().iter().map(|layer| &layer.directives);
        for directives in std::iter::once(dataflow.directives()).chain(of_layers) {
            if !directives.is_empty() {
                array.add(&directives.levels, accelerator.pes.into(), limit);
            }
        }
        array
    }

    /// Levels, outermost first.
    pub(super) fn levels(&self) -> &[ArrayLevel] {
        &self.levels[..self.n_levels]
    }

    /// Widens the array so that it can also run `levels`.
    fn add(&mut self, levels: &[ClusterLevel], pes: u64, limit: u64) {
        let size =
            |level: &ClusterLevel| level.units.and_then(|it| it.fixed()).map_or(1, u64::from);
        let inner: u64 = levels.iter().map(size).fold(1, u64::saturating_mul);
        let outermost = (pes / inner.max(1)).min(limit);
        self.used = self.used.max(outermost.saturating_mul(inner));
        self.n_levels = self.n_levels.max(levels.len()).min(Dataflow::MAX_LEVELS);
        let (mut parents, mut pes_of_unit) = (1, inner);
        for (index, (level, sum)) in levels.iter().zip(&mut self.levels).enumerate() {
            let fed = if index == 0 { outermost } else { size(level) };
            if index > 0 {
                pes_of_unit /= fed.max(1);
            }
            let units = fed.saturating_mul(parents);
            let clusters = if index + 1 < levels.len() { units } else { 0 };
            *sum = ArrayLevel {
                units: sum.units.max(units),
                clusters: sum.clusters.max(clusters),
                pes: sum.pes.max(pes_of_unit),
                fed: sum.fed.max(fed),
                parents: sum.parents.max(parents),
            };
            parents = units;
        }
    }
}

impl Accelerator {
    /// PEs that no mapping uses, because the clusters of the dataflow do not divide the PEs. They have area and
    /// leak, and a style gives an accelerator bandwidth and memory for them too. None where the accelerator
    /// chooses its clusters for every layer.
    pub fn idle_pes(&self) -> u32 {
        if self.flexibility == Flexibility::Any {
            return 0;
        }
        let used = u32::try_from(Array::from_accelerator(self).used).unwrap_or(u32::MAX);
        self.pes.saturating_sub(used)
    }
}
