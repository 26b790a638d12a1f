//! The loop-nest cost model (docs/explanation/cost-model-loop-nest.md): exact counts and cycles of a layer whose
//! loop nest a mapping cuts into nested tiles, on a machine with one buffer per unit.
//!
//! A machine walks through the tiles step by step. A unit works on one box of the iteration space at a
//! time; it keeps the operands that it needs again and fetches the others from the buffer above. Units
//! of a cluster run in lock step. Partial sums stay in a unit while its output box is the same, and
//! are then sent up and added to those in the buffer above. Computation overlaps with the fetch of the
//! same step and the drain of the previous one; only the first fill and the last drain are exposed.
//! DRAM is a roofline below all levels, with the traffic of the tiles that the shared memory holds.
//!
//! The modules evaluate this walk in closed form: they count classes of equal steps. Comments cite
//! sections and equations of the chapter by number.
//!
//! | section | module | content |
//! |---|---|---|
//! | 1 | `nest` | axes, tensors, footprints |
//! | 2 | `machine` | machine model: PEs, NoC levels, memories |
//! | 3 | `mapping`, `elaboration` | loops of every level and their legality; directives to loops |
//! | 3.10 | `listed` | directives for single layers |
//! | 5.1, 5.4 | `context` | previous and present box of a cluster |
//! | 5.2, 5.3, 5.7 | `transition` | classes of equal steps |
//! | 5.5 | `ingress`, `overlap` | inputs and weights sent to the units |
//! | 5.6 | `egress` | partial sums sent up |
//! | 4.12 | `fill` | fill of systolic levels |
//! | 5.9 | `walk` | classes of steps of all levels, and their counts |
//! | 4.7 to 4.10, 5.8 | `steps` | times of a walk |
//! | 5.9 | `shared` | walks that several machines share |
//! | 5.3 | `classes` | classes of steps of a layer, for `xrsim cost --explain` |
//! | 6 | `dram` | tiles in shared memory, DRAM traffic |
//! | 6.10 | `fusion`, `grouped`, `riders` | operators that ride along with layers |
//! | 6.7 | `off_chip` | loops above the shared memory: DRAM traffic and time by step |
//! | 7 | `energy` | counts times a table |
//! | 1.3, 1.6 | [`lower`], `vector` | lowering of operators, operators without MACs |
//! | 6.6 | `model`, `prepared`, `prepared_nest`, `residency` | networks: tensors that stay in shared memory between layers |

pub(crate) mod energy;
pub mod lower;
pub(crate) mod machine;
pub(crate) mod mapping;
pub(crate) mod model;
pub mod nest;
mod network;

mod choose;
mod classes;
mod context;
mod dram;
mod egress;
mod elaboration;
mod fill;
mod fusion;
mod grouped;
mod ingress;
mod listed;
mod off_chip;
mod overlap;
mod prepared;
mod prepared_nest;
mod relatives;
mod report;
mod residency;
mod riders;
mod rules;
mod shared;
mod steps;
mod transition;
mod vector;
mod walk;

use std::fmt;

use thiserror::Error;

use crate::dataflow::LevelId;
use crate::model::PerOperand;

pub use crate::hardware::{Compression, Fill, Width, Widths};
pub use choose::{Choice, Choose, ChooseLayer, Offer, WalkFacts};
pub use classes::{Start, StepClass, step_classes};
pub use dram::{DramTraffic, SharedMemoryPlan};
pub use energy::{Energies, EnergyPj};
pub use fusion::Role;
pub(crate) use listed::{Listed, memory};
pub use listed::{directives, is_form, nest_of, shape};
pub use machine::{Bandwidth, Machine, NocLevel};
pub use mapping::{Level, Loop, Mapping};
pub use model::{ChosenLoopNest, LoopNest, nests_of_layer, nests_of_network};
pub use nest::{Axis, Extents, Nest, Window};
pub use prepared::NestReport;
pub use relatives::{Family, Relatives};
pub use report::LayerReport;
pub use riders::Riders;
pub(crate) use shared::evaluate_shared;

