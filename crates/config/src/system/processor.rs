//! Processors in a `system:` file.

use xrsim_model::hardware::{Accelerator, Processor, Tasks};

use crate::hardware::names_once;
use crate::yaml::keys::{keys, mapping};
use crate::yaml::read::At;
use crate::yaml::values::{Reader, at, number, proper_name};

/// A processor by its key.
pub(super) fn place() -> impl Reader<Value = RawProcessor> {
    mapping("a place of a system", |fields| {
        let about = "Processor that was measured. It runs one request at a time, and its costs are rows of a table \
                     (`--cost-model FILE.csv`).";
        fields.about(about).required("processor", processor())
    })
}

keys! {
    /// A processor that was measured.
    pub(super) fn processor() -> struct RawProcessor: "a processor" {
        /// Name of the processor, by which rows of a table and the key `on` of scenarios call it.
        name: At<Box<str>> = required(at(proper_name()));
        /// Power while it runs a request \[mW\]: the energy of rows that have none.
        active_mw: Option<f64> = optional(number(0.0..=Processor::MAX_MW));
        /// Power while it idles \[mW\].
        idle_mw: f64 = or(0, number(0.0..=Processor::MAX_MW));
        /// Tasks of scenarios that run here, and no others. Without it, all that have a row.
        runs: Option<Tasks> = optional(names_once("tasks"));
    }
}

impl RawProcessor {
    /// Name with its place.
    pub(super) fn name(&self) -> &At<Box<str>> {
        &self.name
    }

    /// The processor as an accelerator of its system.
    pub(super) fn resolve(&self) -> Accelerator {
        let power =
            Processor { active_mw: self.active_mw, idle_mw: self.idle_mw, needs_energy: false };
        Accelerator {
            runs: self.runs.clone(),
            ..Accelerator::of_processor(self.name.value.clone(), power)
        }
    }
}
