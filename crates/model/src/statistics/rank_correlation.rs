//! Agreement of two rankings.

use std::cmp::Ordering;

/// Kendall's rank correlation of `pairs` (first, second) of finite values, with ties: tau-b (Kendall 1945),
/// from -1 (opposite orders) to 1 (the same order). `None` if all first or all second values are equal, or
/// below two pairs. The time grows with the square of the number of pairs.
///
/// With `C` pairs of observations that both rankings order alike, `D` that they order differently, and `T1`
/// and `T2` that only the first or only the second one ties,
/// `tau = (C − D) / sqrt((C + D + T1)·(C + D + T2))`.
pub fn kendall_tau(pairs: impl IntoIterator<Item = (f64, f64)>) -> Option<f64> {
    let pairs: Vec<(f64, f64)> = pairs.into_iter().collect();
    let (mut alike, mut different, mut first_ties, mut second_ties) = (0u64, 0u64, 0u64, 0u64);
    for (at, a) in pairs.iter().enumerate() {
        for b in &pairs[at + 1..] {
            let [first, second] = [order(a.0, b.0), order(a.1, b.1)];
            match (first.is_eq(), second.is_eq()) {
                (true, true) => {}
                (true, false) => first_ties += 1,
                (false, true) => second_ties += 1,
                (false, false) if first == second => alike += 1,
                (false, false) => different += 1,
            }
        }
    }
    let ordered = alike + different;
    let [by_first, by_second] = [ordered + second_ties, ordered + first_ties];
    // The root of a square is exact, so that equal orders have 1.
    let scale = (by_first as f64 * by_second as f64).sqrt();
    let both_order = by_first > 0 && by_second > 0;
    both_order.then(|| (alike as f64 - different as f64) / scale)
}

/// Spearman's rank correlation of `pairs` (first, second) of finite values, from -1 to 1: the correlation of their
/// ranks, where equal values have the mean of their ranks (Spearman 1904). `None` if all first or all second values
/// are equal, or below two pairs.
pub fn spearman_rho(pairs: impl IntoIterator<Item = (f64, f64)>) -> Option<f64> {
    let (first, second): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
    let [first, second] = [deviations(&first), deviations(&second)];
    let product = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let scale = (product(&first, &first) * product(&second, &second)).sqrt();
    (scale > 0.0).then(|| product(&first, &second) / scale)
}

/// Twice the rank of every value, less the mean: whole numbers.
fn deviations(values: &[f64]) -> Vec<f64> {
    let twice = |value: &f64| -> i64 {
        let of = |other: &f64| match order(*value, *other) {
            Ordering::Greater => 1,
            Ordering::Equal => 0,
            Ordering::Less => -1,
        };
        values.iter().map(of).sum()
    };
    values.iter().map(|value| twice(value) as f64).collect()
}

/// Order of finite values, in which zeros of both signs are equal.
fn order(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or(Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tau<const N: usize>(first: [f64; N], second: [f64; N]) -> Option<f64> {
        kendall_tau(first.into_iter().zip(second))
    }

    #[test]
    fn equal_orders_have_one_and_opposite_orders_minus_one() {
        let values = [0.1, 0.4, 0.2, 0.9];
        assert_eq!(tau(values, values.map(|it| 100.0 * it - 7.0)), Some(1.0));
        assert_eq!(tau(values, values.map(|it| -it)), Some(-1.0));
    }

    /// Of ten pairs, (1,3), (1,4), (2,3) and (2,4) change their order: (6 - 4) / 10.
    #[test]
    fn pairs_in_another_order_count_against_those_in_the_same() {
        let found = tau([1.0, 2.0, 3.0, 4.0, 5.0], [3.0, 4.0, 1.0, 2.0, 5.0]).expect("orders");
        assert!((found - 0.2).abs() < 1e-15, "{found}");
    }

    /// Of six pairs one is tied in each ranking, and four are alike: 4 / sqrt(5 x 5).
    #[test]
    fn ties_of_one_ranking_make_less_than_full_agreement() {
        let found = tau([1.0, 1.0, 2.0, 3.0], [1.0, 2.0, 2.0, 3.0]).expect("orders");
        assert!((found - 0.8).abs() < 1e-15, "{found}");
    }

    /// Three pairs: one is tied in the first ranking only, two are alike: 2 / sqrt(2 x 3).
    #[test]
    fn ties_of_different_number_enter_as_their_geometric_mean() {
        let found = tau([1.0, 1.0, 2.0], [1.0, 2.0, 3.0]).expect("orders");
        assert!((found - 2.0 / 6.0f64.sqrt()).abs() < 1e-15, "{found}");
    }

    /// Ties that both rankings have count neither for nor against agreement.
    #[test]
    fn common_ties_are_no_disagreement() {
        assert_eq!(tau([1.0, 1.0, 2.0], [5.0, 5.0, 7.0]), Some(1.0));
        assert_eq!(tau([0.0, -0.0, 1.0], [2.0, 2.0, 3.0]), Some(1.0));
    }

    #[test]
    fn a_ranking_without_order_has_no_correlation() {
        assert_eq!(tau([1.0, 1.0, 1.0], [1.0, 2.0, 3.0]), None);
        assert_eq!(tau([1.0, 2.0], [3.0, 3.0]), None);
        assert_eq!(tau([1.0], [1.0]), None);
        assert_eq!(kendall_tau([]), None);
    }

    /// Ranks 1 to 5 and 3, 4, 1, 2, 5: 1 - 6 x (4 + 4 + 4 + 4) / (5 x 24).
    #[test]
    fn spearman_is_the_correlation_of_ranks() {
        let rho = |first: &[f64], second: &[f64]| {
            spearman_rho(first.iter().copied().zip(second.iter().copied()))
        };
        let found = rho(&[1.0, 2.0, 3.0, 4.0, 50.0], &[3.0, 4.0, 1.0, 2.0, 5.0]).expect("orders");
        assert!((found - 0.2).abs() < 1e-15, "{found}");
        assert_eq!(rho(&[0.1, 0.4, 0.2], &[1.0, 9.0, 2.0]), Some(1.0));
        assert_eq!(rho(&[0.1, 0.4, 0.2], &[3.0, 1.0, 2.0]), Some(-1.0));
        // Ranks 1.5, 1.5, 3 and 1, 2, 3: 1.5 / sqrt(1.5 x 2).
        let tied = rho(&[1.0, 1.0, 2.0], &[1.0, 2.0, 3.0]).expect("orders");
        assert!((tied - 0.75f64.sqrt()).abs() < 1e-15, "{tied}");
        assert_eq!(rho(&[1.0, 1.0], &[1.0, 2.0]), None);
        assert_eq!(rho(&[], &[]), None);
    }
}
