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
//! The engine draws no random numbers and reads no clock: equal arguments give equal traces.
//!
//! [`Outcome`]: crate::trace::Outcome

mod agenda;
mod board;
mod step;

use crate::load::RequestStream;
use crate::plan::Plan;
use crate::schedule::PolicyFailure;
use crate::trace::Trace;

/// A finished run.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// What became of every request.
    pub trace: Trace,
    /// Events played: arrivals, completions and expiries. Dispatches are not events, and neither are
    /// timers of requests that no longer wait.
    pub events: u64,
}

/// Plays `requests` of the plan's scenario on its system.
///
/// # Errors
///
/// If the policy breaks off.
///
/// # Panics
///
/// If the plan's parts do not fit ([`Plan::check`]), if `requests` belong to another scenario, or if
/// the policy breaks the contract of [`Scheduler`](crate::schedule::Scheduler).
pub fn run(plan: &Plan, requests: &RequestStream) -> Result<Run, PolicyFailure> {
    plan.check().expect("the parts of a plan fit");
    step::Engine::new(plan, requests)?.play()
}
