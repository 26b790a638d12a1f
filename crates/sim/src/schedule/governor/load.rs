//! Points by the load: that of the scenario, and that of the last window.

use xrsim_model::hardware::device::Supplied;
use xrsim_model::ids::{AccelId, ModelId, PointId};
use xrsim_model::scenario::{ActiveModel, DependencyKind};
use xrsim_model::units::{ClockRate, SimSpan, SimTime};

use super::super::Activity;
use super::{Job, Rule, Setup, View};

/// The lowest point at which all models together take no more time than the accelerators have: the sum of rate,
/// probability and time on its fastest accelerator, of the longest variant. A profile counts all its models.
pub(super) fn utilised(setup: &Setup<'_>) -> PointId {
    let n_points = Supplied::most_points(setup.supplied);
    let models = setup.scenario.models();
    let fits = |point: &PointId| {
        let costs = setup.costs.at(*point);
        let of_model = |(index, model): (usize, &ActiveModel)| {
            let of_id = ModelId::new(index);
            let works = (0..costs.n_variants(of_id)).filter_map(|it| costs.variant(of_id, it));
            let least = |work| costs.offers(work).map(|at| costs.on(work, at).latency()).min();
            let time = works.filter_map(least).max().map_or(0.0, |it| it.ns() as f64 / 1e9);
            model.rate.as_fps() * probability(models, model, models.len()) * time
        };
        let needed: f64 = models.iter().enumerate().map(of_model).sum();
        needed <= setup.supplied.len() as f64
    };
    let points = (0..n_points).map(PointId::new);
    points.into_iter().find(fits).unwrap_or(PointId::new(n_points - 1))
}

/// Probability that a frame of `model` is triggered, and those upstream of it, of which there are at most `depth`.
fn probability(models: &[ActiveModel], model: &ActiveModel, depth: usize) -> f64 {
    let of = |kind: &DependencyKind, upstream: ModelId| {
        let own = match kind {
            DependencyKind::Control { probability } => *probability,
            DependencyKind::Data => 1.0,
        };
        let depth = depth.checked_sub(1);
        own * depth.map_or(1.0, |depth| probability(models, &models[upstream.index()], depth))
    };
    model.dependencies.iter().map(|it| of(&it.kind, it.upstream)).product()
}

/// See [`Governor::OnDemand`](super::super::Governor::OnDemand).
pub(super) struct OnDemand {
    window: SimSpan,
    up: f64,
    down: f64,
    /// Clocks of every accelerator.
    clocks: Vec<Vec<ClockRate>>,
    /// Indexed by [`AccelId`].
    states: Vec<Watched>,
}

/// What is known of an accelerator.
#[derive(Debug, Clone, Copy)]
struct Watched {
    point: PointId,
    /// Everything before is known.
    at: SimTime,
    /// Whether it has run since then.
    runs: bool,
    /// Busy time of the present window \[ns\].
    busy: u64,
}

impl OnDemand {
    pub(super) fn new(window: SimSpan, up: u32, down: u32, setup: &Setup<'_>) -> Self {
        let clocks = |it: &Supplied| it.points.all().iter().map(|it| it.clock).collect();
        let watched =
            |it: &Supplied| Watched { point: it.nominal, at: SimTime::ZERO, runs: false, busy: 0 };
        Self {
            window: window.max(SimSpan::from_ns(1)),
            up: up.into(),
            down: down.into(),
            clocks: setup.supplied.iter().map(clocks).collect(),
            states: setup.supplied.iter().map(watched).collect(),
        }
    }

    /// Time passes to `to`, in which the accelerator runs or idles.
    fn pass(&mut self, accelerator: usize, to: SimTime, runs: bool) {
        // The points settle within as many windows as there are points.
        let most = 1 + self.clocks[accelerator].len() as u64;
        let window = self.window.ns();
        let mut n_windows = 0;
        while self.states[accelerator].at < to {
            let state = &mut self.states[accelerator];
            let end = (state.at.ns() / window + 1).saturating_mul(window);
            let reached = to.ns().min(end);
            state.busy += if runs { reached - state.at.ns() } else { 0 };
            state.at = SimTime::from_ns(reached);
            if reached == end {
                self.end_window(accelerator);
                n_windows += 1;
            }
            if n_windows > most {
                let state = &mut self.states[accelerator];
                state.at = SimTime::from_ns(to.ns() / window * window).max(state.at);
            }
        }
    }

    fn end_window(&mut self, accelerator: usize) {
        let state = &mut self.states[accelerator];
        let clocks = &self.clocks[accelerator];
        let busy = 100.0 * state.busy as f64 / self.window.ns() as f64;
        state.busy = 0;
        if busy > self.up {
            state.point = PointId::new(clocks.len() - 1);
        } else if busy <= self.up - self.down {
            let present = clocks[state.point.index()].as_mhz();
            let wanted = present * busy / (self.up - (self.down / 2.0).floor());
            let below = clocks.partition_point(|it| it.as_mhz() < wanted);
            state.point = PointId::new(below.min(clocks.len() - 1));
        }
    }
}

impl Rule for OnDemand {
    fn observe(&mut self, view: &View<'_>) {
        for (index, accelerator) in view.accelerators.iter().enumerate() {
            match accelerator.activity {
                Activity::Idle { since } => {
                    let ran = std::mem::replace(&mut self.states[index].runs, false);
                    self.pass(index, since, ran);
                    self.pass(index, view.now, false);
                }
                Activity::Running { since, .. } => {
                    let ran = std::mem::replace(&mut self.states[index].runs, true);
                    self.pass(index, since, ran);
                    self.pass(index, view.now, true);
                }
            }
        }
    }

    fn point(&mut self, _: &Job, accelerator: AccelId, _: &View<'_>) -> PointId {
        let state = &mut self.states[accelerator.index()];
        state.runs = true;
        state.point
    }
}
