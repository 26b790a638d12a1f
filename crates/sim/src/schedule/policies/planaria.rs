//! Planaria's scheduler on accelerators that cannot be divided.

use crate::schedule::alike::equals;
use crate::schedule::limits::Line;
use crate::schedule::rank::first;
use crate::schedule::{Alike, Entry, Job, Rank, Ranked, Since, Value, View};
use xrsim_model::units::SimTime;

use super::priority;

/// Spatial fission, in which tasks share the sub-arrays of one accelerator, is left out: accelerators
/// are fixed.
pub(super) const ENTRY: Entry = Entry {
    name: "planaria",
    help: "largest priority per slack first, late requests last (temporal part only, no fission)",
    source: "Ghodrati et al., MICRO 2020, reduced to time as in the published code of DySta",
    parameters: &[priority::PARAMETER],
    options: &[("preemption", Value::Name("layer-boundary"))],
    ..Entry::new(|setup, arguments| {
        let priorities = priority::of_models(setup, arguments);
        Box::new(Ranked::new(Planaria { priorities }, setup))
    })
};

/// Value of a late job per ns of its arrival: below that of all jobs on time, whose slack is at most 2e13 ms.
const LATE: f64 = -1e15;

struct Planaria {
    /// Indexed by [`ModelId`](xrsim_model::ids::ModelId).
    priorities: Box<[f64]>,
}

impl Rank for Planaria {
    /// Slack per priority \[ms\], infinite after the deadline; then first come, first served.
    type Key = (f64, SimTime);

    const ORDERS: &'static [Since] = &[Since::Arrival];

    const IS_LIMITED: bool = true;

    /// Of jobs of one model, the one that is due next; if all are late, the one that arrived first.
    fn first_of<'c>(&self, class: &'c Alike, view: &View<'_>) -> Option<&'c Job> {
        let on_time = equals(class.deadlines(view.now), |job| self.key(job, view).0);
        let is_late = |job: &&Job| job.deadline <= view.now;
        first(self, on_time, view).or_else(|| class.by(Since::Arrival).find(is_late))
    }

    /// The value of the job that is due next grows with time, up to its deadline.
    fn limit(&self, class: &Alike, view: &View<'_>) -> Line {
        let Some(job) = self.first_of(class, view) else { return Line::LOWEST };
        let value = Self::value(self.key(job, view));
        if job.deadline <= view.now {
            return Line::constant(value, SimTime::MAX);
        }
        Line {
            at: view.now,
            // Later values are smaller, so that what rounding adds to them has to be in this one.
            value: value * (1.0 - 1e-9),
            slope: 1e-6 / self.priorities[job.model.index()],
            until: job.deadline,
        }
    }

    fn value((per_priority, arrival): Self::Key) -> f64 {
        match per_priority.is_finite() {
            true => -per_priority,
            false => LATE * (arrival.ns() as f64 + 1.0),
        }
    }

    fn key(&self, job: &Job, view: &View<'_>) -> Self::Key {
        let slack_ms = view.slack_ms(job);
        let per_priority = match slack_ms > 0.0 {
            true => slack_ms / self.priorities[job.model.index()],
            false => f64::INFINITY,
        };
        (per_priority, job.arrival)
    }
}
