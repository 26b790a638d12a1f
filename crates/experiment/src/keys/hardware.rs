//! Keys of the hardware, which the platform or the system decides unless they are set.

use serde::Serialize;
use serde_json::{Value, json};

use xrsim_model::hardware::{Change, DeadlineShare, Fusion, Width};

use super::own::named;
use super::values::{
    BANDWIDTH, BITS, CLOCK, COPIES, ENERGY, LANES, LATENCY, MACS, MEMORY, PES, READS, SHARE,
    SWITCH, TASKS, bandwidth, bits, boolean, change, clock, copies, energy, in_change, in_kib,
    in_tasks, kib, lanes, latency, macs, names, or_word, pes, reads, share, tasks, word_or,
};
use super::{Allowed, KEY, Key, Set, field};

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

/// A key whose value is set, unless the platform decides.
macro_rules! set_key {
    ($($part:ident).+, $unit:literal, $allowed:ident, $read:ident) => {
        set_key!($($part).+, $unit, $allowed, $read, |it| it)
    };
    ($($part:ident).+, $unit:literal, $allowed:ident, $read:ident, $write:expr) => {
        Key {
            unit: $unit,
            allowed: $allowed,
            ..field!(
                $($part).+,
                |text| or_platform(text, $read),
                |it| platform_or(it.map($write))
            )
        }
    };
}

/// A key whose value is set, or a factor of what the platform has.
macro_rules! change_key {
    ($($part:ident).+, $unit:literal, $allowed:ident, $read:ident, $write:expr) => {
        Key {
            unit: $unit,
            allowed: $allowed,
            ..field!(
                $($part).+,
                |text| or_platform(text, |it| change(it, $read)),
                |it| changed(it, $write)
            )
        }
    };
}

/// A key of a resource of a chip, which `mlsys2023` semantics has too.
macro_rules! chip_key {
    ($part:ident, $unit:literal, $allowed:ident, $read:ident, $write:expr) => {
        Key { in_mlsys2023: true, ..change_key!(budget.$part, $unit, $allowed, $read, $write) }
    };
}

/// A key of an energy.
macro_rules! energy_key {
    ($part:ident, $unit:literal) => {
        change_key!(accelerator.energy.$part, $unit, ENERGY, energy, |it| json!(it))
    };
}

