//! The first waiting request onto the idle accelerator that runs it in the shortest time.

use super::{Decision, Entry, Scheduler, View};

pub(super) const ENTRY: Entry = Entry {
    name: "latency-greedy",
    help: "first released request onto the idle accelerator that runs it in the shortest time",
    source: "XRBench sections 3.5 and D.2; order of requests resolved as (release, deadline, \
             scenario order, frame)",
    work_conserving: true,
    build: || Box::new(LatencyGreedy),
};

/// Takes what is idle; never waits for a faster accelerator that is busy.
struct LatencyGreedy;

impl Scheduler for LatencyGreedy {
    fn decide(&mut self, view: &View<'_>) -> Decision {
        let job = &view.ready[0];
        Decision::Dispatch { request: job.request, accelerator: view.fastest_idle(job.model) }
    }
}
