//! Arrivals of recorded sensors: windows of a recording, and blocks of its periods.

use thiserror::Error;

use xrsim_model::scenario::{InputStream, Recorded, RecordedFrame, Recording, Replay, Scenario};
use xrsim_model::units::{FrameRate, SimSpan};

use super::random::{Draws, Purpose};
use super::{LoadError, LoadSettings};

const BLOCK: u64 = Replay::BLOCK;

/// Arrivals of the frames of a sensor from its recording.
pub(super) enum Arrivals<'a> {
    Window(Window<'a>),
    Blocks(Blocks<'a>),
}

impl<'a> Arrivals<'a> {
    /// The arrivals of `stream` in a run.
    ///
    /// # Errors
    ///
    /// [`LoadError::RecordingTooShort`] if the recording ends before the run and does not repeat.
    pub(super) fn new(
        stream: &InputStream,
        recorded: &'a Recorded,
        settings: &LoadSettings,
    ) -> Result<Self, LoadError> {
        let recording = &*recorded.recording;
        let rate = stream.rate;
        Ok(match recorded.replay {
            Replay::Instants { repeats } => {
                match ShortRecording::of(stream, settings).filter(|_| !repeats) {
                    Some(short) => return Err(LoadError::RecordingTooShort(Box::new(short))),
                    None => Self::Window(Window::new(recording, rate, settings)),
                }
            }
            Replay::Blocks => {
                let draws = Draws::new(settings, Purpose::Blocks, stream.name.as_bytes());
                Self::Blocks(Blocks { recording, rate, draws })
            }
        })
    }

    /// Time from the nominal start of a frame to its arrival \[ns\]; `None` if the frame is lost.
    pub(super) fn offset_ns(&self, frame: u64) -> Option<i64> {
        match self {
            Self::Window(window) => window.offset_ns(frame),
            Self::Blocks(blocks) => blocks.offset_ns(frame),
        }
    }

    /// Longest time from an arrival to the nominal start of its frame, before the end of a run of `duration`.
    pub(super) fn most_early(&self, duration: SimSpan) -> SimSpan {
        let ns = match self {
            Self::Window(window) => window.most_early_ns(duration),
            Self::Blocks(blocks) => blocks.most_early_ns(),
        };
        SimSpan::from_ns(u64::try_from(ns.max(0)).unwrap_or(u64::MAX))
    }
}

/// Time after which a recording begins again: one period after its last frame \[ns\].
fn cycle_ns(recording: &Recording, rate: FrameRate) -> u64 {
    recording.last().arrival.ns().saturating_add(rate.period().ns()).max(1)
}

/// A recording that is shorter than the runs which read it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "{place}: the recording of `{stream}` ends after {} ms, and the runs take {} ms",
    length.as_ms(), wanted.as_ms()
)]
pub struct ShortRecording {
    /// Sensor.
    pub stream: Box<str>,
    /// File and line of its end.
    pub place: Box<str>,
    /// Its length, with one period after the last frame.
    pub length: SimSpan,
    /// End of the window of this replication.
    pub wanted: SimSpan,
}

impl ShortRecording {
    /// The recording of `stream`, if its frames are replayed and it ends before the run.
    fn of(stream: &InputStream, settings: &LoadSettings) -> Option<Self> {
        let Recorded { recording, replay } = stream.recorded.as_ref()?;
        let length = SimSpan::from_ns(cycle_ns(recording, stream.rate));
        let n_windows = settings.replication.saturating_add(1);
        let wanted = SimSpan::from_ns(settings.duration.ns().saturating_mul(n_windows));
        let is_short = matches!(replay, Replay::Instants { .. }) && wanted > length;
        let place = recording.place().into();
        is_short.then(|| Self { stream: stream.name.clone(), place, length, wanted })
    }
}

/// The recordings of `scenario` that are shorter than a run.
pub fn short_recordings(scenario: &Scenario, settings: &LoadSettings) -> Vec<ShortRecording> {
    let streams = scenario.streams().iter();
    streams.filter_map(|stream| ShortRecording::of(stream, settings)).collect()
}

/// Start of a frame on the grid of a sensor \[ns\].
fn start_ns(rate: FrameRate, frame: u64) -> i128 {
    i128::from(rate.frame_start(frame).ns())
}

/// The part of a recording that a replication reads. A recording without an end: after its last frame and one period
/// it begins again.
pub(super) struct Window<'a> {
    recording: &'a Recording,
    rate: FrameRate,
    /// Time after which it begins again \[ns\].
    cycle: u64,
    /// Number of frames, lost ones included, after which it begins again.
    n_frames: u64,
    /// Begin of the replication in the recording \[ns\].
    begin: u64,
    /// Frame of the recording that is frame 0 of the replication.
    first: u64,
}

