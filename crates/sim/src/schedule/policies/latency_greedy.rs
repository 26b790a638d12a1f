//! The first waiting request onto the idle accelerator that runs it in the shortest time.

use crate::schedule::{Entry, Job, Rank, Ranked, View};
use xrsim_model::ids::RequestId;
use xrsim_model::units::SimTime;

pub(super) const ENTRY: Entry = Entry {
    name: "latency-greedy",
    help: "first request to arrive onto the idle accelerator that runs it in the shortest time",
    source: "XRBench sections 3.5 and D.2; order of requests resolved as (arrival, deadline, \
             scenario order, frame)",
    first_come: true,
    ..Entry::new(|setup, _| Box::new(Ranked::new(FirstArrived, setup)))
};

/// Order of arrival. Requests of a load are numbered in order of (arrival, deadline, scenario order,
/// frame).
pub(super) struct FirstArrived;

impl Rank for FirstArrived {
    const IS_FIXED: bool = true;

    type Key = (SimTime, RequestId);

    fn key(&self, job: &Job, _: &View<'_>) -> (SimTime, RequestId) {
        (job.arrival, job.request)
    }
}
