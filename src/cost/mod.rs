//! What a layer costs on an accelerator: the [`CostModel`] trait, its implementations in [`ALL`],
//! and the dense [`CostTable`] that the engines read.
//!
//! Cost models are pure functions of operator and accelerator. They know nothing of scenarios,
//! schedules or time of day.

pub mod library;
pub mod mlsys2023;
pub mod principled;
pub mod roofline;
pub mod table;

use std::sync::Arc;

use thiserror::Error;

use crate::hardware::Accelerator;
use crate::ids::{AccelId, ModelId};
use crate::model::{Network, Operator};
use crate::units::{Cycles, Millijoules, SimSpan};

/// Cost of one layer.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LayerCost {
    /// Latency \[cycle\].
    pub cycles: u64,
    /// Energy \[nJ\].
    pub energy_nj: f64,
}

/// Cost of one network on one accelerator.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NetworkCost {
    /// Cost of every layer, in execution order; empty if the model only knows the whole network.
    pub layers: Vec<LayerCost>,
    /// Latency \[cycle\]: the sum over the layers.
    pub cycles: Cycles,
    /// Latency at the accelerator's clock.
    pub latency: SimSpan,
    /// Energy \[nJ\]: summed in execution order, so that it is the same on every machine.
    pub energy_nj: f64,
}

impl NetworkCost {
    /// Sums `layers` in execution order.
    pub fn of_layers(layers: Vec<LayerCost>, accelerator: &Accelerator) -> Self {
        let cycles = layers.iter().fold(0u64, |sum, layer| sum.saturating_add(layer.cycles));
        let energy_nj = layers.iter().map(|layer| layer.energy_nj).sum();
        let cycles = Cycles::new(cycles);
        Self { layers, cycles, latency: cycles.at(accelerator.clock), energy_nj }
    }

    /// Evaluates every distinct operator of `network` once and sums over its layers.
    ///
    /// # Errors
    ///
    /// That of the first operator that has no cost.
    pub fn of_operators(
        network: &Network,
        accelerator: &Accelerator,
        cost: impl FnMut(&Operator) -> Result<LayerCost, Infeasible>,
    ) -> Result<Self, Infeasible> {
        let distinct: Vec<_> = network.operators().iter().map(cost).collect::<Result<_, _>>()?;
        let layer_of = |&at: &u32| distinct[at as usize];
        let layers = network.operator_of().iter().map(layer_of).collect();
        Ok(Self::of_layers(layers, accelerator))
    }

    /// When `layer` starts, counted from the start of the network.
    pub fn start_of(&self, layer: u32) -> SimSpan {
        let before = self.layers[..layer as usize].iter();
        let cycles = before.fold(0u64, |sum, layer| sum.saturating_add(layer.cycles));
        let share = u128::from(self.latency.ns()) * u128::from(cycles);
        SimSpan::from_ns((share / u128::from(self.cycles.get().max(1))) as u64)
    }

    /// Energy.
    pub fn energy(&self) -> Millijoules {
        Millijoules::from_nj(self.energy_nj)
    }

    /// The same energy in `percent` of the time, without layers.
    fn with_latency_percent(&self, percent: u32) -> Self {
        let scaled = |value: u64| {
            let scaled = (u128::from(value) * u128::from(percent)).div_ceil(100);
            u64::try_from(scaled).unwrap_or(u64::MAX)
        };
        Self {
            layers: Vec::new(),
            cycles: Cycles::new(scaled(self.cycles.get())),
            latency: SimSpan::from_ns(scaled(self.latency.ns())),
            energy_nj: self.energy_nj,
        }
    }
}

/// A named quantity that a cost model reports about a layer beside its cost.
#[derive(Debug, Clone, PartialEq)]
pub enum Quantity {
    /// A whole number.
    Count(i64),
    /// A real number.
    Real(f64),
    /// Text, e.g. a list of counts.
    Text(String),
}

