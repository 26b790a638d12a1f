//! What LoadGen says of a list of latencies: order statistics without interpolation.

use crate::units::SimSpan;

/// Percentiles that every summary lists, as fractions.
pub const PERCENTILES: [f64; 6] = [0.50, 0.90, 0.95, 0.97, 0.99, 0.999];

/// Statistics of a list of latencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Statistics {
    /// How many there are.
    pub count: usize,
    /// The least one.
    pub min: SimSpan,
    /// The largest one.
    pub max: SimSpan,
    /// Mean, cut to whole nanoseconds.
    pub mean: SimSpan,
    /// Percentiles, in the order of [`PERCENTILES`].
    pub percentiles: [SimSpan; 6],
    /// The percentile that the run is judged by.
    pub target: SimSpan,
}

impl Statistics {
    /// Statistics of `latencies`, which are put into an order in which those of the ranks of the
    /// percentiles and of `ranks` stand where a sorted list has them. `target` is a fraction in
    /// (0, 1); ranks beyond the end are ignored. `None` of an empty list.
    pub fn of(latencies: &mut [SimSpan], target: f64, ranks: &[usize]) -> Option<Self> {
        let count = latencies.len();
        let (min, max) = (*latencies.iter().min()?, *latencies.iter().max()?);
        let sum: u128 = latencies.iter().map(|latency| u128::from(latency.ns())).sum();
        let percentiles = PERCENTILES.map(|percentile| rank(count, percentile));
        let target = rank(count, target);
        let mut all = ranks.to_vec();
        all.extend(percentiles.into_iter().chain([target]));
        all.retain(|&rank| rank < count);
        all.sort_unstable();
        all.dedup();
        place(latencies, &all, 0);
        Some(Self {
            count,
            min,
            max,
            mean: SimSpan::from_ns((sum / count as u128) as u64),
            percentiles: percentiles.map(|rank| latencies[rank]),
            target: latencies[target],
        })
    }
}

/// Rank, counted from 0 in ascending order, of `percentile` of `n` ≥ 1 values: `trunc(n · p)`.
pub fn rank(n: usize, percentile: f64) -> usize {
    ((n as f64 * percentile) as usize).min(n.saturating_sub(1))
}

/// Number of `latencies` above `bound`.
pub fn over_bound(latencies: &[SimSpan], bound: SimSpan) -> u64 {
    latencies.iter().filter(|&&latency| latency > bound).count() as u64
}

/// Puts the values of `ranks` (ascending, distinct) where a sorted list has them. `values` begin at
/// rank `first` of that list.
pub(super) fn place<T: Ord>(values: &mut [T], ranks: &[usize], first: usize) {
    let middle = ranks.len() / 2;
    let Some(&rank) = ranks.get(middle) else { return };
    let (below, _, above) = values.select_nth_unstable(rank - first);
    place(below, &ranks[..middle], first);
    place(above, &ranks[middle + 1..], rank + 1);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(values: impl Iterator<Item = u64>) -> Vec<SimSpan> {
        values.map(SimSpan::from_ns).collect()
    }

    /// trunc(1024 · 0.9) = 921, trunc(1000 · 0.9) = 900, trunc(50 · 0.99) = 49, the last.
    #[test]
    fn ranks_are_cut() {
        assert_eq!(rank(1024, 0.9), 921);
        assert_eq!(rank(1000, 0.9), 900);
        assert_eq!(rank(50, 0.99), 49);
        assert_eq!(rank(1, 0.5), 0);
        assert_eq!(rank(3, 1.0f64.next_down()), 2);
    }

    /// 0, 1, ..., 999 in another order (7 is prime to 1000): the value of a rank is the rank, and the
    /// mean 499.5 is cut.
    #[test]
    fn statistics_are_order_statistics() {
        let mut latencies = spans((0..1000).map(|index| index * 7 % 1000));
        let found = Statistics::of(&mut latencies, 0.123, &[3, 998, 4000]).unwrap();
        let ns = SimSpan::from_ns;
        assert_eq!(
            (found.count, found.min, found.max, found.mean),
            (1000, ns(0), ns(999), ns(499))
        );
        assert_eq!(found.percentiles, [500, 900, 950, 970, 990, 999].map(ns));
        assert_eq!(found.target, ns(123));
        assert_eq!((latencies[3], latencies[998]), (ns(3), ns(998)));
        assert_eq!(over_bound(&latencies, ns(899)), 100);
    }

    #[test]
    fn one_latency_is_every_percentile() {
        let found = Statistics::of(&mut spans([5].into_iter()), 0.9, &[]).unwrap();
        assert_eq!(found.percentiles, [SimSpan::from_ns(5); 6]);
        assert_eq!(Statistics::of(&mut [], 0.9, &[]), None);
    }

    #[test]
    fn sums_beyond_64_bits_have_a_mean() {
        let found = Statistics::of(&mut [SimSpan::MAX, SimSpan::MAX], 0.9, &[]).unwrap();
        assert_eq!(found.mean, SimSpan::MAX);
    }
}