pub(super) const KEYS: &[Key] = &[
    Key {
        name: "hardware.fusion",
        help: "operators that cost no pass through memory of their own: concatenations (`in-place`), or these and \
               element-wise operators and pools after a layer (`elementwise`)",
        allowed: Allowed::Word(const { &names(&Fusion::ALL) }),
        default: Some("that of the accelerator, system, style or platform"),
        or_else: Some("none"),
        set: Set::Named(|s, text| {
            let fusion = named("fusion", &Fusion::ALL, text);
            fusion.map(|it| s.mapping.write_back.fusion = Some(it))
        }),
        get: |s| json!(s.mapping.write_back.fusion.map(Fusion::name)),
        ..KEY
    },
    Key {
        name: "hardware.fused_reads",
        help: "largest number of other operands that the operators riding along with a layer read",
        ..set_key!(mapping.write_back.fused_reads, "", READS, reads)
    },
    Key {
        name: "hardware.post_ops_per_cycle",
        help: "operations per cycle of an accelerator on outputs that leave it",
        ..set_key!(mapping.write_back.post_ops_per_cycle, "", LANES, lanes)
    },
    Key {
        name: "hardware.pinned",
        help: "models whose weights stay in the shared memory of every accelerator",
        allowed: TASKS,
        set: Set::Value(|s, text| {
            s.mapping.pinned = or_platform(text, tasks)?;
            Some(())
        }),
        get: |s| platform_or(s.mapping.pinned.as_deref().map(in_tasks)),
        ..KEY
    },
    Key {
        name: "hardware.mapping_deadline_share",
        help: "part of the time of a system that the models of a scenario may fill, for the mapping objective \
               `deadline`",
        allowed: SHARE,
        default: Some("that of the accelerator, system or style"),
        or_else: Some("0.5"),
        ..field!(mapping.deadline_share, |text: &str| share(text).map(Some), |it: Option<
            DeadlineShare,
        >| json!(
            it.map(DeadlineShare::get)
        ))
    },
    Key {
        name: "hardware.clock_mhz",
        help: "clock of every accelerator (the artifact's runtime has 1 GHz built in)",
        ..change_key!(accelerator.clock, "MHz", CLOCK, clock, |it| json!(it.as_mhz()))
    },
    Key {
        name: "hardware.pes",
        help: "PEs of each accelerator of a system file; styles have `pes`",
        ..chip_key!(pes, "", PES, pes, |it| json!(it))
    },
    Key {
        name: "hardware.noc_bandwidth_bytes_per_cycle",
        help: "NoC bandwidth at every level, of the whole chip of a style and of each accelerator of a system file",
        ..chip_key!(noc_bandwidth, "byte/cycle", BANDWIDTH, bandwidth, |it| json!(it))
    },
    Key {
        name: "hardware.shared_memory_kib",
        help: "shared memory, of the whole chip of a style and of each accelerator of a system file",
        ..chip_key!(shared_memory, "KiB", MEMORY, kib, |it| json!(in_kib(it)))
    },
    Key {
        name: "hardware.scratchpad_kib",
        help: "scratchpad of every PE",
        ..chip_key!(scratchpad, "KiB", MEMORY, kib, |it| json!(in_kib(it)))
    },
    Key {
        name: "hardware.cluster_memory_kib",
        help: "buffer of every cluster at every level",
        ..chip_key!(cluster_memory, "KiB", MEMORY, kib, |it| json!(in_kib(it)))
    },
    Key {
        name: "hardware.dram_bandwidth_bytes_per_cycle",
        help: "DRAM bandwidth, of the whole chip of a style and of each accelerator of a system file",
        ..chip_key!(dram_bandwidth, "byte/cycle", BANDWIDTH, bandwidth, |it| json!(it))
    },
    Key {
        name: "hardware.noc_unpartitioned",
        help: "whether each accelerator of a style has the whole NoC bandwidth, not its share",
        ..field!(budget.noc_unpartitioned, boolean)
    },
    Key {
        name: "hardware.dram_latency_cycles",
        help: "latency of DRAM",
        ..set_key!(accelerator.dram_latency, "cycle", LATENCY, latency)
    },
    Key {
        name: "hardware.noc_latency_cycles",
        help: "latency of the NoC at every level",
        ..set_key!(accelerator.noc.latency, "cycle", LATENCY, latency)
    },
    Key {
        name: "hardware.noc_step_latency",
        help: "whether every step of a NoC level pays its latency, not only the first and the last one",
        ..set_key!(accelerator.noc.step_latency, "", SWITCH, boolean)
    },
    Key {
        name: "hardware.noc_multicast",
        help: "whether one send of the NoC serves every unit that needs the element",
        ..set_key!(accelerator.noc.multicast, "", SWITCH, boolean)
    },
    Key {
        name: "hardware.noc_reduce",
        help: "whether the NoC adds partial sums on their way up",
        ..set_key!(accelerator.noc.reduce, "", SWITCH, boolean)
    },
    Key {
        name: "hardware.noc_forward",
        help: "whether neighbours forward elements to each other",
        ..set_key!(accelerator.noc.forward, "", SWITCH, boolean)
    },
    Key {
        name: "hardware.noc_single_weights",
        help: "whether units hold a single copy of their weights, so that loading weights is exposed",
        ..set_key!(accelerator.noc.single_weights, "", SWITCH, boolean)
    },
    Key {
        name: "hardware.shared_memory_copies",
        help: "copies of a tile of each tensor that the shared memory holds while the tile changes",
        ..set_key!(accelerator.shared_copies, "", COPIES, copies)
    },
    Key {
        name: "hardware.macs_per_pe_cycle",
        help: "multiply-accumulates per PE and cycle",
        ..set_key!(accelerator.macs_per_pe_cycle, "", MACS, macs)
    },
    Key {
        name: "hardware.vector_lanes",
        help: "operations per cycle of an accelerator on operators without multiply-accumulates",
        ..set_key!(accelerator.vector_lanes, "", LANES, lanes)
    },
    Key {
        name: "hardware.operand_bits",
        help: "width of inputs, weights and outputs",
        ..set_key!(accelerator.operands, "bit", BITS, bits, Width::bits)
    },
    Key {
        name: "hardware.partial_sum_bits",
        help: "width of partial sums",
        ..set_key!(accelerator.partial_sums, "bit", BITS, bits, Width::bits)
    },
    Key {
        name: "hardware.mac_pj",
        help: "energy of a multiply-accumulate, for the cost model loop-nest",
        ..energy_key!(mac, "pJ")
    },
    Key {
        name: "hardware.scratchpad_pj_per_byte",
        help: "energy of a byte of the scratchpad, for loop-nest",
        ..energy_key!(scratchpad, "pJ/byte")
    },
    Key {
        name: "hardware.cluster_pj_per_byte",
        help: "energy of a byte of the buffers of clusters, for loop-nest",
        ..energy_key!(cluster, "pJ/byte")
    },
    Key {
        name: "hardware.shared_memory_pj_per_byte",
        help: "energy of a byte of the shared memory, for loop-nest",
        ..energy_key!(shared_memory, "pJ/byte")
    },
    Key {
        name: "hardware.noc_pj_per_byte",
        help: "energy of a byte that the NoC moves, for loop-nest",
        ..energy_key!(noc, "pJ/byte")
    },
    Key {
        name: "hardware.dram_pj_per_byte",
        help: "energy of a byte of DRAM, for loop-nest",
        ..energy_key!(dram, "pJ/byte")
    },
    Key {
        name: "hardware.leakage_pj_per_cycle",
        help: "leakage of an accelerator, for loop-nest",
        ..energy_key!(leakage, "pJ/cycle")
    },
    Key {
        name: "hardware.clock_pj_per_cycle",
        help: "energy of clock and control of an accelerator that computes, for loop-nest",
        ..energy_key!(clock, "pJ/cycle")
    },
];
