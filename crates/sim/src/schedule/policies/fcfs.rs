//! First come, first served.

use crate::schedule::{Entry, Ranked};

use super::latency_greedy::FirstArrived;

/// The same as latency-greedy, whose order of requests the paper leaves open; under this name for
/// comparison with other work.
pub(super) const ENTRY: Entry = Entry {
    name: "fcfs",
    help: "first come, first served, by arrival; the same order as latency-greedy",
    source: "textbook; a baseline of DySta (Fan et al., MICRO 2023)",
    first_come: true,
    ..Entry::new(|setup, _| Box::new(Ranked::new(FirstArrived, setup)))
};
