//! Admission: requests that are given up before a policy sees them.

use std::collections::BTreeSet;

use xrsim_model::ids::RequestId;
use xrsim_model::units::{SimSpan, SimTime};

use super::estimate::{Over, Remaining};
use super::queue::Queue;
use super::{BandwidthDemand, Decision, Job, Rank, Scheduler, Setup, View};

/// Policy that gives up hopeless requests, the first one first, and decides by another policy when none
/// is left ([`Admission::SkipHopeless`](super::Admission::SkipHopeless)).
pub(super) struct Admitting {
    policy: Box<dyn Scheduler>,
    hope: Hope,
    /// Order in which many ready jobs become hopeless.
    queue: Option<Queue<i128>>,
    /// Requests that are hopeless.
    hopeless: BTreeSet<RequestId>,
}

/// Time until which a job is not hopeless.
struct Hope {
    tolerance: SimSpan,
    shortest: Remaining,
}

impl Rank for Hope {
    /// Latest start that is not hopeless \[ns\].
    type Key = i128;

    const IS_FIXED: bool = true;

    fn key(&self, job: &Job, view: &View<'_>) -> i128 {
        match job.deadline + self.tolerance {
            // A job without a deadline is never hopeless.
            SimTime::MAX => i128::MAX,
            end => i128::from(end.ns()) - i128::from(self.shortest.of(job, view).ns()),
        }
    }
}

impl Admitting {
    pub(super) fn new(policy: Box<dyn Scheduler>, tolerance: SimSpan, setup: &Setup<'_>) -> Self {
        let hope = Hope { tolerance, shortest: Remaining::new(Over::Best, setup) };
        Self { policy, hope, queue: None, hopeless: BTreeSet::new() }
    }

    /// The first hopeless request.
    fn first_hopeless(&mut self, view: &View<'_>) -> Option<RequestId> {
        let now = i128::from(view.now.ns());
        let Some(queue) = Queue::up_to_date(&mut self.queue, false, &self.hope, view) else {
            self.hopeless.clear();
            let mut jobs = view.ready.iter();
            return jobs.find(|job| self.hope.key(job, view) < now).map(|job| job.request);
        };
        self.hopeless.extend(std::iter::from_fn(|| queue.pop_below(now)));
        while let Some(&request) = self.hopeless.first() {
            let job = view.ready.get(request);
            if job.is_some_and(|job| self.hope.key(job, view) < now) {
                return Some(request);
            }
            self.hopeless.pop_first();
        }
        None
    }
}

impl Scheduler for Admitting {
    fn decide(&mut self, view: &View<'_>) -> Decision {
        match self.first_hopeless(view) {
            Some(request) => Decision::Drop(request),
            None => self.policy.decide(view),
        }
    }

    fn grant(&mut self, demands: &[BandwidthDemand], capacity: f64, grants: &mut [f64]) -> bool {
        self.policy.grant(demands, capacity, grants)
    }
}
