//! Displays.

use crate::units::{FrameRate, SimSpan};

/// A display: when it takes the newest results. Rendering is not simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Display {
    /// Pictures per second.
    pub rate: FrameRate,
    /// Begin of the first picture.
    pub phase: SimSpan,
    /// Time before the begin of a picture by which results must have ended that it shows.
    pub compose: SimSpan,
    /// Time in which a picture is shown line by line.
    pub scanout: SimSpan,
}
