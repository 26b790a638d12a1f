//! Ranks of several candidates over blocks: the Friedman test, and the Nemenyi test after it.
//!
//! Demsar (JMLR 7, 2006) recommends both for the comparison of several candidates over several data sets, and
//! draws them as a diagram of critical differences.

use statrs::distribution::{Continuous as _, ContinuousCDF as _, FisherSnedecor, Normal};

/// Ranks of candidates over blocks. A block is a case in which all of them are measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Friedman {
    /// Mean rank of every candidate over the blocks; 1 is the best, and ties have the mean of their ranks.
    pub mean_ranks: Vec<f64>,
    /// Number of blocks.
    pub n_blocks: usize,
    /// Friedman's statistic, corrected for ties (Conover 1999); 0 if every block is a tie of all.
    pub chi_square: f64,
    /// Its p-value: the probability of ranks at least as different if all candidates are equal. By the F
    /// distribution of Iman and Davenport (1980), with k − 1 and (k − 1)(n − 1) degrees of freedom.
    pub p_value: f64,
}

impl Friedman {
    /// Ranks `blocks`, the values `[block][candidate]`, of which larger ones are better. `None` below two blocks or
    /// two candidates, or if blocks differ in length.
    pub fn from_blocks(blocks: &[Vec<f64>]) -> Option<Self> {
        let k = blocks.first()?.len();
        if k < 2 || blocks.len() < 2 || blocks.iter().any(|block| block.len() != k) {
            return None;
        }
        let (mut sums, mut ties) = (vec![0.0; k], 0.0);
        for block in blocks {
            let (ranks, tied) = ranks(block);
            sums.iter_mut().zip(ranks).for_each(|(sum, rank)| *sum += rank);
            ties += tied;
        }
        let (n, candidates) = (blocks.len() as f64, k as f64);
        let mean_ranks: Vec<f64> = sums.iter().map(|sum| sum / n).collect();
        let middle = (candidates + 1.0) / 2.0;
        let spread: f64 = mean_ranks.iter().map(|rank| (rank - middle).powi(2)).sum();
        let plain = 12.0 * n / (candidates * (candidates + 1.0)) * spread;
        let untied = 1.0 - ties / (n * candidates * (candidates * candidates - 1.0));
        let chi_square = if untied > 0.0 { plain / untied } else { 0.0 };
        // Blocks that all have one order, whichever it is, are as likely as this: no test of ranks goes below.
        let orders: f64 = (2..=k).map(|it| it as f64).product();
        let p_value = iman_davenport(chi_square, n, candidates).max(orders.powf(1.0 - n));
        Some(Self { mean_ranks, n_blocks: blocks.len(), chi_square, p_value })
    }

    /// The critical difference of the Nemenyi test: two candidates are told apart, with an error of `alpha` for all
    /// pairs together, if their mean ranks differ by at least this much. `None` unless 0 < `alpha` < 1.
    ///
    /// ```text
    /// CD = q(alpha, k) · √(k(k + 1) / 6n)
    /// ```
    ///
    /// where `q` is the quantile of the studentized range of `k` normal values, divided by √2.
    pub fn critical_difference(&self, alpha: f64) -> Option<f64> {
        let (n, k) = (self.n_blocks as f64, self.mean_ranks.len());
        let q = range_quantile(k, alpha)? / std::f64::consts::SQRT_2;
        Some(q * (k as f64 * (k as f64 + 1.0) / (6.0 * n)).sqrt())
    }

    /// Groups of candidates that are not told apart at a critical `difference`: indices in ascending order of rank,
    /// in which the first and the last differ by less. Only the largest groups of two or more are given.
    pub fn groups(&self, difference: f64) -> Vec<Vec<usize>> {
        let mut order: Vec<usize> = (0..self.mean_ranks.len()).collect();
        order.sort_by(|&a, &b| self.mean_ranks[a].total_cmp(&self.mean_ranks[b]));
        let rank = |place: usize| self.mean_ranks[order[place]];
        let (mut groups, mut reached) = (Vec::new(), 0);
        for first in 0..order.len() {
            let end = (first..order.len()).take_while(|&it| rank(it) - rank(first) < difference);
            let end = end.last().map_or(first, |last| last + 1);
            if end > reached && end - first > 1 {
                groups.push(order[first..end].to_vec());
            }
            reached = reached.max(end);
        }
        groups
    }
}

