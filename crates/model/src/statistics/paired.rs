//! Paired comparisons of two candidates over the same replications.

use super::{Fraction, Interval, Summary};

/// Differences between two candidates, replication by replication. Both ran under common random numbers,
/// so effects of the draws on both cancel in the difference.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PairedDifference {
    /// First minus second.
    pub difference: Summary,
    /// Number of pairs in which the first value is larger.
    pub wins: u64,
    /// Number of pairs in which the second value is larger. All other pairs are ties.
    pub losses: u64,
}

/// Spread of differences, as a share of their mean, up to which they are the same in every pair. A mean of 100 standard
/// deviations or of 10,000 says the same: the draws hardly touch the difference.
const LEAST_SPREAD: f64 = 0.01;

impl PairedDifference {
    /// Differences of `pairs` (first, second) of finite values.
    pub fn from_pairs(pairs: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let (mut wins, mut losses) = (0, 0);
        let difference = Summary::of(pairs.into_iter().map(|(first, second)| {
            wins += u64::from(first > second);
            losses += u64::from(first < second);
            first - second
        }));
        Self { difference, wins, losses }
    }

    /// Confidence interval of the mean difference at `level`; `None` below two pairs.
    pub fn interval(&self, level: Fraction) -> Option<Interval> {
        self.difference.interval(level)
    }

    /// Effect size of the pairs: the mean difference over the standard deviation of the differences (Cohen's d_z, 1988).
    /// 0 if all pairs are equal; `None` below two pairs, and if the spread is at most a hundredth of
    /// the mean, so that there is nothing to measure with.
    pub fn effect_size(&self) -> Option<f64> {
        let Summary { n, mean, sd, .. } = self.difference;
        match (n >= 2, sd > LEAST_SPREAD * mean.abs()) {
            (true, true) => Some(mean / sd),
            (true, false) if mean == 0.0 => Some(0.0),
            _ => None,
        }
    }

    /// Two-sided p-value of the paired t-test: the probability of a mean difference at least as large if the
    /// true difference is 0. `None` below two pairs.
    pub fn p_value(&self) -> Option<f64> {
        self.difference.p_value(0.0)
    }
}

/// p-values adjusted for multiple comparisons (Holm 1979), in the order given.
///
/// Of `m` values in ascending order, the `k`-th, counted from 0, becomes
/// `max over j ≤ k of min(1, (m − j)·p(j))`. If all hypotheses with an adjusted value of at most `α` are
/// rejected, the probability that any true one is among them is at most `α`, also for dependent tests.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<_> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut adjusted = vec![0.0; p_values.len()];
    let mut largest = 0.0f64;
    for (rank, index) in order.into_iter().enumerate() {
        let factor = (p_values.len() - rank) as f64;
        largest = largest.max((factor * p_values[index]).min(1.0));
        adjusted[index] = largest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Student's sleep data (Biometrika 6, 1908): hours of sleep that ten patients gained with two drugs;
    /// t = −4.0621 and p = 0.002833 in textbooks.
    #[test]
    fn the_sleep_data_differ_as_in_the_textbooks() {
        let first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
        let second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
        let paired = PairedDifference::from_pairs(first.into_iter().zip(second));
        assert!((paired.difference.mean + 1.58).abs() < 1e-12);
        assert!((paired.p_value().unwrap() - 0.002_832_89).abs() < 5e-9);
        assert_eq!(paired.interval(Fraction::P95), None, "too few pairs");
        assert_eq!((paired.wins, paired.losses), (0, 9));
        // d_z = t / √n
        assert!((paired.effect_size().unwrap() + 4.062_1 / 10f64.sqrt()).abs() < 1e-5);
    }

    #[test]
    fn an_effect_without_spread_has_no_size() {
        let of = |pairs: &[(f64, f64)]| {
            PairedDifference::from_pairs(pairs.iter().copied()).effect_size()
        };
        assert_eq!(of(&[(2.0, 1.0), (3.0, 2.0)]), None);
        assert_eq!(of(&[(2.0, 2.0), (3.0, 3.0)]), Some(0.0));
        assert_eq!(of(&[(2.0, 2.0)]), None);
        assert_eq!(of(&[(2.0, 1.0), (4.0, 1.0)]), Some(2.0 / 2f64.sqrt()));
        // Differences of 1 and 1.001: a mean of 1,415 standard deviations.
        assert_eq!(of(&[(2.0, 1.0), (2.001, 1.0)]), None);
    }

    #[test]
    fn equal_candidates_do_not_differ() {
        let paired = PairedDifference::from_pairs([(1.0, 1.0), (2.0, 2.0)]);
        assert_eq!(paired.p_value(), Some(1.0));
        assert_eq!((paired.wins, paired.losses), (0, 0));
    }

    /// Ascending 0.005, 0.01, 0.03, 0.04 times 4, 3, 2, 1: 0.02, 0.03, 0.06, and 0.04 raised to 0.06.
    #[test]
    fn holm_steps_down_and_never_decreases() {
        let adjusted = holm(&[0.01, 0.04, 0.03, 0.005]);
        for (found, expected) in adjusted.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((found - expected).abs() < 1e-15, "{adjusted:?}");
        }
    }

    #[test]
    fn adjusted_values_are_probabilities() {
        assert_eq!(holm(&[0.9, 0.6]), [1.0, 1.0]);
        assert_eq!(holm(&[0.2]), [0.2]);
        assert!(holm(&[]).is_empty());
    }
}
