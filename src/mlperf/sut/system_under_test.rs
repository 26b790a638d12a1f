//! What is measured: the system under test, as LoadGen sees it, in simulated time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::units::SimTime;

/// One sample of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// Position in the run, under which it is completed.
    pub id: u32,
    /// Number in the data set.
    pub index: u32,
}

/// A system that queries are issued to.
///
/// The load generator calls [`Self::issue`] in order of time. A system that knows at once when a
/// sample will be done may say so at once; any other says it from [`Self::advance`], which is called
/// until every sample is done. Systems are simulated: equal calls must give equal answers.
pub trait SystemUnderTest {
    /// Takes the samples of one query, at least one, at `now`, and gives the time at which the call
    /// returns: `now`, or later if the system keeps its caller waiting.
    ///
    /// `now` is not before any other time that the system was told. What is due before `now` has
    /// happened already in simulated time, and must not be influenced by the query.
    fn issue(&mut self, now: SimTime, query: &[Sample], completions: &mut Completions) -> SimTime;

    /// When the system does something next without being asked: the end of a batch, or of a wait.
    /// `None` if every sample was completed.
    fn next_event(&self) -> Option<SimTime> {
        None
    }

    /// Lets time pass up to and including `until`.
    fn advance(&mut self, until: SimTime, completions: &mut Completions) {
        let _ = (until, completions);
    }
}

/// Samples that are done, and when.
#[derive(Debug, Clone)]
pub struct Completions {
    /// By sample; [`Self::PENDING`] where it is not known yet.
    at: Vec<SimTime>,
    /// Whether the number of samples done at a time is asked for.
    counts: bool,
    /// Times of completions that are not counted yet.
    ahead: BinaryHeap<Reverse<SimTime>>,
    counted: u64,
}

impl Completions {
    const PENDING: SimTime = SimTime::MAX;

    /// A log of `n_samples` samples, none of which is done. [`Self::count`] needs `counts`.
    pub(crate) fn new(n_samples: usize, counts: bool) -> Self {
        let at = vec![Self::PENDING; n_samples];
        Self { at, counts, ahead: BinaryHeap::new(), counted: 0 }
    }

    /// Sample `id` is done at `at`, which may be in the future.
    ///
    /// # Panics
    ///
    /// If no such sample was issued.
    pub fn record(&mut self, id: u32, at: SimTime) {
        debug_assert_eq!(self.at[id as usize], Self::PENDING, "a sample is done once");
        self.at[id as usize] = at;
        if self.counts {
            self.ahead.push(Reverse(at));
        }
    }

    /// When sample `id` is done, if that is known.
    pub(crate) fn at(&self, id: u32) -> Option<SimTime> {
        Some(self.at[id as usize]).filter(|&at| at != Self::PENDING)
    }

    /// When each of the first `n` samples is done.
    pub(crate) fn into_first(self, n: usize) -> Vec<SimTime> {
        let mut at = self.at;
        at.truncate(n);
        at
    }

    /// Number of samples, done or not.
    pub(crate) fn len(&self) -> usize {
        self.at.len()
    }

    /// Samples done up to and including `now`, which never goes back.
    pub(crate) fn count(&mut self, now: SimTime) -> u64 {
        while self.ahead.peek().is_some_and(|&Reverse(at)| at <= now) {
            self.ahead.pop();
            self.counted += 1;
        }
        self.counted
    }
}
