//! Early stopping (LoadGen v2.0 and later): how many queries show, with a confidence of 99 %, that a
//! latency percentile holds.
//!
//! A query is late with probability at most 1 − p if the percentile p holds. Of `n` queries `t` were
//! late; the run is long enough if that few would be too lucky otherwise:
//!
//! ```text
//! P[Bin(n, 1 − p) ≤ t] < 1 − c        c = 0.99
//! ```
//!
//! The least `h ≥ 1` for which `n = h + t` queries are enough is [`queries_within_bound`]. The sum is
//! taken from its largest term down, which itself follows Loader, Fast and Accurate Computation of
//! Binomial Probabilities (2000), to a relative error of some 1e-14.

/// Confidence c.
const CONFIDENCE: f64 = 0.99;

/// Whether `n` queries of which `late` were late show that `percentile` holds.
///
/// `percentile` is a fraction in (0, 1); `late` ≤ `n`.
pub fn suffices(n: u64, late: u64, percentile: f64) -> bool {
    // From the mean up the sum is at least a half: the median is not above it.
    (late as f64) < n as f64 * (1.0 - percentile)
        && binomial_cdf(late, n, percentile) < 1.0 - CONFIDENCE
}

/// `h(t)`: the least number of queries within the latency bound, at least 1, that makes up for
/// `late` queries beyond it.
pub fn queries_within_bound(late: u64, percentile: f64) -> u64 {
    let enough = |h: u64| suffices(h.saturating_add(late), late, percentile);
    let mut most = 1u64;
    while !enough(most) && most < 1 << 62 {
        most *= 2;
    }
    partition(most / 2 + 1, most, |h| !enough(h))
}

/// The largest number `t ≥ 1` of late queries that `n` queries make up for: `h(t) + t ≤ n`. The
/// latency of rank `n − t` (counted from 0) estimates the percentile from above. `None` if `n` is too
/// small even for one.
pub fn discardable(n: u64, percentile: f64) -> Option<u64> {
    if !suffices(n, 1, percentile) {
        return None;
    }
    Some(partition(2, n, |t| suffices(n, t, percentile)) - 1)
}

/// Fewest queries of which an estimate can be made: `h(1) + 1`.
pub fn queries_for_estimate(percentile: f64) -> u64 {
    queries_within_bound(1, percentile).saturating_add(1)
}

