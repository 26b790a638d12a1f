//! Inference score: the product of the unit scores of a request.

use xrsim_model::column::Kind;

use super::RequestScore;

/// Inference score (XRBench Definition 14).
///
/// ```text
/// Score_inf = RtScore · EnScore · AccScore
/// ```
pub(super) const OF_REQUEST: RequestScore = RequestScore {
    heading: "inference",
    label: "Inference score",
    help: "Definition 14, product of the unit scores",
    kind: Kind::Score,
    of: |_, units| units.realtime * units.energy * units.accuracy,
};
