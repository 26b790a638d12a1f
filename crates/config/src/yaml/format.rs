//! YAML as one of the formats of input files.

use std::sync::Arc;

use crate::document::{Document, resolve};
use crate::format::{Contents, Format, References};
use crate::scenario::Rule;
use crate::sensors::{RawGate, RawSensor};
use crate::suite::{RawSuite, Suite};
use crate::{ConfigError, Kind, SearchDraft, SweepDraft};
use crate::{
    dataflow, device, hardware, mapspace, mlperf, network, points, profile, scenario, sensors,
    suite, system, technology, uncertainty,
};
use crate::{embedded, extensions};
use xrsim_mlperf::rules::Suite as MlperfSuite;
use xrsim_model::hardware::platform::Platform;
use xrsim_model::hardware::{Device, Style, System, Technology};
use xrsim_model::mapper::DeclaredSpace;
use xrsim_model::scenario::{InputStream, Profile, Scenario};

use crate::technology::RawTechnology;

use super::Node;
use super::read::{At, Problems, unknown_name};
use super::values::Reader;

/// YAML, with the kind of a file as its top-level key.
pub(crate) const FORMAT: Format = Format {
    name: "YAML",
    extensions: extensions::YAML,
    kinds: &Kind::EVERY,
    has_members: false,
    recognise: Document::kind,
    read,
};

fn read(
    file: &Document,
    kind: Kind,
    references: &mut dyn References,
) -> Result<Contents, ConfigError> {
    Ok(match kind {
        Kind::Network => {
            let values = file.parameters.of("").cloned().unwrap_or_default();
            let network = file.load(Kind::Network, network::network(&values))?;
            Contents::Networks(vec![Arc::new(network)])
        }
        Kind::Dataflow => {
            Contents::Dataflows(vec![Arc::new(file.load(Kind::Dataflow, dataflow::dataflow())?)])
        }
        Kind::Style => Contents::Style(style(file, references)?),
        Kind::Platform => Contents::Platform(Arc::new(platform(file, references)?)),
        Kind::System => Contents::System(Arc::new(system(file, references)?)),
        Kind::Scenario => Contents::Scenario(Arc::new(scenario_of(file, references)?)),
        Kind::Sensors => Contents::Sensors(sensors_of(file, references)?.into()),
        Kind::Suite => Contents::Suite(suite_of(file, references)?),
        Kind::Sweep => Contents::Sweep(SweepDraft::read(file)?),
        Kind::Search => Contents::Search(Box::new(SearchDraft::read(file)?)),
        Kind::Mlperf => Contents::Mlperf(mlperf_suite(file, references)?),
        Kind::Mapspace => Contents::Mapspace(Arc::new(mapspace_of(file, references)?)),
        Kind::Technology => {
            Contents::Technology(Arc::new(file.load(Kind::Technology, technology::technology())?))
        }
        Kind::Uncertainty => {
            let uncertainty = file.load(Kind::Uncertainty, uncertainty::uncertainty())?;
            Contents::Uncertainty(Arc::new(uncertainty))
        }
        Kind::Points => Contents::Points(Arc::new(file.load(Kind::Points, points::points())?)),
        Kind::Device => Contents::Device(Arc::new(device_of(file, references)?)),
        Kind::Profile => Contents::Profile(Arc::new(profile_of(file, references)?)),
    })
}

fn suite_of(file: &Document, references: &dyn References) -> Result<Suite, ConfigError> {
    let resolve = |raw: RawSuite, _: &Node<'_>, problems: &mut Problems| {
        for (kind, names) in raw.names() {
            for name in names {
                if embedded::find(kind, &name.value, "").is_none() {
                    let known = references.names(kind);
                    let known = known.iter().map(String::as_str);
                    problems.push(unknown_name(kind.key(), name, known));
                }
            }
        }
        Some(raw.suite())
    };
    file.load(Kind::Suite, suite::suite().then(resolve))
}

