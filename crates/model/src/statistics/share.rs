//! Shares of independent draws, with their intervals.

use statrs::distribution::{ContinuousCDF as _, Normal};

use super::{Fraction, Interval};

/// The value below which a share `u` of the standard normal distribution lies, for 0 < `u` < 1.
pub fn normal_quantile(u: f64) -> f64 {
    Normal::standard().inverse_cdf(u)
}

/// Confidence interval of a probability, of which `hits` among `n` independent draws are known; `None` without draws.
/// That of Wilson (Journal of the American Statistical Association 22, 1927), which is right near 0 and 1, too:
///
/// ```text
/// (p + z²/2n ± z √(p (1 − p)/n + z²/4n²)) / (1 + z²/n)
/// ```
pub fn share_interval(hits: u64, n: u64, level: Fraction) -> Option<Interval> {
    if n == 0 {
        return None;
    }
    let (p, n) = (hits as f64 / n as f64, n as f64);
    let z = normal_quantile(0.5 + level.get() / 2.0);
    let middle = p + z * z / (2.0 * n);
    let half = z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
    let all = 1.0 + z * z / n;
    let clamped = |end: f64| (end / all).clamp(0.0, 1.0);
    Some(Interval { low: clamped(middle - half), high: clamped(middle + half) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of Newcombe (Statistics in Medicine 17, 1998), table I: 81 of 263 have 0.2553 to 0.3662, and 0 of 20
    /// have 0 to 0.1611.
    #[test]
    fn intervals_are_those_of_published_tables() {
        for (hits, n, low, high) in [(81, 263, 0.2553, 0.3662), (0, 20, 0.0, 0.1611)] {
            let it = share_interval(hits, n, Fraction::P95).unwrap();
            assert!((it.low - low).abs() < 5e-5 && (it.high - high).abs() < 5e-5, "{it:?}");
        }
        assert_eq!(share_interval(0, 0, Fraction::P95), None);
    }
}
