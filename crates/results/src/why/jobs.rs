//! Jobs of every accelerator over time.

use xrsim_model::ids::{AccelId, RequestId};
use xrsim_model::trace::{BusyInterval, Trace};
use xrsim_model::units::{SimSpan, SimTime};

/// Most jobs of an accelerator that one request counts as its wait; they are the last ones. Without a
/// limit a run of `n` requests would take time in proportion to `n`².
const MAX_JOBS: usize = 64;

/// A job that a request waited for: a stay of another request on an accelerator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blocker {
    /// Request of the job.
    pub request: RequestId,
    /// Its accelerator.
    pub accelerator: AccelId,
    /// Part of the wait in which it ran.
    pub overlap: SimSpan,
    /// Start of the job.
    pub start: SimTime,
    /// End of the job; [`SimTime::MAX`] if that was after the run.
    pub end: SimTime,
}

/// Jobs of every accelerator, indexed by [`AccelId`], in order of start, each with its whole length as the
/// overlap.
pub struct Occupancy(Vec<Vec<Blocker>>);

impl Occupancy {
    pub(super) fn new(trace: &Trace, n_accelerators: usize) -> Self {
        let mut jobs: Vec<Vec<Blocker>> = (0..n_accelerators).map(|_| Vec::new()).collect();
        for BusyInterval { request, accelerator, start, end, .. } in trace.busy_intervals() {
            let end = end.unwrap_or(SimTime::MAX);
            let overlap = end.saturating_since(start);
            jobs[accelerator.index()].push(Blocker { request, accelerator, overlap, start, end });
        }
        jobs.iter_mut().for_each(|jobs| jobs.sort_by_key(|job| (job.start, job.end)));
        Self(jobs)
    }

    /// Jobs that ran on `accelerator` between two instants, the last one first; at most
    /// `MAX_JOBS`.
    pub fn between(
        &self,
        accelerator: AccelId,
        from: SimTime,
        to: SimTime,
    ) -> impl Iterator<Item = Blocker> {
        let before = self.started_before(accelerator, to).iter().rev().take(MAX_JOBS);
        let relevant = before.take_while(move |job| job.end > from);
        relevant.map(move |job| {
            let overlap = job.end.min(to).saturating_since(job.start.max(from));
            Blocker { overlap, ..*job }
        })
    }

    /// The job that `accelerator` runs at `now`, with its remaining time as the overlap.
    pub fn at(&self, accelerator: AccelId, now: SimTime) -> Option<Blocker> {
        let next_instant = now + SimSpan::from_ns(1);
        let last = self.started_before(accelerator, next_instant).last()?;
        let overlap = last.end.saturating_since(now);
        (overlap > SimSpan::ZERO).then_some(Blocker { overlap, ..*last })
    }

    fn started_before(&self, accelerator: AccelId, end: SimTime) -> &[Blocker] {
        let jobs = &self.0[accelerator.index()];
        &jobs[..jobs.partition_point(|job| job.start < end)]
    }
}
