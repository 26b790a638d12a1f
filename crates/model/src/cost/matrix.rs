//! Costs of the models of a scenario on the accelerators of a system.

mod at_points;

use std::cell::LazyCell;
use std::ops::Range;
use std::sync::Arc;

use crate::hardware::Accelerator;
use crate::ids::{AccelId, ModelId, WorkId};
use crate::units::{ClockRate, Millijoules, SimSpan};

use super::rows::Rows;
use super::timetable::{Sums, Timetable};
use super::{CostError, LayerCost, NetworkCost};

/// Latency and energy of everything that requests of a scenario run, on every accelerator of a
/// system; row-major `[work][accelerator]`.
///
/// A row is a variant of a model ([`WorkId`]): its network, or another one that some of its requests run. The first rows
/// are the networks of the models, in the order of [`ModelId`]. Further variants follow, where there are any: those of
/// the scenario ([`ActiveModel::variants`](crate::scenario::ActiveModel::variants)), or batches of several samples.
///
/// A row whose layers are known on every accelerator can be cut between any two of them. A row that
/// some accelerator knows as a whole only counts as a single layer on all of them.
#[derive(Debug, Clone, PartialEq)]
pub struct CostTable {
    n_accelerators: usize,
    latencies: Vec<SimSpan>,
    energies: Vec<Millijoules>,
    /// Layers of every row, indexed by [`WorkId`].
    n_layers: Vec<u32>,
    cells: Vec<Timetable>,
    /// Pairs of model and accelerator that are not offered; `None` if there are none.
    gaps: Option<Arc<Gaps>>,
    /// Whether the latency of some cell differs from request to request.
    has_spreads: bool,
    rows: Rows,
    /// The same rows at the operating points of the accelerators; `None` if each has one.
    points: Option<Arc<AtPoints>>,
}

/// Tables of the same rows at operating points.
#[derive(Debug, Clone, PartialEq)]
struct AtPoints {
    /// Indexed by [`PointId`](crate::ids::PointId). An accelerator with fewer points is at its highest one in the rest.
    tables: Vec<CostTable>,
    /// Clocks, row-major `[point][accelerator]`.
    clocks: Vec<ClockRate>,
}

/// Pairs of model and accelerator that are not offered: the network cannot run there. Their cells hold a
/// stand-in that is slower and costlier than anything else.
#[derive(Debug, Clone, PartialEq)]
struct Gaps {
    /// Whether each cell is offered, row-major.
    offered: Vec<bool>,
    /// Why each of the other cells is not.
    reasons: Vec<CostError>,
}

impl CostTable {
    /// Table of `networks`, row-major `[model][accelerator]`, without further variants.
    ///
    /// # Panics
    ///
    /// If the rows are ragged.
    pub fn new(networks: Vec<Arc<NetworkCost>>, n_accelerators: usize) -> Self {
        let cells: Vec<_> = networks.into_iter().map(Timetable::new).collect();
        let models = (0..cells.len() / n_accelerators.max(1)).map(ModelId::new);
        Self::of_cells(models, cells, n_accelerators)
    }

    /// Table of timetables, row-major. Row `r` is a variant of `models[r]`; those of a model beyond its first one are
    /// next to each other.
    ///
    /// # Panics
    ///
    /// If the rows are ragged.
    pub(super) fn of_cells(
        models: impl IntoIterator<Item = ModelId>,
        cells: Vec<Timetable>,
        n_accelerators: usize,
    ) -> Self {
        assert!(n_accelerators > 0, "a table has columns");
        Self::empty(n_accelerators, Rows::of(models), None).with_cells(cells)
    }

    /// A table whose rows have no costs yet.
    fn empty(n_accelerators: usize, rows: Rows, gaps: Option<Arc<Gaps>>) -> Self {
        Self {
            n_accelerators,
            latencies: Vec::new(),
            energies: Vec::new(),
            n_layers: Vec::new(),
            cells: Vec::new(),
            gaps,
            has_spreads: false,
            rows,
            points: None,
        }
    }

    /// Table of `networks`, row-major `[model][accelerator]`, of pairs that may not be offered.
    ///
    /// # Errors
    ///
    /// The first reason of a row that no accelerator offers.
    ///
    /// # Panics
    ///
    /// If the rows are ragged.
    pub fn offering(
        networks: Vec<Result<Arc<NetworkCost>, CostError>>,
        n_accelerators: usize,
    ) -> Result<Self, CostError> {
        let cells = networks.into_iter().map(|network| network.map(Timetable::new));
        let cells: Vec<_> = cells.collect();
        let models = (0..cells.len() / n_accelerators.max(1)).map(ModelId::new);
        Self::of_offers(models, cells, n_accelerators)
    }

