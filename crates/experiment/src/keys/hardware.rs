//! Keys of the hardware, which the platform or the system decides unless they are set.

use serde::Serialize;
use serde_json::{Value, json};

use xrsim_model::hardware::{Change, Width};

use super::values::{
    BANDWIDTH, BITS, CLOCK, COPIES, ENERGY, LANES, LATENCY, MACS, MEMORY, SWITCH, bandwidth, bits,
    boolean, change, clock, copies, energy, in_change, in_kib, kib, lanes, latency, macs, or_word,
    word_or,
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

/// The text of a change whose value is written by `write`, or `platform` without one.
fn changed<T>(change: Option<Change<T>>, write: impl FnOnce(T) -> Value) -> Value {
    platform_or(change.map(|change| in_change(change, write)))
}

/// A key of an energy: a number, or a factor of what the platform has.
macro_rules! energy_key {
    ($name:literal, $help:literal, $unit:literal, $($part:ident).+) => {
        Key {
            name: $name,
            help: $help,
            unit: $unit,
            allowed: ENERGY,
            ..field!(
                $($part).+,
                |text| or_platform(text, |it| change(it, energy)),
                |it| changed(it, |it| json!(it))
            )
        }
    };
}

/// A key that is on, off, or as the platform has it.
macro_rules! switch_key {
    ($name:literal, $help:literal, $($part:ident).+) => {
        Key {
            name: $name,
            help: $help,
            unit: "",
            allowed: SWITCH,
            ..field!($($part).+, |text| or_platform(text, boolean), platform_or)
        }
    };
}

pub(super) const KEYS: &[Key] = &[
    Key {
        name: "hardware.clock_mhz",
        help: "clock of every accelerator (the artifact's runtime has 1 GHz built in)",
        unit: "MHz",
        allowed: CLOCK,
        ..field!(accelerator.clock, |text| or_platform(text, |it| change(it, clock)), |it| changed(
            it,
            |it| json!(it.as_mhz())
        ))
    },
    Key {
        name: "hardware.noc_bandwidth_bytes_per_cycle",
        help: "NoC bandwidth of the whole chip at every level, for styles",
        unit: "byte/cycle",
        allowed: BANDWIDTH,
        in_mlsys2023: true,
        ..field!(budget.noc_bandwidth, |text| or_platform(text, |it| change(it, bandwidth)), |it| {
            changed(it, |it| json!(it))
        })
    },
    Key {
        name: "hardware.shared_memory_kib",
        help: "shared memory of the whole chip, for styles",
        unit: "KiB",
        allowed: MEMORY,
        in_mlsys2023: true,
        ..field!(
            budget.shared_memory,
            |text| or_platform(text, |it| change(it, kib)),
            |it| changed(it, |it| json!(in_kib(it)))
        )
    },
    Key {
        name: "hardware.scratchpad_kib",
        help: "scratchpad of every PE, for styles",
        unit: "KiB",
        allowed: MEMORY,
        in_mlsys2023: true,
        ..field!(budget.scratchpad, |text| or_platform(text, |it| change(it, kib)), |it| changed(
            it,
            |it| json!(in_kib(it))
        ))
    },
    Key {
        name: "hardware.cluster_memory_kib",
        help: "buffer of every cluster at every level, for styles",
        unit: "KiB",
        allowed: MEMORY,
        in_mlsys2023: true,
        ..field!(budget.cluster_memory, |text| or_platform(text, |it| change(it, kib)), |it| {
            changed(it, |it| json!(in_kib(it)))
        })
    },
    Key {
        name: "hardware.dram_bandwidth_bytes_per_cycle",
        help: "DRAM bandwidth of the whole chip, for styles",
        unit: "byte/cycle",
        allowed: BANDWIDTH,
        in_mlsys2023: true,
        ..field!(
            budget.dram_bandwidth,
            |text| or_platform(text, |it| change(it, bandwidth)),
            |it| changed(it, |it| json!(it))
        )
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
    Key {
        name: "hardware.dram_latency_cycles",
        help: "latency of DRAM",
        unit: "cycle",
        allowed: LATENCY,
        ..field!(accelerator.dram_latency, |text| or_platform(text, latency), platform_or)
    },
    Key {
        name: "hardware.noc_latency_cycles",
        help: "latency of the NoC at every level",
        unit: "cycle",
        allowed: LATENCY,
        ..field!(accelerator.noc.latency, |text| or_platform(text, latency), platform_or)
    },
    switch_key!(
        "hardware.noc_step_latency",
        "whether every step of a NoC level pays its latency, not only the first and the last one",
        accelerator.noc.step_latency
    ),
    switch_key!(
        "hardware.noc_multicast",
        "whether one send of the NoC serves every unit that needs the element",
        accelerator.noc.multicast
    ),
    switch_key!(
        "hardware.noc_reduce",
        "whether the NoC adds partial sums on their way up",
        accelerator.noc.reduce
    ),
    switch_key!(
        "hardware.noc_forward",
        "whether neighbours forward elements to each other",
        accelerator.noc.forward
    ),
    switch_key!(
        "hardware.noc_single_weights",
        "whether units hold a single copy of their weights, so that loading weights is exposed",
        accelerator.noc.single_weights
    ),
    Key {
        name: "hardware.shared_memory_copies",
        help: "copies of a tile of each tensor that the shared memory holds while the tile changes",
        unit: "",
        allowed: COPIES,
        ..field!(accelerator.shared_copies, |text| or_platform(text, copies), platform_or)
    },
    Key {
        name: "hardware.macs_per_pe_cycle",
        help: "multiply-accumulates per PE and cycle",
        unit: "",
        allowed: MACS,
        ..field!(accelerator.macs_per_pe_cycle, |text| or_platform(text, macs), platform_or)
    },
    Key {
        name: "hardware.vector_lanes",
        help: "operations per cycle of an accelerator on operators without multiply-accumulates",
        unit: "",
        allowed: LANES,
        ..field!(accelerator.vector_lanes, |text| or_platform(text, lanes), platform_or)
    },
    Key {
        name: "hardware.operand_bits",
        help: "width of inputs, weights and outputs",
        unit: "bit",
        allowed: BITS,
        ..field!(accelerator.operands, |text| or_platform(text, bits), |it| platform_or(
            it.map(Width::bits)
        ))
    },
    Key {
        name: "hardware.partial_sum_bits",
        help: "width of partial sums",
        unit: "bit",
        allowed: BITS,
        ..field!(accelerator.partial_sums, |text| or_platform(text, bits), |it| platform_or(
            it.map(Width::bits)
        ))
    },
    energy_key!(
        "hardware.mac_pj",
        "energy of a multiply-accumulate, for the cost model loop-nest",
        "pJ",
        accelerator.energy.mac
    ),
    energy_key!(
        "hardware.scratchpad_pj_per_byte",
        "energy of a byte of the scratchpad, for loop-nest",
        "pJ/byte",
        accelerator.energy.scratchpad
    ),
    energy_key!(
        "hardware.cluster_pj_per_byte",
        "energy of a byte of the buffers of clusters, for loop-nest",
        "pJ/byte",
        accelerator.energy.cluster
    ),
    energy_key!(
        "hardware.shared_memory_pj_per_byte",
        "energy of a byte of the shared memory, for loop-nest",
        "pJ/byte",
        accelerator.energy.shared_memory
    ),
    energy_key!(
        "hardware.noc_pj_per_byte",
        "energy of a byte that the NoC moves, for loop-nest",
        "pJ/byte",
        accelerator.energy.noc
    ),
    energy_key!(
        "hardware.dram_pj_per_byte",
        "energy of a byte of DRAM, for loop-nest",
        "pJ/byte",
        accelerator.energy.dram
    ),
    energy_key!(
        "hardware.leakage_pj_per_cycle",
        "leakage of an accelerator, for loop-nest",
        "pJ/cycle",
        accelerator.energy.leakage
    ),
    energy_key!(
        "hardware.clock_pj_per_cycle",
        "energy of clock and control of an accelerator that computes, for loop-nest",
        "pJ/cycle",
        accelerator.energy.clock
    ),
];
