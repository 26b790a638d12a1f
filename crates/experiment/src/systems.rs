//! Systems: styles with their PEs, systems in full, and accelerators with their dataflows.

use std::path::Path;
use std::sync::Arc;

use xrsim_config::{Catalog, Hardware};
use xrsim_model::dataflow::Dataflow;
use xrsim_model::hardware::platform::{Instance, Platform};
use xrsim_model::hardware::{
    Accelerator, Dram, Flexibility, HardwareError, MappingSettings, Style, System, Technology,
};
use xrsim_model::scenario::Scenario;
use xrsim_model::text;
use xrsim_sim::plan::Semantics;

use super::{ExperimentError, Settings, affinity};

/// The system called `name`: a style with `pes` PEs on the platform of the paper, or a file of a system
/// with its own PEs.
///
/// # Errors
///
/// [`ExperimentError::Config`] if there is no such system, [`ExperimentError::Hardware`] if the style
/// cannot have that many PEs, [`ExperimentError::Conflict`] for a hardware file without dataflows.
pub fn system(name: &str, pes: u32) -> Result<Arc<System>, ExperimentError> {
    let (mut catalog, settings) = (Catalog::new(), Settings::default());
    let system = match catalog.hardware(name)? {
        Hardware::Style(style) => {
            let platform = catalog.platform(settings.platform())?;
            style_system(&style, pes, &platform, &settings)?
        }
        Hardware::System(system) => system,
        Hardware::Instances(instances) => {
            let platform = catalog.platform(settings.platform())?;
            Arc::new(paired_system(name, &instances, &[], &platform)?)
        }
    };
    Ok(in_technology(system, &settings, |name| catalog.technology(name))?)
}

/// The system that `style` makes of `pes` PEs on `platform`, with the changes of the settings.
///
/// # Errors
///
/// [`ExperimentError::Hardware`] if the style cannot have that many PEs, or the platform cannot be
/// changed.
pub(super) fn style_system(
    style: &Style,
    pes: u32,
    platform: &Platform,
    settings: &Settings,
) -> Result<Arc<System>, ExperimentError> {
    if settings.budget.pes.is_some() {
        let message =
            format!("hardware.pes is for system files; style `{}` is made with --pes", style.name);
        return Err(ExperimentError::Conflict(message));
    }
    let system = style.instantiate(pes, &changed_platform(platform, settings)?)?;
    changed(Arc::new(system), settings)
}

/// The platform with the changes of the settings.
///
/// # Errors
///
/// [`HardwareError::NoBudget`] if it cannot be changed.
pub(super) fn changed_platform(
    platform: &Platform,
    settings: &Settings,
) -> Result<Platform, HardwareError> {
    let changed = platform.with(&settings.budget)?;
    Ok(Platform { dram: dram(settings).unwrap_or(platform.dram), ..changed })
}

/// Whether DRAM is split or shared, if the settings say it. The artifact has no DRAM that is shared.
fn dram(settings: &Settings) -> Option<Dram> {
    match settings.semantics {
        Semantics::Principled => settings.dram,
        Semantics::Mlsys2023 => Some(Dram::Split),
    }
}

/// A system in full, with the changes of the settings. Bandwidths and memories are those of each accelerator.
///
/// # Errors
///
/// [`ExperimentError::Conflict`] if they change how a whole chip is divided; [`ExperimentError::Hardware`] if a
/// changed accelerator is out of range.
pub(super) fn full_system(
    mut system: Arc<System>,
    settings: &Settings,
) -> Result<Arc<System>, ExperimentError> {
    let budget = &settings.budget;
    if budget.noc_unpartitioned {
        return Err(ExperimentError::Conflict(format!(
            "hardware.noc_unpartitioned says how a style such as J divides its NoC; each accelerator of the system \
             `{}` has its own",
            system.name()
        )));
    }
    if let Some(dram) = dram(settings).filter(|dram| *dram != system.dram()) {
        system = Arc::new(Arc::unwrap_or_clone(system).in_dram(dram));
    }
    if !budget.is_none() {
        let accelerators = system.accelerators().iter().map(|it| budget.of_accelerator(it));
        system = Arc::new(system.with_accelerators(accelerators.collect())?);
    }
    changed(system, settings)
}

/// A resource of an accelerator: its name, its unit, and its value in words.
type Resource = (&'static str, &'static str, fn(&Accelerator) -> String);

/// Resources that settings change in each accelerator of a system in full.
const RESOURCES: [Resource; 6] = [
    ("PEs", "", |it| it.pes.to_string()),
    ("NoC bandwidth", " byte/cycle", |it| {
        in_words(it.noc.levels().iter().map(|level| level.bandwidth as f64))
    }),
    ("shared memory", " KiB", |it| in_words([it.memory.shared.get() as f64 / 1024.0])),
    ("scratchpad", " KiB", |it| in_words([it.memory.scratchpad.get() as f64 / 1024.0])),
    ("cluster buffers", " KiB", |it| {
        in_words(it.memory.clusters.iter().map(|size| size.get() as f64 / 1024.0))
    }),
    ("DRAM bandwidth", " byte/cycle", |it| it.memory.dram_bandwidth.to_string()),
];

fn in_words(values: impl IntoIterator<Item = f64>) -> String {
    values.into_iter().map(|it| it.to_string()).collect::<Vec<_>>().join(" and ")
}

