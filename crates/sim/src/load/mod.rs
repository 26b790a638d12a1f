//! Load: the requests of a run, generated before it or as it takes them. All random draws of a run are made here, from
//! streams addressed by (seed, replication, purpose, source, frame), so that no result depends
//! on hardware, scheduler, thread count or the number of draws made elsewhere.

mod arrival;
mod chacha;
mod drawn;
mod feed;
mod gate;
mod generator;
mod latencies;
mod phases;
mod random;
mod recorded;

pub(crate) use arrival::Generations;
pub use arrival::{arrivals, upstream_frame};
pub use drawn::Drawn;
pub use feed::Feed;
pub use gate::{Closed, closed};
pub use generator::{Generator, generate};
pub use latencies::{LatencyDraws, least_costs};
pub use phases::{PhasedGenerator, Phases, PlayedPhase};
pub use recorded::{ShortRecording, short_recordings};

use thiserror::Error;

use xrsim_model::ids::{FrameId, ModelId, RequestId};
use xrsim_model::scenario::{ActiveModel, Pace, Sequence};
use xrsim_model::trace::{Absence, Outcome, Record};
use xrsim_model::units::{SimSpan, SimTime};

/// Which sensor frame serves frame `j` of a model at `F` FPS on a sensor at `S` FPS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FrameMapping {
    /// `floor(j·S/F)`: the newest sensor frame at the nominal start of the model frame.
    #[default]
    Floor,
    /// `ceil(j·S/F)`: wait for the next sensor frame.
    Ceil,
    /// Ignore the sensor's grid: frame `j` arrives at `j/F`, as in the published artifact (with the
    /// jitter, if any, of the newest sensor frame).
    Nominal,
}

/// Settings of the load.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadSettings {
    /// Frames whose nominal start lies in [0, `duration`) are released (XRBench section 3.5: one second). A
    /// warm-up is part of it: the scores leave out its frames.
    pub duration: SimSpan,
    /// Seed of every random stream.
    pub seed: u64,
    /// Replication: independent streams under the same seed.
    pub replication: u64,
    /// Sensor frames of a model frame.
    pub frame_mapping: FrameMapping,
    /// Whether sensors jitter. Without it, frames of recorded sensors have their nominal arrivals, too.
    pub jitter: bool,
    /// Whether each sensor starts at a random phase of its period in place of time 0, so that the
    /// sensors do not start with the worst case of a common burst. Deadlines move along.
    pub random_phase: bool,
    /// Factor of every relative deadline. With 1 they are those of the scenario.
    pub deadline_factor: f64,
    /// Trigger probability of every control dependency in place of the scenario's.
    pub trigger_probability: Option<f64>,
    /// Fixed results of the control dependencies of each model in place of draws: bit `f` of entry `m` is
    /// whether frame `f` of model `m` is asked for; frames from 64 on are not. `None`, and models
    /// beyond the end, draw.
    pub fixed_triggers: Vec<Option<u64>>,
    /// Whether costs say how latencies differ from request to request, so that they are drawn.
    pub draws_latencies: bool,
    /// Number of the phase of a profile: independent streams under the same seed and replication. 0 in other runs.
    pub phase: u32,
}

impl LoadSettings {
    /// Fixed result of the control dependencies of `frame` of `model`; `None` if it is drawn.
    pub(crate) fn fixed_trigger(&self, model: ModelId, frame: usize) -> Option<bool> {
        let bits = (*self.fixed_triggers.get(model.index())?)?;
        Some(frame < 64 && bits >> frame & 1 == 1)
    }

    /// Span from the nominal start of `frame` of `model` to its deadline: that of the model, or its period,
    /// times the factor, rounded down to whole nanoseconds. Of a token that is due after the one before it, the span
    /// from the end of that one.
    pub fn relative_deadline(&self, model: &ActiveModel, frame: FrameId) -> SimSpan {
        if let Some(sequence) = &model.sequence {
            return match sequence.place(frame).1 {
                Some(1..) if sequence.pace == Pace::Chained => self.scaled(sequence.tpot),
                token => self.due(sequence, token),
            };
        }
        let frame = frame.index() as u64;
        let period = || model.rate.frame_start(frame + 1) - model.rate.frame_start(frame);
        self.scaled(model.relative_deadline.unwrap_or_else(period))
    }

