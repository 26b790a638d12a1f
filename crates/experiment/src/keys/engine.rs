//! Keys of the engine.

use serde_json::json;

use xrsim_sim::plan::DeadlineMiss;

use super::values::{RATE, TIME_MS, boolean, ms, or_word, positive, word_or};
use super::{KEY, Key, field, word};

const DEADLINE_MISS: [(&str, DeadlineMiss); 2] =
    [("finish", DeadlineMiss::Finish), ("abort", DeadlineMiss::Abort)];

/// A size \[GiB\]; `Some(None)` for `unlimited`.
fn gib(text: &str) -> Option<Option<f64>> {
    or_word(text, "unlimited", positive)
}

pub(super) const KEYS: &[Key] = &[
    Key {
        name: "engine.deadline_miss",
        help: "whether a request that runs past its deadline finishes or is aborted",
        ..word!(engine.deadline_miss, DEADLINE_MISS)
    },
    Key {
        name: "engine.grace_ms",
        help: "time after its deadline for which a waiting request is kept",
        unit: "ms",
        allowed: TIME_MS,
        ..field!(engine.grace, ms, |span| json!(span.as_ms()))
    },
    Key {
        name: "engine.replace_by_newer",
        help: "whether a new frame replaces a waiting older frame of its model",
        ..field!(engine.replace_by_newer, boolean)
    },
    Key {
        name: "engine.dram_gib",
        help: "DRAM for the weights and caches of sequences; a sequence waits until there is room",
        unit: "GiB",
        allowed: RATE,
        ..field!(engine.dram_gib, gib, |size| word_or("unlimited", size))
    },
];
