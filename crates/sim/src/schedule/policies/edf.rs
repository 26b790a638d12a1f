//! Earliest deadline first.

use crate::schedule::{Entry, Job, Rank, Ranked, View};
use xrsim_model::units::SimTime;

pub(super) const ENTRY: Entry = Entry {
    name: "edf",
    help: "earliest deadline first",
    source: "Liu & Layland, J. ACM 1973",
    ..Entry::new(|setup, _| Box::new(Ranked::new(EarliestDeadline, setup)))
};

pub(super) struct EarliestDeadline;

impl Rank for EarliestDeadline {
    const IS_FIXED: bool = true;

    type Key = SimTime;

    fn key(&self, job: &Job, _: &View<'_>) -> SimTime {
        job.deadline
    }
}
