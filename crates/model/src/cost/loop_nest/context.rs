//! Contexts: the previous and the present box of a cluster, and their overlap
//! (docs/explanation/cost-model-loop-nest.md, section 5.1).

use super::nest::{Axis, Extents, N_AXES, Steps};

/// Intervals of the previous and the present box along one axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    /// Extent of the present interval.
    pub now: u32,
    /// Start of the present interval minus start of the previous one.
    pub shift: i32,
    /// Extent of the previous interval. 0 marks a ghost: the unit was idle for lack of work along this
    /// axis.
    pub before: u32,
}

impl Span {
    /// Whether the two intervals differ.
    pub(super) fn changes(self) -> bool {
        (self.before ^ self.now) | self.shift as u32 != 0
    }

    /// Two equal intervals of this extent.
    pub(crate) fn unchanged(extent: u32) -> Self {
        Self { before: extent, now: extent, shift: 0 }
    }

    /// Number of positions in both intervals (5.1). Extents and distances are less than 2^29, so that
    /// neither difference overflows.
    pub(super) fn kept(self) -> u32 {
        let end = (self.now as i32).min(self.before as i32 - self.shift);
        (end - (-self.shift).max(0)).max(0) as u32
    }
}

/// Number of positions in both an interval of extent `now` and one of extent `before` that starts
/// `shift` positions earlier (5.1).
pub(super) fn overlap(before: i64, now: i64, shift: i64) -> u64 {
    let end = now.min(before - shift);
    (end - (-shift).max(0)).max(0) as u64
}

/// Number of input rows (or columns) of the present box, and of those among them that the previous box
/// had. An empty extent on either axis leaves none.
pub(crate) fn window_overlap(steps: Steps, output: Span, kernel: Span) -> (u64, u64) {
    let now = steps.reach(output.now, kernel.now);
    let before = steps.reach(output.before, kernel.before);
    (now, overlap(before as i64, now as i64, window_shift(steps, output.shift, kernel.shift)))
}

/// Shift of input rows (or columns) from the shifts of output and kernel positions.
pub(crate) fn window_shift(steps: Steps, output: i32, kernel: i32) -> i64 {
    i64::from(output) * i64::from(steps.stride) + i64::from(kernel) * i64::from(steps.dilation)
}

/// Phase of a cluster: whether it works now, and whether it worked before (section 5.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The cluster works for the first time.
    Cold,
    /// The cluster works, and worked or kept step before.
    Warm,
    /// The cluster worked before and falls idle.
    Flush,
}

/// The previous and the present box of a cluster, relative to each other (section 5.1).
///
/// Contexts with the same effect are equal: cold contexts have no previous extents, flushes have no
/// present extents, and neither have shifts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Context {
    /// Extents of the present box.
    pub now: Extents,
    /// Extents of the previous box.
    pub before: Extents,
    /// Shift along every axis, indexed by [`Axis`].
    pub shifts: [i32; N_AXES],
    /// Phase.
    pub phase: Phase,
    /// Whether the output box of the owner changes in this step (section 5.4).
    pub leaves: bool,
}

impl Context {
    /// Context of the first box.
    pub(crate) fn cold(extents: &Extents) -> Self {
        let (before, shifts) = ([0; N_AXES], [0; N_AXES]);
        Self { now: *extents, before, shifts, phase: Phase::Cold, leaves: false }
    }

    /// Context of a cluster that falls idle after a box of these extents.
    pub(super) fn flush(extents: &Extents) -> Self {
        let (now, shifts) = ([0; N_AXES], [0; N_AXES]);
        Self { now, before: *extents, shifts, phase: Phase::Flush, leaves: false }
    }

    /// Intervals along an axis.
    pub(super) fn span(&self, axis: Axis) -> Span {
        let at = axis as usize;
        Span { now: self.now[at], shift: self.shifts[at], before: self.before[at] }
    }

    /// Sets the intervals along an axis.
    pub(super) fn set(&mut self, axis: Axis, Span { now, shift, before }: Span) {
        let at = axis as usize;
        (self.now[at], self.shifts[at], self.before[at]) = (now, shift, before);
    }

    /// Whether the cluster was idle before (section 5.1).
    pub(crate) fn is_ghost(&self) -> bool {
        self.phase != Phase::Cold && self.before.contains(&0)
    }

    /// Whether the output box differs from the previous one.
    pub(crate) fn changes_outputs(&self) -> bool {
        let changes = Axis::OUTPUT.map(|axis| self.span(axis).changes());
        self.phase == Phase::Warm && changes.into_iter().fold(false, |any, changes| any | changes)
    }

    /// Hash of phase, present extents and shifts. Previous extents are left out: contexts of a level
    /// that agree in everything else rarely differ in them.
    pub(super) fn hash(&self) -> u64 {
        let mut hash = self.phase as u64 * 2 + u64::from(self.leaves);
        for ((&now, &shift), factor) in self.now.iter().zip(&self.shifts).zip(&FACTORS) {
            let word = u64::from(shift as u32) << 32 | u64::from(now);
            hash = hash.wrapping_add(word.wrapping_mul(*factor));
        }
        hash.wrapping_mul(FACTORS[0])
    }
}

/// Odd multipliers: powers of the golden ratio in 64-bit fixed point.
const FACTORS: [u64; N_AXES] = {
    let mut factors = [0x9e37_79b9_7f4a_7c15u64; N_AXES];
    let mut at = 1;
    while at < N_AXES {
        factors[at] = factors[at - 1].wrapping_mul(factors[0]);
        at += 1;
    }
    factors
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlap_counts_the_positions_of_both_intervals() {
        for before in 0..7i64 {
            for now in 0..7i64 {
                for shift in -8..=8i64 {
                    let held = -shift..before - shift;
                    let common = (0..now).filter(|position| held.contains(position)).count();
                    assert_eq!(overlap(before, now, shift), common as u64);
                    let span = Span { before: before as u32, now: now as u32, shift: shift as i32 };
                    assert_eq!(span.kept() as usize, common);
                }
            }
        }
    }

    #[test]
    fn a_row_of_outputs_keeps_all_but_the_new_row_of_its_window() {
        // Kernel of 3 rows, one output row, one row down: rows 1..4 after rows 0..3.
        let steps = Steps { stride: 1, dilation: 1 };
        let output = Span { shift: 1, ..Span::unchanged(1) };
        let kernel = Span::unchanged(3);
        assert_eq!(window_overlap(steps, output, kernel), (3, 2));
        let ghost = Span { before: 0, ..kernel };
        assert_eq!(window_overlap(steps, output, ghost), (3, 0));
    }
}
