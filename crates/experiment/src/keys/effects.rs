//! Keys of the effects of the device.

use serde_json::{Value, json};

use xrsim_sim::plan::Division;

use super::values::{
    ANY, FRACTION, RATE, TIME_US, any, boolean, fraction, in_us, or_word, positive, us, word_or,
};
use super::{KEY, Key, field, word};

const DIVISIONS: [(&str, Division); 2] =
    [("max-min", Division::MaxMin), ("proportional", Division::Proportional)];

/// A rate \[byte/ns = GB/s\]; `Some(None)` for `unlimited`.
fn gb_per_s(text: &str) -> Option<Option<f64>> {
    or_word(text, "unlimited", positive)
}

fn in_gb_per_s(rate: Option<f64>) -> Value {
    word_or("unlimited", rate)
}

pub(super) const KEYS: &[Key] = &[
    Key {
        name: "effects.switch",
        help: "whether a context switch takes time and energy",
        ..field!(engine.effects.switch.enabled, boolean)
    },
    Key {
        name: "effects.switch_fixed_us",
        help: "fixed time of a context switch (a choice without source)",
        unit: "us",
        allowed: TIME_US,
        ..field!(engine.effects.switch.fixed, us, in_us)
    },
    Key {
        name: "effects.switch_dram_pj_per_bit",
        help: "energy of the bits that a context switch moves to and from DRAM (SCAR, MICRO 2024)",
        unit: "pJ/bit",
        allowed: ANY,
        ..field!(engine.effects.switch.dram_pj_per_bit, any)
    },
    Key {
        name: "effects.migration",
        help: "whether a migration to another accelerator takes time and energy",
        ..field!(engine.effects.migration.enabled, boolean)
    },
    Key {
        name: "effects.migration_hop_us",
        help: "latency of a hop between two accelerators (SCAR, MICRO 2024, unverified)",
        unit: "us",
        allowed: TIME_US,
        ..field!(engine.effects.migration.hop, us, in_us)
    },
    Key {
        name: "effects.dram_gb_per_s",
        help: "limit of the DRAM bandwidth of all accelerators together, beside that of `dram: shared` \
               (LPDDR-class: 64)",
        unit: "GB/s",
        allowed: RATE,
        ..field!(engine.effects.bandwidth.dram, gb_per_s, in_gb_per_s)
    },
    Key {
        name: "effects.noc_gb_per_s",
        help: "NoC bandwidth at the shared memory that all accelerators share",
        unit: "GB/s",
        allowed: RATE,
        ..field!(engine.effects.bandwidth.noc, gb_per_s, in_gb_per_s)
    },
    Key {
        name: "effects.division",
        help: "division of shared bandwidth unless the scheduler divides it (proportional: MAGMA)",
        ..word!(engine.effects.bandwidth.division, DIVISIONS)
    },
    Key {
        name: "effects.non_overlapped",
        help: "fraction of the shorter of computation and DRAM transfer that the longer one does \
               not hide (MoCA: 0.5)",
        allowed: FRACTION,
        ..field!(engine.effects.non_overlapped, fraction)
    },
];
