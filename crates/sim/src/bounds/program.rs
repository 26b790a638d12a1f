//! UB3 over the whole horizon: a linear program, computed from its dual.
//!
//! With `x` = 1 for a frame that runs within the horizon on a route, the primal is
//!
//! ```text
//! maximise    sum over frames and routes of worth · x + late · (1 − x)
//! subject to  sum over frames of time on a · x ≤ horizon            for each accelerator a
//!             x of a frame ≤ x of the frame that it depends on      for each dependency
//! ```
//!
//! A price for a millisecond of each accelerator and for each dependency turns it into separate
//! choices, one for each frame, whose sum bounds the primal from above whatever the prices are:
//!
//! ```text
//! sum of prices · horizon + sum over frames of max(late, worth − toll − duties + bonuses)
//! ```
//!
//! where a frame pays a duty to each frame that it depends on. The best prices are those of the
//! program in which all frames of a model are one, solved with one row for each model and route.
//! Routes through many layers are too many to list: those that beat the prices are added and the
//! program solved again, until none does or it has been tried often enough.

use std::collections::BTreeMap;

use good_lp::{
    Expression, ProblemVariables, Solution as _, SolverModel as _, Variable, microlp, variable,
};

use xrsim_model::ids::ModelId;

use super::instance::{Frame, Instance};
use super::work::Route;

/// Most programs that are solved for one bound.
const ROUNDS: usize = 20;

/// Gains on a model, as a share of the score, below which a route is not worth adding.
const TOLERANCE: f64 = 1e-7;

/// Prices of what frames compete for.
pub(super) struct Prices {
    /// Of each accelerator \[1/ms\].
    pub(super) accelerators: Vec<f64>,
    /// Of each dependency of a frame, row-major `[upstream model][downstream model]`.
    dependencies: Vec<f64>,
}

impl Prices {
    fn dependency(&self, upstream: ModelId, downstream: ModelId, n_models: usize) -> f64 {
        self.dependencies[upstream.index() * n_models + downstream.index()]
    }
}

/// The bound and the prices that give it; `None` if the horizon has no length or no end, or if no program could be
/// solved.
pub(super) fn bound(instance: &Instance<'_>) -> Option<(f64, Prices)> {
    let mut least: Option<(f64, Prices)> = None;
    if !(instance.horizon_ms > 0.0 && instance.horizon_ms < f64::INFINITY) {
        return None;
    }
    let mut master = Master::new(instance);
    for _ in 0..ROUNDS {
        let Some(dual) = master.solve() else { break };
        let prices = master.prices(&dual);
        let bound = bound_at(instance, &prices);
        let is_last = !master.extend(&prices, &dual);
        if least.as_ref().is_none_or(|(known, _)| bound < *known) {
            least = Some((bound, prices));
        }
        if is_last {
            break;
        }
    }
    least
}

/// The bound that `prices` give.
fn bound_at(instance: &Instance<'_>, prices: &Prices) -> f64 {
    let toll = |route: &Route| route.steps.toll(&prices.accelerators);
    let of_model = |routes: &Vec<Route>| routes.iter().map(toll).collect();
    let tolls: Vec<Vec<f64>> = instance.routes.iter().map(of_model).collect();
    let of_frame = |frame: &Frame| {
        let worths = instance.worths(frame).iter();
        let gains = worths.zip(&tolls[frame.model.index()]).map(|(worth, toll)| worth - toll);
        let gain = gains.fold(f64::NEG_INFINITY, f64::max);
        frame.late.max(gain + bonus(instance, prices, frame))
    };
    let capacity = prices.accelerators.iter().sum::<f64>() * instance.horizon_ms;
    instance.constant + capacity + instance.frames.iter().map(of_frame).sum::<f64>()
}

/// Payments that a frame receives from the frames that depend on it, less those to the frames that it depends
/// on.
pub(super) fn bonus(instance: &Instance<'_>, prices: &Prices, frame: &Frame) -> f64 {
    let n_models = instance.routes.len();
    let model_of = |id| instance.requests.request(id).model;
    let needed = instance.requests.upstream(frame.request).iter();
    let duties = needed.map(|&id| prices.dependency(model_of(id), frame.model, n_models));
    let asked = instance.requests.downstream(frame.request).iter();
    let asked = asked.filter(|&&id| instance.requests.request(id).triggered);
    let bonuses = asked.map(|&id| prices.dependency(frame.model, model_of(id), n_models));
    bonuses.sum::<f64>() - duties.sum::<f64>()
}

/// The dual program with all frames of a model taken together. Its prices are those of a whole
/// horizon, and of all dependencies of one model on another, so that everything is of order 1.
struct Master<'a> {
    instance: &'a Instance<'a>,
    groups: Vec<Group>,
    /// Pairs of (upstream, downstream) model with the number of dependencies between their frames.
    dependencies: Vec<(ModelId, ModelId, u32)>,
    rows: Vec<Row>,
}

/// All frames of one model.
#[derive(Clone, Default)]
struct Group {
    n_frames: u32,
    /// Sums over the frames.
    worths: Vec<f64>,
    late: f64,
}

/// One thing that all frames of a model may do: the gain of the model is not below it.
struct Row {
    model: usize,
    worth: f64,
    /// Time of each accelerator, in horizons.
    horizons: Vec<f64>,
}

/// A solution of the [`Master`].
struct Dual {
    /// Gain of each model.
    gains: Vec<f64>,
    /// Price of the horizon of each accelerator.
    horizons: Vec<f64>,
    /// Price of all dependencies of each pair.
    dependencies: Vec<f64>,
}

