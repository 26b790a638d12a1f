//! What a cluster did before and does now (5.1), and what of it overlaps.

use super::nest::{Axis, Extents, N_AXES, Steps};

/// One axis of the boxes before and now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Extent now.
    pub now: u32,
    /// Start now less start before.
    pub shift: i32,
    /// Extent before; 0 marks a ghost: the unit was idle for lack of work along this axis.
    pub before: u32,
}

impl Span {
    /// Whether the interval is another one now.
    pub fn moves(self) -> bool {
        (self.before ^ self.now) | self.shift as u32 != 0
    }

    /// The same interval of this extent before and now.
    pub fn still(extent: u32) -> Self {
        Self { before: extent, now: extent, shift: 0 }
    }

    /// Positions now that were there before (5.1). Extents and distances are less than 2^29, so
    /// that neither difference overflows.
    pub fn kept(self) -> u32 {
        let end = (self.now as i32).min(self.before as i32 - self.shift);
        (end - (-self.shift).max(0)).max(0) as u32
    }
}

/// Common part of an interval of extent `now` and one of extent `before` that starts `shift`
/// positions earlier (5.1).
pub fn overlap(before: i64, now: i64, shift: i64) -> u64 {
    let end = now.min(before - shift);
    (end - (-shift).max(0)).max(0) as u64
}

/// Input rows (or columns) now and how many of them were there before; an empty extent on either
/// axis leaves none.
pub fn window_overlap(steps: Steps, output: Span, kernel: Span) -> (u64, u64) {
    let now = steps.reach(output.now, kernel.now);
    let before = steps.reach(output.before, kernel.before);
    (now, overlap(before as i64, now as i64, window_shift(steps, output.shift, kernel.shift)))
}

/// Shift of input rows (or columns) that follows from those of output and kernel.
pub fn window_shift(steps: Steps, output: i32, kernel: i32) -> i64 {
    i64::from(output) * i64::from(steps.stride) + i64::from(kernel) * i64::from(steps.dilation)
}

/// Why a cluster is at a transition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// It works for the first time.
    Cold,
    /// It works and worked, or kept step, before.
    Warm,
    /// It worked before and falls idle.
    Flush,
}

/// The boxes of a cluster before and now, relative to each other (5.1).
///
/// Nothing that does not matter differs: cold contexts have no extents before, flushes none now,
/// and neither have shifts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Context {
    /// Axes of the boxes, indexed by [`Axis`].
    pub spans: [Span; N_AXES],
    /// Why it is evaluated.
    pub phase: Phase,
    /// Whether the owner's output box changes in this step (5.4).
    pub leaves: bool,
}

impl Context {
    /// The first work of all.
    pub fn cold(extents: &Extents) -> Self {
        let spans = extents.map(|now| Span { before: 0, now, shift: 0 });
        Self { phase: Phase::Cold, leaves: false, spans }
    }

    /// Idle after a box of these extents.
    pub fn flush(extents: &Extents) -> Self {
        let spans = extents.map(|before| Span { before, now: 0, shift: 0 });
        Self { phase: Phase::Flush, leaves: false, spans }
    }

    /// Whether the cluster was idle before.
    pub fn is_ghost(&self) -> bool {
        self.phase != Phase::Cold && self.spans.iter().any(|span| span.before == 0)
    }

    /// Whether it works on other outputs than it worked on before.
    pub fn changes_outputs(&self) -> bool {
        let moves = Axis::OUTPUT.map(|axis| self.spans[axis as usize].moves());
        self.phase == Phase::Warm && moves.into_iter().fold(false, |any, moves| any | moves)
    }

    /// A number that few other contexts of a level share. Boxes before differ rarely where those now
    /// and shifts do not.
    pub fn hash(&self) -> u64 {
        let mut hash = self.phase as u64 * 2 + u64::from(self.leaves);
        for (span, factor) in self.spans.iter().zip(&FACTORS) {
            let word = u64::from(span.shift as u32) << 32 | u64::from(span.now);
            hash = hash.wrapping_add(word.wrapping_mul(*factor));
        }
        hash.wrapping_mul(FACTORS[0])
    }
}

/// Odd powers of the golden ratio.
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
        let output = Span { shift: 1, ..Span::still(1) };
        let kernel = Span::still(3);
        assert_eq!(window_overlap(steps, output, kernel), (3, 2));
        let ghost = Span { before: 0, ..kernel };
        assert_eq!(window_overlap(steps, output, ghost), (3, 0));
    }
}
