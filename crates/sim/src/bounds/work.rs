//! Work of a frame: time on accelerators along one of several routes.

use std::ops::{Add, Range};

use crate::score::ScoreSettings;
use crate::score::energy::energy;
use xrsim_model::cost::CostTable;
use xrsim_model::ids::{AccelId, ModelId};
use xrsim_model::units::{Millijoules, SimSpan};

use super::Migration;

/// A route through a system: steps in order, each on one of several accelerators.
pub(super) struct Route {
    steps: Vec<Vec<Visit>>,
    /// The sum of the shortest times of the steps.
    pub(super) shortest: SimSpan,
    /// EnScore with the least energy in every step.
    pub(super) energy: f64,
}

/// A step on one accelerator.
#[derive(Debug, Clone, Copy)]
struct Visit {
    accelerator: usize,
    time_ms: f64,
}

/// The routes of a frame of `model`. One that stays where it starts has as many as there are
/// accelerators, of one step; one that may move has a single one, with a step for every layer.
pub(super) fn routes(
    model: ModelId,
    costs: &CostTable,
    settings: &ScoreSettings,
    migration: Migration,
) -> Vec<Route> {
    let accelerators = || costs.offers(model);
    let whole = 0..costs.n_layers(model);
    let of_layers = |layers: &[Range<u32>], accelerators: &[AccelId]| {
        Route::new(model, layers, accelerators, costs, settings)
    };
    match migration {
        Migration::None => {
            let whole = std::slice::from_ref(&whole);
            accelerators().map(|accelerator| of_layers(whole, &[accelerator])).collect()
        }
        Migration::LayerBoundary => {
            let layers: Vec<_> = whole.map(|layer| layer..layer + 1).collect();
            vec![of_layers(&layers, &accelerators().collect::<Vec<_>>())]
        }
    }
}

impl Route {
    /// A route that runs each of these ranges of layers on one of these accelerators.
    fn new(
        model: ModelId,
        layers: &[Range<u32>],
        accelerators: &[AccelId],
        costs: &CostTable,
        settings: &ScoreSettings,
    ) -> Self {
        let visits = |layers: &Range<u32>| {
            let visit = |&accelerator: &AccelId| {
                let time_ms = costs.on(model, accelerator).time_of(layers.clone()).as_ms();
                Visit { accelerator: accelerator.index(), time_ms }
            };
            accelerators.iter().map(visit).collect()
        };
        let shortest = |layers: &Range<u32>| {
            let times = accelerators.iter().map(|&it| costs.on(model, it).time_of(layers.clone()));
            times.min().unwrap_or(SimSpan::ZERO)
        };
        let least = |layers: &Range<u32>| {
            let of = |&it: &AccelId| costs.on(model, it).energy_of(layers.clone()).get();
            accelerators.iter().map(of).fold(f64::INFINITY, f64::min)
        };
        let energy_mj = layers.iter().map(least).sum();
        Self {
            steps: layers.iter().map(visits).collect(),
            shortest: layers.iter().map(shortest).fold(SimSpan::ZERO, Add::add),
            energy: outward(energy(Millijoules::new(energy_mj), settings.energy_max), layers),
        }
    }

    /// Whether no step has a choice.
    pub(super) fn is_fixed(&self) -> bool {
        self.steps.iter().all(|step| step.len() == 1)
    }

    /// The least that one frame pays for its time at `prices` \[1/ms\].
    pub(super) fn toll(&self, prices: &[f64]) -> f64 {
        let pay = |step: &Vec<Visit>| {
            let tolls = step.iter().map(|visit| prices[visit.accelerator] * visit.time_ms);
            tolls.fold(f64::INFINITY, f64::min)
        };
        self.steps.iter().map(pay).sum()
    }

    /// Time on every accelerator \[ms\] if each step takes the accelerator that is cheapest at `prices`.
    pub(super) fn times_ms(&self, prices: &[f64]) -> Vec<f64> {
        let mut times_ms = vec![0.0; prices.len()];
        for step in &self.steps {
            let visit = cheapest(step, |accelerator| prices[accelerator]);
            times_ms[visit.accelerator] += visit.time_ms;
        }
        times_ms
    }
}

/// An EnScore as large as rounding can have made that of another sum over the same layers. It is one
/// less a share, so that what is lost does not shrink with it.
fn outward(energy: f64, layers: &[Range<u32>]) -> f64 {
    let n_layers = layers.iter().map(ExactSizeIterator::len).sum::<usize>();
    if energy > 0.0 { energy + (n_layers + 4) as f64 * f64::EPSILON } else { energy }
}

/// The visit that costs least at a price for each accelerator; the first of equals.
fn cheapest(step: &[Visit], price: impl Fn(usize) -> f64) -> Visit {
    let cost = |visit: &Visit| price(visit.accelerator) * visit.time_ms;
    let best = step.iter().copied().min_by(|a, b| cost(a).total_cmp(&cost(b)));
    best.expect("every step can be made somewhere")
}
