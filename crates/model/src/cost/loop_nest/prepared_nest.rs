//! One loop nest of an operator, mapped and walked.

use std::rc::Rc;

use crate::hardware::{Accelerator, Memory};
use crate::units::Bytes;

use super::super::{Certainty, Infeasible};
use super::choose::{Choice, ChooseLayer};
use super::dram::Holds;
use super::{
    Evaluation, Illegal, Listed, Machine, Mapping, Nest, SharedMemoryPlan, Walk, off_chip, shared,
};

/// One loop nest of an operator, mapped and walked.
pub(super) struct PreparedNest {
    /// Loop nest as it is lowered, if the accelerator or the dataflow has choices for it.
    pub(super) written: Option<Nest>,
    pub(super) nest: Nest,
    pub(super) mapping: Mapping,
    pub(super) walk: Box<Walk>,
    /// Depths at which tensors can be held; `None` if DRAM has loops.
    holds: Option<Rc<Holds>>,
    /// Certainty about the mapping, if it is chosen.
    pub(super) certainty: Option<Certainty>,
}

impl PreparedNest {
    /// A loop nest under the directives of a dataflow.
    pub(super) fn listed(
        nest: &Nest,
        accelerator: &Accelerator,
        machine: &Machine,
        capacity: u64,
    ) -> Result<Self, Infeasible> {
        let illegal = |reason: Illegal| Infeasible::Illegal { reason: Box::new(reason) };
        let listed = Listed::new(&accelerator.dataflow, nest, machine)?;
        let written = listed.of_layer.then(|| nest.clone());
        let mapping = Mapping::new(listed.directives, &listed.nest, machine).map_err(illegal)?;
        let nest = listed.nest.into_owned();
        let (walk, holds) = shared::walk(&nest, &mapping, machine).map_err(illegal)?;
        let prepared = Self { written, nest, mapping, walk: walk.into(), holds, certainty: None };
        fits_buffers(&prepared, &accelerator.memory)?;
        fits_shared_memory(&prepared, machine, capacity)?;
        Ok(prepared)
    }

    /// The loop nest `written` as `chooser` maps it on `machine`; `None` if no mapping runs.
    pub(super) fn chosen(
        written: &Nest,
        machine: &Machine,
        chooser: &dyn ChooseLayer,
    ) -> Option<Self> {
        let Choice { nest, mapping, certainty } = chooser.choose(written, machine)?;
        let (walk, holds) = shared::walk(&nest, &mapping, machine).ok()?;
        let written = Some(written.clone());
        Some(Self { written, nest, mapping, walk: walk.into(), holds, certainty })
    }

    /// Takes the choice of `chooser` for a machine that differs from that of the walk in what is in shared memory only;
    /// no change if no mapping runs. The walk of an equal mapping stays.
    pub(super) fn choose(&mut self, machine: &Machine, chooser: &dyn ChooseLayer) {
        let Some(choice) = self.written.as_ref().and_then(|it| chooser.choose(it, machine)) else {
            return;
        };
        let Choice { nest, mapping, certainty } = choice;
        if self.mapping != mapping || self.nest != nest {
            let Ok((walk, holds)) = shared::walk(&nest, &mapping, machine) else { return };
            (self.nest, self.mapping, *self.walk, self.holds) = (nest, mapping, walk, holds);
        }
        self.certainty = certainty;
    }

    /// Tiles in shared memory, and DRAM traffic.
    pub(super) fn plan(&self, machine: &Machine) -> SharedMemoryPlan {
        let Self { nest, mapping, walk, holds, .. } = self;
        holds.as_ref().map_or_else(|| walk.plan(nest, mapping, machine), |it| it.plan(machine))
    }

    /// Counts, cycles and energy on a machine that differs from that of the walk in what is in shared memory only.
    pub(super) fn evaluation(&self, machine: &Machine) -> Evaluation {
        self.walk.with_plan(&self.nest, &self.mapping, machine, self.plan(machine))
    }
}

/// Checks that two of the largest tiles of every tensor fit into the buffer of a unit on every level
/// (section 4.10).
fn fits_buffers(nest: &PreparedNest, memory: &Memory) -> Result<(), Infeasible> {
    let counts = nest.walk.levels(&nest.mapping);
    for (index, needed) in counts.iter().map(|level| level.unit_bytes).enumerate() {
        let level = (index + 1 < counts.len()).then_some(index);
        let buffer = match level {
            Some(level) => memory.cluster(level),
            None => Some(memory.scratchpad),
        };
        if let Some(available) = buffer.map(Bytes::get).filter(|&bytes| needed > bytes) {
            return Err(Infeasible::TileTooLarge { level, needed, available });
        }
    }
    Ok(())
}

/// Checks that the box of the off-chip level fits into the shared memory while no tensor is resident (section
/// 6.7).
fn fits_shared_memory(
    nest: &PreparedNest,
    machine: &Machine,
    available: u64,
) -> Result<(), Infeasible> {
    let Some(level) = nest.mapping.off_chip() else {
        return Ok(());
    };
    let needed = off_chip::shared_bytes(&nest.nest, level, machine);
    if needed <= available {
        return Ok(());
    }
    Err(Infeasible::BoxTooLarge { needed, available })
}
