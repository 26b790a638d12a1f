//! Number of samples that a statement about a percentile needs: the early-stopping rule of MLPerf
//! Inference.

use super::Fraction;

/// Early-stopping rule at one percentile and one confidence, with tolerance 0.
///
/// Each query is within its bound or violates it. A run supports the statement "at least a fraction
/// `percentile` of all queries is within the bound" if its number of violations would be unlikely in case
/// the statement were false:
///
/// ```text
/// P[Bin(n, 1 − percentile) ≤ t] < 1 − confidence
/// ```
///
/// where `t` of `n` queries are violations. At a percentile and a confidence of 99 %, a run without
/// violations needs 459 queries: `0.99^459 < 0.01`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EarlyStopping {
    percentile: Fraction,
    confidence: Fraction,
}

impl EarlyStopping {
    /// Rule of MLPerf for `percentile`, with a confidence of 99 %.
    pub const fn at(percentile: Fraction) -> Self {
        Self::new(percentile, Fraction::P99)
    }

    /// Rule for `percentile` with this `confidence`.
    pub const fn new(percentile: Fraction, confidence: Fraction) -> Self {
        Self { percentile, confidence }
    }

    /// `h(t)`: smallest number of queries within the bound, at least 1, that supports the statement with
    /// `violations` beside them. [`u64::MAX`] if no number in range does.
    ///
    /// The time of this function grows with the square root of `violations`; a million take milliseconds.
    pub fn required(&self, violations: u64) -> u64 {
        let enough = |passing: u64| self.met(passing.saturating_add(violations), violations);
        let mut high = 1u64;
        while !enough(high) {
            if high == u64::MAX {
                return u64::MAX;
            }
            high = high.saturating_mul(2);
        }
        let mut low = high / 2;
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            match enough(middle) {
                true => high = middle,
                false => low = middle,
            }
        }
        high
    }

    /// `h(t) + t`: smallest number of queries that supports the statement with `violations` among them.
    /// Without violations it is the number of samples below which the percentile says nothing.
    pub fn queries(&self, violations: u64) -> u64 {
        self.required(violations).saturating_add(violations)
    }

    /// Whether a run of `queries` with `violations` among them supports the statement.
    pub fn met(&self, queries: u64, violations: u64) -> bool {
        let within = 1.0 - self.percentile.get();
        queries > violations && at_most(violations, queries, within) < 1.0 - self.confidence.get()
    }

    /// Index, from 0, of a conservative estimate of the percentile among `samples` samples in ascending
    /// order, as in the single-stream and multi-stream scenarios of MLPerf. `None` below `h(1) + 1` samples.
    ///
    /// Let `t` be the largest number of violations with which the run supports the statement. The `t − 1`
    /// largest samples are discarded; the largest one left, at `samples − t`, is the estimate.
    pub fn estimate(&self, samples: u64) -> Option<u64> {
        if !self.met(samples, 1) {
            return None;
        }
        let (mut allowed, mut refused) = (1, samples);
        while refused - allowed > 1 {
            let middle = allowed + (refused - allowed) / 2;
            match self.met(samples, middle) {
                true => allowed = middle,
                false => refused = middle,
            }
        }
        Some(samples - allowed)
    }
}

/// P[Bin(`n`, `q`) ≤ `t`] for `t` < `n`.
///
/// Probabilities are relative to that of `t`, from which its neighbours follow by ratios. There are no
/// factorials, because their logarithms would lose half of the digits at `n` = 10^7. If a sum leaves the
/// range of `f64`, the result is 0 or 1 to all digits.
fn at_most(t: u64, n: u64, q: f64) -> f64 {
    let odds = (1.0 - q) / q;
    let below = sum((0..t).rev(), |k| (k + 1) as f64 / (n - k) as f64 * odds);
    let above = sum(t + 1..=n, |k| (n - k + 1) as f64 / k as f64 / odds);
    1.0 / (1.0 + above / (1.0 + below))
}

