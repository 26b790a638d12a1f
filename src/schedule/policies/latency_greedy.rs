//! The first waiting request onto the idle accelerator that runs it in the shortest time.

use crate::ids::RequestId;
use crate::schedule::{Entry, Job, Rank, Ranked, View};

pub(super) const ENTRY: Entry = Entry {
    name: "latency-greedy",
    help: "first released request onto the idle accelerator that runs it in the shortest time",
    source: "XRBench sections 3.5 and D.2; order of requests resolved as (release, deadline, \
             scenario order, frame)",
    ..Entry::new(|setup, _| Box::new(Ranked::new(FirstReleased, setup)))
};

/// Requests are numbered in order of (release, deadline, scenario order, frame).
pub(super) struct FirstReleased;

impl Rank for FirstReleased {
    type Key = RequestId;

    fn key(&self, job: &Job, _: &View<'_>) -> RequestId {
        job.request
    }
}