    /// Table of timetables as [`CostTable::of_cells`], of pairs that may not be offered.
    ///
    /// # Errors
    ///
    /// The first reason of a row that no accelerator offers.
    ///
    /// # Panics
    ///
    /// If the rows are ragged.
    pub(super) fn of_offers(
        models: impl IntoIterator<Item = ModelId>,
        cells: Vec<Result<Timetable, CostError>>,
        n_accelerators: usize,
    ) -> Result<Self, CostError> {
        let offered: Vec<bool> = cells.iter().map(Result::is_ok).collect();
        let (mut filled, mut reasons) = (Vec::with_capacity(cells.len()), Vec::new());
        let mut cells = cells.into_iter();
        while let Some(first) = cells.next() {
            let row: Vec<_> =
                std::iter::once(first).chain(cells.by_ref().take(n_accelerators - 1)).collect();
            let like = row.iter().find_map(|cell| Some(Arc::clone(&cell.as_ref().ok()?.network)));
            let stand_in = LazyCell::new(|| like.map(|it| Timetable::new(Arc::new(it.stand_in()))));
            for cell in row {
                match cell {
                    Ok(cell) => filled.push(cell),
                    Err(reason) => {
                        let Some(stand_in) = &*stand_in else { return Err(reason) };
                        filled.push(stand_in.clone());
                        reasons.push(reason);
                    }
                }
            }
        }
        let table = Self::of_cells(models, filled, n_accelerators);
        let gaps = (!reasons.is_empty()).then(|| Arc::new(Gaps { offered, reasons }));
        Ok(Self { gaps, ..table })
    }

    /// Whether every accelerator offers every row.
    #[inline]
    pub fn is_complete(&self) -> bool {
        self.gaps.is_none()
    }

    /// Why pairs are not offered, by model and then by accelerator.
    pub fn not_offered(&self) -> &[CostError] {
        self.gaps.as_ref().map_or(&[], |gaps| &gaps.reasons)
    }

    /// Accelerators that can run `work`, lowest id first; at least one.
    #[inline]
    pub fn offers(&self, work: impl Into<WorkId>) -> impl Iterator<Item = AccelId> + Clone {
        let work = work.into();
        let all = (0..self.n_accelerators).map(AccelId::new);
        all.filter(move |&accelerator| self.on(work, accelerator).is_offered())
    }

    /// Whether latencies of some pair differ from request to request ([`Execution::drawn`]).
    #[inline]
    pub fn has_spreads(&self) -> bool {
        self.has_spreads
    }

    /// The same table with the costs of requests of which a share `share` of those of the model is not slower, above 0 and
    /// below 1.
    #[must_use]
    pub fn drawn(&self, share: impl Fn(ModelId) -> f64) -> Self {
        if !self.has_spreads {
            return self.clone();
        }
        self.with_costs(|work, accelerator, cost| {
            let Some(spread) = &cost.spread else { return Arc::clone(cost) };
            let share = share(self.model_of(work));
            Arc::new(NetworkCost {
                latency: self.on(work, accelerator).drawn(share),
                energy_nj: cost.energy_nj * spread.factor(share),
                spread: None,
                ..NetworkCost::clone(cost)
            })
        })
    }

    /// The same table with the median latency for every request.
    pub fn medians(self) -> Self {
        match self.has_spreads {
            true => self.with_costs(|_, _, cost| Arc::new(cost.median())),
            false => self,
        }
    }

    /// Adds the costs of rows.
    ///
    /// # Panics
    ///
    /// If the rows are ragged.
    fn with_cells(mut self, cells: Vec<Timetable>) -> Self {
        assert!(cells.len().is_multiple_of(self.n_accelerators), "rows are equally long");
        self.has_spreads |= cells.iter().any(|cell| cell.network.spread.is_some());
        self.latencies.extend(cells.iter().map(|cell| cell.network.latency));
        self.energies.extend(cells.iter().map(|cell| cell.network.energy()));
        self.n_layers.extend(cells.chunks(self.n_accelerators).map(n_layers));
        self.cells.extend(cells);
        self
    }

