//! Cycles of one occurrence of a case (section 7).

use super::work::Work;

/// Cycles of one occurrence: the longest of sending its operands, computing, and sending its
/// outputs, which all overlap. `inner_runtime` is what the level inside takes for a full tile, 0 at
/// the innermost level.
///
/// Quirk 22: the first case overlaps like every other, nothing fills or drains. Quirk 23: partial
/// tiles take the units as long as full ones.
pub(super) fn occurrence(work: &Work, ingress: i64, bandwidth: i64, inner_runtime: i64) -> i64 {
    let compute = match inner_runtime {
        0 => work.partial_sums,
        runtime => runtime,
    };
    transfer(ingress.max(work.outputs), bandwidth).max(compute)
}

/// Cycles that `elements` occupy a network that moves `bandwidth` of them per cycle (7.1).
///
/// Quirk 21: its latency is that of one hop, which cancels.
fn transfer(elements: i64, bandwidth: i64) -> i64 {
    elements / bandwidth + i64::from(elements % bandwidth != 0)
}
