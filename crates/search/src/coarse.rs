//! Bounds of systems by table look-ups, from costs of accelerator types.

use std::ops::Range;
use std::sync::Arc;

use xrsim_model::cost::{ChosenLog, CostModel, Infeasible, NetworkCost};
use xrsim_model::hardware::Accelerator;
use xrsim_model::ids::ModelId;
use xrsim_model::model::Network;
use xrsim_model::parallel;
use xrsim_model::units::{Millijoules, SimSpan};
use xrsim_sim::bounds::{Class, IsolatedFrames};

use super::evaluation::Load;
use super::goal::Question;
use super::space::{AcceleratorType, Space};

/// Costs and worths of every model of every scenario on every accelerator type. A cell is at
/// `[type][model]`, where the models of all scenarios are numbered one after another.
pub(super) struct Coarse {
    n_models: usize,
    /// First model of every scenario, and the number of all models.
    firsts: Vec<usize>,
    /// Mean over the draws of what the frames of a model add to the score before energy; 0 where it cannot
    /// run.
    worths: Vec<f64>,
    /// Energy of an inference \[mJ\]; infinite where it cannot run.
    energies: Vec<f64>,
    /// Latency of an inference \[ms\]; infinite where it cannot run.
    latencies: Vec<f64>,
    /// Mean score of models without frames, by scenario.
    constants: Vec<f64>,
    /// EnMax by scenario \[mJ\].
    energy_max: Vec<f64>,
    /// Number of triggered requests of a model in every draw, at `[model][draw]`.
    triggered: Vec<Vec<f64>>,
}

/// Most distinct latencies of a model whose worth is computed; of more, those between two points of a grid
/// count as the shorter one.
const MAX_LATENCIES: usize = 4096;

/// Cost of a network on an accelerator type; `None` where it cannot run.
type TypeCost = Option<(SimSpan, Millijoules)>;

impl Coarse {
    /// Costs all types of `space` for the models of `loads`. `chosen` gets the mappings of the types, `done` the number of
    /// types that have been costed since the last call, on any thread.
    pub(super) fn new(
        space: &Space,
        loads: &[Load],
        (cost_model, chosen): (&dyn CostModel, &ChosenLog),
        done: &(impl Fn(u64) + Sync),
    ) -> Self {
        let n_types = space.types().len();
        let mut networks: Vec<Arc<Network>> = Vec::new();
        let mut network_of = Vec::new();
        let mut firsts = vec![0];
        for load in loads {
            for active in load.plan.scenario.models() {
                let network = &active.unit.network;
                let known = networks.iter().position(|it| Arc::ptr_eq(it, network));
                network_of.push(known.unwrap_or_else(|| {
                    networks.push(Arc::clone(network));
                    networks.len() - 1
                }));
            }
            firsts.push(network_of.len());
        }
        let groups: Vec<&[AcceleratorType]> = space.types().chunk_by(are_neighbours).collect();
        let starts = groups.iter().scan(0, |next, group| {
            *next += group.len();
            Some(*next - group.len())
        });
        let ranges: Vec<_> = starts.zip(&groups).map(|(at, group)| at..at + group.len()).collect();
        let costs = parallel::map(&ranges, |range| {
            let costs = costs_of(space, range.clone(), &networks, (cost_model, chosen));
            done(range.len() as u64);
            costs
        });
        let costs: Vec<Vec<TypeCost>> = costs.into_iter().flatten().collect();
        let n_models = network_of.len();
        let cell = |of: &dyn Fn(SimSpan, Millijoules) -> f64| {
            let rows = costs.iter().flat_map(|row| network_of.iter().map(move |&at| row[at]));
            rows.map(|cost| cost.map_or(f64::INFINITY, |(p, e)| of(p, e))).collect::<Vec<_>>()
        };
        let latencies = cell(&|latency, _| latency.as_ms());
        let energies = cell(&|_, energy| energy.get());
        let mut coarse = Self {
            n_models,
            firsts,
            worths: vec![0.0; n_types * n_models],
            energies,
            latencies,
            constants: Vec::new(),
            energy_max: loads.iter().map(|it| it.plan.score.energy_max.get()).collect(),
            triggered: Vec::new(),
        };
        for (index, load) in loads.iter().enumerate() {
            let networks = &network_of[coarse.firsts[index]..coarse.firsts[index + 1]];
            coarse.add_worths(index, load, networks, &costs);
        }
        coarse
    }

