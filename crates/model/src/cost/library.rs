//! Costs of many networks on many accelerators. Each pair is evaluated once, however many runs share it.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use crate::hardware::{Accelerator, System};
use crate::model::Network;
use crate::parallel;
use crate::scenario::{ActiveModel, Scenario};

use super::timetable::Timetable;
use super::{CostError, CostModel, CostTable, Infeasible};

/// Cost of every pair of network and accelerator that some run needs. Accelerators that cost the same
/// share one entry.
pub struct CostLibrary {
    /// Whether accelerators of different names cost differently.
    by_name: bool,
    with_layers: bool,
    networks: Vec<Arc<Network>>,
    accelerators: Vec<Accelerator>,
    /// Accelerators by [`digest`].
    digests: HashMap<u64, Vec<usize>>,
    /// Cost of every pair, at `[accelerator][network]`. Pairs that no run needs are `None` or beyond the end
    /// of the row.
    costs: Vec<Vec<Option<PairCost>>>,
    /// Number of pairs and of their layers.
    n_entries: usize,
}

type PairCost = Result<Timetable, Box<Infeasible>>;

/// Largest number of pairs and layers that a library keeps, at about 0.1 kB each.
const MAX_ENTRIES: usize = 1 << 20;

impl CostLibrary {
    /// Evaluates in parallel every network of each scenario on every accelerator of the system that the
    /// scenario is paired with.
    pub fn evaluate<'a>(
        model: &dyn CostModel,
        runs: impl IntoIterator<Item = (&'a Scenario, &'a System)>,
    ) -> Self {
        let mut library = Self::layers(model);
        library.extend(model, runs);
        library
    }

    /// An empty library of `model` that keeps everything.
    pub fn layers(model: &dyn CostModel) -> Self {
        Self::new(model, true)
    }

    /// An empty library of `model` that keeps latency and energy of networks, but not of their layers.
    /// With thousands of accelerators, layers would not fit into memory.
    pub fn totals(model: &dyn CostModel) -> Self {
        Self::new(model, false)
    }

    fn new(model: &dyn CostModel, with_layers: bool) -> Self {
        Self {
            by_name: model.costs_by_name(),
            with_layers,
            networks: Vec::new(),
            accelerators: Vec::new(),
            digests: HashMap::new(),
            costs: Vec::new(),
            n_entries: 0,
        }
    }

    /// Evaluates the pairs of `runs` that the library does not hold yet. `model` must be the model of the
    /// library. Beyond a million pairs and layers the library first drops everything that it holds, so
    /// that its memory is bounded.
    pub fn extend<'a>(
        &mut self,
        model: &dyn CostModel,
        runs: impl IntoIterator<Item = (&'a Scenario, &'a System)>,
    ) {
        if self.n_entries > MAX_ENTRIES {
            *self = Self::new(model, self.with_layers);
        }
        let pairs = self.unknown_pairs(runs);
        let results = parallel::map(&pairs, |&(accelerator, network)| {
            self.evaluate_pair(model, accelerator, network)
        });
        let entries = |result: &PairCost| result.as_ref().map_or(1, Timetable::n_entries);
        self.n_entries += results.iter().map(entries).sum::<usize>();
        for ((accelerator, network), result) in pairs.into_iter().zip(results) {
            let row = &mut self.costs[accelerator];
            row.resize(row.len().max(network + 1), None);
            row[network] = Some(result);
        }
    }

    /// Cost table of `scenario` on `system`.
    ///
    /// # Errors
    ///
    /// [`CostError`] for the first pair that is infeasible.
    ///
    /// # Panics
    ///
    /// If the pair was not among the runs that were evaluated last.
    pub fn table(&self, scenario: &Scenario, system: &System) -> Result<CostTable, CostError> {
        let cells: Vec<_> = self.cells(scenario, system).collect::<Result<_, _>>()?;
        Ok(CostTable::of_cells(cells, system.accelerators().len()))
    }

    /// Cost table of `scenario` on `system`, in which pairs that are infeasible are not offered.
    ///
    /// # Errors
    ///
    /// [`CostError`] for the first network that no accelerator of the system can run.
    ///
    /// # Panics
    ///
    /// If the pair was not among the runs that were evaluated last.
    pub fn offers(&self, scenario: &Scenario, system: &System) -> Result<CostTable, CostError> {
        let cells = self.cells(scenario, system).collect();
        CostTable::of_offers(cells, system.accelerators().len())
    }

    /// Costs of every pair, row-major `[model][accelerator]`.
    fn cells<'a>(
        &'a self,
        scenario: &'a Scenario,
        system: &'a System,
    ) -> impl Iterator<Item = Result<Timetable, CostError>> {
        let columns: Vec<_> = system.accelerators().iter().map(|a| self.find_column(a)).collect();
        let pairs = scenario.models().iter().flat_map(move |active| {
            let network = &active.unit.network;
            let row = self.find_network(network);
            let columns = columns.clone().into_iter().zip(system.accelerators());
            columns.map(move |(column, accelerator)| {
                let column = column.unwrap_or_else(|| self.find_for(accelerator, active));
                (network, row, column, accelerator)
            })
        });
        pairs.map(|(network, row, column, accelerator)| {
            let cell = self.costs[column].get(row).and_then(Option::as_ref);
            let cost = cell.expect("the pair was evaluated").clone();
            cost.map_err(|reason| CostError::new(network.name(), accelerator, *reason))
        })
    }

    /// Pairs (accelerator, network) of `runs` that the library does not hold yet.
    fn unknown_pairs<'a>(
        &mut self,
        runs: impl IntoIterator<Item = (&'a Scenario, &'a System)>,
    ) -> Vec<(usize, usize)> {
        let mut pairs = Vec::new();
        for (scenario, system) in runs {
            let columns: Vec<_> =
                system.accelerators().iter().map(|a| self.intern_column(a)).collect();
            for active in scenario.models() {
                let row = self.intern_network(&active.unit.network);
                for (column, accelerator) in columns.iter().zip(system.accelerators()) {
                    let of_model = || self.intern_accelerator(&accelerator.for_rate(active.rate));
                    pairs.push((column.unwrap_or_else(of_model), row));
                }
            }
        }
        pairs.retain(|&(column, row)| !matches!(self.costs[column].get(row), Some(Some(_))));
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }

    fn evaluate_pair(&self, model: &dyn CostModel, accelerator: usize, network: usize) -> PairCost {
        let (network, accelerator) = (&self.networks[network], &self.accelerators[accelerator]);
        let mut cost = model.network(network, accelerator).map_err(Box::new)?;
        if !self.with_layers {
            cost.layers = Vec::new();
            cost.choices.iter_mut().for_each(|choices| choices.layers = Box::default());
        }
        Ok(Timetable::new(Arc::new(cost)))
    }

    fn intern_network(&mut self, network: &Arc<Network>) -> usize {
        self.position_of_network(network).unwrap_or_else(|| {
            self.networks.push(Arc::clone(network));
            self.networks.len() - 1
        })
    }

    fn intern_accelerator(&mut self, accelerator: &Accelerator) -> usize {
        self.position_of(accelerator).unwrap_or_else(|| {
            let index = self.accelerators.len();
            self.digests.entry(digest(accelerator)).or_default().push(index);
            self.accelerators.push(accelerator.clone());
            self.costs.push(Vec::new());
            index
        })
    }

    /// Column of an accelerator that costs the same for every model; `None` if it depends on the model.
    fn intern_column(&mut self, accelerator: &Accelerator) -> Option<usize> {
        (!accelerator.chooses_by_period()).then(|| self.intern_accelerator(accelerator))
    }

    /// The column that [`CostLibrary::intern_column`] made.
    fn find_column(&self, accelerator: &Accelerator) -> Option<usize> {
        (!accelerator.chooses_by_period()).then(|| self.find_accelerator(accelerator))
    }

    /// Column of an accelerator for one model.
    fn find_for(&self, accelerator: &Accelerator, active: &ActiveModel) -> usize {
        self.find_accelerator(&accelerator.for_rate(active.rate))
    }

    fn find_network(&self, network: &Arc<Network>) -> usize {
        self.position_of_network(network).expect("the network was evaluated")
    }

    /// Index of a network with the same costs.
    fn position_of_network(&self, network: &Arc<Network>) -> Option<usize> {
        let is_same_name = |known: &Network| !self.by_name || known.name() == network.name();
        self.networks.iter().position(|known| known.shares_layers(network) && is_same_name(known))
    }

    fn find_accelerator(&self, accelerator: &Accelerator) -> usize {
        self.position_of(accelerator).expect("the accelerator was evaluated")
    }

    fn position_of(&self, accelerator: &Accelerator) -> Option<usize> {
        let mut alike = self.digests.get(&digest(accelerator))?.iter().copied();
        alike.find(|&index| cost_alike(&self.accelerators[index], accelerator, self.by_name))
    }
}

/// Hash that is equal for accelerators that cost the same, and rarely equal for others.
fn digest(accelerator: &Accelerator) -> u64 {
    let Accelerator { pes, clock, noc, memory, datapath, .. } = accelerator;
    let mut hasher = DefaultHasher::new();
    (pes, clock, noc, memory, datapath).hash(&mut hasher);
    hasher.finish()
}

/// Whether `a` and `b` cost the same for every network. With `by_name`, names matter to the model.
pub(super) fn cost_alike(a: &Accelerator, b: &Accelerator, by_name: bool) -> bool {
    a.costs_as(b) && (!by_name || same_names(a, b))
}

fn same_names(a: &Accelerator, b: &Accelerator) -> bool {
    a.name == b.name && a.dataflow.name() == b.dataflow.name()
}
