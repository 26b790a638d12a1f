//! The least bound of all tuples: ranges are halved, the least one first.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::cancel::Steps;
use crate::mapper::objective::Objective;

use super::tuple::{Case, Ranges};

/// Ranges of tuples that may hold the least one.
struct Open {
    /// Bound of the objective.
    bound: f64,
    /// Number of halvings; of equal bounds the deepest is first.
    depth: u32,
    /// Number in the order in which they were met.
    number: usize,
    case: usize,
    structure: usize,
    ranges: Ranges,
}

impl Open {
    fn key(&self) -> (f64, std::cmp::Reverse<u32>, usize) {
        (self.bound, std::cmp::Reverse(self.depth), self.number)
    }
}

impl Ord for Open {
    /// The greatest is the one to look at next.
    fn cmp(&self, other: &Self) -> Ordering {
        let (a, b) = (self.key(), other.key());
        b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)).then(b.2.cmp(&a.2))
    }
}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Open {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Open {}

/// The search for the least bound of an objective.
struct Least<'a, 'b> {
    cases: &'a [Case<'b>],
    objective: Objective,
    /// Value of the objective that was found; what is not below it does not count.
    found: f64,
    open: BinaryHeap<Open>,
    looked_at: usize,
}

/// A bound of an objective over all tuples of all cases, or `found` if that is less. After `most` ranges it is the least bound of
/// those that are open.
pub(super) fn least(cases: &[Case], objective: Objective, found: f64, most: usize) -> f64 {
    let mut search = Least { cases, objective, found, open: BinaryHeap::new(), looked_at: 0 };
    for (case, tuples) in cases.iter().enumerate() {
        for structure in 0..tuples.structures.len() {
            search.add(case, structure, tuples.all(), 0, 0.0);
        }
    }
    search.run(most)
}

impl Least<'_, '_> {
    fn run(&mut self, most: usize) -> f64 {
        let mut steps = Steps::default();
        while let Some(next) = self.open.pop() {
            steps.step();
            let Open { bound, depth, case, structure, ranges, .. } = next;
            let halves = self.cases[case].halves(&ranges);
            let Some(halves) = halves.filter(|_| self.looked_at < most) else { return bound };
            for ranges in halves {
                self.add(case, structure, ranges, depth + 1, bound);
            }
        }
        self.found
    }

    /// Adds ranges, which are not below the bound of the ranges that have them.
    fn add(&mut self, case: usize, structure: usize, ranges: Ranges, depth: u32, floor: f64) {
        self.looked_at += 1;
        let tuples = &self.cases[case];
        let Some(value) = tuples.value(&tuples.structures[structure], &ranges) else { return };
        let bound = self.objective.of(&value).max(floor);
        if bound < self.found {
            let number = self.looked_at;
            self.open.push(Open { bound, depth, number, case, structure, ranges });
        }
    }
}