/// The first number in [`low`, `high`] for which `before` does not hold, `high` if there is none;
/// `before` holds up to some number and not from there on.
fn partition(mut low: u64, mut high: u64, before: impl Fn(u64) -> bool) -> u64 {
    while low < high {
        let middle = low + (high - low) / 2;
        if before(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// `P[Bin(n, 1 − p) ≤ k]` for k below the mean.
fn binomial_cdf(k: u64, n: u64, p: f64) -> f64 {
    let mut term = binomial_term(k, n, p);
    let mut sum = 0.0;
    let odds = p / (1.0 - p);
    let mut left = k;
    // Below the mean each term is smaller than the one above it, by k/(n − k + 1) · p/(1 − p), so
    // that the rest is negligible once a term no longer changes the sum.
    loop {
        let before = sum;
        sum += term;
        if left == 0 || sum == before {
            return sum;
        }
        term *= left as f64 / (n - left + 1) as f64 * odds;
        left -= 1;
    }
}

/// `P[Bin(n, 1 − p) = k]` for k < n, by Loader's saddle-point expansion.
fn binomial_term(k: u64, n: u64, p: f64) -> f64 {
    if k == 0 {
        return (n as f64 * p.ln()).exp();
    }
    let (late, total, within) = (k as f64, n as f64, (n - k) as f64);
    let exponent = stirling_error(total)
        - stirling_error(late)
        - stirling_error(within)
        - deviance(late, total * (1.0 - p))
        - deviance(within, total * p);
    let scale = std::f64::consts::TAU * late * within / total;
    exponent.exp() / scale.sqrt()
}

/// `ln n! − ln(√(2πn) (n/e)^n)`.
fn stirling_error(n: f64) -> f64 {
    if n < 16.0 {
        let factorial: f64 = (1..=n as u32).map(f64::from).product();
        return factorial.ln() - (0.5 * (std::f64::consts::TAU * n).ln() + n * n.ln() - n);
    }
    let squared = n * n;
    let mut series = 1.0 / 1188.0;
    for coefficient in [-1.0 / 1680.0, 1.0 / 1260.0, -1.0 / 360.0, 1.0 / 12.0] {
        series = coefficient + series / squared;
    }
    series / n
}

/// `x ln(x/m) + m − x`, without cancellation where x is near m.
fn deviance(x: f64, m: f64) -> f64 {
    let v = (x - m) / (x + m);
    if v.abs() >= 0.1 {
        return x * (x / m).ln() + m - x;
    }
    let mut sum = (x - m) * v;
    let mut power = 2.0 * x * v;
    for odd in (3..).step_by(2) {
        power *= v * v;
        let next = sum + power / f64::from(odd);
        if next == sum {
            break;
        }
        sum = next;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// h(t) for t = 0, 1, 2, 3, 4, 5, 10, 20, 50, 100, as LoadGen 6.0.17 finds it.
    const TABLE: [(f64, [u64; 10]); 5] = [
        (0.90, [44, 63, 79, 94, 109, 122, 187, 305, 631, 1146]),
        (0.95, [90, 129, 163, 195, 225, 254, 388, 636, 1322, 2404]),
        (0.97, [152, 218, 275, 329, 379, 428, 657, 1077, 2243, 4082]),
        (0.99, [459, 661, 836, 998, 1153, 1302, 2000, 3284, 6848, 12_471]),
        (0.999, [4603, 6635, 8401, 10_039, 11_597, 13_100, 20_130, 33_077, 69_008, 125_726]),
    ];

    #[test]
    fn the_table_is_that_of_loadgen() {
        for (percentile, expected) in TABLE {
            let late = [0, 1, 2, 3, 4, 5, 10, 20, 50, 100];
            let found = late.map(|late| queries_within_bound(late, percentile));
            assert_eq!(found, expected, "{percentile}");
        }
    }

    /// Without a late query the sum is p^n: 0.9^43 = 0.01078, 0.9^44 = 0.0097.
    #[test]
    fn without_late_queries_it_is_a_power() {
        assert!(!suffices(43, 0, 0.9));
        assert!(suffices(44, 0, 0.9));
        assert!((binomial_cdf(0, 44, 0.9) - 0.9f64.powi(44)).abs() < 1e-16);
    }

    /// Every h(t) is enough, and one query less is not; up to 100,000 late queries.
    #[test]
    fn the_least_count_is_the_least() {
        for percentile in [0.5, 0.9, 0.97, 0.99, 0.999] {
            for late in [0, 1, 7, 100, 1000, 30_000, 100_000] {
                let h = queries_within_bound(late, percentile);
                assert!(suffices(h + late, late, percentile), "{percentile} {late}");
                assert!(h == 1 || !suffices(h + late - 1, late, percentile), "{percentile} {late}");
            }
        }
    }

    /// LoadGen 6.0.17: (n, t*) at 90 %, 97 % and 99 %.
    #[test]
    fn discards_are_those_of_loadgen() {
        let expected = [
            (0.90, vec![(63, None), (64, Some(1)), (81, Some(2)), (1024, Some(80))]),
            (0.90, vec![(24_576, Some(2348)), (60_000, Some(5829))]),
            (0.97, vec![(100, None), (661, Some(9)), (10_000, Some(260)), (60_000, Some(1702))]),
            (0.99, vec![(661, None), (662, Some(1)), (10_000, Some(77)), (60_000, Some(543))]),
        ];
        for (percentile, pairs) in expected {
            for (n, discarded) in pairs {
                assert_eq!(discardable(n, percentile), discarded, "{percentile} {n}");
            }
        }
        assert_eq!([0.9, 0.97, 0.99].map(queries_for_estimate), [64, 219, 662]);
    }

    /// The expansion against products of integers: C(20, 3) 0.1^3 0.9^17 = 1140 · 1.667718e-4, and
    /// C(50, 2) 0.01^2 0.99^48 = 1225 · 6.172901e-5.
    #[test]
    fn terms_are_those_of_the_binomial_distribution() {
        let direct = 1140.0 * 0.1f64.powi(3) * 0.9f64.powi(17);
        assert!((binomial_term(3, 20, 0.9) / direct - 1.0).abs() < 1e-13);
        let direct = 1225.0 * 0.01f64.powi(2) * 0.99f64.powi(48);
        assert!((binomial_term(2, 50, 0.99) / direct - 1.0).abs() < 1e-13);
    }

    #[test]
    fn nothing_issued_shows_nothing() {
        assert!(!suffices(0, 0, 0.9));
        assert!(!suffices(5, 5, 0.9));
        assert_eq!(discardable(0, 0.9), None);
    }
}
