//! Data that is moved before a segment starts: context switches and migration.

use crate::cost::Traffic;
use crate::hardware::Accelerator;
use crate::ids::{AccelId, ModelId, RequestId};
use crate::model::{Network, TensorRole};
use crate::plan::{Effects, Plan};
use crate::schedule::Job;
use crate::units::{Cycles, Millijoules, SimSpan};

use super::super::running::RunningSegment;

/// Contents of the memories of all accelerators, and the transfers that they cause.
pub(super) struct DataMoves<'a> {
    effects: Effects,
    accelerators: &'a [Accelerator],
    /// Indexed by [`ModelId`].
    footprints: Vec<Footprint>,
    /// Indexed by [`AccelId`].
    memories: Vec<Memory>,
}

/// Sizes of the data of a network, in elements.
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

/// Content of the memory of one accelerator.
#[derive(Debug, Clone, Copy, Default)]
struct Memory {
    /// The model whose weights are there.
    resident: Option<ModelId>,
    /// The request that was cut there and whose activations are still there.
    suspended: Option<Suspended>,
    /// Transfer before the segment that runs there, or ran last.
    last_transfer: Transfer,
}

/// A request that was cut, with its next layer.
#[derive(Debug, Clone, Copy)]
struct Suspended {
    request: RequestId,
    model: ModelId,
    next_layer: u32,
}

/// A data transfer before a segment starts.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Transfer {
    pub(super) time: SimSpan,
    pub(super) energy: Millijoules,
    /// Bytes to and from DRAM, and bytes between accelerators over the NoC.
    pub(super) traffic: Traffic,
}

impl<'a> DataMoves<'a> {
    /// Empty memories; `None` if no transfer takes time or energy.
    pub(super) fn new(plan: &'a Plan) -> Option<Self> {
        let effects = plan.engine.effects;
        let accelerators = plan.system.accelerators();
        let networks = plan.scenario.models().iter().map(|model| &*model.unit.network);
        effects.moves_data().then(|| Self {
            effects,
            accelerators,
            footprints: networks.map(Footprint::of).collect(),
            memories: vec![Memory::default(); accelerators.len()],
        })
    }

    /// Loads the weights and activations of `job` into the memory of `accelerator`.
    pub(super) fn load(&mut self, job: &Job, accelerator: AccelId) -> Transfer {
        let activations = self.take_activations(job);
        let mut dram_bytes = 0;
        let mut switches = false;
        if self.effects.switch.enabled {
            let Memory { resident, suspended, .. } = self.memories[accelerator.index()];
            if resident != Some(job.model) {
                switches = true;
                let weights = self.footprints[job.model.index()].weights;
                dram_bytes += self.dram_bytes(TensorRole::Weight, weights, accelerator);
            }
            if let Some(other) = suspended
                && other.request != job.request
            {
                switches = true;
                let live = self.live(other.model, other.next_layer);
                dram_bytes += self.dram_bytes(TensorRole::Output, live, accelerator);
            }
        }
        let live = self.live(job.model, job.next_layer);
        let mut transfer = Transfer::default();
        match activations {
            Activations::None => {}
            Activations::Dram => {
                switches = true;
                dram_bytes += self.dram_bytes(TensorRole::Output, live, accelerator);
            }
            Activations::At(other) if other == accelerator => {}
            Activations::At(other) => transfer = self.migration(live, other, accelerator),
        }
        if switches {
            transfer = transfer.plus(&self.switch(dram_bytes, accelerator));
        }
        self.memories[accelerator.index()] =
            Memory { resident: Some(job.model), suspended: None, last_transfer: transfer };
        transfer
    }

    /// Leaves the activations of the job of `running`, which was cut, where it ran.
    pub(super) fn suspend(&mut self, running: &RunningSegment) {
        let Job { request, model, .. } = running.job;
        let suspended = Suspended { request, model, next_layer: running.end_layer };
        self.memories[running.accelerator.index()].suspended = Some(suspended);
    }

    /// Discards the activations of a request that ended while it was suspended.
    pub(super) fn discard(&mut self, request: RequestId) {
        for memory in &mut self.memories {
            memory.suspended = memory.suspended.filter(|other| other.request != request);
        }
    }

    /// Transfer before the segment that runs, or ran last, on `accelerator`.
    pub(super) fn last_transfer(&self, accelerator: AccelId) -> &Transfer {
        &self.memories[accelerator.index()].last_transfer
    }

    /// Takes the activations of a job from where they are.
    fn take_activations(&mut self, job: &Job) -> Activations {
        let Some(last) = job.last_accelerator else { return Activations::None };
        let memory = &mut self.memories[last.index()];
        let is_there = memory.suspended.is_some_and(|it| it.request == job.request);
        if is_there {
            memory.suspended = None;
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

    /// Moves activations, which are not compressed on chip.
    fn migration(&self, live: u64, from: AccelId, to: AccelId) -> Transfer {
        let migration = &self.effects.migration;
        if !migration.enabled {
            return Transfer::default();
        }
        let ends = [from, to].map(|id| &self.accelerators[id.index()]);
        let noc_bytes = ends[1].datapath.widths.output.bytes(live);
        let [from, to] = ends
            .map(|it| Cycles::new(noc_bytes.div_ceil(it.noc.levels()[0].bandwidth)).at(it.clock));
        let nj_per_byte = ends[1].byte_energy.noc / 1e3;
        Transfer {
            time: migration.hop + from.max(to),
            energy: Millijoules::from_nj(noc_bytes as f64 * nj_per_byte),
            traffic: Traffic { dram_bytes: 0, noc_bytes },
        }
    }

    fn dram_bytes(&self, tensor: TensorRole, elements: u64, accelerator: AccelId) -> u64 {
        self.accelerators[accelerator.index()].dram_bytes(tensor, elements)
    }

    /// Elements of the live activations before a layer.
    fn live(&self, model: ModelId, layer: u32) -> u64 {
        self.footprints[model.index()].live.get(layer as usize).copied().unwrap_or(0)
    }
}

/// Place of the live activations of a request.
enum Activations {
    /// Nowhere: it has not run.
    None,
    /// In DRAM, where a context switch moved them.
    Dram,
    /// In the memory of the accelerator where it was cut.
    At(AccelId),
}

impl Transfer {
    /// This transfer and then the other one.
    fn plus(&self, other: &Self) -> Self {
        let sum = |of: fn(&Traffic) -> u64| of(&self.traffic).saturating_add(of(&other.traffic));
        Self {
            time: self.time + other.time,
            energy: self.energy + other.energy,
            traffic: Traffic {
                dram_bytes: sum(|it| it.dram_bytes),
                noc_bytes: sum(|it| it.noc_bytes),
            },
        }
    }
}
