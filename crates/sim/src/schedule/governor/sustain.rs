//! The highest point whose heat can go on for ever.

use xrsim_model::hardware::device::Supplied;
use xrsim_model::ids::{AccelId, PointId};
use xrsim_model::units::{SimSpan, SimTime};

use super::{Job, Rule, Setup, View};
use crate::device::Supplies;

/// See [`Governor::Sustain`](super::super::Governor::Sustain).
pub(super) struct Sustained {
    limit_c: f64,
    window: SimSpan,
    /// Most operating points of an accelerator.
    n_points: usize,
    /// Points below the highest one, of every accelerator.
    steps: usize,
    /// Begin of the present window, and the energy of every source of heat by then \[J\].
    since: (SimTime, Vec<f64>),
    /// Mean power of every source in the last window, in one reused allocation \[W\].
    watts: Vec<f64>,
}

impl Sustained {
    pub(super) fn new(limit_c: f64, window: SimSpan, setup: &Setup<'_>) -> Self {
        let n_points = Supplied::most_points(setup.supplied);
        let window = window.max(SimSpan::from_ns(1));
        let (since, watts) = ((SimTime::ZERO, Vec::new()), Vec::new());
        Self { limit_c, window, n_points, steps: 0, since, watts }
    }

    /// The fewest steps with which the node stays below the limit for ever if power goes on as in the last window; the most
    /// if none does.
    fn fitting(&mut self, supplies: &Supplies) -> Option<usize> {
        let body = &supplies.body;
        let node = body.limited()?;
        let of_accelerators = || supplies.supplied.iter().zip(&supplies.standing).enumerate();
        for (index, (supplied, standing)) in of_accelerators() {
            // In units of the switching at each point.
            self.watts[index] /= switching(supplied, below(supplied, self.steps).min(standing.cap));
        }
        let mut power = self.watts.clone();
        let most = self.n_points - 1;
        (0..=most).find(|&steps| {
            for (index, (supplied, _)) in of_accelerators() {
                power[index] = self.watts[index] * switching(supplied, below(supplied, steps));
            }
            steps == most || body.steady_c(node, &power).is_some_and(|it| it <= self.limit_c)
        })
    }
}

/// The point this many steps below the highest one; the lowest if there are not as many.
fn below(supplied: &Supplied, steps: usize) -> PointId {
    PointId::new(supplied.points.highest().index().saturating_sub(steps))
}

/// V^2 f at a point: what the power of work grows with that never ends.
fn switching(supplied: &Supplied, point: PointId) -> f64 {
    let point = supplied.points.get(point);
    point.volt * point.volt * point.clock.as_mhz()
}

impl Rule for Sustained {
    fn observe(&mut self, view: &View<'_>) {
        let Some(supplies) = view.supplies else { return };
        let span = view.now.saturating_since(self.since.0);
        if span < self.window {
            return;
        }
        let drawn = supplies.body.drawn_j();
        let before = &mut self.since.1;
        before.resize(drawn.len(), 0.0);
        self.watts.clear();
        let seconds = span.ns() as f64 / 1e9;
        self.watts.extend(drawn.iter().zip(&*before).map(|(now, before)| (now - before) / seconds));
        before.copy_from_slice(drawn);
        self.since.0 = view.now;
        self.steps = self.fitting(supplies).unwrap_or(0);
    }

    fn point(&mut self, _: &Job, accelerator: AccelId, view: &View<'_>) -> PointId {
        let supplied = view.supplies.map(|it| &it.supplied[accelerator.index()]);
        supplied.map_or(PointId::new(0), |it| below(it, self.steps))
    }
}
