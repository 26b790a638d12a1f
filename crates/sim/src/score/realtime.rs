//! Real-time score: the end of a request relative to its deadline.

use xrsim_model::column::Kind;
use xrsim_model::units::SimTime;

use super::{ModelScore, RequestScore};

/// Real-time score of one inference (XRBench Definition 10).
///
/// ```text
/// RtScore = 1 / (1 + exp(k · (L_inf − T_sl)))
/// ```
///
/// `L_inf = end − T_req` is the response time, waiting included, and `T_sl = T_dl − T_req` is the slack
/// (Definition 9). T_req cancels: the exponent is `k` times the lateness `end − T_dl` in
/// milliseconds. The result lies in [0, 1]: exactly 1/2 on the deadline, for every `k_per_ms` from 0
/// (always 1/2) to infinity (a step), and exactly 0 or 1 where the exponential saturates.
///
/// Deviation: the paper gives `k = 15` without a unit and asks for ±0.5 ms around a deadline of
/// 10 ms, which only 15 per *millisecond* gives: 99 % at 0.306 ms before the deadline, 1 % after it.
pub fn realtime(end: SimTime, deadline: SimTime, k_per_ms: f64) -> f64 {
    let lateness_ms = end.ms_after(deadline);
    // On the deadline an infinite k would make the exponent 0 · ∞.
    if lateness_ms == 0.0 {
        return 0.5;
    }
    1.0 / (1.0 + (k_per_ms * lateness_ms).exp())
}

/// The score of an executed request.
pub(super) const OF_REQUEST: RequestScore = RequestScore {
    heading: "realtime",
    label: "Real-time score",
    help: "Definition 10",
    kind: Kind::Score,
    of: |it, _| realtime(it.end, it.deadline, it.settings.k_per_ms),
};

/// Mean over the executed requests of a model.
pub(super) const OF_MODEL: ModelScore = ModelScore {
    heading: "realtime",
    label: "Real-time score",
    help: "Definition 10, mean over the executed requests of a model, 0 without any; of a run the mean over its models",
    kind: Kind::Score,
    of: |tally, _| tally.mean_over_executed(tally.sums.realtime),
};

#[cfg(test)]
mod tests {
    use super::*;

    const DEADLINE: SimTime = SimTime::from_ns(33_333_333);

    fn at(lateness_ns: i64, k_per_ms: f64) -> f64 {
        realtime(DEADLINE.offset_by(lateness_ns), DEADLINE, k_per_ms)
    }

    /// 1/(1 + e^(15·0.1)) = 0.1824255238; and 1 − that as much before the deadline.
    #[test]
    fn the_score_is_the_logistic_function_of_the_lateness_in_milliseconds() {
        assert!((at(100_000, 15.0) - 0.182_425_523_806_356_34).abs() < 1e-15);
        assert!((at(-100_000, 15.0) - 0.817_574_476_193_643_6).abs() < 1e-15);
        assert!((at(306_341, 15.0) - 0.01).abs() < 1e-6);
    }

    #[test]
    fn the_deadline_itself_scores_one_half_whatever_k_is() {
        for k in [0.0, 5.0, 15.0, f64::INFINITY] {
            assert_eq!(at(0, k), 0.5);
        }
    }

    #[test]
    fn k_zero_ignores_the_deadline_and_infinite_k_is_a_step() {
        assert_eq!(at(5_000_000, 0.0), 0.5);
        assert_eq!(at(1, f64::INFINITY), 0.0);
        assert_eq!(at(-1, f64::INFINITY), 1.0);
    }

    #[test]
    fn far_from_the_deadline_the_score_saturates() {
        assert_eq!(realtime(SimTime::MAX, SimTime::ZERO, 15.0), 0.0);
        assert_eq!(realtime(SimTime::ZERO, SimTime::MAX, 15.0), 1.0);
    }
}