    /// Span from the start of a sequence to the deadline of a token, if it is as fast as it should be.
    fn due(&self, sequence: &Sequence, token: Option<u64>) -> SimSpan {
        let tokens = sequence.tpot.ns().saturating_mul(token.unwrap_or(0));
        self.scaled(SimSpan::from_ns(sequence.ttft.ns().saturating_add(tokens)))
    }

    /// A span of a deadline times the factor.
    pub(crate) fn scaled(&self, span: SimSpan) -> SimSpan {
        match self.deadline_factor {
            // No rounding touches the deadlines of the scenario.
            1.0 => span,
            factor => SimSpan::from_ns((span.ns() as f64 * factor) as u64),
        }
    }
}

impl Default for LoadSettings {
    fn default() -> Self {
        Self {
            duration: SimSpan::from_ns(1_000_000_000),
            seed: 0,
            replication: 0,
            frame_mapping: FrameMapping::Floor,
            jitter: true,
            random_phase: false,
            deadline_factor: 1.0,
            trigger_probability: None,
            fixed_triggers: Vec::new(),
            draws_latencies: false,
            phase: 0,
        }
    }
}

/// Tokens of prompt and answer of a start of `model`, which is a sequence.
pub fn sequence_lengths(
    settings: &LoadSettings,
    model: ModelId,
    sequence: &Sequence,
    start: u64,
) -> (u32, u32) {
    arrival::Lengths::new(model, settings).of(sequence, start)
}

/// A load that cannot be generated.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LoadError {
    /// Too many requests.
    #[error(
        "{requests} requests in one run; at most {} are allowed (shorten the duration or lower the rates)",
        RequestStream::MAX_REQUESTS
    )]
    TooManyRequests {
        /// How many there would be.
        requests: u64,
    },
    /// A chain has too many phases.
    #[error(
        "more than {} phases; give states a longer `mean`, or fewer `hours`",
        xrsim_model::scenario::Profile::MAX_PHASES
    )]
    TooManyPhases,
    /// A profile has too many phases or requests.
    #[error(
        "{phases} phases with {requests} requests; a run of a profile has at most {} phases and 2^32 - 1 requests",
        xrsim_model::scenario::Profile::MAX_PHASES
    )]
    ProfileTooLong {
        /// Phases, as far as they were made.
        phases: usize,
        /// Their requests.
        requests: u64,
    },
    /// A scheduler plans all requests before the run, which a profile makes as they come.
    #[error(
        "scheduler `{0}` plans all requests before the run; those of a profile are made as they come"
    )]
    Foresees(Box<str>),
    /// Latencies of single requests are drawn, which those of a profile are not.
    #[error(
        "latencies that are drawn for each request are not known to profiles; take a table without them"
    )]
    DrawnLatencies,
    /// A scheduler plans all requests before the run, and a model is a sequence.
    #[error(
        "scheduler `{scheduler}` plans all requests before the run, and cannot know when the tokens of {model} arrive"
    )]
    Clairvoyant {
        /// Scheduler.
        scheduler: Box<str>,
        /// Model.
        model: Box<str>,
    },
    /// The cache of a sequence is larger than the DRAM that is left for caches.
    #[error(
        "{model} needs {needed} bytes of DRAM for the cache of a sequence; `engine.dram_gib` leaves {room} beside the \
         weights"
    )]
    Cache {
        /// Model.
        model: Box<str>,
        /// Cache of a sequence \[byte\].
        needed: u64,
        /// DRAM that is left for caches \[byte\].
        room: u64,
    },
    /// A recording ends before the run, and does not repeat.
    #[error("{0}; leave out `repeat: false`, shorten the duration or make fewer replications")]
    RecordingTooShort(Box<ShortRecording>),
    /// Too many dependencies between requests.
    #[error(
        "{dependencies} dependencies between requests in one run; at most {} are allowed",
        RequestStream::MAX_DEPENDENCIES
    )]
    TooManyDependencies {
        /// How many there would be.
        dependencies: u64,
    },
}

