//! Costs of layers and networks on accelerators: the [`CostModel`] trait, its implementations in
//! [`ALL`], and the dense [`CostTable`] that the engines read.
//!
//! Cost models are pure functions of operator and accelerator. They know nothing of scenarios,
//! schedules or simulated time.

pub mod batch;
pub mod library;
pub mod limits;
pub mod loop_nest;
pub mod maestro;
pub mod roofline;
mod rows;
pub mod selection;
pub mod spread;
pub mod table;

mod choices;
mod chosen;
mod dominant;
mod given;
mod infeasible;
mod joined;
mod matrix;
mod timetable;

use std::sync::Arc;

use crate::hardware::device::Point;
use crate::hardware::{Accelerator, LocalBuffers};
use crate::model::{Bits, Layer, Network, Operator, TensorRole};
use crate::renamed::Renamed;
use crate::units::{ClockRate, Cycles, Millijoules, SimSpan};

pub use choices::{Certainty, Choices, ChooserId};
pub use chosen::{ChosenBy, ChosenLog, ChosenMappings};
pub use dominant::{Dominant, MANY_PASSES, passes};
pub use given::GivenCostModel;
pub use infeasible::{CostError, Infeasible, PairNames};
pub use joined::Joined;
pub use matrix::{CostTable, Execution, Traffic};
pub use spread::Spread;

/// Cost of one layer.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LayerCost {
    /// Latency \[cycle\].
    pub cycles: u64,
    /// Energy \[nJ\].
    pub energy_nj: f64,
    /// DRAM traffic: reads and writes \[byte\].
    pub dram_bytes: u64,
    /// Traffic of the outermost NoC level, between shared memory and PEs \[byte\].
    pub noc_bytes: u64,
    /// Cycles of computation and of all NoC levels, without DRAM; 0 like [`LayerCost::dram_cycles`] if only the latency
    /// is known.
    pub chip_cycles: u64,
    /// Cycles of DRAM transfer, which overlap with those of the chip.
    pub dram_cycles: u64,
    /// Part of the energy that DRAM takes \[nJ\].
    pub dram_energy_nj: f64,
}

impl LayerCost {
    /// Whether the parts of the latency are known: the cycles of the chip and of DRAM.
    pub fn has_parts(&self) -> bool {
        self.cycles == 0 || self.chip_cycles > 0 || self.dram_cycles > 0
    }

    /// Cycles of the chip or of DRAM that the other ones hide, as far as both overlap.
    fn hidden_cycles(&self) -> u64 {
        self.chip_cycles.saturating_add(self.dram_cycles).saturating_sub(self.cycles)
    }

    /// Cost at `point`, where `nominal` is the point at which this one holds:
    ///
    /// ```text
    /// D(p) = ceil(D f_p / f_0)
    /// k(p) = max(C, D(p)) + (k - max(C, D))               [cycles of the clock f_p]
    /// e(p) = (e - d) (V_p / V_0)^2 + d
    /// ```
    ///
    /// DRAM does not slow down with the clock of the accelerator; all else does. A layer of which only the latency is
    /// known has no cost at another point.
    fn at_point(&self, point: Point, nominal: Point) -> Self {
        let dram_cycles = nominal.clock.cycles_at(self.dram_cycles, point.clock);
        let beyond = self.cycles.saturating_sub(self.chip_cycles.max(self.dram_cycles));
        Self {
            cycles: self.chip_cycles.max(dram_cycles).saturating_add(beyond),
            energy_nj: nominal.scaled_energy(self.energy_nj, self.dram_energy_nj, point),
            dram_cycles,
            ..*self
        }
    }
}

/// Bytes in DRAM of all tensors of a layer, each counted once: the least traffic that it can cause. Stands
/// in for the traffic of layers whose cost model reports none.
fn compulsory_bytes(layer: &Layer, accelerator: &Accelerator) -> u64 {
    let Layer { operator, bits, .. } = layer;
    let widths = accelerator.datapath.widths.with_bits(*bits, operator);
    let bytes = |tensor, elements| accelerator.dram_bytes_at(&widths, tensor, elements);
    let inputs = bytes(TensorRole::Input, operator.inputs());
    let weights = bytes(TensorRole::Weight, operator.weights());
    let outputs = bytes(TensorRole::Output, operator.outputs());
    inputs.saturating_add(weights).saturating_add(outputs)
}

