//! Batching: how samples that wait become one batch.

use xrsim_model::units::SimSpan;

/// Rule that joins waiting samples into batches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Batching {
    /// Largest batch, from 1 to [`Batching::MAX`].
    pub max: u32,
    /// Longest time that a sample waits for others while its batch is not full; zero never holds a
    /// sample back.
    pub wait: SimSpan,
}

impl Batching {
    /// Upper limit of the largest batch.
    pub const MAX: u32 = 256;

    /// Every sample is a batch.
    pub const NONE: Self = Self { max: 1, wait: SimSpan::ZERO };

    /// Batches of up to `max` samples; no sample is held back.
    pub const fn up_to(max: u32) -> Self {
        Self { max, wait: SimSpan::ZERO }
    }
}
