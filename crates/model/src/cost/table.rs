//! Measured costs: latency and energy from silicon or from another tool, read from a table.
//!
//! A record gives latency and energy of a network, or of one of its layers, on an accelerator. The
//! record names the accelerator as the system does (`WS-0`) or by dataflow and PEs (`WS@2048`). If both
//! names match, the former counts. No other property of the hardware has an effect.

use std::collections::hash_map::Entry as Slot;
use std::collections::{HashMap, HashSet};

use thiserror::Error;

use crate::hardware::Accelerator;
use crate::model::{Layer, Network, Operator};
use crate::units::{Cycles, Millijoules, SimSpan};

use super::{
    CostModel, Entry, Explanation, Infeasible, LayerCost, NetworkCost, Spread, compulsory_bytes,
};

/// Registry entry.
pub(super) const ENTRY: Entry = Entry {
    name: "table",
    help: "measured latency and energy per network or layer, from your own CSV file",
    source: "your measurements",
    build: None,
};

/// A measured latency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Latency {
    /// As a time.
    Time(SimSpan),
    /// As cycles of the clock of the accelerator.
    Cycles(Cycles),
}

/// One measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct CostRecord {
    /// Name of the network.
    pub network: Box<str>,
    /// Name of the accelerator, or its dataflow and PEs as `WS@2048`.
    pub accelerator: Box<str>,
    /// Name of the layer; `None` for the whole network. Layers of one name cost the same.
    pub layer: Option<Box<str>>,
    /// Latency.
    pub latency: Latency,
    /// Energy, from 0 to [`CostRecord::MAX_ENERGY`]; `None`: the power of the processor while it runs, times the
    /// latency.
    pub energy: Option<Millijoules>,
    /// How the latency of a whole network differs from request to request; `latency` is then its median.
    pub spread: Option<Spread>,
}

impl CostRecord {
    /// Largest energy of one record: a megajoule. It keeps the sums of a run finite.
    pub const MAX_ENERGY: Millijoules = Millijoules::new(1e9);
    /// Most cycles of one record: those of the longest time at 1 GHz.
    pub const MAX_CYCLES: Cycles = Cycles::new(SimSpan::LONGEST.ns());
}

/// A record that is out of range or contradicts an earlier one. Records are numbered from 0 in the order
/// given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The energy is negative, absurdly large or not a number.
    #[error("the energy is not a number from 0 to {} mJ", CostRecord::MAX_ENERGY.get())]
    Energy {
        /// The record.
        record: usize,
    },
    /// The latency is absurdly long.
    #[error(
        "the latency is longer than {} ms or {} cycles",
        SimSpan::MAX_MS,
        CostRecord::MAX_CYCLES.get()
    )]
    Latency {
        /// The record.
        record: usize,
    },
    /// The latency of a single layer is to differ from request to request.
    #[error("latencies of whole networks are drawn, not those of layers")]
    DrawnLayer {
        /// The record.
        record: usize,
    },
    /// An earlier record is of the same network, accelerator and layer.
    #[error("the same network, accelerator and layer were given before")]
    Duplicate {
        /// The record.
        record: usize,
        /// The earlier one.
        earlier: usize,
    },
    /// An earlier record of the pair gives the whole network where this one gives a layer, or the
    /// reverse.
    #[error("both the whole network and single layers are given on this accelerator")]
    WholeAndLayers {
        /// The record.
        record: usize,
        /// The earlier one.
        earlier: usize,
    },
}

impl RecordError {
    /// Index of the wrong record.
    pub fn record(&self) -> usize {
        match *self {
            Self::Energy { record }
            | Self::Latency { record }
            | Self::DrawnLayer { record }
            | Self::Duplicate { record, .. }
            | Self::WholeAndLayers { record, .. } => record,
        }
    }

    /// Index of the earlier record that it contradicts, if any.
    pub fn earlier(&self) -> Option<usize> {
        match *self {
            Self::Energy { .. } | Self::Latency { .. } | Self::DrawnLayer { .. } => None,
            Self::Duplicate { earlier, .. } | Self::WholeAndLayers { earlier, .. } => Some(earlier),
        }
    }
}

