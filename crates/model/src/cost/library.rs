//! Costs of many networks on many accelerators. Each pair is evaluated once, however many runs share it.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ptr;
use std::sync::Arc;

use crate::cancel::Steps;
use crate::hardware::{Accelerator, System};
use crate::model::Network;
use crate::parallel;
use crate::scenario::{ActiveModel, Scenario};
use crate::units::FrameRate;

use super::limits;
use super::timetable::Timetable;
use super::{ChosenMappings, CostError, CostModel, CostTable, Infeasible};

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
        // Runs that differ in their draws only share scenario and system.
        let (mut seen, mut steps) = (HashSet::new(), Steps::default());
        let is_new = |(scenario, system): &(&'a Scenario, &'a System)| {
            steps.step();
            seen.insert((ptr::from_ref(*scenario), ptr::from_ref(*system)))
        };
        let runs: Vec<_> = runs.into_iter().filter(is_new).collect();
        let pairs = self.plain_pairs(&runs);
        self.evaluate_pairs(model, pairs);
        // Limits of time depend on costs.
        let pairs = self.limited_pairs(&runs);
        self.evaluate_pairs(model, pairs);
    }

    /// Evaluates those of some pairs (accelerator, network) that it does not hold yet.
    fn evaluate_pairs(&mut self, model: &dyn CostModel, mut pairs: Vec<(usize, usize)>) {
        pairs.retain(|&(column, row)| !matches!(self.costs[column].get(row), Some(Some(_))));
        // Accelerators share much of the cost of a network while a thread has one after the other.
        pairs.sort_unstable_by_key(|&(accelerator, network)| (network, accelerator));
        pairs.dedup();
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
        let cells = with_between(scenario, system, self.cells(scenario, system).collect());
        let cells = cells.into_iter().collect::<Result<_, _>>()?;
        Ok(CostTable::of_cells(scenario.rows(), cells, system.accelerators().len()))
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
        let cells = with_between(scenario, system, self.cells(scenario, system).collect());
        CostTable::of_offers(scenario.rows(), cells, system.accelerators().len())
    }

    /// Adds the mappings that accelerators chose for the networks of `runs` to `chosen`. Returns whether anything
    /// changed.
    ///
    /// # Panics
    ///
    /// If a pair was not among the runs that were evaluated last.
    pub fn note<'a>(
        &self,
        runs: impl IntoIterator<Item = (&'a Scenario, &'a System)>,
        chosen: &mut ChosenMappings,
    ) -> bool {
        let (mut noted, mut is_changed) = (HashSet::new(), false);
        for (scenario, system) in runs {
            for accelerator in system.accelerators() {
                let column = self.find_accelerator(accelerator);
                for (_, network) in scenario.variants() {
                    let row = self.find_network(network);
                    let Some(Some(Ok(cell))) = self.costs[column].get(row) else { continue };
                    let Some(choices) = cell.network.choices() else { continue };
                    if noted.insert((column, row, &*accelerator.name, network.name())) {
                        is_changed |= chosen.note(accelerator, network, choices);
                    }
                }
            }
        }
        is_changed
    }

    /// Costs of every pair, row-major `[variant][accelerator]`.
    fn cells<'a>(
        &'a self,
        scenario: &'a Scenario,
        system: &'a System,
    ) -> impl Iterator<Item = Result<Timetable, CostError>> {
        let columns: Vec<_> =
            system.accelerators().iter().map(|it| self.columns(it, scenario, system)).collect();
        let pairs = scenario.variants().flat_map(move |(model, network)| {
            let active = scenario.model(model);
            let row = self.find_network(network);
            let columns: Vec<_> = columns.iter().map(|it| it[model.index()]).collect();
            let columns = columns.into_iter().zip(system.accelerators());
            columns.map(move |(column, accelerator)| (active, network, row, column, accelerator))
        });
        pairs.map(|(active, network, row, column, accelerator)| {
            if let Some(rule) = active.exclusion(accelerator) {
                let reason = Infeasible::Excluded(rule);
                return Err(CostError::new(network.name(), accelerator, reason));
            }
            let cell = self.costs[column].get(row).and_then(Option::as_ref);
            let mut cost = cell.expect("the pair was evaluated").clone();
            // Costs between those of two networks have no distribution: they are the median.
            if (active.sequence.is_some() || active.work.is_some())
                && let Ok(cell) = &mut cost
                && cell.network.spread.is_some()
            {
                *cell = Timetable::new(Arc::new(cell.network.median()));
            }
            cost.map_err(|reason| CostError::new(network.name(), accelerator, *reason))
        })
    }

    /// Pairs (accelerator, network) of `runs`, with mappings by `edp` where the period chooses them.
    fn plain_pairs(&mut self, runs: &[(&Scenario, &System)]) -> Vec<(usize, usize)> {
        let mut pairs = Vec::new();
        for (scenario, system) in runs {
            let columns: Vec<_> = system
                .accelerators()
                .iter()
                .map(|it| self.intern_accelerator(&plain(it)))
                .collect();
            for (model, network) in scenario.variants() {
                let row = self.intern_network(network);
                let active = scenario.model(model);
                let columns = columns.iter().zip(system.accelerators());
                let columns = columns.filter(|(_, it)| active.exclusion(it).is_none());
                pairs.extend(columns.map(|(&column, _)| (column, row)));
            }
        }
        pairs
    }

    /// Pairs of `runs` whose mappings the period chooses, with the limit of each.
    fn limited_pairs(&mut self, runs: &[(&Scenario, &System)]) -> Vec<(usize, usize)> {
        let mut pairs = Vec::new();
        for (scenario, system) in runs {
            let by_period = system.accelerators().iter().filter(|it| it.chooses_by_period());
            for accelerator in by_period {
                let limits = self.limits(accelerator, scenario, system);
                for (model, network) in scenario.variants() {
                    let limit = Some(limits[model.index()]);
                    let column = self.intern_accelerator(&accelerator.within(limit));
                    if scenario.model(model).exclusion(accelerator).is_none() {
                        pairs.push((column, self.find_network(network)));
                    }
                }
            }
        }
        pairs
    }

    /// Limits of the models of a scenario on an accelerator that chooses by the period \[cycle\].
    fn limits(&self, accelerator: &Accelerator, scenario: &Scenario, system: &System) -> Vec<u64> {
        let column = self.find_accelerator(&plain(accelerator));
        let of_model = |active: &ActiveModel| {
            let cell = self.costs[column].get(self.find_network(&active.unit.network));
            let cell = cell.filter(|_| active.exclusion(accelerator).is_none());
            let cost = cell.and_then(|it| it.as_ref()?.as_ref().ok());
            // A token has its own time, and not that from start to start.
            let rate =
                active.sequence.as_ref().and_then(|it| FrameRate::from_fps(1e3 / it.tpot.as_ms()));
            (rate.unwrap_or(active.rate), cost.map(|it| it.network.cycles.get()))
        };
        let models: Vec<_> = scenario.models().iter().map(of_model).collect();
        limits::limits(accelerator, system.pes(), &models)
    }

    /// Column of an accelerator for each model of a scenario.
    fn columns(
        &self,
        accelerator: &Accelerator,
        scenario: &Scenario,
        system: &System,
    ) -> Vec<usize> {
        if !accelerator.chooses_by_period() {
            return vec![self.find_accelerator(accelerator); scenario.models().len()];
        }
        let limits = self.limits(accelerator, scenario, system).into_iter();
        limits.map(|limit| self.find_accelerator(&accelerator.within(Some(limit)))).collect()
    }

    fn evaluate_pair(&self, model: &dyn CostModel, accelerator: usize, network: usize) -> PairCost {
        let (network, accelerator) = (&self.networks[network], &self.accelerators[accelerator]);
        let cost = model.shared_network(network, accelerator).map_err(Box::new)?;
        if self.with_layers && !cost.has_absent(network) {
            return Ok(Timetable::new(cost));
        }
        let mut cost = Arc::unwrap_or_clone(cost).without_absent(network, accelerator);
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

/// The cells of all rows ([`Scenario::rows`]), from those of networks ([`Scenario::variants`]).
fn with_between(
    scenario: &Scenario,
    system: &System,
    mut cells: Vec<Result<Timetable, CostError>>,
) -> Vec<Result<Timetable, CostError>> {
    if scenario.models().iter().all(|model| model.sequence.is_none() && model.work.is_none()) {
        return cells;
    }
    let n = system.accelerators().len();
    let mut further = cells.split_off(scenario.models().len() * n).into_iter();
    for (index, model) in scenario.models().iter().enumerate() {
        let mut own: Vec<_> = further.by_ref().take(model.variants.len() * n).collect();
        if model.work.is_some() {
            offer_together(&mut cells[index * n..][..n], &mut own);
        }
        // Variant 1 is the first one of `own`.
        let row = |variant: u32| &own[(variant as usize - 1) * n..][..n];
        let between = model.between().flat_map(|it| {
            let pairs = row(it.low).iter().zip(row(it.high)).zip(system.accelerators());
            pairs.map(move |((low, high), accelerator)| {
                let (low, high) = (low.clone()?, high.clone()?);
                let cost = low.network.between(&high.network, it.part, it.whole, accelerator);
                Ok(Timetable::new(Arc::new(cost)))
            })
        });
        let between: Vec<_> = between.collect();
        cells.extend(own.into_iter().chain(between));
    }
    cells
}

/// Offers the variants of a model on those accelerators alone that can run all of them: a scheduler that does not know
/// which one a frame runs can choose any of these. `planned` has a cell for each accelerator, `others` those of each
/// further variant in turn.
fn offer_together(
    planned: &mut [Result<Timetable, CostError>],
    others: &mut [Result<Timetable, CostError>],
) {
    let n = planned.len();
    for column in 0..n {
        let further = others.iter().skip(column).step_by(n);
        let mut all = planned[column..].iter().take(1).chain(further);
        let Some(reason) = all.find_map(|it| it.as_ref().err().cloned()) else { continue };
        planned[column] = Err(reason.clone());
        others.iter_mut().skip(column).step_by(n).for_each(|it| *it = Err(reason.clone()));
    }
}

/// The accelerator, with mappings by `edp` if the period chooses them.
fn plain(accelerator: &Accelerator) -> Cow<'_, Accelerator> {
    match accelerator.chooses_by_period() {
        true => Cow::Owned(limits::by_edp(accelerator)),
        false => Cow::Borrowed(accelerator),
    }
}

/// Hash that is equal for accelerators that cost the same, and rarely equal for others.
fn digest(accelerator: &Accelerator) -> u64 {
    let Accelerator { pes, clock, noc, memory, datapath, .. } = accelerator;
    let limit = accelerator.chooses_by_period().then_some(accelerator.mapping_deadline.cycles);
    let mut hasher = DefaultHasher::new();
    (pes, clock, noc, memory, datapath, limit).hash(&mut hasher);
    hasher.finish()
}

/// Whether `a` and `b` cost the same for every network. With `by_name`, names matter to the model.
pub(super) fn cost_alike(a: &Accelerator, b: &Accelerator, by_name: bool) -> bool {
    a.costs_as(b) && (!by_name || same_names(a, b))
}

fn same_names(a: &Accelerator, b: &Accelerator) -> bool {
    a.name == b.name && a.dataflow.name() == b.dataflow.name()
}
