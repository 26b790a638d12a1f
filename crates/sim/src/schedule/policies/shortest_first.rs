//! The shortest request first: of all its time, or of what is left.

use crate::schedule::estimate::{Over, Remaining};
use crate::schedule::{Entry, Job, Rank, Ranked, View};
use xrsim_model::units::SimSpan;

/// Shortest job first.
pub(super) const SJF: Entry = Entry {
    name: "sjf",
    help: "shortest job first, by its time on its fastest accelerator",
    source: "textbook; a baseline of DySta (Fan et al., MICRO 2023)",
    ..Entry::new(|setup, _| {
        Box::new(Ranked::new(ShortestJob(Remaining::new(Over::Best, setup)), setup))
    })
};

/// Shortest remaining time first.
pub(super) const SRPT: Entry = Entry {
    name: "srpt",
    help: "shortest remaining time first; as sjf unless requests run in segments",
    source: "Schrage, Operations Research 1968",
    ..Entry::new(|setup, _| {
        Box::new(Ranked::new(ShortestRest(Remaining::new(Over::Best, setup)), setup))
    })
};

struct ShortestJob(Remaining);

impl Rank for ShortestJob {
    const IS_FIXED: bool = true;

    type Key = SimSpan;

    fn key(&self, job: &Job, _: &View<'_>) -> SimSpan {
        self.0.whole(job.work)
    }
}

struct ShortestRest(Remaining);

impl Rank for ShortestRest {
    const IS_FIXED: bool = true;

    type Key = SimSpan;

    fn key(&self, job: &Job, view: &View<'_>) -> SimSpan {
        self.0.of(job, view)
    }
}
