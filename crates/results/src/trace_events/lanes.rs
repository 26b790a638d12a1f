//! Overlapping spans on as few lanes as possible, so that spans on one lane do not overlap. In the
//! trace-event format, slices of a track must nest.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use xrsim_model::units::SimTime;

/// Lanes of one queue.
#[derive(Default)]
pub(super) struct Lanes {
    /// Lanes in use with the ends of their spans, the earliest first.
    busy: BinaryHeap<Reverse<(SimTime, usize)>>,
    free: BTreeSet<usize>,
    n_lanes: usize,
}

impl Lanes {
    /// Places a span on the first free lane. Spans come in order of start.
    pub(super) fn place(&mut self, start: SimTime, end: SimTime) -> usize {
        while let Some(&Reverse((ended, lane))) = self.busy.peek()
            && ended <= start
        {
            self.busy.pop();
            self.free.insert(lane);
        }
        let lane = self.free.pop_first().unwrap_or_else(|| {
            self.n_lanes += 1;
            self.n_lanes - 1
        });
        // A span without length takes its instant.
        let end = end.max(SimTime::from_ns(start.ns().saturating_add(1)));
        self.busy.push(Reverse((end, lane)));
        lane
    }

    /// Number of lanes.
    pub(super) fn len(&self) -> usize {
        self.n_lanes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lane of every span (start, end) [ns].
    fn lanes(spans: &[(u64, u64)]) -> Vec<usize> {
        let mut lanes = Lanes::default();
        let at = SimTime::from_ns;
        spans.iter().map(|&(start, end)| lanes.place(at(start), at(end))).collect()
    }

    #[test]
    fn spans_that_follow_each_other_share_a_lane() {
        assert_eq!(lanes(&[(0, 5), (5, 9), (9, 10)]), [0, 0, 0]);
    }

    #[test]
    fn overlapping_spans_take_the_lowest_lane_that_is_free() {
        assert_eq!(lanes(&[(0, 5), (1, 9), (2, 3), (3, 4), (6, 7)]), [0, 1, 2, 2, 0]);
    }

    #[test]
    fn spans_of_no_length_never_share_their_instant() {
        assert_eq!(lanes(&[(4, 4), (4, 4), (4, 6), (5, 5)]), [0, 1, 2, 0]);
    }
}
