//! Segments of requests, and the busy intervals of accelerators.

use crate::ids::{AccelId, RequestId};
use crate::units::{Millijoules, SimSpan, SimTime};

use super::{Entry, Outcome, Trace};

/// Layers of a request that ran without interruption on one accelerator. Traces keep the segments of
/// requests that were interrupted or whose data was moved first.
///
/// The segments of a request do not overlap. Together they contain its layers in order, each exactly
/// once. Segments that follow each other at once on one accelerator, without a data transfer in between,
/// are one segment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Segment {
    /// The request.
    pub request: RequestId,
    /// Accelerator.
    pub accelerator: AccelId,
    /// Start of its first layer, or of the data transfer before it.
    pub start: SimTime,
    /// Duration of the data transfer before its first layer: context switch and migration.
    pub moving: SimSpan,
    /// End.
    pub end: SimTime,
    /// Its first layer.
    pub first_layer: u32,
    /// Index after the last layer that ran to its end.
    pub end_layer: u32,
    /// Energy, that of the data transfer included.
    pub energy: Millijoules,
}

/// Time that a request spent on an accelerator without interruption.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BusyInterval {
    /// The request.
    pub request: RequestId,
    /// Accelerator.
    pub accelerator: AccelId,
    /// Start.
    pub start: SimTime,
    /// End; `None` if the end of the run cut it off.
    pub end: Option<SimTime>,
    /// Energy.
    pub energy: Millijoules,
}

impl<'a> Entry<'a> {
    /// Busy intervals of the request, in order of time: its segments if it has any, otherwise its execution
    /// or attempt, if there was one.
    #[inline]
    pub fn busy_intervals(self) -> impl Iterator<Item = BusyInterval> + use<'a> {
        let whole = if self.segments.is_empty() { self.whole() } else { None };
        self.segments.iter().map(BusyInterval::from).chain(whole)
    }

    /// Execution or attempt of a request without segments.
    #[inline]
    fn whole(&self) -> Option<BusyInterval> {
        let (accelerator, start, end, energy) = match self.record.outcome {
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
        Some(BusyInterval { request: self.request, accelerator, start, end, energy })
    }
}

impl Trace {
    /// Busy intervals of one request ([`Entry::busy_intervals`]).
    #[inline]
    pub fn busy_intervals_of(&self, id: RequestId) -> impl Iterator<Item = BusyInterval> {
        let (record, segments) = (self.record(id), self.segments_of(id));
        let entry = Entry { request: id, record, variant: self.variant_of(id), phase: 0, segments };
        entry.busy_intervals()
    }

    /// Busy intervals of all requests, in order of request and time.
    #[inline]
    pub fn busy_intervals(&self) -> impl Iterator<Item = BusyInterval> {
        self.entries().flat_map(Entry::busy_intervals)
    }
}

impl From<&Segment> for BusyInterval {
    fn from(segment: &Segment) -> Self {
        let Segment { request, accelerator, start, end, energy, .. } = *segment;
        Self { request, accelerator, start, end: Some(end), energy }
    }
}
