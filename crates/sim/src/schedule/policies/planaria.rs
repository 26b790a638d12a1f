//! Planaria's scheduler on accelerators that cannot be divided.

use crate::schedule::{Entry, Job, Rank, Ranked, Value, View};
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
    looks_at_all: true,
    ..Entry::new(|setup, arguments| {
        let priorities = priority::of_models(setup, arguments);
        Box::new(Ranked::new(Planaria { priorities }, setup))
    })
};

struct Planaria {
    /// Indexed by [`ModelId`](xrsim_model::ids::ModelId).
    priorities: Box<[f64]>,
}

impl Rank for Planaria {
    /// Slack per priority \[ms\], infinite after the deadline; then first come, first served.
    type Key = (f64, SimTime);

    fn key(&self, job: &Job, view: &View<'_>) -> Self::Key {
        let slack_ms = view.slack_ms(job);
        let per_priority = match slack_ms > 0.0 {
            true => slack_ms / self.priorities[job.model.index()],
            false => f64::INFINITY,
        };
        (per_priority, job.arrival)
    }
}