    /// The same table with batches of 2, 3, ... samples of `model`, whose costs are `networks`,
    /// row-major `[samples - 2][accelerator]`.
    ///
    /// # Panics
    ///
    /// If the rows are ragged, or if the table already has batches of `model`.
    pub fn with_batches(mut self, model: ModelId, networks: Vec<Arc<NetworkCost>>) -> Self {
        self.rows.add_batches(model, networks.len() / self.n_accelerators);
        self.with_cells(networks.into_iter().map(Timetable::new).collect())
    }

    /// The same rows with other costs.
    fn replaced(&self, cells: Vec<Timetable>) -> Self {
        let rows = Self::empty(self.n_accelerators, self.rows.clone(), self.gaps.clone());
        rows.with_cells(cells)
    }

    /// Number of models.
    pub fn n_models(&self) -> usize {
        self.rows.n_models()
    }

    /// Number of rows: of the variants of all models.
    pub fn n_works(&self) -> usize {
        self.n_layers.len()
    }

    /// Number of accelerators (columns).
    pub fn n_accelerators(&self) -> usize {
        self.n_accelerators
    }

    /// Number of variants of `model`, at least 1.
    pub fn n_variants(&self, model: ModelId) -> u32 {
        self.rows.n_variants(model)
    }

    /// Row of a variant of `model`; `None` if the table has no such variant.
    #[inline]
    pub fn variant(&self, model: ModelId, variant: u32) -> Option<WorkId> {
        self.rows.variant(model, variant)
    }

    /// Row of `model` with `batch` samples; `None` if the table has no such batch.
    pub fn work(&self, model: ModelId, batch: u32) -> Option<WorkId> {
        self.rows.batch(model, batch)
    }

    /// Model of a row.
    pub fn model_of(&self, work: WorkId) -> ModelId {
        self.rows.model_of(work)
    }

    /// Variant of its model that a row is.
    #[inline]
    pub fn variant_of(&self, work: WorkId) -> u32 {
        self.rows.variant_of(work)
    }

    /// Samples of the batch of a row.
    pub fn batch_of(&self, work: WorkId) -> u32 {
        self.rows.batch_of(work)
    }

    /// Costs of `work`, which may be a model with its own network, on `accelerator`.
    #[inline]
    pub fn on(&self, work: impl Into<WorkId>, accelerator: AccelId) -> Execution<'_> {
        Execution { costs: self, work: work.into(), accelerator }
    }

    /// Limit of the latency of `work` by which mappings on `accelerator` were chosen \[cycle\]; `None` if there was none.
    pub fn limit_cycles(&self, work: impl Into<WorkId>, accelerator: AccelId) -> Option<u64> {
        Some(self.on(work, accelerator).network().choices()?.selected?.limit_cycles)
    }

    /// Costs of every row, row-major `[work][accelerator]`.
    pub fn into_networks(self) -> impl Iterator<Item = Arc<NetworkCost>> {
        self.cells.into_iter().map(|cell| cell.network)
    }

    /// Shortest latency of the network of `model` on any accelerator.
    pub fn best_latency(&self, model: ModelId) -> SimSpan {
        let row = model.index() * self.n_accelerators;
        let row = &self.latencies[row..row + self.n_accelerators];
        *row.iter().min().expect("a table has at least one accelerator")
    }

    /// Table in which every variant of `model` takes `percent` of its time on every accelerator, rounded up. Energy and
    /// traffic stay.
    pub fn with_latency_percent(&self, model: ModelId, percent: u32) -> Self {
        let mut cells = self.cells.clone();
        for variant in 0..self.n_variants(model) {
            let row = self.variant(model, variant).expect("the table has it").index();
            let first = row * self.n_accelerators;
            let row = cells[first..].iter_mut().take(self.n_accelerators).enumerate();
            for (_, cell) in row.filter(|(index, _)| self.is_offered(first + index)) {
                *cell = Timetable::new(Arc::new(cell.network.with_latency_percent(percent)));
            }
        }
        let points = self.points_with(|it, _| it.with_latency_percent(model, percent));
        Self { points, ..self.replaced(cells) }
    }

    /// Table in which the longer one of computation and DRAM transfer of a layer hides all but `fraction`
    /// (0 to 1) of the shorter one. `accelerators` are those of the columns.
    ///
    /// # Panics
    ///
    /// If there are not as many accelerators as columns.
    #[must_use]
    pub fn with_non_overlapped(&self, fraction: f64, accelerators: &[Accelerator]) -> Self {
        assert_eq!(accelerators.len(), self.n_accelerators, "every column has an accelerator");
        let clocks: Vec<ClockRate> = accelerators.iter().map(|it| it.clock).collect();
        let points = self.points_with(|it, clocks| it.with_non_overlapped_at(fraction, clocks));
        Self { points, ..self.with_non_overlapped_at(fraction, &clocks) }
    }

    /// The same table with other costs of every pair that is offered, as `cost` makes them of the row, the accelerator and
    /// the cost so far. Pairs of equal costs may share one.
    #[must_use]
    pub fn with_costs(
        &self,
        mut cost: impl FnMut(WorkId, AccelId, &Arc<NetworkCost>) -> Arc<NetworkCost>,
    ) -> Self {
        let points = self.points_with(|it, _| it.with_own_costs(&mut cost));
        Self { points, ..self.with_own_costs(&mut cost) }
    }

    fn with_own_costs(
        &self,
        cost: &mut impl FnMut(WorkId, AccelId, &Arc<NetworkCost>) -> Arc<NetworkCost>,
    ) -> Self {
        let cell = |(index, cell): (usize, &Timetable)| {
            if !self.is_offered(index) {
                return cell.clone();
            }
            let (work, accelerator) = (index / self.n_accelerators, index % self.n_accelerators);
            let cost = cost(WorkId::new(work), AccelId::new(accelerator), &cell.network);
            Timetable::new(cost)
        };
        self.replaced(self.cells.iter().enumerate().map(cell).collect())
    }

    /// Whether a cell is offered. Batches are, because only complete tables have them.
    #[inline]
    fn is_offered(&self, cell: usize) -> bool {
        self.gaps.as_ref().is_none_or(|gaps| gaps.offered.get(cell).copied().unwrap_or(true))
    }

    /// Layers between which `work` can be cut; 1 if it cannot.
    #[inline]
    pub fn n_layers(&self, work: impl Into<WorkId>) -> u32 {
        self.n_layers[work.into().index()]
    }
}

