//! Columns of results: names, meanings, directions, and functions that read the values.
//!
//! A [`Column`] belongs to a type of results, such as the scores of a run. The tables of columns lie
//! beside those types; CSV, JSON, terminal tables, plots, pages and comparisons are made from them.

use std::fmt;

use crate::renamed::{self, Renamed};

/// Which values of a column are better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// Larger values.
    Higher,
    /// Smaller values.
    Lower,
}

impl Better {
    /// Whether `a` is better than `b`.
    pub fn prefers(self, a: f64, b: f64) -> bool {
        match self {
            Self::Higher => a > b,
            Self::Lower => a < b,
        }
    }

    /// The best of `values`; `None` without any.
    pub fn best(self, values: impl Iterator<Item = f64>) -> Option<f64> {
        values.reduce(|best, value| if self.prefers(value, best) { value } else { best })
    }
}

/// Nature of the values of a column, which decides how they are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The score that stands for a run: 0 to 1, with an interval where there are replications.
    Overall,
    /// A score or share from 0 to 1.
    Score,
    /// A whole number.
    Count,
    /// A number in the unit of the column.
    Quantity,
}

/// A column of results of type `T`.
#[non_exhaustive]
pub struct Column<T> {
    /// Name in CSV, JSON and options; it ends in the unit of the values.
    pub name: &'static str,
    /// Heading in tables of a terminal.
    pub heading: &'static str,
    /// Title of an axis and heading in pages.
    pub label: &'static str,
    /// Meaning, in a phrase.
    pub help: &'static str,
    /// Nature of the values.
    pub kind: Kind,
    /// Unit of the values, such as `mJ`; empty for pure numbers.
    pub unit: &'static str,
    /// Which values are better.
    pub better: Better,
    /// The value of `T`; `None` where it has none.
    pub value: fn(&T) -> Option<f64>,
}

impl<T> Clone for Column<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Column<T> {}

impl<T> fmt::Debug for Column<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Column").field(&self.name).finish()
    }
}

impl<T> Column<T> {
    /// A column of numbers in a unit, of which less is better. Its heading is its name.
    pub const fn quantity(
        name: &'static str,
        unit: &'static str,
        label: &'static str,
        value: fn(&T) -> Option<f64>,
    ) -> Self {
        let (kind, better) = (Kind::Quantity, Better::Lower);
        Self { name, heading: name, label, help: "", kind, unit, better, value }
    }

    /// A column of whole numbers, of which less is better. Its heading is its name.
    pub const fn count(
        name: &'static str,
        label: &'static str,
        value: fn(&T) -> Option<f64>,
    ) -> Self {
        Self { kind: Kind::Count, ..Self::quantity(name, "", label, value) }
    }

    /// A column of shares from 0 to 1, of which less is better. Its heading is its name.
    pub const fn share(
        name: &'static str,
        label: &'static str,
        value: fn(&T) -> Option<f64>,
    ) -> Self {
        Self { kind: Kind::Score, ..Self::quantity(name, "", label, value) }
    }

    /// The same column with this meaning; less is better.
    pub const fn lower(self, help: &'static str) -> Self {
        Self { better: Better::Lower, help, ..self }
    }

    /// The same column with this meaning; more is better.
    pub const fn higher(self, help: &'static str) -> Self {
        Self { better: Better::Higher, help, ..self }
    }

    /// The same column for values of another nature.
    pub const fn of_kind(self, kind: Kind) -> Self {
        Self { kind, ..self }
    }

    /// The same column with another heading.
    pub const fn headed(self, heading: &'static str) -> Self {
        Self { heading, ..self }
    }

    /// The same column without its values, beside those of other types.
    pub const fn of_nothing(&self) -> Column<()> {
        let Self { name, heading, label, help, kind, unit, better, .. } = *self;
        Column { name, heading, label, help, kind, unit, better, value: |()| None }
    }

    /// The value of `of`; `None` where it has none.
    pub fn of(&self, of: &T) -> Option<f64> {
        (self.value)(of)
    }

    /// Unit without its prefix, and the factor that converts values to it: `J` and 0.001 for `mJ`.
    pub fn base_unit(&self) -> (&'static str, f64) {
        match self.unit {
            "mJ" => ("J", 1e-3),
            "mW" => ("W", 1e-3),
            "ms" => ("s", 1e-3),
            unit => (unit, 1.0),
        }
    }
}

/// Keys of experiments, which are also columns of sweeps, whose names changed with version 0.2.
pub const RENAMED_KEYS: [Renamed; 7] = [
    key("engine.late", "engine.deadline_miss"),
    key("effects.exposed", "effects.non_overlapped"),
    key("hardware.noc_undivided", "hardware.noc_unpartitioned"),
    key("hardware.offchip_undivided", "dram"),
    key("hardware.offchip_bandwidth_bytes_per_cycle", "hardware.dram_bandwidth_bytes_per_cycle"),
    key("hardware.local_memory_kib", "hardware.scratchpad_kib"),
    key("hardware.dram_unpartitioned", "dram"),
];

const fn key(old: &'static str, new: &'static str) -> Renamed {
    Renamed { kind: "", old, new }
}

/// Names of columns that changed.
pub const RENAMED: [Renamed; 12] = [
    Renamed { kind: "column", old: "released", new: "requests" },
    Renamed { kind: "column", old: "deadline_misses", new: "late" },
    Renamed { kind: "column", old: "pieces", new: "segments" },
    Renamed { kind: "column", old: "power_mw", new: "power_without_leakage_mw" },
    Renamed { kind: "column", old: "peak_mw", new: "supply_bound_mw" },
    RENAMED_KEYS[0],
    RENAMED_KEYS[1],
    RENAMED_KEYS[2],
    RENAMED_KEYS[3],
    RENAMED_KEYS[4],
    RENAMED_KEYS[5],
    RENAMED_KEYS[6],
];

/// The name in use for a column, whose name may be an old one.
pub fn current(name: &str) -> &str {
    renamed::current(&RENAMED, name).0
}

/// The change that gave a column its name.
pub fn change_to(name: &str) -> Option<Renamed> {
    RENAMED.into_iter().find(|renamed| renamed.new == name)
}

/// The changed columns among those of a file.
pub fn changes<'a>(names: impl Iterator<Item = &'a str>) -> Vec<Renamed> {
    names.filter_map(|name| renamed::find(&RENAMED, name)).collect()
}