/// Cost model of measurements.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CostRecords {
    /// Measurements by name of the network, then by name of the accelerator.
    networks: HashMap<Box<str>, HashMap<Box<str>, Measured>>,
    /// Whether any record has an energy.
    has_energies: bool,
}

/// A network and an accelerator as a table names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair<'a> {
    /// Name of the network.
    pub network: &'a str,
    /// Name of the accelerator, or its dataflow and PEs.
    pub accelerator: &'a str,
    /// Index of the first record of the pair.
    pub first: usize,
    /// Number of records.
    pub n_records: usize,
}

/// Measurements of one network on one accelerator.
#[derive(Debug, Clone, PartialEq)]
enum Measured {
    Whole(Measurement),
    /// By name of the layer; `first` is the index of the first record.
    Layers {
        first: usize,
        by_name: HashMap<Box<str>, Measurement>,
    },
}

#[derive(Debug, Clone, PartialEq)]
struct Measurement {
    record: usize,
    latency: Latency,
    energy: Option<Millijoules>,
    spread: Option<Spread>,
}

impl CostRecords {
    /// A model of `records`.
    ///
    /// # Errors
    ///
    /// Every record that is wrong, in order. Whether a named layer exists, and whether all layers of
    /// a network are there, shows when the network is costed.
    pub fn new(records: Vec<CostRecord>) -> Result<Self, Vec<RecordError>> {
        let mut model = Self::default();
        let mut errors = Vec::new();
        for (index, record) in records.into_iter().enumerate() {
            errors.extend(model.insert(index, record).err());
        }
        if errors.is_empty() { Ok(model) } else { Err(errors) }
    }

    fn insert(&mut self, index: usize, record: CostRecord) -> Result<(), RecordError> {
        let measurement = Measurement::new(index, &record)?;
        self.has_energies |= record.energy.is_some();
        let accelerators = self.networks.entry(record.network).or_default();
        match accelerators.entry(record.accelerator) {
            Slot::Vacant(pair) => {
                pair.insert(Measured::new(record.layer, measurement));
                Ok(())
            }
            Slot::Occupied(mut pair) => pair.get_mut().add(record.layer, measurement),
        }
    }

    /// Every pair of network and accelerator, in order of its first record.
    pub fn pairs(&self) -> Vec<Pair<'_>> {
        let mut pairs = Vec::new();
        for (network, accelerators) in &self.networks {
            pairs.extend(accelerators.iter().map(|(accelerator, measured)| Pair {
                network,
                accelerator,
                first: measured.first_record(),
                n_records: measured.n_records(),
            }));
        }
        pairs.sort_unstable_by_key(|pair| pair.first);
        pairs
    }

    /// Indices of the first records of a network on an accelerator that the table names twice: by its own
    /// name, and by dataflow and PEs, in this order.
    pub fn named_twice(&self, network: &str, accelerator: &Accelerator) -> Option<[usize; 2]> {
        let pairs = self.networks.get(network)?;
        let by_name = pairs.get(&accelerator.name)?;
        let by_style = pairs.get(&*style(accelerator))?;
        let records = [by_name, by_style].map(Measured::first_record);
        (records[0] != records[1]).then_some(records)
    }

    /// Whether there are rows for `network` on `accelerator`.
    pub(super) fn has(&self, network: &Network, accelerator: &Accelerator) -> bool {
        self.find(network, accelerator).is_ok()
    }

    /// Whether the latency of some network called `name` differs from request to request.
    pub fn draws(&self, name: &str) -> bool {
        let of_pair = |it: &Measured| matches!(it, Measured::Whole(it) if it.spread.is_some());
        self.networks.get(name).is_some_and(|pairs| pairs.values().any(of_pair))
    }

    /// Whether any row has an energy.
    pub fn has_energies(&self) -> bool {
        self.has_energies
    }

    /// Measurements of `network` on `accelerator`, under the name of the accelerator or else under its
    /// dataflow and PEs.
    fn find(&self, network: &Network, accelerator: &Accelerator) -> Result<&Measured, Infeasible> {
        let pairs = self.networks.get(network.name()).ok_or(Infeasible::NotMeasured)?;
        let is_processor = accelerator.processor().is_some();
        let by_style = || pairs.get(&*style(accelerator)).filter(|_| !is_processor);
        let measured = pairs.get(&accelerator.name).or_else(by_style);
        measured.ok_or(Infeasible::NotMeasured)
    }
}