/// Number of layers of a row if all of its cells agree on it; otherwise 1.
fn n_layers(row: &[Timetable]) -> u32 {
    let n_layers = row[0].n_layers();
    let agreed = row.iter().all(|cell| cell.n_layers() == n_layers);
    if agreed { n_layers.max(1) } else { 1 }
}

/// Costs of one row of a [`CostTable`] on one accelerator: time and energy of the whole, of the rest
/// from a layer on, and of any range of layers, each alone and uninterrupted.
///
/// Whoever simulates, schedules or bounds requests asks for costs here and nowhere else. A property of
/// the accelerator that changes costs during a run, such as its operating point, belongs here.
///
/// Layers are counted from 0. A layer index is at most [`Execution::n_layers`], which stands for the
/// end.
#[derive(Debug, Clone, Copy)]
pub struct Execution<'a> {
    costs: &'a CostTable,
    work: WorkId,
    accelerator: AccelId,
}

impl<'a> Execution<'a> {
    /// Whether the accelerator can run the row. If it cannot, times and energies are those of a stand-in,
    /// which are larger than any others.
    #[inline]
    pub fn is_offered(self) -> bool {
        self.costs.is_offered(self.index())
    }

    /// Time of the whole.
    #[inline]
    pub fn latency(self) -> SimSpan {
        self.costs.latencies[self.index()]
    }

    /// Energy of the whole.
    #[inline]
    pub fn energy(self) -> Millijoules {
        self.costs.energies[self.index()]
    }

    /// Whether the time differs from request to request.
    #[inline]
    pub fn differs(self) -> bool {
        self.network().spread.is_some()
    }

    /// Time of the whole of a request of which a share `share` of all is not slower, above 0 and below 1. It is
    /// [`Execution::latency`] where latencies do not differ.
    pub fn drawn(self, share: f64) -> SimSpan {
        match &self.network().spread {
            None => self.latency(),
            Some(spread) => {
                let ns = self.latency().ns() as f64 * spread.factor(share);
                SimSpan::from_ns(ns.round() as u64).min(SimSpan::LONGEST)
            }
        }
    }

    /// Time from the start of `layer` to the end.
    #[inline]
    pub fn remaining(self, layer: u32) -> SimSpan {
        match layer {
            0 => self.latency(),
            _ => self.time_of(layer..self.n_layers()),
        }
    }

    /// Energy from the start of `layer` to the end.
    #[inline]
    pub fn remaining_energy(self, layer: u32) -> Millijoules {
        match layer {
            0 => self.energy(),
            _ => self.energy_of(layer..self.n_layers()),
        }
    }

