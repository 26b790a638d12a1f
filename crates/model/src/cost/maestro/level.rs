//! Results of one level (section 8): sums over its cases, and the buffers upstream and downstream of it.

use super::cases::{self, Case, Cases, SpatialEdge};
use super::delay;
use super::elaboration::{Coupling, Level, Map};
use super::overflow;
use super::positions::Positions;
use super::reuse::{self, Reuse};

/// Sums over the cases of one level, each weighted by its count (8.1). Arrays of two hold input and
/// weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct CaseSums {
    /// Runtime \[cycle\].
    pub runtime: i64,
    /// Occurrences of all cases.
    pub occurrences: i64,
    /// Partial sums of all active units; the last unit of a spatial edge counts its own.
    pub partial_sums: i64,
    /// Partial sums of all active units, if each had the work of the first one.
    pub active_partial_sums: i64,
    /// Partial sums of the first unit.
    pub unit_partial_sums: i64,
    /// Elements that come from upstream.
    pub ingress: [i64; 2],
    /// Elements that are written downstream, if each active unit received the load of the first one.
    pub loaded: [i64; 2],
    /// Elements that come from upstream in the first case.
    pub first_ingress: [i64; 2],
    /// Outputs of one unit in the first case.
    pub first_outputs: i64,
}

/// Counts of one tensor in the buffers upstream and downstream of a level [element]. "Up" is the buffer
/// that feeds the level. "Down" is the buffers of the units: of all units in counts of accesses, of one
/// unit in capacities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct BufferCounts {
    /// Reads upstream.
    pub up_reads: i64,
    /// Writes upstream.
    pub up_writes: i64,
    /// Reads downstream.
    pub down_reads: i64,
    /// Writes downstream.
    pub down_writes: i64,
    /// Capacity needed upstream.
    pub up_capacity: i64,
    /// Capacity needed downstream by one unit.
    pub down_capacity: i64,
}

impl BufferCounts {
    /// Reads and writes.
    pub(super) fn traffic(&mut self) -> [&mut i64; 4] {
        [&mut self.up_reads, &mut self.up_writes, &mut self.down_reads, &mut self.down_writes]
    }
}

/// Values that the cases of one level share.
struct Analysis<'a> {
    level: &'a Level,
    /// Reuse of input and weight.
    reuse: [Reuse; 2],
    /// Active units, by status of the first spatial map.
    active: [i64; 3],
    /// Runtime of the next inner level for a full tile \[cycle\]; 0 if the units are PEs.
    inner_runtime: i64,
}

impl Analysis<'_> {
    fn add(&self, case: &Case, sums: &mut CaseSums) {
        let Case { count, work, .. } = case;
        let active = self.active[case.leader as usize];
        let mut total_ingress = 0;
        for (operand, reuse) in self.reuse.iter().enumerate() {
            let load = reuse.load(case.moved);
            let ingress = load.ingress(active);
            total_ingress += ingress;
            sums.ingress[operand] += count * ingress;
            sums.loaded[operand] += count * active * load.lead;
        }
        let Level { bandwidth, .. } = self.level;
        let cycles = delay::occurrence(work, total_ingress, *bandwidth, self.inner_runtime);
        sums.runtime += count * cycles;
        sums.occurrences += count;
        sums.partial_sums += count * ((active - 1) * work.partial_sums + work.edge_partial_sums);
        sums.active_partial_sums += count * active * work.partial_sums;
        sums.unit_partial_sums += count * work.partial_sums;
    }
}

impl CaseSums {
    /// Sums over the cases of `level`. `inner_runtime` is the runtime of the next inner level for a full
    /// tile, 0 if the units are PEs. `None` if the sums do not fit into 64 bits.
    pub(super) fn compute(level: &Level, inner_runtime: i64) -> Option<Self> {
        let edge = SpatialEdge::from_level(level);
        let counts = cases::counts(level, edge);
        if !overflow::sums_fit(level, &counts, inner_runtime) {
            return None;
        }
        let cases = Cases::from_counts(level, &counts);
        let Coupling { input, weight, .. } = level.coupling;
        let analysis = Analysis {
            level,
            reuse: [
                Reuse::compute(level, input, cases.moving),
                Reuse::compute(level, weight, cases.moving),
            ],
            active: reuse::active_units(level, edge),
            inner_runtime,
        };
        let mut sums = Self::default();
        analysis.add(&cases.first, &mut sums);
        sums.first_ingress = sums.ingress;
        sums.first_outputs = cases.first.work.outputs;
        cases.for_each_further(&mut |case| analysis.add(case, &mut sums));
        Some(sums)
    }
}

/// Buffer counts of the input, the weight and the output tensor of `level`; `None` if they do not fit into
/// 64 bits.
///
/// Quirk 24: the counts of the output are those of one unit, and one read is waived per occurrence instead
/// of per element. Quirk 25: upstream writes are the size of the tensor, once; that of the output is zero
/// or negative if the kernel exceeds the input. Quirk 26: capacities are those of the first case. For
/// outputs, the upstream capacity is that of one unit, and the downstream capacity is computed from input
/// windows.
pub(super) fn buffers(level: &Level, sums: &CaseSums) -> Option<[BufferCounts; 3]> {
    if !overflow::footprints_fit(level) {
        return None;
    }
    let product = |tensor: Positions, extent: fn(&Map) -> i64| -> i64 {
        let extents = tensor.iter().map(|position| extent(&level.maps[position]));
        extents.product()
    };
    let operand = |index: usize, tensor: Positions| BufferCounts {
        up_reads: sums.ingress[index],
        up_writes: product(tensor, |map| map.extent),
        down_reads: sums.active_partial_sums,
        down_writes: sums.loaded[index],
        up_capacity: 2 * sums.first_ingress[index],
        down_capacity: 2 * product(tensor, |map| map.size),
    };
    let output = |tensor: Positions| BufferCounts {
        up_reads: 0,
        up_writes: product(tensor, |map| map.effective),
        down_reads: sums.unit_partial_sums - sums.occurrences,
        down_writes: sums.unit_partial_sums,
        up_capacity: 2 * sums.first_outputs,
        down_capacity: 2 * product(tensor, |map| map.size),
    };
    let tensors = level.coupling;
    Some([operand(0, tensors.input), operand(1, tensors.weight), output(tensors.output)])
}
