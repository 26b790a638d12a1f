//! The loop-nest cost model: exact counts and cycles of a layer whose loop nest is cut into nested
//! tiles by a mapping and walked by a machine with one buffer per unit.
//!
//! A unit works on one box of the iteration space at a time. What it already had for the box before
//! is kept, the rest is fetched from the buffer above. Units of a cluster move in lock step. Partial
//! sums stay while the output box is the same, and are then sent up, added on the way and in the
//! buffer above. The network brings the data of a step and takes away the results of the one before
//! while units compute; only the first fill and the last drain are exposed. DRAM is a roofline below
//! all this, with traffic decided by what fits in the L2. The result is that of the walk, step by
//! step, but steps that are alike are counted and not repeated.
//!
//! More PEs are therefore not always faster. Where the network limits a layer, twice the units take as
//! long for the same data, and the first fill and the last drain, which nothing hides, bring and take
//! that of twice as many units: a few cycles more in all (`dwconv1` of `DE` under `OS`: 8,221 at 1,024
//! PEs, 8,227 at 2,048).
//!
//! Sections and equations are numbered as in its specification:
//!
//! | section | module | |
//! |---|---|---|
//! | 1 | [`nest`] | axes, tensors, footprints |
//! | 2 | [`machine`] | PEs, networks, memories |
//! | 3 | [`mapping`] | directives to loops, legality |
//! | 5.1 | `context` | what a cluster did before and does now |
//! | 5.2, 5.3, 5.7 | `transition` | classes of equal steps |
//! | 5.5 | `ingress`, `overlap` | inputs and weights brought to the units |
//! | 5.6 | `egress` | partial sums sent up |
//! | 4.8, 4.9, 5.8, 5.9 | `walk` | counts and times of all levels |
//! | 6 | `dram` | what the L2 holds, DRAM traffic |
//! | 7 | [`energy`] | counts times a table |
//! | 1.3, 1.6 | [`lower`], `vector` | operators to loop nests, operators without MACs |
//! | | [`model`], `residency` | networks: what stays in the L2 between layers |

pub mod energy;
pub mod lower;
pub mod machine;
pub mod mapping;
pub mod model;
pub mod nest;

mod classes;
mod context;
mod dram;
mod egress;
mod ingress;
mod overlap;
mod residency;
mod transition;
mod vector;
mod walk;

use std::fmt;

use thiserror::Error;

use crate::model::PerOperand;

pub use crate::hardware::Widths;
pub use classes::{Start, StepClass, step_classes};
pub use dram::{DramTraffic, SharedMemoryPlan};
pub use energy::{Energies, EnergyPj};
pub use machine::{Bandwidth, Machine, NocLevel};
pub use mapping::{Level, Loop, Mapping};
pub use model::{LayerReport, LoopNest, NestReport, nests_of_layer};
pub use nest::{Axis, Extents, Nest, Window};

/// Counts of one level, whose units are fed by the buffer above (5.9). Pairs are of inputs and
/// weights; all are elements unless noted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LevelCounts {
    /// Read from the buffer above and put on the network.
    pub sent: PerOperand<u64>,
    /// Written into the buffers of the units.
    pub delivered: PerOperand<u64>,
    /// Of these, taken from a neighbour.
    pub forwarded: PerOperand<u64>,
    /// Partial sums that arrive in the buffer above, after additions on the way.
    pub arrived: u64,
    /// Partial sums that leave the units.
    pub left: u64,
    /// Partial sums read in the buffer above to add arriving ones.
    pub accumulated: u64,
    /// Steps of the clusters of this level.
    pub steps: u64,
    /// Working units, summed over the steps.
    pub active: u64,
    /// Buffer that a unit needs for two of its largest boxes \[byte\] (4.10).
    pub unit_bytes: u64,
}

/// Counts and times of the walk.
#[derive(Debug, Clone, Copy)]
struct Walk {
    levels: [LevelCounts; Mapping::MAX_LEVELS],
    macs_executed: u64,
    pe_outputs: u64,
    pe_accumulations: u64,
    chip_cycles: u64,
    compute_cycles: u64,
    transitions: u64,
}

