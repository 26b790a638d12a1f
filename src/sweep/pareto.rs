//! The Pareto front: designs that no other beats.

use std::collections::BTreeMap;

use ordered_float::OrderedFloat;

/// Which of `designs` are on the front, in their order. Smaller is better in each of the three
/// measures; a measure that does not count is the same number for all.
///
/// A design is on the front unless another one is at least as good in every measure and better in
/// one; of equal designs all are or none is. Measures are numbers: NaN counts as the largest.
///
/// Takes O(n log n) time: in the order of the measures a design is beaten only by one before it, and
/// of those the staircase of second and third measure is kept.
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

/// Pairs none of which is at least as good as another in both: the second falls as the first rises.
#[derive(Default)]
struct Staircase(BTreeMap<Measure, Measure>);

impl Staircase {
    /// Adds a pair; `false` if one that is there is at least as good in both.
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