fn scenario_of(file: &Document, references: &mut dyn References) -> Result<Scenario, ConfigError> {
    let mut problems = Problems::default();
    let Some(raw) = file.draft(Kind::Scenario, scenario::scenario(), &mut problems) else {
        return Err(file.invalid(problems.into_vec()));
    };
    let lookup = |name: &str| references.model(name, file.folder.as_deref());
    let Some(models) = resolve(raw.references().iter(), lookup, &mut problems)? else {
        return Err(file.invalid(problems.into_vec()));
    };
    let references_with = raw.references_with(&models, &file.parameters);
    let lookup = |name: &str| references.model(name, file.folder.as_deref());
    let Some(models) = resolve(references_with.iter(), lookup, &mut problems)? else {
        return Err(file.invalid(problems.into_vec()));
    };
    let mut variants = Vec::new();
    for further in raw.variants(&references_with, &models, &mut problems) {
        variants.push(match further {
            None => None,
            Some((rule, networks)) => {
                let folder = file.folder.as_deref();
                let lookup = |name: &str| match rule {
                    Rule::Work(_) => references.model_of_frame(name, folder),
                    Rule::Choice | Rule::Sequence(_) => references.model(name, folder),
                };
                let networks = resolve(networks.iter(), lookup, &mut problems)?;
                networks.map(|networks| (rule, networks))
            }
        });
    }
    let sensors = match raw.sensors() {
        Some(own) => streams_of(own, file, references, &mut problems)?,
        None => Some(references.sensors()?.to_vec()),
    };
    let Some(sensors) = sensors else { return Err(file.invalid(problems.into_vec())) };
    let lookup = |path: &str| references.source(path, file.folder.as_deref());
    let files = raw.gates().iter().filter_map(RawGate::file);
    let sources = resolve(files, lookup, &mut problems)?;
    let sources = sources.filter(|_| problems.is_empty());
    let scenario = raw.resolve(&models, variants, &sensors, sources, &mut problems)?;
    file.finish(scenario, problems)
}

fn sensors_of(
    file: &Document,
    references: &mut dyn References,
) -> Result<Vec<InputStream>, ConfigError> {
    let mut problems = Problems::default();
    let streams = match file.draft(Kind::Sensors, sensors::sensors(), &mut problems) {
        Some(raw) => streams_of(&raw, file, references, &mut problems)?,
        None => None,
    };
    file.finish(streams, problems)
}

/// The streams of sensors, with the recordings that they refer to.
fn streams_of(
    raw: &[RawSensor],
    file: &Document,
    references: &mut dyn References,
    problems: &mut Problems,
) -> Result<Option<Vec<InputStream>>, ConfigError> {
    let lookup = |path: &str| references.source(path, file.folder.as_deref());
    let sources = resolve(raw.iter().filter_map(RawSensor::file), lookup, problems)?;
    // Problems of this file come before those of others.
    match sources.filter(|_| problems.is_empty()) {
        Some(sources) => sensors::streams(raw, sources, problems),
        None => Ok(None),
    }
}

fn style(file: &Document, references: &mut dyn References) -> Result<Style, ConfigError> {
    let mut problems = Problems::default();
    let style = match file.draft(Kind::Style, hardware::style(), &mut problems) {
        Some(raw) => {
            let lookup = |name: &str| references.dataflow(name, file.folder.as_deref());
            let dataflows = resolve(raw.dataflows(), lookup, &mut problems)?;
            dataflows.map(|dataflows| raw.resolve(dataflows))
        }
        None => None,
    };
    file.finish(style, problems)
}

fn system(file: &Document, references: &mut dyn References) -> Result<System, ConfigError> {
    let mut problems = Problems::default();
    let system = match file.draft(Kind::System, system::system(), &mut problems) {
        Some((raw, of_technology)) => {
            let technology = technology_of(&of_technology, file, references, &mut problems)?;
            let lookup = |name: &str| references.dataflow(name, file.folder.as_deref());
            let dataflows = resolve(raw.dataflows(), lookup, &mut problems)?;
            let system = dataflows.and_then(|dataflows| raw.resolve(dataflows, &mut problems));
            system.map(|system| system.in_technology(technology))
        }
        None => None,
    };
    file.finish(system, problems)
}