impl Default for Walk {
    fn default() -> Self {
        Self {
            levels: [LevelCounts::default(); Mapping::MAX_LEVELS],
            macs_executed: 0,
            pe_outputs: 0,
            pe_accumulations: 0,
            chip_cycles: 0,
            compute_cycles: 0,
            transitions: 0,
        }
    }
}

/// What a layer takes most of its time for (6.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Bound {
    /// MACs.
    #[default]
    Compute,
    /// Networks: the chip takes more than twice the cycles of its MACs.
    Noc,
    /// DRAM: it takes longer than the chip.
    Dram,
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Compute => "compute",
            Self::Noc => "noc",
            Self::Dram => "dram",
        })
    }
}

/// Everything the model says about one layer.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    levels: [LevelCounts; Mapping::MAX_LEVELS],
    n_levels: usize,
    /// MACs executed; those of the layer unless the mapping computes outputs repeatedly.
    pub macs_executed: u64,
    /// Outputs of all steps of all PEs.
    pub pe_outputs: u64,
    /// Of these, added to a sum that the PE holds.
    pub pe_accumulations: u64,
    /// Classes of equal steps that were evaluated, on all levels.
    pub transitions: u64,
    /// Cycles of the walk and the last flush (4.9).
    pub chip_cycles: u64,
    /// The same with networks that take no time.
    pub compute_cycles: u64,
    /// Tiles in shared memory and DRAM traffic.
    pub memory: SharedMemoryPlan,
    /// Cycles of DRAM (6.5).
    pub dram_cycles: u64,
    /// Cycles of the layer: those of the chip or of DRAM, whichever are more.
    pub cycles: u64,
    /// What bounds the layer.
    pub bound: Bound,
    /// Energy by component.
    pub energy: EnergyPj,
}

impl Evaluation {
    /// Counts of every level, outermost first.
    pub fn levels(&self) -> &[LevelCounts] {
        &self.levels[..self.n_levels]
    }

    /// Executed MACs over those that `pes` PEs of `rate` MACs per cycle could have executed (6.5).
    pub fn utilisation(&self, pes: u32, rate: u32) -> f64 {
        let peak = f64::from(pes) * f64::from(rate.max(1));
        self.macs_executed as f64 / (self.cycles as f64 * peak)
    }
}

/// Evaluates a layer: the closed form of its walk (section 5), DRAM (6) and energy (7).
///
/// # Errors
///
/// [`Illegal::Overflow`] if 64 bits may not hold a count.
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
    fn new(nest: &Nest, mapping: &Mapping, machine: &Machine) -> Result<Self, Illegal> {
        if !walk::is_countable(nest, mapping, machine) {
            return Err(Illegal::Overflow);
        }
        let mut walk = Self::default();
        walk.run(nest, mapping, machine)?;
        walk.derive(nest, mapping, machine);
        Ok(walk)
    }

    /// Scratchpad that a PE needs \[byte\] (4.10).
    fn pe_bytes(&self, mapping: &Mapping) -> u64 {
        self.levels[mapping.levels().len() - 1].unit_bytes
    }

    /// Adds DRAM (section 6) and energy (section 7). `machine` is the one of [`Walk::new`] but for
    /// the size of the shared memory and the resident tensors.
    fn with_memory(&self, nest: &Nest, mapping: &Mapping, machine: &Machine) -> Evaluation {
        let walk = self;
        let memory = dram::plan(nest, mapping, machine);
        let dram_cycles = machine.dram_cycles(memory.dram.total_bytes());
        let mut evaluation = Evaluation {
            levels: walk.levels,
            n_levels: mapping.levels().len(),
            macs_executed: walk.macs_executed,
            pe_outputs: walk.pe_outputs,
            pe_accumulations: walk.pe_accumulations,
            transitions: walk.transitions,
            chip_cycles: walk.chip_cycles,
            compute_cycles: walk.compute_cycles,
            memory,
            dram_cycles,
            cycles: walk.chip_cycles.max(dram_cycles),
            bound: bound(walk, dram_cycles),
            energy: EnergyPj::default(),
        };
        evaluation.energy = EnergyPj::of(&evaluation, machine);
        evaluation
    }
}

