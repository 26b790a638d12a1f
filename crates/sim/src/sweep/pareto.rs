//! The Pareto front.

use std::collections::BTreeMap;

use ordered_float::OrderedFloat;

/// Whether each of `designs` is Pareto-optimal, in their order. Smaller is better in each of the three
/// objectives. An objective that does not matter has the same value for all designs.
///
/// A design is Pareto-optimal unless another one dominates it: is at least as good in every objective
/// and better in one. Equal designs have equal results. NaN is the worst value of an objective.
///
/// Takes O(n log n) time: designs are sorted by their objectives, so that a design is dominated only by
/// one before it. Of those before it, the staircase of second and third objective is kept.
pub fn front(designs: &[[f64; 3]]) -> Vec<bool> {
    let key = |index: usize| designs[index].map(OrderedFloat);
    let mut order: Vec<_> = (0..designs.len()).collect();
    order.sort_by_key(|&index| key(index));
    let mut on_front = vec![false; designs.len()];
    let mut stairs = Staircase::default();
    for equal in order.chunk_by(|&a, &b| key(a) == key(b)) {
        let [_, second, third] = key(equal[0]);
        if stairs.insert(second, third) {
            equal.iter().for_each(|&index| on_front[index] = true);
        }
    }
    on_front
}

type Measure = OrderedFloat<f64>;

/// Pairs of which none is at least as good as another one in both values: the second value falls as the
/// first one rises.
#[derive(Default)]
struct Staircase(BTreeMap<Measure, Measure>);

impl Staircase {
    /// Adds a pair; `false` if a pair of the staircase is at least as good in both values.
    fn insert(&mut self, first: Measure, second: Measure) -> bool {
        let below = self.0.range(..=first).next_back();
        if below.is_some_and(|(_, &best)| best <= second) {
            return false;
        }
        while let Some((&beaten, _)) =
            self.0.range(first..).next().filter(|(_, other)| **other >= second)
        {
            self.0.remove(&beaten);
        }
        self.0.insert(first, second);
        true
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The definition, design by design.
    fn by_definition(designs: &[[f64; 3]]) -> Vec<bool> {
        let beats = |a: &[f64; 3], b: &[f64; 3]| (0..3).all(|m| a[m] <= b[m]) && a != b;
        designs.iter().map(|design| !designs.iter().any(|other| beats(other, design))).collect()
    }

    #[test]
    fn the_front_of_two_measures_is_a_staircase() {
        // (2, 2) is beaten by (1, 2), (3, 3) by three others; (1, 2) and its equal stay.
        let designs = [[3.0, 1.0], [1.0, 2.0], [2.0, 2.0], [1.0, 2.0], [3.0, 3.0], [0.0, 9.0]];
        let designs = designs.map(|[x, y]| [x, y, 0.0]);
        assert_eq!(front(&designs), [true, true, false, true, false, true]);
        assert_eq!(front(&[]), Vec::<bool>::new());
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Few distinct numbers, so that ties and equal designs are common.
        #[test]
        fn the_front_is_that_of_the_definition(
            designs in proptest::collection::vec([0u8..6, 0u8..6, 0u8..6], 0..60)
        ) {
            let designs: Vec<_> = designs.iter().map(|design| design.map(f64::from)).collect();
            prop_assert_eq!(front(&designs), by_definition(&designs));
        }
    }
}
