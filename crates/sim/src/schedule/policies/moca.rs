//! MoCA: dispatch by priority and waiting time, bandwidth by need.

use crate::schedule::alike::equals;
use crate::schedule::estimate::{Over, Remaining};
use crate::schedule::rank::first;
use crate::schedule::{
    Alike, BandwidthDemand, Decision, Entry, Job, Parameter, Rank, Ranked, Scheduler, Since, Value,
    View,
};

use super::priority;

pub(super) const ENTRY: Entry = Entry {
    name: "moca",
    help: "largest priority plus relative waiting time first, onto the accelerator where it ends \
           first; shared bandwidth by urgency",
    source: "Kim et al. (MoCA), HPCA 2023, and its published code, but every task weighed by its own \
             score, where the code takes one score for all; without its pairing of memory-bound with \
             compute-bound tasks",
    parameters: &[
        priority::PARAMETER,
        Parameter::number("floor_percent", 25.0, [0.0, 100.0])
            .meaning("smallest share of its demand for bandwidth that a layer gets"),
    ],
    options: &[("placement", Value::Name("earliest-finish"))],
    ..Entry::new(|setup, arguments| {
        let priorities = priority::of_models(setup, arguments);
        let remaining = Remaining::new(Over::Best, setup);
        let dispatch = Dispatch { remaining, priorities: priorities.clone() };
        let floor = arguments.number("floor_percent") / 100.0;
        Box::new(Moca { queue: Ranked::new(dispatch, setup), priorities, floor })
    })
};

struct Dispatch {
    remaining: Remaining,
    /// Indexed by [`ModelId`](xrsim_model::ids::ModelId).
    priorities: Box<[f64]>,
}

impl Rank for Dispatch {
    /// Priority + time since arrival / expected time; the largest is first.
    type Key = f64;

    const ORDERS: &'static [Since] = &[Since::Arrival];

    /// Of jobs with equal costs, the one that arrived first.
    fn first_of<'c>(&self, class: &'c Alike, view: &View<'_>) -> Option<&'c Job> {
        first(self, equals(class.by(Since::Arrival), |job| self.key(job, view)), view)
    }

    fn key(&self, job: &Job, view: &View<'_>) -> f64 {
        let expected_ns = self.remaining.whole(job.work).ns().max(1) as f64;
        let waited_ns = view.now.saturating_since(job.arrival).ns() as f64;
        -(self.priorities[job.model.index()] + waited_ns / expected_ns)
    }
}

struct Moca {
    queue: Ranked<Dispatch>,
    priorities: Box<[f64]>,
    /// Least part of the capacity for a layer.
    floor: f64,
}

impl Moca {
    /// (1 + priority) / 4 + 10 · time left / slack, where the slack is at least 10 ns (10 cycles).
    fn score(&self, demand: &BandwidthDemand) -> f64 {
        let slack_ns = demand.slack.ns().max(10) as f64;
        let urgency = 10.0 * demand.remaining.ns() as f64 / slack_ns;
        (1.0 + self.priorities[demand.model.index()]) / 4.0 + urgency
    }

    /// Demand of a layer less its part of the excess, at least the floor. The part is the fraction of all
    /// other layers in the sum of score times demand.
    fn share(&self, demand: &BandwidthDemand, excess: f64, weights: f64, capacity: f64) -> f64 {
        let own = self.score(demand) * demand.wanted;
        let granted = demand.wanted - excess * (weights - own) / weights;
        granted.max(self.floor * capacity).min(demand.wanted)
    }
}

impl Scheduler for Moca {
    fn decide(&mut self, view: &View<'_>) -> Decision {
        self.queue.decide(view)
    }

    fn grant(&mut self, demands: &[BandwidthDemand], capacity: f64, grants: &mut [f64]) -> bool {
        let wanted: f64 = demands.iter().map(|demand| demand.wanted).sum();
        let excess = (wanted - capacity).max(0.0);
        let weights: f64 = demands.iter().map(|it| self.score(it) * it.wanted).sum();
        for (grant, demand) in grants.iter_mut().zip(demands) {
            *grant = self.share(demand, excess, weights, capacity);
        }
        // Floors may add up to more than there is.
        let granted: f64 = grants.iter().sum();
        if granted > capacity {
            grants.iter_mut().for_each(|grant| *grant *= capacity / granted);
        }
        true
    }
}
