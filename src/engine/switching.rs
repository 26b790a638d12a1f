//! What is in the memory of every accelerator, and what has to be moved before a request runs there:
//! context switches and migration.

use crate::cost::Traffic;
use crate::hardware::Accelerator;
use crate::ids::{AccelId, ModelId, RequestId};
use crate::model::Network;
use crate::plan::{Effects, Plan};
use crate::schedule::Job;
use crate::units::{Cycles, Millijoules, SimSpan};

use super::running::RunningSegment;

/// The switching of all accelerators.
pub(super) struct ContextSwitches<'a> {
    effects: Effects,
    accelerators: &'a [Accelerator],
    /// Indexed by [`ModelId`].
    footprints: Vec<Footprint>,
    /// Indexed by [`AccelId`].
    states: Vec<LocalMemory>,
}

/// Elements of a network.
struct Footprint {
    weights: u64,
    /// Live activations before every layer.
    live: Vec<u64>,
}

impl Footprint {
    fn of(network: &Network) -> Self {
        Self { weights: network.weights(), live: network.live_activations() }
    }
}

/// The memory of one accelerator.
#[derive(Debug, Clone, Copy, Default)]
struct LocalMemory {
    /// The model whose weights are there.
    resident: Option<ModelId>,
    /// The request that was cut there and whose activations are there still: model and next layer.
    suspended: Option<(RequestId, ModelId, u32)>,
    /// What was moved for what runs there, or ran last.
    moved: Transfer,
}

/// What is moved before a request runs.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Transfer {
    /// Time.
    pub(super) time: SimSpan,
    /// Energy.
    pub(super) energy: Millijoules,
    /// Bytes to and from DRAM, and over the NoC from accelerator to accelerator.
    pub(super) traffic: Traffic,
}

impl<'a> ContextSwitches<'a> {
    /// Empty ones; `None` if nothing that happens in them takes anything.
    pub(super) fn new(plan: &'a Plan) -> Option<Self> {
        let effects = plan.engine.effects;
        let accelerators = plan.system.accelerators();
        let networks = plan.scenario.models().iter().map(|model| &*model.unit.network);
        effects.moves_data().then(|| Self {
            effects,
            accelerators,
            footprints: networks.map(Footprint::of).collect(),
            states: vec![LocalMemory::default(); accelerators.len()],
        })
    }

    /// Brings `job` to `accelerator`.
    pub(super) fn load(&mut self, job: &Job, accelerator: AccelId) -> Transfer {
        let comes_from = self.activations_of(job);
        let mut dram_bytes = 0;
        let mut switches = false;
        if self.effects.switch.enabled {
            let LocalMemory { resident, suspended, .. } = self.states[accelerator.index()];
            if resident != Some(job.model) {
                switches = true;
                dram_bytes += self.weight_bytes(job.model, accelerator);
            }
            if let Some((request, model, layer)) = suspended
                && request != job.request
            {
                switches = true;
                dram_bytes += self.live_bytes(model, layer, accelerator);
            }
        }
        let live_bytes = self.live_bytes(job.model, job.next_layer, accelerator);
        let mut moved = Transfer::default();
        match comes_from {
            Activations::None => {}
            Activations::Dram => {
                switches = true;
                dram_bytes += live_bytes;
            }
            Activations::At(other) if other == accelerator => {}
            Activations::At(other) => moved = self.migration(live_bytes, other, accelerator),
        }
        if switches {
            moved = moved.plus(&self.switch(dram_bytes, accelerator));
        }
        let suspended = None;
        self.states[accelerator.index()] =
            LocalMemory { resident: Some(job.model), suspended, moved };
        moved
    }

    /// A job was cut on `accelerator`.
    pub(super) fn suspend(&mut self, running: &RunningSegment, accelerator: AccelId) {
        let cut = (running.job.request, running.job.model, running.end_layer);
        self.states[accelerator.index()].suspended = Some(cut);
    }

    /// A request has ended that was cut: nothing of it is needed any more.
    pub(super) fn forget(&mut self, request: RequestId) {
        for state in &mut self.states {
            state.suspended = state.suspended.filter(|(other, ..)| *other != request);
        }
    }

    /// What was moved for what runs on `accelerator`, or ran there last.
    pub(super) fn moved(&self, accelerator: AccelId) -> &Transfer {
        &self.states[accelerator.index()].moved
    }

    /// Where the activations of a job are, which leave there.
    fn activations_of(&mut self, job: &Job) -> Activations {
        let Some(last) = job.last_accelerator else { return Activations::None };
        let state = &mut self.states[last.index()];
        let is_there = state.suspended.is_some_and(|(request, ..)| request == job.request);
        if is_there {
            state.suspended = None;
        }
        match is_there || !self.effects.switch.enabled {
            true => Activations::At(last),
            false => Activations::Dram,
        }
    }

    fn switch(&self, dram_bytes: u64, accelerator: AccelId) -> Transfer {
        let Accelerator { memory, clock, .. } = &self.accelerators[accelerator.index()];
        let cycles = Cycles::new(dram_bytes.div_ceil(memory.dram_bandwidth));
        Transfer {
            time: self.effects.switch.fixed + cycles.at(*clock),
            energy: self.effects.switch.energy(dram_bytes),
            traffic: Traffic { dram_bytes, noc_bytes: 0 },
        }
    }

    fn migration(&self, noc_bytes: u64, from: AccelId, to: AccelId) -> Transfer {
        let migration = &self.effects.migration;
        if !migration.enabled {
            return Transfer::default();
        }
        let ends = [from, to].map(|id| &self.accelerators[id.index()]);
        let [from, to] = ends
            .map(|it| Cycles::new(noc_bytes.div_ceil(it.noc.levels()[0].bandwidth)).at(it.clock));
        let nj_per_byte = ends[1].byte_energy.noc / 1e3;
        Transfer {
            time: migration.hop + from.max(to),
            energy: Millijoules::from_nj(noc_bytes as f64 * nj_per_byte),
            traffic: Traffic { dram_bytes: 0, noc_bytes },
        }
    }

    fn weight_bytes(&self, model: ModelId, accelerator: AccelId) -> u64 {
        let width = self.accelerators[accelerator.index()].datapath.widths.weight;
        self.footprints[model.index()].weights.saturating_mul(width.into())
    }

    fn live_bytes(&self, model: ModelId, layer: u32, accelerator: AccelId) -> u64 {
        let width = self.accelerators[accelerator.index()].datapath.widths.output;
        let live = self.footprints[model.index()].live.get(layer as usize);
        live.map_or(0, |elements| elements.saturating_mul(width.into()))
    }
}

/// Where the live activations of a request are.
enum Activations {
    /// It has not run.
    None,
    /// A context switch took them there.
    Dram,
    /// Where it was cut.
    At(AccelId),
}

impl Transfer {
    /// One after the other.
    fn plus(&self, other: &Self) -> Self {
        Self {
            time: self.time + other.time,
            energy: self.energy + other.energy,
            traffic: Traffic {
                dram_bytes: self.traffic.dram_bytes.saturating_add(other.traffic.dram_bytes),
                noc_bytes: self.traffic.noc_bytes.saturating_add(other.traffic.noc_bytes),
            },
        }
    }
}
