//! Interface of a system under test, as LoadGen sees it, in simulated time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use xrsim_model::units::SimTime;

/// Sample of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// Position in the run, by which its completion is recorded.
    pub id: u32,
    /// Number in the data set.
    pub index: u32,
}

/// System that queries are issued to.
///
/// The load generator calls [`Self::issue`] in order of time. A system that knows at once when a sample
/// will be done may record it at once. Other systems record it in [`Self::advance`], which is called
/// until every sample is done. Systems are simulated: equal calls must give equal answers.
pub trait SystemUnderTest {
    /// Takes the samples of one query, at least one, at `now`. Returns the instant at which the call
    /// returns: `now`, or later if the system blocks its caller.
    ///
    /// `now` is not before any earlier call or [`Self::advance`]. Events before `now` have already happened
    /// in simulated time and must not depend on the query.
    fn issue(&mut self, now: SimTime, query: &[Sample], completions: &mut Completions) -> SimTime;

    /// Whether the number of a sample in the data set makes a difference to the system. If not, the samples of a run
    /// need not be drawn.
    fn tells_samples_apart(&self) -> bool {
        true
    }

    /// Instant of the next event inside the system, such as the end of a batch or of a wait; `None` if
    /// every sample is done.
    fn next_event(&self) -> Option<SimTime> {
        None
    }

    /// Instant at which the system stopped for good, so that what is not done will never be; `None` while it goes on.
    fn stopped(&self) -> Option<SimTime> {
        None
    }

    /// Advances the system up to and including `until`.
    fn advance(&mut self, until: SimTime, completions: &mut Completions) {
        let _ = (until, completions);
    }
}

/// Completions of samples.
#[derive(Debug, Clone)]
pub struct Completions {
    /// Completion of every sample; [`Self::PENDING`] while it is unknown.
    at: Vec<SimTime>,
    /// Whether [`Self::count`] is used.
    counts: bool,
    /// Completions that are not counted yet.
    ahead: BinaryHeap<Reverse<SimTime>>,
    counted: u64,
}

impl Completions {
    const PENDING: SimTime = SimTime::MAX;

    /// Completions of `n_samples` samples, all unknown. [`Self::count`] requires `counts`.
    pub(crate) fn new(n_samples: usize, counts: bool) -> Self {
        let at = vec![Self::PENDING; n_samples];
        Self { at, counts, ahead: BinaryHeap::new(), counted: 0 }
    }

    /// Records that sample `id` is done at `at`, which may be in the future.
    ///
    /// # Panics
    ///
    /// If there is no sample `id`.
    pub fn record(&mut self, id: u32, at: SimTime) {
        debug_assert_eq!(self.at[id as usize], Self::PENDING, "a sample is done once");
        self.at[id as usize] = at;
        if self.counts {
            self.ahead.push(Reverse(at));
        }
    }

    /// Completion of sample `id`, if it is known.
    pub(crate) fn at(&self, id: u32) -> Option<SimTime> {
        Some(self.at[id as usize]).filter(|&at| at != Self::PENDING)
    }

    /// Completions of the first `n` samples.
    pub(crate) fn into_first(self, n: usize) -> Vec<SimTime> {
        let mut at = self.at;
        at.truncate(n);
        at
    }

    /// Number of all samples.
    pub(crate) fn len(&self) -> usize {
        self.at.len()
    }

    /// Number of samples that are done up to and including `now`, which must not decrease.
    pub(crate) fn count(&mut self, now: SimTime) -> u64 {
        while self.ahead.peek().is_some_and(|&Reverse(at)| at <= now) {
            self.ahead.pop();
            self.counted += 1;
        }
        self.counted
    }
}
