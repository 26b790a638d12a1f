//! What is measured of a run: the columns behind its settings.

use crate::figures::Axis;

/// Which values of a measure are better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// The larger ones.
    Higher,
    /// The smaller ones.
    Lower,
}

/// A measure.
#[derive(Debug, Clone, PartialEq)]
pub struct Measure {
    /// Column of results.
    pub column: &'static str,
    /// What people call it.
    pub label: &'static str,
    /// Unit without a prefix.
    pub unit: &'static str,
    /// What a value of the column is in that unit.
    pub scale: f64,
    /// Which values are better.
    pub better: Better,
}

/// Every measure, in the order of columns.
pub const MEASURES: [Measure; 12] = [
    score("realtime", "Real-time score"),
    score("energy", "Energy score"),
    score("accuracy", "Accuracy score"),
    score("qoe", "QoE score"),
    score("score", "Overall score"),
    score("score_executed_mean", "Score by executed mean"),
    count("requests", "Released frames", Better::Higher),
    count("executed", "Executed frames", Better::Higher),
    count("dropped", "Dropped frames", Better::Lower),
    count("not_triggered", "Frames not triggered", Better::Lower),
    count("late", "Late frames", Better::Lower),
    Measure { column: "energy_mj", label: "Energy", unit: "J", scale: 1e-3, better: Better::Lower },
];

const fn score(column: &'static str, label: &'static str) -> Measure {
    Measure { column, label, unit: "", scale: 1.0, better: Better::Higher }
}

const fn count(column: &'static str, label: &'static str, better: Better) -> Measure {
    Measure { column, label, unit: "", scale: 1.0, better }
}

/// Settings that cost something, so that less is better.
const COSTS: [&str; 6] = [
    "pes",
    "hardware.clock_mhz",
    "hardware.noc_bandwidth_bytes_per_cycle",
    "hardware.shared_memory_kib",
    "hardware.local_memory_kib",
    "hardware.offchip_bandwidth_bytes_per_cycle",
];

impl Measure {
    /// The measure in `column`.
    pub fn of_column(column: &str) -> Option<&'static Self> {
        MEASURES.iter().find(|measure| measure.column == column)
    }
}

/// Which values of a column are better, if that is known.
pub(super) fn better(column: &str) -> Option<Better> {
    match Measure::of_column(column) {
        Some(measure) => Some(measure.better),
        None => COSTS.contains(&column).then_some(Better::Lower),
    }
}

/// The axis that shows a column, and what its values are multiplied with.
pub(super) fn axis(column: &str) -> (Axis, f64) {
    match Measure::of_column(column) {
        Some(measure) => (Axis::new(measure.label, measure.unit), measure.scale),
        None if column == "pes" => (Axis::new("PEs", ""), 1.0),
        None => (Axis::new(column, ""), 1.0),
    }
}
