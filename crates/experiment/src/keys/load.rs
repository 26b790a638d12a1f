//! Keys of the load: when requests arrive, and which ones.

use serde_json::json;

use xrsim_sim::load::FrameMapping;

use super::values::{FACTOR, boolean, factor, fraction, or_word, word_or};
use super::{Allowed, KEY, Key, field, word};

const FRAME_MAPPINGS: [(&str, FrameMapping); 3] = [
    ("floor", FrameMapping::Floor),
    ("ceil", FrameMapping::Ceil),
    ("nominal", FrameMapping::Nominal),
];

pub(super) const KEYS: &[Key] = &[
    Key {
        name: "load.frame_mapping",
        help: "sensor frame of a model frame where the rates differ",
        ..word!(load.frame_mapping, FRAME_MAPPINGS)
    },
    Key {
        name: "load.jitter",
        help: "whether sensors jitter (Table 3)",
        ..field!(load.jitter, boolean)
    },
    Key {
        name: "load.random_phase",
        help: "whether each sensor starts at a random phase of its period instead of time 0",
        ..field!(load.random_phase, boolean)
    },
    Key {
        name: "load.deadline_factor",
        help: "factor of every relative deadline of the scenario",
        allowed: FACTOR,
        ..field!(load.deadline_factor, factor)
    },
    Key {
        name: "load.trigger_probability",
        help: "probability of every control dependency instead of the scenario's",
        allowed: Allowed::Text("a number from 0 to 1, or `scenario`"),
        in_mlsys2023: true,
        ..field!(load.trigger_probability, |text| or_word(text, "scenario", fraction), |it| {
            word_or("scenario", it)
        })
    },
];
