//! Earliest deadline first.

use crate::schedule::{Entry, Job, Rank, Ranked, View};
use crate::units::SimTime;

pub(super) const ENTRY: Entry = Entry {
    name: "edf",
    help: "earliest deadline first",
    source: "Liu & Layland 1973",
    build: |setup, _| Box::new(Ranked::new(EarliestDeadline, setup)),
    ..Entry::DEFAULT
};

struct EarliestDeadline;

impl Rank for EarliestDeadline {
    type Key = SimTime;

    fn key(&self, job: &Job, _: &View<'_>) -> SimTime {
        job.deadline
    }
}
