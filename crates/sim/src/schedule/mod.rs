//! Schedulers: which waiting request runs next, on which accelerator, and how much of it. The trait,
//! the view that it decides by, the options that every policy is combined with, and the policies in
//! [`ALL`].
//!
//! A policy sees a [`View`], never the engine.

mod admission;
mod alike;
mod class;
mod estimate;
mod governor;
mod limits;
mod lists;
mod options;
mod paired;
mod parameter;
mod placement;
mod policies;
mod policy;
mod quality;
mod queue;
mod rank;
mod ranked;
mod ready;
mod tie;
pub mod tuning;
mod view;

use std::fmt;

use xrsim_model::ids::{AccelId, ModelId, PointId, RequestId};
use xrsim_model::units::SimSpan;

pub use alike::{Alike, Classes, Since};
pub use class::Class;
pub use limits::Line;
pub use options::{
    Admission, Governor, Granularity, OPTIONS, Options, Placement, Preemption, Quality,
};
pub(crate) use paired::{Paired, Utility};
pub(crate) use parameter::RENAMED;
pub use parameter::{Allowed, Arguments, Parameter, Value};
pub use policies::ALL;
pub use policy::{Breakdown, Policy, PolicyError, PolicyFailure};
pub use rank::Rank;
pub use ranked::Ranked;
pub use ready::Ready;
pub use view::{AcceleratorState, Activity, History, Job, Setup, View};

/// Decision of a scheduler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Start a ready request on an idle accelerator.
    Dispatch(Dispatch),
    /// Give up a ready request.
    Drop(RequestId),
    /// Do nothing until the next event.
    Wait,
    /// The policy has failed; the run ends.
    Fail(Breakdown),
}

/// The start of a ready request on an idle accelerator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dispatch {
    /// A request of [`View::ready`].
    pub request: RequestId,
    /// An accelerator of [`View::idle_for`] the request.
    pub accelerator: AccelId,
    /// How much of the request runs before the scheduler decides again. Preemption may end it earlier.
    pub granularity: Granularity,
    /// Operating point at which it runs; `None`: that of the governor, and without one the nominal point. A point above the
    /// cap is lowered to it.
    pub point: Option<PointId>,
    /// Which of several networks of its model runs, if the request has not begun; `None`: that which the option `quality`
    /// chose.
    pub variant: Option<u32>,
}

impl Dispatch {
    /// Starts the rest of `request` on `accelerator`.
    pub fn new(request: RequestId, accelerator: AccelId) -> Self {
        let (granularity, point, variant) = (Granularity::Model, None, None);
        Self { request, accelerator, granularity, point, variant }
    }

    /// The same dispatch at `point`.
    pub fn at(self, point: PointId) -> Self {
        Self { point: Some(point), ..self }
    }

    /// The same dispatch with another network of the model.
    pub fn of_variant(self, variant: u32) -> Self {
        Self { variant: Some(variant), ..self }
    }

    /// The same dispatch with another granularity.
    pub fn with_granularity(self, granularity: Granularity) -> Self {
        Self { granularity, ..self }
    }
}

impl From<Dispatch> for Decision {
    fn from(dispatch: Dispatch) -> Self {
        Self::Dispatch(dispatch)
    }
}

/// A scheduling policy.
///
/// Contract:
/// - The engine asks only when a request is ready and an accelerator is idle: at every arrival, end of
///   a segment and drop, and again after each decision until the policy waits or nothing is left.
/// - The policy answers with a request of [`View::ready`] and an accelerator of [`View::idle_for`] it. If
///   no idle accelerator can run any ready request, it waits.
/// - A decision depends on the state of the policy and on the view only: no clock, no random draws, no
///   I/O. (A policy in another process is asked over a pipe and has the same contract. A search before
///   the run draws from a generator with a fixed seed.)
/// - Ties are decided by a total order: the key of the policy, then earlier deadline, earlier arrival,
///   lower model id (scenario order), lower frame; between accelerators the lower id. Names of models
///   have no influence.
pub trait Scheduler: Send {
    /// Makes the next decision.
    fn decide(&mut self, view: &View<'_>) -> Decision;

    /// Divides shared bandwidth among running layers: sets one grant for each demand \[byte/ns\].
    /// Called when layers demand more DRAM bandwidth than there is, whenever a layer starts or ends. Returns
    /// `false` if the policy does not divide bandwidth; `grants` are then not read, and it is not asked again.
    ///
    /// A request that is submitted during the run can start before the next end of a segment that was found. The
    /// layers in between are then played again, with their questions.
    ///
    /// Contract: a grant is at least 0 and at most its demand. The sum of all grants is at most
    /// `capacity` \[byte/ns\].
    fn grant(&mut self, _demands: &[BandwidthDemand], _capacity: f64, _grants: &mut [f64]) -> bool {
        false
    }
}

/// Demand of a running layer for shared bandwidth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BandwidthDemand {
    /// Accelerator on which the layer runs.
    pub accelerator: AccelId,
    /// Request to which the layer belongs.
    pub request: RequestId,
    /// Model of the request.
    pub model: ModelId,
    /// Time that the rest of the request takes alone, this layer included.
    pub remaining: SimSpan,
    /// Time to the deadline of the request; zero after it.
    pub slack: SimSpan,
    /// Bandwidth with which the layer runs at full speed, above 0 \[byte/ns\].
    pub wanted: f64,
}

/// A built-in policy.
pub struct Entry {
    /// Name on the command line.
    pub name: &'static str,
    /// Summary in one line.
    pub help: &'static str,
    /// Publication or code that defines it.
    pub source: &'static str,
    /// Parts that could not be checked against the source, if any.
    pub unverified: Option<&'static str>,
    /// Whether it never leaves an accelerator idle while a request is ready.
    pub work_conserving: bool,
    /// Parameters of its own.
    pub parameters: &'static [Parameter],
    /// Defaults of [`OPTIONS`] that differ for this policy.
    pub options: &'static [(&'static str, Value)],
    /// Names in [`OPTIONS`] that the policy decides itself. A user cannot set them.
    pub fixes: &'static [&'static str],
    /// Whether it knows every request before the run; such a policy is a reference.
    pub is_clairvoyant: bool,
    /// Returns an error for values that contradict each other.
    pub check: fn(&Arguments) -> Result<(), &'static str>,
    /// Whether a decision looks at all waiting requests. Otherwise they are kept in order, and a decision costs the
    /// logarithm of their number, for each class of requests with equal costs if their order changes with time.
    pub looks_at_all: bool,
    /// Whether it takes requests in order of arrival, each on the accelerator of its placement.
    pub first_come: bool,
    /// Builds the policy for one run.
    pub build: fn(&Setup<'_>, &Arguments) -> Box<dyn Scheduler>,
}

impl Entry {
    /// An entry with the properties of most policies. Name, help and source are empty.
    pub const fn new(build: fn(&Setup<'_>, &Arguments) -> Box<dyn Scheduler>) -> Self {
        Self {
            name: "",
            help: "",
            source: "",
            unverified: None,
            work_conserving: true,
            parameters: &[],
            options: &[],
            fixes: &[],
            is_clairvoyant: false,
            check: |_| Ok(()),
            looks_at_all: false,
            first_come: false,
            build,
        }
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// The built-in policy called `name`.
pub fn find(name: &str) -> Option<&'static Entry> {
    ALL.iter().find(|entry| entry.name == name)
}
