//! `system:` files: accelerators in full, and processors.

mod processor;

use std::sync::Arc;

use serde_json::json;

use xrsim_model::dataflow::Dataflow;
use xrsim_model::hardware::{Accelerator, Datapath, MappingSettings, System, Tasks};
use xrsim_model::units::ClockRate;

use super::form::{self, Form};
use super::hardware::datapath::datapath;
use super::hardware::energy::{self, RawEnergies, energies};
use super::hardware::{
    OLD_RESOURCES, RawDram, RawResources, accelerators, are_different, choices, dram, names_once,
    resources,
};
use super::quantities::{clock, pes};
use super::technology::{self, RawTechnology};
use super::yaml::keys::{keys, mapping};
use super::yaml::read::{At, Problems};
use super::yaml::values::{Reader, at, proper_name, tried};
use super::yaml::{Fields, Node};
use super::{Problem, reference};
use processor::RawProcessor;

/// A `system:` file whose dataflows are still names.
pub(super) struct RawSystem {
    name: Box<str>,
    shared: Shared,
    places: Vec<RawPlace>,
}

/// A place of a system where models run.
enum RawPlace {
    Accelerator(Box<RawAccelerator>),
    Processor(RawProcessor),
}

/// Body of a `system:` file, and its technology.
pub(super) fn system() -> impl Reader<Value = (RawSystem, Option<RawTechnology>)> {
    mapping("a system", |fields| {
        let name = fields.about("Name of the system.").required("name", proper_name());
        let shared = shared().among(fields)?;
        let technology = fields.optional("technology", tried(technology::choice()));
        let above = inherited(&shared, fields);
        let needs_energies = !shared.energies.is_given();
        let accelerator = accelerator(needs_energies).inheriting(above).shaped(energy::alone);
        let about = "Accelerators and processors that run side by side.";
        let places = fields.about(about).required("accelerators", accelerators(Place(accelerator)));
        let system = RawSystem { name: name?, shared, places: places? };
        if technology.is_some() && system.accelerators().count() < system.places.len() {
            let text = "a system with processors has no area, and is in no technology";
            fields.problem(Problem::new(fields.span_of("technology"), text));
        }
        let is_wrong = |it: &RawEnergies| it.is_wrong;
        let above = &system.shared;
        let lacks_value = |it: &RawAccelerator| {
            is_wrong(&it.energies) || it.clock_mhz.or(above.clock_mhz.flatten()).is_none()
        };
        if is_wrong(&above.energies) || system.accelerators().any(lacks_value) {
            return None;
        }
        Some((system, technology.map_or(Some(None), |it| it.map(Some))?))
    })
    .about("One or more accelerators in full, which need no platform.")
    .shaped(|form| {
        let each = |given: &serde_json::Value| {
            let items = json!({"anyOf": [{"required": ["processor"]}, given]});
            json!({"properties": {"accelerators": {"items": items}}})
        };
        let clock = json!({"required": ["clock_mhz"]});
        let above = [clock, energy::given()].map(|it| json!({"if": it, "else": each(&it)}));
        energy::alone(form).with("allOf", json!(above))
    })
}