fn platform(file: &Document, references: &mut dyn References) -> Result<Platform, ConfigError> {
    let mut problems = Problems::default();
    let platform = match file.draft(Kind::Platform, hardware::platform(), &mut problems) {
        Some((platform, of_technology)) => {
            let technology = technology_of(&of_technology, file, references, &mut problems)?;
            Some(Platform { technology, ..platform })
        }
        None => None,
    };
    file.finish(platform, problems)
}

/// The technology that a system or platform names or changes, if it does.
fn technology_of(
    raw: &Option<RawTechnology>,
    file: &Document,
    references: &mut dyn References,
    problems: &mut Problems,
) -> Result<Option<Arc<Technology>>, ConfigError> {
    let Some(raw) = raw else { return Ok(None) };
    let lookup = |name: &str| references.technology(name, file.folder.as_deref());
    let found = resolve(std::iter::once(raw.name()), lookup, problems)?;
    let found = found.and_then(|mut found| found.pop());
    Ok(found.and_then(|found| raw.resolve(found, file.source.name(), problems)))
}

fn device_of(file: &Document, references: &mut dyn References) -> Result<Device, ConfigError> {
    let mut problems = Problems::default();
    let device = match file.draft(Kind::Device, device::device(), &mut problems) {
        Some(raw) => {
            let lookup = |name: &str| references.points(name, file.folder.as_deref());
            let points = resolve(raw.points(), lookup, &mut problems)?;
            points.map(|points| raw.resolve(points))
        }
        None => None,
    };
    file.finish(device, problems)
}

fn profile_of(file: &Document, references: &mut dyn References) -> Result<Profile, ConfigError> {
    let mut problems = Problems::default();
    let reader = profile::profile().then(|raw, node: &Node<'_>, _: &mut Problems| {
        Some((raw, At { span: node.span.clone(), value: () }))
    });
    let Some((raw, node)) = file.draft(Kind::Profile, reader, &mut problems) else {
        return Err(file.invalid(problems.into_vec()));
    };
    let (mut known, mut scenarios) = (profile::Scenarios::default(), Vec::new());
    for needs in raw.needs() {
        let lookup = |name: &str| references.scenario(name, file.folder.as_deref());
        let found = resolve(needs.scenario.into_iter(), lookup, &mut problems)?;
        let lookup = |path: &str| references.source(path, file.folder.as_deref());
        let files = needs.gates.iter().filter_map(RawGate::file);
        let sources = resolve(files, lookup, &mut problems)?;
        scenarios.push(match (found.and_then(|mut it| it.pop()), sources) {
            (Some(scenario), Some(sources)) => {
                let gated = known.gated(scenario, &needs, sources, &mut problems)?;
                if gated.is_none() {
                    break;
                }
                gated
            }
            (found, _) => found,
        });
    }
    let profile = match problems.is_empty() {
        true => raw.resolve(scenarios, &node, &mut problems),
        false => None,
    };
    file.finish(profile, problems)
}

fn mlperf_suite(
    file: &Document,
    references: &mut dyn References,
) -> Result<MlperfSuite, ConfigError> {
    let mut problems = Problems::default();
    let suite = match file.draft(Kind::Mlperf, mlperf::suite(), &mut problems) {
        Some(raw) => {
            let lookup = |name: &str| references.model(name, file.folder.as_deref());
            let networks = raw.networks(&file.parameters, &mut problems);
            let models = resolve(networks.iter(), lookup, &mut problems)?;
            let networks = models
                .map(|models| models.iter().map(|model| Arc::clone(&model.network)).collect());
            networks.and_then(|networks| raw.resolve(networks, &mut problems))
        }
        None => None,
    };
    file.finish(suite, problems)
}

fn mapspace_of(
    file: &Document,
    references: &mut dyn References,
) -> Result<DeclaredSpace, ConfigError> {
    let mut problems = Problems::default();
    let space = match file.draft(Kind::Mapspace, mapspace::mapspace(), &mut problems) {
        Some((space, seeds)) => {
            let lookup = |name: &str| references.dataflow(name, file.folder.as_deref());
            let seeds = resolve(seeds.iter(), lookup, &mut problems)?;
            seeds.map(|seeds| DeclaredSpace { seeds, ..space })
        }
        None => None,
    };
    file.finish(space, problems)
}
