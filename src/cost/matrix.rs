//! Costs of the models of a scenario on the accelerators of a system.

use std::ops::Range;
use std::sync::Arc;

use crate::hardware::Accelerator;
use crate::ids::{AccelId, ModelId};
use crate::units::{Millijoules, SimSpan};

use super::timetable::{Sums, Timetable};
use super::{LayerCost, NetworkCost};

/// Latency and energy of every model of a scenario on every accelerator of a system; row-major
/// `[model][accelerator]`.
///
/// A model whose layers are known on every accelerator can be cut between any two of them. One that
/// some accelerator knows as a whole only counts as a single layer on all of them.
#[derive(Debug, Clone, PartialEq)]
pub struct CostTable {
    n_accelerators: usize,
    latencies: Vec<SimSpan>,
    energies: Vec<Millijoules>,
    /// Indexed by [`ModelId`].
    n_layers: Vec<u32>,
    cells: Vec<Cell>,
}

/// A network on an accelerator.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Cell {
    network: Arc<NetworkCost>,
    timetable: Arc<Timetable>,
}

impl Cell {
    /// Adds the timetable of `network`.
    pub(super) fn new(network: Arc<NetworkCost>) -> Self {
        let timetable = Arc::new(Timetable::of(&network));
        Self { network, timetable }
    }

    /// Entries of its tables.
    pub(super) fn n_entries(&self) -> usize {
        1 + self.network.layers.len()
    }
}

impl CostTable {
    /// A table of `networks`, row-major `[model][accelerator]`.
    ///
    /// # Panics
    ///
    /// If the rows are ragged.
    pub fn new(networks: Vec<Arc<NetworkCost>>, n_accelerators: usize) -> Self {
        Self::of_cells(networks.into_iter().map(Cell::new).collect(), n_accelerators)
    }

    /// A table of networks whose timetables are known.
    ///
    /// # Panics
    ///
    /// If the rows are ragged.
    pub(super) fn of_cells(cells: Vec<Cell>, n_accelerators: usize) -> Self {
        assert!(
            n_accelerators > 0 && cells.len().is_multiple_of(n_accelerators),
            "rows are equally long"
        );
        Self {
            n_accelerators,
            latencies: cells.iter().map(|cell| cell.network.latency).collect(),
            energies: cells.iter().map(|cell| cell.network.energy()).collect(),
            n_layers: cells.chunks(n_accelerators).map(n_layers).collect(),
            cells,
        }
    }

    /// Number of models (rows).
    pub fn n_models(&self) -> usize {
        self.n_layers.len()
    }

    /// Number of accelerators (columns).
    pub fn n_accelerators(&self) -> usize {
        self.n_accelerators
    }

    /// Time that `model` takes on `accelerator`, alone and uninterrupted.
    pub fn latency(&self, model: ModelId, accelerator: AccelId) -> SimSpan {
        self.latencies[self.index(model, accelerator)]
    }

    /// Energy that one run of `model` takes on `accelerator`.
    pub fn energy(&self, model: ModelId, accelerator: AccelId) -> Millijoules {
        self.energies[self.index(model, accelerator)]
    }

    /// Everything known of `model` on `accelerator`.
    pub fn network(&self, model: ModelId, accelerator: AccelId) -> &NetworkCost {
        &self.cell(model, accelerator).network
    }

    /// Everything known of every pair, row-major `[model][accelerator]`.
    pub fn into_networks(self) -> impl Iterator<Item = Arc<NetworkCost>> {
        self.cells.into_iter().map(|cell| cell.network)
    }

    /// Shortest latency of `model` on any accelerator.
    pub fn best_latency(&self, model: ModelId) -> SimSpan {
        let row = model.index() * self.n_accelerators;
        let row = &self.latencies[row..row + self.n_accelerators];
        *row.iter().min().expect("a table has at least one accelerator")
    }

    /// The same costs, but with `model` taking `percent` of its time on every accelerator, rounded up.
    /// Energy and traffic stay.
    pub fn with_latency_percent(&self, model: ModelId, percent: u32) -> Self {
        let row = model.index() * self.n_accelerators;
        let mut cells = self.cells.clone();
        for cell in &mut cells[row..row + self.n_accelerators] {
            *cell = Cell::new(Arc::new(cell.network.with_latency_percent(percent)));
        }
        Self::of_cells(cells, self.n_accelerators)
    }

    /// The same costs, but every layer leaves `share` of the shorter one of computing and DRAM transfer
    /// exposed, from 0 to 1. `accelerators` are those of the columns.
    ///
    /// # Panics
    ///
    /// If there are not as many accelerators as columns.
    pub fn exposing(&self, share: f64, accelerators: &[Accelerator]) -> Self {
        assert_eq!(accelerators.len(), self.n_accelerators, "every column has an accelerator");
        let cells = self.cells.iter().zip(accelerators.iter().cycle());
        let exposing = |(cell, accelerator): (&Cell, _)| {
            Cell::new(Arc::new(cell.network.exposing(share, accelerator)))
        };
        Self::of_cells(cells.map(exposing).collect(), self.n_accelerators)
    }

