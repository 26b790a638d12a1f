//! Service times of known or measured systems.

use std::sync::Arc;

use xrsim_model::units::SimSpan;

/// Service time of a piece of work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServiceTime {
    /// The same for all samples.
    Constant(SimSpan),
    /// One of two times, by sample.
    Bimodal {
        /// Period of slow samples in the data set; at least 1.
        modulus: u32,
        /// Time of samples whose number is a multiple of `modulus`.
        slow: SimSpan,
        /// Time of all other samples.
        fast: SimSpan,
    },
    /// `base + (sample · multiplier mod modulus) · step`.
    Steps {
        /// Time of sample 0.
        base: SimSpan,
        /// Factor that spreads the samples over the steps.
        multiplier: u32,
        /// Number of steps; at least 1.
        modulus: u32,
        /// Difference between two steps.
        step: SimSpan,
    },
    /// `per_call + n · per_sample` for `n` samples.
    Batch {
        /// Part that does not depend on the number of samples.
        per_call: SimSpan,
        /// Part of each sample.
        per_sample: SimSpan,
    },
    /// Time of each sample, repeated for larger numbers; not empty.
    Samples(Arc<[SimSpan]>),
    /// Times of batches of 1, 2, ... samples; not empty. More samples are served in several of the largest
    /// batches.
    Batches(Arc<[SimSpan]>),
}

impl ServiceTime {
    /// Time of one piece of `n` samples, the first of which has number `index`.
    pub fn of(&self, index: u32, n: usize) -> SimSpan {
        match *self {
            Self::Constant(span) => span,
            Self::Bimodal { modulus, slow, fast } => {
                if index.is_multiple_of(modulus) {
                    slow
                } else {
                    fast
                }
            }
            Self::Steps { base, multiplier, modulus, step } => {
                let steps = u64::from(index) * u64::from(multiplier) % u64::from(modulus);
                base + times(step, steps)
            }
            Self::Batch { per_call, per_sample } => per_call + times(per_sample, n as u64),
            Self::Samples(ref spans) => spans[index as usize % spans.len()],
            Self::Batches(ref spans) => {
                let largest = spans.len();
                let full = times(spans[largest - 1], (n / largest) as u64);
                let rest = (n % largest).checked_sub(1).map_or(SimSpan::ZERO, |last| spans[last]);
                full + rest
            }
        }
    }

    /// Service time with `more` added to every piece of work.
    #[must_use]
    pub(crate) fn slowed(&self, more: SimSpan) -> Self {
        let all = |spans: &[SimSpan]| spans.iter().map(|&span| span + more).collect();
        match *self {
            Self::Constant(span) => Self::Constant(span + more),
            Self::Bimodal { modulus, slow, fast } => {
                Self::Bimodal { modulus, slow: slow + more, fast: fast + more }
            }
            Self::Steps { base, multiplier, modulus, step } => {
                Self::Steps { base: base + more, multiplier, modulus, step }
            }
            Self::Batch { per_call, per_sample } => {
                Self::Batch { per_call: per_call + more, per_sample }
            }
            Self::Samples(ref spans) => Self::Samples(all(spans)),
            Self::Batches(ref spans) => Self::Batches(all(spans)),
        }
    }

    /// Whether the time depends on the number of the sample.
    pub fn depends_on_sample(&self) -> bool {
        match self {
            Self::Bimodal { .. } | Self::Steps { .. } | Self::Samples(_) => true,
            Self::Constant(_) | Self::Batch { .. } | Self::Batches(_) => false,
        }
    }
}

fn times(span: SimSpan, count: u64) -> SimSpan {
    SimSpan::from_ns(span.ns().saturating_mul(count))
}