/// Cost of one network on one accelerator.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NetworkCost {
    /// Cost of every layer, in execution order; empty if the model only knows the whole network.
    pub layers: Vec<LayerCost>,
    /// Latency \[cycle\]: the sum over the layers.
    pub cycles: Cycles,
    /// Latency at the clock of the accelerator.
    pub latency: SimSpan,
    /// Energy \[nJ\], summed in execution order so that it is the same on every machine.
    pub energy_nj: f64,
    /// Choices of mappings; `None` if the accelerator has none.
    pub choices: Option<Choices>,
    /// How the latency differs from request to request; `latency` is then its median. Of whole networks alone. The power
    /// is that of the median.
    pub spread: Option<Spread>,
}

impl NetworkCost {
    /// Sums `layers` in execution order.
    pub fn of_layers(layers: Vec<LayerCost>, accelerator: &Accelerator) -> Self {
        Self::of_layers_at(layers, accelerator.clock)
    }

    /// Sums `layers` at `clock`.
    fn of_layers_at(layers: Vec<LayerCost>, clock: ClockRate) -> Self {
        let cycles = layers.iter().fold(0u64, |sum, layer| sum.saturating_add(layer.cycles));
        let energy_nj = layers.iter().map(|layer| layer.energy_nj).sum();
        let cycles = Cycles::new(cycles);
        let latency = cycles.at(clock);
        Self { layers, cycles, latency, energy_nj, choices: None, spread: None }
    }

    /// Cost at `point`, where `nominal` is the point at which this one holds; `None` if it does not tell what scales with
    /// the clock.
    fn at_point(&self, point: Point, nominal: Point) -> Option<Self> {
        if self.layers.is_empty() || !self.layers.iter().all(LayerCost::has_parts) {
            return None;
        }
        let layers = self.layers.iter().map(|layer| layer.at_point(point, nominal)).collect();
        let choices = self.choices.clone();
        Some(Self { choices, ..Self::of_layers_at(layers, point.clock) })
    }

    /// The choices of mappings for the layers; `None` if the accelerator has none.
    pub fn choices(&self) -> Option<&Choices> {
        self.choices.as_ref()
    }

    /// Evaluates every distinct operator of `network` once, with the widths of its data, and sums over its
    /// layers.
    ///
    /// # Errors
    ///
    /// The error of the first operator that has no cost.
    pub fn of_operators(
        network: &Network,
        accelerator: &Accelerator,
        mut cost: impl FnMut(&Operator, Bits) -> Result<LayerCost, Infeasible>,
    ) -> Result<Self, Infeasible> {
        let pairs = network.operators().iter().zip(network.bits());
        let cost = |(operator, bits): (&Operator, &Bits)| cost(operator, *bits);
        let distinct: Vec<_> = pairs.map(cost).collect::<Result<_, _>>()?;
        let layer_of = |&at: &u32| distinct[at as usize];
        let layers = network.operator_of().iter().map(layer_of).collect();
        Ok(Self::of_layers(layers, accelerator))
    }

    /// Whether layers of `network` have nothing to do.
    fn has_absent(&self, network: &Network) -> bool {
        !network.absent().is_empty() && self.layers.len() == network.layers().len()
    }

    /// The same cost, without that of the layers of `network` that have nothing to do.
    fn without_absent(self, network: &Network, accelerator: &Accelerator) -> Self {
        if !self.has_absent(network) {
            return self;
        }
        let mut layers = self.layers;
        network.absent().iter().for_each(|&at| layers[at as usize] = LayerCost::default());
        Self { choices: self.choices, ..Self::of_layers(layers, accelerator) }
    }

    /// The cost that stands for a network like this one where it cannot run: as many layers, and a time and
    /// an energy that no other network has.
    fn stand_in(&self) -> Self {
        const ENERGY_NJ: f64 = 1e15;
        let n_layers = self.layers.len().max(1);
        let layer = LayerCost {
            cycles: SimSpan::LONGEST.ns() / n_layers as u64,
            energy_nj: ENERGY_NJ / n_layers as f64,
            ..LayerCost::default()
        };
        Self {
            layers: vec![layer; self.layers.len()],
            cycles: Cycles::new(SimSpan::LONGEST.ns()),
            latency: SimSpan::LONGEST,
            energy_nj: ENERGY_NJ,
            choices: None,
            spread: None,
        }
    }

