//! What is given up before a policy sees it.

use crate::units::SimSpan;

use super::estimate::{Over, Remaining};
use super::{BandwidthDemand, Decision, Job, Scheduler, Setup, View};

/// A policy that gives up requests without hope, the first one first, and decides by another policy
/// when none is left ([`Admission::SkipHopeless`](super::Admission::SkipHopeless)).
pub(super) struct Admitting {
    policy: Box<dyn Scheduler>,
    tolerance: SimSpan,
    shortest: Remaining,
}

impl Admitting {
    pub(super) fn new(policy: Box<dyn Scheduler>, tolerance: SimSpan, setup: &Setup<'_>) -> Self {
        Self { policy, tolerance, shortest: Remaining::new(Over::Best, setup) }
    }

    fn is_hopeless(&self, job: &Job, view: &View<'_>) -> bool {
        view.now + self.shortest.of(job, view) > job.deadline + self.tolerance
    }
}

impl Scheduler for Admitting {
    fn decide(&mut self, view: &View<'_>) -> Decision {
        match view.ready.iter().find(|job| self.is_hopeless(job, view)) {
            Some(job) => Decision::Drop(job.request),
            None => self.policy.decide(view),
        }
    }

    fn grant(&mut self, demands: &[BandwidthDemand], capacity: f64, grants: &mut [f64]) -> bool {
        self.policy.grant(demands, capacity, grants)
    }
}
