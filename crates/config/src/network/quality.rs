//! `quality:` of a network: its goal, and what is known of what it reaches.

use xrsim_model::scenario::{PublishedQuality, QualityDirection, QualityGoal};

use crate::quantities::positive;
use crate::yaml::keys::keys;
use crate::yaml::values::{number, one_of, text};

/// Words of `better`.
const DIRECTIONS: [(&str, QualityDirection); 2] =
    [("higher", QualityDirection::Higher), ("lower", QualityDirection::Lower)];

/// Word for a direction of quality.
pub(crate) fn direction(direction: QualityDirection) -> &'static str {
    DIRECTIONS.iter().find(|(_, known)| *known == direction).map_or("", |(word, _)| word)
}

keys! {
    /// Quality goal (XRBench Table 1). Without it, a goal that is met.
    pub(super) fn quality() -> QualityGoal: "a quality goal" {
        /// Metric of the quality.
        metric = required(text());
        /// Value that is to be reached.
        target = required(positive());
        /// Which values of the metric are better.
        better = required(one_of(&DIRECTIONS));
        /// Value that is reached. Without it, the goal counts as met.
        measured = optional(number(0.0..=1e12));
        /// Value that was published, for `score.accuracy: published`.
        published = optional(published_quality());
    }
}

keys! {
    /// A quality that was published for this network.
    fn published_quality() -> PublishedQuality: "a published quality" {
        /// Value in the metric of the goal.
        value = required(number(0.0..=1e12));
        /// Source of the value.
        source = required(text());
    }
}