impl<'a> Master<'a> {
    /// The program with the routes that are fastest, and those that avoid all accelerators but one.
    fn new(instance: &'a Instance<'a>) -> Self {
        let groups = groups(instance);
        let dependencies = dependencies(instance);
        let mut master = Self { instance, groups, dependencies, rows: Vec::new() };
        let n = instance.n_accelerators;
        for (model, routes) in instance.routes.iter().enumerate() {
            for (route, way) in routes.iter().enumerate() {
                if way.steps.is_fixed() {
                    master.add(model, route, &vec![1.0; n]);
                    continue;
                }
                for accelerator in 0..n {
                    let mut prices = vec![1e9; n];
                    prices[accelerator] = 1.0;
                    master.add(model, route, &prices);
                }
            }
        }
        master
    }

    /// Adds the row of all frames of a model on a route that is cheapest at `prices`.
    fn add(&mut self, model: usize, route: usize, prices: &[f64]) {
        let row = self.row(model, route, prices);
        self.rows.push(row);
    }

    fn row(&self, model: usize, route: usize, prices: &[f64]) -> Row {
        let group = &self.groups[model];
        let scale = f64::from(group.n_frames) / self.instance.horizon_ms;
        let times_ms = self.instance.routes[model][route].steps.times_ms(prices);
        let horizons = times_ms.into_iter().map(|time_ms| time_ms * scale).collect();
        Row { model, worth: group.worths[route], horizons }
    }

    fn solve(&self) -> Option<Dual> {
        let mut variables = ProblemVariables::new();
        let late = self.groups.iter().map(|group| variable().min(group.late));
        let gains: Vec<_> = late.map(|gain| variables.add(gain)).collect();
        let mut prices = |n| (0..n).map(|_| variables.add(variable().min(0.0))).collect();
        let horizons: Vec<_> = prices(self.instance.n_accelerators);
        let dependencies: Vec<_> = prices(self.dependencies.len());
        let cost: Expression = gains.iter().chain(&horizons).sum();
        let mut program = variables.minimise(cost).using(microlp);
        for row in &self.rows {
            let mut sum = Expression::from(gains[row.model]);
            row.horizons.iter().zip(&horizons).for_each(|(&time, &price)| sum.add_mul(time, price));
            self.duties(row.model, &dependencies)
                .for_each(|(sign, price)| sum.add_mul(sign, price));
            program.add_constraint(sum.geq(row.worth));
        }
        let solution = program.solve().ok()?;
        let values = |variables: Vec<Variable>| {
            variables.into_iter().map(|it| solution.value(it).max(0.0)).collect::<Vec<_>>()
        };
        let [gains, horizons, dependencies] = [gains, horizons, dependencies].map(values);
        Some(Dual { gains, horizons, dependencies })
    }

    /// The prices of dependencies that a model pays (1) and is paid (−1).
    fn duties<T: Copy>(&self, model: usize, prices: &[T]) -> impl Iterator<Item = (f64, T)> {
        self.dependencies.iter().zip(prices).filter_map(move |((up, down, _), &price)| {
            match (up.index() == model, down.index() == model) {
                (false, true) => Some((1.0, price)),
                (true, false) => Some((-1.0, price)),
                _ => None,
            }
        })
    }

    /// Prices of a millisecond and of a single dependency.
    fn prices(&self, dual: &Dual) -> Prices {
        let n_models = self.groups.len();
        let per_ms = |price: &f64| price / self.instance.horizon_ms;
        let mut dependencies = vec![0.0; n_models * n_models];
        for ((up, down, n), price) in self.dependencies.iter().zip(&dual.dependencies) {
            dependencies[up.index() * n_models + down.index()] = price / f64::from(*n);
        }
        Prices { accelerators: dual.horizons.iter().map(per_ms).collect(), dependencies }
    }

    /// Adds the routes that gain more at `prices` than the program knew; false if there are none.
    fn extend(&mut self, prices: &Prices, dual: &Dual) -> bool {
        let mut better = Vec::new();
        for (model, routes) in self.instance.routes.iter().enumerate() {
            let duties = self.duties(model, &dual.dependencies).map(|(sign, price)| sign * price);
            let known = dual.gains[model] + duties.sum::<f64>();
            for route in 0..routes.len() {
                let row = self.row(model, route, &prices.accelerators);
                let tolls = row.horizons.iter().zip(&dual.horizons);
                let gain = row.worth - tolls.map(|(time, price)| time * price).sum::<f64>();
                if gain > known + TOLERANCE {
                    better.push(row);
                }
            }
        }
        let some = !better.is_empty();
        self.rows.append(&mut better);
        some
    }
}

fn groups(instance: &Instance<'_>) -> Vec<Group> {
    let empty = |routes: &Vec<Route>| Group { worths: vec![0.0; routes.len()], ..Group::default() };
    let mut groups: Vec<_> = instance.routes.iter().map(empty).collect();
    for frame in &instance.frames {
        let group = &mut groups[frame.model.index()];
        group.n_frames += 1;
        group.late += frame.late;
        let worths = instance.worths(frame);
        group.worths.iter_mut().zip(worths).for_each(|(sum, worth)| *sum += worth);
    }
    groups
}

fn dependencies(instance: &Instance<'_>) -> Vec<(ModelId, ModelId, u32)> {
    let mut counts = BTreeMap::new();
    for frame in &instance.frames {
        for &upstream in instance.requests.upstream(frame.request) {
            let pair = (instance.requests.request(upstream).model, frame.model);
            *counts.entry(pair).or_insert(0) += 1;
        }
    }
    counts.into_iter().map(|((up, down), n)| (up, down, n)).collect()
}
