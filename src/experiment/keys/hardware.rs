//! Keys of the hardware, which the platform decides unless they are set.

use serde::Serialize;
use serde_json::{Value, json};

use crate::units::ClockRate;

use super::values::{
    BANDWIDTH, CLOCK, MEMORY, bandwidth, boolean, clock, in_kib, kib, or_word, word_or,
};
use super::{KEY, Key, field};

/// `Some(None)` for `platform`, else the value that `read` makes of the text.
fn or_platform<T>(text: &str, read: impl FnOnce(&str) -> Option<T>) -> Option<Option<T>> {
    or_word(text, "platform", read)
}

/// `value`, or `platform` where the platform decides.
fn platform_or<T: Serialize>(value: Option<T>) -> Value {
    word_or("platform", value)
}

pub(super) const KEYS: &[Key] = &[
    Key {
        name: "hardware.clock_mhz",
        help: "clock of every accelerator (the artifact's runtime has 1 GHz built in)",
        unit: "MHz",
        allowed: CLOCK,
        ..field!(clock, |text| or_platform(text, clock), |it| platform_or(
            it.map(ClockRate::as_mhz)
        ))
    },
    Key {
        name: "hardware.noc_bandwidth_bytes_per_cycle",
        help: "NoC bandwidth of the whole chip at every level, for styles",
        unit: "byte/cycle",
        allowed: BANDWIDTH,
        in_mlsys2023: true,
        ..field!(budget.noc_bandwidth, |text| or_platform(text, bandwidth), platform_or)
    },
    Key {
        name: "hardware.shared_memory_kib",
        help: "shared memory of the whole chip, for styles",
        unit: "KiB",
        allowed: MEMORY,
        in_mlsys2023: true,
        ..field!(budget.shared_memory, |text| or_platform(text, kib), |it| platform_or(
            it.map(in_kib)
        ))
    },
    Key {
        name: "hardware.scratchpad_kib",
        help: "scratchpad of every PE, for styles",
        unit: "KiB",
        allowed: MEMORY,
        in_mlsys2023: true,
        ..field!(budget.scratchpad, |text| or_platform(text, kib), |it| platform_or(it.map(in_kib)))
    },
    Key {
        name: "hardware.cluster_memory_kib",
        help: "buffer of every cluster at every level, for styles",
        unit: "KiB",
        allowed: MEMORY,
        in_mlsys2023: true,
        ..field!(budget.cluster_memory, |text| or_platform(text, kib), |it| platform_or(
            it.map(in_kib)
        ))
    },
    Key {
        name: "hardware.dram_bandwidth_bytes_per_cycle",
        help: "DRAM bandwidth of the whole chip, for styles",
        unit: "byte/cycle",
        allowed: BANDWIDTH,
        in_mlsys2023: true,
        ..field!(budget.dram_bandwidth, |text| or_platform(text, bandwidth), platform_or)
    },
    Key {
        name: "hardware.noc_unpartitioned",
        help: "whether each accelerator of a style has the whole NoC bandwidth, not its share",
        ..field!(budget.unpartitioned.noc, boolean)
    },
    Key {
        name: "hardware.dram_unpartitioned",
        help: "whether each accelerator of a style has the whole DRAM bandwidth, not its share",
        ..field!(budget.unpartitioned.dram, boolean)
    },
];