    /// The same cost, with the median for every request.
    fn median(&self) -> Self {
        Self { spread: None, ..self.clone() }
    }

    /// Cost at `part` of `whole` of the way from this one to `other`, a network with the same layers of other extents.
    /// Cycles are rounded up at the end of every layer, and bytes in every layer. The choices of mappings are not known.
    fn between(&self, other: &Self, part: u32, whole: u32, accelerator: &Accelerator) -> Self {
        if part == 0 {
            return self.clone();
        }
        let share = f64::from(part) / f64::from(whole);
        let mix = |a: u64, b: u64| {
            let (part, whole) = (u128::from(part), u128::from(whole));
            let sum = u128::from(a) * (whole - part) + u128::from(b) * part;
            u64::try_from(sum.div_ceil(whole)).unwrap_or(u64::MAX)
        };
        let real = |a: f64, b: f64| a + (b - a) * share;
        let (mut ends, mut before) = ([0u64; 2], 0);
        let layer = |(a, b): (&LayerCost, &LayerCost)| LayerCost {
            cycles: {
                ends = [ends[0].saturating_add(a.cycles), ends[1].saturating_add(b.cycles)];
                let end = mix(ends[0], ends[1]);
                end - std::mem::replace(&mut before, end)
            },
            energy_nj: real(a.energy_nj, b.energy_nj),
            dram_bytes: mix(a.dram_bytes, b.dram_bytes),
            noc_bytes: mix(a.noc_bytes, b.noc_bytes),
            chip_cycles: mix(a.chip_cycles, b.chip_cycles),
            dram_cycles: mix(a.dram_cycles, b.dram_cycles),
            dram_energy_nj: real(a.dram_energy_nj, b.dram_energy_nj),
        };
        let layers = match self.layers.len() == other.layers.len() {
            true => self.layers.iter().zip(&other.layers).map(layer).collect(),
            false => Vec::new(),
        };
        let cycles = Cycles::new(mix(self.cycles.get(), other.cycles.get()));
        let energy_nj = real(self.energy_nj, other.energy_nj);
        Self {
            layers,
            cycles,
            latency: cycles.at(accelerator.clock),
            energy_nj,
            choices: None,
            spread: None,
        }
    }

    /// Energy.
    pub fn energy(&self) -> Millijoules {
        Millijoules::from_nj(self.energy_nj)
    }

    /// Cost of the same network if the longer one of computation and DRAM transfer hides all but
    /// `fraction` (0 to 1) of the shorter one. The cycles that it does not hide are rounded up for each
    /// layer. A network without layers stays as it is.
    fn with_non_overlapped(&self, fraction: f64, clock: ClockRate) -> Self {
        if self.layers.is_empty() {
            return self.clone();
        }
        let mut layers = self.layers.clone();
        for layer in &mut layers {
            let hidden = layer.hidden_cycles();
            let added = (hidden as f64 * fraction).ceil() as u64;
            layer.cycles = layer.cycles.saturating_add(added.min(hidden));
        }
        Self { choices: self.choices.clone(), ..Self::of_layers_at(layers, clock) }
    }

    /// At most this cost at any clock up to `clock`, which is its own, with the energy of `other`. At a lower clock, rounding
    /// to whole cycles can save one for the layer and one for what is not overlapped.
    fn with_energy_of(&self, other: &Self, clock: ClockRate) -> Self {
        let layer = |(own, other): (&LayerCost, &LayerCost)| LayerCost {
            cycles: own.cycles.saturating_sub(2),
            energy_nj: other.energy_nj,
            ..*own
        };
        let layers: Vec<_> = self.layers.iter().zip(&other.layers).map(layer).collect();
        match layers.is_empty() {
            true => Self { energy_nj: other.energy_nj, ..self.clone() },
            false => Self {
                choices: self.choices.clone(),
                energy_nj: other.energy_nj,
                ..Self::of_layers_at(layers, clock)
            },
        }
    }