    /// Layers between which `model` can be cut; 1 if it cannot.
    pub fn n_layers(&self, model: ModelId) -> u32 {
        self.n_layers[model.index()]
    }

    /// Cost of `layer` of `model` on `accelerator`; `None` if it cannot be cut.
    pub fn layer(&self, model: ModelId, accelerator: AccelId, layer: u32) -> Option<&LayerCost> {
        match self.n_layers(model) {
            1 => None,
            _ => self.network(model, accelerator).layers.get(layer as usize),
        }
    }

    /// Bytes that `layer` of `model` moves on `accelerator`, to and from DRAM and over the outermost
    /// on-chip network; of a model that cannot be cut those of all layers that are known.
    pub fn traffic_of(&self, model: ModelId, accelerator: AccelId, layer: u32) -> [u64; 2] {
        let layers = &self.network(model, accelerator).layers;
        let layers = match self.n_layers(model) {
            1 => &layers[..],
            _ => &layers[layer as usize..=layer as usize],
        };
        layers.iter().fold([0u64; 2], |[dram, noc], layer| {
            [dram.saturating_add(layer.dram_bytes), noc.saturating_add(layer.noc_bytes)]
        })
    }

    /// When `layer` starts, counted from the start of `model` on `accelerator`; the latency for the
    /// layer behind the last. Layers and what lies between them add up to the latency exactly.
    pub fn start_of(&self, model: ModelId, accelerator: AccelId, layer: u32) -> SimSpan {
        self.before(model, accelerator, layer).time
    }

    /// Time that these layers of `model` take on `accelerator`, alone and uninterrupted.
    pub fn time_of(&self, model: ModelId, accelerator: AccelId, layers: Range<u32>) -> SimSpan {
        self.start_of(model, accelerator, layers.end)
            - self.start_of(model, accelerator, layers.start)
    }

    /// Energy that these layers of `model` take on `accelerator`.
    pub fn energy_of(
        &self,
        model: ModelId,
        accelerator: AccelId,
        layers: Range<u32>,
    ) -> Millijoules {
        let before = |layer| self.before(model, accelerator, layer).energy_nj;
        Millijoules::from_nj(before(layers.end) - before(layers.start))
    }

    /// Time that `model` takes on `accelerator` from `layer` on.
    pub fn remaining(&self, model: ModelId, accelerator: AccelId, layer: u32) -> SimSpan {
        match layer {
            0 => self.latency(model, accelerator),
            _ => self.time_of(model, accelerator, layer..self.n_layers(model)),
        }
    }

    /// Energy that `model` takes on `accelerator` from `layer` on.
    pub fn remaining_energy(
        &self,
        model: ModelId,
        accelerator: AccelId,
        layer: u32,
    ) -> Millijoules {
        match layer {
            0 => self.energy(model, accelerator),
            _ => self.energy_of(model, accelerator, layer..self.n_layers(model)),
        }
    }

    /// Sum over the layers of `model` from `layer` on of energy times latency on `accelerator`
    /// [nJ·cycle].
    pub fn energy_delay_by_layer(&self, model: ModelId, accelerator: AccelId, layer: u32) -> f64 {
        let Cell { network, timetable } = self.cell(model, accelerator);
        match timetable.n_layers() {
            0 => network.energy_nj * network.cycles.get() as f64,
            n_layers => {
                let [all, before] = [n_layers, layer].map(|layer| timetable.before(layer));
                all.energy_delay - before.energy_delay
            }
        }
    }

    /// The first layer before which `model` can be cut when it has run for `span` from the start of
    /// `layer` on: at least one layer further, at most behind the last.
    pub fn cut_after(
        &self,
        model: ModelId,
        accelerator: AccelId,
        layer: u32,
        span: SimSpan,
    ) -> u32 {
        match self.n_layers(model) {
            1 => 1,
            _ => self.cell(model, accelerator).timetable.end_after(layer, span),
        }
    }

    /// Sums before `layer`, which is at most the one behind the last.
    fn before(&self, model: ModelId, accelerator: AccelId, layer: u32) -> Sums {
        let Cell { network, timetable } = self.cell(model, accelerator);
        if layer == 0 {
            Sums::default()
        } else if layer < self.n_layers(model) {
            *timetable.before(layer)
        } else {
            let energy_nj = network.energy_nj;
            Sums { time: network.latency, energy_nj, ..Sums::default() }
        }
    }

    fn cell(&self, model: ModelId, accelerator: AccelId) -> &Cell {
        &self.cells[self.index(model, accelerator)]
    }

    fn index(&self, model: ModelId, accelerator: AccelId) -> usize {
        debug_assert!(accelerator.index() < self.n_accelerators);
        model.index() * self.n_accelerators + accelerator.index()
    }
}

/// Layers of a model that all of its cells know; 1 if they do not agree.
fn n_layers(row: &[Cell]) -> u32 {
    let n_layers = row[0].timetable.n_layers();
    let agreed = row.iter().all(|cell| cell.timetable.n_layers() == n_layers);
    if agreed { n_layers.max(1) } else { 1 }
}