/// Counts of one level, summed over all its clusters and steps (5.9). Units are elements unless noted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LevelCounts {
    /// Sends: elements read from the buffer above and sent on the NoC; a multicast element counts once.
    pub sent: PerOperand<u64>,
    /// Deliveries: elements written into the buffers of the units.
    pub delivered: PerOperand<u64>,
    /// Forwards: delivered elements that come from a neighbour.
    pub forwarded: PerOperand<u64>,
    /// `arrive`: partial sums that arrive in the buffer above, after reduction on the way.
    pub arrived: u64,
    /// `leave`: partial sums that leave the units.
    pub left: u64,
    /// `accum`: partial sums read from the buffer above to add arriving ones to them.
    pub accumulated: u64,
    /// Number of steps of the clusters of this level.
    pub steps: u64,
    /// Number of working units, summed over the steps.
    pub active: u64,
    /// Buffer that a unit needs: twice its largest box \[byte\] (4.10).
    pub unit_bytes: u64,
}

/// Counts and times of the walk through one layer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Walk {
    /// Counts of all levels, the off-chip level first if there is one.
    levels: Vec<LevelCounts>,
    /// Classes of steps of the off-chip level; empty if there is none.
    off_chip: Vec<off_chip::Step>,
    macs_executed: u64,
    pe_outputs: u64,
    pe_accumulations: u64,
    chip_cycles: u64,
    compute_cycles: u64,
    transitions: u64,
}

/// Resource that limits the latency of a layer (6.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LayerBound {
    /// The PEs.
    #[default]
    Compute,
    /// The NoC: the chip takes more than twice the cycles of the computation.
    Noc,
    /// DRAM, which takes longer than the chip.
    Dram,
}

impl fmt::Display for LayerBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Compute => "compute",
            Self::Noc => "noc",
            Self::Dram => "dram",
        })
    }
}

/// Result of the model for one loop nest.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// Counts of all levels, the off-chip level first if there is one.
    levels: Vec<LevelCounts>,
    n_off_chip: usize,
    /// Executed MACs: those of the layer, more if the mapping repeats outputs.
    pub macs_executed: u64,
    /// Elements of the output boxes of all steps of all PEs.
    pub pe_outputs: u64,
    /// Of these, elements that are added to a sum in the PE.
    pub pe_accumulations: u64,
    /// Number of classes of equal steps, over all levels.
    pub transitions: u64,
    /// Cycles of the walk and the flush after it (4.9), without DRAM.
    pub chip_cycles: u64,
    /// The same if NoC transfers took no time.
    pub compute_cycles: u64,
    /// Tiles in shared memory and DRAM traffic.
    pub memory: SharedMemoryPlan,
    /// Cycles of DRAM (6.5); with an off-chip level, those of all its steps (6.8).
    pub dram_cycles: u64,
    /// Latency: the larger of chip and DRAM cycles; with an off-chip level, the sum over its steps (6.8).
    pub cycles: u64,
    /// Limiting resource.
    pub bound: LayerBound,
    /// Energy by component.
    pub energy: EnergyPj,
}

impl Evaluation {
    /// Counts of every level on chip, outermost first.
    pub fn levels(&self) -> &[LevelCounts] {
        &self.levels[self.n_off_chip..]
    }

    /// Counts of the off-chip level, if the mapping has one: DRAM sends, and partial sums arrive there.
    pub fn off_chip(&self) -> Option<&LevelCounts> {
        self.levels[..self.n_off_chip].first()
    }

    /// Executed MACs divided by those that `pes` PEs with `rate` MACs per cycle could execute in the
    /// latency, from 0 to 1 (6.5).
    pub fn utilisation(&self, pes: u32, rate: u32) -> f64 {
        let peak = f64::from(pes) * f64::from(rate.max(1));
        self.macs_executed as f64 / (self.cycles as f64 * peak)
    }
}

