//! Quality of experience: how many of the frames were processed at all?

use crate::column::Kind;

use super::table::ModelScore;

/// QoE score of a model over a run (XRBench Definition 13).
///
/// ```text
/// QoEScore = NumFrm_exec / NumFrm
/// ```
///
/// `executed` counts the frames that ran to completion, late ones included, and `released` those
/// that were due. The result lies in [0, 1]; 0 if nothing was due.
///
/// Deviation: frames that a control dependency did not ask for are not in NumFrm. The paper counts
/// streamed frames and says nothing of them.
pub fn qoe(executed: u64, requests: u64) -> f64 {
    match requests {
        0 => 0.0,
        _ => executed as f64 / requests as f64,
    }
}

/// The score of a model.
pub(super) const OF_MODEL: ModelScore = ModelScore {
    heading: "QoE",
    label: "QoE score",
    help: "Definition 13, executed share of the requests",
    kind: Kind::Score,
    of: |tally, _| qoe(tally.counts.executed, tally.counts.requests),
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_score_is_the_executed_part_of_the_released_frames() {
        assert_eq!(qoe(59, 60), 59.0 / 60.0);
        assert_eq!(qoe(60, 60), 1.0);
        assert_eq!(qoe(0, 60), 0.0);
        assert_eq!(qoe(0, 0), 0.0);
    }
}
