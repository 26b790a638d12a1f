//! Definitions of the paper on inputs that are small enough to compute by hand. The derivation of the
//! expected value is beside each one.

mod cascades;
mod dependencies;
mod execution;
mod policies;
mod requests;
use crate::support::runs;
mod scores;

use xrsim::ids::ModelId;
use xrsim::load::{Request, RequestStream};
use xrsim::scenario::Scenario;

/// Requests of one model, in order of frame.
fn frames_of(stream: &RequestStream, model: usize) -> Vec<Request> {
    let requests = stream.requests().iter().copied();
    let mut frames: Vec<_> = requests.filter(|r| r.model == ModelId::new(model)).collect();
    frames.sort_by_key(|request| request.frame);
    frames
}

/// A run in which nothing takes time.
fn idle_plan(scenario: Scenario) -> runs::Case {
    let costs = vec![[0.0]; scenario.models().len()];
    runs::plan(scenario, runs::table_ms(&costs))
}

/// The requests of a scenario.
fn load(scenario: Scenario) -> RequestStream {
    runs::requests(&idle_plan(scenario))
}