/// Sum of the terms after a first term of 1. `ratio` gives the ratio of each term to the one before it. The
/// sum ends when further terms no longer change it.
fn sum(steps: impl Iterator<Item = u64>, ratio: impl Fn(u64) -> f64) -> f64 {
    let (mut term, mut sum) = (1.0, 0.0);
    for k in steps {
        term *= ratio(k);
        sum += term;
        if term < sum * 1e-20 || sum == f64::INFINITY {
            break;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(percentile: f64) -> EarlyStopping {
        EarlyStopping::at(Fraction::new(percentile).unwrap())
    }

    /// Table that MLPerf publishes with the rule, and results of LoadGen 6.0.17 beyond it.
    #[test]
    fn required_queries_are_those_of_loadgen() {
        let violations = [0, 1, 2, 3, 4, 5, 10, 20, 50, 100];
        let table = [
            (0.90, [44, 63, 79, 94, 109, 122, 187, 305, 631, 1146]),
            (0.95, [90, 129, 163, 195, 225, 254, 388, 636, 1322, 2404]),
            (0.97, [152, 218, 275, 329, 379, 428, 657, 1077, 2243, 4082]),
            (0.99, [459, 661, 836, 998, 1153, 1302, 2000, 3284, 6848, 12_471]),
            (0.999, [4603, 6635, 8401, 10_039, 11_597, 13_100, 20_130, 33_077, 69_008, 125_726]),
        ];
        for (percentile, expected) in table {
            assert_eq!(violations.map(|t| at(percentile).required(t)), expected);
        }
    }

    /// Binomial sum term by term; exact enough as long as no term underflows.
    fn slow_at_most(t: u64, n: u64, q: f64) -> f64 {
        let mut term = (1.0 - q).powi(n as i32);
        let mut sum = term;
        for k in 1..=t {
            term *= (n - k + 1) as f64 / k as f64 * q / (1.0 - q);
            sum += term;
        }
        sum
    }

    #[test]
    fn the_distribution_is_the_binomial_one() {
        for (t, n, q) in [(0, 1, 0.5), (3, 10, 0.2), (9, 10, 0.2), (50, 400, 0.1), (5, 900, 0.01)] {
            let (found, expected) = (at_most(t, n, q), slow_at_most(t, n, q));
            assert!((found / expected - 1.0).abs() < 1e-11, "{t} {n} {q}: {found} {expected}");
        }
    }

    /// Known values where factorials and powers overflow: 0.9^n, and the median of a symmetric
    /// distribution, P[X ≤ n/2] = (1 + P[X = n/2])/2 with P[X = n/2] = 1/√(π·n/2)·(1 − 1/(4n)).
    #[test]
    fn the_distribution_is_known_where_factorials_are_not() {
        assert!((at_most(0, 3000, 0.1) / 0.9f64.powi(3000) - 1.0).abs() < 1e-11);
        let n = 10_000_000u64;
        let middle = (1.0 - 0.25 / n as f64) / (std::f64::consts::PI * n as f64 / 2.0).sqrt();
        assert!((at_most(n / 2, n, 0.5) - (1.0 + middle) / 2.0).abs() < 1e-12);
        assert_eq!(at_most(5, n, 0.5), 0.0);
        assert_eq!(at_most(n - 5, n, 0.5), 1.0);
    }

    /// Values of the binomial distribution of SciPy 1.17. For the last three, the logarithm of a factorial
    /// would keep only eight decimals.
    #[test]
    fn required_queries_are_exact_in_the_thick_of_long_runs() {
        for (percentile, t, expected) in [
            (0.9, 7, 149),
            (0.99, 1000, 106_569),
            (0.9, 100_000, 907_003),
            (0.99, 100_000, 9_973_443),
            (0.999, 100_000, 100_637_761),
        ] {
            let rule = at(percentile);
            assert_eq!(rule.required(t), expected, "{percentile} {t}");
            assert!(rule.met(expected + t, t) && !rule.met(expected + t - 1, t));
        }
    }

    #[test]
    fn the_least_count_is_the_least() {
        for percentile in [0.5, 0.9, 0.97, 0.99, 0.999] {
            for t in [0, 1, 7, 100, 1000, 30_000, 100_000] {
                let (rule, n) = (at(percentile), at(percentile).queries(t));
                assert!(rule.met(n, t) && !rule.met(n - 1, t), "{percentile} {t}");
            }
        }
    }

    #[test]
    fn a_run_is_long_enough_exactly_from_the_required_number_on() {
        let rule = at(0.99);
        assert!(!rule.met(458, 0) && rule.met(459, 0));
        assert!(!rule.met(661, 1) && rule.met(662, 1));
        assert_eq!((rule.queries(0), rule.queries(1)), (459, 662));
        assert!(!rule.met(0, 0) && !rule.met(3, 7));
    }

    /// Pairs (n, t) as LoadGen 6.0.17 computes them.
    #[test]
    fn estimates_are_those_of_loadgen() {
        let cases = [
            (0.90, 64, vec![(81, 2), (1024, 80), (10_000, 930), (24_576, 2348), (60_000, 5829)]),
            (0.97, 219, vec![(661, 9), (10_000, 260), (60_000, 1702)]),
            (0.99, 662, vec![(10_000, 77), (60_000, 543)]),
        ];
        for (percentile, fewest, pairs) in cases {
            let rule = at(percentile);
            assert_eq!(rule.queries(1), fewest, "{percentile}");
            assert_eq!(rule.estimate(fewest - 1), None, "{percentile}");
            assert_eq!(rule.estimate(fewest), Some(fewest - 1), "{percentile}");
            for (n, t) in pairs {
                assert_eq!(rule.estimate(n), Some(n - t), "{percentile} {n}");
            }
        }
        assert_eq!(at(0.9).estimate(0), None);
    }

    #[test]
    fn numbers_out_of_all_proportion_give_an_answer() {
        let strict = EarlyStopping::new(Fraction::new(1e-300).unwrap(), Fraction::P99);
        assert_eq!(strict.required(0), 1);
        assert!(at(0.9).met(u64::MAX, 0));
        assert!(!at(0.9).met(u64::MAX, u64::MAX));
        // 1 − p = 2^-53 = 1 − c: n > 53·ln 2·2^53 without violations.
        let sure = Fraction::new(1.0 - f64::EPSILON / 2.0).unwrap();
        let expected = 53.0 * std::f64::consts::LN_2 * (1u64 << 53) as f64;
        let found = EarlyStopping::new(sure, sure).required(0) as f64;
        assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
    }
}
