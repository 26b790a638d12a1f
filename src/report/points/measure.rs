//! Directions and axes of the columns of a sweep.

use crate::column::Better;
use crate::figures::Quantity;
use crate::score::Score;

/// Settings that cost something, so that smaller values are better.
const COSTS: [&str; 7] = [
    "pes",
    "hardware.clock_mhz",
    "hardware.noc_bandwidth_bytes_per_cycle",
    "hardware.shared_memory_kib",
    "hardware.scratchpad_kib",
    "hardware.cluster_memory_kib",
    "hardware.dram_bandwidth_bytes_per_cycle",
];

/// Which values of a column are better, if that is known.
pub(super) fn better(column: &str) -> Option<Better> {
    match Score::column(column) {
        Some(column) => Some(column.better),
        None => COSTS.contains(&column).then_some(Better::Lower),
    }
}

/// The axis of a column, and the factor that converts its values to the unit of the axis.
pub(super) fn axis(column: &str) -> (Quantity, f64) {
    match Score::column(column) {
        Some(column) => {
            let (unit, scale) = column.base_unit();
            (Quantity::new(column.label, unit), scale)
        }
        None if column == "pes" => (Quantity::new("PEs", ""), 1.0),
        None => (Quantity::new(column, ""), 1.0),
    }
}
