//! One loop nest of an operator, mapped and walked.

use std::cell::OnceCell;
use std::rc::Rc;

use crate::hardware::{Accelerator, Memory, Widths};
use crate::units::Bytes;

use super::super::{Certainty, Infeasible};
use super::choose::{Choice, ChooseLayer};
use super::dram::Holds;
use super::{
    Evaluation, Illegal, Listed, Machine, Mapping, Nest, SharedMemoryPlan, Walk, off_chip, shared,
    steps, walk,
};

/// One loop nest of an operator, mapped and walked.
pub(super) struct PreparedNest {
    /// Loop nest as it is lowered, if the accelerator or the dataflow has choices for it.
    pub(super) written: Option<Nest>,
    pub(super) nest: Nest,
    pub(super) mapping: Box<Mapping>,
    /// Walk, once it is asked for.
    walk: OnceCell<Walk>,
    /// Depths at which tensors can be held; `None` if DRAM has loops.
    holds: Option<Rc<Holds>>,
    /// Certainty about the mapping, if it is chosen.
    pub(super) certainty: Option<Certainty>,
}

impl PreparedNest {
    /// A loop nest under the directives of a dataflow. One that only `plans` the shared memory is walked where that
    /// may fail.
    pub(super) fn listed(
        nest: &Nest,
        accelerator: &Accelerator,
        machine: &Machine,
        capacity: u64,
        plans: bool,
    ) -> Result<Self, Infeasible> {
        let illegal = |reason: Illegal| Infeasible::Illegal { reason: Box::new(reason) };
        let listed = Listed::new(&accelerator.dataflow, nest, machine)?;
        let written = listed.of_layer.then(|| nest.clone());
        let mapping = Mapping::new(listed.directives, &listed.nest, machine).map_err(illegal)?;
        let mapping = Box::new(mapping);
        let nest = listed.nest.into_owned();
        let (walk, holds) = match plans && walk::is_sure(&nest, &mapping, machine) {
            true => (OnceCell::new(), shared::holds(&nest, &mapping, machine)),
            false => {
                let (walk, holds) = shared::walk(&nest, &mapping, machine).map_err(illegal)?;
                (walk.into(), holds)
            }
        };
        let prepared = Self { written, nest, mapping, walk, holds, certainty: None };
        fits_buffers(&prepared, machine, &accelerator.memory)?;
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
        let mapping = Box::new(mapping);
        Some(Self { written, nest, mapping, walk: walk.into(), holds, certainty })
    }

    /// Takes the choice of `chooser` for a machine that differs from that of the walk in what is in shared memory only;
    /// no change if no mapping runs. The walk of an equal mapping stays.
    pub(super) fn choose(&mut self, machine: &Machine, chooser: &dyn ChooseLayer) {
        let Some(choice) = self.written.as_ref().and_then(|it| chooser.choose(it, machine)) else {
            return;
        };
        let Choice { nest, mapping, certainty } = choice;
        if *self.mapping != mapping || self.nest != nest {
            let Ok((walk, holds)) = shared::walk(&nest, &mapping, machine) else { return };
            (self.nest, *self.mapping, self.walk, self.holds) = (nest, mapping, walk.into(), holds);
        }
        self.certainty = certainty;
    }

    /// Tiles in shared memory, and DRAM traffic.
    pub(super) fn plan(&self, machine: &Machine) -> SharedMemoryPlan {
        let Self { nest, mapping, holds, .. } = self;
        let plan = || self.walk(machine).plan(nest, mapping, machine);
        holds.as_ref().map_or_else(plan, |it| it.plan(machine))
    }

    /// Counts, cycles and energy on a machine that differs from that of the walk in what is in shared memory only.
    pub(super) fn evaluation(&self, machine: &Machine) -> Evaluation {
        let Self { nest, mapping, .. } = self;
        self.walk(machine).clone().with_plan(nest, mapping, machine, self.plan(machine))
    }

    /// The walk. If none is known yet, it exists ([`walk::is_sure`]).
    fn walk(&self, machine: &Machine) -> &Walk {
        let walk = || shared::walk(&self.nest, &self.mapping, machine).map(|(walk, _)| walk);
        self.walk.get_or_init(|| walk().expect("a mapping whose walk was put off surely has one"))
    }

    /// Buffers that a unit of every level on chip needs, outermost first (section 4.10) \[byte\].
    pub(super) fn unit_bytes(&self, widths: &Widths) -> impl Iterator<Item = u64> {
        steps::unit_bytes(&self.nest, &self.mapping, widths)
    }
}

/// Checks that two of the largest tiles of every tensor fit into the buffer of a unit on every level
/// (section 4.10).
fn fits_buffers(nest: &PreparedNest, machine: &Machine, memory: &Memory) -> Result<(), Infeasible> {
    let n_levels = nest.mapping.levels().len();
    for (index, needed) in nest.unit_bytes(&machine.widths).enumerate() {
        let level = (index + 1 < n_levels).then_some(index);
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
