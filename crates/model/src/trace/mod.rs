//! Trace of a run: one record for every request, and the segments of requests that did not run from
//! start to end without interruption. Engines write it; scores, reports and figures read it. It can be
//! kept and scored again.
//!
//! A metric of the caller's, the mean lateness of late frames of each model:
//!
//! ```
//! use xrsim::report::model_names;
//! use xrsim::statistics::Summary;
//! use xrsim::{Experiment, Outcome};
//!
//! let runs = Experiment::new().scenario("AR_gaming").system("J").pes(4096).run()?;
//! let (scenario, trace) = (&runs[0].plan.scenario, runs[0].trace()?);
//! for (model, name) in scenario.model_ids().zip(model_names(scenario)) {
//!     let of_model = trace.records().iter().filter(|record| record.model == model);
//!     let lateness_ms = of_model.filter_map(|record| match record.outcome {
//!         Outcome::Executed { end, .. } => Some(end.ms_after(record.deadline)),
//!         _ => None,
//!     });
//!     let late = Summary::of(lateness_ms.filter(|&ms| ms > 0.0));
//!     let realtime = runs[0].scorecard()?.models[model.index()].realtime;
//!     println!("{name}: {} late, {:.3} ms on average, realtime {realtime:.3}", late.n, late.mean);
//! }
//! # Ok::<(), xrsim::ExperimentError>(())
//! ```

mod points;
mod segment;

use crate::ids::{AccelId, FrameId, ModelId, RequestId};
use crate::units::{Millijoules, SimTime};

pub use points::{PointChange, PointChanges};
pub use segment::{BusyInterval, Segment};

/// Reason for which a request was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DropReason {
    /// It still waited at its deadline.
    Deadline,
    /// A request that it depends on was dropped.
    Upstream,
    /// It had begun but not ended at its deadline, and late requests are aborted.
    Aborted,
    /// A newer frame of the same model became ready, and newer frames replace waiting ones.
    Replaced,
    /// The scheduler gave it up.
    Scheduler,
    /// The device stopped, as its battery was empty.
    Power,
}

impl DropReason {
    /// Name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Deadline => "deadline",
            Self::Upstream => "upstream",
            Self::Aborted => "aborted",
            Self::Replaced => "replaced",
            Self::Scheduler => "scheduler",
            Self::Power => "power",
        }
    }
}

/// Execution of a request that did not end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attempt {
    /// Accelerator; of several, the last.
    pub accelerator: AccelId,
    /// Start of its first segment.
    pub start: SimTime,
}

/// Reason for which a frame of a sensor is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Absence {
    /// The recording of the sensor does not have it.
    Lost,
    /// The gate of the sensor was off.
    Gated,
}

impl Absence {
    /// Name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lost => "lost",
            Self::Gated => "gated",
        }
    }
}

/// Outcome of a request. Every request has exactly one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Outcome {
    /// It ran to completion.
    Executed {
        /// Accelerator; of several, the last.
        accelerator: AccelId,
        /// Start of its first segment.
        start: SimTime,
        /// End of its last segment.
        end: SimTime,
        /// Energy, that of data transfers included.
        energy: Millijoules,
    },
    /// It was given up.
    Dropped {
        /// Time of the drop.
        at: SimTime,
        /// Reason of the drop.
        reason: DropReason,
        /// Energy; zero if it had not begun.
        energy: Millijoules,
        /// Execution so far; `None` if it never started.
        attempt: Option<Attempt>,
    },
    /// The upstream result did not trigger it.
    NotTriggered,
    /// A frame of a sensor that it reads is not there, or it needs the result of such a request. It never waits, and is
    /// in no score.
    NotCaptured(Absence),
    /// The end of the run cut it off (`mlsys2023` semantics only). It has arrived, but is in no score.
    Lost {
        /// Execution so far; `None` if it was waiting.
        attempt: Option<Attempt>,
    },
}

/// One request IR = (μ, frame) and its outcome (Definitions 6 to 9).
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
    /// Outcome.
    pub outcome: Outcome,
}

/// One request of a run with its outcome.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry<'a> {
    /// The request.
    pub request: RequestId,
    /// Its outcome.
    pub record: &'a Record,
    /// Variant of its model that it ran.
    pub variant: u32,
    /// Number of its phase of a profile; 0 in other runs.
    pub phase: u32,
    /// Its segments ([`Trace::segments_of`]).
    pub segments: &'a [Segment],
}

/// All requests of a run, indexed by [`RequestId`], in order of arrival.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Trace {
    records: Vec<Record>,
    /// In order of request and start.
    segments: Vec<Segment>,
    /// Variant of every request; empty if each is 0.
    variants: Vec<u32>,
    points: PointChanges,
}

impl Trace {
    /// A trace of `records`, in order of arrival, without segments.
    pub fn new(records: Vec<Record>) -> Self {
        Self::with_segments(records, Vec::new())
    }

    /// A trace of `records`, in order of arrival, with the segments of some requests in any order.
    pub fn with_segments(records: Vec<Record>, mut segments: Vec<Segment>) -> Self {
        segments.sort_by_key(|segment| (segment.request, segment.start, segment.first_layer));
        Self { records, segments, ..Self::default() }
    }

    /// A trace without requests, with memory for `n_requests`.
    pub fn with_capacity(n_requests: usize) -> Self {
        Self { records: Vec::with_capacity(n_requests), ..Self::default() }
    }

    /// Adds the next request.
    ///
    /// # Panics
    ///
    /// If the entry is that of another request.
    pub fn push(&mut self, entry: &Entry<'_>) {
        assert_eq!(entry.request.index(), self.records.len(), "requests are added in order");
        if entry.variant != 0 || !self.variants.is_empty() {
            self.variants.resize(self.records.len(), 0);
            self.variants.push(entry.variant);
        }
        self.records.push(*entry.record);
        self.segments.extend_from_slice(entry.segments);
    }

    /// All requests in order of arrival.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        let mut segments = &*self.segments;
        self.records.iter().enumerate().map(move |(index, record)| {
            let request = RequestId::new(index);
            let n_own = segments.iter().take_while(|segment| segment.request == request).count();
            let (own, later) = segments.split_at(n_own);
            segments = later;
            Entry { request, record, variant: self.variant_of(request), phase: 0, segments: own }
        })
    }

    /// Variant of its model that a request ran.
    pub fn variant_of(&self, id: RequestId) -> u32 {
        self.variants.get(id.index()).copied().unwrap_or(0)
    }

    /// The same trace with the operating points of the accelerators.
    #[must_use]
    pub fn with_points(self, points: PointChanges) -> Self {
        Self { points, ..self }
    }

    /// Operating points of the accelerators; none without a device, in a session that keeps no trace, and in a trace of a run that goes on.
    pub fn points(&self) -> &PointChanges {
        &self.points
    }

    /// Records in order of arrival.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// The record of one request.
    pub fn record(&self, id: RequestId) -> &Record {
        &self.records[id.index()]
    }

    /// Segments of every request that was interrupted or whose data was moved first, in order of request
    /// and start. Other requests have none.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Segments of one request, in order of time; empty if it ran from start to end without interruption
    /// and without a data transfer.
    #[inline]
    pub fn segments_of(&self, id: RequestId) -> &[Segment] {
        let from = self.segments.partition_point(|segment| segment.request < id);
        let n_segments = self.segments[from..].partition_point(|segment| segment.request == id);
        &self.segments[from..from + n_segments]
    }
}
