//! Keys of the engine.

use serde_json::json;

use xrsim_sim::plan::DeadlineMiss;

use super::values::{TIME_MS, boolean, ms};
use super::{KEY, Key, field, word};

const DEADLINE_MISS: [(&str, DeadlineMiss); 2] =
    [("finish", DeadlineMiss::Finish), ("abort", DeadlineMiss::Abort)];

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
];