    /// Time of `layer`.
    #[inline]
    pub fn layer_time(self, layer: u32) -> SimSpan {
        self.time_of(layer..layer + 1)
    }

    /// Energy of `layer`.
    #[inline]
    pub fn layer_energy(self, layer: u32) -> Millijoules {
        self.energy_of(layer..layer + 1)
    }

    /// Time of a range of layers.
    #[inline]
    pub fn time_of(self, layers: Range<u32>) -> SimSpan {
        self.start_of(layers.end) - self.start_of(layers.start)
    }

    /// Energy of a range of layers.
    #[inline]
    pub fn energy_of(self, layers: Range<u32>) -> Millijoules {
        let before = |layer| self.before(layer).energy_nj;
        Millijoules::from_nj(before(layers.end) - before(layers.start))
    }

    /// Time from the start of the first layer to the start of `layer`. The times of all layers add up
    /// to the latency exactly.
    #[inline]
    pub(crate) fn start_of(self, layer: u32) -> SimSpan {
        self.before(layer).time
    }

    /// Index after the first layer that ends when `span` has passed since the start of `layer`, or
    /// later: the first boundary at which a run can be cut then. At least `layer + 1`, at most the end.
    pub fn end_after(self, layer: u32, span: SimSpan) -> u32 {
        match self.n_layers() {
            1 => 1,
            _ => self.cell().end_after(layer, span),
        }
    }

    /// Index after the step with `layer`, at which a run can be cut: layers of no cycles ride along with the one before
    /// them.
    pub fn step_end(self, layer: u32) -> u32 {
        match self.n_layers() {
            1 => 1,
            _ => self.cell().step_end(layer),
        }
    }

    /// The step end at or after [`Execution::end_after`].
    pub fn cut_after(self, layer: u32, span: SimSpan) -> u32 {
        self.step_end(self.end_after(layer, span) - 1)
    }

    /// Sum over the layers from `layer` on of energy times latency [nJ·cycle].
    pub fn energy_delay_by_layer(self, layer: u32) -> f64 {
        let cell = self.cell();
        let network = &cell.network;
        match cell.n_layers() {
            0 => network.energy_nj * network.cycles.get() as f64,
            n_layers => {
                let [all, before] = [n_layers, layer].map(|layer| cell.before(layer));
                all.energy_delay - before.energy_delay
            }
        }
    }

    /// Bytes that `layer` moves. A row that cannot be cut moves the bytes of all layers that are known.
    pub fn traffic_of(self, layer: u32) -> Traffic {
        let layers = &self.network().layers;
        let layers = match self.n_layers() {
            1 => &layers[..],
            _ => &layers[layer as usize..=layer as usize],
        };
        layers.iter().fold(Traffic::default(), |sum, layer| Traffic {
            dram_bytes: sum.dram_bytes.saturating_add(layer.dram_bytes),
            noc_bytes: sum.noc_bytes.saturating_add(layer.noc_bytes),
        })
    }

    /// Layers between which a run can be cut; 1 if it cannot.
    #[inline]
    pub fn n_layers(self) -> u32 {
        self.costs.n_layers(self.work)
    }

    /// Cost of `layer`; `None` if the row cannot be cut.
    pub fn layer(self, layer: u32) -> Option<&'a LayerCost> {
        match self.n_layers() {
            1 => None,
            _ => self.network().layers.get(layer as usize),
        }
    }

    /// Everything that is known of the row on the accelerator.
    pub fn network(self) -> &'a Arc<NetworkCost> {
        &self.cell().network
    }

    /// Sums before `layer`.
    #[inline]
    fn before(self, layer: u32) -> Sums {
        let cell = self.cell();
        if layer == 0 {
            Sums::default()
        } else if layer < self.n_layers() {
            *cell.before(layer)
        } else {
            let NetworkCost { latency: time, energy_nj, .. } = *cell.network;
            Sums { time, energy_nj, ..Sums::default() }
        }
    }

    #[inline]
    fn cell(self) -> &'a Timetable {
        &self.costs.cells[self.index()]
    }

    #[inline]
    fn index(self) -> usize {
        debug_assert!(self.accelerator.index() < self.costs.n_accelerators);
        self.work.index() * self.costs.n_accelerators + self.accelerator.index()
    }
}

/// Bytes that a layer moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    /// To and from DRAM.
    pub dram_bytes: u64,
    /// Over the outermost level of the on-chip network.
    pub noc_bytes: u64,
}