/// Dataflow and PEs of an accelerator as tables name them, e.g. `WS@2048`.
pub fn style(accelerator: &Accelerator) -> String {
    format!("{}@{}", accelerator.dataflow.name(), accelerator.pes)
}

/// Refuses a latency that simulated time cannot hold.
fn short_enough(cost: NetworkCost) -> Result<NetworkCost, Infeasible> {
    if cost.latency <= SimSpan::LONGEST {
        return Ok(cost);
    }
    Err(Infeasible::TooLong { cycles: cost.cycles.get() })
}

impl Measured {
    /// Index of the first record.
    fn first_record(&self) -> usize {
        match self {
            Self::Whole(it) => it.record,
            Self::Layers { first, .. } => *first,
        }
    }

    fn n_records(&self) -> usize {
        match self {
            Self::Whole(_) => 1,
            Self::Layers { by_name, .. } => by_name.len(),
        }
    }

    fn new(layer: Option<Box<str>>, measurement: Measurement) -> Self {
        match layer {
            None => Self::Whole(measurement),
            Some(layer) => Self::Layers {
                first: measurement.record,
                by_name: HashMap::from([(layer, measurement)]),
            },
        }
    }

    fn add(&mut self, layer: Option<Box<str>>, new: Measurement) -> Result<(), RecordError> {
        let record = new.record;
        let duplicate = |earlier| Err(RecordError::Duplicate { record, earlier });
        let contradiction = |earlier| Err(RecordError::WholeAndLayers { record, earlier });
        match (self, layer) {
            (Self::Whole(known), None) => duplicate(known.record),
            (Self::Whole(known), Some(_)) => contradiction(known.record),
            (Self::Layers { first, .. }, None) => contradiction(*first),
            (Self::Layers { by_name, .. }, Some(layer)) => match by_name.entry(layer) {
                Slot::Occupied(known) => duplicate(known.get().record),
                Slot::Vacant(slot) => {
                    slot.insert(new);
                    Ok(())
                }
            },
        }
    }
}

impl Measurement {
    fn new(index: usize, record: &CostRecord) -> Result<Self, RecordError> {
        let energy = record.energy;
        let is_right = |it: Millijoules| (0.0..=CostRecord::MAX_ENERGY.get()).contains(&it.get());
        if !energy.is_none_or(is_right) {
            return Err(RecordError::Energy { record: index });
        }
        let is_short = match record.latency {
            Latency::Time(span) => span <= SimSpan::LONGEST,
            Latency::Cycles(cycles) => cycles <= CostRecord::MAX_CYCLES,
        };
        if !is_short {
            return Err(RecordError::Latency { record: index });
        }
        let spread = record.spread.clone();
        if spread.is_some() && record.layer.is_some() {
            return Err(RecordError::DrawnLayer { record: index });
        }
        Ok(Self { record: index, latency: record.latency, energy, spread })
    }

    fn cycles(&self, accelerator: &Accelerator) -> Cycles {
        match self.latency {
            Latency::Time(span) => accelerator.clock.cycles_in(span),
            Latency::Cycles(cycles) => cycles,
        }
    }

    fn span(&self, accelerator: &Accelerator) -> SimSpan {
        match self.latency {
            Latency::Time(span) => span,
            Latency::Cycles(cycles) => cycles.at(accelerator.clock),
        }
    }