/// Evaluates a loop nest: the closed form of its walk (section 5), DRAM (section 6) and energy
/// (section 7).
///
/// # Errors
///
/// [`Illegal::Overflow`] if 64 bits may not hold a count; [`Illegal::TooVaried`] if steps fall into too
/// many classes.
pub fn evaluate(nest: &Nest, mapping: &Mapping, machine: &Machine) -> Result<Evaluation, Illegal> {
    Ok(Walk::new(nest, mapping, machine)?.with_memory(nest, mapping, machine))
}

impl Walk {
    /// Walks a layer (section 5). The result does not depend on the size of the shared memory, the
    /// resident tensors, DRAM or the energy table.
    ///
    /// # Errors
    ///
    /// [`Illegal::Overflow`] if 64 bits may not hold a count; [`Illegal::TooVaried`] if steps fall
    /// into too many classes.
    pub(crate) fn new(nest: &Nest, mapping: &Mapping, machine: &Machine) -> Result<Self, Illegal> {
        if !walk::is_countable(nest, mapping, machine) {
            return Err(Illegal::Overflow);
        }
        walk::with_steps(nest, mapping, machine, |steps| steps.walk(nest, mapping, machine))
    }

    /// Adds DRAM (section 6) and energy (section 7). `machine` is the one of [`Walk::new`] but for
    /// the size of the shared memory and the resident tensors.
    pub(crate) fn with_memory(
        self,
        nest: &Nest,
        mapping: &Mapping,
        machine: &Machine,
    ) -> Evaluation {
        let plan = self.plan(nest, mapping, machine);
        self.with_plan(nest, mapping, machine, plan)
    }

    /// Tiles in shared memory, and the DRAM traffic that follows from them (section 6).
    fn plan(&self, nest: &Nest, mapping: &Mapping, machine: &Machine) -> SharedMemoryPlan {
        match mapping.off_chip() {
            None => dram::plan(nest, mapping, machine),
            Some(level) => off_chip::plan(nest, level, machine, &self.levels[0]),
        }
    }

    /// [`Walk::with_memory`] with its plan.
    fn with_plan(
        self,
        nest: &Nest,
        mapping: &Mapping,
        machine: &Machine,
        memory: SharedMemoryPlan,
    ) -> Evaluation {
        let roof = machine.dram_cycles(memory.dram.total_bytes());
        let (dram_cycles, cycles) = match mapping.off_chip() {
            None => (roof, self.chip_cycles.max(roof)),
            Some(_) => {
                let time = off_chip::time(nest, machine, &self.off_chip);
                (time.dram.max(roof), time.layer.max(roof))
            }
        };
        let cycles = cycles.max(machine.riders.map_or(0, |riders| riders.cycles));
        let bound = self.bound(dram_cycles);
        let mut evaluation = Evaluation {
            levels: self.levels,
            n_off_chip: usize::from(mapping.off_chip().is_some()),
            macs_executed: self.macs_executed,
            pe_outputs: self.pe_outputs,
            pe_accumulations: self.pe_accumulations,
            transitions: self.transitions,
            chip_cycles: self.chip_cycles,
            compute_cycles: self.compute_cycles,
            memory,
            dram_cycles,
            cycles,
            bound,
            energy: EnergyPj::default(),
        };
        evaluation.energy = EnergyPj::compute(&evaluation, machine);
        evaluation
    }

    /// Limiting resource (6.5).
    fn bound(&self, dram_cycles: u64) -> LayerBound {
        if dram_cycles > self.chip_cycles {
            LayerBound::Dram
        } else if self.chip_cycles > 2 * self.compute_cycles {
            LayerBound::Noc
        } else {
            LayerBound::Compute
        }
    }
}

