//! Known orders of requests, each onto the accelerator that does best by energy.

use crate::schedule::{Entry, Ranked, Value};

use super::edf::EarliestDeadline;
use super::latency_greedy::FirstArrived;

/// Least energy.
pub(super) const ENERGY_GREEDY: Entry = Entry {
    name: "energy-greedy",
    help: "first request to arrive onto the idle accelerator that needs the least energy",
    source: "the published artifact's processor assignment",
    options: &[("placement", Value::Name("energy"))],
    ..first_arrived()
};

/// Least energy-delay product.
pub(super) const EDP_GREEDY: Entry = Entry {
    name: "edp-greedy",
    help: "first request to arrive onto the idle accelerator with the least energy x latency \
           (placement=edp-by-layer: the artifact's sum over layers)",
    source: "the published artifact's processor assignment, with the product of the sums",
    options: &[("placement", Value::Name("edp"))],
    ..first_arrived()
};

/// Least energy-delay-squared product.
pub(super) const ED2P_GREEDY: Entry = Entry {
    name: "ed2p-greedy",
    help: "first request to arrive onto the idle accelerator with the least energy x latency^2",
    source: "the published artifact's processor assignment, with the product of the sums",
    options: &[("placement", Value::Name("ed2p"))],
    ..first_arrived()
};

/// Least energy among those in time.
pub(super) const DEADLINE_ENERGY: Entry = Entry {
    name: "deadline-energy",
    help: "earliest deadline first, onto the idle accelerator with the least energy of those in time",
    source: "textbook",
    options: &[("placement", Value::Name("deadline-energy"))],
    ..Entry::new(|setup, _| Box::new(Ranked::new(EarliestDeadline, setup)))
};

const fn first_arrived() -> Entry {
    Entry::new(|setup, _| Box::new(Ranked::new(FirstArrived, setup)))
}
