//! Accuracy score: the quality of a model relative to its goal.

use xrsim_model::column::Kind;
use xrsim_model::scenario::{QualityDirection, QualityGoal};

use super::{AssumedQuality, ModelScore, RequestScore, ScoreSettings};

/// Accuracy score of a model (XRBench Definition 12).
///
/// ```text
/// AccScore = min(1, raw)
/// raw      = QM_measured / QM_target            if higher is better
///          = QM_target / (QM_measured + ε)      if lower is better
/// ```
///
/// The measured value is not negative and the target above zero, both in the unit of the metric. The
/// result lies in [0, 1]; without a measured value, or on request a published one, the goal counts as met and
/// the score is 1, as the paper assumes for all its models.
///
/// Deviation: the paper prints `max(1, raw)`, never below 1, under a text that promises [0, 1]; and
/// `QM_measured / (QM_measured + ε)` for lower-is-better metrics, about 1 however bad the model is.
pub(crate) fn accuracy(goal: &QualityGoal, settings: &ScoreSettings) -> f64 {
    let published = || match settings.accuracy {
        AssumedQuality::Goal => None,
        AssumedQuality::Published => goal.published.as_ref().map(|it| it.value),
    };
    let raw = match (goal.measured.or_else(published), goal.better) {
        (None, _) => return 1.0,
        (Some(measured), QualityDirection::Higher) => measured / goal.target,
        (Some(measured), QualityDirection::Lower) => goal.target / (measured + settings.epsilon),
    };
    raw.clamp(0.0, 1.0)
}

/// The score of an executed request.
pub(super) const OF_REQUEST: RequestScore = RequestScore {
    heading: "accuracy",
    label: "Accuracy score",
    help: "Definition 12",
    kind: Kind::Score,
    of: |it, _| it.model.quality(it.variant, |goal| accuracy(goal, it.settings)),
};

/// Mean over the executed requests of a model.
pub(super) const OF_MODEL: ModelScore = ModelScore {
    heading: "accuracy",
    label: "Accuracy score",
    help: "Definition 12, mean over the executed requests of a model, 0 without any; of a run the mean over its models",
    kind: Kind::Score,
    of: |tally, _| tally.mean_over_executed(tally.sums.accuracy),
};

#[cfg(test)]
mod tests {
    use super::*;
    use xrsim_model::scenario::PublishedQuality;

    fn check(better: QualityDirection, target: f64, measured: Option<f64>, expected: f64) {
        let goal =
            QualityGoal { metric: "metric".into(), target, better, measured, published: None };
        let found = accuracy(&goal, &ScoreSettings::default());
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

    /// MiDaS v2.1 small: 29.27 % on KITTI by its authors, and the target of XRBench is 1.05 times the 21.81 % of v2.
    #[test]
    fn a_published_quality_is_taken_on_request_unless_one_was_measured() {
        let published = Some(PublishedQuality { value: 29.27, source: "README".into() });
        let better = QualityDirection::Lower;
        let metric = "delta > 1.25".into();
        let mut goal = QualityGoal { metric, target: 22.9, better, measured: None, published };
        let settings =
            ScoreSettings { accuracy: AssumedQuality::Published, ..ScoreSettings::default() };
        assert_eq!(accuracy(&goal, &ScoreSettings::default()), 1.0);
        assert!((accuracy(&goal, &settings) - 22.9 / 29.270_001).abs() < 1e-12);
        goal.measured = Some(20.0);
        assert_eq!(accuracy(&goal, &settings), 1.0);
    }

    #[test]
    fn an_unmeasured_model_meets_its_goal() {
        check(QualityDirection::Higher, 80.0, None, 1.0);
        check(QualityDirection::Lower, 8.79, None, 1.0);
    }
}
