//! Data that is moved before a segment starts: context switches and migration.

use std::collections::BTreeSet;

use crate::plan::{Effects, Plan};
use crate::schedule::Job;
use xrsim_model::cost::Traffic;
use xrsim_model::hardware::{Accelerator, Width, Widths};
use xrsim_model::ids::{AccelId, RequestId};
use xrsim_model::model::{Bits, Network, TensorRole};
use xrsim_model::scenario::Scenario;
use xrsim_model::units::{Cycles, Millijoules, SimSpan};

use super::super::running::RunningSegment;

/// Contents of the memories of all accelerators, and the transfers that they cause.
pub(super) struct DataMoves<'a> {
    effects: Effects,
    accelerators: &'a [Accelerator],
    footprints: Vec<Footprint>,
    /// Network of every row of the costs; rows beyond them are batches.
    rows: Vec<Row>,
    /// Indexed by [`AccelId`].
    memories: Vec<Memory>,
}

/// What lies in memory when a row of the costs runs.
#[derive(Debug, Clone, Copy)]
struct Row {
    /// Index of the sizes of the data. Counts that differ from frame to frame have those of the planned ones.
    footprint: usize,
    /// Index of the sizes of the network with the same weights.
    weights: usize,
}

/// Sizes of the data of a network, in elements of each width. Most networks have the one of the hardware.
struct Footprint {
    weights: Vec<(Option<Width>, u64)>,
    /// Live activations before every layer.
    live: Vec<(Option<Width>, Vec<u64>)>,
}

impl Footprint {
    fn from_network(network: &Network) -> Self {
        let distinct = |of: fn(&Bits) -> Option<u32>| {
            network.bits().iter().map(of).collect::<BTreeSet<_>>().into_iter()
        };
        let width = |bits: Option<u32>| bits.map(Width::of_bits);
        let weights = distinct(|bits| bits.weights)
            .map(|own| (width(own), network.weights_where(|bits| bits.weights == own)));
        let live = distinct(|bits| bits.activations).map(|own| {
            (width(own), network.live_activations_where(|bits| bits.activations == own))
        });
        Self { weights: weights.collect(), live: live.collect() }
    }

    /// Bytes in DRAM of the weights, on an accelerator.
    fn weight_bytes(&self, accelerator: &Accelerator) -> u64 {
        let bytes = self.weights.iter().map(|&(width, elements)| {
            let mut widths = accelerator.datapath.widths;
            widths.weight = width.unwrap_or(widths.weight);
            accelerator.dram_bytes_at(&widths, TensorRole::Weight, elements)
        });
        bytes.fold(0, u64::saturating_add)
    }

    /// Widths and elements of the live activations before a layer, on an accelerator.
    fn live(&self, layer: u32, accelerator: &Accelerator) -> impl Iterator<Item = (Widths, u64)> {
        let own = accelerator.datapath.widths;
        self.live.iter().map(move |(width, live)| {
            let output = width.unwrap_or(own.output);
            (Widths { output, ..own }, live.get(layer as usize).copied().unwrap_or(0))
        })
    }

    /// Bytes in DRAM of the live activations before a layer, on an accelerator.
    fn live_bytes(&self, layer: u32, accelerator: &Accelerator) -> u64 {
        let bytes = self.live(layer, accelerator).map(|(widths, elements)| {
            accelerator.dram_bytes_at(&widths, TensorRole::Output, elements)
        });
        bytes.fold(0, u64::saturating_add)
    }
}

/// Content of the memory of one accelerator.
#[derive(Debug, Clone, Copy, Default)]
struct Memory {
    /// The network whose weights are there: [`Row::weights`].
    resident: Option<usize>,
    /// The request that was cut there and whose activations are still there.
    suspended: Option<Suspended>,
    /// Transfer before the segment that runs there, or ran last.
    last_transfer: Transfer,
}

