//! Reading of files of each kind, with the files that they refer to.

use std::path::Path;
use std::sync::Arc;

use crate::config::document::{Document, has_extension, resolve};
use crate::config::embedded;
use crate::config::maestro::{self, NetworkBlock};
use crate::config::network::Model;
use crate::config::suite::{RawSuite, Suite};
use crate::config::yaml::read::{Problems, unknown_name};
use crate::config::{ConfigError, Kind, Problem};
use crate::config::{dataflow, hardware, mlperf, nearest, network, scenario, suite};
use crate::dataflow::Dataflow;
use crate::hardware::platform::{Instance, Platform};
use crate::hardware::{Style, System};
use crate::mlperf::rules::Suite as MlperfSuite;
use crate::model::Network;
use crate::scenario::{InputStream, Scenario};

use super::Catalog;

impl Catalog {
    pub(super) fn suite_of(&mut self, file: &Document) -> Result<Suite, ConfigError> {
        file.load(Kind::Suite, |node, problems| {
            let raw: RawSuite = suite::read(node, problems)?;
            for (kind, names) in [(Kind::Scenario, &raw.scenarios), (Kind::Style, &raw.systems)] {
                for name in names {
                    if embedded::find(kind, &name.value, "").is_none() {
                        let known = self.names(kind);
                        let known = known.iter().map(String::as_str);
                        problems.push(unknown_name(kind.key(), name, known));
                    }
                }
            }
            Some(raw.suite())
        })
    }

    pub(super) fn scenario_of(&mut self, file: &Document) -> Result<Arc<Scenario>, ConfigError> {
        if let Some(scenario) = self.scenarios.get(file) {
            return Ok(scenario);
        }
        let scenario = if file.is_maestro() {
            maestro::scenario(&file.source, &file.stem())
                .map_err(|problems| file.invalid(problems))?
        } else {
            self.read_scenario(file)?
        };
        let scenario = Arc::new(scenario);
        Ok(self.scenarios.keep(file, scenario))
    }

    fn read_scenario(&mut self, file: &Document) -> Result<Scenario, ConfigError> {
        let mut problems = Problems::default();
        let Some(raw) = file.draft(Kind::Scenario, scenario::read, &mut problems) else {
            return Err(file.invalid(problems.into_vec()));
        };
        let lookup = |name: &str| self.model_from(name, file.folder.as_deref());
        let Some(models) = resolve(raw.references(), lookup, &mut problems)? else {
            return Err(file.invalid(problems.into_vec()));
        };
        let sensors = match raw.sensors() {
            Some(own) => own.into(),
            None => self.default_sensors()?,
        };
        let scenario = raw.resolve(&models, &sensors, &mut problems);
        file.finish(scenario, problems)
    }

    fn default_sensors(&mut self) -> Result<Arc<[InputStream]>, ConfigError> {
        let file = self.locate(&[Kind::Sensors], "sensors", "", None)?;
        self.sensors_of(&file)
    }

    pub(super) fn sensors_of(
        &mut self,
        file: &Document,
    ) -> Result<Arc<[InputStream]>, ConfigError> {
        if let Some(sensors) = self.sensors.get(file) {
            return Ok(sensors);
        }
        let sensors: Arc<[_]> = file.load(Kind::Sensors, scenario::read_sensors)?.into();
        Ok(self.sensors.keep(file, sensors))
    }

    pub(super) fn model_from(
        &mut self,
        reference: &str,
        folder: Option<&Path>,
    ) -> Result<Arc<Model>, ConfigError> {
        let (path, member) = match reference.rsplit_once('#') {
            Some((path, member)) if has_extension(Path::new(path), &["m"]) => (path, Some(member)),
            _ => (reference, None),
        };
        let file = self.locate(&[Kind::Network], path, "", folder)?;
        self.model_of(&file, member)
    }

    pub(super) fn model_of(
        &mut self,
        file: &Document,
        member: Option<&str>,
    ) -> Result<Arc<Model>, ConfigError> {
        let key = format!("{}#{}", file.source.name(), member.unwrap_or_default());
        if let Some(model) = self.models.get(&key) {
            return Ok(Arc::clone(model));
        }
        let mut model = if file.is_maestro() {
            Model::bare(Arc::new(pick(file, member)?.network))
        } else {
            file.load(Kind::Network, network::read)?
        };
        model.network = self.shared(model.network);
        let model = Arc::new(model);
        self.models.insert(key, Arc::clone(&model));
        Ok(model)
    }

    /// The network equal to `network` that was seen first, so that costs are shared.
    fn shared(&mut self, network: Arc<Network>) -> Arc<Network> {
        let namesakes = self.networks.entry(network.name().into()).or_default();
        if let Some(known) = namesakes.iter().find(|known| **known == network) {
            return Arc::clone(known);
        }
        namesakes.push(Arc::clone(&network));
        network
    }

    pub(super) fn dataflow_from(
        &mut self,
        reference: &str,
        folder: Option<&Path>,
    ) -> Result<Arc<Dataflow>, ConfigError> {
        let file = self.locate(&[Kind::Dataflow], reference, "", folder)?;
        let dataflows = self.dataflows_of(&file)?;
        match &dataflows[..] {
            [dataflow] => Ok(Arc::clone(dataflow)),
            _ => {
                let message = format!("{} dataflows; one is needed here", dataflows.len());
                Err(file.invalid(vec![Problem::new(0..0, message)]))
            }
        }
    }

