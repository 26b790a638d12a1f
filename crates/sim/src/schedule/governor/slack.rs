//! The slowest point at which a request meets its deadline.

use xrsim_model::hardware::device::Supplied;
use xrsim_model::ids::{AccelId, PointId, WorkId};
use xrsim_model::units::{SimSpan, SimTime};

use super::{Job, Rule, Setup, View};

/// See [`Governor::Slack`](super::super::Governor::Slack).
pub(super) struct Filling {
    margin: SimSpan,
    /// Points of least energy, below which none is taken: leakage then costs more than the voltage saves. Row-major
    /// `[work][accelerator]`.
    critical: Vec<PointId>,
}

impl Filling {
    pub(super) fn new(margin: SimSpan, setup: &Setup<'_>) -> Self {
        let works = (0..setup.costs.n_works()).map(WorkId::new);
        let of_work = |work| {
            let accelerators = setup.supplied.iter().enumerate();
            accelerators.map(move |(index, it)| critical(it, work, AccelId::new(index), setup))
        };
        Self { margin, critical: works.flat_map(of_work).collect() }
    }
}

/// The point at which a request takes the least energy with its leakage; of equals, the highest.
fn critical(supplied: &Supplied, work: WorkId, accelerator: AccelId, setup: &Setup<'_>) -> PointId {
    let energy = |point: PointId| {
        let execution = setup.costs.at(point).on(work, accelerator);
        let leakage_w = supplied.leakage_at(point, supplied.leakage.at_c);
        execution.energy().get() * 1e6 + leakage_w * execution.latency().ns() as f64
    };
    let points = (0..supplied.points.all().len()).map(PointId::new);
    let mut best = (supplied.nominal, f64::INFINITY);
    for point in points {
        let energy = energy(point);
        if energy <= best.1 {
            best = (point, energy);
        }
    }
    best.0
}

impl Rule for Filling {
    fn point(&mut self, job: &Job, accelerator: AccelId, view: &View<'_>) -> PointId {
        let Some(supplies) = view.supplies else { return PointId::new(0) };
        let cap = supplies.standing[accelerator.index()].cap;
        let least = self.critical[job.work.index() * supplies.supplied.len() + accelerator.index()];
        let meets = |point: PointId| {
            let overhead = supplies.overhead(accelerator, point, view.now).time;
            let left = view.costs.at(point).on(job.work, accelerator).remaining(job.next_layer);
            let end: SimTime = view.now + overhead + left + self.margin;
            end <= job.deadline
        };
        let slower = (least.index()..cap.index()).map(PointId::new);
        slower.into_iter().find(|&point| meets(point)).unwrap_or(cap)
    }
}
