//! The principled runtime: a single-threaded discrete-event simulation on integer nanoseconds.
//!
//! Time jumps from one instant at which something happens to the next. What happens at an instant
//! happens in a fixed order, so that no tie is ever left to chance:
//!
//! 1. **completions**, by accelerator: accelerators become idle, dependants learn of the result;
//! 2. **arrivals**, in the order of the request stream: input data is there;
//! 3. **expiries**, upstream models first: requests that still wait at their deadline are dropped;
//! 4. **dispatch**: the policy is asked until it waits, or nothing is ready or idle.
//!
//! A result that is ready exactly at the deadline is therefore on time, and a request that could
//! start exactly at its deadline does not. The run ends when the load is exhausted and the
//! accelerators have drained; every request then has exactly one [`Outcome`].
//!
//! # Segments
//!
//! A policy says how much of a request runs before it is asked again: all that is left of it, a block
//! of whole layers, or one layer. With preemption, a request that becomes ready cuts everything that
//! runs at the end of the layer under way, or at once between two layers: the ends of segments move, and
//! no layer costs an event. What is left goes back among the ready requests; that it does cuts
//! nothing. The segments of a request that nothing interrupts add up to its latency and energy exactly.
//!
//! A request that has begun is not dropped at its deadline, whether it runs then or waits to go on,
//! nor replaced by a newer frame, unless late runs are aborted ([`DeadlineMiss`]). The policy may drop it
//! between two segments. The energy that it took is part of its outcome either way.
//!
//! # Effects
//!
//! Beside waiting, requests can cost each other time and energy ([`Effects`]): data is moved before a
//! segment starts, and layers share bandwidth. All of it is off by default, and costs nothing then.
//!
//! The engine draws no random numbers and reads no clock: equal arguments give equal traces.
//!
//! [`Outcome`]: crate::trace::Outcome
//! [`DeadlineMiss`]: crate::plan::DeadlineMiss
//! [`Effects`]: crate::plan::Effects

mod agenda;
mod division;
mod requests;
mod running;
mod segments;
mod session;
mod sharing;
mod state;
mod step;
mod switching;

use crate::cost::CostTable;
use crate::load::RequestStream;
use crate::plan::Plan;
use crate::schedule::PolicyFailure;
use crate::trace::Trace;

pub use session::{RequestEvent, Session, Traced};

/// A finished run.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// What became of every request.
    pub trace: Trace,
    /// Events played: arrivals, ends of segments and expiries. Dispatches are not events, and neither are
    /// timers of requests that no longer wait.
    pub events: u64,
}

/// Plays `requests` of the plan's scenario on its system, all of which are known before.
///
/// # Errors
///
/// If the policy breaks off.
///
/// # Panics
///
/// If `costs` are not those of the plan ([`Plan::check`]), if `requests` belong to another scenario, or if
/// the policy breaks the contract of [`Scheduler`](crate::schedule::Scheduler).
pub fn run(plan: &Plan, costs: &CostTable, requests: &RequestStream) -> Result<Run, PolicyFailure> {
    plan.check(costs).expect("the costs are those of the plan");
    step::Engine::new(plan, costs, requests, true)?.play_all()
}
