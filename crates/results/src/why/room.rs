//! Waits of sequences for room of their caches.

use std::collections::{BTreeMap, HashMap, VecDeque};

use xrsim_model::ids::{ModelId, RequestId};
use xrsim_model::trace::{Outcome, Trace};
use xrsim_model::units::SimTime;
use xrsim_sim::plan::Plan;

/// A start of a sequence: its first request, and how it ended.
struct Start {
    first: RequestId,
    /// Instant at which its first request had its results.
    ready: SimTime,
    /// Its last request, and the instant at which that ended or was dropped.
    last: (RequestId, SimTime),
    /// Bytes of its cache.
    bytes: u64,
}

/// First requests of starts that waited for room, each with the request whose end made it. The rule is that of the engine:
/// starts get room in the order in which they are ready. `ready` is the instant at which a request has its results.
pub(super) fn waits(
    plan: &Plan,
    trace: &Trace,
    ready: impl Fn(RequestId) -> Option<SimTime>,
) -> HashMap<RequestId, RequestId> {
    let Some(mut free) = plan.cache_room() else { return HashMap::new() };
    let mut starts = starts(plan, trace, ready);
    starts.sort_by_key(|it| (it.ready, it.first));
    let (mut waits, mut waiting) = (HashMap::new(), VecDeque::new());
    let mut held: Vec<&Start> = Vec::new();
    let mut next = starts.iter().peekable();
    // Ends come before what becomes ready at the same instant.
    loop {
        let end = held.iter().enumerate().min_by_key(|(_, it)| it.last.1);
        let arrives = next.peek().map(|it| it.ready);
        match (end.map(|(at, it)| (at, it.last.1)), arrives) {
            (Some((at, end)), arrives) if arrives.is_none_or(|ready| end <= ready) => {
                let ended = held.swap_remove(at);
                free += ended.bytes;
                while let Some(start) = waiting.pop_front_if(|it: &mut &Start| it.bytes <= free) {
                    free -= start.bytes;
                    held.push(start);
                    waits.insert(start.first, ended.last.0);
                }
            }
            (_, Some(_)) => match next.next() {
                Some(start) if waiting.is_empty() && start.bytes <= free => {
                    free -= start.bytes;
                    held.push(start);
                }
                start => waiting.extend(start),
            },
            (_, None) => return waits,
        }
    }
}

/// Starts whose first request became ready.
fn starts(plan: &Plan, trace: &Trace, ready: impl Fn(RequestId) -> Option<SimTime>) -> Vec<Start> {
    let mut starts: BTreeMap<(ModelId, u64), Start> = BTreeMap::new();
    for (index, record) in trace.records().iter().enumerate() {
        let (id, model) = (RequestId::new(index), plan.scenario.model(record.model));
        let Some(sequence) = &model.sequence else { continue };
        // A request without an end holds its cache to the end of the run.
        let end = match record.outcome {
            Outcome::Executed { end, .. } => end,
            Outcome::Dropped { at, .. } => at,
            Outcome::Lost { .. } => SimTime::MAX,
            Outcome::NotTriggered | Outcome::NotCaptured(_) => continue,
        };
        let key = (record.model, model.start_of(record.frame));
        match starts.get_mut(&key) {
            Some(start) if end >= start.last.1 => start.last = (id, end),
            Some(_) => {}
            None => {
                let Some(ready) = ready(id) else { continue };
                let bytes = sequence.cache();
                starts.insert(key, Start { first: id, ready, last: (id, end), bytes });
            }
        }
    }
    starts.into_values().collect()
}