    pub(super) fn dataflows_of(
        &mut self,
        file: &Document,
    ) -> Result<Vec<Arc<Dataflow>>, ConfigError> {
        if let Some(dataflows) = self.dataflows.get(file) {
            return Ok(dataflows);
        }
        let dataflows = if file.is_maestro() {
            maestro::parse_dataflows(&file.source).map_err(|problems| file.invalid(problems))?
        } else {
            vec![file.load(Kind::Dataflow, dataflow::read)?]
        };
        let dataflows: Vec<_> = dataflows.into_iter().map(Arc::new).collect();
        Ok(self.dataflows.keep(file, dataflows))
    }

    pub(super) fn style_of(&mut self, file: &Document) -> Result<Style, ConfigError> {
        if let Some(style) = self.styles.get(file) {
            return Ok(style);
        }
        let mut problems = Problems::default();
        let raw = file.draft(Kind::Style, hardware::read_style, &mut problems);
        let style = match raw {
            Some(raw) => {
                let lookup = |name: &str| self.dataflow_from(name, file.folder.as_deref());
                let dataflows = resolve(raw.dataflows(), lookup, &mut problems)?;
                dataflows.map(|dataflows| raw.resolve(dataflows))
            }
            None => None,
        };
        let style = file.finish(style, problems)?;
        Ok(self.styles.keep(file, style))
    }

    pub(super) fn system_of(&mut self, file: &Document) -> Result<Arc<System>, ConfigError> {
        if let Some(system) = self.systems.get(file) {
            return Ok(system);
        }
        let mut problems = Problems::default();
        let raw = file.draft(Kind::System, hardware::read_system, &mut problems);
        let system = match raw {
            Some(raw) => {
                let lookup = |name: &str| self.dataflow_from(name, file.folder.as_deref());
                let dataflows = resolve(raw.dataflows(), lookup, &mut problems)?;
                dataflows.and_then(|dataflows| raw.resolve(dataflows, &mut problems))
            }
            None => None,
        };
        let system = Arc::new(file.finish(system, problems)?);
        Ok(self.systems.keep(file, system))
    }

    pub(super) fn mlperf_suite_of(&mut self, file: &Document) -> Result<MlperfSuite, ConfigError> {
        let mut problems = Problems::default();
        let suite = match file.draft(Kind::Mlperf, mlperf::read, &mut problems) {
            Some(raw) => {
                let lookup = |name: &str| self.model_from(name, file.folder.as_deref());
                let models = resolve(raw.networks(), lookup, &mut problems)?;
                let networks = models
                    .map(|models| models.iter().map(|model| Arc::clone(&model.network)).collect());
                networks.and_then(|networks| raw.resolve(networks, &mut problems))
            }
            None => None,
        };
        file.finish(suite, problems)
    }

    pub(super) fn platform_of(&mut self, file: &Document) -> Result<Arc<Platform>, ConfigError> {
        if let Some(platform) = self.platforms.get(file) {
            return Ok(platform);
        }
        let platform = Arc::new(file.load(Kind::Platform, hardware::read_platform)?);
        Ok(self.platforms.keep(file, platform))
    }
}

/// The network called `name`, or the only one, of a file in the artifact's format.
fn pick(file: &Document, name: Option<&str>) -> Result<NetworkBlock, ConfigError> {
    let mut blocks =
        maestro::parse_networks(&file.source).map_err(|problems| file.invalid(problems))?;
    let names: Vec<String> = blocks.iter().map(|block| block.name.to_string()).collect();
    let index = match name {
        Some(name) => names.iter().position(|known| known == name),
        None if blocks.len() == 1 => Some(0),
        None => {
            let message = format!("{} networks; one is needed here", blocks.len());
            let help = format!("name one as {}#NAME: {}", file.source.name(), names.join(", "));
            return Err(file.invalid(vec![Problem::new(0..0, message).help(help)]));
        }
    };
    index.map(|index| blocks.swap_remove(index)).ok_or_else(|| ConfigError::Unknown {
        kind: "network",
        name: format!("{}#{}", file.source.name(), name.unwrap_or_default()),
        nearest: nearest(name.unwrap_or_default(), names.iter().map(String::as_str))
            .map(Into::into),
        known: names.clone(),
    })
}

/// Checks a file in the artifact's format.
pub(super) fn check_maestro(file: &Document) -> Result<Kind, ConfigError> {
    let source = &file.source;
    let checked = maestro::detect(source).map_err(|problem| vec![problem]).and_then(|kind| {
        Ok(match kind {
            maestro::Kind::Networks => {
                let blocks = maestro::parse_networks(source)?;
                if blocks.iter().all(|block| block.fps.is_none()) {
                    return Ok(Kind::Network);
                }
                maestro::scenario(source, &file.stem()).map(|_| Kind::Scenario)?
            }
            maestro::Kind::Dataflows => maestro::parse_dataflows(source).map(|_| Kind::Dataflow)?,
            maestro::Kind::Hardware => maestro::parse_hardware(source).map(|_| Kind::System)?,
        })
    });
    checked.map_err(|problems| file.invalid(problems))
}

pub(super) fn instances_of(file: &Document) -> Result<Vec<Instance>, ConfigError> {
    maestro::parse_hardware(&file.source).map_err(|problems| file.invalid(problems))
}