/// Why a layer or network has no cost on an accelerator. A value, not a failure of the program: a
/// sweep records it and goes on.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Infeasible {
    /// The dataflow has more levels than the accelerator's network.
    #[error(
        "dataflow {dataflow} has {levels} levels, but the network of `{accelerator}` has {available}"
    )]
    TooManyLevels {
        /// Dataflow.
        dataflow: Box<str>,
        /// Its levels.
        levels: usize,
        /// Accelerator.
        accelerator: Box<str>,
        /// Levels of its network.
        available: usize,
    },
    /// The model has no notion of something.
    #[error("this cost model does not know {what}: {why}")]
    NotInModel {
        /// What, e.g. a dataflow.
        what: Box<str>,
        /// What it would need.
        why: &'static str,
    },
    /// The dataflow does not compute the layer, or does so in part or twice.
    #[error("dataflow {dataflow} on `{accelerator}`: {reason}")]
    Illegal {
        /// Dataflow.
        dataflow: Box<str>,
        /// Accelerator.
        accelerator: Box<str>,
        /// What is wrong.
        reason: Box<principled::Illegal>,
    },
    /// What a PE works on at once does not fit into its scratchpad.
    #[error(
        "dataflow {dataflow} needs {needed} bytes in every PE, but those of `{accelerator}` have \
         {available}"
    )]
    TileTooLarge {
        /// Dataflow.
        dataflow: Box<str>,
        /// Accelerator.
        accelerator: Box<str>,
        /// Bytes of two of the largest boxes.
        needed: u64,
        /// Bytes of a scratchpad.
        available: u64,
    },
    /// The accelerator has too few PEs for one outermost unit of the dataflow.
    #[error("one unit of the dataflow needs {needed} PEs, more than `{accelerator}` has")]
    TooFewPes {
        /// Accelerator.
        accelerator: Box<str>,
        /// PEs of one unit.
        needed: u64,
    },
    /// The model's arithmetic ends below zero, which happens where a kernel exceeds its window.
    #[error("the model gives a negative {quantity} for a layer on `{accelerator}`")]
    BelowZero {
        /// Latency or energy.
        quantity: &'static str,
        /// Accelerator.
        accelerator: Box<str>,
    },
    /// Counters beyond the range of 64-bit arithmetic.
    #[error("the counters of this layer exceed 64-bit arithmetic on `{accelerator}`")]
    Overflow {
        /// Accelerator.
        accelerator: Box<str>,
    },
    /// A table of measurements lacks the pair.
    #[error(
        "the cost table has no row for network `{network}` on accelerator `{accelerator}` (or {style})"
    )]
    NotMeasured {
        /// Network.
        network: Box<str>,
        /// Accelerator, by name.
        accelerator: Box<str>,
        /// Accelerator, by dataflow and PEs.
        style: Box<str>,
    },
    /// A table of measurements by layer lacks one.
    #[error(
        "the cost table has no row for layer `{layer}` of network `{network}` on accelerator \
         `{accelerator}`, though it has rows for other layers"
    )]
    LayerNotMeasured {
        /// Network.
        network: Box<str>,
        /// First layer that is missing.
        layer: Box<str>,
        /// Accelerator.
        accelerator: Box<str>,
    },
    /// A table of measurements names a layer that the network does not have.
    #[error("the cost table names layer `{layer}`, which network `{network}` does not have")]
    UnknownLayer {
        /// Network.
        network: Box<str>,
        /// The name.
        layer: Box<str>,
    },
    /// A table of measurements was asked for a layer by its shape.
    #[error("a cost table knows layers by name and network, not by shape")]
    UnnamedLayer,
}

/// Names and values that a cost model reports of one layer, in the order of their columns.
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
/// - It is asked of accelerators that [`System::new`](crate::hardware::System::new) accepts and of
///   operators that [`Operator::check`] accepts.
/// - It is pure: equal arguments give equal results, in any order and from any thread.
/// - Accelerators that differ in name only cost the same, unless [`CostModel::costs_by_name`].
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

    /// Everything the model knows of one layer, as columns of a table: name and value. The first
    /// two columns are `runtime_cycles` and `energy_nJ`.
    ///
    /// # Errors
    ///
    /// As [`CostModel::layer`].
    fn explain(
        &self,
        operator: &Operator,
        accelerator: &Accelerator,
    ) -> Result<Explanation, Infeasible> {
        Ok(self.layer(operator, accelerator)?.explanation())
    }

    /// What the model knows of every layer of a network, in execution order; empty if it only knows
    /// the whole network.
    ///
    /// # Errors
    ///
    /// As [`CostModel::network`].
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
    /// layers; a model that knows more (or only whole networks) overrides it.
    ///
    /// # Errors
    ///
    /// As [`CostModel::layer`], for the first layer that cannot run.
    fn network(
        &self,
        network: &Network,
        accelerator: &Accelerator,
    ) -> Result<NetworkCost, Infeasible> {
        NetworkCost::of_operators(network, accelerator, |operator| {
            self.layer(operator, accelerator)
        })
    }

    /// Whether the names of accelerators and dataflows matter to the cost.
    fn costs_by_name(&self) -> bool {
        false
    }
}