/// Reason for which a mapping does not run a layer on a machine.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Illegal {
    /// A number of the layer is out of range.
    #[error("an extent, stride, dilation or input size is not within 1 to {}", Nest::MAX_EXTENT)]
    Extent,
    /// Counts may exceed 64 bits.
    #[error("the layer is too large: its counts do not fit 64 bits")]
    Overflow,
    /// The steps fall into too many classes.
    #[error("the mapping makes more than {} different steps", walk::MAX_TRANSITIONS)]
    TooVaried,
    /// The mapping has more levels than the model supports.
    #[error("{found} levels; at most {} are allowed", Mapping::MAX_LEVELS)]
    TooManyLevels {
        /// Number of levels.
        found: usize,
    },
    /// The mapping has no level on chip.
    #[error("no level on chip; at least one is needed")]
    NoLevel,
    /// A spatial loop above the shared memory, which is one unit.
    #[error(
        "{}: a spatial map of {axis}; only temporal maps stand above the shared memory",
        LevelId::OffChip
    )]
    SpatialOffChip {
        /// Axis.
        axis: Axis,
    },
    /// Level 0 has more units than the machine allows.
    #[error("{units} units of level 0; at most {limit} are allowed")]
    TooManyUnits {
        /// Units of level 0.
        units: u32,
        /// Upper limit.
        limit: u32,
    },
    /// The machine has fewer PEs than one cluster of level 0 needs.
    #[error("{pes} PEs cannot hold one cluster of {cluster_pes}")]
    TooFewPes {
        /// PEs of the machine.
        pes: u32,
        /// PEs of one unit of level 0, or of all units that a mapping asks for.
        cluster_pes: u64,
    },
    /// A level maps an axis twice.
    #[error("{level} maps {} twice (input and output positions count as one axis)", axis.letter())]
    AxisTwice {
        /// Level.
        level: LevelId,
        /// Axis.
        axis: Axis,
    },
    /// A size or offset is less than 1, or too large.
    #[error("{level}: a size or offset is less than 1 or too large for this layer")]
    Size {
        /// Level.
        level: LevelId,
    },
    /// A unit holds fewer input rows or columns than one output needs (3.5).
    #[error(
        "{level}: {size} positions of input {} are less than the {kernel} of the kernel", axis.letter()
    )]
    Window {
        /// Level.
        level: LevelId,
        /// Output axis of the direction, Y' or X'.
        axis: Axis,
        /// Input positions that a unit holds.
        size: u64,
        /// Input positions under the kernel.
        kernel: u64,
    },
    /// A diagonal computes one of several output positions (3.6).
    #[error(
        "{level}: the diagonal covers 1 of {rows} output positions of {} (under-cover)", axis.letter()
    )]
    Diagonal {
        /// Level.
        level: LevelId,
        /// Output axis of the direction, Y' or X'.
        axis: Axis,
        /// Output positions that enter the level.
        rows: u32,
    },
    /// Several spatial loops that form no diagonal leave out combinations of chunks (3.8).
    #[error(
        "{level}: spatial maps side by side cover 1 of {combinations} combinations (under-cover)"
    )]
    SpatialLoops {
        /// Level.
        level: LevelId,
        /// Number of combinations of their chunks.
        combinations: u64,
    },
    /// A map leaves out positions of an axis (3.8).
    #[error(
        "{level}: the map ({size},{offset}) of {axis} covers {covered} of {extent} (under-cover)"
    )]
    UnderCover {
        /// Level.
        level: LevelId,
        /// Axis.
        axis: Axis,
        /// Size of the map.
        size: u32,
        /// Offset of the map.
        offset: u32,
        /// Positions that are covered.
        covered: u64,
        /// Extent of the axis.
        extent: u32,
    },
    /// A map repeats positions of an axis (3.8).
    #[error(
        "{level}: the map ({size},{offset}) of {axis} executes {executed} for {extent} (over-cover)"
    )]
    OverCover {
        /// Level.
        level: LevelId,
        /// Axis.
        axis: Axis,
        /// Size of the map.
        size: u32,
        /// Offset of the map.
        offset: u32,
        /// Positions that are executed, repetitions included.
        executed: u64,
        /// Extent of the axis.
        extent: u32,
    },
}
