//! Accuracy score: the quality of a model relative to its goal.

use xrsim_model::column::Kind;
use xrsim_model::scenario::{QualityDirection, QualityGoal};

use super::{ModelScore, RequestScore};

/// Accuracy score of a model (XRBench Definition 12).
///
/// ```text
/// AccScore = min(1, raw)
/// raw      = QM_measured / QM_target            if higher is better
///          = QM_target / (QM_measured + ε)      if lower is better
/// ```
///
/// The measured value is not negative and the target above zero, both in the unit of the metric. The
/// result lies in [0, 1]; without a measured value the goal counts as met and the score is 1, as the
/// paper assumes for all its models.
///
/// Deviation: the paper prints `max(1, raw)`, never below 1, under a text that promises [0, 1]; and
/// `QM_measured / (QM_measured + ε)` for lower-is-better metrics, about 1 however bad the model is.
pub(crate) fn accuracy(goal: &QualityGoal, epsilon: f64) -> f64 {
    let raw = match (goal.measured, goal.better) {
        (None, _) => return 1.0,
        (Some(measured), QualityDirection::Higher) => measured / goal.target,
        (Some(measured), QualityDirection::Lower) => goal.target / (measured + epsilon),
    };
    raw.clamp(0.0, 1.0)
}

/// The score of an executed request.
pub(super) const OF_REQUEST: RequestScore = RequestScore {
    heading: "accuracy",
    label: "Accuracy score",
    help: "Definition 12",
    kind: Kind::Score,
    of: |it, _| it.model.quality(it.variant, |goal| accuracy(goal, it.settings.epsilon)),
};

/// Mean over the executed requests of a model.
pub(super) const OF_MODEL: ModelScore = ModelScore {
    heading: "accuracy",
    label: "Accuracy score",
    help: "Definition 12, mean over executed requests",
    kind: Kind::Score,
    of: |tally, _| tally.mean_over_executed(tally.sums.accuracy),
};

#[cfg(test)]
mod tests {
    use super::*;

    fn check(better: QualityDirection, target: f64, measured: Option<f64>, expected: f64) {
        let goal = QualityGoal { metric: "metric".into(), target, better, measured };
        let found = accuracy(&goal, 1e-6);
        assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
    }

    #[test]
    fn higher_is_better_scores_the_reached_part_of_the_target() {
        check(QualityDirection::Higher, 80.0, Some(60.0), 0.75);
        check(QualityDirection::Higher, 80.0, Some(80.0), 1.0);
        check(QualityDirection::Higher, 80.0, Some(96.0), 1.0);
        check(QualityDirection::Higher, 80.0, Some(0.0), 0.0);
    }

    /// 8.79/(17.58 + 10^-6) = 0.5/(1 + 5.688e-8); a word error rate of zero divides by ε alone.
    #[test]
    fn lower_is_better_scores_the_inverse() {
        check(QualityDirection::Lower, 8.79, Some(17.58), 8.79 / 17.580_001);
        check(QualityDirection::Lower, 8.79, Some(4.0), 1.0);
        check(QualityDirection::Lower, 8.79, Some(0.0), 1.0);
    }

    #[test]
    fn an_unmeasured_model_meets_its_goal() {
        check(QualityDirection::Higher, 80.0, None, 1.0);
        check(QualityDirection::Lower, 8.79, None, 1.0);
    }
}