/// A cost model by name.
pub struct Entry {
    /// Name on the command line.
    pub name: &'static str,
    /// One line for lists.
    pub help: &'static str,
    /// Where it is defined.
    pub source: &'static str,
    /// Builds it; `None` if it needs data of the user's (see [`table::CostRecords`]).
    pub build: Option<fn() -> Box<dyn CostModel>>,
}

/// Every cost model.
pub const ALL: &[Entry] =
    &[principled::model::ENTRY, mlsys2023::ENTRY, roofline::ENTRY, table::ENTRY];

/// Latency and energy of every model of a scenario on every accelerator of a system; row-major
/// `[model][accelerator]`.
#[derive(Debug, Clone, PartialEq)]
pub struct CostTable {
    n_accelerators: usize,
    latencies: Vec<SimSpan>,
    energies: Vec<Millijoules>,
    networks: Vec<Arc<NetworkCost>>,
}

impl CostTable {
    /// A table of `networks`, row-major `[model][accelerator]`.
    ///
    /// # Panics
    ///
    /// If the rows are ragged.
    pub fn new(networks: Vec<Arc<NetworkCost>>, n_accelerators: usize) -> Self {
        assert!(
            n_accelerators > 0 && networks.len().is_multiple_of(n_accelerators),
            "rows are equally long"
        );
        Self {
            n_accelerators,
            latencies: networks.iter().map(|cost| cost.latency).collect(),
            energies: networks.iter().map(|cost| cost.energy()).collect(),
            networks,
        }
    }

    /// Number of models (rows).
    pub fn n_models(&self) -> usize {
        self.networks.len() / self.n_accelerators
    }

    /// Number of accelerators (columns).
    pub fn n_accelerators(&self) -> usize {
        self.n_accelerators
    }

    /// Time that `model` takes on `accelerator`, alone and uninterrupted.
    pub fn latency(&self, model: ModelId, accelerator: AccelId) -> SimSpan {
        self.latencies[self.cell(model, accelerator)]
    }

    /// Energy that one run of `model` takes on `accelerator`.
    pub fn energy(&self, model: ModelId, accelerator: AccelId) -> Millijoules {
        self.energies[self.cell(model, accelerator)]
    }

    /// Everything known of `model` on `accelerator`.
    pub fn network(&self, model: ModelId, accelerator: AccelId) -> &NetworkCost {
        &self.networks[self.cell(model, accelerator)]
    }

    /// Shortest latency of `model` on any accelerator.
    pub fn best_latency(&self, model: ModelId) -> SimSpan {
        let row = model.index() * self.n_accelerators;
        let row = &self.latencies[row..row + self.n_accelerators];
        *row.iter().min().expect("a table has at least one accelerator")
    }

    /// The same costs, but with `model` taking `percent` of its time on every accelerator, rounded up.
    /// Energy stays; the layers of the model, whose times no longer add up, are left out.
    pub fn with_latency_percent(&self, model: ModelId, percent: u32) -> Self {
        let row = model.index() * self.n_accelerators;
        let mut networks = self.networks.clone();
        for network in &mut networks[row..row + self.n_accelerators] {
            *network = Arc::new(network.with_latency_percent(percent));
        }
        Self::new(networks, self.n_accelerators)
    }

    /// Time that `model` takes on `accelerator` from `layer` on.
    pub fn remaining(&self, model: ModelId, accelerator: AccelId, layer: u32) -> SimSpan {
        match layer {
            0 => self.latency(model, accelerator),
            _ => {
                self.latency(model, accelerator) - self.network(model, accelerator).start_of(layer)
            }
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
            _ => {
                let rest = self.network(model, accelerator).layers[layer as usize..].iter();
                Millijoules::from_nj(rest.map(|layer| layer.energy_nj).sum())
            }
        }
    }

    /// Sum over the layers of `model` from `layer` on of energy times latency on `accelerator`
    /// [nJ·cycle].
    pub fn energy_delay_by_layer(&self, model: ModelId, accelerator: AccelId, layer: u32) -> f64 {
        let cost = self.network(model, accelerator);
        match &cost.layers[..] {
            [] => cost.energy_nj * cost.cycles.get() as f64,
            layers => {
                let rest = layers[layer as usize..].iter();
                rest.map(|layer| layer.energy_nj * layer.cycles as f64).sum()
            }
        }
    }

    fn cell(&self, model: ModelId, accelerator: AccelId) -> usize {
        debug_assert!(accelerator.index() < self.n_accelerators);
        model.index() * self.n_accelerators + accelerator.index()
    }
}
