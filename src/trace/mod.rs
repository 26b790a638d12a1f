//! What happened: one record for every request of a run, and the pieces of those that did not just
//! run from start to end.
//! Written by the engines, read by scores, reports and figures; can be kept and scored again later.

mod piece;

use crate::ids::{AccelId, FrameId, ModelId, RequestId};
use crate::units::{Millijoules, SimTime};

pub use piece::{Piece, Stretch};

/// Why a request was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DropReason {
    /// Still waiting at its deadline.
    Deadline,
    /// A request it depends on was dropped.
    Upstream,
    /// Begun but not done at its deadline, and late runs are aborted.
    Aborted,
    /// A newer frame of the same model could start, and newer frames replace waiting ones.
    Replaced,
    /// The scheduler gave it up.
    Scheduler,
}

impl DropReason {
    /// Spelling in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Deadline => "deadline",
            Self::Upstream => "upstream",
            Self::Aborted => "aborted",
            Self::Replaced => "replaced",
            Self::Scheduler => "scheduler",
        }
    }
}

/// A run that did not finish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attempt {
    /// Where; of several places the last.
    pub accelerator: AccelId,
    /// Start of execution.
    pub start: SimTime,
}

/// How a request ended. Every request ends in exactly one way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Outcome {
    /// Ran to completion.
    Executed {
        /// Where; of several places the last.
        accelerator: AccelId,
        /// Start of execution; of its first piece if it was cut.
        start: SimTime,
        /// End of execution; of its last piece if it was cut.
        end: SimTime,
        /// Energy spent, on switching and migration too.
        energy: Millijoules,
    },
    /// Never finished.
    Dropped {
        /// When it was given up.
        at: SimTime,
        /// Why.
        reason: DropReason,
        /// Energy spent in vain: above zero only where it had begun.
        energy: Millijoules,
        /// The run that was given up; `None` if it never started.
        attempt: Option<Attempt>,
    },
    /// The upstream result did not ask for it.
    NotTriggered,
    /// Lost at the end of a run that does not drain (`mlsys2023` only): released, but in no score.
    Lost {
        /// The run that the end cut off; `None` if it was waiting.
        attempt: Option<Attempt>,
    },
}

/// One request IR = (μ, frame) and what became of it (Definitions 6 to 9).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Record {
    /// Model μ.
    pub model: ModelId,
    /// Frame of the model.
    pub frame: FrameId,
    /// T_req: arrival of the input data.
    pub arrival: SimTime,
    /// T_dl.
    pub deadline: SimTime,
    /// How it ended.
    pub outcome: Outcome,
}

/// All requests of a run, indexed by [`RequestId`], in order of arrival.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Trace {
    records: Vec<Record>,
    /// In order of request and start.
    pieces: Vec<Piece>,
}

impl Trace {
    /// A trace of `records` in order of arrival without pieces.
    pub fn new(records: Vec<Record>) -> Self {
        Self::with_pieces(records, Vec::new())
    }

    /// A trace of `records` in order of arrival, with pieces of some in any order.
    pub fn with_pieces(records: Vec<Record>, mut pieces: Vec<Piece>) -> Self {
        pieces.sort_by_key(|piece| (piece.request, piece.start, piece.first_layer));
        Self { records, pieces }
    }

    /// Records in order of arrival.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// The record of one request.
    pub fn record(&self, id: RequestId) -> &Record {
        &self.records[id.index()]
    }

    /// The pieces of every request that was cut or had data moved first, in order of request and start;
    /// nothing of the others.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The pieces of one request, in order of time; empty if it ran from start to end without moving
    /// data.
    pub fn pieces_of(&self, id: RequestId) -> &[Piece] {
        let from = self.pieces.partition_point(|piece| piece.request < id);
        let n_pieces = self.pieces[from..].partition_point(|piece| piece.request == id);
        &self.pieces[from..from + n_pieces]
    }
}