    /// Cost with the same energy and traffic in `percent` of the time, rounded up. The layers add up to
    /// the rounded total.
    fn with_latency_percent(&self, percent: u32) -> Self {
        let scaled = |value: u64| u128::from(value) * u128::from(percent);
        let up = |value: u64| u64::try_from(scaled(value).div_ceil(100)).unwrap_or(u64::MAX);
        let down = |value: u64| u64::try_from(scaled(value) / 100).unwrap_or(u64::MAX);
        let (mut before, mut layers) = (0u64, self.layers.clone());
        for layer in &mut layers {
            let end = before.saturating_add(layer.cycles);
            layer.cycles = down(end) - down(before);
            layer.chip_cycles = down(layer.chip_cycles);
            layer.dram_cycles = down(layer.dram_cycles);
            before = end;
        }
        if let Some(last) = layers.last_mut() {
            last.cycles += up(before) - down(before);
        }
        Self {
            layers,
            cycles: Cycles::new(up(self.cycles.get())),
            latency: SimSpan::from_ns(up(self.latency.ns())),
            energy_nj: self.energy_nj,
            choices: self.choices.clone(),
            spread: self.spread.clone(),
        }
    }
}

/// A value that a cost model reports about a layer, in a named column.
#[derive(Debug, Clone, PartialEq)]
pub enum Quantity {
    /// A whole number.
    Count(i64),
    /// A real number.
    Real(f64),
    /// Text, e.g. a list of counts.
    Text(String),
}