impl<'a> Window<'a> {
    fn new(recording: &'a Recording, rate: FrameRate, settings: &LoadSettings) -> Self {
        let period = rate.period().ns();
        let begin = settings.replication.saturating_mul(settings.duration.ns());
        let cycle = cycle_ns(recording, rate);
        let n_frames = recording.last().frame + 1;
        let mut window = Self { recording, rate, cycle, n_frames, begin, first: 0 };
        let (n_before, rest) = (begin / window.cycle, begin % window.cycle);
        window.first = n_before.saturating_mul(window.n_frames);
        if begin > 0 {
            window.first = window.first.saturating_add(nearest(recording, rest, period));
        }
        window
    }

    fn offset_ns(&self, frame: u64) -> Option<i64> {
        let place = self.first.saturating_add(frame);
        let arrival = self.recording.arrival(place % self.n_frames)?;
        let before = i128::from(place / self.n_frames) * i128::from(self.cycle);
        let arrival = before + i128::from(arrival.ns()) - i128::from(self.begin);
        i64::try_from(arrival - start_ns(self.rate, frame)).ok()
    }

    fn most_early_ns(&self, duration: SimSpan) -> i128 {
        let of_frame =
            |it: &RecordedFrame| start_ns(self.rate, it.frame) - i128::from(it.arrival.ns());
        let of_frames = self.recording.frames().iter().map(of_frame).max().unwrap_or(0);
        // A cycle has another length than its frames have on the grid.
        let of_cycle = start_ns(self.rate, self.n_frames) - i128::from(self.cycle);
        let n_run = self.rate.frames_before(duration).saturating_add(1);
        let cycles = [self.first, self.first.saturating_add(n_run)].map(|it| it / self.n_frames);
        let of_cycles = cycles.map(|n| i128::from(n) * of_cycle);
        let of_window = i128::from(self.begin) - start_ns(self.rate, self.first);
        // Starts of frames, of the first one and of cycles are rounded down.
        let roundings = 3 + i128::from(cycles[1]);
        of_frames + of_cycles[0].max(of_cycles[1]) + of_window + roundings
    }
}

/// The frame of a recording that is nearest to `instant` \[ns\], lost or not: frames that are lost are a `period` after
/// each other.
fn nearest(recording: &Recording, instant: u64, period: u64) -> u64 {
    let frames = recording.frames();
    let n_before = frames.partition_point(|it| it.arrival.ns() <= instant);
    let (frame, since) = match n_before.checked_sub(1).map(|at| frames[at]) {
        Some(before) => (before.frame, instant - before.arrival.ns()),
        None => (0, instant),
    };
    let later = (since.saturating_add(period / 2) / period.max(1)).saturating_add(frame);
    frames.get(n_before).map_or(recording.last().frame + 1, |it| it.frame).min(later)
}

/// Blocks of frames that are drawn from a recording. The mean of the offsets in a block is zero, so that frames stay near
/// their nominal starts however long the run is.
pub(super) struct Blocks<'a> {
    recording: &'a Recording,
    rate: FrameRate,
    draws: Draws,
}

impl Blocks<'_> {
    fn offset_ns(&self, frame: u64) -> Option<i64> {
        let n_frames = self.recording.last().frame + 1;
        let n_first = n_frames.saturating_sub(BLOCK - 1).max(1);
        let first = self.draws.below(frame / BLOCK, SimSpan::from_ns(n_first)).ns();
        let arrival = self.recording.arrival(first + frame % BLOCK)?;
        let from_begin = |it: &RecordedFrame| {
            i128::from(it.arrival.ns()) - start_ns(self.rate, it.frame - first)
        };
        let frames = self.recording.frames();
        let at = |frame| frames.partition_point(|it| it.frame < frame);
        let block = &frames[at(first)..at(first + BLOCK)];
        let mean = block.iter().map(from_begin).sum::<i128>() / block.len().max(1) as i128;
        let own = i128::from(arrival.ns()) - start_ns(self.rate, frame % BLOCK);
        i64::try_from(own - mean).ok()
    }

    fn most_early_ns(&self) -> i128 {
        let span = |pair: &[RecordedFrame]| {
            i128::from(pair[pair.len() - 1].arrival.ns()) - i128::from(pair[0].arrival.ns())
        };
        let frames = self.recording.frames();
        let longest = frames.windows(BLOCK as usize).map(span).max();
        let longest = longest.unwrap_or_else(|| span(frames));
        longest + start_ns(self.rate, BLOCK) + 2
    }
}
