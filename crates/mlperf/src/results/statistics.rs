//! LoadGen's statistics of a list of latencies: order statistics without interpolation.

use xrsim_model::cancel;
use xrsim_model::statistics::{Fraction, percentile_index};
use xrsim_model::units::SimSpan;

/// Percentiles of every summary.
pub const PERCENTILES: [Fraction; 6] =
    [Fraction::P50, Fraction::P90, Fraction::P95, Fraction::P97, Fraction::P99, Fraction::P999];

/// Statistics of a list of latencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LatencyStatistics {
    /// Number of latencies.
    pub count: usize,
    /// Smallest latency.
    pub min: SimSpan,
    /// Largest latency.
    pub max: SimSpan,
    /// Mean, cut to whole nanoseconds.
    pub mean: SimSpan,
    /// Percentiles, in the order of [`PERCENTILES`].
    pub percentiles: [SimSpan; 6],
    /// Percentile that the run is judged by.
    pub target: SimSpan,
}

impl LatencyStatistics {
    /// Statistics of `latencies`; `None` for an empty list. The list is reordered so that the ranks of
    /// the percentiles and `ranks` hold the values that they hold in a sorted list. Ranks beyond the
    /// end are ignored.
    pub fn compute(latencies: &mut [SimSpan], target: Fraction, ranks: &[usize]) -> Option<Self> {
        let count = latencies.len();
        let (min, max) = (*latencies.iter().min()?, *latencies.iter().max()?);
        let sum: u128 = latencies.iter().map(|latency| u128::from(latency.ns())).sum();
        let mean = SimSpan::from_ns((sum / count as u128) as u64);
        let (percentiles, target) = percentiles(latencies, target, ranks)?;
        Some(Self { count, min, max, mean, percentiles, target })
    }
}

impl LatencyStatistics {
    /// Statistics of the list that has each of `latencies` `times` times; `None` for an empty list.
    pub(crate) fn of_repeated(
        mut latencies: Vec<SimSpan>,
        times: usize,
        target: Fraction,
    ) -> Option<Self> {
        cancel::check();
        latencies.sort_unstable();
        let count = latencies.len().saturating_mul(times);
        let at = |p| Some(latencies[percentile_index(count, p)? / times]);
        let sum: u128 = latencies.iter().map(|latency| u128::from(latency.ns())).sum();
        let target = at(target)?;
        Some(Self {
            count,
            min: *latencies.first()?,
            max: *latencies.last()?,
            mean: SimSpan::from_ns((sum / latencies.len() as u128) as u64),
            percentiles: PERCENTILES.map(|p| at(p).unwrap_or(target)),
            target,
        })
    }
}

/// Values of [`PERCENTILES`] and of `target`; `None` without values. `values` are reordered so that the
/// ranks of these and `ranks` hold the values that they hold in a sorted list. Ranks beyond the end are
/// ignored.
pub(crate) fn percentiles<T: Copy + Ord>(
    values: &mut [T],
    target: Fraction,
    ranks: &[usize],
) -> Option<([T; 6], T)> {
    let n = values.len();
    let target = percentile_index(n, target)?;
    let listed = PERCENTILES.map(|p| percentile_index(n, p).expect("there is a value"));
    let mut all = ranks.to_vec();
    all.extend(listed.into_iter().chain([target]));
    all.retain(|&rank| rank < n);
    all.sort_unstable();
    all.dedup();
    place(values, &all, 0);
    Some((listed.map(|rank| values[rank]), values[target]))
}

/// Number of `latencies` above `bound`.
pub(crate) fn count_over_bound(latencies: &[SimSpan], bound: SimSpan) -> u64 {
    latencies.iter().filter(|&&latency| latency > bound).count() as u64
}

/// Reorders `values` so that `ranks` (ascending, distinct) hold the values that they hold in a sorted
/// list. `values` begin at rank `first` of that list.
fn place<T: Ord>(values: &mut [T], ranks: &[usize], first: usize) {
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

    /// The list has 0 to 999 in another order (7 is coprime to 1000): the value of a rank is the rank, and
    /// the mean of 499.5 is cut.
    #[test]
    fn statistics_are_order_statistics() {
        let mut latencies = spans((0..1000).map(|index| index * 7 % 1000));
        let found = LatencyStatistics::compute(
            &mut latencies,
            Fraction::new(0.123).unwrap(),
            &[3, 998, 4000],
        )
        .unwrap();
        let ns = SimSpan::from_ns;
        assert_eq!(
            (found.count, found.min, found.max, found.mean),
            (1000, ns(0), ns(999), ns(499))
        );
        assert_eq!(found.percentiles, [500, 900, 950, 970, 990, 999].map(ns));
        assert_eq!(found.target, ns(123));
        assert_eq!((latencies[3], latencies[998]), (ns(3), ns(998)));
        assert_eq!(count_over_bound(&latencies, ns(899)), 100);
    }

    #[test]
    fn one_latency_is_every_percentile() {
        let found =
            LatencyStatistics::compute(&mut spans([5].into_iter()), Fraction::P90, &[]).unwrap();
        assert_eq!(found.percentiles, [SimSpan::from_ns(5); 6]);
        assert_eq!(LatencyStatistics::compute(&mut [], Fraction::P90, &[]), None);
    }

    #[test]
    fn repeated_latencies_are_a_longer_list() {
        let once = spans((0..13).map(|index| index * 7 % 13));
        for times in [1, 2, 100] {
            let mut all: Vec<_> = once.iter().flat_map(|&it| vec![it; times]).collect();
            let target = Fraction::new(0.9).unwrap();
            let expected = LatencyStatistics::compute(&mut all, target, &[]);
            assert_eq!(LatencyStatistics::of_repeated(once.clone(), times, target), expected);
        }
        assert_eq!(LatencyStatistics::of_repeated(Vec::new(), 5, Fraction::P50), None);
    }

    #[test]
    fn sums_beyond_64_bits_have_a_mean() {
        let found =
            LatencyStatistics::compute(&mut [SimSpan::MAX, SimSpan::MAX], Fraction::P90, &[])
                .unwrap();
        assert_eq!(found.mean, SimSpan::MAX);
    }
}
