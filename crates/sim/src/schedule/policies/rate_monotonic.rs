//! Rate-monotonic priorities.

use std::cmp::Reverse;

use crate::schedule::{Entry, Job, Rank, Ranked, View};
use xrsim_model::units::FrameRate;

pub(super) const ENTRY: Entry = Entry {
    name: "rm",
    help: "rate monotonic: the models with the highest rate first",
    source: "Liu & Layland, J. ACM 1973",
    ..Entry::new(|setup, _| {
        let rates = setup.scenario.models().iter().map(|model| model.rate).collect();
        Box::new(Ranked::new(RateMonotonic { rates }, setup))
    })
};

struct RateMonotonic {
    /// Indexed by [`ModelId`](xrsim_model::ids::ModelId).
    rates: Box<[FrameRate]>,
}

impl Rank for RateMonotonic {
    const IS_FIXED: bool = true;

    type Key = Reverse<FrameRate>;

    fn key(&self, job: &Job, _: &View<'_>) -> Reverse<FrameRate> {
        Reverse(self.rates[job.model.index()])
    }
}
