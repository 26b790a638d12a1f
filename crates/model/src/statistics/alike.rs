//! Practical equality, which stands beside significance: common random numbers tell differences apart that nobody
//! would notice.

/// Difference of two scores from 0 to 1 up to which they are alike.
pub const ALIKE: f64 = 0.01;

/// Whether a `difference` of two scores is too small to matter.
pub fn is_alike(difference: f64) -> bool {
    difference.abs() <= ALIKE
}
