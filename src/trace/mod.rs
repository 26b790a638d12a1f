//! What happened: one record for every request of a run, and the segments of those that did not just
//! run from start to end.
//! Written by the engines, read by scores, reports and figures; can be kept and scored again later.

mod segment;

use crate::ids::{AccelId, FrameId, ModelId, RequestId};
use crate::units::{Millijoules, SimTime};

pub use segment::{BusyInterval, Segment};

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
        /// Start of execution; of its first segment if it was cut.
        start: SimTime,
        /// End of execution; of its last segment if it was cut.
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
    segments: Vec<Segment>,
    /// Samples of every request; empty if each has one.
    batches: Vec<u32>,
}

impl Trace {
    /// A trace of `records` in order of arrival without segments.
    pub fn new(records: Vec<Record>) -> Self {
        Self::with_segments(records, Vec::new())
    }

    /// A trace of `records` in order of arrival, with segments of some in any order.
    pub fn with_segments(records: Vec<Record>, mut segments: Vec<Segment>) -> Self {
        segments.sort_by_key(|segment| (segment.request, segment.start, segment.first_layer));
        Self { records, segments, batches: Vec::new() }
    }

    /// The same trace of requests with these samples each, indexed by [`RequestId`]; none if each has
    /// one.
    pub fn with_batches(self, batches: Vec<u32>) -> Self {
        Self { batches, ..self }
    }

    /// Samples of a request.
    pub fn batch_of(&self, id: RequestId) -> u32 {
        self.batches.get(id.index()).copied().unwrap_or(1)
    }

    /// Records in order of arrival.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// The record of one request.
    pub fn record(&self, id: RequestId) -> &Record {
        &self.records[id.index()]
    }

    /// The segments of every request that was cut or had data moved first, in order of request and start;
    /// nothing of the others.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The segments of one request, in order of time; empty if it ran from start to end without moving
    /// data.
    pub fn segments_of(&self, id: RequestId) -> &[Segment] {
        let from = self.segments.partition_point(|segment| segment.request < id);
        let n_segments = self.segments[from..].partition_point(|segment| segment.request == id);
        &self.segments[from..from + n_segments]
    }
}
