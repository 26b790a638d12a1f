//! What every accelerator ran, and when.

use crate::ids::{AccelId, RequestId};
use crate::trace::{BusyInterval, Trace};
use crate::units::{SimSpan, SimTime};

/// Most jobs of an accelerator that one request is told to have waited for. It is the last ones that
/// count; beyond them a run of `n` requests would take time in proportion to `n`².
const MAX_JOBS: usize = 64;

/// A job in the way of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Job {
    /// What ran.
    pub request: RequestId,
    /// Where.
    pub accelerator: AccelId,
    /// How much of the wait it ran.
    pub overlap: SimSpan,
    /// When it took the accelerator.
    pub start: SimTime,
    /// When it left it; [`SimTime::MAX`] if that was after the run.
    pub end: SimTime,
}

/// Jobs of every accelerator, indexed by [`AccelId`], in order of start.
pub(super) struct Occupancy(Vec<Vec<Shift>>);

/// A job on its accelerator.
struct Shift {
    start: SimTime,
    end: SimTime,
    request: RequestId,
}

impl Occupancy {
    pub(super) fn new(trace: &Trace, n_accelerators: usize) -> Self {
        let mut shifts: Vec<Vec<Shift>> = (0..n_accelerators).map(|_| Vec::new()).collect();
        for BusyInterval { request, accelerator, start, end, .. } in trace.busy_intervals() {
            let end = end.unwrap_or(SimTime::MAX);
            shifts[accelerator.index()].push(Shift { start, end, request });
        }
        shifts.iter_mut().for_each(|shifts| shifts.sort_by_key(|shift| (shift.start, shift.end)));
        Self(shifts)
    }

    /// Jobs that ran on `accelerator` between two instants, the last one first; at most
    /// [`MAX_JOBS`].
    pub(super) fn between(
        &self,
        accelerator: AccelId,
        from: SimTime,
        to: SimTime,
    ) -> impl Iterator<Item = Job> {
        let before = self.started_before(accelerator, to).iter().rev().take(MAX_JOBS);
        let relevant = before.take_while(move |shift| shift.end > from);
        relevant.map(move |shift| Job {
            request: shift.request,
            accelerator,
            overlap: shift.end.min(to).saturating_since(shift.start.max(from)),
            start: shift.start,
            end: shift.end,
        })
    }

    /// The job that `accelerator` runs from `now` on, whether it starts then or goes on, with what is
    /// left of it.
    pub(super) fn at(&self, accelerator: AccelId, now: SimTime) -> Option<Job> {
        let next_instant = now + SimSpan::from_ns(1);
        let last = self.started_before(accelerator, next_instant).last()?;
        let overlap = last.end.saturating_since(now);
        let Shift { start, end, request } = *last;
        (overlap > SimSpan::ZERO).then_some(Job { request, accelerator, overlap, start, end })
    }

    fn started_before(&self, accelerator: AccelId, end: SimTime) -> &[Shift] {
        let shifts = &self.0[accelerator.index()];
        &shifts[..shifts.partition_point(|shift| shift.start < end)]
    }
}
