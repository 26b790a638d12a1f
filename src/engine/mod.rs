//! (in progress)
use crate::load::RequestStream;
use crate::plan::Plan;
use crate::trace::Trace;
/// Plays the requests.
pub fn run(_plan: &Plan, _requests: &RequestStream) -> Trace {
    Trace::default()
}
