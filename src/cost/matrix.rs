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
/// A model whose layers are known on every accelerator can be preempted between any two of them. A model
/// that is known only as a whole on some accelerator counts as a single layer on all of them.
#[derive(Debug, Clone, PartialEq)]
pub struct CostTable {
    n_accelerators: usize,
    latencies: Vec<SimSpan>,
    energies: Vec<Millijoules>,
    /// Layers of every model, indexed by [`ModelId`].
    n_layers: Vec<u32>,
    cells: Vec<Cell>,
}

/// Cost of a network on an accelerator, with running sums over its layers.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Cell {
    network: Arc<NetworkCost>,
    timetable: Arc<Timetable>,
}

impl Cell {
    /// Cell of `network`; computes its timetable.
    pub(super) fn new(network: Arc<NetworkCost>) -> Self {
        let timetable = Arc::new(Timetable::of(&network));
        Self { network, timetable }
    }

    /// Number of entries that it keeps in memory: one, and one for each layer.
    pub(super) fn n_entries(&self) -> usize {
        1 + self.network.layers.len()
    }
}

impl CostTable {
    /// Table of `networks`, row-major `[model][accelerator]`.
    ///
    /// # Panics
    ///
    /// If the rows are ragged.
    pub fn new(networks: Vec<Arc<NetworkCost>>, n_accelerators: usize) -> Self {
        Self::of_cells(networks.into_iter().map(Cell::new).collect(), n_accelerators)
    }

    /// Table of networks whose timetables are known.
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

    /// Latency of `model` alone and uninterrupted on `accelerator`.
    pub fn latency(&self, model: ModelId, accelerator: AccelId) -> SimSpan {
        self.latencies[self.index(model, accelerator)]
    }

    /// Energy of one inference of `model` on `accelerator`.
    pub fn energy(&self, model: ModelId, accelerator: AccelId) -> Millijoules {
        self.energies[self.index(model, accelerator)]
    }

    /// Cost of `model` on `accelerator`, with its layers.
    pub fn network(&self, model: ModelId, accelerator: AccelId) -> &NetworkCost {
        &self.cell(model, accelerator).network
    }

    /// Costs of all pairs, row-major `[model][accelerator]`.
    pub fn into_networks(self) -> impl Iterator<Item = Arc<NetworkCost>> {
        self.cells.into_iter().map(|cell| cell.network)
    }

    /// Shortest latency of `model` on any accelerator.
    pub fn best_latency(&self, model: ModelId) -> SimSpan {
        let row = model.index() * self.n_accelerators;
        let row = &self.latencies[row..row + self.n_accelerators];
        *row.iter().min().expect("a table has at least one accelerator")
    }

    /// Table in which `model` takes `percent` of its time on every accelerator, rounded up. Energy and
    /// traffic stay.
    pub fn with_latency_percent(&self, model: ModelId, percent: u32) -> Self {
        let row = model.index() * self.n_accelerators;
        let mut cells = self.cells.clone();
        for cell in &mut cells[row..row + self.n_accelerators] {
            *cell = Cell::new(Arc::new(cell.network.with_latency_percent(percent)));
        }
        Self::of_cells(cells, self.n_accelerators)
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
        let cells = self.cells.iter().zip(accelerators.iter().cycle());
        let cell = |(cell, accelerator): (&Cell, _)| {
            Cell::new(Arc::new(cell.network.with_non_overlapped(fraction, accelerator)))
        };
        Self::of_cells(cells.map(cell).collect(), self.n_accelerators)
    }

    /// Number of layers between which `model` can be preempted; 1 if it cannot be.
    pub fn n_layers(&self, model: ModelId) -> u32 {
        self.n_layers[model.index()]
    }

    /// Cost of `layer` of `model` on `accelerator`; `None` if the model counts as a single layer.
    pub fn layer(&self, model: ModelId, accelerator: AccelId, layer: u32) -> Option<&LayerCost> {
        match self.n_layers(model) {
            1 => None,
            _ => self.network(model, accelerator).layers.get(layer as usize),
        }
    }

    /// Traffic of `layer` of `model` on `accelerator`: bytes to and from DRAM, and bytes over the outermost
    /// NoC level. For a model that counts as a single layer, the traffic of all layers that are known.
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

    /// Start of `layer`, counted from the start of `model` on `accelerator`; for `n_layers` it is the
    /// latency. The spans between consecutive starts add up to the latency exactly.
    pub fn start_of(&self, model: ModelId, accelerator: AccelId, layer: u32) -> SimSpan {
        self.before(model, accelerator, layer).time
    }

    /// Time of these layers of `model` on `accelerator`, alone and uninterrupted.
    pub fn time_of(&self, model: ModelId, accelerator: AccelId, layers: Range<u32>) -> SimSpan {
        self.start_of(model, accelerator, layers.end)
            - self.start_of(model, accelerator, layers.start)
    }

    /// Energy of these layers of `model` on `accelerator`.
    pub fn energy_of(
        &self,
        model: ModelId,
        accelerator: AccelId,
        layers: Range<u32>,
    ) -> Millijoules {
        let before = |layer| self.before(model, accelerator, layer).energy_nj;
        Millijoules::from_nj(before(layers.end) - before(layers.start))
    }

    /// Time of `model` on `accelerator` from `layer` to its end.
    pub fn remaining(&self, model: ModelId, accelerator: AccelId, layer: u32) -> SimSpan {
        match layer {
            0 => self.latency(model, accelerator),
            _ => self.time_of(model, accelerator, layer..self.n_layers(model)),
        }
    }

    /// Energy of `model` on `accelerator` from `layer` to its end.
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

    /// Sum of energy times latency over the layers of `model` from `layer` to the end, on `accelerator`
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

    /// First layer before which `model` can be preempted after it has run for `span` from the start of
    /// `layer`. It is at least `layer + 1` and at most `n_layers`.
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

    /// Sums over the layers before `layer`, which is at most `n_layers`.
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

/// Number of layers of a model if all of its cells agree on it; otherwise 1.
fn n_layers(row: &[Cell]) -> u32 {
    let n_layers = row[0].timetable.n_layers();
    let agreed = row.iter().all(|cell| cell.timetable.n_layers() == n_layers);
    if agreed { n_layers.max(1) } else { 1 }
}