/// What bounds a layer (6.5).
fn bound(walk: &Walk, dram_cycles: u64) -> Bound {
    if dram_cycles > walk.chip_cycles {
        Bound::Dram
    } else if walk.chip_cycles > 2 * walk.compute_cycles {
        Bound::Noc
    } else {
        Bound::Compute
    }
}

/// A layer, mapping and machine that do not go together. Levels count from 0, outermost first.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Illegal {
    /// A number of the layer is out of range.
    #[error("an extent, stride, dilation or input size is not within 1 to {}", Nest::MAX_EXTENT)]
    Extent,
    /// Counts do not fit 64 bits.
    #[error("the layer is too large: its counts do not fit 64 bits")]
    Overflow,
    /// The steps of the walk are of too many kinds.
    #[error("the mapping makes more than {} different steps", walk::MAX_TRANSITIONS)]
    TooVaried,
    /// More levels than supported.
    #[error("{found} levels; at most {} are allowed", Mapping::MAX_LEVELS)]
    TooManyLevels {
        /// Number of levels.
        found: usize,
    },
    /// The machine has not one cluster.
    #[error("{pes} PEs cannot hold one cluster of {cluster_pes}")]
    TooFewPes {
        /// PEs of the machine.
        pes: u32,
        /// PEs of a cluster.
        cluster_pes: u64,
    },
    /// A level maps an axis twice.
    #[error("level {level} maps {} twice (input and output positions count as one axis)", axis.letter())]
    AxisTwice {
        /// Level.
        level: usize,
        /// Axis.
        axis: Axis,
    },
    /// A size of a directive is less than 1.
    #[error("level {level}: a size or offset is less than 1 or too large for this layer")]
    Size {
        /// Level.
        level: usize,
    },
    /// A unit holds fewer input positions than one output needs (3.5).
    #[error(
        "level {level}: {size} positions of input {} are less than the {kernel} of the kernel", axis.letter()
    )]
    Window {
        /// Level.
        level: usize,
        /// Axis, Y or X.
        axis: Axis,
        /// Positions that a unit holds.
        size: u64,
        /// Positions under the kernel.
        kernel: u64,
    },
    /// A diagonal computes one output position of several (3.6).
    #[error(
        "level {level}: the diagonal covers 1 of {rows} output positions of {} (under-cover)", axis.letter()
    )]
    Diagonal {
        /// Level.
        level: usize,
        /// Axis, Y or X.
        axis: Axis,
        /// Output positions that enter the level.
        rows: u32,
    },
    /// Several spatial maps that are not a diagonal compute some combinations only (3.8).
    #[error(
        "level {level}: spatial maps side by side cover 1 of {combinations} combinations (under-cover)"
    )]
    SpatialLoops {
        /// Level.
        level: usize,
        /// Combinations of their chunks.
        combinations: u64,
    },
    /// Parts of an axis are not computed at all.
    #[error(
        "level {level}: the map ({size},{offset}) of {axis} covers {covered} of {extent} (under-cover)"
    )]
    UnderCover {
        /// Level.
        level: usize,
        /// Axis.
        axis: Axis,
        /// Size of the map.
        size: u32,
        /// Offset of the map.
        offset: u32,
        /// Positions covered.
        covered: u64,
        /// Positions of the axis.
        extent: u32,
    },
    /// Parts of an axis are computed more than once.
    #[error(
        "level {level}: the map ({size},{offset}) of {axis} executes {executed} for {extent} (over-cover)"
    )]
    OverCover {
        /// Level.
        level: usize,
        /// Axis.
        axis: Axis,
        /// Size of the map.
        size: u32,
        /// Offset of the map.
        offset: u32,
        /// Positions executed.
        executed: u64,
        /// Positions of the axis.
        extent: u32,
    },
}

impl Illegal {
    /// Whether something of the layer is not computed at all.
    pub fn is_under_cover(&self) -> bool {
        matches!(self, Self::Diagonal { .. } | Self::SpatialLoops { .. } | Self::UnderCover { .. })
    }

    /// Whether something of the layer is computed more than once.
    pub fn is_over_cover(&self) -> bool {
        matches!(self, Self::OverCover { .. })
    }
}
