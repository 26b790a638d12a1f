//! Governors: the operating point of a segment for which the policy has none.

mod load;
mod rtdvs;
mod slack;

use xrsim_model::hardware::device::Supplied;
use xrsim_model::ids::{AccelId, PointId};
use xrsim_model::units::{ClockRate, SimSpan};

use super::{BandwidthDemand, Breakdown, Decision, Dispatch, Job, Scheduler, Setup, View};
use load::{OnDemand, utilised};
use rtdvs::{Ahead, Conserving};
use slack::Filling;

/// Operating point of the segments of a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Governor {
    /// Always the same: the nominal one, or the lowest with at least this clock.
    Fixed(Option<ClockRate>),
    /// The highest that is allowed.
    Race,
    /// The lowest, from that of least energy on, at which the request meets its deadline.
    Slack {
        /// Span before the deadline by which it must end.
        margin: SimSpan,
    },
    /// The lowest at which all models together need no more time than there is, by their rates (static EDF, Pillai & Shin,
    /// SOSP 2001).
    Static,
    /// The same with the time that the last request of each model took, until the next one arrives (cycle-conserving EDF).
    Conserving,
    /// The lowest that does the work which cannot be deferred beyond the next deadline (look-ahead EDF).
    Ahead,
    /// By the share of time that an accelerator was busy in the last window (`simple_ondemand` of Linux devfreq).
    OnDemand {
        /// Length of a window.
        window: SimSpan,
        /// Busy share above which the point is the highest \[%\].
        up: u32,
        /// Width of the band below it in which the point stays \[%\].
        down: u32,
    },
}

impl Default for Governor {
    fn default() -> Self {
        Self::Fixed(None)
    }
}

impl Governor {
    /// Names of governors that are defined for one accelerator and the policy `edf`.
    pub(super) const OF_EDF: [&str; 2] = ["cc-edf", "la-edf"];

    /// Whether it is defined for one accelerator and the policy `edf` only.
    fn is_of_edf(self) -> bool {
        matches!(self, Self::Conserving | Self::Ahead)
    }

    /// `policy` under this governor in a run.
    ///
    /// # Errors
    ///
    /// [`Breakdown`] if it is not defined for the system.
    pub(super) fn over(
        self,
        policy: Box<dyn Scheduler>,
        setup: &Setup<'_>,
    ) -> Result<Box<dyn Scheduler>, Breakdown> {
        if setup.supplied.is_empty() || self == Self::default() {
            return Ok(policy);
        }
        if self.is_of_edf() && setup.supplied.len() > 1 {
            let names = Self::OF_EDF.join(" and ");
            return Err(Breakdown::new(format!(
                "the governors {names} are defined for one accelerator, and the system has {}",
                setup.supplied.len()
            )));
        }
        Ok(match self {
            Self::Fixed(clock) => {
                let point =
                    |it: &Supplied| clock.map_or(it.nominal, |clock| it.points.at_least(clock));
                governed(policy, Same(setup.supplied.iter().map(point).collect()))
            }
            Self::Race => {
                let point = |it: &Supplied| it.points.highest();
                governed(policy, Same(setup.supplied.iter().map(point).collect()))
            }
            Self::Slack { margin } => governed(policy, Filling::new(margin, setup)),
            Self::Static => {
                let point = utilised(setup);
                governed(policy, Same(vec![point; setup.supplied.len()]))
            }
            Self::Conserving => governed(policy, Conserving::new(setup)),
            Self::Ahead => governed(policy, Ahead::new(setup)),
            Self::OnDemand { window, up, down } => {
                governed(policy, OnDemand::new(window, up, down, setup))
            }
        })
    }
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
                        dispatch.at(self.rule.point(job, dispatch.accelerator, view)).into()
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