/// Ranks of values, the largest first, and the sum of t³ − t over groups of t ties.
fn ranks(values: &[f64]) -> (Vec<f64>, f64) {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
    let (mut ranks, mut ties) = (vec![0.0; values.len()], 0.0);
    let mut first = 0;
    for group in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let size = group.len() as f64;
        for &index in group {
            ranks[index] = first as f64 + (size + 1.0) / 2.0;
        }
        ties += size * size * size - size;
        first += group.len();
    }
    (ranks, ties)
}

fn iman_davenport(chi_square: f64, n: f64, k: f64) -> f64 {
    let left = n * (k - 1.0) - chi_square;
    if chi_square <= 0.0 {
        return 1.0;
    }
    // All blocks have one order.
    if left <= n * k * 1e-12 {
        return 0.0;
    }
    let f = (n - 1.0) * chi_square / left;
    FisherSnedecor::new(k - 1.0, (k - 1.0) * (n - 1.0)).map_or(1.0, |it| it.sf(f))
}

/// Steps of the integral of the range of normal values, and its ends \[standard deviations\].
const STEPS: u32 = 1000;
const REACH: f64 = 8.0;

/// Probability that `k` standard normal values lie within `q`: the integral over the least value of
/// `k·φ(z)·(Φ(z + q) − Φ(z))^(k − 1)`, by Simpson's rule.
fn range_probability(k: usize, q: f64) -> f64 {
    let normal = Normal::standard();
    let at = |step: u32| {
        let z = REACH * (2.0 * f64::from(step) / f64::from(STEPS) - 1.0);
        let weight = match step {
            0 | STEPS => 1.0,
            step if step % 2 == 1 => 4.0,
            _ => 2.0,
        };
        weight * normal.pdf(z) * (normal.cdf(z + q) - normal.cdf(z)).powi(k as i32 - 1)
    };
    let sum: f64 = (0..=STEPS).map(at).sum();
    k as f64 * sum * (2.0 * REACH / f64::from(STEPS)) / 3.0
}

