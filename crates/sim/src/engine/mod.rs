//! Runtime of the principled semantics: a single-threaded discrete-event simulation on integer
//! nanoseconds.
//!
//! Time jumps from one instant with events to the next. The events of an instant are played in a fixed
//! order, so that no tie depends on chance:
//!
//! 1. **completions**, by accelerator: accelerators become idle, and dependants learn of the result;
//! 2. **arrivals**, in the order of the request stream: input data is there;
//! 3. **expiries**, upstream models first: requests that still wait at their deadline are dropped;
//! 4. **dispatch**: the scheduler is asked until it waits, or nothing is ready or idle.
//!
//! A result that is ready exactly at the deadline is therefore in time, and a request that could start
//! exactly at its deadline does not start. The run ends when the load is exhausted and the accelerators
//! are idle, or when the device stops. Every request that has arrived by then has exactly one [`Outcome`].
//!
//! # Segments
//!
//! A scheduler says how much of a request runs before it is asked again: the rest, a block of whole
//! layers, or one layer. With preemption, a request that becomes ready ends every running segment with
//! the layer under way, or at once between two layers. Only ends of segments are events; layers are
//! not. The rest of a preempted request becomes ready again, which preempts nothing. Time and energy of
//! the segments of a request that nothing else delays add up to its latency and energy exactly.
//!
//! A request that has begun is not dropped at its deadline, whether it runs or waits then, and a newer
//! frame does not replace it, unless late requests are aborted ([`DeadlineMiss`]). The scheduler may
//! drop it between two segments. The energy that it took is part of its outcome in every case.
//!
//! # Variants
//!
//! A request runs a variant of its model ([`Request::variant`]), such as a batch of several samples. Its costs are those
//! of the variant ([`WorkId`]). A submitted request can grow until it starts ([`Session::set_batch`]).
//!
//! # Sequences
//!
//! A start of a sequence is a chain of requests. They do not expire. When the request before it has ended, a request
//! arrives, and its deadline counts from there if the pace is chained. A start waits until there is room in DRAM for
//! its cache, in order of arrival.
//!
//! # Effects
//!
//! Besides waiting, requests can cost each other time and energy ([`Effects`]): data is moved before a
//! segment starts, layers share bandwidth, and a device gives points, limits and power. All effects are off by default.
//!
//! The engine draws no random numbers and reads no clock: equal arguments give equal traces.
//!
//! [`Outcome`]: xrsim_model::trace::Outcome
//! [`DeadlineMiss`]: crate::plan::DeadlineMiss
//! [`Effects`]: crate::plan::Effects
//! [`Request::variant`]: crate::load::Request::variant
//! [`WorkId`]: xrsim_model::ids::WorkId

mod agenda;
mod effects;
mod event;
mod requests;
mod running;
mod segments;
mod sequences;
mod session;
mod state;
mod step;
mod stepwise;
mod variants;

use crate::device::{Body, Ledger};
use crate::load::{Feed, RequestStream};
use crate::plan::Plan;
use crate::schedule::PolicyFailure;
use xrsim_model::cancel;
use xrsim_model::cost::CostTable;
use xrsim_model::trace::{Entry, PointChanges, Trace};

pub use event::RequestEvent;
pub use session::{Session, Traced};
pub use stepwise::{Refused, Stepwise};

/// A finished run.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Outcome of every request that has arrived before the device stopped, if it did.
    pub trace: Trace,
    /// Number of events played: arrivals, ends of segments, and expiries. Dispatches are not events, and
    /// neither are timers of requests that no longer wait.
    pub events: u64,
    /// Account of the energy; `None` without a device.
    pub ledger: Option<Box<Ledger>>,
    /// Heat and charge at the end; `None` without a device.
    pub body: Option<Box<Body>>,
}

/// Result of a run beside what became of its requests.
#[derive(Debug, Clone, PartialEq)]
pub struct Played {
    /// Number of events played.
    pub events: u64,
    /// Account of the energy; `None` without a device.
    pub ledger: Option<Box<Ledger>>,
    /// Heat and charge at the end; `None` without a device.
    pub body: Option<Box<Body>>,
    /// Operating points of the accelerators, if they are kept.
    points: PointChanges,
}

/// Plays `requests` of the plan's scenario on its system.
///
/// # Errors
///
/// [`PolicyFailure`] if the scheduler cannot be constructed, or fails during the run.
///
/// # Panics
///
/// If `costs` do not fit the plan ([`Plan::check`]) or lack a batch of a request, if `requests` belong
/// to another scenario, or if the scheduler breaks the contract of
/// [`Scheduler`](crate::schedule::Scheduler).
pub fn run(plan: &Plan, costs: &CostTable, requests: &RequestStream) -> Result<Run, PolicyFailure> {
    let mut trace = Trace::with_capacity(requests.requests().len());
    let mut engine = begun(plan, costs, requests.into())?;
    engine.keep_points();
    let played = engine.play_all(&mut |entry| trace.push(entry))?;
    let Played { events, ledger, body, points } = played;
    Ok(Run { trace: trace.with_points(points), events, ledger, body })
}

/// Plays the requests of `feed` as [`run`] does, and hands each to `each` in order, after its end. Memory does not grow with the number of requests.
///
/// # Errors
///
/// [`PolicyFailure`] as [`run`].
///
/// # Panics
///
/// As [`run`], or if the scheduler is clairvoyant and the requests are not known.
pub fn play(
    plan: &Plan,
    costs: &CostTable,
    feed: Feed<'_>,
    each: &mut dyn FnMut(&Entry<'_>),
) -> Result<Played, PolicyFailure> {
    begun(plan, costs, feed)?.play_all(each)
}

/// The engine before the first instant.
fn begun<'a>(
    plan: &'a Plan,
    costs: &'a CostTable,
    feed: Feed<'a>,
) -> Result<step::Engine<'a>, PolicyFailure> {
    plan.check(costs).expect("the costs are those of the plan");
    cancel::check();
    step::Engine::new(plan, costs, feed)
}