    /// Energy \[nJ\]. Without one in the record, it is the power of the processor while it runs times the latency; nothing
    /// in a system and a table without any power or energy.
    fn energy_nj(&self, accelerator: &Accelerator, any: bool) -> Result<f64, Infeasible> {
        let processor = accelerator.processor();
        let active_mw = processor.and_then(|it| it.active_mw);
        match (self.energy, active_mw) {
            (Some(energy), _) => Ok(energy.get() * 1e6),
            (None, Some(milliwatts)) => Ok(milliwatts * self.span(accelerator).as_ms() * 1e3),
            (None, None) if processor.is_some_and(|it| !it.needs_energy) && !any => Ok(0.0),
            (None, None) => Err(Infeasible::NoEnergy),
        }
    }

    /// Refuses cycles on a processor, which has no clock.
    fn check_clock(&self, accelerator: &Accelerator) -> Result<(), Infeasible> {
        match self.latency {
            Latency::Cycles(_) if accelerator.processor().is_some() => Err(Infeasible::NoClock),
            _ => Ok(()),
        }
    }

    fn of_network(&self, accelerator: &Accelerator, any: bool) -> Result<NetworkCost, Infeasible> {
        self.check_clock(accelerator)?;
        Ok(NetworkCost {
            layers: Vec::new(),
            cycles: self.cycles(accelerator),
            latency: self.span(accelerator),
            energy_nj: self.energy_nj(accelerator, any)?,
            choices: None,
            spread: self.spread.clone(),
        })
    }

    /// Cost of a layer. Only latency and energy were measured, so every tensor is taken to be moved once and
    /// no cycle to be hidden.
    fn of_layer(
        &self,
        layer: &Layer,
        accelerator: &Accelerator,
        any: bool,
    ) -> Result<LayerCost, Infeasible> {
        self.check_clock(accelerator)?;
        let bytes = compulsory_bytes(layer, accelerator);
        Ok(LayerCost {
            cycles: self.cycles(accelerator).get(),
            energy_nj: self.energy_nj(accelerator, any)?,
            dram_bytes: bytes,
            noc_bytes: bytes,
            ..LayerCost::default()
        })
    }
}

/// Costs of the layers of `network` in execution order.
fn layers(
    by_name: &HashMap<Box<str>, Measurement>,
    network: &Network,
    accelerator: &Accelerator,
    any: bool,
) -> Result<Vec<LayerCost>, Infeasible> {
    let names: HashSet<&str> = network.layers().iter().map(|layer| &*layer.name).collect();
    if let Some(unknown) = by_name.keys().filter(|name| !names.contains(&***name)).min() {
        return Err(Infeasible::UnknownLayer { layer: unknown.clone() });
    }
    let cost = |layer: &Layer| {
        let measurement = by_name.get(&layer.name);
        let missing = || Infeasible::LayerNotMeasured { layer: layer.name.clone() };
        measurement.ok_or_else(missing)?.of_layer(layer, accelerator, any)
    };
    network.layers().iter().map(cost).collect()
}

impl CostModel for CostRecords {
    /// # Errors
    ///
    /// Always [`Infeasible::UnnamedLayer`]: a record names its network and layer.
    fn layer(&self, _: &Operator, _: &Accelerator) -> Result<LayerCost, Infeasible> {
        Err(Infeasible::UnnamedLayer)
    }

    /// A network that was measured as a whole has the measured latency and energy, and no layers. A network
    /// that was measured layer by layer has the sums over its layers, with a latency of whole cycles.
    fn network(
        &self,
        network: &Network,
        accelerator: &Accelerator,
    ) -> Result<NetworkCost, Infeasible> {
        let cost = match self.find(network, accelerator)? {
            Measured::Whole(measurement) => {
                measurement.of_network(accelerator, self.has_energies)?
            }
            Measured::Layers { by_name, .. } => {
                let layers = layers(by_name, network, accelerator, self.has_energies)?;
                NetworkCost::of_layers(layers, accelerator)
            }
        };
        short_enough(cost)
    }

    /// Empty for a network that was measured as a whole.
    fn explain_network(
        &self,
        network: &Network,
        accelerator: &Accelerator,
    ) -> Result<Vec<Explanation>, Infeasible> {
        let cost = self.network(network, accelerator)?;
        Ok(cost.layers.iter().map(LayerCost::explanation).collect())
    }

    fn costs_by_name(&self) -> bool {
        true
    }
}
