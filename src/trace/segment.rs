//! Where requests really ran, and when.

use crate::ids::{AccelId, RequestId};
use crate::units::{Millijoules, SimSpan, SimTime};

use super::{Outcome, Trace};

/// A part of a request: layers that ran one after another on one accelerator. Kept of requests that
/// were cut or had data moved first.
///
/// The segments of a request do not overlap, and those that ran to their end have its layers in order,
/// each exactly once. Segments that follow each other at once on one accelerator, with nothing moved in
/// between, are one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Segment {
    /// The request.
    pub request: RequestId,
    /// Where it ran.
    pub accelerator: AccelId,
    /// Start, of moving its data if that had to be done first.
    pub start: SimTime,
    /// How long its data was moved before its first layer: context switch and migration.
    pub moving: SimSpan,
    /// End.
    pub end: SimTime,
    /// Its first layer.
    pub first_layer: u32,
    /// The layer behind the last one that ran to its end.
    pub end_layer: u32,
    /// Energy spent, on moving data too.
    pub energy: Millijoules,
}

/// A time that a request spent on an accelerator without interruption.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BusyInterval {
    /// The request.
    pub request: RequestId,
    /// Where.
    pub accelerator: AccelId,
    /// Start.
    pub start: SimTime,
    /// End; `None` for what was cut off by the end of the run.
    pub end: Option<SimTime>,
    /// Energy spent.
    pub energy: Millijoules,
}

impl Trace {
    /// What accelerators ran for a request, in order of time: its segments if it has any, else its run or
    /// attempt, if there was one.
    pub fn busy_intervals_of(&self, id: RequestId) -> impl Iterator<Item = BusyInterval> {
        let segments = self.segments_of(id);
        let whole = if segments.is_empty() { self.whole(id) } else { None };
        segments.iter().map(BusyInterval::from).chain(whole)
    }

    /// What accelerators ran, in order of request and time.
    pub fn busy_intervals(&self) -> impl Iterator<Item = BusyInterval> {
        let ids = (0..self.records().len()).map(RequestId::new);
        ids.flat_map(|id| self.busy_intervals_of(id))
    }

    /// The run or attempt of a request without segments.
    fn whole(&self, request: RequestId) -> Option<BusyInterval> {
        let (accelerator, start, end, energy) = match self.record(request).outcome {
            Outcome::Executed { accelerator, start, end, energy } => {
                (accelerator, start, Some(end), energy)
            }
            Outcome::Dropped { at, energy, attempt: Some(attempt), .. } => {
                (attempt.accelerator, attempt.start, Some(at), energy)
            }
            Outcome::Lost { attempt: Some(attempt) } => {
                (attempt.accelerator, attempt.start, None, Millijoules::ZERO)
            }
            _ => return None,
        };
        Some(BusyInterval { request, accelerator, start, end, energy })
    }
}

impl From<&Segment> for BusyInterval {
    fn from(segment: &Segment) -> Self {
        let Segment { request, accelerator, start, end, energy, .. } = *segment;
        Self { request, accelerator, start, end: Some(end), energy }
    }
}
