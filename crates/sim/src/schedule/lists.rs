//! Schedules made before the run, and the policy that follows them.

use xrsim_model::ids::{AccelId, RequestId};

use super::tie::tie;
use crate::load::{Request, RequestStream};

use super::{Activity, Decision, Dispatch, Granularity, Job, Scheduler, View};

/// Entry of a list: a segment of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ListedSegment {
    pub(super) request: RequestId,
    /// First layer. The segment is this layer, or the rest of the request.
    pub(super) layer: u32,
}

/// Segments of every accelerator, in order; indexed by [`AccelId`].
pub(super) type Lists = Vec<Vec<ListedSegment>>;

/// Stage of a request as far as the view shows it.
enum Stage {
    /// It is ready.
    Ready(Job),
    /// It runs, or may still come.
    Expected,
    /// It has ended, or its deadline passed before it started.
    Gone,
}

/// Policy that follows lists: every accelerator waits for the first segment of its list that may still
/// come. Requests that are on no list do not run.
///
/// The lists never change. If the run deviates from them because of effects that they ignore, a frame
/// whose deadline has passed before it could start is skipped.
pub(super) struct Replay {
    lists: Lists,
    /// Number of entries of every list that have run or were skipped.
    done: Vec<usize>,
    known_requests: RequestStream,
    has_started: Vec<bool>,
    granularity: Granularity,
}

impl Replay {
    pub(super) fn new(
        lists: Lists,
        known_requests: &RequestStream,
        granularity: Granularity,
    ) -> Self {
        Self {
            done: vec![0; lists.len()],
            lists,
            known_requests: known_requests.clone(),
            has_started: vec![false; known_requests.requests().len()],
            granularity,
        }
    }

    fn dispatch(&self, request: RequestId, accelerator: AccelId) -> Decision {
        Dispatch::new(request, accelerator).with_granularity(self.granularity).into()
    }

    fn stage(&self, request: RequestId, view: &View<'_>) -> Stage {
        if let Some(job) = view.ready.get(request) {
            return Stage::Ready(*job);
        }
        let runs = view.accelerators.iter().any(|state| {
            matches!(state.activity, Activity::Running { request: id, .. } if id == request)
        });
        if runs || self.may_come(request, view) { Stage::Expected } else { Stage::Gone }
    }

    /// Whether a request that is neither ready nor running may still become ready: its inputs have not
    /// arrived, or a request that it needs has not ended. Otherwise there may be no event to wait for.
    fn may_come(&self, request: RequestId, view: &View<'_>) -> bool {
        let Request { arrival, deadline, .. } = *self.known_requests.request(request);
        let mut needed =
            self.known_requests.upstream(request).iter().map(|up| self.stage(*up, view));
        !self.has_started[request.index()]
            && view.now < deadline
            && (view.now < arrival || needed.any(|stage| !matches!(stage, Stage::Gone)))
    }

    /// Job that `accelerator` starts now.
    fn next(&mut self, accelerator: AccelId, view: &View<'_>) -> Option<Job> {
        let at = accelerator.index();
        while let Some(segment) = self.lists[at].get(self.done[at]) {
            match self.stage(segment.request, view) {
                Stage::Ready(job) if job.next_layer == segment.layer => return Some(job),
                // A segment before this one is on another list.
                Stage::Ready(job) if job.next_layer < segment.layer => return None,
                Stage::Expected => return None,
                Stage::Ready(_) | Stage::Gone => self.done[at] += 1,
            }
        }
        None
    }

    /// The ready request with the earliest deadline that was not known before the run. Only tests have
    /// such requests.
    fn unknown_request<'v>(&self, view: &View<'v>) -> Option<&'v Job> {
        let unknown = view.ready.from(RequestId::new(self.known_requests.requests().len()));
        unknown.min_by_key(|job| tie(job))
    }
}

impl Scheduler for Replay {
    fn decide(&mut self, view: &View<'_>) -> Decision {
        for &accelerator in view.idle {
            if let Some(job) = self.next(accelerator, view) {
                self.done[accelerator.index()] += 1;
                self.has_started[job.request.index()] = true;
                return self.dispatch(job.request, accelerator);
            }
        }
        match self.unknown_request(view).map(|job| (job, view.fastest_idle(job))) {
            Some((job, Some(accelerator))) => self.dispatch(job.request, accelerator),
            _ => Decision::Wait,
        }
    }
}