/// Keys that the accelerators of a system need not repeat, because the system gives them, or because one of its values
/// is wrong, which is a problem already.
fn inherited(shared: &Shared, fields: &Fields<'_, '_, '_>) -> Vec<&'static str> {
    let is_wrong = shared.clock_mhz == Some(None) || shared.energies.is_wrong;
    let is_given = is_wrong || fields.may_give("clock_mhz");
    is_given.then_some("clock_mhz").into_iter().collect()
}

keys! {
    /// Values of a system that its accelerators inherit.
    fn shared() -> struct Shared: "a system" {
        /// Clock \[MHz\]. It is that of accelerators that give none.
        clock_mhz: Option<Option<ClockRate>> = optional(tried(clock()));
        energies: RawEnergies = among(energies(false));
        datapath: Datapath = or_default(datapath());
        mapping: MappingSettings = among(choices());
        dram: RawDram = among(dram());
    }
}

/// An accelerator, or a processor.
struct Place<R>(R);

impl<R: Reader<Value = RawAccelerator>> Reader for Place<R> {
    type Value = RawPlace;

    fn read(&self, node: &Node<'_>, problems: &mut Problems) -> Option<RawPlace> {
        match node.entry("processor") {
            Some(_) => Some(RawPlace::Processor(processor::place().read(node, problems)?)),
            None => Some(RawPlace::Accelerator(Box::new(self.0.read(node, problems)?))),
        }
    }

    fn form(&self) -> Form {
        form::any_of([self.0.form(), processor::place().form()])
    }
}

keys! {
    /// An accelerator; its values go before those of the system.
    fn accelerator(needs_energies: bool) -> struct RawAccelerator: "an accelerator", OLD_RESOURCES {
        /// Clock \[MHz\].
        clock_mhz: Option<ClockRate> = inherited(clock());
        energies: RawEnergies = among(energies(needs_energies));
        datapath: Option<Datapath> = optional(datapath());
        mapping: MappingSettings = among(choices());
        /// Name of the accelerator, which no other one of the system has.
        name: At<Box<str>> = required(at(proper_name()));
        /// Dataflow of the accelerator.
        dataflow: At<Box<str>> = required(reference::dataflow());
        /// Number of PEs. At least the product of the cluster sizes of the dataflow.
        pes: At<u32> = required(at(pes()));
        /// Tasks of scenarios that run here, and no others. Without it, all.
        runs: Option<Tasks> = optional(names_once("tasks"));
        resources: RawResources = among(resources());
    }
}

impl RawAccelerator {
    /// The accelerator with this dataflow, and with the values of the system that it does not have.
    fn resolve(
        &self,
        shared: &Shared,
        dataflow: Arc<Dataflow>,
        problems: &mut Problems,
    ) -> Option<Accelerator> {
        let (noc, memory) = self.resources.over(None)?;
        let mapping = self.mapping.or(&shared.mapping);
        let datapath = self.datapath.unwrap_or(shared.datapath);
        let energies = self.energies.over(Some(&shared.energies), &datapath.widths, problems);
        Some(Accelerator {
            clock: self.clock_mhz.or(shared.clock_mhz.flatten())?,
            datapath,
            energy: energies.table(&datapath.widths, &memory),
            byte_energy: energies.bytes,
            runs: self.runs.clone(),
            ..Accelerator::new(self.name.value.clone(), dataflow, self.pes.value, noc, memory)
                .mapped(&mapping)
        })
    }
}

impl RawSystem {
    /// Names of the dataflows, with their places.
    pub(super) fn dataflows(&self) -> impl Iterator<Item = &At<Box<str>>> {
        self.accelerators().map(|accelerator| &accelerator.dataflow)
    }

    fn accelerators(&self) -> impl Iterator<Item = &RawAccelerator> {
        self.places.iter().filter_map(|place| match place {
            RawPlace::Accelerator(accelerator) => Some(&**accelerator),
            RawPlace::Processor(_) => None,
        })
    }

    /// The system of these `dataflows`, one for each name. An error of [`System::new`] is reported at
    /// the PEs of the accelerator, for each accelerator by itself.
    pub(crate) fn resolve(
        self,
        dataflows: Vec<Arc<Dataflow>>,
        problems: &mut Problems,
    ) -> Option<System> {
        let mut accelerators = Vec::with_capacity(self.places.len());
        let mut dataflows = dataflows.into_iter();
        for place in &self.places {
            let raw = match place {
                RawPlace::Accelerator(raw) => raw,
                RawPlace::Processor(raw) => {
                    accelerators.push(raw.resolve());
                    continue;
                }
            };
            let accelerator = raw.resolve(&self.shared, dataflows.next()?, problems)?;
            if let Err(error) = System::new(self.name.clone(), vec![accelerator.clone()]) {
                problems.push(Problem::new(raw.pes.span.clone(), error.to_string()));
            }
            accelerators.push(accelerator);
        }
        let names = self.places.iter().map(|place| match place {
            RawPlace::Accelerator(raw) => &raw.name,
            RawPlace::Processor(raw) => raw.name(),
        });
        are_different(names, problems).then_some(())?;
        let dram = self.shared.dram.value();
        Some(System::new(self.name, accelerators).ok()?.with_dram(dram))
    }
}