    /// Fills in the worths of the models of one scenario.
    fn add_worths(
        &mut self,
        load_index: usize,
        load: &Load,
        networks: &[usize],
        costs: &[Vec<TypeCost>],
    ) {
        let latency =
            |row: &Vec<TypeCost>, network: usize| row[network].map(|(latency, _)| latency);
        let fastest = |&network: &usize| {
            costs.iter().filter_map(|row| latency(row, network)).min().unwrap_or(SimSpan::ZERO)
        };
        let fastest: Vec<_> = networks.iter().map(fastest).collect();
        let scenario = &load.plan.scenario;
        let frames = |requests| IsolatedFrames::new(scenario, requests, &load.plan.score, &fastest);
        let frames = parallel::map(&load.requests, frames);
        let n = frames.len() as f64;
        self.constants.push(frames.iter().map(IsolatedFrames::constant).sum::<f64>() / n);
        for (model, &network) in networks.iter().enumerate() {
            let id = ModelId::new(model);
            let of_draw = |it: &IsolatedFrames| it.n_triggered(id) as f64;
            self.triggered.push(frames.iter().map(of_draw).collect());
            let grid = grid(costs.iter().filter_map(|row| latency(row, network)).collect());
            let worth = |&at: &SimSpan| frames.iter().map(|it| it.worth(id, at)).sum::<f64>() / n;
            let worths = parallel::map(&grid, worth);
            let column = self.firsts[load_index] + model;
            for (index, row) in costs.iter().enumerate() {
                if let Some(latency) = latency(row, network) {
                    let at = grid.partition_point(|it| *it <= latency) - 1;
                    self.worths[index * self.n_models + column] = worths[at];
                }
            }
        }
    }

    fn row<'t>(&self, table: &'t [f64], member: u32) -> &'t [f64] {
        &table[member as usize * self.n_models..][..self.n_models]
    }

    /// Least of a table over the accelerators of a system, for one model.
    fn least(&self, table: &[f64], members: &[u32], model: usize) -> f64 {
        members.iter().map(|&it| self.row(table, it)[model]).fold(f64::INFINITY, f64::min)
    }

    /// The scenario's first model that runs on no accelerator of the system, by its index in the scenario.
    pub(super) fn homeless(&self, members: &[u32], load: usize) -> Option<usize> {
        let range = self.firsts[load]..self.firsts[load + 1];
        let is_homeless =
            |&model: &usize| self.least(&self.latencies, members, model).is_infinite();
        range.clone().find(is_homeless).map(|model| model - range.start)
    }

    /// Upper bound of the mean score of a system in a scenario, for every scheduler of a class. No table bounds those
    /// that change the accelerator of a request.
    pub(super) fn score(&self, members: &[u32], load: usize, class: Class) -> f64 {
        if class == Class::Any {
            return 1.0;
        }
        let mut bound = self.constants[load];
        for model in self.firsts[load]..self.firsts[load + 1] {
            let (mut worth, mut energy) = (0.0f64, f64::INFINITY);
            for &member in members {
                let at = member as usize * self.n_models + model;
                worth = worth.max(self.worths[at]);
                energy = energy.min(self.energies[at]);
            }
            bound += worth * self.energy_score(load, energy);
        }
        outward(bound)
    }

    fn energy_score(&self, load: usize, energy: f64) -> f64 {
        let max = self.energy_max[load];
        // Slightly more than the score of exactly this energy, against rounding.
        ((max - energy) / max + 4.0 * f64::EPSILON).clamp(0.0, 1.0)
    }

    /// Worth and energy of the model with this index among all, on a type.
    pub(super) fn cell(&self, member: u32, model: usize) -> (f64, f64) {
        let at = member as usize * self.n_models + model;
        (self.worths[at], self.energies[at])
    }

    /// Upper bound of the mean score from the largest worth and the least energy of every model.
    pub(super) fn score_of(&self, cells: &[(f64, f64)], load: usize, class: Class) -> f64 {
        if class == Class::Any {
            return 1.0;
        }
        let of = |model: usize| cells[model].0 * self.energy_score(load, cells[model].1);
        let models = self.firsts[load]..self.firsts[load + 1];
        outward(models.map(of).sum::<f64>() + self.constants[load])
    }

    /// Number of models of all scenarios.
    pub(super) fn n_models(&self) -> usize {
        self.n_models
    }

    /// Least energy of a run of every scenario that counts \[mJ\], aggregated as the question says, if at
    /// most a share `missed` of the requests misses its deadline, or is dropped.
    ///
    /// Every request that is not missed takes at least its least energy. The dearest are missed: a
    /// fractional knapsack whose capacity is the allowed miss ratio.
    pub(super) fn energy_floor(
        &self,
        members: &[u32],
        question: &Question,
        missed: f64,
        class: Class,
    ) -> f64 {
        if class == Class::Any {
            return 0.0;
        }
        let loads: Vec<usize> = question.loads().collect();
        let of_loads = |loads: &[usize], weight: &dyn Fn(usize) -> f64| {
            // Energy of all requests of a model in a draw, and the share of all requests that they are.
            let mut items = Vec::new();
            for &load in loads {
                let models = self.firsts[load]..self.firsts[load + 1];
                let n_draws = self.triggered[models.start].len();
                for draw in 0..n_draws {
                    let all: f64 = models.clone().map(|it| self.triggered[it][draw]).sum();
                    let weight = weight(load) / n_draws as f64;
                    items.extend(models.clone().map(|model| {
                        let n = self.triggered[model][draw];
                        let energy = n * self.least(&self.energies, members, model);
                        (weight * energy, weight * n / all.max(1.0))
                    }));
                }
            }
            items.retain(|(energy, share)| energy.is_finite() && *share > 0.0);
            items.sort_by(|a, b| (b.0 / b.1).total_cmp(&(a.0 / a.1)));
            let mut left = missed;
            let spent = items.iter().map(|&(energy, share)| {
                let dropped = (left / share).clamp(0.0, 1.0);
                left = (left - share).max(0.0);
                energy * (1.0 - dropped)
            });
            spent.sum::<f64>() * (1.0 - 1e-12)
        };
        match question.over {
            super::goal::Over::Mean => of_loads(&loads, &|load| question.weights[load]),
            super::goal::Over::Worst => {
                let one = |&load: &usize| of_loads(&[load], &|_| 1.0);
                loads.iter().map(one).fold(0.0, f64::max)
            }
        }
    }

    /// Sum over the models of a scenario of energy times latency, each on its best accelerator \[mJ·ms\].
    pub(super) fn energy_delay(&self, members: &[u32], load: usize) -> f64 {
        let of = |model: usize| {
            let product = |&it: &u32| {
                self.row(&self.energies, it)[model] * self.row(&self.latencies, it)[model]
            };
            members.iter().map(product).fold(f64::INFINITY, f64::min)
        };
        (self.firsts[load]..self.firsts[load + 1]).map(of).sum()
    }
}