/// A request that was cut, with its next layer.
#[derive(Debug, Clone, Copy)]
struct Suspended {
    request: RequestId,
    /// [`Row::footprint`].
    footprint: usize,
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
        effects.moves_data().then(|| {
            let models = plan.scenario.models().iter();
            let networks = models.map(|model| &*model.unit.network);
            let mut footprints: Vec<_> = networks.map(Footprint::from_network).collect();
            let rows = rows(&plan.scenario, &mut footprints);
            let memories = vec![Memory::default(); accelerators.len()];
            Self { effects, accelerators, footprints, rows, memories }
        })
    }

    /// What lies in memory when `job` runs.
    fn row(&self, job: &Job) -> Row {
        let of_model = Row { footprint: job.model.index(), weights: job.model.index() };
        self.rows.get(job.work.index()).copied().unwrap_or(of_model)
    }

    /// Loads the weights and activations of `job` into the memory of `accelerator`.
    pub(super) fn load(&mut self, job: &Job, accelerator: AccelId) -> Transfer {
        let row = self.row(job);
        let activations = self.take_activations(job);
        let mut dram_bytes = 0;
        let mut switches = false;
        if self.effects.switch.enabled {
            let Memory { resident, suspended, .. } = self.memories[accelerator.index()];
            if resident != Some(row.weights) {
                switches = true;
                let on = &self.accelerators[accelerator.index()];
                dram_bytes += self.footprints[row.footprint].weight_bytes(on);
            }
            if let Some(other) = suspended
                && other.request != job.request
            {
                switches = true;
                dram_bytes += self.live_bytes(other.footprint, other.next_layer, accelerator);
            }
        }
        let mut transfer = Transfer::default();
        match activations {
            Activations::None => {}
            Activations::Dram => {
                switches = true;
                dram_bytes += self.live_bytes(row.footprint, job.next_layer, accelerator);
            }
            Activations::At(other) if other == accelerator => {}
            Activations::At(other) => transfer = self.migration(job, other, accelerator),
        }
        if switches {
            transfer = transfer.plus(&self.switch(dram_bytes, accelerator));
        }
        self.memories[accelerator.index()] =
            Memory { resident: Some(row.weights), suspended: None, last_transfer: transfer };
        transfer
    }

    /// Leaves the activations of the job of `running`, which was cut, where it ran.
    pub(super) fn suspend(&mut self, running: &RunningSegment<'_>) {
        let (request, footprint) = (running.job.request, self.row(&running.job).footprint);
        let suspended = Suspended { request, footprint, next_layer: running.end_layer };
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
    fn migration(&self, job: &Job, from: AccelId, to: AccelId) -> Transfer {
        let migration = &self.effects.migration;
        if !migration.enabled {
            return Transfer::default();
        }
        let ends = [from, to].map(|id| &self.accelerators[id.index()]);
        let live = self.footprints[self.row(job).footprint].live(job.next_layer, ends[1]);
        let bytes = live.map(|(widths, elements)| widths.output.bytes(elements));
        let noc_bytes = bytes.fold(0, u64::saturating_add);
        let [from, to] = ends
            .map(|it| Cycles::new(noc_bytes.div_ceil(it.noc.levels()[0].bandwidth)).at(it.clock));
        let nj_per_byte = ends[1].byte_energy.noc / 1e3;
        Transfer {
            time: migration.hop + from.max(to),
            energy: Millijoules::from_nj(noc_bytes as f64 * nj_per_byte),
            traffic: Traffic { dram_bytes: 0, noc_bytes },
        }
    }

    /// Bytes in DRAM of the live activations before a layer.
    fn live_bytes(&self, footprint: usize, layer: u32, accelerator: AccelId) -> u64 {
        let on = &self.accelerators[accelerator.index()];
        self.footprints[footprint].live_bytes(layer, on)
    }
}

/// The rows of the costs of a scenario. `footprints` has those of its models, and gets those of further networks that
/// requests choose.
fn rows(scenario: &Scenario, footprints: &mut Vec<Footprint>) -> Vec<Row> {
    let of_model = |index| Row { footprint: index, weights: index };
    let mut rows: Vec<_> = (0..footprints.len()).map(of_model).collect();
    for (index, model) in scenario.models().iter().enumerate() {
        match &model.choice {
            None => {
                let n = model.variants.len() + model.between().count();
                rows.extend(std::iter::repeat_n(of_model(index), n));
            }
            Some(choice) => rows.extend(model.variants.iter().map(|network| {
                let footprint = footprints.len();
                footprints.push(Footprint::from_network(network));
                Row { footprint, weights: if choice.shares_weights { index } else { footprint } }
            })),
        }
    }
    rows
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
