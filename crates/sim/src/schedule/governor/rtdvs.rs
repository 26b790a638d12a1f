//! Real-time dynamic voltage scaling for one accelerator under EDF (Pillai & Shin, SOSP 2001): cycle-conserving and
//! look-ahead EDF. The worst case of a model is the longest of its variants, at the highest point.

use xrsim_model::ids::{AccelId, ModelId, PointId, WorkId};
use xrsim_model::units::SimTime;

use super::{Job, Rule, Setup, View};

/// What is known of the requests of all models. Times are those at the highest point \[ns\].
struct Tasks {
    highest: PointId,
    /// Clocks of the points, as shares of the highest.
    speeds: Vec<f64>,
    /// Indexed by [`ModelId`].
    tasks: Vec<Task>,
}

#[derive(Debug, Clone, Copy)]
struct Task {
    period: f64,
    worst: f64,
    /// Deadline of its last request; `None` before the first one.
    deadline: Option<SimTime>,
    /// Work of the request that ran last.
    work: Option<WorkId>,
}

const ONLY: usize = 0;

impl Tasks {
    fn new(setup: &Setup<'_>) -> Self {
        let points = &setup.supplied[ONLY].points;
        let highest = points.highest();
        let most = points.get(highest).clock.as_mhz();
        let costs = setup.costs.at(highest);
        let time = |work: WorkId| costs.on(work, AccelId::new(ONLY)).latency().ns() as f64;
        let task = |index: usize| {
            let model = ModelId::new(index);
            let works = (0..costs.n_variants(model)).filter_map(|it| costs.variant(model, it));
            Task {
                period: 1e9 / setup.scenario.model(model).rate.as_fps(),
                worst: works.map(time).fold(0.0, f64::max),
                deadline: None,
                work: None,
            }
        };
        Self {
            highest,
            speeds: points.all().iter().map(|it| it.clock.as_mhz() / most).collect(),
            tasks: (0..setup.scenario.models().len()).map(task).collect(),
        }
    }

    /// The lowest point whose speed is at least `speed`; the highest if none is.
    fn at_least(&self, speed: f64) -> PointId {
        // Periods of rates are off from whole numbers by rounding.
        let below = self.speeds.partition_point(|it| *it < speed * (1.0 - 1e-6));
        PointId::new(below.min(self.highest.index()))
    }

    fn observe(&mut self, view: &View<'_>) {
        for job in view.ready.iter() {
            self.tasks[job.model.index()].deadline = Some(job.deadline);
        }
    }

    /// Time that `job` has run, at the highest point.
    fn ran(&self, job: &Job, view: &View<'_>) -> f64 {
        let execution = view.costs.at(self.highest).on(job.work, AccelId::new(ONLY));
        execution.time_of(0..job.next_layer).ns() as f64
    }
}

/// Cycle-conserving EDF.
pub(super) struct Conserving(Tasks);

impl Conserving {
    pub(super) fn new(setup: &Setup<'_>) -> Self {
        Self(Tasks::new(setup))
    }
}

impl Rule for Conserving {
    fn point(&mut self, job: &Job, _: AccelId, view: &View<'_>) -> PointId {
        let tasks = &mut self.0;
        let costs = view.costs.at(tasks.highest);
        let mut used = 0.0;
        for (index, task) in tasks.tasks.iter().enumerate() {
            let is_open = view.ready.iter().any(|it| it.model.index() == index);
            let time = match task.work {
                Some(work) if !is_open => costs.on(work, AccelId::new(ONLY)).latency().ns() as f64,
                _ => task.worst,
            };
            used += time / task.period;
        }
        tasks.tasks[job.model.index()].work = Some(job.work);
        tasks.at_least(used)
    }
}

/// Look-ahead EDF.
pub(super) struct Ahead(Tasks);

impl Ahead {
    pub(super) fn new(setup: &Setup<'_>) -> Self {
        Self(Tasks::new(setup))
    }
}

impl Rule for Ahead {
    fn observe(&mut self, view: &View<'_>) {
        self.0.observe(view);
    }

    /// Defers the work of the latest deadlines first: what fits between the next deadline and theirs beside the worst case of
    /// the others. What is left must be done by the next deadline.
    fn point(&mut self, _: &Job, _: AccelId, view: &View<'_>) -> PointId {
        let tasks = &self.0;
        let open = |index: usize| view.ready.iter().filter(move |it| it.model.index() == index);
        let first = |index: usize| open(index).map(|it| it.deadline).min();
        let mut by_deadline: Vec<(SimTime, usize)> = tasks
            .tasks
            .iter()
            .enumerate()
            .filter_map(|(index, task)| Some((first(index).or(task.deadline)?, index)))
            .collect();
        by_deadline.sort_by(|a, b| b.cmp(a));
        let Some(&(next, _)) = by_deadline.last() else { return tasks.highest };
        if next <= view.now {
            return tasks.highest;
        }
        let share = |task: &Task| task.worst / task.period;
        let mut used: f64 = tasks.tasks.iter().map(share).sum();
        let mut due = 0.0;
        for (deadline, index) in by_deadline {
            let task = &tasks.tasks[index];
            used -= share(task);
            let left = |job: &Job| (task.worst - tasks.ran(job, view)).max(0.0);
            let left: f64 = open(index).map(left).sum();
            let beyond = (deadline - next).ns() as f64;
            let now = match beyond > 0.0 {
                false => left,
                true => {
                    let now = (left - (1.0 - used) * beyond).max(0.0);
                    used += (left - now) / beyond;
                    now
                }
            };
            due += now;
        }
        tasks.at_least(due / (next - view.now).ns() as f64)
    }
}
