//! Placement: the accelerator of a chosen job.

use xrsim_model::ids::AccelId;
use xrsim_model::units::SimTime;

use super::{Job, Placement, View};

/// Accelerator for `job`; of equals, the one with the lowest id. `None` if the job waits for a busy
/// accelerator, or no idle one can run it.
pub(super) fn place(placement: Placement, job: &Job, view: &View<'_>) -> Option<AccelId> {
    let least = |cost: &dyn Fn(AccelId) -> f64| {
        view.idle_for(job).min_by(|&a, &b| cost(a).total_cmp(&cost(b)))
    };
    let latency = |at| view.remaining(job, at).as_ms();
    let energy = |at| view.remaining_energy(job, at).get();
    match placement {
        Placement::Latency => view.fastest_idle(job),
        Placement::FirstIdle => view.idle_for(job).next(),
        Placement::Energy => least(&energy),
        Placement::EnergyDelay => least(&|at| energy(at) * latency(at)),
        Placement::EnergyDelaySquared => least(&|at| energy(at) * latency(at) * latency(at)),
        Placement::EnergyDelayByLayer => {
            least(&|at| view.execution(job, at).energy_delay_by_layer(job.next_layer))
        }
        Placement::EarliestFinish => earliest_finish(job, view),
        Placement::DeadlineEnergy { guard } => {
            let in_time =
                |at: &AccelId| view.now + view.remaining(job, *at) + guard <= job.deadline;
            let idle = view.idle_for(job).filter(in_time);
            let cheapest = idle.min_by(|&a, &b| energy(a).total_cmp(&energy(b)));
            cheapest.or_else(|| view.fastest_idle(job))
        }
    }
}

/// Accelerator where `job` would end first; `None` if it is busy.
fn earliest_finish(job: &Job, view: &View<'_>) -> Option<AccelId> {
    let end = |at: AccelId| -> SimTime { view.available(at) + view.remaining(job, at) };
    let best = view.costs.offers(job.work).min_by_key(|&at| end(at));
    best.filter(|at| view.is_idle(*at))
}
