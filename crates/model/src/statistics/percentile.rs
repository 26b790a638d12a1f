//! Percentiles by order statistic.

use super::Fraction;

/// Index, from 0, of the `p` percentile among `n` values in ascending order: `trunc(n·p)`, as in LoadGen of
/// MLPerf. Values are never averaged. `None` without values.
pub fn percentile_index(n: usize, p: Fraction) -> Option<usize> {
    let index = (n as f64 * p.get()) as usize;
    Some(index.min(n.checked_sub(1)?))
}

/// The `p` percentile of values in ascending order; `None` without values.
///
/// The last `n·(1 − p)` of `n` values lie above it. With fewer than `1/(1 − p)` values it is the maximum, and
/// a reliable estimate needs more: see [`EarlyStopping`](super::EarlyStopping).
pub fn percentile<T: Copy>(ascending: &[T], p: Fraction) -> Option<T> {
    Some(ascending[percentile_index(ascending.len(), p)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cases of LoadGen: 1024 · 0.9 = 921.6, 1000 · 0.9 = 900.
    #[test]
    fn the_index_is_cut_not_rounded() {
        assert_eq!(percentile_index(1024, Fraction::P90), Some(921));
        assert_eq!(percentile_index(1000, Fraction::P90), Some(900));
        assert_eq!(percentile_index(60, Fraction::P99), Some(59));
        assert_eq!(percentile_index(1, Fraction::P50), Some(0));
        assert_eq!(percentile_index(0, Fraction::P50), None);
    }

    #[test]
    fn the_percentile_is_one_of_the_values() {
        let ascending: Vec<u64> = (1..=200).collect();
        assert_eq!(percentile(&ascending, Fraction::P50), Some(101));
        assert_eq!(percentile(&ascending, Fraction::P99), Some(199));
        assert_eq!(percentile::<u64>(&[], Fraction::P50), None);
    }

    #[test]
    fn a_percentile_next_to_one_is_the_maximum() {
        let nearly = Fraction::new(1.0 - f64::EPSILON / 2.0).unwrap();
        assert_eq!(percentile_index(1 << 60, nearly), Some((1 << 60) - 128));
        assert_eq!(percentile_index(3, nearly), Some(2));
    }
}
