//! Recorded sensors: frames with the instants at which they arrived, and dwells of a gate.

use std::sync::Arc;

use crate::units::{SimSpan, SimTime};

/// A frame of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordedFrame {
    /// Number, from 0. Numbers that are absent are lost frames.
    pub frame: u64,
    /// Instant of its arrival, from the begin of the recording.
    pub arrival: SimTime,
}

/// Arrivals of the frames of a sensor, from a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recording {
    /// File and its last line, for messages.
    place: Box<str>,
    frames: Box<[RecordedFrame]>,
}

impl Recording {
    /// A recording that ends at `place`, a file and a line. Frames ascend, arrivals do not descend.
    ///
    /// # Panics
    ///
    /// Without frames, or if they are in another order.
    pub fn new(place: impl Into<Box<str>>, frames: Vec<RecordedFrame>) -> Self {
        let in_order = |pair: &[RecordedFrame]| {
            pair[0].frame < pair[1].frame && pair[0].arrival <= pair[1].arrival
        };
        assert!(!frames.is_empty() && frames.windows(2).all(in_order), "frames are in order");
        Self { place: place.into(), frames: frames.into() }
    }

    /// File and line at which the recording ends.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// The frames that arrived, in order; at least one.
    pub fn frames(&self) -> &[RecordedFrame] {
        &self.frames
    }

    /// The last frame that arrived.
    pub fn last(&self) -> RecordedFrame {
        self.frames[self.frames.len() - 1]
    }

    /// Arrival of a frame; `None` if it is lost.
    pub fn arrival(&self, frame: u64) -> Option<SimTime> {
        let at = self.frames.binary_search_by_key(&frame, |it| it.frame).ok()?;
        Some(self.frames[at].arrival)
    }

    /// Number of frames up to the last one that did not arrive.
    pub fn n_lost(&self) -> u64 {
        self.last().frame + 1 - self.frames.len() as u64
    }
}

/// Use of a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The recording.
    pub recording: Arc<Recording>,
    /// What becomes of it.
    pub replay: Replay,
}

/// How arrivals come from a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replay {
    /// Every frame arrives at its instant. Replications take successive windows.
    Instants {
        /// Whether the recording begins again where it is shorter than the runs.
        repeats: bool,
    },
    /// Blocks of [`Replay::BLOCK`] successive frames are drawn.
    Blocks,
}

impl Replay {
    /// Number of successive frames that are drawn together.
    pub const BLOCK: u64 = 16;
}

/// Distribution of the dwells of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DwellDistribution {
    /// Gamma distribution; with a coefficient of variation of 1 the exponential one.
    Gamma,
    /// Log-normal distribution.
    Lognormal,
}

/// Length of the dwells of a gate in one of its states.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dwell {
    /// Mean, above 0.
    pub mean: SimSpan,
    /// Coefficient of variation, above 0: standard deviation over mean.
    pub cv: f64,
}

/// A gate of sensors and models: while it is off, a sensor captures no frame, and a model takes none.
#[derive(Debug, Clone, PartialEq)]
pub struct Gate {
    /// Key of its random numbers.
    pub name: Box<str>,
    /// When it is on.
    pub dwells: Dwells,
}

/// When a gate is on and off.
#[derive(Debug, Clone, PartialEq)]
pub enum Dwells {
    /// Dwells are drawn, alternately on and off, from a stationary start.
    Drawn {
        /// Distribution of both.
        distribution: DwellDistribution,
        /// Dwells in the state on.
        on: Dwell,
        /// Dwells in the state off.
        off: Dwell,
    },
    /// Pairs of dwells on and off, which repeat. Replications take successive windows.
    Recorded(Arc<[(SimSpan, SimSpan)]>),
}
