//! Cycles of one occurrence of a case (section 7).

use super::work::Work;

/// Cycles of one occurrence (7.3): the longest of ingress, computation and egress, which all overlap.
/// `inner_runtime` is the runtime of the next inner level for a full tile, 0 at the innermost level.
///
/// Quirk 22: the first case overlaps like every other; nothing fills or drains the pipeline. Quirk 23: a
/// partial tile takes as long as a full one.
pub(super) fn occurrence(work: &Work, ingress: i64, bandwidth: i64, inner_runtime: i64) -> i64 {
    let compute = match inner_runtime {
        0 => work.partial_sums,
        runtime => runtime,
    };
    transfer(ingress.max(work.outputs), bandwidth).max(compute)
}

/// Cycles to move `elements` over a NoC level of `bandwidth` elements per cycle (7.1).
///
/// Quirk 21: the latency is that of one hop, which cancels.
fn transfer(elements: i64, bandwidth: i64) -> i64 {
    elements / bandwidth + i64::from(elements % bandwidth != 0)
}