/// Columns that a cost model reports of one layer, in order: name and value.
pub type Explanation = Vec<(&'static str, Quantity)>;

impl LayerCost {
    /// The columns that every model reports first: `runtime_cycles` and `energy_nJ`.
    pub fn explanation(&self) -> Explanation {
        let cycles = i64::try_from(self.cycles).unwrap_or(i64::MAX);
        vec![
            ("runtime_cycles", Quantity::Count(cycles)),
            ("energy_nJ", Quantity::Real(self.energy_nj)),
        ]
    }
}

/// A layer cost model.
///
/// Contract:
/// - The caller passes only accelerators that [`System::new`](crate::hardware::System::new) accepts, and
///   only operators that [`Operator::check`] accepts.
/// - The model is pure: equal arguments give equal results, in any order and from any thread.
/// - Accelerators that differ only in names cost the same, unless [`CostModel::costs_by_name`] says
///   otherwise.
pub trait CostModel: Send + Sync {
    /// Cost of one layer on one accelerator.
    ///
    /// # Errors
    ///
    /// [`Infeasible`] where the layer cannot run there.
    fn layer(
        &self,
        operator: &Operator,
        accelerator: &Accelerator,
    ) -> Result<LayerCost, Infeasible>;

    /// All quantities that the model reports of one layer. The first two columns are `runtime_cycles` and
    /// `energy_nJ`.
    ///
    /// # Errors
    ///
    /// The same as [`CostModel::layer`].
    fn explain(
        &self,
        operator: &Operator,
        accelerator: &Accelerator,
    ) -> Result<Explanation, Infeasible> {
        Ok(self.layer(operator, accelerator)?.explanation())
    }

    /// All quantities that the model reports of every layer of a network, in execution order; empty if the
    /// model knows only the whole network.
    ///
    /// # Errors
    ///
    /// The same as [`CostModel::network`].
    fn explain_network(
        &self,
        network: &Network,
        accelerator: &Accelerator,
    ) -> Result<Vec<Explanation>, Infeasible> {
        let explain = |operator| self.explain(operator, accelerator);
        let distinct: Vec<_> = network.operators().iter().map(explain).collect::<Result<_, _>>()?;
        let layer_of = |&at: &u32| distinct[at as usize].clone();
        Ok(network.operator_of().iter().map(layer_of).collect())
    }

    /// Cost of a whole network. The default evaluates every distinct operator once and sums over the
    /// layers. A model overrides it if it considers neighbouring layers, or knows only whole networks.
    ///
    /// # Errors
    ///
    /// [`Infeasible`] for the first layer that cannot run.
    fn network(
        &self,
        network: &Network,
        accelerator: &Accelerator,
    ) -> Result<NetworkCost, Infeasible> {
        NetworkCost::of_operators(network, accelerator, |operator, _| {
            self.layer(operator, accelerator)
        })
    }

    /// As [`CostModel::network`], shared with the model if it keeps the cost.
    ///
    /// # Errors
    ///
    /// The same as [`CostModel::network`].
    fn shared_network(
        &self,
        network: &Network,
        accelerator: &Accelerator,
    ) -> Result<Arc<NetworkCost>, Infeasible> {
        self.network(network, accelerator).map(Arc::new)
    }

    /// The least scratchpads and buffers of clusters that a network needs on an accelerator, as whole numbers of
    /// bytes. If the accelerator chooses mappings, these are the needs of the mappings that it chooses within its
    /// declared buffers; otherwise declared buffers have no effect. `None` if the model knows no tiles.
    ///
    /// # Errors
    ///
    /// [`Infeasible`] for the first layer that cannot run.
    fn local_buffers(
        &self,
        _network: &Network,
        _accelerator: &Accelerator,
    ) -> Result<Option<LocalBuffers>, Infeasible> {
        Ok(None)
    }

    /// The least buffers with which all of `networks` have their tiles, as [`CostModel::local_buffers`] finds them.
    /// Networks that cannot run do not count.
    fn local_buffers_of_all(
        &self,
        networks: &[Arc<Network>],
        accelerator: &Accelerator,
    ) -> Option<LocalBuffers> {
        let of = |network: &Arc<Network>| self.local_buffers(network, accelerator).ok().flatten();
        networks.iter().filter_map(of).reduce(|all, it| all.and(&it))
    }

    /// Costs of a network on several accelerators. The default evaluates one after the other; a model may share work
    /// between neighbours.
    fn networks(
        &self,
        network: &Network,
        accelerators: &[Accelerator],
    ) -> Vec<Result<NetworkCost, Infeasible>> {
        accelerators.iter().map(|accelerator| self.network(network, accelerator)).collect()
    }

    /// How every layer of a network runs; empty if the model lets no operator ride along with a layer.
    ///
    /// # Errors
    ///
    /// The same as [`CostModel::network`].
    fn roles(
        &self,
        _network: &Network,
        _accelerator: &Accelerator,
    ) -> Result<Vec<loop_nest::Role>, Infeasible> {
        Ok(Vec::new())
    }

    /// Whether the names of accelerators and dataflows matter to the cost.
    fn costs_by_name(&self) -> bool {
        false
    }

    /// Whether the cost of a layer depends on its batch size. Where it does not, a batch of any size
    /// would cost as much as one input.
    fn supports_batches(&self) -> bool {
        true
    }

    /// Whether accelerators choose mappings, within their flexibility. Where they do not, flexibility has no
    /// effect.
    fn chooses_mappings(&self) -> bool {
        self.chooser().is_some()
    }

    /// The rule by which accelerators choose mappings; `None` if they do not.
    fn chooser(&self) -> Option<&dyn loop_nest::Choose> {
        None
    }

    /// Whether `a` and `b` cost the same for every network.
    fn costs_alike(&self, a: &Accelerator, b: &Accelerator) -> bool {
        library::cost_alike(a, b, self.costs_by_name())
    }
}

/// Entry of a cost model in [`ALL`].
pub struct Entry {
    /// Name on the command line.
    pub name: &'static str,
    /// One line for lists.
    pub help: &'static str,
    /// Where it is defined.
    pub source: &'static str,
    /// Builds the model; `None` if it needs data from the user (see [`table::CostRecords`]).
    pub build: Option<fn() -> Box<dyn CostModel>>,
}

/// Cost models that had another name up to version 0.1.
pub const RENAMED: [Renamed; 2] = [
    Renamed { kind: "cost model", old: "principled", new: "loop-nest" },
    Renamed { kind: "cost model", old: "mlsys2023", new: "maestro" },
];

/// Every cost model.
pub const ALL: &[Entry] = &[loop_nest::model::ENTRY, maestro::ENTRY, roofline::ENTRY, table::ENTRY];
