//! Governors: the operating point of a segment for which the policy has none.

mod load;
mod rtdvs;
mod slack;
mod sustain;

use xrsim_model::hardware::device::Supplied;
use xrsim_model::ids::{AccelId, PointId};

use super::{
    BandwidthDemand, Breakdown, Decision, Dispatch, Governor, Job, Scheduler, Setup, View,
};
use load::{OnDemand, utilised};
use rtdvs::{Ahead, Conserving};
use slack::Filling;
use sustain::Sustained;

/// `policy` under `governor` in a run.
///
/// # Errors
///
/// [`Breakdown`] if it is not defined for the system.
pub(super) fn govern(
    governor: Governor,
    policy: Box<dyn Scheduler>,
    setup: &Setup<'_>,
) -> Result<Box<dyn Scheduler>, Breakdown> {
    if setup.supplied.is_empty() || governor == Governor::default() {
        return Ok(policy);
    }
    if governor.is_of_edf() && setup.supplied.len() > 1 {
        let names = Governor::OF_EDF.join(" and ");
        return Err(Breakdown::new(format!(
            "the governors {names} are defined for one accelerator, and the system has {}",
            setup.supplied.len()
        )));
    }
    if matches!(governor, Governor::Sustain { .. })
        && setup.supplied.iter().all(|it| it.node.is_none())
    {
        let message = "the governor sustain follows the heat of accelerators, and they heat no node of the device (`thermal`, `heat`)";
        return Err(Breakdown::new(message));
    }
    Ok(match governor {
        Governor::Fixed(clock) => {
            let point = |it: &Supplied| clock.map_or(it.nominal, |clock| it.points.at_least(clock));
            governed(policy, Same(setup.supplied.iter().map(point).collect()))
        }
        Governor::Race => {
            let point = |it: &Supplied| it.points.highest();
            governed(policy, Same(setup.supplied.iter().map(point).collect()))
        }
        Governor::Slack { margin } => governed(policy, Filling::new(margin, setup)),
        Governor::Static => {
            let point = utilised(setup);
            governed(policy, Same(vec![point; setup.supplied.len()]))
        }
        Governor::Conserving => governed(policy, Conserving::new(setup)),
        Governor::Ahead => governed(policy, Ahead::new(setup)),
        Governor::OnDemand { window, up, down } => {
            governed(policy, OnDemand::new(window, up, down, setup))
        }
        Governor::Sustain { limit_mc, window } => {
            governed(policy, Sustained::new(f64::from(limit_mc) / 1e3, window, setup))
        }
    })
}

/// A rule that gives a point to each segment.
trait Rule: Send {
    /// The point of a segment of `job` on an accelerator. The engine lowers it to the cap.
    fn point(&mut self, job: &Job, accelerator: AccelId, view: &View<'_>) -> PointId;

    /// Looks at the state before a decision.
    fn observe(&mut self, _view: &View<'_>) {}
}

/// One point for each accelerator.
struct Same(Vec<PointId>);

impl Rule for Same {
    fn point(&mut self, _: &Job, accelerator: AccelId, _: &View<'_>) -> PointId {
        self.0[accelerator.index()]
    }
}

/// A policy with the points of a rule.
struct Governed<R> {
    policy: Box<dyn Scheduler>,
    rule: R,
}

fn governed<R: Rule + 'static>(policy: Box<dyn Scheduler>, rule: R) -> Box<dyn Scheduler> {
    Box::new(Governed { policy, rule })
}

impl<R: Rule> Scheduler for Governed<R> {
    fn decide(&mut self, view: &View<'_>) -> Decision {
        self.rule.observe(view);
        match self.policy.decide(view) {
            Decision::Dispatch(dispatch @ Dispatch { point: None, .. }) => {
                match view.ready.get(dispatch.request) {
                    Some(job) => {
                        let chosen = dispatch.variant;
                        let chosen = chosen.and_then(|it| view.costs.variant(job.model, it));
                        let job = Job { work: chosen.unwrap_or(job.work), ..*job };
                        dispatch.at(self.rule.point(&job, dispatch.accelerator, view)).into()
                    }
                    None => dispatch.into(),
                }
            }
            other => other,
        }
    }

    fn grant(&mut self, demands: &[BandwidthDemand], capacity: f64, grants: &mut [f64]) -> bool {
        self.policy.grant(demands, capacity, grants)
    }
}
