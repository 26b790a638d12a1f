//! Keys of the hardware, which the platform or the system decides unless they are set.

use serde::Serialize;
use serde_json::{Value, json};

use crate::hardware::{Change, Width};

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
    Key {
        name: "hardware.noc_step_latency",
        help: "whether every step of a NoC level pays its latency, not only the first and the last one",
        unit: "",
        allowed: SWITCH,
        ..field!(accelerator.noc.step_latency, |text| or_platform(text, boolean), platform_or)
    },
    Key {
        name: "hardware.noc_multicast",
        help: "whether one send of the NoC serves every unit that needs the element",
        unit: "",
        allowed: SWITCH,
        ..field!(accelerator.noc.multicast, |text| or_platform(text, boolean), platform_or)
    },
    Key {
        name: "hardware.noc_reduce",
        help: "whether the NoC adds partial sums on their way up",
        unit: "",
        allowed: SWITCH,
        ..field!(accelerator.noc.reduce, |text| or_platform(text, boolean), platform_or)
    },
    Key {
        name: "hardware.noc_forward",
        help: "whether neighbours forward elements to each other",
        unit: "",
        allowed: SWITCH,
        ..field!(accelerator.noc.forward, |text| or_platform(text, boolean), platform_or)
    },
    Key {
        name: "hardware.noc_single_weights",
        help: "whether units hold a single copy of their weights, so that loading weights is exposed",
        unit: "",
        allowed: SWITCH,
        ..field!(accelerator.noc.single_weights, |text| or_platform(text, boolean), platform_or)
    },
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
    Key {
        name: "hardware.mac_pj",
        help: "energy of a multiply-accumulate, for the cost model loop-nest",
        unit: "pJ",
        allowed: ENERGY,
        ..field!(accelerator.energy.mac, |text| or_platform(text, |it| change(it, energy)), |it| {
            changed(it, |it| json!(it))
        })
    },
    Key {
        name: "hardware.scratchpad_pj_per_byte",
        help: "energy of a byte of the scratchpad, for loop-nest",
        unit: "pJ/byte",
        allowed: ENERGY,
        ..field!(
            accelerator.energy.scratchpad,
            |text| or_platform(text, |it| change(it, energy)),
            |it| changed(it, |it| json!(it))
        )
    },
    Key {
        name: "hardware.cluster_pj_per_byte",
        help: "energy of a byte of the buffers of clusters, for loop-nest",
        unit: "pJ/byte",
        allowed: ENERGY,
        ..field!(
            accelerator.energy.cluster,
            |text| or_platform(text, |it| change(it, energy)),
            |it| changed(it, |it| json!(it))
        )
    },
    Key {
        name: "hardware.shared_memory_pj_per_byte",
        help: "energy of a byte of the shared memory, for loop-nest",
        unit: "pJ/byte",
        allowed: ENERGY,
        ..field!(
            accelerator.energy.shared_memory,
            |text| or_platform(text, |it| change(it, energy)),
            |it| changed(it, |it| json!(it))
        )
    },
    Key {
        name: "hardware.noc_pj_per_byte",
        help: "energy of a byte that the NoC moves, for loop-nest",
        unit: "pJ/byte",
        allowed: ENERGY,
        ..field!(accelerator.energy.noc, |text| or_platform(text, |it| change(it, energy)), |it| {
            changed(it, |it| json!(it))
        })
    },
    Key {
        name: "hardware.dram_pj_per_byte",
        help: "energy of a byte of DRAM, for loop-nest",
        unit: "pJ/byte",
        allowed: ENERGY,
        ..field!(accelerator.energy.dram, |text| or_platform(text, |it| change(it, energy)), |it| {
            changed(it, |it| json!(it))
        })
    },
    Key {
        name: "hardware.leakage_pj_per_cycle",
        help: "leakage of an accelerator, for loop-nest",
        unit: "pJ/cycle",
        allowed: ENERGY,
        ..field!(
            accelerator.energy.leakage,
            |text| or_platform(text, |it| change(it, energy)),
            |it| changed(it, |it| json!(it))
        )
    },
    Key {
        name: "hardware.clock_pj_per_cycle",
        help: "energy of clock and control of an accelerator that computes, for loop-nest",
        unit: "pJ/cycle",
        allowed: ENERGY,
        ..field!(
            accelerator.energy.clock,
            |text| or_platform(text, |it| change(it, energy)),
            |it| changed(it, |it| json!(it))
        )
    },
];