/// Upper quantile of the studentized range of `k` values with infinitely many degrees of freedom, by bisection.
fn range_quantile(k: usize, alpha: f64) -> Option<f64> {
    if !(alpha > 0.0 && alpha < 1.0 && (2..=1000).contains(&k)) {
        return None;
    }
    let (mut low, mut high) = (0.0, 20.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        match range_probability(k, middle) < 1.0 - alpha {
            true => low = middle,
            false => high = middle,
        }
    }
    Some((low + high) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ranks of C4.5 and three variants on 14 data sets (Demsar 2006, Table 6). Ranks are given instead of values,
    /// because two printed values are equal where their ranks are not.
    const DEMSAR: [[f64; 4]; 14] = [
        [4.0, 3.0, 2.0, 1.0],
        [1.0, 2.0, 3.0, 4.0],
        [4.0, 1.0, 2.0, 3.0],
        [4.0, 1.0, 3.0, 2.0],
        [4.0, 2.0, 3.0, 1.0],
        [1.0, 2.5, 4.0, 2.5],
        [3.0, 2.0, 4.0, 1.0],
        [2.5, 2.5, 4.0, 1.0],
        [4.0, 3.0, 2.0, 1.0],
        [2.5, 2.5, 2.5, 2.5],
        [4.0, 2.5, 1.0, 2.5],
        [3.0, 2.0, 4.0, 1.0],
        [4.0, 1.0, 2.0, 3.0],
        [3.0, 1.0, 4.0, 2.0],
    ];

    fn demsar() -> Friedman {
        let blocks: Vec<Vec<f64>> =
            DEMSAR.iter().map(|ranks| ranks.map(|rank| -rank).to_vec()).collect();
        Friedman::from_blocks(&blocks).expect("14 blocks of 4")
    }

    fn close(found: f64, expected: f64, tolerance: f64) {
        assert!((found - expected).abs() <= tolerance, "{found} is not {expected}");
    }

    /// Printed: mean ranks 3.143, 2.000, 2.893 and 1.964, and a statistic of 9.28 without correction for ties.
    /// Three pairs and one four of ties make 3·6 + 60 = 78 of 14·4·15 = 840.
    #[test]
    fn the_example_of_demsar_has_his_ranks_and_statistic() {
        let found = demsar();
        for (rank, printed) in found.mean_ranks.iter().zip([3.143, 2.0, 2.893, 1.964]) {
            close(*rank, printed, 5e-4);
        }
        let correction = 1.0 - 78.0 / 840.0;
        close(found.chi_square * correction, 9.28, 5e-3);
        // Printed: F(3, 39) = 3.69, whose critical value at 5 % is 2.85.
        close(13.0 * 9.28 / (42.0 - 9.28), 3.69, 5e-3);
        let critical = 2.85 * 42.0 / (13.0 + 2.85); // the statistic that has this F
        close(iman_davenport(critical, 14.0, 4.0), 0.05, 5e-4);
        assert!(found.p_value < 0.05);
    }

    /// Demsar's Table 5(a), and his critical differences of 1.25 at 5 % and 1.12 at 10 %, which tell the first from the
    /// fourth at 10 % only.
    #[test]
    fn critical_differences_are_those_of_the_table() {
        let at_5 = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164];
        let at_10 = [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920];
        for (alpha, table) in [(0.05, at_5), (0.1, at_10)] {
            for (k, printed) in (2..).zip(table) {
                let q = range_quantile(k, alpha).expect("a quantile") / 2f64.sqrt();
                close(q, printed, 1.01e-3); // some printed digits are rounded up
            }
        }
        let found = demsar();
        close(found.critical_difference(0.05).unwrap(), 1.25, 5e-3);
        close(found.critical_difference(0.1).unwrap(), 1.12, 5e-3);
        assert_eq!(found.groups(1.25), [vec![3, 1, 2, 0]]);
        // 3.143 − 1.964 = 1.179 and 3.143 − 2.000 = 1.143.
        assert_eq!(found.groups(1.12), [vec![3, 1, 2], vec![2, 0]]);
        assert_eq!(found.critical_difference(0.0), None);
    }

    #[test]
    fn groups_hold_each_other_only_where_needed() {
        let of = |ranks: &[f64]| Friedman {
            mean_ranks: ranks.to_vec(),
            n_blocks: 10,
            chi_square: 0.0,
            p_value: 1.0,
        };
        assert_eq!(of(&[1.0, 2.0, 3.0, 4.0]).groups(1.5), [vec![0, 1], vec![1, 2], vec![2, 3]]);
        assert_eq!(of(&[4.0, 1.0, 2.5]).groups(1.5), Vec::<Vec<usize>>::new());
        assert_eq!(of(&[4.0, 1.0, 2.5]).groups(2.0), [vec![1, 2], vec![2, 0]]);
    }

    #[test]
    fn ties_share_their_ranks() {
        assert_eq!(ranks(&[0.5, 0.9, 0.5, 0.1]), (vec![2.5, 1.0, 2.5, 4.0], 6.0));
        assert_eq!(ranks(&[0.0, -0.0]).0, [1.5, 1.5]);
        let all_tied =
            Friedman::from_blocks(&[vec![1.0, 1.0], vec![2.0, 2.0]]).expect("two blocks");
        assert_eq!((all_tied.chi_square, all_tied.p_value), (0.0, 1.0));
        assert_eq!(all_tied.mean_ranks, [1.5, 1.5]);
    }

    #[test]
    fn one_order_in_every_block_has_the_chance_of_it() {
        let found = Friedman::from_blocks(&vec![vec![3.0, 2.0, 1.0]; 5]).expect("five blocks");
        // n(k − 1), the largest that there is; four blocks have the order of the first, each by one in 3!.
        assert_eq!(found.chi_square, 10.0);
        assert!((found.p_value - 1.0 / 1296.0).abs() < 1e-15, "{}", found.p_value);
    }

    #[test]
    fn too_little_has_no_ranks() {
        assert_eq!(Friedman::from_blocks(&[]), None);
        assert_eq!(Friedman::from_blocks(&[vec![1.0, 2.0]]), None);
        assert_eq!(Friedman::from_blocks(&[vec![1.0], vec![1.0]]), None);
        assert_eq!(Friedman::from_blocks(&[vec![1.0, 2.0], vec![1.0]]), None);
    }
}
