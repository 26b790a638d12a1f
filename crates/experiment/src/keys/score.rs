//! Keys of scores.

use serde_json::json;

use xrsim_model::units::Millijoules;
use xrsim_sim::score::{AssumedQuality, NeverTriggered};

use super::values::{ANY, POSITIVE, TIME_MS, any, ms, positive};
use super::{KEY, Key, field, word};

const NEVER_TRIGGERED: [(&str, NeverTriggered); 3] = [
    ("excluded", NeverTriggered::Excluded),
    ("one", NeverTriggered::One),
    ("zero", NeverTriggered::Zero),
];

const ASSUMED: [(&str, AssumedQuality); 2] =
    [("goal", AssumedQuality::Goal), ("published", AssumedQuality::Published)];

pub(super) const KEYS: &[Key] = &[
    Key {
        name: "score.k_per_ms",
        help: "sensitivity k of the real-time score to the deadline (Definition 10)",
        unit: "1/ms",
        allowed: ANY,
        ..field!(score.k_per_ms, any)
    },
    Key {
        name: "score.energy_max_mj",
        help: "energy of one inference that scores 0 (Definition 11)",
        unit: "mJ",
        allowed: POSITIVE,
        ..field!(score.energy_max, |text| positive(text).map(Millijoules::new), |energy| json!(
            energy.get()
        ))
    },
    Key {
        name: "score.epsilon",
        help: "epsilon of lower-is-better accuracy scores (Definition 12)",
        allowed: POSITIVE,
        ..field!(score.epsilon, positive)
    },
    Key {
        name: "score.accuracy",
        help: "quality of networks without a measured one: their goal, or what was published (Definition 12)",
        ..word!(score.accuracy, ASSUMED)
    },
    Key {
        name: "score.warm_up_ms",
        help: "first part of the duration, whose frames run but are not scored",
        unit: "ms",
        allowed: TIME_MS,
        ..field!(score.warm_up, ms, |span| json!(span.as_ms()))
    },
    Key {
        name: "score.never_triggered",
        help: "score of a model that was never triggered",
        ..word!(score.never_triggered, NEVER_TRIGGERED)
    },
];
