//! Limits of settings.

/// Largest number of samples of a run, issued or not.
pub const MAX_SAMPLES: u64 = 1 << 25;

/// Highest rate \[1/s\]: one query in each nanosecond, the tick of the clock.
pub const MAX_RATE: f64 = 1e9;

/// Longest duration \[ms\], about four months.
pub(super) const MAX_DURATION_MS: u64 = 10_000_000_000;

/// Largest number of issuing threads.
pub(super) const MAX_THREADS: u64 = 1024;