/// A line that says what the settings change in each accelerator of a system in full; `None` if they change nothing.
pub(super) fn resource_changes(before: &System, after: &System) -> Option<String> {
    let of = |&(name, unit, value): &Resource| {
        let pairs = before.accelerators().iter().zip(after.accelerators());
        let change = |(old, new): (&Accelerator, &Accelerator)| {
            let [from, to] = [old, new].map(value);
            (from != to).then(|| format!("{} {from} -> {to}", old.name))
        };
        let changes: Vec<_> = pairs.filter_map(change).collect();
        (!changes.is_empty()).then(|| format!("{name}{unit}: {}", changes.join(", ")))
    };
    let changes: Vec<_> = RESOURCES.iter().filter_map(of).collect();
    (!changes.is_empty())
        .then(|| format!("changed in system {}: {}\n", before.name(), changes.join("; ")))
}

/// The system with the choice of mappings and the changed accelerators of the settings.
///
/// # Errors
///
/// [`ExperimentError::Hardware`] if a changed accelerator is out of range.
fn changed(system: Arc<System>, settings: &Settings) -> Result<Arc<System>, ExperimentError> {
    let system = mapped(system, &mapping(settings))?;
    if settings.accelerator.is_none() {
        return Ok(system);
    }
    let accelerators = system.accelerators().iter().map(|it| settings.accelerator.of(it));
    Ok(Arc::new(system.with_accelerators(accelerators.collect())?))
}

/// The choice of mappings that the settings ask of every system. The artifact has none.
pub(super) fn mapping(settings: &Settings) -> MappingSettings {
    let mut mapping = settings.mapping.clone();
    if settings.semantics == Semantics::Mlsys2023 {
        mapping.flexibility = Some(Flexibility::None);
    }
    mapping
}

/// The system whose accelerators choose mappings as `settings` say, where these say it.
///
/// # Errors
///
/// Returns no error for a system that was built.
pub fn mapped(
    system: Arc<System>,
    settings: &MappingSettings,
) -> Result<Arc<System>, ExperimentError> {
    let is_mapped = |it: &Accelerator| it.clone().mapped(settings) == *it;
    if system.accelerators().iter().all(is_mapped) {
        return Ok(system);
    }
    let accelerators = system.accelerators().iter();
    let accelerators = accelerators.map(|it| it.clone().mapped(settings)).collect();
    Ok(Arc::new(system.with_accelerators(accelerators)?))
}

/// The system as a scenario finds it: with the weights in shared memory that stay there.
///
/// # Errors
///
/// [`ExperimentError::Conflict`] if it runs a model nowhere by the keys `runs` and `on`, or if one of these has a name
/// that is unknown. [`ExperimentError::Pinned`], with the place of the key in a file of `catalog`, if a model is not in the scenario or
/// the weights do not fit.
pub(super) fn for_scenario(
    system: &Arc<System>,
    scenario: &Scenario,
    catalog: &Catalog,
) -> Result<Arc<System>, ExperimentError> {
    affinity::check(system, scenario, catalog)?;
    let models = scenario.models().iter();
    let networks: Vec<_> = models.map(|it| (&*it.unit.task, &it.unit.network)).collect();
    let place = format!("scenario {}", scenario.name());
    let pinned = Arc::clone(system).with_pinned_weights(&place, &networks);
    pinned.map_err(|error| {
        let place = catalog.place_of_key(system.name(), "pinned");
        ExperimentError::Pinned { place: place.map_or(String::new(), |it| it + ": "), error }
    })
}

/// The system in the technology of the settings, or else in its own, or else in the default one. `find` reads a
/// technology.
///
/// # Errors
///
/// Returns the error of `find`.
pub(super) fn in_technology<E>(
    system: Arc<System>,
    settings: &Settings,
    find: impl FnOnce(&str) -> Result<Arc<Technology>, E>,
) -> Result<Arc<System>, E> {
    let name = match (settings.technology.as_deref(), system.technology()) {
        (Some(name), _) => name,
        (None, Some(_)) => return Ok(system),
        (None, None) => Technology::DEFAULT,
    };
    let technology = find(name)?;
    if system.technology() == Some(&technology) {
        return Ok(system);
    }
    Ok(Arc::new(Arc::unwrap_or_clone(system).in_technology(Some(technology))))
}

/// The system of `instances`, the i-th with the i-th dataflow, and with the clock and energy of the
/// platform. Instances after the last dataflow stay unused, as in the published artifact.
///
/// # Errors
///
/// [`ExperimentError::Conflict`] without dataflows, with more dataflows than instances, or if the file
/// cannot name a system; [`ExperimentError::Hardware`] if the accelerators make no system.
pub(super) fn paired_system(
    name: &str,
    instances: &[Instance],
    dataflows: &[Arc<Dataflow>],
    platform: &Platform,
) -> Result<System, ExperimentError> {
    if dataflows.is_empty() || dataflows.len() > instances.len() {
        return Err(ExperimentError::Conflict(format!(
            "{name} has {} accelerators and is given {} dataflows; each runs one dataflow (--dataflow, \
             in order)",
            instances.len(),
            dataflows.len()
        )));
    }
    let accelerators = instances
        .iter()
        .zip(dataflows)
        .map(|(instance, dataflow)| instance.with(instance.name.clone(), dataflow, platform))
        .collect();
    let stem = paired_name(name);
    if !text::is_name(&stem) {
        let message = format!("{name}: the system has the name of its file; {}", text::NAME_RULE);
        return Err(ExperimentError::Conflict(message));
    }
    let system = System::new(stem, accelerators)?;
    Ok(system.in_technology(platform.technology.clone()).with_dram(platform.dram))
}

/// Name of the system of the hardware file at `path`.
pub(super) fn paired_name(path: &str) -> String {
    Path::new(path).file_stem().map_or(path.into(), |stem| stem.to_string_lossy().into_owned())
}

/// Name of a system with its PEs, e.g. `J@4096`.
pub(super) fn name_with_pes(system: &System) -> String {
    format!("{}@{}", system.name(), system.pes())
}
