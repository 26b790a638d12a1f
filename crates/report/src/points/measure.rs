//! Directions and axes of the columns of a sweep.

use xrsim_figures::Quantity;
use xrsim_model::column::{Better, Column, Kind};
use xrsim_model::text::counted;
use xrsim_sim::metrics::{DeviceMetrics, RunMetrics};
use xrsim_sim::score::Score;
use xrsim_sim::sweep::day::DayMetrics;

use super::{PER_FRAME, PointTable, TOTAL};

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

/// Score of runs of profiles, and the power that they are drawn over.
pub(super) const OF_PROFILE: &str = "profile_score";
const POWER: &str = "mean_w";

/// Columns of results, by their meanings.
#[derive(Clone, Copy)]
enum Measure {
    Score(&'static Column<Score>),
    Device(&'static Column<DeviceMetrics>),
    Run(&'static Column<RunMetrics>),
    Day(&'static Column<DayMetrics>),
}

impl Measure {
    fn from_column(column: &str) -> Option<Self> {
        let device = || DeviceMetrics::column(column).map(Self::Device);
        let run = || RunMetrics::COLUMNS.iter().find(|it| it.name == column).map(Self::Run);
        let day = || DayMetrics::column(column).map(Self::Day);
        Score::column(column).map(Self::Score).or_else(device).or_else(run).or_else(day)
    }
}

/// Name of a column of results; `None` for other columns.
pub(super) fn result(column: &str) -> Option<&'static str> {
    Measure::from_column(column).map(|measure| match measure {
        Measure::Score(column) => column.name,
        Measure::Device(column) => column.name,
        Measure::Run(column) => column.name,
        Measure::Day(column) => column.name,
    })
}

/// Nature of a column of results; `None` for other columns.
pub(super) fn kind(column: &str) -> Option<Kind> {
    Measure::from_column(column).map(|measure| match measure {
        Measure::Score(column) => column.kind,
        Measure::Device(column) => column.kind,
        Measure::Run(column) => column.kind,
        Measure::Day(column) => column.kind,
    })
}

/// Which values of a column are better, if that is known.
pub(super) fn better(column: &str) -> Option<Better> {
    match Measure::from_column(column) {
        Some(Measure::Score(column)) => Some(column.better),
        Some(Measure::Device(column)) => Some(column.better),
        Some(Measure::Run(column)) => Some(column.better),
        Some(Measure::Day(column)) => Some(column.better),
        None => COSTS.contains(&column).then_some(Better::Lower),
    }
}

/// The axis of a column, and the factor that converts its values to the unit of the axis.
pub(super) fn axis(column: &str) -> (Quantity, f64) {
    let (label, (unit, scale)) = match Measure::from_column(column) {
        Some(Measure::Score(column)) => (column.label, column.base_unit()),
        Some(Measure::Device(column)) => (column.label, column.base_unit()),
        Some(Measure::Run(column)) => (column.label, column.base_unit()),
        Some(Measure::Day(column)) => (column.label, column.base_unit()),
        None if column == "pes" => ("PEs", ("", 1.0)),
        None => (column, ("", 1.0)),
    };
    (Quantity::new(label, unit), scale)
}

impl PointTable {
    /// Remark on runs of scenarios that a battery ended; empty if there are none. The score of a profile counts the time
    /// after the end.
    pub(super) fn stops(&self) -> String {
        let values = |name: &str| self.measures.iter().find(|(it, _)| *it == name).map(|it| &it.1);
        let n_stopped = match (values("stopped_at_s"), values(OF_PROFILE)) {
            (Some(at), None) => at.iter().filter(|it| !it.is_nan()).count(),
            _ => 0,
        };
        match n_stopped {
            0 => String::new(),
            n => format!(
                "; an empty battery ended {n} of {}, whose later requests do not count (stopped_at_s)",
                counted(self.n_rows, "run")
            ),
        }
    }

    pub(super) fn has(&self, measure: &str) -> bool {
        self.measures.iter().any(|(name, _)| *name == measure)
    }

    /// Whether the column has a number.
    pub fn is_measured(&self, measure: &str) -> bool {
        let numbers = self.measures.iter().find(|(name, _)| *name == measure);
        numbers.is_some_and(|(_, values)| values.iter().any(|it| it.is_finite()))
    }

    /// The column of energy that designs are compared by: that for each executed frame, as dropped frames cost no
    /// energy; the total where the table has no number of executed frames; of profiles the mean power.
    pub fn energy(&self) -> &'static str {
        match self.has(OF_PROFILE) {
            true => POWER,
            false if self.has(PER_FRAME) => PER_FRAME,
            false => TOTAL,
        }
    }

    /// The score that designs are compared by: the primary one, of profiles that of the whole profile.
    pub fn score(&self) -> &'static str {
        if self.has(OF_PROFILE) { OF_PROFILE } else { Score::primary().name }
    }
}