/// One request IR (Definition 6), with its times and draws.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Request {
    /// Model μ.
    pub model: ModelId,
    /// Frame of the model.
    pub frame: FrameId,
    /// Number of its phase of a profile; 0 in other runs.
    pub phase: u32,
    /// Variant of the model that it runs: 0 for its network, `v` for [`ActiveModel::variants`]`[v - 1]`, or for a batch
    /// of `v + 1` samples.
    pub variant: u32,
    /// T_req: all inputs have arrived (Definition 7).
    pub arrival: SimTime,
    /// T_dl (Definition 8).
    pub deadline: SimTime,
    /// Whether it is the first of the requests of its frame: true unless the model is a sequence.
    pub begins: bool,
    /// Whether it is the last of the requests of its frame: true unless the model is a sequence.
    pub ends: bool,
    /// Whether the upstream results trigger it; drawn in advance, with effect when they are there.
    ///
    /// True if all its control dependencies trigger it and every request that it depends on, by data or
    /// control, is itself triggered: a request that is not triggered has no result.
    pub triggered: bool,
    /// Why a frame of a sensor that it, or a request that it depends on, reads is not there. It is not triggered then.
    pub absence: Option<Absence>,
}

impl Request {
    /// A triggered request that runs the network of the model.
    pub fn new(model: ModelId, frame: FrameId, arrival: SimTime, deadline: SimTime) -> Self {
        Self {
            model,
            frame,
            phase: 0,
            variant: 0,
            arrival,
            deadline,
            begins: true,
            ends: true,
            triggered: true,
            absence: None,
        }
    }

    /// Its record while it has not ended.
    pub(crate) fn record(&self) -> Record {
        let &Self { model, frame, arrival, deadline, .. } = self;
        let outcome = Outcome::Lost { attempt: None };
        Record { model, frame, arrival, deadline, outcome }
    }

    /// The same request of another variant of the model.
    pub fn with_variant(self, variant: u32) -> Self {
        Self { variant, ..self }
    }

    /// The same request with `batch` samples, at least 1.
    pub fn with_batch(self, batch: u32) -> Self {
        self.with_variant(batch.saturating_sub(1))
    }
}

/// All requests of a run in order of (arrival, deadline, model, frame), with their dependencies in
/// compressed rows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RequestStream {
    requests: Vec<Request>,
    upstream: Rows,
    downstream: Rows,
}

/// Lists of requests, one for every request, in one allocation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Rows {
    /// Row `i` is `entries[starts[i]..starts[i + 1]]`.
    starts: Vec<u32>,
    entries: Vec<RequestId>,
}

impl Rows {
    /// Row by row the entries of `pairs` (row, entry), in the order of the pairs.
    fn new(
        n_rows: usize,
        pairs: impl ExactSizeIterator<Item = (RequestId, RequestId)> + Clone,
    ) -> Self {
        let mut starts = vec![0u32; n_rows + 1];
        for (row, _) in pairs.clone() {
            starts[row.index() + 1] += 1;
        }
        for index in 1..starts.len() {
            starts[index] += starts[index - 1];
        }
        let mut next = starts.clone();
        let mut entries = vec![RequestId::new(0); pairs.len()];
        for (row, entry) in pairs {
            entries[next[row.index()] as usize] = entry;
            next[row.index()] += 1;
        }
        Self { starts, entries }
    }

    fn row(&self, id: RequestId) -> &[RequestId] {
        let index = id.index();
        &self.entries[self.starts[index] as usize..self.starts[index + 1] as usize]
    }
}

impl RequestStream {
    /// Most requests of one run.
    pub(crate) const MAX_REQUESTS: u64 = 20_000_000;
    /// Most dependencies between the requests of one run.
    pub(crate) const MAX_DEPENDENCIES: u64 = 2 * Self::MAX_REQUESTS;

    /// A stream of `requests`, already in order, with `edges` from upstream to downstream request.
    ///
    /// # Panics
    ///
    /// If an edge names a request that is not there.
    pub fn new(requests: Vec<Request>, edges: &[(RequestId, RequestId)]) -> Self {
        let down = edges.iter().copied();
        let up = edges.iter().map(|&(up, down)| (down, up));
        Self {
            upstream: Rows::new(requests.len(), up),
            downstream: Rows::new(requests.len(), down),
            requests,
        }
    }

    /// Requests in order of (arrival, deadline, model, frame).
    pub fn requests(&self) -> &[Request] {
        &self.requests
    }

    /// One request.
    pub fn request(&self, id: RequestId) -> &Request {
        &self.requests[id.index()]
    }

    /// Requests whose results `id` needs.
    pub fn upstream(&self, id: RequestId) -> &[RequestId] {
        self.upstream.row(id)
    }

    /// Requests that need the result of `id`.
    pub fn downstream(&self, id: RequestId) -> &[RequestId] {
        self.downstream.row(id)
    }
}
