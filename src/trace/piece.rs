//! Where requests really ran, and when.

use crate::ids::{AccelId, RequestId};
use crate::units::{Millijoules, SimSpan, SimTime};

use super::{Outcome, Trace};

/// A part of a request: layers that ran one after another on one accelerator. Kept of requests that
/// were cut or had data moved first.
///
/// The pieces of a request do not overlap, and those that ran to their end have its layers in order,
/// each exactly once. Pieces that follow each other at once on one accelerator, with nothing moved in
/// between, are one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Piece {
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
pub struct Stretch {
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
    /// What accelerators ran for a request, in order of time: its pieces if it has any, else its run or
    /// attempt, if there was one.
    pub fn stretches_of(&self, id: RequestId) -> impl Iterator<Item = Stretch> {
        let pieces = self.pieces_of(id);
        let whole = if pieces.is_empty() { self.whole(id) } else { None };
        pieces.iter().map(Stretch::from).chain(whole)
    }

    /// What accelerators ran, in order of request and time.
    pub fn stretches(&self) -> impl Iterator<Item = Stretch> {
        let ids = (0..self.records().len()).map(RequestId::new);
        ids.flat_map(|id| self.stretches_of(id))
    }

    /// The run or attempt of a request without pieces.
    fn whole(&self, request: RequestId) -> Option<Stretch> {
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
        Some(Stretch { request, accelerator, start, end, energy })
    }
}

impl From<&Piece> for Stretch {
    fn from(piece: &Piece) -> Self {
        let Piece { request, accelerator, start, end, energy, .. } = *piece;
        Self { request, accelerator, start, end: Some(end), energy }
    }
}
