//! QoE score: the executed share of the requests.

use xrsim_model::column::Kind;

use super::ModelScore;

/// QoE score of a model over a run (XRBench Definition 13).
///
/// ```text
/// QoEScore = NumFrm_exec / NumFrm
/// ```
///
/// `executed` counts the requests that ran to their end, late ones included; `requests` counts all. The
/// result is in [0, 1]; it is 0 without requests.
///
/// Deviation: requests that a control dependency did not trigger are not in NumFrm. The paper counts
/// streamed frames and does not mention untriggered ones.
pub(crate) fn qoe(executed: u64, requests: u64) -> f64 {
    match requests {
        0 => 0.0,
        _ => executed as f64 / requests as f64,
    }
}

/// The score of a model.
pub(super) const OF_MODEL: ModelScore = ModelScore {
    heading: "QoE",
    label: "QoE score",
    help: "Definition 13, executed share of the requests of a model; of a run the mean over its models",
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