/// A bound as large as rounding of its sums and of a mean over draws can have made it.
fn outward(bound: f64) -> f64 {
    bound * (1.0 + 1e-12)
}

/// Latencies in ascending order, each once; or a grid that has one at or below every latency.
fn grid(mut latencies: Vec<SimSpan>) -> Vec<SimSpan> {
    latencies.sort_unstable();
    latencies.dedup();
    if latencies.len() <= MAX_LATENCIES {
        return latencies;
    }
    let (first, last) =
        (latencies[0].ns().max(1) as f64, latencies[latencies.len() - 1].ns() as f64);
    let factor = (last / first).powf(1.0 / MAX_LATENCIES as f64).max(1.0 + 1e-9);
    let mut points = vec![latencies[0]];
    for latency in latencies {
        let before = points[points.len() - 1].ns() as f64;
        if latency.ns() as f64 >= before.max(1.0) * factor {
            points.push(latency);
        }
    }
    points
}

/// Whether two types differ in their parts of memory and DRAM bandwidth only.
fn are_neighbours(a: &AcceleratorType, b: &AcceleratorType) -> bool {
    let key = |it: &AcceleratorType| (it.chip, it.dataflow, it.pes, it.of, it.parts[0]);
    key(a) == key(b) && a.parts[1].is_some()
}

/// Costs of every network on each of a range of types, at `[type][network]`.
fn costs_of(
    space: &Space,
    range: Range<usize>,
    networks: &[Arc<Network>],
    (cost_model, chosen): (&dyn CostModel, &ChosenLog),
) -> Vec<Vec<TypeCost>> {
    let n = range.len();
    let found = range.clone().map(|index| space.checked_accelerator(index));
    let Some(accelerators) = found.collect::<Option<Vec<Accelerator>>>() else {
        if n == 1 {
            return vec![vec![None; networks.len()]];
        }
        let one = |index| costs_of(space, index..index + 1, networks, (cost_model, chosen));
        return range.flat_map(one).collect();
    };
    let mut costs = vec![Vec::with_capacity(networks.len()); n];
    let by_period = accelerators.iter().any(Accelerator::chooses_by_period);
    let within = |limit| -> Vec<Accelerator> {
        accelerators.iter().map(|it| it.within(limit).into_owned()).collect()
    };
    for network in networks {
        let of_network = match by_period {
            true => bounds_of(network, cost_model, [within(Some(0)), within(Some(u64::MAX))]),
            false => {
                let costs = cost_model.networks(network, &accelerators);
                for (cost, accelerator) in costs.iter().zip(&accelerators) {
                    if let Some(choices) = cost.as_ref().ok().and_then(NetworkCost::choices) {
                        chosen.note(|it| it.note(accelerator, network, choices));
                    }
                }
                costs.into_iter().map(known).collect()
            }
        };
        costs.iter_mut().zip(of_network).for_each(|(row, cost)| row.push(cost));
    }
    costs
}

/// Latency of a network on the first of two lists of accelerators, and energy on the second: of the fastest mappings
/// and of those of least energy. Limits of time depend on the whole system, and choose between these.
fn bounds_of(
    network: &Network,
    cost_model: &dyn CostModel,
    accelerators: [Vec<Accelerator>; 2],
) -> Vec<TypeCost> {
    let [fast, frugal] = accelerators.map(|all| cost_model.networks(network, &all));
    let both = |(fast, frugal)| Some((known(fast)?.0, known(frugal)?.1));
    fast.into_iter().zip(frugal).map(both).collect()
}

fn known(cost: Result<NetworkCost, Infeasible>) -> TypeCost {
    cost.ok().map(|cost| (cost.latency, cost.energy()))
}
