//! Schedulers: which waiting request runs next, where, and how much of it. The trait, what it is
//! shown, the choices that every policy is combined with, and the policies in [`ALL`].
//!
//! A policy sees a [`View`], never the engine.

mod admission;
mod estimate;
mod lists;
mod options;
mod paired;
mod parameter;
mod placement;
mod policies;
mod policy;
mod queue;
mod ranked;
mod ready;
pub mod tuning;
mod view;

use std::fmt;

use crate::ids::{AccelId, ModelId, RequestId};
use crate::units::SimSpan;

pub use options::{Admission, Granularity, OPTIONS, Options, Placement, Preemption};
pub use paired::{Paired, Utility};
pub use parameter::{Allowed, Arguments, Parameter, Value};
pub use policies::ALL;
pub use policy::{Breakdown, Policy, PolicyError, PolicyFailure};
pub use ranked::{Rank, Ranked};
pub use ready::Ready;
pub use view::{AcceleratorState, Activity, History, Job, KnownRequest, Setup, View};

/// What a policy answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Start a ready request on an idle accelerator.
    Dispatch(Dispatch),
    /// Give up this ready request.
    Drop(RequestId),
    /// Do nothing until the next event.
    Wait,
    /// The policy cannot go on, and the run with it.
    Fail(Breakdown),
}

/// The start of a ready request on an idle accelerator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dispatch {
    /// A request of [`View::ready`].
    pub request: RequestId,
    /// An accelerator of [`View::idle`].
    pub accelerator: AccelId,
    /// How much of the request runs before the scheduler decides again. Preemption may end it earlier.
    pub granularity: Granularity,
}

impl Dispatch {
    /// Starts the rest of `request` on `accelerator`.
    pub fn new(request: RequestId, accelerator: AccelId) -> Self {
        Self { request, accelerator, granularity: Granularity::Model }
    }

    /// The same dispatch of as much of the request as `granularity` says.
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
/// - It is asked only with something ready and something idle, at every arrival, completion of a
///   segment and drop, and again after each decision until it waits or nothing is left.
/// - It answers from what it was shown: a request of [`View::ready`], an accelerator of
///   [`View::idle`].
/// - It is a pure function of its own state and the view: no clock, no random draws, no I/O. (A
///   policy in another process is asked over a pipe, and bound to the same. A search before the run
///   draws from a generator with a fixed seed.)
/// - Ties are decided by a total order: the policy's key, then earlier deadline, earlier arrival,
///   lower model id (scenario order), lower frame; between accelerators the lower id. Model names
///   play no part.
pub trait Scheduler: Send {
    /// The next decision.
    fn decide(&mut self, view: &View<'_>) -> Decision;

    /// Divides shared bandwidth among what runs: fills `grants`, which belong to `demands` one by one
    /// \[byte/ns\]. Asked, where bandwidth is shared, whenever a layer starts or ends. `false`: the
    /// policy leaves it to max-min fairness, and `grants` are not read.
    ///
    /// Contract: a grant is at least 0 and at most what its demand wants, and all together at most
    /// `capacity` \[byte/ns\].
    fn grant(&mut self, _demands: &[BandwidthDemand], _capacity: f64, _grants: &mut [f64]) -> bool {
        false
    }
}

/// What a running layer asks of shared bandwidth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BandwidthDemand {
    /// Where it runs.
    pub accelerator: AccelId,
    /// The request that it belongs to.
    pub request: RequestId,
    /// The model of that.
    pub model: ModelId,
    /// Time that what is left of the request takes alone, this layer included.
    pub remaining: SimSpan,
    /// Time to its deadline; zero behind it.
    pub slack: SimSpan,
    /// What the layer takes if it gets all that it wants, above 0 \[byte/ns\].
    pub wanted: f64,
}

/// A policy of this program.
pub struct Entry {
    /// Name on the command line.
    pub name: &'static str,
    /// One line for lists.
    pub help: &'static str,
    /// Where it is defined.
    pub source: &'static str,
    /// What of it could not be checked against its source, if anything.
    pub unverified: Option<&'static str>,
    /// Whether it starts or gives up something whenever something is ready and something is idle.
    pub work_conserving: bool,
    /// Its own parameters.
    pub parameters: &'static [Parameter],
    /// Defaults of [`OPTIONS`] that differ for this policy.
    pub options: &'static [(&'static str, Value)],
    /// Those of [`OPTIONS`] that it decides itself, so that a user cannot.
    pub fixes: &'static [&'static str],
    /// Whether it is an offline reference, which knows every request of the run beforehand.
    pub is_clairvoyant: bool,
    /// Says which values do not go together, if any.
    pub check: fn(&Arguments) -> Result<(), &'static str>,
    /// Whether a decision looks at all requests that wait, because their order changes with time or with
    /// what has run. The others keep an order, and a decision costs the logarithm of their number.
    pub looks_at_all: bool,
    /// Whether it takes requests in order of arrival, each on the accelerator of its placement.
    pub first_come: bool,
    /// Builds it for one run.
    pub build: fn(&Setup<'_>, &Arguments) -> Box<dyn Scheduler>,
}

impl Entry {
    /// What most policies have in common; name, help and source are each one's own.
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

/// The policy called `name`.
pub fn find(name: &str) -> Option<&'static Entry> {
    ALL.iter().find(|entry| entry.name == name)
}
