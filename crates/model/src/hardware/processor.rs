//! Processors that were measured: places without PEs, memories and dataflow.

use std::sync::Arc;

use crate::dataflow::{Axis, ClusterLevel, Dataflow, Directive, Flexibility};
use crate::units::{Bytes, ClockRate};

use super::{Accelerator, Memory, Noc, NocLevel, System};

/// Where the costs of networks on an accelerator come from.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum CostOrigin {
    /// The cost model of the run.
    #[default]
    Model,
    /// Its rows in a table, if the cost model of the run is one, and `loop-nest` for networks without a row: it stands
    /// beside processors.
    RowOrModel,
    /// Its rows in a table alone: it is a processor.
    Row(Processor),
}

/// Power of a processor.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Processor {
    /// Power while it runs a request \[mW\]: the energy of rows that have none. `None` if it is not known.
    pub active_mw: Option<f64>,
    /// Power while it idles \[mW\].
    pub idle_mw: f64,
    /// Whether a row needs an energy, because something else of the system has one. [`System::new`] sets it.
    pub needs_energy: bool,
}

impl Processor {
    /// Largest power \[mW\]: a megawatt.
    pub const MAX_MW: f64 = 1e9;
}

impl Accelerator {
    /// A processor. Its PEs are 0, its clock of 1 GHz makes pJ per cycle of mW, and no cost depends on the rest.
    pub fn of_processor(name: impl Into<Box<str>>, processor: Processor) -> Self {
        let directives = vec![Directive::spatial(1, 1, Axis::K)];
        let dataflow = Dataflow::new("processor", vec![ClusterLevel { units: None, directives }]);
        let dataflow = Arc::new(dataflow.expect("a spatial map is enough"));
        let memory = Memory::new(Bytes::new(1), Bytes::new(1), 1);
        let noc = Noc::uniform(NocLevel::new(1));
        let mut it = Self::new(name, dataflow, 0, noc, memory);
        it.flexibility = Flexibility::None;
        it.clock = ClockRate::GHZ;
        it.byte_energy.idle = processor.idle_mw;
        it.origin = CostOrigin::Row(processor);
        it
    }

    /// The processor that it is; `None` for other accelerators.
    pub fn processor(&self) -> Option<&Processor> {
        match &self.origin {
            CostOrigin::Row(processor) => Some(processor),
            CostOrigin::Model | CostOrigin::RowOrModel => None,
        }
    }
}

impl System {
    /// Whether it has processors. Such a system has no area and no technology.
    pub fn has_processors(&self) -> bool {
        self.accelerators.iter().any(|it| it.processor().is_some())
    }

    /// Whether nothing in it has a power or an energy by itself.
    pub fn is_powerless(&self) -> bool {
        is_powerless(&self.accelerators)
    }
}

fn is_powerless(accelerators: &[Accelerator]) -> bool {
    let power = |it: &Accelerator| Some((it.processor()?.active_mw, it.processor()?.idle_mw));
    accelerators.iter().all(|it| power(it) == Some((None, 0.0)))
}

/// Tells accelerators of a system what stands beside them.
pub(super) fn join(accelerators: &mut [Accelerator]) {
    if accelerators.iter().all(|it| it.processor().is_none()) {
        return accelerators.iter_mut().for_each(|it| it.origin = CostOrigin::Model);
    }
    let needs_energy = !is_powerless(accelerators);
    for it in accelerators {
        it.origin = match it.origin {
            CostOrigin::Row(processor) => CostOrigin::Row(Processor { needs_energy, ..processor }),
            CostOrigin::Model | CostOrigin::RowOrModel => CostOrigin::RowOrModel,
        };
    }
}
